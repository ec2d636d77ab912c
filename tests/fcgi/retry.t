#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Workers killed under load, behind a real nginx with the shipped
# configuration: no GET is lost, no POST runs twice, and an answer of nginx's
# own says whether the tool may have run.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json);
use POSIX ();
use Statespace::Pool;
use Statespace::Server qw(await_port free_port);
use Statespace::TestSite qw(slurp);
use Test::More;
use Time::HiRes qw(sleep time);

my $top = abs_path(dirname(__FILE__) . '/../..');
-x Statespace::Server::binary() or plan skip_all => 'the program is not built';
$ENV{PATH} .= ':/usr/sbin:/usr/local/sbin';
Statespace::Server::front('nginx') or plan skip_all => 'nginx is not installed';

# Each run adds its number to a file outside the tool.
my ($nap, $other) = ("5$$", "7$$");
my $page = "---\ntools:\n"
    . "  - command: [sh, -c, 'echo \$0 >>count/log', { regex: '^[0-9]+\$' }, ;]\n"
    . "    write: [count]\n  - [sleep, {}]\n---\n# Hello\n";
my $slow = "# Slow\n\n```component\ntest -e count/go || sleep $nap; echo done\n```\n";
my $pool = Statespace::Pool->start(
	files => { 'README.md' => $page, 'slow.md' => $slow, 'count/log' => '' },
	config => "[pool]\nmode = \"static\"\nworkers = 3\n"
	    . "socket_mode = \"0666\"\n[grant]\nwrite = [\"count\"]\n"
	    . "[limits]\ntimeout = 60.0\n[components]\ntimeout = 60.0\n"
	    . "total = 60.0\n");
my $site = $pool->site->dir;
my $count = "$site/count/log";
chmod 0777, "$site/count";
chmod 0666, $count;
my $dir = $pool->site->scratch . '/front';
my $socket = $pool->socket;
my $port = free_port();
mkdir $dir or die "mkdir: $!";
system('cp', '-r', "$top/nginx", "$dir/statespace") == 0 or die;

my $nginx;
END {
	local $?;
	kill 'TERM', $nginx if $nginx && waitpid($nginx, 1) == 0;
}

{
	package Asks;
	our @ISA = ('Statespace::Server');
	sub DESTROY { }
}

sub start_nginx
{
	my $conf = slurp("$top/nginx/statespace.conf");
	my $user = $> == 0 ? 'user root;' : '';

	$conf =~ s{/run/statespace/pool\.sock}{$socket}g;
	$conf =~ s{listen 80}{listen 127.0.0.1:$port}g;
	$conf =~ s{server_name tools\.example\.org}{server_name 127.0.0.1};
	$conf =~ s{^(\tinclude statespace/snippets/limits;)}{# $1}m;
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
	$conf
}
END
	$nginx = fork() // die "fork: $!";
	if ($nginx == 0) {
		open STDIN, '<', '/dev/null';
		open STDOUT, '>>', "$dir/log";
		open STDERR, '>&', \*STDOUT;
		exec 'nginx', '-e', "$dir/log", '-p', $dir, '-c',
		    "$dir/nginx.conf" or POSIX::_exit(127);
	}
	await_port($port) or die 'no nginx: ' . slurp("$dir/log");
	return;
}

start_nginx();
my $front = bless { port => $port, owner => 0 }, 'Asks';

sub count
{
	my ($number) = @_;

	return $front->run('/', ['sh', '-c', 'echo $0 >>count/log', "$number"]);
}

sub runs_of
{
	my ($number) = @_;

	return scalar grep { $_ eq $number } split /\n/, slurp($count);
}

# Kills the worker that runs this command line, while ask is being answered.
sub kill_while
{
	my ($line, $ask, $then) = @_;
	pipe my $read, my $write or die "pipe: $!";
	my $client = fork() // die "fork: $!";

	if ($client == 0) {
		my $answer = $ask->();
		print $write "$answer->{status}\n$answer->{body}";
		close $write;
		POSIX::_exit(0);
	}
	close $write;
	ok($pool->until_true(sub {
		my $all = Statespace::Server::processes();
		my @tools = grep { $all->{$_}{line} eq $line } keys %$all;
		return 0 unless @tools;
		$then->() if $then;
		kill 'KILL', map { worker_above($all, $_) } @tools;
		return 1;
	}), "'$line' runs");
	chomp(my $status = <$read> // '');
	local $/;
	my $body = <$read> // '';
	waitpid $client, 0;
	return ($status, $body);
}

# The pool's child that is an ancestor of pid.
sub worker_above
{
	my ($all, $pid) = @_;

	$pid = $all->{$pid}{ppid}
	    while $all->{$pid} && $all->{$pid}{ppid} != $pool->pid;
	return $all->{$pid} ? $pid : ();
}

my $first = count(1);
if ($first->{status} != 200) {
	$pool->stop;
	plan skip_all => 'tools cannot be confined here, or not write: '
	    . $first->{body};
}
is(runs_of(1), 1, 'a tool counts its runs');

# ----------------------------------------------------- one worker, one request --
my ($status, $body) = kill_while("sleep $nap",
	sub { $front->request('GET', '/slow') },
	sub { open my $file, '>', "$site/count/go" });
is($status, 200, 'a GET whose worker is killed is answered by another one');
like($body, qr/^done$/m, 'whole');

($status, $body) = kill_while("sleep $other",
	sub { $front->run('/', ['sleep', $other]) });
is($status, 502, 'a POST whose worker is killed is not sent again');
my $error = eval { decode_json($body)->{error} } || {};
is($error->{code}, 'internal', 'its answer has our shape');
like($error->{message}, qr/the tool may have run/, 'and says so');
ok(!Statespace::Server::process_lives("sleep $other", 20), 'nothing runs on');

# ------------------------------------------------------------------ under load --
sub client
{
	my ($number, $requests, $write) = @_;

	for my $i (1 .. $requests) {
		my $own = $number * 100_000 + $i;
		my $post = $i % 3 == 0;
		my $answer = $post ? count($own) : $front->request('GET', '/');
		printf $write "%s %d %d %s\n", $post ? 'POST' : 'GET', $own,
		    $answer->{status}, $answer->{body} =~ s/\s+/ /gr;
	}
	return;
}

my @clients;
for my $number (1 .. 3) {
	pipe my $read, my $write or die "pipe: $!";
	my $pid = fork() // die "fork: $!";
	if ($pid == 0) {
		client($number, 150, $write);
		close $write;
		POSIX::_exit(0);
	}
	close $write;
	push @clients, [$pid, $read];
}
my $kills = 0;
for (1 .. 30) {
	my @workers = $pool->workers;
	$kills += $pool->signal('KILL', $workers[rand @workers]) if @workers;
	sleep 0.1;
}
my %seen = (GET => 0, POST => 0);
my (@lost, @silent, %ran);
for (@clients) {
	my ($pid, $read) = @$_;
	while (<$read>) {
		my ($method, $own, $status, $text) = split / /, $_, 4;
		$seen{$method}++;
		push @lost, $_ if $method eq 'GET' && $status != 200;
		next if $method eq 'GET';
		push @silent, $_ if $status != 200
		    && $text !~ /did not run|may have run/;
	}
	waitpid $pid, 0;
}
$ran{$_}++ for split /\n/, slurp($count);
my @twice = grep { $ran{$_} > 1 } keys %ran;
cmp_ok($kills, '>', 10, "$kills workers were killed");
is("$seen{GET} $seen{POST}", '300 150', 'each request got an answer');
is("@lost", '', 'no GET was lost');
is("@twice", '', 'no POST ran twice');
is("@silent", '', 'a POST that failed is told whether it may have run');

# ------------------------------------------------------------- nobody listens --
$pool->stop_ok(allow => qr/ended by signal|while it started/);
my $refused = count(9);
is($refused->{status}, 502, 'without a pool: 502');
$error = eval { decode_json($refused->{body})->{error} } || {};
like($error->{message}, qr/did not run/, 'which says that nothing ran');
unlike($refused->{body}, qr/may have run/, 'and nothing else');
is_deeply([@$error{qw(class retryable retry_after)}, $error->{next}{do}],
	['server', JSON::PP::true, 1, 'wait'], 'and how to go on');
like($front->request('GET', '/')->{body}, qr/nothing ran/, 'a GET in text');
like($front->request('GET', '/', headers => { Accept => 'text/html' })->{body},
	qr/cannot be reached/, 'a browser as a page');
is(runs_of(9), 0, 'nothing did');

done_testing;
