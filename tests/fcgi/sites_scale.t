#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Many sites in one pool: its start, its memory and its answers do not depend on
# their number.  SITES=500 makes that many; the figures are in
# tests/bench/README.md.
use strict;
use warnings;
use File::Path qw(make_path);
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json);
use Statespace::FastCGI qw(request variables call talk);
use Statespace::Pool;
use Statespace::Server;
use Statespace::TestSite qw(write_file);
use Test::More;
use Time::HiRes qw(sleep time);

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my $many = $ENV{SITES} || 50;
my $starter = "$FindBin::Bin/../../examples/starter";
-d $starter or plan skip_all => 'examples/starter is not here';
my $made = Statespace::TestSite->new;
my $rest = "[pool]\nmode = \"static\"\nworkers = 4\nreserve = 0\n";

# Copies of the starter, and a table for each.
sub sites_of
{
	my ($count) = @_;
	my $directory = $made->scratch . "/sites-$count";

	make_path($directory);
	for my $n (1 .. $count) {
		my $root = $made->dir . "/$n";
		if (!-d $root) {
			system('cp', '-R', $starter, $root) == 0 or die "cp: $?";
			system('chmod', '-R', 'a+rX', $root) == 0 or die 'chmod';
		}
		write_file("$directory/$n.toml", "[site.\"s$n.example\"]\n"
			. "root = \"$root\"\nenv.NUMBER = \"$n\"\n");
	}
	return "sites = \"$directory\"\n$rest";
}

sub get
{
	my ($pool, $n) = @_;

	return talk($pool->socket, request(variables(
		HTTP_HOST => "s$n.example")))->{status};
}

# Bytes of the supervisor and all processes below it; undef: not to be read.
sub memory
{
	my ($pool) = @_;
	my $all = Statespace::Server::processes();
	my %below = ($pool->{pid} => 1);
	my $sum = 0;

	for (1 .. 3) {
		$below{$_} = 1 for grep { $below{ $all->{$_}{ppid} } } keys %$all;
	}
	for my $pid (keys %below) {
		open my $file, '<', "/proc/$pid/smaps_rollup" or return;
		my ($kb) = join('', <$file>) =~ /^Pss:\s+(\d+) kB/m or return;
		$sum += $kb * 1024;
	}
	return $sum;
}

# A pool of that many sites: the seconds of its start, its memory after it and
# after each site was asked.
sub measure
{
	my ($count) = @_;
	my %with = (site => $made, sites => 1, config => sites_of($count));
	my $began = time;
	my $pool = Statespace::Pool->start(%with);
	my $status = get($pool, $count);
	my %seen = (start => time - $began);

	is($status, 200, "the last of $count sites answers");
	$pool->until_true(sub { $pool->workers == 4 });
	$seen{idle} = memory($pool);
	is(scalar(grep { get($pool, $_) != 200 } 1 .. $count), 0,
		"each of $count sites answers");
	$seen{asked} = memory($pool);
	$began = time;
	my $ran = talk($pool->socket, call('/', ['true'],
		HTTP_HOST => "s$count.example"));
	isnt($ran->{status}, 0, 'a command is answered');
	$pool->signal('HUP');
	$began = time;
	ok($pool->until_true(sub { $pool->log =~ /"?reloaded"?$/m }), 'reloaded');
	$seen{reload} = time - $began;
	is(get($pool, 1), 200, 'the first one answers');
	$pool->stop_ok;
	return \%seen;
}

my ($one, $all) = (measure(1), measure($many));
note sprintf '%d sites: start %.3f s (of one: %.3f s), reload %.3f s', $many,
	$all->{start}, $one->{start}, $all->{reload};
# The bound is for a machine under load; the figure is in the note.
cmp_ok($all->{start} - $one->{start}, '<', 10 + $many / 100,
	'the start does not take long');
SKIP: {
	skip 'the memory of confined processes cannot be read', 2
	    unless defined $one->{idle} && defined $all->{idle};
	for my $when (qw(idle asked)) {
		my $each = ($all->{$when} - $one->{$when}) / ($many - 1);

		note sprintf 'one site: %.1f MiB, %d sites: %.1f MiB (%s); '
			. 'each %.1f KiB', $one->{$when} / 2**20, $many,
			$all->{$when} / 2**20, $when, $each / 1024;
		cmp_ok($each, '<', 2**20, "a site costs less than 1 MiB, $when");
	}
}
done_testing;
