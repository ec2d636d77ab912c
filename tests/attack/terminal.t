#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# statespace-exec in an interactive terminal: its tool cannot push characters
# into the terminal (they would be the shell's next command), nor keep it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Attack;
use Statespace::Server qw(has);
use Statespace::TestSite qw(slurp);
use Test::More;

Statespace::Attack::can_run();
my $script = has('script');
plan skip_all => 'script(1) is not installed' unless $script;

my $push = 'for my $t ("/dev/tty", "/dev/stdin", "/dev/stdout", "/dev/stderr",'
    . ' "/dev/console") { open my $f, "<", $t or next; my $c = "x"; '
    . 'print "PWNED $t\n" if ioctl $f, 0x5412, $c } '
    . 'for my $fd (0 .. 9) { open my $f, "<&=", $fd or next; my $c = "x"; '
    . 'print "PWNED $fd\n" if ioctl $f, 0x5412, $c }';
my $own = 'for (0, 1, 2) { open my $f, "<&=", $_ or next; '
    . 'print "PWNED $_\n" if -t $f }';

# In a terminal of its own; what was written there.
sub in_terminal
{
	my ($world, @words) = @_;
	my $line = join ' ', map { "'" . s/'/'\\''/gr . "'" } @words;
	my $ran = Statespace::Attack::capture([$script, '-qec', $line,
		'/dev/null'], base => $world->{base}, timeout => 15,
		cwd => $world->{dir}, env => { PATH => $ENV{PATH},
			HOME => '/', SHELL => '/bin/sh' });

	$world->end_orphans;
	return $ran->{out};
}

my $world = Statespace::Attack::new_world();
SKIP: {
	my $legacy = slurp('/proc/sys/dev/tty/legacy_tiocsti',
		'');
	skip 'this kernel has no TIOCSTI any more', 1
	    if $legacy eq "0\n" && $> != 0;
	like(in_terminal($world, 'perl', '-e', $push), qr/PWNED/,
		'control: outside the sandbox characters are pushed');
}
like(in_terminal($world, 'perl', '-e', $own), qr/PWNED/,
	'control: and the three descriptors are the terminal');

for my $mode (Statespace::Attack::levels()) {
	$world->open_setup('exec', mode => $mode);
	my $binary = Statespace::Server::binary();
	my @exec = ("$binary-exec", '-C', $world->{dir}, '-c', $world->{conf});
	for my $stdin (0, 1) {
		my $page = $world->put_page({ id => 'tty', policy => {
			$stdin ? (stdin => JSON::PP::true) : () } },
			['perl', '-e', "$push $own; print \"done\\n\""]);
		my $out = in_terminal($world, @exec, '--',
			$page =~ s{\A/}{}r, '--', 'perl', '-e',
			"$push $own; print \"done\\n\"");
		my $as = $stdin ? ' that reads our input' : '';
		like($out, qr/done/, "$mode: a tool$as runs in a terminal");
		unlike($out, qr/PWNED/, "$mode: pushes nothing, holds nothing");
	}
}
done_testing;
