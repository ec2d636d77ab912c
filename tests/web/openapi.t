#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# /openapi.json: one operation for each listed tool, with the names of MCP, whose
# examples run as they are.  With `make deps-openapi` also two validators of
# others and a client that a generator makes of it.
use strict;
use warnings;
use Cwd qw(abs_path);
use FindBin;
use JSON::PP;
use lib "$FindBin::Bin/../lib";
use Test::More;
use Statespace::Server;
use Statespace::TestSite qw(write_file);

my $TOP = abs_path("$FindBin::Bin/../..");
my $BUILD = abs_path($ENV{BUILD} // "$TOP/build");

plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');

my %FILES = ('README.md' => <<'END', 'docs/{a} b.md' => <<'END', 'h.md' => <<'END');
---
env: [ZONE]
tools:
  - name: count
    description: Counts from one
    command: [seq, { name: to, type: integer, min: 1, max: 9, examples: ['3'] }, ;]
  - [echo, { name: what, enum: [salt, pepper] }, ;]
  - { name: twice, command: [echo, { text: 'a{n}b{n}', n: '^[0-9]$' }], stdin: true }
  - { name: ask, command: [echo, done, ;], confirm: true }
  - { name: shared, command: [echo, one, ;] }
---
# Root
END
---
tools: [{ name: shared, command: [echo, two, ;] }]
---
# Other
END
---
hidden: true
tools: [[date, ;]]
---
END
$FILES{'w.md'} = <<'END';
---
workspace: overlay
tools: [{ name: change, command: [touch, new, ;] }]
---
END
my $server = Statespace::Server->start(files => \%FILES,
	config => "[grant]\nworkspace = [\".\"]\n");
my $get = $server->request('GET', '/openapi.json');

is $get->{status}, 200, 'it is there';
is $get->{headers}{'content-type'}, 'application/json', 'as JSON';
my $api = decode_json($get->{body});
is $api->{openapi}, '3.1.0', 'of OpenAPI 3.1';
is_deeply [sort keys %{$api->{paths}}], [
	map({ "/README.md#$_" } qw(ask count echo shared twice)),
	'/docs/%7Ba%7D%20b.md#docs--a--b_shared', '/w.md#change'],
    'one operation for each tool, none of a hidden page';
my %by_name;
for my $path (keys %{$api->{paths}}) {
	my $post = $api->{paths}{$path}{post};
	my ($name) = $path =~ /#(.*)/;
	is $post->{operationId}, $name, "$name is its own id";
	$by_name{$name} = [$path, $post];
}
my $count = $by_name{count}[1];
is $count->{description}, 'Counts from one', "the author's description";
my $schema = $count->{requestBody}{content}{'application/json'}{schema};
is_deeply $schema->{properties}{tool_call}{properties}{arguments}{properties}
    ->{to}, { type => 'integer', minimum => 1, maximum => 9, examples => [3] },
    'arguments have the types of the page';
my ($plain, $changing) = map {
	$by_name{$_}[1]{requestBody}{content}{'application/json'}{schema}{properties}
} qw(count change);
ok !$plain->{workspace}, 'no workspace of a page without one';
is_deeply [map { ($_, $changing->{workspace}{properties}{$_}{type}) }
	qw(session commit)], [session => 'string', commit => 'boolean'],
    'a page with one takes its session and commit';
for my $name (grep { !/^(?:ask|change)$/ } sort keys %by_name) {
	my ($path, $post) = @{$by_name{$name}};
	my $example = $post->{requestBody}{content}{'application/json'}{example};
	$path =~ s/#.*//;
	my $answer = $server->request('POST', $path,
		headers => { 'Content-Type' => 'application/json' },
		body => encode_json($example));
	is $answer->{status}, 200, "the example of $name runs";
}
is $server->request('GET', '/openapi.json',
	headers => { 'If-None-Match' => $get->{headers}{etag} })->{status}, 304,
    'who has it is told so';
my $head = $server->request('HEAD', '/openapi.json');
is $head->{headers}{'content-length'}, length $get->{body}, 'HEAD has its length';
is $server->request('POST', '/openapi.json',
	headers => { 'Content-Type' => 'application/json' }, body => '{}')->{status},
    405, 'nothing runs there';
like $server->request('GET', '/')->{headers}{link},
    qr{</openapi\.json>; rel="service-desc"}, 'each page leads there';

# ------------------------------------------------ others that read it ------
SKIP: {
	my ($tools) = grep { -x "$_/venv/bin/openapi-spec-validator" }
	    map { "$_/openapi" } $BUILD, "$TOP/build";
	skip 'the validators are not in build/openapi: make deps-openapi', 4
	    unless $tools;
	my $dir = File::Temp::tempdir('statespace-XXXXXXXX', TMPDIR => 1,
		CLEANUP => 1);
	my $said = sub {
		my $out = `cd '$dir' && HOME='$dir' PATH='$tools/node_modules/.bin':"\$PATH" @_ 2>&1`;
		return ok($? == 0, $_[0]) || diag $out;
	};
	write_file("$dir/o.json", $get->{body});
	$said->("'$tools/venv/bin/openapi-spec-validator' o.json");
	$said->("node '$tools/node_modules/\@redocly/cli/bin/cli.js' lint o.json");
	$said->("'$tools/venv/bin/openapi-python-client' generate "
		. '--path o.json --output-path client --meta none');
	write_file("$dir/call.py", <<'END');
import sys
from client import Client
from client.api.default import count
from client.models import *
body = CountBody.from_dict({"tool_call": {"name": "count", "arguments": {"to": 2}}})
with Client(base_url=sys.argv[1]) as client:
    result = count.sync(client=client, body=body)
assert result.stdout == "1\n2\n", result
END
	$said->("'$tools/venv/bin/python' call.py http://127.0.0.1:"
		. $server->port);
}
$server->stop_ok;
done_testing;
