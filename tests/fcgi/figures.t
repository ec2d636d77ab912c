#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The figures of tools: runs, processor time and memory by page and tool, named
# by the pages that are listed.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json encode_json);
use Statespace::FastCGI qw(request variables call talk);
use Statespace::Pool;
use Statespace::TestSite;
use Test::More;

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my $page = "---\ntools:\n  - ['true']\n  - [echo, {}]\n" .
    "  - [sh, -c, {}]\n  - [no-such-program]\n---\n";
my $odd = 'docs/a"b\\c.md';
my $site = Statespace::TestSite->new(files => { 'README.md' => $page,
	$odd => $page, 'hidden/x.md' => $page });
$site->link('linked.md', 'hidden/x.md');
my $pool = Statespace::Pool->start(site => $site,
	config => "[pool]\nmode = \"static\"\nworkers = 2\n[mcp]\n" .
	"enabled = true\n[http]\nlisted = [\"/*.md\", \"/docs/**\"]\n");

sub figures
{
	return talk($pool->socket . '.status', request(variables(
		SCRIPT_NAME => '/__meta/status', STATESPACE_STATUS => 1,
		@_)))->{body};
}
sub tools { return decode_json(figures())->{tools} }
sub text { return figures(HTTP_ACCEPT => 'text/plain') }
sub run { return talk($pool->socket, call(@_)) }

is(tools()->{runs}, 0, 'no tool has run');
is_deeply(tools()->{listed}, [], 'so none is named');
if (run('/', ['true'])->{status} != 200) {
	$pool->stop_ok;
	done_testing;
	exit;
}
is(run('/', ['echo', "$_"])->{status}, 200, "run $_") for 1 .. 3;
is(run('/README.md', ['sh', '-c',
	'x=$(head -c 8000000 /dev/zero | tr "\0" y); i=0;' .
	' while [ $i -lt 20000 ]; do i=$((i+1)); done'])->{status}, 200,
	'one that computes and fills memory');
is(run("/$odd", ['sh', '-c', 'exit 3'])->{status}, 200, 'one that fails');
is(run('/', ['no-such-program'])->{status}, 500, 'one that does not start');
is(run('/', ['rm'])->{status}, 403, 'and one that is refused');
is(run('/hidden/x', ['true'])->{status}, 200, 'a page that is linked');
is(run('/linked', ['true'])->{status}, 200, 'by its other name');

my $body = encode_json({ jsonrpc => '2.0', id => 1, method => 'tools/call',
	params => { name => 'docs-a-b-c_true', arguments => {} } });
like(talk($pool->socket, request(variables(REQUEST_METHOD => 'POST',
	SCRIPT_NAME => '/mcp', CONTENT_TYPE => 'application/json',
	HTTP_ACCEPT => 'application/json, text/event-stream',
	HTTP_MCP_PROTOCOL_VERSION => '2025-11-25',
	CONTENT_LENGTH => length $body), $body))->{body}, qr/"isError":\s*false|"content"/,
	'a call over MCP');

my %ran;
my $tools;
ok($pool->until_true(sub {
	$tools = tools();
	%ran = map { ("$_->{page} $_->{tool}" => $_) } @{$tools->{listed}};
	return $tools->{runs} >= 9;
}), 'they are counted') or diag explain $tools;
is($ran{'README.md 0'}{runs}, 1, 'by tool');
is($ran{'README.md 1'}{runs}, 3, 'each');
is($ran{"$odd 2"}{runs}, 1, 'and by page');
is($ran{"$odd 0"}{runs}, 1, 'over MCP too');
is($ran{'linked.md 0'}{runs}, 2, 'under the name that is listed');
ok(!$ran{'README.md 3'}, 'what did not start is not counted');
is($tools->{other}{runs}, 0, 'all have a name');
cmp_ok($ran{'README.md 2'}{memory_most}, '>', 8_000_000,
	'the largest memory of a tool');
is($tools->{memory_most}, $ran{'README.md 2'}{memory_most}, 'and of all');
cmp_ok($ran{'README.md 2'}{cpu_s}, '>', 0, 'its processor time');
cmp_ok($tools->{cpu_s}, '>=', $ran{'README.md 2'}{cpu_s}, 'and of all');

my $text = text();
like($text, qr/^statespace_page_tool_runs_total\{page="README\.md",tool="1"\} 3$/m,
	'a scraper gets the same');
like($text, qr/^statespace_page_tool_runs_total\{page="docs\/a\\"b\\\\c\.md",tool="2"\} 1$/m,
	'with a path escaped');
like($text, qr/^statespace_tool_cpu_seconds_count $tools->{runs}$/m,
	'processor times of all runs');
like($text, qr/^statespace_tool_memory_bytes_bucket\{le="\+Inf"\} $tools->{runs}$/m,
	'and their memory');
like($text, qr/^statespace_tool_memory_most_bytes $tools->{memory_most}$/m,
	'the largest');
SKIP: {
	skip 'promtool is not installed', 1 unless `which promtool 2>/dev/null`;
	open my $check, '|-', 'promtool check metrics >/dev/null' or die;
	print $check $text;
	ok(close $check, 'promtool finds it correct');
}

# Pages come and go; a reload and new workers keep the counts.
unlink $site->dir . '/linked.md';
is(tools()->{other}{runs}, 2, 'a page that is gone has no name');
$site->write('docs/new.md', $page);
is(run('/docs/new', ['true'])->{status}, 200, 'a new page');
ok($pool->until_true(sub {
	grep { $_->{page} eq 'docs/new.md' } @{tools()->{listed}} }),
	'has one');
my $before = tools()->{runs};
$pool->signal('HUP');
ok($pool->log_says(qr/reloaded/), 'after a reload');
ok($pool->until_true(sub { eval { tools()->{runs} } == $before }),
	'nothing is lost');
$pool->stop_ok;

done_testing;
