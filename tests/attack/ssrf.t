#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The HTTP tool against every way inside.  The test lives in a network
# namespace of its own: public addresses that exist only in a second one behind
# a veth pair, a resolver that changes its mind, services that must not be
# reached, some of them at addresses that are public and this machine's own.  Each attack has a
# control: the real curl, in the same sandbox with the whole network, gets in.
use strict;
use warnings;
use Cwd ();
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp ();
use IO::Select;
use IO::Socket::INET;
use JSON::PP ();
use Socket qw(:all);
use Test::More;
use Statespace::Calls;
use Statespace::Server;
use Statespace::TestSite qw(slurp write_file);

my $PUBLIC4 = '93.184.216.34';
my $PUBLIC6 = '2606:2800:220:1:248:1893:25c8:1946';
# This machine's own, as public as those: of an interface, and of a `local`
# route (each address of it is this machine's).
my $OWN4 = '93.184.217.1';
my $ROUTED4 = '93.184.218.77';
my $OWN6 = '2606:2800:220:2::1';
my $ROUTED6 = '2606:2800:220:3::77';
my $SECRET = 'SECRET-WITHIN';

if (!@ARGV) {
	plan skip_all => 'only root can make a network namespace' if $> != 0;
	plan skip_all => 'nginx is not installed'
	    unless Statespace::Server::front('nginx');
	for my $program (qw(unshare ip mount /usr/bin/curl)) {
		plan skip_all => "$program is not installed"
		    if system "command -v $program >/dev/null";
	}
	plan skip_all => 'this machine allows no network namespace'
	    if system 'unshare --net --mount true 2>/dev/null';
	exec 'unshare', '--net', '--mount', $^X, Cwd::realpath($0), 'inside'
	    or die "unshare: $!";
}

# ------------------------------------------------------------------ within --

my $temp = File::Temp->newdir('statespace-ssrf-XXXXXX', TMPDIR => 1);
my $log = "$temp/connections";
my @children;

sub must { system(@_) == 0 or BAIL_OUT("@_ failed") }

must('ip', 'link', 'set', 'lo', 'up');
must('ip', 'addr', 'add', "$_/32", 'dev', 'lo')
    for '169.254.169.254', '10.1.2.3', '192.168.7.7', '100.64.1.1', $OWN4;
must('ip', 'route', 'add', 'local', '93.184.218.0/24', 'dev', 'lo');
my $six = system("ip addr add fd00::1/128 dev lo nodad 2>/dev/null") == 0;
system "ip addr add $_/128 dev lo nodad 2>/dev/null"
    for '64:ff9b::7f00:1', '2002:7f00:1::1', $OWN6;
system "ip -6 route add local 2606:2800:220:3::/64 dev lo" if $six;
write_file("$temp/resolv.conf", "nameserver 127.0.0.1\noptions timeout:1\n");
write_file("$temp/hosts", "127.0.0.1 localhost\n::1 localhost\n");
write_file($log, '');
must('mount', '--bind', "$temp/resolv.conf", '/etc/resolv.conf');
must('mount', '--bind', "$temp/hosts", '/etc/hosts');
chmod 0755, "$temp";

sub child
{
	my ($code) = @_;
	my $pid = fork() // die "fork: $!";

	if (!$pid) {
		@children = ();
		alarm 120;
		eval { $code->(); 1 } or warn "a service ended: $@";
		require POSIX;
		POSIX::_exit(0);
	}
	push @children, $pid;
	return;
}
END {
	local $?;
	kill 'KILL', @children if @children;
	waitpid $_, 0 for @children;
}

# A service on port 80 of every address: it says where it was reached.
sub listener
{
	my ($family) = @_;

	socket my $s, $family, SOCK_STREAM, 0 or return;
	setsockopt $s, SOL_SOCKET, SO_REUSEADDR, 1;
	setsockopt $s, IPPROTO_IPV6, IPV6_V6ONLY, 1 if $family == AF_INET6;
	bind $s, $family == AF_INET6 ? pack_sockaddr_in6(80, IN6ADDR_ANY)
	    : pack_sockaddr_in(80, INADDR_ANY) or return;
	listen $s, 32 or return;
	return $s;
}

sub service
{
	my $select = IO::Select->new(grep { $_ } listener(AF_INET),
		listener(AF_INET6));
	while (my @ready = $select->can_read) {
		for my $from (@ready) {
			accept my $c, $from or next;
			my $name = getsockname $c;
			my $at = sockaddr_family($name) == AF_INET6
			    ? inet_ntop(AF_INET6, (unpack_sockaddr_in6 $name)[1])
			    : inet_ntoa((unpack_sockaddr_in $name)[1]);
			my $inside = $at ne $PUBLIC4 && $at ne $PUBLIC6;
			my $head = '';
			while (my $line = <$c>) {
				$head .= $line;
				last if $line =~ /^\r?\n\z/;
			}
			open my $file, '>>', $log;
			print $file "$at\n" if $inside;
			close $file;
			my $body = $inside ? "$SECRET at $at\n" : "PUBLIC\n";
			my $more = $head =~ m{^GET /redirect (?:.*)} ?
			    "Location: http://127.0.0.1/\r\n" : '';
			my $status = $more ? '302 Found' : '200 OK';
			syswrite $c, "HTTP/1.1 $status\r\nContent-Length: "
			    . length($body) . "\r\n${more}Connection: close"
			    . "\r\n\r\n$body";
			close $c;
		}
	}
	return;
}

# The rest of the world: a namespace whose addresses are not this machine's.
sub outside
{
	pipe my $ready, my $tell or die "pipe: $!";
	pipe my $wait, my $go or die "pipe: $!";
	child(sub {
		syscall(Statespace::Calls::number('unshare'), 0x40000000) == 0
		    or die "unshare: $!"; # CLONE_NEWNET
		syswrite $tell, 'r';
		sysread $wait, my $byte, 1;
		must('ip', 'link', 'set', $_, 'up') for 'lo', 'world';
		must('ip', 'addr', 'add', '10.99.0.2/30', 'dev', 'world');
		must('ip', 'addr', 'add', "$PUBLIC4/32", 'dev', 'lo');
		if ($six) {
			must(qw(ip addr add fd99::2/64 dev world nodad));
			must(qw(ip addr add), "$PUBLIC6/128", qw(dev lo nodad));
		}
		syswrite $tell, 'r';
		service();
	});
	sysread $ready, my $byte, 1 or BAIL_OUT('no second namespace');
	must(qw(ip link add here type veth peer name world));
	must(qw(ip link set world netns), $children[-1]);
	must(qw(ip link set here up));
	must(qw(ip addr add 10.99.0.1/30 dev here));
	must(qw(ip addr add fd99::1/64 dev here nodad)) if $six;
	syswrite $go, 'g';
	sysread $ready, $byte, 1 or BAIL_OUT('no second namespace');
	must(qw(ip route add default via 10.99.0.2));
	must(qw(ip -6 route add default via fd99::2)) if $six;
	return;
}

# name => [type, address...]; a list of lists takes turns.
my %ZONE = (
	'public.example' => [A => $PUBLIC4],
	'loopback.example' => [A => '127.0.0.1'],
	'metadata.example' => [A => '169.254.169.254'],
	'private.example' => [A => '10.1.2.3'],
	'shared.example' => [A => '100.64.1.1'],
	'loopback6.example' => [AAAA => '::1'],
	'mapped.example' => [AAAA => '::ffff:127.0.0.1'],
	'nat64.example' => [AAAA => '64:ff9b::7f00:1'],
	'local6.example' => [AAAA => 'fd00::1'],
	'sixtofour.example' => [AAAA => '2002:7f00:1::1'],
	'alias.example' => [CNAME => 'loopback.example'],
	'both.example' => [A => '127.0.0.1', $PUBLIC4],
	'own.example' => [A => $OWN4],
	'own6.example' => [AAAA => $OWN6],
	'turns.example' => [[A => $PUBLIC4], [A => '127.0.0.1']],
);
my %asked;

sub dns_name { return join('', map { pack 'C/a', $_ } split /\./, $_[0]) . "\0" }

sub dns_answer
{
	my ($query) = @_;
	my ($id) = unpack 'n', $query;
	my ($at, @labels) = (12);
	while (my $n = ord substr $query, $at, 1) {
		push @labels, substr $query, $at + 1, $n;
		$at += $n + 1;
	}
	my $name = lc join '.', @labels;
	my $type = unpack 'n', substr $query, $at + 1, 2;
	my $question = substr $query, 12, $at + 5 - 12;
	my $wanted = $type == 1 ? 'A' : $type == 28 ? 'AAAA' : '';
	my $records = $ZONE{$name} or return pack('n6', $id, 0x8183, 1, 0, 0, 0)
	    . $question;
	if (ref $records->[0]) {
		$asked{$name} = ($asked{$name} // -1) + ($type == 1);
		$records = $records->[$asked{$name} % @$records];
	}
	my ($kind, @data) = @$records;
	my @answers;
	if ($kind eq 'CNAME') {
		push @answers, dns_name($name) . pack('n2Nn/a', 5, 1, 0,
			dns_name($data[0]));
		$name = $data[0];
		($kind, @data) = @{ $ZONE{$name} };
	}
	push @answers, map { dns_name($name) . pack 'n2Nn/a', $type, 1, 0,
		inet_pton($type == 1 ? AF_INET : AF_INET6, $_) } @data
	    if $kind eq $wanted;
	return pack('n6', $id, 0x8180, 1, scalar @answers, 0, 0) . $question
	    . join '', @answers;
}

my $udp = IO::Socket::INET->new(Proto => 'udp', LocalAddr => '127.0.0.1',
	LocalPort => 53) or BAIL_OUT("no resolver: $@");
child(sub {
	while (1) {
		my $peer = $udp->recv(my $query, 1500);
		warn "recv: $!" unless defined $peer;
		$udp->send(dns_answer($query), 0, $peer) if $peer;
	}
});
child(\&service);
outside();
for (1 .. 100) {
	last if IO::Socket::INET->new(PeerAddr => '127.0.0.1:80');
	select undef, undef, undef, 0.05;
}

my $server = Statespace::Server->start(
	files => {
		'README.md' => "---\ntools: [[curl]]\n---\n",
		'open.md' => "---\nsandbox: {network: true}\n"
		    . "tools: [[/usr/bin/curl]]\n---\n",
		'netlink.md' => "---\nsandbox: {network: true}\n"
		    . "tools: [[perl, -e]]\n---\n",
		'ours.md' => "---\nsandbox: {network: ['$OWN4/32']}\n"
		    . "tools: [[curl]]\n---\n",
		'own.md' => "---\nsandbox: {network: ['10.1.0.0/16', "
		    . "'loopback.example:80']}\ntools: [[curl]]\n---\n",
	},
	config => "[grant]\nnetwork = true\n[limits]\ntimeout = 20.0\n");
my $json = JSON::PP->new->utf8;

sub run
{
	my ($page, @words) = @_;
	my $answer = $server->run($page, \@words);
	my $got = eval { $json->decode($answer->{body}) } || {};

	$got->{status} = $answer->{status};
	$got->{code} = $got->{error} ? $got->{error}{code} : '';
	$got->{all} = join ' ', map { $_ // '' } @$got{qw(stdout stderr)};
	return $got;
}

# How often a service within was reached by what $code does.
sub reached
{
	my ($code) = @_;

	write_file($log, '');
	$code->();
	select undef, undef, undef, 0.02;
	return scalar split /\n/, slurp($log);
}

sub attack
{
	my ($url, %with) = @_;
	my ($got, $control);
	my $shown = $url =~ s/([^ -~])/sprintf '\\x{%x}', ord $1/ger;
	my $count = reached(sub { $got = run('/', 'curl', '-s', $url) });

	ok($count == 0 && $got->{status} == 403
		&& $got->{code} eq 'address_refused'
		&& index($got->{all}, $SECRET) < 0,
		"refused, and nothing is reached: $shown")
	    or diag("$count reached; $got->{status} $got->{code} $got->{all}");
	return if $with{no_control};
	$control = run('/open', '/usr/bin/curl', '-sg', '-m', '5', '--noproxy', '*',
		$url);
	like($control->{stdout} // '', qr/$SECRET/, '... the control gets in')
	    or diag("$control->{status} $control->{all}");
	return;
}

# ------------------------------------------------------------- the controls --

is(run('/', 'curl', '-s', "http://$PUBLIC4/")->{stdout}, "PUBLIC\n",
	'a public address is reached');
is(run('/', 'curl', '-s', 'http://public.example/')->{stdout}, "PUBLIC\n",
	'and a name that leads there');
SKIP: {
	skip 'no IPv6 here', 1 unless $six;
	is(run('/', 'curl', '-s', "http://[$PUBLIC6]/")->{stdout}, "PUBLIC\n",
		'and an address of version 6');
}

# ---------------------------------------------------------------- spellings --

attack($_) for 'http://127.0.0.1/', 'http://127.1/', 'http://2130706433/',
    'http://0x7f000001/', 'http://0x7f.1/', 'http://017700000001/',
    'http://0177.0.0.01/', 'http://0/', 'http://localhost/', 'HTTP://127.0.0.1:80',
    'http://169.254.169.254/latest/meta-data/', 'http://10.1.2.3/',
    'http://192.168.7.7/', 'http://100.64.1.1/', 'http://user@127.0.0.1/',
    "http://$PUBLIC4\@127.0.0.1/", 'http://%31%32%37.0.0.1/',
    'http://127.0.0.1#@public.example/', 'http://127.0.0.1?@public.example/';
# Spellings that this machine's curl may not take: no control.
attack($_, no_control => 1) for 'http://127.0.0.1./', 'http://LocalHost./';
attack("http://\x{ff11}\x{ff12}\x{ff17}.0.0.1/", no_control => 1);
attack("http://127\x{3002}0\x{3002}0\x{3002}1/", no_control => 1);
SKIP: {
	skip 'no IPv6 here', 10 unless $six;
	attack($_) for 'http://[::1]/', 'http://[::ffff:127.0.0.1]/',
	    'http://[::ffff:7f00:1]/', 'http://[0:0:0:0:0:0:0:1]/',
	    'http://[64:ff9b::7f00:1]/', 'http://[fd00::1]/',
	    'http://[2002:7f00:1::1]/';
}

# -------------------------------------------------------------------- names --

attack("http://$_.example/") for qw(loopback metadata private shared alias);
SKIP: {
	skip 'no IPv6 here', 8 unless $six;
	attack("http://$_.example/") for qw(loopback6 mapped nat64 local6
		sixtofour);
}

# ----------------------------------------- public, and this machine's own --

attack("http://$_/") for $OWN4, $ROUTED4, 'own.example';
SKIP: {
	skip 'no IPv6 here', 9 unless $six;
	attack("http://$_/") for "[$OWN6]", "[$ROUTED6]", 'own6.example',
	    "[::ffff:$OWN4]";
	attack("http://[64:ff9b::5db8:d901]/", no_control => 1);
}
like(run('/ours', 'curl', '-s', "http://$OWN4/")->{stdout}, qr/$SECRET/,
	'one that operator and page name is reached');
is(run('/ours', 'curl', '-s', "http://$ROUTED4/")->{code}, 'address_refused',
	'... and nothing beside it');
# What asks for routes is the helper's alone, and of netlink nothing else.
is(run('/netlink', 'perl', '-e', Statespace::Calls::here('print join " ", '
	. 'map { syscall(41, 16, 3, $_) >= 0 ? 1 : 0 } 0, 4, 16'))
	->{stdout}, '0 0 0', 'a tool with the network has no netlink socket');

# A name with both: the public one is reached, the other never.
{
	my $got;
	my $count = reached(sub {
		$got = run('/', 'curl', '-s', 'http://both.example/') });
	is($count, 0, 'of two addresses the one within is never reached');
	ok($got->{status} == 403 || $got->{stdout} eq "PUBLIC\n",
		'... the other one may be');
	my $control = join '', map { run('/open', '/usr/bin/curl', '-s',
		'http://both.example/')->{stdout} } 1 .. 2;
	like($control, qr/$SECRET/, '... the control gets in');
}

# A resolver that answers differently every time: what is checked is what is
# connected to.
{
	my (@got, %seen);
	my $count = reached(sub {
		push @got, run('/', 'curl', '-s', 'http://turns.example/')
		    for 1 .. 10;
	});
	$seen{ $_->{code} || $_->{stdout} }++ for @got;
	is($count, 0, 'however a name turns, nothing within is reached');
	ok($seen{"PUBLIC\n"} && $seen{address_refused}
		&& keys %seen == 2, '... its answers are the public one and 403')
	    or diag(join ', ', %seen);
	my $control = join '', map { run('/open', '/usr/bin/curl', '-s',
		'http://turns.example/')->{stdout} } 1 .. 6;
	like($control, qr/$SECRET/, '... the control gets in');
}

# ---------------------------------------------------------------- redirects --

{
	my $got;
	my $count = reached(sub { $got = run('/', 'curl', '-si',
		'http://public.example/redirect') });
	like($got->{stdout}, qr{^HTTP/1\.1 302.*Location: http://127}s,
		'a redirect is shown');
	is($count, 0, '... and not followed');
	is(run('/', 'curl', '-L', 'http://public.example/redirect')->{code},
		'not_allowed', '... whatever the agent asks');
	like(run('/open', '/usr/bin/curl', '-sL',
		'http://public.example/redirect')->{stdout}, qr/$SECRET/,
		'... the control follows it');
}

# --------------------------------------------- the environment, other ways --

is(run('/', 'curl', $_, 'x', 'http://public.example/')->{code}, 'not_allowed',
	"$_ opens no other way out")
    for qw(-x --proxy --resolve --connect-to --unix-socket --interface
	--doh-url --socks5 -K --next --dns-servers);
is(run('/', 'curl', "$_//127.0.0.1/")->{status}, 403, "$_ is not spoken")
    for qw(file: gopher: dict: ftp: ldap: telnet: tftp: smb: rtsp: scp: ws:);

# ---------------------------------------------------------- what is widened --

like(run('/own', 'curl', '-s', 'http://10.1.2.3/')->{stdout}, qr/$SECRET/,
	'a range that operator and page name is reached');
like(run('/own', 'curl', '-s', 'http://loopback.example/')->{stdout},
	qr/$SECRET/, 'and a host and port');
is(run('/own', 'curl', '-s', "http://$_/")->{code}, 'address_refused',
	"and nothing beside it: $_")
    for qw(127.0.0.1 192.168.7.7 alias.example metadata.example
	loopback.example:81);
is(run('/', 'curl', '-s', 'http://10.1.2.3/')->{code}, 'address_refused',
	'a page that does not ask has no part in it');

$server->stop_ok;
done_testing;
