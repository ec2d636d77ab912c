#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# statespace check, the command: what it looks at, wherever it is started, and
# how it ends.  What is wrong with a page is tests/unit/lint.c.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::PP;
use Test::More;

my $top = abs_path(dirname(__FILE__) . '/../..');
my $program = abs_path($ENV{BUILD} // "$top/build") . '/statespace';
-x $program or plan skip_all => 'statespace is not built';

my $site = tempdir(CLEANUP => 1);
mkdir "$site/sub";
write_page('README.md', "---\ntools: [[ls], [cat, {}]]\n---\n");
write_page('sub/bad.md', "---\ntools: ls\n---\n");

sub write_page
{
	my ($name, $text) = @_;

	open my $page, '>', "$site/$name" or die "$name: $!";
	print $page $text;
	close $page;
	return;
}

# Exit status, then "page format tools" of each page, from a directory.
sub check
{
	my ($from, @words) = @_;

	my $pid = open(my $out, '-|') // die "fork: $!";
	if (!$pid) {
		chdir $from or die "$from: $!";
		open STDERR, '>', '/dev/null';
		exec $program, 'check', '--json', @words;
	}
	my @pages = map { decode_json($_) } <$out>;
	close $out;
	return join ', ', $? >> 8, map { "$_->{page} $_->{format} $_->{tools}" }
	    sort { $a->{page} cmp $b->{page} } @pages;
}

my ($good, $bad) = ('README.md yaml 2', 'sub/bad.md error 0');
is check($site), "1, $good, $bad", 'the directory where it is started';
is check('/', $site), "1, $good, $bad", 'a directory that is named';
is check($site, 'README'), "0, $good", 'a page as a request names it';
is check($site, 'sub/bad.md'), "1, $bad", '... in a directory of the site';
is check('/', '-C', $site, '/sub/bad'), "1, $bad", '... of another site';
is check('/', "$site/README.md"), "0, $good", 'a file of the system';
is check("$site/sub", '../README.md'), "0, $good", '... from above';
is check($site, 'none'), '1', 'a page that is not there';
is check('/', "$site/none.md"), '1', '... anywhere';
is check($site, 'a', 'b'), '2', 'two of them';
is check($site, '--timeout', 'soon'), '2', 'an option with a wrong value';

# [line, column, message] of the first problem of a page with that frontmatter.
sub place
{
	my ($lines, @options) = @_;

	write_page('page.md', "---\n$lines\n---\n");
	open my $out, '-|', $program, 'check', @options, '--json', '-C', $site,
	    'page' or die "check: $!";
	my $p = decode_json(scalar <$out>)->{problems}[0];
	close $out;
	return undef unless $p;
	$p->{message} =~ s/^line $p->{line}, column $p->{column}: //;
	return [@$p{qw(line column message)}];
}

# A configuration, and the options that name it.
sub config
{
	my ($text) = @_;

	open my $file, '>', "$site/c.toml" or die "c.toml: $!";
	print $file $text;
	close $file;
	return ('-c', "$site/c.toml");
}

my $more = 'is more than this server grants';
is_deeply place("env: [A]\ntools:\n  - [cat, 'x']\nsandbox:\n  timeout: 31"),
	[6, 3, "timeout $more"], 'a limit of the page is reported at its key';
is_deeply place("tools:\n  - command: [ls]\n    timeout: 31"),
	[4, 5, "timeout $more"], '... of a tool';
is_deeply place("sandbox:\n  timeout: 31\ntools:\n  - command: [ls]"),
	[3, 3, "timeout $more"], '... of the page for a tool with other keys';
is_deeply place("tools: [[ls]]\nsandbox: { proc: true }"),
	[3, 12, "proc: true $more"], 'a flag';
is_deeply place("tools: [[ls]]\nsandbox:\n  write: [x]"),
	[4, 3, "write: x $more"], 'a list';
is_deeply place("sandbox:\n  write: [x]\n---\n```component\nls\n```\n#"),
	[3, 3, "write: x $more"], '... of a page that has only components';
is place("sandbox:\n  write: [x]"), undef, '... and nothing of one without';
is_deeply place("tools:\n  - [ls]", config("[grant]\nexec = ['cat']")),
	[3, 6, "exec: ls $more"], 'a program is reported in its tool';
is_deeply place("tools:\n  - [curl, {}]", config("[grant]\nhttp = false")),
	[3, 6, "http: the HTTP tool $more"], '... and the HTTP tool';
is_deeply place("title: x\nenv: [PATH]"), [3, 1,
	'found "PATH" in env, expected a variable that a page may pass on'],
	'a variable that is no page\'s';
is_deeply place("tools:\n  - [sh, -c, 'echo \$KEY', ;]", '-e', 'KEY=x'), [3, 14,
	'found $KEY inside a script, expected a name that env: lists'],
	'... or that is pasted into a script';
is_deeply place("sandbox:\n  exec: [nosuch-program, 'nor-this?', cat]"),
	[3, 3, 'the program nosuch-program is not installed'],
	'a program that a tool may run is looked for';
unlink "$site/page.md";

for (["[limits]\ntimout = 1", '2: limits.timout'],
	["[grant]\n\nread = ['../x']", '3: grant.read'],
	["[grant]\nwrite = ['a/../..?']", '2: grant.write'],
	["[http]\nhosts = ['*']", '2: http.hosts'],
	["[http]\nhosts = ['*.example.org']", '2: http.hosts']) {
	my ($text, $where) = @$_;
	my @config = config($text);
	is check($site, @config), '1', "$where of a configuration is an error";
	like `$program check @config $site 2>&1`,
		qr/c\.toml:\Q$where\E: found .*, expected /, '... and is told';
}
is check($site, config("[grant]\nread = ['..a/b..']"), 'README'),
	"0, $good", 'dots within a name climb nowhere';

# What `fcgi` refuses of its socket, `check -c` refuses, in the same words.
sub told
{
	my (@words) = @_;
	my $pid = open(my $out, '-|') // die "fork: $!";

	if (!$pid) {
		open STDERR, '>&', \*STDOUT;
		exec 'timeout', '20', $program, @words;
	}
	local $/;
	my $text = <$out> // '';
	close $out;
	return ($? >> 8, $text);
}

for (["socket_group = 'no-such-group'", 'there is no group "no-such-group"'],
	["socket_owner = 'no-such-user'", 'there is no account "no-such-user"'],
	["socket = '$site/none/s'", "there is no directory $site/none/"],
	["socket = '$site/README.md/s'", "there is no directory $site/README.md/"],
	["socket = '/" . 'a' x 108 . "'", 'longer than 107 bytes']) {
	my ($line, $why) = @$_;
	my @file = config("[pool]\n"
		. ($line =~ /^socket =/ ? '' : "socket = '$site/s'\n") . $line);

	for my $command ('fcgi', 'check') {
		my ($status, $text) = told($command, @file, $site);
		is $status, 1, "$command refuses $line";
		like $text, qr/\Q$why\E/, '... and says why';
	}
}
is check($site, config("[pool]\nsocket = '$site/s'"), 'README'), "0, $good",
    'a socket that can be made is fine';
ok !-e "$site/s", '... and is not made';

for (["$site/none/log", 'No such file or directory'],
	[$site, 'Is a directory'], ["$site/README.md/log", 'Not a directory']) {
	my ($log, $why) = @$_;
	my @file = config("[pool]\nsocket = '$site/s'\n[log]\nfile = '$log'");

	for my $command ('fcgi', 'check') {
		my ($status, $text) = told($command, @file, $site);
		is $status, 1, "$command refuses the log $log";
		like $text, qr/\Qcannot open the log $log: $why\E/,
		    '... and says why';
	}
}
is check($site, config("[log]\nfile = '$site/log'"), 'README'), "0, $good",
    'a log that can be made is fine';
ok !-e "$site/log", '... and is not made';

done_testing;
