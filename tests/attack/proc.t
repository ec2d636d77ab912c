#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A tool meddles with other processes: the worker that runs it above all.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP ();
use Statespace::Attack;
use Statespace::TestSite qw(slurp);
use Test::More;

# Each process that could be meant, within the tool's numbers and outside.
sub on_others
{
	my ($test, $first) = @_;

	return ['perl', '-e', 'for my $p (getppid(), {WPID}) { '
	    . ($first // '') . "print \"PWNED\\n\" if \$p > 0 && $test }"];
}

my @own = (
	{ id => 'prc-signal', tool => on_others('kill(0, $p)') },
	{ id => 'prc-kill-worker', tool => ['perl', '-e',
		'print "PWNED\n" if kill(9, {WPID})'] },
	{ id => 'prc-sigqueue', tool => on_others('syscall(129, $p, 0, $i) == 0',
		'my $i = pack("iiix4ii", 0, 0, -1, $$, $<) . "\0" x 104; ') },
	{ id => 'prc-pidfd', tool => on_others('$f >= 0 && '
		. 'syscall(424, $f, 0, 0, 0) == 0',
		'my $f = syscall(434, $p, 0); ') },
	{ id => 'prc-affinity', tool => on_others('syscall(203, $p, 8, $m) == 0',
		'my $m = pack("Q", 1); ') },
	{ id => 'prc-scheduler', tool => on_others('syscall(144, $p, 3, $m) == 0',
		'my $m = pack("i", 0); ') },
	{ id => 'prc-ioprio', tool => on_others(
		'syscall(251, 1, $p, 3 << 13) == 0') },
	{ id => 'prc-owner', tool => ['perl', '-e',
		'pipe(my $r, my $w); print "PWNED\n" if '
		. 'fcntl($r, 8, {WPID})'] },
	{ id => 'prc-mem', tool => ['sh', '-c',
		'head -c1 /proc/{WPID}/mem; test -r /proc/{WPID}/mem && '
		. 'echo PWNED'] },
	{ id => 'prc-list', tool => ['sh', '-c',
		'ls -d /proc/[0-9]* | grep -q . && echo PWNED'] },
	{ id => 'prc-cmdline', tool => ['sh', '-c',
		'cat /proc/{WPID}/cmdline && echo PWNED'] },
);

# What /proc tells of the host; Landlock mode grants none of it.
my @told = (
	{ id => 'prc-mounts', tool => ['sh', '-c', 'cd /proc && cat self/mountinfo '
		. 'self/mounts self/mountstats mounts thread-self/mountinfo '
		. 'thread-self/mounts self/task/*/mountinfo [0-9]*/mountinfo '
		. '[0-9]*/task/*/mounts 2>/dev/null | grep -q . && echo PWNED'] },
	{ id => 'prc-cgroup', tool => ['sh', '-c', 'for f in /proc/[0-9]*/cgroup; do '
		. 'grep -q ":/[^/]" $f && echo PWNED; done'] },
);
for my $case (@told) {
	$case->{policy} = { proc => JSON::PP::true };
	$case->{setups} = [qw(strict exec cgi)];
}
$Statespace::Attack::no_wonder{'prc-cgroup'} =
    'this test is in the first control group';

# In Landlock mode it names every process of the account: run only where the
# plain signals above were held.
my @danger = ({ id => 'prc-kill-all', tool => ['sh', '-c', 'kill -9 -1; true'],
	setups => ['strict', 'exec', 'cgi'] });

Statespace::Attack::family(areas => ['proc'], own => [@own, @told, @danger],
	without => ['prc-kill-all'], change => {
		# An address that is there; and of others only one.
		'prc-vmreadv-worker' => { control => ['perl', '-e',
			'open my $m, "<", "/proc/{WPID}/maps"; '
			. '<$m> =~ /\A(\w+)/; my $b = "\0" x 8; '
			. 'my $l = pack("pQ", $b, 8); '
			. 'my $r = pack("QQ", hex $1, 8); my $p = {WPID}; '
			. 'print "PWNED\n" if syscall(310, $p + 0, $l, 1, $r, '
			. '1, 0) > 0'] },
		'prc-renice-worker' => { control => ['perl', '-e',
			'for my $p (getppid(), {WPID}) { print "PWNED\n" '
			. 'if syscall(141, 0, $p, 19) == 0 }'] } }, after => sub {
		my ($world) = @_;
		my $pid = $world->worker or return;
		my $limits = slurp("/proc/$pid/limits", '');
		like($limits, qr/^Max cpu time\s+unlimited/m,
			"$world->{setup}: the worker's limits are its own");
		my $stat = slurp("/proc/$pid/stat", '');
		is((split ' ', $stat =~ s/\A.*\) //sr)[16], 0,
			"$world->{setup}: and so is its priority");
	});
done_testing;
