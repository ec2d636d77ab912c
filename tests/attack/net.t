#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A tool without the grant reaches a network, by any family.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Attack;
use Test::More;

my @own = (
	{ id => 'net-inet6', tool => ['perl', '-e',
		'use Socket; print "PWNED\n" if socket(my $s, AF_INET6, '
		. 'SOCK_DGRAM, 0)'] },
	{ id => 'net-netlink', tool => ['perl', '-e',
		'print "PWNED\n" if syscall(41, 16, 3, 0) >= 0'] },
	{ id => 'net-mptcp', tool => ['perl', '-e',
		'print "PWNED\n" if syscall(41, 2, 1, 262) >= 0 || '
		. 'syscall(41, 2, 1, 0) >= 0'] },
	{ id => 'net-high-bits', tool => ['perl', '-e',
		'print "PWNED\n" if syscall(41, 2 | (1 << 32), 1, 0) >= 0'] },
	{ id => 'net-shell', tool => ['bash', '-c',
		'echo x > /dev/tcp/127.0.0.1/{PORT} && echo PWNED'] },
	{ id => 'net-udp-shell', tool => ['bash', '-c',
		'echo x > /dev/udp/127.0.0.1/{PORT} && echo PWNED'] },
);

Statespace::Attack::family(areas => ['net'], own => \@own, change => {
	# Any free port does.
	'net-listen' => { tool => ['perl', '-e', 'use IO::Socket::INET; '
		. 'print "PWNED\n" if IO::Socket::INET->new(LocalPort => 0, '
		. 'Listen => 1)'] } });
done_testing;
