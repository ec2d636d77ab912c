#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Pages while every worker runs a tool: a few workers more answer them, at most
# `workers` tools run at a time, and requests for others wait their turn.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json encode_json);
use Statespace::FastCGI qw(request variables call talk connect_to receive);
use Statespace::Pool;
use Test::More;

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my %files = ('README.md' => "---\ntools:\n  - [sleep, {}]\n  - [echo, {}]\n"
	    . "  - {command: [wc, -c, ;], stdin: true}\n"
	    . "  - [sh, -c, {}]\n---\n# Hello\n",
	'part.md' => "# Part\n\n```component\necho made\n```\n");
my $config = "[mcp]\nenabled = true\n[limits]\ntimeout = 100.0\n"
    . "max_body_bytes = 300000\n[pool]\nmode = \"static\"\nworkers = 2\n";
my $pool = Statespace::Pool->start(files => \%files,
	config => "${config}idle_timeout = 1.0\n");

if (talk($pool->socket, call('/', ['echo', 'x']))->{status} != 200) {
	$pool->stop;
	plan skip_all => 'tools cannot be confined here';
}

sub figures
{
	return decode_json(talk($_[0]->socket . '.status', request(variables(
		SCRIPT_NAME => '/__meta/status', STATESPACE_STATUS => 1)))
		->{body});
}

sub get
{
	return talk($pool->socket, request(variables(SCRIPT_NAME => $_[0])));
}

sub send_to
{
	my ($in, $bytes) = @_;
	my $socket = connect_to($in->socket);

	syswrite $socket, $bytes;
	return $socket;
}

# A tool that runs; its connection.
sub start_sleep
{
	my ($in, $seconds) = @_;
	my $socket = send_to($in, call('/', ['sleep', $seconds]));

	$in->until_true(sub {
		Statespace::Server::process_lives("sleep $seconds")
	}) or diag 'the tool was not seen';
	return $socket;
}

# Its worker too, when asked.
sub end_sleep
{
	my ($seconds, $worker) = @_;
	my $all = Statespace::Server::processes();

	kill $worker ? 'KILL' : 'TERM', map {
		$worker ? $all->{$_}{ppid} : $_
	} grep { $all->{$_}{line} eq "sleep $seconds" } keys %$all;
	return;
}

sub waits
{
	my ($count) = @_;

	return $pool->until_true(sub {
		figures($pool)->{queue}{length} == $count }, 4);
}

# ------------------------------------------------------- pages beside the tools --
sub ready
{
	my ($path) = @_;
	my $answer = talk($path, request(variables(SCRIPT_NAME => '/readyz')));

	return "$answer->{status} " . decode_json($answer->{body})->{status};
}
is(ready($pool->socket), '200 ok', 'the pool is ready');
is(ready($pool->socket . '.status'), '200 ok', 'on both of its sockets');
my @naps = map { "8$_.$$" } 1 .. 9;
my @held = map { start_sleep($pool, $_) } @naps[0, 1];
ok($pool->until_true(sub { figures($pool)->{pool}{total} == 4 }),
	'with both workers in tools there are two more');
is(figures($pool)->{pool}{tools}, 2, 'the figures count the tools');
is(ready($pool->socket), '503 saturated',
	'it is not ready when a tool would have to wait');
is(ready($pool->socket . '.status'), '503 saturated', 'on both of its sockets');
my $scraped = talk($pool->socket . '.status', request(variables(
	SCRIPT_NAME => '/__meta/status', STATESPACE_STATUS => 1,
	HTTP_ACCEPT => 'text/plain')))->{body};
my $reserve = figures($pool)->{pool}{reserve};
like($scraped, qr/^statespace_tools_running 2$/m, 'also for a scraper');
like($scraped, qr/^statespace_workers_reserve $reserve$/m,
	'which sees how many more workers there may be');
is(scalar(grep { get('/')->{status} == 200 } 1 .. 20), 20,
	'which answer pages');

# ---------------------------------------------------------- tools wait their turn --
my $list = encode_json({ jsonrpc => '2.0', id => 1, method => 'tools/list' });
my $called = encode_json({ jsonrpc => '2.0', id => 2, method => 'tools/call',
	params => { name => 'echo', arguments => { arg1 => 'mcp' } } });
sub mcp
{
	return request(variables(REQUEST_METHOD => 'POST',
		SCRIPT_NAME => '/mcp', CONTENT_TYPE => 'application/json',
		HTTP_ACCEPT => 'application/json, text/event-stream',
		HTTP_MCP_PROTOCOL_VERSION => '2025-11-25',
		CONTENT_LENGTH => length $_[0]), $_[0]);
}
my %waiting = (post => send_to($pool, call('/', ['echo', 'post'])),
	page => send_to($pool, request(variables(SCRIPT_NAME => '/part'))),
	mcp => send_to($pool, mcp($called)));
ok(waits(3), 'a POST, a page with a component and a call of MCP wait');
is(scalar(grep { get('/')->{status} == 200 } 1 .. 20), 20,
	'beside them pages are answered');
like(talk($pool->socket, mcp($list))->{body}, qr/"tools"/,
	'and lists of MCP');
is(talk($pool->socket, call('/', ['rm']))->{status}, 403,
	'and what is refused');
end_sleep($naps[0]);
is(receive($held[0])->{status}, 200, 'a tool ends');
my %got = map { $_ => receive($waiting{$_}) } keys %waiting;
like($got{post}{body}, qr/"stdout": "post\\n"/, 'then the POST is answered');
like($got{page}{body}, qr/^made$/m, 'and the page');
like($got{mcp}{body}, qr/mcp\\n/, 'and the call of MCP');
ok($pool->until_true(sub { ready($pool->socket) eq '200 ok' &&
	ready($pool->socket . '.status') eq '200 ok' }),
	'and the pool is ready again');
my $lines = () = $pool->log =~ /path=\/part /g;
is($lines, 1, 'of a request that waited the log has one line');

# What is larger than the queue takes waits in its worker.
push @held, start_sleep($pool, $naps[2]);
my $text = encode_json({ command => ['wc', '-c'], stdin => 'x' x 200_000 });
my $large = send_to($pool, request(variables(REQUEST_METHOD => 'POST',
	CONTENT_TYPE => 'application/json', CONTENT_LENGTH => length $text),
	$text));
my $small = send_to($pool, call('/', ['echo', 'small']));
ok(waits(1), 'beside a large body');
is(get('/')->{status}, 200, 'pages are answered');
end_sleep($naps[2]);
like(receive($large)->{body}, qr/200000/, 'a large body waits, too');
is(receive($small)->{status}, 200, 'and the small one');
receive($held[2]);

# The entry of a killed worker is free again.
$held[2] = start_sleep($pool, $naps[3]);
my $after = send_to($pool, call('/', ['echo', 'after']));
ok(waits(1), 'one waits');
end_sleep($naps[3], 1);
like(receive($after)->{body}, qr/after/,
	'when a worker is killed the next tool takes its place');

# Who waits too long is refused.
push @held, start_sleep($pool, $naps[4]);
my $before = figures($pool)->{queue}{refused};
my $late = talk($pool->socket, call('/', ['echo', 'late']));
is($late->{status}, 503, 'who waits for five seconds is told 503');
like($late->{body}, qr/did not run/, 'and that nothing ran');
is($late->{headers}{'retry-after'}, 1, 'with Retry-After');
is(figures($pool)->{queue}{refused}, $before + 1, 'which is counted');
ok(waits(0), 'nobody waits any more');
end_sleep($_) for @naps[1, 4];
receive($_) for grep { $_ } @held[1, 3];
ok($pool->until_true(sub { figures($pool)->{pool}{total} == 2 }),
	'afterwards the others leave');

# ------------------------------------------------------------- a burst of tools --
@held = (start_sleep($pool, $naps[5]));
my $job = 'date +%s%N; sleep 0.15; date +%s%N';
my @all = map { send_to($pool, call('/', ['sh', '-c', $job])) } 1 .. 24;
my (@spans, @refused);
for (map { receive($_) } @all) {
	my @at = $_->{body} =~ /(\d{19})/g;
	push @spans, \@at if $_->{status} == 200;
	push @refused, $_->{body} if $_->{status} != 200;
}
is("@refused", '', 'of 24 at once none is refused');
my $most = 0;
for my $span (@spans) {
	my $now = grep { $_->[0] <= $span->[0] && $span->[0] < $_->[1] } @spans;
	$most = $now if $now > $most;
}
is($most, 1, 'and no more tools run at a time than there are workers');
end_sleep($naps[5]);
receive($held[0]);
$pool->stop_ok(allow => qr/ended by signal|while it started/);

# ------------------------------------------------------------------ without it --
$pool = Statespace::Pool->start(files => \%files,
	config => "${config}reserve = 0\n");
@held = map { start_sleep($pool, $_) } @naps[6, 7];
my $page = send_to($pool, request(variables()));
ok(waits(1), 'reserve = 0: a page waits');
is(figures($pool)->{pool}{total}, 2, 'reserve = 0: there are no more workers');
end_sleep($_) for @naps[6, 7];
is(receive($page)->{status}, 200, 'reserve = 0: until a tool ends');
receive($_) for @held;
$pool->stop_ok;

done_testing;
