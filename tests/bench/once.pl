#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A call with a key against one without, one after the other, in milliseconds
# (median): with the state directory in memory, where fsync(2) does nothing, and
# on the disk; the same for receipts.  `make all`, then perl tests/bench/once.pl
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp ();
use Statespace::FastCGI qw(call talk);
use Statespace::Pool;
use Time::HiRes qw(time);

my $TIMES = $ENV{TIMES} || 300;

sub median { return (sort { $a <=> $b } @_)[@_ / 2] * 1000 }

sub measure
{
	my ($where, $receipts) = @_;
	my $dir = File::Temp->newdir('statespace-XXXXXXXX', DIR => $where);

	chmod 0777, "$dir";
	system("$FindBin::Bin/../../build/statespace", 'receipts', 'key',
		"$dir/key") == 0 or die 'key' if $receipts;
	chmod 0644, "$dir/key" if $receipts;
	my $pool = Statespace::Pool->start(files => { 'README.md' =>
		"---\ntools: [[echo, {}]]\n---\n" }, config => "[pool]\n"
		. "mode = \"static\"\nworkers = 2\n[state]\ndirectory = "
		. "\"$dir/state\"\n" . ($receipts ? "[log]\nreceipts = "
		. "\"$dir/log\"\nreceipts_key = \"$dir/key\"\n" : ''));
	my (@plain, @keyed, @again);

	for my $i (-20 .. $TIMES) {
		my $begun = time;
		talk($pool->socket, call('/', ['echo', 'x']));
		push @plain, time - $begun if $i > 0;
		for my $times (\@keyed, \@again) {
			$begun = time;
			talk($pool->socket, call('/', ['echo', 'x'],
				HTTP_IDEMPOTENCY_KEY => "key-$i"));
			push @$times, time - $begun if $i > 0;
		}
	}
	$pool->stop;
	return map { median(@$_) } \@plain, \@keyed, \@again;
}

printf "%-28s %8s %8s %8s %7s\n", '', 'plain', 'key', 'again', 'ratio';
for (['in memory', '/dev/shm', 0], ['on disk', '/var/tmp', 0],
	['in memory, receipts', '/dev/shm', 1],
	['on disk, receipts', '/var/tmp', 1]) {
	my ($what, $where, $receipts) = @$_;
	my ($plain, $keyed, $again) = measure($where, $receipts);

	printf "%-28s %8.2f %8.2f %8.2f %7.2f\n", $what, $plain, $keyed, $again,
	    $keyed / $plain;
}
