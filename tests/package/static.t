#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# The one static program: alone in an empty root it is every program and every
# helper, as root and as an ordinary account, and its curl resolves names.  It
# needs no library, no libexec and no file beside it.  `make check-static`.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Socket::INET;
use IPC::Open3 qw(open3);
use JSON::PP ();
use POSIX ();
use Socket qw(inet_aton);
use Statespace::TestSite qw(write_file);
use Test::More;
use Time::HiRes qw(sleep);

my $top = abs_path(dirname(__FILE__) . '/../..');
my $build = abs_path($ENV{BUILD} // "$top/build");
my $made = "$build/static/statespace";
-x $made or plan skip_all => 'make static was not run';

# --------------------------------------------------------- the empty root --
my $site = Statespace::TestSite->new(files => {
	'README.md' => "---\ntools:\n  - [say, {}]\n  - [glob, {}]\n"
	    . "  - [read, {}]\n  - {name: count, pipe: [[glob, '*.txt'], "
	    . "[fs, grep, -l, here, a.txt], [say, done]]}\n---\n# Hello\n",
	'net.md' => "---\nsandbox: {network: ['pages.test:8099', "
	    . "'pages.test:8443']}\ntools: [[curl]]\n---\n",
	'a.txt' => "here\n" });
my $grant = "[grant]\nnetwork = [\"pages.test:8099\", \"pages.test:8443\"]\n";
my $work = $site->scratch;
my $root = "$work/root";
my $enter = "$work/enter";
my $cc = $ENV{CC} || 'cc';
my $JSON = JSON::PP->new->utf8;

make_path(map { "$root/$_" } qw(bin site tmp proc dev etc/ssl/certs));
chmod 01777, "$root/tmp";
write_file("$root/dev/null", '');
copy($made, "$root/bin/statespace") or die "copy: $!";
system('cp', '-R', $site->dir . '/.', "$root/site") == 0 or die 'cp';
write_file("$work/say.c", "#include <stdio.h>\nint main(int c, char **v)\n"
	. "{ for (int i = 1; i < c; i++) puts(v[i]); return 0; }\n");
for ([$enter, "$top/tests/package/enter.c"], ["$root/bin/say", "$work/say.c"]) {
	system("$cc -D_GNU_SOURCE -std=gnu11 -static -o '$_->[0]' '$_->[1]'")
	    == 0 or die "cannot compile $_->[1]";
}
chmod 0755, "$root/bin/statespace", "$root/bin/say", $enter;

# What a command prints and how it ends; input: its standard input.
sub ran
{
	my ($words, %with) = @_;
	local %ENV = (PATH => '/bin', %{ $with{env} || {} });
	local $SIG{PIPE} = 'IGNORE';
	my $pid = open3(my $in, my $out, undef, @$words);
	print $in $with{input} // '';
	close $in;
	my $text = do { local $/; <$out> } // '';
	waitpid $pid, 0;
	return wantarray ? ($text, $? >> 8) : $text;
}

if (($ARGV[0] // '') eq 'inside') {
	inside();
	exit;
}

# ------------------------------------------------------------- the program --
{
	my $elf = qx(readelf -lhd '$made' 2>/dev/null);

	SKIP: {
		skip 'no readelf', 3 unless $elf;
		unlike($elf, qr/INTERP/, 'it names no loader');
		unlike($elf, qr/NEEDED/, 'and no library');
		like($elf, qr/Type:\s+DYN/, 'its addresses are random');
	}
}
for (['statespace-tool', qr/^usage: statespace-tool/],
	['statespace-pipe', qr/^usage: statespace-pipe/],
	['/x/statespace-fcgi', qr/^usage: statespace-fcgi|fcgi/],
	['statespace-exec', qr/^usage: statespace-exec/]) {
	my ($name, $what) = @$_;
	my $link = "$work/" . $name =~ s{.*/}{}r;

	symlink $made, $link or die "symlink: $!";
	like(ran([$link, $name =~ /exec|fcgi/ ? '--help' : ()]), $what,
		"by the name $name it is that program");
}
# A request must not select a helper by what it sends.
like(ran([$made, 'statespace-tool', '--', 'read', '/etc/passwd']),
	qr/there is no command "statespace-tool"/,
	'no argument makes it a helper');

# ---------------------------------------------- without another file at all --
SKIP: {
	skip 'only root can pivot_root(2)', 1 if $> != 0;
	subtest 'in an empty root' => \&empty_root;
}
sub empty_root
{
	write_file("$root/etc/passwd", "nobody:x:65534:65534::/:/bin/false\n");
	write_file("$root/etc/group", "nogroup:x:65534:\n");
	for my $uid (0, 65534) {
		for my $mode ('strict', 'landlock') {
			confined($uid, $mode);
		}
	}
	is(listing(), $root, 'nothing was added to that root');
	like(ran([$enter, '-r', $root, '-u', 65534, '/bin/statespace', 'new',
		'/tmp/new']), qr/is a site now/, 'new has the starter in it');
	is(qx(diff -r '$root/tmp/new' '$top/examples/starter' 2>&1), '',
		'... the whole of it');
}

# The directories that hold what was not there before.
sub listing
{
	my %known = map { $_ => 1 } qw(bin site tmp proc dev etc);

	opendir my $dir, $root or die $!;
	return join ' ', $root, grep { !/^\./ && !$known{$_} } readdir $dir;
}

sub confined
{
	my ($uid, $mode) = @_;
	my $conf = "/etc/$mode.toml";
	my @in = ($enter, '-r', $root, '-u', $uid, '/bin/statespace');
	my @exec = (@in, 'exec', '-c', $conf, '-C', '/site', '--json', 'README.md');
	my $what = "uid $uid, $mode";

	write_file("$root$conf", "[sandbox]\nmode = \"$mode\"\n$grant");
	my $answer = eval { $JSON->decode(ran([@exec, '--', 'say', 'hi'])) };
	is($answer->{stdout}, "hi\n", "$what: a tool runs");
	is($answer->{sandbox}{level}, $mode, '... confined');
	like(ran([@exec, '--', 'glob', '*.md']), qr/"net\.md\\nREADME\.md\\n"|"README\.md\\nnet\.md\\n"/,
		'... and a built-in tool, which is this program');
	like(ran([@exec, '--', 'read', 'a.txt']), qr/"stdout": "here\\n"/,
		'... and another');
	like(ran([@exec, '--tool', 'count']), qr/"stdout": "done\\n"/,
		'... and a pipeline with both');
	like(ran([@in, 'check', '-c', $conf, '/site']), qr/, 0 errors/,
		'... and check');
	# Plain CGI, with a body.
	my $body = '{"command": ["glob", "*.txt"]}';
	write_file("$root/bin/statespace.toml",
		"root = \"/site\"\n[sandbox]\nmode = \"$mode\"\n");
	like(ran([@in], input => $body, env => { GATEWAY_INTERFACE => 'CGI/1.1',
		REQUEST_METHOD => 'POST', SCRIPT_NAME => '/x', PATH_INFO => '/',
		HTTP_HOST => 'localhost', CONTENT_TYPE => 'application/json',
		CONTENT_LENGTH => length $body }),
		qr/^Status: 200 .*"stdout": "a\.txt\\n"/ms, '... and plain CGI');
	unlink "$root/bin/statespace.toml";
}

# ------------------------------------------------------------- the resolver --
SKIP: {
	skip 'only root has a network namespace without a user one', 1
	    if $> != 0;
	subtest 'curl in a network of its own' => \&network;
}

# Answers A for pages.test, nothing for its AAAA, else NXDOMAIN.
sub answer_names
{
	my $udp = IO::Socket::INET->new(Proto => 'udp',
		LocalAddr => '127.0.0.53', LocalPort => 53) or exit 1;

	while (defined $udp->recv(my $asked, 512)) {
		my ($id, $rest) = unpack 'n x10 a*', $asked;
		my @labels = unpack '(C/a)*', $rest =~ s/\0.{4}.*//sr;
		my $name = lc join '.', @labels;
		my $type = unpack 'n', substr $rest, length($name) + 2, 2;
		my $known = $name eq 'pages.test';
		my $question = substr $rest, 0, length($name) + 6;
		my $address = $known && $type == 1
		    ? pack('n n n N n a4', 0xc00c, 1, 1, 60, 4,
			inet_aton('127.0.0.9')) : '';

		$udp->send(pack('n n n n n n', $id, $known ? 0x8180 : 0x8183, 1,
			$address ne '' ? 1 : 0, 0, 0) . $question . $address);
	}
	exit 0;
}

sub answer_http
{
	my $tcp = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.9',
		LocalPort => 8099, ReuseAddr => 1) or exit 1;

	while (my $client = $tcp->accept) {
		my $head = '';

		while (defined(my $line = <$client>)) {
			$head .= $line;
			last if $line eq "\r\n";
		}
		next unless $head =~ /^Host: (\S+)/mi;
		my $host = $1;
		print $client "HTTP/1.1 200 OK\r\nConnection: close\r\n"
		    . "Content-Length: " . length("plain $host") . "\r\n\r\n"
		    . "plain $host";
		close $client;
	}
	exit 0;
}

# A certificate authority of the test's own and a server that it signed.
sub make_certificates
{
	my $tls = "$work/tls";

	mkdir $tls;
	write_file("$tls/name", "subjectAltName=DNS:pages.test\n");
	write_file("$tls/page", "secret page\n");
	for ("req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem "
			. "-subj /CN=test -days 2",
		'req -newkey rsa:2048 -nodes -keyout key.pem -out req.pem '
			. '-subj /CN=pages.test',
		'x509 -req -in req.pem -CA ca.pem -CAkey ca.key '
			. '-CAcreateserial -days 2 -extfile name -out cert.pem') {
		system("cd '$tls' && openssl $_ 2>/dev/null") == 0
		    or die "openssl $_";
	}
	return $tls;
}

sub network
{
	# This test again, inside: the servers are its children.
	my $pid = open my $from, '-|' // die "fork: $!";
	if ($pid == 0) {
		exec $enter, '-n', $^X, abs_path(__FILE__), 'inside';
	}
	my $text = do { local $/; <$from> } // '';
	close $from;
	is($?, 0, 'everything inside was as it should be');
	cmp_ok(scalar(() = $text =~ /^ok /mg), '>=', 20, '... and was tried')
	    or diag $text;
}

sub inside
{
	my @children;

	write_file("$root/etc/passwd", "nobody:x:65534:65534::/:/bin/false\n");
	write_file("$root/etc/resolv.conf", "nameserver 127.0.0.53\n");
	# Modules that no static program could load, and not a word of DNS.
	write_file("$root/etc/nsswitch.conf",
		"passwd: systemd\nhosts: mymachines resolve\n");
	for my $server (\&answer_names, \&answer_http) {
		my $pid = fork // die "fork: $!";
		$server->() if $pid == 0;
		push @children, $pid;
	}
	my $tls = make_certificates();
	my $pid = fork // die "fork: $!";
	if ($pid == 0) {
		chdir $tls;
		open STDOUT, '>', '/dev/null';
		open STDERR, '>', '/dev/null';
		open STDIN, '<', '/dev/null';
		exec qw(openssl s_server -accept 127.0.0.9:8443 -cert cert.pem
			-key key.pem -WWW);
	}
	push @children, $pid;
	for my $port (8099, 8443) {
		my $until = time + 20;

		sleep 0.05 until time > $until || IO::Socket::INET->new(
			PeerAddr => '127.0.0.9', PeerPort => $port);
	}
	fetches($tls);
	kill 'TERM', @children;
	waitpid $_, 0 for @children;
	done_testing();
}

sub fetches
{
	my ($tls) = @_;

	for my $uid (0, 65534) {
		for my $mode ('strict', 'landlock') {
			fetch("uid $uid, $mode", $tls, $uid, $mode);
		}
	}
}

sub fetch
{
	my ($what, $tls, $uid, $mode) = @_;
	my @curl = ($enter, '-r', $root, '-u', $uid, '/bin/statespace', 'exec',
		'-c', '/etc/net.toml', '-C', '/site', 'net.md', '--', 'curl');
	my $bundle = "$root/etc/ssl/certs/ca-certificates.crt";

	write_file("$root/etc/net.toml", "[sandbox]\nmode = \"$mode\"\n$grant");
	is(ran([@curl, 'http://pages.test:8099/x']), 'plain pages.test:8099',
		"$what: a name is resolved and its page fetched");
	my ($said, $status) = ran([@curl, 'http://other.test:8099/']);
	isnt($status, 0, '... an unknown name is refused');
	unlink $bundle;
	($said, $status) = ran([@curl, 'https://pages.test:8443/page']);
	isnt($status, 0, '... HTTPS fails without authorities');
	unlike($said, qr/secret page/, '... and brings nothing');
	copy("$tls/ca.pem", $bundle) or die "copy: $!";
	like(ran([@curl, 'https://pages.test:8443/page']), qr/secret page/,
		'... HTTPS is trusted by the file that is there');
}

done_testing;
