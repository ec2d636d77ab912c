#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A pool that ends: tools in hand may finish as long as any tool may run, and
# what comes meanwhile is refused, or waits where another pool has the socket.
use strict;
use warnings;
use Fcntl qw(F_SETFD);
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Socket::UNIX;
use POSIX ();
use Socket qw(SOCK_STREAM);
use Statespace::FastCGI qw(request variables call talk connect_to receive);
use Statespace::Pool;
use Statespace::Server;
use Statespace::TestSite;
use Test::More;

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my $page = "---\ntools:\n  - [sleep, {}]\n---\n# Hello\n";
my %site = (files => { 'README.md' => $page });
my $config = "[pool]\nmode = \"static\"\nworkers = 2\n";

sub start_sleep
{
	my ($path, $seconds) = @_;
	my $socket = connect_to($path);

	syswrite $socket, call('/', ['sleep', $seconds]);
	for (1 .. 3000) {
		return $socket
		    if Statespace::Server::process_lives("sleep $seconds");
		select undef, undef, undef, 0.01;
	}
	diag 'the tool was not seen';
	return $socket;
}

# Longer than the grace of five seconds that there was once.
my $long = '7.0625';
{
	my $pool = Statespace::Pool->start(%site, config => $config);
	if (talk($pool->socket, call('/', ['sleep', '0']))->{status} != 200) {
		$pool->stop;
		plan skip_all => 'tools cannot be confined here';
	}
	my $held = start_sleep($pool->socket, $long);
	$pool->signal('TERM');
	$pool->until_true(sub { $pool->workers == 1 });
	my $late = talk($pool->socket, call('/', ['sleep', '0']));
	is($late->{status}, 503, 'while the pool ends a new request is refused');
	like($late->{body}, qr/is stopping; the tool did not run/,
		'which says why');
	is($late->{headers}{'retry-after'}, 1, 'with Retry-After');
	is(talk($pool->socket . '.status', request(variables(
		SCRIPT_NAME => '/healthz')))->{status}, 200,
		'health is still answered');
	is(receive($held)->{status}, 200, 'a tool in hand finishes');
	is($pool->reap, 0, 'then the pool ends');
	delete $pool->{pid};
	unlike($pool->log, qr/does not leave/, 'by itself');
}
{
	my $pool = Statespace::Pool->start(%site,
		config => "${config}stop_timeout = 1.0\n");
	my $held = start_sleep($pool->socket, '59.0625');
	$pool->signal('TERM');
	ok(!receive($held, seconds => 30)->{ended},
		'stop_timeout: after it the answer is cut');
	is($pool->reap, 0, 'stop_timeout: and the pool ends');
	delete $pool->{pid};
	like($pool->log, qr/does not leave: killed/,
		'stop_timeout: it says what it did');
	ok(!Statespace::Server::process_lives('sleep 59.0625', 20),
		'stop_timeout: the tool is gone');
}

# A balancer takes a pool out that it has seen to be draining.
sub ask_ready
{
	my ($path) = @_;

	return talk($path, request(variables(SCRIPT_NAME => '/readyz')));
}
{
	my $pool = Statespace::Pool->start(%site, config => "${config}drain = 600\n");
	my $status = $pool->socket . '.status';
	my $held = start_sleep($pool->socket, '8.0625');
	is(ask_ready($status)->{status}, 200, 'drain: ready at first');
	$pool->signal('QUIT');
	ok($pool->until_true(sub { ask_ready($status)->{status} == 503 }),
		'drain: /readyz turns 503 on QUIT');
	like(ask_ready($status)->{body}, qr/"draining"/, 'drain: it says why');
	like(ask_ready($pool->socket)->{body}, qr/\A\{"status": "draining"\}/,
		'drain: a worker says so, too');
	is(talk($pool->socket, call('/', ['sleep', '0']))->{status}, 200,
		'drain: new requests are served');
	is(scalar $pool->workers, 2, 'drain: by the same workers');
	$pool->signal('QUIT');
	is(receive($held)->{status}, 200,
		'drain: a second QUIT ends it, and a tool in hand finishes');
	is($pool->reap, 0, 'drain: then the pool ends');
	delete $pool->{pid};
}
{
	my $pool = Statespace::Pool->start(%site, config => "${config}drain = 1.5\n");
	my $began = time;
	$pool->signal('QUIT');
	is($pool->reap, 0, 'drain: the pool ends by itself');
	delete $pool->{pid};
	cmp_ok(time - $began, '>=', 1, 'drain: not before its time');
	$pool = Statespace::Pool->start(%site, config => "${config}drain = 600\n");
	$pool->signal('QUIT');
	$pool->until_true(sub { ask_ready($pool->socket . '.status')->{status}
		== 503 });
	$pool->signal('TERM');
	is($pool->reap, 0, 'drain: TERM ends it at once');
	delete $pool->{pid};
}

# Requests that wait for a tool are told, too.
{
	my $pool = Statespace::Pool->start(%site, config => "[pool]\n"
		. "mode = \"static\"\nworkers = 1\nstop_timeout = 3.0\n");
	my $held = start_sleep($pool->socket, '58.0625');
	$pool->until_true(sub { $pool->workers == 3 });
	my $waiting = connect_to($pool->socket);
	syswrite $waiting, call('/', ['sleep', '0']);
	$pool->until_true(sub { talk($pool->socket . '.status', request(
		variables(SCRIPT_NAME => '/__meta/status',
		STATESPACE_STATUS => 1)))->{body} =~ /"queue": \{"length": 1/ });
	$pool->signal('TERM');
	like(receive($waiting)->{body}, qr/the tool did not run/,
		'who waits for a tool is refused');
	receive($held);
	$pool->reap;
	delete $pool->{pid};
}

# One socket, two pools: the second one answers what the first one left.
{
	my $site = Statespace::TestSite->new(%site);
	my $path = $site->scratch . '/given.sock';
	my $listener = IO::Socket::UNIX->new(Type => SOCK_STREAM,
		Local => $path, Listen => 5) or die "listen: $!";
	my $start = sub {
		my $pid = fork() // die "fork: $!";
		return $pid if $pid;
		POSIX::dup2(fileno $listener, 0);
		open my $same, '>&=', 0;
		fcntl $same, F_SETFD, 0;
		open STDERR, '>>', $site->scratch . '/log';
		delete $ENV{$_} for grep { /^STATESPACE_/ } keys %ENV;
		@ENV{qw(STATESPACE_ROOT STATESPACE_POOL_WORKERS)} =
		    ($site->dir, 2);
		exec { Statespace::Server::binary() } 'statespace'
		    or POSIX::_exit(127);
	};
	my $first = $start->();
	my $held = start_sleep($path, $long);
	kill 'TERM', $first;
	my $gone = sub {
		my $all = Statespace::Server::processes();
		return 1 == grep { $all->{$_}{ppid} == $first
			&& Statespace::Pool::name_of($_) eq 'ss-worker' }
		    keys %$all;
	};
	Statespace::Pool->until_true($gone);
	my $next = connect_to($path);
	syswrite $next, request(variables());
	my $second = $start->();
	is(receive($next)->{status}, 200,
		'a socket of two pools: the new one answers');
	is(receive($held)->{status}, 200, 'and the old one what it has');
	waitpid $first, 0;
	is($?, 0, 'and ends');
	kill 'TERM', $second;
	waitpid $second, 0;
}

# With a front of its own.
SKIP: {
	skip 'nginx is not installed', 2 unless Statespace::Server::front('nginx');
	my $server = Statespace::Server->start(%site);
	pipe my $read, my $write or die "pipe: $!";
	my $client = fork() // die "fork: $!";
	if ($client == 0) {
		print $write $server->run('/', ['sleep', '8.0625'])->{status};
		close $write;
		POSIX::_exit(0);
	}
	close $write;
	Statespace::Pool->until_true(sub {
		Statespace::Server::process_lives('sleep 8.0625') });
	$server->stop_ok(name => 'serve ends cleanly');
	is(<$read>, 200, 'serve: a tool in hand finishes');
	waitpid $client, 0;
}

done_testing;
