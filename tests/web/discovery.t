#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# How clients find the MCP server of a site before they connect: its card, the
# catalog of its host; and the trace of a request, in the log and in a tool.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Test::More;
use Statespace::Server;
use Statespace::TestSite qw(slurp);

my $JSON = JSON::PP->new->utf8->canonical;
my $TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

my $server = Statespace::Server->start(files => {
	'README.md' => "---\ntitle: The shop\ndescription: " . 'Long ' x 40
	    . "\nenv: [TRACEPARENT]\ntools:\n"
	    . "  - { name: trace, command: [printenv, TRACEPARENT, ;] }\n---\n",
	'other.md' => "---\ntools:\n  - { name: none, command: "
	    . "[sh, -c, 'echo \"<\$TRACEPARENT>\"', ;] }\n---\n",
	'.well-known/x' => 'x',
}, config => "[mcp]\nenabled = true\nname = \"The Shop!\"\n"
    . "icon = \"https://shop.example/i.png\"\n"
    . "[http]\nhosts = [\"docs.shop.example\", \"localhost\"]\n");

sub get
{
	my ($path, %headers) = @_;
	my $answer = $server->request('GET', $path, headers => \%headers);

	$answer->{json} = eval { $JSON->decode($answer->{body}) };
	return $answer;
}

# ----------------------------------------------------------------- a card --

my $card = get('/mcp/server-card', Host => 'docs.shop.example');
is($card->{status}, 200, 'a card');
is($card->{headers}{'content-type'}, 'application/mcp-server-card+json',
	'of its type');
is($card->{headers}{'access-control-allow-origin'}, '*',
	'that pages of any site read');
is($card->{headers}{'cache-control'}, 'public, max-age=3600', 'and keep');
my %card = %{ $card->{json} };
is($card{'$schema'}, 'https://static.modelcontextprotocol.io/schemas/v1/'
	. 'server-card.schema.json', 'the schema');
is($card{name}, 'example.shop.docs/The-Shop-', 'the host, reversed');
like($card{name}, qr{^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$}, 'as the schema has it');
cmp_ok(length $card{description}, '<=', 100, 'at most 100 characters');
is_deeply([@card{qw(title websiteUrl)}],
	['The Shop!', 'https://docs.shop.example'], 'name and address');
is_deeply($card{icons}, [{ src => 'https://shop.example/i.png' }], 'the icon');
is_deeply($card{remotes}, [{ type => 'streamable-http',
	url => 'https://docs.shop.example/mcp', supportedProtocolVersions =>
	[qw(2026-07-28 2025-11-25 2025-06-18)] }], 'where it is, and what it speaks');
ok(!exists $card{tools}, 'and no tools');
is(get('/mcp/server-card', Host => 'docs.shop.example',
	'If-None-Match' => $card->{headers}{etag})->{status}, 304,
	'it has an ETag');
is($server->request('POST', '/mcp/server-card', headers => {
	'Content-Type' => 'application/json' }, body => '{}')->{status}, 405,
	'it is only read');
is($server->request('HEAD', '/mcp/server-card')->{status}, 200, 'or asked for');
my $local = get('/mcp/server-card', Host => 'localhost:8000')->{json};
is_deeply([$local->{name}, $local->{remotes}[0]{url}],
	['localhost/The-Shop-', 'http://localhost:8000/mcp'],
	'a host that no certificate names');

# -------------------------------------------------------------- a catalog --

my $catalog = get('/.well-known/ai-catalog.json',
	Host => 'docs.shop.example');
is($catalog->{headers}{'content-type'}, 'application/ai-catalog+json',
	'the catalog of the host');
is($catalog->{json}{specVersion}, '1.0', 'its version');
my ($entry) = @{ $catalog->{json}{entries} };
is_deeply([@$entry{qw(identifier type url)}],
	['urn:air:docs.shop.example:mcp:The-Shop-',
	'application/mcp-server-card+json',
	'https://docs.shop.example/mcp/server-card'], 'names the card');
is(get('/.well-known/x')->{status}, 404, 'a file beside it is hidden as ever');

# -------------------------------------------------------- for a registry --

my $entry_text = slurp("$FindBin::Bin/../../examples/registry/server.json");
my $registered = $JSON->decode($entry_text);
like($registered->{name}, qr{^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$},
	'the example for a registry has a name');
cmp_ok(length $registered->{description}, '<=', 100, 'a short description');
is_deeply([map { $_->{type} } @{ $registered->{remotes} }],
	['streamable-http'], 'and an address');

# ---------------------------------------------------------------- a trace --

sub traced
{
	my ($header, $meta, $name) = @_;
	my $answer = $server->request('POST', '/mcp', headers => {
		'Content-Type' => 'application/json',
		Accept => 'application/json, text/event-stream',
		$header ? (traceparent => $header) : () },
		body => $JSON->encode({ jsonrpc => '2.0', id => 1,
			method => 'tools/call', params => { name => $name,
			arguments => {},
			$meta ? (_meta => { traceparent => $meta }) : () } }));

	return $JSON->decode($answer->{body})->{result}{content}[0]{text};
}

sub posted
{
	my ($path, $name, @more) = @_;
	my $answer = $server->request('POST', $path, headers => {
		'Content-Type' => 'application/json', @more },
		body => $JSON->encode({ tool_call => { name => $name } }));

	return $JSON->decode($answer->{body})->{stdout};
}

my $other = $TRACE =~ s/01$/00/r;
is(traced($TRACE, undef, 'trace'), "$TRACE\n", 'the header reaches the tool');
is(traced($TRACE, $other, 'trace'), "$other\n", 'before it _meta');
is(traced(undef, undef, 'trace'), 'exit status 1', 'none is none');
is(traced("$TRACE-x", undef, 'trace'), 'exit status 1', 'and a wrong one, too');
is(traced('00-' . '0' x 32 . '-b7ad6b7169203331-01', undef, 'trace'),
	'exit status 1',
	'zeroes are none');
is(traced($TRACE, undef, 'none'), "<>\n", 'a page that does not list it has none');
is(posted('/', 'trace', traceparent => $TRACE), "$TRACE\n", 'by POST as well');
is(posted('/', 'trace', traceparent => 'x'), '', 'only a right one');
$server->stop_ok;
like($server->log, qr/trace=$TRACE /,
	'the log has it');
like($server->log, qr/trace=$other/, 'that of _meta, too');
unlike($server->log, qr/trace=x/, 'and no wrong one');

done_testing();
