#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# What is mounted below a directory of the view is as read-only as that; and
# what a run leaves to the kernel has ended where nobody waits for it.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More;

my $top = abs_path(dirname(__FILE__) . '/../..');
my $exec = abs_path($ENV{BUILD} // "$top/build") . '/statespace-exec';
-x $exec or plan skip_all => 'statespace-exec is not built';

# In namespaces of its own, whose first process waits for no child but its own.
my @APART = qw(unshare --mount --pid --fork --mount-proc);
plan skip_all => 'this account makes no namespaces'
    if $> != 0 || system("@APART true 2>/dev/null") != 0;

my $site = tempdir(CLEANUP => 1);
chmod 0755, $site;
mkdir "$site/below";
my $conf = tempdir(CLEANUP => 1);

sub put
{
	my ($path, $text) = @_;

	open my $file, '>', $path or die "$path: $!";
	print $file $text;
	close $file or die "$path: $!";
	return;
}

put("$site/README.md", <<'END');
---
tools:
  - [touch, -c, {}]
  - [sh, -c, "setsid sleep 0.01 & : > $TMPDIR/left", ;]
---
END

# What it printed, with both streams in one.
sub apart
{
	my ($script) = @_;

	open my $out, '-|', @APART, 'perl', '-e', $script, $exec, $site, $conf
	    or die "unshare: $!";
	local $/ = undef;
	my $said = <$out> // '';
	close $out;
	return $said;
}

my $mounted = 'my ($exec, $site) = @ARGV; open STDERR, ">&STDOUT";
system("mount", "-t", "tmpfs", "-o", "mode=0777", "tmpfs", "$site/below");
open my $f, ">", "$site/below/file"; close $f; chmod 0666, "$site/below/file";
system($^X, "-e", q{utime undef, undef, @ARGV or print "no: $!\n"},
    "$site/below/file") == 0 and print "mounted\n";
system($exec, "-C", $site, "README.md", "--", "touch", "-c", "below/file");';
my $said = apart($mounted);

like($said, qr/^mounted$/m, 'a file system lies below the site');
unlike($said, qr/^no: /m, 'that is writable outside');
like($said, qr/Read-only file system/, 'and is read-only in the view');

my $ended = 'my ($exec, $site, $conf) = @ARGV; $| = 1;
my ($dead, $left, $failed) = (0, 0, 0);
for (1 .. 20) {
	system($exec, "-C", $site, "-c", "$conf/toml", "README.md", "--", "sh", "-c",
	    q{setsid sleep 0.01 & : > $TMPDIR/left}) == 0 or $failed++;
	for (glob "/proc/[0-9]*/stat") {
		open my $f, "<", $_ or next;
		my $line = <$f> // next;
		$line =~ /^(\d+) \((.*)\) (\S) (\d+)/ or next;
		$left++ if $2 ne "perl" && $2 ne "unshare";
		$dead++ if $3 eq "Z" && $4 == 1;
	}
	$left += grep { -e "$_/left" } glob "/tmp/statespace-scratch*";
}
print "left $left dead $dead failed $failed\n";';
for my $mode (qw(strict landlock off)) {
	put("$conf/toml", "[sandbox]\nmode = \"$mode\"\n");
	is(apart($ended), "left 0 dead 0 failed 0\n",
		"$mode: nothing is left of 20 runs, and no dead process");
}

done_testing;
