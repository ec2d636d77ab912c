# SPDX-License-Identifier: MIT
# `statespace serve` on a free port with a real front server, for one test.
#
#	my $server = Statespace::Server->start(
#		files => { 'README.md' => "# Hello\n" }, symlinks => { ... },
#		config => "[limits]\ntimeout = 1.0\n",	the text of a file for -c
#		options => ['--workers', 2],		more words
#		before => sub { ... });			in the child, before exec
#	my $answer = $server->request('GET', '/%2e%2e');
#	$answer->{status}, $answer->{headers}{etag}, $answer->{body}
#	$server->stop_ok;
#
# stop_ok is one check: the server ended by itself with 0, none of its
# processes is left, and its log holds no sanitizer report and no fault of
# ours.  BUILD names another build directory (the sanitizers', say).
package Statespace::Server;

use strict;
use warnings;
use Cwd ();
use Exporter qw(import);
use Errno qw(EAGAIN EINTR EWOULDBLOCK);
use File::Basename qw(dirname);
use IO::Socket::INET;
use POSIX qw(:sys_wait_h);
use Socket qw(MSG_NOSIGNAL);
use Statespace::TestSite qw(slurp write_file);
use Test::More ();
use Time::HiRes qw(sleep time);

our @EXPORT_OK = qw(await_port free_port has);

my $TOP = Cwd::realpath(dirname(__FILE__) . '/../../..');
# Bounds for a hang; a machine under load needs a part of them.
my $START_S = 60;
my $STOP_S = 40;
my $LEAVE_S = 10;

# What a log never holds, whatever the requests were.
my $SANITIZER = qr/^.*(?:Sanitizer|runtime error:).*$/m;
my $FAULT = qr/^.*(?:\bcode=internal\b|\bstatus=500 .*\binternal\b
	|\[(?:emerg|alert|crit)\]|worker.*(?:died|crashed|SIGSEGV|SIGABRT)).*$/mx;

sub binary
{
	return ($ENV{BUILD} || "$TOP/build") . '/statespace';
}

# The front server that the tests go through; false: it is not installed.
sub front
{
	my ($name) = @_;

	return grep { -x "$_/$name" } split(/:/, $ENV{PATH}), '/usr/sbin',
	    '/usr/local/sbin';
}

# The path of a program that the tests can start by its name.
sub has
{
	my ($name) = @_;
	my ($path) = grep { -x } map { "$_/$name" } split /:/, $ENV{PATH};

	return $path;
}

# Asked from the kernel, given back, used soon.
sub free_port
{
	my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1',
		Listen => 1) || die "no port: $@";

	return $socket->sockport;
}

# A connection to whoever was started there; undef when nobody answers.
sub await_port
{
	my ($port) = @_;
	my $until = time + $START_S;
	my $socket;

	sleep 0.05 until ($socket = IO::Socket::INET->new(
		PeerAddr => '127.0.0.1', PeerPort => $port)) || time > $until;
	return $socket;
}

sub start
{
	my ($class, %with) = @_;
	my $site = $with{site}
	    || Statespace::TestSite->new(%with{ 'files', 'symlinks' });
	my $dir = $with{dir} || $site->dir;
	my @options = @{ $with{options} || [] };

	if (defined $with{config}) {
		my $file = $site->scratch . '/statespace.toml';
		write_file($file, $with{config});
		push @options, '-c', $file;
	}
	my $self = bless {
		site => $site, dir => $dir, seen => {}, owner => $$,
		log_file => $site->scratch . '/log', before => $with{before},
		command => [binary(), 'serve', '-p', 0, @options, $dir],
	}, $class;

	$self->spawn($with{environment} || {});
	$self->await_address;
	return $self;
}

# Its own session: whoever stays in it is found by stop.
sub spawn
{
	my ($self, $environment) = @_;

	$self->{pid} = fork() // die "fork: $!";
	return if $self->{pid};
	POSIX::setsid();
	open STDIN, '<', '/dev/null';
	open STDOUT, '>>', $self->{log_file};
	open STDERR, '>&', \*STDOUT;
	$ENV{$_} = $environment->{$_} for keys %$environment;
	# STATESPACE_SANDBOX_MODE stays: the suite can be run in each mode.
	delete $ENV{$_} for grep { /^STATESPACE_(?!SANDBOX_MODE$)/
	    && !exists $environment->{$_} } keys %ENV;
	$self->{before}->() if $self->{before};
	no warnings 'exec';
	# A shell that started the tests in the background had these ignored.
	$SIG{$_} = 'DEFAULT' for qw(INT QUIT);
	exec { $self->{command}[0] } @{ $self->{command} };
	print STDERR "exec $self->{command}[0]: $!\n";
	POSIX::_exit(127);
}

sub await_address
{
	my ($self) = @_;
	my $until = time + $START_S;

	while (time < $until) {
		if ($self->log =~ m{http://([\w.]+|\[[^]]+\]):(\d+)}) {
			@$self{ 'host', 'port' } = ($1, $2);
			return;
		}
		if (waitpid($self->{pid}, WNOHANG) > 0) {
			my $status = $? >> 8 || $?;
			delete $self->{pid};
			die "serve ended with $status:\n" . $self->log;
		}
		sleep 0.02;
	}
	die "serve printed no address in $START_S s:\n" . $self->log;
}

sub port { $_[0]{port} }
sub pid  { $_[0]{pid} }
sub site { $_[0]{site} }

sub log
{
	my ($self) = @_;

	return slurp($self->{log_file}, '');
}

# Waits for a line in the log, since it is written after the answer.
sub log_says
{
	my ($self, $pattern, $seconds) = @_;
	my $until = time + ($seconds || 3);

	while (time < $until) {
		return 1 if $self->log =~ $pattern;
		sleep 0.02;
	}
	return 0;
}

# --------------------------------------------------------------- requests --

sub connect
{
	my ($self) = @_;

	return IO::Socket::INET->new(PeerAddr => '127.0.0.1',
		PeerPort => $self->{port}, Timeout => 5)
	    || die "connect to port $self->{port}: $@";
}

# One request, one answer.  The target goes out as it is, byte for byte.
# Words: headers (hash), body (bytes), chunks (list of bytes, sent with
# Transfer-Encoding), timeout (seconds).  An answer that does not come, or
# that is cut, has {error}.
sub request
{
	my ($self, $method, $target, %with) = @_;
	my %headers = (Host => "127.0.0.1:$self->{port}", Connection => 'close',
		%{ $with{headers} || {} });
	my $body = $with{body};

	if ($with{chunks}) {
		$headers{'Transfer-Encoding'} = 'chunked';
		$body = join '', map { sprintf "%x\r\n%s\r\n", length, $_ }
		    @{ $with{chunks} }, '';
	} elsif (defined $body) {
		$headers{'Content-Length'} //= length $body;
	}
	my $text = "$method $target HTTP/1.1\r\n" . join('', map {
		defined $headers{$_} ? "$_: $headers{$_}\r\n" : ()
	} sort keys %headers) . "\r\n" . ($body // '');
	return $self->exchange($text, head => $method eq 'HEAD', %with);
}

# POST of a command to a page; %with as above, json members in {more}.
sub run
{
	my ($self, $page, $command, %with) = @_;
	require JSON::PP;
	my $body = JSON::PP->new->utf8->canonical->encode(
		{ command => $command, %{ $with{more} || {} } });

	return $self->request('POST', $page, body => $body, %with, headers => {
		'Content-Type' => 'application/json', %{ $with{headers} || {} }
	});
}

# Sends bytes, reads one answer; sending stops when the answer is complete.
sub exchange
{
	my ($self, $bytes, %with) = @_;
	my $started = time;
	my $until = $started + ($with{timeout} || 40);
	my $socket = $self->connect;
	my ($in, $eof, $answer) = ('', 0, undef);

	$socket->blocking(0);
	until ($answer = parse($in, $eof, $with{head})) {
		my $left = $until - time;
		if ($eof || $left <= 0) {
			$answer = { status => 0, headers => {}, body => '',
				error => $eof ? 'cut' : 'no answer in time' };
			last;
		}
		my ($r, $w) = ('', '');
		vec($r, fileno $socket, 1) = 1;
		vec($w, fileno $socket, 1) = 1 if length $bytes;
		select $r, $w, undef, $left;
		if (vec($r, fileno $socket, 1)) {
			my $got = sysread $socket, $in, 65536, length $in;
			$eof = 1 if defined $got ? $got == 0 : !again();
		}
		if (length $bytes && vec($w, fileno $socket, 1)) {
			my $sent = send $socket, $bytes, MSG_NOSIGNAL;
			if (defined $sent) {
				substr($bytes, 0, $sent, '');
			} elsif (!again()) {
				$bytes = '';	# it may have answered before
			}
		}
	}
	close $socket;
	$answer->{ms} = (time - $started) * 1000;
	$answer->{raw} = $in;
	return $answer;
}

sub again
{
	return $! == EAGAIN || $! == EWOULDBLOCK || $! == EINTR;
}

# undef as long as the answer is not whole.
sub parse
{
	my ($bytes, $eof, $head) = @_;

	$bytes =~ s{\AHTTP/1\.[01] 1\d\d .*?\r\n\r\n}{}s;
	my ($top, $rest) = split /\r\n\r\n/, $bytes, 2;
	return undef unless defined $rest;
	my ($first, @lines) = split /\r\n/, $top;
	$first =~ m{\AHTTP/1\.[01] (\d{3})} or return undef;
	my %answer = (status => $1, headers => {});
	for (@lines) {
		my ($name, $value) = /\A([^:\s]+):[ \t]*(.*?)[ \t]*\z/ or next;
		$name = lc $name;
		$answer{headers}{$name} = defined $answer{headers}{$name}
		    ? "$answer{headers}{$name}, $value" : $value;
	}
	my $length = $answer{headers}{'content-length'};
	my $coding = $answer{headers}{'transfer-encoding'} // '';
	if ($head || $1 == 204 || $1 == 304) {
		$answer{body} = $rest;	# must be empty; seen when it is not
	} elsif ($coding =~ /chunked/i) {
		$answer{body} = unchunk($rest) // return undef;
	} elsif (defined $length) {
		return undef if length $rest < $length;
		$answer{body} = substr $rest, 0, $length;
	} else {
		return undef unless $eof;
		$answer{body} = $rest;
	}
	return \%answer;
}

sub unchunk
{
	my ($bytes) = @_;
	my $body = '';

	while ($bytes =~ s/\A([0-9a-fA-F]+)[^\r\n]*\r\n//) {
		my $size = hex $1;
		return $body if $size == 0;
		return undef if length $bytes < $size + 2;
		$body .= substr $bytes, 0, $size;
		substr($bytes, 0, $size + 2, '');
	}
	return undef;
}

# -------------------------------------------------------------- processes --

# pid => { ppid, session, started, line } of everything that lives.
sub processes
{
	my %all;

	for my $path (glob '/proc/[0-9]*') {
		my ($pid) = $path =~ /(\d+)\z/;
		open my $file, '<', "$path/stat" or next;
		my $stat = <$file> // next;
		my @rest = split ' ', ($stat =~ s/\A.*\) //sr);
		next if $rest[0] eq 'Z' || $rest[0] eq 'X';
		open my $words, '<:raw', "$path/cmdline" or next;
		my $line = do { local $/; <$words> } // '';
		next if $line eq '';	# its memory is gone: it is ending
		$line =~ s/\0+\z//;
		$line =~ tr/\0/ /;
		$all{$pid} = { ppid => $rest[1], session => $rest[3],
			started => $rest[19], line => $line,
			cwd => readlink("$path/cwd") // '' };
	}
	return \%all;
}

# Remembers every process below the server, as long as it can be seen there.
sub note_processes
{
	my ($self) = @_;
	my $all = processes();
	my @todo = $self->{pid};

	while (defined(my $parent = shift @todo)) {
		for (grep { $all->{$_}{ppid} == $parent } keys %$all) {
			$self->{seen}{"$_ $all->{$_}{started}"} = 1;
			push @todo, $_;
		}
	}
	return $all;
}

# Lines of the processes that came from this server and still live.
sub left_processes
{
	my ($self, $server) = @_;
	my $all = processes();
	my $dir = $self->{site}->scratch;

	return map { "$_ $all->{$_}{line}" } grep {
		my $p = $all->{$_};
		$_ != $$ && ($p->{session} == $server
			|| $self->{seen}{"$_ $p->{started}"}
			|| index("$p->{cwd}/", "$dir/") == 0)
	} keys %$all;
}

# What is left, and not what is leaving.
sub remaining
{
	my ($self, $server) = @_;
	my $until = time + $LEAVE_S;
	my @left;

	while (@left = $self->left_processes($server)) {
		last if time > $until;
		sleep 0.05;
	}
	return @left;
}

# Is a process with exactly this command line alive?  Waits for its end a
# moment, so that a test says what is left and not what is leaving.
sub process_lives
{
	my ($line, $seconds) = @_;
	my $until = time + ($seconds // 0);

	while (1) {
		my $all = processes();
		return 0 unless grep { $all->{$_}{line} eq $line } keys %$all;
		return 1 if time >= $until;
		sleep 0.05;
	}
}

# ------------------------------------------------------------------ ending --

# Asks the server to end and returns what is wrong with how it did; nothing
# when all is well.  allow: a pattern of log lines that this test provokes.
sub stop
{
	my ($self, %with) = @_;
	my $pid = $self->{pid} or return 'was not running';
	my @wrong;

	$self->note_processes;
	kill $with{signal} || 'INT', $pid;
	my $status = $self->reap;
	if (!defined $status) {
		push @wrong, "did not end in $STOP_S s";
		$self->kill_all;
	} elsif ($status != 0) {
		push @wrong, sprintf 'ended with status %d, signal %d',
		    $status >> 8, $status & 127;
	}
	delete $self->{pid};
	push @wrong, map { "left the process $_" } $self->remaining($pid);
	my $log = $self->log;
	$log =~ s/^.*$with{allow}.*\n//mg if $with{allow};
	push @wrong, "logged: $&" if $log =~ $SANITIZER || $log =~ $FAULT;
	push @wrong, "its log:\n$log" if @wrong;
	return @wrong;
}

sub stop_ok
{
	my ($self, %with) = @_;
	my @wrong = $self->stop(%with);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	Test::More::ok(!@wrong, $with{name}
		|| 'the server ends cleanly and leaves no process');
	Test::More::diag($_) for @wrong;
	return !@wrong;
}

sub reap
{
	my ($self) = @_;
	my $until = time + $STOP_S;

	while (time < $until) {
		return $? if waitpid($self->{pid}, WNOHANG) > 0;
		sleep 0.02;
	}
	return undef;
}

# The last means: everything that was ever seen below the server.
sub kill_all
{
	my ($self) = @_;

	kill 'KILL', $self->{pid}, map { (split)[0] }
	    $self->left_processes($self->{pid});
	waitpid $self->{pid}, 0;
	return;
}

sub DESTROY
{
	my ($self) = @_;

	return unless $self->{pid} && $self->{owner} == $$;
	local ($?, $!, $@);
	$self->note_processes;
	kill 'TERM', $self->{pid};
	$self->kill_all unless defined $self->reap;
	return;
}

1;
