#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# Every command that the pages of examples/site show is run twice, through
# statespace-exec and by itself, and must come out the same; a built-in tool has
# no second self and must succeed.  What the pages promise to refuse is refused.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use MIME::Base64 ();
use Statespace::Server qw(has);
use Statespace::TestSite qw(slurp write_file);
use Test::More;

my $top = abs_path(dirname(__FILE__) . '/../..');
my $exec = abs_path($ENV{BUILD} // "$top/build") . '/statespace-exec';
my $key = 'correct-horse';
my $json = JSON::PP->new->utf8;

-x $exec or plan skip_all => "$exec is not built";
for my $program (qw(sqlite3 jq)) {
	has($program) or plan skip_all => "$program is not installed";
}

# A copy: the tree may belong to somebody else, and the database is built.
my $tmp = tempdir(CLEANUP => 1);
chmod 0755, $tmp;
my $site = "$tmp/site";
system('cp', '-R', "$top/examples/site", $site) == 0 or die 'cp';
system('make', '-s', '-B', '-C', $tmp, '-f', "$top/examples/Makefile", 'site')
	== 0 or die 'make';
system('chmod', '-R', 'a+rX', $site);

# Runs a command with its input from a string: stdout, stderr, exit code.
sub run {
	my ($in, $dir, $env, @argv) = @_;
	write_file("$tmp/in", $in);
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		chdir $dir or die $!;
		%ENV = %$env;
		open STDIN, '<', "$tmp/in" or die $!;
		open STDOUT, '>', "$tmp/out" or die $!;
		open STDERR, '>', "$tmp/err" or die $!;
		exec { $argv[0] } @argv or exit 127;
	}
	waitpid $pid, 0;
	return (slurp("$tmp/out"), slurp("$tmp/err"), $? >> 8);
}

sub post {
	my ($page, $request) = @_;
	my ($out, $err) = run($json->encode($request), '/', \%ENV, $exec,
		'-C', $site, '--env', "SEAL_KEY=$key", '--json', $page, '-');
	my $answer = eval { $json->decode($out) };
	return $answer // { stdout => $out, stderr => "no JSON: $err" };
}

# A page as GET gives it: of a component only the output.
sub rendered {
	my ($text) = @_;
	$text =~ s{^```component\n(.*?)\n```$}{
		(run('', $site, \%ENV, 'sh', '-c', $1))[0] =~ s/\s+\z//r
	}gmse;
	return $text;
}

my %built_in = map { $_ => 1 } qw(glob read write edit fs curl);

# The same words without a server, in the environment of statespace-protocol(7), RUNNING.
sub by_itself {
	my ($page, $request) = @_;
	my %env = (
		PATH => '/usr/local/bin:/usr/bin:/bin',
		HOME => '/tmp',
		LANG => 'C.UTF-8',
		LC_ALL => 'C.UTF-8',
		%{ $request->{env} // {} },
	);
	my $dir = -d "$site/$page" ? "$site/$page" : $site;
	my @argv = map { $_ eq '$SEAL_KEY' ? $key : $_ }
		@{ $request->{command} };
	my ($out, $err, $rc) = run($request->{stdin} // '', $dir, \%env, @argv);
	utf8::decode($_) for $out, $err;
	return { stdout => $out, stderr => $err, returncode => $rc };
}

my %pages = map { $_ => slurp("$site/$_") }
	map { s{^\Q$site/\E}{}r } glob "$site/*.md $site/*/*.md";
my $shown = 0;

for my $file (sort keys %pages) {
	my $page = $file =~ s{/?README\.md$}{}r =~ s{\.md$}{}r;
	$page = '/' if $page eq '';
	my ($got) = run('', '/', \%ENV, $exec, '-C', $site, '--get', $page);
	is($got, rendered($pages{$file}), "$page is read as it stands");

	for my $line ($pages{$file} =~ /^    (\{"command".*\})$/mg) {
		my $request = $json->decode($line);
		my $words = join ' ', @{ $request->{command} };
		if ($built_in{ $request->{command}[0] }) {
			my $answer = post($page, $request);
			is($answer->{returncode}, 0, "$page: $words")
				or diag explain $answer;
			isnt($answer->{stdout}, '', '... and it prints something');
			next;
		}
		if (!has($request->{command}[0])) {
		SKIP: {
				skip "$request->{command}[0] is not installed", 2;
			}
			next;
		}
		my $want = by_itself($page, $request);
		my $answer = post($page, $request);
		delete $answer->{sandbox};
		$_->{stdout} =~ s/^\d{4}-\S+Z\n$/now\n/ for $want, $answer;
		$shown++;
		is_deeply($answer, $want, "$page: $words") or diag explain $answer;
		is($want->{returncode}, 0, '... and it succeeds');
	}
}
cmp_ok($shown, '>=', 15, 'the pages show commands');

# Calls by name have no second self: they succeed and print something.
my $called = 0;
for my $file (sort keys %pages) {
	my $page = $file =~ s{/?README\.md$}{}r =~ s{\.md$}{}r;
	for my $line ($pages{$file} =~ /^    (\{"tool_call".*\})$/mg) {
		my $answer = post($page, $json->decode($line));
		is($answer->{returncode}, 0, "$page: $line")
			or diag explain $answer;
		like($answer->{stdout} // $answer->{stdout_base64}, qr/\S/,
			'... and it prints something');
		$called++;
	}
}
cmp_ok($called, '>=', 6, 'and calls by name');

sub call {
	my ($tool, %arguments) = @_;
	return post('shop', { tool_call => { name => $tool,
		arguments => \%arguments } });
}
is(call('busiest', most => 1)->{stdout}, "     10 Ada Lovelace\n",
	'shop: a pipe of six programs');
is(call('states', pause => 0)->{stdout}, "open 12\npaid 14\ncancelled 10\n",
	'shop: a script of the page');
like(call('customer', name => "O'Brien")->{stdout}, qr/2026-08-24.*111\.33/,
	'shop: a quote in a name');
is(call('customer', name => "' OR 1=1 --")->{stdout}, '',
	'shop: a quote is no end of the text');
like(MIME::Base64::decode_base64(call('chart')->{stdout_base64}),
	qr/\A\x89PNG\r\n\x1a\n/, 'shop: a chart in PNG');
is(call('chart', year => 2031)->{stderr}, "no order was paid in 2031\n",
	'shop: or why there is none');
is(call('cancel', id => 3)->{error}{code}, 'confirm_required',
	'shop: a person is asked');
is(call(@$_)->{error}{code}, 'bad_request', "shop refuses @$_")
	for [ orders => state => 'lost' ], [ orders => most => 51 ],
		[ orders => since => '2026-02-30' ],
		[ customer => name => '\\' ], [ busiest => most => '-n' ],
		[ chart => year => '2026; id' ], [ cancel => id => 0 ];

my @sql = qw(sqlite3 -readonly -safe ../data/zones.db);
my @texts = qw(bill-of-rights.txt declaration-of-independence.txt
	gettysburg-address.txt second-inaugural.txt);
my @tells = (
	[ primes => [qw(factor 2026)], "2026: 2 1013\n" ],
	[ zones => [ @sql, 'SELECT count(*) FROM leap_second' ], "27\n" ],
	[ zones => [ @sql, "select name\nfrom country where code = 'NZ'" ],
		"New Zealand\n" ],
	[ countries => [ qw(jq length ../data/countries.json) ], "249\n" ],
	[ texts => [ qw(grep -niF -e), 'four SCORE', @texts ],
		"gettysburg-address.txt:4:Four score and seven years ago our "
			. "fathers brought forth on this\n" ],
	[ texts => [ qw(grep -niF -e --null), @texts ], '' ],
	[ files => [qw(glob texts/*.txt)],
		join '', map { "texts/$_\n" } @texts ],
	[ files => [qw(read -l 4 texts/gettysburg-address.txt)],
		"Four score and seven years ago our fathers brought forth on "
			. "this\n" ],
	[ files => [ qw(fs grep -i -g *.txt), 'four SCORE', 'texts' ],
		"texts/gettysburg-address.txt:4:Four score and seven years "
			. "ago our fathers brought forth on this\n" ],
);
for (@tells) {
	my ($page, $command, $want) = @$_;
	is(post($page, { command => $command })->{stdout}, $want,
		"$page: @$command");
}

my @refused = (
	[ '/', [qw(date -u -f README.md)], 'another option of date' ],
	[ '/', [qw(ls ..)], 'a directory above the site' ],
	[ '/', [qw(ls /)], 'an absolute path' ],
	[ primes => [qw(factor --help)], 'an option for a number' ],
	[ primes => [qw(factor 6 7)], 'two numbers for one' ],
	[ zones => [ @sql, 'DELETE FROM zone' ], 'SQL that is no SELECT' ],
	[ zones => [ @sql, 'SELECT 1; DELETE FROM zone' ], 'two statements' ],
	[ zones => [ @sql, '.shell id' ], 'a dot command' ],
	[ zones => [ @sql, "SELECT data FROM fsdir('/etc/passwd')" ], 'fsdir' ],
	[ zones => [ @sql, "SELECT 1 FROM\nFSDIR('/etc')" ], 'FSDIR' ],
	[ zones => [ @sql, "SELECT * FROM zipfile('x')" ], 'zipfile' ],
	[ zones => [ qw(sqlite3 ../data/zones.db), 'SELECT 1' ],
		'a call without -readonly' ],
	[ zones => [ @sql, 'SELECT 1', 'SELECT 2' ], 'a word too many' ],
	[ countries => [qw(jq -c --rawfile ../data/countries.json)],
		'an option for a filter' ],
	[ countries => [ qw(jq -c), 'import "a" as a; .',
			'../data/countries.json' ], 'an import' ],
	[ countries => [ qw(jq -c . /etc/passwd) ], 'another file for jq' ],
	[ texts => [qw(head -n 5 ../data/zones.sql)], 'a file elsewhere' ],
	[ texts => [qw(head -n -0 gettysburg-address.txt)], 'a signed count' ],
	[ texts => [qw(wc -w --files0-from=x)], 'an option for wc' ],
	[ clock => [ qw(date -d now), '+%A %Y-%m-%d %H:%M:%S %z' ],
		'a date in words' ],
	[ seal => [qw(openssl dgst -sha256 -hmac known)], 'a key of one\'s own' ],
	[ seal => [ qw(openssl dgst -sha256 -hmac $SEAL_KEY README.md) ],
		'a file to seal' ],
	[ files => [qw(glob ../*)], 'a pattern that leaves the site' ],
	[ files => [qw(read -l 0 primes.md)], 'a line that is no number' ],
	[ files => [qw(read -l 1 /etc/passwd)], 'a file elsewhere' ],
	[ lengths => [qw(wc -w)], 'a tool that is only in a component' ],
	[ data => [qw(ls)], 'a tool on a page without frontmatter' ],
);
for (@refused) {
	my ($page, $command, $what) = @$_;
	my $answer = post($page, { command => $command });
	like($answer->{error}{code} // 'none',
		qr/^(not_allowed|path_refused|no_frontmatter)$/,
		"$page refuses $what") or diag explain $answer;
}

my ($lint, undef, $rc) = run('', '/', \%ENV, dirname($exec) . '/statespace',
	'check', '--env', "SEAL_KEY=$key", $site);
is($rc, 0, 'check finds no error in any page');
# The databases and scripts are public, as the text is.
$lint =~ s{^\.: warning: every reader can fetch data/shop\.db.*\n.*\n}{}m and
	$lint =~ s/\b1 warning$/0 warnings/;
SKIP: {
	skip 'openssl is not installed', 1 unless has('openssl');
	like($lint, qr/\b0 errors, 0 warnings$/, '... and nothing to warn of');
}

my $reads = post(zones => { command =>
	[ @sql, "SELECT readfile('/etc/passwd')" ] });
is($reads->{returncode}, 1, 'sqlite3 -safe refuses readfile');
unlike($reads->{stdout}, qr/root:/, '... and shows nothing');

my $seal = post(seal => { command =>
	[qw(openssl dgst -sha256 -hmac wrong)], stdin => 'x' });
unlike($json->encode($seal), qr/$key/, 'a refusal does not tell the key');
my $bad = post(clock => { command =>
	[ qw(date -u -d @0), '+%Y-%m-%d %H:%M:%S' ], env => { HOME => '/' } });
is($bad->{error}{code}, 'bad_env', 'a page takes only the names it lists');

done_testing;
