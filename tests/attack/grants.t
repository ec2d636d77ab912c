#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Grants as the way out: links and other names by which a grant would lead
# further than the operator meant, made by the page's author or by a tool.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Attack;
use Statespace::TestSite;
use Test::More;

my $PAGE = "---\ntools: [[sh]]\n---\n";
my ($world, $level);

# The next runs have this [grant], and tools of this level.
sub granted
{
	my ($grant) = @_;

	Statespace::TestSite::write_file($world->{conf},
		"[sandbox]\nmode = \"$level\"\n[grant]\n$grant"
		. "[limits]\nprocesses = 100000\n");
	return;
}

sub shell
{
	my ($policy, $script) = @_;

	return $world->run_tool({ id => 'grants', policy => $policy,
		tool => ['sh', '-c', $script] });
}

sub put_link
{
	my ($to, $name) = @_;
	my $path = "$world->{dir}/$name";

	unlink $path;
	symlink $to, $path or die "$path: $!";
	return;
}

# Outside the sandbox each of them succeeds.
sub control
{
	my ($script, $expected, $name) = @_;
	my $ran = $world->unconfined({ id => 'control',
		tool => ['sh', '-c', $script] });

	like($ran->{out}, $expected, "control: $name");
	return;
}

# What an author puts into the site is no grant of the operator's.
sub by_the_author
{
	my $out = $world->{site}->out;
	my $show = 'cat link; cat folder/secret.md; cat .env; echo done';

	put_link("$out/secret.md", 'link');
	put_link($out, 'folder');
	control($show, qr/(?:TOPSECRET.*){2}DOTSECRET\ndone/s,
		'links out of the site are followed');
	granted('');
	for my $read (['link?', 'folder?'], ['.']) {
		my $ran = shell({ read => $read }, $show);
		is($ran->{json}{stdout}, "done\n",
			"$level: to ask for @$read reads nothing more")
		    or diag "$ran->{raw}$ran->{log}";
	}
	unlink map { "$world->{dir}/$_" } qw(link folder);
	return;
}

# A tool that may write w puts a link where another one may write.
sub by_a_tool
{
	my ($out, $dir) = ($world->{site}->out, $world->{dir});

	for my $grant ('write = ["w"]', 'write = ["w/a", "w"]') {
		for my $to ($out, '../docs') {
			granted("$grant\n");
			Statespace::Attack::own($world->{site}->write(
				'w/a/old', ''), "$dir/w/a");
			my $ran = shell({ write => ['w'] },
				"rm -r w/a; rm -f w/a; ln -s $to w/a; echo done");
			like($ran->{json}{stdout}, qr/done/,
				"$level: a tool plants a link");
			# A mount of its own may have held it: so does a visitor.
			system 'rm', '-rf', "$dir/w/a";
			put_link($to, 'w/a');
			$ran = shell({ write => ['w/a'] },
				'echo x >w/a/pwn && echo PWNED');
			# (A refusal repeats the request: its stdout is asked.)
			unlike($ran->{json}{stdout} // $ran->{raw},
				qr/PWNED/, "$level: by $grant nobody writes "
				. 'through it') or diag $ran->{log};
			ok(!-e "$out/pwn" && !-e "$dir/docs/pwn",
				'... and nothing is there');
			$ran = shell({}, 'echo still here');
			is($ran->{json}{stdout}, "still here\n",
				'... and other tools run') or diag $ran->{log};
			unlink "$dir/w/a", "$out/pwn", "$dir/docs/pwn";
		}
	}
	control('ln -s docs w/b; echo x >docs/pwn; rm w/b docs/pwn && echo done',
		qr/done/, 'the account can write there');
	return;
}

# A grant may be called otherwise than the directory it leads to.
sub by_another_name
{
	my ($base, $dir) = ($world->{base}, $world->{dir});

	mkdir "$dir/real";
	Statespace::Attack::own("$dir/real");
	put_link('real', 'called');
	symlink $dir, "$base/alias";
	for my $name ('called', "$base/alias/real") {
		granted("write = [\"$name\"]\n");
		my $ran = shell({ write => [$name] },
			"printf '%s' '$PAGE' >$name/evil.md && echo written");
		is($ran->{json}{stdout}, "written\n",
			"$level: a tool writes a page below $name")
		    or diag "$ran->{raw}$ran->{log}";
		for my $page ('/real/evil.md', '/called/evil.md') {
			$ran = $world->send_command($page,
				['sh', '-c', 'echo PWNED']);
			unlike($ran->{json}{stdout} // '', qr/PWNED/,
				"$level: $page grants nothing");
		}
		unlink "$dir/real/evil.md";
	}
	symlink $base, "$base/above";
	granted("write = [\"$base/above\"]\n");
	my $ran = shell({}, 'echo PWNED');
	like($ran->{log}, qr/holds the site by another name/,
		"$level: the whole site by another name is refused");
	unlink "$base/above", "$base/alias", "$dir/called";
	rmdir "$dir/real";
	return;
}

Statespace::Attack::can_run();
my @levels = Statespace::Attack::levels();
plan(skip_all => 'this machine confines nothing') unless @levels;
for my $each (@levels) {
	$level = $each;
	$world = Statespace::Attack::new_world();
	$world->open_setup('exec');
	by_the_author();
	by_a_tool();
	by_another_name();
	$world->end_victim;
}
done_testing;
