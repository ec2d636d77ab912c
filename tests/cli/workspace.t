#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# statespace workspace: random changes through a mounted overlayfs, and in a copy.
# What was changed, the patch and the commit are compared with what the merged
# tree was: by diff, rsync and git apply.  RUNS=100 makes it longer.
use strict;
use warnings;
use Cwd ();
use File::Path qw(remove_tree);
use File::Temp qw(tempdir);
use FindBin;
use POSIX ();
use Test::More;

my @DIR_MODES = (0755, 0700, 0555);
my @FILE_MODES = (0644, 0755, 0600, 0444);
my @NAMES = ('a', 'b', 'c d', "n\nl", "\xff\xfe", 'tab	x', '"q"', 'a-b', 'a.b',
	"\xc3\xa9", 'z', '-dash', 'back\\slash', '#x');

sub put
{
	my ($path, $text) = @_;

	open my $file, '>', $path or return;
	print $file $text;
	close $file;
}

sub any { return $_[rand @_] }

sub content
{
	my $kind = rand 8;

	return '' if $kind < 1;
	return join '', map { chr rand 256 } 0 .. rand 300 if $kind < 2;
	return join('', map { "line " . int(rand 9) . "\n" } 0 .. rand 30)
		. ($kind < 3 ? 'no end' : '');
}

# Every path below $top, directories first.
sub tree
{
	my ($top, $at) = (@_, '');
	my @found;

	opendir my $dir, "$top/$at" or return;
	for my $name (sort grep { !/^\.\.?$/ } readdir $dir) {
		my $path = $at eq '' ? $name : "$at/$name";
		push @found, $path;
		push @found, tree($top, $path)
			if -d "$top/$path" && !-l "$top/$path";
	}
	return @found;
}

sub new_path
{
	my ($top) = @_;
	my $in = any('', grep { -d "$top/$_" && !-l "$top/$_" } tree($top));

	return ($in eq '' ? '' : "$in/") . any(@NAMES);
}

# One random change, as any program could make it.
sub change
{
	my ($top) = @_;
	my @all = tree($top);
	my $old = @all ? any(@all) : undef;
	my $new = new_path($top);
	my $act = defined $old ? int rand 9 : int rand 3;

	if ($act == 0) { put("$top/$new", content()) unless -d "$top/$new" }
	elsif ($act == 1) { mkdir "$top/$new" }
	elsif ($act == 2) { symlink any('a', '../../etc/passwd', '/x'), "$top/$new" }
	elsif ($act == 3) { remove_tree("$top/$old", { error => \my $unused }) }
	elsif ($act == 4) {
		my $to = "$top/$new";
		return if index("$new/", "$old/") == 0 || -e $to;
		# overlayfs renames no directory of the base: mv copies it.
		rename "$top/$old", $to or $! != POSIX::EXDEV()
		    or system 'mv', '-T', '--', "$top/$old", $to;
	}
	elsif ($act == 5 && !-l "$top/$old") {
		chmod any(-d "$top/$old" ? @DIR_MODES : @FILE_MODES), "$top/$old";
	}
	elsif ($act == 6 && -f "$top/$old" && !-l "$top/$old") {
		open my $file, '>>', "$top/$old" or return;
		print $file "more\n";
	}
	elsif ($act == 7) {
		# Another kind at the same place.
		my $was_dir = -d "$top/$old" && !-l "$top/$old";
		remove_tree("$top/$old", { error => \my $unused });
		$was_dir ? put("$top/$old", content()) : mkdir "$top/$old";
	}
	elsif ($act == 8 && -d "$top/$old" && !-l "$top/$old") {
		# Deleted and made again: an opaque directory.
		remove_tree("$top/$old", { error => \my $unused });
		mkdir "$top/$old";
		put("$top/$old/" . any(@NAMES), content());
	}
}

# In namespaces of its own: mounts, changes, and copies what is seen there.
if (@ARGV && $ARGV[0] eq '--inside') {
	my (undef, $seed, $top, $session) = @ARGV;
	srand $seed;
	open STDERR, '>', '/dev/null';
	if (-d "$session/work" && !-e "$session/base.list") {
		system('mount', '-t', 'overlay', 'overlay', '-o',
			"lowerdir=$top/site,upperdir=$session/upper,"
			. "workdir=$session/work,userxattr,index=off,xino=off",
			"$top/merged") == 0 or exit 77;
	} else {
		system('mount', '--bind', "$session/upper", "$top/merged") == 0
			or exit 77;
	}
	change("$top/merged") for 1 .. 30;
	exit(system('cp', '-a', "$top/merged", "$top/expected") >> 8);
}

# A folder on a small disk: what does not fit is not committed by halves.
if (@ARGV && $ARGV[0] eq '--full') {
	my (undef, $top, $program) = @ARGV;
	my $disk = "$top/small";
	my $site = "$disk/site";
	system('mount', '-t', 'tmpfs', '-o', 'size=900k,mode=755', 'tmpfs', $disk)
		== 0 or exit 77;
	mkdir $site;
	put("$disk/ballast", 'b' x 500000);
	put("$site/f$_", 'o' x 9000) for 1 .. 20;
	mkdir "$site/dir";
	put("$site/dir/in", 'in');
	system 'cp', '-a', $site, "$top/before";
	my $id = `$program workspace create -C '$site'`;
	chomp $id;
	my $upper = "$top/state/workspaces/$id/upper";
	put("$upper/f$_", 'n' x 20000) for 1 .. 20;
	put("$upper/new", 'new');
	my $said = `$program workspace commit $id -C '$site' 2>&1`;
	my $differs = `diff -r '$site' '$top/before' 2>&1; ls -A '$site' | grep '^[.]'`;
	unlink "$disk/ballast";
	my $later = system("$program workspace commit $id -C '$site' >/dev/null");
	print $said =~ /the disk is full: nothing was committed/ ? '' : $said;
	# No room for a session: the state directory's disk is full.
	mkdir "$top/tiny";
	system('mount', '-t', 'tmpfs', '-o', 'nr_inodes=5,mode=700', 'tmpfs',
		"$top/tiny") == 0 or exit 77;
	my $none = do {
		local $ENV{STATESPACE_CONFIG} = "$top/tiny.toml";
		put("$top/tiny.toml", qq([state]\ndirectory = "$top/tiny"\n));
		`$program workspace create -C '$site' 2>&1`;
	};
	print $none =~ /the disk of the state directory is full/ ? '' : $none;
	print $differs, $later == 0 && -s "$site/f7" == 20000 && -e "$site/new"
	    ? 'good' : 'with space it is not committed';
	exit;
}

# Root's workers run as another account: so does this.
if ($> == 0) {
	$( = 65534;
	$) = '65534 65534';
	POSIX::setuid(65534);
}
my $build = $ENV{BUILD} // Cwd::realpath("$FindBin::Bin/../../build");
my $program = "$build/statespace";
plan skip_all => 'statespace is not built' unless -x $program;
plan skip_all => 'no user namespaces with mounts here'
	if system('unshare -Urm true 2>/dev/null') != 0;
my %has = map { my $name = $_; $name =>
	(grep { -x "$_/$name" } split /:/, $ENV{PATH}) ? 1 : 0 } qw(git rsync);
my $runs = $ENV{RUNS} // 3;
my $top = tempdir('statespace-XXXXXX', TMPDIR => 1);
$ENV{STATESPACE_CONFIG} = "$top/statespace.toml";
put($ENV{STATESPACE_CONFIG}, qq([state]\ndirectory = "$top/state"\n));
mkdir "$top/state", 0700;
mkdir "$top/merged";
$ENV{HOME} = $top;
# git looks for no repository around it.
$ENV{GIT_CEILING_DIRECTORIES} = $top;
$ENV{GIT_CONFIG_GLOBAL} = $ENV{GIT_CONFIG_SYSTEM} = '/dev/null';

sub run
{
	my (@words) = @_;

	open my $out, '-|', $program, 'workspace', @words, '-C', "$top/site"
		or die "$program: $!";
	local $/;
	my $text = <$out> // '';
	close $out;
	return ($text, $? >> 8);
}

sub clean
{
	my @trees = grep { -d } map { "$top/$_" } @_;

	system 'chmod', '-R', 'u+rwX', '--', @trees if @trees;
	remove_tree(@trees);
}

# Two trees in one text, without what git does not record.
sub git_picture
{
	my ($dir) = @_;

	return join "\0", map {
		my $path = "$dir/$_";
		-l $path ? "$_ link " . readlink $path
		    : -d $path ? ()
		    : do {
			open my $file, '<', $path or die "$path: $!";
			local $/;
			"$_ " . (-x _ ? 'x ' : '- ') . (<$file> // '');
		    }
	} tree($dir);
}

sub compare_patch
{
	my ($id, $what) = @_;
	my ($patch, $status) = run('export', $id);

SKIP: {
		skip 'no git here', 1 unless $has{git};
		clean('patched');
		system 'cp', '-a', "$top/site", "$top/patched";
		system 'chmod', '-R', 'u+rwX', "$top/patched";
		# git knows no empty directories, and none may be in its way.
		system 'find', "$top/patched", '-mindepth', 1, '-type', 'd',
		    '-empty', '-delete';
		put("$top/patch", $patch);
		my $said = $patch =~ /^diff/m
		    ? `cd '$top/patched' && git apply --whitespace=nowarn ../patch 2>&1`
		    : '';
		is(git_picture("$top/patched") . $said,
			git_picture("$top/expected"),
			"git apply makes of the folder what was seen$what")
			or diag("the patch is\n$patch");
	}
}

sub compare_trees
{
	my ($what) = @_;

	is(`cd '$top' && diff -r --no-dereference site expected 2>&1`, '',
		"the committed folder is what was seen, says diff$what");
SKIP: {
		skip 'no rsync here', 1 unless $has{rsync};
		is(`rsync -n -i -rlpc --delete '$top/expected/' '$top/site/' 2>&1`,
			'', "so says rsync$what");
	}
}

sub run_once
{
	my ($backend, $seed) = @_;
	my $what = " ($backend, seed $seed)";

	clean(qw(site expected));
	mkdir "$top/site";
	srand $seed;
	change("$top/site") for 1 .. 40;
	put("$top/site/README.md", "# site\n");
	my ($id) = run('create', '--backend', $backend);
	chomp $id;
	like($id, qr/^[0-9a-f]{32}$/, "a session is made$what");
	my $status = system('unshare', '-Urm', $^X, Cwd::realpath($0), '--inside',
		$seed, $top, "$top/state/workspaces/$id") >> 8;
SKIP: {
		skip "overlayfs cannot be mounted here", 5 if $status == 77;
		is($status, 0, "changes are made$what");
		compare_patch($id, $what);
		my (undef, $committed) = run('commit', $id);
		is($committed, 0, "the session is committed$what");
		compare_trees($what);
	}
	my ($left) = run('diff', $id);
	is($left, '', "nothing is left to commit$what");
	run('discard', $id);
	is(join(' ', glob "$top/state/workspaces/*"), '', "nor of it$what");
}

my $first = $ENV{SEED} // 1;
for my $seed ($first .. $first + $runs - 1) {
	run_once('overlay', $seed);
	run_once('copy', $seed);
}
mkdir "$top/small";
my $full = `unshare -Urm $^X '$FindBin::Bin/$FindBin::Script' --full $top $program 2>&1`;
SKIP: {
	skip 'no tmpfs here', 1 if $? >> 8 == 77;
	is($full, 'good', 'a full disk leaves the folder as it was');
}
my $unknown = '0' x 32;
like(`$program workspace diff $unknown -C '$top/site' 2>&1`,
	qr/there is no such workspace session/, 'an unknown session is refused');
like(qx('$program' workspace lst -C '$top/site' 2>&1),
	qr/no such operation.*; create, list, diff, commit, discard, export$/m,
	'an unknown operation is told with those that there are');
clean(qw(site expected patched));
remove_tree($top);

done_testing;
