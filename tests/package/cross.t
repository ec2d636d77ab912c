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
# looked at by tests/cli/cross.t, on every machine.
#
#	MACHINES='arm64 riscv64'	which ones
#	SUITE=forky		the Debian to build in
#	KEEP=DIR		leaves the clean systems there for the next run
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use File::Temp ();
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Server qw(has);
use Test::More;
use Time::HiRes qw(sleep time);

my $top = abs_path(dirname(__FILE__) . '/../..');
my $suite = $ENV{SUITE} // 'trixie';
my @machines = split ' ', $ENV{MACHINES} // 'arm64 riscv64';
my %GNU = (arm64 => 'aarch64', riscv64 => 'riscv64');
my %FILTER = (arm64 => 'c00000b7', riscv64 => 'c00000f3');

# Why a program does not pass under qemu-user.
my %KNOWN = (
	'unit/spawn' => 'nothing is confined there',
	'unit/spawn_batch' => 'nothing is confined there',
	'fault/spawn' => 'nothing is confined there',
	'fault/call' => 'nothing is confined there',
	'unit/stages' => 'a program without the x bit is found by qemu',
	'unit/tasks' => "qemu's own thread does not start at the process limit",
	map { $_ => 'its time bounds are for a real machine' }
		qw(unit/pattern unit/toolset unit/vectors),
);

$> == 0 or plan skip_all => 'only root can make systems';
for my $program (qw(mmdebstrap unshare git)) {
	has($program) or plan skip_all => "$program is not installed";
}
my ($mirror) = map { /^(\S+) Debian$/ ? $1 : () } qx(apt-get indextargets \\
	--format '\$(REPO_URI) \$(LABEL)' 'Created-By: Packages' 2>/dev/null);
$mirror or plan skip_all => 'apt knows no mirror of Debian';

my $work = File::Temp->newdir('statespace-cross-XXXXXX', TMPDIR => 1);
chmod 0755, $work;
my $keep = $ENV{KEEP} // $work;

# The clean system, made once.
sub made
{
	my ($machine) = @_;
	my $root = "$keep/$suite-$machine";
	my @libraries = map { "$_:$machine" } qw(libc6-dev libfcgi-dev
		libyaml-dev libcjson-dev libpcre2-dev libcmark-gfm-dev nettle-dev
		libcmark-gfm-extensions-dev libcurl4-openssl-dev);

	return $root if -x "$root/usr/bin/make" && -x "$root/bin/mount";
	system('mmdebstrap', '--quiet', '--variant=apt',
		"--architectures=amd64,$machine",
		'--aptopt=Acquire::Check-Valid-Until "false"',
		'--include=' . join(',', qw(gcc libc6-dev libseccomp-dev make mount
			pkg-config qemu-user-static), "gcc-$GNU{$machine}-linux-gnu",
			@libraries), $suite, $root, $mirror);
	return $? == 0 ? $root : undef;
}

# Runs a line of sh there, in a user namespace of its own: binfmt_misc is of
# that namespace, and this machine's is left as it is.  What it printed.
sub inside
{
	my ($root, $line) = @_;
	my $ours = readlink '/proc/self/ns/user';

	pipe my $wait, my $go or die "pipe: $!";
	my $pid = open(my $out, '-|') // die "fork: $!";
	if (!$pid) {
		close $go;
		open STDIN, '<&', $wait;
		open STDERR, '>&', \*STDOUT;
		exec qw(unshare --user -- sh -c), 'read go && exec "$@" </dev/null',
			'sh', "$top/tests/package/enter", $root, 'sh', '-c', $line;
		exit 127;
	}
	my $until = time + 20;
	sleep 0.02 while (readlink("/proc/$pid/ns/user") // $ours) eq $ours &&
	    time < $until;
	for my $map (qw(uid_map gid_map)) {
		open my $file, '>', "/proc/$pid/$map" or die "$map: $!";
		syswrite $file, '0 0 65536';
	}
	syswrite $go, "go\n";
	close $go;
	local $/;
	my $text = <$out>;
	close $out;
	return $text // '';
}

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
	my $gnu = $GNU{$machine};
	SKIP: {
	my $root = made($machine) or skip "$suite has no $machine to install", 1;
	system("mkdir -p '$root/src' && cd '$root/src' && " .
		"find . -mindepth 1 -maxdepth 1 ! -name build -exec rm -r {} + && " .
		"cd '$top' && git ls-files -z | tar c --null -T - | tar x -C '$root/src'");
	my $log = inside($root, "cd /src && make -j2 CROSS=$gnu-linux-gnu " .
		'WERROR=-Werror all unit && echo built');
	like($log, qr/^built$/m, "$machine: it builds, without a warning")
	    or diag(substr $log, -3000), next;
	my $emulate = $EMULATE =~ s/GNU/$gnu/gr;
	$log = inside($root, "$emulate build/*/statespace --version; " .
		'build/*/statespace doctor; grep FILTERS_ARCH build/*/filters/filters.h');
	like($log, qr/^statespace \d/m, '... its program starts');
	like($log, qr/0x$FILTER{$machine}u/, '... and has filters of its own');
	like($log, qr/^NO +system call filter/m,
		'... and says what qemu-user does not do') or diag $log;
	like($log, qr/^tools run: none/m, '... so that it runs no tool there');

	my ($programs, $passed, $ok, $not) = (0) x 4;
	$log = inside($root, "$emulate $EACH");
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
