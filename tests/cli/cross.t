#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# The system call filters of each architecture, whichever one builds: what they
# answer is asked of an interpreter of their BPF, and the numbers of the calls
# are those of the kernel's headers, of which libseccomp knows nothing.
# core/sandbox/filter.c must not be compiled with another architecture's.
use strict;
use warnings;
use Cwd qw(abs_path);
use Errno qw(EPERM ENOSYS ENOMEM EAFNOSUPPORT EPROTONOSUPPORT);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::TestSite qw(slurp write_file);
use Test::More;

my $top = abs_path(dirname(__FILE__) . '/../..');
my $filters = abs_path($ENV{BUILD} // "$top/build") . '/filters';
my $tmp = tempdir(CLEANUP => 1);
$ENV{CC} ||= 'cc';

-x "$filters/make" or plan skip_all => "$filters/make is not made";

# <linux/audit.h>; the header that numbers its system calls.
my %ARCH = (
	'x86-64' => [0xc000003e, 'asm/unistd_64.h'],
	aarch64 => [0xc00000b7, 'asm-generic/unistd.h'],
	riscv64 => [0xc00000f3, 'asm-generic/unistd.h'],
);
my ($ALLOW, $KILL, $ERRNO) = (0x7fff0000, 0x80000000, 0x00050000);
# The same everywhere, and too new for old headers.
my %COMMON = (pidfd_send_signal => 424, clone3 => 435, close_range => 436,
	memfd_secret => 447, fchmodat2 => 452);

# ------------------------------------------------------------------- made for

# What the compiler says of filter.c with these filters; '' when it is content.
sub compiled
{
	my ($text) = @_;

	write_file("$tmp/filters.h", $text);
	return scalar qx{$ENV{CC} -D_GNU_SOURCE -std=c11 -I'$top/core' -I'$tmp' \\
	    -c -o /dev/null '$top/core/sandbox/filter.c' 2>&1};
}

sub made
{
	my ($number) = @_;

	return scalar qx{'$filters/make' $number 2>$tmp/make.err};
}

my $text = slurp("$filters/filters.h");
my ($arch) = $text =~ /^#define FILTERS_ARCH (0x[0-9a-f]{8})u$/m;
ok($arch, 'the filters say for which architecture they are');
is(compiled($text), '', 'which is the one that is built for');
ok($text eq made(hex $arch), 'and they are what is made for that one');
for my $name (sort keys %ARCH) {
	next if $ARCH{$name}[0] == hex $arch;
	like(compiled(made($ARCH{$name}[0])),
		qr/system calls of another architecture/,
		"those of $name are refused");
}
for my $none ('', 0, 3221225534 . 'x', 0x40000003) {
	ok(made($none) !~ /^static const struct filter/m && $? != 0 &&
		-s "$tmp/make.err", "none are made for \"$none\"");
}

# ------------------------------------------------------------- what they say

# { whole => [programs], narrow => [programs] } of a filters.h
sub programs
{
	my ($source) = @_;
	my %found;

	while ($source =~ /sock_filter (\w+)_(\d+)\[\] = \{\n(.*?)^\};/gms) {
		my ($kind, $which, $code) = ($1, $2, $3);
		$found{$kind}[$which] = [map { [map { oct } /(0x\w+|\d+)/g] }
		    map { s/\b(\d+)(?=,)/sprintf '0x%x', $1/ger }
		    split /\n/, $code];
	}
	return \%found;
}

# The answer of one program, classic BPF: linux/bpf_common.h.
sub answer
{
	my ($program, $arch, $number, @args) = @_;
	my $call = pack 'L L Q Q6', $number, $arch, 0, (@args, (0) x 6)[0 .. 5];
	my ($a, $i) = (0, 0);

	while ($i < @$program) {
		my ($code, $yes, $no, $k) = @{ $program->[$i++] };
		if ($code == 0x20) { $a = unpack 'L', substr $call, $k, 4 }
		elsif ($code == 0x54) { $a &= $k }
		elsif ($code == 0x05) { $i += $k }
		elsif ($code == 0x15) { $i += $a == $k ? $yes : $no }
		elsif ($code == 0x25) { $i += $a > $k ? $yes : $no }
		elsif ($code == 0x35) { $i += $a >= $k ? $yes : $no }
		elsif ($code == 0x45) { $i += $a & $k ? $yes : $no }
		elsif ($code == 0x06) { return $k }
		else { die sprintf 'instruction 0x%02x', $code }
	}
	die 'the program has no end';
}

sub word
{
	my ($answer) = @_;

	return 'allow' if $answer == $ALLOW;
	return 'kill' if $answer == $KILL;
	return sprintf 'errno %d', $answer & 0xffff
	    if ($answer & 0xffff0000) == $ERRNO;
	return sprintf '0x%x', $answer;
}

# name => number, from the kernel's header as the compiler reads it.
sub numbers
{
	my ($header) = @_;
	my (%value, %found);

	write_file("$tmp/n.c", "#include <$header>\n");
	for (qx{$ENV{CC} -E -dM '$tmp/n.c' 2>/dev/null}) {
		$value{$1} = $2 if /^#define (__NR\w+) (\w+)$/;
	}
	for my $name (keys %value) {
		my $number = $value{ $value{$name} } // $value{$name};
		next if $number !~ /^\d+$/;
		$found{$1} = $number if $name =~ /^__NR_(\w+)/;
	}
	return %found ? { %found, %COMMON } : {};
}

# What is refused whatever its arguments are: rules.c.  What mounts is not
# refused to the launcher of workspaces.
my %mounting;
my %refused = map { $mounting{ $_->[1] } = 1 if $_->[0] eq 'MOUNTING';
	$_->[1] => $_->[2] }
    map { /^\t(REFUSED|MOUNTING)\("(\w+)", \d+, (\w+)\),$/ ? [$1, $2, $3] : () }
    split /\n/, slurp("$top/core/sandbox/filters/rules.c");
my %errno = (EPERM => EPERM, ENOSYS => ENOSYS);
cmp_ok(scalar(keys %refused), '>', 80, 'rules.c lists what is refused');
is(join(' ', sort keys %mounting), 'fsconfig fsmount fsopen mount move_mount '
	. 'open_tree umount2', 'and what mounts');

# And what depends on an argument.
my ($HIGH, $E) = (1 << 32, 'errno ' . EPERM);
my @CASES = (
	[$E, ioctl => 0, 0x5412], [$E, ioctl => 0, 0x5412 | $HIGH],
	[$E, ioctl => 0, 0x541c], ['allow', ioctl => 0, 0x5413],
	[$E, fcntl => 0, 8], [$E, fcntl => 0, 1024], [$E, fcntl => 0, 1031],
	['allow', fcntl => 0, 3],
	(map { [$E, clone => 17 | $_] } 0x20000, 0x2000000, 0x4000000,
		0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x10000),
	['allow', clone => 17], ['allow', clone => 0x10f00],
	['errno ' . ENOSYS, close_range => 3, 9, 2],
	['allow', close_range => 3, 9, 0], ['allow', close_range => 3, 9, 4],
	[$E, fchmodat2 => 0, 0, 04755], [$E, fchmodat2 => 0, 0, 02755],
	['allow', fchmodat2 => 0, 0, 0755], ['allow', fchmodat2 => 04755],
	[$E, chmod => 0, 04755], [$E, fchmod => 0, 02755],
	[$E, fchmodat => 0, 0, 06755], ['allow', fchmodat => 0, 0, 0777],
	[$E, kill => 1, 9], ['allow', kill => 2, 9], [$E, tgkill => 1, 1, 9],
	[$E, prlimit64 => 5], ['allow', prlimit64 => 0],
	[$E, setpriority => 1], [$E, setpriority => 0, 5],
	['allow', setpriority => 0, 0, 5],
	[$E, ioprio_set => 2], [$E, ioprio_set => 1, 7],
	[$E, prctl => 35], [$E, prctl => 0x59616d61], ['allow', prctl => 15],
	[$E, personality => 0x40000], ['allow', personality => 0xffffffff],
	['errno ' . ENOMEM, mmap => 0, 1, 3, 0x122], ['allow', mmap => 0, 1, 3, 0x22],
	['errno 0', setsockopt => 0, 1, 7], ['allow', setsockopt => 0, 1, 9],
	[$E, socketpair => 2], ['allow', socketpair => 1, 1],
	['errno ' . EPROTONOSUPPORT, socketpair => 1, 0x80002],
	(map { ['allow', $_] } qw(read write openat close execve exit_group
		futex wait4 brk munmap getdents64 newfstatat fsync)),
);
# socket(2): which bit of the filter's number keeps it; netlink is below.
my ($NETWORK, $UNIX, $ROUTES, $ALONE, $MOUNTS) = (1, 2, 4, 4, 8);
my %FAMILY = (1 => $UNIX, 2 => $NETWORK, 10 => $NETWORK);

# What one filter does not answer as it should.
sub look
{
	my ($program, $arch, $number, $which, $whole) = @_;
	my @seen;
	my $say = sub {
		my ($expected, $name, @args) = @_;

		my $seen = word(answer($program, $arch, $number->{$name}, @args));
		push @seen, "$name(@args): $seen, not $expected"
		    if $seen ne $expected;
	};
	my $routes = $whole ? $which & $NETWORK : $which & $ROUTES;

	$routes = 0 unless $which & ($NETWORK | $UNIX);
	for my $family (0 .. 70, $HIGH - 1) {
		next if $family == 16;
		my $kept = $which & ($FAMILY{$family} // 0);
		$say->($kept ? 'allow' : 'errno ' . EAFNOSUPPORT,
			socket => $family, 1, 0);
	}
	$say->($routes ? 'allow' : 'errno ' . EAFNOSUPPORT, socket => 16, 3, 0);
	$say->('errno ' . EAFNOSUPPORT, socket => 16, 3, 4);
	$say->($whole && ($which & $ALONE) ? 'errno ' . ENOSYS : 'allow',
		pidfd_send_signal => 3);
	return @seen unless $whole;
	for my $name (grep { exists $number->{$_} } sort keys %refused) {
		$say->($mounting{$name} && ($which & $MOUNTS) ? 'allow'
			: "errno $errno{ $refused{$name} }", $name);
	}
	$say->(@$_) for grep { exists $number->{ $_->[1] } } @CASES;
	return @seen;
}

for my $name (sort keys %ARCH) {
	my ($arch, $header) = @{ $ARCH{$name} };
	my $program = programs(made($arch));
	my $number = numbers($header);

	SKIP: {
		skip "this machine has no <$header>", 1 unless %$number;
		my @known = grep { exists $number->{$_} } keys %refused;
		cmp_ok(scalar @known, '>=', 65,
			"$name: the numbers of most refused calls are known");
		is(scalar(@{ $program->{whole} // [] }), 16, "$name: 16 filters");
		is(scalar(@{ $program->{narrow} // [] }), 8, "$name: 8 narrow ones");
		for my $which (0 .. 15) {
			is(join(', ', look($program->{whole}[$which], $arch,
				$number, $which, 1)), '', "$name: filter $which");
			next if $which > 7;
			is(join(', ', look($program->{narrow}[$which], $arch,
				$number, $which, 0)), '', "$name: narrow $which");
		}
	}
	for my $which (0 .. 7) {
		my @all = map { $program->{$_}[$which] } qw(whole narrow);
		is(join(' ', map {
			my $code = $_;
			map { word(answer($code, $_, 0)) }
			    grep { $_ != $arch } 0x40000003, 0x40000028,
			    map { $_->[0] } values %ARCH
		} @all), join(' ', ('kill') x 8),
			"$name: filter $which ends a process of another architecture");
		next unless $name eq 'x86-64';
		is(join(' ', map { word(answer($_, $arch, 0x40000000 + 257)) }
			@all), 'kill kill', "and filter $which x32 calls");
	}
}
done_testing;
