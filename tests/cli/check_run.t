#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# statespace check --run: components and tools run as a request would run them;
# what fails is an error with page and line, and the exit status says so.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Statespace::TestSite qw(write_file);
use Test::More;

my $top = abs_path(dirname(__FILE__) . '/../..');
my $program = abs_path($ENV{BUILD} // "$top/build") . '/statespace';
-x $program or plan skip_all => 'statespace is not built';

# Nothing below /tmp can be granted, so that the site is elsewhere.
my $base = -w '/var/tmp' ? '/var/tmp' : plan skip_all => 'no /var/tmp';
my $tmp = tempdir(DIR => $base, CLEANUP => 1);
my $site = "$tmp/site";
chmod 0755, $tmp;
mkdir $site or die $!;
mkdir "$site/made" or die $!;
chmod 0777, "$site/made";
write_file("$tmp/c.toml", "[grant]\nwrite = ['made']\n");

# Exit status, the whole object, and the errors of a page.
sub check
{
	my ($page, @options) = @_;

	write_file("$site/page.md", $page);
	open my $out, '-|', $program, 'check', '--json', '-c', "$tmp/c.toml",
	    @options, '-C', $site, 'page' or die "check: $!";
	my ($all) = grep { $_->{page} eq 'page.md' } map { decode_json($_) } <$out>;
	close $out;
	return ($? >> 8, $all, map { "$_->{line}: $_->{message}; $_->{hint}" }
	    grep { $_->{level} eq 'error' } @{ $all->{problems} });
}

sub page
{
	my ($front, $body) = @_;

	return "---\n$front\n---\n# A page\n" . ($body // '');
}

my ($status, $all, @errors);

# The machine may have no sandbox at all.
($status, $all, @errors) = check(page("tools: [['true', ;]]"), '--run');
plan skip_all => "here: @errors" if "@errors" =~ /sandbox|did not run/;
is_deeply [$status, @errors], [0], 'a tool that ends with 0 holds';
is_deeply [@$all{qw(ran passed_over)}], [1, 0], '... and is counted';

my $two = page("tools: [['true', ;], ['false', ;]]");
($status, $all, @errors) = check($two);
is_deeply [$status, @errors, $all->{ran}], [0, undef], 'without --run nothing runs';
($status, $all, @errors) = check($two, '--run');
is $status, 1, 'a tool that fails is an error';
is_deeply \@errors, ['2: the tool ended with 1 on its examples; it ran: false'],
    '... with line, exit code and command';

my $typed = "tools:\n  - command: [expr, { name: a, type: integer, " .
    "examples: [6] }, '+', { name: b, type: integer, default: 1 }, ;]\n";
($status, $all, @errors) = check(page($typed), '--run');
is_deeply [$status, @errors, $all->{ran}], [0, 1],
    'examples and defaults are the arguments';
($status, $all, @errors) = check(page($typed =~ s/expr/ls/r), '--run');
like $errors[0], qr{^3: the tool ended with \d on its examples: ls: .*; it ran: ls 6 '\+' 1$},
    '... which the error shows, with the first line of standard error';
($status, $all, @errors) = check(page("tools:\n  - [ls, {}, ;]"), '--run');
is_deeply [$status, @errors, @$all{qw(ran passed_over)}], [0, 0, 1],
    'an argument without example is not guessed';

($status, $all, @errors) = check(page("tools:\n  - [no-such-program, ;]"), '--run');
like $errors[0], qr/^3: the tool fails on its examples: the program no-such-program does not exist/,
    'a program that is not there';
($status, $all, @errors) = check(page("tools:\n  - name: p\n    pipe: " .
	"[[printf, '%s', { name: q, kind: text, examples: ['a b'] }], [wc, -c]]"),
	'--run');
is_deeply [$status, @errors, $all->{ran}], [0, 1], 'a pipe runs';

my $writer = page("tools:\n  - command: [touch, made/x, ;]\n" .
	"    write: [made]");
($status, $all, @errors) = check($writer, '--run');
is_deeply [$status, @errors, @$all{qw(ran passed_over)}], [0, 0, 1],
    'a tool that may write is passed over';
ok !-e "$site/made/x", '... and did not run';
($status, $all, @errors) = check($writer, '--run-all');
is_deeply [$status, @errors, @$all{qw(ran passed_over)}], [0, 1, 0],
    '... but not with --run-all';
ok -e "$site/made/x", '... which runs it';
($status, $all, @errors) = check(page("tools:\n  - command: ['false', ;]\n" .
	"    confirm: true"), '--run-all');
is_deeply [$status, @errors, @$all{qw(ran passed_over)}], [0, 0, 1],
    'one that asks a person never runs';
($status, $all, @errors) = check(page("tools:\n  - [curl, 'http://127.0.0.1:9/', ;]"),
	'--run');
is $all->{passed_over}, 1, 'nor does one that uses the network';

my $fence = "```";
my $blocks = page('title: A page', "\n${fence}component\necho fine\n$fence\n\n" .
	"${fence}component\necho broken >&2\nexit 3\n$fence\n");
is_deeply [(check($blocks))[0]], [0], 'without --run no component runs';
($status, $all, @errors) = check($blocks, '--run');
is $status, 1, 'a component that fails is an error';
is_deeply \@errors, ["10: the component failed: [eval error: exit 3 \x{2014} " .
	"broken]; a reader sees this in its place"], '... with line and reason';

open my $text, '-|', $program, 'check', '--run', $site or die $!;
like join('', <$text>), qr/^1 page, 1 error, \d+ warnings?; 0 tools ran, 0 did not$/m,
    'the sum says how many ran';

# A terminal gets no control characters, whoever chose them.
write_file("$site/page.md", page("tools:\n  - [sh, -c, 'printf " .
	"\"\\033]0;t\\007\\302\\233J\\342\\200\\256u\" >&2; exit 3', ;]\n" .
	"  - [ls, {name: e, enum: [\"\\e[2J\\n\"], default: x}]"));
write_file("$site/page2.md", page('tools: [[sh, -c, \'printf "\033]0;t\007' .
	'\302\233J\342\200\256u" >&2; exit 3\', ;]]'));
write_file("$site/\e[31m\ny\x7f.md", "---\ntools: 3\n---\n");
open $text, '-|', $program, 'check', '--run', $site or die $!;
my $said = join('', <$text>);
unlike $said, qr/[\0-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]/,
    'what is printed has no control characters';
like $said, qr/^\?\[31m\\ny\?\.md:2:8: error: /m, 'of the name of a file';
like $said, qr/takes only "\?\[2J\\n"$/m, 'of a page';
like $said, qr/examples: \?\]0;t\?\?J\?u$/m, 'of a tool';
done_testing;
