# SPDX-License-Identifier: MIT
# Samples, and what is said about them.  Contenders take turns, so that what
# else the machine does falls on all of them; ratios are made within a round,
# and their median is what counts.
#
#	my $rows = rounds(5, [name => sub { sample }], ...);
#	$rows->{name}	{ samples => [...], median, low, high, p50_us, p99_us }
#	ratio($rows, 'a', 'b');	median of a / b, round by round
#
# A sample: { value => number, p50_us, p99_us, ... }; of errors one in a hundred
# is counted, more end it all.
package Bench::Measure;

use strict;
use warnings;
use Exporter qw(import);
use FindBin;
use JSON::PP ();
use Statespace::Server;
use Time::HiRes qw(sleep time);

# As a tool has it, so that everybody finds the same programs.
our $PATH = '/usr/local/bin:/usr/bin:/bin';
our @EXPORT_OK = qw(median part ratio difference rounds load turns pss mixed);

sub part
{
	my ($share, @values) = @_;
	my @sorted = sort { $a <=> $b } @values;

	return $sorted[int($#sorted * $share + 0.5)];
}

sub median
{
	my @sorted = sort { $a <=> $b } @_;

	return ($sorted[$#sorted / 2] + $sorted[@sorted / 2]) / 2;
}

# Each round begins with another one.
sub rounds
{
	my ($rounds, @contenders) = @_;
	my %samples;

	for my $round (0 .. $rounds - 1) {
		for (0 .. $#contenders) {
			my ($name, $take) =
			    @{ $contenders[($_ + $round) % @contenders] };
			push @{ $samples{$name} }, $take->();
		}
	}
	return { map { $_ => summed($samples{$_}) } keys %samples };
}

sub summed
{
	my ($samples) = @_;
	my @values = map { $_->{value} } @$samples;
	my %row = (samples => [map { 0 + sprintf '%.1f', $_ } @values],
		median => median(@values), low => part(0.05, @values),
		high => part(0.95, @values), errors => 0);

	# Figures that samples have beside their value.
	for my $key (grep { !/value|errors/ } keys %{ $samples->[0] }) {
		$row{$key} = median(map { $_->{$key} } @$samples);
	}
	$row{errors} += $_->{errors} // 0 for @$samples;
	return \%row;
}

# Of what was measured in the same round.
sub by_round
{
	my ($rows, $one, $other, $how) = @_;
	my ($a, $b) = map { $_ ? $_->{samples} : return undef }
	    @$rows{ $one, $other };

	return median(map { $how->($a->[$_], $b->[$_]) } 0 .. $#$a);
}

sub ratio { return by_round(@_[0 .. 2], sub { $_[0] / $_[1] }) }
sub difference { return by_round(@_[0 .. 2], sub { $_[0] - $_[1] }) }

# Requests a second under wrk; body: a file's name; cpu_us: a function that
# says how much processor time was used so far.
sub load
{
	my ($url, %with) = @_;
	my @words = ('wrk', '-t1', "-c$with{clients}", "-d$with{seconds}s",
		'--timeout', '30s', '-s', "$FindBin::Bin/load.lua", $url,
		'--', $with{body} // ());

	my $before = $with{cpu_us}->();
	open my $wrk, '-|', @words or die "wrk: $!";
	my $said = do { local $/; <$wrk> };
	close $wrk;
	my $after = $with{cpu_us}->();
	my $got = $said =~ /^(\{.*\})$/m ? JSON::PP::decode_json($1)
	    : die "bench: wrk $url said:\n$said";
	die "bench: $with{name}: $got->{errors} of $got->{requests} requests "
	    . "went wrong\n" if $got->{errors} * 100 >= $got->{requests};
	return { value => $got->{requests} / $got->{us} * 1e6,
		p50_us => $got->{p50}, p99_us => $got->{p99},
		errors => $got->{errors}, defined $before ? (cpu_us =>
			($after - $before) / $got->{requests}) : () };
}

# Commands by turns: name => microseconds of each round.
sub turns
{
	my ($program, $rounds, @commands) = @_;
	my @words = map { (',', @{ $_->[1] }) } @commands;
	my %rows;

	shift @words;
	local $ENV{PATH} = $PATH;
	my @run = ref $program ? @$program : $program;
	open my $turns, '-|', @run, $rounds, @words or die "$run[0]: $!";
	for (@commands) {
		my @took = split ' ', <$turns> // die "bench: turns failed\n";
		$rows{ $_->[0] } = { %{ summed([map { { value => $_ } } @took]) },
			p50_us => part(0.5, @took), p99_us => part(0.99, @took) };
	}
	close $turns or die "bench: turns failed\n";
	return \%rows;
}

# Proportional set size of processes in KiB, each that may be looked at.
sub pss
{
	return map {
		open my $file, '<', "/proc/$_/smaps_rollup";
		$file && fileno $file ? map { /^Pss:\s+(\d+)/ } <$file> : ();
	} @_;
}

# Clients of our own, which note the whole time and what the worker says of
# it (Server-Timing): the queue of a pool is outside of that.
# A list of { command, whole_us, inside_us }.
sub mixed
{
	my ($url, %with) = @_;
	my ($port) = $url =~ /:(\d+)\z/;
	my $until = time + $with{seconds};
	my (@pipes, @seen);

	for my $command (@{ $with{commands} }) {
		pipe my $read, my $write or die "pipe: $!";
		my $pid = fork() // die "fork: $!";
		if ($pid == 0) {
			print $write asked($port, $command, $until);
			close $write;
			POSIX::_exit(0);
		}
		push @pipes, [$pid, $read, $command];
	}
	for (@pipes) {
		my ($pid, $read, $command) = @$_;
		while (<$read>) {
			my ($whole, $inside) = split;
			push @seen, { command => $command->[0],
				whole_us => $whole, inside_us => $inside };
		}
		waitpid $pid, 0;
	}
	return @seen;
}

sub asked
{
	my ($port, $command, $until) = @_;
	my $server = bless { port => $port, owner => 0 }, 'Statespace::Server';
	my $lines = '';

	while (time < $until) {
		my $answer = $server->run('/README.md', $command);
		my $said = $answer->{headers}{'server-timing'}
		    // die "bench: @$command: $answer->{raw}\n";
		my $inside = 0;
		$inside += 1000 * $_ for $said =~ /dur=([\d.]+)/g;
		$lines .= 1000 * $answer->{ms} . " $inside\n";
	}
	return $lines;
}

1;
