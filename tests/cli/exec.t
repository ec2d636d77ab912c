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
is_deeply [$status, $out], [0, "echo \$SECRET x\n"],
    '--dry-run says what would run, secrets as their names';
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

# ------------------------------------------------------- confirm: true --

my @asks = ('README', '--', 'printf', '%s.');

($status, $out, $err) = run(undef, @asks, 'x');
is_deeply [$status, $out], [126, ''],
    'a tool that asks a person is refused where no terminal is';
like $err, qr/it did not run\b.*--yes/s, 'and --yes is named';
is_deeply [(run(undef, '--yes', @asks, 'x'))[0, 1]], [0, 'x.'],
    '--yes agrees to it';
is_deeply [(run(undef, '--dry-run', @asks, 'x'))[0, 1]], [0, "printf %s. x\n"],
    'without running it nobody is asked';
($status, $out) = run(undef, '--json', @asks, 'x');
is object($out)->{error}{code}, 'confirm_required', '--json says so by its code';

SKIP: {
	my ($script) = grep { -x } map { "$_/script" } split /:/, $ENV{PATH};

	skip 'script(1) is not installed', 6 unless $script;
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

done_testing;
