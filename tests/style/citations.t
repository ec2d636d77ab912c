#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# What a comment cites can be found: a manual page of ours with its section,
# a heading of a README.  Documents that are not in the tree are not cited.
use strict;
use warnings;
use Cwd ();
use FindBin;
use Test::More;

chdir Cwd::realpath("$FindBin::Bin/../..") or die "chdir: $!";

sub slurp
{
	my ($path) = @_;
	local $/;

	open my $file, '<', $path or die "$path: $!";
	return scalar <$file>;
}

# Headings by what cites them: "statespace-page(7)" or "core/README.md".
my %headings;
for my $path (glob 'core/*.3 fcgi/*.1 fcgi/*.8 conf/*.5 conf/*.7') {
	my ($name, $section) = $path =~ m{([^/]+)\.(\d)$};
	$headings{"$name($section)"} =
	    { map { s/"//gr => 1 } slurp($path) =~ /^\.S[hs] (.+)$/mg };
}
$headings{$_} = { map { $_ => 1 } slurp($_) =~ /^#+ (.+)$/mg }
    for grep { -f } glob 'README.md */README.md tests/*/README.md';
my $named = join '|', map { quotemeta } sort { length $b <=> length $a }
    keys %headings;

# The text of all comments, each line without its frame.
sub prose
{
	my ($path) = @_;
	my $text = slurp($path);

	$text = join "\n", $text =~ m{(/\*.*?\*/)}gs if $path =~ /\.[ch]$/;
	$text = join "\n", grep { /^\s*#/ } split /\n/, $text
	    unless $path =~ /\.[ch]$/;
	return $text =~ s/\s*\n\s*(?:\*|#)?\s*/ /gr;
}

# What a text cites and cannot be found.
sub lost
{
	my ($text) = @_;
	my @lost;

	while ($text =~ m{(?<![\w/.-])((?:statespace|libstatespace)[\w.-]*\(\d\))}g) {
		push @lost, $1 unless $headings{$1};
	}
	while ($text =~ m{($named), ([A-Z][A-Za-z -]*\w)}g) {
		my ($where, $what) = ($1, $2);
		my @words = split / /, $what;
		my $found;
		# A heading may be followed by more words of the sentence.
		for (my $n = @words; $n > 0 && !$found; $n--) {
			$found = $headings{$where}{ join ' ', @words[0 .. $n - 1] };
		}
		push @lost, "$where, $what" unless $found;
	}
	push @lost, $1 while $text =~ m{\b(PROTOCOL(?:\.md)?(?= section|, "| \d)|DESIGN(?: section|\.md)|issue \d+)}g;
	return @lost;
}

is(join('; ', lost('see statespace-protocol(7), PATHS.')), '',
	'a section that is there');
isnt(join('; ', lost('see statespace-protocol(7), NOWHERE.')), '',
	'a section that is not there is found out');
isnt(join('; ', lost('see statespace-none(7).')), '',
	'a page that is not there is found out');
isnt(join('; ', lost('DESIGN section 3')), '', 'a document elsewhere, too');

for my $path (split /\n/, `git ls-files core fcgi tests examples nginx conf Makefile`) {
	next unless $path =~ /\.(?:[ch]|t|pm|pl|in|conf|toml)$|Makefile$/ && -f $path;
	my @lost = lost(prose($path));
	ok(!@lost, "$path cites what can be found");
	diag("  $_") for @lost;
}
done_testing;
