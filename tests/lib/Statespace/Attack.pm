# SPDX-License-Identifier: MIT
# Attacks as data, and the setups in which they are tried.
#
# An attack is a command that prints PWNED when it works.  It runs first
# without any sandbox, as the account that tools run as: that control must
# succeed, so that what follows means something.  Then it runs in every setup
# that leads to a command: through nginx at both levels, through
# statespace-exec, as plain CGI.
#
#	Statespace::Attack::family('fs-read', own => [...]);
#	done_testing;
#
# A case: id, tool (words), and what it needs:
#	policy	keys of the tool in the page, besides exec: any
#	keys	other keys of the page
#	control	other words for the run outside the sandbox, where the first would
#		hurt the machine; or 0 with a sentence in %no_control
#	danger	never outside the sandbox, and in Landlock mode only behind proof
#	check	sub { my ($world, $ran) = @_ } returns what is wrong, a list
#	setups	only these
#	next_s	{ setup => seconds }: the next answer may take longer than 4 s
#	linger	seconds that the control may take to show that it worked
#	file	{ name => bytes }: programs of the site, there before
package Statespace::Attack;

use strict;
use warnings;
use Cwd ();
use Errno ();
use File::Copy ();
use File::Path qw(make_path remove_tree);
use IO::Socket::INET;
use IO::Socket::UNIX;
use JSON::PP ();
use POSIX qw(:sys_wait_h);
use Socket qw(AF_UNIX SOCK_DGRAM SOCK_STREAM SOCK_NONBLOCK pack_sockaddr_un);
use Statespace::Calls ();
use Statespace::FastCGI ();
use Statespace::Server;
use Statespace::TestSite qw(slurp);
use Statespace::Vectors;
use Test::More ();
use Time::HiRes qw(sleep time);

# ------------------------------------------------------------------ tables --

# What Landlock mode does not hold, by the name that the README's table has
# for it, and the attacks that show it.
our %gaps = (
	'change mode, times or attributes of a file that the account owns' =>
	    [qw(fsw-chmod-secret fsw-chmod-page fsw-utime-secret
		fsw-setxattr-secret)],
	'learn that a path exists, its size and its times' =>
	    [qw(fsr-stat fsr-readlink)],
	'run a program brought along, or one from among the libraries through '
	    . 'the loader' => [qw(exe-ldso-scratch exe-ldso-library)],
	'fill the disk that /tmp lies on' => [qw(res-scratch)],
);
# What no mode holds.
our %open = (
	'read dot files deeper in the site than its page, or beside the way' =>
	    [qw(fsr-dotfile-elsewhere)],
);
my %gap_of = by_attack(\%gaps);
my %open_of = by_attack(\%open);

sub by_attack
{
	my ($table) = @_;

	return map { my $name = $_; map { $_ => $name } @{ $table->{$name} } }
	    keys %$table;
}

# Where nobody succeeds outside the sandbox either, and why.
our %no_control = (
	'fsw-etc' => 'no ordinary account can write there',
	'fsw-persistence' => 'it says nothing; its traces are looked for',
	'fsw-mknod' => 'no ordinary account can make a device',
	'fsw-scratch-symlink-cleanup' => 'it says nothing',
	'fsw-scratch-residue' => 'without us there is no clean-up to trust',
	'exe-setuid-su' => 'it says nothing',
	'fd-nonblock-stdio' => 'it says nothing',
	'fd-stdout-reopen' => 'it says nothing',
	'prc-kill-all' => 'it would end everything of this account',
	'lif-fork-storm-daemons' => 'it would be a storm',
	'lif-zombies' => 'it would be a storm',
);
# Where it depends on the kernel; said only when the control fails.
our %no_wonder = (
	'net-vsock' => 'this kernel has no vsock',
	'net-odd-families' => 'this kernel has none of these families',
	'net-mptcp' => 'this kernel has no MPTCP',
	'net-inet6' => 'this kernel has no IPv6',
	'sys-x32' => 'this kernel has no x32 calls',
	'sys-clone-newuser' => 'this kernel gives no user namespaces',
	'prc-ptrace-worker' => 'this kernel restricts ptrace',
	'prc-vmreadv-worker' => 'this kernel restricts ptrace',
	'prc-mem' => 'this kernel restricts ptrace',
	'fsw-setxattr-secret' => 'this file system has no user attributes',
	'fsr-open-by-handle' => 'this file system has no handles',
);

# Held by one layer or another; what decides is that nothing gets through.
my $LEVEL = { strict => 'strict', landlock => 'landlock', exec => 'strict',
	cgi => 'strict' };
our @setups = qw(strict landlock exec cgi);

our ($loader) = grep { -e } '/lib64/ld-linux-x86-64.so.2',
    '/lib/ld-linux-aarch64.so.1';
# How many times slower an emulated machine may be.
my $SLOWNESS = $ENV{TEST_SLOWNESS} || 1;
my $ENVSECRET = 'envsecret-7f3a91';
my $BUILD = Cwd::realpath($ENV{BUILD} || 'build')
    || die 'BUILD: no such directory';
my $json = JSON::PP->new->utf8;
my $worlds = 0;

# ------------------------------------------------------------- the account --

# Whom tools run as: as root the account that the server becomes, else we.
sub account
{
	return ($>, $)+0) if $> != 0;
	my @found = getpwnam 'statespace';
	@found = getpwnam 'nobody' unless @found;
	return @found[2, 3];
}

sub become_account
{
	my ($uid, $gid) = account();

	return if $> == $uid;
	$) = "$gid $gid";
	POSIX::setgid($gid);
	POSIX::setuid($uid);
	return;
}

sub own
{
	my (@paths) = @_;
	my ($uid, $gid) = account();

	chown $uid, $gid, @paths if $> == 0;
	return;
}

sub own_tree
{
	my ($top) = @_;
	require File::Find;
	File::Find::find({ no_chdir => 1, wanted => sub {
		own($_) unless -l $_;
	} }, $top);
	return;
}

# --------------------------------------------------------------- the world --

# A site, a secret beside it, listeners, a victim process: what is attacked.
sub new_world
{
	my (%with) = @_;
	local $ENV{TMPDIR} = '/var/tmp';	# below /tmp nothing is granted
	my $site = Statespace::TestSite->new(files => {
		'README.md' => "# Attacked\n",
		'victim.md' => "# A page of some length\n",
		'.env' => "DOTSECRET\n",
		'.git/config' => "DOTSECRET\n",
		'docs/page.md' => "# Deeper\n",
		'docs/.key' => "DOTSECRET\n",
		'w/data.txt' => "may be written\n",
		%{ $with{files} || {} } });
	my $base = $site->scratch;
	my $self = bless { site => $site, dir => $site->dir, base => $base,
		secret => $site->out . '/secret.md' }, __PACKAGE__;

	mkdir $_ or die "$_: $!" for "$base/probe", "$base/control";
	chmod 0600, $self->{secret};
	$self->{conf} = "$base/server.toml";
	Statespace::TestSite::write_file($self->{conf}, "[env]\n");
	own_tree($_) for $site->dir, $site->out, "$base/probe", "$base/control";
	$self->listen_everywhere;
	return $self;
}

sub listen_everywhere
{
	my ($self) = @_;
	my $base = $self->{base};

	for (1 .. 20) {
		$self->{tcp} = IO::Socket::INET->new(Listen => 64,
			LocalAddr => '127.0.0.1', Blocking => 0) or die "tcp: $@";
		$self->{port} = $self->{tcp}->sockport;
		$self->{udp} = IO::Socket::INET->new(Proto => 'udp',
			LocalAddr => '127.0.0.1', LocalPort => $self->{port},
			Blocking => 0);
		last if $self->{udp};
	}
	$self->{usock} = IO::Socket::UNIX->new(Listen => 64,
		Local => "$base/u.sock") or die "u.sock: $!";
	$self->{udgram} = IO::Socket::UNIX->new(Type => SOCK_DGRAM,
		Local => "$base/d.sock") or die "d.sock: $!";
	$self->{abs_name} = "statespace-attack-$$-" . ++$worlds;
	socket($self->{abs}, AF_UNIX, SOCK_STREAM, 0) or die "abstract: $!";
	bind($self->{abs}, pack('S a*', AF_UNIX, "\0$self->{abs_name}"))
	    && listen($self->{abs}, 64) or die "abstract: $!";
	$_->blocking(0) for @$self{qw(usock udgram abs)};
	chmod 0777, "$base/u.sock", "$base/d.sock";
	return;
}

# Which listeners heard of somebody; they are empty afterwards.
sub heard
{
	my ($self) = @_;
	my @heard;

	for my $name (qw(tcp usock abs)) {
		while (accept my $peer, $self->{$name}) { push @heard, $name }
	}
	for my $name (qw(udp udgram)) {
		while (defined recv $self->{$name}, my $got, 100, 0) {
			push @heard, $name;
		}
	}
	return @heard;
}

# Everything that no attack may change, and places where traces would lie.
sub picture
{
	my ($self) = @_;
	my @found = split /\n/, $self->{site}->listing;
	require File::Find;
	File::Find::find({ no_chdir => 1, wanted => sub {
		my @stat = lstat $_ or return;
		push @found, join ' ', $_, @stat[2, 4, 5, 7, 9];
	} }, $self->{site}->out);
	my @home = (getpwuid $>)[7] // ();
	push @found, grep { -e } '/dev/shm/pwn', '/var/tmp/pwn',
	    '/etc/ld.so.preload', '/etc/cron.d/x', '/var/spool/cron/crontabs/x',
	    map { ("$_/x", "$_/.config/systemd/user/x.service") } @home;
	return join "\n", grep { !/\.case\.md / && !m{/site \d} } sort @found;
}

# The words with their places filled in.
sub fill
{
	my ($self, $text, %with) = @_;
	my $site = $with{site} // $self->{dir};
	my %value = (SECRET => $self->{secret}, SECRETDIR => $self->{site}->out,
		SITE => $site, PAGE => "$site/victim.md",
		WPID => $with{wpid} // 1, PORT => $self->{port},
		USOCK => "$self->{base}/u.sock",
		UDGRAM => "$self->{base}/d.sock", ABS => $self->{abs_name},
		FCGISOCK => $with{fcgisock} // "$self->{base}/u.sock",
		ENVSECRET => $ENVSECRET, SERVERCONF => $self->{conf},
		HOSTPATHPART => (split m{/}, $self->{base})[-1],
		PROBE => "$self->{base}/probe/late",
		PROBEDIR => "$self->{base}/probe", LOADER => $loader,
		STRICT => $with{strict} // 0);

	return [map { $self->fill($_, %with) } @$text] if ref $text eq 'ARRAY';
	return { map { $_ => $self->fill($text->{$_}, %with) } keys %$text }
	    if ref $text eq 'HASH';
	return $text if ref $text || !defined $text;
	$text =~ s/\{([A-Z]+)\}/$value{$1} \/\/ "{$1}"/ge;
	return Statespace::Calls::here($text);
}

# Writes the page that allows one case; its request path.
sub put_page
{
	my ($self, $case, $words) = @_;
	my ($program, @rest) = @$words;
	my %tool = (exec => 'any', %{ $case->{policy} || {} },
		command => [$program, map { { literal => $_ } } @rest]);
	my $name = "$case->{id}.case.md";

	$self->put_programs($case);
	$tool{timeout} = $case->{seconds} || 8;
	$self->{site}->write($name, "---\n"
	    . JSON::PP->new->ascii->canonical->encode({ tools => [\%tool],
		%{ $case->{keys} || {} } })
	    . "\n---\n# An attack\n");
	return "/$name";
}

sub put_programs
{
	my ($self, $case) = @_;

	for my $name (sort keys %{ $case->{file} || {} }) {
		my $path = $self->{site}->write($name, $case->{file}{$name});
		chmod 0755, $path;
	}
	return;
}

# ------------------------------------------------------------- the control --

# Runs words, output to files; what became of them.  Nothing survives it.
sub capture
{
	my ($words, %with) = @_;
	my $base = $with{base};
	my $began = time;
	my $pid = fork() // die "fork: $!";

	if ($pid == 0) {
		POSIX::setsid();
		open STDIN, '<', $with{stdin} // '/dev/null';
		open STDOUT, '>', "$base/stdout";
		open STDERR, '>', "$base/stderr";
		%ENV = %{ $with{env} } if $with{env};
		chdir $with{cwd} if $with{cwd};
		$with{before}->() if $with{before};
		no warnings 'exec';
		exec { $words->[0] } @$words;
		POSIX::_exit(127);
	}
	my $until = time + ($with{timeout} || 12);
	my $status;
	until (defined $status) {
		if (waitpid($pid, WNOHANG) > 0) {
			$status = $?;
		} elsif (time > $until) {
			kill 'KILL', $pid;
			waitpid $pid, 0;
			$status = -1;
		} else {
			sleep 0.004;
		}
	}
	return { status => $status, out => slurp("$base/stdout", ''),
		err => slurp("$base/stderr", ''), took => time - $began };
}

# ------------------------------------------------- an older, smaller kernel --

# Numbers of this machine's calls.
our %nr = map { $_ => Statespace::Calls::number($_) }
    qw(prctl unshare clone clone3 renameat2);

# In a child: calls fail from now on, as on a kernel that lacks them.
sub without_calls
{
	my (@rules) = @_;	# [number, errno] or [number, errno, arg, bits]
	my $load = sub { pack 'SCCL', 0x20, 0, 0, $_[0] };
	my $code = $load->(0);

	for my $rule (@rules) {
		my ($number, $errno, $arg, $bits) = @$rule;
		my $refuse = pack 'SCCL', 0x06, 0, 0, 0x50000 | $errno;
		$code .= pack('SCCL', 0x15, 0, defined $arg ? 4 : 1, $number);
		$code .= $load->(16 + 8 * $arg)
		    . pack('SCCL', 0x45, 0, 1, $bits) if defined $arg;
		$code .= $refuse . (defined $arg ? $load->(0) : '');
	}
	$code .= pack 'SCCL', 0x06, 0, 0, 0x7fff0000;
	my $program = pack 'Sx6P', length($code) / 8, $code;
	syscall($nr{prctl}, 38, 1, 0, 0, 0) == 0 or die "no_new_privs: $!";
	syscall($nr{prctl}, 22, 2, $program) == 0 or die "filter: $!";
	return;
}

sub without_landlock
{
	without_calls(map { [$_, Errno::ENOSYS()] } 444 .. 446);
	return;
}

# As a container's profile has it.
sub without_namespaces
{
	without_calls([$nr{clone3}, Errno::ENOSYS()],
		map { [$nr{$_}, Errno::EPERM(), 0, 0x10000000] }
		qw(clone unshare));
	return;
}

# As an administrator has it: in a user namespace that may have no others.
sub within_last_namespace
{
	my ($uid, $gid) = account();

	become_account();
	syscall($nr{prctl}, 4, 1, 0, 0, 0);	# dumpable: the maps are ours
	syscall($nr{unshare}, 0x10000000) == 0 or die "unshare: $!";
	Statespace::TestSite::write_file(@$_) for
	    ['/proc/self/setgroups', 'deny'],
	    ['/proc/self/uid_map', "$uid $uid 1"],
	    ['/proc/self/gid_map', "$gid $gid 1"],
	    ['/proc/sys/user/max_user_namespaces', '0'];
	return;
}

# Whoever loses its parent comes to this process: none is overlooked.
sub adopt
{
	return syscall($nr{prctl}, 36, 1, 0, 0, 0) == 0;
}

# Processes below $top, each as "pid line"; zombies count.
sub below
{
	my ($top, %except) = @_;
	my (%children, @found);

	for my $path (glob '/proc/[0-9]*') {
		open my $file, '<', "$path/stat" or next;
		my ($pid, $name, $state, $ppid) =
		    (<$file> // '') =~ /\A(\d+) \((.*)\) (\S) (\d+)/s or next;
		push @{ $children{$ppid} }, [$pid, "$pid $name $state"];
	}
	my @todo = $top;
	while (defined(my $parent = shift @todo)) {
		for (@{ $children{$parent} || [] }) {
			next if $except{ $_->[0] };
			push @found, $_->[1];
			push @todo, $_->[0];
		}
	}
	return @found;
}

# Ends what lives below this test but what it started on purpose; what it was.
sub end_orphans
{
	my ($self) = @_;
	my %known = map { $_ => 1 } values %{ $self->{known} || {} };
	my @all;

	for (1 .. 50) {
		my @found = below($$, %known) or last;
		push @all, @found;
		kill 'KILL', map { (split)[0] } @found;
		for (@found) { waitpid((split)[0], WNOHANG) }
		sleep 0.01;
	}
	return @all;
}

# Something of the same account, to be attacked in the worker's place.
sub victim
{
	my ($self) = @_;

	return $self->{known}{victim} if $self->{known}{victim}
	    && waitpid($self->{known}{victim}, WNOHANG) == 0;
	my $pid = fork() // die "fork: $!";
	if ($pid == 0) {
		become_account();
		exec { "sleep" } "sleep", "120" or POSIX::_exit(127);
	}
	# Until then it is not dumpable, having changed its account.
	for (1 .. 1000) {
		last if slurp("/proc/$pid/comm", '') eq "sleep\n";
		sleep 0.01;
	}
	return $self->{known}{victim} = $pid;
}

sub end_victim
{
	my ($self) = @_;
	my $pid = delete $self->{known}{victim} or return;

	kill 'KILL', $pid;
	waitpid $pid, 0;
	return;
}

# As the tool's own account, under a parent of that account, outside the sandbox.
sub unconfined
{
	my ($self, $case) = @_;
	my $words = $self->fill($case->{control} || $case->{tool}, strict => 1,
		wpid => $self->victim);
	my $tmp = "$self->{base}/control/tmp";

	$self->put_programs($case);
	# Neither the machine's first process nor this test is a target.
	s/\b1,getppid\(\)/getppid()/, s{/proc/1/}{/proc/$self->{known}{victim}/}g
	    for @$words;
	mkdir $tmp;
	own($tmp);
	my $ran = capture(['/bin/sh', '-c', '"$@"; exit $?', 'sh', @$words],
		base => $self->{base}, timeout => 6 * $SLOWNESS, cwd => $self->{dir},
		env => { PATH => '/usr/local/bin:/usr/bin:/bin',
			HOME => "$self->{base}/control", TMPDIR => $tmp,
			LANG => 'C.UTF-8', SECRET_OF_SERVER => $ENVSECRET },
		before => sub {
			open my $null, '<', '/dev/null';
			opendir my $top, '/';
			POSIX::dup2(fileno $null, 7);
			POSIX::dup2(fileno $top, 8);
			become_account();
		});
	my $until = time + ($case->{linger} || 0);
	until ($ran->{works}) {
		$ran->{works} = $ran->{out} =~ /PWNED/
		    || ($case->{worked} && $case->{worked}->($self, $ran));
		last if time >= $until;
		sleep 0.05;
	}
	$self->end_orphans;
	remove_tree($tmp);
	return $ran;
}

# --------------------------------------------------------------- the setups --

sub config
{
	my ($self, $mode) = @_;

	return "[sandbox]\nmode = \"$mode\"\n"
	    . "[grant]\nwrite = [\"w\", \"$self->{base}/probe\"]\n"
	    . "read = [\"$self->{base}/probe\"]\nproc = true\n"
	    . ($self->{more_grant} // '')
	    . "[env]\nDATABASE_URL = \"$ENVSECRET\"\n"
	    . "[limits]\ntimeout = 10.0\n" . ($self->{more_config}
	    # There all processes of the account count, this user's too.
	    // ($mode eq 'landlock' ? "processes = 100000\n" : ''));
}

# What the server's own environment holds and no tool sees.
sub secrets
{
	return (SECRET_OF_SERVER => $ENVSECRET,
		AWS_SECRET_ACCESS_KEY => $ENVSECRET);
}

sub open_setup
{
	my ($self, $setup, %with) = @_;

	$self->{before} = $with{before};
	Statespace::TestSite::write_file($self->{conf}, $self->config(
		$with{mode} // ($setup eq 'landlock' ? 'landlock' : 'strict')));
	$self->{setup} = $setup;
	if ($setup eq 'cgi') {
		my $bin = "$self->{base}/cgi-bin";
		mkdir $bin;
		File::Copy::copy("$BUILD/statespace", "$bin/statespace.cgi")
		    or die "copy: $!";
		chmod 0755, "$bin/statespace.cgi";
		system('cp', '-R', "$BUILD/libexec", $bin) == 0
		    or die "cp $BUILD/libexec: $?";
		Statespace::TestSite::write_file("$bin/statespace.toml",
			"root = \"$self->{dir}\"\n" . slurp($self->{conf}));
	}
	return if $setup eq 'cgi' || $setup eq 'exec';
	local $ENV{STATESPACE_SANDBOX_MODE};
	delete $ENV{STATESPACE_SANDBOX_MODE};
	$self->{server} = Statespace::Server->start(site => $self->{site},
		options => ['--workers', 1, '-c', $self->{conf},
			@{ $with{options} || [] }], before => $with{before},
		environment => { secrets(), %{ $with{environment} || {} } });
	$self->{known}{server} = $self->{server}->pid;
	return;
}

sub close_setup
{
	my ($self, %with) = @_;
	my $server = delete $self->{server} or return;

	delete $self->{known}{server};
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return $server->stop_ok(name => "$self->{setup}: the server ends "
	    . 'cleanly and leaves no process', %with);
}

# The worker of --workers 1; as the account, below the server, not nginx.
sub worker
{
	my ($self) = @_;
	my $server = $self->{server} or return 0;

	for (1 .. 200) {
		for (below($server->pid)) {
			my ($pid, $name, $state) = split;
			return $pid if $name eq 'ss-worker' && $state ne 'Z';
		}
		sleep 0.01;
	}
	return 0;
}

# Sends a command; { status, json, raw, took }.
sub send_command
{
	my ($self, $page, $words, %more) = @_;
	my $setup = $self->{setup};
	my $body = $json->encode({ command => $words, %more });

	return $self->over_http($page, $body) if $self->{server};
	return $setup eq 'cgi' ? $self->over_cgi($page, $body)
	    : $self->over_exec($page, $words, $body);
}

sub over_http
{
	my ($self, $page, $body) = @_;
	my $answer = $self->{server}->request('POST', $page, body => $body,
		headers => { 'Content-Type' => 'application/json' },
		timeout => 20);

	return { status => $answer->{status}, raw => $answer->{raw},
		headers => $answer->{headers}, took => $answer->{ms} / 1000,
		json => eval { $json->decode($answer->{body}) } || {} };
}

sub over_cgi
{
	my ($self, $page, $body) = @_;
	my $in = "$self->{base}/stdin";

	Statespace::TestSite::write_file($in, $body);
	my $ran = capture(["$self->{base}/cgi-bin/statespace.cgi"],
		base => $self->{base}, stdin => $in, timeout => 20,
		before => $self->{before}, env => {
			PATH => $ENV{PATH}, secrets(),
			GATEWAY_INTERFACE => 'CGI/1.1',
			HTTP_HOST => 'localhost', REQUEST_METHOD => 'POST',
			SCRIPT_NAME => '/cgi-bin/statespace.cgi',
			PATH_INFO => $page, CONTENT_LENGTH => length $body,
			CONTENT_TYPE => 'application/json' });
	my ($head, $text) = split /\r\n\r\n/, $ran->{out}, 2;
	my ($status) = ($head // '') =~ /\AStatus: (\d+)/;
	return { status => $status // 0, raw => $ran->{out}, took => $ran->{took},
		log => $ran->{err},
		json => eval { $json->decode($text) } || {} };
}

sub over_exec
{
	my ($self, $page, $words, $body) = @_;
	my $in = "$self->{base}/stdin";
	my %env = (PATH => $ENV{PATH}, HOME => $ENV{HOME} // '/', secrets());

	Statespace::TestSite::write_file($in, $body);
	my $ran = capture(["$BUILD/statespace-exec", '-C', $self->{dir},
		'-c', $self->{conf}, '--json', $page =~ s{\A/}{}r, '-'],
		base => $self->{base}, timeout => 20, env => \%env,
		stdin => $in, before => $self->{before});
	my $answer = eval { $json->decode($ran->{out}) } || {};
	return { status => %$answer ? $answer->{error} ? 0 : 200 : -1,
		raw => $ran->{out}, took => $ran->{took}, log => $ran->{err},
		json => $answer };
}

# ------------------------------------------------------------- one attack --

# What is wrong after one confined run; nothing when it was held.
sub attack
{
	my ($self, $case, %with) = @_;
	my $strict = $LEVEL->{ $self->{setup} } eq 'strict';
	my $worker = $self->worker;
	my $words = $self->fill($case->{tool}, strict => $strict ? 1 : 0,
		wpid => $worker || $$, fcgisock => $self->fcgi_socket,
		site => $with{site});
	my $policy = $self->fill($case->{policy} || {}, site => $with{site});
	my $page = $self->put_page({ %$case, policy => $policy }, $words);
	my $before = $self->picture;
	my @wrong;

	my $ran = $self->send_command($page, $words, %{ $case->{send} || {} });
	push @wrong, "was not run: $ran->{raw}" . ($ran->{log} // '')
	    unless $case->{refused} || $ran->{status} == 200
	    || ($ran->{json}{error}{code} // '') =~ /\A(?:timeout|output_too)/;
	my $level = $ran->{json}{sandbox}{level} // 'unsaid';
	push @wrong, "ran at the level $level" if $ran->{status} == 200
	    && $level ne $LEVEL->{ $self->{setup} };
	# An error may quote the attack; what it won is on its stdout.
	push @wrong, "printed $&" if ($ran->{json}{stdout} // '') =~ /PWNED.*/
	    || $ran->{raw} =~ /TOPSECRET|DOTSECRET|\Q$ENVSECRET\E/;
	push @wrong, "was heard by $_" for $self->heard;
	push @wrong, "left the process $_" for $self->survivors($worker);
	push @wrong, $case->{check}->($self, $ran) if $case->{check};
	my $after = $self->picture;
	push @wrong, "changed files:\n$before\nto\n$after" if $before ne $after;
	unlink "$self->{dir}$page";
	$self->{last} = $ran;
	return @wrong;
}

# Processes that outlived their answer.
sub survivors
{
	my ($self, $worker) = @_;

	return below($worker) if $worker;
	for (1 .. 100) {
		my %known = map { $_ => 1 } values %{ $self->{known} || {} };
		my @found = below($$, %known) or return;
		# Our own program may be on its way out; tools may not.
		last if grep { !/\A\d+ (?:statespace|ss-)\S* \S\z| Z\z/ } @found;
		waitpid((split)[0], WNOHANG) for @found;
		sleep 0.01;
	}
	return $self->end_orphans;
}

sub fcgi_socket
{
	my ($self) = @_;
	my $server = $self->{server} or return undef;

	$self->{fcgi} //= do {
		open my $file, '<', '/proc/net/unix';
		my ($found) = grep { m{/statespace-\w+/pool\.sock$} } <$file>;
		(split ' ', $found // '')[-1];
	};
	return $self->{fcgi};
}

# A command that is no attack: its page, the answer, the page gone again.
sub run_tool
{
	my ($self, $case) = @_;
	my $words = $self->fill($case->{tool}, wpid => $self->worker);
	my $page = $self->put_page($case, $words);
	my $ran = $self->send_command($page, $words, %{ $case->{send} || {} });

	unlink "$self->{dir}$page";
	return $ran;
}

# Both names of the site, when the words have one.
sub variants
{
	my ($self, $case) = @_;

	return undef unless join("\0", @{ $case->{tool} }) =~ /\{(?:SITE|PAGE)\}/;
	return $LEVEL->{ $self->{setup} } eq 'strict' ? ('/site', $self->{dir})
	    : $self->{dir};
}

sub missing
{
	my ($case) = @_;

	return "the machine has no $case->{tool}[0]"
	    unless $case->{file} || grep { -x "$_/$case->{tool}[0]" }
	    split /:/, '/usr/local/bin:/usr/bin:/bin';
	return undef;
}

# ------------------------------------------------------------- a family --

# What this machine confines: the levels that can be had.
sub levels
{
	my $text = `$BUILD/statespace doctor 2>&1`;

	return $text =~ /^tools run: strict/m ? qw(strict landlock)
	    : $text =~ /^tools run: landlock/m ? qw(landlock) : ();
}

sub cases
{
	my (%with) = @_;
	my %skip = map { $_ => 1 } @{ $with{without} || [] };
	my %areas = map { $_ => 1 } @{ $with{areas} };
	my @cases = grep { $areas{ $_->{area} } && !$skip{ $_->{id} }
	    && !$_->{tool_is} } Statespace::Vectors::cases('attacks.jsonl');

	for my $case (@cases) {
		$case->{to_check} = delete $case->{check};	# a sentence
		my $change = $with{change}{ $case->{id} } or next;
		@$case{ keys %$change } = values %$change;
	}
	return (@cases, @{ $with{own} || [] });
}

sub can_run
{
	Test::More::plan(skip_all => 'the program is not built')
	    unless -x "$BUILD/statespace";
	Test::More::plan(skip_all => 'its numbers of calls are not known here')
	    unless Statespace::Calls::known();
	return adopt();
}

# Every case of these areas: the control, then each setup.
sub family
{
	my (%with) = @_;
	my @cases = cases(%with);
	my @levels = levels();

	can_run();
	Test::More::plan(skip_all => 'this machine confines nothing')
	    unless @levels;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	controls(@cases);
	for my $setup (@{ $with{setups} || \@setups }) {
		SKIP: {
			Test::More::skip("$setup: no $LEVEL->{$setup} level "
			    . 'on this machine', 1)
			    unless grep { $_ eq $LEVEL->{$setup} } @levels;
			along($setup, \%with, @cases);
		}
	}
	return;
}

sub controls
{
	my (@cases) = @_;
	my $world = new_world();

	for my $case (@cases) {
		SKIP: {
			my $why = missing($case) || $no_control{ $case->{id} };
			Test::More::skip("control: $case->{id}: $why", 1)
			    if $why;
			my $ran = $world->unconfined($case);
			$why = $no_wonder{ $case->{id} };
			Test::More::skip("control: $case->{id}: $why", 1)
			    if $why && !$ran->{works};
			Test::More::ok($ran->{works}, "control: $case->{id} "
			    . 'succeeds outside the sandbox')
			    or Test::More::diag "$ran->{out}$ran->{err}";
		}
		$world->rebuild;
	}
	$world->end_victim;
	return;
}

# As it was: controls do what they say.
sub rebuild
{
	my ($self) = @_;
	my $site = $self->{site};

	return if $self->{rebuilt} && $self->{rebuilt} eq $self->picture;
	remove_tree($site->dir, $site->out, { keep_root => 1 });
	$site->write('README.md', "# Attacked\n");
	$site->write('victim.md', "# A page of some length\n");
	$site->write("$_", "DOTSECRET\n") for '.env', '.git/config', 'docs/.key';
	$site->write('docs/page.md', "# Deeper\n");
	$site->write('w/data.txt', "may be written\n");
	Statespace::TestSite::write_file($site->out . "/$_", "TOPSECRET\n")
	    for qw(secret.md README.md);
	chmod 0600, $self->{secret};
	own_tree($_) for $site->dir, $site->out;
	unlink "$self->{base}/probe/late", '/dev/shm/pwn', '/var/tmp/pwn';
	$self->heard;
	$self->{rebuilt} = $self->picture;
	return;
}

sub along
{
	my ($setup, $with, @cases) = @_;
	my $world = new_world();

	$world->{more_config} = $with->{config};
	$world->open_setup($setup);
	for my $case (@cases) {
		SKIP: {
			my $why = missing($case);
			Test::More::skip("$setup: $case->{id}: $why", 1) if $why;
			next if $case->{setups}
			    && !grep { $_ eq $setup } @{ $case->{setups} };
			$world->judge($case);
			$world->answers_fast("after $case->{id} the next "
			    . 'command runs as if nothing had been',
			    $case->{next_s}{$setup})
			    if $with->{fast};
		}
	}
	$with->{after}->($world) if $with->{after};
	$world->answers_fast unless $with->{fast};
	$world->close_setup(allow => $with->{allow});
	return;
}

sub judge
{
	my ($self, $case) = @_;
	my $setup = $self->{setup};
	my $gap = $open_of{ $case->{id} }
	    || ($setup eq 'landlock' && $gap_of{ $case->{id} });

	for my $site ($self->variants($case)) {
		my $as = defined $site && $site ne '/site' ? ', by its own path'
		    : '';
		for my $time (1 .. $case->{repeat} || 1) {
			my @wrong = $self->attack($case, site => $site);
			my $name = "$setup: $case->{id}$as";
			if ($gap) {
				Test::More::ok(scalar @wrong, "$name gets "
				    . "through, as the README says: $gap")
				    or Test::More::diag $self->{last}{raw};
				$self->rebuild;
				next;
			}
			Test::More::ok(!@wrong, "$name is held")
			    or Test::More::diag map { "$_\n" } @wrong;
			$self->rebuild if @wrong;
		}
	}
	return;
}

# Seconds that what takes $seconds may take here: a processor that several
# processes wait for (proc_loadavg(5)) gives each a part of its time.
sub patience
{
	my ($seconds) = @_;
	open my $file, '<', '/proc/loadavg' or return $seconds;
	my ($load) = split ' ', <$file>;
	my $share = $load / (`nproc` || 1);

	return $SLOWNESS * $seconds * ($share < 1 ? 1 : $share > 5 ? 5 : $share);
}

# The next request on the same worker: right, and soon.
sub answers_fast
{
	my ($self, $name, $most) = @_;
	my $case = { id => 'after', tool => ['echo', 'still here'] };
	my $page = $self->put_page($case, $case->{tool});
	my $ran = $self->send_command($page, $case->{tool});

	unlink "$self->{dir}$page";
	my $right = $ran->{status} == 200
	    && ($ran->{json}{stdout} // '') eq "still here\n"
	    && $ran->{took} < patience($most // 4);
	Test::More::ok($right, "$self->{setup}: "
	    . ($name // 'the next command runs as if nothing had been'))
	    or Test::More::diag "$ran->{took} s\n$ran->{raw}";
	return $right;
}

sub DESTROY
{
	my ($self) = @_;
	local ($?, $!, $@);

	$self->end_victim;
	return;
}

1;
