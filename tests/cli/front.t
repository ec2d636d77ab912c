#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# The README's way behind one's own nginx: its toml block configures the pool,
# its nginx block the front; only addresses, paths and TLS are replaced.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Server qw(free_port has);
use Statespace::TestSite qw(slurp);
use Test::More;
use Time::HiRes qw(sleep);

my $top = abs_path(dirname(__FILE__) . '/../..');
my $program = Statespace::Server::binary();
Statespace::Server::front('nginx') or plan skip_all => 'nginx is not installed';
-x $program or plan skip_all => "$program is not built";
has('curl') or plan skip_all => 'curl is not installed';

my $site = Statespace::TestSite->new(files => { 'README.md' => <<'END' });
---
tools:
  - [echo, {}, ;]
---
# Behind
END
my $tmp = $site->scratch;
my ($toml, $nginx) = do {
	my $text = slurp("$top/README.md");
	map { $text =~ /^```$_\n(.*?)^```$/ms ? $1 : '' } qw(toml nginx);
};
my $port = free_port();
my $dir = $site->dir;

$toml =~ s{"/srv/site"}{"$dir"} or die 'no root';
$toml =~ s{"/run/statespace/pool\.sock"}{"$tmp/sock"} or die 'no socket';
$toml =~ s{^socket_group.*\n}{}m or die 'no socket_group';
$nginx =~ s{listen 443 ssl;}{listen 127.0.0.1:$port;} or die 'no listen';
$nginx =~ s{^\s*ssl_.*\n}{}mg;
$nginx =~ s{/etc/nginx/tools\.users}{$tmp/users} or die 'no users';
$nginx =~ s{include \S+/statespace_params;}{include $top/nginx/statespace_params;}
	or die 'no params';
$nginx =~ s{unix:/run/statespace/pool\.sock}{unix:$tmp/sock} or die 'no pass';
Statespace::TestSite::write_file("$tmp/statespace.toml", $toml);
Statespace::TestSite::write_file("$tmp/users", "ada:{PLAIN}lovelace\n");
Statespace::TestSite::write_file("$tmp/nginx.conf", join '',
	($> == 0 ? "user root;\n" : ''),
	"daemon off;\nworker_processes 1;\npid $tmp/pid;\nevents {}\nhttp {\n",
	"access_log off;\n",
	(map { "${_}_temp_path $tmp/$_;\n" }
		qw(client_body fastcgi proxy scgi uwsgi)), $nginx, "}\n");

sub start {
	my @argv = @_;
	my $pid = fork // die "fork: $!";
	return $pid if $pid;
	open STDIN, '<', '/dev/null';
	open STDOUT, '>>', "$tmp/log";
	open STDERR, '>&', \*STDOUT;
	exec { $argv[0] } @argv or exit 127;
}

sub ask {
	my @more = @_;
	push @more, '-H', 'Host: tools.example.org'
		unless grep { /^Host:/ } @more;
	open my $pipe, '-|', 'curl', '-s', '-m', 10, '-w', '\n%{http_code}', @more,
		"http://127.0.0.1:$port/" or die $!;
	local $/;
	return <$pipe> // '';
}

local $ENV{PATH} = "$ENV{PATH}:/usr/sbin:/usr/local/sbin";
my @pids = (start($program, 'fcgi', '-c', "$tmp/statespace.toml"),
	start('nginx', '-e', 'stderr', '-c', "$tmp/nginx.conf"));
my @user = ('-u', 'ada:lovelace');
for (1 .. 100) {
	last if ask(@user) =~ /\n200\z/;
	sleep 0.1;
}

like(ask(@user), qr/^---.*# Behind\n\n200\z/s, 'a known person reads the page');
my @post = ('-H', 'Content-Type: application/json', '-d',
	'{"command": ["echo", "through"]}');
like(ask(@user, @post), qr/^\{"stdout": "through\\n".*\n200\z/s,
	'... and runs its tool');
like(ask(@post), qr/\n401\z/, 'a stranger is asked for a password');
like(ask(@user, @post, '-H', 'Host: evil.example.org'), qr/\n421\z/,
	'a Host that is not listed is not ours');
like(ask(@user, @post, '-H', 'Origin: http://evil.example.org'), qr/\n403\z/,
	'a foreign web page is refused');

kill 'TERM', @pids;
for my $pid (@pids) {
	waitpid $pid, 0;
	is($?, 0, 'it ends when it is asked to');
}
if (!Test::More->builder->is_passing) {
	open my $log, '<', "$tmp/log";
	diag <$log>;
}
done_testing;
