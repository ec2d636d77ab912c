#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A tool takes more than its share.  The limits are small here, so that the
# controls, which pass them, are small too.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Attack;
use Test::More;

sub limit_named
{
	my ($name) = @_;

	return sub {
		my ($world, $ran) = @_;
		my $said = $ran->{json}{sandbox}{limit} // 'none';
		return $said eq $name ? () : "the limit named is $said";
	};
}

my @own = (
	{ id => 'res-memory', tool => ['perl', '-e',
		'my $x = "x" x (160 << 20); print "PWNED\n"'] },
	{ id => 'res-mmap', tool => ['perl', '-e', 'print "PWNED\n" if '
		. 'syscall(9, 0, 160 << 20, 3, 0x22, -1, 0) > 0'] },
	{ id => 'res-files', tool => ['perl', '-e', 'my @f; for (1 .. 80) '
		. '{ open my $f, "<", "/dev/null" or exit; push @f, $f } '
		. 'print "PWNED\n"'] },
	{ id => 'res-file-size', tool => ['sh', '-c',
		'head -c 3m /dev/zero >$TMPDIR/f && echo PWNED'] },
	{ id => 'res-scratch', tool => ['sh', '-c', 'for i in 1 2 3 4 5; do '
		. 'head -c 1m /dev/zero >$TMPDIR/$i || exit; done; '
		. 'echo PWNED'] },
	{ id => 'res-processes', tool => ['perl', '-e', 'for (1 .. 70) '
		. '{ my $p = fork; exit if !defined $p; '
		. 'if (!$p) { sleep 1; exit } } print "PWNED\n"'] },
	{ id => 'res-raise', tool => ['bash', '-c', 'ulimit -n 80 && '
		. 'echo PWNED; ulimit -v unlimited -d unlimited && '
		. 'ulimit -u 500 && echo PWNED'] },
	{ id => 'res-core', tool => ['bash', '-c',
		'ulimit -c 100 && test $(ulimit -c) = 100 && echo PWNED'] },
	{ id => 'res-pipe', tool => ['perl', '-e', 'pipe(my $r, my $w); '
		. 'print "PWNED\n" if fcntl($w, 1031, 1 << 20)'] },
	{ id => 'res-cpu', tool => ['perl', '-e',
		'my $end = time + 9; 1 while time < $end; print "PWNED\n"'],
		check => limit_named('cpu') },
	{ id => 'res-wall', seconds => 1, check => sub {
			($_[1]{json}{error}{code} // '') eq 'timeout' ? ()
			    : 'it is not said that its time was up' },
		tool => ['sh', '-c', 'sleep 9; echo PWNED'] },
);
$Statespace::Attack::no_control{$_} = 'it would only take long'
    for qw(res-cpu res-wall);

Statespace::Attack::family(areas => ['resource'], fast => 1, own => \@own,
	config => "cpu = 1\nmemory_bytes = 100000000\nprocesses = 60\n"
	    . "open_files = 64\nfile_bytes = 2000000\n"
	    . "scratch_bytes = 4000000\n",
	change => { 'lif-zombies' => { roads => [qw(strict exec cgi)],
		check => sub {
			my ($world, $ran) = @_;
			return $ran->{took} < 4 ? () : "took $ran->{took} s";
		} } });
done_testing;
