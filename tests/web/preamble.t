#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A page for a client that asks for text/markdown: the lines above it, how many
# tokens it has; and API.md as the page of the root.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Test::More;
use Statespace::Server;

plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');

my $API = "---\ntools:\n  - { name: gone, command: [echo, gone, ;], confirm: true }\n"
    . "  - { name: hi, command: [echo, hi, ;] }\n---\n# The API\n";
my %FILES = ('API.md' => $API, 'plain.md' => "# No tools\n",
	'both/API.md' => $API, 'data.txt' => 'x' x 40);
my %MARKDOWN = (headers => { Accept => 'text/markdown' });

sub lines
{
	my ($request) = @_;

	return '> Run a tool of this page: POST to its address, with '
	    . "Content-Type: application/json.\n> For example: `$request`\n"
	    . "> Nothing else runs. AGENTS.md has all tools of this site, "
	    . "openapi.json their schemas.\n\n";
}

my $server = Statespace::Server->start(files => \%FILES);
my $get = $server->request('GET', '/');
is("$get->{status} $get->{body}", "200 $API", 'API.md is the page of the root');
is($get->{headers}{'x-markdown-tokens'}, int(length($API) / 4),
	'the header tells a quarter of its bytes');
is($server->request('GET', '/both/')->{status}, 404, 'of no other folder');

$get = $server->request('GET', '/', %MARKDOWN);
my ($request) = $get->{body} =~ /^> For example: `(.*)`$/m;
is($get->{body}, lines($request // '') . $API,
	'with Accept: text/markdown three lines stand above it');
is($get->{headers}{'x-markdown-tokens'}, int(length($get->{body}) / 4),
	'... which the header counts, too');
like($get->{headers}{vary} // '', qr/\bAccept\b/i, '... and Vary names Accept');
my $head = $server->request('HEAD', '/', %MARKDOWN);
is_deeply([@{ $head->{headers} }{qw(x-markdown-tokens content-length)}],
	[@{ $get->{headers} }{qw(x-markdown-tokens content-length)}],
	'HEAD has the same headers');
my $answer = $server->request('POST', '/', headers => {
	'Content-Type' => 'application/json' }, body => $request // '{}');
is(eval { decode_json($answer->{body})->{stdout} }, "hi\n",
	'the request in them runs: of the first tool that asks nobody');

is($server->request('GET', '/plain', %MARKDOWN)->{body}, "# No tools\n",
	'a page without tools has none');
$get = $server->request('GET', '/data.txt', %MARKDOWN);
is($get->{body} . ($get->{headers}{'x-markdown-tokens'} // ''), 'x' x 40,
	'a file has neither');
$server->site->write('README.md', "# Read\n");
is($server->request('GET', '/')->{body}, "# Read\n", 'README.md is before API.md');
$server->stop_ok;

$server = Statespace::Server->start(files => \%FILES,
	config => "[http]\npreamble = false\n");
is($server->request('GET', '/', %MARKDOWN)->{body}, $API,
	'[http] preamble = false leaves the page as it is');
$server->stop_ok;

done_testing();
