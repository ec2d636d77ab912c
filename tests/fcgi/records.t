#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Management records and aborts: FCGI_GET_VALUES is answered wherever it comes,
# an aborted request ends its tool; with records of our own, and with HAProxy.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::FastCGI qw(record pair request variables call talk connect_to
	receive);
use Statespace::Pool;
use Statespace::Server;
use Test::More;
use Time::HiRes qw(time);

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

use constant { ABORT => 2, ENDED => 3, GET_VALUES => 9, RESULT => 10,
	UNKNOWN => 11 };

my $page = <<'END';
---
tools:
  - [sleep, {}]
  - [echo, {}]
---
END
my $far = <<'END';
---
sandbox: {proc: true}
tools:
  - [sleep, {}]
---
END
my $mark = 10_000 + $$ % 50_000;
my $pool = Statespace::Pool->start(
	files => { 'README.md' => $page, 'far.md' => $far,
		'block.md' => "# Block\n```component\nsleep 47.$mark\n```\n" },
	config => "[pool]\nmode = \"static\"\nworkers = 3\n"
	    . "[limits]\ntimeout = 60.0\n[components]\ntimeout = 60.0\n"
	    . "total = 60.0\n[grant]\nproc = true\n");
my $at = $pool->socket;

# The next record of a connection: its type, id and content; () at its end.
sub next_record
{
	my ($socket) = @_;
	my $until = time + 30;
	my $in = '';
	my $want = 8;

	while (length $in < $want) {
		my $r = '';
		vec($r, fileno $socket, 1) = 1;
		select $r, undef, undef, $until - time or return;
		sysread $socket, $in, $want - length $in, length $in or return;
		my (undef, $type, $id, $length, $padding) =
		    unpack 'CCnnC', $in;
		next if length $in < 8;
		$want = 8 + $length + $padding;
		return ($type, $id, substr $in, 8, $length)
		    if length $in == $want;
	}
	return;
}

sub ask
{
	my (@names) = @_;

	return record(GET_VALUES, join('', map { pair($_, '') } @names), id => 0);
}

my @all = qw(FCGI_MAX_CONNS FCGI_MAX_REQS FCGI_MPXS_CONNS);
my $told = pair('FCGI_MAX_CONNS', 3) . pair('FCGI_MAX_REQS', 3)
    . pair('FCGI_MPXS_CONNS', 0);

# ------------------------------------------------------------------- values --
ok($pool->until_true(sub { (() = $pool->workers) == 3 }), 'three workers');
my @workers = $pool->workers;
my $socket = connect_to($at);
syswrite $socket, ask(@all);
is_deeply([next_record($socket)], [RESULT, 0, $told],
	'FCGI_GET_VALUES as the only record is answered');
syswrite $socket, ask('FCGI_MPXS_CONNS', 'FCGI_OTHER');
is_deeply([next_record($socket)], [RESULT, 0, pair('FCGI_MPXS_CONNS', 0)],
	'with what was asked for and is known, no more');
syswrite $socket, record(77, 'x' x 9, id => 0, padding => 7);
is_deeply([next_record($socket)], [UNKNOWN, 0, pack 'Cx7', 77],
	'another management record is FCGI_UNKNOWN_TYPE');
syswrite $socket, request(variables(), undef, keep => 1);
my $answer = receive($socket);
is($answer->{status}, 200, 'and a request follows, keep-alive or not');
ok($answer->{ended}, 'to its end');
$socket = connect_to($at);
syswrite $socket, ask(@all);
next_record($socket);
close $socket;
is(talk($at, request(variables()))->{status}, 200, 'the next one is served');
is("@{[ $pool->workers ]}", "@workers", 'no worker is lost');
unlike($pool->log, qr/dropped/, 'and nothing was wrong');

# -------------------------------------------------------------------- aborts --
my $runs = sub { return Statespace::Server::process_lives($_[0]) };

sub tools_run
{
	my $answer = talk($at, call($_[0], ['sleep', '0']));

	return $answer->{status} == 200;
}

sub starts
{
	my ($name, $bytes, $line) = @_;
	my $connection = connect_to($at);

	syswrite $connection, $bytes;
	ok($pool->until_true(sub { $runs->($line) }), "$name: a tool runs");
	return $connection;
}

sub aborted
{
	my ($name, $bytes, $line) = @_;
	my $connection = starts($name, $bytes, $line);

	syswrite $connection, ask(@all);
	is_deeply([next_record($connection)], [RESULT, 0, $told],
		"$name: meanwhile FCGI_GET_VALUES is answered");
	ok($runs->($line), "$name: and the tool goes on");
	syswrite $connection, record(ABORT, '', id => 1);
	is_deeply([next_record($connection)], [ENDED, 1, "\0" x 8],
		"$name: an abort is answered by FCGI_END_REQUEST");
	ok($pool->until_true(sub { !$runs->($line) }),
		"$name: and ends the tool");
	my $left = starts("$name, again", $bytes, $line);
	close $left;
	ok($pool->until_true(sub { !$runs->($line) }),
		"$name: so does a connection that is closed");
	return;
}

SKIP: {
	skip 'tools cannot be confined here', 1 unless tools_run('/');
	aborted('POST', call('/', ['sleep', "45.$mark"]), "sleep 45.$mark");
	aborted('component', request(variables(SCRIPT_NAME => '/block')),
		"sleep 47.$mark");
	ok($pool->log_says(qr/path=\/ .*code=gone/), 'the log has it');
	my $both = connect_to($at);
	syswrite $both, call('/', ['sleep', "46.$mark"]) . record(ABORT, '');
	is_deeply([next_record($both)], [ENDED, 1, "\0" x 8],
		'an abort right behind its request');
	ok(!$runs->("sleep 46.$mark"), 'nothing was started');
	my $other = starts('another id', call('/', ['sleep', "1.$mark"]),
		"sleep 1.$mark");
	syswrite $other, record(ABORT, '', id => 2);
	is(receive($other)->{status}, 200, 'an abort of another request');
}
SKIP: {
	skip 'no tool runs in a launcher here', 1 unless tools_run('/far');
	aborted('launcher', call('/far', ['sleep', "48.$mark"]),
		"sleep 48.$mark");
}
ok(!talk($at, substr(call('/', ['echo', 'x']), 0, -8) . record(ABORT, ''))
	->{status}, 'an abort in the body gets no answer');
is("@{[ $pool->workers ]}", "@workers", 'after all of that: no worker is lost');

# ------------------------------------------------------------------- HAProxy --
SKIP: {
	my ($haproxy) = grep { -x } map { "$_/haproxy" }
	    qw(/usr/sbin /usr/local/sbin /usr/bin);
	skip 'no haproxy here', 1 unless $haproxy;
	my $port = Statespace::Server::free_port();
	my $file = $pool->site->scratch . '/haproxy.cfg';
	Statespace::TestSite::write_file($file, <<"END");
defaults
	mode http
	timeout connect 20s
	timeout client 60s
	timeout server 5s
frontend f
	bind 127.0.0.1:$port
	default_backend b
backend b
	use-fcgi-app a
	server s unix\@$at proto fcgi
fcgi-app a
	docroot /
	option get-values
	option keep-conn
	option mpxs-conns
END
	my $pid = fork() // die "fork: $!";
	if ($pid == 0) {
		open STDOUT, '>', $pool->site->scratch . '/haproxy.log';
		open STDERR, '>&', \*STDOUT;
		exec $haproxy, '-db', '-f', $file or exit 127;
	}
	my $front = bless { port => $port, dir => $pool->site->dir },
	    'Statespace::Server';
	Statespace::Server::await_port($port);
	for my $n (1 .. 3) {
		is($front->request('GET', '/', timeout => 20)->{status}, 200,
			"HAProxy with get-values: page $n");
	}
	SKIP: {
		skip 'tools cannot be confined here', 1 unless tools_run('/');
		is($front->run('/', ['echo', 'x'], timeout => 20)->{status},
			200, 'and a tool');
		# HAProxy 2.6 does not see a client leave; its own timeout it does.
		is($front->run('/', ['sleep', "49.$mark"])->{status}, 504,
			'HAProxy: a tool over the timeout of the front');
		ok($pool->until_true(sub { !$runs->("sleep 49.$mark") }),
			'is stopped');
	}
	kill 'TERM', $pid;
	waitpid $pid, 0;
	delete $front->{$_} for qw(pid port);
}

$pool->stop_ok;
done_testing;
