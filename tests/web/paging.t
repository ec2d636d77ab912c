#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Tools whose output comes in parts, through `statespace serve` and a real nginx:
# every worker has the next part, also when the one that ran the tool is dead;
# nothing runs twice that must not; a cursor that is not ours is refused.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP ();
use MIME::Base64;
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep time);
use Statespace::Server;
use Statespace::TestSite qw(slurp);

plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');

my $JSON = JSON::PP->new->utf8;
# Each run leaves a line in w/runs.
my $COUNTED = 'echo run >> w/runs; seq -f "line %g" "$1"';
my $PAGE = <<"END";
---
env: [WHO]
tools:
  - { name: kept, write: [w], lines: 100,
      command: [sh, -c, '$COUNTED', sh, {name: n, regex: '^[0-9]+\$'}, ;] }
  - { name: asks, write: [w], lines: 100, confirm: true,
      command: [sh, -c, 'true; $COUNTED', sh, {name: n, regex: '^[0-9]+\$'}, ;] }
  - { name: reads, lines: 2, command: [seq, {name: n, regex: '^[0-9]+\$'}, ;] }
  - { name: bytes, bytes: 16, command: [printf, '%b', {}, ;] }
  - { name: both, lines: 2, bytes: 20, stdin: true, command: [cat, ;] }
  - { name: fails, lines: 2, command: [sh, -c, 'seq 5; echo why >&2; exit 4', ;] }
  - { name: floods, lines: 2, command: [seq, '3000000', ;] }
  - { name: slow, lines: 2, timeout: 1, command: [sh, -c, 'seq 5; sleep 30', ;] }
  - { name: table, lines: 2, output: text/csv, command: [cat, rows.csv, ;] }
  - { name: clock, lines: 1, command: [sh, -c, 'date +%N; seq 5', ;] }
  - { name: moved, lines: 1, command: [echo, {name: next}, ;] }
  - { name: whole, command: [seq, -s, ' ', {}, ;] }
---
END
my %FILES = ('README.md' => "# Site\n", 'a.md' => $PAGE, 'b.md' => $PAGE,
	'rows.csv' => "a,b\n1,2\n3,4\n", 'w/runs' => '');
my $SEQ = join '', map { "line $_\n" } 1 .. 250;

sub start
{
	my ($workers, $pool) = @_;
	my $site = Statespace::TestSite->new(files => \%FILES);

	chmod 0777, $site->dir . '/w';
	chmod 0666, $site->dir . '/w/runs';
	return Statespace::Server->start(site => $site, config =>
	    "[grant]\nwrite = [\"w\"]\n[pool]\nmode = \"static\"\n"
	    . "workers = $workers\nreserve = 0\n$pool");
}

my $server = start(3, '');

sub runs { return scalar(() = slurp($server->{dir} . '/w/runs') =~ /run/g) }

# The status and the answer.
sub post
{
	my ($path, %body) = @_;
	my $answer = $server->request('POST', $path,
		headers => { 'Content-Type' => 'application/json' },
		body => $JSON->encode(\%body));

	return ($answer->{status}, $JSON->decode($answer->{body}));
}

# A tool of page a by its name.
sub call
{
	my ($name, $arguments, %more) = @_;
	my ($status, $answer) = post('/a', tool_call => { name => $name,
		arguments => $arguments || {} }, %more);

	return wantarray ? ($status, $answer) : $answer;
}

sub refused
{
	my ($what, $status, $answer) = @_;

	is("$status $answer->{error}{code}", '410 next_gone', $what);
	like($answer->{error}{hint}, qr/without "next"/, '... which is told');
	is($answer->{stdout}, '', '... and nothing is shown');
	return;
}

# "" for a process that has ended.
sub name_of
{
	open my $file, '<', "/proc/$_[0]/comm" or return '';
	my $name = <$file> // '';

	chomp $name;
	return $name;
}

sub workers
{
	my $all = Statespace::Server::processes();

	return grep { name_of($_) eq 'ss-worker'
		&& $all->{$_}{session} == $all->{ $server->{pid} }{session} }
	    keys %$all;
}

# Three that are none of these; it takes a moment until they are there.
sub other_workers
{
	my %old = map { $_ => 1 } @_;
	my $until = time + 20;
	my @new;

	sleep 0.05 until (@new = grep { !$old{$_} } workers()) == 3
	    || time > $until;
	return @new;
}

# -------------------------------------------------------- what was kept --

my ($status, $first) = call('kept', { n => '250' });
is($status, 200, 'the first part');
is($first->{stdout}, join('', map { "line $_\n" } 1 .. 100), 'has 100 lines');
is_deeply($first->{part}, { first_line => 1, last_line => 100, lines => 250,
	bytes => length $SEQ }, 'and tells how many there are');
ok($first->{truncated} && $first->{next}, 'that more follows, and how');
is(runs(), 1, 'the tool ran');

my @before = other_workers();
is(scalar @before, 3, 'three workers');
kill 'KILL', @before;
is(scalar(() = other_workers(@before)), 3, 'are killed, and others there');
my $second = call('kept', { n => '250' }, next => $first->{next});
is($second->{stdout}, join('', map { "line $_\n" } 101 .. 200),
	'another worker has the next part, though the first one is dead');
is($second->{part}{first_line} . ' ' . $second->{part}{last_line}, '101 200',
	'and tells which');
my $third = call('kept', { n => '250', next => $second->{next} });
is($third->{stdout}, join('', map { "line $_\n" } 201 .. 250),
	'the last part, with "next" as an argument');
ok(!exists $third->{next} && !exists $third->{truncated},
	'nothing follows it');
is($third->{part}{last_line}, 250, 'it is still a part');
is(call('kept', { n => '250' }, next => $first->{next})->{stdout},
	$second->{stdout}, 'a cursor is good for more than once');
is(runs(), 1, 'the tool ran once');
is((post('/a', command => ['sh', '-c', $COUNTED, 'sh', '250'],
	next => $first->{next}))[1]{stdout}, $second->{stdout},
	'the same command by its words is the same call');
is(runs(), 1, 'which did not run either');

# Many clients at once, each with its own output.
my @children;
for my $n (1 .. 12) {
	my $pid = fork() // die "fork: $!";

	if ($pid) {
		push @children, $pid;
		next;
	}
	my $all = '';
	my $next;
	do {
		my $answer = call('kept', { n => '' . (300 + $n) },
			$next ? (next => $next) : ());

		$all .= $answer->{stdout};
		$next = $answer->{next};
	} while ($next);
	POSIX::_exit($all eq join('', map { "line $_\n" } 1 .. 300 + $n)
		? 0 : 1);
}
is(scalar(grep { waitpid($_, 0); $? != 0 } @children), 0,
	'twelve clients get twelve outputs');
is(runs(), 13, 'each of one run');

# ----------------------------------------------------- cursors that are none --

my $next = $first->{next};
my $altered = $next;
substr $altered, 60, 1, substr($altered, 60, 1) eq 'A' ? 'B' : 'A';
refused('an altered cursor', call('kept', { n => '250' }, next => $altered));
refused('a short one', call('kept', { n => '250' }, next => 'AAAA'));
refused('an empty one', call('kept', { n => '250' }, next => ''));
refused('a long one', call('kept', { n => '250' }, next => 'A' x 100000));
refused('one of zeroes', call('kept', { n => '250' },
	next => encode_base64("\0" x 120, '')));
refused('one of another command', call('kept', { n => '251' }, next => $next));
refused('one of another tool', call('asks', { n => '250' }, next => $next));
refused('one of another page', post('/b', tool_call => { name => 'kept',
	arguments => { n => '250' } }, next => $next));
refused('one with a variable more', call('kept', { n => '250' },
	env => { WHO => 'x' }, next => $next));
is_deeply([(call('kept', { n => '250' }, next => 7))[0],
	(call('kept', { n => '250', next => ['x'] }))[0]], [400, 400],
	'a cursor is text');
($status, my $wrong) = call('whole', { arg1 => '3' }, next => $next);
is($status, 400, 'a tool without parts takes none');
like($wrong->{error}{message}, qr/comes whole/, 'and says why');
is(call('moved', { arg1 => 'x' })->{stdout}, "x\n",
	'an argument that is called next has another name');
is(runs(), 13, 'nothing of this ran');

# --------------------------------------------------------------- limits --

my $answer = call('reads', { n => '2' });
ok($answer->{stdout} eq "1\n2\n" && !exists $answer->{part}
	&& !exists $answer->{truncated}, 'as many lines as a part has are all');
$answer = call('reads', { n => '3' });
ok($answer->{stdout} eq "1\n2\n" && $answer->{next}, 'one more is cut');
$answer = call('bytes', { arg1 => '0123456789abcde\n' });
ok(length $answer->{stdout} == 16 && !exists $answer->{part},
	'as many bytes are all');
$answer = call('bytes', { arg1 => '0123456789abcdef\n' });
is($answer->{stdout}, '0123456789abcdef', 'a longer line is cut');
is($answer->{part}{lines}, 1, 'and is still one');
$answer = call('bytes', { arg1 => '0123456789abcdef\n' },
	next => $answer->{next});
is($answer->{stdout}, "\n", 'its rest comes next');
is($answer->{part}{first_line}, 1, 'and is the same line');
is(call('bytes', { arg1 => '0123456789abcde\xc3\xbc\n' })->{stdout},
	'0123456789abcde', 'never in a character');
$answer = call('both', {}, stdin => "a\nb\nc\n" . ('x' x 30) . "\n");
is($answer->{stdout}, "a\nb\n", 'lines first');
$answer = call('both', {}, stdin => "a\nb\nc\n" . ('x' x 30) . "\n",
	next => $answer->{next});
is($answer->{stdout}, "c\n", 'then bytes');
refused('with another standard input', call('both', {}, stdin => "a\nb\nc\nd\n",
	next => $answer->{next}));

# ------------------------------------------------------ how a tool ended --

$answer = call('fails');
is("$answer->{stdout}|$answer->{stderr}|$answer->{returncode}",
	"1\n2\n|why\n|4", 'a tool that fails has parts');
$answer = call('fails', {}, next => $answer->{next});
is("$answer->{stdout}|$answer->{stderr}|$answer->{returncode}",
	"3\n4\n||4", 'its error is told once, its exit code with each');
($status, $answer) = call('floods');
is("$status $answer->{error}{code}", '413 output_too_large',
	'what a tool may write is bounded as ever');
is($answer->{stdout}, "1\n2\n", 'the first part of it is shown');
is(call('floods', {}, next => $answer->{next})->{stdout}, "3\n4\n",
	'and the next one');
($status, $answer) = call('slow');
is("$status $answer->{stdout}", "408 1\n2\n", 'a tool that took too long');
is(call('slow', {}, next => $answer->{next})->{stdout}, "3\n4\n",
	'is not waited for again');

my $raw = sub {
	$server->request('POST', '/a', headers => {
		'Content-Type' => 'application/json', Accept => 'text/csv' },
		body => $JSON->encode({ tool_call => { name => 'table' } }));
};
is($raw->()->{headers}{'content-type'}, 'application/json',
	'a part comes as JSON, which can tell that it is one');

# --------------------------------------------------------------- confirm --

($status, $answer) = call('asks', { n => '150' });
is($status, 428, 'a tool that asks a person');
my $before = runs();
$answer = call('asks', { n => '150' }, confirm => $answer->{error}{confirm});
is($answer->{part}{last_line}, 100, 'who agrees gets the first part');
is(call('asks', { n => '150' }, next => $answer->{next})->{part}{last_line}, 150,
	'the next one needs no agreement');
is(runs(), $before + 1, 'it ran once');

# ------------------------------------------------------------------ MCP --

my $id = 0;

sub mcp
{
	my ($method, $params) = @_;
	my $answer = $server->request('POST', '/mcp', headers => {
		'Content-Type' => 'application/json',
		Accept => 'application/json, text/event-stream' },
		body => $JSON->encode({ jsonrpc => '2.0', id => ++$id,
			method => $method, params => $params || {} }));

	return $JSON->decode($answer->{body})->{result};
}

my %tool = map { $_->{name} => $_ } @{ mcp('tools/list')->{tools} };
my ($named) = grep { /kept$/ } sort keys %tool;
is($tool{$named}{inputSchema}{properties}{next}{type}, 'string',
	'MCP: a tool with parts takes "next"');
ok(!grep({ $_ eq 'next' } @{ $tool{$named}{inputSchema}{required} }),
	'... and does not need it');
ok(!exists $tool{ (grep { /whole$/ } keys %tool)[0] }{inputSchema}{properties}
	{next}, '... and no other does');
like($server->request('GET', '/AGENTS.md')->{body},
	qr/^- An answer with `next` is a part/m, 'AGENTS.md tells agents of it');
$before = runs();
$first = mcp('tools/call', { name => $named, arguments => { n => '250' } });
is($first->{content}[0]{text}, join('', map { "line $_\n" } 1 .. 100),
	'the first part');
ok($first->{_meta}{"statespace/truncated"}, 'is marked');
my ($told) = $first->{content}[-1]{text} =~
    /^\[lines 1 to 100 of 250; .* "next": "([^"]+)"\]$/;
is($told, $first->{_meta}{"statespace/next"}, 'and tells the cursor as text, too');
$second = mcp('tools/call', { name => $named, arguments => { n => '250',
	next => $told } });
is($second->{content}[0]{text}, join('', map { "line $_\n" } 101 .. 200),
	'the next part');
$third = mcp('tools/call', { name => $named, arguments => { n => '251',
	next => $told } });
ok($third->{isError} && $third->{content}[0]{text} =~ /of another request/,
	'a cursor of another call is a tool error');
is(runs(), $before + 1, 'it ran once');
is(call('kept', { n => '250' },
	next => $told)->{stdout}, $second->{content}[0]{text},
	'a POST takes the cursor of MCP');
$server->stop_ok;

# ------------------------------------------------------- little is kept --

# A ring of 64 KiB for the one worker: an output of 40 KB lives until the next.
$server = start(1, "kept_bytes = 65536\n");
$before = runs();
$first = call('kept', { n => '4000' });
is(call('kept', { n => '4000' }, next => $first->{next})->{part}{first_line}, 101,
	'it is kept');
for (1 .. 12) {
	call('kept', { n => '400' . $_ % 10 });
}
refused('what was overwritten', call('kept', { n => '4000' },
	next => $first->{next}));
is(runs(), $before + 13, 'is not made again by a tool that writes');
($status, $answer) = call('kept', { n => '9000' });
ok($answer->{truncated} && !exists $answer->{next},
	'what is too large to be kept has no cursor');
$server->stop_ok;

# --------------------------------------------------------- nothing is kept --

$server = start(1, "kept_bytes = 0\n");
$answer = call('reads', { n => '5' });
is(call('reads', { n => '5' }, next => $answer->{next})->{stdout}, "3\n4\n",
	'a tool that only reads runs again');
$answer = call('clock');
refused('where it writes something else', call('clock', {},
	next => $answer->{next}));
$answer = call('kept', { n => '250' });
ok($answer->{truncated} && !exists $answer->{next},
	'one that writes has no cursor');
($status, $answer) = call('slow');
($status, $answer) = call('slow', {}, next => $answer->{next});
is("$status $answer->{stdout}", "408 3\n4\n",
	'one that takes too long does so again');
$server->stop_ok;

done_testing;
