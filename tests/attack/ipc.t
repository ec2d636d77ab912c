#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A tool talks to other processes of the machine, or leaves a message there.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Attack;
use Test::More;

sub perl { return ['perl', '-e', 'use Socket; ' . $_[0]] }

my @own = (
	{ id => 'ipc-unix-stream', tool => perl('socket(my $s, AF_UNIX, '
		. 'SOCK_STREAM, 0) or exit; print "PWNED\n" '
		. 'if connect($s, sockaddr_un("{USOCK}"))') },
	{ id => 'ipc-fcgi', tool => perl('socket(my $s, AF_UNIX, '
		. 'SOCK_STREAM, 0) or exit; print "PWNED\n" '
		. 'if connect($s, sockaddr_un("{FCGISOCK}"))') },
	{ id => 'ipc-unix-raw', tool => perl('print "PWNED\n" '
		. 'if syscall(41, 1, 3, 0) >= 0') },
	{ id => 'ipc-pair-raw', tool => perl('my $p = pack("ii", 0, 0); '
		. 'print "PWNED\n" if syscall(53, 1, 3 | 02000000, 0, $p) '
		. '== 0') },
	{ id => 'ipc-shm', tool => perl('my $i = syscall(29, 0, 4096, 01600); '
		. 'if ($i >= 0) { print "PWNED\n"; syscall(31, $i, 0, 0) }') },
	{ id => 'ipc-msg', tool => perl('my $i = syscall(68, 0, 01600); '
		. 'if ($i >= 0) { print "PWNED\n"; syscall(71, $i, 0, 0) }') },
	{ id => 'ipc-sem', tool => perl('my $i = syscall(64, 0, 1, 01600); '
		. 'if ($i >= 0) { print "PWNED\n"; syscall(66, $i, 0, 0, 0) }') },
	{ id => 'ipc-mq', tool => perl('my $n = "statespace-$$"; my $i = '
		. 'syscall(240, $n, 0102, 0600, 0); if ($i >= 0) '
		. '{ print "PWNED\n"; syscall(241, $n) }') },
	{ id => 'ipc-keyring', tool => perl('my ($t, $n, $v) = '
		. '("user", "statespace", "x"); print "PWNED\n" '
		. 'if syscall(248, $t, $n, $v, 1, -2) >= 0') },
);

Statespace::Attack::family(areas => ['ipc'], own => \@own);
done_testing;
