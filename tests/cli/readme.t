#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# What the README files show in ```console blocks is what these commands print,
# and the files that they name are there.  `readme.t --update` writes the output
# that it sees into them instead.
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

# A directory that looks like a clone which was built.
my $place = Statespace::TestSite->new(files => { 'README.md' => "# Site\n" });
my $clone = $place->scratch . '/clone';
mkdir $clone or die "$clone: $!";
system('cp', '-R', "$top/examples", "$top/README.md", $clone) == 0 or die 'cp';
symlink $build, "$clone/build" or die $!;
system("rm -f '$clone/examples/site/data/zones.db' && "
	. "make -s -C '$clone/examples' site") == 0 or die 'make';
system('chmod', '-R', 'a+rX', $place->scratch);

my $server = Statespace::Server->start(site => $place,
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

# Why a command's output cannot be compared on this machine; '' if it can.
sub skipped
{
	my ($command, $got) = @_;

	return 'the sanitizers link more' if $sanitized && $command =~ /^ldd/;
	return 'openssl is not installed'
	    if $command =~ /openssl/ && !has('openssl');
	return 'tzdata is not installed' if $command =~ /"TZ"/
	    && !-e '/usr/share/zoneinfo/Asia/Tokyo';
	return 'nobody may trace here' if $command =~ /--explain/
	    && $got =~ /\btrac(?:e|ed|ing)\b/;
	return '';
}

# One command of a block; returns it with the output that was seen.
sub check_step
{
	my ($step) = @_;
	my ($typed, $shown) = $step =~ /\A\$ ([^\n]*\n(?:> ?[^\n]*\n)*)(.*)\z/s
	    or die "a console block begins with \$: $step";
	my $command = $typed =~ s/^> ?//mgr;
	my $got = output_of($command);

SKIP: {
		skip 'written anew', 1 if $update;
		my $why = skipped($command, $got);
		skip $why, 1 if $why;
		is($got, steady($shown), (split /\n/, $command)[0]);
	}
	return "\$ $typed$got";
}

# Every console block and every link of a document; returns its text.
sub check_document
{
	my ($name) = @_;
	my $folder = dirname("$top/$name");
	my @written;

	for my $part (split /^(```console\n.*?^```\n)/ms, slurp("$top/$name")) {
		$part = join '', "```console\n",
		    map({ check_step($_) } split /^(?=\$ )/m, $1), "```\n"
		    if $part =~ /\A```console\n(.*)^```\n\z/ms;
		push @written, $part;
	}
	my $text = join '', @written;
	if ($update) {
		open my $out, '>', "$top/$name" or die $!;
		print $out $text;
		close $out or die $!;
	}
	my $prose = $text =~ s/^```console\n.*?^```$//msgr;
	for my $link ($prose =~ /\]\((?!https?:)([^)#]+)\)/g) {
		ok(-e "$folder/$link", "$name: $link is there");
	}
	return $text;
}

my $readme = check_document('README.md');
my $examples = check_document('examples/README.md');
check_document($_) for qw(examples/embed/README.md conf/README.md
    conf/coming-from.md nginx/README.md core/README.md);

# Pages are shown as they are.
my ($page) = $readme =~ /^```markdown\n(.*?)^```$/ms;
is($page, slurp("$top/examples/site/primes.md"), 'the page is shown as it is');
my ($end) = $examples =~ /^````markdown\n(.*?)^````$/ms;
like(slurp("$top/examples/site/lengths.md"), qr/\n\Q$end\E\z/,
	'so is the page with a component');
# doctor's words differ from machine to machine, the layers' names do not.
my $doctor = `'$build/statespace' doctor 2>&1`;
my ($layers) = $examples =~ /^```text\n(.*?)^```$/ms;
for my $layer ($layers =~ /^ok +(\S+(?: \S+)*)/mg) {
	like($doctor, qr/^\S+ +\Q$layer\E(?: |$)/m, "doctor looks at: $layer");
}
# Every file of fcgi/ is in the tour.
for my $path (glob "$top/fcgi/*.[ch]") {
	my ($name) = $path =~ m{([^/]+)\.[ch]$};
	ok($readme =~ /`\Q$name\E(?:\.h)?`/, "the tour names fcgi/$name");
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
