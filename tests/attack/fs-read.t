#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A tool reads what is not its business: files of the account, dot files of
# the site, other requests' scratch, the host's tree.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Attack;
use Test::More;

my @own = (
	{ id => 'fsr-dotfile', tool => ['sh', '-c',
		'cat {SITE}/.env {SITE}/.git/config && echo PWNED'] },
	{ id => 'fsr-dotfile-beside-page', tool => ['sh', '-c',
		'cat .env && echo PWNED'] },
	{ id => 'fsr-dotfile-elsewhere', tool => ['sh', '-c',
		'cat docs/.key && echo PWNED'] },
	{ id => 'fsr-symlink-tmp', tool => ['sh', '-c',
		'ln -s {SECRET} $TMPDIR/l && cat $TMPDIR/l && echo PWNED'] },
	{ id => 'fsr-stat', tool => ['sh', '-c',
		'stat -c %s {SECRET} && echo PWNED'] },
	{ id => 'fsr-readlink', tool => ['sh', '-c',
		'test -d {SECRETDIR} && echo PWNED'] },
	{ id => 'fsr-dotdot', tool => ['sh', '-c',
		'cat ../outside/secret.md && echo PWNED'] },
	{ id => 'fsr-proc-root', tool => ['sh', '-c',
		'cat /proc/{WPID}/root{SECRET} || cat /proc/self/root{SECRET}'
		. ' && echo PWNED'] },
	{ id => 'fsr-environ', tool => ['sh', '-c',
		'cat /proc/{WPID}/environ && echo PWNED'] },
	{ id => 'fsr-mountinfo', tool => ['sh', '-c',
		'cat /proc/self/mountinfo && echo PWNED'] },
	{ id => 'fsr-open-by-handle', tool => ['perl', '-e',
		'my $h = pack("Ii", 128, 0) . "\0" x 128; my $m = pack("i", 0);'
		. ' my $p = "{SECRET}";'
		. ' print "PWNED\n" if syscall(303, -100, $p, $h, $m, 0)'
		. ' == 0'] },
	{ id => 'fsr-system-secrets', tool => ['sh', '-c',
		'cat /etc/hostname /etc/fstab /etc/machine-id && echo PWNED'] },
	# A file is no program for being called one; nor is its directory.
	map { { id => "fsr-$_->[0]", policy => { exec => [$_->[1]] },
		refused => 1, tool => ['sed', '-n', 'p', '{SECRET}'],
		worked => sub { $_[1]{out} =~ /TOPSECRET/ } } }
	    (['named-program', '{SECRET}'], ['named-directory', '{SECRETDIR}'],
		['named-dotted', '/usr/..{SECRETDIR}']),
);

Statespace::Attack::family(areas => ['fs-read'], own => \@own);
done_testing;
