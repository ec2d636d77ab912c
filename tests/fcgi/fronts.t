#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The shipped configurations with the real front servers: the same cases
# behind each, only addresses and paths replaced.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Socket::INET;
use JSON::PP qw(decode_json);
use POSIX ();
use Statespace::Pool;
use Statespace::Server;
use Test::More;
use Time::HiRes qw(sleep time);

my $top = abs_path(dirname(__FILE__) . '/../..');
-x Statespace::Server::binary() or plan skip_all => 'the program is not built';
$ENV{PATH} .= ':/usr/sbin:/usr/local/sbin';

my $pool = Statespace::Pool->start(
	files => { 'README.md' => "---\ntools:\n  - [echo, {}]\n---\n# Hello\n",
		'a/page.md' => "# A page\n", 'big.txt' => 'x' x 2_000_000 },
	config => "[pool]\nmode = \"static\"\nworkers = 4\n"
	    . "[http]\nhosts = [\"tools.example.org\"]\n");
my $dir = $pool->site->scratch . '/front';
mkdir $dir or die "mkdir: $!";
my $socket = $pool->socket;

sub slurp
{
	open my $file, '<', $_[0] or die "$_[0]: $!";
	local $/;
	return scalar <$file>;
}

sub free_port
{
	return IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1)
	    ->sockport;
}

# A front server in the foreground; a Statespace::Server for its requests.
sub start_front
{
	my ($port, @words) = @_;
	my $pid = fork() // die "fork: $!";

	if ($pid == 0) {
		open STDIN, '<', '/dev/null';
		open STDOUT, '>>', "$dir/log";
		open STDERR, '>&', \*STDOUT;
		exec { $words[0] } @words or POSIX::_exit(127);
	}
	my $until = time + 10;
	until (IO::Socket::INET->new(PeerAddr => '127.0.0.1',
		PeerPort => $port)) {
		die 'no front: ' . slurp("$dir/log") if time > $until;
		sleep 0.05;
	}
	return ($pid, bless { port => $port, owner => 0 }, 'Asks');
}

{
	package Asks;
	our @ISA = ('Statespace::Server');
	sub DESTROY { }
}

my %host = (headers => { Host => 'tools.example.org' });

sub same_cases
{
	my ($front, $name) = @_;
	my $get = $front->request('GET', '/', %host);

	is($get->{status}, 200, "$name: a page");
	like($get->{body}, qr/# Hello/, "$name: with its text");
	is($front->request('GET', '/a/page', %host)->{body}, "# A page\n",
		"$name: a page below");
	is($front->request('HEAD', '/a/page', %host)
		->{headers}{'content-length'}, 9, "$name: HEAD");
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
	is($chunked->{status}, 403, "$name: a chunked body arrives whole");
	is($front->run('/', ['rm'], headers => { %{ $host{headers} },
		Origin => 'http://evil.example' })->{status}, 403,
		"$name: a foreign Origin");
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
	is($front->request('GET', '/healthz')->{status}, 421,
		'nginx: health has a Host, too');
	is($front->request('GET', '/readyz', %host)->{status}, 200,
		'nginx: ready');
	is($front->request('GET', '/__meta/status', %host)->{status}, 200,
		'nginx: figures');
	my $large = $front->request('POST', '/', body => 'x' x 1_200_000,
		headers => { %{ $host{headers} },
		'Content-Type' => 'application/json' });
	is($large->{status}, 413, 'nginx: too large a body');
	is(eval { decode_json($large->{body})->{error}{code} },
		'body_too_large', 'nginx: in our shape');
	is($front->request('GET', '//x', %host)->{status}, 403,
		'nginx: two slashes');
	kill 'TERM', $pid;
	waitpid $pid, 0;

	# With passwords: who it was stands in the log, and only then.
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
SKIP: {
	skip 'lighttpd is not installed', 1
	    unless Statespace::Server::front('lighttpd');
	my $port = free_port();
	my $conf = slurp("$top/nginx/lighttpd.conf");
	$conf =~ s{/run/statespace/pool\.sock}{$socket}g;
	$conf =~ s{^server\.port = 80}{server.port = $port}m;
	Statespace::TestSite::write_file("$dir/lighttpd.conf", $conf);
	my ($pid, $front) = start_front($port, 'lighttpd', '-D', '-f',
		"$dir/lighttpd.conf");
	same_cases($front, 'lighttpd');
	my $large = $front->request('POST', '/', body => 'x' x 1_200_000,
		headers => { %{ $host{headers} },
		'Content-Type' => 'application/json' });
	is($large->{status}, 413, 'lighttpd: too large a body');
	kill 'TERM', $pid;
	waitpid $pid, 0;

	# It starts and keeps the pool itself: a socket on descriptor 0.
	$port = free_port();
	my $program = Statespace::Server::binary();
	my $file = $pool->config_file;
	my $root = $pool->site->dir;
	$conf = slurp("$top/nginx/lighttpd.conf");
	$conf =~ s{^server\.port = 80}{server.port = $port}m;
	$conf =~ s{/run/statespace/pool\.sock}{$dir/own.sock};
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
		# The other pool's master is the only one left.
		return 1 == grep { $_->{line} =~ m{fcgi -c \Q$file\E}
			&& $_->{ppid} != $pool->pid }
		    values %{ Statespace::Server::processes() };
	}, 10), 'lighttpd takes its pool along');
}

$pool->stop_ok;
done_testing;
