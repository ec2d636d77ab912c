#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Cross builds: for each machine a clean Debian with its compiler and libraries,
# `make CROSS=...` there, and the unit programs under qemu-user.  Needs root,
# mmdebstrap and a mirror; takes some twenty minutes.  `.ci/run cross` runs it.
#
# qemu-user has neither seccomp(2) nor Landlock, and its clone(2) refuses new
# namespaces: nothing can be confined there, so the program refuses to run a
# tool.  The programs that must run one are told below, and what they say is
# counted; of all others every check must pass.  The filters themselves are
# looked at by tests/cli/cross.t, on every machine; tests/package/arm64.t has a
# kernel of that machine.
#
#	MACHINES='arm64 riscv64'	which ones
#	SUITE=forky		the Debian to build in
#	KEEP=DIR		leaves the clean systems there for the next run
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Cross;
use Test::More;

my @machines = split ' ', $ENV{MACHINES} // 'arm64 riscv64';
my %FILTER = (arm64 => 'c00000b7', riscv64 => 'c00000f3');

# Why a program does not pass under qemu-user.
my %KNOWN = (
	'unit/spawn' => 'nothing is confined there',
	'unit/spawn_batch' => 'nothing is confined there',
	'fault/spawn' => 'nothing is confined there',
	'fault/call' => 'nothing is confined there',
	'unit/remedy' => 'one remedy for podman differs there; why is not known yet',
	'unit/stages' => 'a program without the x bit is found by qemu',
	'unit/tasks' => "qemu's own thread does not start at the process limit",
	map { $_ => 'its time bounds are for a real machine' }
		qw(unit/pattern unit/toolset unit/vectors),
);

my $why = Statespace::Cross::cannot();
plan skip_all => $why if $why;

my $EMULATE = <<'END';
mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
grep "^:qemu-GNU:" /usr/lib/binfmt.d/qemu-GNU.conf >/proc/sys/fs/binfmt_misc/register
cd /src
END
my $EACH = <<'END';
for t in build/*/unit/*.t build/*/fault/*.t; do
	timeout 60 $t >/tmp/out 2>&1 </dev/null
	echo "ran ${t#build/*/} $? $(grep -c '^ok' /tmp/out) $(grep -c '^not ok' /tmp/out)"
done
END

for my $machine (@machines) {
	my $gnu = $Statespace::Cross::GNU{$machine};
	SKIP: {
	my $root = Statespace::Cross::made($machine)
	    or skip "Debian has no $machine to install", 1;
	my $log = Statespace::Cross::build($root, $machine);
	like($log, qr/^built$/m, "$machine: it builds, without a warning")
	    or diag(substr $log, -3000), next;
	my $emulate = $EMULATE =~ s/GNU/$gnu/gr;
	$log = Statespace::Cross::inside($root,
		"$emulate build/*/statespace --version; " .
		'build/*/statespace doctor; grep FILTERS_ARCH build/*/filters/filters.h');
	like($log, qr/^statespace \d/m, '... its program starts');
	like($log, qr/0x$FILTER{$machine}u/, '... and has filters of its own');
	like($log, qr/^NO +system call filter/m,
		'... and says what qemu-user does not do') or diag $log;
	like($log, qr/^tools run: none/m, '... so that it runs no tool there');

	my ($programs, $passed, $ok, $not) = (0) x 4;
	$log = Statespace::Cross::inside($root, "$emulate $EACH");
	while ($log =~ m{^ran (\S+)\.t (\d+) (\d+) (\d+)$}mg) {
		my ($name, $rc) = ($1, $2);
		$programs++;
		$ok += $3;
		$not += $4;
		$passed += $rc == 0;
		next if $rc != 0 && $KNOWN{$name};
		is($rc, 0, "... $name");
	}
	cmp_ok($programs, '>', 60, '... all the unit programs ran');
	diag "$machine: $passed of $programs programs pass, $ok checks and not $not";
	}
}
done_testing;
