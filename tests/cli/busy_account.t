#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Without namespaces RLIMIT_NPROC counts every task of the account: a tool
# must still be able to fork on a desktop where hundreds run already, and must
# still be stopped at its own limit.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::TestSite;
use Test::More;
use Time::HiRes qw(sleep);

my $BUSY = 100;
my $build = $ENV{BUILD} || "$FindBin::Bin/../../build";
my $site = Statespace::TestSite->new(files => { 'README.md' => <<'PAGE' });
---
tools:
  - [sh, -c, 'x=$(echo forked); echo $x', ;]
  - command: [sh, -c, 'for i in 1 2 3 4 5 6 7 8 9; do sleep 2 & done; wait', ;]
    processes: 4
---
PAGE

# The account that the tools get: nobody when we are root.
my @as = $> ? () : qw(setpriv --reuid=65534 --regid=65534 --clear-groups);
my @busy;
for (1 .. $BUSY) {
	my $pid = fork // die "fork: $!";
	if (!$pid) { exec @as, qw(sleep 60); }
	push @busy, $pid;
}
sleep 0.5;

sub run
{
	my ($words) = @_;
	my $pid = open my $out, '-|';

	if (!$pid) {
		open STDERR, '>&', \*STDOUT;
		$ENV{STATESPACE_SANDBOX_MODE} = 'landlock';
		exec @as, "$build/statespace-exec", '-C', $site->dir, '/', '--',
		    'sh', '-c', $words;
	}
	my $text = join '', <$out>;
	close $out;
	return ($text, $? >> 8);
}

my ($text, $status) = run('x=$(echo forked); echo $x');
is $text, "forked\n", "a tool forks beside $BUSY other processes";
($text, $status) =
    run('for i in 1 2 3 4 5 6 7 8 9; do sleep 2 & done; wait');
like $text, qr/[Cc]annot fork|Resource temporarily/,
    'and is stopped at its own number';

kill 'KILL', @busy;
waitpid $_, 0 for @busy;
done_testing;
