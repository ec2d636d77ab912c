#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A site with a thousand tools over MCP: what a client loads before its first
# call, and search, read and run, with which every page and tool is reached.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Test::More;
use Statespace::Server;
use Statespace::TestSite;

my $JSON = JSON::PP->new->utf8->allow_nonref;
my $TOKENS = 500;

my @kinds = qw(order invoice parcel customer);
my %files = ('README.md' => "# A shop\n\nAll about orders.\n",
	'long.md' => "# Long\n\n" . ("\xc3\xa9" x 30000) . "\nend\n",
	'bytes.bin' => "\xff\0");
for my $n (1 .. 250) {
	my $kind = $kinds[$n % @kinds];
	$files{"desk$n.md"} = "---\ntitle: Desk $n for ${kind}s\ntools:\n"
	    . "  - [git, log, ;]\n"
	    . "  - { name: ${kind}_show, description: Shows one $kind, "
	    . "command: [echo, $kind, { name: number, type: integer }, ;] }\n"
	    . "  - { name: take, command: [cat, ;], stdin: true }\n"
	    . "  - [echo, desk$n, {}]\n---\n# Desk\n";
}
$files{'refund.md'} = "---\ntools: [{ name: refund, description: Pays back, "
    . "command: [echo, refunded, { name: id }, ;], confirm: true }]\n---\n";

my $server = Statespace::Server->start(files => \%files, config =>
	"[mcp]\nenabled = true\nname = \"shop\"\n"
	. "icon = \"https://shop.example/logo.png\"\n"
	. "instructions = \"The shop: orders and refunds.\"\n");
my $id = 0;
binmode $_, ':utf8' for Test::More->builder->failure_output;

sub rpc
{
	my ($method, $params) = @_;
	my $answer = $server->request('POST', '/mcp', headers => {
		'Content-Type' => 'application/json',
		Accept => 'application/json, text/event-stream' },
		body => $JSON->encode({ jsonrpc => '2.0', id => ++$id,
			method => $method, params => $params || {} }));

	return ($JSON->decode($answer->{body})->{result}, $answer->{body});
}

# isError and the text.
sub call
{
	my ($name, %arguments) = @_;
	my ($r) = rpc('tools/call',
		{ name => $name, arguments => \%arguments });

	return ($r->{isError} ? 'error: ' : '')
	    . join('|', map { $_->{text} } @{ $r->{content} });
}

# ------------------------------------------------------------------ cost --

my ($first, $first_text) = rpc('initialize', { protocolVersion => '2025-11-25',
	capabilities => {}, clientInfo => { name => 't', version => '1' } });
my ($list, $list_text) = rpc('tools/list');
cmp_ok(length($first_text . $list_text) / 4, '<', $TOKENS,
	'a thousand tools: initialize and tools/list, to the last byte');
note('tokens: ', length($first_text . $list_text) / 4);
is_deeply([map { $_->{name} } @{ $list->{tools} }], [qw(search read run)],
	'three tools are for all');
is_deeply($first->{serverInfo}, { name => 'shop',
	version => $first->{serverInfo}{version},
	icons => [{ src => 'https://shop.example/logo.png' }] },
	'the server has the name and the icon of the configuration');
like($first->{instructions}, qr/\AThe shop: orders and refunds\.\n.*search/s,
	'and its instructions, before ours');
ok(!grep({ !defined $_->{title} } @{ $list->{tools} }), 'each has a title');

# ---------------------------------------------------------------- search --

my $found = call('search', query => 'pays BACK');
like($found, qr/\Arefund\.md \(/, 'words of a description find a tool');
like($found, qr/`\{"command": \["echo", "refunded", "id"\]\}`/,
	'with a request that works');
unlike($found, qr/desk/, 'and nothing else');
$found = call('search', query => 'desk7 echo');
like($found, qr/\Adesk7\.md \(Desk 7 /, 'the best is the first');
like(call('search', query => 'invoice'), qr/\[the best 12 of \d+; more words/,
	'what is too much is counted');
like(call('search', query => 'xyzzy'), qr/^Nothing has these words/,
	'nothing is told');
like(call('search', query => 'Long'), qr/^long\.md \(Long\)$/m,
	'a page without tools is found');
my $pages = call('search');
like($pages, qr/^desk1\.md \(Desk 1 for invoices\), 4 tools$/m,
	'without words the pages are listed');
my %seen;
for (my $skip = 0; defined $skip;) {
	my $piece = call('search', skip => $skip);
	$seen{$_}++ for $piece =~ /^(\S+) \(/mg;
	($skip) = $piece =~ /"skip": (\d+)\]/ ? $1 : undef;
}
is_deeply([grep { /\.md$/ && !$seen{$_} } sort keys %files], [],
	'in pieces that miss none');
like(call('search', query => 7), qr/^error: "query" must be a text/,
	'a query is a text');
like(call('search', skip => -1), qr/^error: "skip" must be a whole number/,
	'and skip a number');
like(call('search', skip => 1e9), qr/no more pages/, 'of any size');

# ------------------------------------------------------------------ read --

like(call('read', page => 'refund'), qr/command: \[echo, refunded/,
	'a page is read as it is');
my ($text, $offset) = ('', 0);
for (1 .. 9) {
	my $piece = call('read', page => 'long.md', offset => $offset);
	($offset) = $piece =~ s/\n\[bytes .*"offset": (\d+)\]\z// ? $1 : undef;
	$text .= $piece;
	last if !defined $offset;
}
is($text, "# Long\n\n" . ("\x{e9}" x 30000) . "\nend\n",
	'a long one in parts, of whole characters');
like(call('read', page => 'none'),
	qr/^error: .*\nsearch without words lists the pages/,
	'a page that is not there');
like(call('read', page => 'bytes.bin'), qr/^error: bytes.bin is no text/,
	'bytes are refused');
like(call('read', page => '../x'), qr/^error: /, 'a path that leaves the site');
is(call('read', page => 'long', offset => 9_999_999), '', 'behind the end');

# ------------------------------------------------------------------- run --

is(call('run', page => 'desk7', command => ['echo', 'desk7', 'hi']),
	"desk7 hi\n", 'a command runs');
like(call('run', page => 'desk7.md', tool_call => { name => 'order_show' }),
	qr/^error: no tool of \/desk7.md has the name "order_show"\nsearch finds/,
	'a tool of another page does not');
my ($kind) = $files{'desk7.md'} =~ /name: (\w+_show)/;
is(call('run', page => 'desk7', tool_call => { name => $kind,
	arguments => { number => 5 } }), $kind =~ s/_show//r . " 5\n",
	'a tool runs by name');
is(call('run', page => 'desk7', tool_call => { name => 'take' },
	stdin => 'mine'), 'mine', 'with its standard input');
like(call('run', page => 'desk7', tool_call => { name => $kind,
	arguments => { number => 'x' } }), qr/^error: .*number/,
	'its arguments are checked');
like(call('run', page => 'desk7', tool_call => 'take'),
	qr/^error: "tool_call" must be an object/, 'it is an object');
like(call('run', page => 'desk7', command => ['id']),
	qr/^error: .*no tool of this page/, 'nothing else runs');
like(call('run', page => 'refund', tool_call => { name => 'refund',
	arguments => { id => 'x' } }), qr/^error: .*a person must agree/,
	'a person is asked as ever');
my ($of_page) = call('search', query => 'desk7 echo') =~ /\A(.*?)^desk\d\d/ms;
for ($of_page =~ /^  - `(\{.*\})`$/mg) {
	my $request = $JSON->decode($_);
	like(call('run', page => 'desk7', %$request), qr/^(desk7|[a-z]+ \d)/,
		"what search shows runs: $_");
}

# ----------------------------------------------------------------- names --

is(call("desk8_take", stdin => 'x'), 'x',
	'a tool whose name others have is called with its page');
like((rpc('tools/call', { name => 'take', arguments => {} }))[1],
	qr/there is no tool/, 'and by no name that several have');
is(call('desk8_git_log') =~ /there is no|not a git|No such|error/ ? 1 : 0, 1,
	'a derived one is of its page');
$server->stop_ok;

# Two pages with one name, and what becomes of it.
$server = Statespace::Server->start(files => {
	'README.md' => "# x\n",
	'a.md' => "---\ntools: [{ name: find, command: [echo, a, ;] }]\n---\n",
}, config => "[mcp]\nenabled = true\n");
my $names = sub { return [map { $_->{name} } @{ (rpc('tools/list'))[0]{tools} }] };
is_deeply($names->(), ['find'], 'a name of its own');
$server->site->write('docs/b.md',
	"---\ntools: [{ name: find, command: [echo, b, ;] }]\n---\n");
is_deeply($names->(), ['a_find', 'docs-b_find'],
	'two tools of one name have their page before it');
is(call('docs-b_find'), "b\n", 'by which they are called');
$server->site->write('docs/b.md', "---\ntitle: Other\ntools: [{ name: find, "
	. "description: New, command: [echo, b, ;] }]\n---\n");
is_deeply($names->(), ['a_find', 'docs-b_find'], 'a description changes none');
unlink $server->site->dir . '/docs/b.md';
is_deeply($names->(), ['find'], 'alone it has the short one again');
$server->stop_ok;

done_testing();
