#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A long load with trouble in it, for SOAK_SECONDS (60; `make soak` takes ten
# minutes): reloads, then also killed workers.  Every answer is checked; memory
# and descriptors stay where they were.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::FastCGI qw(request variables call talk);
use Statespace::Load;
use Statespace::Pool;
use Test::More;
use Time::HiRes qw(sleep time);

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';
my $seconds = $ENV{SOAK_SECONDS} || 60;

my $pool = Statespace::Pool->start(files => \%Statespace::Load::FILES,
	config => "$Statespace::Load::CONFIG\[pool]\nmode = \"static\"\n"
	. "workers = 4\nmax_requests = 500\n");
if (talk($pool->socket, call('/', ['echo', 'x']))->{status} != 200) {
	$pool->stop;
	plan skip_all => 'tools cannot be confined here';
}

sub memory
{
	my ($pid) = @_;

	open my $file, '<', "/proc/$pid/status" or return 0;
	return (map { /^VmRSS:\s+(\d+)/ } <$file>)[0] // 0;
}

sub descriptors
{
	my ($pid) = @_;

	return scalar(my @all = glob "/proc/$pid/fd/*");
}

sub highest { return (sort { $b <=> $a } @_)[0] // 0 }

# All workers are there, and for a while nobody comes or goes.
sub settle
{
	my ($same, $last) = (0, '');

	$pool->until_true(sub {
		my @workers = $pool->workers;
		my $now = "@workers " . descriptors($pool->pid);
		$same = $now eq $last ? $same + 1 : 0;
		$last = $now;
		sleep 0.1;
		return @workers == 4 && $same >= 8;
	}, 60) or diag $pool->log;
	return;
}

# What the pool holds while nobody asks for anything: every worker has seen
# requests of all kinds by then.
sub holds
{
	settle();
	Statespace::Load->start($pool->socket, seconds => 1)->finish;
	settle();
	return { memory => memory($pool->pid),
		descriptors => descriptors($pool->pid),
		worker_memory => highest(map { memory($_) } $pool->workers),
		worker_descriptors => highest(
			map { descriptors($_) } $pool->workers) };
}

# A load with this trouble in it every now and then; how often, and the sum.
sub soak
{
	my ($long, $trouble) = @_;
	my $load = Statespace::Load->start($pool->socket, seconds => $long);
	my ($times, $until) = (0, time + $long - 0.5);

	while (time < $until) {
		$times += $trouble->();
		sleep 0.5 + rand 1.5;
	}
	return ($times, $load->finish);
}

soak(highest(2, $seconds / 10), sub { $pool->signal('HUP') });
my $before = holds();

my ($reloads, $sum) = soak($seconds * 0.45, sub { $pool->signal('HUP') });
my $table = Statespace::Load::table($sum);
is($sum->{wrong}, 0, "$reloads reloads under load: $table")
    or diag $sum->{details};
is($sum->{lost}, 0, 'none is lost') or diag $sum->{details};
note "reloads $reloads: $table";

my $kills = 0;
(my $times, $sum) = soak($seconds * 0.45, sub {
	my @workers = $pool->workers;
	$kills += kill 'KILL', $workers[rand @workers] if @workers;
	return $pool->signal('HUP') if rand() < 0.3;
	return 1;
});
$table = Statespace::Load::table($sum);
is($sum->{wrong}, 0, "$kills killed workers, too: $table")
    or diag $sum->{details};
cmp_ok($sum->{lost}, '<=', $kills, 'at most one is lost with each')
    or diag $sum->{details};
note "kills $kills: $table";

my $after = holds();
note join ', ', map { "$_ $before->{$_} -> $after->{$_}" } sort keys %$before;
is($after->{descriptors}, $before->{descriptors},
	'the supervisor holds as many descriptors as before');
cmp_ok($after->{worker_descriptors}, '<=', $before->{worker_descriptors},
	'no worker holds more descriptors');
SKIP: {
	skip 'a sanitizer keeps what was freed', 2 if $ENV{SANITIZE};
	cmp_ok($after->{memory}, '<=', $before->{memory} * 1.1 + 512,
		'and no more memory');
	cmp_ok($after->{worker_memory}, '<=', $before->{worker_memory} * 1.2 + 1024,
		'nor much more memory');
}
ok(!Statespace::Server::process_lives("sleep $_", 30), 'no tool is left')
    for @Statespace::Load::NAPS;
is(talk($pool->socket, request(variables()))->{status}, 200, 'it serves');
$pool->stop_ok(allow => qr/ended by signal|while it started|exec_failed/);

done_testing;
