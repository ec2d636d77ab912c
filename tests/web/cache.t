#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The shipped micro-cache of nginx: what it keeps and for how long, what it
# tells apart, what it must never keep.
use strict;
use warnings;
use Cwd qw(abs_path);
use FindBin;
use lib "$FindBin::Bin/../lib";
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep time);
use Statespace::Pool;
use Statespace::Server qw(await_port free_port);
use Statespace::TestSite qw(slurp);

plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');

# Requests to a front server that the test started itself.
{
	package Asks;
	our @ISA = ('Statespace::Server');
	sub DESTROY { }
}

my $top = abs_path("$FindBin::Bin/../..");
my $pool = Statespace::Pool->start(
	config => "[pool]\nmode = \"static\"\nworkers = 2\n"
	    . "[http]\nhosts = [\"tools.example.org\", \"b.example.org\"]\n",
	files => {
		'README.md' => "---\ntools: [[echo, {}]]\n---\n# First\n",
		'run.md' => "```component\ndate +%N\n```\n",
		'data.csv' => "1,2\n",
		'a.md' => "# A page\n" });
my ($dir, $socket) = ($pool->site->scratch . '/front', $pool->socket);
mkdir $dir or die "mkdir: $!";
system('cp', '-r', "$top/nginx", "$dir/statespace") == 0 or die 'cp';
my $port = free_port();

sub change
{
	my ($path, %to) = @_;
	my $text = slurp($path);

	for (sort keys %to) {
		$text =~ s/\Q$_\E/$to{$_}/ or die "$path: no $_";
	}
	Statespace::TestSite::write_file($path, $text);
	return $text;
}

# The configuration as an operator would: two lines uncommented.
change("$dir/statespace/snippets/cache_zone",
	'/run/nginx_statespace' => "$dir/cache");
my $conf = change("$dir/statespace/statespace.conf",
	'# include statespace/snippets/cache_zone' =>
	    'include statespace/snippets/cache_zone',
	'# include statespace/snippets/cache;' =>
	    "include statespace/snippets/cache;\n"
	    . "\tadd_header X-Copy \$upstream_cache_status always;",
	'include statespace/snippets/limits;' => '');
$conf =~ s{/run/statespace/pool\.sock}{$socket}g;
$conf =~ s{listen 80}{listen 127.0.0.1:$port}g;
my $user = $> == 0 ? "user root;\n" : '';
Statespace::TestSite::write_file("$dir/nginx.conf", <<"END");
${user}daemon off;
pid $dir/nginx.pid;
error_log $dir/log;
events { }
http {
	access_log off;
	server_names_hash_bucket_size 128;
	client_body_temp_path $dir/t1;
	fastcgi_temp_path $dir/t2;
	proxy_temp_path $dir/t3;
	uwsgi_temp_path $dir/t4;
	scgi_temp_path $dir/t5;
	@{[$conf =~ s/server_name tools\.example\.org/server_name tools.example.org b.example.org/r]}
}
END
$ENV{PATH} .= ':/usr/sbin:/usr/local/sbin';
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
my $front = bless { port => $port, owner => 0 }, 'Asks';

sub ask
{
	my ($method, $path, %headers) = @_;
	return $front->request($method, $path,
		headers => { Host => 'tools.example.org', %headers });
}
sub copied { return ($_[0]{headers}{'x-copy'} // '') eq 'HIT' }

# Early in a second, so that what follows is asked within it.
sub new_second
{
	my $now = time;
	sleep(1.05 - ($now - int $now));
	return;
}

# What is asked within one second; again, as long as a busy machine was too slow.
sub within_second
{
	my ($asks) = @_;
	my @answers;

	for (1 .. 20) {
		new_second();
		my $second = int time;
		@answers = $asks->();
		last if int time == $second;
	}
	return @answers;
}

sub twice
{
	my (@ask) = @_;

	return within_second(sub { return (ask(@ask), ask(@ask)) });
}

my ($first, $again) = twice('GET', '/');
is $first->{status}, 200, 'a page is answered';
ok !copied($first), 'the first time by us';
ok copied($again), 'the second time by nginx';
is $again->{body}, $first->{body}, 'with the same text';
is $again->{headers}{etag}, $first->{headers}{etag}, 'the same tag';
is $again->{headers}{'cache-control'}, 'no-cache',
    'and it is for the client as it was';
like $again->{headers}{'content-type'}, qr{^text/markdown}, 'with its type';
is $again->{headers}{'x-content-type-options'}, 'nosniff', 'and its guard';
isnt $again->{headers}{'x-request-id'}, $first->{headers}{'x-request-id'},
    'but with an id of its own';
like $again->{headers}{'x-request-id'}, qr/^[0-9a-f]{32}$/, 'which is one';
ok !ref $again->{headers}{'x-request-id'}
    && $again->{headers}{'x-request-id'} !~ /,/, 'and only one';
ok !defined $again->{headers}{'server-timing'}, 'and no time of another';

(undef, my $same) = twice('GET', '/', 'If-None-Match' => $first->{headers}{etag});
is $same->{status}, 304, 'a client that has it is told so';

# The copy is of the second in which the page changed, and of no later one.
my $late = 0;
for my $n (1 .. 5) {
	my $text = "# Number $n\n";
	my ($changed, $asked);

	ask('GET', '/a.md');
	$pool->site->write('a.md', $text);
	$changed = $asked = time;
	while (ask('GET', '/a.md')->{body} ne $text && $asked < $changed + 20) {
		$late++ if int $asked > int $changed;
		sleep 0.02;
		$asked = time;
	}
	sleep 0.13;
}
is $late, 0, 'a change shows with the next second';

# ----------------------------------------------------------- kept apart -----
(undef, my $html) = within_second(sub {
	return (ask('GET', '/'),
		ask('GET', '/', Accept => 'text/html,*/*;q=0.8'));
});
ok !copied($html), 'who prefers HTML gets no copy of the Markdown';
(undef, my $plain) = within_second(sub {
	return (ask('GET', '/', Accept => 'text/html'), ask('GET', '/',
		Accept => 'text/markdown;q=0.9, text/html;q=0.5'));
});
like $plain->{headers}{'content-type'}, qr{^text/markdown},
    'nor the other way, whatever words are in between';
my (undef, @same) = within_second(sub {
	return map { ask('GET', '/', %$_) } {}, { Accept => '*/*' },
	    { Accept => '' };
});
is scalar(grep { copied($_) } @same), 2, 'those who take Markdown share a copy';
(undef, my @other) = within_second(sub {
	return (ask('GET', '/'), ask('GET', '/', Host => 'b.example.org'),
		ask('GET', '/?x=1'));
});
ok !copied($other[0]), 'a host has its own';
ok !copied($other[1]), 'an address has its own';
is ask('GET', '/', Host => 'evil.example')->{status}, 421,
    'a host that is none of ours gets none';

# ---------------------------------------------------------- never kept ------
($first, $again) = twice('GET', '/run.md');
ok !copied($again), 'a page with components is no copy';
isnt $again->{body}, $first->{body}, 'it runs every time';
(undef, $again) = twice('GET', '/data.csv');
ok !copied($again), 'a file is no copy';
(undef, $again) = twice('GET', '/none');
ok $again->{status} == 404 && !copied($again), 'a refusal is no copy';
for (1 .. 2) {
	my $run = $front->run('/', ['echo', "n$_"],
		headers => { Host => 'tools.example.org' });
	SKIP: {
		skip 'tools cannot be confined here', 1
		    if $run->{body} =~ /sandbox_unavailable/;
		like $run->{body}, qr/n$_\\n/, "POST $_ runs";
	}
}
(undef, $again) = twice('HEAD', '/');
is $again->{status}, 200, 'HEAD is answered';
is $again->{body}, '', 'without a body';
like ask('GET', '/')->{body}, qr/# First/, 'and leaves no empty page behind';

kill 'TERM', $nginx;
waitpid $nginx, 0;
open my $log, '<', "$dir/log" or die "log: $!";
is join('', grep { /\[(?:crit|alert|emerg|error)\]/ } <$log>), '',
    'nginx had nothing to complain of';
$pool->stop_ok;

done_testing;
