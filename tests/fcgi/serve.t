#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# `statespace serve`: what it refuses, what it leaves behind (nothing), and the
# answers of its private nginx.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Path ();
use IO::Socket::INET;
use JSON::PP qw(decode_json);
use POSIX ();
use Statespace::Server;
use Statespace::TestSite;
use Test::More;
use Time::HiRes qw(sleep time);

Statespace::Server::front('nginx') or plan skip_all => 'nginx is not installed';
-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my $page = "---\ntools:\n  - [sleep, {}]\n---\n# Hello\n";
my @config = (config => "[limits]\nmax_body_bytes = 10000\n");
my $program = Statespace::Server::binary();
my $empty = Statespace::TestSite->new;

sub said
{
	my (@words) = @_;
	local %ENV = map { /^STATESPACE_/ ? () : ($_ => $ENV{$_}) } keys %ENV;
	my $quoted = join ' ', map { "'$_'" } @words;
	my $text = `timeout 10 $program serve $quoted 2>&1`;

	return ($text, $? >> 8);
}

sub run_dirs
{
	return join ' ', grep { -e "$_/nginx.conf" }
	    map { glob "$_/statespace-*" } '/tmp', $ENV{XDG_RUNTIME_DIR} || ();
}

# ----------------------------------------------------------------- refusals --
my $taken = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1);
my ($text, $status) = said('-p', $taken->sockport, '--allow-no-readme',
	$empty->dir);
like($text, qr/\Astatespace: port \d+ of 127\.0\.0\.1 is taken.*\n\z/,
	'a taken port is one clear sentence');
isnt($status, 0, 'and no success');
($text, $status) = said('-p', 0, $empty->dir);
like($text, qr/\Astatespace: .*has no README\.md.*\n\z/,
	'a directory without README.md is one clear sentence');
isnt($status, 0, 'and no success');
($text, $status) = said('-p', 0, '/nonexistent');
like($text, qr/\Astatespace: .*No such file.*\n\z/,
	'so is one that is not there');
unlike($text, qr/README|No such file.*No such file/,
	'which is what is wrong with it, and said once');
is((said('-p', 'http'))[1], 2, 'an option with a wrong value is wrong usage');
($text, $status) = said('--bogus');
is($status, 2, 'an unknown option is wrong usage');
like($text, qr/^usage: statespace serve/m, 'with the synopsis');
($text, $status) = said('--help');
is($status, 0, '--help is no mistake');

# ---------------------------------------------------------------- its life --
for my $signal (qw(INT TERM)) {
	my $server = Statespace::Server->start(
		files => { 'README.md' => $page });
	my $before = $server->site->listing;
	my $dirs = run_dirs();
	is($server->request('GET', '/')->{status}, 200, 'a page is served');
	like($server->log, qr{^statespace: serving \S+ at http://127\.0\.0\.1:\d+$}m,
		'the address is told in one line');
	ok($dirs, 'it has a directory of its own');
	$server->stop_ok(signal => $signal, name => "$signal ends it cleanly");
	isnt(run_dirs(), $dirs, 'the directory is gone');
	is($server->site->listing, $before, 'nothing was written to the site');
}

# ------------------------------------------------ what PATH may lead it to --
# `make` leaves build/nginx, the directory of the templates, beside the program.
{
	my $site = Statespace::TestSite->new(files => { 'README.md' => $page });
	my $tmp = $site->scratch;
	mkdir "$tmp/$_" or die "$tmp/$_: $!" for qw(folder folder/nginx file);
	Statespace::TestSite::write_file("$tmp/file/nginx", "no program\n");
	local $ENV{PATH} = "$tmp/folder:$tmp/file:$ENV{PATH}";
	my $server = eval { Statespace::Server->start(
		files => { 'README.md' => $page }) };
	ok($server && $server->request('GET', '/')->{status} == 200,
		'a directory and a file without its x bit named nginx are no nginx')
	    or diag $@;
	$server->stop_ok if $server;
}

# ------------------------------------------------- the answers of the front --
my $server = Statespace::Server->start(files => {
	'README.md' => $page, 'big.txt' => 'x' x 3_000_000 }, @config);

sub post
{
	my ($bytes) = @_;

	return $server->request('POST', '/', body => $bytes,
		headers => { 'Content-Type' => 'application/json' });
}

sub is_error
{
	my ($answer, $status, $code, $sentence) = @_;
	my $json = eval { decode_json($answer->{body}) } || {};

	is($answer->{status}, $status, $sentence);
	is($json->{error}{code}, $code, "$sentence: as JSON of our shape");
	is($json->{returncode}, 1, "$sentence: that a tool's reader understands");
	ok($answer->{headers}{'x-request-id'}, "$sentence: with its id");
	return;
}

is(length $server->request('GET', '/big.txt')->{body}, 3_000_000,
	'a large file arrives whole');
is($server->request('HEAD', '/big.txt')->{headers}{'content-length'},
	3_000_000, 'HEAD tells its length');
is_error(post('x' x 20_000), 413, 'body_too_large', 'a body over our limit');
like(post('x' x 20_000)->{body}, qr/10000 bytes/, 'which we answer');
is_error(post('x' x 200_000), 413, 'body_too_large', "over nginx's limit");
is($server->request('GET', '//x')->{status}, 403,
	'two slashes arrive as they were sent');
is($server->request('TRACE', '/')->{status}, 405, 'TRACE is refused');
is($server->request('GET', '/' . 'a' x 40_000)->{status}, 414,
	'an endless address is refused');
is_error($server->run('/', ['true'], headers => { Cookie => 'a' x 40_000 }),
	400, 'bad_request', 'so is an endless header');
is($server->request('GET', '/', headers => { Host => 'evil.example' })
	->{status}, 421, 'a foreign Host is refused');
is($server->request('GET', '/__front/json/413')->{status}, 404,
	"nginx's own places cannot be asked for");
is($server->request('GET', '/healthz')->{status}, 200, 'health');
is($server->request('GET', '/__meta/status')->{status}, 200,
	'figures, for this machine');
my $mine = $server->request('GET', '/', headers => {
	'X-Request-Id' => 'forged', 'Request-Id' => 'forged' });
unlike($mine->{headers}{'x-request-id'}, qr/forged/,
	"a client's own request id is not believed");

# A worker that is killed under a request: an answer, in our shape.
SKIP: {
	my $probe = $server->run('/', ['sleep', '0']);
	skip 'tools cannot be confined here', 4 if $probe->{status} != 200;
	my $pid = fork() // die "fork: $!";
	if ($pid == 0) {
		sleep 0.7;
		my $all = Statespace::Server::processes();
		my @tool = grep { $all->{$_}{line} eq 'sleep 33.5' } keys %$all;
		kill 'KILL', map { $all->{$_}{ppid} } @tool;
		POSIX::_exit(0);
	}
	is_error($server->run('/', ['sleep', '33.5']), 502, 'internal',
		'a worker killed under a request');
	waitpid $pid, 0;
}
# The worker that was killed may have been younger than a second.
$server->stop_ok(allow => qr/ended by signal|while it started|upstream prematurely|too large|too long/);

# Without its nginx it stops, and says so.
$server = Statespace::Server->start(files => { 'README.md' => $page });
my $pid = $server->pid;
my $all = $server->note_processes;
kill 'KILL', grep {
	$all->{$_}{ppid} == $pid && $all->{$_}{line} =~ /^nginx: master/
} keys %$all;
ok($server->log_says(qr/nginx was ended by signal 9; stopping/),
	'when nginx dies it says so');
isnt($server->reap, 0, 'and stops, with no success');
sleep 0.3;
is(join("\n", $server->left_processes($pid)), '', "nginx's workers go, too");
delete $server->{pid};

# Killed, it cannot clean up; its processes see to themselves.
$server = Statespace::Server->start(files => { 'README.md' => $page });
$pid = $server->pid;
$all = $server->note_processes;
my ($run) = map { $all->{$_}{line} =~ m{ -p (/\S+)/ } } grep {
	$all->{$_}{ppid} == $pid } keys %$all;
kill 'KILL', $pid;
waitpid $pid, 0;
delete $server->{pid};
my $until = time + 8;
sleep 0.1 while time < $until && $server->left_processes($pid);
is(join("\n", $server->left_processes($pid)), '',
	'killed, it leaves no process');
File::Path::remove_tree($run);
undef $server;

done_testing;
