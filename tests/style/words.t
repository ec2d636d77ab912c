#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Plain words: comments, messages, manual pages and identifiers use the terms of
# their field, and no metaphor that only this project knows.
use strict;
use warnings;
use Cwd ();
use FindBin;
use Test::More;

chdir Cwd::realpath("$FindBin::Bin/../..") or die "chdir: $!";

# What to write instead.
my %INSTEAD = (
	'walls?' => 'sandbox', 'birth|born|newborn|bears?|bore' => 'start',
	'bury|buried|buries|burial' => 'reap', 'bells?' => 'notify descriptor',
	'clerks?' => 'status server', 'wish|wishes|wished' => 'want, request',
	'worn' => 'used up', 'errands?' => 'job', 'condemned' => 'to be killed',
	'desks?' => 'http', 'gauges?' => 'limit', 'boards?' => 'scoreboard',
	'roads?' => 'way, path', 'masters?' => 'supervisor',
	'rooms?' => 'file, module', 'floors?' => 'folder', 'hous(?:e|es)' => '',
	'stands?|stood' => 'is', 'said' => 'written, listed', 'spoilt' => '',
	'of whom' => 'the subject first', 'it is not said' => 'the subject first',
);
# The same letters in a sense of the field.
my @FIELD = (qr/\bwall[- ]clock\b/, qr/"wall"/, qr/"gauge"/,
	qr/\bno room\b/, qr/\broom (?:for|in|left|to)\b/i,
	qr/\bmaster[ _]process\b/, qr/\bas it stands\b/, qr/\bstands? for\b/);
# Identifiers of the kernel, and of the limit that answers call "wall".
my %FIELD_NAME = map { $_ => 1 } qw(__WALL SPAWN_LIMIT_WALL);
# Only in identifiers.
my $NAMES = join '|', qw(walls? birth births born newborn bear bears bury buried
	bell clerk clerks wish wishes worn errand errands condemned desk gauge
	gauges board road roads);

# What is read.
my @READ = qw(core fcgi nginx conf Makefile .ci);

sub slurp
{
	my ($path) = @_;
	local $/;

	open my $file, '<', $path or die "$path: $!";
	return scalar <$file>;
}

# A C file in two: comments and string literals, and the code without them.
# Lines stay where they are.
sub split_c
{
	my ($text) = @_;
	my ($words, $code) = ('', '');

	while ($text =~ m{\G(?:(/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*")
		|('(?:\\.|[^'\\\n])*')|([^/"']+|.))}gsx) {
		my ($prose, $rest) = ($1, $2 // $3);
		if (defined $prose) {
			# An include names a file, not a thing.
			$prose = '' if $code =~ /^[ \t]*#[ \t]*include[^\n]*\z/m;
			$words .= $prose;
			$code .= $prose =~ s/[^\n]//gr;
		} else {
			$code .= $rest;
			$words .= $rest =~ s/[^\n]/ /gr;
		}
	}
	return ($words, $code);
}

# What people read in a file: all of a manual page or a README; of the rest the
# comments.
sub prose
{
	my ($path, $text) = @_;

	return $text =~ s/\\f[BIRP]|\\&//gr if $path =~ m{\.[1-8]$|\.md$};
	return join "\n", map { /(?:^|\s)(#.*)/ ? $1 : '' } split /\n/, $text, -1;
}

# The words that are refused, each with its line.
sub metaphors
{
	my ($text) = @_;
	my @found;

	for my $field (@FIELD) {
		$text =~ s/($field)/' ' x length $1/ge;
	}
	for my $word (sort keys %INSTEAD) {
		while ($text =~ /\b($word)\b/gi) {
			my ($seen, $line) = ($1, 1 + (substr($text, 0, $-[1])
				=~ tr/\n//));
			my $instead = $INSTEAD{$word} && " ($INSTEAD{$word})";
			push @found, "line $line: \"$seen\"$instead";
		}
	}
	return @found;
}

sub names
{
	my ($code) = @_;
	my %found;

	while ($code =~ /\b([A-Za-z_]\w*)\b/g) {
		my $name = $1;
		next if $FIELD_NAME{$name};
		$found{$name} = 1 if grep { /^(?:$NAMES)$/i } split /_/, $name;
	}
	return map { "the name $_" } sort keys %found;
}

sub wrongs
{
	my ($path) = @_;
	my $text = slurp($path);

	return metaphors(prose($path, $text)) unless $path =~ /\.[ch]$/;
	my ($words, $code) = split_c($text);
	return (metaphors($words), names($code));
}

# The rules themselves.
is(scalar(metaphors('a clerk who is born')), 2, 'a metaphor is found');
is(scalar(metaphors('wall-clock time; bearer; no room for it')), 0,
	'a term of the field is none');
my ($words, $code) = split_c("int bell; /* a bell */ char *s = \"walls\";");
is(scalar(metaphors($words)), 2, 'comments and literals are read');
is(scalar(names($code)), 1, 'and identifiers');

my $pattern = join '|', map { quotemeta } @READ;
my @files = split /\0/, qx(git -c safe.directory='*' ls-files -z 2>/dev/null);
@files = map { chomp; s{^\./}{}r } qx(find . -type f) unless @files;
for my $path (grep { m{^(?:$pattern)(?:/|$)} && -f } @files) {
	my @wrong = wrongs($path);
	ok(!@wrong, "$path uses plain words");
	diag("  $path, $_") for @wrong;
}
done_testing;
