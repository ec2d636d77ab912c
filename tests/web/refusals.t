#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Refusals of each code, and the step that each names in error.next, carried out
# as it is written: a request is sent, a path is read, a key of the configuration
# or a line of a page is changed, a command is run.  What it names works.
use strict;
use warnings;
use Cwd qw(abs_path);
use POSIX ();
use File::Temp qw(tempdir);
use FindBin;
use IO::Socket::INET;
use JSON::PP;
use lib "$FindBin::Bin/../lib";
use Test::More;
use Statespace::Server qw(has);
use Statespace::TestSite qw(slurp write_file);

my $TOP = abs_path("$FindBin::Bin/../..");
my $BUILD = abs_path($ENV{BUILD} // "$TOP/build");
my $JSON = JSON::PP->new->utf8->canonical->allow_nonref;

plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');

my %FILES = ('README.md' => <<'END', 'a.txt' => "x\ny\n",
---
env: [MODE]
tools:
  - [grep, -c, {what}, a.txt, ;]
  - [seq, { name: count, type: integer, min: 1, max: 50 }, ;]
  - { name: show, command: [cat, { name: file, kind: path }, ;] }
  - { name: read, command: [cat, { name: file, kind: path, exists: true }, ;] }
  - { name: sort, command: [sort, { name: order, enum: [--reverse, --check] }, a.txt, ;] }
  - { name: stock, command: [echo, { text: 'stock/{id}', id: '^[0-9]+$' }, ;] }
  - { name: day, command: [echo, day, { name: day, type: date }, ;] }
  - { name: danger, command: [echo, boom, ;], confirm: true }
  - [ls]
  - { name: mode, command: [printenv, $MODE, ;] }
  - { name: count-in, command: [wc, -c, ;], stdin: true }
  - { name: both, pipe: [[cat, a.txt], [grep, { name: word }]] }
  - { name: lines, command: [seq, '1', '30', ;], lines: 10 }
---
# Test
END
	'none.md' => "# No tools\n",
	'bad.md' => "---\ntools:\n  - [ls\n---\n",
	'sub/deep.md' => "---\ntools: [[cat, {}, ;]]\n---\n",
	'sub/b.txt' => "b\n",
	'once.md' => "---\nonce: required\ntools: [[date, ;]]\n---\n",
	'slow.md' => "---\ntools: [[sleep, '1.2', ;]]\n---\n",
	'own.md' => "---\ntools:\n  - command: [sleep, '0.45', ;]\n"
	    . "    timeout: 0.3\n---\n",
	'one.md' => "---\ntools: [{ command: [sleep, '0.7', ;], max_running: 1 }]\n---\n",
	'fetch.md' => "---\nsandbox: { network: ['127.0.0.1:PORT'] }\n"
	    . "tools: [[curl, -s, {}]]\n---\n",
	'much.md' => "---\ntools: [[seq, '30000', ;]]\n---\n",
	'missing.md' => "---\ntools: [[./absent, ;]]\n---\n",
	'script.md' => "---\ntools: [{ name: s, script: ./lost.sh }]\n---\n",
	'write.md' => "---\nsandbox: { write: [out] }\ntools: [[ls, ;]]\n---\n",
	'out/keep' => '',
	'absent.md' => "---\nsandbox: { read: [later] }\ntools: [[ls, ;]]\n---\n",
	'read.md' => "---\nsandbox: { read: [/srv] }\ntools: [[ls, ;]]\n---\n",
	'unix.md' => "---\nsandbox: { unix: [/run/x.sock] }\ntools: [[ls, ;]]\n---\n",
	'net.md' => "---\nsandbox: { network: ['127.0.0.1:9'] }\ntools: [[ls, ;]]\n---\n",
	'all.md' => "---\nsandbox: { network: true }\ntools: [[ls, ;]]\n---\n",
	'proc.md' => "---\nsandbox: { proc: true }\ntools: [[ls, ;]]\n---\n",
	'exec.md' => "---\nsandbox: { exec: [ls] }\ntools: [[ls, ;]]\n---\n",
	'env.md' => "---\nenv: [KEY]\ntools: [[ls, ;]]\n---\n",
	'time.md' => "---\nsandbox: { timeout: 20 }\ntools: [[ls, ;]]\n---\n",
	'memory.md' => "---\nsandbox: { memory_bytes: 900000000 }\ntools: [[ls, ;]]\n---\n",
	'procs.md' => "---\nsandbox: { processes: 50 }\ntools: [[ls, ;]]\n---\n",
	'http.md' => "---\ntools: [[curl, -s, {}]]\n---\n",
);

# What the operator would change, one key each.
my %NOW;
my %CONFIG = ('limits.timeout' => 0.8, 'limits.max_output_bytes' => 65536,
	'limits.max_body_bytes' => 300_000);

sub config_text
{
	my (%keys) = (%CONFIG, %NOW, @_);
	my %tables;

	push @{$tables{(split /\./)[0]}}, (split /\./)[1] . " = $keys{$_}\n"
	    for sort keys %keys;
	return join '', map { "[$_]\n" . join '', @{$tables{$_}} } sort keys %tables;
}

my $server = Statespace::Server->start(files => \%FILES,
	config => config_text());
my $site = $server->site->dir;
my $scratch = tempdir('statespace-XXXXXXXX', TMPDIR => 1, CLEANUP => 1);
chmod 0755, $scratch;

sub http
{
	my ($method, $path, $body, %headers) = @_;
	my $answer = $server->request($method, $path,
		headers => { Accept => 'application/json',
			defined $body ? ('Content-Type' => 'application/json') : (),
			%headers },
		defined $body ? (body => $body) : ());

	return ($answer->{status}, $answer->{body},
		eval { $JSON->decode($answer->{body}) } // {});
}

# The same request of the same page with another configuration.
sub with_config
{
	my ($keys, $path, $body) = @_;

	write_file("$scratch/c.toml", config_text(%$keys));
	write_file("$scratch/body", $body);
	my $out = `cd / && '$BUILD/statespace-exec' -C '$site' -c '$scratch/c.toml' --json '$path' - <'$scratch/body'`;

	return (0, $out, eval { $JSON->decode($out) } // {});
}

sub ran
{
	my ($answer) = @_;

	return defined $answer->{returncode} && !$answer->{error};
}

my %seen;

# Carries out the step; returns whether what it names worked.
sub carry_out
{
	my ($case, $step, $error) = @_;
	my ($method, $path, $body, %headers) = @{$case->{ask}};
	my $do = $step->{do};

	$seen{"$do " . ($step->{who} // '')}++;
	if ($do eq 'call' || ($do eq 'ask' && $step->{request})) {
		my $request = $step->{request};
		$request->{$step->{keep}} = $JSON->decode($body)->{$step->{keep}}
		    if $step->{keep};
		my ($status, $text, $answer) = http('POST',
			$step->{path} // $path, $JSON->encode($request),
			%{$step->{headers} // {}});
		return $status == 200 && ran($answer) || diag $text;
	}
	if ($do eq 'get') {
		my ($status, $text) = http('GET', $step->{path}, undef,
			Accept => '*/*', %{$step->{headers} // {}});
		return $status == 200 || diag $text;
	}
	if ($do eq 'wait') {
		$case->{meanwhile}->() if $case->{meanwhile};
		sleep $step->{seconds};
		my ($status, $text) = http($method, $path, $body, %headers);
		return $status == 200 || diag $text;
	}
	if ($do eq 'ask' && $step->{page} && $step->{add}) {
		my $page = slurp("$site$step->{page}");
		write_file("$site$step->{page}", $page =~ s/^---\n/---\nsandbox: {
		    $step->{key}: ['$step->{add}'] }\n/r);
		my (undef, $text, $answer) = http($method, $path, $body, %headers);
		return $answer->{error}{code} eq 'capability_refused'
		    && carry_out($case, $answer->{error}{next}, $answer->{error})
		    || diag $text;
	}
	if ($do eq 'ask' && $step->{key} && $step->{page}) {
		my @lines = split /^/, slurp("$site$step->{page}");
		$lines[$step->{line} - 1] =~
		    s/\Q$step->{key}\E: \S+/$step->{key}: $step->{set}/;
		write_file("$site$step->{page}", join '', @lines);
		my ($status, $text) = http($method, $path, $body, %headers);
		return $status == 200 || diag $text;
	}
	if ($do eq 'ask' && $step->{key}) {
		my $value = $step->{add} ? $JSON->encode([$step->{add}])
		    : $step->{set};
		my ($status, $text, $answer);

		if ($case->{again}) {
			($status, $text, $answer) =
			    $case->{again}->($step->{key}, $value);
			return $status == 200 || diag $text;
		}
		($status, $text, $answer) = with_config({ $step->{key} => $value },
			$path, $body);
		# Another key may be next: the one that was named decided.
		return ran($answer) || ($answer->{error}{code} // '') ne $error->{code}
		    || ($answer->{error}{rule}{setting} // '') ne $step->{key}
		    || diag $text;
	}
	if ($do eq 'ask' && $case->{change}) {
		$case->{change}->($error);
		my ($status, $text) = http($method, $path, $body, %headers);
		return $status == 200 || diag $text;
	}
	if ($do eq 'ask' && $step->{command}) {
		my $out = `cd '$site' && '$BUILD'/$step->{command} . 2>&1`;
		return $out =~ /\Q$step->{page}\E|:$step->{line}:/
		    || $out =~ substr($step->{page}, 1) || diag $out;
	}
	diag $JSON->encode($step);
	return 0;
}

my %codes;

sub refused
{
	my ($code, $case) = @_;
	my ($method, $path, $body, %headers) = @{$case->{ask}};
	my ($status, $text, $answer) = $case->{answer}
	    ? @{$case->{answer}} : http(@{$case->{ask}});
	my $error = $answer->{error} // {};
	my $name = substr("$code: $method $path " . ($body // ''), 0, 100);

	$codes{$error->{code} // ''}++;
	is($error->{code}, $code, $name) || diag $text;
	return fail('has no step') unless ref $error->{next} eq 'HASH';
	ok($error->{class} && defined $error->{retryable}
		&& $error->{next}{text}, 'has a class, and a step in words')
	    || diag $text;
	ok(carry_out($case, $error->{next}, $error), 'which works')
	    || diag $text;
	return $error;
}

sub post { return { ask => ['POST', @_] } }

# ------------------------------------------------- what the page declares --

sub words { return $JSON->encode({ command => [@_] }) }
sub named { my ($n, %a) = @_;
	return $JSON->encode({ tool_call => { name => $n, arguments => \%a } }) }

refused('not_allowed', post('/', words(@$_))) for ['grep', '-n', 'x', 'a.txt'],
	['grep', 'x'], ['grep', '-c', 'x'], ['seq', '100'], ['seq', 'ten'],
	['seq'], ['seq', '1', '2'], ['sort', '-r', 'a.txt'], ['sort', '--revers', 'a.txt'],
	['echo', '17'], ['echo', 'stock/abc'], ['rm', '-rf', '/'], ['python3', '-c', '1'],
	['/usr/bin/seq', '5'], ['bash', '-c', 'seq 5'], ['seq 7'], ['show', 'a.txt'],
	['echo', 'day', '2026-02-30'], ['grep', '-c', '', 'a.txt', '/etc/passwd'];
refused('not_allowed', post('/', named(@$_))) for ['shows', file => 'a.txt'],
	['nothing'], ['Show', file => 'a.txt'];
refused('bad_request', post('/', named(@$_))) for ['show', path => 'a.txt'],
	['show'], ['stock', id => 'abc'], ['seq', count => 'many'], ['seq', count => 99],
	['sort', order => 'reverse'], ['day', day => 'tomorrow'], ['read', file => 'b.txt'],
	['seq', count => 3, more => 'x'],
	['both', words => 'x'];
refused('bad_request', post('/', $_)) for '{', '', 'seq 4', '[]', '["seq", "3"]',
	'{}', '{"command": "seq 3"}', '{"cmd": ["seq", "3"]}', '{"command": []}',
	'{"command": ["seq", 3]}', '{"name": "show", "arguments": {"file": "a.txt"}}',
	'{"tool": "show", "input": {"file": "a.txt"}}',
	'{"command": ["seq", "3"], "stdin": "x"}', '{"command": ["seq", "3"], "parse": 1}',
	'{"command": ["seq", "3"], "next": "abc"}', '{"command": ["seq", "3"], "command": []}';
refused('path_refused', post('/', words(@$_))) for ['cat', '../a.txt'],
	['cat', '/etc/passwd'], ['cat', "$site/a.txt"], ['ls', '..'], ['ls', '/'];
refused('path_refused', post('/', named('read', file => "$site/a.txt")));
refused('path_refused', post('/sub/deep', words('cat', '../a.txt')));
refused('bad_env', post('/', $_)) for
	'{"command": ["seq", "3"], "env": {"PATH": "/"}}',
	'{"command": ["seq", "3"], "env": {"NONE": "1", "MODE": "PATH"}}',
	'{"command": ["printenv", "$MODE"]}';
refused('command_too_large', post('/', words('grep', '-c', 'x' x 140_000, 'a.txt')));
refused('content_type', { ask => ['POST', '/', '{"command": ["seq", "3"]}',
	'Content-Type' => 'text/plain'] });
refused('content_type', { ask => ['POST', '/', 'command=seq+3',
	'Content-Type' => 'application/x-www-form-urlencoded'] });
refused('no_frontmatter', post('/none', words('ls')));
refused('bad_frontmatter', post('/bad', words('ls')));
refused('not_allowed', post('/a.txt', words('ls')));
refused('confirm_required', post('/', words('echo', 'boom')));
refused('next_gone', post('/', '{"command": ["seq", "1", "30"], "next": "abc"}'));

# ------------------------------------------------------------ other requests --

refused('not_found', { ask => ['GET', $_] }) for '/nothing', '/sub/dep', '/sub/b.tx';
refused('not_found', post('/readme2', words('ls')));
refused('method', { ask => ['DELETE', '/'] });
refused('method', { ask => ['PUT', '/sub/deep'] });
refused('method', post('/AGENTS.md', words('ls')));
refused('method', post('/healthz', words('ls')));
refused('host_refused', { ask => ['GET', '/', undef, Host => 'other.example'] });

# ------------------------------------------------------- what is granted ----

refused('capability_refused', post("/$_", words('ls'))) for
	qw(write read unix net all proc);
refused('body_too_large', post('/', words('grep', '-c', 'x' x 299_990, 'a.txt')));
refused('output_too_large', post('/much', words('seq', '30000')));
refused('timeout', post('/slow', words('sleep', '1.2')));
refused('timeout', post('/own', words('sleep', '0.45')));
refused('address_refused', post('/http', words('curl', '-s', 'http://127.0.0.1:9/')));
refused('capability_refused', { %{post('/absent', words('ls'))},
	change => sub { mkdir "$site/later" } });
# While another one runs: tried until the two overlap.
my $one = post('/one', words('sleep', '0.7'));
for (1 .. 40) {
	my $pid = fork // die "fork: $!";
	if ($pid == 0) {
		http(@{$one->{ask}});
		POSIX::_exit(0);
	}
	select undef, undef, undef, 0.2;
	$one->{answer} = [http(@{$one->{ask}})];
	waitpid $pid, 0;
	last if $one->{answer}[2]{error};
}
refused('overloaded', $one);
refused('exec_failed', { %{post('/missing', words('./absent'))}, change => sub {
	write_file("$site/absent", "#!/bin/sh\necho here\n");
	chmod 0755, "$site/absent" } });
refused('exec_failed', { %{post('/script', named('s'))}, change => sub {
	write_file("$site/lost.sh", "#!/bin/sh\necho here\n");
	chmod 0755, "$site/lost.sh" } });

$server->stop_ok;
%NOW = ('grant.exec' => '["sort"]', 'grant.env' => '[]',
	'grant.timeout' => 5, 'grant.memory_bytes' => 800_000_000,
	'grant.processes' => 10, 'grant.http' => 'false');
$server = Statespace::Server->start(files => \%FILES, config => config_text());
$site = $server->site->dir;
refused('capability_refused', post("/$_", words('ls'))) for
	qw(exec env time memory procs);
refused('capability_refused', post('/http', words('curl', '-s', 'http://x/')));
%NOW = ();
my $origin = sub {
	my ($key, $value) = @_;
	$server->stop_ok;
	$server = Statespace::Server->start(files => \%FILES,
		config => config_text($key => $value));
	$site = $server->site->dir;
	return http('POST', '/', words('seq', '3'), Origin => 'https://o.example');
};
refused('origin_refused', { ask => ['POST', '/', words('seq', '3'),
	Origin => 'https://o.example'], again => $origin });
refused('key_required', post('/once', words('date')));
my $key = 'a1b2c3d4e5f60718293a4b5c6d7e8f90';
http('POST', '/', words('seq', '2'), 'Idempotency-Key' => $key);
refused('key_reused', { ask => ['POST', '/', words('seq', '3'),
	'Idempotency-Key' => $key] });

# A peer that is there when the client comes again.
my $port = Statespace::Server::free_port();
my $peer;
write_file("$site/fetch.md", $FILES{'fetch.md'} =~ s/PORT/$port/r);
$server->stop_ok;
%NOW = ('grant.network' => "['127.0.0.1:$port']");
$FILES{'fetch.md'} =~ s/PORT/$port/;
$server = Statespace::Server->start(files => \%FILES, config => config_text());
$site = $server->site->dir;
refused('network', { %{post('/fetch', words('curl', '-s', "http://127.0.0.1:$port/"))},
	meanwhile => sub {
		my $listen = IO::Socket::INET->new(Listen => 5,
			LocalAddr => "127.0.0.1:$port", ReuseAddr => 1) or die $@;

		$peer = fork // die "fork: $!";
		return close $listen if $peer;
		my $client = $listen->accept;
		my $line = <$client>;
		print $client "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok";
		close $client;
		POSIX::_exit(0);
	} });
if ($peer) { kill 'KILL', $peer; waitpid $peer, 0 }

$server->stop_ok;
my $count = 0;
$count += $_ for values %codes;
cmp_ok($count, '>=', 60, "$count refusals of " . keys(%codes) . ' codes');
note join ', ', map { "$_ $seen{$_}" } sort keys %seen;
done_testing;
