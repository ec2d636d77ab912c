#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Receipts ([log] receipts): each execution has one, whoever of pool and writer
# is killed; `statespace receipts verify` finds each way to change the file.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp ();
use JSON::PP ();
use POSIX ();
use Statespace::FastCGI qw(call talk);
use Statespace::Pool;
use Statespace::TestSite qw(slurp write_file);
use Test::More;
use Time::HiRes qw(sleep);

my $program = Statespace::Server::binary();
my $dir = File::Temp->newdir('statespace-XXXXXXXX', TMPDIR => 1);
my $json = JSON::PP->new->utf8;

-x $program or plan skip_all => 'the program is not built';
chmod 0777, "$dir" or die "chmod: $!";

# The exit status of `statespace receipts` and what it says.
sub receipts
{
	my @words = @_;
	my $pid = open my $from, '-|';

	if ($pid == 0) {
		open STDERR, '>&', \*STDOUT;
		exec $program, 'receipts', @words;
	}
	my $text = join '', <$from>;
	close $from;
	return ($? >> 8, $text);
}

sub verify { return receipts('verify', '--key', "$dir/key.pub", @_) }

my ($status, $text) = receipts('key', "$dir/key");
is($status, 0, 'a key is made') or diag $text;
is((stat "$dir/key")[2] & 07777, 0600, '... which is private');
like(slurp("$dir/key"), qr/^-----BEGIN PRIVATE KEY-----/, '... in PEM');
is((receipts('key', "$dir/key"))[0], 1, 'a key that is there is kept');
is((receipts('write', 'x'))[0], 2, 'nobody writes receipts by hand');
is((receipts())[0], 2, 'without words it shows its usage');

# ----------------------------------------------------------------- a pool

my $SECRET = 'word-that-nobody-may-read';
my $pool = Statespace::Pool->start(files => { 'README.md' => "---\ntools:\n"
	. "  - { name: say, command: [echo, {}] }\n  - [sleep, {}]\n"
	. "  - [none-such]\n---\n" }, config => "[pool]\nmode = \"static\"\n"
	. "workers = 3\n[log]\nreceipts = \"$dir/log\"\n"
	. "receipts_key = \"$dir/key\"\n");

sub lines { return split /\n/, slurp("$dir/log") }

sub post { return talk($pool->socket, call('/', [@_])) }

sub writer
{
	my ($pid) = grep { (eval { slurp("/proc/$_/cmdline") } // '')
		=~ /\Q$dir\E\/log/ } map { m{(\d+)$} } glob '/proc/[0-9]*';
	return $pid;
}

if (post('echo', 'x')->{status} != 200) {
	$pool->stop;
	plan skip_all => 'tools cannot be confined here';
}
is((lines())[0] =~ /"event":"begin","key":"[0-9a-f]{64}"/, 1,
	'the file begins with its key');
my $first = $json->decode((lines())[1]);
is("$first->{seq} $first->{page} $first->{tool} $first->{name} $first->{outcome}"
	. " $first->{returncode}", '1 README.md 0 say ok 0', 'a run has a receipt');
like($first->{$_}, qr/^[0-9a-f]{64}$/, "... with $_")
    for qw(page_sha256 argv stdout_sha256 prev);
my $before = () = lines();
post('echo', $SECRET) for 1 .. 5;
post('none-such');
is(scalar(lines()) - $before, 6, 'each run has one line');
like((lines())[-1], qr/"outcome":"not_started"/,
	'a program that is not there, too');
unlike(slurp("$dir/log"), qr/$SECRET/, 'no word is in them');
my @argv = map { $json->decode($_)->{argv} } (lines())[-3, -2];
is($argv[0], $argv[1], 'the same words have the same digest');

# The writer is killed: the next run waits for another one.
my $old = writer();
kill 'KILL', $old;
my $answer = post('echo', 'after');
is($answer->{status}, 200, 'a killed writer is replaced');
isnt(writer() // 0, $old, '... by another');

# A worker is killed while its tool runs.
$before = () = lines();
my $child = fork() // die "fork: $!";
if ($child == 0) {
	eval { post('sleep', '30') };
	POSIX::_exit(0);
}
$pool->until_true(sub {
	return Statespace::Server::process_lives('sleep 30', 0) }, 20);
kill 'KILL', $pool->workers;
waitpid $child, 0;
ok($pool->until_true(sub { scalar(lines()) > $before }, 20),
	'a run whose worker was killed has a receipt');
like((lines())[-1], qr/"outcome":"unknown"/, '... that says so');

# Rotation: the chain goes on in a new file.
$pool->until_true(sub { post('echo', 'x')->{status} == 200 }, 20);
rename "$dir/log", "$dir/log.1" or die "rename: $!";
is(post('echo', 'new')->{status}, 200, 'the file is renamed');
($status, $text) = verify("$dir/log.1", "$dir/log");
is($status, 0, '... and the chain goes on in a new one') or diag $text;
like($text, qr/^head [0-9a-f]{64}$/m, '... whose head is told');

# A key that is not there is told as that.
{
	my ($conf, $words) = ("$dir/nokey.toml", '');
	open my $file, '>', $conf or die "$conf: $!";
	print $file "[log]\nreceipts = \"$dir/none\"\n"
	    . "receipts_key = \"$dir/nokey\"\n";
	close $file;
	open my $out, '-|', "$program exec -c '$conf' -C '"
	    . $pool->site->dir . "' README -- echo x 2>&1" or die "exec: $!";
	$words .= $_ while <$out>;
	close $out;
	like($words, qr/nokey: No such file or directory/,
		'a missing key is named with the reason');
}

# Nobody can write: nothing runs.
{
	rename "$dir/key", "$dir/elsewhere" or die "rename: $!";
	kill 'KILL', writer();
	is(post('echo', 'x')->{status}, 503, 'without a writer no tool runs');
	rename "$dir/elsewhere", "$dir/key";
	ok($pool->until_true(sub { post('echo', 'x')->{status} == 200 }, 30),
		'... until there is one');
}
$pool->stop_ok(allow => qr/signal 9|ended with status|receipt/);
ok($pool->until_true(sub { !defined writer() }, 10), 'the writer ends with it');

# -------------------------------------------------------------- tampering

my @all = map { "$_\n" } split /\n/, slurp("$dir/log.1");
my $file = "$dir/changed";
my ($head) = (verify("$dir/log.1"))[1] =~ /^head (\w+)/m;

sub changed
{
	my ($what, $expected, @lines) = @_;

	write_file($file, join '', @lines);
	my ($status, $text) = verify('--head', $head, $file);
	is($status, 1, "$what is found");
	like($text, $expected, '... and told');
	return;
}

write_file($file, join '', @all);
($status, $text) = verify('--head', $head, $file);
is($status, 0, 'an unchanged file is right') or diag $text;
for my $name ('seq', 'time', 'page', 'outcome', 'argv', 'prev', 'sig') {
	my @lines = @all;

	$lines[3] =~ s/("$name":"?)(.)/$1 . ($2 eq '7' ? '8' : '7')/e;
	changed("another $name", qr/line 4: /, @lines);
}
changed('a line that was removed', qr/line 4: lines before it are missing/,
	@all[0 .. 2, 4 .. $#all]);
changed('a line that was inserted', qr/line 4: it comes again/,
	@all[0 .. 2, 2 .. $#all]);
changed('two lines that changed places', qr/line 3: lines before it/,
	@all[0, 1, 3, 2, 4 .. $#all]);
changed('a line that is no receipt', qr/line 3: this is no receipt/,
	@all[0, 1], "{}\n", @all[2 .. $#all]);
changed('a cut end', qr/the end was cut/, @all[0 .. $#all - 1]);
changed('a cut line', qr/the line is cut/, @all[0 .. $#all - 1],
	substr $all[-1], 0, 100);
is((verify("$dir/log"))[0], 0, 'a file that begins in the chain is right');
receipts('key', "$dir/other");
is((receipts('verify', '--key', "$dir/other.pub", "$dir/log.1"))[0], 1,
	'the key of another is found');
is((receipts('verify', "$dir/log.1"))[0], 0,
	'without a key the file\'s own is taken');

# ---------------------------------------------------------- a torn last line

SKIP: {
	my $site = Statespace::TestSite->new(files => {
		'README.md' => "---\ntools: [[echo, {}]]\n---\n" });
	my $config = $site->scratch . '/c.toml';
	my $exec = $program =~ s/statespace$/statespace-exec/r;

	write_file($config, "[log]\nreceipts = \"$dir/torn\"\n"
		. "receipts_key = \"$dir/key\"\n");
	my $run = sub { `$exec -c $config -C @{[$site->dir]} README.md -- echo x 2>&1` };
	like($run->(), qr/^x$/m, 'the shell writes receipts');
	open my $torn, '>>', "$dir/torn" or die "torn: $!";
	print {$torn} '{"seq":2,"time":"2026';
	close $torn;
	like($run->(), qr/the last line was cut: 21 bytes removed/,
		'a torn line is removed, and the log has it');
	my ($status, $text) = verify("$dir/torn");
	is($status, 0, '... and the file is right') or diag $text;
	like(slurp("$dir/torn"), qr/"event":"cut_line_removed","bytes":21/,
		'... and says so itself');
	my @lines = map { "$_\n" } split /\n/, slurp("$dir/torn");
	write_file("$dir/torn", join '', @lines[0 .. $#lines - 2]);
	$run->();
	($status, $text) = verify("$dir/torn");
	is($status, 1, 'lines that were removed below a running chain are told');
	like($text, qr/writer found lines missing/, '... also by the writer');
}
done_testing;
