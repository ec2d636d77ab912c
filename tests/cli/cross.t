#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# The system call filters are made for one architecture: core/sandbox/filter.c
# must not be compiled for another.
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
my $made = abs_path($ENV{BUILD} // "$top/build") . '/filters/filters.h';

-f $made or plan skip_all => "$made is not made";

# What the compiler says of filter.c with these filters; '' when it is content.
sub compiled
{
	my ($text) = @_;
	my $tmp = tempdir(CLEANUP => 1);

	write_file("$tmp/filters.h", $text);
	return scalar qx{$ENV{CC} -D_GNU_SOURCE -std=c11 -I'$top/core' -I'$tmp' \\
	    -c -o /dev/null '$top/core/sandbox/filter.c' 2>&1};
}

$ENV{CC} ||= 'cc';
my $text = slurp($made);
my ($arch) = $text =~ /^#define FILTERS_ARCH (0x[0-9a-f]{8})u$/m;
ok($arch, 'the filters say for which architecture they are');
is(compiled($text), '', 'which is the one that is built for');
for my $other ('0xc00000b7', '0xc000003e', '0xc00000f3', '0x40000003') {
	next if $other eq $arch;
	like(compiled($text =~ s/FILTERS_ARCH \K0x\w+?(?=u$)/$other/mr),
		qr/of the machine that builds/, "those of $other are refused");
}
done_testing;
