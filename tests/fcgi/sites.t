#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Several sites in one pool: which one answers, what a site inherits, what a
# reload changes, and what is told of each.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json);
use Statespace::FastCGI qw(request variables call talk connect_to receive);
use Statespace::Pool;
use Statespace::Server;
use Statespace::TestSite qw(write_file slurp);
use POSIX ();
use Test::More;
use Time::HiRes qw(time);

my $program = Statespace::Server::binary();
-x $program or plan skip_all => 'the program is not built';

my $page = "---\nenv: [NAME, MAIN]\ntools:\n"
	. "  - [sh, -c, 'echo \$NAME \$MAIN']\n"
	. "  - [sleep, {}]\n---\n";
my $made = Statespace::TestSite->new(files => {
	'main/README.md' => $page . "# main\n",
	'a/README.md' => $page . "# a\n",
	'a/deep/x.md' => "# a deep\n",
	'wiki/README.md' => $page . "# wiki\n",
	'any/README.md' => "# any\n",
	'later/README.md' => "# later\n",
});
my $dir = $made->dir;
my $sites = $made->scratch . '/sites.d';
mkdir $sites or die "mkdir $sites: $!";
write_file("$sites/wiki.toml", <<"TOML");
[site."A.Example/wiki/"]
root = "$dir/wiki"
limits.timeout = 0.5

[site."A.Example/wiki/".http]
html = false
TOML
write_file("$sites/ignored.txt", 'no TOML');
my $config = <<"TOML";
sites = "sites.d"

[pool]
mode = "static"
workers = 2

[mcp]
enabled = true

[env]
MAIN = "of-main"

[site."a.example"]
root = "$dir/a"

[site."a.example".http]
hosts = ["Www.A.Example", "[2001:DB8:0::1]"]

[site."a.example".env]
NAME = "of-a"

[site."/any"]
root = "$dir/any"
TOML

sub start
{
	my (%with) = @_;

	return Statespace::Pool->start(site => $made, sites => 1,
		config => $with{config} // $config, %with);
}

# The answer to GET, of that host (undef: none) and path.
sub get
{
	my ($pool, $host, $path, %more) = @_;

	return talk($pool->socket, request(variables(SCRIPT_NAME => $path,
		REQUEST_URI => $path, HTTP_HOST => $host // '', %more)));
}

sub run
{
	my ($pool, $host, $path, $words) = @_;
	my $answer = talk($pool->socket, call($path, $words,
		HTTP_HOST => $host, REQUEST_URI => $path));

	return eval { decode_json($answer->{body}) } || {};
}

# Host, path, the first heading that is answered or the status.
sub leads_to
{
	my ($pool, $host, $path, $wanted, %more) = @_;
	my $answer = get($pool, $host, $path, %more);
	my ($title) = $answer->{body} =~ /^# (.*)/m;
	my $shown = $host // 'no host';
	my $with = join ' ', map { "$_=$more{$_}" } sort keys %more;

	is($answer->{status} == 200 ? $title // '' : $answer->{status}, $wanted,
		"$shown $path $with: $wanted");
	return $answer;
}

# ------------------------------------------------------ which one answers --
my $pool = start();

leads_to($pool, @$_) for
	['a.example', '/', 'a'], ['A.EXAMPLE:8080', '/', 'a'],
	['a.example.', '/deep/x', 'a deep'], ['www.a.example', '/', 'a'],
	['[2001:db8::1]:443', '/', 'a'], ['[2001:0db8:0:0::1]', '/', 'a'],
	['a.example', '/wiki', 'wiki'], ['a.example', '/wiki/', 'wiki'],
	['a.example', '/wiki/README', 'wiki'],
	['a.example', '/wikis', 404], ['a.example', '/WIKI', 404],
	['www.a.example', '/wiki', 404],
	['localhost', '/any', 'any'], ['127.0.0.1', '/any/README.md', 'any'],
	['b.example', '/any', 421], ['localhost', '/', 421],
	['b.example', '/', 421], ['', '/', 421],
	['a.example:x', '/', 421], ['a.example:80@b.example', '/', 421],
	['x@a.example', '/', 421],
	['', '/', 'a', SERVER_NAME => 'a.example'],
	['', '/', 421, SERVER_NAME => '_'],
	['a.example', '/', 'a', STATESPACE_HOST => 'a.example'],
	['www.a.example', '/', 'a', STATESPACE_HOST => 'a.example'],
	['localhost', '/', 'a', STATESPACE_HOST => 'a.example'],
	['a.example', '/', 421, STATESPACE_HOST => 'b.example'],
	['b.example', '/', 421, STATESPACE_HOST => 'a.example'];
is(get($pool, 'no.example', '/healthz')->{status}, 200,
	'health is told to any host');
is(get($pool, 'a.example', '/wiki/healthz')->{status}, 200,
	'... and below a prefix');
is(get($pool, 'a.example', '/wiki')->{headers}{link},
	'</wiki/AGENTS.md>; rel="service-doc", '
	. '</wiki/openapi.json>; rel="service-desc", </wiki/llms.txt>; rel="index"',
	'a page below a prefix leads to the documents there');
like(get($pool, 'localhost', '/')->{body}, qr/no site is served under this/,
	'what is refused says why');

# ------------------------------------------------------ what is inherited --
is(run($pool, 'a.example', '/', ['sh', '-c', 'echo $NAME $MAIN'])->{stdout},
	"of-a\n", 'a site has its own variables, and none of the file');
is(run($pool, 'a.example', '/wiki', ['sh', '-c', 'echo $NAME $MAIN'])
	->{stdout}, "\n", '... or of another site');
is(run($pool, 'a.example', '/wiki', ['sleep', '7.25'])->{error}{code},
	'timeout', 'a site has a time limit of its own');
is(run($pool, 'a.example', '/', ['sleep', '0.7'])->{returncode}, 0,
	'... and another one has that of the file');
like(get($pool, 'a.example', '/', HTTP_ACCEPT => 'text/html')
	->{headers}{'content-type'}, qr/html/, 'one renders pages');
like(get($pool, 'a.example', '/wiki', HTTP_ACCEPT => 'text/html')
	->{headers}{'content-type'}, qr/markdown/, '... another does not');

# ------------------------------------------------- lists, MCP, links, log --
like(get($pool, 'a.example', '/llms.txt')->{body}, qr/deep\/x/,
	'the list of a site has its pages');
unlike(get($pool, 'a.example', '/wiki/llms.txt')->{body}, qr/deep/,
	'... and of no other one');
my $message = '{"jsonrpc": "2.0", "id": 1, "method": "resources/list", '
	. '"params": {"_meta": '
	. '{"io.modelcontextprotocol/protocolVersion": "2026-07-28", '
	. '"io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}, '
	. '"io.modelcontextprotocol/clientCapabilities": {}}}}';
for (['a.example', '/mcp', qr/deep/], ['a.example', '/wiki/mcp', qr/wiki/]) {
	my ($host, $path, $wanted) = @$_;
	my $answer = talk($pool->socket, request(variables(
		REQUEST_METHOD => 'POST', SCRIPT_NAME => $path,
		REQUEST_URI => $path, HTTP_HOST => $host,
		CONTENT_TYPE => 'application/json',
		HTTP_ACCEPT => 'application/json, text/event-stream',
		HTTP_MCP_PROTOCOL_VERSION => '2026-07-28',
		HTTP_MCP_METHOD => 'resources/list',
		CONTENT_LENGTH => length $message), $message));

	like($answer->{body}, $wanted, "$host$path speaks MCP of its own pages")
	    or diag $answer->{body};
}
like($pool->log, qr{event=request site=a\.example/wiki id=\S+ },
	'a line of the log names the site');
unlike($pool->log, qr/of-a/, 'no line has the value of a variable');

sub status
{
	my ($host, %more) = @_;

	return talk($pool->socket . '.status', request(variables(
		SCRIPT_NAME => '/__meta/status', STATESPACE_STATUS => 1,
		HTTP_HOST => $host, %more)))->{body};
}

my $figures = eval { decode_json(status('localhost')) } || {};
my %by = map { $_->{site} => $_ } @{ $figures->{sites}{listed} || [] };
is($figures->{sites}{count}, 3, 'the status knows how many sites there are');
cmp_ok($by{'a.example/wiki'}{runs} // 0, '==', 2, '... how often tools ran');
cmp_ok($by{'a.example'}{ok} // 0, '>', 5, '... what each answered');
cmp_ok($by{'a.example/wiki'}{refused} // 0, '==', 1, '... and refused');
like(status('a.example', HTTP_ACCEPT => 'text/plain'),
	qr{^statespace_site_tool_runs_total\{site="a\.example/wiki"\} 2$}m,
	'so do the metrics');
unlike(get($pool, 'a.example', '/__meta/status')->{body}, qr/wiki/,
	'a client that may not see the status sees no names');

# ---------------------------------------------------------------- reloads --
sub reload
{
	my ($wanted) = @_;
	my $before = () = $pool->log =~ /$wanted/g;

	$pool->signal('HUP');
	return $pool->until_true(sub {
		my $now = () = $pool->log =~ /$wanted/g;
		return $now > $before;
	});
}

my $child = fork // die "fork: $!";
if ($child == 0) {
	my ($bad, $until) = (0, time + 60);

	while (time < $until && !-e $made->scratch . '/enough') {
		$bad++ if get($pool, 'a.example', '/')->{body} !~ /# a$/m;
	}
	POSIX::_exit($bad > 100 ? 100 : $bad);
}
write_file("$sites/later.toml", "[site.\"later.example\"]\nroot = \"$dir/later\"\n");
ok(reload(qr/"?reloaded"?$/m), 'a reload reads the files of sites');
ok($pool->until_true(sub {
	get($pool, 'later.example', '/')->{status} == 200 }), '... adds a site');
rename "$sites/wiki.toml", "$sites/wiki.gone";
ok(reload(qr/"?reloaded"?$/m), 'another one');
ok($pool->until_true(sub {
	get($pool, 'a.example', '/wiki')->{status} == 404 }), '... removes one');
$figures = eval { decode_json(status('localhost')) } || {};
%by = map { $_->{site} => $_ } @{ $figures->{sites}{listed} || [] };
cmp_ok($by{'a.example'}{runs} // 0, '==', 2,
	'the counts of the others go on');
write_file("$sites/wrong.toml",
	"\n[site.\"c.example\"]\nroot = \"$dir/a\"\nlimits.timeout = \"x\"\n");
ok(reload(qr{not reloaded.*wrong\.toml:4: limits\.timeout}),
	'a broken file of a site is named with its line')
    or diag $pool->log;
leads_to($pool, 'later.example', '/', 'later');
unlink "$sites/wrong.toml";
rename "$dir/later", "$dir/older";
mkdir "$dir/later";
write_file("$dir/later/README.md", "# newer\n");
chmod 0755, "$dir/later";
ok($pool->until_true(sub {
	get($pool, 'later.example', '/')->{body} =~ /newer/ }),
	'another directory under the name of a root is seen');
write_file($made->scratch . '/enough', '');
waitpid $child, 0;
is($? >> 8, 0, 'no request of another site was lost meanwhile');
rename "$dir/a", "$dir/away";
my $gone = get($pool, 'later.example', '/');
is($gone->{status}, 200, 'a root that is gone takes no other site with it');
rename "$dir/away", "$dir/a";
$pool->stop_ok;

# --------------------------------------------------- a site for the others --
$pool = start(config => "root = \"$dir/main\"\n$config");
leads_to($pool, @$_) for
	['localhost', '/', 'main'], ['a.example', '/', 'a'],
	['b.example', '/', 421], ['127.0.0.1', '/any', 'any'];
is(run($pool, 'localhost', '/', ['sh', '-c', 'echo $NAME $MAIN'])->{stdout},
	"of-main\n", 'the main site has the variables of the file');
$pool->stop_ok;

# ------------------------------------------------------- what is refused --
sub refused
{
	my ($text, $wanted, $sentence, %more) = @_;
	my $file = $made->scratch . '/wrong.toml';
	my %env = map { $_ => $ENV{$_} } grep { !/^STATESPACE_/ } keys %ENV;

	write_file($file, $text);
	local %ENV = %env;
	my $said = `timeout -k 1 20 $program fcgi -c $file --socket $file.sock 2>&1`;
	like($said, $wanted, $sentence);
	isnt($?, 0, '... and the pool does not start');
	return;
}

my $table = "[site.\"a.example\"]\nroot = \"$dir/a\"\n";
refused("$table$table", qr/wrong\.toml:3/, 'the same table twice');
refused("$table\[site.\"A.example/\"]\nroot = \"$dir/any\"\n",
	qr{wrong\.toml:3: \[site\."A\.example/"\]: the same site is at .*:1},
	'two names of one site');
refused("$table\[site.\"b.example\"]\nroot = \"$dir/any\"\n"
	. "http.hosts = [\"a.example\"]\n",
	qr/the name a\.example leads to two sites/, 'a host of two sites');
refused("$table\[site.\"b.example\"]\nroot = \"$dir/a/deep\"\n",
	qr{wrong\.toml:3: \[site\."b\.example"\]: .*/a/deep lies in the root of},
	'a root in the root of another one');
refused("root = \"$dir\"\n$table", qr/lies in the root of the main site/,
	'... or in that of the main site');
refused("$table\[site.\"b.example\"]\nroot = \"$dir/any\"\n"
	. "grant.read = [\"$dir/a/deep\"]\n",
	qr/grant|lies in the root of a\.example/, 'a grant into another site');
refused("grant.exec = [\"$dir/any/tool\"]\n$table"
	. "[site.\"b.example\"]\nroot = \"$dir/any\"\n",
	qr/any\/tool.* lies in the root of b\.example/,
	'a program of another site');
refused("$table\[site.\"$_\"]\nroot = \"$dir/any\"\n",
	qr/wrong\.toml:3: .*no site can have/, "the name \"$_\"")
    for 'b.example:80', 'b.example/../x', 'b c', '', '/', 'b.example//x',
	'b.example.', 'ü.example', 'b.example/%41';
refused("$table$_ = 1\n", qr/wrong\.toml:3: .*whole pool/, "$_ in a table")
    for 'pool.workers', 'limits.max_body_bytes', 'limits.scratch_bytes';
refused("$table" . "http.prefix = \"/x\"\n", qr/prefix is a part of the/,
	'a prefix in a table');
refused("$table" . "limits.time = 1\n", qr/wrong\.toml:3: .*perhaps .*timeout/s,
	'a key that is none');
refused("[site.c.example]\nroot = \"$dir/any\"\n",
	qr/wrong\.toml:1: .*\[site\."HOST\/PREFIX"\]/,
	'a name without quotes, which TOML reads as two');
refused("[site.\"a.example\"]\n", qr/wrong\.toml:1: .*root is not set/,
	'a site without a root');
refused("[site.\"a.example\"]\nroot = \"$dir/none\"\n",
	qr{wrong\.toml:1: \[site\."a\.example"\]: .*none},
	'a root that is not there');
write_file("$sites/wrong.toml", "[limits]\ntimeout = 1\n");
refused("sites = \"sites.d\"\n", qr{sites\.d/wrong\.toml:1: limits: },
	'another section in a file of sites');
unlink "$sites/wrong.toml";
POSIX::mkfifo("$sites/wrong.toml", 0600) or die "mkfifo: $!";
refused("sites = \"sites.d\"\n", qr{sites\.d/wrong\.toml: .*no regular file},
	'a fifo among the files of sites, which would block a reload');
unlink "$sites/wrong.toml";
refused("sites = \"nowhere\"\n", qr{sites: .*nowhere cannot be read},
	'a directory of sites that is not there');

# ------------------------------------------ without a pool: CGI and shells --
my $local = $made->scratch . '/local.toml';
write_file($local, $config);
{
	my %env = map { $_ => $ENV{$_} } grep { !/^STATESPACE_/ } keys %ENV;
	local %ENV = %env;
	my $exec = "$program exec -c $local";

	is(`$exec --site a.example README -- sh -c 'echo \$NAME \$MAIN'`,
		"of-a\n", 'exec runs in the site that --site names');
	is(`cd $dir/a/deep && $exec README -- sh -c 'echo \$NAME \$MAIN'`,
		"of-a\n", '... or that the directory lies in');
	is(`$exec -C $dir/any --get README`, "# any\n", '... or -C');
	like(`$exec --site none.example --get README 2>&1`,
		qr{has no such site; it has a\.example, /any},
		'a site that is not there is refused, and those that are are named');
	like(`cd / && $exec --get README 2>&1`, qr{name one with --site; it has a\.example},
		'without a name it is asked for one');
	my ($mount) = `cd / && $program doctor -c $local` =~ /^(.*site mount.*)/m;
	like($mount, qr/^ok .*(?:writable|read-only)/,
		'doctor looks at the file systems of the sites');
	write_file("$dir/any/bad.md", "---\ntools: 1\n---\n");
	my $said = `cd / && $program check -c $local 2>&1`;
	like($said, qr/^\/any: bad\.md:2:8: error/m,
		'check looks at every site');
	like($said, qr/1 error/, '... and counts');
	unlink "$dir/any/bad.md";
	like(`cd / && $program check -c $local --site a.example 2>&1`,
		qr/^2 pages/m, '... or at one');

	my $cgi = $made->scratch . '/statespace.cgi';
	system("cp $program $cgi") == 0 or die 'cp';
	rename $local, $made->scratch . '/statespace.toml';
	my %as = (GATEWAY_INTERFACE => 'CGI/1.1', REQUEST_METHOD => 'GET',
		SCRIPT_NAME => '/statespace.cgi', SERVER_PROTOCOL => 'HTTP/1.1');
	my $ask = sub {
		my (%more) = @_;
		local %ENV = (%ENV, %as, %more);
		my $cd = $made->scratch;
		return `cd $cd && ./statespace.cgi < /dev/null 2>/dev/null`;
	};
	like($ask->(HTTP_HOST => 'a.example', PATH_INFO => '/deep/x'),
		qr/# a deep/, 'plain CGI answers for the site of the host');
	like($ask->(HTTP_HOST => 'localhost', PATH_INFO => '/any'),
		qr/# any/, '... and of the path');
	like($ask->(HTTP_HOST => 'b.example', PATH_INFO => '/'),
		qr/^Status: 421/m, '... and for no other');
}
done_testing;
