#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The pool's life: workers are started, replaced, recycled; signals; the socket;
# and nothing is left when it ends, however it ends.
use strict;
use warnings;
use Fcntl qw(F_DUPFD F_SETFD);
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Socket::UNIX;
use JSON::PP qw(decode_json);
use POSIX ();
use Socket qw(SOCK_STREAM);
use Statespace::FastCGI qw(request variables call talk connect_to receive);
use Statespace::Pool;
use Statespace::Server;
use Test::More;
use Time::HiRes qw(sleep time);

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

# Of the tests' own variables none is a configuration of what they start.
my $program = Statespace::Server::binary();
sub bare
{
	my ($words) = @_;
	local %ENV = %ENV;

	delete $ENV{$_} for grep { /^STATESPACE_/ } keys %ENV;
	return `$program $words 2>&1`;
}

my $page = "---\ntools:\n  - [sleep, {}]\n---\n# Hello\n";
my %files = ('README.md' => "# Hello\n", 'large.txt' => 'x' x 2_000_000);
my %two = (files => \%files,
	config => "[pool]\nmode = \"static\"\nworkers = 2\n");
my $killed = qr/ended by signal|does not leave|is stuck|while it started/;

sub status { return talk($_[0]->socket, request(variables()))->{status} }

sub has_workers
{
	my ($pool, $count, $sentence) = @_;

	ok($pool->until_true(sub { $pool->workers == $count }), $sentence)
	    or diag scalar($pool->workers) . " workers\n" . $pool->log;
	return;
}

# A worker waits for the reader of a large answer.
sub hold_worker
{
	my ($pool) = @_;
	my $socket = connect_to($pool->socket);

	syswrite $socket, request(variables(SCRIPT_NAME => '/large.txt'));
	return $socket;
}

# A tool that runs in a worker; its connection.
sub start_sleep
{
	my ($pool, $seconds) = @_;
	my $socket = connect_to($pool->socket);

	syswrite $socket, call('/', ['sleep', $seconds]);
	$pool->until_true(sub {
		Statespace::Server::process_lives("sleep $seconds")
	}) or diag 'the tool was not seen';
	return $socket;
}

# The pool's own figures.
sub figures
{
	my ($pool) = @_;
	my $answer = talk($pool->socket . '.status', request(variables(
		SCRIPT_NAME => '/__meta/status', STATESPACE_STATUS => 1)));

	return eval { decode_json($answer->{body})->{pool} } || {};
}

sub tools_run
{
	my $pool = Statespace::Pool->start(files => { 'README.md' => $page });
	my $answer = talk($pool->socket, call('/', ['sleep', '0']));
	$pool->stop;
	return $answer->{status} == 200;
}
my $tools = tools_run();

# ------------------------------------------------------------------ a worker --
{
	my $pool = Statespace::Pool->start(%two);
	has_workers($pool, 2, 'as many workers as asked for');
	my @before = $pool->workers;
	$pool->signal('KILL', $before[0]);
	ok($pool->until_true(sub {
		my @now = $pool->workers;
		return @now == 2 && "@now" ne "@before";
	}), 'a killed worker is replaced');
	is(status($pool), 200, 'and requests are served');
	$pool->signal('KILL', $_) for $pool->workers;
	is(status($pool), 200, 'also when all were killed at once');
	$pool->stop_ok(allow => $killed, signal => 'TERM');
	ok(!-e $pool->socket, 'the socket is gone with the pool');
}
{
	my $pool = Statespace::Pool->start(config =>
		"[pool]\nmode = \"static\"\nworkers = 1\nmax_requests = 3\n");
	my %pids;
	for (1 .. 7) {
		status($pool) == 200 or fail 'a request was lost';
		$pids{$_} = 1 for $pool->workers;
	}
	cmp_ok(scalar keys %pids, '>=', 2, 'a worker leaves after its number');
	unlike($pool->log, qr/while it started/, 'which is no failure');
	$pool->stop_ok;
}

# -------------------------------------------------------------------- sizes --
{
	my $pool = Statespace::Pool->start(
		files => { %files, 'README.md' => $page },
		config => "[pool]\nmode = \"dynamic\"\nworkers = 6\n"
		. "start = 2\nspare_min = 1\nspare_max = 2\n");
	has_workers($pool, 2, 'dynamic: starts with what was asked');
	my @held = map { hold_worker($pool) } 1 .. 4;
	has_workers($pool, 5, 'dynamic: grows so that one is idle');
	is(status($pool), 200, 'dynamic: which serves');
	@held = ();
	has_workers($pool, 2, 'dynamic: shrinks again');
	$pool->stop_ok;
}
{
	my $pool = Statespace::Pool->start(no_wait => 1, config =>
		"[pool]\nmode = \"ondemand\"\nworkers = 3\nidle_timeout = 1\n");
	$pool->until_true(sub { -S $pool->socket });
	sleep 0.3;	# nothing can be waited for where nothing happens
	is(scalar($pool->workers), 0, 'on demand: nobody at first');
	is(status($pool), 200, 'on demand: started for a request');
	is(scalar($pool->workers), 1, 'on demand: one for one');
	has_workers($pool, 0, 'on demand: gone after being idle');
	is(status($pool), 200, 'on demand: started again');
	$pool->stop_ok;
}

# ------------------------------------------------------------------- signals --
SKIP: {
	skip 'tools cannot be confined here', 8 unless $tools;
	for my $name (qw(TERM INT QUIT)) {
		my $pool = Statespace::Pool->start(%two,
			files => { 'README.md' => $page });
		my $socket = start_sleep($pool, '1.5');
		$pool->signal($name);
		is(receive($socket)->{status}, 200,
			"$name lets the request in hand finish");
		is($pool->reap, 0, "$name ends the pool");
		delete $pool->{pid};
	}
	my $pool = Statespace::Pool->start(%two,
		files => { 'README.md' => $page });
	my $socket = start_sleep($pool, '77.25');
	my @workers = $pool->workers;
	$pool->signal('KILL');
	waitpid $pool->{pid}, 0;
	delete $pool->{pid};
	ok(!Statespace::Server::process_lives('sleep 77.25', 30),
		'when the supervisor is killed the running tools end');
	ok($pool->until_true(sub {
		my $all = Statespace::Server::processes();
		return !grep { $all->{$_} } @workers;
	}), 'and its workers');
}
{
	my $pool = Statespace::Pool->start(%two);
	has_workers($pool, 2, 'two workers');
	my %old = map { $_ => 1 } $pool->workers;
	my $held = hold_worker($pool);
	$pool->until_true(sub { (figures($pool)->{busy} // 0) == 1 });
	$pool->signal('HUP');
	ok($pool->until_true(sub { $pool->log =~ /reloaded/ }), 'HUP reloads');
	ok($pool->until_true(sub {
		my @old = grep { $old{$_} } $pool->workers;
		return $pool->workers - @old >= 1 && @old <= 1;
	}), 'with workers of its own');
	is(length receive($held)->{body}, 2_000_000,
		'while an old one still answers what it had accepted');
	ok($pool->until_true(sub {
		my @now = $pool->workers;
		return @now == 2 && !grep { $old{$_} } @now;
	}), 'and then leaves') or diag $pool->log;

	open my $file, '>>', $pool->config_file or die;
	print $file "nonsense = 1\n";
	close $file;
	my @before = $pool->workers;
	$pool->signal('HUP');
	ok($pool->until_true(sub { $pool->log =~ /not reloaded.*nonsense/ }),
		'a bad configuration is named');
	is("@{[ $pool->workers ]}", "@before", 'and changes nothing');
	is(status($pool), 200, 'and the pool serves');
	$pool->stop_ok;
}

# A reload names what it cannot change, whatever came in between.
{
	my $socket = "[pool]\nmode = \"static\"\nworkers = 1\n";
	my $pool = Statespace::Pool->start(config => $socket);
	my $reload = sub {
		my $told = () = $pool->log =~ /"?reloaded"?$/mg;
		Statespace::TestSite::write_file($pool->config_file,
			$socket . $_[0]);
		$pool->signal('HUP');
		return $pool->until_true(sub {
			my @now = $pool->log =~ /"?reloaded"?$/mg;
			return @now > $told;
		});
	};
	my $count = sub { return scalar(() = $pool->log =~ /after a restart/g) };

	ok($reload->("max_requests = 100\n"), 'reloaded');
	is($count->(), 0, 'with nothing that has to wait');
	my $new = "backlog = 50\nsocket_mode = \"0600\"\n";
	ok($reload->($new), 'reloaded with another backlog and mode');
	ok($pool->log_says(qr/pool\.backlog stays/), 'the backlog is named');
	ok($pool->log_says(qr/pool\.socket_mode stays .*0660.*0600/),
		'so is the mode, with both values');
	is($count->(), 2, 'and nothing else');
	ok($reload->($new), 'the same again');
	ok($pool->until_true(sub { $count->() == 4 }), 'is still not in force');
	$pool->stop_ok;
}

# A deploy puts another directory in the site's place.
{
	my $pool = Statespace::Pool->start(%two);
	my $dir = $pool->site->dir;
	is(talk($pool->socket, request(variables()))->{body}, "# Hello\n",
		'the first site is served');
	mkdir "$dir.new";
	Statespace::TestSite::write_file("$dir.new/README.md", "# Other\n");
	rename $dir, "$dir.old";
	rename "$dir.new", $dir;
	ok($pool->until_true(sub {
		return talk($pool->socket, request(variables()))->{body}
		    eq "# Other\n";
	}), 'and the one that takes its place, by itself');
	$pool->stop_ok;
}

# Not one request is lost or wrong while the pool is reloaded again and again.
{
	my $pool = Statespace::Pool->start(%two);
	my ($sent, $wrong) = (0, 0);
	my $until = time + 4;
	while (time < $until) {
		$pool->signal('HUP') if $sent++ % 50 == 0;
		$wrong++ if status($pool) != 200;
	}
	is($wrong, 0, "$sent requests through reloads: none lost");
	$pool->stop_ok;
}

# What is asked during a reload is not forgotten: the pool ends with the
# configuration that was there at the last HUP.
{
	my $pool = Statespace::Pool->start(%two);
	has_workers($pool, 2, 'two workers');
	my $held = hold_worker($pool);
	$pool->until_true(sub { (figures($pool)->{busy} // 0) == 1 });
	$pool->signal('HUP');
	$pool->until_true(sub { $pool->log =~ /reloaded/ });
	Statespace::TestSite::write_file($pool->config_file,
		"[pool]\nmode = \"static\"\nworkers = 3\n");
	$pool->signal('HUP');
	ok($pool->until_true(sub { $pool->log =~ /still under way/ }),
		'a second HUP waits for the first');
	close $held;
	has_workers($pool, 3, 'and is obeyed then');
	$pool->stop_ok;
}

# --------------------------------------------------------------------- socket --
{
	my $pool = Statespace::Pool->start(config =>
		"[pool]\nmode = \"static\"\nworkers = 1\nsocket_mode = \"0640\"\n");
	is((stat $pool->socket)[2] & 0777, 0640, 'the socket has its mode');
	my $dir = $pool->site->dir;
	my $other = bare('fcgi --socket ' . $pool->socket . " $dir");
	like($other, qr/another program listens on/, 'a second pool is refused');
	is(status($pool), 200, 'and the first one goes on');
	$pool->signal('KILL');
	waitpid $pool->{pid}, 0;
	ok(-S $pool->socket, 'a killed pool leaves its socket');
	$pool->until_true(sub { !IO::Socket::UNIX->new(Type => SOCK_STREAM,
		Peer => $pool->socket) });
	my $next = Statespace::Pool->start(site => $pool->site, %two);
	is(status($next), 200, 'which the next one takes over');
	$next->stop_ok;
	delete $pool->{pid};

	my $file = $pool->site->scratch . '/file';
	Statespace::TestSite::write_file($file, 'precious');
	my $said = bare("fcgi --socket $file $dir");
	like($said, qr/is no socket/, 'a file at the path is refused');
	is(-s $file, 8, 'and kept');
}

# A listening socket on descriptor 0 (lighttpd, spawn-fcgi, inetd), and one
# from systemd.
for my $how (qw(stdin systemd)) {
	my $site = Statespace::TestSite->new(
		files => { 'README.md' => "# Hello\n" });
	my $path = $site->scratch . '/given.sock';
	my $listener = IO::Socket::UNIX->new(Type => SOCK_STREAM,
		Local => $path, Listen => 5) or die "listen: $!";
	my $pid = fork() // die "fork: $!";
	if ($pid == 0) {
		my $fd = $how eq 'stdin' ? 0 : 3;
		POSIX::dup2(fileno $listener, $fd);
		open my $same, '>&=', $fd;
		fcntl $same, F_SETFD, 0;
		open STDERR, '>', $site->scratch . '/log';
		delete $ENV{$_} for grep { /^STATESPACE_/ } keys %ENV;
		$ENV{STATESPACE_ROOT} = $site->dir;
		$ENV{STATESPACE_POOL_WORKERS} = 1;
		@ENV{qw(LISTEN_PID LISTEN_FDS)} = ($$, 1) if $how eq 'systemd';
		exec { $program } 'statespace' or POSIX::_exit(127);
	}
	is(talk($path, request(variables()))->{status}, 200,
		"a socket from $how is taken");
	kill 'TERM', $pid;
	waitpid $pid, 0;
	is($?, 0, "$how: ends cleanly");
	ok(-S $path, "$how: the socket's path is not ours to remove");
}

# As statespace.socket passes them: the second one is for health and figures.
{
	my $site = Statespace::TestSite->new(
		files => { 'README.md' => "# Hello\n" });
	my @paths = map { $site->scratch . "/$_" } qw(given given.status);
	my @listeners = map { IO::Socket::UNIX->new(Type => SOCK_STREAM,
		Local => $_, Listen => 5) or die "listen: $!" } @paths;
	my $pid = fork() // die "fork: $!";
	if ($pid == 0) {
		# Out of the way first, then to where they belong.
		my @high = map { fcntl $_, F_DUPFD, 50 } @listeners;
		POSIX::dup2($high[$_], 3 + $_) for 0, 1;
		POSIX::close($_) for @high;
		open STDERR, '>', $site->scratch . '/log';
		delete $ENV{$_} for grep { /^STATESPACE_/ } keys %ENV;
		@ENV{qw(STATESPACE_ROOT STATESPACE_POOL_WORKERS LISTEN_PID
			LISTEN_FDS)} = ($site->dir, 1, $$, 2);
		$^F = 10;
		for (3, 4) {
			open my $same, '>&=', $_;
			fcntl $same, F_SETFD, 0;
			push @high, $same;
		}
		exec { $program } 'statespace' or POSIX::_exit(127);
	}
	is(talk($paths[0], request(variables()))->{status}, 200,
		'of two sockets from systemd the first one is served');
	is(talk($paths[1], request(variables(SCRIPT_NAME => '/healthz')))
		->{status}, 200, 'the second one tells health');
	is(talk($paths[1], request(variables()))->{status}, 404,
		'and nothing else');
	kill 'TERM', $pid;
	waitpid $pid, 0;
	is($?, 0, 'and it ends cleanly');
}

# Who may connect: the socket's directory, owner, group and mode decide.
SKIP: {
	skip 'only root can try other accounts', 4 if $> != 0;
	my $may = sub {
		my ($path, $uid, $gid) = @_;
		my $pid = fork() // die "fork: $!";
		if ($pid == 0) {
			$) = "$gid $gid";
			POSIX::setgid($gid);
			POSIX::setuid($uid);
			POSIX::_exit(IO::Socket::UNIX->new(
				Type => SOCK_STREAM, Peer => $path) ? 0 : $!);
		}
		waitpid $pid, 0;
		return $? >> 8;
	};
	my $refused = POSIX::EACCES();
	my $group = getgrgid(65534) // 'nogroup';
	my $pool = Statespace::Pool->start(config =>
		"[pool]\nmode = \"static\"\nworkers = 1\n");
	is($may->($pool->socket, 4321, 4321), $refused,
		'another account cannot connect');
	is($may->($pool->socket . '.status', 4321, 4321), $refused,
		'to neither socket');
	$pool->stop;
	$pool = Statespace::Pool->start(config => "[pool]\nmode = \"static\"\n"
		. "workers = 1\nsocket_group = \"$group\"\n");
	is($may->($pool->socket, 4321, 65534), 0, 'one of its group can');
	chmod 0700, $pool->site->scratch;
	is($may->($pool->socket, 4321, 65534), $refused,
		'but not through a directory that is closed to it');
	chmod 0755, $pool->site->scratch;
	$pool->stop_ok;
}

done_testing;
