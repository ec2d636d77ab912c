#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The README's table of what is not held is the list that the attacks prove.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Attack;
use Statespace::TestSite qw(slurp);
use Test::More;

my $readme = slurp("$FindBin::Bin/../../README.md");
my (%held, @landlock, @open);

while ($readme =~ /^\| (.+?) \| ((?:not )?held) \| ((?:not )?held) \|$/mg) {
	my ($name, $strict, $landlock) = ($1, $2, $3);
	push @open, $name if $strict eq 'not held';
	push @landlock, $name
	    if $strict eq 'held' && $landlock eq 'not held';
	$held{$name} = 1 if $landlock eq 'held';
}
ok(%held > 0, 'the README has the table');
is_deeply([sort @landlock], [sort keys %Statespace::Attack::gaps],
	'it names what Landlock mode does not hold, and nothing else');
is_deeply([sort @open], [sort keys %Statespace::Attack::open],
	'and what no mode holds');

# An attack that is listed as a gap is one that a test tries.
my $tests = join '', map { slurp($_) }
    glob("$FindBin::Bin/*.t"), "$FindBin::Bin/../data/attacks.jsonl";
for my $id (sort map { @$_ } values %Statespace::Attack::gaps,
	values %Statespace::Attack::open) {
	like($tests, qr/['"]\Q$id\E['"]/, "$id is tried");
}
done_testing;
