#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# One request under plain CGI: environment and standard input in, an answer
# out in every case, arguments never looked at.
use strict;
use warnings;
use Config;
use File::Copy qw(copy);
use FindBin;
use lib "$FindBin::Bin/../lib";
use IPC::Open3 qw(open3);
use POSIX ();
use Statespace::FastCGI ();
use Statespace::Server;
use Statespace::TestSite;
use Symbol qw(gensym);
use Test::More;
use Time::HiRes qw(time);

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

# The program finds its configuration beside itself, so it gets a place of
# its own, as in a cgi-bin.
my $site = Statespace::TestSite->new(files => {
	'README.md' => "---\ntools:\n  - [\"true\"]\n---\n# Hello\n",
	'a/page.md' => "# A page\n",
	'reader.md' => "---\ntools:\n  - [read, {file}, ;]\n---\n# Reader\n" });
my $bin = $site->scratch . '/cgi-bin';
mkdir $bin;
my $program = "$bin/statespace.cgi";
copy(Statespace::Server::binary(), $program) or die "copy: $!";
chmod 0755, $program;
my $config = "$bin/statespace.toml";
my $root = $site->dir;
Statespace::TestSite::write_file($config, "root = \"$root\"\n");

# Runs it; keep: the input stays open after the body.
sub cgi
{
	my ($variables, %with) = @_;
	my $err = gensym;
	local %ENV = (GATEWAY_INTERFACE => 'CGI/1.1', HTTP_HOST => 'localhost',
		REQUEST_METHOD => 'GET', SCRIPT_NAME => '/cgi-bin/statespace.cgi',
		%$variables);
	delete @ENV{ grep { !defined $ENV{$_} } keys %ENV };
	my $began = time;
	my $pid = open3(my $in, my $out, $err,
		$with{program} || $program, @{ $with{argv} || [] });
	local $SIG{PIPE} = 'IGNORE';
	my $written = defined $with{body} ? syswrite $in, $with{body} : 0;
	close $in unless $with{keep};
	my $text = do { local $/; <$out> } // '';
	my $log = do { local $/; <$err> } // '';
	waitpid $pid, 0;
	my $status = $?;
	my $record = Statespace::FastCGI::record(6, substr $text, 0, 65000);
	my %answer = Statespace::FastCGI::parse($record);
	return { %answer, exit => $status, log => $log, text => $text,
		took => time - $began, written => $written };
}

my $page = cgi({ PATH_INFO => '/a/page' });
is($page->{status}, 200, 'a page is answered');
is($page->{body}, "# A page\n", 'with its text');
is($page->{headers}{'content-length'}, 9, 'and its length');
is($page->{exit}, 0, 'the exit status is 0');
like($page->{text}, qr/\AStatus: 200 OK\r\n/, 'Status is the first line');
is(cgi({ PATH_INFO => undef })->{status}, 200, 'no PATH_INFO is the root');
is(cgi({ PATH_INFO => '/none' })->{status}, 404, 'a page that is not there');

# A script is started by its own name: helpers and configuration are those of
# the program that its first line names.
{
	my ($script, $body) = ($site->scratch . '/script.cgi',
		'{"command": ["read", "a/page.md"]}');

	symlink Statespace::Server::binary() =~ s{[^/]+$}{libexec}r,
	    "$bin/libexec" or die "symlink: $!";
	Statespace::TestSite::write_file($script, "#!$program\n");
	chmod 0755, $script;
	my $answer = cgi({ REQUEST_METHOD => 'POST', PATH_INFO => '/reader',
		CONTENT_TYPE => 'application/json',
		CONTENT_LENGTH => length $body },
		body => $body, program => $script);
	like $answer->{text}, qr/"stdout": "# A page\\n"/,
	    'through the first line of a script';
}

my $argued = cgi({ PATH_INFO => '/', QUERY_STRING => '--version' },
	argv => ['--version']);
is($argued->{status}, 200, 'arguments made from a query are ignored');
like(cgi({}, argv => ['exec', '--get', '/etc/passwd'])->{body}, qr/# Hello/,
	'even the name of a command');

my $json = '{"command": ["true"]}';
my %post = (REQUEST_METHOD => 'POST', CONTENT_TYPE => 'application/json');
my $ran = cgi({ %post, CONTENT_LENGTH => length $json }, body => $json,
	keep => 1);
ok($ran->{status} == 200 || $ran->{body} =~ /sandbox_unavailable/,
	'a POST is answered') or diag $ran->{text}, $ran->{log};
cmp_ok($ran->{took}, '<', 5, 'without waiting for the end of its input');
my $tag = cgi({ PATH_INFO => '/a/page' })->{headers}{etag};
for (['-gzip', 304], [';gzip', 304], ['-br', 304], ['-x', 200], ['gzip', 200],
	['', 304]) {
	my ($suffix, $status) = @$_;
	is(cgi({ PATH_INFO => '/a/page', HTTP_IF_NONE_MATCH =>
		$tag =~ s/"$/$suffix"/r })->{status}, $status,
		"a tag that a front has given the suffix '$suffix'");
}
my $short = cgi({ %post, CONTENT_LENGTH => 99 }, body => $json);
is($short->{status}, 400, 'a body shorter than announced');
like($short->{body}, qr/"code": "bad_request"/, 'is refused as JSON');
is(cgi({ %post, CONTENT_LENGTH => length $json }, body => "$json trailing")
	->{status}, $ran->{status}, 'what follows the body is not read');
is(cgi({ %post, CONTENT_LENGTH => 99_000_000 }, body => 'x')->{status}, 413,
	'a body over the limit');
my $over = cgi({ %post, CONTENT_LENGTH => 3_000_000 }, body => 'x' x 3_000_000);
is($over->{status}, 413, 'one that the server passes on whole');
is($over->{written}, 3_000_000, 'is taken from it');
my $huge = cgi({ %post, CONTENT_LENGTH => 17_000_000 },
	body => 'x' x 17_000_000);
is($huge->{status}, 413, 'a body of 17 MB');
is($huge->{written}, 17_000_000, 'is taken whole');
my $chunked = cgi({ %post, CONTENT_LENGTH => undef,
	HTTP_TRANSFER_ENCODING => 'chunked' }, body => 'x' x 3_000_000);
is($chunked->{status}, 411, 'a large body without a length');
is($chunked->{written}, 3_000_000, 'is taken whole');
my $refused = cgi({ %post, PATH_INFO => "/a\nb", CONTENT_LENGTH => 900_000 },
	body => 'x' x 900_000);
is($refused->{status}, 400, 'a body of a request that is refused');
is($refused->{written}, 900_000, 'is taken whole');
is(cgi({ %post, CONTENT_LENGTH => undef, HTTP_TRANSFER_ENCODING => 'chunked' },
	body => '{}', keep => 1)->{status}, 411,
	'an input that never ends is not waited for');
is(cgi({ %post, CONTENT_LENGTH => undef, HTTP_TRANSFER_ENCODING => 'chunked' },
	body => '{}')->{status}, 411, 'a body without a length');
is(cgi({ %post, CONTENT_LENGTH => $_ }, body => '{}')->{status}, 400,
	"Content-Length \"$_\"") for '-1', 'x', ' 2';
is(cgi({ REQUEST_METHOD => undef })->{status}, 500, 'no REQUEST_METHOD');
is(cgi({ HTTP_HOST => 'evil.example' })->{status}, 421, 'a foreign Host');
is(cgi({ PATH_INFO => '/../etc/passwd' })->{status}, 403, 'a dot-dot');
is(cgi({ PATH_INFO => "/a\nb" })->{status}, 400, 'a control byte');
is(cgi({ PATH_INFO => '/' . 'x' x 60000 })->{status}, 400,
	'an overlong variable');

# A variable that came twice, which no shell and no Perl would let pass.
SKIP: {
	my %execve = ('x86_64' => 59, aarch64 => 221);
	my ($number) = map { $execve{$_} } grep { $Config{archname} =~ /$_/ }
	    keys %execve;
	skip 'the number of execve is not known here', 2 unless $number;
	my $pid = open my $out, '-|';
	if (!$pid) {
		my @twice = ('GATEWAY_INTERFACE=CGI/1.1', 'HTTP_HOST=localhost',
			'REQUEST_METHOD=GET', 'PATH_INFO=/',
			'PATH_INFO=/a/page');
		my $words = pack 'PJ', $program, 0;
		my $list = pack 'P' x @twice . 'J', @twice, 0;
		open STDERR, '>', '/dev/null';
		syscall $number, $program, $words, $list;
		POSIX::_exit(127);
	}
	my $text = do { local $/; <$out> } // '';
	like($text, qr/\AStatus: 400 /, 'a variable that came twice');
	like($text, qr/came twice/, 'is named as such');
}

# A request's variables configure nothing.
is(cgi({ STATESPACE_ROOT => '/etc', PATH_INFO => '/passwd' })->{status}, 404,
	'a variable of the request is no configuration');

# Standard error may lead nowhere: the log can be a file.
Statespace::TestSite::write_file($config,
	"root = \"$root\"\n[log]\nfile = \"$bin/log\"\n");
my $logged = cgi({ PATH_INFO => '/a/page', REQUEST_ID => 'from-the-front' });
is($logged->{status}, 200, 'with a log of its own');
is($logged->{log}, '', 'standard error stays empty');
open my $log, '<', "$bin/log" or die "log: $!";
my @lines = <$log>;
is(scalar @lines, 1, 'there is one line in the file');
like($lines[0], qr{id=from-the-front .*path=/a/page status=200},
	'with the id that the front gave, page and status');

unlink $config;
my $bare = cgi({ STATESPACE_ROOT => $root });
is($bare->{status}, 500, 'without a root the answer is 500');
is($bare->{exit}, 0, 'and still an answer');
unlike($bare->{text}, qr/\Q$root\E/, 'that names no path');
Statespace::TestSite::write_file($config, "root = 3\n");
$bare = cgi({});
is($bare->{status}, 500, 'a configuration with a mistake is 500');
like($bare->{log}, qr/statespace\.toml/, 'and the log names the file');
unlike($bare->{body}, qr/statespace\.toml/, 'but not the answer');

done_testing;
