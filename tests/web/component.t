#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Components through a real front server (statespace-page(7), Components): what replaces a block,
# every limit from both sides, what is never run, and what a page with them
# answers about itself.
use strict;
use warnings;
use FindBin;
use IO::Socket::INET;
use lib "$FindBin::Bin/../lib";
use Test::More;
use Time::HiRes qw(sleep time);
use Statespace::Server;

plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');

my $MIB = 1 << 20;

sub block { return join '', map { "```component\n$_\n```\n" } @_ }

sub body
{
	my ($server, $path, %headers) = @_;
	return $server->request('GET', $path, headers => \%headers)->{body};
}

# ------------------------------------------------------------ what they say --

my $server = Statespace::Server->start(
	config => <<'END',
[env]
GREETING = "from the table"
SECRET = "not for this page"
PATH = "/nowhere"
[grant]
write = ["w"]
END
	files => {
		'README.md' => "# plain\n",
		'two.md' => "---\ntools: []\n---\nA\n" . block('echo one')
		    . "B\n" . block('echo two') . 'C',
		'crlf.md' => "a\r\n```component\r\nif true\r\nthen echo x\r\nfi\r\n```\r\nb\r\n",
		'last.md' => "a\n```component\necho end\n```",
		'blank.md' => "a\n" . block("printf 'x \\n\\t\\n\\n'") . "b\n",
		'none.md' => "a\n" . block('true') . "b\n",
		'front.md' => "---\ntitle: |\n  ```component\n  ```\n---\nt\n",
		'exit.md' => block('echo out; echo "  why  " >&2; exit 3',
			'echo only out; exit 4', 'exit 5', 'kill -TERM $$',
			'echo one; echo two >&2'),
		'long.md' => block(
			'head -c 199 /dev/zero | tr "\\0" a >&2; printf é >&2; exit 1',
			'head -c 200 /dev/zero | tr "\\0" a >&2; exit 1',
			'head -c 9999 /dev/zero | tr "\\0" "\\377" >&2; exit 1'),
		'env.md' => "---\nenv: [GREETING, ASKED]\n---\n"
		    . block('echo "$GREETING"; echo "$PATH"; env | sort'),
		'bare.md' => block('echo "[$GREETING]"; env | sort'),
		'cwd/here.md' => block('ls'),
		'cwd/data.txt' => "x\n",
		'bad.md' => "---\ntools: [[\n---\n" . block('echo ran-$((1+1))'),
		'w/page.md' => block('echo ran-$((1+1))'),
		'data.txt' => block('echo ran-$((1+1))'),
		'wants.md' => "---\nsandbox: {read: [/root]}\n---\n"
		    . block('echo ran-$((1+1))'),
		'mark.md' => block('echo x >/tmp/mark; date +%s%N'),
		'scratch.md' => block('echo x >$TMPDIR/left',
			'until [ -s $TMPDIR/left ]; do sleep 0.02; done; '
			. 'ls -A $TMPDIR'),
		'empty.md' => block('ls -A $TMPDIR; echo end'),
		'site.md' => block('echo x >written || true'),
		'back.md' => block('setsid sleep 987 >/dev/null 2>&1 &'),
		'nul.md' => block("echo a\0b"),
		'huge.md' => block('true ' . ('x' x 200_000)),
	},
	symlinks => { 'linked.md' => 'w/page.md' });

is body($server, '/two'), "---\ntools: []\n---\nA\none\nB\ntwo\nC",
    'each block is replaced in its place, the rest is as written';
is body($server, '/crlf'), "a\r\nx\r\nb\r\n", 'a CR LF page keeps its breaks';
is body($server, '/last'), "a\nend", 'a block that ends the page';
is body($server, '/blank'), "a\nx\nb\n", 'white space at the end is dropped';
is body($server, '/none'), "a\n\nb\n", 'a silent block leaves its line break';
like body($server, '/front'), qr/title: \|\n  ```component/,
    'nothing in the frontmatter is a block';

is body($server, '/exit'), <<'END', 'a failure says its code, then stderr, else stdout';
[eval error: exit 3 — why]
[eval error: exit 4 — only out]
[eval error: exit 5]
[eval error: exit 143]
one
END
my @long = split /\n/, body($server, '/long');
is $long[0], '[eval error: exit 1 — ' . 'a' x 199 . '…]',
    'a detail of 201 bytes is cut before the character that does not fit';
is $long[1], '[eval error: exit 1 — ' . 'a' x 200 . ']',
    'a detail of 200 bytes is whole';
is $long[2], '[eval error: exit 1 — ' . "\xef\xbf\xbd" x 66 . '…]',
    'bytes that are not UTF-8 are repaired before the cut';

my $env = $server->request('GET', '/env?GREETING=query&EVIL=1&ASKED=query',
	headers => { Greeting => 'header' })->{body};
like $env, qr/^---\nfrom the table\n/m, 'what the page lists is exported';
unlike $env, qr/SECRET|not for this page/, 'and nothing else of the table';
unlike $env, qr/^ASKED=/m, 'a name that only a request could set is not';
unlike body($server, '/bare'), qr/SECRET|GREETING|from the table|not for/,
    'a page without a list gets none of it';
like $env, qr{^/usr/local/bin:/usr/bin:/bin$}m, 'what is fixed stays fixed';
unlike $env, qr/EVIL|QUERY|HTTP_|query|header/, 'nothing of the request is there';
is body($server, '/cwd/here'), "data.txt\nhere.md\n",
    "the page's directory is where it runs";

# --------------------------------------------------------------- never run --

for (['/bad', 'frontmatter that is wrong'], ['/w/page', 'a file that tools may write'],
	['/linked', 'a link to one'], ['/data.txt', 'a file that is no page']) {
	my ($path, $what) = @$_;
	unlike body($server, $path), qr/ran-2/, "$what runs nothing";
	like body($server, $path), qr/^```component$/m, "$what: the block stays";
}
like body($server, '/wants'), qr/^\[eval error: exit 126 — .*read/m,
    'a page that wants more than is granted says so in place of the block';

my $head = $server->request('HEAD', '/mark');
is $head->{status}, 200, 'HEAD is answered';
ok !defined $head->{headers}{'content-length'},
    'without a length, which only a run could tell';
is $head->{headers}{'cache-control'}, 'no-store', 'and with the headers of GET';
my $first = $server->request('GET', '/mark');
isnt $first->{body}, $server->request('GET', '/mark')->{body},
    'every GET runs anew';
is $first->{headers}{'cache-control'}, 'no-store', 'it may not be kept';
ok !defined $first->{headers}{$_}, "it has no $_" for qw(etag last-modified);
is $server->request('GET', '/mark', headers => { 'If-None-Match' => '*',
	'If-Modified-Since' => 'Fri, 01 Jan 2100 00:00:00 GMT' })->{status}, 200,
    'it is never "not modified"';
ok defined $server->request('GET', '/')->{headers}{etag},
    'a page without blocks has its validators';

# ------------------------------------------------------------- the sandbox --

is body($server, '/scratch'), "\nleft\n", 'one scratch for the blocks of a page';
is join('', map { body($server, '/empty') } 1 .. 8), "end\n" x 8,
    'which is emptied after them';
body($server, '/site');
ok !-e $server->site->dir . '/written', 'the site is read-only';
body($server, '/back');
ok !(grep { $_->{line} =~ /sleep 987/ } values %{ Statespace::Server::processes() }),
    'a process that fled is gone with the page';
is body($server, '/nul'), "[eval error: exit 126 — the block holds a NUL byte]\n",
    'a script with a NUL byte is not run half';
like body($server, '/huge'), qr/\A\[eval error: exit 126 — /,
    'a script longer than the kernel takes says so';
$server->stop_ok;

# -------------------------------------------------------------- the limits --

$server = Statespace::Server->start(
	config => "[components]\ntimeout = 1.0\ntotal = 3.0\nparallel = 2\n",
	files => {
		'README.md' => "# plain\n",
		'b20.md' => block(map { "echo n-\$(($_))" } 1 .. 20),
		'b21.md' => block(map { "echo n-\$(($_))" } 1 .. 21),
		'exact.md' => block("head -c $MIB /dev/zero | tr '\\0' a"),
		'over.md' => block("head -c @{[$MIB + 1]} /dev/zero | tr '\\0' a"),
		'flood.md' => block('yes', 'echo next'),
		'slow.md' => block('sleep 0.2; echo fine', 'sleep 20.7 & sleep 20.7',
			'echo after'),
		'total.md' => block(('sleep 0.9; echo x') x 12),
		'fork.md' => block('i=0; while [ $i -lt 30 ]; do sleep 15.7 & '
			. 'i=$((i+1)); done; wait'),
	});
my @lines = split /\n/, body($server, '/b20');
is "@lines", join(' ', map { "n-$_" } 1 .. 20), '20 blocks run';
my $text = body($server, '/b21');
like $text, qr/^n-20$/m, 'of 21 blocks the first 20 run';
like $text, qr/^```component\necho n-\$\(\(21\)\)\n```$/m, 'and the 21st stays';
is length body($server, '/exact'), $MIB + 1, '1 MiB passes whole';
$text = body($server, '/over');
is length $text, $MIB + 1, 'of one byte more the first MiB is kept';
unlike $text, qr/eval error/, 'and it is no failure';
$text = body($server, '/flood');
is length $text, $MIB + 5, 'a flood is cut, its neighbour is not';
my $start = time;
is body($server, '/slow'), "fine\n[eval error: timed out after 1s]\nafter\n",
    'a block is ended at its own time, its neighbours are not';
cmp_ok time - $start, '<', 8, 'and the answer does not wait for it';
$start = time;
$text = body($server, '/total');
cmp_ok time - $start, '<', 9, 'all together are ended at the total';
my $done = () = $text =~ /^x$/mg;
my $late = () = $text =~ /^\[eval error: timed out after [13]s\]$/mg;
is $done + $late, 12, 'every block says one or the other';
ok $done >= 2 && $late >= 4, "some were in time, some were not: $done, $late";
body($server, '/fork');
ok !(grep { $_->{line} =~ /^sleep (?:15|20)\.7/ }
	values %{ Statespace::Server::processes() }),
    'the group of a block that was ended is gone';
is body($server, '/'), "# plain\n", 'and the server serves on';
$server->stop_ok;

# ---------------------------------------------- what is granted, each level --

my $door = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 8)
    or die "listen: $@";
my $reach = 'bash -c "exec 3<>/dev/tcp/127.0.0.1/' . $door->sockport
    . ' && echo reached" 2>&1';

for my $mode ('strict', 'landlock', 'off') {
	my $server = eval { Statespace::Server->start(
		# Without namespaces the account counts as a whole.
		config => "[limits]\nprocesses = 5000\n[sandbox]\nmode = \"$mode\"\n[grant]\nnetwork = true\n"
		    . "write = [\"w\"]\n[components]\ntotal = 2.0\n",
		files => {
			'README.md' => "# plain\n",
			'page.md' => block('echo ran-$((1+1))', 'echo x >in-site',
				'cat "$PWD/../out/secret.md"; true',
				"$reach || echo no network"),
			'w/there' => '',
			'write.md' => "---\nsandbox: {write: [w]}\n---\n"
			    . block('echo x >w/made && cat w/made'),
			'net.md' => "---\nsandbox: {network: true}\n---\n"
			    . block($reach, 'echo two; exit 2',
				'sleep 20.6', 'echo never') }) };
	SKIP: {
		skip "level $mode cannot be had here", 7 unless $server;
		my $text = body($server, '/page');
		like $text, qr/\Aran-2\n/, "$mode: a block runs";
		unlike $text, qr/$Statespace::TestSite::SECRET/,
		    "$mode: what lies outside cannot be read" if $mode ne 'off';
		like $text, qr/no network\n\z/, "$mode: nothing can be reached"
		    if $mode ne 'off';
		ok !-e $server->site->dir . '/in-site',
		    "$mode: the site cannot be written" if $mode ne 'off';
		chmod 0777, $server->site->dir . '/w';
		$text = body($server, '/write');
		like $text, qr/^x$/m, "$mode: what the page is granted can"
		    or diag $text;
		my $start = time;
		$text = body($server, '/net');
		like $text, qr/^reached\n\[eval error: exit 2 — two\]\n\[eval error: timed out after 2s\]\n/m,
		    "$mode: blocks of a page with the network" or diag $text;
		cmp_ok time - $start, '<', 8, "$mode: end at the total, too";
		$server->stop_ok;
	}
}

# -------------------------------------------------------- switched off, local --

$server = Statespace::Server->start(
	config => "[components]\nenabled = false\n",
	files => { 'README.md' => block('echo ran-$((1+1))') });
my $off = $server->request('GET', '/');
like $off->{body}, qr/^echo ran-/m, 'switched off: a block is text';
ok defined $off->{headers}{etag}, 'and the page a file like any other';
$server->stop_ok;

{
	my $site = Statespace::TestSite->new(files => {
		'README.md' => "a\n" . block('echo ran-$((1+1))', 'exit 3') });
	my $program = Statespace::Server::binary();
	my $answer = qx{"$program" exec -C "@{[$site->dir]}" --get / 2>&1};

	like $answer, qr/\Aa\nran-2\n\[eval error: exit 3\]\n\z/,
	    'a local GET runs them in a process started for the page';
}

done_testing;
