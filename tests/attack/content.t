#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The site itself as the way in: links that leave it, pages that tools write,
# files that block, a deploy in the middle of everything.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Path qw(make_path remove_tree);
use POSIX qw(mkfifo);
use Statespace::Attack;
use Statespace::TestSite qw(slurp);
use Test::More;
use Time::HiRes qw(sleep time);

sub get { return $_[0]{server}->request('GET', $_[1], timeout => 5) }

# Swaps two names in one step.
sub exchange
{
	my ($from, $to) = @_;

	return syscall($Statespace::Attack::nr{renameat2}, -100, "$from",
		-100, "$to", 2) == 0;
}

sub links
{
	my ($world) = @_;
	my ($setup, $dir) = @$world{qw(setup dir)};

	symlink '/etc/passwd', "$dir/link.md";
	symlink '../outside/secret.md', "$dir/relative.md";
	symlink $world->{site}->out, "$dir/out";
	for my $path ('/link.md', '/link', '/relative', '/out/secret.md',
		'/out/') {
		my $got = get($world, $path);
		like($got->{status}, qr/\A40[34]\z/,
			"$setup: $path, a link out of the site");
		unlike($got->{raw}, qr/root:|TOPSECRET/, 'gives nothing away');
	}
	unlink "$dir/link.md", "$dir/relative.md", "$dir/out";
	return;
}

# A directory that is now a real one, now a link to the secrets.
sub swaps
{
	my ($world) = @_;
	my ($setup, $dir) = @$world{qw(setup dir)};
	my (%status, $leaks, $ran);

	$world->{site}->write('d/README.md', "# Real\n");
	symlink $world->{site}->out, "$dir/other";
	my $until = time + 1.2;
	my $swapper = fork() // die "fork: $!";
	if ($swapper == 0) {
		my $n = 0;
		exchange("$dir/d", "$dir/other")
		    while time < $until && ++$n < 1_000_000;
		POSIX::_exit(0);
	}
	local $world->{known}{swapper} = $swapper;
	while (time < $until) {
		my $got = get($world, '/d/README.md');
		$status{ $got->{status} }++;
		$leaks++ if $got->{raw} =~ /TOPSECRET/;
		# The page outside would allow this.
		my $post = $world->send_command('/d/README.md', ['echo', 'x']);
		$ran++ if $post->{status} == 200;
	}
	waitpid $swapper, 0;
	delete $world->{known}{swapper};
	ok($status{200}, "$setup: a directory swapped with a link is read");
	is($leaks, undef, "$setup: and nothing from outside ever")
	    or diag explain \%status;
	is($ran, undef, "$setup: nor does a page from outside grant a tool");
	remove_tree("$dir/$_") for 'd', 'other';
	unlink "$dir/d", "$dir/other";
	return;
}

# A tool may write below w: what it writes there is text.
sub escalates
{
	my ($world) = @_;
	my ($setup, $dir) = @$world{qw(setup dir)};
	my $text = "---\ntools: [[sh], [echo]]\nsandbox: {exec: any}\n---\n# New\n";
	my $ran = $world->run_tool({ id => 'escalate', tool => ['sh', '-c',
		"mkdir -p w/deep && printf '%s' '$text' > w/new.md && "
		. 'cp w/new.md w/deep/README.md && ln w/new.md w/hard.md && '
		. 'ln -s new.md w/soft.md && echo written'],
		policy => { write => ['w'] } });

	is($ran->{json}{stdout}, "written\n", "$setup: a tool writes a page")
	    or diag $ran->{raw};
	for my $page ('/w/new.md', '/w/new', '/w/deep/', '/w/hard.md',
		'/w/soft.md') {
		is(get($world, $page)->{status}, 200, "$setup: $page is read");
		for my $words (['sh', '-c', 'echo PWNED'], ['echo', 'x']) {
			my $post = $world->send_command($page, $words);
			isnt($post->{status}, 200,
				"$setup: $page grants no $words->[0]");
		}
	}
	remove_tree("$dir/w/deep");
	unlink map { "$dir/w/$_.md" } qw(new hard soft);
	return;
}

# A pipe, and a file that somebody holds a lease on.
sub blocks
{
	my ($world) = @_;
	my ($setup, $dir) = @$world{qw(setup dir)};

	mkfifo("$dir/pipe.md", 0644);
	my $got = get($world, '/pipe.md');
	cmp_ok($got->{ms}, '<', 500, "$setup: a pipe in the site blocks nothing");
	like($got->{status}, qr/\A40[34]\z/, "$setup: and is no page");
	unlink "$dir/pipe.md";
	local $SIG{IO} = 'IGNORE';
	my $path = $world->{site}->write('leased.md', "# Leased\n");
	open my $file, '+<', $path or die "$path: $!";
	SKIP: {
		fcntl($file, 1024, 1) or skip "no leases here: $!", 2;
		$got = get($world, '/leased.md');
		cmp_ok($got->{ms}, '<', 500,
			"$setup: a lease on a page blocks nothing");
		is(get($world, '/')->{status}, 200, "$setup: others are served");
	}
	close $file;
	unlink $path;
	return;
}

# Version by version: the page of one allows to read what only that one has.
sub write_version
{
	my ($dir, $n) = @_;

	make_path("$dir/sub");
	Statespace::TestSite::write_file("$dir/README.md",
		"---\ntools:\n  - [cat, is$n.txt, sub/is.txt, ;]\n"
		. "  - { command: [./tell, is$n.txt, ;], exec: [cat] }\n"
		. "---\n# v$n\n");
	Statespace::TestSite::write_file("$dir/tell",
		"#!/bin/sh\necho v$n\ncat \$1\n");
	chmod 0755, "$dir/tell";
	Statespace::TestSite::write_file("$dir/is$_.txt", "v$n\n") for 1 .. 4;
	Statespace::TestSite::write_file("$dir/sub/is.txt", "v$n\n");
	Statespace::Attack::own_tree($dir);
	return;
}

# A page of version n whose tool saw another one.
sub mixed
{
	my ($world, $n) = @_;
	my $ran = $world->send_command('/README.md',
		['cat', "is$n.txt", 'sub/is.txt']);
	my $own = $world->send_command('/README.md', ['./tell', "is$n.txt"]);

	return ($ran->{status}, map { "v$n: " . $_->{raw} =~ s/.*\r\n\r\n//sr }
	    grep { $_->{status} == 200 && $_->{json}{stdout} ne "v$n\nv$n\n" }
	    $ran, $own);
}

sub deploys
{
	my ($world) = @_;
	my ($setup, $dir) = @$world{qw(setup dir)};
	my (@mixed, %status);

	write_version($dir, 1);
	for my $n (2 .. 4) {
		write_version("$dir.new", $n);
		$n == 3 ? exchange($dir, "$dir.new")
		    : rename($dir, "$dir.old") && rename("$dir.new", $dir);
		my $changed = time;
		my $took;
		while (time - $changed < 4) {
			my ($old, @wrong) = mixed($world, $n - 1);
			my ($new, @more) = mixed($world, $n);
			push @mixed, @wrong, @more;
			$status{$_}++ for $old, $new;
			$took //= time - $changed if $new == 200;
			last if $took && time - $changed > $took + 0.3;
			sleep 0.01;
		}
		cmp_ok($took // 99, '<', 2.5,
			"$setup: deploy $n is seen in time");
		remove_tree("$dir.old", "$dir.new");
	}
	is_deeply(\@mixed, [], "$setup: and no tool saw another version than "
		. 'its page') or diag explain \%status;
	is(join(' ', grep { !/\A(?:200|403)\z/ } sort keys %status), '',
		"$setup: nor was a request lost") or diag explain \%status;
	return;
}

# The same worker, run after run: nothing grows.
sub soaks
{
	my ($world) = @_;
	my $setup = $world->{setup};
	my $case = { id => 'soak', tool => ['true'] };
	my $page = $world->put_page($case, $case->{tool});
	my @seen;

	$world->send_command($page, ['true']) for 1 .. 20;
	for (1 .. 2) {
		my $pid = $world->worker;
		my $status = slurp("/proc/$pid/status", '');
		my ($memory) = $status =~ /^VmRSS:\s*(\d+)/m;
		my @open = glob "/proc/$pid/fd/*";
		push @seen, { pid => $pid, memory => $memory // 0,
			open => scalar @open };
		$world->send_command($page, ['true']) for 1 .. 150;
	}
	is($seen[1]{pid}, $seen[0]{pid}, "$setup: one worker serves on");
	is($seen[1]{open}, $seen[0]{open}, "$setup: no descriptor stays open");
	SKIP: {
		Test::More::skip("$setup: a sanitizer keeps what was freed", 1)
		    if $ENV{SANITIZE};
		cmp_ok($seen[1]{memory}, '<=', $seen[0]{memory} + 256,
			"$setup: no memory stays taken");
	}
	is_deeply([Statespace::Attack::below($seen[1]{pid})], [],
		"$setup: no process is left");
	unlink "$world->{dir}$page";
	return;
}

# A secret that is put in place, as deploys do, while the worker lives.
sub dotfiles
{
	my ($world) = @_;
	my ($setup, $dir) = @$world{qw(setup dir)};

	# Those on the way to the page; deeper ones are readable by design.
	for my $name ('.env', '.fresh', 'docs/.key') {
		Statespace::TestSite::write_file("$dir/put", "DOTSECRET\n");
		Statespace::Attack::own("$dir/put");
		rename "$dir/put", "$dir/$name";
		my $ran = $world->run_tool({ id => 'docs/dot', tool => ['sh',
			'-c', "cat ../$name {SITE}/$name /site/$name"] });
		is($ran->{json}{sandbox}{level}, $setup, "$setup: a tool runs");
		unlike($ran->{raw}, qr/DOTSECRET/,
			"$setup: a new $name is out of reach");
	}
	return;
}

Statespace::Attack::family(areas => [], setups => [qw(strict landlock)],
	after => sub {
		my ($world) = @_;
		links($world);
		swaps($world);
		escalates($world);
		blocks($world);
		dotfiles($world);
		soaks($world);
		deploys($world);
	});
done_testing;
