#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A tool with `confirm: true` over POST, through `statespace serve` and a real
# nginx: nothing runs unasked, and what was agreed to runs once, whoever of the
# workers gets it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP ();
use Test::More;
use Statespace::Server;

plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');

my $JSON = JSON::PP->new->utf8;
my $PAGE = <<'END';
---
env: [WHO, SET]
tools:
  - { name: say, command: [echo, {}], confirm: true }
  - { command: [env], confirm: true }
  - { command: [wc, -c], stdin: true, confirm: true }
  - { command: [printf, $SECRET, ;], confirm: true }
  - { name: cancel, env: [WHO], command: [printf, '%s|', { name: id, type: integer }, { name: note, kind: text, optional: true }, ;], confirm: "Cancel order {id}, {note},\n for {WHO}? {} {id" }
  - { name: wipe, env: [SET], command: [printenv, SET, ;], confirm: 'Wipe {SET}?' }
  - [printf, {}]
---
END

my $server = Statespace::Server->start(
	files => { 'README.md' => "# Site\n", 'a.md' => $PAGE, 'b.md' => $PAGE },
	config => "[env]\nSECRET = \"s3cret\"\nSET = \"mine\"\n", options => ['--workers', 3]);

# The status and the answer.
sub post
{
	my ($path, %body) = @_;
	my $answer = $server->request('POST', $path,
		headers => { 'Content-Type' => 'application/json' },
		body => $JSON->encode(\%body));

	return ($answer->{status}, $JSON->decode($answer->{body}));
}

# A request that is asked for, and its token.
sub token
{
	my ($path, %body) = @_;
	my ($status, $answer) = post($path, %body);

	return $answer->{error}{confirm};
}

sub refused
{
	my ($what, $path, %body) = @_;
	my ($status, $answer) = post($path, %body);

	is("$status $answer->{error}{code}", '428 confirm_required', $what);
	is($answer->{stdout}, '', '... and nothing ran');
	return $answer;
}

my @SAY = (command => ['echo', 'a b']);
my $asked = refused('a POST runs no such tool unasked', '/a', @SAY);
like($asked->{error}{message}, qr/asks a person first; it did not run$/,
	'it says what is wanted');
like($asked->{error}{hint}, qr/"confirm".*error\.confirm/, 'and how');
is_deeply($asked->{error}{command}, ['echo', 'a b'], 'and what would run');
my $token = $asked->{error}{confirm};
like($token, qr/^\d+\.[0-9a-f]{24}\.[0-9a-f]{64}$/, 'the token');

refused('a token is of no use for another command', '/a',
	command => ['echo', 'a c'], confirm => $token);
refused('on another page', '/b', @SAY, confirm => $token);
refused('with a variable more', '/a', @SAY, env => { WHO => 'x' },
	confirm => $token);
refused('for another tool', '/a', command => ['env'], confirm => $token);
for my $i (0, 5, 12, 40, length($token) - 1) {
	my $wrong = $token;

	substr($wrong, $i, 1) = substr($wrong, $i, 1) eq '1' ? '2' : '1';
	refused("with byte $i of it changed", '/a', @SAY, confirm => $wrong);
}
refused('a text that is no token', '/a', @SAY, confirm => $_)
    for '', '1', '.', '9' x 200;
is((post('/a', @SAY, confirm => 5))[0], 400, 'a number is no token: 400');

my ($status, $answer) = post('/a', @SAY, confirm => $token);
is("$status $answer->{stdout}", "200 a b\n", 'with its token it runs');
like(refused('once', '/a', @SAY, confirm => $token)->{error}{message},
	qr/too old, or used/, '... with the reason');

my @many = map { token('/a', command => ['echo', "n$_"]) } 1 .. 12;
is_deeply([map { (post('/a', command => ['echo', "n$_"],
	confirm => $many[$_ - 1]))[0] } 1 .. 12], [(200) x 12],
	'each worker knows the tokens of the others');

my @words = (command => ['wc', '-c'], stdin => 'abc');
$token = token('/a', @words);
refused('other standard input needs another token', '/a', @words,
	stdin => 'abd', confirm => $token);
($status, $answer) = post('/a', @words, confirm => $token);
is("$status $answer->{stdout}", "200 3\n", 'the same runs');

my @call = (tool_call => { name => 'say', arguments => { arg1 => 'x' } });
$asked = refused('a call by name is no way around', '/a', @call);
($status, $answer) = post('/a', @call, confirm => $asked->{error}{confirm});
is("$status $answer->{stdout}", "200 x\n", 'and runs with its token');

unlike($JSON->encode(refused('a secret', '/a', command => ['printf',
	'$SECRET'])), qr/s3cret/,
	'is not shown');

# The author's question, with the values of this call.
for (['a number', {}, '', 'Cancel order 7, (none), for $WHO? {} {id'],
	['free text', { note => "a b\n\x{202e}\"" }, 'x',
		'Cancel order 7, "a b\\n\\u202e\\"", for x? {} {id'],
	['a text as long as is shown', { note => 'y' x 80 }, 'x',
		'Cancel order 7, ' . 'y' x 80 . ', for x? {} {id'],
	['one byte more', { note => 'y' x 81 }, 'x',
		'Cancel order 7, ' . 'y' x 80 . "\x{2026}, for x? {} {id"],
	['a longer one', { note => "\x{e9}" x 41 }, "z\n",
		'Cancel order 7, "' . "\x{e9}" x 40
		. '"\x{2026}, for "z\\n"? {} {id' =~ s/\\x\{2026\}/\x{2026}/r]) {
	my ($what, $values, $who, $question) = @$_;
	my @cancel = (tool_call => { name => 'cancel', arguments => {
		id => 7, %$values } }, $who ne '' ? (env => { WHO => $who }) : ());
	my $asked = refused("a question with $what", '/a', @cancel);

	is($asked->{error}{question}, $question, '... is asked');
	is_deeply($asked->{error}{command}, ['printf', '%s|', 7,
		grep { defined } $values->{note}],
		'... beside the whole command');
	my ($status, $answer) = post('/a', @cancel,
		confirm => $asked->{error}{confirm});
	is($answer->{stdout}, join('', map { "$_|" } 7,
		grep { defined } $values->{note}), '... which runs');
}
$asked = refused('and with the words of a command', '/a',
	command => ['printf', '%s|', '9']);
like($asked->{error}{question}, qr/^Cancel order 9, \(none\)/, '... too');
my @wipe = (command => ['printenv', 'SET'], env => { SET => 'theirs' });
$asked = refused('a variable that the server sets', '/a', @wipe);
is($asked->{error}{question}, 'Wipe $SET?',
	'... is not shown as the request has it');
($status, $answer) = post('/a', @wipe, confirm => $asked->{error}{confirm});
is($answer->{stdout}, "mine\n", '... which the tool does not get');
ok(!exists refused('a tool without one', '/a', @SAY)->{error}{question},
	'... has none');

is((post('/a', command => ['printf', 'y'], confirm => 'z'))[0], 200,
	'a tool that asks nobody takes no notice of a token');
is((post('/a', command => ['rm', 'y']))[0], 403, 'what no tool allows is 403');

like($server->request('GET', '/AGENTS.md')->{body}, qr/428.*"confirm"/s,
	'AGENTS.md says how');
like($server->request('GET', '/a', headers => { Accept => 'text/html' })
	->{body}, qr/a person is asked first/, 'the card says so');

$server->stop_ok;
done_testing;
