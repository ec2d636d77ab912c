#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Random pages: AGENTS.md, openapi.json, MCP and the browser's cards name the
# same tools, and the example of each runs the same words by all of them.
# SEED chooses the pages, RUNS how many sites there are.
use strict;
use warnings;
use Cwd ();
use FindBin;
use JSON::PP;
use lib "$FindBin::Bin/../lib";
use Test::More;
use Statespace::Server;

plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');

my $BUILD = Cwd::abs_path($ENV{BUILD} || "$FindBin::Bin/../../build");
my $SEED = $ENV{SEED} // time;
my $RUNS = $ENV{RUNS} // 1;
my $PAGES = 12;
my $JSON = JSON::PP->new->utf8->canonical->allow_nonref;
diag "SEED=$SEED";
srand $SEED;

our @MORE; # headers

sub any { return $_[int rand @_] }

# One part of a tool, as YAML.
sub part
{
	my ($n) = @_;
	my $name = any(qw(what id word city Count to_do arg2 args)) . any('', $n);

	return any(any(qw(a -b --long=x b.txt done)), any(qw(a show list)),
		"{$name}", '{}', "{ regex: '^[a-z]+\$' }",
		"{ name: $name, enum: [red, green] }",
		"{ name: $name, type: integer, min: 2, max: 9 }",
		"{ name: $name, type: number, default: '1.5' }",
		"{ name: $name, type: boolean, optional: true }",
		"{ name: $name, type: date }",
		"{ name: $name, kind: text, examples: ['two words'] }",
		"{ text: 'x={$name}', $name: '^[0-9]+\$' }");
}

sub tool
{
	my ($n) = @_;
	my @parts = (any(qw(echo echo printf)), map { part($_) } 1 .. 1 + rand 4);
	@parts = ('printf', "'%s '", @parts[1 .. $#parts]) if $parts[0] eq 'printf';
	my $command = '[' . join(', ', @parts, any(';', ';', ())) . ']';

	return $command if rand() < 0.5;
	return '{ ' . join(', ', "command: $command",
		(rand() < 0.6 ? 'name: ' . any(qw(search list show get-it x1 Run)) : ()),
		(rand() < 0.5 ? "description: '" . any('Finds it', 'Shows "all"',
			'Of <b>the</b> site & more') . "'" : ())) . ' }';
}

sub pages
{
	my %files = ('README.md' => "# Root\n");

	for my $n (1 .. $PAGES) {
		my $path = any('', 'docs/', 'a b/', 'docs/deep/')
		    . any('README', 'search', "page$n", 'echo') . '.md';
		my @tools = map { tool($_) } 1 .. 1 + rand 5;

		$files{$path} = "---\ntools:\n" . join('', map { "  - $_\n" } @tools)
		    . "---\n# Page $n\n";
	}
	return \%files;
}

# page => name => request, as AGENTS.md has them.
sub from_agents
{
	my ($text) = @_;
	my (%found, $page, $name);

	for (split /\n/, $text =~ s/.*^## Pages$//msr) {
		($page, $name) = ($1, undef) if /^`([^`]+\.md)`/;
		$name = $1 if /^- \*\*(\S+)\*\* /;
		$found{$page}{$name} //= $1
		    if defined $name && /`(\{"(?:command|tool_call)": .*?\})`(?:,|:|$)/;
	}
	return \%found;
}

for my $run (1 .. $RUNS) {
	my $files = pages();
	my $server = Statespace::Server->start(files => $files,
		config => "[mcp]\nmax_tools = 1000\n");
	my $get = sub { $server->request('GET', @_)->{body} };
	my $post = sub {
		my ($path, $body) = @_;
		my $answer = $server->request('POST', $path, body => $body,
			headers => { 'Content-Type' => 'application/json',
				Accept => 'application/json, text/event-stream', @MORE });
		return $JSON->decode($answer->{body});
	};
	my $rpc = sub {
		my ($method, $params) = @_;
		local @MORE = ('MCP-Protocol-Version' => '2026-07-28',
			'Mcp-Method' => $method, $params->{name}
			? ('Mcp-Name' => $params->{name}) : ());
		return $post->('/mcp', $JSON->encode({ jsonrpc => '2.0', id => 1,
			method => $method, params => { %$params, _meta => {
				'io.modelcontextprotocol/protocolVersion' => '2026-07-28',
				'io.modelcontextprotocol/clientInfo' => { name => 't', version => 1 },
				'io.modelcontextprotocol/clientCapabilities' => {} } } }))
		    ->{result};
	};
	my $api = $JSON->decode($get->('/openapi.json'));
	my $agents = from_agents($get->('/AGENTS.md'));
	my %by_page;
	my %path_of = map { (s/ /%20/gr =~ s/^/\//r) => $_ } keys %$files;
	for my $path (keys %{$api->{paths}}) {
		my ($page, $name) = split /#/, $path;
		my $post = $api->{paths}{$path}{post};

		is($post->{operationId}, $name, "$path: one name") if $post->{operationId} ne $name;
		$by_page{$path_of{$page}}{$name} =
		    $post->{requestBody}{content}{'application/json'};
	}
	my $list = $rpc->('tools/list', {});
	my %mcp = map { $_->{name} => $_ } @{$list->{tools} // []};
	is_deeply([sort keys %mcp], [sort map { keys %$_ } values %by_page],
		'MCP and OpenAPI have the same names');
	for my $page (sort keys %by_page) {
		my $ops = $by_page{$page};
		my $told = $agents->{$page} // {};
		my $url = '/' . $page =~ s/ /%20/gr;
		my $html = $server->request('GET', $url,
			headers => { Accept => 'text/html' })->{body};

		my $part = $page =~ s{(?:/?README)?\.md$}{}r =~ s/[^\w-]/-/gr;

		# The label within the page, or that with the page before it.
		my %name_of = map { my $label = $_;
			my ($full) = grep { $_ eq $label } keys %$ops;
			$full //= $part . "_$label";
			($full) = grep { /^\Q$label\E-[0-9a-f]{8}$/ } keys %$ops
			    unless $ops->{$full};
			$label => $full } keys %$told;
		my @labels = grep { defined $name_of{$_} } sort keys %$told;
		cmp_ok(scalar(@labels), '>=', 1, "$page: tools are told")
		    or diag $JSON->encode([$told, [keys %$ops]]);
		for my $label (@labels) {
			my $op = $ops->{$name_of{$label}};
			my $example = $op->{example};
			my $args = $example->{tool_call}{arguments};
			my $by_agents = $post->($url, $told->{$label});
			my $by_api = $post->($url, $JSON->encode($example));
			my $by_label = $post->($url, $JSON->encode({ tool_call =>
				{ name => $label, arguments => $args } }));
			my $by_mcp = $rpc->('tools/call', { name => $name_of{$label},
				arguments => $args });
			my $want = $by_agents->{stdout};

			is($by_agents->{returncode}, 0, "$page: $label runs")
			    or diag $JSON->encode($by_agents), $files->{$page};
			is_deeply([map { $_->{stdout} } $by_api, $by_label], [$want, $want],
				'as OpenAPI has it, and by its label')
			    or diag $JSON->encode([$by_api, $by_label]), $files->{$page};
			is($by_mcp->{content}[0]{text}, $want, 'and over MCP')
			    or diag $JSON->encode($by_mcp);
			is_deeply($op->{schema}{properties}{tool_call}{properties}{arguments},
				$mcp{$name_of{$label}}{inputSchema}, 'with one schema');
			like($html, qr/>\Q$label\E</, 'and a card of that name')
			    or diag $html =~ /(<section class="tools.*)/s;
		}
	}
	my $dir = $server->site->dir;
	my $said = `cd / && '$BUILD/statespace' check '$dir' 2>&1`;

	like($said, qr/^\d+ pages?, 0 errors/m, 'statespace check compares them too')
	    or diag $said;
	$server->stop_ok;
}

done_testing;
