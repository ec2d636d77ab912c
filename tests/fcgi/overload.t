#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# When every worker is busy: health and figures still answer, and who waits
# too long is told 503 instead of waiting without end.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json);
use Errno;
use Socket qw(MSG_DONTWAIT MSG_PEEK);
use Statespace::FastCGI qw(request variables call talk connect_to receive);
use Statespace::Pool;
use Test::More;
use Time::HiRes qw(sleep time);

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my $pool = Statespace::Pool->start(files => { 'README.md' => "# Hello\n",
	'large.txt' => 'x' x 2_000_000 }, config =>
	"[pool]\nmode = \"static\"\nworkers = 2\n");
my $second = $pool->socket . '.status';

sub ask
{
	my ($path, %more) = @_;

	return talk($second, request(variables(SCRIPT_NAME => $path, %more)),
		seconds => 5);
}

sub figures { return decode_json(
	ask('/__meta/status', STATESPACE_STATUS => 1)->{body}) }

ok($pool->until_true(sub { $pool->children('ss-status') == 1 }),
	'a status server is there');
is(ask('/healthz')->{status}, 200, 'it says that all is well');
is(ask('/__meta/version')->{status}, 200, 'and the version');
is(ask('/__meta/status')->{status}, 404,
	'figures are not for everybody');
is(ask('/')->{status}, 404, 'it serves no page');
is(ask('/__meta/status', STATESPACE_STATUS => 1)->{status}, 200,
	'figures for whom the front lets see them');
ok($pool->log_says(qr{path=/__meta/status status=200}),
	'and the log says what was asked');
my $ran = talk($second, call('/', ['true']));
is($ran->{status}, 404, 'and runs no tool');
my $ready = ask('/readyz');
is($ready->{status}, 200, 'the pool is ready');
is(decode_json($ready->{body})->{pool}{max}, 2, 'and tells its limit');
talk($pool->socket, request(variables())) for 1 .. 3;
talk($pool->socket, request(variables(SCRIPT_NAME => '/none')));
# They are counted when their connection has been closed.
$pool->until_true(sub {
	my $counts = figures()->{requests};
	return $counts->{ok} == 3 && $counts->{not_found};
});
my $now = figures();
is($now->{requests}{ok}, 3, 'requests are counted by outcome');
is($now->{requests}{not_found}, 1, 'refusals by their reason');
is($now->{pool}{total}, 2, 'workers are counted');
my $reached = $now->{pool}{max_reached};
my $text = ask('/__meta/status', STATESPACE_STATUS => 1,
	HTTP_ACCEPT => 'text/plain;version=0.0.4')->{body};
like($text, qr/^statespace_requests_total\{outcome="ok"\} 3$/m,
	'a scraper gets the same in its own format');
SKIP: {
	skip 'promtool is not installed', 1 unless `which promtool 2>/dev/null`;
	open my $check, '|-', 'promtool check metrics >/dev/null' or die;
	print $check $text;
	ok(close $check, 'which promtool finds correct');
}

# Peers that send nothing hold no worker: whoever speaks is answered while they
# are all still connected, and so are they when they speak.
sub is_open
{
	my ($socket) = @_;

	return !defined recv($socket, my $byte, 1, MSG_PEEK | MSG_DONTWAIT)
	    && $!{EAGAIN};
}
{
	my @silent = map { connect_to($pool->socket) } 1 .. 40;
	is(talk($pool->socket, request(variables()))->{status}, 200,
		'an honest request beside 40 silent peers is answered');
	is(scalar(grep { is_open($_) } @silent), 40,
		'while all of them are still connected');
	is(talk($silent[$_], request(variables()))->{status}, 200,
		"silent peer $_ is answered when it speaks") for 0, 39;
	is(figures()->{queue}{refused}, 0, 'and nobody was refused');
	ok($pool->until_true(sub { figures()->{pool}{busy} == 0 }),
		'no worker is busy with the others');
	$pool->signal('HUP');
	ok($pool->log_says(qr/reloaded/), 'a reload');
	talk($pool->socket, request(variables()));
	is(talk($silent[20], request(variables()))->{status}, 200,
		'keeps them');
	my $health = connect_to($second);
	is(ask('/healthz')->{status}, 200,
		'a silent peer of the second socket does not hold it either');
	ok(is_open($health), 'and is still there');
}
$pool->until_true(sub { figures()->{pool}{busy} == 0 });

# Nor do those that stop within a request: within its parameters, or its body.
{
	my $body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
	my $post = request(variables(REQUEST_METHOD => 'POST',
		SCRIPT_NAME => '/mcp', CONTENT_TYPE => 'application/json',
		CONTENT_LENGTH => length $body), $body);
	my $whole = join ' ', @{ talk($pool->socket, $post) }{qw(status body)};
	like($whole, qr/"id":1/, 'a request whole');
	my @cuts = (20, 60, index($post, $body) + 10);
	my @stalled = map { connect_to($pool->socket) } 1 .. 42;

	syswrite $stalled[$_], substr $post, 0, $cuts[$_ % 3] for 0 .. $#stalled;
	is(talk($pool->socket, request(variables()))->{status}, 200,
		'an honest request beside 42 that stopped is answered');
	is(scalar(grep { is_open($_) } @stalled), 42,
		'while all of them are still connected');
	is(figures()->{queue}{refused}, 0, 'and nobody was refused');
	for my $i (0 .. 2) {
		my ($socket, $answer) = $stalled[$i];
		syswrite $socket, substr $post, $cuts[$i], 3;
		talk($pool->socket, request(variables()));
		$answer = talk($socket, substr $post, $cuts[$i] + 3);
		is("@$answer{qw(status body)}", $whole,
			"one that stopped at byte $cuts[$i] is answered");
	}
	my $long = $stalled[5];
	syswrite $long, substr($post, $cuts[2], -8) . 'trailing';
	is(receive($long)->{status}, 0, 'a broken record after a stop ends it');
	# Connections come to the workers in the order of their bytes or ends.
	my $last = pop @stalled;
	@stalled = ();
	is(talk($last, substr $post, $cuts[41 % 3])->{status}, 405,
		'the last one, after the others were closed');
}
$pool->until_true(sub { figures()->{pool}{busy} == 0 });

# Two that do not read a large answer hold both workers, which stop there.
my @silent = map { connect_to($pool->socket) } 1 .. 2;
syswrite $_, request(variables(SCRIPT_NAME => '/large.txt')) for @silent;
ok($pool->until_true(sub { figures()->{pool}{busy} == 2 }),
	'both workers are busy');
my @stopped = $pool->workers;
$pool->signal('STOP', $_) for @stopped;
my $ping = '{"jsonrpc":"2.0","id":7,"method":"ping"}';
my @waiting = map {
	my $socket = connect_to($pool->socket);
	syswrite $socket, $_ == 1 ? request(variables()) : $_ == 2
	    ? call('/', ['true']) : request(variables(
		REQUEST_METHOD => 'POST', SCRIPT_NAME => '/mcp',
		CONTENT_TYPE => 'application/json',
		CONTENT_LENGTH => length $ping), $ping);
	$socket;
} 1 .. 3;
$pool->until_true(sub {
	$now = figures();
	return $now->{queue}{length} == 3 && $now->{oldest_request_s} > 0.4;
}, 5);
my $began = time;
is(ask('/healthz')->{status}, 200, 'health answers when all are busy');
cmp_ok(time - $began, '<', 3, 'at once');
my $full = ask('/readyz');
is($full->{status}, 503, 'readiness does not');
like($full->{body}, qr/"status": "saturated"/, 'and says why');
is($now->{queue}{length}, 3, 'the queue is told');
cmp_ok($now->{pool}{max_reached}, '>', $reached,
	'and that the limit was reached');
cmp_ok($now->{oldest_request_s}, '>', 0.4, 'and how old the oldest is');
my @answers = map { receive($_) } @waiting;
is(join(' ', map { $_->{status} } @answers), '503 503 503',
	'who waits for five seconds is told 503');
is($answers[0]{headers}{'retry-after'}, 1, 'with Retry-After');
like($answers[1]{body}, qr/"code": "overloaded"/, 'a POST in our own shape');
like($answers[2]{body}, qr/^\{"jsonrpc":"2\.0","id":7,"error":.*did not run/,
	'a message of MCP as an error of JSON-RPC');
like($answers[1]{body}, qr/did not run/, 'that says that nothing ran');
is(figures()->{queue}{refused}, 3, 'which is counted');
$text = ask('/__meta/status', STATESPACE_STATUS => 1,
	HTTP_ACCEPT => 'text/plain;version=0.0.4')->{body};
like($text, qr/^statespace_queue_refused_total 3$/m, 'also for a scraper');
like($text, qr/^statespace_queue_most [1-9]/m, 'and the longest queue');
$pool->signal('CONT', $_) for @stopped;
receive($_, seconds => 30) for @silent;
is(talk($pool->socket, request(variables()))->{status}, 200,
	'afterwards the pool serves as before');
is(ask('/readyz')->{status}, 200, 'and is ready');
for my $host ('balancer.example.org', '') {
	is(ask('/healthz', HTTP_HOST => $host)->{status}, 200,
		"health answers to Host \"$host\"");
	is(ask('/readyz', HTTP_HOST => $host)->{status}, 421,
		'readiness does not');
}

# Silent peers are bounded: the oldest makes way.
{
	my @silent = map { connect_to($pool->socket) } 1 .. 300;
	ok($pool->until_true(sub { !is_open($silent[0]) }),
		'over the bound the oldest silent peer is closed');
	ok(is_open($silent[-1]), 'not the newest');
}

# The status server comes back.
my ($server) = $pool->children('ss-status');
$pool->signal('KILL', $server);
ok($pool->until_true(sub {
	my ($next) = $pool->children('ss-status');
	return $next && $next != $server;
}), 'a killed status server is replaced');
is(ask('/healthz')->{status}, 200, 'and answers');
$pool->stop_ok;
ok(!-e $second, 'the second socket is gone with the pool');

# Tools that a launcher runs need one beside each worker, and only there.
{
	my $pool = Statespace::Pool->start(config => "[grant]\nproc = true\n"
		. "[pool]\nmode = \"static\"\nworkers = 1\n");
	ok($pool->until_true(sub { $pool->children('ss-status') == 1
		&& $pool->workers == 1 }), 'a status server beside workers that keep things');
	my $all = Statespace::Server::processes();
	my $below = grep { $_->{ppid} == $pool->pid } values %$all;
	cmp_ok($below, '<=', 3, 'a worker, its launcher, a status server without one');
	$pool->stop_ok;
}

done_testing;
