#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# --explain: what the sandbox refused, each once, with the line that grants it;
# and that line, put where the report says, ends the refusal.  In strict and in
# Landlock mode, as whoever runs this and, when that is root, as nobody too.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Socket::INET;
use JSON::PP;
use Statespace::TestSite qw(slurp write_file);
use Test::More;

my $top = abs_path(dirname(__FILE__) . '/../..');
my $build = abs_path($ENV{BUILD} // "$top/build");
-x "$build/statespace-exec" or plan skip_all => 'statespace-exec is not built';

# Nothing below /tmp can be granted, so that the files are elsewhere.
my $base = -w '/var/tmp' ? '/var/tmp' : plan skip_all => 'no /var/tmp';
my $tmp = tempdir(DIR => $base, CLEANUP => 1);
chmod 0755, $tmp;
my ($site, $data) = ("$tmp/site", "$tmp/data");
mkdir $_ or die $! for $site, "$site/made", $data;
chmod 0777, $data, "$site/made";

# A copy that everybody can reach; the helpers lie beside it.
my $exec = "$tmp/bin/statespace-exec";
mkdir "$tmp/bin" or die $!;
system("cp -L '$build/statespace' '$tmp/bin/statespace' && " .
	"cp -R '$build/libexec' '$tmp/bin/' && " .
	"ln -s statespace '$exec' && chmod -R a+rX '$tmp/bin'") == 0
	or die 'cp';

write_file("$data/x.txt", "outside\n");
write_file("$data/two words.txt", "quoted\n");
write_file("$site/hello.txt", "hello\n");
write_file("$site/.env", "dotted\n");
mkdir "$site/.git";
write_file("$site/.git/HEAD", "ref\n");
symlink $data, "$site/link" or die $!;
write_file("$data/run.sh", "#!/bin/sh\necho ran\n");
chmod 0755, "$data/run.sh";

my ($mode, $user, $toml, $listener);
my %own; # keys of the tool itself

# Runs a tool of a page with these lines of sandbox: and of [grant].
sub run {
	my ($page, $grant, @words) = @_;
	my @json = $words[0] eq '--json' ? shift @words : ();
	my $tool = JSON::PP->new->encode(%own
		? { command => [ @words, ';' ], %own } : [ @words, ';' ]);
	my @as = $user
	    ? ('setpriv', "--reuid=$user", "--regid=$user", '--clear-groups')
	    : ();

	write_file("$site/README.md", $toml
		? "+++\ntools = [$tool]\n" .
		(@$page ? join("\n", '[sandbox]', @$page, '') : '') . "+++\n"
		: "---\ntools:\n  - $tool\n" .
		(@$page ? "sandbox:\n" . join('', map { "  $_\n" } @$page) : '') .
		"---\n");
	write_file("$tmp/config.toml",
		"[sandbox]\nmode = \"$mode\"\n" .
		# Without a user namespace the account's others count too.
		"[limits]\nprocesses = 4000\n[grant]\n" .
		join('', map { "$_\n" } @$grant));
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		open STDIN, '<', '/dev/null' or die $!;
		open STDOUT, '>', "$tmp/out" or die $!;
		open STDERR, '>', "$tmp/err" or die $!;
		exec 'timeout', '60', @as, $exec, '-C', $site, '-c',
		    "$tmp/config.toml", '--explain', @json, '/', '--', @words;
		die $!;
	}
	waitpid $pid, 0;
	my $err = slurp("$tmp/err");
	my @said = grep { s/^statespace: // } split /\n/, $err;
	return { code => $? >> 8, out => slurp("$tmp/out"), err => $err,
		said => \@said };
}

# The lines of a report that go into the page, and into [grant].
sub page_lines {
	my $place = $toml ? qr/\[sandbox\]/ : qr/sandbox/;
	map { /^    under the page's $place:  (.*)/ ? $1 : () } @_;
}
sub grant_lines {
	map { /^    under the operator's \[grant\]:  (.*)/ ? $1 : () } @_;
}

# Of what is reported loudly, the lines of the access that matches.
sub report {
	my ($run, $what) = @_;
	my (@lines, $in);

	for (@{ $run->{said} }) {
		$in = /^(?:also )?refused: \Q$what\E$/ if /^\S/;
		push @lines, $_ if $in;
	}
	return @lines;
}

# The lines that an item of sandbox.denied asks for.
sub denied_lines {
	my ($run, $what) = @_;
	my $answer = decode_json($run->{out});
	my ($access, $path) = $what =~ /^(\w+):? (.*)/;

	$path =~ s/^"(.*)"$/$1/;
	return map {
		my $item = $_;
		map {
			my ($part, $equals, $quoted) = @$_;
			my $ask = $item->{$part};
			my $key = $ask && $ask->{key} =~ s/^grant\.//r;
			my $plain = !$quoted && ($ask->{add} // '') !~ / /;

			!$ask ? () : $ask->{set} ? "$key${equals}true"
			    : "$key$equals" . '[' . ($plain ? $ask->{add}
				: JSON::PP->new->allow_nonref->encode($ask->{add}))
			    . ']';
		} ['page', $toml ? ' = ' : ': ', $toml], ['grant', ' = ', 1];
	} grep { ($_->{access} eq $access || $access eq 'exec')
	    && (($_->{path} // '') eq $path || $_->{call}) }
	    @{ $answer->{sandbox}{denied} // [] };
}

# Refused, told once, and cured by its own lines.
sub refused_and_cured {
	my ($name, $what, $line, $grant, $cured, @words) = @_;
	my $seen = run([], [], @words);
	my @said = report($seen, $what);
	my $times = grep { /refused: \Q$what\E$/ } @said;

	is($times, 1, "$name is reported once") or diag $seen->{err};
	is_deeply([ page_lines(@said) ], $line, "$name: the page's line");
	is_deeply([ grant_lines(@said) ], $grant, "$name: the operator's line");
	is_deeply([ sort(denied_lines(run([], [], '--json', @words), $what)) ],
		[ sort @$line, @$grant ], "$name: the same in sandbox.denied");
	my $again = run([ page_lines(@said) ], [ grant_lines(@said) ], @words);
	ok($cured->($again), "$name: with the lines it is granted")
	    or diag $again->{out}, $again->{err};
	is_deeply([ report($again, $what) ], [],
		"$name: with the lines nothing of it is reported");
}

sub outputs {
	my ($want) = @_;
	return sub { $_[0]{code} == 0 && $_[0]{out} eq $want };
}

sub sandbox_refuses {
	my ($clean, $seen, @said);

	$clean = run([], [], 'cat', 'hello.txt');
	is($clean->{out}, "hello\n", 'a clean run writes what it always does');
	is_deeply($clean->{said}, [], 'a clean run reports nothing');
	is_deeply(run([], [], 'ls', '-l')->{said}, [],
		'what every listing tries and does without is not reported');

	refused_and_cured('a file outside', "read $data/x.txt",
		["read: [$data/x.txt]"], ["read = [\"$data/x.txt\"]"],
		outputs("outside\noutside\n"), 'cat', "$data/x.txt",
		"$data/x.txt");
	refused_and_cured('a file behind a link of the site',
		"read $data/x.txt", ["read: [$data/x.txt]"],
		["read = [\"$data/x.txt\"]"], outputs("outside\n"),
		'cat', 'link/x.txt');
	refused_and_cured('a name with a space', "read \"$data/two words.txt\"",
		["read: [\"$data/two words.txt\"]"],
		["read = [\"$data/two words.txt\"]"], outputs("quoted\n"),
		'cat', "$data/two words.txt");
	refused_and_cured('a directory outside', "read $data",
		["read: [$data]"], ["read = [\"$data\"]"],
		sub { $_[0]{out} =~ /x\.txt/ }, 'ls', $data);
	refused_and_cured('a new file', "write $data/new",
		["write: [$data]"], ["write = [\"$data\"]"],
		sub { -e "$data/new" }, 'touch', "$data/new");
	unlink "$data/new";
	refused_and_cured('a new directory in the site', "write $site/made/d",
		['write: [made]'], ['write = ["made"]'],
		sub { rmdir "$site/made/d" }, 'mkdir', 'made/d');
	refused_and_cured('another program', 'exec /usr/bin/' .
		dash(), ['exec: [sh]'], [], outputs("hi\n"),
		qw(find . -maxdepth 0 -exec sh -c), 'echo hi', ';');
	# Without a namespace there is no socket, and so no address.
	refused_and_cured('an Internet address', $mode eq 'strict'
		? 'connect 127.0.0.1:' . $listener->sockport
		: 'connect: a socket of the IPv4 family', ['network: true'],
		['network = true'], outputs("met\n"), connect_words());
	if ($mode eq 'strict') {
		$seen = run([], [], 'perl', '-MSocket', '-e',
			'for (1, 1, 2) { socket(my $s, PF_INET, SOCK_DGRAM, 0);' .
			' send($s, "x", 0, pack_sockaddr_in(53, ' .
			'inet_aton("192.0.2.$_"))) } exit 1');
		is_deeply([ map { /^refused: (connect.*)/ ? $1 : () }
			@{ $seen->{said} } ],
			[ 'connect 192.0.2.1:53', 'connect 192.0.2.2:53' ],
			'each address is reported once') or diag $seen->{err};
		$seen = run([], [], 'perl', '-MSocket', '-e',
			'socket(my $s, PF_INET, SOCK_DGRAM, 0); exit 1');
		is(scalar(grep { $_ eq
			'refused: connect: a socket of the IPv4 family' }
			@{ $seen->{said} }), 1,
			'a socket that goes nowhere is reported as such');
	}
	$toml = 1;
	refused_and_cured('for a page in TOML, a file', "read $data/x.txt",
		["read = [\"$data/x.txt\"]"], ["read = [\"$data/x.txt\"]"],
		outputs("outside\n"), 'cat', "$data/x.txt");
	$toml = 0;
	if ($mode eq 'strict') {
		refused_and_cured('a dot entry', "read $site/.env",
			['read: [.env]'], ['read = [".env"]'],
			outputs("dotted\n"), 'cat', '.env');
		refused_and_cured('a repository', "read $site/.git/HEAD",
			['read: [.git]'], ['read = [".git"]'],
			outputs("ref\n"), 'cat', '.git/HEAD');
		# Both sides name a dot entry that lies beside the page.
		$seen = run(['read: [.env]'], [], 'cat', '.env');
		@said = report($seen, "read $site/.env");
		is_deeply([ page_lines(@said), grant_lines(@said) ],
			['read = [".env"]'],
			'of a dot entry that the page asks for, the operator\'s ' .
			'line') or diag $seen->{err};
		ok((grep { $_ eq '    the page asks for .env already' } @said),
			'... and that the page has its own');
		is(run(['read: [.env]'], [ grant_lines(@said) ],
			'cat', '.env')->{out}, "dotted\n", '... which cures it');
		refused_and_cured('a program outside', "exec $data/run.sh",
			[ "read: [$data/run.sh]", "exec: [$data/run.sh]" ],
			["read = [\"$data/run.sh\"]"], outputs("ran\n"),
			'env', "$data/run.sh");
		%own = (read => ['hello.txt']);
		$seen = run(["read: [$data]"],
			["read = [\"$data\"]", 'exec = "any"'],
			'env', "$data/run.sh");
		ok((grep { $_ eq "    in the tool's entry:  " .
			"read: [hello.txt, $data/run.sh]" }
			report($seen, "exec $data/run.sh")),
			"a program outside that the page's read covers and the " .
			"tool's own does not") or diag $seen->{err};
		%own = ();
	}

	$seen = run([], ["read = [\"$tmp\"]"], 'cat', "$data/x.txt");
	@said = report($seen, "read $data/x.txt");
	ok((grep { /\[grant\] allows it/ } @said),
		'a report names what the operator allows');
	is_deeply([ grant_lines(@said) ], [],
		'then the operator has nothing to add');
	$seen = run(["read: [$site]"], [], 'cat', "$data/x.txt");
	is_deeply([ page_lines(report($seen, "read $data/x.txt")) ],
		["read: [$site, $data/x.txt]"],
		'the line keeps what the page asks for already');

	# What the account may not, sandbox or not, by owner and mode.
	if ($user || $> == 0) {
		chmod 0555, "$site/made";
		$seen = run(['write: [made]'], ['write = ["made"]'],
			'touch', 'made/new.txt');
		@said = report($seen, "write $site/made/new.txt");
		is_deeply([ grep { /no line/ } @said ],
			["    no line grants it: the account nobody may not " .
			"write $site/made (owner root, mode 0555)"],
			'a granted directory of another owner is told as such')
		    or diag $seen->{err};
		chmod 0777, "$site/made";
	}

	$seen = run([], [], 'touch', 'new.txt');
	is_deeply([ page_lines(report($seen, "write $site/new.txt")) ], [],
		'a page is not told to make itself writable');
	$seen = run([], [], 'cat', '/nowhere/at/all', 'nothing-here');
	is_deeply([ grep { /nowhere|nothing-here/ } @{ $seen->{said} } ], [],
		'what is not there was not refused');
	$seen = run([], [], 'sh', '-c', 'cat link/x.txt & kill -9 $$');
	is($seen->{code}, 137, 'a killed tool ends the run as ever');
	$seen = run(['timeout: 1'], [], 'sh', '-c', 'kill -STOP $$; echo no');
	is($seen->{code}, 124, 'a tool that stops itself ends at its time');
	$seen = run([], [], 'sh', '-c',
		'for i in $(seq 20); do (cat link/x.txt; exit 0) & done; ' .
		'wait');
	is(scalar(report($seen, "read $data/x.txt")), 3,
		'twenty processes refused the same are one report')
	    or diag $seen->{err};
}

sub dash {
	return (split m{/}, abs_path('/bin/sh'))[-1];
}

$listener = IO::Socket::INET->new(
	LocalAddr => '127.0.0.1', LocalPort => 0, Listen => 5)
	or die "listen: $!";

sub connect_words {
	return ('perl', '-MIO::Socket::INET', '-e',
		'IO::Socket::INET->new("127.0.0.1:' . $listener->sockport .
		'") or exit 1; print "met\n"');
}

my @users = $> == 0 ? (undef, (getpwnam 'nobody')[2]) : (undef);
for my $as (@users) {
	for my $level ('strict', 'landlock') {
		($mode, $user) = ($level, $as);
		my $probe = run([], ['timeout = 60.0'], 'true');
		my $title = "$level, " . ($as ? 'as nobody' : 'as we are');

		subtest $title => sub {
			plan skip_all => "here: @{ $probe->{said} }"
			    if $probe->{code} == 126;
			sandbox_refuses();
		};
	}
}
done_testing;
