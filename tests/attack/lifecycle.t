#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A tool does not want to end, or leaves something behind.  After each one the
# same worker serves the next command, right and soon.  Every storm here ends
# by itself, and none of them runs outside the sandbox.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Attack;
use Test::More;
use Time::HiRes qw(sleep time);

# Something of it goes on outside the sandbox.
sub goes_on
{
	my ($world) = @_;
	my $victim = $world->{known}{victim};

	return grep { !/^$victim / } Statespace::Attack::below($$);
}

sub ended_by_time
{
	my ($world, $ran) = @_;
	my @wrong;

	push @wrong, "was not stopped: $ran->{raw}"
	    if ($ran->{json}{error}{code} // '') ne 'timeout';
	push @wrong, "took $ran->{took} s"
	    if $ran->{took} > Statespace::Attack::patience(5);
	return @wrong;
}

sub at_once
{
	my ($world, $ran) = @_;

	# In Landlock mode the scratch lies on a disk, which may be slow.
	my $most = Statespace::Attack::patience(
		$world->{setup} eq 'landlock' ? 8 : 6);
	return $ran->{took} < $most ? () : "took $ran->{took} s";
}

my @storm = (danger => 1, check => \&at_once, setups => [qw(strict exec cgi)]);
my @own = (
	{ id => 'lif-stops-itself', seconds => 1, check => \&ended_by_time,
		tool => ['sh', '-c', 'kill -STOP $$; sleep 5'] },
	{ id => 'lif-ignores-signals', seconds => 1, check => \&ended_by_time,
		tool => ['perl', '-e', '$SIG{$_} = "IGNORE" for keys %SIG; '
		. '$SIG{ALRM} = "DEFAULT"; alarm 9; sleep 30'] },
	{ id => 'lif-holds-output', check => \&at_once, tool => ['sh', '-c',
		'sleep 9 & echo started'], worked => \&goes_on },
	{ id => 'lif-daemon-holds-output', check => \&at_once, tool => ['sh',
		'-c', 'setsid sleep 9 & echo started'], worked => \&goes_on },
	{ id => 'lif-stopped-child', check => \&at_once, tool => ['sh', '-c',
		'sleep 9 & kill -STOP $!; echo started'],
		worked => \&goes_on },
	{ id => 'lif-deep-tree', next_s => { landlock => 8 }, check => \&at_once, tool => ['perl', '-e',
		'chdir $ENV{TMPDIR}; for (1 .. 4000) '
		. '{ mkdir "d" and chdir "d" or last } print "deep\n"'] },
	{ id => 'lif-locked-tree', check => \&at_once, tool => ['sh', '-c',
		'cd $TMPDIR; mkdir -p a/b/c; mkfifo a/b/p; ln -s / a/r; '
		. 'touch a/f; chmod 0 a/b/c a/b a .; echo locked'] },
	{ id => 'lif-fills-tmp', check => \&at_once, tool => ['sh', '-c',
		'head -c 70m /dev/zero >$TMPDIR/a; '
		. 'head -c 40m /dev/zero >$TMPDIR/b; echo full'] },
	{ id => 'lif-many-files', next_s => { landlock => 8 }, check => \&at_once, tool => ['perl', '-e',
		'chdir $ENV{TMPDIR}; for (1 .. 12000) '
		. '{ open my $f, ">", $_ or last } print "many\n"'] },
	{ id => 'lif-start-storm', @storm, tool => ['perl', '-e',
		'my $end = time + 2; for (1 .. 2000) { last if time >= $end; '
		. 'my $p = fork; last if !defined $p; '
		. 'if (!$p) { exec "true" } waitpid $p, 0 } print "done\n"'] },
	{ id => 'lif-flock-page', tool => ['sh', '-c',
		'exec 5<{PAGE}; flock -x 5; (sleep 9) & echo held'],
		check => \&at_once, worked => \&goes_on },
);
$Statespace::Attack::no_control{$_} = 'it says nothing' for qw(
	lif-stops-itself lif-ignores-signals lif-deep-tree lif-locked-tree
	lif-fills-tmp lif-many-files lif-self-signal-status);
$Statespace::Attack::no_control{'lif-start-storm'} = 'it would be a storm';

my $late_at;
Statespace::Attack::family(areas => ['lifecycle'], fast => 1, own => \@own,
	without => ['lif-client-abort'],
	change => {
		'lif-setsid-daemon' => { linger => 10,
			tool => ['sh', '-c', q{setsid sh -c 'sleep 1; }
			. q{echo late > {PROBE}' >/dev/null 2>&1 </dev/null }
			. q{& echo started}],
			worked => sub { -e "$_[0]{base}/probe/late" } },
		'lif-double-fork' => { worked => \&goes_on },
		'lif-self-signal-status' => { check => sub {
			my ($world, $ran) = @_;
			my $code = $ran->{json}{returncode} // 'none';
			return $code == 143 ? () : "returned $code";
		} },
		# The same storm, with an end that all of it shares.
		'lif-fork-storm-daemons' => { @storm, tool => ['perl', '-e',
			'my $end = time + 3; for (1 .. 5) { if (!fork) { '
			. 'setpgrp; $SIG{TERM} = "IGNORE"; '
			. 'while (time < $end) { if (!fork) { setpgrp; '
			. 'exit if fork; select undef, undef, undef, 0.002 } '
			. '} exit } } sleep 1'] },
	},
	after => sub {
		my ($world) = @_;
		sleep 1.2;
		ok(!-e "$world->{base}/probe/late",
			"$world->{setup}: what a daemon would do later, "
			. 'nobody does');
		client_leaves($world) if $world->{server};
	});

# Half a request's answer is not waited for: the tool goes with its client.
sub client_leaves
{
	my ($world) = @_;
	my $case = { id => 'leaves', tool => ['sleep', '61'], seconds => 9 };
	my $page = $world->put_page($case, $case->{tool});
	my $body = '{"command": ["sleep", "61"]}';
	my $socket = $world->{server}->connect;
	my $worker = $world->worker;

	syswrite $socket, "POST $page HTTP/1.1\r\nHost: localhost\r\n"
	    . "Content-Type: application/json\r\nContent-Length: "
	    . length($body) . "\r\n\r\n$body";
	my $until = time + 10;
	sleep 0.02 until Statespace::Attack::below($worker) || time > $until;
	ok(scalar(Statespace::Attack::below($worker)),
		"$world->{setup}: a tool runs");
	close $socket;
	$until = time + 5;
	sleep 0.02 while Statespace::Attack::below($worker) && time < $until;
	is_deeply([Statespace::Attack::below($worker)], [],
		"$world->{setup}: and is gone soon after its client");
	unlink "$world->{dir}$page";
	return;
}
done_testing;
