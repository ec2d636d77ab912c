#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# statespace-exec, sentence by sentence of statespace(1): what it relays,
# what it prints and how it ends.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use IPC::Open3;
use JSON::PP;
use Symbol 'gensym';
use Test::More;

my $top = abs_path(dirname(__FILE__) . '/../..');
my $exec = abs_path($ENV{BUILD} // "$top/build") . '/statespace-exec';
-x $exec or plan skip_all => 'statespace-exec is not built';

my $site = tempdir(CLEANUP => 1);
chmod 0755, $site;
open my $page, '>', "$site/README.md" or die $!;
print $page <<'END';
---
tools:
  - [sh, -c, "echo out; echo err >&2; exit 7", ;]
  - [sh, -c, "kill -KILL $$", ;]
  - [sh, -c, "yes | head -c 3000000", ;]
  - [sh, -c, "echo up; exec sleep 30", ;]
  - [sleep, { regex: '^[0-9]+$' }, ;]
  - { command: [cat], stdin: true, max_running: 1 }
  - [wc, -c]
  - [echo, $SECRET, {}, ;]
  - [no-such-program-here]
  - [$RUN, ran, ;]
  - [./orphan]
  - { command: [printf, '%s.', {}, ;], confirm: true }
  - { name: drop, command: [printf, '%s.', { name: what, kind: text }, ;], confirm: 'Drop {what}?' }
  - { name: typed, command: [printf, '%s|', { name: n, type: integer, min: 1, max: 9 }, { name: on, type: boolean, default: false }, { name: day, type: date, optional: true }, { text: 'q={q}', q: { kind: text, escape: url } }] }
  - [./hi.sh]
  - [./away]
  - [/srv/no/such/program]
  - { command: [printf, 'a\0\377', ;], output: image/png }
  - { command: [printf, '[1, 2]', ;], output: application/json }
  - { command: [seq, { regex: '^[0-9]+$' }, ;], lines: 2 }
  - { command: [tail, -n, '+1', now, ;], lines: 1 }
  - { command: [sh, -c, 'echo 1/2 >&$STATESPACE_PROGRESS_FD; echo $STATESPACE_PROGRESS_FD', ;], progress: fd }
---
# A page
END
close $page;

# Status, standard output and standard error of one call.
sub run
{
	my ($input, @words) = @_;
	my $pid = open3(my $to, my $from, my $said = gensym, $exec,
		'-C', $site, @words);

	local $SIG{PIPE} = 'IGNORE';
	print $to $input if defined $input;
	close $to;
	local $/;
	my ($out, $err) = (scalar <$from> // '', scalar <$said> // '');
	waitpid $pid, 0;
	return ($? & 127 ? "signal $?" : $? >> 8, $out, $err);
}

sub object
{
	return eval { JSON::PP->new->utf8->decode($_[0]) } // {};
}

my ($status, $out, $err) = run(undef, 'README', '--', 'sh', '-c',
	'echo out; echo err >&2; exit 7');
is_deeply [$status, $out, $err], [7, "out\n", "err\n"],
    'both streams are relayed, and the exit code is the tool\'s';

($status) = run(undef, 'README', '--', 'sh', '-c', 'kill -KILL $$');
is $status, 128 + 9, 'death by a signal is 128 and its number';

($status, $out) = run(undef, 'README', '--', 'sh', '-c',
	'yes | head -c 3000000');
is $status, 125, 'output beyond the limit ends with 125';
cmp_ok length($out), '<=', 1 << 20, 'and no more than the limit is relayed';

($status, $out, $err) = run(undef, '--timeout', '1', 'README', '--', 'sleep', '30');
is $status, 124, 'time that is up is 124';
isnt $err, '', 'and standard error says so';

# Its own status, and at once: not when the tool is done.
for my $signal ('TERM', 'INT', 'HUP') {
	my $pid = open3(my $to, my $from, undef, $exec, '-C', $site,
		'README', '--', 'sh', '-c', 'echo up; exec sleep 30');
	my $begun = <$from>;
	my $since = time;
	kill $signal, $pid;
	waitpid $pid, 0;
	is $? >> 8, 128 + { TERM => 15, INT => 2, HUP => 1 }->{$signal},
	    "SIG$signal ends the command";
	cmp_ok time - $since, '<', 20, 'and its tool, before it is done';
}

is((run(undef, '--timeout', $_, 'README', '--', 'cat'))[0], 2,
	"--timeout $_ is wrong usage") for '0', 'soon';
is((run(undef, '-e', $_, 'README', '--', 'cat'))[0], 2,
	"-e $_ is wrong usage") for 'NAME', '=x', '1=x';
is((run(undef, '--env-file', "$site/none", 'README', '--', 'cat'))[0], 125,
	'a file of variables that cannot be read is 125');

($status, $out, $err) = run(undef, 'README', '--', 'ls');
is $status, 126, 'a command that the page does not allow is 126';
like $err, qr/no tool of this page allows.*this page allows: /s,
    'with the hint of the answer';
like $err, qr/command: no tool begins with "ls"; /, 'and what was wrong';
(undef, undef, $err) = run(undef, 'README', '--', 'sleep', 'x');
like $err, qr/command: word 2, "x", is not a word that matches \^\[0-9\]\+\$; /,
    '... with the word of the nearest tool';

($status, $out, $err) = run(undef, 'elsewhere', '--', 'ls');
is $status, 126, 'a page that is not there is 126';
like $err, qr/no such page.*\Q$site\E.*-C/s,
    'with the directory that was looked in';
unlike $err, qr/No such file.*No such file/, 'and the reason once';

($status, $out, $err) = run(undef, 'README', '--', 'no-such-program-here');
is $status, 127, 'a program that is not installed is 127';

($status, $out) = run(undef, '-e', 'RUN=echo', 'README', '--', '$RUN', 'ran');
is_deeply [$status, $out], [0, "ran\n"], 'a variable can name the program';
($status, $out, $err) = run(undef, '-e', 'RUN=s3cret', 'README', '--', '$RUN',
	'ran');
is $status, 127, '... one that is not installed is 127';
like $err, qr/the program \$RUN does not exist/, 'and told by its name alone';
unlike $err, qr/s3cret/, 'never by its value';

open my $orphan, '>', "$site/orphan" or die $!;
print $orphan "#!/no/such/interpreter\n";
close $orphan;
chmod 0755, "$site/orphan";
($status, $out, $err) = run(undef, 'README', '--', './orphan');
is $status, 127, 'a script whose interpreter is not installed is 127';
like $err, qr{what runs the program \./orphan does not exist},
	'and it is not the script that is missed';

open my $hi, '>', "$site/hi.sh" or die $!;
print $hi "#!/bin/sh\necho hi\n";
close $hi;
chmod 0644, "$site/hi.sh";
($status, $out, $err) = run(undef, 'README', '--', './hi.sh');
isnt $status, 0, 'a script without its x bit does not run';
like $err, qr{chmod \+x \./hi\.sh}, '... and the remedy is told';
symlink '/srv/no/such/program', "$site/away" or die $!;
($status, $out, $err) = run(undef, 'README', '--', './away');
is $status, 127, 'a link to where no program is, is 127';
like $err, qr{\./away is a link to where tools cannot see},
    '... and told as a link';
unlike $err, qr{/srv/no}, '... without where it leads';
($status, $out, $err) = run(undef, 'README', '--', '/srv/no/such/program');
is $status, 127, 'so is a path that tools do not see';
like $err, qr{tools see the programs of /usr, the site and what \[grant\]},
    '... and what they do see is told';

is((run(undef, 'README', 'ls'))[0], 2, 'without -- the usage is wrong: 2');
is((run(undef, '--no-such-option'))[0], 2, 'so is an unknown option');
is((run(undef, '-c', "$site/none.toml", 'README', '--', 'ls'))[0], 125,
	'a configuration that cannot be read is 125');

($status, $out) = run("given\n", 'README', '--', 'cat');
is_deeply [$status, $out], [0, "given\n"],
    'standard input reaches a tool that declares it';
($status, $out) = run("given\n", 'README', '--', 'wc', '-c');
is_deeply [$status, $out], [0, "0\n"], 'and no other';

($status, $out, $err) = run(undef, '--json', 'README', '--', 'sh', '-c',
	'echo out; echo err >&2; exit 7');
my $answer = object($out);
is_deeply [$status, $err, @$answer{qw(stdout stderr returncode)}],
    [0, '', "out\n", "err\n", 7], '--json prints the answer and exits 0';
($status, $out) = run(undef, 'README', '--', 'printf', 'a\0\377');
is "$status $out", "0 a\0\xff", 'bytes of a declared type are printed as they are';
($status, $out) = run(undef, '--json', 'README', '--', 'printf', 'a\0\377');
is_deeply [@{ object($out) }{qw(stdout_base64 type stdout)}],
    ['YQD/', 'image/png', undef], 'and with --json in base64';
($status, $out) = run('{"command": ["printf", "[1, 2]"], "parse": true}',
    '--json', 'README', '-');
is_deeply object($out)->{stdout_json}, [1, 2],
    'a request may ask for JSON as a value';
($status, $out) = run(undef, '--json', 'README', '--', 'ls');
is_deeply [$status, object($out)->{error}{code}], [0, 'not_allowed'],
    'also when it is a refusal';

($status, $out) = run('{"command": ["echo", "$SECRET", "x"]}',
	'-e', 'SECRET=hush', 'README', '-');
is_deeply [$status, $out], [0, "hush x\n"],
    'the request can come on standard input, and -e sets a variable';
($status, $out, $err) = run('{"command": ["echo"', 'README', '-');
is $status, 126, 'a request that is no JSON is refused';

($status, $out) = run(undef, '--dry-run', '-e', 'SECRET=hush', 'README', '--',
	'echo', '$SECRET', 'x');
is_deeply [$status, $out], [0, "echo '\$SECRET' x\n"],
    '--dry-run says what would run, secrets as their names';
for my $word ('two words', "it's", '', '$HOME', 'a;b', "new\nline", '*') {
	(undef, $out) = run(undef, '--dry-run', 'README', '--', 'wc', '-c', $word);
	chomp $out;
	is `printf '%s|' $out`, "wc|-c|$word|",
	    "a shell reads back the word <$word>";
}
($status, $out) = run(undef, '--dry-run', '--json', '-e', 'SECRET=hush',
	'README', '--', 'echo', '$SECRET', 'x');
is_deeply [$status, object($out)],
    [0, { tool => 7, argv => ['echo', '$SECRET', 'x'], refused => undef }],
    'and with --json which entry matched';
($status, $out) = run(undef, '--dry-run', '--json', 'README', '--', 'ls');
$answer = object($out);
is_deeply [$status, @$answer{qw(tool argv)}, $answer->{refused}{code}],
    [126, undef, undef, 'not_allowed'], 'or why none did';

($status, $out) = run(undef, '--get', 'README');
is $status, 0, '--get prints a page';
like $out, qr/\A---\ntools:.*\n# A page\n\z/s, 'as GET would';
is((run(undef, '--get', 'elsewhere'))[0], 126, 'and refuses as GET would');

# --------------------------------------------------------- calls by name --
my @TYPED = qw(/ --tool typed);

is_deeply([run(undef, @TYPED, 'n=3', 'q=a b/ü=x')],
	[0, '3|false|q=a%20b%2F%C3%BC%3Dx|', ''],
	'--tool calls a tool by its name and arguments');
is_deeply([run(undef, @TYPED, 'q=', 'n=3', 'day=2026-01-31', 'on=true')],
	[126, '', "statespace: \"\" is no value for the argument \"q\"; it takes "
	. "text that is not empty and begins with no -\n"
	. 'statespace: next: send the nearest request that this page allows: '
	. '{"tool_call": {"name": "typed", "arguments": {"n": 3, "on": true, '
	. "\"day\": \"2026-01-31\", \"q\": \"q\"}}}\n"],
	'what it does not take is refused');
is_deeply([run(undef, @TYPED, qw(q=a n=3 day=2026-01-31 on=true -- -x n=4))],
	[0, '3|true|2026-01-31|q=a|-x|n=4|', ''], 'words after -- are put behind');
for my $wrong (['n=10', 'n'], ['n=x', 'n'], ['n=', 'n'], ['on=yes', 'on'],
	['day=2026-02-30', 'day']) {
	my ($given, $name) = @$wrong;
	my ($status, undef, $said) = run(undef, @TYPED, 'q=a',
		$name eq 'n' ? () : 'n=1', $given);
	my ($value) = $given =~ /=(.*)/;
	my (undef, $out) = run(encode_json({ tool_call => { name => 'typed',
		arguments => { q => 'a', n => '1', $name => $value } } }),
		'--json', '/', '-');
	my $error = object($out)->{error};
	is($status, 126, "$given is refused");
	my ($why, $next) = split /^statespace: next: /m, $said, 2;
	is($why, "statespace: $error->{message}; $error->{hint}\n",
		'as over HTTP');
	my ($text, $json) = $next =~ /^(.*?): (\{.*\})\n\z/;
	is($text, $error->{next}{text}, 'with the same step');
	is_deeply(decode_json($json), $error->{next}{request}, 'and request');
}
for (['/', '--tool'], [@TYPED, 'n'], [@TYPED, '=3'], [@TYPED, 'n=1', 'x']) {
	is((run(undef, @$_))[0], 2, "wrong usage: @$_");
}
is((run(undef, @TYPED, 'n=1', 'n=2', 'q=a'))[0], 126,
	'an argument is given once');
like((run(undef, '/', '--tool', 'none'))[2],
	qr/no tool of this page has that name.*typed/s,
	'an unknown name is refused with those that there are');

# ------------------------------------------------------- confirm: true --

my @asks = ('README', '--', 'printf', '%s.');

($status, $out, $err) = run(undef, @asks, 'x');
is_deeply [$status, $out], [126, ''],
    'a tool that asks a person is refused where no terminal is';
like $err, qr/it did not run\b.*--yes/s, 'and --yes is named';
is_deeply [(run(undef, '--yes', @asks, 'x'))[0, 1]], [0, 'x.'],
    '--yes agrees to it';
is_deeply [(run(undef, '--dry-run', @asks, 'x'))[0, 1]], [0, "printf '%s.' x\n"],
    'without running it nobody is asked';
($status, $out) = run(undef, '--json', @asks, 'x');
is object($out)->{error}{code}, 'confirm_required', '--json says so by its code';

SKIP: {
	my ($script) = grep { -x } map { "$_/script" } split /:/, $ENV{PATH};

	skip 'script(1) is not installed', 8 unless $script;
	# In a terminal, where this line is typed; what is seen there.
	my $typed = sub {
		my ($line, $word) = @_;
		my $words = join ' ', map { "'" . s/'/'\\''/gr . "'" }
		    $exec, '-C', $site, @asks, $word;
		my $pid = open3(my $to, my $from, undef, $script, '-qec', $words,
			'/dev/null');

		print $to $line;
		$to->flush;
		local $/;
		my $seen = <$from> =~ s/\r//gr;
		close $to;
		waitpid $pid, 0;
		return ($? >> 8, $seen);
	};

	local $ENV{SHELL} = '/bin/sh';
	($status, my $seen) = $typed->("y\n", 'a b');
	is $status, 0, 'on a terminal who answers y agrees';
	like $seen, qr/Run this command\?\n  printf %s\. "a b"\n.*a b\.$/s,
	    'to the command that is shown';
	($status, $seen) = $typed->("\n", 'a');
	is $status, 126, 'who answers nothing does not';
	unlike $seen, qr/^a\.$/m, 'and nothing runs';
	@asks = ('README', '--tool', 'drop');
	($status, $seen) = $typed->("y\n", "what=a\e[2K b");
	is $status, 0, "an author's question is asked";
	like $seen, qr/^Drop "a\\u001b\[2K b"\?\n  printf %s\. "a\\x1b\[2K b"\n/m,
	    'with the value, and the command below it';
	@asks = ('README', '--', 'printf', '%s.');
	($status, $seen) = $typed->("n\n", "a\e[2K\x{e2}\x80\xae");
	is $status, 126, 'nor does who answers n';
	like $seen, qr/"a\\x1b\[2K\\xe2\\x80\\xae"/,
	    'what moves the cursor or turns the writing is shown by its bytes';
}

# A grant that the level cannot keep is named, with who knows more.
open my $private, '>', "$site/private.md" or die $!;
print $private "---\nsandbox: {proc: true}\ntools: [[ls, ;]]\n---\n# A page\n";
close $private;
open my $conf, '>', "$site/.grant.toml" or die $!;
print $conf "[sandbox]\nmode = \"landlock\"\n[grant]\nproc = true\n";
close $conf;
SKIP: {
	($status, undef, $err) = run(undef, '-c', "$site/.grant.toml",
		'private', '--', 'ls');
	skip 'there is no level landlock here', 2
	    if $err =~ /could not be built/;
	is $status, 126, '/proc of its own, in landlock mode, is refused';
	like $err, qr/proc.* needs the level strict; .*doctor/,
	    'with the level that has it';
}

# ------------------------------------------------------- output in parts --

($status, $out, $err) = run(undef, 'README.md', '--', 'seq', '5');
is("$status $out", "0 1\n2\n", 'a part of a long output');
my ($next) = $err =~ /^statespace: lines 1 to 2 of 5
statespace: the same command with --next (\S+) shows what follows
\z/;
ok($next, '... which tells how the next one is had');
($status, $out, $err) = run(undef, '--next', $next, 'README.md', '--', 'seq',
	'5');
is("$status $out", "0 3\n4\n", 'another process has it');
($next) = $err =~ /--next (\S+)/;
($status, $out, $err) = run(undef, '--next', $next, 'README.md', '--', 'seq',
	'5');
is("$status $out|$err", "0 5\n|statespace: lines 5 to 5 of 5\n", 'the last one');
($status, $out, $err) = run(undef, '--next', $next, 'README.md', '--', 'seq',
	'6');
is("$status $out", '126 ', 'for another command it is refused');
like($err, qr/is of another request/, '... in words');
($status, $out, $err) = run(undef, '--next', $next, 'README.md', '--', 'wc',
	'-c');
like($err, qr/comes whole/, 'a tool without parts takes none');
($status, $out) = run(undef, '--json', 'README.md', '--', 'seq', '5');
my $json = decode_json($out);
is_deeply($json->{part}, { first_line => 1, last_line => 2, lines => 5,
	bytes => 10 }, '--json has it as a server does');
($status, $out) = run(encode_json({ command => ['seq', '5'],
	next => $json->{next} }), '--json', 'README.md', '-');
is(decode_json($out)->{stdout}, "3\n4\n", 'and takes it');
my @NOW = ('tail', '-n', '+1', 'now');

sub now
{
	open my $file, '>', "$site/now" or die $!;
	print $file @_;
	close $file;
	return;
}
now("a\nb\nc\n");
($status, $out, $err) = run(undef, 'README.md', '--', @NOW);
($next) = $err =~ /--next (\S+)/;
now("a\nb\nc\nd\n");
($status, $out, $err) = run(undef, '--next', $next, 'README.md', '--', @NOW);
is($out, "b\n", 'a file that has grown goes on');
now("x\nb\nc\n");
($status, $out, $err) = run(undef, '--next', $next, 'README.md', '--', @NOW);
is("$status $out", '126 ', 'one that is another does not');
like($err, qr/ran again and wrote something else/, '... in words');

# ------------------------------------------------------------ progress --

($status, $out, $err) = run(undef, 'README.md', '--', 'sh', '-c',
	'echo 1/2 >&$STATESPACE_PROGRESS_FD; echo $STATESPACE_PROGRESS_FD');
is("$status $out|$err", "0 3\n|", 'progress can be written, and nobody reads it');

done_testing;
