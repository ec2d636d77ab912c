#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# statespace check, what tools can reach: programs, granted paths and author's
# words that are not there, not in the tools' view or closed to their account.
# As whoever runs this and, when that is root, as nobody too.
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
my $build = abs_path($ENV{BUILD} // "$top/build");
-x "$build/statespace" or plan skip_all => 'statespace is not built';

# Nothing below /tmp can be granted, so that the files are elsewhere.
my $base = -w '/var/tmp' ? '/var/tmp' : plan skip_all => 'no /var/tmp';
my $tmp = tempdir(DIR => $base, CLEANUP => 1);
chmod 0755, $tmp;
my ($site, $data) = ("$tmp/site", "$tmp/data");
mkdir $_ or die "$_: $!" for $site, "$site/sub", "$site/tools", "$site/rows",
    "$site/sub/.git", $data;
chmod 0777, "$site/rows";
my $program = "$tmp/bin/statespace";
mkdir "$tmp/bin" or die $!;
system("cp -L '$build/statespace' '$program' && " .
	"cp -R '$build/libexec' '$tmp/bin/' && chmod -R a+rX '$tmp/bin'") == 0
	or die 'cp';

write_file("$site/hello.txt", "hello\n");
write_file("$site/sub/.git/HEAD", "ref\n");
write_file("$site/tools/find.sh", "#!/bin/sh\necho found\n");
write_file("$site/hi.sh", "#!/bin/sh\necho hi\n");
write_file("$site/run.sh", "#!/bin/sh\necho run\n");
write_file("$site/orphan.sh", "#!/no/such/sh\n");
write_file("$site/dos.sh", "#!/bin/sh\r\necho\r\n");
write_file("$site/env.py", "#!/usr/bin/env no-such-python\n");
write_file("$data/x.csv", "1\n");
write_file("$data/tool", "#!/bin/sh\n");
chmod 0755, map { "$site/$_" } qw(run.sh orphan.sh dos.sh env.py);
chmod 0755, "$data/tool";
chmod 0644, "$site/hi.sh";
symlink "$data/tool", "$site/away" or die $!;
symlink 'no-such-program', "$site/gone" or die $!;
symlink 'run.sh', "$site/alias" or die $!;

my ($user, @grant);

# "line:column message" of each problem of a page with that frontmatter, and
# what follows with the remedies.
sub problems
{
	my ($lines, $page) = @_;
	my @as = $user
	    ? ('setpriv', "--reuid=$user", "--regid=$user", '--clear-groups')
	    : ();

	$page //= 'page.md';
	write_file("$site/$page", "---\n$lines\n---\n# A page\n");
	write_file("$tmp/config.toml", join "\n", @grant ? '[grant]' : (),
	    @grant, '');
	open my $out, '-|', @as, $program, 'check', '--json', '-c',
	    "$tmp/config.toml", '-C', $site, $page or die "check: $!";
	my @all = map { my $r = decode_json($_);
		map { { %$_, page => $r->{page} } } @{ $r->{problems} } } <$out>;
	close $out;
	unlink "$site/$page";
	return @all;
}

# Without those of lint, which are tests/unit/lint.c.
my $mine = qr{does\snot\sexist|tools\ssee|tools\scannot|not\sexecutable|
	not\sinstalled|open\sto|the\saccount|CR\safter}x;

sub said
{
	return [grep { /$mine/ } map { $_->{page} eq '.' ? $_->{message}
		: "$_->{line}:$_->{column} $_->{message}" } problems(@_)];
}

sub hint_of
{
	return join ' | ', map { $_->{hint} // '' } problems(@_);
}

sub check_programs
{
	is_deeply said("tools: [[./run.sh, ;], [./alias, ;], [ls, ;], [sh, tools/find.sh, ;]]"),
	    [], 'programs that run are silent';
	is_deeply said("tools:\n  - [no-such-program, ;]"),
	    ['3:6 the program no-such-program is not installed'], 'no program';
	is_deeply said("tools:\n  - [./hi.sh, ;]"),
	    ['3:6 the program ./hi.sh is not executable'], 'no x bit';
	is hint_of("tools:\n  - [./hi.sh, ;]"), "chmod +x $site/hi.sh",
	    '... and its remedy';
	is_deeply said("tools:\n  - [./orphan.sh, ;]"), ['3:6 the program '
		. './orphan.sh needs /no/such/sh, which tools cannot run'],
	    'no interpreter';
	is_deeply said("tools:\n  - [./env.py, ;]"), ['3:6 the program ./env.py '
		. 'needs no-such-python, which tools cannot run'],
	    '... that env(1) would run';
	is_deeply said("tools:\n  - [./dos.sh, ;]"), ['3:6 the program ./dos.sh '
		. 'needs /bin/sh with a CR after it, which is no program: save '
		. 'the script with LF line ends'], '... for a CR';
	is_deeply said("tools:\n  - [./gone, ;]"), ["3:6 the program ./gone "
		. "leads to $site/no-such-program, which does not exist"],
	    'a link to nothing';
	is_deeply said("tools:\n  - [./away, ;]"), ["3:6 the program ./away "
		. "leads to $data/tool, which tools cannot see"],
	    'a link to where tools cannot see';
	like hint_of("tools:\n  - [./away, ;]"),
	    qr{\Q[grant] read = ["$data"]\E}, '... and what would show it';
	is_deeply said("tools:\n  - [$data/tool, ;]"), ["3:6 the program "
		. "$data/tool lies where tools cannot see it"],
	    'a path that tools cannot see';
	@grant = ("read = [\"$data\"]");
	is_deeply said("tools: [[./away, ;], [$data/tool, ;]]"), [],
	    '... and with the grant they do';
	@grant = ();
	is_deeply said("tools: [[ls, ;]]\nsandbox: { exec: [./hi.sh] }"),
	    ['3:12 the program ./hi.sh is not executable'],
	    'a program of exec:, too';
}

sub check_words
{
	is_deeply [grep { !/(?:git|python3|awk|curl) is not installed/ }
		@{ said(<<'END') }], [], 'words that are there, or are no paths';
tools:
  - [cat, hello.txt, ./hello.txt, tools/find.sh, /etc/ssl/certs, ;]
  - [grep, -n, missing.txt, hello.txt, ;]
  - [sed, s/a/b/, hello.txt, ;]
  - [awk, /x/, hello.txt, ;]
  - [sh, -c, 'cat no/such.txt', ;]
  - [git, log, origin/main, --format=%H, ;]
  - [date, +%Y/%m, ;]
  - [printf, '%s', application/json, text/plain, ;]
  - [ls, /tmp/anything.txt, ., .., -x, ;]
  - [curl, 'https://example.com/data.json', ;]
  - [env, TZ=Europe/Berlin, date, ;]
  - [touch, new.txt, ;]
  - [sort, -o, sorted.txt, hello.txt, ;]
  - [python3, -c, print, ;]
  - [python3, -m, http.server, ;]
  - [grep, -r, /api/users, hello.txt, ;]
  - [echo, hello.md, ;]
END
	is_deeply said("tools:\n  - [cat, rows/none.csv, ;]"), ["3:11 the file "
		. "rows/none.csv does not exist"], 'a missing file';
	is_deeply said("tools:\n  - [cat, none.db, ;]"),
	    ['3:11 the file none.db does not exist'], '... beside the page';
	is_deeply said("tools:\n  - [read, { name: f, kind: path, exists: true, "
		. "default: none.md }, ;]\n  - [cat, { name: f, kind: path, "
		. "exists: true, default: hello.txt }, ;]"),
	    ['3:12 the file none.md does not exist'], '... as a default';
	is_deeply said("tools:\n  - [sh, tools/none, ;]"),
	    ['3:10 the file tools/none does not exist'], 'a missing script';
	is_deeply said("tools:\n  - [sh, -x, report, ;]"), ['3:14 the file report '
		. 'does not exist'], '... without an ending, after an option';
	is_deeply said("tools:\n  - name: p\n    pipe: [[cat, none.csv], " .
		"[head, -n, '5'], [./hi.sh]]\n  - name: s\n    " .
		"script: tools/find.sh\n    arguments: [gone.csv]"),
	    ['4:18 the file none.csv does not exist',
	    '4:47 the program ./hi.sh is not executable',
	    '7:17 the file gone.csv does not exist'],
	    'the stages of a pipe, the arguments of a script';
	is_deeply said("tools:\n  - [cat, /etc/shadow, ;]"), ['3:11 the file '
		. '/etc/shadow lies where tools cannot see it'],
	    'a path that the view has not';
	is_deeply said("tools:\n  - [ls, --config=/etc/shadow, ;]"), ['3:10 the '
		. 'file /etc/shadow lies where tools cannot see it'],
	    '... as the value of an option';
	is_deeply said("tools:\n  - [ls, /home, ;]"), ['3:10 the file /home '
		. 'lies where tools cannot see it'], '... a directory';
	is_deeply said("tools:\n  - [cat, ../x.csv, ;]"), ['3:11 ../x.csv leads '
		. 'out of the site, where tools see nothing'], 'a path that climbs';
	is_deeply said("tools:\n  - [cat, ../hello.txt, ;]", 'sub/page.md'), [],
	    '... within the site';
	is_deeply said("tools:\n  - [cat, .git/HEAD, ./.git/HEAD, ;]",
		'sub/page.md'), [map { "3:$_ is not open to this tool: neither "
		. 'page nor tool asks to read it' } '11 the file .git/HEAD',
		'22 the file ./.git/HEAD'],
	    'a dot entry beside the page';
	@grant = ("read = [\"$data\"]");
	is_deeply said("tools:\n  - [cat, $data/x.csv, ;]"), ["3:11 the file "
		. "$data/x.csv is not open to this tool: neither page nor tool "
		. "asks to read it"], 'what the page does not ask for';
	is_deeply said("tools:\n  - [cat, $data/x.csv, ;]\n" .
		"sandbox: { read: [$data] }"), [], '... and asks for';
	@grant = ('write = ["rows"]');
	is_deeply said("tools:\n  - [plot, rows/out.png, ;]\n" .
		"sandbox: { write: [rows] }"),
	    ['3:6 the program plot is not installed'],
	    'an output file where the tool may write';
	is_deeply said("tools:\n  - [cat, tools/out.png, ;]\n" .
		"sandbox: { write: [rows] }"),
	    ['3:11 the file tools/out.png does not exist'], '... and elsewhere';
	@grant = ();
}

sub check_site
{
	chmod 0700, $site;
	is_deeply said("tools: [[./hi.sh, ;], [cat, none.txt, ;]]"),
	    ["the site: the account nobody may not enter $site (owner " .
		"root, mode 0700)"], 'a site that the account cannot enter, once';
	chmod 0755, $site;
}

sub check_grants
{
	@grant = ('write = ["nowhere", "later?", "rows"]');
	is_deeply said("tools: [[ls, ;]]"),
	    ["[grant] write: nowhere does not exist"],
	    'a granted folder that is not there';
	is_deeply said("tools: [[ls, ;]]\nsandbox:\n  write: [nowhere]"),
	    ["[grant] write: nowhere does not exist",
	    '4:3 write: nowhere does not exist'], '... for the page, too';
	@grant = ('write = ["tools"]', "read = [\"$data/secret\"]");
	write_file("$data/secret", "x\n");
	chmod 0600, "$data/secret";
	chmod 0555, "$site/tools";
	my $account = $user ? 'nobody' : getpwuid $>;

	if ($> == 0 && !$user) {
		is_deeply said("tools: [[ls, ;]]"), [
			"[grant] read: $data/secret: the account nobody may " .
			"not read $data/secret (owner root, mode 0600)",
			"[grant] write: tools: the account nobody may not " .
			"write $site/tools (owner root, mode 0555)"],
		    'what the account may not, by owner and mode';
		like hint_of("tools: [[ls, ;]]"),
		    qr{\Qchown nobody $site/tools\E}, '... and a remedy';
	} else {
		my $owner = getpwuid $>;

		is_deeply [grep { /write:/ } @{ said("tools: [[ls, ;]]") }],
		    ["[grant] write: tools: the account $account may not " .
			"write $site/tools (owner $owner, mode 0555)"],
		    'what the account may not, by owner and mode';
	}
	chmod 0755, "$site/tools";
	@grant = ();
}

# Questions are asked 128 at a time, with memory for no more.
sub check_many
{
	for my $n (128, 129, 300) {
		my @files = grep { /^\d+:\d+ the file no-\d+\.txt does not exist/ }
		    @{ said("tools:\n" . join '', map {
			"  - [$site/no-program, no-$_.txt, ;]\n" } 1 .. $n / 2) };
		my @programs = grep { /no-program/ } @{ said("tools:\n"
		    . join '', map { "  - [./no-program, $_, ;]\n" } 1 .. $n) };

		is @files + 0, int($n / 2), "the files of $n questions";
		is @programs + 0, $n, "$n programs";
	}
	write_file("$site/many.md", "---\ntools:\n" . join('', map {
		"  - [echo, {a}, b$_, ;]\n" } 1 .. 4000) . "---\n");
	my $limited = sub {
		system('sh', '-c', 'ulimit -v 500000; exec "$@" >/dev/null 2>&1',
			'sh', $program, 'check', '-C', $site, @_) >> 8;
	};
	SKIP: {
		skip 'no program runs with so little memory', 1
		    if $limited->('sub/none') > 1;
		is $limited->('many'), 0, '4000 tools take little memory';
	}
	unlink "$site/many.md";
}

for my $as ($> == 0 ? (undef, (getpwnam 'nobody')[2]) : undef) {
	$user = $as;
	subtest $as ? 'as nobody' : 'as we are' => sub {
		check_programs();
		check_words();
		check_many() if !$user;
		check_grants();
		check_site() if $> == 0 && !$user;
	};
}
done_testing;
