#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# pipe and script through `statespace serve`: what callers send by POST, by name
# and over MCP, what runs, what comes back, and what nobody is shown.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP ();
use Test::More;
use Statespace::Server;

plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');

my $JSON = JSON::PP->new->utf8->canonical;
my $PAGE = <<'END';
---
env: [WHO]
tools:
  - name: errors
    description: Lines of the log with a text
    pipe:
      - [grep, -n, -e, { name: q, kind: text }, app.log]
      - [head, -n, { name: n, type: integer, min: 1, max: 99, default: 50 }]
  - name: find
    script: tools/find.sh
    arguments: [{ name: q, kind: text }]
  - { name: sum, pipe: [[sort, -n], [tail, -n, 1]], stdin: true }
  - { name: fs, pipe: [[glob, '*.log'], [sort, -r]] }
  - { name: more, pipe: [[read, -l, '{range}', app.log], [wc, -l]] }
  - { name: put, pipe: [[sort, app.log], [write, out/sorted]], write: [out] }
  - { name: who, pipe: [[echo, $WHO, $SECRET], [tr, a-z, A-Z]] }
  - { name: lacks, pipe: [[echo, a], [no-such-program-here]] }
  - { name: fails, pipe: [[sh, -c, 'echo out; exit 3'], [cat]] }
  - { name: killed, pipe: [[sh, -c, 'kill -9 $$'], [cat]] }
  - { name: long, pipe: [[sleep, 30], [cat]], timeout: 0.5 }
  - { name: enough, pipe: [[yes], [head, -n, 2]] }
  - { name: ask, pipe: [[echo, '{q}'], [cat]], confirm: true }
  - { name: none, script: tools/none.sh }
  - { name: out, script: tools/out.sh }
  - { name: made, script: out/made.sh }
  - { name: climbs, script: ../find.sh }
  - { name: bare, script: tools/bare }
  - { name: turns, script: tools/turns }
  - { name: plain, script: tools/plain, arguments: [-x, '{w}'] }
---
END

my $server = Statespace::Server->start(
	files => {
		'README.md' => "# Site\n", 'a.md' => $PAGE,
		'app.log' => "one\ntwo | three\nthree; x\n\$(id)\n",
		'b.log' => '',
		'out/made.sh' => "echo made\n",
		'tools/find.sh' => "#!/bin/sh\nset -eu\n"
		    . "# the author's own\ngrep -n -e \"\$1\" -- app.log\n",
		'tools/bare' => "#!/no/such/interpreter\n",
		'tools/turns' => "#!/bin/sh\necho \"sh \$0\"\n",
		'tools/plain' => 'echo "$# $1 $2"' . "\n",
	},
	symlinks => { 'tools/out.sh' => '$OUT/README.md' },
	config => "[env]\nSECRET = \"s3cret\"\n[grant]\nwrite = [\"out\"]\n");
chmod 0777, $server->site->dir . '/out';

sub post
{
	my (%body) = @_;
	my $answer = $server->request('POST', '/a',
		headers => { 'Content-Type' => 'application/json' },
		body => $JSON->encode(\%body));

	return $JSON->decode($answer->{body});
}

sub command { return post(command => [@_]) }

sub by_name
{
	my ($name, %arguments) = @_;

	return post(tool_call => { name => $name, arguments => \%arguments });
}

sub out_is
{
	my ($answer, $out, $what) = @_;

	is(substr($answer->{stdout}, 0, 1000), $out, $what)
	    or diag($answer->{stderr});
	return;
}

sub refused_is
{
	my ($answer, $code, $message, $what) = @_;

	is($answer->{error}{code}, $code, $what);
	like($answer->{error}{message}, $message, '... and it says why');
	return;
}

# ------------------------------------------------------------------- pipes --

out_is(command('errors', 'three', '1'), "2:two | three\n",
	'a pipe runs by name and words');
out_is(command('errors', 'three'), "2:two | three\n3:three; x\n",
	'an argument with a default may be left out');
out_is(by_name('errors', q => 'three', n => 1), "2:two | three\n",
	'and by named arguments, a number as one');
out_is(post(command => ['errors', '{q}'], args => { q => 'one' }), "1:one\n",
	'and by a template of words');
out_is(command('errors', '| three'), "2:two | three\n", 'a | is text');
out_is(command('errors', 'three; x'), "3:three; x\n", 'a ; is text');
out_is(command('errors', '$(id)'), "4:\$(id)\n", 'a $ is text');
refused_is(command('errors', '-f'), 'not_allowed', qr/no tool/,
	'a value does not begin with -');
refused_is(command('errors', 'x', '100'), 'not_allowed', qr/no tool/,
	'a value has its limits');
refused_is(by_name('errors', q => 'x', n => 100), 'bad_request', qr/"n"/,
	'by name the argument is named');
refused_is(command('grep', '-n', 'x', 'app.log'), 'not_allowed', qr/no tool/,
	'the stages are no command');
unlike(command('grep')->{error}{hint}, qr/grep|head|find\.sh/,
	'the hint shows what is sent, and not what runs');
out_is(post(command => ['sum'], stdin => "3\n11\n2\n"), "11\n",
	'standard input is that of the first stage');
out_is(command('fs'), "b.log\napp.log\n", 'a built-in tool is a stage');
out_is(command('more', '2-3'), "2\n", 'and has its arguments');
refused_is(command('more', 'x'), 'bad_request', qr/range/,
	'which are looked at before anything runs');
like(command('put')->{stdout}, qr/bytes written/, 'and writes by its input');
is(Statespace::TestSite::slurp($server->site->dir . '/out/sorted'),
	"\$(id)\none\nthree; x\ntwo | three\n", '... what the stage before gave');
out_is(post(command => ['who'], env => { WHO => 'me' }), "ME S3CRET\n",
	'variables are filled in');

# --------------------------------------------------------------- what fails --

refused_is(command('lacks'), 'exec_failed',
	qr/no-such-program-here does not exist/,
	'a missing program is named before a stage runs');
my $failed = command('fails');
is("$failed->{returncode} $failed->{stdout}", "3 out\n",
	'the status is that of the stage that failed, with the output');
is(command('killed')->{returncode}, 137, 'a stage that a signal ended');
is(command('errors', 'nothing')->{returncode}, 1, 'no match is 1');
is_deeply([@{ command('enough') }{ 'returncode', 'stdout' }], [0, "y\ny\n"],
	'a stage whose reader has enough did not fail');
refused_is(command('long'), 'timeout', qr/stopped after 0\.5 s/,
	'the time is that of all stages');
my $asked = command('ask', 'a');
refused_is($asked, 'confirm_required', qr/asks a person/, 'a person is asked');
is_deeply($asked->{error}{command}, ['ask', 'a'], '... about what was sent');
out_is(post(command => ['ask', 'a'], confirm => $asked->{error}{confirm}),
	"a\n", '... and it runs when they agree');

# ----------------------------------------------------------------- scripts --

out_is(command('find', 'two'), "2:two | three\n", 'a script needs no x bit');
out_is(by_name('find', q => 'three;'), "3:three; x\n", 'by name, too');
out_is(command('plain', 'a b'), "2 -x a b\n",
	'without a first line sh runs it, with the author\'s words');
refused_is(command('none'), 'exec_failed', qr{tools/none\.sh does not exist},
	'one that is not there is named');
refused_is(command('out'), 'path_refused', qr/leaves the site/,
	'one that a link leads to outside of the site is refused');
refused_is(command('made'), 'not_allowed', qr/tools may write/,
	'and one that a tool could have written');
refused_is(command('climbs'), 'path_refused', qr/leaves the site/,
	'and one above the site');
refused_is(command('bare'), 'exec_failed',
	qr{what runs the script /no/such/interpreter does not exist},
	'a missing interpreter is named');
out_is(command('turns'), "sh tools/turns\n", 'a script is run by sh');
$server->site->write('tools/turns', "#!/usr/bin/env perl\nprint qq{perl\\n};\n");
out_is(command('turns'), "perl\n", '... and by perl, once it says so');
unlink $server->site->dir . '/tools/turns';
$server->site->link('tools/turns', '$OUT/README.md');
refused_is(command('turns'), 'path_refused', qr/leaves the site/,
	'... and not at all, once it is a link to elsewhere');

# ------------------------------------------------------------ what is shown --

my $agents = $server->request('GET', '/AGENTS.md')->{body};
like($agents, qr/\[errors, \{q\}, \{n\}/, 'AGENTS.md shows the call');
unlike($agents, qr/app\.log|find\.sh/, '... and neither stages nor the script');
my $page = $server->request('GET', '/a',
	headers => { Accept => 'text/html' })->{body};
like($page, qr/<code>errors <var[^>]*>q<\/var> <var[^>]*>\[n\]<\/var><\/code>/,
	'so does the browser');
unlike($page, qr/app\.log|find\.sh/, '... alone');
my $list = $server->request('POST', '/mcp',
	headers => { 'Content-Type' => 'application/json',
		Accept => 'application/json, text/event-stream',
		'MCP-Protocol-Version' => '2025-11-25' },
	body => $JSON->encode({ jsonrpc => '2.0', id => 1, method =>
		'tools/list', params => {} }))->{body};
unlike($list, qr/app\.log|find\.sh/, 'and MCP');
my ($tool) = grep { $_->{name} eq 'errors' }
    @{ $JSON->decode($list)->{result}{tools} };
is_deeply($tool->{inputSchema}{required}, ['q'], '... which has its schema');
is($tool->{inputSchema}{properties}{n}{maximum}, 99, '... with the limits');
my $called = $server->request('POST', '/mcp',
	headers => { 'Content-Type' => 'application/json',
		Accept => 'application/json, text/event-stream',
		'MCP-Protocol-Version' => '2025-11-25' },
	body => $JSON->encode({ jsonrpc => '2.0', id => 2, method =>
		'tools/call', params => { name => 'errors',
			arguments => { q => 'three', n => 1 } } }))->{body};
like($called, qr/2:two \| three/, '... and runs it');

$server->stop_ok;
done_testing;
