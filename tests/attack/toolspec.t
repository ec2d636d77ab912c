#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Words that try to be more than the author's pattern allows.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Attack;
use Test::More;

my $page = "---\ntools:\n  - [echo]\n  - [printf, '%s', {}, ;]\n"
    . "  - [grep, {}, {}, {}, ;]\n  - [cat, {}, ;]\n  - ['true', ;]\n"
    . "---\n# Tools\n";

sub code
{
	my ($world, @words) = @_;

	return $world->send_command('/tools.md', [@words])
	    ->{json}{error}{code} // 'none';
}

Statespace::Attack::family(areas => [], after => sub {
	my ($world) = @_;
	my $setup = $world->{setup};
	my $text = '; echo PWNED2 $(id) `id` | cat > /tmp/ss-$$ && y' =~ s/ss-\$\$/ss-$$/r;
	$world->{site}->write('tools.md', $page);

	my $ran = $world->send_command('/tools.md', ['echo', $text]);
	is($ran->{json}{stdout}, "$text\n", "$setup: no shell reads the words");
	ok(!-e "/tmp/ss-$$", "$setup: and none wrote");
	is($world->send_command('/tools.md', ['printf', '%s', "a\nb"])
		->{json}{stdout}, "a\nb", "$setup: a line break splits nothing");
	is(code($world), 'bad_request', "$setup: no words");
	is(code($world, ''), 'not_allowed', "$setup: an empty word");
	is(code($world, "\x{ff4c}\x{ff53}"), 'not_allowed',
		"$setup: letters that look alike are not alike");
	is(code($world, 'Echo', 'x'), 'not_allowed', "$setup: nor is case");
	is(code($world, ' echo', 'x'), 'not_allowed', "$setup: nor a space");
	is(code($world, 'true', '--help'), 'not_allowed',
		"$setup: nothing is added behind the end");
	is(code($world, './echo', 'x'), 'not_allowed',
		"$setup: nor another way to the program");
	$ran = $world->send_command('/tools.md', ['grep',
		"--file=$world->{secret}", 'x', 'victim.md']);
	unlike($ran->{raw}, qr/TOPSECRET/, "$setup: an option reads no secret");
	is(code($world, 'cat', $world->{secret}), 'path_refused',
		"$setup: an absolute word is refused early")
	    if code($world, 'cat', '/x') eq 'path_refused';
	isnt(code($world, 'cat', $_), 'none', "$setup: cat $_ is refused")
	    for '/etc/passwd', '../outside/secret.md', 'docs/../../outside/x';
	$ran = $world->send_command('/tools.md', ['cat', '.env']);
	unlike($ran->{raw}, qr/DOTSECRET/, "$setup: a dot file stays unread");
	$ran = $world->send_command('/tools.md', ['echo', 'a' x 140_000]);
	is($ran->{json}{error}{code}, 'command_too_large',
		"$setup: a word that no kernel takes");
	deep($world) if $world->{server};
	unlink "$world->{dir}/tools.md";
});

# A body of 100,000 lists within each other.
sub deep
{
	my ($world) = @_;
	my $body = '[' x 100_000 . ']' x 100_000;
	my $answer = $world->{server}->request('POST', '/tools.md',
		body => $body, headers => {
			'Content-Type' => 'application/json' });

	is($answer->{status}, 400, "$world->{setup}: depth is refused");
	cmp_ok($answer->{ms}, '<', 1000, "$world->{setup}: at once");
	return;
}
done_testing;
