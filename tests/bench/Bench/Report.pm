# SPDX-License-Identifier: MIT
# What a run found, told three ways: tables on the way, goals at the end, and
# everything with all samples as JSON.
#
#	$report->table(id, title, unit, base, rows);	rows of Bench::Measure
#	$report->figure(what, value, unit);
#	$report->goal(what, '>=' or '<=', bound, seen, unit);
#	$report->finish(directory, more => ...);
package Bench::Report;

use strict;
use warnings;
use Bench::Measure qw(ratio);
use JSON::PP ();
use POSIX ();

sub new
{
	$| = 1;
	return bless { tables => [], figures => [], goals => [] }, $_[0];
}

sub number
{
	my ($value) = @_;

	return sprintf $value < 10 ? '%.2f' : $value < 100 ? '%.1f' : '%.0f',
	    $value;
}

sub ms { return defined $_[0] ? sprintf '%.2f', $_[0] / 1000 : '' }

sub table
{
	my ($self, $id, $title, $unit, $base, $rows) = @_;
	my $shown = $unit eq 'us' ? 'microseconds' : $unit;

	my @names = sort { $rows->{$b}{median} <=> $rows->{$a}{median} }
	    keys %$rows;
	my $best = $unit eq 'us' ? 'low' : 'high';

	@names = reverse @names if $unit eq 'us';
	printf "\n%s\n  %-34s %9s  %-17s %7s %7s %6s %6s %7s\n", $title, '',
	    $shown, '', 'p50 ms', 'p99 ms', 'ratio', 'best', 'CPU us';
	for my $name (@names) {
		my $row = $rows->{$name};
		$row->{ratio} //= ratio($rows, $name, $base);
		$row->{best} //= $row->{$best} / $rows->{$base}{$best};
		printf "  %-34s %9s  %-17s %7s %7s %6s %6s %7s\n", $name,
		    number($row->{median}),
		    '(' . join(' to ', map { number($_) } @$row{qw(low high)})
		    . ')', ms($row->{p50_us}), ms($row->{p99_us}),
		    map { defined $_ ? number($_) : '' }
		    @$row{qw(ratio best cpu_us)};
	}
	printf "  %s: %d requests went wrong\n", $_, $rows->{$_}{errors}
	    for grep { $rows->{$_}{errors} } @names;
	print "  ratio: of \"$base\", median of the rounds; best: of the best "
	    . "samples\n";
	push @{ $self->{tables} }, { id => $id, title => $title,
		unit => $unit, base => $base, rows => $rows };
	return;
}

sub rows
{
	my ($self, $id) = @_;

	return (map { $_->{rows} } grep { $_->{id} eq $id }
		@{ $self->{tables} })[0];
}

sub figure
{
	my ($self, $what, $value, $unit) = @_;

	print "\n" unless @{ $self->{figures} };
	printf "  %-70s %9s %s\n", $what, number($value), $unit;
	push @{ $self->{figures} }, { what => $what, value => 0 + $value,
		unit => $unit };
	return;
}

sub goal
{
	my ($self, $what, $how, $bound, $seen, $unit) = @_;
	my $met = $how eq '>=' ? $seen >= $bound : $seen <= $bound;

	push @{ $self->{goals} }, { what => $what, how => $how,
		bound => $bound, seen => 0 + sprintf('%.3f', $seen),
		unit => $unit, met => $met ? JSON::PP::true : JSON::PP::false };
	return;
}

sub finish
{
	my ($self, $dir, %more) = @_;
	my %all = (%$self, %more, kernel => (POSIX::uname())[2],
		cpus => scalar(() = glob '/sys/devices/system/cpu/cpu[0-9]*'));

	print "\nGoals\n" if @{ $self->{goals} };
	for (@{ $self->{goals} }) {
		printf "  %-6s %-62s %8s %s %s %s\n",
		    $_->{met} ? 'met' : 'MISSED', $_->{what},
		    number($_->{seen}), $_->{how}, $_->{bound}, $_->{unit};
	}
	open my $file, '>', "$dir/results.json" or die "$dir/results.json: $!";
	print $file JSON::PP->new->canonical->pretty->encode(\%all);
	close $file or die "$dir/results.json: $!";
	return;
}

1;
