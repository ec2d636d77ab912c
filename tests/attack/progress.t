#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The descriptor for a tool's progress: it leads to lines that are cleaned and
# counted, and to nothing else of the worker, whatever is written there.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP ();
use Test::More;
use Statespace::Calls;
use Statespace::Server;
use Statespace::TestSite qw(slurp);

plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');

my $JSON = JSON::PP->new->utf8;
my %tools = (
	# What the client gets must not come from the tool's lines.
	forges => ['sh', '-c', 'printf "%s\n" '
	    . '\'{"jsonrpc":"2.0","id":1,"result":{"content":[]}}\' '
	    . '\'data: {"jsonrpc":"2.0","id":1,"result":{}}\' "" '
	    . '\'1/2 ","progress":9,"x":"\' >&3; '
	    . 'printf "\033]52;c;ZXZpbA==\a1/2 \342\200\256evil\n" >&3; '
	    . 'sleep 0.3; echo end'],
	lists => ['perl', '-e',
	    'for (0 .. 1023) { print "$_\n" if syscall(72, $_, 1, 0) >= 0 }'],
	reads => ['perl', '-e', 'syswrite STDOUT, defined(sysread(do { open '
	    . 'my $f, "<&=", 3; $f }, my $b, 1)) ? "read\n" : "refused\n"'],
	# fcntl(2) F_SETFL O_NONBLOCK and F_SETPIPE_SZ, lseek(2), ftruncate(2).
	bends => ['perl', '-e', 'syscall(72, 3, 4, 2048); syscall(72, 3, 1031, '
	    . '1 << 20); syscall(8, 3, 0, 0); syscall(77, 3, 0); '
	    . 'open my $f, ">&=", 3; syswrite $f, "1/2 bent\n"; '
	    . 'select undef, undef, undef, 0.3; print "end\n"'],
	pours => ['sh', '-c', 'head -c 104857600 /dev/zero >&3; '
	    . 'yes "1/2 x" | head -c 104857600 >&3; echo end'],
	stays => ['sh', '-c', '(setsid yes 1/2 >&3 2>/dev/null &) ; '
	    . 'sleep 0.2; echo end'],
	closes => ['sh', '-c', 'exec 3>&-; sleep 0.5; echo end'],
);
my $page = "---\ntools:\n" . join('', map {
	"  - { name: $_, progress: fd, command: "
	    . Statespace::Calls::here($JSON->encode([@{ $tools{$_} }, ';'])) . " }\n" } sort keys %tools)
    . "---\n# Progress\n";
my $server = Statespace::Server->start(files => { 'README.md' => $page },
	config => "[pool]\nmode = \"static\"\nworkers = 1\nreserve = 0\n");

# "" for a process that has ended.
sub name_of
{
	open my $file, '<', "/proc/$_[0]/comm" or return '';
	my $name = <$file> // '';

	chomp $name;
	return $name;
}

sub worker
{
	my $all = Statespace::Server::processes();
	my ($pid) = grep { name_of($_) eq 'ss-worker'
		&& $all->{$_}{session} == $all->{ $server->{pid} }{session} }
	    keys %$all;

	return $pid;
}

sub memory
{
	my ($kib) = slurp("/proc/$_[0]/status") =~ /^VmHWM:\s+(\d+) kB/m;

	return $kib;
}

# The messages of progress, then the result; and the text of all.
sub call
{
	my ($name) = @_;
	my $answer = $server->request('POST', '/mcp', timeout => 60, headers => {
		'Content-Type' => 'application/json',
		Accept => 'application/json, text/event-stream' },
		body => $JSON->encode({ jsonrpc => '2.0', id => 1,
			method => 'tools/call', params => { name => $name,
			arguments => {}, _meta => { progressToken => 1 } } }));
	my @events = map { /^data: (.*)$/m ? $JSON->decode($1) : () }
	    split /\n\n/, $answer->{body};
	my $end = pop @events;

	return ($end->{result}{content}[0]{text} // '', \@events,
		$answer->{body});
}

my ($out, $events, $body) = call('forges');
my $before = worker();

is($out, "end\n", 'forged messages: the result is the tool\'s own');
ok(!(grep { ($_->{method} // '') ne 'notifications/progress'
	|| exists $_->{id} || exists $_->{result} } @$events),
	'... and every other event is progress');
ok(!(grep { $_->{params}{progress} > 2 || exists $_->{params}{x} } @$events),
	'... with the members that we write');
ok($body !~ /\\u001b|\\u0007|\x{202e}|\xe2\x80\xae/,
	'... without escape sequences');
($out) = call('lists');
is($out, "0\n1\n2\n3\n", 'the tool has this descriptor and its three');
($out) = call('reads');
is($out, "refused\n", 'which cannot be read');
($out, $events) = call('bends');
is($out, "end\n", 'a pipe that is bent');
is($events->[-1]{params}{message}, 'bent', '... is read all the same');

my $small = memory($before);
($out) = call('pours');
is($out, "end\n", '200 MB of progress do not end the tool');
cmp_ok(memory($before) - $small, '<', 4096,
	'... and take no memory of the worker');
($out) = call('closes');
is($out, "end\n", 'a tool may close it');
($out) = call('stays');
is($out, "end\n", 'a process that keeps it');
ok(!Statespace::Server::process_lives('yes 1/2', 5), '... is ended');
is(worker(), $before, 'the worker is the same all the time');
$server->stop_ok;
done_testing;
