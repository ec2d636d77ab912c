#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# What the tree looks like from outside: the top level of core/README.md and
# nothing else; every source begins with its licence and says what it is for.
use strict;
use warnings;
use Cwd ();
use FindBin;
use Test::More;

chdir Cwd::realpath("$FindBin::Bin/../..") or die "chdir: $!";

my %ALLOWED = map { $_ => 1 } qw(Makefile README.md LICENSE core fcgi conf nginx
	tests examples .ci .clang-format .clang-tidy .editorconfig .gitignore
	.gitattributes .github);

# What git knows; in a tarball, or without git, everything but the build.  The
# tree may belong to another account.
my @files = split /\0/, qx(git -c safe.directory='*' ls-files -z 2>/dev/null);
@files = grep { !m{^(?:build|\.git)/} }
    map { chomp; s{^\./}{}r } qx(find . -type f) unless @files;
my %top = map { (split m{/})[0] => 1 } @files;

ok(@files > 10, 'there is a tree to look at');
is(join(' ', grep { !$ALLOWED{$_} } sort keys %top), '',
	'the top level holds the names of the plan only');
is(join(' ', grep { /[^\w.\/+@-]/ } @files), '',
	'file names are plain');

# The first lines of every C file: licence, then a comment that opens it.  A
# .c file may leave the comment to its header.
for my $path (grep { m{^(?:core|fcgi|tests|examples)/.*\.[ch]$} && -f } @files) {
	open my $file, '<', $path or die "$path: $!";
	my $licence = <$file> // '';
	my $comment = <$file> // '';
	my $header = $path =~ s/\.c$/.h/r;
	like($licence, qr{^/\* SPDX-License-Identifier: MIT \*/$},
		"$path begins with its licence");
	ok($comment =~ m{^/\*} || ($header ne $path && -e $header)
		|| $path =~ m{^tests/|^core/[a-z]+\.c$},
		"$path says what it is for") or diag("  $comment");
}
done_testing;
