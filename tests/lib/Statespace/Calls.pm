# SPDX-License-Identifier: MIT
# System calls by number: the tests write those of x86-64, and text that holds
# syscall(N, ...) is rewritten for the machine that the test runs on.
#
#	my $text = Statespace::Calls::here('syscall(41, 16, 3, 0)');
#	syscall(Statespace::Calls::number('unshare'), 0x40000000);
package Statespace::Calls;

use strict;
use warnings;
use Config;

# asm/unistd_64.h of x86-64, asm-generic/unistd.h of aarch64.  From 424 on the
# numbers are the same.
my %CALLS = (
	read => [0, 63], write => [1, 64], lseek => [8, 62], mmap => [9, 222],
	mprotect => [10, 226], munmap => [11, 215], shmget => [29, 194],
	shmctl => [31, 195], socket => [41, 198], socketpair => [53, 199],
	clone => [56, 220], semget => [64, 190], semctl => [66, 191],
	msgget => [68, 186], msgctl => [71, 187], fcntl => [72, 25],
	ftruncate => [77, 46], fchdir => [81, 50], ptrace => [101, 117],
	setsid => [112, 157], rt_sigqueueinfo => [129, 138],
	personality => [135, 92], setpriority => [141, 140],
	sched_setscheduler => [144, 119], prctl => [157, 167],
	setxattr => [188, 5], sched_setaffinity => [203, 122],
	mq_open => [240, 180], mq_unlink => [241, 181], add_key => [248, 217],
	ioprio_set => [251, 30], inotify_add_watch => [254, 27],
	openat => [257, 56], fchmodat => [268, 53], unshare => [272, 97],
	vmsplice => [278, 75], prlimit64 => [302, 261],
	name_to_handle_at => [303, 264], process_vm_readv => [310, 270],
	kcmp => [312, 272], renameat2 => [316, 276], seccomp => [317, 277],
	memfd_create => [319, 279], execveat => [322, 281],
	userfaultfd => [323, 282], clone3 => [435, 435],
);
# aarch64 has these only under another name, with one more argument.
my %INSTEAD = (90 => 'syscall(53, -100', 253 => 'syscall(26, 0');
my %AARCH64 = map { @$_ } values %CALLS;

my $x86 = $Config{archname} =~ /x86_64/;

sub known { return $Config{archname} =~ /x86_64|aarch64/ }

sub number
{
	my ($name) = @_;

	return ($CALLS{$name} // die "$name: no such call\n")->[$x86 ? 0 : 1];
}

sub here { return $x86 ? $_[0] : aarch64($_[0]) }

sub aarch64
{
	my ($text) = @_;

	$text =~ s{\bsyscall\((\d+)\b}{ $INSTEAD{$1} // 'syscall('
	    . ($AARCH64{$1} // ($1 >= 424 ? $1 : die "call $1\n")) }ge;
	return $text;
}

1;
