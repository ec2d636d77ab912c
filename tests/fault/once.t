#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Exactly once under trouble: CALLS keys (80), each sent by three clients at
# about the same time, through a real nginx that sends again what got no answer,
# to two pools that share a state directory.  Workers and supervisors are killed
# at random and a pool reloads every second.  No key runs twice, no answer is
# lost, and what became of a run that was killed is told as unknown.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Socket::INET;
use JSON::PP ();
use POSIX ();
use Statespace::FastCGI qw(call talk);
use Statespace::Pool;
use Statespace::TestSite qw(slurp write_file);
use Test::More;
use Time::HiRes qw(sleep time);

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';
Statespace::Server::front('nginx') or plan skip_all => 'nginx is not installed';

my $CALLS = $ENV{CALLS} || 80;
my $CLIENTS = 3;    # that send each key
my $GROUPS = 4;     # of them, each with its share of the keys
my $PATIENCE = 120; # seconds for one key, of which most need none
my $top = "$FindBin::Bin/../..";
my $json = JSON::PP->new->utf8;

# The tool counts itself before it does anything, and again when it is done.
my $SCRIPT = 'echo "begun $1" >>out/log; case $1 in *[37]) sleep 0.05 ;; esac; '
    . 'echo "done $1" >>out/log; echo "told $1"';
my $site = Statespace::TestSite->new(files => {
	'README.md' => "---\ntools:\n  - { command: [sh, -c, '$SCRIPT', sh, {}, ;],"
	. " write: [out], once: required }\n  - [echo, {}]\n---\n" });
mkdir $site->dir . '/out' or die "mkdir: $!";
write_file($site->dir . '/out/log', '');
chmod 0777, $site->dir . '/out' or die "chmod: $!";
chmod 0666, $site->dir . '/out/log' or die "chmod: $!";

my $scratch = $site->scratch;
my @pools = map {
	Statespace::Pool->start(site => $site, socket => "$scratch/$_.sock",
		config => "[pool]\nmode = \"static\"\nworkers = 4\nreserve = 0\n"
		. "socket_mode = \"0666\"\n[grant]\nwrite = [\"out\"]\n")
} qw(a b);
if (talk($pools[0]->socket, call('/', ['echo', 'x']))->{status} != 200) {
	$_->stop for @pools;
	plan skip_all => 'tools cannot be confined here';
}

# --------------------------------------------------------------------- nginx

my $port = Statespace::Server::free_port();
system('cp', '-r', "$top/nginx", "$scratch/statespace") == 0 or die 'cp';
write_file("$scratch/nginx.conf", <<"END");
daemon off;
@{[$> == 0 ? 'user root;' : '']}
worker_processes 2;
pid $scratch/nginx.pid;
error_log $scratch/error.log crit;
events { worker_connections 512; }
http {
	access_log off;
	client_body_temp_path $scratch/t1;
	fastcgi_temp_path $scratch/t2;
	proxy_temp_path $scratch/t3;
	uwsgi_temp_path $scratch/t4;
	scgi_temp_path $scratch/t5;
	upstream pools {
		server unix:$scratch/a.sock max_fails=0;
		server unix:$scratch/b.sock max_fails=0;
	}
	server {
		listen 127.0.0.1:$port;
		location / {
			fastcgi_pass pools;
			include $scratch/statespace/statespace_params;
			fastcgi_next_upstream error timeout http_503 non_idempotent;
		}
	}
}
END
my $nginx = fork() // die "fork: $!";
if ($nginx == 0) {
	no warnings 'exec';
	exec 'nginx', '-e', "$scratch/error.log", '-p', $scratch, '-c',
	    "$scratch/nginx.conf";
	POSIX::_exit(127);
}
Statespace::Server::await_port($port) or die 'nginx does not listen: '
    . slurp("$scratch/error.log");

# ------------------------------------------------------------------- clients

# One sending: the status, the error's code and the output; undef: no answer.
sub post
{
	my ($key) = @_;
	my $body = $json->encode({ command => ['sh', '-c', $SCRIPT, 'sh', "$key"] });
	my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
		PeerPort => $port) or return;

	print {$socket} "POST / HTTP/1.1\r\nHost: localhost:$port\r\n"
	    . "Connection: close\r\nContent-Type: application/json\r\n"
	    . "Idempotency-Key: key-$key\r\nContent-Length: " . length($body)
	    . "\r\n\r\n$body";
	my $answer = do { local $/; <$socket> } // return;
	my ($status, $text) = $answer =~ m{\AHTTP/1.1 (\d+).*?\r\n\r\n(.*)}s
	    or return;
	my $object = eval { $json->decode($text) } || {};

	return ($status, $object->{error}{code} // '', $object->{stdout} // '',
		$object->{error}{outcome} // '');
}

# Sends it until something is known of it; the last answer, in one word.
sub settle
{
	my ($key) = @_;
	my $until = time + $PATIENCE;

	while (time < $until) {
		my ($status, $code, $out, $outcome) = post($key);

		return "told:$out" =~ s/\n//r if ($status // 0) == 200;
		return "$code:$outcome" if ($code // '') eq 'outcome_unknown';
		return "wrong:$status:$code" if ($status // '502') !~
		    /^(?:409|500|502|503|504)$/ || ($code // '') eq 'internal';
		sleep 0.01 + rand 0.05;
	}
	return 'none';
}

sub client
{
	my ($group, $number) = @_;

	open my $file, '>', "$scratch/seen.$group.$number" or die "open: $!";
	for (my $i = $group; $i < $CALLS; $i += $GROUPS) {
		print {$file} "$i ", settle($i), "\n";
		# A short run lasts long enough for each trouble to come.
		sleep rand 0.2 if $CALLS < 1000;
	}
	close $file;
	return;
}

my @clients;
for my $group (0 .. $GROUPS - 1) {
	for my $number (1 .. $CLIENTS) {
		my $pid = fork() // die "fork: $!";

		push @clients, $pid if $pid;
		next if $pid;
		srand($$);
		client($group, $number);
		POSIX::_exit(0);
	}
}

# ------------------------------------------------------------------- trouble

my %times = (workers => 0, supervisors => 0, reloads => 0);
my ($next_reload, $next_death) = (time + 0.3, time + 0.8);

while (@clients) {
	my $pool = $pools[rand @pools];

	if (time > $next_death) {
		kill 'KILL', $pool->{pid};
		waitpid $pool->{pid}, 0;
		$times{supervisors}++;
		sleep 0.05 + rand 0.2;
		$pool->spawn({});
		$pool->await;
		$next_death = time + 1 + rand 3;
	} elsif (time > $next_reload) {
		$times{reloads} += $pool->signal('HUP');
		$next_reload = time + 1;
	} else {
		my @workers = $pool->workers;

		$times{workers} += kill 'KILL', $workers[rand @workers] if @workers;
	}
	sleep 0.1 + rand 0.2;
	@clients = grep { waitpid($_, POSIX::WNOHANG()) == 0 } @clients;
}

# -------------------------------------------------------------------- result

my %seen;
for my $file (glob "$scratch/seen.*") {
	for (split /\n/, slurp($file)) {
		my ($key, $end) = split / /, $_, 2;

		push @{ $seen{$key} }, $end;
	}
}
my (%begun, %done);
for (split /\n/, slurp($site->dir . '/out/log')) {
	$begun{$1}++ if /^begun (\d+)$/;
	$done{$1}++ if /^done (\d+)$/;
}

my %count = (twice => 0, lost => 0, unknown => 0, never => 0);
my @wrong;
for my $key (0 .. $CALLS - 1) {
	my @ends = @{ $seen{$key} || [] };
	my %ends = map { $_ => 1 } @ends;
	my $end = $ends[0] // 'none';
	my $ran = $begun{$key} // 0;

	$count{twice}++ if $ran > 1 || ($done{$key} // 0) > 1;
	$count{unknown}++ if $end eq 'outcome_unknown:unknown';
	$count{never}++ if $end eq 'outcome_unknown:unknown' && !$ran;
	next if @ends == $CLIENTS && keys %ends == 1 && ($end eq "told:told $key"
		? $ran == 1 && $done{$key} == 1
		: $end eq 'outcome_unknown:unknown' && $ran <= 1);
	$count{lost}++;
	push @wrong, "$key ran $ran times: @ends";
}
my $trouble = "$times{workers} killed workers, $times{supervisors} killed "
    . "supervisors, $times{reloads} reloads";

is($count{twice}, 0, "none of $CALLS keys ran twice: $trouble");
is($count{lost}, 0, "each of $CLIENTS senders has the answer, or knows that "
	. 'nobody does');
diag $_ for @wrong[0 .. ($#wrong < 9 ? $#wrong : 9)];
note "$CALLS keys, each sent $CLIENTS times: $trouble; $count{unknown} unknown, "
    . "of which $count{never} never began";
cmp_ok($times{workers} + $times{supervisors}, '>', 0, 'there was trouble');
cmp_ok($count{unknown}, '<=', 8 * ($times{workers} + 4 * $times{supervisors}),
	'no more are unknown than ran when they were killed');

# All is over: each key tells the same as before, and nothing runs.
my $before = slurp($site->dir . '/out/log');
my $changed = 0;
for my $key (grep { $_ % (1 + int $CALLS / 50) == 0 } 0 .. $CALLS - 1) {
	$changed += settle($key) ne $seen{$key}[0];
}
is($changed, 0, 'afterwards each key tells the same');
is(slurp($site->dir . '/out/log'), $before, '... and nothing runs');

kill 'QUIT', $nginx;
waitpid $nginx, 0;
for my $pool (@pools) {
	my @wrong = $pool->stop(allow => qr/signal|while it started|no answer/);

	ok(!@wrong, 'a pool ends cleanly') or diag @wrong;
}
done_testing;
