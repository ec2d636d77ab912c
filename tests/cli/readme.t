#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# What README.md shows in ```console blocks is what these commands print, and
# the files that it names are there.  `readme.t --update` writes the output
# that it sees into the README instead.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use FindBin;
use JSON::PP ();
use lib "$FindBin::Bin/../lib";
use Statespace::Server qw(has);
use Statespace::TestSite qw(slurp);
use Test::More;

plan skip_all => 'the README shows what an ordinary build prints'
    if $ENV{SANITIZE};

my $top = abs_path(dirname(__FILE__) . '/../..');
my $build = abs_path($ENV{BUILD} // "$top/build");
my $update = grep { $_ eq '--update' } @ARGV;
my $shown_at = '127.0.0.1:8000';

for my $program (qw(curl jq sqlite3)) {
	has($program) or plan skip_all => "$program is not installed";
}
Statespace::Server::front('nginx') or plan skip_all => 'nginx is not installed';
-x "$build/statespace" or plan skip_all => "$build/statespace is not built";
plan skip_all => 'curl is older than 7.82 and has no --json'
	unless `curl --help all` =~ /--json/;
my $sanitized = `ldd "$build/statespace"` =~ /lib[au]b?san/;

# A room of its own that looks like a clone which was built.
my $room = Statespace::TestSite->new(files => { 'README.md' => "# Room\n" });
my $clone = $room->scratch . '/clone';
mkdir $clone or die "$clone: $!";
system('cp', '-R', "$top/examples", "$top/README.md", $clone) == 0 or die 'cp';
symlink $build, "$clone/build" or die $!;
system("rm -f '$clone/examples/site/data/zones.db' && "
	. "make -s -C '$clone/examples' site") == 0 or die 'make';
system('chmod', '-R', 'a+rX', $room->scratch);

my $server = Statespace::Server->start(site => $room,
	dir => "$clone/examples/site");
my $real_at = '127.0.0.1:' . $server->port;

# What can be confined differs from kernel to kernel.  A prompt begins a new
# line.
sub steady {
	my ($text) = @_;
	$text =~ s/("sandbox": \{"level": )"\w+"/$1"strict"/g;
	$text .= "\n" if $text ne '' && $text !~ /\n\z/;
	return $text;
}

sub output_of {
	my ($command) = @_;
	$command =~ s/\Q$shown_at\E/$real_at/g;
	open my $pipe, '-|', 'sh', '-c', "cd '$clone' && exec 2>&1\n$command"
		or die "sh: $!";
	local $/;
	my $out = <$pipe> // '';
	close $pipe;
	return steady($out =~ s/\Q$real_at\E/$shown_at/gr);
}

my $readme = slurp("$top/README.md");
my ($seen, @written) = (0);
for my $part (split /^(```console\n.*?^```\n)/ms, $readme) {
	if ($part !~ /\A```console\n(.*)^```\n\z/ms) {
		push @written, $part;
		next;
	}
	my $block = "```console\n";
	my @steps = split /^(?=\$ )/m, $1;
	for (@steps) {
		my ($typed, $shown) = /\A\$ ([^\n]*\n(?:> ?[^\n]*\n)*)(.*)\z/s
			or die "a console block begins with \$: $_";
		my $command = $typed =~ s/^> ?//mgr;
		my $got = output_of($command);
		$seen++;
		$block .= "\$ $typed$got";
		next if $update;
	SKIP: {
			skip 'the sanitizers link more', 1
				if $sanitized && $command =~ /^ldd/;
			skip 'openssl is not installed', 1
				if $command =~ /openssl/ && !has('openssl');
			skip 'tzdata is not installed', 1
				if $command =~ /"TZ"/
				&& !-e '/usr/share/zoneinfo/Asia/Tokyo';
			skip 'nobody may trace here', 1
				if $command =~ /--explain/
				&& $got =~ /\btrac(?:e|ed|ing)\b/;
			is($got, steady($shown), (split /\n/, $command)[0]);
		}
	}
	push @written, "$block```\n";
}
if ($update) {
	open my $out, '>', "$top/README.md" or die $!;
	print $out @written;
	close $out or die $!;
	$readme = join '', @written;
}
cmp_ok($seen, '>=', 5, 'the README shows commands');

# A link that is not an address leads to something in the tree.
my $prose = $readme =~ s/^```console\n.*?^```$//msgr;
for my $link ($prose =~ /\]\((?!https?:)([^)#]+)\)/g) {
	ok(-e "$top/$link", "$link is there");
}
# So do the pages and files that it prints whole.
my ($page) = $readme =~ /^```markdown\n(.*?)^```$/ms;
is($page, slurp("$top/examples/site/primes.md"), 'the page is shown as it is');
my ($room_page) = $readme =~ /^````markdown\n(.*?)^````$/ms;
like(slurp("$top/examples/site/lengths.md"), qr/\n\Q$room_page\E\z/,
	'so is the page with a component');
# doctor's words differ from machine to machine, the layers' names do not.
my $doctor = `'$build/statespace' doctor 2>&1`;
my ($said) = $readme =~ /^```text\n(.*?)^```$/ms;
for my $layer ($said =~ /^ok +(\S+(?: \S+)*)/mg) {
	like($doctor, qr/^\S+ +\Q$layer\E(?: |$)/m, "doctor looks at: $layer");
}
# The clients' configuration starts something that answers.
my ($mcp) = $readme =~ /^```json\n(\{\n.*?"mcpServers".*?)^```$/ms;
my ($entry) = values %{ JSON::PP->new->decode($mcp)->{mcpServers} };
my @start = ("$build/$entry->{command}",
	map { $_ eq '/srv/site' ? "$clone/examples/site" : $_ }
		@{ $entry->{args} });
my $hello = '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": '
	. '{"protocolVersion": "2025-11-25", "capabilities": {}, '
	. '"clientInfo": {"name": "t", "version": "1"}}}';
like(`printf '%s\n' '$hello' | '@{[ join "' '", @start ]}' 2>/dev/null`,
	qr/"serverInfo"/, 'the configuration for MCP clients starts a server');
for my $target ($readme =~ /^make ([a-z-]+)\b/mg) {
	like(slurp("$top/Makefile"), qr/^$target:/m, "make $target exists");
}

$server->stop_ok;
done_testing;
