#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Two sites in one pool, served by the same worker: whoever may run any program
# at one of them tries to reach the files, variables, scratch, tokens and
# sessions of the other one.  Each attack first succeeds without a sandbox, or
# at the site that it belongs to.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json encode_json);
use Statespace::Attack;
use Statespace::FastCGI qw(request variables call talk connect_to receive);
use Statespace::Pool;
use Statespace::Server;
use Statespace::TestSite qw(write_file slurp);
use Test::More;
use Time::HiRes qw(sleep time);

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my $page = <<'MD';
---
env: [KEY]
tools:
  - [sh, -c, { name: line, kind: text }, ;]
  - { command: [seq, "1", { regex: '^[0-9]+$' }, ;], lines: 2 }
  - { command: [echo, agreed, ;], confirm: true }
  - { name: nap, command: [sleep, { name: s }, ;] }
---
# Site
MD
my $made = Statespace::TestSite->new(files => {
	'a/README.md' => $page, 'b/README.md' => $page,
	'b/secret.txt' => "PWNED\n", 'b/.dot' => "PWNED\n",
	'b/sub/secret.txt' => "PWNED\n", 'a/own.txt' => "own\n",
	'b/only-b.md' => "# Only b\n" });
my ($A, $B) = map { $made->dir . "/$_" } qw(a b);
symlink "$B/secret.txt", "$A/link.txt" or die "symlink: $!";
symlink $B, "$A/tree" or die "symlink: $!";
symlink '../b/only-b.md', "$A/page.md" or die "symlink: $!";
# What the tools' account could write is no attack on the others' files.
chmod 0777, $B;

sub start
{
	my ($mode, $workers, %more) = @_;

	return Statespace::Pool->start(site => $made, sites => 1, %more,
		config => <<"TOML");
sandbox.mode = "$mode"

[pool]
mode = "static"
workers = $workers
reserve = 0

[mcp]
enabled = true

[site."a.example"]
root = "$A"
[site."b.example"]
root = "$B"
[site."b.example".env]
KEY = "PWNED"
[site."c.example/b"]
root = "${\ $made->out}"
TOML
}

sub post
{
	my ($pool, $host, $object, %more) = @_;
	my $body = encode_json($object);
	my $answer = talk($pool->socket, request(variables(
		REQUEST_METHOD => 'POST', HTTP_HOST => $host,
		CONTENT_TYPE => 'application/json',
		CONTENT_LENGTH => length $body, %more), $body));

	my $said = eval { decode_json($answer->{body}) } || {};

	return { http => $answer->{status}, %$said };
}

sub shell
{
	my ($pool, $host, $line) = @_;

	return post($pool, $host, { command => ['sh', '-c', $line] });
}

sub get
{
	my ($pool, $host, $path, %more) = @_;

	return talk($pool->socket, request(variables(SCRIPT_NAME => $path,
		REQUEST_URI => $path, HTTP_HOST => $host, %more)));
}

# ------------------------------------------- what a tool of A tries with B --
# What must not come: PWNED in its output, or a file in B's root.
my @files = (
	['an absolute path', "cat $B/secret.txt"],
	['a dot entry', "cat $B/.dot"],
	['a listing', "ls $B | grep -q secret && echo PWNED"],
	['a deeper file', "cat $B/sub/secret.txt"],
	['a path that climbs', 'cat ../b/secret.txt'],
	['a link to a file', 'cat link.txt'],
	['a link to a directory', 'cat tree/secret.txt'],
	['cd', "cd $B && cat secret.txt"],
	['the directory of the process', 'cat /proc/self/cwd/../b/secret.txt'],
	['the root of the process', "cat /proc/self/root$B/secret.txt"],
	['a search', "find / -name secret.txt -path '*/b/*' -exec cat {} + "
		. '2>/dev/null'],
	['a copy', "cp $B/secret.txt \${TMPDIR:-/tmp}/x && cat "
		. '${TMPDIR:-/tmp}/x'],
	['a hard link', "ln $B/secret.txt \${TMPDIR:-/tmp}/y 2>/dev/null; "
		. "cat \${TMPDIR:-/tmp}/y 2>/dev/null || cat $B/secret.txt"],
	['a file to write', "echo x > $B/written && echo PWNED"],
	['a directory to make', "mkdir $B/made && echo PWNED"],
);
# By the names of the view; no file of the host has them.
my @inside = (
	['the names of the view', 'cat /sites/*/secret.txt; ls /sites'],
	['beside its own directory', 'cat "$PWD"/../*/secret.txt; ls ..'],
	['the root', 'ls / | grep sites'],
	['the mounts', 'cat /proc/self/mountinfo /proc/mounts | grep b'],
	['other processes', 'cat /proc/1/environ /proc/$PPID/environ; '
		. 'cat /proc/[0-9]*/environ | grep -a PWNED'],
	['its environment', 'env | grep PWNED'],
	['its variable', 'echo $KEY'],
);

sub clean_up { unlink "$B/written"; rmdir "$B/made"; return }

{
	my $pool = start('off', 1);

	for (@files) {
		my ($name, $line) = @$_;
		like(shell($pool, 'a.example', $line)->{stdout} // '',
			qr/PWNED/, "control: $name reaches B without a sandbox");
		clean_up();
	}
	$pool->stop_ok(allow => qr/sandbox/);
}

sub held
{
	my ($pool, $level, $name, $line) = @_;
	my $answer = shell($pool, 'a.example', $line);

	is($answer->{sandbox}{level}, $level, "$level: $name ran") or
	    diag encode_json($answer);
	unlike(($answer->{stdout} // '') . ($answer->{stderr} // ''),
		qr/PWNED/, "$level: ... and did not reach B");
	ok(!-e "$B/written" && !-e "$B/made", "$level: ... nor wrote there");
	clean_up();
	return $answer;
}

for my $level (Statespace::Attack::levels()) {
	my $pool = start($level, 1);

	# The worker has B open, and has just run its tool.
	is(shell($pool, 'b.example', 'cat secret.txt; echo $KEY')->{stdout},
		"PWNED\nPWNED\n", "$level: control: B reads its own");
	is(shell($pool, 'a.example', 'cat own.txt')->{stdout}, "own\n",
		"$level: control: A reads its own");
	held($pool, $level, @$_) for @files, @inside;

	my $there = shell($pool, 'b.example', 'pwd')->{stdout};
	chomp $there;
	held($pool, $level, 'the path at which B lies', "cat $there/secret.txt; "
		. "ls $there; cd $there && cat secret.txt");
	if ($level eq 'strict') {
		like($there, qr{\A/sites/[0-9a-f]{32}\z},
			'strict: a path that cannot be guessed');
		my $said = held($pool, $level, 'stat', "stat $B/secret.txt "
			. "$B/none; stat /sites/b /site");
		unlike($said->{stderr} // '', qr/denied/i,
			'strict: what is there is not told');
	}

	# What B's tool leaves in its scratch.
	my $left = shell($pool, 'b.example', 'cd ${TMPDIR:-/tmp} && echo PWNED '
		. '> left && mkdir deep && echo PWNED > deep/x && '
		. 'ln -s deep z && ls && (trap "" HUP TERM; '
		. 'while :; do echo PWNED > back; sleep 0.05; done) '
		. '> /dev/null 2>&1 &');
	is($left->{returncode}, 0, "$level: control: B writes its scratch");
	my $found = shell($pool, 'a.example',
		'cd ${TMPDIR:-/tmp} && ls -A; cat left deep/x back 2>/dev/null; '
		. 'sleep 0.3; ls -A');
	is($found->{stdout}, '', "$level: A finds nothing of it");

	# Pages, by every way to name them.
	is(get($pool, 'b.example', '/secret.txt')->{body}, "PWNED\n",
		"$level: control: B's file is B's");
	for my $path ('/link.txt', '/tree/secret.txt', '/tree/', '/page',
		'/page.md', '/../b/secret.txt', '/x/../../b/secret.txt',
		'/b.example/secret.txt', "$B/secret.txt", "/$B/secret.txt",
		'/%2e%2e/b/secret.txt', '/sites/') {
		my $answer = get($pool, 'a.example', $path);
		unlike($answer->{body}, qr/PWNED|Only b/,
			"$level: A does not serve $path");
		cmp_ok($answer->{status}, '>=', 400, '... but refuses it');
	}
	unlike(get($pool, 'a.example', $_)->{body}, qr/only-b/i,
		"$level: $_ of A names no page of B")
	    for '/AGENTS.md', '/llms.txt', '/';
	$pool->stop_ok;
}

# Without Landlock one view would show all of them.
{
	my $without = "use lib '$FindBin::Bin/../lib'; use Statespace::Attack; "
		. 'Statespace::Attack::without_landlock(); exec @ARGV';
	my $pool = start('auto', 1, under => [$^X, '-e', $without]);

	like(shell($pool, 'a.example', 'echo ran')->{error}{code} // 'ran',
		qr/sandbox_unavailable/, 'without Landlock no tool runs');
	like(get($pool, 'a.example', '/')->{body}, qr/# Site/,
		'... and pages are served');
	$pool->stop_ok(allow => qr/confine|sandbox/);
}

# ------------------------------------------------------- names of the sites --
my $pool = start('auto', 3);
my $of_b = qr/PWNED/;
like(get($pool, 'b.example', '/secret.txt')->{body}, $of_b, 'control: B');
for (['', {}], ['b.example@a.example', {}], ['a.example:80@b.example', {}],
	['a.example,b.example', {}], ['a.example b.example', {}],
	['a.example/b.example', {}], ['b.example#', {}], ['b.example..', {}],
	['.b.example', {}], ['B.EXAMPLE:99999999', {}],
	["b.example\tx", {}], ['[b.example]', {}], ['b%2eexample', {}],
	['x.b.example', {}], ['b.example:80:80', {}],
	# The front chose the server block of one, and Host names the other.
	['b.example', { STATESPACE_HOST => 'a.example' }],
	['a.example', { STATESPACE_HOST => 'b.example' }],
	['b.example', { SERVER_NAME => 'a.example', STATESPACE_HOST => 'c.example' }]) {
	my ($host, $more) = @$_;
	my $shown = join ' ', $host =~ s/\t/\\t/r, %$more;
	my $answer = get($pool, $host, '/secret.txt', %$more);

	unlike($answer->{body}, $of_b, "Host \"$shown\" does not lead to B");
	cmp_ok($answer->{status}, '>=', 400, '... but is refused');
}
my @twice = %{ variables(SCRIPT_NAME => '/secret.txt', HTTP_HOST => 'a.example') };
my $twice = talk($pool->socket, request([@twice, HTTP_HOST => 'b.example']));
is($twice->{status}, 400, 'two Hosts are refused');
is(get($pool, 'c.example', '/b/secret.md')->{status}, 200,
	'control: a site below a path');
for my $path ('/bb/secret.md', '/b/../b/secret.md', '/x/../b/secret.md',
	'/b/../../b/secret.txt', '/./b/secret.md', '//b/secret.md',
	'/b//secret.md', '/B/secret.md', '/b/..', '/b%2fsecret.md',
	'/%62/secret.md') {
	my $answer = get($pool, 'c.example', $path);
	cmp_ok($answer->{status}, '>=', 400, "c.example$path is refused");
	unlike($answer->{body}, qr/TOPSECRET|PWNED/, '... and shows nothing');
}

# ------------------------------------------------------- tokens and cursors --
my $ask = { command => ['echo', 'agreed'] };
my $token = post($pool, 'b.example', $ask)->{error}{confirm};
ok($token, 'B gives a token for its question');
is(post($pool, 'a.example', { %$ask, confirm => $token })->{http}, 428,
	'A does not take it');
is(post($pool, 'b.example', { %$ask, confirm => $token })->{stdout},
	"agreed\n", 'control: B does');
my $count = { command => ['seq', '1', '9'] };
my $part = post($pool, 'b.example', $count);
is($part->{stdout}, "1\n2\n", 'B gives a part and a cursor');
my $at_a = post($pool, 'a.example', { %$count, next => $part->{next} });
is($at_a->{http}, 410, 'A does not take it');
unlike($at_a->{stdout} // '', qr/3/, '... nor shows what was kept');
is(post($pool, 'b.example', { %$count, next => $part->{next} })->{stdout},
	"3\n4\n", 'control: B does');

# ------------------------------------------------------------ MCP sessions --
sub mcp
{
	my ($host, $message, %more) = @_;
	my $body = encode_json($message);

	return request(variables(REQUEST_METHOD => 'POST',
		SCRIPT_NAME => '/mcp', REQUEST_URI => '/mcp',
		HTTP_HOST => $host, CONTENT_TYPE => 'application/json',
		HTTP_ACCEPT => 'application/json, text/event-stream',
		HTTP_MCP_PROTOCOL_VERSION => '2025-06-18',
		CONTENT_LENGTH => length $body, %more), $body);
}

my $first = talk($pool->socket, mcp('b.example', { jsonrpc => '2.0', id => 1,
	method => 'initialize', params => { protocolVersion => '2025-06-18',
	capabilities => {}, clientInfo => { name => 't', version => '1' } } }));
my %session = (HTTP_MCP_SESSION_ID =>
	$first->{headers}{'mcp-session-id'} // 'none');
isnt($session{HTTP_MCP_SESSION_ID}, 'none', 'B begins a session');

sub nap
{
	my ($id, $seconds) = @_;
	my $socket = connect_to($pool->socket);

	syswrite $socket, mcp('b.example', { jsonrpc => '2.0', id => $id,
		method => 'tools/call', params => { name => 'nap',
		arguments => { s => $seconds } } }, %session);
	$pool->until_true(sub {
		Statespace::Server::process_lives("sleep $seconds") })
	    or diag 'the tool was not seen';
	return $socket;
}

sub cancel
{
	my ($host, $id) = @_;

	return talk($pool->socket, mcp($host, { jsonrpc => '2.0',
		method => 'notifications/cancelled',
		params => { requestId => $id } }, %session))->{status};
}

my $sleeper = nap(7, '3.375');
is(cancel('a.example', 7), 202, 'A takes a cancellation with the session of B');
my $end = receive($sleeper);
like($end->{body}, qr/"isError":false|"exit(?:Code|code)":0|"returncode":0/,
	'... which does not end the run at B')
    or diag $end->{body};
$sleeper = nap(8, '19.625');
my $began = time;
is(cancel('b.example', 8), 202, 'control: B takes it');
receive($sleeper);
cmp_ok(time - $began, '<', 15, '... and ends the run');
$pool->stop_ok;
done_testing;
