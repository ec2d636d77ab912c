#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Large numbers of everything: pages, tools, words, patterns, paths, clients,
# outputs.  What statespace-protocol(7) bounds is asked on both sides of the bound, and what
# it does not bound must cost what it is worth.  `make bench` has the times.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP ();
use Statespace::FastCGI qw(request variables call talk connect_to receive);
use Statespace::Pool;
use Statespace::Server;
use Test::More;
use Time::HiRes qw(sleep time);

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my $PAGE = "---\ntools:\n  - [\"true\"]\n  - [echo]\n  - [printf, '%s']\n"
    . "---\n# A page\n";
my $MIB = 1 << 20;

sub static { return "[pool]\nmode = \"static\"\nworkers = $_[0]\n" }

sub status { return talk(@_)->{status} }

sub get
{
	my ($path) = @_;

	return request(variables(SCRIPT_NAME => $path, REQUEST_URI => $path));
}

sub post
{
	my ($page, $value) = @_;
	my $body = JSON::PP::encode_json($value);

	return request(variables(REQUEST_METHOD => 'POST',
		SCRIPT_NAME => $page, REQUEST_URI => $page,
		CONTENT_TYPE => 'application/json',
		CONTENT_LENGTH => length $body), $body);
}

# What a process holds or has used, of /proc.
sub figure
{
	my ($pid, $file, $pattern) = @_;

	open my $in, '<', "/proc/$pid/$file" or return 0;
	local $/;
	my @found = scalar(<$in>) =~ $pattern;
	my $sum = 0;
	$sum += $_ for @found;
	return $sum;
}

sub sum
{
	my ($sum) = (0);

	$sum += $_ for @_;
	return $sum;
}

sub highest { return (sort { $b <=> $a } @_)[0] // 0 }

sub resident
{
	my ($pid, $which) = (@_, 'RSS');

	return figure($pid, 'status', qr/^Vm$which:\s+(\d+)/m);
}

# --------------------------------------------------------------------- pages --

# Processor time, in ticks, that a pool has used after its first answers.
sub first_answers
{
	my ($pages) = @_;
	my $site = Statespace::TestSite->new(files => {
		'README.md' => $PAGE });
	my $dir = $site->dir;
	link "$dir/README.md", "$dir/$_.md" or die "link: $!" for 1 .. $pages;
	my $pool = Statespace::Pool->start(config => static(1), site => $site);
	my @status = (status($pool->socket, get("/$pages")),
		status($pool->socket, call("/$pages", ['true'])));
	my $ticks = sum(map { figure($_, 'stat',
		qr/\A.*\)(?: \S+){11} (\d+) (\d+)/s) } $pool->pid, $pool->workers);
	my @wrong = $pool->stop;

	return ("@status", $ticks, @wrong);
}

my ($few_status, $few) = first_answers(10);
plan skip_all => 'tools cannot be confined here' if $few_status ne '200 200';
my ($many_status, $many, @wrong) = first_answers(10_000);
is($many_status, '200 200', 'a site of 10,000 pages answers');
cmp_ok($many, '<=', $few * 1.5 + 10,
	'its start and first answers cost what they cost with 10 pages');
is("@wrong", '', 'and it ends cleanly');

# ------------------------------------------- tools, words, patterns, paths --

sub tools { return "---\ntools:\n" . join('', @_) . "---\n# A page\n" }
# So many bytes of pattern: letters, or one set of them, which is compiled to
# little (PCRE2 keeps at most 64 KiB of a compiled one).
sub letters { return "'^(?:" . 'a' x ($_[0] - 7) . ")?\$'" }
sub letter { return "'^[" . 'a' x ($_[0] - 4) . "]\$'" }
sub page_with { return tools("  - [echo, { regex: $_[0] }, ;]\n") }
my $most = 64 * 1024;

my $pool = Statespace::Pool->start(config => static(2), files => {
	'README.md' => $PAGE,
	'thousand.md' => tools(map { "  - [echo, tool$_, ;]\n" } 1 .. 1000),
	'pattern.md' => page_with(letter($most)),
	'longer.md' => page_with(letter($most + 1)),
	'letters.md' => page_with(letters(30_000)),
	'grown.md' => page_with(letters($most)),
	'patterns.md' => tools(map { "  - [echo, '$_', { regex: "
		. letters(4096) . " }, ;]\n" } 1 .. 200) });
my $socket = $pool->socket;

my $answer = talk($socket, call('/thousand', ['echo', 'tool1000']));
like($answer->{body}, qr/"tool1000\\n"/, 'the last of 1000 tools is found');
$answer = talk($socket, call('/thousand', ['echo', 'tool1001']));
is($answer->{status}, 403, 'a command that none of them allows is refused');
cmp_ok(length $answer->{body}, '<=', 16384, 'in bounded words');

$answer = talk($socket, call('/', ['echo', map { "$_" } 1 .. 200]));
like($answer->{body}, qr/"1 2 3 .* 199 200\\n"/, 'a command has 200 words');
is(status($socket, call('/', ['true', ('x') x 65535])), 200, 'and 65536');
is(status($socket, call('/', ['true', ('x') x 65536])), 413, 'but no more');
is(status($socket, call('/', ['true', 'x' x 131071])), 200,
	'a word has 131071 bytes');
is(status($socket, call('/', ['true', 'x' x 131072])), 413, 'but no more');
my %args = (args => { a => 'x' x 100_000 });
is(status($socket, post('/', { command => ['true', ('{a}') x 10], %args })),
	200, 'a filled command has a million bytes');
is(status($socket, post('/', { command => ['true', ('{a}') x 11], %args })),
	413, 'but not more than 1 MiB');
is(status($socket, post('/', { command => ['true'],
	more => 'x' x ($MIB - 32) })), 200, 'a body has just under 1 MiB');
is(status($socket, post('/', { command => ['true'], more => 'x' x $MIB })),
	413, 'but not more');

is(status($socket, call('/pattern', ['echo', 'a'])), 200,
	'a pattern has 64 KiB');
$answer = talk($socket, call('/longer', ['echo', 'a']));
is($answer->{status}, 400, 'but not a byte more');
like($answer->{body}, qr/bad_frontmatter/, 'since the page is bad then');
is(status($socket, call('/letters', ['echo', 'a' x 29_993])), 200,
	'30,000 letters of a pattern are compared');
is(status($socket, call('/letters', ['echo', 'a' x 29_992])), 403,
	'to the last one');
$answer = talk($socket, call('/grown', ['echo', 'a']));
like($answer->{body}, qr/bad_frontmatter.*large/, 'one that grows too large '
	. 'is refused and says so') or diag $answer->{body};
is(status($socket, call('/patterns', ['echo', '200', 'a' x 4089])), 200,
	'a page may have 200 long ones');

is(status($socket, get('/' . 'a/' x 2000)), 404,
	'a path 2000 deep is looked for');
is(status($socket, get('/' . 'a/' x 5000)), 400, 'one 5000 deep is refused');
is(status($socket, get('/' . 'a' x 255)), 404, 'a name has 255 bytes');
is(status($socket, get('/' . 'a' x 300)), 404, 'a longer one is nowhere');
my $deep = '[' x 5000 . ']' x 5000;
is(status($socket, request(variables(REQUEST_METHOD => 'POST',
	CONTENT_TYPE => 'application/json',
	CONTENT_LENGTH => length $deep), $deep)), 400,
	'JSON 5000 deep is refused');

# ------------------------------------------------------------- starvation --

# One of the two workers is taken for long; the other one serves all others.
my $slow = connect_to($socket);
$pool->site->write('slow.md', tools("  - [sleep, '31.5', ;]\n"));
syswrite $slow, call('/slow', ['sleep', '31.5']);
my $began = time;
my @others = map { status($socket, call('/', ['true'])) } 1 .. 40;
is("@others", join(' ', (200) x 40), 'one slow tool leaves the other worker');
my $readable = '';
vec($readable, fileno $slow, 1) = 1;
is(select($readable, undef, undef, 0), 0, 'and none waited for it');
close $slow;
ok(!Statespace::Server::process_lives('sleep 31.5', 10),
	'it ends with its client');
is(join(' ', map { status($socket, call('/', ['true'])) } 1 .. 4),
	join(' ', (200) x 4), 'and both workers serve again');
$pool->stop_ok;

# ------------------------------------------------------------ idle clients --

SKIP: {
	skip 'nginx is not installed', 4 unless Statespace::Server::front('nginx');
	my $server = Statespace::Server->start(config => static(2),
		files => { 'README.md' => $PAGE });
	my @idle = map { $server->connect } 1 .. 256;
	# Half of them have begun to ask.
	syswrite $_, "POST / HTTP/1.1\r\nHost: localhost\r\n"
	    . "Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
	    for @idle[0 .. 127];
	is(join(' ', map { $server->run('/', ['true'])->{status} } 1 .. 20),
		join(' ', (200) x 20), '256 idle clients are in nobody\'s way');
	is($server->request('GET', '/')->{status}, 200, 'nor in a reader\'s');
	my $still = grep { !$_->blocking(0) || !defined sysread $_, my $got, 1 }
	    @idle;
	is($still, 256, 'and all of them are still welcome');
	close $_ for @idle;
	$server->stop_ok;
}

# ------------------------------------------------------- outputs of 64 tools --

# All at once: a peer that does not read for ten seconds is given up.
sub receive_all
{
	my %in = map { $_ => '' } @_;
	my %open = map { $_ => $_ } @_;
	my $until = time + 120;

	while (%open && time < $until) {
		my $r = '';
		vec($r, fileno $_, 1) = 1 for values %open;
		select($r, undef, undef, 1) or next;
		for (grep { vec $r, fileno $_, 1 } values %open) {
			my $n = sysread $_, $in{$_}, 262144, length $in{$_};
			delete $open{$_} unless $n;
		}
	}
	return map { +{ Statespace::FastCGI::parse($in{$_}) } } @_;
}

# Each has written all but its last byte when it waits for a file: all outputs
# are held at once.
my $TOOLS = $ENV{SANITIZE} ? 8 : 64;
my $script = 'cat big.txt; while [ ! -e go ]; do sleep 0.5; done; echo';
$pool = Statespace::Pool->start(config => static($TOOLS), files => {
	'README.md' => $PAGE, 'big.txt' => "\\\n" x ($MIB / 2 - 1),
	'big.md' => tools("  - [sh, -c, '$script', ;]\n") });
ok($pool->until_true(sub { $pool->workers == $TOOLS }, 20),
	"$TOOLS workers are started");
my %idle = map { $_ => resident($_) } $pool->workers;
my @clients = map { connect_to($pool->socket) } 1 .. $TOOLS;
syswrite $_, call('/big', ['sh', '-c', $script]) for @clients;
ok($pool->until_true(sub {
	my $all = Statespace::Server::processes();
	return $TOOLS == grep { $all->{$_}{line} eq "sh -c $script" } keys %$all;
}, 20), "$TOOLS tools run at once");
$pool->site->write('go', '');
my $whole = 0;
for (receive_all(@clients)) {
	my $body = $_->{body};
	# A line of two bytes is four in JSON.
	$whole++ if $body =~ /\A\{"stdout": "(?:\\\\\\n)+\\n", "stderr": ""/
	    && length($body) > 2 * $MIB;
}
is($whole, $TOOLS, 'each answer is whole');
SKIP: {
	skip 'a sanitizer keeps what was freed', 2 if $ENV{SANITIZE};
	my @grew = map { resident($_, 'HWM') - ($idle{$_} // 0) }
	    $pool->workers;
	cmp_ok(highest(@grew), '<=', 12 * 1024,
		'no worker held much more than the output and its JSON');
	ok($pool->until_true(sub {
		highest(map { resident($_) - ($idle{$_} // 0) }
			$pool->workers) < 3 * 1024
	}, 5), 'and it gives that back');
	note 'most KiB more: ' . highest(@grew);
}
$pool->stop_ok;
done_testing;
