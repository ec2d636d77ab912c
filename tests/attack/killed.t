#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Who runs our program may kill it at once, as a harness does whose patience is
# over.  What the tool had started ends all the same.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP ();
use POSIX ();
use Statespace::Attack;
use Statespace::TestSite;
use Test::More;
use Time::HiRes qw(sleep time);

# A child that dies with its parent, one that left the group, one below both.
my $TOOL = 'sleep 61.25 & setsid sleep 61.25 & '
    . 'setsid sh -c "sleep 61.25; true" & sleep 61.25; true';

sub sleepers
{
	return grep {
		my $words = '';
		# One may be gone by now.
		if (open my $file, '<', $_) { $words = <$file> // '' }
		$words =~ /\Asleep\x{0}61\.25/;
	} glob '/proc/[0-9]*/cmdline';
}

sub until_there
{
	my ($count) = @_;
	my $end = time + 20;

	sleep 0.02 while sleepers() != $count && time < $end;
	return scalar sleepers();
}

# Starts words with this on standard input; the process.
sub start
{
	my ($world, $input, %env) = @_;
	my $pid = fork() // die "fork: $!";

	return $pid if $pid;
	open STDIN, '<', $input;
	open STDOUT, '>', '/dev/null';
	open STDERR, '>', '/dev/null';
	my @words = $world->{setup} eq 'cgi'
	    ? "$world->{base}/cgi-bin/statespace.cgi"
	    : (Statespace::Server::binary() . '-exec', '-C', $world->{dir},
		'-c', $world->{conf}, 'killed.case', '-');
	%ENV = (PATH => $ENV{PATH}, %env); # binary() reads BUILD
	no warnings 'exec';
	exec { $words[0] } @words;
	POSIX::_exit(127);
}

Statespace::Attack::can_run();
my @levels = Statespace::Attack::levels();
plan(skip_all => 'this machine confines nothing') unless @levels;
for my $level (@levels) {
	for my $setup (qw(exec cgi)) {
		my $world = Statespace::Attack::new_world();
		my $body = JSON::PP->new->encode({
			command => ['sh', '-c', $TOOL] });
		$world->open_setup($setup, mode => $level);
		my $page = $world->put_page({ id => 'killed' },
			['sh', '-c', $TOOL]);
		Statespace::TestSite::write_file("$world->{base}/in", $body);
		my $pid = start($world, "$world->{base}/in",
			$setup ne 'cgi' ? () : (GATEWAY_INTERFACE => 'CGI/1.1',
				HTTP_HOST => 'localhost',
				REQUEST_METHOD => 'POST', PATH_INFO => $page,
				SCRIPT_NAME => '/cgi-bin/statespace.cgi',
				CONTENT_LENGTH => length $body,
				CONTENT_TYPE => 'application/json'));
		is(until_there(4), 4, "$level, $setup: a tool runs with its own");
		kill 'KILL', $pid;
		waitpid $pid, 0;
		is(until_there(0), 0,
			"$level, $setup: and all of it goes with its starter");
		$world->end_orphans;
		$world->end_victim;
	}
}
done_testing;
