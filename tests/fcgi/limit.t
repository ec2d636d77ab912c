#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# max_running: how often a tool runs at a time, over all workers together.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json);
use Statespace::FastCGI qw(request variables call talk connect_to receive);
use Statespace::Pool;
use Test::More;
use Time::HiRes qw(sleep time);

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my $page = <<'END';
---
tools:
  - {command: [sleep, {regex: "[0-9.]+"}], max_running: 1}
  - {command: [sh, -c, {}], max_running: 2}
  - [echo, {}]
---
END
my $pool = Statespace::Pool->start(
	files => { 'README.md' => $page, 'other.md' => $page },
	config => "[pool]\nmode = \"static\"\nworkers = 6\n");

sub run { return talk($pool->socket, call(@_)) }

my $first = run('/', ['sleep', '0']);
if ($first->{status} == 503 && $first->{body} =~ /sandbox_unavailable/) {
	$pool->stop_ok;
	done_testing;
	exit;
}
is($first->{status}, 200, 'it runs when none does');
is(run('/', ['sleep', '0'])->{status}, 200, 'and again afterwards');

# One is running.
my $held = connect_to($pool->socket);
syswrite $held, call('/', ['sleep', '22.125']);
ok($pool->until_true(sub {
	Statespace::Server::process_lives('sleep 22.125') }), 'one runs');
my $began = time;
my $second = run('/', ['sleep', '0']);
is($second->{status}, 503, 'a second one is refused');
cmp_ok(time - $began, '<', 5, 'at once');
is($second->{headers}{'retry-after'}, 1, 'with Retry-After');
my $error = eval { decode_json($second->{body})->{error} } || {};
is($error->{code}, 'overloaded', 'as overloaded');
like($error->{message}, qr/did not run/, 'and it did not run');
is(run('/', ['echo', 'x'])->{status}, 200, 'another tool runs');
is(run('/other', ['sleep', '0'])->{status}, 200, "another page's, too");
is(run('/', ['rm', 'x'])->{status}, 403, 'what is refused is refused as ever');
my $tools = Statespace::Server::processes();
kill 'TERM', grep { $tools->{$_}{line} eq 'sleep 22.125' } keys %$tools;
is(receive($held)->{status}, 200, 'the first one ends as if alone');
is(run('/', ['sleep', '0'])->{status}, 200, 'and then one more may run');

# A dead worker leaves no count behind, a client that left neither.
for my $how ('killed worker', 'client that left') {
	$held = connect_to($pool->socket);
	syswrite $held, call('/', ['sleep', '33.125']);
	$pool->until_true(sub {
		Statespace::Server::process_lives('sleep 33.125') });
	is(run('/', ['sleep', '0'])->{status}, 503, "$how: first it is full");
	if ($how eq 'killed worker') {
		my $all = Statespace::Server::processes();
		kill 'KILL', map { $all->{$_}{ppid} } grep {
			$all->{$_}{line} eq 'sleep 33.125' } keys %$all;
	} else {
		close $held;
	}
	ok($pool->until_true(sub {
		run('/', ['sleep', '0'])->{status} == 200 }),
		"$how: the place is free again");
}
ok(!Statespace::Server::process_lives('sleep 33.125', 20), 'and nothing is left');

# However they come, never more than two overlap.
my $job = 'date +%s%N; sleep 0.05; date +%s%N';
my (@spans, $refused, $other);
for my $round (1 .. 12) {
	my @all = map {
		my $socket = connect_to($pool->socket);
		syswrite $socket, call('/', ['sh', '-c', $job]);
		$socket;
	} 1 .. 6;
	for (map { receive($_) } @all) {
		my @at = $_->{body} =~ /(\d{19})/g;
		push @spans, \@at if $_->{status} == 200;
		$refused++ if $_->{status} == 503;
		$other++ if $_->{status} != 200 && $_->{status} != 503;
	}
}
my $most = 0;
for my $span (@spans) {
	my $now = grep { $_->[0] <= $span->[0] && $span->[0] < $_->[1] } @spans;
	$most = $now if $now > $most;
}
cmp_ok($most, '<=', 2, 'of 72 at once never more than two overlap');
cmp_ok(scalar @spans, '>=', 12, 'and some run in every round');
is($other // 0, 0, "the rest ($refused) is told so");
is(@spans + $refused, 72, 'each got its answer');
$pool->stop_ok(allow => qr/ended by signal/);

done_testing;
