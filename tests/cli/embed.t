#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# The hosts of examples/embed are built as a stranger would build them, from
# the installed header, archive and pkg-config file, and do what they say.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Server qw(has);
use Statespace::TestSite qw(slurp write_file);
use Test::More;

my $top = abs_path(dirname(__FILE__) . '/../..');
my $build = abs_path($ENV{BUILD} // "$top/build");
my $tmp = tempdir(CLEANUP => 1);
my $stage = "$tmp/stage";
chmod 0755, $tmp;

for my $program (qw(make cc pkg-config)) {
	has($program) or plan skip_all => "$program is not installed";
}
-f "$build/libstatespace.a" or plan skip_all => "$build is not built";

# Nothing of the tests' own make reaches the one that is started here.
delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES)};

sub run {
	my (@argv) = @_;
	my $pid = open(my $pipe, '-|') // die "fork: $!";
	if (!$pid) {
		open STDERR, '>&', \*STDOUT;
		open STDIN, '<', '/dev/null';
		exec { $argv[0] } @argv or exit 127;
	}
	local $/;
	my $out = <$pipe> // '';
	close $pipe;
	return ($out, $? >> 8);
}

plan skip_all => "$build is somebody else's, and not up to date"
	if !-w $build && (run('make', '-C', $top, "BUILD=$build", 'all'))[1];

my ($log, $rc) = run('make', '-C', $top, "BUILD=$build", "DESTDIR=$stage",
	'PREFIX=/opt/ss', 'SYSCONFDIR=/etc', 'install');
is($rc, 0, 'make install succeeds') or diag $log;
ok(-f "$stage/opt/ss/include/statespace.h", 'the header is installed');
my ($pc) = glob "$stage/opt/ss/{lib,lib/*,share}/pkgconfig/libstatespace.pc";
ok(defined $pc && -f $pc, 'so is the pkg-config file')
	or done_testing, exit 1;

# The sources alone, away from the tree, so that only what is installed helps.
system('cp', '-R', "$top/examples/embed", "$tmp/embed") == 0 or die 'cp';
system('rm', '-rf', "$tmp/embed/build");
# The host that its README shows is one of them.
my ($host) = slurp("$top/examples/embed/README.md") =~ /^```c\n(.*?)^```$/ms;
write_file("$tmp/embed/readme.c", $host // '');
my $sanitize = qx{nm "$build/libstatespace.a" 2>/dev/null} =~ /__asan_/
	? ' -fsanitize=address,undefined' : '';
($log, $rc) = run('make', '-C', "$tmp/embed", 'HOSTS=minimal memory_resolver '
		. 'dry_run_executor token_hook readme', 'BUILD=build',
	'PKG_CONFIG_PATH=' . dirname($pc),
	'PKG_CONFIG=pkg-config ' . join(' ', map {
		"--define-variable=$_->[0]=$stage/opt/ss/$_->[1]" }
		[ libdir => 'lib' ], [ includedir => 'include' ]),
	"CFLAGS=-O1 -Wall -Wextra -Werror$sanitize");
is($rc, 0, 'the hosts build against it, without a warning') or diag $log;
unlike($log, qr/\Q$top\E/, '... and without the source tree');

# All the archives there are (Debian has none of cJSON), wherever a host names
# cmark-gfm itself: cmark-gfm.pc has its two libraries in an order in which
# archives do not link.
SKIP: {
	skip 'a sanitizer wants shared libraries', 3 if $sanitize;
	my @flags = ('--static', '--cflags', '--libs',
		"--define-variable=libdir=$stage/opt/ss/lib",
		"--define-variable=includedir=$stage/opt/ss/include");
	local $ENV{PKG_CONFIG_PATH} = dirname($pc);
	for my $names ('libstatespace', 'libstatespace libcmark-gfm',
		'nettle libcmark-gfm libstatespace yaml-0.1') {
		my ($words) = run('pkg-config', @flags, split ' ', $names);
		my @words = map { /^-l(?:cjson|m)$/
		    ? ('-Wl,-Bdynamic', $_, '-Wl,-Bstatic') : $_ } split ' ', $words;
		($log, $rc) = run(split(' ', $ENV{CC} || 'cc'), '-std=c11',
			'-o', "$tmp/static", "$tmp/embed/minimal.c",
			'-Wl,-Bstatic', @words, '-Wl,-Bdynamic');
		is($rc, 0, "$names: the archives link") or diag $log;
	}
}

my $site = "$tmp/site";
mkdir $site;
write_file("$site/README.md", <<'END');
---
tools:
  - [ls]
  - [rm, -rf, {}, ;]
---
# Three lines
END
chmod 0755, $site;
my $bin = "$tmp/embed/build";
my ($out);

($out, $rc) = run("$bin/minimal", $site);
is($rc, 0, 'minimal ends well');
like($out, qr{^GET /: 200\n---\ntools:.*^# Three lines$}ms,
	'... after it read the page');
like($out, qr{^POST /: 200\n\{.*"stdout":\s*"README\.md\\n".*"returncode":\s*0}ms,
	'... and ran its tool') or diag $out;
($out, $rc) = run("$bin/minimal", "$tmp/none");
is($rc, 1, 'minimal says no to a directory that is not there');
like($out, qr/^minimal: \w/, '... in a sentence');

chdir $top or die $!;
($out, $rc) = run("$bin/readme");
like($out, qr/^200 \{.*"stdout":\s*"2026: 2 1013\\n"/, 'so does the host of the README')
	or diag $out;

($out, $rc) = run("$bin/memory_resolver");
is($rc, 0, 'memory_resolver ends well');
like($out, qr{^GET /: 200\n---.*# In memory}ms, '... reads from memory');
like($out, qr{^GET /notes/today: 200\nNothing today\.}m, '... with ".md"');
like($out, qr{^GET /elsewhere: 404\n}m, '... knows what it has not');
like($out, qr{^POST /: 200\n\{.*"stdout":\s*"from memory\\n"}m,
	'... and runs the tool of a page in memory') or diag $out;

($out, $rc) = run("$bin/dry_run_executor", $site, '/', 'rm', '-rf', 'x y');
is($out, "would run in README.md: [rm] [-rf] [x y]\n",
	'dry_run_executor only says what would run');
is($rc, 0, '... and ends well');
($out, $rc) = run("$bin/dry_run_executor", $site, '/', 'ls');
is($out, "README.md\n\n", 'but hands ls to the built-in executor');
($out, $rc) = run("$bin/dry_run_executor", $site, '/', 'id');
is($rc, 1, 'what the page does not allow is refused before it');
like($out, qr/\[ls\]|- ls|ls/, '... with the tools of the page');

($out, $rc) = run("$bin/token_hook", $site, 'sesame', 'sesame');
like($out, qr/^200 \{.*README\.md.*\nrefused: 0$/m,
	'token_hook lets the right token in') or diag $out;
for my $wrong ('', 'sesam', 'sesamf', 'sesame ') {
	($out, $rc) = run("$bin/token_hook", $site, 'sesame', $wrong);
	like($out, qr/^401 \{.*"unauthorized".*\nrefused: 1$/m,
		"... and not '$wrong'") or diag $out;
}

done_testing;
