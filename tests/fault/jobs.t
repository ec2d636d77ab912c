#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Jobs under kills: pools that share one state directory are reloaded, stopped
# and killed, workers and holders are killed at random.  No job that was told to
# its caller is forgotten, none runs twice, no process is left.
#	JOBS=1000 tests/fault/jobs.t	as many jobs; 40 without
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json encode_json);
use Statespace::FastCGI qw(request variables call talk);
use Statespace::Pool;
use Statespace::TestSite qw(write_file);
use Test::More;
use Time::HiRes qw(sleep time);

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my $JOBS = $ENV{JOBS} || 40;
my $SECONDS = 60 + $JOBS / 2;
srand($ENV{SEED} //= time);
note("SEED=$ENV{SEED} JOBS=$JOBS");

# Each run appends its number to a file that its page may write.
my $site = Statespace::TestSite->new(files => { 'README.md' => <<'END' });
---
tools:
  - command: [sh, -c, 'echo "$0" >>runs/all; echo "begin $0"; sleep "$1"; echo "end $0"', {name: number, regex: '^[0-9]+$'}, {name: seconds, regex: '^[0-9.]+$'}, ;]
    write: [runs]
    job: required
---
END
mkdir $site->dir . '/runs';
chmod 01777, $site->dir . '/runs';
write_file($site->dir . '/runs/all', '');
chmod 0666, $site->dir . '/runs/all';
my $state = $site->scratch . '/state';
my $config = "[state]\ndirectory = \"$state\"\n[grant]\nwrite = [\"runs\"]\n"
    . "[jobs]\nmax = 24\nmax_page = 24\nmax_kept = 20000\n"
    . "[pool]\nmode = \"static\"\nworkers = 3\nwatchdog = 30.0\n";
my @pools;

sub start_pool
{
	my ($i) = @_;

	$pools[$i] = Statespace::Pool->start(site => $site, config => $config,
		socket => $site->scratch . "/pool$i.sock");
}
start_pool($_) for 0, 1;

sub end_pool
{
	my ($pool, $signal) = @_;

	kill $signal, $pool->pid;
	waitpid $pool->pid, 0;
	delete $pool->{pid};
}

# The answer of any pool, and of the next when one is being killed.
sub ask
{
	my ($bytes) = @_;

	for my $pool (@pools[rand() < 0.5 ? (0, 1) : (1, 0)]) {
		my $socket = IO::Socket::UNIX->new(
			Type => Statespace::FastCGI::SOCK_STREAM(),
			Peer => $pool->socket) or next;
		my $answer = talk($socket, $bytes, seconds => 15);
		return $answer if $answer->{status};
	}
	return { status => 0, body => '' };
}

sub at
{
	my ($method, $href) = @_;
	my $answer = ask(request(variables(REQUEST_METHOD => $method,
		SCRIPT_NAME => $href, REQUEST_URI => $href)));

	return ($answer->{status}, eval { decode_json($answer->{body}) } || {});
}

sub holders
{
	my $all = Statespace::Server::processes();

	return grep { $all->{$_}{line} =~ /statespace-job .*\Q@{[$site->dir]}\E/ }
	    keys %$all;
}

my $SCRIPT = 'echo "$0" >>runs/all; echo "begin $0"; sleep "$1"; echo "end $0"';
my $first = ask(call('/', ['sh', '-c', $SCRIPT, '0', '0']));
if ($first->{status} == 503) {
	note($first->{body});
	$_->stop_ok for @pools;
	done_testing;
	exit;
}

note($first->{status}, " ", substr($first->{body}, 0, 300));
# ------------------------------------------------------------------ the load --
my (%told, %killed, $number, $kills);
my @memory;
my $until = time + $SECONDS;

# Resident bytes and descriptors of the supervisors.
sub measure
{
	my ($bytes, $files) = (0, 0);

	for my $pid (map { $_->pid } @pools) {
		open my $file, '<', "/proc/$pid/statm" or return;
		$bytes += (split ' ', scalar <$file>)[1] * 4096;
		$files += () = glob "/proc/$pid/fd/*";
	}
	return [$bytes, $files];
}

my $begun = measure();
while (keys %told < $JOBS && time < $until) {
	$number++;
	my $answer = ask(call('/', ['sh', '-c', $SCRIPT, "$number",
		rand() < 0.2 ? '1' : '0']));
	my $job = $answer->{status} == 202
	    ? eval { decode_json($answer->{body}) } : undef;

	$told{$number} = $job->{href} if $job;
	sleep 0.05 if !$job;
	next if rand() > 0.12;
	my $i = int rand 2;
	my $what = int rand 5;
	$kills++;
	if ($what == 0) {
		end_pool($pools[$i], 'KILL');
		start_pool($i);
	} elsif ($what == 1) {
		end_pool($pools[$i], 'TERM');
		start_pool($i);
	} elsif ($what == 2) {
		kill 'HUP', $pools[$i]->pid;
	} elsif ($what == 3) {
		my @workers = $pools[$i]->workers;
		kill 'KILL', $workers[rand @workers] if @workers;
	} else {
		my @all = holders();
		kill 'KILL', $all[rand @all] if @all;
	}
}
my $count = keys %told;
cmp_ok($count, '>=', $JOBS, "$count jobs were made under $kills kills");

# ------------------------------------------------------------------- the end --
my (%states, %completed, @forgotten, @wrong);
for my $n (sort { $a <=> $b } keys %told) {
	my ($status, $job);

	for (1 .. 400) {
		($status, $job) = at('GET', $told{$n});
		last if $status == 404 || ($job->{state} // '')
		    =~ /^(?:completed|failed|cancelled|lost)$/;
		sleep 0.1;
	}
	push @forgotten, $n if $status != 200;
	$states{$job->{state} // 'none'}++;
	$completed{$n} = 1 if ($job->{state} // '') eq 'completed';
	push @wrong, "$n: $job->{stdout}" if ($job->{state} // '') eq 'completed'
	    && $job->{stdout} ne "begin $n\nend $n\n";
}
note(join ' ', map { "$_=$states{$_}" } sort keys %states);
is("@forgotten", '', 'each job that was told is still known');
is(join(' ', grep { !/^(?:completed|failed|lost)$/ } keys %states), '',
	'each has ended, and says how');
is("@wrong", '', 'what completed has its whole output');
my %ran;
$ran{$_}++ for split /\n/, Statespace::TestSite::slurp($site->dir . '/runs/all');
is(join(' ', grep { $ran{$_} > 1 } sort keys %ran), '', 'none ran twice');
is(join(' ', grep { !$ran{$_} } keys %completed), '', 'what completed ran');
ok($pools[0]->until_true(sub { !holders() }), 'no holder is left')
    or diag(join "\n", holders());

my $ended = measure();
note("memory $begun->[0] -> $ended->[0], descriptors $begun->[1] -> $ended->[1]");
cmp_ok($ended->[0], '<', $begun->[0] * 1.5 + (8 << 20), 'memory stays');
cmp_ok($ended->[1], '<=', $begun->[1] + 4, 'descriptors stay');
$_->stop_ok(allow => 'ended by signal') for @pools;
done_testing;
