#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# What a service manager, an operator and a front server see of the pool:
# notifications, logs that are opened again, ids, users, gone clients, sockets
# that are no Unix sockets, descriptors that run out.
use strict;
use warnings;
use Fcntl qw(F_SETFD);
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Socket::INET;
use IO::Socket::UNIX;
use JSON::PP qw(decode_json);
use POSIX ();
use Socket qw(SOCK_DGRAM);
use Statespace::Attack;
use Statespace::FastCGI qw(request variables call talk connect_to receive);
use Statespace::Pool;
use Statespace::Server;
use Statespace::TestSite;
use Test::More;
use Time::HiRes qw(sleep time);

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my $page = "---\ntools:\n  - [sleep, {}]\n  - [env]\n---\n# Hello\n";
my %one = (files => { 'README.md' => $page },
	config => "[pool]\nmode = \"static\"\nworkers = 1\n");

# ------------------------------------------------------------------- systemd --
{
	my $site = Statespace::TestSite->new(files => $one{files});
	my $path = $site->scratch . '/notify';
	my $notify = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $path)
	    or die "notify: $!";
	my %got;
	my $hear = sub {
		while (defined recv $notify, my $state, 100, Socket::MSG_DONTWAIT()) {
			$got{$state}++;
		}
		return \%got;
	};
	my $pool = Statespace::Pool->start(%one, site => $site, environment => {
		NOTIFY_SOCKET => $path, WATCHDOG_USEC => 1_000_000 });
	ok($pool->until_true(sub { $hear->()->{'READY=1'} }),
		'systemd is told when it is ready');
	ok($pool->until_true(sub { ($hear->()->{'WATCHDOG=1'} // 0) >= 3 }),
		'and that it is alive, again and again');
	$pool->signal('HUP');
	ok($pool->until_true(sub { $hear->()->{'RELOADING=1'}
		&& $got{'READY=1'} == 2 }), 'and of a reload, and its end');
	$pool->signal('STOP');
	$hear->();
	my $before = $got{'WATCHDOG=1'};
	sleep 1;
	$hear->();
	is($got{'WATCHDOG=1'}, $before, 'a supervisor that hangs sends nothing');
	$pool->signal('CONT');
	$pool->stop_ok(signal => 'TERM');
	$hear->();
	is($got{'STOPPING=1'}, 1, 'and when it stops');
	my ($extend) = map { /^EXTEND_TIMEOUT_USEC=(\d+)$/ } keys %got;
	cmp_ok($extend // 0, '>', 30e6, 'and how long that may take');
}

# ----------------------------------------------------------------- log files --
{
	my $site = Statespace::TestSite->new(files => $one{files});
	my $log = $site->scratch . '/requests.log';
	my $pool = Statespace::Pool->start(%one, site => $site,
		config => "$one{config}\[log]\nfile = \"$log\"\n");
	my $lines = sub {
		open my $file, '<', $_[0] or return 0;
		return scalar grep { /event=request/ } <$file>;
	};

	talk($pool->socket, request(variables()));
	$pool->until_true(sub { $lines->($log) == 1 });
	is($lines->($log), 1, 'the log is a file');
	rename $log, "$log.1";
	talk($pool->socket, request(variables()));
	$pool->until_true(sub { $lines->("$log.1") == 2 });
	is($lines->("$log.1"), 2, 'which may be renamed');
	$pool->signal('USR1');
	ok($pool->until_true(sub {
		talk($pool->socket, request(variables()));
		return $lines->($log) > 0;
	}), 'USR1: a new one is opened');
	$pool->stop_ok;
}

{
	my $pool = Statespace::Pool->start(%one,
		config => "$one{config}\[log]\nformat = \"json\"\n");
	talk($pool->socket, request(variables(SCRIPT_NAME => "/a \"b\" \xc3\xbc",
		REQUEST_ID => 'json-1')));
	$pool->log_says(qr/json-1/);
	my ($line) = grep { /json-1/ } split /\n/, $pool->log;
	my $said = eval { decode_json($line) } || {};
	is("@$said{qw(event id method status code)}",
		'request json-1 GET 404 not_found', 'a line can be JSON');
	is($said->{path}, "/a \"b\" \x{fc}", 'with whatever stands in it');
	$pool->stop_ok;
}

# ------------------------------------------------- who asked, and which request --
my $site = Statespace::TestSite->new(files => { %{ $one{files} },
	'w/x' => '', 'write.md' => "---\ntools:\n"
	    . "  - {command: [touch, w/ran], write: [w]}\n---\n" });
my $w = $site->dir . '/w';
chmod 0777, $w;
# No reserve: a second worker would serve while the first is busy.
my $pool = Statespace::Pool->start(site => $site,
	config => "$one{config}reserve = 0\n[grant]\nwrite = [\"w\"]\n");
my $at = $pool->socket;
my $answer = talk($at, request(variables(REQUEST_ID => 'abc-123')));
is($answer->{headers}{'x-request-id'}, 'abc-123',
	'the front\'s id is the answer\'s');
ok($pool->log_says(qr/id=abc-123 /), 'and the log\'s');
$answer = talk($at, call('/', ['env'], REQUEST_ID => 'abc-124',
	HTTP_PROXY => 'http://evil.example', REMOTE_USER => 'ada'));
SKIP: {
	skip 'tools cannot be confined here', 2 if $answer->{status} == 503;
	like($answer->{body}, qr/STATESPACE_REQUEST_ID=abc-124\\n/,
		'and the tool\'s');
	unlike($answer->{body}, qr/evil\.example/,
		'a client\'s Proxy header is no tool\'s proxy');
}
isnt(talk($at, request(variables(REQUEST_ID => "a b\"c")))
	->{headers}{'x-request-id'}, "a b\"c", 'an id that is none is replaced');
unlike($pool->log, qr/user="?ada/, 'a user that nobody has verified is none');
talk($at, request(variables(REMOTE_USER => 'ada',
	STATESPACE_AUTH => 'verified')));
ok($pool->log_says(qr/user="?ada/), 'a verified one is');
$answer = talk($at, request(variables(), undef, keep => 1));
ok($answer->{ended} && $answer->{eof},
	'a front that wants to keep the connection does not');

# ------------------------------------------------------------- gone clients --
SKIP: {
	skip 'tools cannot be confined here', 6
	    if talk($at, call('/', ['sleep', '0']))->{status} == 503;
	my $held = connect_to($at);
	syswrite $held, call('/', ['sleep', "44.5$$"]);
	ok($pool->until_true(sub {
		Statespace::Server::process_lives("sleep 44.5$$") }),
		'the only worker is busy');
	my $gone = connect_to($at);
	syswrite $gone, call('/write', ['touch', 'w/ran'], REQUEST_ID => 'gone-1');
	close $gone;
	close $held;
	ok($pool->until_true(sub {
		!Statespace::Server::process_lives("sleep 44.5$$") }),
		'a tool is stopped when its client leaves');
	ok($pool->log_says(qr/id=gone-1 .*stage=hooks code=gone/, 20),
		'one that has left is noticed before anything is done');
	ok(!-e "$w/ran", 'and its tool has not run');
	is(talk($at, call('/write', ['touch', 'w/ran']))->{status}, 200,
		'which runs for another');
	ok(-e "$w/ran", 'and leaves its trace then');
}

# -------------------------------------------------------- descriptors run out --
# As the worker's own account: root may lack the right.
sub limit_files
{
	my ($worker, $soft) = @_;
	my $pid = fork() // die "fork: $!";

	if ($pid == 0) {
		Statespace::Attack::become_account();
		open STDERR, '>', '/dev/null';
		exec 'prlimit', '--pid', $worker, "--nofile=$soft:"
		    or POSIX::_exit(127);
	}
	waitpid $pid, 0;
	return $? == 0;
}

SKIP: {
	my ($worker) = $pool->workers;
	skip 'the limits of a worker cannot be changed', 3
	    unless limit_files($worker, 3);
	my $waiting = connect_to($at);
	syswrite $waiting, request(variables());
	is(receive($waiting, seconds => 1)->{status}, 0,
		'a worker without descriptors accepts nothing');
	is("@{[ $pool->workers ]}", $worker, 'nor does it leave');
	limit_files($worker, 1024);
	is(receive($waiting)->{status}, 200, 'when it has some it goes on');
}
$pool->stop_ok;

# ----------------------------------------------------------------------- TCP --
# A pool on a TCP socket that somebody else has opened.
sub start_tcp
{
	my ($listener, $site, %environment) = @_;
	my $pid = fork() // die "fork: $!";

	return $pid if $pid;
	POSIX::dup2(fileno $listener, 0);
	open STDERR, '>', $site->scratch . '/log';
	delete $ENV{$_} for grep { /^STATESPACE_(?!SANDBOX)/ } keys %ENV;
	@ENV{ 'STATESPACE_ROOT', keys %environment } =
	    ($site->dir, values %environment);
	exec Statespace::Server::binary(), 'fcgi', '--workers', 1
	    or POSIX::_exit(127);
}

sub ask_tcp
{
	my ($listener) = @_;
	my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
		PeerPort => $listener->sockport) or die "connect: $!";

	return talk($socket, request(variables()));
}

{
	my $site = Statespace::TestSite->new(files => $one{files});
	my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1',
		Listen => 5) or die "listen: $!";
	my $pid = start_tcp($listener, $site);
	is(ask_tcp($listener)->{status}, 200,
		'a TCP socket is served when it is handed over');
	open my $log, '<', $site->scratch . '/log';
	like(join('', <$log>), qr/warning: a TCP socket/, 'with a warning');
	kill 'TERM', $pid;
	waitpid $pid, 0;
	is($?, 0, 'and it ends cleanly');

	$pid = start_tcp($listener, $site,
		STATESPACE_POOL_ALLOW => '["192.0.2.7", "2001:db8::/32"]');
	is(ask_tcp($listener)->{status}, 0,
		'a peer that allow does not list gets no answer');
	open $log, '<', $site->scratch . '/log';
	like(join('', <$log>), qr/from 127\.0\.0\.1 is closed: \[pool\] allow/,
		'and the log names it');
	kill 'TERM', $pid;
	waitpid $pid, 0;

	$pid = start_tcp($listener, $site,
		STATESPACE_POOL_ALLOW => '["192.0.2.7", "127.0.0.1"]');
	is(ask_tcp($listener)->{status}, 200, 'one that it lists is served');
	kill 'TERM', $pid;
	waitpid $pid, 0;
}

done_testing;
