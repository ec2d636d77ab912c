#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# What a tool with `output: TYPE` answers to a POST, through `statespace serve`
# and a real nginx: bytes in base64, as they are for a client that prefers the
# type, JSON parsed where it is asked for.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP ();
use MIME::Base64 qw(decode_base64 encode_base64);
use Test::More;
use Statespace::Server;

plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');

my $JSON = JSON::PP->new->utf8->canonical->allow_nonref->max_depth(1000);
my $MOST = 100000; # max_output_bytes
my $PNG = decode_base64('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR'
    . '42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==');

my $server = Statespace::Server->start(files => {
	'README.md' => <<'END_OF_PAGE',
---
tools:
  - { name: chart, command: [cat, dot.png, ;], output: image/png }
  - { command: [cat, none.png, ;], output: image/png }
  - { command: [cat, warns.png, none.png], output: image/png }
  - { command: [sh, -c, 'cat dot.png; echo careful >&2', ;], output: Image/PNG; x=y }
  - { command: [sh, -c, 'printf "\377"; exit 3', ;], output: image/png }
  - { command: [sh, -c, 'printf "\377"; sleep 20.4', ;], output: image/png, timeout: 1 }
  - { command: [sh, -c, 'kill -9 $$', ;], output: image/png }
  - { command: [head, -c, { regex: '^\d+$' }, /dev/zero, ;], output: application/x-thing }
  - { command: [cat, page.html, ;], output: text/html; charset=utf-8 }
  - { command: [cat, dot.svg, ;], output: image/svg+xml }
  - { command: [cat, page.xhtml, ;], output: application/xhtml+xml }
  - { command: [cat, a.js, ;], output: text/javascript }
  - { command: [cat, mixed, ;], output: multipart/x-mixed-replace }
  - { command: [cat, a.csv, ;], output: text/csv }
  - { command: [cat, a.pdf, ;], output: application/pdf }
  - { command: [cat, { regex: '^j/' }, ;], output: application/json }
  - { command: [cat, -u, a.json, ;], output: application/ld+json }
  - { command: [printf, 'a\377b', ;] }
  - { command: [printf, '%s', '{"a":1}', ;] }
  - { command: [printf, '%s', text, ;], output: text }
  - { command: [cat, twice.png, ;], output: image/png, confirm: true }
---
# Output
END_OF_PAGE
	'dot.png' => $PNG, 'twice.png' => $PNG, 'warns.png' => $PNG,
	'page.html' => '<script>alert(1)</script>',
	'dot.svg' => '<svg onload="alert(1)"/>', 'page.xhtml' => '<html/>',
	'a.js' => 'alert(1)', 'mixed' => "--x\r\n", 'a.pdf' => "%PDF\xff",
	'a.csv' => "a,b\n1,\xff\n",
	'a.json' => " {\"n\" : 12345678901234567890.10,\n\t\"s\": \" \\\" x\\u00e9\" ,\r\n \"l\":[ 1 , 2 ] } \n",
	'j/list' => "[1, 2]\n", 'j/word' => 'null', 'j/none' => '',
	'j/cut' => '{"a": 1', 'j/more' => '{} {}', 'j/nan' => '[NaN]',
	'j/bytes' => "[\"\xff\"]", 'j/nul' => "[\"a\0\"]",
	'j/nul-escape' => '["\u0000"]', 'j/lone' => '["\ud800"]',
	'j/twice' => '{"a": 1, "a": 2}', 'j/bom' => "\xef\xbb\xbf[]",
	'j/deep' => ('[' x 64) . (']' x 64),
	'j/deeper' => ('[' x 65) . (']' x 65),
	'j/deepest' => '[' x 90000,
	'j/html' => '{"x": "</script><img src=x onerror=alert(1)>"}',
}, config => "[limits]\nmax_output_bytes = $MOST\n");

sub ask
{
	my ($command, %with) = @_;
	my $answer = $server->run('/', [split / /, $command],
		more => $with{more}, headers => $with{accept}
			? { Accept => $with{accept} } : {});

	$answer->{json} = eval { $JSON->decode($answer->{body}) };
	return $answer;
}

sub json { return ask(@_)->{json} }

# ------------------------------------------------------------- base64 ----

my $r = json('cat dot.png');
is_deeply($r, { stdout_base64 => encode_base64($PNG, ''), type => 'image/png',
	stderr => '', returncode => 0, sandbox => $r->{sandbox} },
	'bytes come in base64, with their type and without stdout');
$r = json('printf a\377b');
is_deeply([@$r{qw(stdout type stdout_base64)}], ["a\x{fffd}b", undef, undef],
	'without a declared type what is not UTF-8 becomes U+FFFD');
$r = json('printf %s text');
is_deeply([@$r{qw(stdout type)}], ['text', undef], 'nor does "text" have one');
$r = json('cat a.csv');
is_deeply([@$r{qw(stdout type)}], ["a,b\n1,\x{fffd}\n", 'text/csv'],
	'a type that is text comes as text, with the type');
for (['cat page.html', 'text/html; charset=utf-8'],
	['cat dot.svg', 'image/svg+xml'], ['cat a.js', 'text/javascript'],
	['cat page.xhtml', 'application/xhtml+xml'],
	['cat -u a.json', 'application/ld+json']) {
	my ($command, $type) = @$_;
	$r = json($command);
	is_deeply([defined $r->{stdout}, $r->{type}], [1, $type],
		"text is $type");
}
for (['cat mixed', 'multipart/x-mixed-replace'], ['cat a.pdf',
	'application/pdf'], ['head -c 3 /dev/zero', 'application/x-thing']) {
	my ($command, $type) = @$_;
	$r = json($command);
	is_deeply([defined $r->{stdout_base64}, $r->{type}, $r->{stdout}],
		[1, $type, undef], "$type is not");
}
is(json('head -c 0 /dev/zero')->{stdout_base64}, '', 'no bytes at all');
$r = json('tool', more => { command => undef,
	tool_call => { name => 'chart' } });
is($r->{type}, 'image/png', 'a call by name has the type');

# ------------------------------------------------------------- limits ----

$r = json("head -c $MOST /dev/zero");
is(length decode_base64($r->{stdout_base64} // ''), $MOST,
	'max_output_bytes counts the bytes, not their base64');
my $over = $MOST + 1;
$r = ask("head -c $over /dev/zero");
is("$r->{status} $r->{json}{error}{code}", '413 output_too_large',
	'one byte more is too much');
is_deeply([length(decode_base64($r->{json}{stdout_base64} // '')) <= $MOST,
	@{ $r->{json} }{qw(type stdout)}], [1, 'application/x-thing', undef],
	'what it had written until then is in base64 too');
$r = ask("head -c $over /dev/zero", accept => 'application/x-thing');
is("$r->{status} $r->{json}{error}{code}", '413 output_too_large',
	'and never sent as it is');
$r = ask("head -c $MOST /dev/zero", accept => 'application/x-thing');
is("$r->{status} " . length $r->{body}, "200 $MOST", 'the most is');

# --------------------------------------------------------- as it is -------

$r = ask('cat dot.png', accept => 'image/png');
is("$r->{status} $r->{headers}{'content-type'}", '200 image/png',
	'a client that prefers the type gets it');
ok($r->{body} eq $PNG, 'its bytes');
is_deeply([@{ $r->{headers} }{qw(statespace-returncode x-content-type-options
	content-security-policy cache-control vary)}],
	['0', 'nosniff', 'sandbox', 'no-store', 'Accept'],
	'with the return code, and harmless as a file');
like($r->{headers}{'server-timing'}, qr/run;dur=/, 'and the time');

# What is asked for, and whether the answer is the bytes.
for (['image/png', 1], ['image/*', 1], ['IMAGE/PNG', 1], ['*/*', 0], ['*', 0],
	['', 0], ['image/jpeg', 0], ['text/html', 0], ['application/json', 0],
	['application/*', 0], ['image/png, application/json', 0],
	['application/json, image/png', 0],
	['image/png;q=0.9, application/json', 0],
	['image/png, application/json;q=0.9', 1],
	['image/png;q=0.2, application/json;q=0.1', 1],
	['image/png, */*;q=0.8', 1], ['image/*;q=0.5, */*;q=0.4', 1],
	['image/*;q=0.5, application/*;q=0.6', 0],
	['image/png;q=0, image/*', 0], ['image/png;q=0', 0],
	['image/png;q=0.001', 1], ['*/*, application/json;q=0.5', 1],
	['image/avif,image/webp,*/*;q=0.8', 0],
	['application/json, text/plain, */*', 0], [',,', 0],
	['image/png;x=y', 1], ['*/png', 0]) {
	my ($accept, $raw) = @$_;
	$r = ask('cat dot.png', accept => $accept);
	is($r->{headers}{'content-type'}, $raw ? 'image/png'
		: 'application/json', "Accept: $accept");
}
$r = ask("sh -c x", accept => 'image/png', more => { command => ['sh', '-c',
	'cat dot.png; echo careful >&2'] });
is($r->{headers}{'content-type'}, 'Image/PNG; x=y',
	'the type is as the author wrote it, whatever its case');
ok($r->{body} eq $PNG, 'standard error is not in it');

for (['sh', '-c', 'printf "\377"; exit 3'], ['sh', '-c', 'kill -9 $$'],
	['cat', 'warns.png', 'none.png', 'more']) {
	$r = ask('', accept => 'image/png', more => { command => $_ });
	is_deeply([$r->{status}, $r->{headers}{'content-type'},
		$r->{headers}{'statespace-returncode'},
		$r->{json}{returncode} != 0],
		[200, 'application/json', undef, 1],
		"an exit code that is not 0 is told in JSON: @$_");
}
$r = ask('', accept => 'image/png', more => { command => ['sh', '-c',
	'printf "\377"; sleep 20.4'] });
is_deeply([$r->{status}, @{ $r->{json} }{qw(stdout_base64 type)}],
	[408, '/w==', 'image/png'], 'so is a run that took too long');
for (['refused', 403, 'rm x'], ['a person is asked', 428, 'cat twice.png']) {
	my ($what, $status, $command) = @$_;
	$r = ask($command, accept => 'image/png');
	is("$r->{status} $r->{headers}{'content-type'}",
		"$status application/json", "and a refusal: $what");
}
$r = ask('cat twice.png', accept => 'image/png',
	more => { confirm => $r->{json}{error}{confirm} });
is($r->{headers}{'content-type'}, 'image/png', 'what was agreed to is sent');

# Nothing that a browser would run.
for (['cat page.html', 'text/html', 'text/plain; charset=utf-8'],
	['cat dot.svg', 'image/svg+xml', 'text/plain; charset=utf-8'],
	['cat dot.svg', 'image/*', 'text/plain; charset=utf-8'],
	['cat page.xhtml', 'application/xhtml+xml', 'text/plain; charset=utf-8'],
	['cat a.js', 'text/javascript', 'text/plain; charset=utf-8'],
	['cat mixed', 'multipart/*', 'application/octet-stream'],
	['cat a.pdf', 'application/pdf', 'application/pdf'],
	['cat a.csv', 'text/csv', 'text/csv']) {
	my ($command, $accept, $type) = @$_;
	$r = ask($command, accept => $accept);
	is_deeply([@{ $r->{headers} }{qw(content-type x-content-type-options
		content-security-policy)}], [$type, 'nosniff', 'sandbox'],
		"$command: $accept is sent as $type");
}
is(ask('cat a.csv', accept => 'text/csv')->{body}, "a,b\n1,\xff\n",
	'text is sent byte by byte');
is(ask('printf a\377b', accept => 'text/plain')->{headers}{'content-type'},
	'application/json', 'without a declared type there is nothing to prefer');
$r = ask('cat j/list', accept => 'application/json');
is($r->{json}{stdout}, "[1, 2]\n", 'of JSON the answer is the object as ever');
is(ask('cat -u a.json', accept => 'application/ld+json')->{json}{n},
	12345678901234567890.10, 'another JSON type can be preferred');

# --------------------------------------------------------------- parse ----

my @PARSE = (more => { parse => JSON::PP::true });

$r = ask('', more => { command => [qw(cat -u a.json)],
	parse => JSON::PP::true });
is_deeply($r->{json}{stdout_json}, { n => 12345678901234567890.10,
	s => " \" x\x{e9}", l => [1, 2] }, 'output is parsed where it is asked for');
is_deeply([@{ $r->{json} }{qw(type stdout parse_error)}],
	['application/ld+json', undef, undef], 'in place of the text');
like($r->{body}, qr/"stdout_json": \{"n":12345678901234567890\.10,"s":" \\" x\\u00e9","l":\[1,2\]\}/,
	'number by number as it was written');
is(json('cat j/list')->{stdout}, "[1, 2]\n", 'and not where it is not');
is(json('cat j/list', more => { parse => $_ })->{stdout}, "[1, 2]\n",
	'nor where that is taken back') for JSON::PP::false, undef;
is_deeply(json('cat j/list', @PARSE)->{stdout_json}, [1, 2], 'a list');
$r = json('cat j/word', @PARSE);
ok(exists $r->{stdout_json} && !defined $r->{stdout_json}, 'null');
is_deeply(json('printf %s {"a":1}', @PARSE)->{stdout_json}, { a => 1 },
	'of a tool that declares nothing too');
is(json('cat j/html', @PARSE)->{stdout_json}{x},
	'</script><img src=x onerror=alert(1)>', 'markup is text');
ok(ref json('cat j/deep', @PARSE)->{stdout_json}, '64 levels');
for (['deeper', qr/too many levels at byte 65/], ['deepest', qr/too many/],
	['none', qr/the end where a value is expected at byte 1/],
	['cut', qr/byte 8/], ['more', qr/something after the value at byte 4/],
	['nan', qr/no value/], ['bytes', qr/not UTF-8 at byte 3/],
	['nul', qr/control byte/], ['nul-escape', qr/\\u0000/],
	['lone', qr/surrogate/], ['twice', qr/twice/], ['bom', qr/no value/]) {
	my ($file, $why) = @$_;
	my $command = "cat j/$file";
	$r = json($command, @PARSE);
	is($r->{stdout}, json($command)->{stdout}, "$file stays text");
	like($r->{parse_error}, $why, 'and the answer says why');
	ok(!exists $r->{stdout_json}, 'and has nothing else');
}
$r = json('cat dot.png', @PARSE);
is($r->{stdout_base64}, encode_base64($PNG, ''), 'bytes stay bytes');
is($r->{parse_error}, 'the output is declared as image/png', 'with a reason');
$r = ask('cat j/list', more => { parse => 'yes' });
is("$r->{status} $r->{json}{error}{message}",
	'400 "parse" must be true or false: it is a string', 'a wrong request');

like($server->request('GET', '/AGENTS.md')->{body},
	qr/^- \*\*chart\*\* `\{"command": \["cat", "dot\.png"\]\}`, prints `image\/png`$/m,
	'AGENTS.md tells the type');

$server->stop_ok;
done_testing;
