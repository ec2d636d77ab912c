#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Clients that wait for a job, by long polls and event streams: they hold no
# worker, survive a reload, and come again after their process was killed.
# READERS=1000: so many of them.
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

my $READERS = $ENV{READERS} || 60;
my $WAIT = 'while test -e README.md -a ! -e';
my $site = Statespace::TestSite->new(files => { 'README.md' => <<"END" });
---
job: true
tools:
  - { name: first, command: [sh, -c, 'echo one; $WAIT go1; do sleep 0.05; done; echo two >&2; exit 3', ;], job: required }
  - { name: second, command: [sh, -c, 'printf "a\\303"; $WAIT go2; do sleep 0.05; done; printf "\\251b"; $WAIT go3; do sleep 0.05; done', ;], job: required }
  - { name: third, command: [sh, -c, 'echo x; $WAIT go4; do sleep 0.05; done', ;], job: required }
  - { name: fourth, command: [sh, -c, 'echo y; $WAIT go5; do sleep 0.05; done', ;], job: required }
  - { name: large, command: [seq, '150000', ;], job: required }
  - [echo, {}]
---
# Hello
END
my $state = $site->scratch . '/state';

sub start
{
	return Statespace::Pool->start(site => $site, config =>
		"[state]\ndirectory = \"$state\"\n[jobs]\nmax = 8\nmax_page = 8\n"
		. "[pool]\nworkers = 4\n"
		. ($_[0] =~ /mode/ ? '' : "mode = \"static\"\n") . $_[0]);
}

my $pool = start("readers = 1100\n");

if (talk($pool->socket, call('/', ['echo', 'x']))->{status} != 200) {
	$pool->stop;
	plan skip_all => 'tools cannot be confined here';
}

# The address of a job that has written its first bytes.
sub job
{
	my ($name, $bytes) = @_;
	my $text = "{\"tool_call\": {\"name\": \"$name\", \"arguments\": {}}}";
	my $made = talk($pool->socket, request(variables(
		REQUEST_METHOD => 'POST', CONTENT_TYPE => 'application/json',
		CONTENT_LENGTH => length $text), $text));
	my $href = $made->{headers}{location} // '';

	ok($pool->until_true(sub {
		(ask($href)->{json}{stdout} // '') eq $bytes }),
		"$name: a job runs");
	return $href;
}

sub text_for
{
	my ($href, $query, %more) = @_;

	return request(variables(SCRIPT_NAME => $href,
		REQUEST_URI => $href . ($query ? "?$query" : ''), %more));
}

sub ask
{
	my $answer = talk($pool->socket, text_for(@_));

	$answer->{json} = eval { decode_json($answer->{body}) } || {};
	return $answer;
}

sub begin
{
	my $socket = connect_to($pool->socket);

	syswrite $socket, text_for(@_);
	return $socket;
}

sub begin_events
{
	my ($href, $last) = @_;

	return begin($href, '', HTTP_ACCEPT => 'text/event-stream',
		defined $last ? (HTTP_LAST_EVENT_ID => $last) : ());
}

# What came until the pattern did.
sub read_until
{
	my ($socket, $pattern) = @_;
	my $text = '';

	local $SIG{ALRM} = sub { shutdown $socket, 2 };
	alarm 40;
	while ($text !~ $pattern) {
		sysread($socket, $text, 65536, length $text) or last;
	}
	alarm 0;
	return $text;
}

sub figures
{
	return decode_json(talk($pool->socket . '.status', request(variables(
		SCRIPT_NAME => '/__meta/status', STATESPACE_STATUS => 1)))
		->{body});
}

sub all_idle { return $pool->until_true(sub { figures()->{pool}{busy} == 0 }) }

sub descriptors
{
	my ($pid) = @_;
	my @all = glob "/proc/$pid/fd/*";

	return scalar @all;
}

sub memory_kib
{
	my ($pid) = @_;
	open my $file, '<', "/proc/$pid/status" or return 0;

	return (map { /^VmRSS:\s+(\d+)/ } <$file>)[0] // 0;
}

# ------------------------------------------------------------ many who wait --
my $href = job('first', "one\n");
is(scalar $pool->children('ss-waiter'), 0, 'without a reader there is no waiter');
my $warm = begin($href, 'wait=20&after=4,0');
ok($pool->until_true(sub { $pool->children('ss-waiter') == 1 }),
	'the first one who waits starts it');
close $warm;
ok(all_idle(), 'and holds no worker');
my ($waiter) = $pool->children('ss-waiter');
my ($worker) = $pool->workers;
my $fd_access = -r "/proc/$waiter/fd";
my @before = map { descriptors($_) } $waiter, $worker;
my @readers = map { $_ % 2 ? begin_events($href)
	    : begin($href, 'wait=25&after=4,0') } 1 .. $READERS;
my @first = map { read_until($readers[$_ * 2], qr/"one\\n"/) }
    0 .. $#readers / 2;
is(scalar(grep { /event: stdout\nid: 4,0\ndata: "one\\n"/ } @first),
	scalar @first, 'each stream begins with what there is');
ok(all_idle(), "$READERS readers hold no worker");
my $began = time;
is(scalar(grep { talk($pool->socket, request(variables()))->{status} == 200 }
	1 .. 40), 40, 'pages are answered beside them');
note(sprintf '%.2f ms a page beside %d readers', (time - $began) * 25, $READERS);
like(talk($pool->socket, call('/', ['echo', 'beside']))->{body}, qr/beside/,
	'and tools run');
note('waiter: ', memory_kib($waiter), ' KiB with them');
$pool->signal('HUP');
ok($pool->log_says(qr/reloaded/), 'a reload');
is(($pool->children('ss-waiter'))[0], $waiter, 'keeps them');
$site->write('go1', '');
my (@streams, @polls);
push @{ $_ % 2 ? \@streams : \@polls },
    $_ % 2 ? read_until($readers[$_ - 1], qr/event: end\n.*\n.*\n\n/)
    : receive($readers[$_ - 1]) for 1 .. $READERS;
is(scalar(grep { /stderr\nid: 4,4\ndata: "two\\n"/
	&& /"state": "completed", "returncode": 3/ } @streams),
	scalar @streams, 'each stream gets the rest, and the end');
is(scalar(grep { $_->{ended} && $_->{body} =~ /"stderr": "two\\n"/ } @polls),
	scalar @polls, 'each long poll gets what is new');
@readers = ();
ok(all_idle(), 'and the workers are idle');
($worker) = $pool->workers;
SKIP: {
	skip 'its descriptors cannot be seen', 1 unless $fd_access;
	ok($pool->until_true(sub { descriptors($waiter) <= $before[0] }),
		'the waiter keeps no descriptor')
	    or diag descriptors($waiter), " against $before[0]";
}
note('waiter: ', memory_kib($waiter), ' KiB without them');

# ------------------------------------------------------- killed, and come again --
$href = job('second', "a");
my $stream = begin_events($href);
like(read_until($stream, qr/"a"/), qr/id: 1,0\ndata: "a"/,
	'half a character is not sent');
ok(all_idle(), 'a stream waits');
$pool->signal('KILL', $waiter);
ok(!receive($stream)->{ended}, 'when the waiter is killed it is cut');
$stream = begin_events($href, '1,0');
ok($pool->until_true(sub {
	my ($next) = $pool->children('ss-waiter');
	return $next && $next != $waiter;
}), 'another waiter starts');
$site->write('go2', '');
my $rest = read_until($stream, qr/\xa9b|\303|event: stdout\n.*\n.*\n/);
like($rest, qr/id: 4,0\ndata: "\xc3\xa9b"/,
	'who comes again gets what was not sent, and nothing twice');
unlike($rest, qr/data: "a"/, 'no byte of before');
my $again = begin_events($href, '4,0');
read_until($again, qr/: waiting/);
close $stream;
ok($pool->log_says(qr/the waiter \d+ ended by signal 9/), 'the log has it');

# ------------------------------------------------------ a client that reads slowly --
my $text = '{"tool_call": {"name": "large"}}';
my $large = talk($pool->socket, request(variables(REQUEST_METHOD => 'POST',
	CONTENT_TYPE => 'application/json', CONTENT_LENGTH => length $text),
	$text))->{headers}{location};
ok($pool->until_true(sub { ask($large)->{json}{state} eq 'completed' }),
	'a job with a megabyte of output');
my $slow = begin_events($large);
ok($pool->until_true(sub { figures()->{pool}{busy} == 0 }) && all_idle(),
	'a client that does not read its events holds no worker');
my $bytes = '';
for (split /\n\n/, receive($slow)->{body}) {
	$bytes .= decode_json("[$1]")->[0] if /^event: stdout\nid: \d+,0\ndata: (.*)$/m;
}
is($bytes, join('', map { "$_\n" } 1 .. 150000), 'and gets all of them later');

# ------------------------------------------------------------- what is refused --
is(ask($href, '', HTTP_ACCEPT => 'text/event-stream',
	HTTP_LAST_EVENT_ID => $_)->{status}, 400, "Last-Event-ID $_")
    for 'x', '1,', '-1', '99,0', '0,99', '9' x 40, '1,0 ';
is(ask('/__jobs/' . '0' x 32, '', HTTP_ACCEPT => 'text/event-stream')
	->{status}, 404, 'no such job');
$site->write('go3', '');
like(read_until($again, qr/event: end\n.*\n.*\n\n/), qr/"state": "completed"/,
	'its end');
my $done = ask($href, '', HTTP_ACCEPT => 'text/event-stream');
like($done->{body}, qr/"a\xc3\xa9b".*event: end/s,
	'a job that has ended is sent at once');
ok($done->{ended}, 'and whole');

# ----------------------------------------------------------------- the pool ends --
$href = job('third', "x\n");
my @last = (begin_events($href), begin($href, 'wait=25&after=2,0'));
read_until($last[0], qr/"x\\n"/);
ok(all_idle(), 'two wait while the pool ends');
$pool->stop_ok(allow => qr/ended by signal/);
my @ends = map { receive($_) } @last;
ok($ends[0]{ended}, 'a stream is ended');
is($ends[1]{status}, 503, 'and a long poll told to come again');
is($ends[1]{headers}{'retry-after'}, 1, 'in a second');

# --------------------------------------------------------------------- bounds --
$pool = start("readers = 2\n");
my @held = map { begin($href, 'wait=25&after=2,0') } 1 .. 2;
ok($pool->until_true(sub { figures()->{pool}{busy} == 0
	&& $pool->children('ss-waiter') == 1 }), 'as many as may wait');
my $over;
ok($pool->until_true(sub {
	$over = ask($href, 'wait=1&after=2,0');
	return $over->{status} == 503;
}), 'one more is refused');
is($over->{headers}{'retry-after'}, 1, 'with Retry-After');
is(ask($href, '')->{json}{state}, 'running', 'who does not wait is answered');
close shift @held;
ok($pool->until_true(sub { ask($href, 'wait=1&after=2,0')->{status} == 200 }),
	'and when one leaves there is a place again');
$site->write('go4', '');
like(receive($held[0])->{body}, qr/"state": "(?:completed|running)"/,
	'the other one hears of the end');
$pool->stop_ok;

# Without any worker, which the first one who may go on starts.
$href = do {
	$pool = start("mode = \"ondemand\"\nidle_timeout = 0.2\n");
	my $new = job('fourth', "y\n");
	my $poll = begin($new, 'wait=25&after=2,0');
	ok($pool->until_true(sub { $pool->workers == 0 }),
		'ondemand: no worker is left');
	$site->write('go5', '');
	like(receive($poll)->{body}, qr/"after"/, 'one comes to answer');
	$pool->stop_ok;
	$new;
};
$pool = start("readers = 0\n");
like(ask($href, 'wait=1')->{body}, qr/completed/, 'readers = 0: no waiter');
is(scalar $pool->children('ss-waiter'), 0, 'is started');
$pool->stop_ok;
done_testing;
