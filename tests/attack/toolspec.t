#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Words that try to be more than the author's pattern allows.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Attack;
use JSON::PP ();
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

# A word of the author's with the agent's values in it.  `printf '%s|'` shows
# what the program is given.
my $filled = <<'END';
---
tools:
  - name: url
    command: [printf, '%s|', { text: 'http://stock/items/{id}?q={q}',
        id: '^[0-9]+$', q: { kind: text, escape: url } }, ;]
  - name: sql
    command: [printf, '%s|', { text: "SELECT 1 WHERE n = '{n}' LIMIT {k}",
        n: { kind: text, escape: sql }, k: { type: integer, max: 9 } }, ;]
  - name: path
    command: [printf, '%s|', { text: 'docs/{name}.txt', name: '^[a-z./]+$' }, ;]
  - name: option
    command: [printf, '%s|', { text: '{v}x', v: '^[-a-z]+$' }, ;]
  - name: text
    command: [printf, '%s;', { name: q, kind: text }, ;]
  - name: key
    command: [printf, '%s|', { text: 'x$ENV_{q}', q: '^[A-Z${}]+$' }, ;]
---
END

# What a call by name prints, or the code of its refusal.
sub value
{
	my ($world, $tool, %values) = @_;
	my $body = JSON::PP->new->encode({ tool_call => {
		name => $tool, arguments => \%values } });
	my $json = ($world->{server} ? $world->over_http('/filled.md', $body)
	    : $world->over_cgi('/filled.md', $body))->{json};

	return $json->{error}{code} // $json->{stdout} // "nothing";
}

Statespace::Attack::family(areas => [], after => sub {
	my ($world) = @_;
	my $setup = $world->{setup};
	my $is = sub {
		my ($wanted, $what, @call) = @_;
		is(value($world, @call), $wanted, "$setup: $what");
	};
	my $no = sub { $is->('bad_request', @_) };

	return if !$world->{server} && $setup ne 'cgi';
	$world->{site}->write('filled.md', $filled);
	$is->('http://stock/items/7?q=a%26admin%3D1%23%2F..|',
		'a value adds no parameter, fragment or step to a URL',
		'url', id => '7', q => 'a&admin=1#/..');
	$is->('http://stock/items/7?q=%0D%0AHost%3A%20x|',
		'nor a line to a request', 'url', id => '7',
		q => "\r\nHost: x");
	$no->('nor leaves its pattern', 'url', id => '7/../admin', q => 'x');
	$no->('nor has a line break behind it', 'url', id => "7\n", q => 'x');
	$is->(q{SELECT 1 WHERE n = ''' OR 1=1 --' LIMIT 3|},
		'a quote ends no text in SQL', 'sql', n => q{' OR 1=1 --},
		k => '3');
	$no->('nor does a backslash', 'sql', n => q{\\' OR 1 --}, k => '3');
	$no->('a number is a number', 'sql', n => 'x', k => '3; DROP TABLE a');
	$no->('within its limits', 'sql', n => 'x', k => 10);
	$is->('path_refused', 'values climb nowhere', 'path',
		name => '../../etc/passwd');
	$is->('path_refused', 'nor in the middle', 'path',
		name => 'a/../../b');
	$no->('a value adds no dash', 'option', v => '-a');
	$no->('free text is no option', 'text', q => '--output=/etc/x');
	$is->('a; $(id) `id` $HOME;', 'nor read by a shell', 'text',
		q => 'a; $(id) `id` $HOME');
	$is->('x$ENV_${PATH}|', 'a value is no variable', 'key',
		q => '${PATH}');
	is($world->send_command('/filled.md', ['printf', '%s|',
		"SELECT 1 WHERE n = 'x' OR 1=1 --' LIMIT 3"])
		->{json}{error}{code}, 'not_allowed',
		"$setup: words that no value makes are refused");
	unlink "$world->{dir}/filled.md";
});
done_testing;
