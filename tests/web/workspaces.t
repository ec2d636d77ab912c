#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Pages with `workspace: overlay` through `statespace serve` and a real nginx:
# what a tool writes is in a session and not in the site, until it is committed.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP ();
use Test::More;
use Statespace::FastCGI ();
use Statespace::Pool;
use Statespace::Server;
use Statespace::TestSite qw(slurp);

plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');

my $JSON = JSON::PP->new->utf8;
my $PAGE = <<'END';
---
workspace: overlay
tools:
  - [sh, -c, {}]
  - [cat, {}]
---
# Work
END

my $site = Statespace::TestSite->new(files => {
	'README.md' => $PAGE,
	'plain.md' => "---\ntools: [[echo]]\n---\n",
	'small.md' => "---\nworkspace: { backend: overlay, folder: notes, "
	    . "max_bytes: 65536 }\ntools: [[sh, -c, {}]]\n---\n",
	'agentfs.md' => $PAGE =~ s/overlay/agentfs/r,
	'notes/a.txt' => "one\n", 'notes/b.txt' => "gone\n",
	'secret/key.txt' => "hidden\n", '.env' => "SECRET\n",
});
# The account of the tools owns the site.
if ($> == 0) {
	system('chown', '-R', '65534:65534', $site->dir) == 0 or die 'chown';
}
my $server = Statespace::Server->start(site => $site,
	config => "[grant]\nworkspace = [\".\"]\n[workspace]\nmax = 6\n[http]\nhidden = "
	    . "[\"/secret/**\"]\n", options => ['--workers', 2]);

sub ask
{
	my ($method, $path, $body) = @_;
	my $answer = $server->request($method, $path, defined $body ? (
		headers => { 'Content-Type' => 'application/json' },
		body => $JSON->encode($body)) : ());
	my $json = eval { $JSON->decode($answer->{body}) };

	return ($answer->{status}, $json // $answer->{body});
}

sub tool
{
	my ($script, $workspace, $page) = @_;

	return ask('POST', $page // '/', { command => ['sh', '-c', $script],
		defined $workspace ? (workspace => $workspace) : () });
}

sub file { return slurp($site->dir . "/$_[0]") }

my ($status, $answer) = tool('echo two >>notes/a.txt; rm notes/b.txt; '
    . 'echo n >notes/new.txt; cat notes/a.txt');
plan skip_all => "this machine has no workspaces: $answer->{error}{message}"
    if ref $answer && ($answer->{error}{code} // '') eq 'sandbox_unavailable';
is("$status $answer->{stdout}", "200 one\ntwo\n", 'a tool sees what it wrote')
    or diag($JSON->encode($answer), $server->log);
is(join(' ', map { "$_->{op}$_->{path}" } @{ $answer->{workspace}{diff}{changes} }),
	'Mnotes/a.txt Dnotes/b.txt Anotes/new.txt', 'the answer tells what changed');
my $backend = $answer->{workspace}{backend};
like($backend, qr/^(?:overlay|copy)$/, 'and in what');
is(file('notes/a.txt') . file('notes/b.txt'), "one\ngone\n",
	'the site is as before');
($status, $answer) = tool('exit 3', { commit => JSON::PP::true });
ok(!$answer->{workspace}{committed}, 'a tool that fails commits nothing');
($status, $answer) = tool('echo x >notes/c.txt', { commit => JSON::PP::true });
ok($answer->{workspace}{committed} && file('notes/c.txt') eq "x\n",
	'one that does not, does') or diag $JSON->encode($answer);
($status, $answer) = tool('echo >>README.md', { commit => JSON::PP::true });
ok(!$answer->{workspace}{committed} && file('README.md') eq $PAGE,
	'but no page: that would grant tools');
is($answer->{workspace}{error}{code}, 'not_allowed', 'and says so');
($status, $answer) = tool('cat .env; ls -a');
unlike($answer->{stdout}, qr/SECRET/, 'dot entries stay hidden');

# Sessions.
($status, $answer) = ask('POST', '/__workspaces/', { page => '/' });
is($status, 201, 'a session is made') or diag $JSON->encode($answer);
my $id = $answer->{session};
like($id, qr/^[0-9a-f]{32}$/, 'its id');
($status, $answer) = tool('echo kept >notes/kept.txt', { session => $id });
is($answer->{workspace}{session}, $id, 'a tool runs in it');
($status, $answer) = tool('cat notes/kept.txt', { session => $id });
is($answer->{stdout}, "kept\n", 'another one finds what that wrote');
($status, $answer) = tool('ls notes');
unlike($answer->{stdout}, qr/kept/, 'a call of its own does not');
($status, $answer) = ask('GET', "/__workspaces/$id/diff");
is("$answer->{count} $answer->{changes}[0]{path}", '1 notes/kept.txt', 'its diff');
($status, $answer) = ask('GET', "/__workspaces/$id/diff?format=patch");
like($answer, qr{^\+\+\+ b/notes/kept.txt\n\@\@.*\n\+kept$}m, 'as a patch');
($status, $answer) = ask('GET', "/__workspaces/$id/files/notes/kept.txt");
is("$status $answer", "200 kept\n", 'one of its files');
($status, $answer) = ask('GET', "/__workspaces/$id");
is(join(' ', map { $_->{name} } @{ $answer->{entries} }),
	'README.md agentfs.md notes plain.md small.md',
	'its files, without what no reader may fetch');
($status) = ask('GET', "/__workspaces/$id/files/secret/key.txt");
is($status, 404, 'what no reader may fetch is not there');
($status) = ask('GET', "/__workspaces/$id/files/.env");
is($status, 404, 'nor is a dot entry');
my @unknown = map { [ask('GET', "/__workspaces/$_/diff")] }
    '0' x 32, 'x', substr($id, 1);
is("$_->[0] $_->[1]{error}{code}", '404 not_found', 'no such session')
    for @unknown;
like($unknown[0][1]{error}{hint}, qr{POST /__workspaces/},
	'... whose hint says how to create one');
($status, $answer) = tool('echo x', { session => '0' x 32 });
like($answer->{error}{next}{text}, qr{without a session.*POST /__workspaces/},
	'a tool in no such session: so does its next step');
is_deeply($answer->{error}{next}{request}, { command => ['sh', '-c', 'echo x'] },
	'... with a request that runs without one');
is($unknown[0][1]{error}{message}, $unknown[1][1]{error}{message},
	'... with one and the same error');
($status, $answer) = ask('GET', '/__workspaces/');
isnt($status, 200, 'without a user there is no list');
($status, $answer) = tool('true', { session => $id }, '/small');
is($status, 404, "another page's session is unknown");
($status, $answer) = ask('POST', "/__workspaces/$id/commit");
is("$status " . file('notes/kept.txt'), "200 kept\n", 'it is committed')
    or diag $JSON->encode($answer);
($status) = ask('DELETE', "/__workspaces/$id");
is($status, 200, 'it is discarded');
($status) = tool('true', { session => $id });
is($status, 404, 'and is gone');

# MCP: the same by _meta.
my $rpc = sub {
	my ($method, %params) = @_;
	my $answer = $server->request('POST', '/mcp', headers => {
		'Content-Type' => 'application/json',
		Accept => 'application/json, text/event-stream' },
		body => $JSON->encode({ jsonrpc => '2.0', id => 1,
			method => $method, params => \%params }));
	return $JSON->decode($answer->{body});
};
my ($sh) = grep { $_->{name} =~ /^sh/ && $_->{name} !~ /small/ }
    @{ $rpc->('tools/list')->{result}{tools} };
ok(!$sh->{annotations}{readOnlyHint}, 'a tool that changes a copy is not read-only');
like($server->request('GET', '/AGENTS.md')->{body},
	qr/`README\.md`\n\nTools of this page change a copy.*\n\n- \*\*sh\*\*/,
	'AGENTS.md tells it');
like($server->request('GET', '/', headers => { Accept => 'text/html' })->{body},
	qr/<li>writes a copy of this site/, '... and the browser');
my ($arg) = @{ $sh->{inputSchema}{required} };
my $call = sub {
	return $rpc->('tools/call', name => $sh->{name}, arguments => {
		$arg => 'echo m >>notes/m; cat notes/m' },
		_meta => { 'statespace/workspace' => $_[0] });
};
$answer = $call->({});
is($answer->{result}{_meta}{'statespace/workspace'}{diff}{changes}[0]{path},
	'notes/m', 'MCP tells what changed') or diag $JSON->encode([$answer, $sh]);
$id = (ask('POST', '/__workspaces/', { page => '/' }))[1]{session};
$call->({ session => $id });
like($JSON->encode($call->({ session => $id })), qr/m\\nm/, 'it has sessions');
is($call->({ session => 5 })->{error}{code}, -32602, 'a number is no session');

# MCP: sessions by tools.
my %listed = map { $_->{name} => $_ }
    @{ $rpc->('tools/list')->{result}{tools} };
my @own = map { "workspace_$_" } qw(create diff commit discard);
is_deeply([map { $listed{$_}{annotations} ? join('', map { $_ ? 1 : 0 }
		@{ $listed{$_}{annotations} }{qw(readOnlyHint destructiveHint)})
		: 'none' } @own], [qw(00 10 01 01)],
	'the tools of sessions say what they do');
is(join(' ', grep { !$listed{$_}{title}
		|| $listed{$_}{inputSchema}{additionalProperties} } @own), '',
	'each has a title and a closed schema');
my $own = sub {
	my ($name, %arguments) = @_;
	my $r = $rpc->('tools/call', name => "workspace_$name",
		arguments => \%arguments);

	return $r->{result}{structuredContent}
	    // $r->{result}{content}[0]{text} // $JSON->encode($r);
};
my $session = $own->('create', page => '/');
like($session->{session} // $JSON->encode($session), qr/^[0-9a-f]{32}$/,
	'workspace_create') or diag $server->log;
$id = $session->{session};
$call->({ session => $id });
$answer = $own->('diff', session => $id);
is("$answer->{count} $answer->{changes}[0]{path}", '1 notes/m', 'workspace_diff');
like($own->('diff', session => $id, format => 'patch'),
	qr{^\+\+\+ b/notes/m$}m, '... as a patch');
is(scalar @{ $own->('diff', session => $id, limit => 1)->{changes} }, 1,
	'... with a limit');
like($own->('diff', session => $id, after => 'x'), qr/no cursor/,
	'... and a cursor');
like($own->('commit', session => $id, digest => '0' x 64), qr/changes are not those/,
	'workspace_commit takes the digest that was looked at');
ok(!-e $site->dir . '/notes/m', '... and then commits nothing');
$own->('commit', session => $id, digest => $answer->{digest});
is(file('notes/m'), "m\n", '... which is this one');
is($own->('discard', session => $id)->{discarded}, JSON::PP::true,
	'workspace_discard');
like($own->('diff', session => $id), qr/no such workspace session/,
	'then it is gone');
like($own->('create', page => '/plain'), qr/no tool of this page runs in a/,
	'a page without a workspace has no sessions');
like($own->('diff', sesion => $id), qr/"sesion" is no argument/,
	'a misspelt argument');
like($own->('diff'), qr/"session" is missing/, 'none at all');
like($own->('diff', session => $id, limit => -1), qr/"limit" must be/,
	'a limit below 0');
like($own->('commit', session => $id, force => 'yes'),
	qr/"force" must be true or false/, 'a word for force');
unlink $site->dir . '/notes/m';

# A folder, and its limit.
SKIP: {
skip 'a folder needs the level strict', 3 if $backend ne 'overlay';
($status, $answer) = tool('echo y >notes/y; echo z >z; ls notes', undef, '/small');
is(join(' ', map { $_->{path} } @{ $answer->{workspace}{diff}{changes} }), 'y',
	'a workspace of a folder: the rest cannot be written');
($status, $answer) = tool('head -c 100000 /dev/zero >notes/big',
	{ commit => JSON::PP::true }, '/small');
is("$status $answer->{error}{code}", '413 body_too_large',
	'what is too large is refused');
ok(!-e $site->dir . '/notes/big', 'and nothing of it kept');
}

# A session that is a file of AgentFS.
SKIP: {
	my $helper = ($ENV{BUILD} // "$FindBin::Bin/../../build")
	    . '/libexec/statespace-agentfs';

	skip 'statespace-agentfs is not built', 5 unless -x $helper;
	skip 'AgentFS needs the level strict', 5 if $backend ne 'overlay';
	($status, $answer) = ask('POST', '/__workspaces/', { page => '/agentfs' });
	is("$status " . ($answer->{backend} // ''), '201 agentfs', 'AgentFS')
	    or diag($JSON->encode($answer), $server->log);
	$id = $answer->{session};
	tool('echo kept >as.txt; mkdir notes/deep', { session => $id },
		'/agentfs');
	($status, $answer) = tool('cat as.txt; rm as.txt; echo 2 >notes/deep/two',
		{ session => $id }, '/agentfs');
	is($answer->{stdout} // $JSON->encode($answer), "kept\n",
		'a second call has what the first one wrote')
	    or diag $server->log;
	($status, $answer) = ask('GET', "/__workspaces/$id/diff");
	is(join(' ', map { $_->{path} } @{ $answer->{changes} }), 'notes/deep notes/deep/two',
		'and the diff what is left of both');
	($status, $answer) = ask('POST', "/__workspaces/$id/commit");
	is("$status " . file('notes/deep/two'), "200 2\n", 'it is committed')
	    or diag $JSON->encode($answer);
	($status, $answer) = tool('ls notes/deep', { session => $id }, '/agentfs');
	is($answer->{stdout}, "two\n", 'and goes on from there');
}

# Requests that are wrong.
($status, $answer) = ask('POST', '/plain', { command => ['echo'],
	workspace => {} });
is("$status $answer->{error}{code}", '400 bad_request',
	'a page without a workspace takes none');
($status, $answer) = tool('true', { comit => JSON::PP::true });
is("$status $answer->{error}{code}", '400 bad_request', 'a misspelt member');
($status) = ask('PUT', '/__workspaces/');
is($status, 405, 'another method');

# As many sessions as the operator allows, and not one more.
my @made;
for (1 .. 7) {
	($status, $answer) = ask('POST', '/__workspaces/', { page => '/' });
	last if $status != 201;
	push @made, $answer->{session};
}
is("$status $answer->{error}{code} $answer->{error}{retry_after}",
	'503 overloaded 1', 'one session too many');
like($answer->{error}{hint}, qr/discard a session/, 'it says what to do');
ok(@made > 0, 'the ones before it were made');
is(join(' ', map { (ask('GET', "/__workspaces/$_/diff"))[0] } @made),
	join(' ', (200) x @made), 'and are all still there');
($status) = tool('true');
is($status, 200, 'a call without a session goes on');
ask('DELETE', '/__workspaces/' . shift @made);
($status, $answer) = ask('POST', '/__workspaces/', { page => '/' });
is($status, 201, 'a discarded one makes room');
ask('DELETE', "/__workspaces/$_") for @made, $answer->{session} // ();

# What cannot be granted together.
my $both = $site->scratch . '/both.toml';
Statespace::TestSite::write_file($both,
	"[grant]\nworkspace = [\".\"]\nproc = true\n");
my $exec = "$FindBin::Bin/../../build/statespace-exec";
like(`$exec -C @{[$site->dir]} -c $both plain -- echo 2>&1`,
	qr/cannot be granted together/, 'no /proc beside workspaces');

$server->stop_ok;

# A session is its caller's, whom the front server names.
my $pool = Statespace::Pool->start(site => $site, config =>
	"[pool]\nmode = \"static\"\nworkers = 1\n[grant]\nworkspace = [\".\"]\n"
	. "[mcp]\nenabled = true\n");
my $as = sub {
	my ($user, $name, %arguments) = @_;
	my $body = $JSON->encode({ jsonrpc => '2.0', id => 1,
		method => 'tools/call', params => { name => "workspace_$name",
			arguments => \%arguments } });
	my $got = Statespace::FastCGI::talk($pool->socket,
		Statespace::FastCGI::request(Statespace::FastCGI::variables(
			REQUEST_METHOD => 'POST', SCRIPT_NAME => '/mcp',
			REQUEST_URI => '/mcp', REMOTE_USER => $user,
			HTTP_ACCEPT => 'application/json, text/event-stream',
			CONTENT_TYPE => 'application/json',
			STATESPACE_AUTH => 'verified',
			CONTENT_LENGTH => length $body), $body));

	return eval { $JSON->decode($got->{body})->{result} }
	    // { content => [{ text => $got->{body} }] };
};
$answer = $as->('ada', 'create', page => '/');
$id = $answer->{structuredContent}{session};
ok($id, 'a user makes a session') or diag $JSON->encode($answer), $pool->log;
for my $name (qw(diff commit discard)) {
	like($as->('eve', $name, session => $id)->{content}[0]{text},
		qr/no such workspace session/, "another one has no $name of it");
}
ok(!$as->('ada', $_, session => $id)->{isError}, "its own has $_")
    for qw(diff commit discard);
$pool->stop_ok;
done_testing;
