#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The built-in tools through `statespace serve`: what a page gets by listing
# them, what is granted, what comes back.  Differential: glob against bash's
# globstar, fs grep against grep -P, on this source tree.
use strict;
use warnings;
use Cwd ();
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Socket::INET;
use JSON::PP ();
use Test::More;
use Statespace::Server;
use Statespace::TestSite qw(slurp);

plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');

my $TOP = Cwd::realpath("$FindBin::Bin/../..");
my $BUILD = $ENV{BUILD} || "$TOP/build";
my $JSON = JSON::PP->new->utf8;

my $PAGE = <<'END';
---
env: [TOKEN]
tools:
  - [glob, {}]
  - name: put
    command: [fs, write, out/piped.txt, ;]
    stdin: true
    write: [out]
  - [fs]
  - [read]
  - [write]
  - [edit]
  - {command: [ls, -d, {}], name: real}
  - [curl]
---
END

sub page
{
	my (@lines) = @_;

	return "---\ntools:\n" . join('', map { "  - $_\n" } @lines) . "---\n";
}

my $site = Statespace::TestSite->new(files => {
	'README.md' => $PAGE,
	'w.md' => "---\nsandbox: {write: [out]}\ntools: [[write], [edit], "
	    . "[fs], [curl, -s, {}]]\n---\n",
	'docs/README.md' => page('[glob, {}]', '[fs]'),
	'docs/one.txt' => "alpha\nbeta\ngamma\n",
	'out/keep.txt' => "old text\n",
	'many/README.md' => page('[glob, {}]'),
	'.env' => "hidden\n",
	(map { +"many/f$_.txt" => '' } 1 .. 1100),
	'secret.md' => "---\ntools:\n  - [curl, -H, "
	    . "'Authorization: Bearer \$TOKEN', {}]\n---\n",
	'wide.md' => "---\nsandbox: {network: ['127.0.0.1:PORT', "
	    . "'localhost:PORT']}\ntools: [[curl]]\n---\n",
	'c.md' => page('[curl]'),
	'named.md' => page('{name: show, command: [printf, "[%s] ", x, '
		. '{name: what, description: The word}]}',
		'{name: digits, command: [printf, "[%s] ", '
		. '{name: n, regex: "^[0-9]+$"}, ;]}',
		'{command: [cat, ;], stdin: true}',
		'{name: twice, command: [echo, a]}',
		'{name: twice, command: [echo, b]}'),
	'exists/README.md' => page('{name: show, command: [printf, "%s|", '
		. '{name: file, kind: path, exists: true, default: ../docs}, '
		. '{text: "--from={other}", other: {kind: path, exists: true}, '
		. 'optional: true}, ;]}'),
	'exists/a.txt' => "a\n",
	'exists/below/b.txt' => "b\n",
	'exists/.hidden' => "h\n",
	'exists/.dot/c.txt' => "c\n",
	'all.md' => "---\nsandbox: {network: true}\ntools: [[curl]]\n---\n",
}, symlinks => { 'docs/out' => '$OUT', 'docs/up' => '../out',
	'exists/good' => 'a.txt', 'exists/out' => '$OUT', 'exists/up' => '../docs',
	'exists/etc' => '/etc/passwd', 'exists/dot' => '.hidden',
	'exists/gone' => 'none.txt', 'exists/below/up' => '../a.txt' });

# An upstream on loopback: what it was sent goes into a pipe.
my $listen = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 16,
	ReuseAddr => 1) or die "listen: $@";
my $port = $listen->sockport;
my $upstream = fork() // die "fork: $!";
if (!$upstream) {
	upstream_main();
	exit 0;
}
close $listen;
END {
	local $?;
	kill 'TERM', $upstream and waitpid $upstream, 0 if $upstream;
}

sub upstream_main
{
	local $SIG{ALRM} = 'DEFAULT';
	local $SIG{PIPE} = 'IGNORE'; # of an answer that nobody reads on
	alarm 240;
	while (my $c = $listen->accept) {
		my ($head, $length) = ('', 0);
		while (my $line = <$c>) {
			$head .= $line;
			$length = $1 if $line =~ /^Content-Length: (\d+)/i;
			last if $line eq "\r\n";
		}
		read $c, my $body, $length if $length;
		my ($method, $path) = split ' ', $head;
		my $status = $path =~ m{^/(\d{3})} ? $1 : 200;
		my $text = $path eq '/big' ? 'x' x (3 << 20)
		    : "$head" . ($length ? $body : '');
		print {$c} "HTTP/1.1 $status Status\r\nContent-Length: "
		    . length($text) . "\r\nLocation: http://127.0.0.1:$port/"
		    . "other\r\nX-Seen: yes\r\nConnection: close\r\n\r\n"
		    . ($method eq 'HEAD' ? '' : $text);
		close $c;
	}
	return;
}

$site->write('wide.md', "---\nsandbox: {network: ['127.0.0.1:$port', "
    . "'localhost:$port']}\ntools: [[curl]]\n---\n");
system 'chmod', '-R', 'a+rX', $site->dir;
chmod 0777, $site->dir . '/out';
chmod 0666, $site->dir . '/out/keep.txt';

sub server
{
	my (%with) = @_;

	unlink $site->scratch . '/log';
	return Statespace::Server->start(site => $site, %with);
}

my $server = server(config => <<"END");
[grant]
write = ["out"]
network = ["127.0.0.1:$port", "localhost:$port"]
[env]
TOKEN = "s3cr3t-token"
END

sub run
{
	my ($page, @words) = @_;
	my %with = ref $words[-1] ? %{ pop @words } : ();
	my $answer = $server->run($page, \@words, more => \%with);
	my $json = eval { $JSON->decode($answer->{body}) } || {};

	return { %$json, status => $answer->{status},
		code => $json->{error} ? $json->{error}{code} : '' };
}

sub says
{
	my ($page, $words, $wanted, $sentence) = @_;
	my $got = run($page, @$words);

	is($got->{stdout}, $wanted, $sentence)
	    or diag("status $got->{status}: " . ($got->{stderr} // ''));
	return;
}

sub refused
{
	my ($page, $words, $status, $code, $sentence) = @_;
	my $got = run($page, @$words);

	is("$got->{status} $got->{code}", "$status $code", $sentence)
	    or diag($got->{stderr} // '');
	return;
}

# ----------------------------------------------------------------- glob --

says('/docs/', ['glob', '*'], "README.md\none.txt\nout\nup\n",
	'glob lists names below the page, and no dot entries');
says('/', ['glob', 'docs/up/*'], "docs/up/keep.txt\n",
	'a link that stays below is followed');
says('/', ['glob', 'docs/out/*'], '', 'a link that leads out is not');
refused('/', ['glob', '../*'], 403, 'path_refused', 'glob with .. is refused');
refused('/', ['glob', '/etc/*'], 403, 'path_refused', 'and from /');
{
	my $got = run('/many/', 'glob', '*');
	is(scalar(split /\n/, $got->{stdout}), 1000, 'glob stops at a thousand');
	like($got->{stderr}, qr/truncated/, '... and says so');
}

# ------------------------------------------------------------ file tools --

says('/', ['read', 'docs/one.txt', '-l', '2-3'], "beta\ngamma\n",
	'read gives a range of lines');
says('/', ['read', '-b', '2-3', 'docs/one.txt'], 'lp', 'and of bytes');
says('/', ['fs', 'grep', '-C', '1', '^beta', 'docs'],
	"docs/one.txt-1-alpha\ndocs/one.txt:2:beta\ndocs/one.txt-3-gamma\n",
	'fs grep shows lines with their numbers and context');
says('/docs/', ['fs', 'ls'], "README.md\none.txt\nout\nup\n",
	'fs ls lists the page\'s directory');
like(run('/docs/', 'fs', 'stat', 'one.txt')->{stdout},
	qr/^file 0\d{3} 17 \S+Z one\.txt$/, 'fs stat says what it is');
says('/', ['ls', '-d', 'docs'], "docs\n",
	'ls itself is the system\'s, with all its options');
refused('/', ['read', '../x'], 403, 'path_refused', 'read does not climb');
refused('/', ['fs', 'read', 'docs/out/secret.md'], 403, 'path_refused',
	'read follows no link out of the page\'s directory');
is(run('/', 'read', '.env')->{returncode}, 1, 'read sees no dot entry');
is(run('/', 'read', 'none')->{returncode}, 1,
	'a file that is not there is the tool\'s own failure');
refused('/', ['read', 'a', 'b'], 400, 'bad_request', 'wrong usage is 400');
refused('/', ['fs', 'grep', '('], 400, 'bad_request',
	'a pattern that is none is 400');

SKIP: {
	skip 'nothing confines tools in this mode', 2
	    if ($ENV{STATESPACE_SANDBOX_MODE} // '') eq 'off';
	refused('/', ['write', 'out/new.txt', 'x'], 403, 'capability_refused',
		'a page that asks for nothing writes nothing');
	ok(!-e $site->dir . '/out/new.txt', '... indeed');
}
says('/w', ['write', 'out/new.txt', "two\nlines\n"], "10 bytes written\n",
	'a page that asks writes where the operator grants');
is(slurp($site->dir . '/out/new.txt'), "two\nlines\n", '... what it was given');
says('/w', ['edit', 'out/keep.txt', 'old', 'new'], "1 replaced\n",
	'edit replaces one place');
is(slurp($site->dir . '/out/keep.txt'), "new text\n", '... in the file');
refused('/w', ['write', 'w.md', 'x'], 403, 'capability_refused',
	'and nowhere else');
refused('/w', ['fs', 'write', 'README.md', 'x'], 403,
	'capability_refused', 'not even by another name');
like(run('/w', 'edit', 'out/keep.txt', 't', 'T')->{stderr}, qr/2 matches/,
	'edit says how many places matched');
says('/', ['fs', 'write', 'out/piped.txt', { stdin => "/from stdin\n" }],
	"12 bytes written\n", 'write takes standard input where it is declared');
is(slurp($site->dir . '/out/piped.txt'), "/from stdin\n", '... as it comes');
is_deeply([grep { /^\.|statespace-/ } listing($site->dir . '/out')], [],
	'no half-written file stays');

sub listing
{
	my ($path) = @_;

	opendir my $dir, $path or die "$path: $!";
	return grep { !/^\.\.?$/ } readdir $dir;
}

# ---------------------------------------------------- by name and arguments --

sub call
{
	my ($page, $call, %more) = @_;
	my $answer = $server->request('POST', $page,
		headers => { 'Content-Type' => 'application/json' },
		body => $JSON->encode({ tool_call => $call, %more }));
	my $json = eval { $JSON->decode($answer->{body}) } || {};

	return join ' | ', $answer->{status}, $json->{error}
	    ? ($json->{error}{code}, $json->{stderr}, $json->{error}{hint})
	    : ($json->{stdout}, $json->{returncode});
}

is(call('/named', { name => 'show', arguments => { what => 'a b',
	args => ['c'] } }), "200 | [x] [a b] [c]  | 0",
	'a tool is called by its name and arguments');
is(call('/named', { name => 'show', arguments => { what => 'a' } }),
	"200 | [x] [a]  | 0", '... without what may be left out');
is(call('/named', { name => 'show', arguments => { what => 'a',
	args => undef } }), "200 | [x] [a]  | 0", '... or is null');
like(call('/named', { name => 'show', arguments => { what => 'a',
	args => ['b', 7] } }), qr/^400 \| bad_request \| .*more than strings/,
	'a list holds strings and nothing else');
like(call('/named', { name => 'show' }), qr/^400 \| bad_request \| .*what/,
	'a missing argument is named');
like(call('/named', { name => 'show', arguments => { what => 'a',
	which => 'b' } }), qr/^400 \| bad_request \| .*which/,
	'an unknown one too');
like(call('/named', { name => 'show', arguments => { what => 7 } }),
	qr/^400 \| bad_request \| .*number/, 'and one of the wrong type');
like(call('/named', { name => 'digits', arguments => { n => 'x' } }),
	qr/^40[03] \| /, 'and one that its pattern does not take');
is(call('/named', { name => 'digits', arguments => { n => '42' } }),
	"200 | [42]  | 0", '... or takes');
like(call('/named', { name => 'none' }),
	qr/^403 \| not_allowed \| .*\| this page has: show, digits, named_cat/,
	'an unknown name is refused with the names that there are');
unlike(call('/named', { name => 'none' }), qr/twice(?!_)/,
	'... each of which can be called');
is(call('/named', { name => 'named_cat' }, stdin => 'in'), '200 | in | 0',
	'a tool without a name has the page\'s and the program\'s');
like(call('/named', { name => 'twice' }),
	qr/^403 \| not_allowed \| .*twice_echo_a, twice_echo_b/,
	'a name that two tools have is refused with the longer ones');
like(call('/named', { name => 'show', arguments => { what => '../x' } }),
	qr/^403 \| path_refused/, 'the agent\'s words are checked as ever');
like(call('/named', 'show'), qr/^400 .*must be an object/,
	'a call is an object');
like(call('/named', {}), qr/^400 .*"name"/, '... with a name');
like(call('/named', { name => 'show', arguments => [] }),
	qr/^400 .*"arguments"/, '... and arguments by name');
like(call('/named', { name => 'show' }, command => ['x']),
	qr/^400 .*send it alone/, 'and is sent alone');

# ------------------------------------------------- files that must exist --

for my $file ('a.txt', './a.txt', 'good', 'below/b.txt', 'below', 'below/up',
	'.') {
	is(call('/exists/', { name => 'show', arguments => { file => $file } }),
		"200 | $file| | 0", "a file that exists: $file");
	is(run('/exists/', 'printf', '%s|', $file, "--from=$file")->{stdout},
		"$file|--from=$file|", 'and as a word of a command');
}
is(call('/exists/', { name => 'show' }), '200 | ../docs| | 0',
	"the author's default is not looked for");
for my $file ('none.txt', 'gone', '.hidden', 'dot', '.dot/c.txt', '.dot', 'out',
	'out/secret.md', 'etc', 'up', 'up/one.txt', 'a.txt/x', '', "a\nb",
	'x' x 300, 'below/../../docs') {
	my $short = substr $file, 0, 20;
	like(call('/exists/', { name => 'show', arguments => { file => $file } }),
		qr/^(?:400 \| bad_request \| .*the argument "file"|403 \| path_refused)/,
		"refused: $short");
}
for my $file ('none.txt', 'out', '.hidden', 'up/one.txt', '/etc/passwd') {
	refused('/exists/', ['printf', '%s|', 'a.txt', "--from=$file"], 400,
		'bad_request', "and inside a word: $file") if $file !~ m{^/};
	like(call('/exists/', { name => 'show', arguments => { other => $file } }),
		qr/^40[03] /, '... by name');
}
like(call('/exists/', { name => 'show', arguments => { file => 'none.txt' } }),
	qr/names no file: "none\.txt".*below it/s, 'the error says which');

# ------------------------------------------------------------------- HTTP --

my $url = "http://127.0.0.1:$port";
refused('/', ['curl', "$url/"], 403, 'address_refused',
	'curl does not reach loopback');
refused('/', ['curl', "http://localhost:$port/"], 403, 'address_refused',
	'by no name');
refused('/', ['curl', '-L', "$url/"], 403, 'not_allowed',
	'an option that is not listed is refused');
refused('/', ['curl', 'http://a.example/', 'http://b.example/'], 400,
	'bad_request', 'one URL at a time');

like(run('/wide', 'curl', "$url/x")->{stdout}, qr{^GET /x HTTP/1\.1\r\n},
	'the control: what the operator adds and the page picks is reached');
like(run('/wide', 'curl', "http://localhost:$port/x")->{stdout}, qr{^GET /x },
	'... by its name too');
like(run('/wide', 'curl', '-i', "$url/x")->{stdout},
	qr{^HTTP/1\.1 200 Status\r\n.*X-Seen: yes\r\n.*\r\n\r\nGET}s,
	'-i shows status and headers');
like(run('/wide', 'curl', '-I', "$url/x")->{stdout},
	qr{^HTTP/1\.1 200.*\r\n\r\n\z}s, '-I shows only them');
like(run('/wide', 'curl', '-XPUT', '-H', 'X-A: b', '-d', 'p=1', '-d', 'q=2',
	"$url/x")->{stdout}, qr{^PUT /x .*X-A: b\r\n.*\r\n\r\np=1&q=2\z}s,
	'method, header and joined data arrive');
unlike(run('/wide', 'curl', "$url/x")->{stdout},
	qr/cookie|accept-encoding|authorization/i, 'nothing else is sent');
{
	my $got = run('/wide', 'curl', "$url/302");
	is($got->{status}, 200, 'a redirect is an answer');
	unlike($got->{stdout}, qr{/other}, '... that is not followed');
	$got = run('/wide', 'curl', '-sf', "$url/404");
	is("$got->{status} $got->{returncode}", '200 22',
		'-f ends with curl\'s own code');
	is($got->{stdout}, '', '... and shows no body');
	is(run('/wide', 'curl', "$url/404")->{returncode}, 0,
		'without it a status is no failure');
}
refused('/wide', ['curl', "$url/big"], 413, 'output_too_large',
	'an answer above the ceiling ends the run');
refused('/wide', ['curl', '-d', '@/etc/passwd', "$url/"], 403, 'not_allowed',
	'no file is sent');
refused('/all', ['curl', "$url/"], 403, 'capability_refused',
	'a page that asks for all of the network is refused');

$server->stop_ok;

# A refused connection is the network's failure; a secret stays one.
my $closed = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1);
my $free = $closed->sockport;
close $closed;
$server = server(config => "[grant]\nnetwork = true\n[env]\n"
    . "TOKEN = \"s3cr3t-token\"\n");
refused('/all', ['curl', "http://127.0.0.1:$free/"], 502, 'network',
	'nobody at the port is 502');
like(run('/all', 'curl', "$url/x")->{stdout}, qr{^GET /x },
	'network = true, asked for, opens loopback');
refused('/c', ['curl', "$url/x"], 403, 'address_refused',
	'... only for the page that asks');
$site->write('secret.md', "---\nsandbox: {network: true}\ntools:\n  - [curl, "
    . "-H, 'Authorization: Bearer \$TOKEN', {}]\n---\n");
like(run('/secret', 'curl', '-H', 'Authorization: Bearer $TOKEN', "$url/x")
	->{stdout}, qr/^Authorization: Bearer s3cr3t-token\r$/m,
	'a header of the page carries the server\'s secret');
$server->stop_ok;

$server = server(config => "[grant]\nhttp = false\n");
refused('/', ['glob', '*'], 403, 'capability_refused',
	'http = false forbids pages that list curl');
says('/docs/', ['fs', 'ls'], "README.md\none.txt\nout\nup\n",
	'... and no others');
$server->stop_ok;

# ------------------------------------------------------------- differential --

# Long texts: the first lines that differ say enough.
sub equal
{
	my ($ours, $theirs, $sentence) = @_;
	my %ours = map { $_ => 1 } split /^/m, $ours;
	my %theirs = map { $_ => 1 } split /^/m, $theirs;
	my @differ = ((map { "only ours: $_" } grep { !$theirs{$_} } keys %ours),
		map { "only theirs: $_" } grep { !$ours{$_} } keys %theirs);

	ok($ours eq $theirs, $sentence)
	    or diag(@differ > 5 ? @differ[0 .. 4] : @differ);
	return;
}

SKIP: {
	skip 'bash is not installed', 6 unless -x '/bin/bash';
	my $tool = "$BUILD/libexec/statespace-tool";
	my $tree = "$TOP/core";

	for my $pattern ('*.h', '**/*.md', 's*[a-d].{c,h}', '**/*rule*',
		'{tool,spec}*.c', '[!a-s]*.h') {
		my $ours = qx(cd $TOP/tests && $tool -- glob '$pattern' 2>&1)
		    . qx(cd $tree && $tool -- glob '$pattern' 2>&1);
		my $bash = 'shopt -s globstar nullglob; LC_ALL=C; printf '
		    . "'%s\\n' $pattern | LC_ALL=C sort -u | grep .";
		my $theirs = qx(cd $TOP/tests && bash -c "$bash")
		    . qx(cd $tree && bash -c "$bash");
		equal($ours, $theirs, "glob $pattern is what bash finds");
	}
}

SKIP: {
	skip 'grep knows no -P', 4
	    if system q(echo a | grep -qP a 2>/dev/null);
	my $tool = "$BUILD/libexec/statespace-tool";

	for my $pattern ('^static (?!enum)', '\bSS_\w+REFUSED\b', '(?i)landlock$',
		'\s+$') {
		my $ours = qx(cd $TOP/core && $tool items=100000 -- fs grep -g '*.c' '$pattern');
		my $theirs = qx(cd $TOP/core && LC_ALL=C.UTF-8 grep -rnP --include='*.c' -- '$pattern' .);
		my @theirs = sort map { s{^\./}{}r } split /^/m, $theirs;
		equal(join('', sort split /^/m, $ours), join('', @theirs),
			"fs grep $pattern is what grep -P finds");
	}
}
done_testing;
