#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Where workers have no /tmp of their own, what a dead one left in its private
# directory is removed by the pool, the next pool, or before the pool's end.
use strict;
use warnings;
use Fcntl qw(:flock O_RDONLY);
use File::Path qw(remove_tree);
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json);
use Statespace::FastCGI qw(call talk);
use Statespace::Pool;
use Statespace::Server;
use Test::More;

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my %landlock = (config => "[sandbox]\nmode = \"landlock\"\n"
	    . "[pool]\nmode = \"static\"\nworkers = 1\n[limits]\ntimeout = 60.0\n",
	files => { 'README.md' => "---\ntools: [[sh, -c]]\n---\n" });
my @made;
END { chmod 0700, "$_/folder" and remove_tree($_) for @made }

sub output
{
	my ($pool, @words) = @_;
	my $answer = talk($pool->socket, call('/', \@words));

	return eval { decode_json($answer->{body})->{stdout} } // '';
}

# As a worker that was killed leaves it: the account's, and nobody holds its
# lock, or the test does (the second value).  A pool of another test may remove
# it first.
my ($uid, $gid);
sub leave
{
	my ($count) = @_;
	my $name = sprintf '/tmp/statespace-scratch.t%d_%d', $$, scalar @made;

	mkdir $name, 0700 or die "$name: $!";
	sysopen my $held, $name, O_RDONLY or die "$name: $!";
	flock $held, LOCK_EX | LOCK_NB or die "$name: $!";
	mkdir "$name/folder";
	for my $n (1 .. $count) {
		my $below = $n % 2 ? $name : "$name/folder";
		open my $file, '>', "$below/$n" or die "$below/$n: $!";
	}
	chmod 0, "$name/folder";
	chown $uid, $gid, "$name/folder", $name;
	push @made, $name;
	return wantarray ? ($name, $held) : $name;
}

sub gone
{
	my ($pool, $name, $sentence) = @_;

	ok($pool->until_true(sub { !-e $name }), $sentence);
	return;
}

my $pool = Statespace::Pool->start(%landlock);
my $first = output($pool, 'sh', '-c', 'printf %s "$TMPDIR"');
if ($first !~ m{^/tmp/statespace-scratch\.}) {
	$pool->stop;
	plan skip_all => 'Landlock does not confine tools here';
}

# ------------------------------------------------------------ while it runs --

my $killed = $first;
my ($worker) = $pool->workers;
($uid, $gid) = (stat "/proc/$worker")[4, 5];
is(output($pool, 'sh', '-c', 'printf %s "$TMPDIR"'), $killed,
	'a worker has one directory');
my $full = leave(3000);
my ($locked, $held) = leave(10);
my $closed = leave(10);
chmod 0, $closed;
$pool->signal('KILL', $worker);
gone($pool, $killed, 'a killed worker\'s directory is removed');
gone($pool, $full, 'so is one with many files');
gone($pool, $closed, 'and one whose mode keeps its owner out');
ok($pool->until_true(sub { my ($new) = $pool->workers;
	$new && $new != $worker }), 'another worker took its place');
my $second = output($pool, 'sh', '-c', 'printf %s "$TMPDIR"');
isnt($second, $killed, '... with a directory of its own');
ok(-d $second, '... which stays');

# ------------------------------------------------------------- when it stops --

$full = leave(100);
$pool->{seen}{killed} = 1;
$pool->stop;
ok(!-e $second, 'after a stop there is no directory of a worker');
ok(!-e $full, '... nor what another one left');
ok(-e "$locked/1", 'what somebody living holds is left alone');

# ------------------------------------------------------------ by the next one --

$pool = Statespace::Pool->start(%landlock);
($worker) = $pool->workers;
$killed = output($pool, 'sh', '-c',
	'cd "$TMPDIR"; for i in 1 2 3; do echo > $i; done; printf %s "$TMPDIR"');
($second) = output($pool, 'sh', '-c', 'printf %s "$TMPDIR"');
my @all = ($pool->{pid}, $pool->workers, $pool->children('ss-status'));
kill 'KILL', @all;
waitpid $pool->{pid}, 0;
$full = leave(100);
delete $pool->{pid};
$pool = Statespace::Pool->start(%landlock);
gone($pool, $full, 'the next one removes it');
gone($pool, $second, '... and what its workers had');
$pool->stop;
close $held;
done_testing;
