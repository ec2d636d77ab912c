#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# In every place the first command is had, or one remedy for each cause is told:
# by doctor, statespace-exec, the pool's log and its answers, in the same words.
# PLACES=all tries those too that take longer, and need the network.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Places;
use Test::More;

my $build = $ENV{BUILD} || 'build';
plan skip_all => 'the program is not built' unless -x "$build/statespace";
delete $ENV{STATESPACE_SANDBOX_MODE};

my $places = Statespace::Places->new;
my %plain = (name => 'here', steps => ['user'], level => 'strict');
my $here = $places->try(\%plain);
plan skip_all => 'this machine itself gives no strict level'
    unless $here && ($here->{doctor}{level} // '') eq 'strict';

for my $row (Statespace::Places::rows()) {
	next if $row->{long} && ($ENV{PLACES} // '') ne 'all';
	SKIP: {
		my $seen = $places->try($row);
		skip "$row->{name}: $row->{why}", 1 unless $seen;
		my @wrong = $places->wrong($row, $seen);
		ok(!@wrong, $row->{name});
		diag("  $_") for @wrong;
	}
}
# What it is, by the marks that the engines leave.
my @run = qw(user newuser newns tmpfs /run);
for ([ 'none is known', ['user'] ], [ 'podman', [@run, 'file',
		'/run/.containerenv', 'engine="podman-4.3.1"'] ],
	[ 'lxc', ['user'], container => 'lxc' ],
	[ 'systemd-nspawn', [@run, 'file', '/run/systemd/container',
		'systemd-nspawn'] ],
	[ 'kubernetes', ['user'], KUBERNETES_SERVICE_HOST => '10.0.0.1' ],
	[ 'a container', ['user'], container => 'wsl' ]) {
	my ($expected, $steps, %more) = @$_;
	SKIP: {
		skip 'this machine is a container', 1
		    if $here->{doctor}{layers}[0]{detail} !~ /\Anone is known/;
		is($places->container($steps, %more), $expected,
			"doctor takes it for: $expected");
	}
}
done_testing;
