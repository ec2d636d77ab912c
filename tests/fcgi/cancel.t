#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Eight calls of MCP in a pool of eight workers, revision 2025-11-25: lists and
# pings beside them, and what ends them: notifications/cancelled, which reaches
# another worker, and a client that leaves.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json encode_json);
use Statespace::FastCGI qw(request variables call talk connect_to receive);
use Statespace::Pool;
use Test::More;

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my $CALLS = 8;
my $nap = "88.$$";
my $pool = Statespace::Pool->start(files => { 'README.md' => "---\ntools:\n"
	    . "  - { name: nap, command: [sleep, '$nap', ;] }\n"
	    . "  - { name: echo, command: [echo, {}, ;] }\n---\n# Hello\n" },
	config => "[mcp]\nenabled = true\n[limits]\ntimeout = 100.0\n"
	    . "[pool]\nmode = \"static\"\nworkers = $CALLS\n");

if (talk($pool->socket, call('/', ['echo', 'x']))->{status} != 200) {
	$pool->stop;
	plan skip_all => 'tools cannot be confined here';
}

my %session;

sub message
{
	my ($method, $params, %more) = @_;
	my $body = encode_json({ jsonrpc => '2.0', method => $method,
		params => $params, %more });

	return request(variables(REQUEST_METHOD => 'POST',
		SCRIPT_NAME => '/mcp', CONTENT_TYPE => 'application/json',
		HTTP_ACCEPT => 'application/json, text/event-stream',
		HTTP_MCP_PROTOCOL_VERSION => '2025-11-25', %session,
		CONTENT_LENGTH => length $body), $body);
}

sub ask { return talk($pool->socket, message(@_)) }

$session{HTTP_MCP_SESSION_ID} = ask('initialize',
	{ protocolVersion => '2025-11-25' }, id => 1)->{headers}
	->{'mcp-session-id'};

sub naps
{
	my $all = Statespace::Server::processes();

	return scalar grep { $_->{line} eq "sleep $nap" } values %$all;
}

sub begin_naps
{
	my ($name, @ids) = @_;
	my @calls;

	for my $id (@ids) {
		push @calls, connect_to($pool->socket);
		syswrite $calls[-1], message('tools/call',
			{ name => 'nap', arguments => {} }, id => $id);
	}
	ok($pool->until_true(sub { naps() == $CALLS }),
		"$name: every worker that may run a tool runs one");
	return @calls;
}

# What is answered beside them, and nothing is a 503.
sub answers_beside
{
	my ($name) = @_;
	my @methods = ('tools/list', 'ping', 'resources/list');
	my @bad = grep { $_->{status} != 200 || !decode_json($_->{body})->{result} }
	    map { ask($methods[$_ % 3], {}, id => 100 + $_) } 1 .. 30;

	is(scalar @bad, 0, "$name: lists and pings are answered")
	    or diag explain $bad[0];
	is(talk($pool->socket, request(variables()))->{status}, 200,
		"$name: and a page");
	return;
}

sub free_again
{
	my ($name) = @_;

	ok($pool->until_true(sub { naps() == 0 }), "$name: all eight end");
	like(ask('tools/call', { name => 'echo', arguments => {
		arg1 => 'free' } }, id => 50)->{body}, qr/free/,
		"$name: and tools run again");
	return;
}

my @ids = 11 .. 10 + $CALLS;
my @calls = begin_naps('cancelled', @ids);
answers_beside('cancelled');
my @said = map { ask('notifications/cancelled', { requestId => $_ })->{status} }
    @ids;
is("@said", '202 ' x ($CALLS - 1) . '202', 'each cancellation is accepted');
free_again('cancelled');
my @answers = map { receive($_) } @calls;
is(scalar(grep { $_->{status} == 200 && $_->{ended}
	&& $_->{body} !~ /"result"/ } @answers), $CALLS,
	'cancelled: their streams end without a response');

@calls = begin_naps('left', 31 .. 30 + $CALLS);
answers_beside('left');
@calls = ();
free_again('left');
$pool->stop_ok;
done_testing;
