#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Exactly once: calls with a key over HTTP, through `statespace serve` and a real
# nginx.  The tools count themselves in files, so that a second run is seen.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP ();
use Test::More;
use POSIX ();
use Time::HiRes qw(sleep);
use Statespace::Server;
use Statespace::TestSite qw(slurp);

plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');

my $JSON = JSON::PP->new->utf8;
my $COUNT = 'echo run >>"$1"; cat; echo "$2"; echo told >&2; exit 3';
my $PAGE = <<"END";
---
tools:
  - { name: count, command: [sh, -c, '$COUNT', sh, {}, {}], stdin: true, write: [out] }
  - { name: slow, command: [sh, -c, 'echo run >>"\$1"; while test ! -e out/go; do sleep 0.05; done; echo slow', sh, {}, ;], write: [out] }
  - { name: must, command: [echo, {}], once: required }
  - { name: ask, command: [tee, -a, {}, ;], confirm: true, write: [out] }
  - { name: late, command: [sh, -c, 'echo run >>"\$1"; echo begun; sleep 60', sh, {}, ;], timeout: 0.3, write: [out] }
  - { name: many, command: [seq, {}, ;], lines: 3 }
  - { name: image, command: [printf, {}, ;], output: image/png }
  - [none-such-program]
  - [./plain]
---
END
my $MUST = "---\nonce: required\ntools: [[echo, {}]]\n---\n";

my $site = Statespace::TestSite->new(files => { 'README.md' => "# Site\n",
	'a.md' => $PAGE, 'b.md' => $PAGE, 'must.md' => $MUST,
	'plain' => 'no program' });
mkdir $site->dir . '/out' or die "mkdir: $!";
chmod 01777, $site->dir . '/out';
my $server = Statespace::Server->start(site => $site, config =>
	"[grant]\nwrite = [\"out\"]\n[mcp]\nenabled = true\nmax_tools = 1\n", options => ['--workers', 4]);

plan skip_all => 'no tool runs here'
    if $server->request('POST', '/a', headers => { 'Content-Type' =>
	'application/json' }, body => '{"command": ["seq", "1"]}')->{status} == 503;

# The answer, with its body read as {json}.
sub post
{
	my ($path, $key, %with) = @_;
	my $headers = delete $with{headers} || {};
	my $answer = $server->request('POST', $path, headers => {
		'Content-Type' => 'application/json', %$headers,
		defined $key ? ('Idempotency-Key' => $key) : () },
		body => $JSON->encode(\%with));

	$answer->{json} = eval { $JSON->decode($answer->{body}) } || {};
	return $answer;
}

sub code_is
{
	my ($answer, $expected, $what) = @_;

	return is("$answer->{status} " . ($answer->{json}{error}{code} // 'ok'),
		$expected, $what);
}

sub replayed { return $_[0]{headers}{'idempotency-replayed'} // 'no' }

# How often the tool ran that counts itself there.
sub runs
{
	my $file = $site->dir . "/out/$_[0]";

	return -e $file ? slurp($file) =~ tr/\n// : 0;
}

sub count { return (command => ['sh', '-c', $COUNT, 'sh', "out/$_[0]", $_[1]]) }

my $first = post('/a', 'k1', count('one', 'x'), stdin => "in\n");
code_is($first, '200 ok', 'the first call with a key');
is(replayed($first), 'no', '... is no answer from before');
is($first->{json}{stdout}, "in\nx\n", '... ran');
my $second = post('/a', 'k1', count('one', 'x'), stdin => "in\n");
code_is($second, '200 ok', 'the same again');
is($second->{body}, $first->{body}, '... has the same answer');
is(replayed($second), 'true', '... and a header says so');
is(runs('one'), 1, '... and it did not run again');
my $named = post('/a', 'k1', tool_call => { name => 'count', arguments => {
	arg1 => 'out/one', arg2 => 'x', stdin => "in\n" } });
is($named->{body}, $first->{body}, 'the same call by its name, too')
    or diag $named->{body};

for (['another word', count('one', 'y'), stdin => "in\n"],
	['another input', count('one', 'x'), stdin => "in"],
	['no input', count('one', 'x')],
	['another tool', command => ['seq', '1']]) {
	my ($what, @call) = @$_;

	code_is(my $answer = post('/a', 'k1', @call), '422 key_reused',
		"$what: 422");
	like($answer->{json}{error}{next}{headers}{'Idempotency-Key'},
		qr/^[0-9a-f]{32}$/, '... and a new key');
}
is(runs('one'), 1, '... and nothing ran');
code_is(post('/b', 'k1', count('two', 'x')), '200 ok',
	'the key is free on another page');
is(runs('two'), 1, '... which runs');

# Keys.
for (['1 byte', 'k', 200], ['255 bytes', 'k' x 255, 200],
	['256 bytes', 'k' x 256, 400], ['a blank', 'a b', 400],
	['a byte above ASCII', "a\xc3\xa9", 400], ['punctuation', '"!#~"', 200]) {
	my ($what, $key, $status) = @$_;

	is(post('/a', $key, command => ['seq', '1'])->{status}, $status,
		"a key with $what: $status");
}
like(post('/a', 'k' x (1 << 20), command => ['seq', '1'])->{status},
	qr/^(?:400|414|431)$/, 'a key of 1 MiB is refused');

# A page or a tool demands one.
for (['/a', 'a tool'], ['/must', 'a page']) {
	my ($path, $who) = @$_;

	code_is(my $none = post($path, undef, command => ['echo', 'x']),
		'400 key_required', "$who demands a key");
	like($none->{json}{error}{hint}, qr/Idempotency-Key/, '... says how');
	my $next = $none->{json}{error}{next};
	is($next->{text}, 'send the same request with a new key',
		'... and what to do next');
	like($next->{headers}{'Idempotency-Key'}, qr/^[0-9a-f]{32}$/,
		'... with a key');
	code_is(post($path, 'must', command => ['echo', 'x']), '200 ok',
		'... and takes it');
}

like($server->request('GET', '/AGENTS.md')->{body},
	qr/\*\*must_echo\*\* .*needs an `Idempotency-Key`/,
	'AGENTS.md tells what a page demands');

# Nothing began: the key is as if it had not been used.
code_is(post('/a', 'k2', command => ['none-such-program']), '500 exec_failed',
	'a program that is not there');
code_is(post('/a', 'k2', count('three', 'x')), '200 ok',
	'... does not use up the key');
code_is(post('/a', 'k2a', command => ['./plain']), '500 exec_failed',
	'a file that is no program');
code_is(post('/a', 'k2a', count('three', 'x')), '200 ok',
	'... does not use up the key');
code_is(post('/a', 'k3', command => ['rm', 'x']), '403 not_allowed',
	'a command that is not allowed');
code_is(post('/a', 'k3', count('four', 'x')), '200 ok',
	'... does not use up the key');
my @ASK = (command => ['tee', '-a', 'out/ask'], stdin => undef);
my $asked = post('/a', 'k4', command => ['tee', '-a', 'out/ask']);
code_is($asked, '428 confirm_required', 'a person is asked');
@ASK = (command => ['tee', '-a', 'out/ask'],
	confirm => $asked->{json}{error}{confirm});
code_is(post('/a', 'k4', @ASK), '200 ok', '... and the key is not used up');
my $again = post('/a', 'k4', @ASK);
code_is($again, '200 ok', '... nor is the confirmation asked for again');
is(replayed($again), 'true', '... for the answer that is kept');

# What was ended at a limit is an answer, and so are parts and files.
for my $i (1, 2) {
	my $late = post('/a', 'k5', command => ['sh', '-c',
		'echo run >>"$1"; echo begun; sleep 60', 'sh', 'out/late']);

	code_is($late, '408 timeout', "a tool that takes too long, $i");
	is($late->{json}{stdout}, "begun\n", '... with its output so far');
	is(replayed($late), $i == 1 ? 'no' : 'true', '... once');
}
is(runs('late'), 1, 'it ran once');
my @parts = map { post('/a', 'k6', command => ['seq', '9']) } 1, 2;
is($parts[0]{json}{stdout}, "1\n2\n3\n", 'the first part of an output');
is($parts[1]{body}, $parts[0]{body}, '... again, with the way to the next one');
my $next = post('/a', undef, command => ['seq', '9'],
	next => $parts[1]{json}{next});
is($next->{json}{stdout}, "4\n5\n6\n", '... which is there');
my @images = map { post('/a', 'k7', command => ['printf', 'PNG'],
	headers => { Accept => 'image/png' }) } 1, 2;
is($images[1]{body}, 'PNG', 'a file is told again as it was');
is($images[1]{headers}{'content-type'}, 'image/png', '... with its type');

# While it runs.
my @SLOW = (command => ['sh', '-c', 'echo run >>"$1"; while test ! -e out/go; '
	. 'do sleep 0.05; done; echo slow', 'sh', 'out/slow']);
pipe my $in, my $out or die "pipe: $!";
my $child = fork() // die "fork: $!";
if ($child == 0) {
	my $answer = post('/a', 'k8', @SLOW);

	print {$out} "$answer->{status} $answer->{json}{stdout}";
	close $out;
	POSIX::_exit(0);
}
close $out;
for (my $i = 0; $i < 1200 && runs('slow') == 0; $i++) { sleep 0.05 }
my $busy = post('/a', 'k8', @SLOW);
code_is($busy, '409 key_running', 'while it runs the same is refused');
is($busy->{headers}{'retry-after'}, 1, '... with Retry-After');
code_is(post('/a', 'k8', @SLOW, headers => { Prefer => 'wait=0' }),
	'409 key_running', '... also with wait=0');
code_is(post('/a', 'k8', count('slow', 'x')), '422 key_reused',
	'... and another request as ever');
my $waiter = fork() // die "fork: $!";
if ($waiter == 0) {
	sleep 0.3;
	open my $go, '>', $site->dir . '/out/go';
	POSIX::_exit(0);
}
my $waited = post('/a', 'k8', @SLOW, headers => {
	Prefer => 'respond-async="x,wait=0", wait = "30"' });
code_is($waited, '200 ok', 'with Prefer: wait the answer is waited for');
is($waited->{json}{stdout}, "slow\n", '... and told');
is(replayed($waited), 'true', '... as what it is');
is(join('', <$in>), "200 slow\n", 'the first one has it as well');
waitpid $_, 0 for $child, $waiter;
is(runs('slow'), 1, 'it ran once');

# MCP: the key is in _meta.
my $id = 0;
sub mcp
{
	my ($key, $name, %arguments) = @_;
	my $answer = $server->request('POST', '/mcp', headers => {
		'Content-Type' => 'application/json',
		Accept => 'application/json, text/event-stream',
		'MCP-Protocol-Version' => '2025-11-25' },
		body => $JSON->encode({ jsonrpc => '2.0', id => ++$id,
			method => 'tools/call', params => { name => $name,
			arguments => \%arguments, defined $key ? (_meta => {
			'statespace/idempotencyKey' => $key }) : () } }));

	return $JSON->decode($answer->{body});
}
my %RUN = (page => 'a', command => ['sh', '-c', $COUNT, 'sh', 'out/mcp', 'x'],
	stdin => "in\n");
my $told = mcp('m1', 'run', %RUN)->{result};
like($told->{content}[0]{text}, qr/^in\nx\n/, 'a call over MCP with a key');
is($told->{_meta}{'statespace/replayed'}, undef, '... ran');
my $retold = mcp('m1', 'run', %RUN)->{result};
is_deeply($retold->{content}, $told->{content}, '... and again the same');
ok($retold->{_meta}{'statespace/replayed'}, '... which says so');
is(runs('mcp'), 1, '... without a second run');
my $posted = post('/a', 'm1', command => $RUN{command}, stdin => "in\n");
is($posted->{json}{stdout}, "in\nx\n", 'a POST with the key has it too');
is(replayed($posted), 'true', '... as it was');
$told = mcp('m1', 'run', %RUN, stdin => '')->{result};
ok($told->{isError}, 'another input is an error');
like($told->{content}[0]{text}, qr/used for another request/, '... told');
like(mcp(undef, 'run', page => 'must', command => ['echo', 'x'])->{result}
	{content}[0]{text}, qr/_meta\["statespace\/idempotencyKey"\]/,
	'a page that demands a key says where');
is(mcp(5, 'run', %RUN)->{error}{code}, -32602, 'a number is no key');

# The shell: its records are those of the same directory.
my $EXEC = "$FindBin::Bin/../../build/statespace-exec";
SKIP: {
	skip 'the shell is another account\'s', 4 if $> == 0 || !-x $EXEC;
	my @run = ($EXEC, '-c', $site->scratch . '/statespace.toml', '-C',
		$site->dir, '--once', 's1', 'a', '--', @{ { count('shell', 'x') }
		->{command} });
	for my $i (1, 2) {
		my $pid = open my $from, '-|';
		if ($pid == 0) {
			open STDIN, '<', '/dev/null';
			open STDERR, '>&', \*STDOUT;
			exec @run;
		}
		my $text = join '', <$from>;
		like($text, $i == 1 ? qr/^x\ntold\n\z|^told\nx\n\z/
			: qr/x\n.*told\n.*ran before with this key/s,
			"the shell with a key, $i");
		close $from;
		is($? >> 8, 3, '... and its exit status');
	}
	is(runs('shell'), 1, '... once');
}

# A client that leaves gets its answer when it comes again.
unlink $site->dir . '/out/go';
$child = fork() // die "fork: $!";
if ($child == 0) {
	post('/b', 'k9', @SLOW);
	POSIX::_exit(0);
}
for (my $i = 0; $i < 1200 && runs('slow') < 2; $i++) { sleep 0.05 }
kill 'KILL', $child;
waitpid $child, 0;
sleep 0.3;
open my $go, '>', $site->dir . '/out/go' or die "out/go: $!";
close $go;
my $late = post('/b', 'k9', @SLOW, headers => { Prefer => 'wait=30' });
code_is($late, '200 ok', 'a client that left comes again');
is($late->{json}{stdout}, "slow\n", '... for the answer');
is(runs('slow'), 2, '... of the run that went on');

$server->stop_ok;
done_testing;
