#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The shipped configurations with the real front servers: the same cases
# behind each, only addresses and paths replaced.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use FindBin;
use IO::Socket::INET;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json encode_json);
use POSIX ();
use Statespace::Pool;
use Statespace::Server qw(await_port free_port);
use Statespace::TestSite qw(slurp);
use Test::More;
use Time::HiRes qw(sleep time);

my $top = abs_path(dirname(__FILE__) . '/../..');
-x Statespace::Server::binary() or plan skip_all => 'the program is not built';
$ENV{PATH} .= ':/usr/sbin:/usr/local/sbin';

# How long the tool sleeps whose worker is killed: found by its command line.
my $nap = "47$$";
my $pool = Statespace::Pool->start(
	files => { 'README.md' => "---\ntools:\n  - [echo, {}]\n"
		    . "  - [sleep, {}]\n---\n# Hello\n",
		'a/page.md' => "# A page\n", 'big.txt' => 'x' x 2_000_000,
		'runs.md' => "---\ntools:\n  - command: [sh, -c, { regex: '(?s)^.*\$' }, ;]\n"
		    . "    write: [count]\n---\n# Counts\n", 'count/log' => '',
		'slow.md' => "# Slow\n\n```component\n"
		    . "test -e go || sleep $nap; echo done\n```\n",
		'wait.md' => "---\ntools:\n  - { name: echo-wait, script: wait.sh }\n"
		    . "---\n# Waits\n",
		'wait.sh' => "#!/bin/sh\necho one\n"
		    . "until test -e go-events; do sleep 0.05; done\necho two\n",
		'healthzero.md' => "# No health\n", 'b%41.md' => "# Percent\n" },
	# Apache does not run as root: its account must reach the socket.
	config => "[pool]\nmode = \"static\"\nworkers = 4\n"
	    . "socket_mode = \"0666\"\n"
	    . "[grant]\nwrite = [\"count\"]\n[limits]\ntimeout = 60.0\n"
	    . "[components]\ntimeout = 60.0\ntotal = 60.0\n"
	    . "[http]\nhosts = [\"tools.example.org\"]\n[mcp]\nenabled = true\n");
chmod 0777, $pool->site->dir . '/count';
my $dir = $pool->site->scratch . '/front';
mkdir $dir or die "mkdir: $!";
my $socket = $pool->socket;

# However this test ends, its front servers do.
my @fronts;
$SIG{$_} = sub { exit 1 } for qw(HUP INT TERM);
END {
	local $?;
	for (@fronts) { kill 'TERM', $_ if waitpid($_, 1) == 0 }
}

# A front server in the foreground; a Statespace::Server for its requests.
sub start_front
{
	my ($port, @words) = @_;
	my $pid = fork() // die "fork: $!";

	if ($pid == 0) {
		POSIX::setsid();	# Apache ends its whole process group
		open STDIN, '<', '/dev/null';
		open STDOUT, '>>', "$dir/log";
		open STDERR, '>&', \*STDOUT;
		exec { $words[0] } @words or POSIX::_exit(127);
	}
	push @fronts, $pid;
	await_port($port) or die 'no front: ' . slurp("$dir/log");
	return ($pid, bless { port => $port, owner => 0 }, 'Asks');
}

{
	package Asks;
	our @ISA = ('Statespace::Server');
	sub DESTROY { }
}

my %host = (headers => { Host => 'tools.example.org' });

# chunked: the status where the server passes no length on.
sub same_cases
{
	my ($front, $name, %but) = @_;
	my $get = $front->request('GET', '/', %host);

	is($get->{status}, 200, "$name: a page");
	like($get->{body}, qr/# Hello/, "$name: with its text");
	is($front->request('GET', '/a/page', %host)->{body}, "# A page\n",
		"$name: a page below");
	is($front->request('GET', '/b%2541', %host)->{body}, "# Percent\n",
		"$name: escapes are decoded once");
	my $head = $front->request('HEAD', '/a/page', %host);
	# Apache takes the length of HEAD away.
	is($head->{headers}{'content-length'} // 9, 9, "$name: HEAD");
	is($head->{body}, '', "$name: HEAD has no body");
	is(length $front->request('GET', '/big.txt', %host)->{body}, 2_000_000,
		"$name: a large file");
	is($front->request('GET', '/none', %host)->{status}, 404,
		"$name: what is not there");
	like($front->request('GET', '/%2e%2e/%2e%2e/etc/passwd', %host)
		->{status}, qr/^(?:400|403|404)$/, "$name: a dot-dot");
	is($front->request('GET', '/', headers => { Host => 'evil.example' })
		->{status}, 421, "$name: a foreign Host");
	my $run = $front->run('/', ['echo', 'hi'], %host);
	SKIP: {
		skip 'tools cannot be confined here', 1
		    if $run->{body} =~ /sandbox_unavailable/;
		is(eval { decode_json($run->{body})->{stdout} }, "hi\n",
			"$name: a tool");
	}
	my $no = $front->run('/', ['rm', 'x'], %host);
	is($no->{status}, 403, "$name: what is not allowed");
	is(eval { decode_json($no->{body})->{error}{code} }, 'not_allowed',
		"$name: our errors pass as they are");
	my $chunked = $front->request('POST', '/', chunks =>
		['{"command": [', '"rm"]}'], headers => { %{ $host{headers} },
		'Content-Type' => 'application/json' });
	is($chunked->{status}, $but{chunked} || 403,
		"$name: a chunked body arrives whole, or is refused");
	is($front->run('/', ['rm'], headers => { %{ $host{headers} },
		Origin => 'http://evil.example' })->{status}, 403,
		"$name: a foreign Origin");
	mcp_cases($front, $name);
	events_case($front, $name);
	death_case($front, $name);
	return;
}

# The first line comes while the tool waits for a file, which is made then.
sub events_case
{
	my ($front, $name) = @_;
	my $go = $pool->site->dir . '/go-events';
	my $body = '{"command": ["echo-wait"]}';
	my $client = $front->connect;
	my $seen = '';

	return unless tools_run($front);
	print $client "POST /wait HTTP/1.1\r\nHost: tools.example.org\r\n"
	    . "Content-Type: application/json\r\nConnection: close\r\n"
	    . "Accept: text/event-stream\r\nContent-Length: "
	    . length($body) . "\r\n\r\n$body";
	$client->flush;
	local $SIG{ALRM} = sub { shutdown $client, 2 };
	alarm 30;
	$seen .= $_ while $seen !~ /"one\\n"/ && defined($_ = <$client>);
	like($seen, qr/event: stdout\nid: 4\n/, "$name: output while it comes");
	Statespace::TestSite::write_file($go, '');
	$seen .= $_ while $seen !~ /"returncode"/ && defined($_ = <$client>);
	alarm 0;
	like($seen, qr/"two\\n".*event: end/s, "$name: and its end");
	unlink $go;
	return;
}

# What a process beside the workers answers.
sub health_cases
{
	my ($front, $name) = @_;

	is($front->request('GET', "/$_", %host)->{status}, 200, "$name: $_")
	    for qw(healthz readyz __meta/version);
	like($front->request('GET', '/__meta/status', %host)->{body},
		qr/"pool": \{/, "$name: figures");
	is($front->request('GET', '/healthzero', %host)->{body},
		"# No health\n", "$name: a longer name is a page");
	return;
}

# A worker that dies in its first second counts as one that could not start,
# which the pool's log calls a fault.
sub grow_up
{
	sleep 1.1;
	return;
}

# A worker that dies in the middle of a request: no front may call it a success.
sub death_case
{
	my ($front, $name) = @_;
	my $line = "sleep 49$$";
	return unless tools_run($front);
	grow_up();
	pipe my $read, my $write or die "pipe: $!";
	my $client = fork() // die "fork: $!";

	if ($client == 0) {
		my $answer = $front->run('/', [split / /, $line], %host);
		print $write $answer->{status};
		close $write;
		POSIX::_exit(0);
	}
	close $write;
	$pool->until_true(sub {
		my $all = Statespace::Server::processes();
		return kill 'KILL', map { $all->{$_}{ppid} }
		    grep { $all->{$_}{line} eq $line } keys %$all;
	});
	my $status = <$read> // '';
	waitpid $client, 0;
	like($status, qr/^50[0-4]$/, "$name: a worker that dies");
	return;
}

# A client that leaves while its tool runs, where the front tells.
sub leaving_case
{
	my ($front, $name) = @_;
	my $line = "sleep 48$$";
	return unless tools_run($front);
	my $body = encode_json({ command => [split / /, $line] });
	my $client = $front->connect;
	my $runs = sub {
		return Statespace::Server::process_lives($line);
	};

	print $client "POST / HTTP/1.1\r\nHost: tools.example.org\r\n"
	    . "Content-Type: application/json\r\nContent-Length: "
	    . length($body) . "\r\n\r\n$body";
	$client->flush;
	ok($pool->until_true($runs), "$name: a tool runs");
	close $client;
	ok($pool->until_true(sub { !$runs->() }),
		"$name: and is stopped when its client leaves");
	return;
}

sub tools_run
{
	my ($front) = @_;

	return $front->run('/', ['echo', 'x'], %host)->{body}
	    !~ /sandbox_unavailable/;
}

# A message of MCP's newest version: what its headers say must arrive, since it
# must agree with the body.
sub mcp
{
	my ($front, $method, $params, %headers) = @_;
	my $meta = 'io.modelcontextprotocol/';
	my $answer = $front->request('POST', '/mcp', headers => {
		%{ $host{headers} }, 'Content-Type' => 'application/json',
		Accept => 'application/json, text/event-stream',
		'MCP-Protocol-Version' => '2026-07-28', 'Mcp-Method' => $method,
		%headers }, body => encode_json({ jsonrpc => '2.0', id => 7,
		method => $method, params => { %$params, _meta => {
		"${meta}protocolVersion" => '2026-07-28',
		"${meta}clientCapabilities" => {} } } }));

	return eval { decode_json($answer->{body}) }
	    || { error => $answer->{raw} };
}

sub mcp_cases
{
	my ($front, $name) = @_;
	my $list = mcp($front, 'tools/list', {});
	my @tools = @{ $list->{result}{tools} || [] };

	like("@{[ map { $_->{name} } @tools ]}", qr{^echo sleep\b},
		"$name: MCP lists tools")
	    or diag explain $list;
	my %call = (name => 'echo', arguments => { arg1 => 'hi' });
	my $run = mcp($front, 'tools/call', \%call, 'Mcp-Name' => 'echo');
	SKIP: {
		skip 'tools cannot be confined here', 1
		    if ($run->{result}{content}[0]{text} // '') =~ /confine/;
		is($run->{result}{content}[0]{text}, "hi\n",
			"$name: and calls one") or diag explain $run;
	}
	ok(mcp($front, 'tools/call', \%call, 'Mcp-Name' => 'other')->{error},
		"$name: whose name must be in its header, too");
	ok(mcp($front, 'tools/list', {}, 'MCP-Protocol-Version' => '2025-06-18')
		->{error}, "$name: as the version does");
	return;
}

# -------------------------------------------------------------------- nginx --
SKIP: {
	skip 'nginx is not installed', 1 unless Statespace::Server::front('nginx');
	system('cp', '-r', "$top/nginx", "$dir/statespace") == 0 or die;
	my $port = free_port();
	my $site = slurp("$top/nginx/statespace.conf");
	$site =~ s{/run/statespace/pool\.sock}{$socket}g;
	$site =~ s{listen 80}{listen 127.0.0.1:$port}g;
	$site =~ s{^(\tinclude statespace/snippets/limits;)}{# $1}m;
	write_nginx($site);
	my ($pid, $front) = start_front($port, 'nginx', '-e', "$dir/log",
		'-p', $dir, '-c', "$dir/nginx.conf");
	same_cases($front, 'nginx');
	is($front->request('GET', '/healthz')->{status}, 200,
		'nginx: health answers to any Host');
	is($front->request('GET', '/readyz')->{status}, 421,
		'nginx: nothing else does');
	health_cases($front, 'nginx');
	leaving_case($front, 'nginx');
	my $large = $front->request('POST', '/', body => 'x' x 1_200_000,
		headers => { %{ $host{headers} },
		'Content-Type' => 'application/json' });
	is($large->{status}, 413, 'nginx: too large a body');
	is(eval { decode_json($large->{body})->{error}{code} },
		'body_too_large', 'nginx: in our shape');
	large_message_case($front, 'nginx');
	my $foreign = $front->request('POST', '/mcp/', body => '{}',
		headers => { 'Content-Type' => 'application/json' });
	is($foreign->{status}, 421, 'nginx: a foreign Host at /mcp/');
	is(eval { decode_json($foreign->{body})->{error}{code} }, -32600,
		'nginx: is an error of JSON-RPC');
	is($front->request('GET', '//x', %host)->{status}, 403,
		'nginx: two slashes');
	# Its root is not the pool's: it would send other files.
	like($front->request('GET', '/big.txt', %host)->{headers}{etag},
		qr/^"[0-9a-f]+(?:-[0-9a-f]+){3}"$/,
		'nginx: files of another root are not asked for');
	kill 'TERM', $pid;
	waitpid $pid, 0;

	# With passwords: the log has the user, and only then.
	my $name = crypt('secret', 'ab');
	Statespace::TestSite::write_file("$dir/users", "ada:$name\n");
	chmod 0644, "$dir/users";
	my $snippet = slurp("$top/nginx/snippets/auth_basic");
	$snippet =~ s{/etc/nginx/statespace\.users}{$dir/users};
	Statespace::TestSite::write_file(
		"$dir/statespace/snippets/auth_basic", $snippet);
	$site =~ s{^\t# (include statespace/snippets/auth_basic;)}{\t$1}m;
	write_nginx($site);
	($pid, $front) = start_front($port, 'nginx', '-e', "$dir/log",
		'-p', $dir, '-c', "$dir/nginx.conf");
	is($front->request('GET', '/', %host)->{status}, 401,
		'nginx with passwords: none');
	my %ada = (headers => { %{ $host{headers} },
		Authorization => 'Basic YWRhOnNlY3JldA==' });
	is($front->request('GET', '/a/page', %ada)->{status}, 200,
		'nginx with passwords: the right one');
	ok($pool->log_says(qr/user=ada/), 'and the log says who it was');
	is($front->request('GET', '/healthz', %host)->{status}, 200,
		'nginx with passwords: health needs none');
	kill 'TERM', $pid;
	waitpid $pid, 0;
}

sub write_nginx
{
	my ($site) = @_;
	my $user = $> == 0 ? 'user root;' : '';

	Statespace::TestSite::write_file("$dir/site.conf", $site);
	Statespace::TestSite::write_file("$dir/nginx.conf", <<"END");
daemon off;
$user
pid $dir/nginx.pid;
error_log $dir/log error;
events { worker_connections 64; }
http {
	access_log off;
	client_body_temp_path $dir/t1; fastcgi_temp_path $dir/t2;
	proxy_temp_path $dir/t3; scgi_temp_path $dir/t4; uwsgi_temp_path $dir/t5;
	include $dir/site.conf;
}
END
	return;
}

# ----------------------------------------------------------------- lighttpd --
# Its own account needs a directory for its logs.
my $logs = "$dir/lighttpd";
mkdir $logs;
chmod 0777, $logs;

# The shipped lighttpd.conf on this port, with logs of its own.
sub lighttpd_text
{
	my ($port) = @_;
	my $text = slurp("$top/nginx/lighttpd.conf");

	$text =~ s{^server\.port = 80}{server.port = $port}m;
	$text =~ s{/var/log/lighttpd}{$logs}g;
	$text =~ s{/usr/local/share/statespace/nginx}{$top/nginx}g;
	if ($> == 0 && !defined getpwnam 'www-data') {
		$text =~ s{^(server\.username = )"www-data"}{$1"nobody"}m;
		my $group = getgrgid((getpwnam 'nobody')[3]);
		$text =~ s{^(server\.groupname = )"www-data"}{$1"$group"}m;
	}
	return $text;
}

# Started as root it goes on as another account, and what it does is logged.
sub lighttpd_account
{
	my ($pid) = @_;
	my ($ids) = slurp("/proc/$pid/status") =~ /^Uid:\s+(.*)$/m;

	SKIP: {
		skip 'started by an ordinary user', 1 if $> != 0;
		unlike($ids, qr/\b0\b/, 'lighttpd does not run as root');
	}
	like(slurp("$logs/error.log"), qr/server started/,
		'lighttpd has a log of errors');
	return;
}

SKIP: {
	skip 'lighttpd is not installed', 1
	    unless Statespace::Server::front('lighttpd');
	my $port = free_port();
	my $conf = lighttpd_text($port);
	$conf =~ s{/run/statespace/pool\.sock}{$socket}g;
	Statespace::TestSite::write_file("$dir/lighttpd.conf", $conf);
	my ($pid, $front) = start_front($port, 'lighttpd', '-D', '-f',
		"$dir/lighttpd.conf");
	same_cases($front, 'lighttpd');
	health_cases($front, 'lighttpd');
	my $large = $front->request('POST', '/', body => 'x' x 1_200_000,
		headers => { %{ $host{headers} },
		'Content-Type' => 'application/json' });
	is($large->{status}, 413, 'lighttpd: too large a body');
	is(eval { decode_json($large->{body})->{error}{code} },
		'body_too_large', 'lighttpd: in our shape');
	lighttpd_account($pid);
	kill 'TERM', $pid;
	waitpid $pid, 0;
	($pid, $front) = start_front($port, 'lighttpd', '-D', '-f',
		unreachable_copy("$dir/lighttpd.conf"));
	unreachable_cases($front, 'lighttpd');
	kill 'TERM', $pid;
	waitpid $pid, 0;
	like(slurp("$logs/access.log"), qr{"GET /a/page HTTP/1\.1" 200 },
		'lighttpd has a log of requests');

	# It starts and keeps the pool itself: a socket on descriptor 0.
	$port = free_port();
	my $program = Statespace::Server::binary();
	my $file = $pool->config_file;
	my $root = $pool->site->dir;
	$conf = lighttpd_text($port);
	$conf =~ s{/run/statespace/pool\.sock}{$logs/own.sock};
	$conf =~ s{^#\t"bin-path".*$}{}m;
	$conf =~ s{("check-local" => "disable",)}{"bin-path" =>
		"$program fcgi -c $file $root", "max-procs" => 1,
		"kill-signal" => 15, $1};
	Statespace::TestSite::write_file("$dir/own.conf", $conf);
	local %ENV = map { /^STATESPACE_/ ? () : ($_ => $ENV{$_}) } keys %ENV;
	($pid, $front) = start_front($port, 'lighttpd', '-D', '-f',
		"$dir/own.conf");
	same_cases($front, 'lighttpd with its own pool');
	kill 'TERM', $pid;
	waitpid $pid, 0;
	ok($pool->until_true(sub {
		# The other pool's supervisor is the only one left.
		return 1 == grep { $_->{line} =~ m{fcgi -c \Q$file\E}
			&& $_->{ppid} != $pool->pid }
		    values %{ Statespace::Server::processes() };
	}, 10), 'lighttpd takes its pool along');
}

# -------------------------------------------------------- Caddy and HAProxy --
my %start = (
	caddy => ['Caddyfile', sub { ('caddy', 'run', '--adapter', 'caddyfile',
		'--config', $_[0]) }],
	haproxy => ['haproxy.cfg', sub { ('haproxy', '-db', '-f', $_[0]) }]);

# The shipped file with this pool's socket; change: what else to replace.
sub start_shipped
{
	my ($name, $to, $change) = @_;
	my ($file, $command) = @{ $start{$name} };
	my $port = free_port();
	my $text = slurp("$top/nginx/$file");

	$text =~ s{/run/statespace/pool\.sock}{$to}g;
	$text =~ s{^:80 }{http://:$port }m;
	$text =~ s{bind :80 }{bind 127.0.0.1:$port };
	$text =~ s{^\t(?:user|group) haproxy.*\n}{}mg if $> != 0;
	$text = $change->($text) if $change;
	Statespace::TestSite::write_file("$dir/$file", $text);
	local $ENV{HOME} = $dir;
	my ($pid, $front) = start_front($port, $command->("$dir/$file"));
	return ($front, sub { kill 'TERM', $pid; waitpid $pid, 0 });
}

# The figures are for the addresses of this machine that the file names.
sub figures_case
{
	my ($front, $name) = @_;
	my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.2',
		PeerAddr => '127.0.0.1', PeerPort => $front->{port}) or die $@;

	print $socket "GET /__meta/status HTTP/1.1\r\nHost: tools.example.org\r\n"
	    . "Connection: close\r\n\r\n";
	$socket->flush;
	like(join('', <$socket>), qr{^HTTP/1\.1 404 },
		"$name: figures are not for another address");
	return;
}

# At /mcp, too large a body is an error of JSON-RPC.
sub large_message_case
{
	my ($front, $name) = @_;
	my $large = $front->request('POST', '/mcp', body => 'x' x 1_200_000,
		headers => { %{ $host{headers} },
		'Content-Type' => 'application/json' });

	is($large->{status}, 413, "$name: too large a message");
	is(eval { decode_json($large->{body})->{error}{code} }, -32600,
		"$name: is an error of JSON-RPC");
	return;
}

# A worker killed during a GET: the front asks another worker.
sub second_try_case
{
	my ($front, $name) = @_;
	return unless tools_run($front);
	unlink $pool->site->dir . '/go';
	my $answer = killed_while($nap, sub {
		return $front->request('GET', '/slow', %host);
	}, sub { Statespace::TestSite::write_file($pool->site->dir . '/go', '') });

	is($answer->{status}, 200, "$name: a GET whose worker died is answered");
	like($answer->{body}, qr/done/, "$name: by another worker");
	return;
}

# A worker killed during a POST: the command is not run again.
sub no_second_run_case
{
	my ($front, $name, $status) = (@_, 502);
	return unless tools_run($front);
	my $log = $pool->site->dir . '/count/log';
	Statespace::TestSite::write_file($log, '');
	chmod 0666, $log;
	my $answer = killed_while($nap, sub {
		return $front->run('/runs', ['sh', '-c',
			"echo run >>count/log; sleep $nap; exit"], %host);
	});

	is($answer->{status}, $status,
		"$name: a POST whose worker died is a $status");
	is(slurp($log), "run\n", "$name: its command ran once");
	my $error = eval { decode_json($answer->{body})->{error} } || {};
	like($error->{message}, qr/the tool may have run/,
		"$name: the answer says that it may have");
	is($error->{retryable}, JSON::PP::false,
		"$name: ... and is not to be asked for again");
	return;
}

# What ask answers when the worker above this sleep is killed meanwhile.
sub killed_while
{
	my ($seconds, $ask, $then) = @_;
	grow_up();
	pipe my $read, my $write or die "pipe: $!";
	my $client = fork() // die "fork: $!";

	if ($client == 0) {
		print $write encode_json({ %{ $ask->() }, raw => '' });
		close $write;
		POSIX::_exit(0);
	}
	close $write;
	$pool->until_true(sub {
		my $all = Statespace::Server::processes();
		my @tools = grep { $all->{$_}{line} eq "sleep $seconds" }
		    keys %$all;
		return 0 unless @tools;
		$then->() if $then;
		return kill 'KILL', map { worker_above($all, $_) } @tools;
	}) or diag "no sleep $seconds";
	local $/;
	my $answer = eval { decode_json(<$read>) } || {};
	waitpid $client, 0;
	return $answer;
}

# The pool's child that is an ancestor of pid.
sub worker_above
{
	my ($all, $pid) = @_;

	$pid = $all->{$pid}{ppid}
	    while $all->{$pid} && $all->{$pid}{ppid} != $pool->pid;
	return $all->{$pid} ? $pid : ();
}

# A copy of a configuration, its pool's socket one that nobody listens at.
sub unreachable_copy
{
	my ($file) = @_;

	Statespace::TestSite::write_file("$file.none",
		slurp($file) =~ s{\Q$socket\E}{$socket.none}gr);
	return "$file.none";
}

# Nobody listens at the socket: the front's own answers.
sub unreachable_cases
{
	my ($front, $name) = @_;
	my $run = $front->run('/', ['echo', 'hi'], %host);
	my $rpc = $front->run('/mcp', ['echo', 'hi'], %host);
	my $get = $front->request('GET', '/', %host);

	like($_->{status}, qr/^50[23]$/, "$name: no pool") for $run, $rpc, $get;
	like($run->{headers}{'content-type'}, qr{^application/json},
		"$name: JSON for a POST");
	my $error = eval { decode_json($run->{body}) };
	is($error->{returncode}, 1, "$name: in our shape");
	like($error->{error}{message}, qr/the tool did not run/,
		"$name: that says that nothing ran") or diag $run->{raw};
	is($error->{error}{next}{do}, 'wait', "$name: ... and to wait");
	my $told = eval { decode_json($rpc->{body})->{error} } || {};
	like($told->{message}, qr/the tool did not run/,
		"$name: JSON-RPC at /mcp");
	is($told->{data}{retry_after}, 1, "$name: ... with the same step");
	like($get->{headers}{'content-type'}, qr{^text/plain},
		"$name: text for a GET");
	return if $name eq 'lighttpd';	# it sets no headers on its errors
	is($_->{headers}{'x-content-type-options'}, 'nosniff',
		"$name: with the header that forbids guessing a type")
	    for $run, $rpc, $get;
	return;
}

for my $name (sort keys %start) {
	SKIP: {
		skip "$name is not installed", 1
		    unless Statespace::Server::front($name);
		my ($front, $stop) = start_shipped($name, $socket);
		same_cases($front, $name, chunked =>
			$name eq 'caddy' ? 411 : 403);
		health_cases($front, $name);
		figures_case($front, $name);
		is($front->request('GET', '//x', %host)->{status}, 403,
			"$name: two slashes");
		my $large = $front->request('POST', '/',
			body => 'x' x 1_200_000, headers => { %{ $host{headers} },
			'Content-Type' => 'application/json' });
		is($large->{status}, 413, "$name: too large a body");
		is(eval { decode_json($large->{body})->{error}{code} },
			'body_too_large', "$name: in our shape");
		large_message_case($front, $name);
		second_try_case($front, $name);
		no_second_run_case($front, $name);
		$stop->();
		($front, $stop) = start_shipped($name, "$socket.none");
		unreachable_cases($front, $name);
		$stop->();
	}
}

# HAProxy counts connections of an address other than this machine's.
SKIP: {
	skip 'haproxy is not installed', 2
	    unless Statespace::Server::front('haproxy');
	my ($front, $stop) = start_shipped('haproxy', $socket, sub {
		$_[0] =~ s{gt 32 }{gt 3 }r });
	my @held = map { IO::Socket::INET->new(LocalAddr => '127.0.0.3',
		PeerAddr => '127.0.0.1', PeerPort => $front->{port}) } 1 .. 4;
	my @heads = map { my $socket = $_;
		print $socket "GET / HTTP/1.1\r\nHost: tools.example.org\r\n\r\n";
		$socket->flush; scalar <$socket> } @held[0, 3];
	like($heads[1] // '', qr{^HTTP/1\.1 429 },
		'haproxy: connections of one address are counted');
	is($front->request('GET', '/', %host)->{status}, 200,
		'haproxy: another address is served');
	$stop->();
}

# ------------------------------------------------------------ plain CGI's home --
my $bin = "$dir/cgi-bin";
mkdir $bin;
for my $name (qw(statespace.cgi statespace.fcgi)) {
	system('cp', Statespace::Server::binary(), "$bin/$name") == 0 or die;
}
my $root = $pool->site->dir;
Statespace::TestSite::write_file("$bin/statespace.toml",
	"root = \"$root\"\n[http]\nhosts = [\"tools.example.org\"]\n[mcp]\nenabled = true\n");

SKIP: {
	skip 'lighttpd is not installed', 1
	    unless Statespace::Server::front('lighttpd');
	my $port = free_port();
	my ($lines) = slurp("$top/nginx/lighttpd.conf")
	    =~ /^# As plain CGI.*?\n(#\t.*?)^#\n/ms;
	$lines =~ s/^#\t//mg;
	$lines =~ s{/srv/cgi-bin}{$bin};
	my ($events) = slurp("$top/nginx/lighttpd.conf")
	    =~ /^(\$REQUEST_HEADER\["Accept"\].*?^\}\n)/ms;
	Statespace::TestSite::write_file("$dir/cgi.conf",
		"server.modules = ()\nserver.bind = \"127.0.0.1\"\n"
		. "server.port = $port\n$lines$events");
	my ($pid, $front) = start_front($port, 'lighttpd', '-D', '-f',
		"$dir/cgi.conf");
	same_cases($front, 'lighttpd mod_cgi');
	kill 'TERM', $pid;
	waitpid $pid, 0;
}

# ------------------------------------------------------------------- Apache --
my $modules = '/usr/lib/apache2/modules';

# The modules that a configuration needs, and an account that is not root.
sub apache_head
{
	my ($port, @names) = @_;
	my $account = $> == 0 ? "User nobody\nGroup nogroup\n" : '';

	return join '', "ServerRoot $dir\nPidFile $dir/apache.pid\n",
	    "Listen 127.0.0.1:$port\nErrorLog $dir/log\nLogLevel error\n",
	    "ServerName localhost\nDefaultRuntimeDir $dir\n$account",
	    map { "LoadModule ${_}_module $modules/mod_$_.so\n" } @names;
}

sub start_apache
{
	my ($port, $text) = @_;

	Statespace::TestSite::write_file("$dir/apache.conf", $text);
	return start_front($port, 'apache2', '-f', "$dir/apache.conf",
		'-DFOREGROUND');
}

# The commented lines of the shipped file that stand for mod_fcgid.
sub fcgid_lines
{
	my ($text) = slurp("$top/nginx/apache.conf")
	    =~ /instead of ProxyPass.*?\n(#\t.*?)^# \(/ms;

	return $text =~ s/^#\t?//mgr;
}

SKIP: {
	skip 'Apache is not installed', 1
	    unless Statespace::Server::front('apache2');
	my @common = qw(mpm_event authz_core alias);
	my $port = free_port();
	my $site = slurp("$top/nginx/apache.conf");
	$site =~ s{/run/statespace/pool\.sock}{$socket}g;
	$site =~ s{VirtualHost \*:80}{VirtualHost *:$port};
	$site =~ s{/usr/local/share/statespace/nginx/errors}{$top/nginx/errors}g;
	my ($pid, $front) = start_apache($port, apache_head($port, @common,
		qw(proxy proxy_fcgi env setenvif)) . $site);
	same_cases($front, 'Apache mod_proxy_fcgi');
	health_cases($front, 'Apache mod_proxy_fcgi');
	no_second_run_case($front, 'Apache mod_proxy_fcgi', 503);
	large_message_case($front, 'Apache mod_proxy_fcgi');
	is($front->request('POST', '/', body => 'x' x 17_000_000, headers => {
		%{ $host{headers} }, 'Content-Type' => 'application/json' })
	    ->{status}, 413, 'Apache mod_proxy_fcgi: a body of 17 MB');
	is($front->request('GET', '/__front/json-500.html', %host)->{status},
		403, 'Apache mod_proxy_fcgi: its texts are no pages');
	is($front->request($_, '/a/page', %host)->{headers}{'content-length'}, 9,
		"Apache mod_proxy_fcgi: the length of $_") for qw(GET HEAD);
	kill 'TERM', $pid;
	waitpid $pid, 0;

	# mod_deflate gives the tag a suffix, and the client returns it.
	$port = free_port();
	my $packed = $site =~ s{VirtualHost \*:\d+}{VirtualHost *:$port}r;
	$packed =~ s{^(\tServerName )}{\tSetOutputFilter DEFLATE\n$1}m;
	($pid, $front) = start_apache($port, apache_head($port, @common,
		qw(proxy proxy_fcgi env setenvif filter deflate)) . $packed);
	my %zip = (%{ $host{headers} }, 'Accept-Encoding' => 'gzip');
	my $tag = $front->request('GET', '/a/page', headers => \%zip)
	    ->{headers}{etag};
	like($tag, qr/-gzip"$/, 'Apache mod_deflate: the tag has a suffix');
	is($front->request('GET', '/a/page', headers => { %zip,
		'If-None-Match' => $tag })->{status}, 304,
		'Apache mod_deflate: and is known again');
	kill 'TERM', $pid;
	waitpid $pid, 0;

	$port = free_port();
	($pid, $front) = start_apache($port, apache_head($port,
		qw(mpm_prefork authz_core alias cgi)) . <<"END");
ScriptAlias "/" "$bin/statespace.cgi/"
<Directory "$bin">
	Require all granted
</Directory>
END
	same_cases($front, 'Apache mod_cgi', chunked => 411);
	is($front->request('GET', '/?--version', %host)->{status}, 200,
		'Apache mod_cgi: arguments from the query are ignored');
	kill 'TERM', $pid;
	waitpid $pid, 0;

	htaccess_cases();

	skip 'mod_fcgid is not installed', 1
	    unless -e "$modules/mod_fcgid.so";
	$port = free_port();
	my $lines = fcgid_lines();
	$lines =~ s{/srv/cgi-bin}{$bin}g;
	$lines =~ s{/etc/statespace/statespace\.toml}{$bin/statespace.toml};
	($pid, $front) = start_apache($port, apache_head($port, @common,
		'fcgid') . "FcgidIPCDir $dir/fcgid\n"
	    . "FcgidProcessTableFile $dir/fcgid_shm\n$lines");
	same_cases($front, 'Apache mod_fcgid');
	kill 'TERM', $pid;
	waitpid $pid, 0;
	ok($pool->until_true(sub {
		return !grep { $_->{line} =~ m{statespace\.fcgi} }
		    values %{ Statespace::Server::processes() };
	}, 10), 'Apache mod_fcgid: its processes go with it');
}

# The shipped .htaccess as it is, in a folder as shared hosting has it.
sub htaccess_cases
{
	my $port = free_port();
	my $www = "$dir/www";
	my $name = 'Apache .htaccess';
	my $conf = apache_head($port, qw(mpm_prefork authz_core alias cgi mime
		rewrite authn_core authn_file auth_basic authz_user)) . <<"END";
TypesConfig /dev/null
DocumentRoot "$www"
<Directory "$www">
	AllowOverride All
	Require all granted
</Directory>
END

	mkdir $www;
	system('cp', "$bin/statespace.cgi", "$bin/statespace.toml", $www) == 0
	    or die 'cp';
	system('cp', "$top/nginx/htaccess", "$www/.htaccess") == 0 or die 'cp';
	Statespace::TestSite::write_file("$www/shown.cgi",
		"#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\n"
		. "printf '%s\\n' \"\$\@\" \"\$HTTP_AUTHORIZATION\"\n");
	chmod 0755, "$www/shown.cgi";
	my ($pid, $front) = start_apache($port, $conf);
	same_cases($front, $name, chunked => 411);
	is($front->request('GET', "/$_", %host)->{status}, 403, "$name: no /$_")
	    for 'statespace.toml';
	is($front->request('GET', '/statespace.cgi/a/page', %host)->{body},
		"# A page\n", "$name: the program's own address");
	my $argued = $front->request('GET', '/?exec+--get+/etc/passwd', %host);
	like($argued->{body}, qr/# Hello/, "$name: words in the query are none");
	my $large = $front->request('POST', '/', body => 'x' x 4_000_000,
		headers => { %{ $host{headers} },
		'Content-Type' => 'application/json' });
	is($large->{status}, 413, "$name: too large a body");
	is(eval { decode_json($large->{body})->{error}{code} },
		'body_too_large', "$name: says so in our shape");
	is($front->request('POST', '/', body => 'x' x 17_000_000,
		headers => { %{ $host{headers} },
		'Content-Type' => 'application/json' })->{status}, 413,
		"$name: a body of 17 MB");
	is($front->request('POST', '/', %host, chunks => [('x' x 50_000) x 8])
		->{status}, 411, "$name: a large chunked body");
	kill 'TERM', $pid;
	waitpid $pid, 0;

	# What Apache does with the same lines for a program of its own.
	Statespace::TestSite::write_file("$www/.htaccess",
		slurp("$www/.htaccess") =~ s/\^statespace/^(?:statespace|shown)/r
		. "AuthType Basic\nAuthName x\nAuthUserFile $dir/users\n"
		. "Require valid-user\n");
	($pid, $front) = start_apache($port, $conf);
	my $word = 'Basic YWRhOnNlY3JldA==';
	my %ada = (headers => { %{ $host{headers} }, Authorization => $word });
	is($front->request('GET', '/shown.cgi?--one+two', %ada)->{body},
		"--one\ntwo\n$word\n",
		"$name: a query becomes words, Authorization is passed on");
	is($front->request('GET', '/?--one+two', %host)->{status}, 401,
		"$name: behind a password, none");
	is($front->request('GET', '/a/page', %ada)->{body}, "# A page\n",
		"$name: behind a password, the right one");
	like(slurp("$dir/log"), qr/user=ada .*path=\/a\/page/,
		"$name: and the log has the verified user");
	kill 'TERM', $pid;
	waitpid $pid, 0;
	return;
}

$pool->stop_ok(allow => qr/ended by signal/);
done_testing;
