#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A part of the sandbox that this machine cannot make: tools are refused, or
# confined by the rest when that is enough, which the log tells; pages are served.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Attack;
use Test::More;

Statespace::Attack::can_run();
my @levels = Statespace::Attack::levels();
my $both = sub {
	Statespace::Attack::without_landlock();
	Statespace::Attack::without_namespaces();
};
my %lacks = (
	landlock => \&Statespace::Attack::without_landlock,
	namespaces => \&Statespace::Attack::without_namespaces,
	'further namespaces' => \&Statespace::Attack::within_last_namespace,
	'landlock and namespaces' => $both,
);

# What a mode comes to: the level at which [true] and [sh] run, or "none".
my @table = (
	# without, mode, [true], [sh]
	[landlock => 'strict', 'none', 'strict'],
	[landlock => 'landlock', 'none', 'none'],
	[landlock => 'auto', 'none', 'strict'],
	[namespaces => 'strict', 'none', 'none'],
	[namespaces => 'landlock', 'landlock', 'landlock'],
	[namespaces => 'auto', 'landlock', 'landlock'],
	['further namespaces' => 'strict', 'none', 'none'],
	['further namespaces' => 'auto', 'landlock', 'landlock'],
	['landlock and namespaces' => 'auto', 'none', 'none'],
	['landlock and namespaces' => 'strict', 'none', 'none'],
);

my %tool = (true => { id => 'fc-true', tool => ['true'],
		policy => { exec => ['true'] } },
	sh => { id => 'fc-sh', tool => ['sh', '-c', 'true'] });

sub seen
{
	my ($world, $name) = @_;
	my $ran = $world->run_tool($tool{$name});

	return $ran->{json}{sandbox}{level} // 'unsaid'
	    if ($ran->{json}{returncode} // 1) == 0;
	my $code = $ran->{json}{error}{code} // 'no error';
	return $code eq 'sandbox_unavailable' ? 'none' : "$code: $ran->{raw}";
}

for my $row (@table) {
	my ($without, $mode, @expected) = @$row;
	my $name = "mode $mode without $without";
	for my $setup ('nginx', 'exec') {
		my $world = Statespace::Attack::new_world();
		$world->open_setup($setup, mode => $mode,
			before => $lacks{$without});
		is(seen($world, 'true'), $expected[0],
			"$setup: $name: a tool with its own program only: "
			. $expected[0]);
		is(seen($world, 'sh'), $expected[1],
			"$setup: $name: a tool with every program: $expected[1]");
		next if $setup eq 'exec';
		is($world->{server}->request('GET', '/')->{status}, 200,
			"$name: pages are served");
		my $said = $world->{server}->log;
		my $why = $expected[1] eq 'strict'
		    || $expected[1] eq $mode ? '' : '; \w+: .';
		like($said, qr/\btools are confined: $expected[1]$why/,
			"$name: the start says so" . ($why && ', and why'));
		$world->close_setup;
	}
}

# ------------------------------------------------- grants, and exit codes --

my $world = Statespace::Attack::new_world();
$world->{more_config} = "[http]\nhosts = []\n";
$world->open_setup('strict', mode => 'auto');
my $gone = $world->run_tool({ id => 'fc-grant', tool => ['true'],
	policy => { write => ['w'], read => ['nowhere'] } });
ok(($gone->{json}{error}{code} // '') ne '', 'a granted path that does not '
	. 'exist is an error') or diag $gone->{raw};
my $own = $world->run_tool({ id => 'fc-126', tool => ['sh', '-c', 'exit 126'] });
is($own->{json}{returncode}, 126, "a tool's own 126 is its exit code");
is($own->{status}, 200, 'in an answer like any other');
ok(!$own->{json}{error}, 'and no error');
$world->close_setup;
$world = Statespace::Attack::new_world();
$world->open_setup('exec', mode => 'strict', before => $both);
my $refused = $world->run_tool($tool{sh});
is($refused->{json}{error}{code}, 'sandbox_unavailable',
	'a sandbox that cannot be built is told from it');
done_testing;
