#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The pool when the machine fails it: no descriptors, no room for the log or
# the scratch, workers and supervisor killed under load.  Every answer that is whole
# is right, and afterwards the pool serves and nothing is left.
use strict;
use warnings;
use FindBin;
use IO::Socket::UNIX;
use POSIX ();
use Socket qw(SOCK_STREAM);
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json);
use Statespace::FastCGI qw(request variables call talk);
use Statespace::Load;
use Statespace::Pool;
use Test::More;
use Time::HiRes qw(sleep time);

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my %load = (files => \%Statespace::Load::FILES);
my $config = $Statespace::Load::CONFIG;

sub start_pool
{
	my ($workers, %with) = @_;

	return Statespace::Pool->start(%load, %with, config => $config
		. "[pool]\nmode = \"static\"\nworkers = $workers\n"
		. ($with{more} // ''));
}

sub status { return talk($_[0]->socket, request(variables()))->{status} }

{
	my $pool = start_pool(1);
	my $probe = talk($pool->socket, call('/', ['echo', 'x']));
	$pool->stop;
	plan skip_all => 'tools cannot be confined here'
	    if $probe->{status} != 200;
}

# ------------------------------------------------------ descriptors exhausted --
sub limited { return (under => ['/bin/sh', '-c', "ulimit $_[0]; exec \"\$\@\"",
	'sh']) }
{
	my $pool = start_pool(1, limited('-n 20'), no_wait => 1);
	is($pool->reap >> 8, 1, 'with too few descriptors it does not start');
	delete $pool->{pid};
	like($pool->log, qr/only 20 open files are allowed, and 64 are needed/,
		'and says what is needed');
	$pool = start_pool(1, limited('-S -n 20'));
	is(talk($pool->socket, call('/', ['echo', 'x']))->{status}, 200,
		'where it may have more it takes them');
	$pool->stop_ok;
}
{
	my $pool = start_pool(2, limited('-n 64'));
	my $load = Statespace::Load->start($pool->socket, seconds => 2,
		clients => 8);
	# Connections that stay in the queue, many more than descriptors.
	my @idle = map { Statespace::FastCGI::connect_to($pool->socket) } 1 .. 100;
	@idle = ();
	my $sum = $load->finish;
	is($sum->{wrong} + $sum->{lost}, 0, 'as many as needed are enough: '
		. Statespace::Load::table($sum)) or diag $sum->{details};
	$pool->stop_ok;
}

# No worker can start: clients that wait get an answer.
{
	my $pool = start_pool(1);
	$pool->until_true(sub { $pool->workers == 1
		&& $pool->children('ss-status') == 1 });
	rename $pool->site->dir, $pool->site->dir . '.away';
	$pool->signal('KILL', $pool->workers);
	my $none = $pool->until_true(sub { $pool->log =~ /while it started/ }, 10);
	SKIP: {
		skip 'workers need no view of the site at this level', 2
		    unless $none;
		my $answer = talk($pool->socket, request(variables()));
		is($answer->{status}, 503,
			'when no worker can start a client gets an answer');
		cmp_ok($answer->{took}, '<', 12, 'and does not wait without end');
	}
	rename $pool->site->dir . '.away', $pool->site->dir;
	ok($pool->until_true(sub { status($pool) == 200 }, 25),
		'and served when they can');
	$pool->stop_ok(allow => qr/ended|while it started|a worker/);
}

# ------------------------------------------------------------------ disk full --
SKIP: {
	skip 'there is no /dev/full', 3 unless -w '/dev/full';
	my $pool = start_pool(2, more => "[log]\nfile = \"/dev/full\"\n");
	my $load = Statespace::Load->start($pool->socket, seconds => 1.5,
		clients => 2);
	my $sum = $load->finish;
	is($sum->{wrong} + $sum->{lost}, 0, 'no room for the log: '
		. Statespace::Load::table($sum)) or diag $sum->{details};
	$pool->signal('USR1');
	sleep 0.3;
	is(status($pool), 200, 'nor after its reopening');
	$pool->stop_ok;
}
{
	my $page = "---\ntools:\n  - [sh, -c, {}]\n---\n";
	my $pool = Statespace::Pool->start(files => { 'README.md' => $page },
		config => "[limits]\nscratch_bytes = 131072\n"
		. "[pool]\nmode = \"static\"\nworkers = 1\n");
	my $fill = talk($pool->socket, call('/', ['sh', '-c',
		'cd $TMPDIR && head -c 900000 /dev/zero >x; echo $?']));
	my $said = eval { decode_json($fill->{body}) } || {};
	SKIP: {
		skip 'the scratch has no limit at this level', 2
		    if ($said->{sandbox}{level} // '') ne 'strict';
		like("$said->{stderr}", qr/No space/,
			'no room in the scratch: the tool is told');
		my $next = talk($pool->socket, call('/', ['sh', '-c',
			'cd $TMPDIR && head -c 90000 /dev/zero >y && ls']));
		is(eval { decode_json($next->{body})->{stdout} }, "y\n",
			'and the next one finds it empty');
	}
	$pool->stop_ok;
}

# --------------------------------------- restarts under load, socket kept open --
{
	my $site = Statespace::TestSite->new(%load);
	my $path = $site->scratch . '/kept.sock';
	my $file = $site->scratch . '/kept.toml';
	my $listener = IO::Socket::UNIX->new(Type => SOCK_STREAM,
		Local => $path, Listen => 511) or die "listen: $!";
	my $start = sub {
		my $pid = fork() // die "fork: $!";
		return $pid if $pid;
		POSIX::dup2(fileno $listener, 0);
		open STDERR, '>', $site->scratch . '/log';
		delete $ENV{$_} for grep { /^STATESPACE_/ } keys %ENV;
		exec Statespace::Server::binary(), 'fcgi', '-c', $file,
		    '--workers', 4, $site->dir or POSIX::_exit(127);
	};

	Statespace::TestSite::write_file($file, $config);
	my $pid = $start->();
	my $load = Statespace::Load->start($path, seconds => 6);
	my ($restarts, @ended) = (0);
	for my $signal (qw(TERM QUIT INT TERM)) {
		sleep 1.2;
		kill $signal, $pid;
		waitpid $pid, 0;
		push @ended, $?;
		$pid = $start->();
		$restarts++;
	}
	my $sum = $load->finish;
	is($sum->{wrong} + $sum->{lost}, 0, "$restarts restarts under load: "
		. Statespace::Load::table($sum)) or diag $sum->{details};
	is("@ended", '0 0 0 0', 'each ends with success');
	kill 'TERM', $pid;
	waitpid $pid, 0;
}

# ------------------------------------------------- workers killed under load --
{
	my $pool = start_pool(4);
	my $load = Statespace::Load->start($pool->socket, seconds => 6);
	my ($kills, $until) = (0, time + 5.5);
	while (time < $until) {
		my @workers = $pool->workers;
		$kills += kill 'KILL', $workers[rand @workers] if @workers;
		sleep 0.1 + rand 0.3;
	}
	my $sum = $load->finish;
	my $table = Statespace::Load::table($sum);
	is($sum->{wrong}, 0, "$kills workers killed under load: $table")
	    or diag $sum->{details};
	cmp_ok($sum->{lost}, '<=', $kills, 'at most one is lost with each');
	ok($pool->until_true(sub { $pool->workers == 4 }, 12),
		'all workers are there again');
	is(status($pool), 200, 'and serve');
	ok(!Statespace::Server::process_lives("sleep $_", 30), 'no tool is left')
	    for @Statespace::Load::NAPS;
	$pool->stop_ok(allow => qr/ended by signal|while it started|exec_failed/);
}

# -------------------------------------------------- the supervisor killed likewise --
for my $round (1 .. 2) {
	my $pool = start_pool(3);
	my $load = Statespace::Load->start($pool->socket, seconds => 1.5);
	sleep 0.5 + rand 0.5;
	$pool->note_processes;
	my $supervisor = $pool->pid;
	$pool->signal('KILL');
	waitpid $supervisor, 0;
	delete $pool->{pid};
	my $sum = $load->finish;
	is($sum->{wrong}, 0, 'the supervisor killed under load: '
		. 'no answer is a wrong one') or diag $sum->{details};
	ok($pool->until_true(sub { !$pool->left_processes($supervisor) }, 8),
		'workers and tools go with it')
	    or diag join "\n", $pool->left_processes($supervisor);
	my $next = start_pool(1, site => $pool->site);
	is(status($next), 200, 'and the next pool takes over its socket');
	$next->stop_ok;
}

done_testing;
