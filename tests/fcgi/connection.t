#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Which connections are served, and what a hostile or broken peer gets: no answer
# to half a request, no worker lost, no worker held.
use strict;
use warnings;
use FindBin;
use POSIX ();
use lib "$FindBin::Bin/../lib";
use Statespace::FastCGI qw(record begin params stdin pair variables request
	call talk connect_to receive);
use Statespace::Pool;
use Test::More;
use Time::HiRes qw(sleep time);

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my $pool = Statespace::Pool->start(
	files => { 'README.md' => "---\ntools:\n  - [\"true\"]\n---\n# Hello\n",
		'big.bin' => 'x' x 3_000_000, 'empty.txt' => '' },
	config => "[pool]\nmode = \"static\"\n[limits]\nmax_body_bytes = 4096\n",
	options => ['--workers', 3]);
my $at = $pool->socket;

sub get { return talk($at, request(variables(@_))) }

sub serves_as_before
{
	my ($sentence, @workers) = @_;
	my $answer = get();

	is($answer->{status}, 200, "$sentence: the next one is served");
	is("@{[ $pool->workers ]}", "@workers", "$sentence: no worker is lost")
	    if @workers;
	return;
}

# ------------------------------------------------------------ honest peers --
my $page = get();
is($page->{status}, 200, 'a page is answered');
is($page->{headers}{status}, '200 OK', 'the status has its phrase');
like($page->{body}, qr/# Hello/, 'with its text');
is($page->{headers}{'content-length'}, length $page->{body},
	'and its length');
ok($page->{ended} && $page->{eof}, 'the answer ends and the connection too');
is($page->{stderr}, '', 'nothing goes to the error stream');

my $head = get(REQUEST_METHOD => 'HEAD');
is($head->{headers}{'content-length'}, length $page->{body},
	'HEAD tells the length that GET has');
is($head->{body}, '', 'and has no body');

my $big = get(SCRIPT_NAME => '/big.bin');
is(length $big->{body}, 3_000_000, 'a large file arrives whole');
is(get(SCRIPT_NAME => '/empty.txt')->{headers}{'content-length'}, 0,
	'an empty file has length 0');
is(get(SCRIPT_NAME => '/big', PATH_INFO => '.bin')->{status}, 200,
	'SCRIPT_NAME and PATH_INFO are one path');
is(get(REQUEST_METHOD => 'GET', SCRIPT_NAME => '')->{status}, 200,
	'no path is the root');

my $bytes = request(variables());
for my $piece (1, 7, 100) {
	my $socket = connect_to($at);
	my $copy = $bytes;
	while (length $copy) {
		syswrite $socket, substr($copy, 0, $piece, '');
		sleep 0.0005;
	}
	is(receive($socket)->{status}, 200, "arriving by $piece bytes at a time");
}
is(talk($at, request(variables(), undef, piece => 3))->{status}, 200,
	'a pair may lie across records');
is(talk($at, request(variables(), undef, padding => 5))->{status}, 200,
	'padding is skipped');
is(talk($at, request(variables(HTTP_X => 'y' x 300, 'N' x 200 => 1)))->{status},
	200, 'long names and values that nobody reads do not matter');
is(talk($at, request(variables(), undef, id => 65535))->{status}, 200,
	'any request id will do');
my $ran = talk($at, call('/', ['true']));
ok($ran->{status} == 200 || $ran->{body} =~ /sandbox_unavailable/,
	'a POST is answered') or diag $ran->{body};

# -------------------------------------------------- what is wrong is refused --
sub refused
{
	my ($sentence, $status, @variables) = @_;
	my $answer = talk($at, request(@variables));

	is($answer->{status}, $status, $sentence);
	ok($answer->{headers}{'x-request-id'}, "$sentence: with its id");
	return $answer;
}

my %post = (REQUEST_METHOD => 'POST', CONTENT_TYPE => 'application/json');
refused('a body shorter than announced', 400,
	variables(%post, CONTENT_LENGTH => 10), 'short');
refused('a body longer than announced', 400,
	variables(%post, CONTENT_LENGTH => 2), 'longer');
refused('a body that was not announced', 411, variables(%post), 'body');
refused("Content-Length \"$_\"", 400,
	variables(%post, CONTENT_LENGTH => $_), '{}')
    for '+2', ' 2', '2 ', '0x2', '2,2';
refused('a length that the front does not know', 411,
	variables(%post, CONTENT_LENGTH => '-1'), '{}');
my $json = refused('a control byte in the path', 400,
	variables(%post, SCRIPT_NAME => "/a\nb"));
like($json->{body}, qr/"code": "bad_request"/, 'the refusal of a POST is JSON');
refused('a control byte in a header', 400, variables(HTTP_HOST => "a\x01"));
refused('a variable that came twice', 400,
	[%{ variables() }, REQUEST_METHOD => 'POST']);
refused('no REQUEST_METHOD', 500,
	[SCRIPT_NAME => '/', HTTP_HOST => 'localhost']);
refused('a list that lost its end', 500,
	variables(STATESPACE_FRONT => 'nginx'));
is(get(STATESPACE_FRONT => 'nginx', STATESPACE_END => 1)->{status}, 200,
	'a list with its end is whole');
refused('no Host', 421, [REQUEST_METHOD => 'GET', SCRIPT_NAME => '/']);
refused('a path of 9000 bytes', 400, variables(SCRIPT_NAME => '/' . 'a' x 9000));

my $large = talk($at, request(variables(%post, CONTENT_LENGTH => 5000),
	'x' x 5000));
is($large->{status}, 413, 'a body over the limit is 413');
like($large->{body}, qr/"code": "body_too_large"/, 'in our own words');
$large = talk($at, request(variables(%post, CONTENT_LENGTH => 9_000_000),
	'x' x 9_000_000));
is($large->{status}, 413, 'also one that is far over it');
is(talk($at, request(variables(%post,
	CONTENT_LENGTH => '99999999999999999999999'), 'x'))->{status}, 413,
	'a length that no number holds is too large');

# -------------------------------------------------------------- hostile ones --
my @workers = $pool->workers;
my $begin = begin();
my $values = pair('FCGI_MAX_CONNS', '') x 5;
my %hostile = (
	'a GET_VALUES record that repeats a name, and no end' =>
	    $begin . record(9, $values, id => 0) . params(variables()),
	'the same before everything' => record(9, $values, id => 0),
	'a GET_VALUES record that is cut' => record(9, "\x0e\x02x", id => 0),
	'seventeen of them' => record(9, '', id => 0) x 17,
	'two lengths just below INT_MAX' =>
	    $begin . record(4, pack('NN', 0xfffffff0, 0xfffffff0) . 'x' x 40),
	'a name of 1 GiB' => $begin . record(4, pack('NN', 0xc0000000, 1)),
	'an unknown type' => $begin . record(42, 'x' x 16),
	'another version' => $begin . record(4, '', version => 2),
	'a second BEGIN_REQUEST' => $begin . $begin,
	'parameters of another request' =>
	    $begin . params(variables(), id => 2),
	'an abort within the parameters' =>
	    $begin . record(4, pair('REQUEST_METHOD', 'GET')) . record(2, ''),
	'standard input before the parameters end' =>
	    $begin . record(4, pair('REQUEST_METHOD', 'GET')) . stdin(''),
	'parameters that end within a pair' =>
	    $begin . record(4, "\x05\x05NAM") . record(4, ''),
	'a role of authorizer' =>
	    begin(role => 2) . params(variables()) . stdin(''),
	'a BEGIN_REQUEST of the wrong size' => record(1, "\0\1\0"),
	'request id 0' => request(variables(), undef, id => 0),
	'a NUL in a value' => $begin . params(variables(X => "a\0b")),
	'a name with an equals sign' => $begin . params(variables('A=B' => 1)),
	'a name of no bytes' => $begin . record(4, pair('', 'x')),
	'parameters without end' => $begin
	    . record(4, pair('A', 'x' x 60000)) x 3,
	'100,000 parameters' => $begin . params([('A', 'b') x 100_000]),
	'a line of HTTP' => "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
	'nothing at all' => '',
	'an abort in the body' => $begin
	    . params(variables(%post, CONTENT_LENGTH => 9)) . record(2, ''),
	'a management record in the body' => $begin
	    . params(variables(%post, CONTENT_LENGTH => 9))
	    . record(9, $values, id => 0),
);
for my $what (sort keys %hostile) {
	my $answer = talk($at, $hostile{$what}, shut => 1);

	is($answer->{status}, 0, "$what gets no answer");
	ok($answer->{eof}, "$what: the connection is closed");
}
serves_as_before('after all of that', @workers);

# A request cut at every byte is never served, and costs nothing.
my $whole = call('/', ['true']);
my $served = 0;
for my $length (0 .. length($whole) - 1) {
	$served++ if talk($at, substr($whole, 0, $length), shut => 1)->{status};
}
is($served, 0, 'a request cut at any byte is not served');
serves_as_before('after the cuts', @workers);

# The peer leaves without reading 3 MB.
for (1 .. 4) {
	my $socket = connect_to($at);
	syswrite $socket, request(variables(SCRIPT_NAME => '/big.bin'));
	close $socket;
}
serves_as_before('after peers that left', @workers);

# A peer that says nothing, or that does not read its answer, holds one worker,
# not the others, and not for ever.
my $stalled = connect_to($at);
syswrite $stalled, request(variables(SCRIPT_NAME => '/big.bin'));
my $silent = connect_to($at);
my $began = time;
serves_as_before('beside both');
cmp_ok(time - $began, '<', 2, 'without waiting for it');
my $closed = receive($silent, seconds => 25);
ok($closed->{eof}, 'the silent one is closed in the end');
cmp_ok($closed->{took}, '>', 8, 'after ten seconds');
ok($pool->until_true(sub {
	my $figures = talk("$at.status", request(variables(
		SCRIPT_NAME => '/__meta/status', STATESPACE_STATUS => 1)));
	return $figures->{body} =~ /"busy": 0,/;
}), 'the one that does not read is given up, too');
ok(!receive($stalled)->{ended}, 'and can tell that it was cut');
serves_as_before('after both', @workers);

# A peer that reads its answer slowly, but reads, has a worker to itself while
# nobody waits for one; then it makes way.
my $slow = connect_to($at);
syswrite $slow, request(variables(SCRIPT_NAME => '/big.bin'));
sleep 4;
is(length receive($slow)->{body}, 3_000_000,
	'a peer that stalls is waited for while workers are idle');
$pool->stop_ok(allow => qr/no REQUEST_METHOD|code=internal/);

$pool = Statespace::Pool->start(config => "[pool]\nmode = \"static\"\n"
	    . "reserve = 0\nwatchdog = 3600\n",
	options => ['--workers', 1]);
$at = $pool->socket;
open my $file, '>', $pool->site->dir . '/huge.bin' or die "huge.bin: $!";
truncate $file, 256 << 20 or die "truncate: $!";
close $file;
$slow = connect_to($at);
syswrite $slow, request(variables(SCRIPT_NAME => '/huge.bin'));
sysread $slow, my $first, 65536;
my $reader = fork() // die "fork: $!";
if ($reader == 0) {
	# Never longer than this without a byte.
	while (sysread $slow, my $piece, 65536) {
		sleep 0.2;
	}
	POSIX::_exit(0);
}
close $slow;
is(talk($at, request(variables()), seconds => 30)->{status}, 200,
	'a slow reader makes way for one who waits');
ok($pool->until_true(sub { waitpid($reader, POSIX::WNOHANG()) == $reader }),
	'and can tell that it was cut') or kill 'KILL', $reader;
$pool->stop_ok;
done_testing;
