#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The log: the supervisor's own lines have its format and its place, a start
# names what was started, helpers that died are named, lost lines are counted.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json encode_json);
use Statespace::FastCGI qw(request variables call talk);
use Statespace::Pool;
use Statespace::TestSite;
use Test::More;

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my $one = "[pool]\nmode = \"static\"\nworkers = 1\n";
my $time = qr/time=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/;

sub figures
{
	my ($pool, %with) = @_;

	return talk($pool->socket . '.status', request(variables(
		SCRIPT_NAME => '/__meta/status', STATESPACE_STATUS => 1,
		%with)))->{body};
}

# ------------------------------------------------------------------- logfmt --
{
	my $pool = Statespace::Pool->start(
		config => "$one\[grant]\nproc = true\n");
	my $at = $pool->socket;

	ok($pool->log_says(qr/^$time event=start version=\S+ socket=\Q$at\E account=\S+ mode=static workers=1 sandbox=\S+$/m),
		'the start is a line of the log') or diag $pool->log;
	like($pool->log, qr/^$time event=pool message="tools are confined: /m,
		'what the supervisor says is another');
	ok($pool->until_true(sub { $pool->children('ss-status') == 1 }),
		'there is a status server');
	my ($status) = $pool->children('ss-status');
	$pool->signal('KILL', $status);
	ok($pool->log_says(qr/^$time event=pool message="the status server $status ended by signal 9"$/m),
		'a status server that died is named');
	my ($worker) = $pool->workers;
	my $all = Statespace::Server::processes();
	my %known = map { $_ => 1 } $worker, $status,
	    $pool->children('ss-status');
	my ($launcher) = grep { $all->{$_}{ppid} == $pool->pid && !$known{$_} }
	    keys %$all;
	SKIP: {
		skip 'no launcher here', 1 unless $launcher;
		$pool->signal('KILL', $launcher);
		ok($pool->log_says(qr/"the launcher of a worker, $launcher ended by signal 9"/),
			'so is a launcher');
	}
	$pool->signal('HUP');
	ok($pool->log_says(qr/^$time event=pool message=reloaded$/m),
		'and a reload');
	unlike($pool->log, qr/^statespace: /m, 'no line has another format');
	$pool->stop_ok;
	unlike($pool->log, qr/ended by signal 15|status [1-9]/,
		'what was asked to end is not named');
}

# ------------------------------------------------------------ JSON in a file --
{
	my $site = Statespace::TestSite->new(
		files => { 'README.md' => "# Hello\n" });
	my $file = $site->scratch . '/pool.log';
	my $pool = Statespace::Pool->start(site => $site,
		config => "$one\[log]\nfile = \"$file\"\nformat = \"json\"\n");

	talk($pool->socket, request(variables()));
	$pool->signal('HUP');
	my $lines = sub {
		open my $in, '<', $file or return;
		return <$in>;
	};
	ok($pool->until_true(sub { grep { /"reloaded"/ } $lines->() }),
		'the supervisor writes to the file');
	my @events = map { eval { decode_json($_) } || {} } $lines->();
	is((grep { !defined $_->{time} || !defined $_->{event} } @events), 0,
		'every line is an object with time and event');
	my ($start) = grep { ($_->{event} // '') eq 'start' } @events;
	is($start->{workers}, 1, 'the start among them');
	is($pool->log, '', 'and standard error has nothing');
	$pool->stop_ok;
}

# --------------------------------------------------------------- lost lines --
{
	my $pool = Statespace::Pool->start(
		config => "$one\[log]\nfile = \"/dev/full\"\n");
	my $before = decode_json(figures($pool))->{log}{lost};

	cmp_ok($before, '>=', 2, 'lines of the supervisor that were lost');
	talk($pool->socket, request(variables())) for 1 .. 3;
	my $lost;
	ok($pool->until_true(sub {
		$lost = decode_json(figures($pool))->{log}{lost};
		return $lost >= $before + 4;
	}), "and a worker's, and the status server's, are counted")
	    or diag $lost;
	like(figures($pool, HTTP_ACCEPT => 'text/plain'),
		qr/^statespace_log_lines_lost_total \d+$/m,
		'also for a scraper');
	$pool->stop_ok;
}

# ---------------------------------------------------------------- long lines --
{
	my $pool = Statespace::Pool->start(
		config => "$one\[log]\nformat = \"json\"\n");

	talk($pool->socket, request(variables(
		REQUEST_METHOD => "\xff" x 600, SCRIPT_NAME => '/' . "\xff" x 600,
		REMOTE_USER => "\xff" x 600, STATESPACE_AUTH => 'verified')));
	ok($pool->log_says(qr/"event":"request".*"cut":true\}$/m),
		'a request that is too long for a line has one that is cut');
	my ($line) = $pool->log =~ /^(.*"cut":true\})$/m;
	is(eval { decode_json($line)->{event} }, 'request',
		'which is an object still');
	$pool->stop_ok;
}

# ------------------------------------------------------- times, slow requests --
{
	my $pool = Statespace::Pool->start(files => { 'README.md' =>
		"---\ntools:\n  - [echo, {}]\n  - [sleep, {}]\n---\n",
		'docs/nap.md' => "---\ntools:\n  - ['true']\n" .
		"  - [sleep, '0.6']\n---\n" },
		config => "$one\[log]\nslow = 0.5\n[mcp]\nenabled = true\n");
	my $ran = talk($pool->socket, call('/', ['sleep', '0.75']));
	my $text;

	is(talk($pool->socket, request(variables(SCRIPT_NAME => '/no')))
		->{status}, 404, 'a fast one');
	ok($pool->log_says(qr/path=\/no /), 'has its line');
	is(() = ($pool->log =~ /event=slow page=no/g), 0, 'and no second one');
	ok($pool->until_true(sub {
		$text = figures($pool, HTTP_ACCEPT => 'text/plain');
		return $text =~ /seconds_count\{outcome="not_found"\} 1$/m;
	}), 'its time is in a histogram');
	like($text, qr/^statespace_request_duration_seconds_bucket\{outcome="not_found",le="\+Inf"\} 1$/m,
		'whose last bucket has all');
	SKIP: {
		skip 'promtool is not installed', 1
		    unless `which promtool 2>/dev/null`;
		open my $check, '|-', 'promtool check metrics >/dev/null'
		    or die;
		print $check $text;
		ok(close $check, 'which promtool finds correct');
	}
	SKIP: {
		skip 'tools cannot be confined here', 6
		    if $ran->{status} != 200;
		ok($pool->log_says(qr/event=slow id=\S+ page=README\.md tool=1 total_ms=\S+ queue_ms=\S+ .*stage_run_ms=\S+ tool_ms=\S+ cpu_ms=\S+ memory=[1-9]/),
			'a slow one has a second line') or diag $pool->log;
		unlike($pool->log, qr/0\.75/, 'without the argument');
		my $body = encode_json({ jsonrpc => '2.0', id => 2,
			method => 'tools/call', params => {
				name => 'docs-nap_sleep', arguments => {} } });
		my $answer = talk($pool->socket, request(variables(
			REQUEST_METHOD => 'POST', SCRIPT_NAME => '/mcp',
			CONTENT_TYPE => 'application/json',
			HTTP_ACCEPT => 'application/json, text/event-stream',
			HTTP_MCP_PROTOCOL_VERSION => '2025-11-25',
			CONTENT_LENGTH => length $body), $body));
		ok($pool->log_says(qr{event=slow id=\S+ page=docs/nap\.md tool=1 .*tool_ms=}),
			'a call over MCP has one with its page and tool')
		    or diag $answer->{body}, $pool->log;
		like($pool->log, qr{event=request .* stage=tools/call page=docs/nap\.md tool=1 },
			'and its own line names both, too');
		like($text, qr/^statespace_request_duration_seconds_bucket\{outcome="ok",le="0\.25"\} 0$/m,
			'it is in no bucket below its time');
		like($text, qr/^statespace_request_duration_seconds_count\{outcome="ok"\} 1$/m,
			'and counted once');
	}
	$pool->stop_ok;
}

done_testing;
