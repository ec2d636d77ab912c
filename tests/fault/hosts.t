#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Three pool hosts and a front (nginx, then HAProxy), each in a network
# namespace of its own, with the files of examples/hosts: one host stopped for a
# while, one partitioned, one killed, one upgraded, under load.  No GET is lost,
# no POST runs twice, and no answer says less than what happened.
#
#	HOSTS_SECONDS=600 prove tests/fault/hosts.t	the troubles again and again,
#							half of it for each front
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use FindBin;
use IO::Socket::INET;
use lib "$FindBin::Bin/../lib";
use POSIX ();
use Statespace::Server;
use Statespace::TestSite qw(slurp write_file);
use Test::More;
use Time::HiRes qw(sleep time);

my $CLIENTS = 12;
my $PORT = 8080;
my %PAGES = ('/' => undef, '/big.txt' => join('', map { "line $_\n" } 1 .. 4000));

# ------------------------------------------------------------------ a client --
# In the front's namespace: asks until it is told to stop, a line for each
# answer: "get ok", "get lost WHY", "post ID STATUS WHAT".
if (@ARGV && $ARGV[0] eq '--client') {
	my (undef, $number, $stop, $readme) = @ARGV;

	$PAGES{'/'} = slurp($readme);
	$| = 1;
	for (my $n = 0; !-e $stop; $n++) {
		$n % 3 == 0 ? client_post($number, "$number-$n")
		    : client_get($number, $n % 3 == 1 ? '/' : '/big.txt');
		sleep 0.02;
	}
	POSIX::_exit(0);
}

sub client_get
{
	my ($number, $path) = @_;
	my $began = time;
	my ($status, $body) = exchange($number, "GET $path HTTP/1.1\r\n");
	my $right = $status == 200 && $body eq $PAGES{$path};

	printf "get %s %.1f %s\n", $right ? 'ok' : 'lost', time - $began,
	    $right ? '' : "$path $status " . length $body;
	return;
}

sub client_post
{
	my ($number, $id) = @_;
	my $nap = "0.$id" =~ s/^0\.\d+-\d*(\d)$/0.$1/r;
	my $json = qq({"command": ["sh", "-c", "echo \$0 >>count/log; sleep \$1")
	    . qq(, "$id", "$nap"]});
	my ($status, $body) = exchange($number, "POST / HTTP/1.1\r\n"
		. "Content-Type: application/json\r\nContent-Length: "
		. length($json) . "\r\n", $json);
	my $what = $status == 200 && $body =~ /"returncode": 0/ ? 'ok'
	    : $status == 0 ? 'none'
	    : $body =~ /did not run|nothing ran/ ? 'not-run' : 'unknown';

	print "post $id $status $what\n";
	return;
}

# The status and the body, 0 where the answer is not whole.
sub exchange
{
	my ($number, $head, $body) = @_;
	my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
		PeerPort => $PORT, LocalAddr => "127.0.1.$number",
		Timeout => 20) or return (0, "connect: $!");
	my $answer = '';

	$socket->send($head . "Host: tools.example.org\r\n"
		. "Connection: close\r\n\r\n" . ($body // ''));
	alarm 150;
	1 while sysread $socket, $answer, 65536, length $answer;
	alarm 0;
	my ($top, $rest) = split /\r\n\r\n/, $answer, 2;
	my ($status) = ($top // '') =~ m{\AHTTP/1\.1 (\d+)};
	my ($length) = ($top // '') =~ /^Content-Length: (\d+)/mi;

	$rest = unchunk($rest) if ($top // '') =~ /^Transfer-Encoding: chunked/mi;
	return (0, $answer) if !$status || !defined $rest
	    || (defined $length && length $rest != $length);
	return ($status, $rest);
}

sub unchunk
{
	my ($in) = @_;
	my $out = '';

	while ($in =~ s/\A([0-9a-f]+)\r\n//i) {
		my $size = hex $1;
		return $out if $size == 0;
		return undef if length $in < $size + 2;
		$out .= substr $in, 0, $size;
		$in = substr $in, $size + 2;
	}
	return undef;
}

# ---------------------------------------------------------------- namespaces --
my $top = abs_path(dirname(__FILE__) . '/../..');
my $example = "$top/examples/hosts";
-x Statespace::Server::binary() or plan skip_all => 'the program is not built';
$ENV{PATH} .= ':/usr/sbin:/usr/local/sbin:/sbin';
$> == 0 or plan skip_all => 'only root makes network namespaces';
Statespace::Server::has('ip') or plan skip_all => 'iproute2 is not installed';
Statespace::Server::front('nginx') or plan skip_all => 'nginx is not installed';

my @made;
my %running;	# pid => its name

sub quietly { return system(join(' ', @_) . ' >/dev/null 2>&1') == 0 }

my $own = $$;
sub space { return "ss$own-$_[0]" }

END {
	local $?;
	kill_all();
	quietly("ip netns del $_") for @made;
}

sub must { quietly(@_) or die "@_: failed" }

sub make_space
{
	my ($name) = @_;

	quietly('ip netns add ' . space($name)) or return 0;
	push @made, space($name);
	must('ip -n', space($name), 'link set lo up');
	return 1;
}

# The front has a bridge, each host one cable to it.
sub make_network
{
	my $front = space('front');

	make_space('front') or return 0;
	quietly("ip -n $front link add br0 type bridge") or return 0;
	must("ip -n $front addr add 10.0.0.1/24 dev br0");
	must("ip -n $front link set br0 up");
	for my $n (1 .. 3) {
		my $host = space($n);
		make_space($n) or return 0;
		quietly("ip -n $front link add cable$n type veth "
			. "peer name eth0 netns $host") or return 0;
		must("ip -n $front link set cable$n master br0 up");
		must("ip -n $host addr add 10.0.0.1$n/24 dev eth0");
		must("ip -n $host link set eth0 up");
	}
	return 1;
}

make_network() or plan skip_all => 'network namespaces cannot be made here';

# ----------------------------------------------------------------- processes --
my $site = Statespace::TestSite->new(files => { 'README.md' => "x\n" });
my $dir = $site->scratch;

sub start
{
	my ($name, $where, @command) = @_;
	my $pid = fork() // die "fork: $!";

	if ($pid == 0) {
		open STDIN, '<', '/dev/null';
		open STDOUT, '>>', "$dir/$name.log";
		open STDERR, '>&', \*STDOUT;
		delete $ENV{$_} for grep { /^STATESPACE_(?!SANDBOX)/ } keys %ENV;
		exec 'ip', 'netns', 'exec', space($where), @command
		    or POSIX::_exit(127);
	}
	$running{$pid} = $name;
	return $pid;
}

sub with_children
{
	my @pids = @_;
	my $all = Statespace::Server::processes();

	for (my $i = 0; $i < @pids; $i++) {
		push @pids, grep { $all->{$_}{ppid} == $pids[$i] } keys %$all;
	}
	return @pids;
}

sub reap
{
	my ($pid, $seconds) = @_;
	my $until = time + ($seconds || 40);

	while (time < $until) {
		if (waitpid($pid, 1) != 0) {
			delete $running{$pid};
			return 1;
		}
		sleep 0.02;
	}
	return 0;
}

sub kill_all
{
	kill 'KILL', with_children(keys %running) if %running;
	reap($_) for keys %running;
	return;
}

sub wait_for
{
	my ($what, $test) = @_;
	my $until = time + 40;

	until ($test->()) {
		die "$what did not come; " . join '', map { slurp($_) }
		    glob("$dir/*.log") if time > $until;
		sleep 0.05;
	}
	return;
}

# Of a host's nginx, as a front asks.
sub answers
{
	my ($n) = @_;

	return `ip netns exec @{[ space('front') ]} curl -s -m 2 \\
	    --connect-to ::10.0.0.1$n:8443 --cacert $dir/tls/server-ca.pem \\
	    --cert $dir/tls/client-front.pem --key $dir/tls/client-front.key \\
	    -H 'Host: tools.example.org' https://pool.internal/readyz`;
}

# --------------------------------------------------------------------- hosts --
my $page = "---\ntools:\n  - command: [sh, -c, "
    . "'echo \$0 >>count/log; sleep \$1', {regex: '^[0-9-]+\$'}, "
    . "{regex: '^0\\.[0-9]\$'}, ;]\n    write: [count]\n---\n# Hello\n";
my $http = <<"END";
	access_log off;
	client_body_temp_path %s/t1; fastcgi_temp_path %s/t2;
	proxy_temp_path %s/t3; scgi_temp_path %s/t4; uwsgi_temp_path %s/t5;
END
my @hosts;

sub make_certificates
{
	my $make = "$top/nginx/make-authority";

	must("$make $dir/tls pool.internal front");
	must("$make $dir/tls --server pool.internal 1 2 3");
	write_file("$dir/tls/front.both", slurp("$dir/tls/client-front.pem")
		. slurp("$dir/tls/client-front.key"));
	return;
}

# A shipped file for nginx, with http around it.
sub write_nginx
{
	my ($to, $text) = @_;
	my $http = $http =~ s/%s/$to/gr;

	$text =~ s{/etc/ssl/statespace}{$dir/tls}g;
	write_file("$to/nginx.conf", "daemon off;\nuser root;\n"
		. "worker_processes 2;\npid $to/nginx.pid;\n"
		. "error_log $to/error.log warn;\n"
		. "events { worker_connections 512; }\nhttp {\n$http$text}\n");
	return;
}

sub make_host
{
	my ($n) = @_;
	my $own = Statespace::TestSite->new(files => { 'README.md' => $page,
		'big.txt' => $PAGES{'/big.txt'}, 'count/log' => '' });
	my $to = $own->scratch;
	my $toml = slurp("$example/pool.toml");
	my $conf = slurp("$example/pool.nginx.conf");

	chmod 0777, $own->dir . '/count';
	chmod 0666, $own->dir . '/count/log';
	symlink $own->dir, "$to/current" or die "symlink: $!";
	write_file("$to/key", 'k' x 32);
	$toml =~ s{"/srv/statespace/current"}{"$to/current"};
	$toml =~ s{/etc/statespace/key}{$to/key};
	$toml =~ s{/run/statespace}{$to};
	$toml =~ s{socket_group = "www-data"}{socket_group = "root"};
	$toml =~ s{drain = 5\.0}{drain = 2.5};
	write_file("$to/statespace.toml",
		$toml . "workers = 6\n[grant]\nwrite = [\"count\"]\n");
	$conf =~ s{/run/statespace}{$to}g;
	$conf =~ s{/server\.(pem|key);}{/server-$n.$1;}g;
	system('cp', '-r', "$top/nginx", "$to/statespace") == 0 or die 'cp';
	write_nginx($to, $conf);
	return { n => $n, site => $own, dir => $to,
		log => $own->dir . '/count/log' };
}

sub start_pool
{
	my ($h) = @_;

	$h->{pool} = start("pool$h->{n}", $h->{n}, Statespace::Server::binary(),
		'fcgi', '-c', "$h->{dir}/statespace.toml");
	wait_for("pool $h->{n}", sub { -S "$h->{dir}/pool.sock.status" });
	return;
}

sub start_nginx
{
	my ($h) = @_;

	$h->{nginx} = start("nginx$h->{n}", $h->{n}, 'nginx', '-e',
		"$h->{dir}/error.log", '-p', $h->{dir}, '-c',
		"$h->{dir}/nginx.conf");
	wait_for("host $h->{n}", sub { answers($h->{n}) =~ /"ok"/ });
	return;
}

# --------------------------------------------------------------------- fronts --
sub start_front_nginx
{
	my $to = "$dir/front";
	my $conf = slurp("$example/front.nginx.conf");
	my $sysctl = slurp("$example/front.sysctl.conf");

	mkdir $to;
	system('cp', '-r', "$top/nginx", "$to/statespace") == 0 or die 'cp';
	# The same settings, with times that fit a test.
	$sysctl =~ s{retries2 = 5}{retries2 = 3};
	write_file("$to/sysctl.conf", $sysctl);
	must('ip netns exec', space('front'), "sysctl -p $to/sysctl.conf");
	$conf =~ s{listen 80;}{listen 127.0.0.1:$PORT;};
	$conf =~ s{^\s*include statespace/snippets/limits;\n}{}m;
	$conf =~ s{(proxy_read_timeout) 40s}{$1 4s};
	$conf =~ s{fail_timeout=5s}{fail_timeout=1s}g;
	write_nginx($to, $conf);
	return start('front', 'front', 'nginx', '-e', "$to/error.log", '-p', $to,
		'-c', "$to/nginx.conf");
}

sub start_front_haproxy
{
	my $cfg = slurp("$example/front.haproxy.cfg");

	$cfg =~ s{/etc/ssl/statespace}{$dir/tls}g;
	$cfg =~ s{^\t(?:user|group) haproxy.*\n}{}mg;
	$cfg =~ s{bind :80 }{bind 127.0.0.1:$PORT };
	$cfg =~ s{^\thttp-request deny deny_status 429.*\n}{}m;
	$cfg =~ s{timeout server 40s}{timeout server 4s};
	$cfg =~ s{tcp-ut 10s}{tcp-ut 3s};
	write_file("$dir/haproxy.cfg", $cfg);
	return start('haproxy', 'front', 'haproxy', '-db', '-f',
		"$dir/haproxy.cfg");
}

# ------------------------------------------------------------------ the load --
my ($stop, @clients);

sub start_load
{
	my ($name) = @_;

	$stop = "$dir/stop-$name";
	@clients = map { start("$name-client$_", 'front', $^X, $0, '--client',
		$_, $stop, "$dir/readme") } 1 .. $CLIENTS;
	return;
}

sub answered
{
	my ($name) = @_;
	my $n = 0;

	$n += () = slurp($_) =~ /^(?:get ok|post \S+ 200 ok)/mg
	    for glob("$dir/$name-client*.log");
	return $n;
}

# So many more answers: the trouble is met by requests.
sub more_answers
{
	my ($name, $more) = @_;
	my $from = answered($name);

	wait_for("$more answers", sub { answered($name) >= $from + $more });
	return;
}

# --------------------------------------------------------------- the troubles --
sub stopped
{
	my ($name, $h, $seconds) = @_;
	my @all = with_children(@$h{qw(pool nginx)});

	kill 'STOP', @all;
	sleep $seconds;
	kill 'CONT', @all;
	return;
}

sub partitioned
{
	my ($name, $h, $seconds) = @_;

	must('ip -n', space('front'), "link set cable$h->{n} down");
	sleep $seconds;
	must('ip -n', space('front'), "link set cable$h->{n} up");
	return;
}

sub killed
{
	my ($name, $h) = @_;
	my @both = @$h{qw(pool nginx)};

	# While it runs a tool.
	wait_for("a tool of host $h->{n}", sub {
		my $all = Statespace::Server::processes();
		return grep { $all->{$_} && $all->{$_}{line} =~ /^sleep 0\.[5-9]/ }
		    with_children($h->{pool});
	});
	kill 'KILL', with_children(@both);
	reap($_) for @both;
	more_answers($name, 40);
	start_pool($h);
	start_nginx($h);
	return;
}

# HAProxy sees /readyz; nginx, whose front does not ask, leaves first.
sub upgraded
{
	my ($name, $h) = @_;

	kill 'QUIT', $h->{nginx} if $name eq 'nginx';
	reap($h->{nginx}) or die 'nginx does not leave' if $name eq 'nginx';
	kill 'QUIT', $h->{pool};
	wait_for('drain', sub { answers($h->{n}) =~ /"draining"/ })
	    if $name ne 'nginx';
	reap($h->{pool}) or die 'the pool does not leave';
	if ($name ne 'nginx') {
		kill 'QUIT', $h->{nginx};
		reap($h->{nginx}) or die 'nginx does not leave';
	}
	start_pool($h);
	start_nginx($h);
	return;
}

# ----------------------------------------------------------------- the counts --
sub runs
{
	my %runs;

	for my $h (@hosts) {
		$runs{$_}++ for split /\n/, slurp($h->{log});
	}
	return \%runs;
}

sub sum
{
	my ($name) = @_;
	my %n = map { $_ => 0 } qw(got lost ran doubled forgotten denied unknown
	    not_run unanswered slowest);
	my $runs = runs();
	my @why;

	for (map { split /\n/, slurp($_) } glob("$dir/$name-client*.log")) {
		if (/^get (\w+) (\S+) (.*)/) {
			$n{$1 eq 'ok' ? 'got' : 'lost'}++;
			push @why, $_ if $1 ne 'ok';
			$n{slowest} = $2 if $2 > $n{slowest};
		} elsif (/^post (\S+) (\d+) (\S+)/) {
			my $times = $runs->{$1} // 0;
			$n{doubled}++ if $times > 1;
			$n{forgotten}++ if $3 eq 'ok' && $times == 0;
			$n{denied}++ if $3 eq 'not-run' && $times > 0;
			$n{ran}++ if $3 eq 'ok';
			$n{not_run}++ if $3 eq 'not-run';
			$n{unknown}++ if $3 eq 'unknown';
			$n{unanswered}++ if $3 eq 'none';
			push @why, $_ if $3 eq 'none';
		} else {
			push @why, $_;
		}
	}
	return (\%n, join "\n", @why[0 .. ($#why < 9 ? $#why : 9)]);
}

sub try_front
{
	my ($name, $start) = @_;
	my $until = time + ($ENV{HOSTS_SECONDS} || 0) / 2;
	my $front = $start->();
	my $began = time;
	my $rounds = 0;

	write_file($_->{log}, '') for @hosts;
	wait_for('the front', sub {
		`ip netns exec @{[ space('front') ]} curl -s -m 5 \\
		    -H 'Host: tools.example.org' http://127.0.0.1:$PORT/`
		    eq $page });
	start_load($name);
	more_answers($name, 100);
	do {
		stopped($name, $hosts[0], 5);
		more_answers($name, 40);
		partitioned($name, $hosts[1], 4);
		more_answers($name, 40);
		killed($name, $hosts[2]);
		more_answers($name, 40);
		upgraded($name, $hosts[0]);
		more_answers($name, 40);
		$rounds++;
	} while (time < $until);
	write_file($stop, '');
	is(scalar(grep { !reap($_, 160) || $? } @clients), 0, "$name: all clients end");
	my ($n, $why) = sum($name);
	diag sprintf '%s: %d rounds in %d s: GET answered %d, lost %d, the '
	    . 'slowest %.1f s; POST ran %d, "did not run" %d, "may have run" '
	    . '%d, doubled %d', $name, $rounds, time - $began,
	    @$n{qw(got lost slowest ran not_run unknown doubled)};
	is($n->{lost}, 0, "$name: no GET is lost") or diag $why;
	is($n->{doubled}, 0, "$name: no POST runs twice");
	is($n->{unanswered}, 0, "$name: every POST has an answer") or diag $why;
	is($n->{forgotten}, 0, "$name: what was answered has run");
	is($n->{denied}, 0, "$name: what \"did not run\" has not");
	cmp_ok($n->{ran}, '>', 20 * $rounds, "$name: most POSTs ran");
	ok(-s $_->{log}, "$name: host $_->{n} had some") for @hosts;
	kill 'TERM', $front;
	ok(reap($front), "$name: the front ends");
	return;
}

make_certificates();
write_file("$dir/readme", $page);
@hosts = map { make_host($_) } 1 .. 3;
start_pool($_), start_nginx($_) for @hosts;

# Who has no certificate of the front's is not heard.
{
	my $said = `ip netns exec @{[ space('front') ]} curl -s -m 5 -k \\
	    -o /dev/null -w '%{http_code}' -H 'Host: tools.example.org' \\
	    https://10.0.0.11:8443/readyz`;
	is($said, '400', 'without a certificate a host answers nothing');
	quietly("$top/nginx/make-authority $dir/other pool.internal front");
	$said = `ip netns exec @{[ space('front') ]} curl -s -m 5 -k \\
	    --cert $dir/other/client-front.pem --key $dir/other/client-front.key \\
	    -H 'Host: tools.example.org' https://10.0.0.11:8443/`;
	unlike($said, qr/# Hello/, 'nor with one of another authority');
}
try_front('nginx', \&start_front_nginx);
SKIP: {
	skip 'haproxy is not installed', 1
	    unless Statespace::Server::front('haproxy');
	try_front('haproxy', \&start_front_haproxy);
}
for my $h (@hosts) {
	kill 'TERM', $h->{pool};
	kill 'QUIT', $h->{nginx};
	ok(reap($h->{pool}), "pool $h->{n} ends");
	reap($h->{nginx});
}
done_testing;
