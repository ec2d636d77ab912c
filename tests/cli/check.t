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
chmod 0755, $site;
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

# [line, column, message] of a page with that frontmatter: of its first error, or
# else of its first warning.
sub place
{
	my ($lines, @options) = @_;

	write_page('page.md', "---\n$lines\n---\n");
	open my $out, '-|', $program, 'check', @options, '--json', '-C', $site,
	    'page' or die "check: $!";
	my @all = @{ decode_json(scalar <$out>)->{problems} };
	close $out;
	my $p = (grep { $_->{level} eq 'error' } @all)[0] // $all[0];
	return undef unless $p;
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
{
	my @only = ('-e', 'KEY=x', '-e', 'B=x', config("[grant]\nenv = ['B']"));

	is_deeply place("title: x\nenv: [B, KEY]", @only),
		[3, 1, "env: KEY $more"], 'a variable of [env] needs its grant';
	is_deeply place("tools:\n  - [echo, 'x-\$KEY']", @only),
		[3, 12, "env: KEY $more"], '... also where a word is filled';
	is_deeply place("env: [B]\ntools:\n  - { command: [echo, \$B\$KEY, ;], env: [] }",
		@only), [4, 23, "env: KEY $more"], '... of a tool';
	is place("env: [B]\ntools:\n  - [echo, \$B, ;]", @only), undef,
		'... and one that is granted does not';
	is place("env: [KEY]", '-e', 'KEY=x', config("[grant]\nenv = 'any'")),
		undef, '... nor any with "any"';
}
is_deeply place("title: x\nenv: [PATH]"), [3, 1,
	'found "PATH" in env, expected a variable that a page may pass on'],
	'a variable that is no page\'s';
is_deeply place("tools:\n  - [sh, -c, 'echo \$KEY', ;]", '-e', 'KEY=x'), [3, 14,
	'found $KEY inside a script, expected a name that env: lists'],
	'... or that is pasted into a script';
{
	my @key = ('-e', 'KEY=x', '-e', 'PATH=/nowhere');
	my $unlisted = 'a component uses $KEY, which the page does not list: '
	    . 'there it is empty';
	my $shell = sub { "---\n\ntext\n```component\necho $_[0]\n```\n#" };

	is_deeply place('title: x' . "\n" . $shell->('$PATH "$KEYS$KEY"'), @key),
		[7, 18, $unlisted], 'a variable that a component does not get';
	is_deeply place('title: x' . "\n" . $shell->('${KEY:-none}'), @key),
		[7, 6, $unlisted], '... with a default';
	is place("env: [KEY]\n" . $shell->('$KEY'), @key), undef,
		'... and one that it gets';
	is place("title: x\n" . $shell->('$OTHER KEY ${KEYS} ${#} $'), @key),
		undef, '... and what is no variable of the server';
	is place("title: x\n---\n\$KEY\n```sh\necho \$KEY\n```\n#", @key), undef,
		'... nor text and examples';
}
is_deeply place("sandbox:\n  exec: [nosuch-program, 'nor-this?', cat]"),
	[3, 3, 'the program nosuch-program is not installed'],
	'a program that a tool may run is looked for';
is_deeply place("tools:\n  - [./sub, ;]"),
	[3, 6, 'the program ./sub is not installed'],
	'a directory is no program';
is place("sandbox:\n  exec: [sub/]\ntools:\n  - [ls, ;]"), undef,
	'... and may be where programs are';
# A dot entry on the way to the page needs the operator's word too.
mkdir "$site/code" and mkdir "$site/code/.git" and mkdir "$site/code/lib"
    and mkdir "$site/code/lib/.git" or die $!;
sub code_page
{
	my ($lines, @options) = @_;

	write_page('code/page.md', "---\n$lines\n---\n");
	open my $out, '-|', $program, 'check', @options, '--json', '-C', $site,
	    'code/page' or die "check: $!";
	my $all = decode_json(scalar <$out>)->{problems};
	close $out;
	return map { "$_->{line}:$_->{column} $_->{message}; $_->{hint}" } @$all;
}
my $git = "tools: [[git, log, ;], [ls, ;]]\nsandbox:\n  read: [code/.git]";
is_deeply [grep { /read:/ } code_page($git)], ['4:3 read: code/.git is not '
	. 'given: a dot entry on the way to the page is open to tools when page '
	. 'and operator both name it; have the operator add it: [grant] read = '
	. '["code/.git"]'], 'a dot entry that the operator does not grant';
is_deeply [grep { /read:/ } code_page($git,
	config("[grant]\nread = ['code/.git']"))], [], '... and does grant';
is_deeply [grep { /read:/ } code_page($git =~ s{\.git}{lib/.git}r)], [],
    '... and one below the page needs nobody';
unlink "$site/code/page.md";
write_page('page.md', "---\ntools: [[ls, ;]]\nsandbox:\n  write: [../out]\n---\n");
my $where = `$program check -C '$site' page 2>&1`;
like $where, qr{paths begin at the site's root}, 'where paths begin is told';
like $where, qr{\Q../out would be $site/../out\E}, '... and what it would be';
write_page('page.md', "---\ntools: [[ls, ;]]\nsandbox:\n  write: [out]\n---\n");
like `$program check -C '$site' page 2>&1`, qr{\Qout is $site/out\E},
    'a path that is refused is told as it was resolved';
write_page('page.md', "---\ntools: [[ls, ;]]\nsandbox:\n  timeout: 31\n---\n");
like `$program check -C '$site' page 2>&1`, qr{\Q[grant] timeout = 31\E},
    'a limit that is refused names its key of [grant]';
unlink "$site/page.md";

for (["[limits]\ntimout = 1", '2: limits.timout'],
	["[grant]\n\nread = ['../x']", '3: grant.read'],
	["[grant]\nwrite = ['a/../..?']", '2: grant.write'],
	["[http]\nhosts = ['*']", '2: http.hosts'],
	["[http]\n\nhidden = ['/a', 'data/**']", '3: http.hidden'],
	["[http]\nhidden = ['/']", '2: http.hidden'],
	["[http]\nhidden = ['']", '2: http.hidden'],
	["[http]\nhidden = ['/a/../b']", '2: http.hidden'],
	["[http]\nhidden = ['/a/./b']", '2: http.hidden'],
	["[http]\nhidden = ['/{a,..}/b']", '2: http.hidden'],
	["[http]\nhidden = ['{/a,b}']", '2: http.hidden'],
	["[http]\nhidden = ['/" . '{1,2}' x 7 . "']", '2: http.hidden'],
	["[http]\nhidden = ['/" . 'x' x 4096 . "']", '2: http.hidden'],
	["[http]\nhosts = ['*.example.org']", '2: http.hosts']) {
	my ($text, $where) = @$_;
	my @config = config($text);
	is check($site, @config), '1', "$where of a configuration is an error";
	like `$program check @config $site 2>&1`,
		qr/c\.toml:\Q$where\E: found .*, expected /, '... and is told';
}
is check($site, config("[grant]\nread = ['..a/b..?']"), 'README'),
	"0, $good", 'dots within a name climb nowhere';

# What is told of the site itself: a line once, and its hint.
sub told_of_site
{
	my (@words) = @_;
	my @lines = split /\n/, `$program check @words $site 2>&1`;
	my ($at) = grep { $lines[$_] =~ /^\.: / } 0 .. $#lines;

	return undef unless defined $at;
	s{/tmp/\S+?/}{} for @lines;
	return join "\n", @lines[$at .. $#lines - 1];
}

{
	my $remedy = 'if they are not meant to be read, write [http] hidden = [';
	my $rest = ']; tools read them all the same';
	my @hide = config("[http]\nhidden = ['/sub/**', '/*.pem']");

	unlink "$site/c.toml", "$site/sub/bad.md";
	is told_of_site(), undef, 'nothing is told of text and pages';
	write_page($_, "x\n") for 'sub/a.db', 'sub/b.DB', 'key.pem', 'sub/prog',
	    'a.txt', 'sub/x.csv', '.env';
	chmod 0755, "$site/sub/prog", "$site/README.md", "$site/a.txt";
	is told_of_site(), ".: warning: every reader can fetch key.pem, sub/a.db, "
	    . "sub/b.DB and 1 more like it\n    $remedy\"/**/*.pem\", "
	    . "\"/**/*.db\", \"/**/*.DB\", \"/sub/prog\"$rest",
	    'data and programs that readers can fetch are told in one line';
	config("[http]\nhidden = ['/sub/**', '/*.pem']");
	is told_of_site(@hide), undef, '... and not when they are hidden';
	config("[http]\nhidden = ['/sub/*.db', '/*.pem', '/sub/prog']");
	is told_of_site(@hide), undef, '... by name and ending, in any case';
	config("[http]\nhidden = ['/sub', '/key.*', '/dta/**', '/READM']");
	is told_of_site(@hide), join("\n", map { ".: warning: [http] hidden: "
		. "\"$_\" matches no file of the site\n    correct it, or take it out" }
		'/dta/**', '/READM'), 'a pattern that matches nothing is told';
	is scalar(() = `$program check --json $site` =~ /"page": "\."/g), 1,
	    'the site has one object';
	like `$program check $site`, qr/^1 page, 0 errors/m, '... and is no page';
	unlike `$program check -C $site README 2>&1`, qr/^\.: /m, 'a page alone has none';
	unlink map { "$site/$_" } 'sub/a.db', 'sub/b.DB', 'key.pem', 'sub/prog',
	    'a.txt', 'sub/x.csv', '.env', 'c.toml';
}

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
	['/proc/statespace.log', 'No such file or directory'],
	['/proc/self/log', 'No such file or directory'],
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

{
	open my $key, '>', "$site/.key" or die "$site/.key: $!";
}
for (['', 'receipts needs receipts_key'],
	["receipts_key = '$site/none'", "$site/none: No such file or directory"]) {
	my ($line, $why) = @$_;
	my ($status, $text) = told('check',
		config("[log]\nreceipts = '$site/.r'\n$line"), $site);

	is $status, 1, "check refuses receipts with '$line'";
	like $text, qr/\Q$why\E.*statespace receipts key FILE/s, '... and says why';
}
is check($site, config("[log]\nreceipts = '$site/.r'\nreceipts_key = "
    . "'$site/.key'"), 'README'), "0, $good", 'a key that is there is fine';
ok !-e "$site/.r", '... and no receipt is made';
unlink "$site/.key";

# The name that it tells for a tool is the one that calls use.
write_page('name.md', "---\ntools:\n  - { name: '" . 'x' x 60
	. "', command: [ls, ;] }\n---\n");
open my $told, '-|', $program, 'check', '-C', $site, 'name' or die $!;
my ($name) = join('', <$told>) =~ /calls use the name (\S+)/;
like $name, qr/^x+-[0-9a-f]{8}$/, 'a name that is too long is told';
is system("$program-exec", '--dry-run', '-C', $site, 'name', '--tool', $name),
    0, '... as calls use it';

done_testing;
