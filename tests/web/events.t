#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The output of a POST as events, while its tool writes it, through `statespace
# serve` and a real nginx.  LONG=1 waits for the beat of ten seconds, too.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP ();
use MIME::Base64 qw(decode_base64);
use Test::More;
use Time::HiRes qw(sleep time);
use Statespace::Server;

plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');

my $JSON = JSON::PP->new->utf8->canonical->allow_nonref;
my $MOST = 70000;
my $WAIT = 'while test -e README.md -a ! -e';
my $nap = "31.$$";

my $server = Statespace::Server->start(files => { 'README.md' => <<"END" },
---
tools:
  - { name: live, command: [sh, -c, 'echo one; $WAIT go; do sleep 0.05; done; echo two >&2; exit 3', ;] }
  - { name: letters, command: [sh, -c, 'printf "a\\303"; sleep 0.3; printf "\\251b"; printf "\\342\\202" >&2', ;] }
  - { name: bytes, command: [printf, 'a\\377b', ;] }
  - { name: many, command: [sh, -c, 'for i in 1 2 3 4 5 6 7 8 9; do echo out; echo error >&2; done', ;] }
  - { name: line, command: [printf, 'a\\nb\\rc\\0d', ;] }
  - [head, -c, {}, /dev/zero, ;]
  - { name: talks, command: [sh, -c, 'echo begun; sleep 20', ;], timeout: 1 }
  - { name: silent, command: [sleep, '21', ;], timeout: 1 }
  - { name: absent, command: [no-such-program, ;] }
  - { name: chart, command: [cat, dot, ;], output: image/png }
  - { name: long, command: [seq, '9', ;], lines: 4 }
  - { name: careful, command: [echo, done, ;], confirm: true }
  - { name: kept, command: [sh, -c, 'echo one; $WAIT go2; do sleep 0.05; done; echo two >&2', ;], job: required }
  - { name: pause, command: [sleep, '12', ;] }
  - [sleep, {}]
  - { name: chatty, command: [sh, -c, 'while :; do echo x; sleep 0.1; done', ;] }
---
# Events
END
	config => "[limits]\nmax_output_bytes = $MOST\n");
$server->site->write('dot', "\x89PNG");

if ($server->run('/', ['head', '-c', '1', '/dev/zero'])->{status} != 200) {
	$server->stop;
	plan skip_all => 'tools cannot be confined here';
}

my %events = (Accept => 'text/event-stream');

sub request_text
{
	my ($body, %headers) = @_;
	my $text = $JSON->encode($body);

	%headers = (Host => 'localhost', Connection => 'close',
		'Content-Type' => 'application/json', %events,
		'Content-Length' => length $text, %headers);
	return "POST / HTTP/1.1\r\n" . join('',
		map { "$_: $headers{$_}\r\n" } sort keys %headers)
	    . "\r\n$text";
}

# A stream that goes on.
sub begin
{
	my $socket = $server->connect;

	print {$socket} request_text(@_);
	$socket->flush;
	return $socket;
}

sub named { return begin({ tool_call => { name => $_[0] } }) }

# What came until the pattern did, or the end.
sub read_until
{
	my ($socket, $pattern) = @_;
	my $text = '';

	local $SIG{ALRM} = sub { shutdown $socket, 2 };
	alarm 40;
	$text .= $_ while $text !~ $pattern && defined($_ = readline $socket);
	alarm 0;
	return $text;
}

# Lists of name, id and data.
sub events_in
{
	my @all;

	for (split /\n\n/, $_[0]) {
		my %line = /^(event|id|data): (.*)$/mg;
		push @all, [$line{event}, $line{id}, $JSON->decode($line{data})]
		    if defined $line{data};
	}
	return @all;
}

sub ask
{
	my ($body, %headers) = @_;
	my $answer = $server->exchange(request_text($body, %headers));

	$answer->{events} = [events_in($answer->{body})];
	$answer->{json} = eval { $JSON->decode($answer->{body}) };
	return $answer;
}

sub ask_named { return ask({ tool_call => { name => $_[0] } }) }

# The bytes of one stream, put together.
sub bytes_of
{
	my ($stream, @events) = @_;

	return join '', map { ref $_->[2] ? decode_base64($_->[2]{base64})
		    : do { my $text = $_->[2]; utf8::encode($text); $text } }
	    grep { $_->[0] eq $stream } @events;
}

my $pause = $ENV{LONG} ? named('pause') : undef;

# -------------------------------------------------------- while it is written --
my $live = named('live');
my $head = read_until($live, qr/"one\\n"\n/);
like($head, qr/^HTTP\S+ 200 .*^Content-Type: text\/event-stream\r$/ms,
	'the answer begins before the tool ends');
like($head, qr/^event: stdout\nid: 4\ndata: "one\\n"\n/m,
	'with what it wrote, and its offset');
$server->site->write('go', '');
my @rest = events_in(read_until($live, qr/event: end\n.*\n.*\n\n/));
is_deeply([map { $_->[0] } @rest], ['stderr', 'end'], 'then come the others');
is($rest[0][2], "two\n", 'standard error under its own name');
is($rest[1][2]{returncode}, 3, 'and the end with the exit status');
ok(exists $rest[1][2]{sandbox}{level}, 'and the level');
ok(!exists $rest[1][2]{stdout} && !exists $rest[1][2]{error},
	'without the text, and without an error');

my $many = ask_named('many');
my @ids = map { $_->[1] } @{ $many->{events} };
is_deeply(\@ids, [sort { $a <=> $b } @ids], 'the ids rise');
is($ids[-1], 9 * length("out\nerror\n"), 'to the length of all output');
my $at = 0;
ok(!(grep { $at += length($_->[2]); $at != $_->[1] }
	grep { $_->[0] ne 'end' } @{ $many->{events} }),
	'each is the offset behind its event');
is(bytes_of('stdout', @{ $many->{events} }), "out\n" x 9, 'all of one stream');
is(bytes_of('stderr', @{ $many->{events} }), "error\n" x 9, 'and the other');
my $json = ask({ tool_call => { name => 'many' } }, Accept => '*/*')->{json};
delete @$json{ 'stdout', 'stderr' };
like(delete $many->{events}[-1][2]{run_ms}, qr/^\d+\.\d+$/,
	'the end has the time of the run');
is_deeply($many->{events}[-1][2], $json,
	'the end has what the JSON answer has beside its text');

# ---------------------------------------------------------------- any bytes --
my @letters = @{ ask_named('letters')->{events} };
is_deeply([map { $_->[2] } grep { $_->[0] eq 'stdout' } @letters],
	["a", "\x{e9}b"], 'a character in two writes stays one');
is_deeply([map { $_->[2] } grep { $_->[0] eq 'stderr' } @letters],
	[{ base64 => "4oI=" }], 'half a character at the end is in base64');
is_deeply(ask_named('bytes')->{events}[0],
	['stdout', 3, { base64 => 'Yf9i' }], 'bytes that are no text, too');
is(ask_named('line')->{events}[0][2], "a\nb\rc\0d",
	'line breaks and NUL are escaped');
my $chart = ask_named('chart')->{events};
is($chart->[-1][2]{type}, 'image/png', 'the end has the declared type');
ok($chart->[-1][2]{binary}, 'and that it is no text');
is(bytes_of('stdout', @$chart), "\x89PNG", 'of the bytes');
my @zeros = @{ ask({ command => ['head', '-c', "$MOST", '/dev/zero'] })
	->{events} };
is(length bytes_of('stdout', @zeros), $MOST, 'as much as is allowed');
ok(!(grep { $_->[0] eq 'stdout' && length $_->[2] > 65539 } @zeros),
	'in events of 64 KiB');
ok(!exists $zeros[-1][2]{error}, 'is no error');

# --------------------------------------------------------------- its limits --
my @over = @{ ask({ command => ['head', '-c', $MOST + 1 . '', '/dev/zero'] })
	->{events} };
is(length bytes_of('stdout', @over), $MOST, 'one byte more is not sent');
is($over[-1][2]{error}{code}, 'output_too_large', 'and the end says so');
is($over[-1][2]{returncode}, 1, 'with the shape of an error');
my $plain = ask({ command => ['head', '-c', $MOST + 1 . '', '/dev/zero'] },
	Accept => '*/*')->{json};
is_deeply($over[-1][2]{error}, $plain->{error}, 'which is that of JSON');
for my $name ('talks', 'silent') {
	my $late = ask_named($name);

	is($late->{status}, 200, "$name: a tool that ran");
	is($late->{events}[-1][2]{error}{code}, 'timeout',
		"$name: ends with the error");
}
my $part = ask_named('long')->{events};
is(bytes_of('stdout', @$part), "1\n2\n3\n4\n", 'a part of the output');
is($part->[-1][2]{part}{lines}, 9, 'says of how much');
ok($part->[-1][2]{truncated} && $part->[-1][2]{next},
	'and how the next one is got');
my $next = ask({ tool_call => { name => 'long' },
	next => $part->[-1][2]{next} })->{events};
is(bytes_of('stdout', @$next), "5\n6\n7\n8\n", 'which comes as events, too');

# ------------------------------------------------- refusals before the start --
for (['a tool that is not allowed', { command => ['rm'] }, 403, 'not_allowed'],
	['a person who has to agree', { tool_call => { name => 'careful' } },
		428, 'confirm_required'],
	['a program that is not there', { tool_call => { name => 'absent' } },
		500, 'exec_failed'],
	['output as JSON', { tool_call => { name => 'bytes' }, parse => JSON::PP::true },
		400, 'bad_request'],
	['no command', {}, 400, 'bad_request']) {
	my ($what, $body, $status, $code) = @$_;
	my $answer = ask($body);

	is("$answer->{status} $answer->{headers}{'content-type'} "
		. ($answer->{json}{error}{code} // ''),
		"$status application/json $code", "$what: an ordinary answer");
}
for (['application/json, text/event-stream', 'json'], ['*/*', 'json'],
	['text/event-stream;q=0.5, application/json', 'json'],
	['text/event-stream, */*;q=0.1', 'events'],
	['text/event-stream;q=0, */*', 'json'], ['text/*', 'json']) {
	my ($accept, $kind) = @$_;
	my $answer = ask({ tool_call => { name => 'bytes' } },
		Accept => $accept);

	is($answer->{headers}{'content-type'} =~ /event/ ? 'events' : 'json',
		$kind, "Accept: $accept");
}

# ------------------------------------------------------ a client that leaves --
my $loop = 'sh -c while :; do echo x; sleep 0.1; done';
my $leaving = named('chatty');
like(read_until($leaving, qr/"x\\n"\n/), qr/event: stdout/, 'a tool writes');
ok(Statespace::Server::process_lives($loop), 'and goes on');
close $leaving;
ok(!Statespace::Server::process_lives($loop, 20),
	'until its client has left');
my $quiet = begin({ command => ['sleep', $nap] });
like(read_until($quiet, qr/^: waiting$/m), qr/^HTTP\S+ 200 /,
	'the head does not wait for the first byte');
close $quiet;
ok(!Statespace::Server::process_lives("sleep $nap", 20),
	'a silent tool ends, too, when its client leaves');

# --------------------------------------------------------- the output of a job --
my $job = $server->request('POST', '/', headers => {
	'Content-Type' => 'application/json' },
	body => '{"tool_call": {"name": "kept"}}')->{headers}{location} // '';
sub begin_job
{
	my ($last) = @_;
	my $socket = $server->connect;

	print {$socket} "GET $job HTTP/1.1\r\nHost: localhost\r\n"
	    . "Connection: close\r\nAccept: text/event-stream\r\n"
	    . ($last ? "Last-Event-ID: $last\r\n" : '') . "\r\n";
	$socket->flush;
	return $socket;
}
my $reader = begin_job();
like(read_until($reader, qr/"one\\n"\n/), qr/^event: stdout\nid: 4,0\n/m,
	'the output of a job comes while it is written');
close $reader;
$reader = begin_job('3,0');
like(read_until($reader, qr/^data/m), qr/^event: stdout\nid: 4,0\ndata: "\\n"/m,
	'and goes on behind Last-Event-ID');
$server->site->write('go2', '');
like(read_until($reader, qr/event: end\n.*\n.*\n\n/),
	qr/"two\\n".*"state": "completed", "returncode": 0/s, 'to its end');

if ($pause) {
	my $all = read_until($pause, qr/event: end\n.*\n.*\n\n/);
	my $beats = () = $all =~ /^: waiting$/mg;
	is($beats, 2, 'in twelve seconds of silence there is a second beat');
}
ok($server->log_says(qr/status=200 .*code=timeout/), 'the log has the code');
like($server->log, qr/path=\/ status=200 stage=run tool=3 .*bytes=[1-9]/,
	'and the bytes of the stream');
$server->stop_ok;
done_testing;
