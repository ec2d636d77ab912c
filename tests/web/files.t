#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Files through a real front server (statespace-protocol(7), READING): types, validators, conditions,
# one range; a file far larger than memory may be; and files that are handed
# over to the front server, which may only be some.
use strict;
use warnings;
use File::Copy qw(copy);
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Socket::INET;
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep time);
use Statespace::Pool;
use Statespace::Server qw(free_port);
use Statespace::TestSite qw(slurp);

plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');

my $LARGE = 2 << 30;
my $ODD = "d\xc3\xa9 %41 #1?x;\"'&+.csv";
my $ODD_URL = '/d%C3%A9%20%2541%20%231%3Fx%3B%22%27%26%2B.csv';

# Requests to a front server that the test started itself.
{
	package Asks;
	our @ISA = ('Statespace::Server');
	sub DESTROY { }
}

# What a process and all below it hold, each, in KiB; not what one alone holds,
# which changes when a process that it was forked from ends.
sub memory
{
	my ($top) = @_;
	my $all = Statespace::Server::processes();
	my %in = ($top => 1);
	my %held;

	for (1 .. 8) {
		$in{$_} = 1 for grep { $in{ $all->{$_}{ppid} } } keys %$all;
	}
	for my $pid (grep { $all->{$_}{line} !~ /nginx/ } keys %in) {
		open my $file, '<', "/proc/$pid/status" or next;
		($held{$pid}) = map { /^RssAnon:\s+(\d+)/ } <$file>;
	}
	return \%held;
}

# By how much the one that grew most did.
sub growth
{
	my ($before, $after) = @_;
	my @grew = sort { $b <=> $a } map { ($after->{$_} // 0) - $before->{$_} }
	    grep { defined $before->{$_} } keys %$before;

	return $grew[0];
}

# Reads an answer without holding it: its length, and the sum of some bytes.
sub drink
{
	my ($server, $path) = @_;
	my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
		PeerPort => $server->port) or die "connect: $@";
	my ($length, $head) = (0, '');

	print $socket "GET $path HTTP/1.0\r\nHost: 127.0.0.1:"
	    . $server->port . "\r\n\r\n";
	while (sysread $socket, my $chunk, 1 << 20) {
		if ($head !~ /\r\n\r\n/) {
			$head .= $chunk;
			$length = length($1) if $head =~ /\r\n\r\n(.*)\z/s;
			next;
		}
		$length += length $chunk;
	}
	return $length;
}

# What a front holds in files that have lost their names, as temporary ones do.
sub temporary_bytes
{
	my ($top) = @_;
	my $all = Statespace::Server::processes();
	my $sum = 0;

	for my $pid (grep { $all->{$_}{line} =~ /nginx/
			&& ($all->{$_}{ppid} == $top
			|| ($all->{ $all->{$_}{ppid} } || { ppid => 0 })
			->{ppid} == $top) } keys %$all) {
		for (glob "/proc/$pid/fd/*") {
			next unless (readlink // '') =~ m{/fastcgi/.*\(deleted\)};
			$sum += -s;
		}
	}
	return $sum;
}

sub is_idle
{
	my ($server) = @_;

	return $server->request('GET', '/__meta/status')->{body} =~ /"busy": 0,/;
}

# More clients than there are workers ask for a large file and read a little of
# it each time; a worker that had to send it would have to go on.
sub slow_readers
{
	my ($server) = @_;
	my @held;

	for (1 .. 6) {
		my $socket = $server->connect;
		print $socket "GET /large.bin HTTP/1.1\r\nHost: 127.0.0.1:"
		    . $server->port . "\r\n\r\n";
		$socket->flush;
		push @held, $socket;
	}
	my $idle;
	for (1 .. 100) {
		last if $idle = is_idle($server);
		sysread $held[0], my $part, 1 << 20 for 1 .. 4;
		sleep 0.05;
	}
	ok $idle, 'slow readers of a large file leave the worker idle';
	is sysread($_, my $begin, 1), 1, 'and each is answered' for @held;
	is $server->request('GET', '/README.md')->{status}, 200,
	    'slow readers of a large file hold no worker';
	cmp_ok temporary_bytes($server->pid), '<', 64 << 20,
	    'and it is not copied into temporary files';
	close $_ for @held;
	return;
}

# unsaid: behind the end, this front does not say the length.
sub same_files
{
	my ($server, $who, %but) = @_;
	my $get = sub {
		my ($path, %headers) = @_;
		return $server->request('GET', $path, headers => \%headers);
	};
	my $whole = $get->('/data.csv');
	my ($etag, $date) = @{ $whole->{headers} }{ 'etag', 'last-modified' };

	is $whole->{body}, join(',', 0 .. 99), "$who: the bytes";
	like $whole->{headers}{'content-type'}, qr{^text/csv}, "$who: the type";
	is $whole->{headers}{'x-content-type-options'}, 'nosniff',
	    "$who: which is not guessed";
	is $whole->{headers}{'content-security-policy'}, 'sandbox',
	    "$who: and runs no script";
	ok $whole->{headers}{'x-request-id'}, "$who: it has an id";
	like $get->('/page.html')->{headers}{'content-type'}, qr{^text/plain},
	    "$who: HTML is text";
	like $get->('/unknown.xyz')->{headers}{'content-type'},
	    qr{^application/octet-stream}, "$who: what is not known is bytes";
	ok $etag && $date, "$who: validators";
	my $head = $server->request('HEAD', '/data.csv');
	is $head->{headers}{'content-length'}, length $whole->{body},
	    "$who: HEAD tells the length";
	is $head->{headers}{etag}, $etag, "$who: HEAD tells the tag";
	is $get->('/data.csv', 'If-None-Match' => $etag)->{status}, 304,
	    "$who: If-None-Match";
	is $get->('/data.csv', 'If-None-Match' => '"other"')->{status}, 200,
	    "$who: another tag";
	is $get->('/data.csv', 'If-Modified-Since' => $date)->{status}, 304,
	    "$who: If-Modified-Since";
	is $get->('/data.csv', 'If-None-Match' => '"other"',
		'If-Modified-Since' => $date)->{status}, 200,
	    "$who: the tag counts more than the date";
	for (['bytes=0-3', '0,1,', 'bytes 0-3/289'], ['bytes=-3', ',99',
		'bytes 286-289/'], ['bytes=280-', undef, 'bytes 280-']) {
		my ($range, $body, $says) = @$_;
		my $part = $get->('/data.csv', Range => $range);
		my $all = $whole->{body};
		$body = substr $all, 280 if $range eq 'bytes=280-';
		$body = substr $all, -3 if $range eq 'bytes=-3';
		$body = substr $all, 0, 4 if $range eq 'bytes=0-3';
		is $part->{status}, 206, "$who: $range is a part";
		is $part->{body}, $body, "$who: $range";
		is $part->{headers}{'content-range'}, sprintf('bytes %d-%d/%d',
			index($all, $body) == 0 ? 0 : length($all) - length $body,
			index($all, $body) == 0 ? 3 : length($all) - 1,
			length $all), "$who: $range says which";
	}
	my $after = $get->('/data.csv', Range => 'bytes=9999-');
	is $after->{status}, 416, "$who: a range behind the end";
	is $after->{headers}{'content-range'},
	    'bytes */' . length $whole->{body}, "$who: which says the length"
	    unless $but{unsaid};
	is $get->('/data.csv', Range => 'bytes=0-3', 'If-Range' => $etag)
	    ->{status}, 206, "$who: If-Range with the tag";
	is $get->('/data.csv', Range => 'bytes=0-3', 'If-Range' => '"other"')
	    ->{status}, 200, "$who: If-Range with another";
	is $get->('/data.csv', Range => 'bytes=0-3', 'If-Range' => $date)
	    ->{status}, $but{undated} ? 200 : 206, "$who: If-Range with the date";
	is $get->('/data.csv', Range => 'bytes=0-3', 'If-Range' =>
		'Tue, 14 Nov 2000 22:13:20 GMT')->{status}, 200,
	    "$who: If-Range with another date";
	is $get->('/data.csv', Range => 'bytes=0-3', 'If-None-Match' => $etag)
	    ->{status}, 304, "$who: a condition comes before the range";
	is $get->('/empty')->{body}, '', "$who: an empty file";
	is $get->($ODD_URL)->{body}, "odd\n", "$who: a name that needs escapes";
	is $get->('/linked.csv')->{body}, $whole->{body}, "$who: a link inside";
	is $get->('/out.csv')->{status}, 403, "$who: a link that leaves";
	is $get->('/w/made.txt')->{body}, "made\n",
	    "$who: a file that tools may write";
	is $get->('/__front/file/data.csv')->{status}, 404,
	    "$who: the place of the front's own is no page";

	my $end = $get->('/large.bin', Range => 'bytes=-5');
	is $end->{body}, "\0\0END", "$who: the end of 2 GiB";
	is $end->{headers}{'content-range'},
	    sprintf('bytes %d-%d/%d', $LARGE - 5, $LARGE - 1, $LARGE),
	    "$who: and where it is";
	is $get->('/large.bin', Range => 'bytes=' . ($LARGE - 4) . '-'
		. ($LARGE - 3))->{body}, "\0E", "$who: a part beyond 31 bits";
	is $server->request('HEAD', '/large.bin')->{headers}{'content-length'},
	    $LARGE, "$who: its length";
	$etag = $server->request('HEAD', '/large.bin')->{headers}{etag};
	is $get->('/large.bin', 'If-None-Match' => $etag)->{status}, 304,
	    "$who: who has it gets nothing";
	is $get->('/large.bin', Range => 'bytes=-3', 'If-Range' => $etag)
	    ->{body}, 'END', "$who: or the part that is missing";
	return;
}

my %site = (
	files => { 'README.md' => "# plain\n",
		'data.csv' => join(',', 0 .. 99), 'page.html' => '<p>',
		'unknown.xyz' => 'x', 'empty' => '', $ODD => "odd\n",
		'w/made.txt' => "made\n", 'large.bin' => '',
		'sub/data.csv' => 'below', 'sub/.hidden.csv' => 'hidden',
		'.hidden.csv' => 'hidden', '.git/config' => 'hidden',
		'made.md' => "# Made\n\n```component\necho made here\n```\n" },
	symlinks => { 'linked.csv' => 'data.csv', 'out.csv' => '$OUT/secret.md',
		'linked' => 'sub', 'dots.csv' => 'sub/.hidden.csv' });

# A file with a hole: it takes no room on the disk.
sub make_large
{
	my ($site) = @_;

	open my $file, '+<', $site->dir . '/large.bin' or die "large.bin: $!";
	truncate $file, $LARGE or die "truncate: $!";
	sysseek $file, $LARGE - 3, 0;
	syswrite $file, 'END';
	return;
}

my $APACHE = '/usr/lib/apache2/modules';
# Apache does not run as root: its account must reach the socket.
my $SOCKET = "socket_mode = \"0666\"\n";
my $ours = qr/^"[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+"$/;
my $CONFIG = "[grant]\nwrite = [\"w\"]\n[pool]\nmode = \"static\"\nworkers = 1\n";
my $server = Statespace::Server->start(%site,
	config => "$CONFIG\[http]\nhandover = \"none\"\n");
make_large($server->site);
same_files($server, 'by us');
like $server->request('GET', '/data.csv')->{headers}{etag},
    qr/^"[0-9a-f]+-121-/, 'by us: the tag is ours';
my $before = memory($server->pid);
is drink($server, '/large.bin'), $LARGE, 'by us: 2 GiB arrive';
cmp_ok growth($before, memory($server->pid)), '<', 4096,
    'by us: and no worker grew by 4 MiB';
$server->stop_ok;

# What the front sends unless the operator says otherwise.
$server = Statespace::Server->start(%site, config => $CONFIG);
make_large($server->site);
same_files($server, 'handed over');
my $theirs = qr/^"[0-9a-f]+-121"$/;
like $server->request('GET', '/data.csv')->{headers}{etag}, $theirs,
    'handed over: the tag is of nginx';
for (['/linked.csv', 'what a link led to'], ['/w/made.txt', 'what a tool may write'],
	['/linked/data.csv', 'what lies behind a linked directory'],
	['/README.md', 'a page'], ['/made.md', 'a page with components']) {
	is $server->request('GET', $_->[0])->{status}, 200, "$_->[1] is there";
	unlike $server->request('GET', $_->[0])->{headers}{etag},
	    qr/^"[0-9a-f]+-[0-9a-f]+"$/, "$_->[1] is not handed over";
}
ok !defined $server->request('GET', '/data.csv')->{headers}{'x-accel-redirect'},
    'handed over: the client does not learn how';
like $server->request('GET', '/made.md')->{body}, qr/^made here$/m,
    'handed over: not the text of a page that is made when it is read';
for (qw(/.hidden.csv /sub/.hidden.csv /.git/config /dots.csv
	/__front/file/.hidden.csv /__front/file/data.csv /__front/
	/%5f_front/file/data.csv /__front%2ffile/data.csv
	/sub/../__front/file/data.csv //__front/file/data.csv)) {
	my $answer = $server->request('GET', $_);
	like $answer->{status}, qr/^40[034]$/, "handed over: $_ is not";
	unlike $answer->{body}, qr/hidden|0,1,2/, "handed over: nothing of $_";
}
is drink($server, '/large.bin'), $LARGE, 'handed over: 2 GiB arrive';
slow_readers($server);

# A link put there after nginx has its configuration leads nowhere.
symlink $server->site->out . '/secret.md', $server->site->dir . '/late.csv';
is $server->request('GET', '/late.csv')->{status}, 403,
    'handed over: a link of later leads nowhere';
my $program = Statespace::Server::binary();
my $dir = $server->site->dir;
is qx{STATESPACE_HTTP_HANDOVER=nginx "$program" exec -C "$dir" --get /data.csv},
    join(',', 0 .. 99), 'a local GET has no front server to send for it';
$server->stop_ok;

# Without a server: a process that writes it to a pipe.
for my $way ('--get', 'CGI') {
	my $site = Statespace::TestSite->new(%site);
	make_large($site);
	# As in a cgi-bin: its configuration lies beside it.
	my $cgi = $site->scratch . '/statespace.cgi';
	copy($program, $cgi) or die "copy: $!";
	chmod 0755, $cgi;
	Statespace::TestSite::write_file($site->scratch . '/statespace.toml',
		'root = "' . $site->dir . "\"\n");
	my $pid = open(my $out, '-|') // die "fork: $!";
	if (!$pid) {
		open STDERR, '>', '/dev/null';
		%ENV = (%ENV, GATEWAY_INTERFACE => 'CGI/1.1',
			REQUEST_METHOD => 'GET', HTTP_HOST => 'localhost',
			PATH_INFO => '/large.bin') if $way eq 'CGI';
		exec { $way eq 'CGI' ? $cgi : $program } 'statespace',
		    $way eq 'CGI' ? () : ('exec', '-C', $site->dir, '--get',
			'/large.bin') or POSIX::_exit(127);
	}
	my ($length, $tail, $first, $last) = (0, '');
	while (my $n = sysread $out, my $chunk, 1 << 20) {
		$length += $n;
		$tail = substr $tail . $chunk, -3;
		next if $length < $LARGE / 64;
		$first //= memory($pid);
		$last //= memory($pid) if $length > $LARGE / 2;
	}
	close $out;
	ok $length >= $LARGE && $tail eq 'END', "$way: 2 GiB arrive";
	cmp_ok growth($first, $last), '<', 4096, "$way: and it does not grow";
}

for my $other ('lighttpd', 'apache') {
	my $site = Statespace::TestSite->new(%site);
	my $said = qx{STATESPACE_HTTP_HANDOVER=$other "$program" serve -p 0 "@{[$site->dir]}" 2>&1};
	isnt $?, 0, "serve does not start for a hand-over to $other";
	like $said, qr/\Q$other\E.*nginx/, 'and says why';
}

# ------------------------------------------------- lighttpd and Apache ------
# The shipped configuration; Apache's with its lines for the hand-over.
sub lighttpd_conf
{
	my ($port, $pool) = @_;
	my $root = $pool->site->dir;
	my $conf = slurp("$FindBin::Bin/../../nginx/lighttpd.conf");

	$conf =~ s{/run/statespace/pool\.sock}{$pool->socket}ge;
	$conf =~ s{^server\.port = 80}{server.port = $port}m;
	# As the account of the test: it can read the site.
	$conf =~ s{^server\.(?:username|groupname) = .*\n}{}mg;
	$conf =~ s{/var/log/lighttpd}{$pool->site->scratch}ge;
	$conf =~ s{/srv/statespace}{$root}g;
	return $conf;
}

sub apache_conf
{
	my ($port, $pool) = @_;
	my ($root, $scratch) = ($pool->site->dir, $pool->site->scratch);
	my $conf = slurp("$FindBin::Bin/../../nginx/apache.conf");

	$conf =~ s{/run/statespace/pool\.sock}{$pool->socket}ge;
	$conf =~ s{VirtualHost \*:80}{VirtualHost *:$port};
	$conf =~ s{^\t#\t(XSendFile|SetEnv STATESPACE_HANDOVER)}{\t$1}mg;
	$conf =~ s{/srv/statespace}{$root}g;
	mkdir "$scratch/apache";
	return join '', "ServerRoot $scratch/apache\nServerName localhost\n",
	    "PidFile $scratch/apache/pid\nDefaultRuntimeDir $scratch/apache\n",
	    "Listen 127.0.0.1:$port\nErrorLog $scratch/front.log\n",
	    $> == 0 ? "User nobody\nGroup nogroup\n" : '',
	    (map { "LoadModule ${_}_module $APACHE/mod_$_.so\n" }
		qw(mpm_event authz_core alias proxy proxy_fcgi env
			setenvif xsendfile)),
	    $conf;
}

my %fronts = (
	lighttpd => { conf => \&lighttpd_conf, tag => qr/^"\d+"$/, unsaid => 1, odd => 1,
		command => sub { ('lighttpd', '-D', '-f', $_[0]) },
		missing => sub { Statespace::Server::front('lighttpd')
			? '' : 'lighttpd' } },
	# Its own tag would be the same for every file.
	apache => { conf => \&apache_conf, tag => $ours, odd => 0,
		command => sub { ('apache2', '-DFOREGROUND', '-f', $_[0]) },
		missing => sub { !Statespace::Server::front('apache2') ? 'Apache'
			: -e "$APACHE/mod_xsendfile.so" ? '' : 'mod_xsendfile' } },
);

# Its process and a Statespace::Server for requests to it.  A port that was
# free a moment ago may be somebody else's now: then another one.
sub start_front
{
	my ($name, $pool) = @_;
	my $scratch = $pool->site->scratch;
	my $file = "$scratch/front.conf";

	for (1 .. 3) {
		my $port = free_port();
		Statespace::TestSite::write_file($file,
			$fronts{$name}{conf}->($port, $pool));
		my $pid = fork() // die "fork: $!";
		if ($pid == 0) {
			POSIX::setsid();
			$ENV{PATH} .= ':/usr/sbin';
			open STDERR, '>>', "$scratch/front.log";
			open STDOUT, '>&', \*STDERR;
			exec $fronts{$name}{command}->($file)
			    or POSIX::_exit(127);
		}
		my $until = time + 30;
		while (waitpid($pid, POSIX::WNOHANG()) == 0 && time < $until) {
			return ($pid, bless { port => $port, owner => 0 }, 'Asks')
			    if IO::Socket::INET->new(PeerAddr => '127.0.0.1',
				    PeerPort => $port);
			sleep 0.05;
		}
		kill 'KILL', $pid;
	}
	die "$name does not start: " . slurp("$scratch/front.log", '');
}

# A worker's log line has no length where the front server sends the file.
sub is_sent_by_front
{
	my ($pool, $front, $path) = @_;
	my $id = $front->request('GET', $path)->{headers}{'x-request-id'};
	my $until = time + 10;
	my $line;

	until (($line) = $pool->log =~ /^(.*\bid=\Q$id\E .*)$/m) {
		die "no line about $path" if time > $until;
		sleep 0.02;
	}
	return $line =~ / bytes=/ ? 0 : 1;
}

for my $name (sort keys %fronts) {
	my $missing = $fronts{$name}{missing}->();

	SKIP: {
		skip "$missing is not installed", 1 if $missing;
		my $pool = Statespace::Pool->start(
			site => Statespace::TestSite->new(%site),
			config => "$CONFIG$SOCKET");
		my ($pid, $front) = start_front($name, $pool);
		make_large($pool->site);
		same_files($front, $name, %{ $fronts{$name} });
		like $front->request('GET', '/data.csv')->{headers}{etag},
		    $fronts{$name}{tag}, "$name: the tag";
		ok is_sent_by_front($pool, $front, '/data.csv'),
		    "$name: sends the file";
		is is_sent_by_front($pool, $front, $ODD_URL), $fronts{$name}{odd},
		    "$name: "
		    . ($fronts{$name}{odd} ? 'also' : 'not')
		    . ' one whose name needs escapes';
		for (['/linked.csv', 'what a link led to'],
			['/w/made.txt', 'what a tool may write'],
			['/README.md', 'a page']) {
			ok !is_sent_by_front($pool, $front, $_->[0]),
			    "$name: not $_->[1]";
		}
		ok !defined $front->request('GET', '/data.csv')
		    ->{headers}{'x-sendfile'},
		    "$name: the client does not learn how";
		is drink($front, '/large.bin'), $LARGE, "$name: 2 GiB arrive";
		kill 'TERM', $pid;
		waitpid $pid, 0;
		$pool->stop_ok;
	}
}

done_testing;
