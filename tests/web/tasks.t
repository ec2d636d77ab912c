#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Tasks of MCP (io.modelcontextprotocol/tasks): jobs for clients that declare the
# extension, over HTTP and over lines.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use IPC::Open2 qw(open2);
use JSON::PP qw(decode_json encode_json);
use Statespace::FastCGI qw(request variables talk);
use Statespace::Pool;
use Test::More;
use Time::HiRes qw(sleep);

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my $NAME = 'io.modelcontextprotocol/tasks';
my $page = <<'END';
---
env: [who]
tools:
  - {name: plain, command: [echo, plain, ;]}
  - {name: long, command: [sleep, {name: seconds, type: number}, ;], job: true}
  - {name: say, command: [echo, {name: word}, ;], job: true}
  - {name: fails, command: [sh, -c, 'echo no >&2; exit 2', ;], job: required}
  - {name: missing, command: [/usr/bin/there-is-no-such-program, ;], job: true}
  - name: delete
    command: [echo, deleted, {name: file}, {name: sure, type: boolean}, ;]
    ask:
      - {name: which, message: Which one?, arguments: [file]}
      - {name: really, message: Really?, arguments: [sure]}
    confirm: true
    job: true
  - {name: quick, command: [echo, quick, ;], job: {after: 20}}
  - name: env
    command: [sh, -c, 'cat; echo " $who"', ;]
    env: [who]
    stdin: true
    job: true
---
END
my $site = Statespace::TestSite->new(files => { 'README.md' => $page });
my $config = "[mcp]\nenabled = true\n[state]\ndirectory = \""
    . $site->scratch . "/state\"\n[pool]\nmode = \"static\"\nworkers = 2\n";
my $pool = Statespace::Pool->start(site => $site, config => $config);

sub message
{
	my ($method, $params, $extensions) = @_;
	my %asks = $params->{asks} ? (elicitation => {}) : ();
	my $key = delete $params->{key};

	delete $params->{asks};

	return { jsonrpc => '2.0', id => 1, method => $method, params => {
		%$params, _meta => {
			defined $key ? ('statespace/idempotencyKey' => $key) : (),
			'io.modelcontextprotocol/protocolVersion' => '2026-07-28',
			'io.modelcontextprotocol/clientCapabilities' =>
			    { %asks, extensions => $extensions // { $NAME => {} } } } } };
}

sub mcp
{
	my ($method, $params, %with) = @_;
	my $body = encode_json(message($method, $params, $with{extensions}));
	my $answer = talk($pool->socket, request(variables(
		REQUEST_METHOD => 'POST', SCRIPT_NAME => '/mcp',
		CONTENT_TYPE => 'application/json',
		CONTENT_LENGTH => length $body,
		HTTP_MCP_PROTOCOL_VERSION => '2026-07-28',
		HTTP_MCP_METHOD => $method,
		HTTP_MCP_NAME => $with{header} // $params->{taskId}
		    // $params->{name} // ''), $body));

	return eval { decode_json($answer->{body}) } || {};
}

sub tool { my ($name, $arguments, %with) = @_;
	return mcp('tools/call', { name => $name, arguments => $arguments || {} },
		%with) }

sub settled
{
	my ($id, $get) = @_;
	my $task;

	for (1 .. 400) {
		$task = $get->($id)->{result} // {};
		last unless ($task->{status} // '') eq 'working';
		sleep 0.05;
	}
	return $task;
}

my $over_http = sub { mcp('tasks/get', { taskId => $_[0] }) };
my $plain = tool('plain');
if (($plain->{result}{isError} // 0) && encode_json($plain) =~ /confine/) {
	$pool->stop_ok;
	done_testing;
	exit;
}
is($plain->{result}{resultType}, 'complete', 'a tool without job is no task');
ok(exists mcp('server/discover', {})->{result}{capabilities}{extensions}{$NAME},
	'the extension is offered');

# A key: one job, of which each gets told.
sub keyed { my ($name, $arguments) = @_;
	return mcp('tools/call', { name => $name, arguments => $arguments,
		key => "key of $name" =~ tr/ /-/r }, header => $name)->{result} }
my @keyed = map { keyed('say', { word => 'once' }) } 1, 2;
is($keyed[0]{resultType}, 'task', 'a call with a key is a task, too');
is($keyed[1]{taskId}, $keyed[0]{taskId}, '... and the same one again');
settled($keyed[0]{taskId}, $over_http);
is(keyed('say', { word => 'once' })->{taskId}, $keyed[0]{taskId},
	'... also after its end');
@keyed = map { keyed('quick', {}) } 1, 2;
is($keyed[$_]{content}[0]{text}, "quick\n", 'a quick one is told') for 0, 1;
ok(!$keyed[0]{_meta}{'statespace/replayed'}, '... first as new');
ok($keyed[1]{_meta}{'statespace/replayed'}, '... then as told before');

my $made = tool('say', { word => 'hello' })->{result};
is($made->{resultType}, 'task', 'a job is a task');
like($made->{taskId}, qr/^[0-9a-f]{32}$/, 'with the id of the job');
ok(!exists $made->{result}, 'without its result');
my $task = settled($made->{taskId}, $over_http);
is($task->{status}, 'completed', 'it completes');
is($task->{result}{content}[0]{text}, "hello\n", 'with the result of the call');
is($task->{ttlMs}, 3600000, 'and can be read for an hour');
$task = settled(tool('env', { env => { who => 'you' }, stdin => 'from' })
	->{result}{taskId}, $over_http);
is($task->{result}{content}[0]{text}, "from you\n",
	'variables and standard input reach it');
$task = settled(tool('fails')->{result}{taskId}, $over_http);
ok($task->{status} eq 'completed' && $task->{result}{isError},
	'a tool that fails has completed');
$task = settled(tool('missing')->{result}{taskId}, $over_http);
ok($task->{status} eq 'failed' && $task->{error}{code} == -32603,
	'one that did not run has failed');
is(tool('quick')->{result}{content}[0]{text}, "quick\n",
	'a short run of `after` is no task');

# --------------------------------------------------------- a task that asks --
sub begin_delete
{
	return mcp('tools/call', { name => 'delete', arguments => {},
		asks => 1 })->{result}{taskId} // '';
}
sub answer
{
	my ($id, %responses) = @_;

	return mcp('tasks/update', { taskId => $id, asks => 1,
		inputResponses => \%responses });
}
sub accept_with { return { action => 'accept', content => { @_ } } }
my $true = JSON::PP::true();
my $id = begin_delete();
$task = $over_http->($id)->{result};
is($task->{status}, 'input_required', 'a task asks a person');
is(join(' ', sort keys %{$task->{inputRequests}}), 'really which',
	'all forms at once');
answer($id, which => accept_with(file => 'a.txt'), other => { x => 1 });
is(join(' ', sort keys %{$over_http->($id)->{result}{inputRequests}}), 'really',
	'what was answered is asked no more');
answer($id, really => { action => 'accept', content => 'nonsense' });
is($over_http->($id)->{result}{status}, 'input_required',
	'what is no answer is asked again');
answer($id, really => accept_with(sure => $true));
is(join(' ', keys %{$over_http->($id)->{result}{inputRequests}}), 'confirm',
	'then the command is shown');
ok(!grep({ $_->{line} =~ /statespace-job .*$id/ }
	values %{Statespace::Server::processes()}), 'nothing runs until then');
answer($id, confirm => accept_with(ok => $true));
$task = settled($id, $over_http);
is($task->{result}{content}[0]{text}, "deleted a.txt true\n", 'it runs then');
answer($id, confirm => accept_with(ok => $true));
is($over_http->($id)->{result}{status}, 'completed', 'once');
$id = begin_delete();
answer($id, which => { action => 'decline' });
$task = $over_http->($id)->{result};
ok($task->{status} eq 'completed' && $task->{result}{isError},
	'a person who declines ends it');
$id = begin_delete();
mcp('tasks/cancel', { taskId => $id });
is($over_http->($id)->{result}{status}, 'cancelled', 'it can be cancelled');
answer($id, which => accept_with(file => 'a.txt'));
is($over_http->($id)->{result}{status}, 'cancelled', 'and stays so');

my $long = tool('long', { seconds => 66.125 })->{result}{taskId};
is(mcp('tasks/cancel', { taskId => $long })->{result}{resultType}, 'complete',
	'a task is cancelled');
is(settled($long, $over_http)->{status}, 'cancelled', 'and says so');
is(mcp('tasks/update', { taskId => $long, inputResponses => {} })
	->{result}{resultType}, 'complete', 'answers are acknowledged');
for (qw(get update cancel)) {
	is(mcp("tasks/$_", { taskId => 'x' x 32 })->{error}{code}, -32602,
		"tasks/$_ of no task");
	is(mcp("tasks/$_", { taskId => $long }, header => 'other')
		->{error}{code}, -32020, 'or with another header');
	is(mcp("tasks/$_", { taskId => $long }, extensions => {})
		->{error}{code}, -32021, 'or without the extension');
}
is(mcp("tasks/$_", {})->{error}{code}, -32601, "there is no tasks/$_")
    for qw(list result);
is(tool('say', { word => 'now' }, extensions => {})
	->{result}{content}[0]{text}, "now\n", 'others wait for the end');
my $refused = tool('fails', {}, extensions => {});
is($refused->{error}{code}, -32021, 'what must be a job is refused to them');
ok(exists $refused->{error}{data}{requiredCapabilities}{extensions}{$NAME},
	'and they are told what is missing');
$pool->stop_ok;

# ------------------------------------------------------------------- lines --
my $pid = open2(my $out, my $in, 'sh', '-c', 'exec "$0" "$@" 2>/dev/null',
	Statespace::Server::binary(), 'mcp', '-c', $pool->config_file, $site->dir);
sub line
{
	print {$in} encode_json(message(@_)), "\n";
	$in->flush;
	return decode_json(scalar <$out> // '{}');
}
$made = line('tools/call', { name => 'say', arguments => { word => 'line' } })
    ->{result};
is($made->{resultType}, 'task', 'over lines it is a task, too');
$task = settled($made->{taskId}, sub { line('tasks/get', { taskId => $_[0] }) });
is($task->{result}{content}[0]{text}, "line\n", 'and has its result');
close $in;
waitpid $pid, 0;
done_testing;
