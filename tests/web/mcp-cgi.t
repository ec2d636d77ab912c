#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Plain CGI, where each request is a process of its own: what its front's
# hang-up ends, by itself and behind lighttpd and Apache, and what an agreement
# is worth where no process remembers it.
use strict;
use warnings;
use File::Copy qw(copy);
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP ();
use POSIX ();
use Statespace::Server qw(await_port free_port has);
use Statespace::TestSite qw(slurp);
use Test::More;
use Time::HiRes qw(sleep time);

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';
$ENV{PATH} .= ':/usr/sbin:/usr/local/sbin';

my $JSON = JSON::PP->new->utf8->canonical;
my $META = 'io.modelcontextprotocol/';
my $site = Statespace::TestSite->new(files => { 'README.md' => <<'END' });
---
tools:
  - { name: slow, command: [sleep, '37', ;] }
  - { name: chatty, command: [sh, -c, 'while :; do echo x >&2; sleep 0.1; done', ;] }
  - { name: careful, command: [echo, done, ;], confirm: true }
---
# Site
END
my ($scratch, $root) = ($site->scratch, $site->dir);
my $bin = "$scratch/bin";
mkdir $bin;
copy(Statespace::Server::binary(), "$bin/s.cgi") or die "copy: $!";
chmod 0755, "$bin/s.cgi", $bin, $scratch;

sub configure
{
	Statespace::TestSite::write_file("$bin/statespace.toml",
		"root = \"$root\"\n[mcp]\nenabled = true\n"
		. "key_file = \"$bin/key\"\n$_[0]");
	return;
}

Statespace::TestSite::write_file("$bin/key", 'k' x 64);
configure('');

sub message
{
	my ($name, %more) = @_;

	return $JSON->encode({ jsonrpc => '2.0', id => 1,
		method => 'tools/call', params => { name => $name,
		arguments => {}, %more } });
}

# Starts it; its standard output and its number.
sub cgi
{
	my ($path, $body, %more) = @_;
	pipe my $from, my $in or die;
	pipe my $out, my $to or die;
	my $pid = fork() // die "fork: $!";

	if ($pid == 0) {
		%ENV = (PATH => $ENV{PATH}, GATEWAY_INTERFACE => 'CGI/1.1',
			HTTP_HOST => 'localhost', REQUEST_METHOD => 'POST',
			SCRIPT_NAME => '/s.cgi', PATH_INFO => $path,
			CONTENT_TYPE => 'application/json',
			CONTENT_LENGTH => length $body, %more);
		close $in;
		close $out;
		open STDIN, '<&', $from;
		open STDOUT, '>&', $to;
		open STDERR, '>>', "$scratch/log";
		exec "$bin/s.cgi" or POSIX::_exit(127);
	}
	close $to;
	close $from;
	print {$in} $body;
	close $in;
	return ($out, $pid);
}

sub begins
{
	my ($command) = @_;
	my $until = time + 15;

	sleep 0.05 until Statespace::Server::process_lives($command)
	    || time > $until;
	return Statespace::Server::process_lives($command);
}

my @ways = (
	['POST', '/', '{"command":["sleep","37"]}'],
	['POST with events', '/', '{"command":["sleep","37"]}',
		HTTP_ACCEPT => 'text/event-stream'],
	['MCP', '/mcp', message('slow')],
	['MCP with events', '/mcp', message('slow',
		_meta => { progressToken => 1 }),
		HTTP_ACCEPT => 'application/json, text/event-stream'],
);

for my $grant ('', "[grant]\nnetwork = true\n") {
	my $where = $grant ? ', beside a launcher' : '';

	configure($grant);
	for (@ways) {
		my ($name, $path, $body, %more) = @$_;
		for my $how ('the pipe closes', 'TERM comes') {
			my ($out, $pid) = cgi($path, $body, %more);

			ok(begins('sleep 37'), "$name: a tool runs$where");
			$how =~ /TERM/ ? kill 'TERM', $pid : close $out;
			ok(!Statespace::Server::process_lives('sleep 37', 8),
				"$name: it ends when $how$where");
			close $out;
			waitpid $pid, 0;
		}
	}
}
configure('');

# Nobody remembers: it can be used again until it is too old.
sub test_agreement
{
	my %meta = (_meta => { "${META}protocolVersion" => '2026-07-28',
		"${META}clientCapabilities" => { elicitation => {} } });
	my %headers = (HTTP_MCP_PROTOCOL_VERSION => '2026-07-28',
		HTTP_MCP_METHOD => 'tools/call', HTTP_MCP_NAME => 'careful');
	my $call = sub {
		my ($out, $pid) = cgi('/mcp', message('careful', %meta, @_),
			%headers);
		my $text = do { local $/; <$out> } // '';
		waitpid $pid, 0;
		return eval { $JSON->decode($text =~ s/\A.*?\r\n\r\n//sr) };
	};
	my $state = $call->()->{result}{requestState};
	my @agree = (requestState => $state, inputResponses => { confirm => {
		action => 'accept', content => { ok => JSON::PP::true } } });

	like($state, qr/^\d+\.c\./, 'a person is asked');
	is($call->(@agree)->{result}{content}[0]{text}, "done\n",
		'another process knows the signature');
	is($call->(@agree)->{result}{content}[0]{text}, "done\n",
		'but not that the agreement had its run');
	Statespace::TestSite::write_file("$bin/key", 'j' x 64);
	is($call->(@agree)->{error}{code}, -32602, 'another key knows nothing');
	return;
}

test_agreement();

# ------------------------------------------------------------ real fronts --

sub leaves
{
	my ($front, $port) = @_;
	my $body = message('chatty', _meta => { progressToken => 1 });
	my $socket = await_port($port) or return fail("$front answers");
	my $seen = '';

	print {$socket} "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
	    . "Accept: application/json, text/event-stream\r\n"
	    . "Content-Type: application/json\r\nContent-Length: "
	    . length($body) . "\r\n\r\n$body";
	$socket->flush;
	$seen .= <$socket> // last until $seen =~ /"message":"x"/;
	like($seen, qr/"message":"x"/, "$front passes news on at once");
	close $socket;
	ok(!Statespace::Server::process_lives(
		'sh -c while :; do echo x >&2; sleep 0.1; done', 12),
		"$front: the tool ends when its client leaves");
	return;
}

sub test_front
{
	my ($front, $configuration, @command) = @_;
	my $port = free_port();
	my $pid;

SKIP: {
		skip "$front is not installed", 2
		    unless has($command[0]);
		$configuration =~ s/PORT/$port/g;
		Statespace::TestSite::write_file("$scratch/$front.conf",
			$configuration);
		$pid = fork() // die "fork: $!";
		if ($pid == 0) {
			# Apache ends its whole group.
			POSIX::setsid();
			open STDOUT, '>>', "$scratch/log";
			open STDERR, '>&', \*STDOUT;
			exec { $command[0] } @command,
			    "$scratch/$front.conf" or POSIX::_exit(127);
		}
		leaves($front, $port);
		kill 'TERM', $pid;
		waitpid $pid, 0;
	}
	return;
}

my $user = $> == 0 ? "User nobody\nGroup nogroup\n" : '';
my ($modules) = grep { -d } qw(/usr/lib/apache2/modules /usr/lib/httpd/modules
	/usr/lib64/httpd/modules);

test_front('lighttpd', <<"END", 'lighttpd', '-D', '-f');
server.document-root = "$bin"
server.bind = "127.0.0.1"
server.port = PORT
server.errorlog = "$scratch/lighttpd.log"
server.modules = ("mod_alias", "mod_cgi")
server.stream-response-body = 1
alias.url = ("/" => "$bin/s.cgi/")
cgi.assign = (".cgi" => "")
END

for (['cgid', 'event', "ScriptSock $scratch/cgisock\n"],
	['cgi', 'prefork', '']) {
	my ($module, $mpm, $more) = @$_;

	test_front("Apache's mod_$module", <<"END", 'apache2', '-DFOREGROUND', '-f');
ServerRoot $scratch
PidFile $scratch/apache.pid
ServerName localhost
Listen 127.0.0.1:PORT
LoadModule mpm_${mpm}_module ${\($modules // '')}/mod_mpm_$mpm.so
LoadModule authz_core_module ${\($modules // '')}/mod_authz_core.so
LoadModule alias_module ${\($modules // '')}/mod_alias.so
LoadModule ${module}_module ${\($modules // '')}/mod_$module.so
${more}${user}ErrorLog $scratch/apache.log
ScriptAlias / $bin/s.cgi/
<Directory $bin>
Require all granted
</Directory>
END
}

unlike(slurp("$scratch/log", ''), qr/Sanitizer|runtime error/, 'no sanitizer has spoken');
done_testing;
