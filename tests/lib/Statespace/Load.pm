# SPDX-License-Identifier: MIT
# Clients that ask a pool mixed things for a while and check every answer, byte
# by byte.  Each is a process of its own and ends by itself.
#
#	my $load = Statespace::Load->start($socket, seconds => 5);
#	...trouble...
#	my $sum = $load->finish;
#	$sum->{sent}, {answered}, {wrong}, {lost}, {left}
#	$sum->{details}		what was wrong, some of it
#
# An answer is lost when it did not come, or came without its last record (a
# front server then tells its client); wrong when it is whole but not right.
package Statespace::Load;

use strict;
use warnings;
use POSIX ();
use Statespace::FastCGI qw(request variables call talk connect_to);
use Time::HiRes qw(sleep time);

# For a pool with $CONFIG.  The tools that must end in time have one that no
# machine under load needs.
our %FILES = (
	'README.md' => "---\ntools:\n  - [echo, {}]\n"
	    . "  - {command: [sleep, {}], timeout: 1.0}\n"
	    . "  - [head, -c, {}, /dev/zero]\n---\n# Hello\n",
	'big.txt' => join('', map { "line $_\n" } 1 .. 20_000),
);
# Command lines that no other test's processes have.
our @NAPS = ("7.$$", "6.$$");
our $CONFIG = "[limits]\ntimeout = 20.0\nmax_output_bytes = 300000\n";

sub get { return request(variables(SCRIPT_NAME => $_[0])) }

# How often, the request, and what its answer must be.
my @CASES = (
	[20, sub { get('/') }, 200, sub { $_[0] eq $FILES{'README.md'} }],
	[6, sub { get('/big.txt') }, 200, sub { $_[0] eq $FILES{'big.txt'} }],
	[6, sub { get('/none') }, 404, sub { 1 }],
	[20, sub { call('/', ['echo', "word$_[0]"]) }, 200,
		sub { $_[0] =~ /"stdout": "word\Q$_[1]\E\\n"/ }],
	[8, sub { call('/', ['rm', '-rf', '/']) }, 403,
		sub { $_[0] =~ /"not_allowed"/ }],
	[1, sub { call('/', ['sleep', $NAPS[0]]) }, 408,
		sub { $_[0] =~ /"timeout"/ }],
	[4, sub { call('/', ['head', '-c', '200000', '/dev/zero']) }, 200,
		sub { length $_[0] > 200_000 }],
	[2, sub { call('/', ['head', '-c', '9000000', '/dev/zero']) }, 413,
		sub { $_[0] =~ /"output_too_large"/ }],
	[3, undef],	# a client that leaves while its tool runs
);
my @DEALT = map { ($_) x $_->[0] } @CASES;

sub start
{
	my ($class, $socket, %with) = @_;
	my $self = bless { pipes => [] }, $class;
	my $until = time + $with{seconds};

	for my $number (1 .. $with{clients} || 4) {
		pipe my $read, my $write or die "pipe: $!";
		my $pid = fork() // die "fork: $!";
		if ($pid == 0) {
			close $read;
			srand $number;
			print $write client($socket, $until);
			close $write;
			POSIX::_exit(0);
		}
		close $write;
		push @{ $self->{pipes} }, [$pid, $read];
	}
	return $self;
}

sub client
{
	my ($socket, $until) = @_;
	my %sum = (sent => 0, answered => 0, wrong => 0, lost => 0, left => 0);
	my @details;

	while (time < $until) {
		my ($how, $why) = ask($socket, $DEALT[rand @DEALT], $sum{sent}++);
		$sum{$how}++;
		push @details, "$how: $why" if $why && @details < 5;
	}
	return join '', map({ "$_ $sum{$_}\n" } sort keys %sum),
	    map { "detail $_\n" } @details;
}

sub ask
{
	my ($socket, $case, $number) = @_;
	my (undef, $make, $status, $right) = @$case;
	my $answer;

	if (!$make) {
		my $gone = eval { connect_to($socket) } or return ('lost', $@);
		syswrite $gone, call('/', ['sleep', $NAPS[1]]);
		sleep 0.03;
		return 'left';
	}
	$answer = eval { talk($socket, $make->($number), seconds => 40) }
	    or return ('lost', $@ =~ s/\n.*//sr);
	return ('lost', "status $status was expected; after "
		. sprintf('%.1f s ', $answer->{took})
		. length($answer->{body}) . ' bytes of body')
	    unless $answer->{ended};
	return 'answered' if $answer->{status} == $status
	    && $right->($answer->{body}, $number);
	return ('wrong', "$answer->{status} instead of $status: "
		. substr $answer->{body} =~ s/\n/ /gr, 0, 200);
}

sub finish
{
	my ($self) = @_;
	my %sum = (details => '');

	for (@{ $self->{pipes} }) {
		my ($pid, $read) = @$_;
		while (<$read>) {
			my ($name, $value) = /\A(\w+) (.*)$/ or next;
			if ($name eq 'detail') {
				$sum{details} .= "$value\n";
			} else {
				$sum{$name} += $value;
			}
		}
		waitpid $pid, 0;
	}
	return \%sum;
}

# The table that an operator wants to see.
sub table
{
	my ($sum) = @_;

	return sprintf 'sent %d, answered %d, wrong %d, lost %d, '
	    . 'left by their clients %d', @$sum{qw(sent answered wrong lost left)};
}

1;
