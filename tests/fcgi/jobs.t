#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Jobs over HTTP (statespace-protocol(7), JOBS): made by POST, read and ended by
# their address, held by processes that outlive workers and the pool.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json encode_json);
use Statespace::FastCGI qw(request variables call talk);
use Statespace::Pool;
use Statespace::TestSite qw(slurp write_file);
use Test::More;
use Time::HiRes qw(sleep time);

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my $page = <<'END';
---
job: true
tools:
  - {command: [sh, -c, {}], name: shell}
  - {command: [sleep, {regex: "[0-9.]+"}], job: required, max_running: 2}
  - {command: [echo, {}], job: {after: 20}}
  - {command: [cat, {}], job: false}
  - {command: [rm, {}], job: required, confirm: true}
---
END
my %files = ('README.md' => $page, 'other.md' => $page,
	'a.txt' => "a\n", 'no-tool.md' => "---\njob: Baker\n---\n");
my $site = Statespace::TestSite->new(files => \%files);
my $state = $site->scratch . '/state';
my $config = "[state]\ndirectory = \"$state\"\n[jobs]\nmax = 4\n"
    . "max_page = 3\nmax_output_bytes = 100000\n[pool]\nmode = \"static\"\n"
    . "workers = 3\n";
my $pool = Statespace::Pool->start(site => $site, config => $config);

sub post
{
	my ($words, %more) = @_;
	my $answer = talk($pool->socket, call('/', $words, %more));

	$answer->{json} = eval { decode_json($answer->{body}) } || {};
	return $answer;
}

sub ask { return post(@_, HTTP_PREFER => 'respond-async') }

sub at
{
	my ($method, $path, $query) = @_;
	my $answer = talk($pool->socket, request(variables(
		REQUEST_METHOD => $method, SCRIPT_NAME => $path,
		REQUEST_URI => $path . (defined $query ? "?$query" : ''))));

	$answer->{json} = eval { decode_json($answer->{body}) } || {};
	return $answer;
}

# Asks until the job has ended.
sub ended
{
	my ($href) = @_;
	my $job;

	for (1 .. 20) {
		$job = at('GET', $href, 'wait=5&after=0')->{json};
		return $job unless $job->{state} =~ /^(?:queued|running)$/;
		sleep 0.05;
	}
	return $job;
}

my $first = post(['cat', 'a.txt']);
if ($first->{status} == 503 && $first->{body} =~ /sandbox_unavailable/) {
	$pool->stop_ok;
	done_testing;
	exit;
}
is($first->{json}{stdout}, "a\n", 'a tool without job answers at once');

# ------------------------------------------------------------------ making --
my $made = ask(['sh', '-c', 'echo out; echo err >&2; exit 3']);
is($made->{status}, 202, 'who asks for a job gets 202');
my $id = $made->{json}{job} // '';
like($id, qr/^[0-9a-f]{32}$/, 'with an id of 128 bits');
is($made->{headers}{location}, "/__jobs/$id", 'Location is its address');
is($made->{json}{href}, "/__jobs/$id", 'the body has it, too');
is($made->{headers}{'preference-applied'}, 'respond-async',
	'the preference was applied');
my $job = ended("/__jobs/$id");
is($job->{state}, 'completed', 'it ends');
is($job->{stdout}, "out\n", 'with its output');
is($job->{stderr}, "err\n", 'and its errors');
is($job->{returncode}, 3, 'and its status');
is($job->{after}, '4,4', 'and how much was read');
is(at('GET', "/__jobs/$id", 'after=2,1')->{json}{stdout}, "t\n",
	'output is read from a byte on');

my $plain = post(['sh', '-c', 'echo now']);
is($plain->{json}{stdout}, "now\n", 'who does not ask waits, as ever');
ok(!exists $plain->{headers}{'preference-applied'}, 'and nothing is told');
is(ask(['cat', 'a.txt'])->{status}, 200,
	'a tool without job answers although one was asked for');
$plain = post(['echo', 'short']);
is($plain->{json}{stdout}, "short\n", 'a short run of `after` is no job');
is($plain->{json}{sandbox}{level}, $first->{json}{sandbox}{level},
	'its answer is as any other');
is(post(['sh', '-c', 'echo never'], HTTP_PREFER => 'respond-sync')
	->{json}{stdout}, "never\n", 'another preference is ignored');
is(ask(['rm', 'x'])->{status}, 428, 'who has to agree is asked first');
is(ask(['nothing'])->{status}, 403, 'what is refused makes no job');

# ----------------------------------------------------------------- reading --
my $long = post(['sleep', '55.125'])->{json};
is($long->{state}, 'queued', 'a required one begins as queued');
ok($pool->until_true(sub {
	Statespace::Server::process_lives('sleep 55.125') }), 'and runs');
is(at('GET', $long->{href})->{json}{state}, 'running', 'and says so');
is(at('HEAD', $long->{href})->{body}, '', 'HEAD has no body');
for ('x', '0' x 32, uc $id, "$id/", "$id/out", '..', '', "a$id", 'f' x 4000) {
	my $answer = at('GET', "/__jobs/$_");
	my $name = length > 40 ? 'a long one' : "\"$_\"";

	is($answer->{status}, 404, "$name is no job");
	is($answer->{json}{error}{message}, 'there is no such job',
		"$name: in the same words");
}
is(at('GET', "/__jobs/$id", "after=$_")->{status}, 400, "after=$_ is refused")
    for '-1', '1x', '', '99999999999999999999', '0,', '5,0', '0,5', '0x1',
	'18446744073709551616', '0;1';
is(at('GET', "/__jobs/$id", "wait=$_")->{status}, 400, "wait=$_ is refused")
    for '-1', 'x', '1e3', '9999999999999999999999';
is(at('GET', "/__jobs/$id", 'after=4,4')->{json}{stdout}, '',
	'the very end is no error');
is(at('GET', "/__jobs/$id", 'other=1&after=0%2C4')->{json}{stderr}, '',
	'a comma may be escaped, another name is left alone');
is(at($_, "/__jobs/$id")->{status}, 405, "$_ is refused") for 'POST', 'PUT';
is(at('OPTIONS', "/__jobs/$id")->{headers}{allow},
	'GET, HEAD, DELETE, OPTIONS', 'OPTIONS says what is taken');
is(talk($pool->socket, request(variables(REQUEST_METHOD => 'DELETE',
	SCRIPT_NAME => $long->{href}, HTTP_ORIGIN => 'https://evil.example')))
	->{status}, 403, 'a page of another origin ends nothing');

# ------------------------------------------------------------------ ending --
$job = at('DELETE', $long->{href});
is($job->{status}, 200, 'DELETE ends it');
is(ended($long->{href})->{state}, 'cancelled', 'it is cancelled');
ok(!Statespace::Server::process_lives('sleep 55.125'), 'and its tool is gone');
is(at('DELETE', $long->{href})->{json}{state}, 'cancelled', 'twice is the same');
is(at('DELETE', "/__jobs/$id")->{json}{state}, 'completed',
	'what has ended stays as it ended');

# ---------------------------------------------------- output, caps, failing --
$job = ended(ask(['sh', '-c', 'head -c 100001 /dev/zero'])->{json}{href});
is($job->{error}{code}, 'output_too_large', 'output is bounded');
cmp_ok(length $job->{stdout}, '<=', 100000, 'what it wrote is kept');
$job = ended(ask(['sh', '-c', 'head -c 100000 /dev/zero'])->{json}{href});
is($job->{returncode}, 0, 'as much as is allowed is allowed');
$job = ended(ask(['sh', '-c', 'kill -9 $$'])->{json}{href});
is($job->{returncode}, 137, 'a tool that was killed says so');

my @held = map { post(['sleep', '44.125'])->{json}{href} } 1, 2;
is(post(['sleep', '44.125'])->{status}, 503, 'no more of one tool than its '
	. 'max_running');
push @held, ask(['sh', '-c', 'sleep 44.5'])->{json}{href};
my $refused = ask(['sh', '-c', 'sleep 44.5']);
is($refused->{status}, 503, 'no more of a page than its cap');
like($refused->{json}{error}{message}, qr/this one was not made/, 'and says so');
push @held, decode_json(talk($pool->socket, call('/other.md',
	['sleep', '44.125']))->{body})->{href};
is(talk($pool->socket, call('/other.md', ['sleep', '44.125']))->{status}, 503,
	'no more in all than the cap');
is(post(['cat', 'a.txt'])->{status}, 200, 'other calls go on');

# -------------------------------------------- the pool's end is not the job's --
$pool->signal('HUP');
ok($pool->until_true(sub { $pool->log =~ /reloaded/ }), "a reload");
my %before;
$pool->until_true(sub {
	%before = map { $_ => at('GET', $_)->{json}{state} } @held;
	return !grep { $_ eq 'queued' } values %before;
});
is(join(' ', values %before), 'running running running running',
	'jobs survive a reload');
kill 'KILL', $pool->pid;
waitpid $pool->pid, 0;
delete $pool->{pid};
$pool = Statespace::Pool->start(site => $site, config => $config,
	socket => $site->scratch . '/second.sock');
is(join(' ', map { at('GET', $_)->{json}{state} } @held),
	'running running running running', 'and kill -9 of the pool');

# A holder that was killed: the tool ends with it, the job is lost.
my $all = Statespace::Server::processes();
my ($lost) = $held[0] =~ m{([0-9a-f]{32})};
kill 'KILL', grep { $all->{$_}{line} =~ /statespace-job .*$lost/ } keys %$all;
ok($pool->until_true(sub { at('GET', $held[0])->{json}{state} eq 'lost' }),
	'a job without its holder is lost');
like(at('GET', $held[0])->{json}{error}{message}, qr/is gone/, 'and says so');
at('DELETE', $_) for @held;
is(ended($_)->{state}, 'cancelled', 'the others end') for @held[1 .. 3];
ok($pool->until_true(sub { !grep { $_->{line} =~ /statespace-job .*$state|
	sleep\ 44\./x } values %{Statespace::Server::processes()} }),
	'no process is left');

# ------------------------------------------------------- no place for a job --
chmod 0500, "$state/jobs";
$refused = ask(['sh', '-c', 'echo ran >&2']);
is($refused->{status}, 503, 'where nothing can be written no job is made');
is($refused->{json}{error}{code}, 'state_unavailable', 'and why is told');
like($refused->{json}{error}{message}, qr/nothing ran/, 'and that nothing ran');
is(at('GET', "/__jobs/$id")->{json}{state}, 'completed', 'others can be read');
chmod 0700, "$state/jobs";
is(ask(['sh', '-c', 'true'])->{status}, 202, 'and then one is made again');
$pool->stop_ok;

# ----------------------------------------- a job's tool has no more than others --
SKIP: {
	skip 'root alone gives a bounding set up', 3 if $> != 0;
	$pool = Statespace::Pool->start(site => $site, config => $config
		. "[sandbox]\nmode = \"landlock\"\n",
		socket => $site->scratch . '/third.sock');
	my $kept = ask(['sh', '-c', 'exec sleep 44.625'])->{json}{href};
	my ($bounding, $tool);
	my $there = defined $kept && $pool->until_true(sub {
		my $now = Statespace::Server::processes();
		($tool) = grep { $now->{$_}{line} =~ /^sleep 44\.625/ } keys %$now;
		$tool;
	});
	($bounding) = slurp("/proc/$tool/status") =~ /^CapBnd:\s*(\S+)/m if $tool;
	skip 'this kernel has no Landlock', 3 unless $there;
	is($bounding, '0' x 16, 'no capability is in its bounding set');
	is(at('DELETE', $kept)->{json}{state}, 'cancelled', 'it ends');
	$pool->stop_ok;
}

# --------------------------------------------------------------- plain CGI --
mkdir $site->scratch . '/cgi';
system('cp', Statespace::Server::binary(), $site->scratch . '/cgi/statespace');
symlink((Statespace::Server::binary() =~ s{[^/]*$}{libexec}r),
	$site->scratch . '/cgi/libexec');
write_file($site->scratch . '/cgi/statespace.toml',
	'root = "' . $site->dir . "\"\n$config");
chmod 0755, $site->scratch . '/cgi', $site->scratch . '/cgi/statespace';

sub cgi
{
	my ($body, %variables) = @_;
	local %ENV = (GATEWAY_INTERFACE => 'CGI/1.1', HTTP_HOST => 'localhost',
		CONTENT_TYPE => 'application/json', %variables,
		CONTENT_LENGTH => length $body);
	write_file($site->scratch . '/body', $body);
	my ($program, $file) = map { $site->scratch . "/$_" }
	    'cgi/statespace', 'body';

	return `$program <$file 2>/dev/null`;
}
my $made_by_cgi = cgi(encode_json({ command => ['sh', '-c', 'echo cgi'] }),
	REQUEST_METHOD => 'POST', PATH_INFO => '/', HTTP_PREFER => 'respond-async');
like($made_by_cgi, qr/^Status: 202/m, 'plain CGI makes a job, too');
my ($href) = $made_by_cgi =~ m{^Location: (/__jobs/[0-9a-f]{32})}m;
my $read;
for (1 .. 100) {
	$read = cgi('', REQUEST_METHOD => 'GET', PATH_INFO => $href // '/',
		REQUEST_URI => '/x?wait=5');
	last unless $read =~ /"(?:queued|running)"/;
	sleep 0.05;
}
like($read, qr/"completed".*"stdout": "cgi\\n"/, 'and reads it');
done_testing;
