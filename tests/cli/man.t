#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# The manual pages are sound mdoc, name every function and every error code of
# the public header, and every option that the programs print in their usage.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Server qw(has);
use Statespace::TestSite qw(slurp);
use Test::More;

my $top = abs_path(dirname(__FILE__) . '/../..');
my $build = abs_path($ENV{BUILD} // "$top/build");
chdir $top or die $!;

my @pages = glob '*/*.[1-8]';
ok(scalar @pages >= 4, 'there are manual pages');

SKIP: {
	skip 'mandoc is not installed', scalar @pages
		unless has('mandoc');
	for my $page (@pages) {
		my @found = grep { !/referenced manual not found|mandoc\.db/ }
			`mandoc -T lint $page 2>&1`;
		is(join('', @found), '', "$page is clean mdoc");
	}
}

my $header = slurp('core/statespace.h') =~ s{/\*.*?\*/}{}gsr;
my $manual = slurp('core/libstatespace.3');
for my $name ($header =~ /\b(ss_\w+)\s*\((?!\*)/g) {
	ok($manual =~ /^\.Fn $name\b/m, "libstatespace(3) has $name");
}

# Every code of an error, with its status, is in the contract, and no other.
my $protocol = slurp('conf/statespace-protocol.7');
my %codes = reverse slurp('core/statespace.h')
    =~ m{^\tSS_\w+,\s*/\* (\d+) (\w+)}mg;
my %listed = $protocol =~ /^\.It Li (\w+) Ta (\d+) Ta /mg;
is_deeply(\%listed, \%codes, 'statespace-protocol(7) has the error codes');

for my $command (qw(new serve fcgi exec mcp check fsworker workspace doctor)) {
	my $page = $command eq 'exec' ? 'statespace-exec' : 'statespace';
SKIP: {
		skip 'statespace is not built', 1 unless -x "$build/statespace";
		my $usage = `$build/statespace $command --help 2>&1`;
		my $text = slurp("fcgi/$page.1") =~ s/\\-/-/gr;
		my @missing = grep { $text !~ /Fl \Q$_\E(?![\w-])/ }
			map { s/^-//r } $usage =~ /(?<![\w-])(-{1,2}[A-Za-z][\w-]*)/g;
		is("@missing", '', "$page(1) has the options of $command --help");
	}
}

# Each option of a synopsis has its sentence, and `help` is `--help`.
for my $command (qw(new serve fcgi exec mcp check fsworker workspace doctor)) {
SKIP: {
		skip 'statespace is not built', 2 unless -x "$build/statespace";
		my $help = `$build/statespace $command --help 2>&1`;
		my ($usage, $rest) = split /\n\n/, $help, 2;
		my @missing = grep { ($rest // '') !~ /^  \Q$_\E .*\w\.$/m }
		    $usage =~ /(?<![\w-])(-{1,2}[A-Za-z][\w-]*)/g;
		is("@missing", '', "$command --help explains each option");
		is(`$build/statespace help $command 2>&1`, $help,
			"statespace help $command is the same");
	}
}

done_testing;
