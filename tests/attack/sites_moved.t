#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Several sites in one pool, whose names lead to another site after the start:
# the root of one, a directory that is granted to it, a program that its page
# names.  And what Landlock has no right for: mode and times of the files that
# another site may write.
use strict;
use warnings;
use File::Temp;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json encode_json);
use Statespace::Attack;
use Statespace::FastCGI qw(request variables talk);
use Statespace::Pool;
use Statespace::Server;
use Statespace::TestSite qw(slurp write_file);
use Test::More;

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

# Below /tmp nothing is granted.
my $granted = File::Temp->newdir(DIR => '/var/tmp');
my ($data, $files) = ("$granted/data", "$granted/files");
chmod 0755, $granted;

sub page
{
	my (@more) = @_;

	return join "\n", '---', 'tools:',
	    '  - [sh, -c, { name: line, kind: text }, ;]', @more, '---',
	    '# Site', '';
}

sub make_site
{
	my $made = Statespace::TestSite->new(files => { 'b/README.md' => page(),
		'b/secret.txt' => "PWNED\n", 'b/run' => "#!/bin/sh\n# PWNED\n",
		'up/a/README.md' => 'later', 'up/a/own.txt' => "own\n" });
	my ($A, $B) = map { $made->dir . "/$_" } qw(up/a b);

	chmod 0755, "$B/run" or die "chmod: $!";
	write_file("$A/README.md", page(
		"  - { command: [ls, $data, ;], read: [$data] }",
		"  - { command: [cat, $data/secret.txt, ;], read: [$data] }",
		"  - { command: [head, $B/run, ;], exec: [$B/run] }"));
	system('rm', '-rf', '--', $data, "$data.old", $files) == 0 or die 'rm';
	for ($data, $files) {
		mkdir or die "$_: $!";
		chmod 0777, $_;
	}
	write_file("$data/own.txt", "own\n");
	return ($made, $A, $B);
}

sub start
{
	my ($made, $level, $A, $B) = @_;

	return Statespace::Pool->start(site => $made, sites => 1,
		config => <<"TOML");
sandbox.mode = "$level"

[pool]
mode = "static"
workers = 1
reserve = 0
max_requests = 1

[site."a.example"]
root = "$A"
grant.read = ["$data"]
[site."b.example"]
root = "$B"
grant.write = ["$files"]
TOML
}

sub post
{
	my ($pool, $host, @command) = @_;
	my $body = encode_json({ command => \@command });
	my $answer = talk($pool->socket, request(variables(
		REQUEST_METHOD => 'POST', HTTP_HOST => $host,
		CONTENT_TYPE => 'application/json',
		CONTENT_LENGTH => length $body), $body));

	return eval { decode_json($answer->{body}) } || $answer;
}

sub get
{
	my ($pool, $path) = @_;

	return talk($pool->socket, request(variables(SCRIPT_NAME => $path,
		REQUEST_URI => $path, HTTP_HOST => 'a.example')))->{body};
}

for my $level (Statespace::Attack::levels()) {
	my ($made, $A, $B) = make_site();
	my $pool = start($made, $level, $A, $B);
	my @seen;

	is(post($pool, 'a.example', 'sh', '-c', 'cat own.txt')->{stdout}, "own\n",
		"$level: control: A's tool reads A");
	is(post($pool, 'a.example', 'ls', $data)->{stdout}, "own.txt\n",
		"$level: control: A's tool lists what it is granted");
	is(post($pool, 'b.example', 'sh', '-c', 'cat secret.txt')->{stdout},
		"PWNED\n", "$level: control: B's tool reads B");
	unlike(encode_json(post($pool, 'a.example', 'head', "$B/run")),
		qr/PWNED/, "$level: a program of B is not readable at A");

	# Each request has a worker of its own; one may be there already.
	rename $data, "$data.old" or die "rename: $!";
	symlink $B, $data or die "symlink: $!";
	push @seen, encode_json(
		post($pool, 'a.example', 'cat', "$data/secret.txt")) for 1 .. 3;
	unlike("@seen", qr/PWNED/,
		"$level: a grant that leads to B now shows nothing of it");

	@seen = ();
	rename $A, "$A.old" or die "rename: $!";
	symlink $B, $A or die "symlink: $!";
	push @seen, get($pool, '/secret.txt'),
	    encode_json(post($pool, 'a.example', 'sh', '-c', 'cat secret.txt'))
	    for 1 .. 3;
	unlike("@seen", qr/PWNED/,
		"$level: a root that leads to B now shows nothing of it");
	is(post($pool, 'b.example', 'sh', '-c', 'cat secret.txt')->{stdout},
		"PWNED\n", "$level: ... and B is served");
	unlink $A;
	rename "$A.old", $A or die "rename: $!";
	unlike("@seen", qr/\Q$B\E/, "$level: ... nor its path");
	$pool->until_true(sub { (get($pool, '/own.txt') // '') eq "own\n" });
	is(get($pool, '/own.txt'), "own\n", "$level: A is served again");
	unlink $data;
	$pool->stop_ok(allow => qr/reload|root|mount|not confined/);
}

SKIP: {
	skip 'no strict level here', 8
	    unless grep { $_ eq 'strict' } Statespace::Attack::levels();
	my ($made, $A, $B) = make_site();
	my $pool = start($made, 'strict', $A, $B);
	my $file = "$files/of-b";
	my $own = $> == 0 ? (getpwnam('statespace') // getpwnam('nobody')) : $>;

	write_file($file, "b\n");
	chown $own, -1, $file if $> == 0;
	chmod 0640, $file;
	utime 1_000_000_000, 1_000_000_000, $file;
	my %try = (chmod => "chmod 777 $file", touch => "touch -d 2001-01-01 $file",
		chown => "chown -h \$(id -u) $file",
		perl => "perl -e 'chmod 0777, qq($file) or die'");

	for my $name (sort keys %try) {
		my $said = post($pool, 'a.example', 'sh', '-c', $try{$name});
		is($said->{sandbox}{level}, 'strict', "$name ran");
		my @stat = stat $file;
		is(sprintf('%o %d', $stat[2] & 07777, $stat[9]),
			'640 1000000000', "... and changed nothing of B's file");
		isnt($said->{returncode}, 0, '... and was told so');
	}
	my $said = post($pool, 'a.example', 'sh', '-c',
		'cd ${TMPDIR:-/tmp} && echo x > f && cp f g && cat g');
	is($said->{stdout}, "x\n", 'files in /tmp can be made and copied')
	    or diag encode_json($said);
	$pool->stop_ok;
}
done_testing;
