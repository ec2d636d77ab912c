#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The snippets beside nginx/statespace.conf, each switched on as its comment
# says, with the real nginx: who gets in, what the others are told, and whom
# the log names.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Socket::INET;
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
Statespace::Server::front($_) or plan skip_all => "$_ is not installed"
    for qw(nginx curl openssl);

my $pool = Statespace::Pool->start(
	files => { 'README.md' => "---\ntools:\n  - [echo, {}]\n---\n# Hello\n",
		'combined.md' => "---\ntools:\n  - [echo, {}]\n---\n# Combined\n",
		'__front/page.md' => "---\ntools:\n  - [echo, {}]\n---\n# Combined\n",
		'data.txt' => "secret data\n" },
	config => "[pool]\nmode = \"static\"\nworkers = 4\n"
	    . "socket_mode = \"0666\"\n"
	    . "[http]\nhosts = [\"tools.example.org\"]\n"
	    . "cors = true\norigins = [\"https://app.example\"]\n");
my $dir = $pool->site->scratch . '/front';
mkdir $dir or die "mkdir: $!";
system('cp', '-r', "$top/nginx", "$dir/statespace") == 0 or die;
my $socket = $pool->socket;
my $port = free_port();
my $other = free_port();
my $plain = free_port();	# "listen 80", left beside the tls snippet
my $nginx;

# statespace.conf with these snippets switched on; more: for the http block.
sub start_nginx
{
	my ($names, %with) = @_;
	my $site = slurp("$top/nginx/statespace.conf");
	my $user = $> == 0 ? 'user root;' : '';
	my $first = (grep { $_ eq 'tls' } @$names) ? $plain : $port;

	$site =~ s{/run/statespace/pool\.sock}{$socket}g;
	$site =~ s{listen 80 default_server}{listen 127.0.0.1:$other}g;
	$site =~ s{listen 80;}{listen 127.0.0.1:$first;}g;
	$site =~ s{^(\tinclude statespace/snippets/limits;)}{# $1}m;
	for my $name (@$names, map { $_ eq 'cache' ? 'cache_zone' : () } @$names) {
		$site =~ s{^[#\t ]*(include statespace/snippets/$name;)}{\t$1}m
		    or die "statespace.conf has no line for $name";
		my $text = slurp("$top/nginx/snippets/$name");
		$text =~ s{/etc/ssl/statespace}{$dir/ca}g;
		$text =~ s{listen 443 ssl http2}{listen 127.0.0.1:$port ssl http2};
		$text =~ s{^listen \[::\].*\n}{}m;
		$text =~ s{127\.0\.0\.1:(?:9000|4180)}{127.0.0.1:$other};
		$text =~ s{/etc/nginx/statespace\.users}{$dir/users};
		$text =~ s{/etc/nginx/statespace\.tokens\*}{$dir/tokens};
		$text =~ s{/run/nginx_statespace}{$dir/cache};
		$text =~ s{/srv/statespace}{@{[ $pool->site->dir ]}}g;
		Statespace::TestSite::write_file(
			"$dir/statespace/snippets/$name", $text);
	}
	$site =~ s{^\t(include statespace/snippets/handover_off;)}{}m
	    if grep { $_ eq 'handover' } @$names;
	$site =~ s{^(\tserver_name tools)}{$with{server}\n$1}m if $with{server};
	$site =~ s{^server \{.*?^\}\n}{}ms if $with{more};
	Statespace::TestSite::write_file("$dir/nginx.conf", <<"END");
daemon off;
$user
pid $dir/nginx.pid;
error_log $dir/log error;
events { worker_connections 256; }
http {
	access_log off;
	client_body_temp_path $dir/t1; fastcgi_temp_path $dir/t2;
	proxy_temp_path $dir/t3; scgi_temp_path $dir/t4; uwsgi_temp_path $dir/t5;
	@{[ $with{more} // '' ]}
	$site
}
END
	return if $with{no_start};
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

sub stop_nginx
{
	kill 'TERM', $nginx;
	waitpid $nginx, 0;
	return;
}

# The status, the body and the head that curl gets; its own exit status.  The
# scheme "plain": HTTP where "listen 80" was left beside the tls snippet.
sub ask
{
	my ($scheme, $path, @words) = @_;
	my $to = $scheme eq 'plain' ? $plain : $port;
	my @all = ('curl', '-s', '-i', '-m', 10, '--noproxy', '*', '--resolve',
		"tools.example.org:$to:127.0.0.1", '-H',
		'Host: tools.example.org', @words,
		($scheme eq 'https' ? 'https' : 'http')
		. "://tools.example.org:$to$path");

	open my $pipe, '-|', @all or die "curl: $!";
	local $/;
	my $text = <$pipe> // '';
	close $pipe;
	my ($head, $body) = split /\r\n\r\n/, $text, 2;
	return { exit => $? >> 8, head => $head // '', body => $body // '',
		status => ($head // '') =~ m{^HTTP/[\d.]+ (\d+)} ? $1 : 0 };
}

my @post = ('-H', 'Content-Type: application/json', '-d',
	'{"command": ["echo", "hi"]}');

# A stranger is told so in both of our shapes, and runs nothing.
sub refuses
{
	my ($scheme, $name, @words) = @_;
	my $get = ask($scheme, '/', @words);
	my $run = ask($scheme, '/', @words, @post);

	is($get->{status}, 401, "$name: a page is not for strangers");
	unlike($get->{body}, qr/<html|Hello/, "$name: in text");
	like($get->{head}, qr/^X-Content-Type-Options: nosniff\r?$/mi,
		"$name: with our guard");
	like($get->{head}, qr/^X-Request-Id: \w+\r?$/mi, "$name: and an id");
	my $page = ask($scheme, '/', @words, '-H',
		'Accept: text/html,application/xhtml+xml,*/*;q=0.8');
	is($page->{status}, 401, "$name: nor for a stranger's browser");
	like($page->{head}, qr/^Content-Type: text\/html; charset=utf-8\r?$/mi,
		"$name: which is shown a page");
	like($page->{head}, qr/^Content-Security-Policy: default-src 'none'; /mi,
		"$name: with a policy");
	like($page->{body}, qr{<h1>Authentication required</h1>},
		"$name: that says it");
	unlike($page->{body}, qr/Hello/, "$name: and nothing more");
	is(scalar(grep { /^WWW-Authenticate:/i } split /\r\n/, $page->{head}),
		scalar(grep { /^WWW-Authenticate:/i } split /\r\n/, $get->{head}),
		"$name: the challenge is the same");
	is($run->{status}, 401, "$name: nor is a tool");
	is(eval { decode_json($run->{body})->{error}{code} }, 'unauthorized',
		"$name: as JSON of our shape");
	return;
}

sub lets_in
{
	my ($scheme, $name, $user, @words) = @_;
	my $get = ask($scheme, '/', @words);
	my $run = ask($scheme, '/', @words, @post);

	like($get->{body}, qr/# Hello/, "$name: a known one reads")
	    or diag "$get->{exit} $get->{head}\n$get->{body}";
	like($run->{body}, qr/"hi\\n"|sandbox_unavailable/, "$name: and runs");
	ok($pool->log_says(qr/user="?\Q$user\E"? method=POST/),
		"$name: the log names $user");
	return;
}

# ---------------------------------------------------------- the authorities --
my $make = "$top/nginx/make-authority";
is(system("sh $make $dir/ca tools.example.org ada >/dev/null"), 0,
	'make-authority makes authorities and certificates');
is((stat "$dir/ca")[2] & 07777, 0700, 'in a directory of their own');
is(join(' ', grep { (stat)[2] & 077 } glob "$dir/ca/*.key"), '',
	'no key is for others');
my $before = slurp("$dir/ca/server.key");
my $said = `sh $make $dir/ca tools.example.org 2>&1`;
isnt($?, 0, 'a second time it refuses');
like($said, qr/there already; nothing was overwritten/, 'and says why');
is(slurp("$dir/ca/server.key"), $before, 'and has kept what was there');
is(system("sh $make $dir/ca --client eve >/dev/null"), 0,
	'one more client, later');
isnt(system("sh $make $dir/ca --client ../eve 2>/dev/null"), 0,
	'a name that leaves the directory is refused');
is(system("sh $make $dir/foreign tools.example.org mallory >/dev/null"), 0,
	"somebody else's authorities");
my @secure = ('--cacert', "$dir/ca/server-ca.pem");
sub with_certificate
{
	my ($where, $name) = @_;

	return (@secure, '--cert', "$dir/$where/client-$name.pem", '--key',
		"$dir/$where/client-$name.key");
}

# ---------------------------------------------------------------------- TLS --
start_nginx(['tls']);
my $page = ask('https', '/', @secure);
like($page->{body}, qr/# Hello/, 'tls: a page, its certificate verified');
like($page->{head}, qr/^strict-transport-security: max-age/mi,
	'tls: browsers are told to stay');
is(ask('https', '/')->{exit}, 60, 'tls: without our authority it is a stranger');
isnt(ask('https', '/', @secure, '--tls-max', '1.1')->{exit}, 0,
	'tls: nothing older than 1.2');
stop_nginx();

# Every answer over TLS has the headers that guard a browser, whoever made it:
# a worker, nginx, or nginx with a worker's file.  A location with an add_header
# of its own inherits none.
sub guarded
{
	my ($name, $status, $answer) = @_;

	is($answer->{status}, $status, $name);
	for my $header ('Strict-Transport-Security: max-age=31536000',
		'X-Content-Type-Options: nosniff', 'X-Request-Id: [0-9a-f]{32}') {
		is(() = $answer->{head} =~ /^$header\r?$/mig, 1,
			"$name: one $header");
	}
	return;
}
start_nginx(['tls', 'handover']);
my $large = "$dir/large";
Statespace::TestSite::write_file($large, 'x' x 1_200_000);
my @origin = ('-H', 'Origin: https://app.example');
guarded('a page', 200, ask('https', '/', @secure));
guarded('a page that is not there', 404, ask('https', '/none', @secure));
my $handed = ask('https', '/data.txt', @secure, @origin);
guarded('a file that nginx sends', 200, $handed);
like($handed->{head}, qr/^$_\r?$/mi, "a file that nginx sends: $_")
    for 'Content-Security-Policy: sandbox', 'Vary: .*Origin',
	'Access-Control-Allow-Origin: https://app\.example';
for my $accept ('text/plain', 'text/html') {
	my @words = (@secure, '-H', "Accept: $accept");
	guarded("nginx's 400 as $accept", 400, ask('https', '/', @words, '-H',
		'Content-Length: x', '--http1.1'));
	guarded("nginx's 414 as $accept", 414, ask('https',
		'/' . 'x' x 9_000, @words, '--http1.1'));
}
guarded("nginx's 413", 413, ask('https', '/', @secure, '--data-binary',
	"\@$large", '--http1.1'));
guarded("nginx's 413 at /mcp", 413, ask('https', '/mcp', @secure,
	'--data-binary', "\@$large", '--http1.1'));
unlike(ask('plain', '/')->{head}, qr/^Strict-Transport-Security/mi,
	'tls: not over plain HTTP');
stop_nginx();
$socket = "$dir/none.sock";
start_nginx(['tls']);
for my $words ([], [@post], ['-H', 'Accept: text/html']) {
	guarded("nginx's 502", 502, ask('https', '/', @secure, @$words));
}
stop_nginx();
$socket = $pool->socket;

start_nginx(['tls', 'mtls']);
refuses('https', 'mtls, no certificate', @secure);
refuses('https', "mtls, another authority's",
	with_certificate('foreign', 'mallory'));
lets_in('https', 'mtls', 'CN=ada', with_certificate('ca', 'ada'));
lets_in('https', 'mtls, a later client', 'CN=eve',
	with_certificate('ca', 'eve'));
# The server's own certificate is none of a client's.
refuses('https', "mtls, the server's own", @secure, '--cert',
	"$dir/ca/server.pem", '--key', "$dir/ca/server.key");
stop_nginx();

# ------------------------------------------------------------ bearer tokens --
my $token = '0123456789abcdef' x 2;
my $map = slurp("$top/nginx/snippets/bearer_map");
Statespace::TestSite::write_file("$dir/tokens", "\"Bearer $token\" ada;\n");
$map =~ s{/etc/nginx/statespace\.tokens\*}{$dir/tokens};
start_nginx(['bearer'], more => $map);
refuses('http', 'bearer, no token');
refuses('http', 'bearer, a wrong token', '-H', 'Authorization: Bearer 1234');
like(ask('http', '/')->{head}, qr/^WWW-Authenticate: Bearer/mi,
	'bearer: the answer names the scheme');
lets_in('http', 'bearer', 'ada', '-H', "Authorization: Bearer $token");
is(ask('http', '/healthz')->{status}, 200, 'bearer: health is for everybody');
is(ask('http', '/__front/json/401')->{status}, 404,
	"bearer: nginx's own places cannot be asked for");
stop_nginx();

# ------------------------------------------------------------- auth_request --
my $service = <<"END";
map \$http_x_badge \$badge { default ""; letmein ada; }
server {
	listen 127.0.0.1:$other;
	location / {
		if (\$badge = "") { return 401; }
		add_header X-User \$badge;
		return 204;
	}
}
END
start_nginx(['auth_request'], more => $service);
refuses('http', 'auth_request, no badge');
lets_in('http', 'auth_request', 'ada', '-H', 'X-Badge: letmein');
is(ask('http', '/healthz')->{status}, 200,
	'auth_request: health is for everybody');
is(ask('http', '/', '-H', 'X-User: root')->{status}, 401,
	'auth_request: what a client says of itself is nothing');
stop_nginx();

# ------------------------------------------------------------------- oauth --
# In place of oauth2-proxy: a token that it takes, and whose it is.
start_nginx(['oauth'], more => <<"END");
map \$http_authorization \$owner { default ""; "Bearer good" ada; }
server {
	listen 127.0.0.1:$other;
	location / { return 404; }
	location = /oauth2/auth {
		if (\$owner = "") { return 401; }
		add_header X-Auth-Request-User \$owner;
		return 202;
	}
}
END
refuses('http', 'oauth, no token');
lets_in('http', 'oauth', 'ada', '-H', 'Authorization: Bearer good');
is(ask('http', '/', '-H', 'Authorization: Bearer bad')->{status}, 401,
	'oauth: a wrong token');
like(ask('http', '/mcp')->{head}, qr{^WWW-Authenticate:\ Bearer\ resource_metadata=
	"https://tools\.example\.org(/\.well-known/oauth-protected-resource/mcp)"}mix,
	'oauth: the answer says where its metadata is');
for (['', '/'], ['/mcp', '/mcp']) {
	my ($path, $resource) = @$_;
	my $answer = ask('http', "/.well-known/oauth-protected-resource$path");
	my $metadata = eval { decode_json($answer->{body}) } // {};

	is_deeply([$answer->{status}, @$metadata{qw(resource
		authorization_servers)}], [200, "https://tools.example.org$resource",
		['https://login.example.org']], "oauth: metadata of $resource");
}
is(ask('http', '/__oauth')->{status}, 404, 'oauth: its own place is hidden');
stop_nginx();

# -------------------------------------------------- the snippets, combined --
# What each asks for, as words of curl.
my %key = (mtls => [with_certificate('ca', 'ada')],
	auth_basic => ['-u', 'ada:secret'],
	bearer => ['-H', "Authorization: Bearer $token"],
	auth_request => ['-H', 'X-Badge: letmein']);
Statespace::TestSite::write_file("$dir/users",
	'ada:' . crypt('secret', 'ab') . "\n");
chmod 0644, "$dir/users";
# Both read Authorization, so that nobody can have both.
my @checks = grep { !/auth_basic.*bearer/ } map { my $bits = $_;
	join ' ', (qw(mtls auth_basic bearer auth_request))[grep {
		$bits >> $_ & 1 } 0 .. 3] } 1 .. 15;

sub runs_nothing
{
	my ($name, $scheme, @words) = @_;
	my @asked = map { ask($scheme, "/combined$_", @words, @post) }
	    '', '.md', '/', '?x=/healthz';
	my $page = ask($scheme, '/combined', @words);
	my @inner = map { ask($scheme, "/__front/$_", @words, @post) }
	    'page', 'file/combined.md', 'file/data.txt', 'healthz';

	is(join(' ', grep { $_ != 401 && $_ != 308 } map { $_->{status} }
		@asked, $page), '', "$name: 401, or sent to TLS");
	is(join(' ', grep { $_ != 401 && $_ != 308 && $_ != 404 }
		map { $_->{status} } @inner), '',
		"$name: and nothing of nginx's own places");
	unlike(join('', map { $_->{body} } @asked, $page, @inner),
		qr/returncode": 0|Hello|Combined|secret data/,
		"$name: nothing is read or run");
	return;
}

sub combination
{
	my ($checks, @more) = @_;
	my $tls = grep { $_ eq 'tls' } @more;
	my $scheme = $tls ? 'https' : 'http';
	my @safe = $tls ? @secure : ();
	my $name = join ' + ', @$checks, @more;

	start_nginx([@$checks, @more], more => "$map\n$service");
	runs_nothing("$name, no key", $scheme, @safe);
	# One of them is not enough, nor is all but one.
	for my $check (@$checks > 1 ? @$checks : ()) {
		my @words = map { @{ $key{$_} } } grep { $_ ne $check } @$checks;
		runs_nothing("$name, all but $check", $scheme, @safe, @words);
	}
	if ($tls) {
		runs_nothing("$name, not over TLS", 'plain');
		runs_nothing("$name, not over TLS, with the keys", 'plain',
			map { @{ $key{$_} } } grep { $_ ne 'mtls' } @$checks);
	}
	# mtls needs tls; without it nobody comes in.
	if ($tls || !grep { $_ eq 'mtls' } @$checks) {
		my @words = (@safe, map { @{ $key{$_} } } @$checks);
		my $get = ask($scheme, '/', @words);
		is($get->{status}, 200, "$name: with every key, a page");
		my $file = ask($scheme, '/data.txt', @words);
		is($file->{body}, "secret data\n", "$name: and a file");
		like($file->{head}, qr/^etag: "[0-9a-f]+-[0-9a-f]+"\r?$/mi,
			"$name: of nginx") if grep { $_ eq 'handover' } @more;
		runs_nothing("$name, after one who had the keys", $scheme,
			@safe);
	}
	stop_nginx();
	return;
}

for my $checks (@checks) {
	combination([split ' ', $checks]);
	combination([split ' ', $checks], 'tls');
}
# What else a server block may hold: the cache, the front that sends files.
combination([split ' ', $_], 'tls', 'cache', 'handover')
    for grep { /mtls|^bearer$|^auth_request$|^auth_basic$/ } @checks;
start_nginx(['tls']);
my $sent = ask('plain', '/a?b=c');
is($sent->{status}, 308, 'tls alone: who comes without is sent on');
like($sent->{head}, qr{^Location: https://tools\.example\.org/a\?b=c\r?$}m,
	'tls alone: to the same page');
is(ask('plain', '/', @post)->{status}, 308, 'tls alone: a tool does not run');
stop_nginx();
unlike($pool->log, qr{path="?/(?:combined|__front)},
	'no request of a stranger reached a worker');
# "any" would let one check speak for the user that another names.
start_nginx(['auth_basic'], server => 'satisfy any; allow all;',
	no_start => 1);
like(`nginx -t -e $dir/log -p $dir -c $dir/nginx.conf 2>&1`,
	qr/"satisfy" directive is duplicate/, 'satisfy any is refused by nginx');

# ------------------------------------------------------------------- limits --
start_nginx(['limits']);
my $config = "$dir/many";
Statespace::TestSite::write_file($config, join '', map {
	"url = \"http://tools.example.org:$port/\"\noutput = \"$dir/out$_\"\n"
} 1 .. 70);
# Commands that are refused, so that nothing runs.
my @codes = split ' ', `curl -s -i -m 20 --noproxy '*' \\
	--resolve tools.example.org:$port:127.0.0.1 -w '%{http_code} ' \\
	-H 'Content-Type: application/json' -d '{"command": ["rm"]}' \\
	-H 'Host: tools.example.org' -K $config`;
cmp_ok(scalar(grep { $_ == 403 } @codes), '>=', 40,
	'limits: a burst is answered');
cmp_ok(scalar(grep { $_ == 429 } @codes), '>=', 1, 'limits: and no more');
is(scalar(grep { $_ != 403 && $_ != 429 } @codes), 0, 'limits: nothing else');
my ($slower) = grep { / 429 / } map { slurp("$dir/out$_") } 1 .. 70;
like($slower, qr/^Retry-After: 1/mi, 'limits: with Retry-After');
like($slower, qr/"code": "overloaded"/, 'limits: in our shape');
sleep 1.2;
is(ask('http', '/')->{status}, 200, 'limits: a second later it is served');
stop_nginx();

# Clients of a large file that do not read, from several addresses.
open my $file, '>', $pool->site->dir . '/large.bin' or die "large.bin: $!";
truncate $file, 256 << 20 or die "truncate: $!";
close $file;
sub slow_reader
{
	my ($address) = @_;
	my $socket = IO::Socket::INET->new(LocalAddr => $address,
		PeerAddr => '127.0.0.1', PeerPort => $port) or die "connect: $@";

	print $socket "GET /large.bin HTTP/1.1\r\n"
	    . "Host: tools.example.org\r\n\r\n";
	$socket->flush;
	sysread $socket, my $begin, 12;
	return ($socket, substr $begin // '', 9);
}
start_nginx(['limits', 'handover']);
my (@slow, %seen);
for my $client (1 .. 8) {
	for (1 .. 8) {
		my ($socket, $status) = slow_reader("127.0.1.$client");
		$seen{$status}++;
		push @slow, $socket;
	}
}
is(join(' ', %seen), '200 64', 'limits: eight requests at a time of one address');
is((slow_reader('127.0.1.1'))[1], 429, 'limits: not nine');
is(ask('http', '/')->{status}, 200,
	'limits: slow readers elsewhere keep nobody from a page');
isnt(ask('http', '/', @post)->{status}, 429, 'limits: nor from a tool');
close $_ for @slow;
stop_nginx();

$pool->stop_ok;
done_testing;
