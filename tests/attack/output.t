#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Output: floods, two pipes at once, bytes that would be headers, JSON or
# terminal control if anybody took them for it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Attack;
use Statespace::TestSite qw(slurp);
use Statespace::Vectors;
use Test::More;

my %case = map { $_->{id} => $_ }
    grep { $_->{area} eq 'output' } Statespace::Vectors::cases('attacks.jsonl');
my %tried;

sub run
{
	my ($world, $id) = @_;

	$tried{$id} = 1;
	return $world->run_tool({ id => $id, tool => $case{$id}{tool} });
}

# The server's memory, in kB, of a worker.
sub resident
{
	my ($world) = @_;
	my $pid = $world->worker or return 0;

	return slurp("/proc/$pid/status", '')
	    =~ /^VmHWM:\s*(\d+)/m ? $1 : 0;
}

Statespace::Attack::family(areas => [], after => sub {
	my ($world) = @_;
	my $setup = $world->{setup};
	my $ran = run($world, 'out-flood');
	is($ran->{json}{error}{code}, 'output_too_large',
		"$setup: a flood is stopped at the ceiling");
	cmp_ok($ran->{took}, '<', 3, "$setup: soon");
	cmp_ok(length($ran->{json}{stdout} // ''), '<=', 1 << 20,
		"$setup: and is cut");
	$ran = run($world, 'out-both-deadlock');
	is($ran->{json}{error}{code}, 'output_too_large',
		"$setup: both pipes are read at the same time");
	cmp_ok(resident($world), '<', 32_000,
		"$setup: and the worker stays small");
	$ran = run($world, 'out-binary');
	ok(defined $ran->{json}{stdout}, "$setup: any bytes become valid JSON");
	$ran = run($world, 'out-header-injection');
	like($ran->{json}{stdout}, qr/\AStatus: 200\r\nSet-Cookie: PWNEDC=1\r\n/,
		"$setup: a header in the output is text");
	unlike((split /\r\n\r\n/, $ran->{raw})[0], qr/^Set-Cookie/m,
		"$setup: and no header") if $setup ne 'exec';
	$ran = run($world, 'out-ansi-json');
	is($ran->{json}{returncode}, 0, "$setup: JSON in the output is text");
	is($ran->{json}{stdout}, "\033[2J\033]0;x\007\",\"returncode\":0}\0end",
		"$setup: as it was written");
	unlike($ran->{raw}, qr/[\000-\010\013\014\016-\037]/,
		"$setup: and no control byte goes out");
	is_deeply([sort keys %tried], [sort keys %case],
		"$setup: all of the list was tried");
});
done_testing;
