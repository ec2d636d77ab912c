#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# `statespace serve` with lighttpd in front: wanted, or because there is no
# nginx; and with neither, one clear sentence.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json);
use POSIX ();
use Statespace::Server;
use Statespace::TestSite;
use Test::More;
use Time::HiRes qw(sleep time);

Statespace::Server::front('lighttpd')
	or plan skip_all => 'lighttpd is not installed';
-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my %site = (files => { 'big.txt' => 'x' x 3_000_000,
	'README.md' => "---\ntools:\n  - [echo, {}]\n---\n# Hello\n" });
my @config = (config => "[limits]\nmax_body_bytes = 10000\n");
my $server = Statespace::Server->start(%site, @config,
	options => ['--front', 'lighttpd']);
my $all = $server->note_processes;
is(scalar(grep { $all->{$_}{ppid} == $server->pid
	&& $all->{$_}{line} =~ m{/lighttpd -D } } keys %$all), 1,
	'lighttpd is started instead');
is($server->request('GET', '/')->{status}, 200, 'a page');
is(length $server->request('GET', '/big.txt')->{body}, 3_000_000,
	'a large file arrives whole');
is($server->request('GET', '/none')->{status}, 404, 'what is not there');
like($server->request('GET', '/%2e%2e/%2e%2e/etc/passwd')->{status},
	qr/^(?:400|403|404)$/, 'a dot-dot');
is($server->request('GET', '/', headers => { Host => 'evil.example' })
	->{status}, 421, 'a foreign Host is refused');
my $run = $server->run('/', ['echo', 'hi']);
like($run->{body}, qr/"stdout": "hi\\n"|sandbox_unavailable/, 'a tool');
my $no = $server->run('/', ['rm', 'x']);
is($no->{status}, 403, 'what is not allowed');
is(eval { decode_json($no->{body})->{error}{code} }, 'not_allowed',
	'our errors pass as they are');
my $large = $server->request('POST', '/', body => 'x' x 20_000,
	headers => { 'Content-Type' => 'application/json' });
is($large->{status}, 413, 'a body over our limit');
is(eval { decode_json($large->{body})->{error}{code} }, 'body_too_large',
	'which we answer');
is($server->request('GET', '/healthz')->{status}, 200, 'health');
is($server->request('GET', '/readyz')->{status}, 200, 'readiness');
my $figures = $server->request('GET', '/__meta/status');
is(eval { decode_json($figures->{body})->{name} }, 'statespace',
	'figures, for this machine');
ok(eval { decode_json($figures->{body})->{pool}{total} }, "with the pool's");
$server->stop_ok;

# What lighttpd answers by itself has our shape: the only worker is killed while
# it runs a tool, or it hangs.
$server = Statespace::Server->start(files => {
	'README.md' => "---\ntools:\n  - [sleep, {}]\n---\n# Hello\n" },
	config => "[limits]\nmax_body_bytes = 10000\n", options => ['--front',
		'lighttpd']);
my $huge = 'x' x 200_000;
for (['/', 'error', qr{^application/json}], ['/mcp', 'rpc', qr{^application/json}]) {
	my ($path, $shape, $type) = @$_;
	my $answer = $server->request('POST', $path, body => $huge,
		headers => { 'Content-Type' => 'application/json' });
	is($answer->{status}, 413, "$path: lighttpd refuses a far larger body");
	like($answer->{headers}{'content-type'}, $type, "$path: in JSON");
	my $value = eval { decode_json($answer->{body}) } || {};
	is($shape eq 'rpc' ? $value->{error}{data}{code} : $value->{error}{code},
		'body_too_large', "$path: in the shape of ours");
}
like($server->request('GET', '/' . 'x' x 20_000)->{status}, qr/^4(?:14|31)$/,
	'an address that lighttpd refuses');
SKIP: {
	skip 'tools cannot be confined here', 3
	    if $server->run('/', ['sleep', '0'])->{body} =~ /sandbox_unavailable/;
	my $line = "sleep 46$$";
	pipe my $read, my $write or die "pipe: $!";
	my $client = fork() // die "fork: $!";
	if ($client == 0) {
		my $answer = $server->run('/', [split / /, $line]);
		print $write "$answer->{status}\n$answer->{body}";
		close $write;
		POSIX::_exit(0);
	}
	close $write;
	my $killed;
	for (1 .. 1500) {
		my $all = Statespace::Server::processes();
		last if $killed = kill 'KILL', map { $all->{$_}{ppid} }
		    grep { $all->{$_}{line} eq $line } keys %$all;
		sleep 0.02;
	}
	ok($killed, 'a worker is killed while its tool runs');
	chomp(my $status = <$read> // '');
	my $body = join '', <$read>;
	waitpid $client, 0;
	is($status, 500, 'lighttpd answers');
	like(eval { decode_json($body)->{error}{message} },
		qr/the tool may have run/, 'and says that the tool may have run')
	    or diag $body;
}
kill 'TERM', $server->pid;
is($server->reap, 0, 'and serve ends as ever');
delete $server->{pid};

# lighttpd sends the files itself.
$server = Statespace::Server->start(%site, options => ['--front', 'lighttpd'],
	config => "[http]\nhandover = \"lighttpd\"\n");
is(length $server->request('GET', '/big.txt')->{body}, 3_000_000,
	'a file handed over arrives whole');
$server->stop_ok;

# Without it serve stops.
$server = Statespace::Server->start(%site, options => ['--front', 'lighttpd']);
my $pid = $server->pid;
$all = $server->note_processes;
kill 'KILL', grep { $all->{$_}{ppid} == $pid
	&& $all->{$_}{line} =~ m{/lighttpd -D } } keys %$all;
ok($server->log_says(qr/lighttpd was ended by signal 9; stopping/),
	'when lighttpd dies it says so');
isnt($server->reap, 0, 'and stops, with no success');
delete $server->{pid};
undef $server;

# Machines without nginx, and without either: their files are covered.
SKIP: {
	skip 'only root can hide programs', 4 if $> != 0;
	system("unshare -m true 2>/dev/null") == 0
	    or skip 'there are no mount namespaces here', 4;
	my $empty = Statespace::TestSite->new(%site);
	my $program = Statespace::Server::binary();
	my $start = sub {
		my ($seconds, @names) = @_;
		my $hide = join '', map {
			"for f in /usr/sbin/$_ /usr/bin/$_; do test ! -e \$f ||
			mount --bind /dev/null \$f; done; " } @names;
		my $dir = $empty->dir;
		local %ENV = map { /^STATESPACE_/ ? () : ($_ => $ENV{$_}) }
		    keys %ENV;
		my $text = `unshare -m sh -c 'mount --make-rprivate /; $hide
			exec timeout -s INT $seconds $program serve -p 0 $dir' 2>&1`;
		return ($text, $? >> 8);
	};
	my ($text) = $start->(2, 'nginx');
	like($text, qr/nginx is not installed; lighttpd is started instead/,
		'without nginx it is lighttpd, and a line tells so');
	like($text, qr{serving \S+ at http://}, 'and it serves');
	($text, my $status) = $start->(5, 'nginx', 'lighttpd');
	is($text, "statespace: neither nginx nor lighttpd is installed "
		. "(Debian: apt install nginx-light)\n",
		'without either: one sentence');
	isnt($status, 0, 'and no success');
}

done_testing;
