#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A tool runs other programs than its own, or one that it brought along.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Attack;
use Test::More;

my $loader = $Statespace::Attack::loader;
my @own = (
	{ id => 'exe-unlisted-loader', policy => { exec => ['find'] },
		tool => ['find', '.', '-maxdepth', '0', '-exec',
		$loader // 'none', '/bin/echo', 'PWNED', ';'] },
	{ id => 'exe-unlisted-awk', policy => { exec => ['awk'] },
		tool => ['awk', 'BEGIN { system("echo PWNED") }'] },
	{ id => 'exe-unlisted-perl', policy => { exec => ['perl'] },
		tool => ['perl', '-e', 'print `/bin/echo PWNED`'] },
	{ id => 'exe-copied', tool => ['sh', '-c',
		'cp /bin/echo $TMPDIR/x && chmod +x $TMPDIR/x && $TMPDIR/x '
		. 'PWNED'] },
	{ id => 'exe-script', tool => ['sh', '-c',
		'printf "#!/bin/sh\necho PWNED\n" > $TMPDIR/x && '
		. 'chmod +x $TMPDIR/x && $TMPDIR/x'] },
	{ id => 'exe-granted-dir', policy => { write => ['{PROBEDIR}'] },
		tool => ['sh', '-c', 'cp /bin/echo {PROBEDIR}/x && '
		. 'chmod +x {PROBEDIR}/x && {PROBEDIR}/x PWNED; '
		. 'rm -f {PROBEDIR}/x'] },
	{ id => 'exe-memfd', tool => ['perl', '-e',
		'my ($n, $e) = ("x", ""); my $fd = syscall(319, $n, 0);'
		. ' exit if $fd < 0; open my $o, ">&=", $fd or exit;'
		. ' open my $i, "<:raw", "/bin/echo"; { local $/; binmode $o;'
		. ' $o->autoflush(1); print $o (<$i>); }'
		. ' my @w = ("echo", "PWNED");'
		. ' my $argv = pack("ppQ", @w, 0); my $envp = pack("Q", 0);'
		. ' syscall(322, $fd, $e, $argv, $envp, 0x1000)'] },
);

# A library that runs and says so: no program directory has it.
my ($library) = grep { -x } '/lib/x86_64-linux-gnu/libc.so.6',
    '/lib/aarch64-linux-gnu/libc.so.6', '/usr/lib64/libc.so.6';
my %says = (policy => { exec => ['find'] },
	worked => sub { $_[1]{out} =~ /GNU C Library/ },
	check => sub { ($_[1]{json}{stdout} // '') =~ /GNU C Library/
	    ? 'the library ran' : () });
push @own, { %says, id => 'exe-library', tool => ['find', '.', '-maxdepth',
	'0', '-exec', $library, ';'] },
    { %says, id => 'exe-ldso-library', tool => ['find', '.', '-maxdepth',
	'0', '-exec', $loader, $library, ';'] }
    if defined $library && defined $loader;

# One of another architecture has no cover: its first system call ends it.
my ($foreign) = grep { -x } '/lib/ld-linux.so.2', '/lib/ld-linux-armhf.so.3';
push @own, { id => 'exe-foreign-loader', policy => {}, tool => ['sh', '-c',
	"$foreign --version"], worked => sub { $_[1]{out} =~ /ld\.so/ },
	check => sub { ($_[1]{json}{stdout} // '') =~ /ld\.so/
	    ? 'the loader ran' : () } }
    if defined $foreign;

Statespace::Attack::family(areas => ['exec'], own => \@own, change => {
	'exe-setuid-su' => { check => sub {
		my ($world, $ran) = @_;
		return ($ran->{json}{stdout} // '') =~ /uid=0/
		    ? 'it became root' : ();
	} } });
done_testing;
