#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A tool takes more than its share.  The limits are small here, so that the
# controls, which pass them, are small too.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp ();
use JSON::PP ();
use Statespace::Attack;
use Statespace::TestSite qw(slurp);
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

# Memory by the raw call, since perl's own is data (RLIMIT_DATA), and then
# written by read(2).  160 MiB are more than the limit, and held for a while.
my $map = 'sub area { syscall(9, 0, @_, 0) } sub fill { '
    . 'open my $z, "<", "/dev/zero"; my $n = 0; while ($n < $_[1]) { '
    . 'my $r = syscall(0, fileno $z, $_[0] + $n, $_[1] - $n); '
    . 'exit if $r <= 0; $n += $r } } my ($m, $all) = (1 << 20, 160 << 20); '
    . 'sub hold { select undef, undef, undef, 1.5; print "PWNED\n"; exit } ';

sub takes
{
	my ($id, $code, %more) = @_;

	return { id => $id, tool => ['perl', '-e', $map . $code], %more };
}

my @memory = (
	takes('res-shared', 'my $p = area($all, 3, 0x21, -1); '
		. 'exit if $p < 0; fill($p, $all); hold()'),
	# Pages of a mapping that is almost gone are in nobody's sum.
	takes('res-shared-hidden', 'for (1 .. 20) { '
		. 'my $p = area(8 * $m, 3, 0x21, -1); exit if $p < 0; '
		. 'fill($p, 8 * $m); syscall(11, $p, 8 * $m - 4096) } hold()'),
	takes('res-shared-zero', 'open my $z, "+<", "/dev/zero" or exit; '
		. 'my $p = area($all, 3, 1, fileno $z); exit if $p < 0; '
		. 'fill($p, $all); hold()'),
	takes('res-grows-down', 'my $p = area($all, 3, 0x122, -1); '
		. 'exit if $p < 0; fill($p, $all); hold()'),
	# What cannot be written any more is no data.
	takes('res-protected', 'for (1 .. 4) { my $p = area(40 * $m, 3, 0x22, -1); '
		. 'exit if $p < 0; fill($p, 40 * $m); '
		. 'syscall(10, $p, 40 * $m, 1) } hold()',
		check => limit_named('memory')),
	takes('res-together', 'for (1 .. 4) { next if fork; '
		. 'my $p = area(40 * $m, 3, 0x22, -1); '
		. 'exit if $p < 0; fill($p, 40 * $m); sleep 3; exit } hold()',
		check => limit_named('memory')),
	# With /proc it runs in the launcher.
	takes('res-together-proc', 'for (1 .. 4) { next if fork; '
		. 'my $p = area(40 * $m, 3, 0x22, -1); '
		. 'exit if $p < 0; fill($p, 40 * $m); sleep 3; exit } hold()',
		check => limit_named('memory'), setups => [qw(strict exec cgi)],
		policy => { proc => JSON::PP::true }),
	takes('res-together-away', 'for (1 .. 4) { next if fork; '
		. 'syscall(112); exit if fork; my $p = area(40 * $m, 3, 0x22, -1); '
		. 'exit if $p < 0; fill($p, 40 * $m); sleep 3; exit } hold()',
		check => limit_named('memory')),
	takes('res-page-tables', 'my $p = area(60000 * $m, 1, 0x4022, -1); '
		. 'exit if $p < 0; pipe my $r, my $w; my $x; '
		. 'for (1 .. 28000) { syscall(1, fileno $w, $p, 1); '
		. 'sysread $r, $x, 1; $p += 2 * $m } hold()',
		check => limit_named('memory')),
	takes('res-sockets', 'use Socket; my @s; for (1 .. 14) { next if fork; '
		. 'for (1 .. 26) { socketpair my $a, my $b, AF_UNIX, '
		. 'SOCK_STREAM, 0 or exit; push @s, $a, $b; '
		. 'for ($a, $b) { $_->blocking(0); '
		. '1 while defined syswrite $_, "x" x 32768 } } '
		. 'sleep 3; exit } hold()', check => limit_named('memory')),
	takes('res-socket-buffer', 'use Socket; socketpair my $a, my $b, AF_UNIX, '
		. 'SOCK_STREAM, 0; my $now = getsockopt $a, SOL_SOCKET, SO_SNDBUF; '
		. 'setsockopt $a, SOL_SOCKET, SO_SNDBUF, 2 << 20; '
		. 'print "PWNED\n" if unpack("i", getsockopt $a, SOL_SOCKET, '
		. 'SO_SNDBUF) > unpack("i", $now)'),
	takes('res-splice', 'pipe my $r, my $w; my $p = area(4096, 3, 0x22, -1); '
		. 'print "PWNED\n" if syscall(278, fileno $w, '
		. 'pack("QQ", $p, 4096), 1, 0) > 0'),
	{ id => 'res-stack', tool => ['bash', '-c',
		'ulimit -s 200000 && echo PWNED'] },
);

# What threads hold where /proc/PID does not show it.
my $threads = threads_program();
my @threads = map { { id => "res-thread-$_->[0]", file => { threads => $threads },
	policy => { exec => ['./threads'] }, tool => ['./threads', $_->[0]],
	check => $_->[1] } } (
	[memory => limit_named('memory')], [relay => limit_named('memory')],
	[sockets => limit_named('memory')],
	['relay-sockets' => limit_named('memory')],
	# These are refused.
	[tables => limit_named('none')], [unshare => limit_named('none')],
);
# With /proc they run in the launcher.
push @threads, map { { %$_, id => "$_->{id}-proc", setups => [qw(strict exec cgi)],
	policy => { %{ $_->{policy} }, proc => JSON::PP::true } } } @threads;
@threads = () unless defined $threads;

# undef: this machine has no compiler.
sub threads_program
{
	my $dir = File::Temp->newdir(DIR => '/var/tmp');
	my $cc = $ENV{CC} || 'cc';

	return undef if system("$cc -O1 -pthread -o $dir/threads "
	    . "$FindBin::Bin/threads.c 2>$dir/err");
	return slurp("$dir/threads");
}

# On the other side of the limit: what is shared is one, and may be had.
my @fine = (
	defined $threads ? { id => 'threads-end', file => { threads => $threads },
		policy => { exec => ['./threads'] },
		tool => ['./threads', 'end'] } : (),
	takes('shares-pages', 'my $p = area(60 * $m, 3, 0x22, -1); '
		. 'fill($p, 60 * $m); for (1 .. 4) { fork or do { sleep 3; exit } } '
		. 'select undef, undef, undef, 0.5; print "fine\n"'),
	takes('has-shared-memory', 'my $p = area(60 * $m, 3, 0x21, -1); '
		. 'fill($p, 60 * $m); print "fine\n" if $p > 0'),
);

my @own = (
	@memory, @threads,
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
			    : 'the answer does not name the time limit' },
		tool => ['sh', '-c', 'sleep 9; echo PWNED'] },
);
$Statespace::Attack::no_control{$_} = 'it would only take long'
    for qw(res-cpu res-wall);

SKIP: {
	skip 'there is no compiler for what threads hold', 1 unless @threads;
	pass('what threads hold is compiled');
}
Statespace::Attack::family(areas => ['resource'], after => sub {
		my ($world) = @_;
		for my $case (@fine) {
			my $ran = $world->run_tool($case);
			is($ran->{json}{stdout}, "fine\n", "$world->{setup}: a tool "
				. "below its limit goes on ($case->{id})")
			    or diag $ran->{raw};
		}
	}, fast => 1, own => \@own,
	config => "cpu = 1\nmemory_bytes = 100000000\nprocesses = 60\n"
	    . "open_files = 64\nfile_bytes = 2000000\n"
	    . "scratch_bytes = 4000000\n",
	change => { 'lif-zombies' => { setups => [qw(strict exec cgi)],
		check => sub {
			my ($world, $ran) = @_;
			return $ran->{took} < Statespace::Attack::patience(4)
			    ? () : "took $ran->{took} s";
		} } });
done_testing;
