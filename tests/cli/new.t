#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# `statespace new DIR`: a small site to begin with, whose pages have no mistake
# and whose tools run; what it refuses, and that it overwrites nothing.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::TestSite qw(slurp write_file);
use Test::More;

my $top = abs_path(dirname(__FILE__) . '/../..');
my $build = abs_path($ENV{BUILD} // "$top/build");
my $program = "$build/statespace";
-x $program or plan skip_all => 'statespace is not built';
my $tmp = tempdir(CLEANUP => 1);
umask 022;

# Exit status and output, from that directory.
sub run
{
	my ($binary, @words) = @_;
	my $pid = open(my $out, '-|') // die "fork: $!";

	if (!$pid) {
		chdir $tmp or die $!;
		open STDERR, '>&', \*STDOUT;
		exec 'timeout', '60', $binary, @words;
	}
	local $/;
	my $text = <$out> // '';
	close $out;
	return ($? >> 8, $text);
}

sub files
{
	my ($dir) = @_;
	return join ' ', map { chomp; $_ } sort `cd '$dir' && find . -type f`;
}

my $all = './README.md ./notes/ideas.txt ./notes/todo.txt';
my ($status, $text) = run($program, 'new', 'mine');
is $status, 0, 'a site is made';
is $text, <<'END', 'and the next two commands are told';
mine is a site now.  Look for mistakes in it, then serve it:

  statespace check mine
  statespace serve mine
END
is files("$tmp/mine"), $all, 'its files are there';
is slurp("$tmp/mine/$_"), slurp("$top/examples/starter/$_"), "$_ as it is here"
    for split ' ', $all;
is sprintf('%o', (stat "$tmp/mine/README.md")[2] & 07777), '644',
    'a file is one that its owner can change';
is((run($program, 'check', 'mine'))[1], "1 page, 0 errors, 0 warnings\n",
    'check finds nothing in it');

# The command that its page shows works in its directory.
my ($shown) = slurp("$tmp/mine/README.md") =~ /^    statespace (exec .*)$/m;
like +(run('sh', '-c', 'cd mine && exec "$0" ' . $shown, $program))[1],
    qr{^notes/todo\.txt:3:Buy tea\.$}m, "statespace $shown";

# Each tool of it runs.
my ($ran, $said) = run($program, 'exec', '-C', 'mine', 'README', '--',
	'grep', '-rniF', '-e', 'TEA', 'notes');
is $ran, 0, 'its search runs' or diag $said;
like $said, qr{^notes/todo\.txt:3:Buy tea\.$}m, 'and finds';
like +(run($program, 'exec', '-C', 'mine', 'README', '--', 'tail', '-n', '1',
	'notes/todo.txt'))[1], qr/\ABuy tea\.\n\z/, 'its second tool';
like +(run($program, 'exec', '-C', 'mine', 'README', '--', 'date', '-u',
	'+%Y-%m-%d %H:%M'))[1], qr/\A\d{4}-\d\d-\d\d \d\d:\d\d\n\z/, 'its third';

# ------------------------------------------------------- what it refuses --
write_file("$tmp/mine/README.md", "# Mine\n");
($status, $text) = run($program, 'new', 'mine');
is $status, 1, 'a directory that is not empty is refused';
is $text, "statespace: mine is not empty; name a new directory, or an empty one\n",
    'in a sentence';
is slurp("$tmp/mine/README.md"), "# Mine\n", 'and keeps what it has';
mkdir "$tmp/dots";
write_file("$tmp/dots/.keep", '');
is((run($program, 'new', 'dots'))[0], 1, 'so is one with a dot file only');
write_file("$tmp/file", 'x');
($status, $text) = run($program, 'new', 'file');
is $status, 1, 'and a file';
like $text, qr/\Astatespace: file: Not a directory\n\z/, 'which is none';
symlink 'file', "$tmp/dangling.to";
symlink 'nowhere', "$tmp/dangling";
is((run($program, 'new', 'dangling'))[0], 1, 'and a link to nothing');
ok !-e "$tmp/nowhere", 'of which nothing is made';
($status, $text) = run($program, 'new', 'no/such/dir');
is $status, 1, 'and a directory in none';
like $text, qr{\Astatespace: no/such/dir: No such file or directory\n\z}, 'too';
is((run($program, 'new'))[0], 2, 'no name is wrong usage');
is((run($program, 'new', 'a', 'b'))[0], 2, 'so are two');
is((run($program, 'new', '--force', 'a'))[0], 2, 'and an unknown option');
like +(run($program, 'new', '--help'))[1], qr/\Ausage: statespace new DIR\n/,
    '--help has the usage';
ok !-e "$tmp/a", 'none of which makes anything';

mkdir "$tmp/empty";
is((run($program, 'new', 'empty'))[0], 0, 'an empty directory is filled');
is files("$tmp/empty"), $all, 'with the same';
symlink 'linked.to', "$tmp/linked";
mkdir "$tmp/linked.to";
is((run($program, 'new', 'linked/'))[0], 0, 'also behind a link');
like +(run($program, 'new', "it's here"))[1],
    qr/^  statespace check 'it'\\''s here'$/m, 'a name is quoted for the shell';
like +(run($program, 'new', '--', '-dash'))[1], qr{^  statespace check \./-dash$}m,
    'one that begins with a dash, too';

# ----------------------------------------------------------- installed --
my $make = "make -s -C '$top' --no-print-directory";
my $plan = `$make -n install BUILD='$build' DESTDIR=$tmp/root PREFIX=/usr 2>&1`;
like $plan, qr{examples/starter $tmp/root/usr/share/statespace\b},
    'make install installs the starter';
mkdir "$tmp/root" and mkdir "$tmp/root/bin";
system 'cp', '-L', $program, "$tmp/root/bin/statespace";
($status, $text) = run("$tmp/root/bin/statespace", 'new', 'alone');
is $status, 1, 'a program without its data';
like $text, qr/\Astatespace: cannot find starter, which is installed with this program\n\z/,
    'says so';
ok !-e "$tmp/alone", 'and makes nothing';
system "mkdir -p $tmp/root/share/statespace && cp -R '$top/examples/starter' "
    . "$tmp/root/share/statespace";
is((run("$tmp/root/bin/statespace", 'new', 'alone'))[0], 0,
    'an installed one finds them beside it');
is files("$tmp/alone"), $all, 'and copies them';

done_testing;
