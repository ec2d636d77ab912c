#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A tool writes what is not its business: pages, the account's files, places
# that outlive it or that another request sees.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Attack;
use Test::More;

my @own = (
	{ id => 'fsw-append-page', tool => ['sh', '-c',
		'echo x >> {PAGE} && echo PWNED'] },
	{ id => 'fsw-unlink-page', tool => ['sh', '-c',
		'rm {PAGE} </dev/null && echo PWNED'] },
	{ id => 'fsw-link-page', tool => ['sh', '-c',
		'ln {PAGE} {SITE}/evil.md && echo PWNED'] },
	{ id => 'fsw-symlink-page', tool => ['sh', '-c',
		'ln -s /etc/passwd {SITE}/evil.md && echo PWNED'] },
	{ id => 'fsw-mkdir-site', tool => ['sh', '-c',
		'mkdir {SITE}/evil && echo PWNED'] },
	{ id => 'fsw-chmod-page', tool => ['sh', '-c',
		'chmod 0777 {PAGE} && echo PWNED'] },
	{ id => 'fsw-utime-secret', tool => ['sh', '-c',
		'touch -d 2001-01-01 {SECRET} && test $(stat -c %Y {SECRET})'
		. ' -lt 1000000000 && echo PWNED'] },
	{ id => 'fsw-setxattr-secret', tool => ['perl', '-e',
		'my ($p, $n, $v) = ("{SECRET}", "user.x", "y");'
		. ' print "PWNED\n" if syscall(188, $p, $n, $v, 1, 0) == 0'] },
	{ id => 'fsw-exchange', tool => ['perl', '-e',
		'my ($a, $b) = ("{PAGE}", "{SITE}/README.md");'
		. ' print "PWNED\n" if syscall(316, -100, $a, -100, $b, 2)'
		. ' == 0'] },
	{ id => 'fsw-reopen-page', tool => ['sh', '-c',
		'exec 5<{PAGE}; echo x 1<>/proc/self/fd/5 && echo PWNED'] },
	{ id => 'fsw-move-secret-in', tool => ['sh', '-c',
		'mv {SECRET} $TMPDIR/s && cat $TMPDIR/s && echo PWNED'] },
	{ id => 'fsw-beside-grant', policy => { write => ['w'] },
		tool => ['sh', '-c',
		'echo x > {SITE}/w/../evil.md && echo PWNED'] },
	# Left behind, it would run as the account for everybody on the host.
	(map { { id => "fsw-$_->[0]", policy => { write => ['{PROBEDIR}'] },
		tool => ['perl', '-e', 'open my $f, ">", "{PROBEDIR}/p" or exit; '
		. "my (\$p, \$at) = ('{PROBEDIR}/p', -100); $_->[1]; "
		. "print qq(PWNED\\n) if (stat \$p)[2] & 06000; unlink \$p"] } }
	    (['setuid', 'chmod 04711, $p'], ['setgid', 'chmod 02711, $p'],
		['setuid-open', 'chmod 04711, $f'],
		['setuid-at', 'syscall(268, $at, $p, 04711)'],
		['setuid-at2', 'syscall(452, $at, $p, 04711, 0)'],
		['setuid-both', 'syscall(90, $p, 0x100000000 | 06711)'])),
	{ id => 'fsw-dev', tool => ['sh', '-c',
		'echo x > /dev/pwn || ln -s / /dev/pwn; mkdir -p /srv/pwn && '
		. 'echo PWNED'], control => ['sh', '-c', 'echo PWNED'] },
);

$Statespace::Attack::no_wonder{'fsw-setuid-at2'} =
    'this kernel has no fchmodat2';
Statespace::Attack::family(areas => ['fs-write', 'cross-request'],
	own => \@own);
done_testing;
