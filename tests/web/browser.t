#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Pages in a real browser: starts the example site and a hostile one behind
# nginx, has tests/web/browser.mjs drive Chromium through them and passes its
# checks on.  Pictures are kept in build/browser/.
#
# `make deps-browser` installs what this needs.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use FindBin;
use MIME::Base64 qw(decode_base64);
use lib "$FindBin::Bin/../lib";
use Test::More;
use Statespace::Server qw(has);

my $TOP = abs_path("$FindBin::Bin/../..");
my $BUILD = abs_path($ENV{BUILD} // "$TOP/build");
my $SECONDS = 300;

my $node = has('node');
my $chromium = has('chromium') || has('chromium-browser');
my ($modules) = grep { -d "$_/playwright-core" && -d "$_/axe-core" }
    map { "$_/browser/node_modules" } $BUILD, "$TOP/build";
plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');
plan skip_all => 'node is not installed' unless $node;
plan skip_all => 'chromium is not installed' unless $chromium;
plan skip_all => 'playwright-core and axe-core are not in build/browser'
    unless $modules;
for my $program (qw(curl jq sqlite3)) {
	plan skip_all => "$program is not installed" unless has($program);
}

# A copy: the tree may belong to somebody else, and the database is built.
my $scratch = tempdir('statespace-XXXXXXXX', TMPDIR => 1, CLEANUP => 1);
chmod 0755, $scratch;
system('cp', '-R', "$TOP/examples/site", "$scratch/site") == 0 or die 'cp';
unlink "$scratch/site/data/zones.db";
system("sqlite3 '$scratch/site/data/zones.db' "
	. "< '$scratch/site/data/zones.sql'") == 0 or die 'sqlite3';
system('chmod', '-R', 'a+rX', "$scratch/site");

my $OUTPUT = '</script><img src=x onerror=\"window.pwned=9\">';
my $HOSTILE = <<"END";
---
title: "</title><script>window.pwned=1</script>"
description: '"><script>window.pwned=2</script>'
tools:
  - name: "<script>window.pwned=3</script>"
    description: "<img src=x onerror=window.pwned=4>"
    command: [printf, '%s', "$OUTPUT", ;]
  - command:
      - sh
      - -c
      - "printf '%s' '$OUTPUT' | tr -d '\\\\\\\\'; printf '\\\\n</pre><script>window.pwned=5</script>' >&2"
      - ;
---
# Hostile <script>window.pwned=6</script>

<script>window.pwned=7</script>

<img src=x onerror="window.pwned=8"> <svg onload="window.pwned=8">

<iframe src="javascript:window.pwned=10"></iframe>

<style>body { background: url(http://127.0.0.1:1/style) }</style>

<base href="http://127.0.0.1:1/"> <meta http-equiv="refresh" content="0;url=http://127.0.0.1:1/">

<form action="http://127.0.0.1:1/"><button formaction="javascript:window.pwned=11">x</button></form>

[a](javascript:window.pwned=12) [b](JAVASCRIPT&colon;window.pwned=13)
[c](data:text/html,<script>window.pwned=14</script>)
[d](<&#1;javascript:window.pwned=15>) [e](vbscript:x)
<javascript:window.pwned=16> [f](java&Tab;script:window.pwned=17)

![x](http://127.0.0.1:1/image.png) ![y](" onerror="window.pwned=18)
![z](javascript:window.pwned=19)

[g]: javascript:window.pwned=20
[g] [h](x"onmouseover="window.pwned=21)

| a |
|---|
| <script>window.pwned=22</script> |

```"><script>window.pwned=23</script>
</code></pre><script>window.pwned=24</script>
```

```component
printf '<script>window.pwned=25</script>\\n\\n[x](javascript:window.pwned=26)\\n'
```
END

# What tools print, by their declared types.
my $PNG = decode_base64('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQ'
    . 'VR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==');
my %printed = (
	png => ['image/png', $PNG],
	gif => ['image/gif; x=y', "GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9"
	    . "\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x01D\0;"],
	untrue => ['image/png', $HOSTILE],
	svg => ['image/svg+xml', "<svg xmlns='http://www.w3.org/2000/svg' "
	    . "onload='window.pwned=40'/>"],
	html => ['text/html', '<script>window.pwned=41</script>'],
	pdf => ['application/pdf', "%PDF-\xff\0"],
	odd => ['application/x-odd', "\0\1\2"],
	empty => ['application/zip', ''],
	csv => ['text/csv; charset=utf-8', "\xef\xbb\xbfname,\"a \"\"b\"\"\",n\r\n"
	    . "<img src=x onerror=window.pwned=42>,\"two\nlines, one cell\","
	    . "-1.50\r\n\r\n\"</td><script>window.pwned=43</script>\",,\n"
	    . "last,"],
	unclosed => ['text/csv', "a,b\n\"c,d\n"],
	behind => ['text/csv', "a,b\n\"c\"d,e\n"],
	header => ['text/csv', "a,b\n"],
	wide => ['text/csv', ',' x 1000000],
	long => ['text/csv', join '', map { "$_,x\n" } 0 .. 70000],
	large => ['text/csv', "a,b\n" . 'x' x 5000 . ",1\n"],
	bytes => ['text/csv', "a,b\n\xff,\0\n"],
	json => ['application/json', '[{"id": 12345678901234567890, "a": 1.10,'
	    . ' "__proto__": "<script>window.pwned=44</script>", "n": null},'
	    . ' {"id": 2, "more": {"x": ["<b>"]}, "constructor": true}]'],
	scalar => ['application/json', '[1, {"a": 2}]'],
	none => ['application/json', '[]'],
	deep => ['application/json', '[{"a": ' . '[' x 400000 . ']' x 400000
	    . '}]'],
	cut => ['application/json', '[{"a": 1}'],
	keys => ['application/ld+json', '[{'
	    . join(',', map { "\"k$_\":0" } 1 .. 80000) . '}]'],
);
my $page = "---\ntools:\n" . join('', map {
	"  - { name: $_, command: [cat, $_.data, ;], output: '$printed{$_}[0]' }\n"
} sort keys %printed) . "---\n# Output\n";

my $TYPED = <<'END';
---
tools:
  - name: get
    command:
      - printf
      - '%s|'
      - { name: n, type: integer, min: 1, max: 99, default: 10 }
      - { name: ratio, type: number, examples: [0.5, 2] }
      - { name: state, enum: [open, "it's"], default: open }
      - { name: all, type: boolean, optional: true }
      - { name: day, type: date, min: 2026-01-31 }
      - { name: note, kind: text, optional: true }
      - { text: '/i/{id}?q={q}', id: { type: integer },
          q: { kind: text, escape: url, examples: [tea] } }
      - ;
---
# Typed
END

my %servers = (
	example => Statespace::Server->start(dir => "$scratch/site"),
	hostile => Statespace::Server->start(files => {
		'README.md' => $HOSTILE,
		'typed.md' => $TYPED,
		'confirm.md' => "---\ntools:\n  - { command: [echo, { name: text "
		    . "}, ;], confirm: true }\n  - { name: cancel, command: [echo, "
		    . "{ name: id, type: integer }, { name: why, kind: text }, ;], "
		    . "confirm: 'Cancel order {id} {why}?' }\n---\n# Confirm\n",
		'parts.md' => "---\ntools:\n  - { command: [seq, '5', ;], "
		    . "lines: 2 }\n---\n# Parts\n",
		'output.md' => $page,
		'slow.md' => "---\ntools:\n  - { name: slow, command: [sh, -c, "
		    . "'echo first; sleep 20.3', ;] }\n---\n# Slow\n",
		'colours.md' => "---\ntools:\n  - { name: colours, command: [cat, "
		    . "colours.txt, ;] }\n---\n# Colours\n",
		'colours.txt' => "plain \e[31mred\e[1m bold\e[0m\n\e[44mback\e[49m "
		    . "\e[38;5;34m256\e[39m \e[38:2:200:20:200mall\e[m <b>\n"
		    . "\e]0;no\atitle \e]8;;http://127.0.0.1:1/\e\\link\e]8;;\e\\ "
		    . "\e[2K\e(Bend\n",
		(map { +"$_.data" => $printed{$_}[1] } keys %printed),
		'"><script>window.pwned=30<!--.md' => "# x\n",
	}),
);

my $pictures = -w "$BUILD" ? "$BUILD/browser" : "$scratch/pictures";
mkdir $pictures;

# HOME: an account's own may not be there, and is not to be written to.
mkdir "$scratch/home";
my $pid = open(my $tap, '-|') // die "fork: $!";
if (!$pid) {
	setpgrp;
	alarm $SECONDS;
	$ENV{HOME} = "$scratch/home";
	open STDERR, '>&', \*STDOUT;
	exec $node, "$FindBin::Bin/browser.mjs", $modules, $chromium,
	    $pictures, map { "http://127.0.0.1:" . $servers{$_}->port }
	    qw(example hostile);
	die "exec $node: $!";
}
my ($planned, $seen) = (-1, 0);
while (my $line = <$tap>) {
	chomp $line;
	if ($line =~ /^(not )?ok \d+ - (.*)/) {
		$seen++;
		ok(!$1, $2);
	} elsif ($line =~ /^1\.\.(\d+)$/) {
		$planned = $1;
	} else {
		diag($line =~ s/^# //r);
	}
}
close $tap;
kill 'KILL', -$pid;
is($seen, $planned, 'the browser was driven to the end');
$_->stop_ok for values %servers;
done_testing;
