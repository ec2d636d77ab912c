#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# What `statespace check` says of wrong pages: tests/data/mistakes.txt has each
# with every line that is printed, and README.md there says how.  Good pages
# print nothing: the examples, and the pages that the manual shows.
#
#	MISTAKES=print tests/cli/mistakes.t	prints the file as it is now
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::TestSite qw(slurp);
use Test::More;

my $top = abs_path(dirname(__FILE__) . '/../..');
my $program = abs_path($ENV{BUILD} // "$top/build") . '/statespace';
-x $program or plan skip_all => 'statespace is not built';

# The first bytes of each case: "%% TITLE", with (silent) where the check of
# version 1.0 found nothing, and (escapes) where the text has \xNN, \t, \r.
my @cases = split /^(?=%% )/m, slurp("$top/tests/data/mistakes.txt")
    =~ s/\A.*?(?=^%% )//msr;

sub unescape
{
	my ($text) = @_;

	$text =~ s/\\x(..)/chr hex $1/ge;
	$text =~ s/\\r/\r/g;
	$text =~ s/\\t/\t/g;
	return $text;
}

# Page and text, page and text, ...
sub pages
{
	my ($text) = @_;
	my ($first, @more) = split /^%\+ (\S+)\n/m, $text;

	return ('page.md' => $first, @more);
}

# What check prints of pages, without the last line, and without programs and
# files that are not there.
sub check
{
	my (@words) = @_;
	my $pid = open(my $out, '-|') // die "fork: $!";

	if (!$pid) {
		open STDERR, '>&', \*STDOUT;
		exec $program, 'check', @words;
	}
	local $/;
	my $text = <$out> // '';
	close $out;
	$text =~ s/^.* \[(?:installed|file)\]\n(?:    .*\n)?//mg;
	$text =~ s/^\.: warning: .*\n(?:    .*\n)?//mg;
	$text =~ s/^\d+ pages?, .*\n\z//m;
	return $text =~ s/\Q$words[-1]\E/SITE/gr;
}

sub write_site
{
	my (%pages) = @_;
	my $site = tempdir(CLEANUP => 1);

	chmod 0755, $site;
	while (my ($name, $text) = each %pages) {
		open my $page, '>:raw', "$site/$name" or die "$name: $!";
		print $page $text;
		close $page;
	}
	return $site;
}

my ($silent, $printed) = (0, '');
for my $case (@cases) {
	my ($title, $text) = $case =~ /^%% ([^\n]*)\n(.*)/s;
	my $expected = join '', $text =~ /^%> (.*\n)/mg;

	$text =~ s/^%> .*\n//mg;
	my %pages = pages($text);
	%pages = map { $_ => unescape($pages{$_}) } keys %pages
	    if $title =~ /\(.*escapes.*\)/;
	my $seen = check(write_site(%pages));
	$silent++ if $title =~ /\(silent/;
	$printed .= "%% $title\n$text" . $seen =~ s/^/%> /mgr;
	is $seen, $expected, $title unless $ENV{MISTAKES};
}
if ($ENV{MISTAKES}) {
	print $printed;
	exit 0;
}
cmp_ok scalar @cases, '>=', 70, 'there are at least seventy';
cmp_ok $silent, '>=', 70, '... of which an earlier check told nothing';

is check('-e', 'SEAL_KEY=x', "$top/examples/site"), '',
    'the example site has no mistake';

# The pages of a manual: displays that begin with a fence.
for my $file (glob "$top/conf/*.7 $top/fcgi/*.1") {
	my @shown = slurp($file)
	    =~ /^\.Bd -literal[^\n]*\n((?:---|\+\+\+)\n.*?)^\.Ed$/msg;

	for my $page (@shown) {
		$page =~ s/\\e/\\/g;
		$page =~ s/\\&//g;
		my $site = write_site('page.md' => $page);
		make_path("$site/tools");
		copy("$top/examples/site/shop/count.sh",
			"$site/tools/find.sh") or die "count.sh: $!";
		is check($site), '',
		    'a page of ' . $file =~ s{.*/}{}r . ' has none';
	}
}

# What looks like a mistake and is none.
my @good = split /^(?=%% )/m, slurp("$top/tests/data/no-mistakes.txt")
    =~ s/\A.*?(?=^%% )//msr;
for my $case (@good) {
	my ($title, $text) = $case =~ /^%% ([^\n]*)\n(.*)/s;

	$text = unescape($text) if $title =~ /\(escapes\)/;
	is check(write_site('page.md' => $text)), '', "none: $title";
}
done_testing;
