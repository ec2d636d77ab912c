#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# `make release` in a clone: it refuses what is not ready, a dry run makes the
# files and no tag, and a release makes the tag with the list of changes.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp ();
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Server qw(has);
use Statespace::TestSite qw(slurp write_file);
use Test::More;

my $top = abs_path(dirname(__FILE__) . '/../..');
has('git') or plan skip_all => 'git is not installed';
my $work = File::Temp->newdir('statespace-XXXXXXXX', TMPDIR => 1);
my $tree = "$work/tree";
# Of a tree that belongs to another account, with no configuration of ours, nor
# of the make that started this.
delete @ENV{'MAKEFLAGS', 'MFLAGS', grep { /^GIT_/ } keys %ENV};
$ENV{HOME} = "$work";
$ENV{GIT_CONFIG_NOSYSTEM} = 1;
write_file("$work/.gitconfig", "[safe]\n\tdirectory = *\n[user]\n"
	. "\tname = A Tester\n\temail = tester\@example.org\n");
system("git clone -q --no-hardlinks $top $tree 2>/dev/null") == 0
    or plan skip_all => 'this is no clone of git';
# The one that is tested here, also before it is committed.
for (qw(Makefile .ci/release conf/CHANGELOG.md core/statespace.h)) {
	write_file("$tree/$_", slurp("$top/$_"));
}
chmod 0755, "$tree/.ci/release";
my ($version) = slurp("$tree/core/statespace.h") =~ /SS_VERSION "(.*)"/;
my $changes = slurp("$tree/conf/CHANGELOG.md")
    =~ s/^## \Q$version\E \(.*\)$/## $version (2026-12-01)/mr;

sub commit
{
	my ($message) = @_;

	system("cd $tree && git add Makefile .ci conf core && git commit -q --allow-empty -m '$message'");
}

sub release
{
	my ($words) = @_;
	my $said = qx(PARTS=dist make -s -C $tree BUILD=build $words release 2>&1);

	return ($? >> 8, $said);
}

sub tags
{
	return qx(cd $tree && git tag);
}

# ----------------------------------------------------------------- refusals --
write_file("$tree/conf/CHANGELOG.md", $changes =~ s/\(2026-12-01\)/(unreleased)/r);
commit('not dated');
my ($code, $said) = release('DRY=1');
isnt($code, 0, 'a list of changes without a date is refused');
like($said, qr/CHANGELOG\.md begins with "## \Q$version\E \(unreleased\)"; write/,
	'with what to write');

write_file("$tree/conf/CHANGELOG.md", "# Changes\n\n## $version (2026-12-01)\n\n"
	. "## 0.0.1 (2026-01-01)\n\n- Something.\n");
commit('empty');
($code, $said) = release('DRY=1');
like($said, qr/lists nothing for \Q$version\E/, 'so is an empty one');

write_file("$tree/conf/CHANGELOG.md", $changes);
($code, $said) = release('DRY=1');
like($said, qr/changes that no commit has:\n.*CHANGELOG/,
	'so is a tree with changes, which are named');
ok(!-d "$tree/build/release", 'and nothing was made');

# ---------------------------------------------------------------- a release --
commit('ready');
($code, $said) = release('DRY=1');
is($code, 0, 'a dry run passes') or diag $said;
my $tarball = "$tree/build/release/statespace-$version.tar.gz";
ok(-s $tarball, 'the tarball is there');
is(system("cd $tree/build/release && sha256sum --quiet -c SHA256SUMS"), 0,
	'with its checksum');
like(qx(tar -tzf $tarball), qr{^statespace-\Q$version\E/conf/CHANGELOG\.md$}m,
	'all names in it are below its own');
is(tags(), '', 'a dry run makes no tag');
is(qx(cd $tree && git status --porcelain), '', 'and leaves the tree as it was');
my $first = slurp($tarball);
($code, $said) = release('');
is($code, 0, 'a release passes') or diag $said;
is(tags(), "v$version\n", 'and makes the tag');
like(qx(cd $tree && git tag -l --format='%(contents)' v$version),
	qr/^## \Q$version\E \(2026-12-01\)\n.*^- /ms,
	'with the list of changes as its text');
is(slurp($tarball), $first, 'the same commit is the same tarball, byte by byte');
($code, $said) = release('');
isnt($code, 0, 'a second release of the same version is refused');
like($said, qr/the tag v\Q$version\E exists/, 'since the tag exists');

# In an unpacked tarball there is no git, and the next one is the same tree.
SKIP: {
	system("tar -xzf $tarball -C $work") == 0 or skip 'no tarball', 1;
	my $there = "$work/statespace-$version";
	$said = qx(make -s -C $there BUILD=build dist 2>&1);
	mkdir "$work/again";
	system("tar -xzf $there/build/statespace-$version.tar.gz -C $work/again");
	is(qx(diff -r --exclude=build $there $work/again/statespace-$version 2>&1),
		'', 'make dist in an unpacked tarball gives the same tree')
	    or diag $said;
}
done_testing;
