#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# In a container that root made with one ordinary number for itself: outside,
# the account is root, whom RLIMIT_NPROC does not bind (fork(2)).  And a kernel
# that gives no seccomp listener.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Attack;
use Statespace::TestSite;
use JSON::PP ();
use Test::More;

my $BUILD = $ENV{BUILD} || 'build';
my $LIMIT = 24;
# A number that no account of a test has: below /tmp, its kept scratch is root's.
my @container = (qw(bwrap --unshare-user --uid 61234 --gid 61234 --bind / /),
	qw(--dev-bind /dev /dev --));
my ($machine) = (`uname -m`) =~ /(\w+)/;

# Its children live until all were counted; the number that there were.
my $count = 'pipe my $r, my $w; my $n = 0; for (1 .. 100) { my $p = fork; '
    . 'last if !defined $p; if (!$p) { close $w; sysread $r, $p, 1; exit } '
    . '$n++ } print "$n\n"';
# The same by four at once.
my $many = 'pipe my $r, my $w; for (1 .. 4) { next if fork; close $r; '
    . 'for (1 .. 100) { my $p = fork; last if !defined $p; '
    . 'if (!$p) { sleep 20; exit } syswrite $w, "x" } sleep 1; exit } '
    . 'close $w; select undef, undef, undef, 0.8; '
    . 'my $n = sysread $r, my $all, 4096; print "$n\n"';
my $few = 'for (1 .. 8) { my $p = fork; defined $p or die; exit if !$p } '
    . '1 while wait > 0; print "fine\n"';
my $shared = Statespace::Calls::here('print '
    . 'syscall(9, 0, 4096, 3, 0x21, -1, 0) > 0 ? "had" : "$!"');

my $site = Statespace::TestSite->new(files => { 'README.md' => "---\n"
    . "tools:\n  - { command: [perl, -e], exec: any, timeout: 10 }\n---\n" });
my $conf = $site->scratch . '/c.toml';

sub said
{
	my ($mode, $code, %with) = @_;
	my $out = $site->scratch . '/out';

	Statespace::TestSite::write_file($conf, "[sandbox]\nmode = \"$mode\"\n"
	    . "[limits]\nprocesses = $LIMIT\n");
	my $pid = fork() // die "fork: $!";
	if ($pid == 0) {
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', $out;
		open STDERR, '>&', \*STDOUT;
		$with{before}->() if $with{before};
		exec @{ $with{in} || [] }, "$BUILD/statespace-exec", '--json',
		    '-c', $conf, '-C', $site->dir, '/', '--', 'perl', '-e', $code;
	}
	waitpid $pid, 0;
	my $text = Statespace::TestSite::slurp($out);
	return eval { JSON::PP::decode_json($text) } || { raw => $text };
}

sub no_listener
{
	Statespace::Attack::without_calls(
	    [Statespace::Calls::number('seccomp'), 38]);
}

my %level = map { $_ => 1 } Statespace::Attack::levels();

SKIP: {
	skip 'only root makes such a container', 1 if $> != 0;
	skip 'bubblewrap is not installed', 1
	    unless grep { -x "$_/bwrap" } split /:/, $ENV{PATH};
	skip 'this machine makes no such container', 1
	    if system("@container true >/dev/null 2>&1") != 0;
	my $free = qx{@container bash -c 'ulimit -u $LIMIT && exec perl -e "\$0"' '$count'};
	is($free, "100\n", 'control: RLIMIT_NPROC does not bind there');
	for my $mode (qw(strict landlock)) {
		skip "no $mode level on this machine", 1 unless $level{$mode};
		my $ran = said($mode, $count, in => \@container);
		is($ran->{sandbox}{level}, $mode, "$mode: it is confined there")
		    or diag explain $ran;
		cmp_ok($ran->{stdout} // 999, '<', $LIMIT,
			"$mode: and has no more processes than its limit");
		$ran = said($mode, $many, in => \@container);
		cmp_ok($ran->{stdout} || 999, '<', 2 * $LIMIT,
			"$mode: nor when several make them at once");
		is(said($mode, $few, in => \@container)->{stdout}, "fine\n",
			"$mode: below it they are had, one after the other too");
	}
	SKIP: {
		skip 'its numbers of calls are not known here', 1
		    unless Statespace::Calls::known();
		my $ran = said('auto', $few, in => \@container,
			before => \&no_listener);
		is($ran->{error}{code}, 'sandbox_unavailable', 'where nothing '
			. 'can count them no tool is run') or diag explain $ran;
	}
	my $doctor = qx{@container $BUILD/statespace doctor 2>&1};
	like($doctor, qr/^ok\s+process limit\s+counted here/m,
		'and doctor says how they are counted');
	my ($group) = $doctor =~ /memory group\s+(.*)/;
	unlike($group, qr/interval/,
		'and how memory is read in one line only, "memory read"');
}

SKIP: {
	skip 'its numbers of calls are not known here', 1
	    unless $machine eq 'x86_64';
	for my $mode (qw(strict landlock)) {
		skip "no $mode level on this machine", 1 unless $level{$mode};
		is(said($mode, $shared)->{stdout}, 'had',
			"$mode: shared memory without a file may be had");
		my $ran = said($mode, $shared, before => \&no_listener);
		like($ran->{stdout}, qr/^Cannot allocate/,
			"$mode: but not where nothing can count it")
		    or diag explain $ran;
	}
}
done_testing;
