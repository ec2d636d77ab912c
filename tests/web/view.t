#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Pages for people and lists for agents, through `statespace serve` and a real
# nginx: which form a client gets, its validators and its policy; the files
# that a site has without holding them.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Test::More;
use Time::HiRes qw(sleep time);
use Statespace::Server;

plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');

my $HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
my $POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; "
    . "connect-src 'self'; img-src 'self' blob:; frame-ancestors 'none'; "
    . "base-uri 'none'; form-action 'none'";

sub many_tools
{
	my ($count) = @_;

	return "---\ntools:\n" . join('', map { "  - [t$_, {}]\n" } 1 .. $count)
	    . "---\n# Many\n";
}

my $server = Statespace::Server->start(files => {
	'README.md' => "---\ntitle: \"Front & centre\"\n"
	    . "description: What it\n---\n# Front\n",
	'docs/README.md' => "---\ntools:\n"
	    . "  - name: find\n    description: Finds words\n    command: [grep, "
	    . "-r, { name: word, description: what to find }, "
	    . "{ regex: '^[a-z]`+\$', name: place }, \$KEY, ;]\n"
	    . "    stdin: true\n    env: [OTHER, LESSOPEN, TZ]\n  - [ls, {}]\n"
	    . "env: [LESSOPEN, TZ, KEY]\n---\n"
	    . "# The *docs*\n\n[up](../README.md) [side](a.md)\n",
	'docs/a.md' => "No heading.\n",
	'typed.md' => <<'END',
---
tools:
  - name: get
    description: All types
    command:
      - printf
      - '%s|'
      - { name: n, type: integer, min: 1, max: 99, default: 10 }
      - { name: ratio, type: number, examples: [1.5, 2] }
      - { name: state, enum: [open, "it's"], default: open }
      - { name: all, type: boolean, optional: true, description: Each }
      - { name: day, type: date, min: 2026-01-31 }
      - { text: '/i/{id}?q={q}', id: { type: integer },
          q: { kind: text, escape: url, examples: [tea] } }
      - ;
  - { command: [wc, -c, ;], stdin: true, output: text/csv }
  - [printf, fixed|, ;]
  - { name: pair, command: [printf, '%s|', { name: a, regex: '^[a-z]+-[0-9]$', examples: [word-1] }, {}, ;] }
  - { name: careful, command: [echo, done, ;], confirm: true }
  - { name: shell, command: [sh, -c, 'echo hello $0', { name: to, examples: [x] }, ;] }
---
# Typed
END
	'docs/[x] y.markdown' => "# [x](y)\n",
	'hidden/secret.md' => "# SECRET\n",
	'bad.md' => "---\ntools: ls\n---\n# Bad\n",
	'now.md' => "# Now\n\n```component\ndate +%N; echo '<script>x'\n```\n",
	'data.csv' => "a,b\n",
	'powers.md' => "---\ntools:\n  - [\$SH, -c, {}, ;]\n"
	    . "  - [\$FETCH, {}, ;]\n---\n# Powers\n",
	'.dot.md' => "# Dot\n",
	'tools/most.md' => many_tools(500),
	'tools/more.md' => many_tools(501),
	'tools/thousands.md' => many_tools(20_000),
	'tools/large.md' => "---\ntools:\n  - [a, '" . '"' x 1_000_000
	    . "', ;]\n  - [b]\n---\n",
	'tools/text.md' => '"' x 1_000_000,
	# What libcmark-gfm needs seconds to minutes for.
	'costly/address.md' => 'www.a' . ')' x 200_000,
	'costly/table.md' => "a\n" x 200_000 . '|-',
	'costly/pi.md' => 'a ' . '<?' x 100_000,
}, symlinks => {
	'linked.md' => 'docs/a.md', 'out.md' => '$OUT/secret.md',
	'loop' => '.',
}, config => "[http]\nlisted = [\"/*.md\", \"/{docs,other}/**\"]\n"
    . "[env]\nSH = \"bash\"\nFETCH = \"curl\"\n");

sub html
{
	my ($path, $method, %headers) = @_;

	return $server->request($method || 'GET', $path,
		headers => { Accept => $HTML, %headers });
}

my $before = $server->site->listing;

# ------------------------------------------------------------ which form --

for ([undef, 'markdown', 'says nothing'], ['*/*', 'markdown', 'takes all'],
	['text/markdown', 'markdown', 'wants Markdown'],
	['text/markdown, text/html', 'markdown', 'likes both'],
	['text/html;q=0.5, text/markdown', 'markdown', 'likes HTML less'],
	[$HTML, 'html', 'is a browser'], ['text/html', 'html', 'wants HTML'],
	['application/pdf', 'markdown', 'wants what there is not']) {
	my ($accept, $form, $who) = @$_;
	my $answer = $server->request('GET', '/docs',
		headers => { Accept => $accept });
	like($answer->{headers}{'content-type'},
		qr{^text/$form; charset=utf-8$}, "a client that $who: $form");
	is($answer->{headers}{vary}, 'Accept', 'told apart by Accept');
	is($answer->{headers}{link}, '</AGENTS.md>; rel="service-doc", '
		. '</openapi.json>; rel="service-desc", '
		. '</llms.txt>; rel="index"', '... and led to what explains');
}
is(html('/data.csv')->{headers}{link}, undef, 'a data file leads nowhere');
like(html('/data.csv')->{headers}{'content-type'}, qr{^text/csv},
	'a data file has one form');
is(html('/nothing')->{status}, 404, 'what is not there is not there');

my $page = html('/docs');
my $source = $server->request('GET', '/docs');
is($page->{headers}{'content-security-policy'}, $POLICY,
	'the policy, word by word');
is($page->{headers}{'x-content-type-options'}, 'nosniff', 'never sniffed');
isnt($page->{headers}{etag}, $source->{headers}{etag},
	'each form has a tag of its own');
ok(!$page->{headers}{'last-modified'},
	'HTML has no date: it changes with its neighbours');
is(html('/docs', 'GET', 'If-None-Match' => $page->{headers}{etag})->{status},
	304, 'the tag of the HTML: not modified');
is(html('/docs', 'GET', 'If-None-Match' => $source->{headers}{etag})->{status},
	200, 'the tag of the Markdown: whole');
my $head = html('/docs', 'HEAD');
is($head->{body}, '', 'HEAD has no body');
is($head->{headers}{$_}, $page->{headers}{$_}, "HEAD has the $_ of GET")
    for qw(etag content-length content-type content-security-policy);

# What a tool may touch is told by the program that its first word means,
# also when a variable names it.
my ($shell, $fetch) = html('/powers')->{body}
    =~ m{(<ul class="touch".*?</ul>).*(<ul class="touch".*?</ul>)}s;
like($shell, qr{may start any program}, 'a shell that a variable names');
like($shell, qr{no network}, 'has no network all the same');
like($fetch, qr{the public Internet, over HTTP},
	'the HTTP tool that a variable names');
unlike($fetch, qr{no network|any program}, 'and says nothing else');

# ---------------------------------------------------------- large pages --

for (['most', 500, 0], ['more', 500, 1], ['thousands', 500, 19_500],
	['large', 1, 1]) {
	my ($name, $cards, $hidden) = @$_;
	my $answer = html("/tools/$name");
	is($answer->{status}, 200, "a page of large content, $name: answered");
	is(scalar(() = $answer->{body} =~ /<div class="tool"/g), $cards,
		"$cards tools are shown");
	my ($count) = $answer->{body} =~ m{<p\ class="note">(\d+)\ more\ tools?
		\ (?:is|are)\ not\ shown\ here:\ <a\ href="\#_source">}x;
	is($count // 0, $hidden, "a line counts the $hidden that are not");
}
is(html('/tools/text')->{status}, 200, 'a text that grows six-fold as HTML');

# ------------------------------------------------------- costly Markdown --

for my $name (qw(address table pi)) {
	my $answer = html("/costly/$name");
	is($answer->{status}, 200, "costly Markdown, $name: answered");
	like($answer->{body}, qr{</article>}, 'whole');
}
like(html('/costly/pi')->{body},
	qr{takes too long to render.*<pre class="plain"[^>]*>a &lt;\?&lt;}s,
	'what takes too long to render is shown as its source');

# ------------------------------------------------------------ the errors --

my $lost = html('/docs/<i>nothing');
is($lost->{status}, 404, 'a browser that asks for what is not there: 404');
is($lost->{headers}{'content-type'}, 'text/html; charset=utf-8',
	'said as a page');
is($lost->{headers}{'content-security-policy'}, $POLICY, 'with its policy');
is($lost->{headers}{'x-content-type-options'}, 'nosniff', 'and its guard');
is($lost->{headers}{'cache-control'}, 'no-store', 'never kept');
like($lost->{body}, qr{<h1>Not found</h1>\n<p>no such page or file</p>},
	'what happened');
like($lost->{body}, qr{<code>http://[\d.:]+/docs/%3Ci%3Enothing</code>},
	'to what was asked for, escaped');
like($lost->{body}, qr{Status 404, <code>not_found</code>}, 'its code');
like($lost->{body}, qr{<a href="\.\./">Back to the front page</a>},
	'the way back');
like($lost->{body}, qr{<nav class="pages".*>bad</a>.*>docs/</a>}s,
	'and the pages of the site');
unlike($lost->{body}, qr{SECRET|hidden}, 'those that are listed');
my $lost_head = html('/docs/<i>nothing', 'HEAD');
is($lost_head->{status}, 404, 'HEAD of it');
is($lost_head->{body}, '', 'has no body');
is($lost_head->{headers}{$_}, $lost->{headers}{$_}, "and the $_ of GET")
    for qw(content-length content-type content-security-policy cache-control);
my $words = qr/\Ano such page or file\nnext: .*\/AGENTS\.md\n\z/;
for (['*/*', 'text/plain', $words], [undef, 'text/plain', $words],
	['text/markdown', 'text/plain', $words], ['application/json', 'application/json', qr/"code":"?\s*"not_found"/]) {
	my ($accept, $type, $body) = @$_;
	my $answer = $server->request('GET', '/nothing',
		headers => { Accept => $accept });
	like($answer->{headers}{'content-type'}, qr{^$type},
		($accept // 'no Accept') . ": an error is $type");
	like($answer->{body}, $body, 'in its old words, and with a next step');
	ok(!$answer->{headers}{'content-security-policy'}, 'without a policy');
}
my $refused = html('/out.md');
is($refused->{status}, 403, 'a link that leaves the site: 403');
like($refused->{body}, qr{<h1>Refused</h1>.*path_refused}s,
	'said as a page');
like($refused->{body}, qr{<p>Next: .*GET /AGENTS\.md</p>}, 'with a next step');
my $foreign = html('/docs', 'GET', Host => 'evil.example');
is($foreign->{status}, 421, 'another host is refused');
unlike($foreign->{body}, qr{>bad<|class="pages"},
	'and not told which pages there are');
is($server->request('POST', '/nothing', headers => { Accept => $HTML,
	'Content-Type' => 'application/json' }, body => '{"command":["ls"]}')
	->{headers}{'content-type'}, 'application/json',
	'the error of a POST is JSON for everybody');

# ------------------------------------------------------------- the links --

for (['/docs', './', './docs/'], ['/docs/', '../', ''],
	['/docs/README.md', '../', ''], ['/docs/README', '../', '']) {
	my ($path, $root, $base) = @$_;
	my $body = html($path)->{body};
	like($body, qr{href="\Q$root\E__meta/view\.css\?v=},
		"$path finds our style");
	like($body, qr{<a href="\Q$base\E\.\./README\.md">up</a>},
		"$path: a relative link leads to the same page");
	like($body, qr{<a href="\Q$base\Ea\.md">side</a>},
		"$path: so does one beside it");
}
like(html('/docs/a/')->{body}, qr{href="\.\./\.\./__meta/view\.css},
	'a page with a slash behind it finds the root');

like($page->{body}, qr{href="\./docs/%5Bx%5D%20y\.markdown">\[x\] y</a>},
	'a name is a path in its link');
like($page->{body}, qr{>linked</a>}, 'a link within the site is a page');
unlike($page->{body}, qr{>out<|>loop|dot|secret}i,
	'a link out of it is none, nor is what is hidden or not listed');
unlike(html('/docs/a.md')->{body}, qr{id="_tools"}, 'no tools, no cards');
like(html('/bad.md')->{body}, qr{grants no tools.*line 2, column}s,
	'a page that cannot be read says why');

# -------------------------------------------------------- its components --

my $now = html('/now.md');
like($now->{body}, qr{<p>\d+</p>\n<pre[^>]*><code>&lt;script&gt;x\n}s,
	'what a component says is text of the page');
is($now->{headers}{'cache-control'}, 'no-store', 'and never kept');
ok(!$now->{headers}{etag}, 'nor compared');
is(html('/now.md', 'HEAD')->{status}, 200, 'HEAD of it is answered');

# ------------------------------------------------------- style and script --

my ($version) = $page->{body} =~ /view\.css\?v=(\w+)/;
for my $name (qw(view.css view.js)) {
	my $asset = $server->request('GET', "/__meta/$name");
	is($asset->{status}, 200, "$name is served");
	ok(length $asset->{body} > 1000, 'and is something');
	is($asset->{headers}{'cache-control'}, 'no-cache', 'asked for again');
	is($server->request('GET', "/__meta/$name", headers => {
		'If-None-Match' => $asset->{headers}{etag} })->{status}, 304,
		'and then not sent again');
	like($server->request('GET', "/__meta/$name?v=$version")->{headers}
	    {'cache-control'}, qr/immutable/, 'kept when the version is named');
	is($server->request('GET', "/__meta/$name?v=0")->{headers}
	    {'cache-control'}, 'no-cache', 'but not under another version');
	is($server->run("/__meta/$name", ['ls'])->{status}, 405, 'no POST');
}
is($server->request('GET', '/__meta/view.txt')->{status}, 404,
	'there is nothing else of ours');
is($server->request('GET', '/__meta/favicon.svg')->{status}, 404,
	'the icon is not there');

my $form = html('/docs/')->{body};
like($form, qr/data-env="TZ"/, 'a form has a field for a variable');
unlike($form, qr/data-env="(?:OTHER|LESSOPEN)"/,
	'... and none for one that a request may not set');

# ------------------------------------------------------- the virtual files --

my $agents = $server->request('GET', '/AGENTS.md');
like($agents->{headers}{'content-type'}, qr{^text/markdown},
	'AGENTS.md is Markdown');
like($agents->{body}, qr{^- \*\*find\*\* `\[grep, -r, \{word\}, \{place\}, \$KEY, ;\]`, reads}m,
	'it lists a tool with its name and its arguments by theirs');
like($agents->{body}, qr{reads `stdin`, `env`: `TZ`: Finds words$}m,
	'what it takes besides, what a request may set, and what it does');
like($agents->{body}, qr{^  - `word`: what to find; a word$}m,
	'what an argument means');
like($agents->{body}, qr{^  - `place`: a word that matches ``\^\[a-z\]`\+\$``$}m,
	'and what it must match');
like($agents->{body}, qr{^- \*\*docs_ls\*\* `\[ls, \{\}\]`, more words may follow, .*\n  - `\{"command": \["ls", "text"\]\}`$}m,
	'a tool that is open says so, and has an example');

# Each line of the page that has an example is one that works.
{
	my ($block) = $agents->{body} =~ /^### Typed\n(.*?)(?=^###)/ms;
	my @examples = $block =~ /`+ ?(\{"(?:command|tool_call)".*\})`/g;
	my @answers = map { my $a = $server->request('POST', '/typed.md',
		headers => { 'Content-Type' => 'application/json' },
		body => $_); "$a->{status} " . ($a->{body} =~ /"stdout": "(.*?)"/)[0] }
	    @examples;

	is_deeply(\@answers, ['200 10|1.5|open|2026-01-31|/i/1?q=tea|',
		'200 4\\n', '200 fixed|', '200 word-1|text|', '428 ', '200 hello x\\n'],
		'an example of each tool works as it is written')
	    or diag($block);
	is($block, <<'END', 'names, arguments, types and all');

`typed.md`

- **get** `[printf, '%s|', {n}, {ratio}, {state}, {all}, {day}, '/i/{id}?q={q}', ;]`: All types
  - `n`, default `10`: a whole number from 1 to 99
  - `ratio`: a number
  - `state`, default `open`: one of open, it's
  - `all`, optional: Each; true or false
  - `day`: a date as 2026-01-31 from 2026-01-31
  - `id`: a whole number
  - `q`: text that begins with no -
  - `{"tool_call": {"name": "get", "arguments": {"ratio": 1.5, "day": "2026-01-31", "id": 1, "q": "tea"}}}`
- **typed_wc** `{"command": ["wc", "-c"], "stdin": "text"}`, reads `stdin`, prints `text/csv`
- **typed_printf** `{"command": ["printf", "fixed|"]}`
- **pair** `[printf, '%s|', {a}, {}, ;]`
  - `a`: a word that matches `^[a-z]+-[0-9]$`
  - `{"command": ["printf", "%s|", "word-1", "text"]}`
- **careful** `{"command": ["echo", "done"]}`, a person is asked first
- **shell** `[sh, -c, …, {to}, ;]`
  - `{"tool_call": {"name": "shell", "arguments": {"to": "x"}}}`

END
}
like($agents->{body}, qr{^### The docs\n\n`docs/README\.md`$}m,
	'a page without a title is named by its heading');
like($agents->{body}, qr{^### Front & centre\n\n`README\.md`: What it$}m,
	'title and description of the frontmatter come first');
unlike($agents->{body}, qr{SECRET|out\.md|loop|\.dot}, 'only listed pages');
like(html('/AGENTS.md')->{body}, qr{<!doctype html>.*How to use this site}s,
	'a browser gets it as a page');

my $llms = $server->request('GET', '/llms.txt');
like($llms->{headers}{'content-type'}, qr{^text/plain; charset=utf-8},
	'llms.txt is text');
like($llms->{body}, qr{^- \[Front & centre\]\(README\.md\): What it$}m,
	'it lists a page with its description');
like($llms->{body},
	qr{^- \[x\]\(docs/%5Bx%5D%20y\.markdown\)$}m,
	'a name is a path, a heading is text');
like($llms->{body}, qr{^- \[docs/a\.md\]\(docs/a\.md\)$}m,
	'a page without a heading is named by its path');
unlike($llms->{body}, qr{SECRET|out\.md|loop|\.dot|data\.csv},
	'and nothing else');
like($server->request('GET', '/favicon.svg')->{headers}{'content-type'},
	qr{^image/svg\+xml}, 'an icon');
like($server->request('GET', '/favicon.ico')->{body}, qr{^\x00\x00\x01\x00},
	'and for those that want an old one');
for my $path (qw(/AGENTS.md /llms.txt /favicon.svg /favicon.ico)) {
	my $answer = $server->request('GET', $path);
	is($server->request('GET', $path, headers => {
		'If-None-Match' => $answer->{headers}{etag} })->{status}, 304,
		"$path has a tag");
	$head = $server->request('HEAD', $path);
	is($head->{headers}{'content-length'}, length $answer->{body},
		"HEAD $path knows its length");
	is($server->run($path, ['ls'])->{status}, 405, "$path takes no POST");
}
is($server->site->listing, $before, 'nothing was written into the site');

# -------------------------------------------------- a change in the lists --

# What a list says, once it says so; else what it says after two seconds.
sub listed
{
	my ($path, $pattern) = @_;
	my $until = time + 2;
	my $answer;

	do {
		$answer = $server->request('GET', $path)->{body};
	} until $answer =~ $pattern || time > $until || !sleep 0.05;
	return $answer;
}

my $old = listed('/llms.txt', qr/docs/);
$server->site->write('docs/a.md', "# Now a heading\n");
like(listed('/llms.txt', qr/Now a/), qr{^- \[Now a heading\]\(docs/a\.md\)$}m,
	'a changed page is listed anew within a second');
like(listed('/AGENTS.md', qr/Now a/), qr{^### Now a heading\n\n`docs/a\.md`$}m,
	'in both lists');
$server->site->write('docs/new.md', "---\ntools: [[id]]\n---\n# New\n");
like(listed('/AGENTS.md', qr/### New/), qr{^### New\n\n`docs/new\.md`\n\n- \*\*docs-new_id\*\* `\{"command": \["id"\]\}`}m,
	'a page that is made is listed with its tools');
my $whole = $server->request('GET', '/llms.txt');
unlink $server->site->dir . '/docs/new.md';
unlike(listed('/AGENTS.md', qr/\A(?!.*### New)/s), qr/### New/,
	'one that is gone is not');
$server->site->write('docs/a.md', "No heading.\n");
is(listed('/llms.txt', qr/\A(?!.*Now a)/s), $old, 'and all as before');
isnt($server->request('GET', '/llms.txt')->{headers}{etag},
	$whole->{headers}{etag}, 'the tag changes with the text');

# ------------------------------------------------- a file of that name wins --

$server->site->write('llms.txt', "mine\n");
$server->site->write('AGENTS.md', "---\ntools: [[ls]]\n---\nmine too\n");
$server->site->write('favicon.svg', "<svg/>\n");
is($server->request('GET', '/llms.txt')->{body}, "mine\n",
	"the site's own llms.txt wins");
like($server->request('GET', '/AGENTS.md')->{body}, qr{^mine too$}m,
	'so does its AGENTS.md');
is($server->run('/AGENTS.md', ['ls'])->{status}, 200, 'with its tools');
like($server->request('GET', '/favicon.svg')->{headers}{'content-type'},
	qr{^text/plain}, 'its icon is a data file');
$server->stop_ok;

# --------------------------------------------------------- many, and none --

my %many = map { (sprintf('d%02d/p%d.md', $_ % 30, $_) => "# P$_\n") } 1 .. 1100;
$server = Statespace::Server->start(
	files => { 'README.md' => "# Many\n", %many },
	config => "[http]\nhtml = false\n");
like(html('/')->{headers}{'content-type'}, qr{^text/markdown},
	'an operator can have Markdown only');
like(html('/nothing')->{headers}{'content-type'}, qr{^text/plain},
	'and errors as text');
$llms = $server->request('GET', '/llms.txt');
is(scalar(() = $llms->{body} =~ /^- \[/mg), 1000,
	'at most 1000 pages are listed');
like($llms->{body}, qr{The list is cut here}, 'and a line tells that it is cut');
$server->stop_ok;
done_testing;
