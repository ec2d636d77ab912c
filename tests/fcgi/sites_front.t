#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# nginx/sites.conf with the real nginx: each host its site, its checks and its
# cached pages, whatever the request line and Host say.
use strict;
use warnings;
use Cwd qw(abs_path);
use FindBin;
use IO::Socket::INET;
use lib "$FindBin::Bin/../lib";
use POSIX ();
use Statespace::Pool;
use Statespace::Server qw(await_port free_port);
use Statespace::TestSite qw(slurp write_file);
use Test::More;

$ENV{PATH} .= ':/usr/sbin:/usr/local/sbin';
-x Statespace::Server::binary() or plan skip_all => 'the program is not built';
Statespace::Server::front('nginx') or plan skip_all => 'nginx is not installed';

my $top = abs_path("$FindBin::Bin/../..");
my $made = Statespace::TestSite->new(files => {
	'a/README.md' => "# Site a\n", 'a/data.txt' => "data of a\n",
	'b/README.md' => "# Site b\n", 'b/data.txt' => "PWNED\n",
	'wiki/README.md' => "# Wiki\n", 'wiki/sub/x.md' => "# X\n" });
my $root = $made->dir;
my $pool = Statespace::Pool->start(site => $made, sites => 1,
	config => <<"TOML");
[pool]
mode = "static"
workers = 2
[site."a.example.org"]
root = "$root/a"
http.hosts = ["www.a.example.org"]
[site."b.example.org"]
root = "$root/b"
[site."c.example.org/wiki"]
root = "$root/wiki"
TOML
my $dir = $made->scratch . '/front';
mkdir $dir or die "mkdir: $!";
system('cp', '-r', "$top/nginx", "$dir/statespace") == 0 or die 'cp';
my $port = free_port();

sub change
{
	my ($name, %to) = @_;
	my $text = slurp("$dir/statespace/$name");

	for (sort keys %to) {
		$text =~ s/\Q$_\E/$to{$_}/ or die "$name: no $_";
	}
	$text =~ s{/run/statespace/pool\.sock}{${\ $pool->socket}}g;
	$text =~ s{listen 80}{listen 127.0.0.1:$port}g;
	write_file("$dir/statespace/$name", $text);
	return;
}

change('statespace.conf', '# include statespace/snippets/cache_zone;' =>
	'include statespace/snippets/cache_zone;');
change('snippets/cache_zone', '/run/nginx_statespace' => "$dir/cache");
change('snippets/auth_basic', '/etc/nginx/statespace.users' => "$dir/users");
change('snippets/limits', slurp("$dir/statespace/snippets/limits") => '');
change('snippets/server', 'merge_slashes off;' =>
	"merge_slashes off;\ninclude statespace/snippets/cache;\n");
change('sites.conf', '/srv/a;' => "$root/a;");
write_file("$dir/users", "reader:{PLAIN}right\n");
my $user = $> == 0 ? "user root;\n" : '';
write_file("$dir/nginx.conf", <<"END");
${user}daemon off;
pid $dir/nginx.pid;
error_log $dir/log error;
events { worker_connections 64; }
http {
	access_log off;
	server_names_hash_bucket_size 128;
	client_body_temp_path $dir/t1; fastcgi_temp_path $dir/t2;
	proxy_temp_path $dir/t3; scgi_temp_path $dir/t4; uwsgi_temp_path $dir/t5;
	include $dir/statespace/statespace.conf;
	include $dir/statespace/sites.conf;
}
END
my $nginx;
$SIG{$_} = sub { exit 1 } for qw(HUP INT TERM);
END {
	local $?;
	kill 'TERM', $nginx if $nginx && waitpid($nginx, 1) == 0;
}
$nginx = fork() // die "fork: $!";
if ($nginx == 0) {
	POSIX::setsid();
	open STDERR, '>>', "$dir/log";
	exec 'nginx', '-e', "$dir/log", '-p', $dir, '-c', "$dir/nginx.conf"
	    or POSIX::_exit(127);
}
await_port($port) or die 'no nginx: ' . slurp("$dir/log");

# One request as it is written; its whole answer.
sub ask
{
	my ($target, @headers) = @_;
	my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port")
	    or die "connect: $@";

	print $socket join("\r\n", "GET $target HTTP/1.1", @headers,
		'Connection: close', '', '');
	local $/;
	return scalar <$socket> // '';
}

sub status { return $_[0] =~ m{\AHTTP/1\.1 (\d+)} ? $1 : 0 }

my @right = ('Authorization: Basic cmVhZGVyOnJpZ2h0');
like(ask('/', 'Host: a.example.org'), qr/# Site a/, 'a host has its site');
like(ask('/', "Host: WWW.A.example.org.:$port"), qr/# Site a/,
	'... by each of its names');
like(ask('/data.txt', 'Host: a.example.org'), qr/data of a/,
	'nginx sends its files');
is(status(ask('/', 'Host: b.example.org')), 401, 'another asks for a password');
like(ask('/', 'Host: b.example.org', @right), qr/# Site b/, '... and takes it');
like(ask('/data.txt', 'Host: b.example.org', @right), qr/PWNED/,
	'its files are sent by workers');
like(ask('/wiki/sub/x', 'Host: c.example.org'), qr/# X/, 'a site below a path');
is(status(ask('/', 'Host: c.example.org')), 404, '... and nothing beside it');
like(ask('/wiki/AGENTS.md', 'Host: c.example.org'),
	qr/relative to the address/, '... whose lists have relative paths');
is(status(ask('/', 'Host: d.example.org')), 421, 'an unknown host is refused');

# The password of b is asked for by the block that nginx chooses.
for (['http://a.example.org/data.txt', 'Host: b.example.org'],
	['http://a.example.org/', 'Host: b.example.org'],
	['http://c.example.org/data.txt', 'Host: b.example.org'],
	['http://b.example.org/data.txt', 'Host: a.example.org'],
	['http://b.example.org/data.txt', "Host: 127.0.0.1:$port"],
	['/data.txt', 'Host: a.example.org', 'Host: b.example.org'],
	['/data.txt', 'Host: a.example.org', 'STATESPACE_HOST: b.example.org'],
	['/data.txt', 'Host: a.example.org', 'Statespace-Host: b.example.org'],
	['/data.txt', 'Host: a.example.org', 'X-Forwarded-Host: b.example.org'],
	['/../b/data.txt', 'Host: a.example.org'],
	['/%2e%2e/b/data.txt', 'Host: a.example.org'],
	['/wiki/../../b/data.txt', 'Host: c.example.org'],
	['/wiki%2f..%2f..%2fb/data.txt', 'Host: c.example.org']) {
	unlike(ask(@$_), qr/PWNED|# Site b/, "without the password: @$_");
}
# What is cached for one is not another's: the same path, within one second.
ask('http://b.example.org/', "Host: 127.0.0.1:$port", @right) for 1 .. 3;
unlike(ask('/', "Host: 127.0.0.1:$port"), qr/# Site b/,
	'a page of b that was asked by another Host is not cached for that');
ask('/', 'Host: b.example.org', @right);
is(status(ask('/', 'Host: b.example.org')), 401,
	'a cached page is behind the password');
like(ask('/', 'Host: a.example.org'), qr/# Site a/, '... and of its site');
$pool->stop_ok;
done_testing;
