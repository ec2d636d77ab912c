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
is check($site, 'none'), '125', 'a page that is not there';
is check('/', "$site/none.md"), '125', '... anywhere';
is check($site, 'a', 'b'), '2', 'two of them';
is check($site, '--timeout', 'soon'), '2', 'an option with a wrong value';
done_testing;
