#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Tools on the kernel of an aarch64: Debian's, in a machine that qemu makes.
# The cross-built programs, those of the tests and tests/attack go there; its
# console is read.  What tests/package/cross.t cannot show is shown here: system
# call filters, Landlock and namespaces of that machine.  Needs root,
# mmdebstrap, a mirror, qemu-system-aarch64 (Debian's qemu-system-arm) and cpio;
# takes about an hour.  `.ci/run arm` runs it.
#
#	NAMES='unit/spawn.t tests/attack/proc.t'	only these, not all
#	MACHINE_S=7200				how long the machine may take
#	SUITE, KEEP				as in tests/lib/Statespace/Cross.pm
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Cross;
use Statespace::Server qw(has);
use Statespace::TestSite qw(slurp write_file);
use Test::More;

# What fails there for the emulation's slowness alone: bounds of time.
my %SLOW = (
	'unit/pattern.t' => qr/^bounded: /,
	'unit/sandbox.t' => qr/^and 10,000 files$/,
	'unit/spawn_progress.t' => qr/^\.\.\. (?:do not end the tool
		|and all of it was read|soon|nor count for the limit of output)$/x,
	'unit/toolset.t' => qr/^in [\d.]+ microseconds, under/,
	'unit/vectors.t' => qr/ in time$/,
);

my $why = Statespace::Cross::cannot();
plan skip_all => $why if $why;
for my $program (qw(qemu-system-aarch64 cpio)) {
	has($program) or plan skip_all => "$program is not installed";
}

my $keep = Statespace::Cross::keep();
my $build = Statespace::Cross::made('arm64');
plan skip_all => 'Debian has no arm64 to install' unless $build;
my $log = Statespace::Cross::build($build, 'arm64');
like($log, qr/^built$/m, 'it builds, without a warning')
    or do { diag substr $log, -3000; done_testing; exit };

my $guest = "$keep/$Statespace::Cross::suite-guest";
-e "$guest/usr/bin/busybox"
    or Statespace::Cross::system_of($guest, 'arm64', 'extract', qw(base-files
	bash busybox-static coreutils curl dash findutils gawk git grep hostname
	iproute2 jq libc-bin libcjson1 libcmark-gfm-extensions0.29.0.gfm.13
	libcurl4t64 libfcgi0t64 libnettle8t64 libyaml-0-2 linux-image-arm64 mount
	nginx-light openssl perl procps sed sqlite3 tar util-linux))
    or plan skip_all => 'no system for the machine can be made';

my @names = $ENV{NAMES} ? split(' ', $ENV{NAMES})
    : map { m{((?:unit|tests/attack)/[\w-]+\.t)$} }
	glob("$build/src/build/aarch64-linux-gnu/unit/*.t "
	. "$build/src/tests/attack/*.t");
write_file("$build/src/names", join '', map { "$_\n" } @names);
$log = booted(image());
like($log, qr/^kernel Linux \S+ aarch64$/m, 'the machine starts')
    or diag substr $log, -3000;
like($log, qr/^tools run: strict/m, '... confines all that can be confined');
like($log, qr/^nobody: tools run: strict/m, '... for an ordinary user too');
like($log, qr/"2026: 2 1013\\n".*"level": "strict"/, '... and runs a tool');


# Each program: what it printed until the next one began.
my %ran = $log =~ m{^ran (\S+) (\d+ \d+ \d+ \d+\n.*?)(?=^ran |\z)}msg;
my ($passed, $checks) = (0, 0);
for my $name (@names) {
	my ($rc, $ok, $not, undef, $text) =
	    split /[ \n]/, $ran{$name} // '-1 0 0 0', 5;
	my @failed = ($text // '') =~ /^not ok \d+ - (.*)$/mg;
	my $slow = $SLOW{$name} // qr/(*FAIL)/;
	my @wrong = grep { !/$slow/ } @failed;

	$checks += $ok;
	$passed += $rc == 0;
	ok(!@wrong && ($rc == 0 || @failed), "... $name")
	    or diag "exit $rc, $ok checks, not @wrong\n", $text // 'it did not run';
	diag "$name: too slow there: $_" for grep { /$slow/ } @failed;
}
diag "$passed of ${\ scalar @names} programs pass, $checks checks";
done_testing;

# All that the machine has: the system, the source with what was built, and
# the first process.
sub image
{
	my $dir = "$keep/image";

	system('sh', '-ec', <<'END', 'sh', $dir, $guest, $build) == 0 or die "image: $?";
rm -rf "$1"
mkdir -p "$1/bin"
cp "$2/usr/bin/busybox" "$1/bin"
cp "$3/src/tests/package/boot" "$1/init"
tar c -f "$1/system.tar" -C "$2" --exclude=./boot --exclude=./usr/lib/modules \
	--exclude='./usr/lib/linux-image*' --exclude='./usr/share/[dlm]o*' \
	--exclude=./usr/share/man --exclude='./var/cache/*' \
	--exclude='./var/lib/apt/*' .
tar r -f "$1/system.tar" -C "$3" --exclude='*.o' --exclude='*.d' --exclude='*.a' src
cd "$1"
find . | cpio -o -H newc --quiet >../initrd
END
	return "$keep/initrd";
}

# What the console of the machine said, from its start until it is off.
sub booted
{
	my ($initrd) = @_;
	my ($kernel) = glob "$guest/boot/vmlinuz-*";

	system('timeout', $ENV{MACHINE_S} // 7200, 'sh', '-c',
		'exec "$@" </dev/null >"$0" 2>&1', "$keep/console",
		qw(nice qemu-system-aarch64 -M virt -cpu),
		'max,pauth-impdef=on', qw(-smp 2 -m 3G -nographic -no-reboot -nic none -append),
		'console=ttyAMA0 quiet panic=-1', '-kernel', $kernel,
		'-initrd', $initrd);
	return slurp("$keep/console") =~ s/\r//gr;
}
