#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# `statespace mcp`: lines in, lines out, while tools run beside.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Handle;
use IPC::Open3 qw(open3);
use JSON::PP ();

use Test::More;
use Time::HiRes qw(sleep time);
use Statespace::Server;
use Statespace::TestSite qw(slurp);

my $JSON = JSON::PP->new->utf8->canonical;
my $META = 'io.modelcontextprotocol/';
my $site = Statespace::TestSite->new(files => { 'README.md' => <<'END' });
---
tools:
  - [echo, {word}, ;]
  - { name: eat, command: [cat, ;], stdin: true }
  - { name: slow, command: [sleep, '21', ;] }
  - { name: nap, command: [sleep, '0.4', ;] }
  - { name: big, command: [head, -c, '900000', /dev/zero, ;] }
  - { name: pretty, command: [printf, '{\n\t"a": [1,\r\n"b\\nc"]\n}\n', ;], output: application/json }
  - { name: image, command: [printf, '\377', ;], output: image/png }
  - { name: crash, command: [sh, -c, 'kill -9 $$', ;] }
  - { name: careful, command: [echo, done, ;], confirm: true }
  - name: order
    command: [echo, { name: what, regex: '^(tea|coffee)$' }, { name: note }, ;]
    ask:
      - { name: first, message: Which drink?, arguments: [what] }
      - { name: second, message: What else?, arguments: [note] }
prompts:
  - { name: slowly, messages: [{ file: slow.md }] }
  - { name: about, arguments: [{ name: topic, required: true }], ask: [{ name: form, message: What about?, arguments: [topic] }], text: 'About {topic}.' }
---
# Site
```component
echo ran
```
END
$site->write('slow.md', "```component\nsleep 0.7; echo slept\n```\n");

# ---------------------------------------------------------------- a client --

my ($in, $out, $pid);


sub start
{
	delete @ENV{ grep { /^STATESPACE_(?!SANDBOX_MODE$)/ } keys %ENV };
	open my $err, ">>", $site->scratch . "/log" or die "log: $!";
	$pid = open3($in, $out, '>&' . fileno $err,
		Statespace::Server::binary(), 'mcp', @_, $site->dir);
	$in->autoflush(1);
	return;
}

my $read = '';

# The next line as a value; undef: none came in time, or the end.
sub line
{
	my $line = text_line(@_) // return undef;
	my $value = eval { $JSON->decode($line) };
	diag("not JSON: $line") unless $value;
	return $value;
}

sub text_line
{
	my ($seconds) = @_;
	my $until = time + ($seconds // 10);

	while (index($read, "\n") < 0) {
		my $r = '';
		vec($r, fileno $out, 1) = 1;
		my $left = $until - time;
		return undef if $left <= 0 || !select $r, undef, undef, $left;
		sysread($out, $read, 65536, length $read) or return undef;
	}
	return substr $read, 0, index($read, "\n") + 1, '';
}

sub put
{
	my (%message) = @_;

	print {$in} $JSON->encode({ jsonrpc => '2.0', %message }), "\n";
	return;
}

sub ask
{
	my ($id, $method, $params) = @_;

	put(id => $id, method => $method, $params ? (params => $params) : ());
	return;
}

sub call
{
	my ($id, $name, $arguments) = @_;

	ask($id, 'tools/call', { name => $name, arguments => $arguments || {} });
	return;
}

# Closes the input; status, or undef when it stays.
sub finish
{
	my ($seconds) = @_;
	my $until = time + ($seconds // 10);

	close $in;
	while (time < $until) {
		if (waitpid($pid, 1) > 0) {
			return $? >> 8 || $? & 127;
		}
		sleep 0.02;
	}
	kill 'KILL', $pid;
	waitpid $pid, 0;
	return undef;
}

# ------------------------------------------------------------------- tests --

sub test_talk
{
	start();
	ask(1, 'initialize', { protocolVersion => '2025-11-25' });
	is(line()->{result}{protocolVersion}, '2025-11-25', 'initialize');
	put(method => 'notifications/initialized');
	ask(2, 'tools/list');
	is(scalar @{ line()->{result}{tools} }, 10, 'tools are listed');
	call('three', 'echo', { word => 'é' });
	my $r = line();
	is($r->{id}, 'three', 'the id is the one of the request');
	is($r->{result}{content}[0]{text}, "é\n", 'a tool runs');
	call(4, 'eat');
	is(line()->{result}{content}[0]{text}, '',
		'no tool ever sees the protocol');
	call(5, 'eat', { stdin => "mine\n" });
	is(line()->{result}{content}[0]{text}, "mine\n",
		'its own input it does');
	call(6, 'crash');
	is(line()->{result}{_meta}{"statespace/returncode"}, 137,
		'a worker that dies gives an error');
	call(7, 'big');
	# Too much for this reader of JSON.
	is((() = text_line(30) =~ /\\u0000/g), 900000,
		'a long answer is one line');
	ask(8, 'resources/read', { uri => 'page:///README.md' });
	like(line()->{result}{contents}[0]{text}, qr/^ran$/m, 'components run');
	print {$in} "nonsense\n\r\n\n[]\n";
	is(line()->{error}{code}, -32700, 'a line that is no JSON');
	is(line()->{error}{code}, -32600, 'a batch');
	for (['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, 'an id'],
		['[' x 100000, -32700, 'a depth'], ["\xff", -32700, 'bytes'],
		['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, 'a version']) {
		my ($text, $code, $what) = @$_;
		print {$in} "$text\n";
		is(line()->{error}{code}, $code, "$what that is not valid");
	}
	ask(9, 'server/discover', { _meta => {
		"${META}protocolVersion" => '2026-07-28',
		"${META}clientCapabilities" => {} } });
	is_deeply(line()->{result}{supportedVersions}, ['2026-07-28'],
		'2026-07-28 is spoken too');
	ask(10, 'ping');
	is_deeply(line()->{result}, {}, 'and the first one goes on');
	is(finish(), 0, 'the end of the input ends the server');
	return;
}

sub test_beside
{
	start();
	call($_, 'nap') for 1 .. 12;
	my $began = time;
	my %seen = map { (line() // {})->{id} // 'none' => 1 } 1 .. 12;
	is(scalar(keys %seen), 12, 'every one of many calls is answered');
	cmp_ok(time - $began, '<', 12 * 0.4, 'beside each other');
	call($_, 'echo', { word => "w$_" }) for 1 .. 300;
	my $right = 0;
	for (1 .. 300) {
		my $r = line(30) or last;
		$right++ if $r->{result}{content}[0]{text}
		    eq "w$r->{id}\n";
	}
	is($right, 300, 'hundreds at once, each with its own answer');
	call('a', 'slow');
	my $until = time + 10;
	sleep 0.05 until Statespace::Server::process_lives('sleep 21')
	    || time > $until;
	ask('b', 'ping');
	is(line()->{id}, 'b', 'another request is answered meanwhile');
	ask('q', 'prompts/get', { name => 'slowly' });
	ask('r', 'ping');
	is(line()->{id}, 'r', 'beside a prompt whose page has to run, too');
	like(line()->{result}{messages}[0]{content}{resource}{text}, qr/slept/,
		'which comes when it is done');
	put(method => 'notifications/cancelled', params => { requestId => 'x' });
	put(method => 'notifications/cancelled', params => { requestId => 'a' });
	ok(!Statespace::Server::process_lives('sleep 21', 5),
		'a cancelled tool ends');
	is(line(0.3), undef, 'and is not answered');
	call('c', 'echo', { word => 'x' });
	is(line()->{id}, 'c', 'the server goes on');
	ask('p', 'tools/call', { name => 'nap',
		_meta => { progressToken => 'tok' } });
	is(line()->{params}{progressToken}, 'tok', 'progress is reported');
	is(line()->{id}, 'p', 'and then the result');
	call('last', 'nap');
	close $in;
	is(line()->{id}, 'last', 'what was asked is answered after the end');
	is(finish(), 0, 'and then it leaves');
	return;
}

# Eight run; what else comes is heard, and begun when there is a place.
sub test_full
{
	start();
	call($_, 'slow') for 1 .. 8;
	call('waits', 'echo', { word => 'x' });
	call('forgotten', 'echo', { word => 'y' });
	ask('p', 'ping');
	is(line()->{id}, 'p', 'with eight tools running, what runs nothing is answered');
	for my $id ('page', 'more') {
		ask($id, 'resources/read', { uri => 'page:///README.md' });
		is((line() // {})->{id}, $id, 'and has places for pages');
	}
	ask($_, 'prompts/get', { name => 'slowly' }) for 'p1' .. 'p5';
	is_deeply([sort map { (line() // {})->{id} } 1 .. 5],
		['p1' .. 'p5'], 'pages that wait for one another');
	put(method => 'notifications/cancelled',
		params => { requestId => 'forgotten' });
	put(method => 'notifications/cancelled', params => { requestId => 1 });
	is((line() // {})->{id}, 'waits',
		'and a cancellation, which makes place for who waits');
	my $long = 'i' x 5000;
	call($long, 'slow');
	call("${long}2", 'echo', { word => 'x' });
	put(method => 'notifications/cancelled', params => { requestId => $long });
	is((line() // {})->{id}, "${long}2", 'a long id can be cancelled');
	is(line(0.3), undef, 'who was cancelled while he waited does not run');
	put(method => 'notifications/cancelled', params => { requestId => $_ })
	    for 2 .. 8;
	put(method => $_, params => []) for 'tools/call', 'notifications/x';
	is(line(0.3), undef, 'no notification is answered, however wrong');
	print {$in} '{"jsonrpc":"2.0","id":"end","method":"ping"}';
	close $in;
	is((line() // {})->{id}, 'end', 'the last line needs no break');
	is(finish(), 0, 'and then it leaves');
	return;
}

# A line of its own for each message, whatever breaks are in the output.
sub test_output
{
	start();
	call(1, 'pretty');
	my $r = line()->{result};
	is_deeply($r->{structuredContent}, { a => [1, "b\nc"] },
		'JSON with line breaks is the structure, on one line');
	is($r->{content}[0]{text}, qq({\n\t"a": [1,\r\n"b\\nc"]\n}\n),
		'and the text as it was written');
	call(2, 'image');
	is_deeply(line()->{result}{content}, [{ type => 'image',
		data => '/w==', mimeType => 'image/png' }], 'an image');
	is(finish(), 0, 'and it leaves');
	return;
}

sub test_leaving
{
	start();
	call(1, 'slow');
	my $until = time + 5;
	sleep 0.05 until Statespace::Server::process_lives('sleep 21')
	    || time > $until;
	kill 'TERM', $pid;
	waitpid $pid, 0;
	ok(!Statespace::Server::process_lives('sleep 21', 5),
		'a killed server leaves no tool behind');
	start('--timeout', '0.5');
	call(2, 'slow');
	like(line()->{result}{content}[0]{text}, qr/stopped after 0\.5 s/,
		'time runs out for tools');
	print {$in} '{"x":"', 'y' x 1200000, "\"}\n";
	is(line()->{error}{code}, -32600, 'a line beyond the limit is refused');
	ask(3, 'ping');
	is(line()->{id}, 3, 'and the next one is read');
	is(finish(), 0, 'all is well at the end');
	return;
}

sub test_confirm
{
	my %meta = (_meta => { "${META}protocolVersion" => '2026-07-28',
		"${META}clientCapabilities" => { elicitation => {} } });

	start();
	ask(1, 'tools/call', { name => 'careful', %meta });
	my $state = line()->{result}{requestState};
	ok($state, 'a person is asked');
	ask(2, 'tools/call', { name => 'careful', %meta,
		requestState => $state, inputResponses => { confirm => {
			action => 'accept', content => { ok => JSON::PP::true }
		} } });
	is(line()->{result}{content}[0]{text}, "done\n",
		'another process knows the signature');
	ask(3, 'tools/call', { name => 'careful', %meta,
		requestState => $state, inputResponses => { confirm => {
			action => 'accept', content => { ok => JSON::PP::true }
		} } });
	is(line()->{error}{code}, -32602, 'and that it had its run');
	is(finish(), 0, 'the end');
	return;
}

# The server's value is the one that the tool gets.
sub test_question
{
	my $page = $site->write('wipe.md', <<'END');
---
env: [DISK, WHO]
tools:
  - { name: wipe, command: [printenv, DISK, ;], env: [DISK, WHO], confirm: 'Wipe {DISK} for {WHO}?' }
---
END
	start('-e', 'DISK=scratch');
	ask(1, 'tools/call', { name => 'wipe', arguments => { env => {
		DISK => 'backup', WHO => 'me' } },
		_meta => { "${META}protocolVersion" => '2026-07-28',
			"${META}clientCapabilities" => { elicitation => {} } } });
	my $text = line()->{result}{inputRequests}{confirm}{params}{message};
	like($text, qr/^Wipe \$DISK for me\?$/m,
		'a question shows no value that the tool does not get');
	unlike($text, qr/backup|scratch/, '... nowhere');
	like($text, qr/^WHO=me$/m, '... but those that it does');
	is(finish(), 0, 'the end');
	unlink $site->dir . '/wipe.md';
	return;
}

# What is announced is what the level enforces.
sub test_annotations
{
	for my $mode ('landlock', 'off') {
		local $ENV{STATESPACE_SANDBOX_MODE} = $mode;
		start();
		ask(1, 'tools/list');
		my ($echo) = grep { $_->{name} eq 'echo' }
		    @{ line()->{result}{tools} };
		is_deeply([@{ $echo->{annotations} }{qw(readOnlyHint
			destructiveHint)}], [JSON::PP::false, JSON::PP::true],
			"$mode: no tool is read-only");
		ok($echo->{annotations}{openWorldHint},
			"$mode: it may reach anything") if $mode eq 'off';
		is(finish(), 0, "$mode: the end");
	}
	return;
}

# A page with an error offers nothing: the client and the log have the reason.
sub test_broken
{
	my $logged = sub {
		my $log = slurp($site->scratch . '/log', '');
		return scalar(() = $log =~
			/ event=page path=broken\.md error=.*tools/g);
	};

	start();
	ask(1, 'initialize', { protocolVersion => '2025-11-25' });
	my $r = line()->{result};
	unlike($r->{instructions}, qr/error/, 'all pages are right');
	ok(!exists $r->{capabilities}{logging}, 'what is never sent is not offered');
	$site->write('broken.md', "---\ntools: 7\n---\n# Broken\n");
	for (1 .. 3) {
		ask($_, 'initialize', { protocolVersion => '2025-11-25' });
		like(line()->{result}{instructions},
			qr{no tools: /broken\.md \([^)]*tools[^)]*\)\.},
			'one is not: the client has the reason');
		ask('t', 'tools/list');
		line();
	}
	is($logged->(), 1, 'the log has one line');
	$site->write('broken.md', "---\ntools: 77\n---\n# Broken\n");
	ask($_, 'tools/list'), line() for 1 .. 3;
	is($logged->(), 2, 'and once for its next change');
	$site->write('broken.md', "# Right\n");
	ask(5, 'initialize', { protocolVersion => '2025-11-25' });
	unlike(line()->{result}{instructions}, qr/error/, 'it is right again');
	unlink $site->dir . '/broken.md';
	is(finish(), 0, 'the end');
	return;
}

# In the earlier revisions the server's question is a request of its own.
sub hello
{
	my ($version, $capabilities) = @_;

	ask('hello', 'initialize', { protocolVersion => $version,
		capabilities => $capabilities, clientInfo => {
			name => 'test', version => '1' } });
	is(line()->{result}{protocolVersion}, $version, $version);
	put(method => 'notifications/initialized');
	return;
}

sub reply
{
	my ($question, $action, $content) = @_;

	put(id => $question->{id}, result => { action => $action,
		$content ? (content => $content) : () });
	return;
}

my ($YES, $NO) = ({ ok => JSON::PP::true }, { ok => JSON::PP::false });

sub test_elicitation
{
	for my $version ('2025-11-25', '2025-06-18') {
		start();
		hello($version, { elicitation => {} });
		call(1, 'careful');
		my $q = line();
		is_deeply([@$q{qw(jsonrpc method)},
			$q->{params}{requestedSchema}{required}],
			['2.0', 'elicitation/create', ['ok']], 'a person is asked');
		like($q->{params}{message}, qr/^echo done$/m, 'about the command');
		put(id => 'no-question', result => { action => 'accept',
			content => $YES });
		ask('p', 'ping');
		is(line()->{id}, 'p', 'a response without a question is dropped');
		reply($q, 'accept', $YES);
		is(line()->{result}{content}[0]{text}, "done\n",
			'the tool runs when the person agrees');
		reply($q, 'accept', $YES);
		for (['accept', $NO], ['accept'], ['decline'], ['cancel'], [7]) {
			call(2, 'careful');
			reply(line(), @$_);
			my $r = line()->{result};
			ok($r->{isError}
				&& $r->{content}[0]{text} =~ /did not (?:run|agree)/,
				"and does not after @{[$_->[0]]}");
		}
		call(3, 'careful');
		put(id => line()->{id}, error => { code => -32601,
			message => 'no such method' });
		like(line()->{result}{content}[0]{text}, qr/did not ask/,
			'nor when the client refuses to ask');
		call(4, 'careful');
		put(id => line()->{id}, result => { action => 'accept',
			content => { %$YES, more => 'x' x 70000 } });
		like(line()->{result}{content}[0]{text}, qr/did not run/,
			'nor by an answer without end');
		call(5, 'careful');
		ok(line()->{params}, 'a question');
		put(method => 'notifications/cancelled',
			params => { requestId => 5 });
		ask('p', 'ping');
		is(line()->{id}, 'p', 'of a call that is cancelled is forgotten');
		is(finish(), 0, 'the end');
	}
	return;
}

sub test_forms
{
	start();
	hello('2025-06-18', { elicitation => { form => {} } });
	call(1, 'order', { note => 'milk' });
	my $q = line();
	is_deeply([$q->{params}{message}, $q->{params}{requestedSchema}{required}],
		['Which drink?', ['what']], 'what a call leaves out is asked for');
	reply($q, 'accept', { what => 'beer' });
	my $again = line();
	isnt($again->{id}, $q->{id}, 'again when it does not fit');
	reply($again, 'accept', { what => 'tea' });
	is(line()->{result}{content}[0]{text}, "tea milk\n", 'then it runs');
	call(2, 'order');
	reply(line(), 'accept', { what => 'coffee' });
	reply(line(), 'accept', { note => 'sugar' });
	is(line()->{result}{content}[0]{text}, "coffee sugar\n",
		'two forms, one after another');
	call(3, 'order');
	reply(line(), 'decline');
	like(line()->{result}{content}[0]{text}, qr/did not answer: "Which/,
		'a form that is declined');
	call(4, 'order', { note => 'x' });
	reply(line(), 'accept', { what => 'beer' }) for 1 .. 6;
	ok(line()->{result}{isError}, 'a question ends after a while');
	ask(5, 'prompts/get', { name => 'about' });
	reply(line(), 'accept', { topic => 'tea' });
	is(line()->{result}{messages}[0]{content}{text}, 'About tea.',
		'a prompt asks, too');
	is(finish(), 0, 'the end');
	return;
}

# Nothing runs unasked for a client that cannot ask.
sub test_cannot_ask
{
	for my $capabilities ({}, { elicitation => { url => {} } }) {
		start();
		hello('2025-11-25', $capabilities);
		call(1, 'careful');
		my $r = line()->{result};
		ok($r->{isError}, 'a client that cannot ask is refused');
		like($r->{content}[0]{text}, qr/person must agree.*elicitation.*error\.confirm/s,
			'and reads how it can go on');
		call(2, 'order');
		ok(line()->{result}{isError}, 'a form is not shown to it');
		is(finish(), 0, 'the end');
	}
	start();
	hello('2025-11-25', { elicitation => {} });
	call(1, 'careful');
	ok(line()->{params}, 'a question is open');
	close $in;
	is(line(8), undef, 'when the client leaves');
	is(finish(), 0, 'and nothing runs');
	return;
}

# The public address of a site, as one writes it.
sub test_address
{
	my $file = $site->scratch . '/address.toml';

	Statespace::TestSite::write_file($file,
		"[mcp]\nuri = 'https://example.org'\n");
	start('-c', $file);
	ask(1, 'resources/list');
	is(line()->{result}{resources}[0]{uri}, 'https://example.org/README.md',
		'there is a slash between address and path');
	ask(2, 'resources/templates/list');
	is(line()->{result}{resourceTemplates}[0]{uriTemplate},
		'https://example.org/{+path}', 'in the template, too');
	ask(3, 'resources/read', { uri => 'https://example.org/slow.md' });
	ok(line()->{result}, 'what is named is read');
	for my $uri ('https://example.orgslow.md', 'https://example.org//slow') {
		ask(4, 'resources/read', { uri => $uri });
		is(line()->{error}{code}, -32002, "and not $uri");
	}
	is(finish(), 0, 'the end');
	return;
}

# A call that takes long has a second line, as over HTTP.
sub test_slow
{
	my $file = $site->scratch . '/slow.toml';
	open my $config, '>', $file or die "$file: $!";
	print $config "[log]\nslow = 0.3\n";
	close $config;
	start('-c', $file);
	call('quick', 'echo', { word => 'x' });
	SKIP: {
		skip 'tools cannot be confined here', 4
		    if line()->{result}{isError};
		call('nap', 'nap');
		ok(line()->{result}, 'a nap');
		is(finish(), 0, 'the end');
		my @slow = slurp($site->scratch . '/log', '') =~
		    /event=slow (.*)/g;
		is(scalar @slow, 1, 'is the one slow call');
		like($slow[0], qr/^id=\S+ page=README\.md tool=3 total_ms=\S+ tool_ms=\S+ cpu_ms=\S+ memory=[1-9]\d*$/,
			'with its page, tool, times and memory');
		return;
	}
	finish();
	return;
}

# The processes that the server has, when there are as many.
sub processes
{
	my ($count) = @_;
	my $until = time + 10;
	my @all;

	do {
		sleep 0.02;
		my $seen = Statespace::Server::processes();
		@all = sort grep { $seen->{$_}{ppid} == $pid } keys %$seen;
	} until @all == $count || time > $until;
	return "@all";
}

sub test_again
{
	start();
	hello('2025-06-18', { elicitation => {} });
	call(1, 'echo', { word => 'x' });
	SKIP: {
		skip 'tools cannot be confined here', 12
		    if line()->{result}{isError};
		my $first = processes(1);
		$site->write('new.md',
			"---\ntools: [{ name: new, command: [echo, new] }]\n---\n");
		call(2, 'new');
		is(line()->{result}{content}[0]{text}, "new\n",
			'a page that is newer than the process is known');
		is(processes(1), $first, 'the process of the first call runs it');
		call(3, 'careful');
		reply(line(), 'accept', $YES);
		is(line()->{result}{content}[0]{text}, "done\n",
			'a question of a later call is answered');
		is(processes(1), $first, '... by the same process');
		call($_, 'nap') for 'a' .. 'd';
		is_deeply([sort map { line()->{id} } 1 .. 4], ['a' .. 'd'],
			'four at a time');
		my @two = split ' ', processes(2);
		is(@two, 2, 'of four two wait for more');
		call(4, 'slow');
		is(line(0.3), undef, 'one is busy');
		put(method => 'notifications/cancelled',
			params => { requestId => 4 });
		my $left = processes(1);
		ok((grep { $_ eq $left } @two) == 1,
			'who was cancelled ends, the other one stays');
		call(5, 'eat', { stdin => 'y' x 40000 });
		is(length line()->{result}{content}[0]{text}, 40000,
			'a long message starts a process');
		kill 'KILL', split ' ', processes(2);
		is(processes(0), '', 'killed ones are forgotten');
		call(6, 'echo', { word => 'z' });
		is(line()->{result}{content}[0]{text}, "z\n",
			'... and the next call has a new one');
		is(finish(3), 0, 'one that waits is no reason to stay');
		unlink $site->dir . '/new.md';
		return;
	}
	finish();
	return;
}

test_talk();
test_beside();
test_again();
test_full();
test_output();
test_leaving();
test_confirm();
test_question();
test_elicitation();
test_forms();
test_cannot_ask();
test_annotations();
test_broken();
test_address();
test_slow();
unlike(slurp($site->scratch . '/log', ''), qr/Sanitizer|runtime error/,
	'no sanitizer has spoken');
is(system("'" . Statespace::Server::binary() . "' mcp a b 2>/dev/null") >> 8, 2,
	'two directories are wrong usage');
done_testing;
