#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A Unix socket that is granted can be spoken to, and no other one.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Socket::UNIX;
use Statespace::Attack;
use Test::More;

Statespace::Attack::can_run();
plan(skip_all => 'this machine has no strict level')
    unless grep { $_ eq 'strict' } Statespace::Attack::levels();

# Connects to each word and says which of them answered.
my $CONNECT = 'use Socket; for (@ARGV) { my $s; my $at = m{^/} ? sockaddr_un($_)'
    . ' : pack("S a*", AF_UNIX, "\0$_"); print "reached $_\n"'
    . ' if socket($s, AF_UNIX, SOCK_STREAM, 0) && connect($s, $at) }'
    . ' print "done\n"';

sub reach
{
	my ($world, $asked, @sockets) = @_;

	return $world->run_tool({ id => 'unix', policy => { unix => $asked },
		tool => ['perl', '-e', $CONNECT, @sockets] });
}

sub along
{
	my ($setup) = @_;
	my $world = Statespace::Attack::new_world();
	my $granted = "$world->{base}/u.sock";
	my $beside = "$world->{base}/beside.sock";
	my $other = IO::Socket::UNIX->new(Listen => 8, Local => $beside)
	    or die "$beside: $!";

	chmod 0777, $beside;
	$world->{more_grant} = "unix = [\"$granted\"]\n";
	$world->open_setup($setup);
	my $ran = reach($world, [$granted], $granted, $beside,
		$world->{abs_name});
	is($ran->{json}{stdout}, "reached $granted\ndone\n",
		"$setup: the granted socket answers; not the one beside it, "
		. 'nor one without a path') or diag $ran->{raw};
	is_deeply([$world->heard], ['usock'], "$setup: and nobody else heard");
	$other->blocking(0);
	ok(!$other->accept, "$setup: nor the one beside");
	$ran = reach($world, [], $granted);
	is($ran->{json}{stdout}, "done\n",
		"$setup: a tool that does not ask reaches none");
	$ran = reach($world, [$beside], $beside);
	like($ran->{raw} . ($ran->{log} // ''), qr/capability_refused/,
		"$setup: more than the operator grants is refused");
	ok(!$world->heard && !$other->accept, "$setup: unheard");
	$world->answers_fast;
	$world->close_setup;
	return;
}

# Where the kernel cannot tell one granted socket from another for a tool.
sub narrower
{
	my ($setup) = @_;
	my $world = Statespace::Attack::new_world();
	my @granted = ("$world->{base}/u.sock", "$world->{base}/two.sock");
	my $other = IO::Socket::UNIX->new(Listen => 8, Local => $granted[1])
	    or die "$granted[1]: $!";

	chmod 0777, $granted[1];
	$world->{more_grant} = "unix = [\"$granted[0]\", \"$granted[1]\"]\n";
	$world->open_setup($setup);
	my $ran = reach($world, [$granted[0]], @granted);
	my $text = $ran->{raw} . ($ran->{log} // '');
	ok($text =~ /sandbox_unavailable/
		|| ($ran->{json}{stdout} // '') eq "reached $granted[0]\ndone\n",
		"$setup: a tool that asks for one of two gets that one, or none")
	    or diag $text;
	$ran = reach($world, \@granted, @granted);
	is($ran->{json}{stdout}, join('', map { "reached $_\n" } @granted)
		. "done\n",
		"$setup: and one that asks for both, both") or diag $ran->{raw};
	$world->close_setup;
	return;
}

for my $setup (qw(strict exec cgi)) {
	along($setup);
	narrower($setup);
}
done_testing;
