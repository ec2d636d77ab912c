#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# pipe and script at the shell, as statespace-page(7) has them: its examples
# run, and --dry-run, --explain and check tell what runs.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Statespace::TestSite qw(slurp);
use Test::More;

my $top = abs_path(dirname(__FILE__) . '/../..');
my $build = abs_path($ENV{BUILD} // "$top/build");
-x "$build/statespace-exec" or plan skip_all => 'statespace-exec is not built';

# The examples of one section, as an author would type them.
sub examples
{
	my ($section) = @_;
	my ($text) = slurp("$top/conf/statespace-page.7")
	    =~ /^\.Ss \Q$section\E\n(.*?)^\.S[sh] /ms or die $section;

	return map { s/\\e/\\/gr } $text =~ /^\.Bd -literal.*?\n(.*?)^\.Ed\n/msg;
}

my ($stages) = examples('Pipelines and scripts');
my ($safe, $unsafe) = examples('Using a shell safely');
my $site = Statespace::TestSite->new(files => {
	'a.md' => $stages, 'safe.md' => $safe,
	'unsafe.md' => "---\ntools:\n  $unsafe---\n",
	'app.log' => "disk full\ndisk ok\n* x\n",
	'b.log' => "-e disk\n",
	'table' => "a/b 1\n\\t 2\na 3\n",
	'tools/find.sh' => "set -eu\ngrep -e \"\$1\" -- app.log\n",
	'tools/here.sh' => "#!/bin/sh -u\necho \"\$0\"\n",
	'c.md' => "---\nenv: [WHO]\ntools:\n"
	    . "  - {name: here, script: tools/here.sh}\n"
	    . "  - {name: no, script: tools/no.sh}\n"
	    . "  - {name: who, pipe: [[echo, \$WHO, \$KEY, '{w}'], [cat]]}\n"
	    . "  - {name: reads, pipe: [[cat, /var/log/none], [cat]]}\n"
	    . "  - {name: two, pipe: [[cat], [find, ., -maxdepth, 0, -exec, "
	    . "id, '{w}', ';', ;]]}\n"
	    . "  - {name: lacks, pipe: [[cat], [no-such-program]]}\n"
	    . "  - {name: shell, pipe: [[cat], [sh, -c, 'cat']]}\n---\n",
});

# Standard output, standard error, exit status.
sub run
{
	my ($page, @words) = @_;
	my @options = ref $words[0] ? @{ shift @words } : ();
	my $said = $site->scratch . '/said';

	open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>"$0"', $said,
	    "$build/statespace-exec", '-C', $site->dir, @options, $page, '--',
	    @words or die $!;
	my $out = do { local $/; <$pipe> } // '';
	close $pipe;
	return ($out, slurp($said), $? >> 8);
}

sub out_is
{
	my ($page, $words, $out, $what) = @_;
	my @got = run($page, @$words);

	is($got[0], $out, $what) or diag($got[1]);
	return;
}

# ---------------------------------------------------------------- examples --

out_is('a', ['errors', 'disk full', '5'], "1:disk full\n",
	'the manual\'s pipe runs');
out_is('a', ['errors', 'disk'], "1:disk full\n2:disk ok\n",
	'... with its default');
out_is('a', ['find', 'disk'], "disk full\ndisk ok\n",
	'the manual\'s script runs');
out_is('safe', ['sh', '-c', $safe =~ /- \|\n(.*?)^ {6}- count/ms
	    ? $1 =~ s/^ {8}//gmr : '', 'count', $_->[0]],
	"app.log: $_->[1]\nb.log: $_->[2]\n", "the manual's loop counts $_->[0]")
    for ['disk', 2, 1], ['* x', 1, 0], ['$(id)', 0, 0], ['"; id; "', 0, 0];
my ($awk) = $safe =~ /^ {6}- (q=.*)$/m;
out_is('safe', ['sh', '-c', $awk, 'column', $_->[0], 'table'], "$_->[1]\n",
	"the manual's awk finds $_->[0]") for ['a/b', 1], ['\t', 2], ['a', 3];
my ($code, $seen) = check('safe');
unlike($seen, qr/error:|warning:/,
	'check takes the shells for granted, as the page says');
($code, $seen) = check('unsafe');
like($seen, qr/found an argument inside a script, expected it as a word/,
	'the manual\'s bad example is refused');
is($code, 1, '... by the status, too');

# ------------------------------------------------------------ what is told --

sub check
{
	my ($page) = @_;
	my $said = `$build/statespace check -C @{[$site->dir]} $page 2>&1`;

	return ($? >> 8, $said);
}

out_is('a', [['--dry-run'], 'errors', 'a b'],
	"grep -n -e 'a b' app.log | head -n 50\n", '--dry-run shows the stages');
out_is('a', [['--dry-run'], 'find', '|'], "sh tools/find.sh '|'\n",
	'... and what runs a script, with quotes');
out_is('c', [['--dry-run'], 'here'], "sh -u tools/here.sh\n",
	'... with the option of its first line');
out_is('c', [['--dry-run', '-e', 'KEY=s3cret', '--env', 'WHO=me'], 'who', 'x'],
	"echo '\$WHO' '\$KEY' x | cat\n", '... and no value of the server\'s');
my ($json) = run('a', ['--dry-run', '--json'], 'errors', 'x', '1');
is_deeply(JSON::PP->new->decode($json)->{stages},
	[[qw(grep -n -e x app.log)], [qw(head -n 1)]], '... as JSON, too');
is_deeply(JSON::PP->new->decode($json)->{argv}, [qw(errors x 1)],
	'... beside what is sent');
my @ran = run('c', ['--explain'], 'reads');
is($ran[2], 1, 'a stage that fails gives the status');
@ran = run('c', ['--explain'], 'two', 'x');
like($ran[1], qr{refused: exec \S*/id$}m, '--explain tells of each stage');
like($ran[1], qr/exec: \[id\]/, '... and the line that grants it');
@ran = run('c', 'lacks');
is($ran[2], 127, 'a program that is not there is 127');
like($ran[1], qr/the program no-such-program does not exist/, '... by name');

($code, $seen) = check('c');
like($seen, qr/^c\.md:5:24: error: the script tools\/no\.sh does not exist/m,
	'check finds the script that is not there');
like($seen, qr/^c\.md:9:\d+: warning: the program no-such-program is not/m,
	'... the program of a stage');
like($seen, qr/^c\.md:10:\d+: warning: sh may execute every program/m,
	'... and a shell in one');
like($seen, qr/^c\.md:8:\d+: warning: find has options that run programs/m,
	'... and an agent\'s option of a program');
is($seen =~ /statespace-pipe/, '', 'and knows its own helper');

# What the operator lists is asked of each stage and of an interpreter.
Statespace::TestSite::write_file($site->scratch . '/few.toml',
	"[grant]\nexec = [\"grep\", \"sh\"]\n");
@ran = run('a', ['-c', $site->scratch . '/few.toml'], 'errors', 'x');
like($ran[1], qr/line 6, column 10: exec: head is more than this server/,
	'a stage that the operator does not grant is refused');
done_testing;
