#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Descriptors: those that a tool inherits, and what it does to its own three.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Attack;
use Test::More;

my @own = (
	{ id => 'fd-directory', tool => ['perl', '-e', 'for my $fd (0 .. 1023) '
		. '{ print "PWNED $fd\n" if syscall(81, $fd) == 0 }'] },
	{ id => 'fd-any', tool => ['perl', '-e', 'for my $fd (3 .. 1023) '
		. '{ next if $fd == fileno DATA_OF_SCRIPT; '
		. 'print "PWNED $fd\n" if syscall(72, $fd, 1, 0) >= 0 }'
		=~ s/next if \$fd == fileno DATA_OF_SCRIPT; //r] },
	{ id => 'fd-stdin', tool => ['sh', '-c',
		'head -c1 | grep -q . && echo PWNED'],
		control => ['sh', '-c', 'echo x | (head -c1 | grep -q . && '
		. 'echo PWNED)'] },
	{ id => 'fd-read-own-output', tool => ['perl', '-e',
		'for my $fd (1, 2) { open my $f, "<&=", $fd or next; '
		. 'sysread $f, my $b, 1 and print "PWNED\n" }'],
		control => ['perl', '-e', 'pipe my $r, my $w; syswrite $w, "x"; '
		. 'sysread $r, my $b, 1 and print "PWNED\n"'] },
	{ id => 'fd-terminal', tool => ['sh', '-c',
		'( : </dev/tty ) 2>/dev/null && echo PWNED'] },
	{ id => 'fd-closes-output', check => sub {
			my ($world, $ran) = @_;
			return $ran->{took} < Statespace::Attack::patience(4)
			    ? () : "took $ran->{took} s";
		}, tool => ['sh', '-c', 'exec >&- 2>&- <&-; sleep 0.2'] },
);
$Statespace::Attack::no_control{$_} = 'it says nothing'
    for qw(fd-closes-output);
$Statespace::Attack::no_control{'fd-terminal'} =
    'no terminal here; terminal.t has one';

Statespace::Attack::family(areas => ['fd'], own => \@own, change => {
	'fd-nonblock-stdio' => { check => sub {
		my ($world, $ran) = @_;
		my $n = length($ran->{json}{stdout} // '');
		# perl itself gives up when its pipe is full.
		return $n > 0 && $n <= 1_000_000 ? () : "$n bytes";
	} } });
done_testing;
