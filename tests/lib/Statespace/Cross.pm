# SPDX-License-Identifier: MIT
# A clean Debian with the compiler and the libraries for another machine, and
# `make CROSS=...` in it.
#
#	SUITE=forky	the Debian to build in
#	KEEP=DIR	leaves the clean systems there for the next run
package Statespace::Cross;

use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp ();
use Statespace::Server qw(has);
use Time::HiRes qw(sleep time);

our %GNU = (arm64 => 'aarch64', riscv64 => 'riscv64');
our $suite = $ENV{SUITE} // 'trixie';
our $top = abs_path(dirname(__FILE__) . '/../../..');

my $mirror;
my $work;

# Why no system can be made here; undef when it can.
sub cannot
{
	return 'only root can make systems' if $> != 0;
	for my $program (qw(mmdebstrap unshare git)) {
		return "$program is not installed" unless has($program);
	}
	($mirror) = map { /^(\S+) Debian$/ ? $1 : () } qx(apt-get indextargets \\
		--format '\$(REPO_URI) \$(LABEL)' 'Created-By: Packages' 2>/dev/null);
	return 'apt knows no mirror of Debian' unless $mirror;
	return undef;
}

sub keep
{
	return $ENV{KEEP} if $ENV{KEEP};
	$work //= File::Temp->newdir('statespace-cross-XXXXXX', TMPDIR => 1);
	chmod 0755, $work;
	return "$work";
}

# Debian's packages in a directory; true when they are there.
sub system_of
{
	my ($root, $machines, $variant, @packages) = @_;

	return system('mmdebstrap', '--quiet', "--variant=$variant",
		"--architectures=$machines",
		'--aptopt=Acquire::Check-Valid-Until "false"',
		'--include=' . join(',', @packages), $suite, $root, $mirror) == 0;
}

# The clean system, made once.
sub made
{
	my ($machine) = @_;
	my $root = keep() . "/$suite-$machine";
	my @libraries = map { "$_:$machine" } qw(libc6-dev libfcgi-dev
		libyaml-dev libcjson-dev libpcre2-dev libcmark-gfm-dev nettle-dev
		libcmark-gfm-extensions-dev libcurl4-openssl-dev
		libsqlite3-dev libssl-dev);

	return $root if -x "$root/usr/bin/make" && -x "$root/bin/mount";
	return system_of($root, "amd64,$machine", 'apt', qw(gcc libc6-dev
		libseccomp-dev make mount pkg-config qemu-user-static),
		"gcc-$GNU{$machine}-linux-gnu", @libraries) ? $root : undef;
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

# Builds what is committed, with the programs of the tests; the log ends with
# "built" when there was no warning.
sub build
{
	my ($root, $machine) = @_;

	system("mkdir -p '$root/src' && cd '$root/src' && " .
		"find . -mindepth 1 -maxdepth 1 ! -name build -exec rm -r {} + && " .
		"cd '$top' && git ls-files -z | tar c --null -T - | tar x -C '$root/src'");
	return inside($root, "cd /src && make -j2 CROSS=$GNU{$machine}-linux-gnu " .
		'WERROR=-Werror all unit && echo built');
}

1;
