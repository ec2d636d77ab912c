#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A worker that hangs in the middle of a request: its tool is killed, another
# worker takes its place, and the client gets an answer through the front.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json);
use POSIX ();
use Statespace::FastCGI qw(request variables call talk connect_to receive);
use Statespace::Pool;
use Statespace::Server;
use Test::More;
use Time::HiRes qw(sleep time);

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my %page = (files => { 'README.md' =>
	"---\ntools:\n  - [sleep, {}]\n---\n# Hello\n" });
my $config = "[limits]\ntimeout = 1.0\n[components]\ntotal = 1.0\n"
    . "[pool]\nmode = \"static\"\nworkers = 2\nwatchdog = 1.0\n";
my $nap = "5$$";

# The worker above the tool with this line, stopped; its pid.
sub freeze_worker_of
{
	my ($pool, $line) = @_;
	my $worker;

	Statespace::Pool::until_true($pool, sub {
		my $all = Statespace::Server::processes();
		my ($tool) = grep { $all->{$_}{line} eq $line } keys %$all;
		$worker = $tool && $all->{$tool}{ppid};
		return $worker && Statespace::Pool::name_of($worker)
		    eq 'ss-worker' && kill 'STOP', $worker;
	}) or diag "no worker runs $line";
	return $worker;
}

sub is_gone
{
	my ($pool, $pid) = @_;

	return Statespace::Pool::until_true($pool, sub {
		return !Statespace::Server::processes()->{$pid};
	});
}

# Through nginx, as `statespace serve` has it.
SKIP: {
	skip 'nginx is not installed', 1
	    unless Statespace::Server::front('nginx');
	my $server = Statespace::Server->start(%page, config => $config);
	if ($server->run('/', ['sleep', '0'])->{status} != 200) {
		$server->stop;
		plan skip_all => 'tools cannot be confined here';
	}
	pipe my $read, my $write or die "pipe: $!";
	my $client = fork() // die "fork: $!";
	if ($client == 0) {
		my $answer = $server->run('/', ['sleep', $nap]);
		print $write "$answer->{status} $answer->{ms}\n$answer->{body}";
		close $write;
		POSIX::_exit(0);
	}
	close $write;
	my $stuck = freeze_worker_of($server, "sleep $nap");
	my ($status, $ms) = split ' ', <$read> // '';
	my $said = eval { decode_json(do { local $/; <$read> }) } || {};
	waitpid $client, 0;
	is($status, 502, 'the client of a stuck worker is answered');
	like($said->{error}{message}, qr/may have run/,
		'in our own shape, and told that the tool may have run')
	    or diag explain $said;
	cmp_ok($ms, '>', 2900, 'not before its limits and the watchdog\'s');
	ok(is_gone($server, $stuck), 'the worker is gone');
	ok(!Statespace::Server::process_lives("sleep $nap", 20),
		'and its tool');
	ok($server->log_says(qr/worker \d+ is stuck for \d+ s: killed/, 20),
		'the log says why');
	my $figures = decode_json(
		$server->request('GET', '/__meta/status')->{body})->{pool};
	is($figures->{stuck}, 1, 'the figures count it');
	is($figures->{watchdog_s}, 3, 'and name the limit');
	is($server->request('GET', '/')->{status}, 200, 'the pool serves');
	$server->stop_ok(allow => qr/is stuck|ended by signal|prematurely/);
}

# A pool that ends does not wait for it either.
{
	my $pool = Statespace::Pool->start(%page, config => $config
		=~ s/watchdog = 1.0/watchdog = 600.0\nstop_timeout = 5.0/r);
	my $socket = connect_to($pool->socket);
	syswrite $socket, call('/', ['sleep', "6$$"]);
	my $stuck = freeze_worker_of($pool, "sleep 6$$");
	my $began = time;
	$pool->signal('TERM');
	my $answer = receive($socket, seconds => 30);
	ok($answer->{eof} && !$answer->{ended}, 'TERM: the answer is cut');
	is($pool->reap, 0, 'TERM: the pool ends');
	cmp_ok(time - $began, '<', 20, 'TERM: in time');
	delete $pool->{pid};
	like($pool->log, qr/does not leave: killed/, 'TERM: it says what it did');
	ok(is_gone($pool, $stuck), 'TERM: the worker is gone');
	ok(!Statespace::Server::process_lives("sleep 6$$", 20),
		'TERM: and its tool');
}

# A page may have a longer tool than limits.timeout, by grant.timeout.
{
	my $pool = Statespace::Pool->start(files => { 'README.md' =>
		"---\ntools:\n  - { command: [sleep, {}], timeout: 20 }\n---\n" },
		config => "$config\[grant]\ntimeout = 20.0\n");
	my $ran = talk($pool->socket, call('/', ['sleep', '4']));
	is($ran->{status}, 200, 'a longer granted tool may end');
	unlike($pool->log, qr/is stuck/, 'and its worker is not stuck');
	$pool->stop_ok;
}

done_testing;
