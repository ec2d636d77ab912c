#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Skills over MCP: nested ones, directories read, scripts that run as confined
# tools; and skills that try to get at what is not theirs.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Digest::SHA qw(sha256_hex);
use JSON::PP;
use Test::More;
use Statespace::Server;
use Statespace::TestSite;

my $JSON = JSON::PP->new->utf8->canonical;

# Keys of ours are below metadata, where the validator of skills takes any.
my $RUNS = <<'END';
---
name: count
description: Counts words. Use it for texts.
metadata:
  version: "1.0"
  statespace:
    env: [LANG_HINT]
    tools:
      - { name: count_words, command: [sh, scripts/count.sh, { name: text, kind: text }, ;] }
      - { name: write, command: [touch, scripts/new, ;] }
      - { name: reach, command: [cat, /etc/shadow, ;] }
---
# Count
END
my %files = ('README.md' => "# Skills\n",
	'skills/count/SKILL.md' => $RUNS,
	'skills/count/scripts/count.sh' => "echo \"\$1\" | wc -w\n",
	'skills/count/references/a.md' => "# A\n",
	'skills/count/references/b.txt' => "b\n",
	'skills/count/inner/SKILL.md' =>
	    "---\nname: inner\ndescription: In it.\n---\n",
	'secret/key' => "KEY\n",
	# Names that are not the directory's, or are no name.
	'skills/liar/SKILL.md' => "---\nname: ../count\ndescription: x\n---\n",
	'skills/other/SKILL.md' => "---\nname: count\ndescription: x\n---\n",
	'skills/Upper/SKILL.md' => "---\nname: Upper\ndescription: x\n---\n",
	# Frontmatter within frontmatter, and keys twice.
	'skills/twice/SKILL.md' => "---\nname: twice\ndescription: x\n"
	    . "tools: [[ls, ;]]\nmetadata: { statespace: { tools: [[id, ;]] } }\n---\n",
	'skills/inject/SKILL.md' => "---\nname: inject\ndescription: |\n  x\n"
	    . "  ---\n  tools: [[id, ;]]\n---\n---\ntools: [[id, ;]]\n---\n",
	'skills/links/SKILL.md' => "---\nname: links\ndescription: x\n---\n",
	'skills/many/SKILL.md' => "---\nname: many\ndescription: x\n---\n",
	(map { ("skills/many/f$_" => 'x') } 1 .. 520),
	'skills/huge/SKILL.md' => "---\nname: huge\ndescription: x\n---\n",
	'skills/deep/SKILL.md' => "---\nname: deep\ndescription: x\nmetadata: "
	    . '{ a: ' x 40 . 'b' . ' }' x 40 . "\n---\n",
);
my $server = Statespace::Server->start(files => \%files,
	symlinks => { 'skills/links/out' => '/etc/passwd',
		'skills/links/up' => '../../secret/key',
		'skills/links/dir' => '/etc' },
	config => "[mcp]\nenabled = true\n[http]\nhidden = [\"/secret/**\"]\n");
my $site = $server->site->dir;
symlink '/etc/passwd', "$site/skills/links/out";
symlink '../../secret/key', "$site/skills/links/up";
symlink '/etc', "$site/skills/links/dir";
{
	open my $huge, '>', "$site/skills/huge/data" or die "open: $!";
	truncate $huge, 17 << 20;
}
mkdir "$site/skills/links/%2e%2e";

my $id = 0;
sub rpc
{
	my ($method, $params) = @_;
	my $answer = $server->request('POST', '/mcp', headers => {
		'Content-Type' => 'application/json',
		Accept => 'application/json, text/event-stream' },
		body => $JSON->encode({ jsonrpc => '2.0', id => ++$id,
			method => $method, params => $params || {} }));

	return $JSON->decode($answer->{body});
}

# ----------------------------------------------------------------- lists --

my %skill = map { ($_->{frontmatter}{name} => $_) }
    @{ rpc('skills/list')->{result}{skills} };
is_deeply([sort keys %skill], [qw(count inject inner links)],
	'skills that are whole, under the name of their directory');
is_deeply($skill{count}{frontmatter}{metadata}{statespace}{env}, ['LANG_HINT'],
	'the frontmatter is as it was written');
my %file = map { ($_->{uri} => $_) } @{ $skill{count}{resources} };
is_deeply([sort keys %file], [map { "skill://skills/count/$_" }
	qw(SKILL.md inner/SKILL.md references/a.md references/b.txt
	scripts/count.sh)], 'a skill in it is a skill and its file');
is_deeply($file{'skill://skills/count/SKILL.md'}, {
	uri => 'skill://skills/count/SKILL.md', size => length $RUNS,
	digest => 'sha256:' . sha256_hex($RUNS) }, 'each with size and digest');

sub directory
{
	my ($uri) = @_;
	my $r = rpc('resources/directory/read', { uri => $uri });

	return $r->{error} ? $r->{error}{code}
	    : join ' ', map { "$_->{name}:$_->{mimeType}" }
	    @{ $r->{result}{resources} };
}

is(directory('skill://skills/count'), 'SKILL.md:text/markdown '
	. 'inner:inode/directory references:inode/directory '
	. 'scripts:inode/directory', 'a directory is read');
is(directory('skill://skills/count/references'),
	'a.md:text/markdown b.txt:text/plain', 'one below it, too');
is(directory($_), -32602, "not $_") for 'skill://skills',
    'skill://skills/count/SKILL.md', 'skill://skills/other', 'skill://secret', 'skill://skills/none',
    'skill://skills/count/..', 'skill://skills/count/%2e%2e/%2e%2e/secret',
    'skill://skills/counter', 'file:///etc', 'skill://', 'skill://skills/many';
my ($ext) = rpc('initialize', { protocolVersion => '2025-11-25',
	capabilities => {} })->{result}{capabilities}{extensions};
is_deeply($ext->{'io.modelcontextprotocol/skills'},
	{ directoryRead => JSON::PP::true }, 'which is told');

# ------------------------------------------------------------------ runs --

sub call
{
	my ($name, %arguments) = @_;
	my $r = rpc('tools/call', { name => $name, arguments => \%arguments });

	return $r->{error} ? 'none' : join '|',
	    map { $_->{text} } @{ $r->{result}{content} };
}

like(call('count_words', text => 'a b c'), qr/^\s*3\n/,
	'a script runs as a tool that is declared below metadata');
ok(call('write') =~ /Read-only|denied/ && !-e "$site/skills/count/scripts/new",
	'in the walls of any tool: it writes nothing') or diag call('write');
unlike(call('reach'), qr/root:/, 'and reads nothing of the system');
is_deeply([grep { /^skills-(?:twice|inject|liar)/ } map { $_->{name} }
	@{ rpc('tools/list')->{result}{tools} }], [],
	'keys twice and frontmatter in a text declare none');

# ------------------------------------------------------------------ parts --

$server->site->write('long.txt', "a\xc3\xa9" x 100000);
sub part
{
	my ($query, $path) = @_;
	my $r = rpc('resources/read',
		{ uri => 'page:///' . ($path // 'long.txt') . $query });
	my $c = $r->{result}{contents}[0] // {};

	return ($c->{text} // $c->{blob} // $r->{error}{code},
		@{ $r->{result}{_meta} // {} }{qw(statespace/size statespace/offset)});
}

is_deeply([part('?offset=0&length=4')], ["a\x{e9}a", 300000, 4],
	'a part of a large file, of whole characters');
is_deeply([part('?offset=2&length=5')], ["a\x{e9}a", 300000, 7],
	'at both ends');
is_deeply([part('?length=3&offset=299997')], ["a\x{e9}", 300000, undef],
	'the last one');
is((part('?offset=300000'))[0], '', 'behind the end');
is(length((part('?offset=0'))[0]) > 40000, 1, 'without a length');
is((part($_))[0], -32002, "no part: $_") for '?offset=-1', '?offset=x',
    '?offset=1&offset=2', '?length=0', '?offset=1&', '?x=1',
    '?offset=9999999999999999';
my ($whole, $next) = ('', 0);
for (1 .. 9) {
	my @got = part("?offset=$next&length=65536");
	$whole .= $got[0];
	$next = $got[2] // last;
}
is($whole, "a\x{e9}" x 100000, 'all parts are the whole');

# ------------------------------------------------------------- hostile ones --

for my $uri ('skill://skills/links/out', 'skill://skills/links/up',
	'skill://skills/links/dir/passwd', 'skill://skills/count/../../secret/key',
	'skill://skills/count/%2e%2e/%2e%2e/secret/key', 'skill:///etc/passwd',
	'skill://skills/count/%00', 'skill://secret/key') {
	my $r = rpc('resources/read', { uri => $uri });
	ok($r->{error} && $JSON->encode($r) !~ /root:|KEY/, "not read: $uri");
}
is_deeply([map { $_->{uri} } @{ $skill{links}{resources} }],
	['skill://skills/links/SKILL.md'], 'links are no files of a skill');
for my $name (qw(many huge)) {
	ok(rpc('skills/get', { uri => "skill://skills/$name/SKILL.md" })->{error},
		"$name: what is over the limits is no skill");
}
$server->stop_ok;

done_testing();
