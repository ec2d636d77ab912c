#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Pipelines and scripts of a page: words that try to be more than one word of
# one stage, stages that try to run, read or end what is not theirs, and a
# script that becomes another file.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Attack;
use Test::More;
use Time::HiRes qw(sleep);

my $fds = Statespace::Calls::here('for my $fd (3 .. 1023) { '
    . 'print "PWNED $fd\n" if syscall(72, $fd, 1, 0) >= 0 }');
my $PAGE = <<"END";
---
tools:
  - { name: show, pipe: [[printf, '%s|', '{v}', end], [cat]] }
  - { name: text, pipe: [[cat], [printf, '%s|', { name: v, kind: text }]] }
  - { name: both, pipe: [[echo, '{v}'], [printf, '%s|', '{v}', x]] }
  - name: runs
    pipe: [[find, ., -maxdepth, 0, -exec, /bin/echo, PWNED, ';', ;], [cat]]
  - name: may
    pipe: [[find, ., -maxdepth, 0, -exec, /bin/echo, PWNED, ';', ;], [cat]]
    exec: any
  - { name: first, pipe: [[perl, -e, '$fds'], [cat]] }
  - { name: last, pipe: [['true'], [perl, -e, '$fds'], [perl, -e, '$fds']] }
  - { name: parent, pipe: [[perl, -e, 'kill 9, getppid; sleep 30'], [cat]] }
  - { name: group, pipe: [[perl, -e, 'kill 9, 0; sleep 30'], [cat]] }
  - { name: all, pipe: [[perl, -e, 'kill 9, -1; sleep 30'], [cat]] }
  - { name: stays, pipe: [[perl, -e, 'exit if fork; sleep 30'], [cat]],
      timeout: 2 }
  - { name: leaves, pipe: [[echo, a], [perl, -e,
      'exit if fork; close STDOUT; close STDERR; sleep 30']] }
  - { name: storm, pipe: [[perl, -e, 'while (1) { fork }'], [cat]],
      timeout: 1, processes: 20 }
  - { name: find, script: tools/find.sh, arguments: [{ name: q, kind: text }] }
  - { name: linked, script: tools/linked.sh }
  - { name: written, script: tools/written.sh }
  - { name: flips, script: tools/flips.sh }
  - { name: spoils, write: [w], pipe: [[perl, -e, 'for (\@ARGV) {
      open my \$f, ">", \$_ and print \$f "echo PWNED\\n"; rename "w/x", \$_ }',
      tools/find.sh, tools, .], [cat]] }
---
END

sub answer
{
	my ($world, @words) = @_;

	return $world->send_command('/stages.md', [@words])->{json};
}

# Each is one word, in each stage that has it.
sub words
{
	my ($world, $setup) = @_;

	for my $value ('|', '| sh', '; echo PWNED', '&& id', "a\nb", "\n", '3',
		"3\nsh\n/bin/sh", '$(id)', '`id`', '*', "'", '"', '>x', '\\') {
		my $name = $value =~ s/\n/\\n/gr;
		is(answer($world, 'text', $value)->{stdout}, "$value|",
			"$setup: \"$name\" is one word");
		next if $value =~ m{/};
		is(answer($world, 'show', $value)->{stdout}, "$value|end|",
			"$setup: ... and its stage has no other");
		is(answer($world, 'both', $value)->{stdout}, "$value|x|",
			"$setup: ... nor has another stage");
	}
	is(answer($world, 'text', $_)->{error}{code}, 'not_allowed',
		"$setup: $_ is no value") for '-v', '--help', '-';
	is(answer($world, 'show', $_)->{error}{code}, 'path_refused',
		"$setup: $_ is no value") for '/etc/passwd', '../outside';
	is(answer($world, @$_)->{error}{code}, 'not_allowed',
		"$setup: no words beside the arguments")
	    for ['show'], ['show', 'a', 'b'], ['show', 'a', '|', 'sh'],
	    ['show', 'a', '1', 'sh', '/bin/sh', 'sh'];
	return;
}

sub stages
{
	my ($world, $setup) = @_;

	like(answer($world, 'may')->{stdout}, qr/PWNED/,
		"$setup: control: with exec: any a stage runs another program");
	unlike(answer($world, 'runs')->{stdout}, qr/PWNED/,
		"$setup: without it none runs what the page does not name");
	is(answer($world, $_)->{stdout}, '',
		"$setup: a stage has descriptors 0 to 2 alone") for qw(first last);
	for my $name (qw(parent group all)) {
		my $ran = $world->send_command('/stages.md', [$name]);

		cmp_ok($ran->{took}, '<', 20, "$setup: a stage that ends "
		    . "its $name ends the tool");
		is_deeply([$world->survivors($world->worker)], [],
			"$setup: ... and nothing is left");
	}
	for my $name (qw(stays leaves)) {
		answer($world, $name);
		is_deeply([$world->survivors($world->worker)], [],
			"$setup: a child of a stage that $name is ended");
	}
	# 126: it left no process for the next stage.
	my $ran = $world->send_command('/stages.md', ['storm']);
	ok(($ran->{json}{error}{code} // '') eq 'timeout'
		|| $ran->{json}{returncode} == 126, "$setup: a storm is ended")
	    or diag($ran->{raw});
	$world->answers_fast("after a storm the next command runs");
	return;
}

sub scripts
{
	my ($world, $setup) = @_;
	my $site = $world->{site};

	is(answer($world, 'find', '; echo PWNED')->{stdout}, "; echo PWNED\n",
		"$setup: a word is an argument of the script");
	is(answer($world, 'linked')->{error}{code}, 'path_refused',
		"$setup: a script outside of the site is none");
	is(answer($world, 'written')->{error}{code}, 'not_allowed',
		"$setup: nor is a link to where tools write");
	answer($world, 'spoils');
	is(answer($world, 'find', 'ok')->{stdout}, "ok\n",
		"$setup: no tool changes a script");
	is(Statespace::TestSite::slurp("$world->{dir}/tools/find.sh"),
		qq{printf '%s\\n' "\$1"\n}, "$setup: ... or its file");
	return;
}

# The author replaces the script, again and again, by a link to a secret.
sub races
{
	my ($world, $setup) = @_;
	my $path = "$world->{dir}/tools/flips.sh";
	my (%seen, $pid);

	Statespace::TestSite::write_file("$path.one", "echo fine\n");
	symlink $world->{secret}, "$path.two";
	link "$path.one", $path;
	$pid = fork() // die "fork: $!";
	if (!$pid) {
		for (1 .. 1_000_000) {
			link "$path.one", "$path.new";
			rename "$path.new", $path;
			symlink $world->{secret}, "$path.new";
			rename "$path.new", $path;
		}
		POSIX::_exit(0);
	}
	for (1 .. 60) {
		my $ran = $world->send_command('/stages.md', ['flips']);
		my $out = $ran->{json}{stdout} // '';

		$seen{ $out eq "fine\n" ? 'fine'
		    : $ran->{json}{error}{code} // 'other' }++;
		$seen{secret}++ if $ran->{raw} =~ /TOPSECRET/;
	}
	kill 'KILL', $pid;
	waitpid $pid, 0;
	unlink $path, "$path.new", "$path.one", "$path.two";
	is($seen{secret}, undef, "$setup: a script that is replaced shows no "
	    . 'secret: ' . join ', ', map { "$_ $seen{$_}" } sort keys %seen);
	return;
}

Statespace::Attack::family(areas => [], after => sub {
	my ($world) = @_;
	my ($setup, $site) = @$world{qw(setup site)};

	$site->write('stages.md', $PAGE);
	$site->write('tools/find.sh', qq{printf '%s\\n' "\$1"\n});
	$site->write('w/x', "echo PWNED\n");
	symlink $world->{secret}, "$world->{dir}/tools/linked.sh";
	symlink '../w/x', "$world->{dir}/tools/written.sh";
	Statespace::Attack::own_tree("$world->{dir}/$_") for qw(tools w);
	words($world, $setup);
	stages($world, $setup);
	scripts($world, $setup);
	races($world, $setup);
});
done_testing;
