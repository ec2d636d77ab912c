#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# `ask:` with `from:`: a client's model and its roots answer what a call leaves
# out, in both eras over lines, and in 2026-07-28 over HTTP.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use IPC::Open2 qw(open2);
use JSON::PP;
use Test::More;
use Statespace::Server;
use Statespace::TestSite;

my $JSON = JSON::PP->new->utf8->canonical;
my $META = 'io.modelcontextprotocol/';
my $PAGE = <<'END';
---
tools:
  - name: sum
    command: [echo, { name: text, kind: text }, { name: short, kind: text }, ;]
    ask: [{ name: summary, from: model, message: 'Shorten {text} and {no}', arguments: [short] }]
  - name: where
    command: [echo, { name: roots, kind: text }, ;]
    ask: [{ name: dirs, from: roots, arguments: [roots] }]
  - name: all
    command: [echo, { name: who }, { name: short, regex: '^[a-z]+$' }, { name: roots, kind: text }, ;]
    ask:
      - { name: person, message: 'Who?', arguments: [who] }
      - { name: summary, from: model, message: Say a word, arguments: [short] }
      - { name: dirs, from: roots, arguments: [roots] }
  - { name: tells, command: [sh, -c, 'echo one >&2; sleep 0.05; echo two >&2; echo done; printf xxxxxxxxx >&2', ;] }
---
# Asks
END

my $site = Statespace::TestSite->new(files => { 'README.md' => $PAGE });
my %ANSWER = ('sampling/createMessage' => { role => 'assistant',
		content => { type => 'text', text => 'hi' }, model => 'm' },
	'roots/list' => { roots => [{ uri => 'file:///a' },
		{ uri => 'file:///b' }] },
	'elicitation/create' => { action => 'accept',
		content => { who => 'ada' } });
my $ALL = { sampling => {}, roots => {}, elicitation => {} };

# ---------------------------------------------------------- before 2026 -----

# A call over lines by a client with these capabilities; what was asked, and
# the text of the result.
sub talk
{
	my ($can, $name, %arguments) = @_;
	my $pid = open2(my $out, my $in, Statespace::Server::binary(), 'mcp', '--timeout', 20,
		$site->dir);
	my @asked;
	my $send = sub { print {$in} $JSON->encode({ jsonrpc => '2.0', @_ }), "\n";
		$in->flush };
	my $r;

	$send->(id => 1, method => 'initialize', params => {
		protocolVersion => '2025-11-25', capabilities => $can,
		clientInfo => { name => 't', version => '1' } });
	readline $out;
	$send->(id => 2, method => 'tools/call', params => {
		name => $name, arguments => \%arguments });
	while (my $line = readline $out) {
		$r = $JSON->decode($line);
		last if !defined $r->{method};
		push @asked, $r;
		$send->(id => $r->{id}, result => $ANSWER{$r->{method}});
	}
	close $in;
	waitpid $pid, 0;
	return ([map { $_->{method} } @asked], $r->{result}{content}[0]{text},
		@asked);
}

SKIP: {
	skip 'statespace mcp does not run here', 1
	    if system(Statespace::Server::binary() . ' mcp '
		. $site->dir . ' < /dev/null > /dev/null 2>&1') != 0;
	my ($asked, $text, $question) = talk($ALL, 'sum', text => 'a "b"');
	is_deeply([$asked, $text], [['sampling/createMessage'],
		"a \"b\" hi\n"], 'a model answers');
	is_deeply($question->{params}{messages}, [{ role => 'user', content =>
		{ type => 'text', text => 'Shorten a "b" and {no}' } }],
		'what it reads has the values of the call');
	is($question->{params}{maxTokens}, 1000, 'and a limit');
	($asked, $text) = talk($ALL, 'where');
	is_deeply([$asked, $text], [['roots/list'], "file:///a\nfile:///b\n"],
		'a client tells its directories');
	($asked, $text) = talk($ALL, 'all');
	is_deeply([$asked, $text], [['elicitation/create',
		'sampling/createMessage', 'roots/list'],
		"ada hi file:///a\nfile:///b\n"], 'all in their order');
	($asked, $text) = talk($ALL, 'sum', text => 'a', short => 'b');
	is_deeply([$asked, $text], [[], "a b\n"], 'what is there is not asked for');
	($asked, $text) = talk({ elicitation => {} }, 'sum', text => 'a');
	is_deeply($asked, [], 'a client that cannot is not asked');
	like($text, qr/"short" is missing/, 'and reads what is missing');
	local $ANSWER{'sampling/createMessage'} = { role => 'assistant',
		content => { type => 'text', text => '; rm -rf /' }, model => 'm' };
	($asked, $text) = talk($ALL, 'all');
	is(scalar(grep { $_ eq 'sampling/createMessage' } @$asked), 6,
		'an answer that does not fit is asked for again, some times');
	like($text, qr/"short" is missing/, 'and never runs');
}

# ------------------------------------------------------------------- 2026 ---

my $server = Statespace::Server->start(files => { 'README.md' => $PAGE },
	config => "[mcp]\nenabled = true\n");

sub post
{
	my ($can, $name, $arguments, %more) = @_;
	my $answer = $server->request('POST', '/mcp', headers => {
		'Content-Type' => 'application/json', Accept => 'application/json',
		'MCP-Protocol-Version' => '2026-07-28',
		'Mcp-Method' => 'tools/call', 'Mcp-Name' => $name },
		body => $JSON->encode({ jsonrpc => '2.0', id => 1,
			method => 'tools/call', params => { name => $name,
			arguments => $arguments, %more, _meta => {
			"${META}protocolVersion" => '2026-07-28',
			"${META}clientCapabilities" => $can } } }));

	return { status => $answer->{status}, %{ $JSON->decode($answer->{body}) } };
}

my $r = post($ALL, 'all', {})->{result};
is($r->{resultType}, 'input_required', 'a question is a result');
is_deeply({ map { $_ => $r->{inputRequests}{$_}{method} }
	keys %{ $r->{inputRequests} } }, { person => 'elicitation/create',
	summary => 'sampling/createMessage', dirs => 'roots/list' },
	'that asks all three at once');
is_deeply($r->{inputRequests}{dirs}{params}, {}, 'roots need no words');
my %responses = map { $_ => $ANSWER{$r->{inputRequests}{$_}{method}} }
    keys %{ $r->{inputRequests} };
is(post($ALL, 'all', {}, inputResponses => \%responses,
	requestState => $r->{requestState})->{result}{content}[0]{text},
	"ada hi file:///a\nfile:///b\n", 'and then runs');
delete $responses{summary};
my $again = post($ALL, 'all', {}, inputResponses => \%responses,
	requestState => $r->{requestState})->{result};
is_deeply([keys %{ $again->{inputRequests} }], ['summary'],
	'what lacks is asked for again, alone');
is(post($ALL, 'all', {}, inputResponses => { summary => {
	content => [{ type => 'text', text => 'ok' }] } },
	requestState => $again->{requestState})->{result}{content}[0]{text},
	"ada ok file:///a\nfile:///b\n",
	'the rest comes with the state; a message may have blocks');
$r = post({ sampling => {} }, 'all', {})->{result};
is_deeply([keys %{ $r->{inputRequests} }], ['summary'],
	'only what the client can is asked');
$r = post({ elicitation => {} }, 'sum', { text => 'x' });
is_deeply([$r->{status}, $r->{error}{code}, $r->{error}{data}], [400, -32021,
	{ requiredCapabilities => { sampling => {} } }],
	'what no answer can come for names the capability');
is(post({}, 'sum', { text => 'x', short => 'y' })->{result}{content}[0]{text},
	"x y\n", 'unless the call has it');
# What a tool writes on its standard error, as log messages of one request.
sub logged
{
	my ($level) = @_;
	my $answer = $server->request('POST', '/mcp', headers => {
		'Content-Type' => 'application/json',
		Accept => 'application/json, text/event-stream',
		'MCP-Protocol-Version' => '2026-07-28',
		'Mcp-Method' => 'tools/call', 'Mcp-Name' => 'tells' },
		body => $JSON->encode({ jsonrpc => '2.0', id => 1,
			method => 'tools/call', params => { name => 'tells',
			arguments => {}, _meta => {
			"${META}protocolVersion" => '2026-07-28',
			"${META}clientCapabilities" => {},
			$level ? ("${META}logLevel" => $level) : () } } }));
	my @messages = map { $JSON->decode($_) }
	    $answer->{body} =~ /^(?:data: )?(\{.*\})$/mg;

	return ([map { join ':', @{ $_->{params} }{qw(level data)} }
		grep { ($_->{method} // '') eq 'notifications/message' } @messages],
		$messages[-1]{result}{content}[0]{text},
		scalar(grep { ($_->{method} // '') eq 'notifications/progress' }
		@messages));
}

for my $level (qw(debug info)) {
	is_deeply([logged($level)], [['info:one', 'info:two', 'info:' . 'x' x 9],
		"done\n", 0], "$level: each line of stderr is a log message");
}
is_deeply((logged($_))[0], [], 'none: ' . ($_ // 'without a level'))
    for 'warning', 'error', 'nonsense', undef;
$server->stop_ok;
done_testing();
