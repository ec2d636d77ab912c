# SPDX-License-Identifier: MIT
# What is measured, started for real: our pools in every mode, the comparison
# programs, and the front servers before them, each on a port of its own.
#
#	my $servers = Bench::Servers->start(build => $dir, workers => 2,
#		sizes => [1, 8]);
#	$servers->url('strict');	undef when it cannot be had here
#	$servers->missing;		what cannot be had and why, sentences
#	$servers->stop;			what is wrong with their log, a list
package Bench::Servers;

use strict;
use warnings;
use Bench::Fronts;
use File::Copy qw(copy);
use FindBin;
use IO::Socket::INET;
use IO::Socket::UNIX;
use POSIX ();
use Socket qw(SOCK_STREAM);
use Statespace::Server qw(free_port);
use Statespace::TestSite;
use Time::HiRes qw(sleep time);

our $PAGE = <<'END' . join '', map { "Line $_ of some text to read.\n" } 1 .. 30;
---
tools:
  - { name: nothing, command: ["true", ;] }
  - [cat, big.txt, ;]
  - [sqlite3, data.db, { name: query }, ;]
  - [python3, -c, pass, ;]
  - [sleep, { regex: '^[0-9.]+$' }, ;]
---
# A small page

END
my $NET = "---\nsandbox:\n  network: true\ntools:\n  - [\"true\"]\n---\n# Net\n";
my $PIPE = <<'END';
---
tools:
  - [sh, -c, 'seq 50 | head -n 5', ;]
  - { name: pipe, pipe: [[seq, 50], [head, -n, 5]] }
  - { name: script, script: pipe.sh }
---
# Two programs
END
my $LINE = 'x' x 127 . "\n";
our $HUGE = 1 << 30;

sub start
{
	my ($class, %with) = @_;
	my $self = bless { %with, pids => [], urls => {}, missing => [],
		owner => $$ }, $class;

	$ENV{PATH} .= ':/usr/sbin:/usr/local/sbin';
	$self->{site} = make_site();
	$self->{dir} = $self->{site}->scratch;
	$self->make_cgi;
	$self->start_pools;
	$self->start_others;
	$self->start_nginx;
	$self->start_fronts;
	$self->await;
	return $self;
}

sub url     { return $_[0]{urls}{ $_[1] } }
sub dir     { return $_[0]{dir} }
sub site    { return $_[0]{site}->dir }
sub missing { return @{ $_[0]{missing} } }

# --------------------------------------------------------------------- site --

sub make_site
{
	my $site = Statespace::TestSite->new(files => {
		'README.md' => $PAGE, 'net.md' => $NET,
		'pipe.md' => $PIPE, 'pipe.sh' => "seq 50 | head -n 5\n",
		'big.txt' => $LINE x 8192 });
	my $huge = $site->write('huge.bin', '');

	truncate $huge, $HUGE or die "$huge: $!";
	open my $sql, '|-', 'sqlite3', $site->dir . '/data.db'
	    or die "sqlite3: $!";
	print $sql "begin; create table t(n);\n",
	    map({ "insert into t values($_);\n" } 1 .. 1000), "commit;\n";
	close $sql or die "bench: sqlite3 made no data\n";
	return $site;
}

# CGI programs run in their own folder: it has the files of the site too.
sub make_cgi
{
	my ($self) = @_;
	my $cgi = $self->{cgi} = "$self->{dir}/cgi-bin";

	mkdir $cgi or die "$cgi: $!";
	copy(@$_) || die "copy @$_: $!" for
	    ["$self->{build}/bench/bare_cgi", "$cgi/bare.cgi"],
	    ["$self->{build}/statespace", "$cgi/statespace.cgi"],
	    ["$FindBin::Bin/tool.php", "$cgi/tool.php"];
	chmod 0755, glob "$cgi/*";
	Statespace::TestSite::write_file("$cgi/statespace.toml",
		"root = \"@{[$self->site]}\"\n");
	symlink "../site/$_", "$cgi/$_" for qw(big.txt data.db README.md);
	return;
}

# ---------------------------------------------------------------- processes --

sub spawn
{
	my ($self, @words) = @_;
	my $pid = fork() // die "fork: $!";

	if ($pid == 0) {
		setpgrp;
		open STDIN, '<', '/dev/null';
		open STDOUT, '>>', "$self->{dir}/log";
		open STDERR, '>&', \*STDOUT;
		chdir $self->{cgi};
		exec { $words[0] } @words or POSIX::_exit(127);
	}
	push @{ $self->{pids} }, $pid;
	return $pid;
}

sub has
{
	my ($self, $program, $what) = @_;

	return 1 if Statespace::Server::front($program);
	push @{ $self->{missing} }, "$what: $program is not installed";
	return 0;
}

sub mode { return "[sandbox]\nmode = \"$_[0]\"\n" }

# A pool of ours; text: more of its configuration.
sub pool
{
	my ($self, $name, $text, $workers) = @_;
	my $socket = $self->{sockets}{$name} = "$self->{dir}/$name.sock";
	my $file = "$self->{dir}/$name.toml";

	Statespace::TestSite::write_file($file, "[pool]\nmode = \"static\"\n"
	    . 'workers = ' . ($workers // $self->{workers})
	    . "\nsocket_mode = \"0666\"\n$text");
	$self->{roots}{$name} = $self->spawn("$self->{build}/statespace",
		'fcgi', '-c', $file, '--socket', $socket, $self->site);
	return;
}

sub bare
{
	my ($self, $name, $workers) = @_;
	my $socket = $self->{sockets}{$name} = "$self->{dir}/$name.sock";

	$self->{roots}{$name} = $self->spawn("$self->{build}/bench/bare_fcgi",
		$socket, $workers, $self->site . '/README.md');
	return;
}

sub start_pools
{
	my ($self) = @_;

	$self->pool('strict', mode('strict') . "[mcp]\nenabled = true\n");
	$self->pool($_, mode($_)) for qw(landlock off);
	$self->pool('tails', mode('strict'), 4);
	$self->pool("handover-$_", "[http]\nhandover = \"$_\"\n")
	    for qw(nginx lighttpd apache);
	for my $size (@{ $self->{sizes} }) {
		$self->pool("strict-$size", mode('strict'), $size);
		$self->bare("bare-$size", $size);
	}
	return;
}

sub start_others
{
	my ($self) = @_;
	my $dir = $self->{dir};

	$self->bare($_, $self->{workers}) for 'bare', 'bare-keep';
	if ($self->has('fcgiwrap', 'fcgiwrap')) {
		$self->spawn('fcgiwrap', '-c', $self->{workers},
			'-s', "unix:$dir/wrap.sock");
		$self->{sockets}{$_} = "$dir/wrap.sock" for qw(wrap cgi);
	}
	my ($fpm) = map { m{([^/]+)\z} } sort glob '/usr/sbin/php-fpm*';
	if ($self->has($fpm // 'php-fpm', 'php-fpm')) {
		Statespace::TestSite::write_file("$dir/fpm.conf",
			Bench::Fronts::php_fpm("$dir/php.sock",
				$self->{workers}));
		$self->{roots}{php} =
		    $self->spawn($fpm, '-F', '-y', "$dir/fpm.conf");
		$self->{sockets}{php} = "$dir/php.sock";
	}
	return;
}

# ------------------------------------------------------------------- fronts --

# A contender's place behind nginx: what differs from the shipped location.
sub place
{
	my ($self, $name) = @_;
	my %script = (wrap => 'bare.cgi', cgi => 'statespace.cgi',
		php => 'tool.php');
	my %with = (pass => "unix:$self->{sockets}{$name}");

	if ($script{$name}) {
		$with{params} = join '', map { "fastcgi_param $_;\n" }
		    "SCRIPT_FILENAME $self->{cgi}/$script{$name}",
		    'GATEWAY_INTERFACE CGI/1.1', 'PATH_INFO $uri';
	}
	@with{ 'keep', 'pass' } = (1, $name) if $name =~ /-keep\z/;
	$with{cached} = 1 if $name eq 'cached';
	$with{site} = $self->site if $name eq 'handover-nginx';
	my $text = Bench::Fronts::location(%with);
	# Under CGI the path is PATH_INFO alone, after the script's name.
	$text =~ s{include (\S+/statespace_params);}{
		Bench::Fronts::shipped('statespace_params')
		    =~ s/\$uri/""/r }e if $name eq 'cgi';
	return $text;
}

sub start_nginx
{
	my ($self) = @_;
	my $dir = "$self->{dir}/nginx";
	my $http = '';
	my @servers;

	mkdir $dir or die "$dir: $!";
	$self->{sockets}{cached} = $self->{sockets}{strict};
	for my $name (sort keys %{ $self->{sockets} }) {
		next if $name =~ /\Ahandover-(?!nginx)/;
		my $port = free_port();
		push @servers, [$port, $self->place($name)];
		$self->{urls}{$name} = "http://127.0.0.1:$port";
		$http .= "upstream $name {\nserver unix:"
		    . "$self->{sockets}{$name};\nkeepalive 1;\n}\n"
		    if $name =~ /-keep\z/;
	}
	my $port = free_port();
	push @servers, [$port, "root @{[$self->site]};\n"];
	$self->{urls}{file} = "http://127.0.0.1:$port";
	Statespace::TestSite::write_file("$dir/nginx.conf",
		Bench::Fronts::nginx($dir, $http, @servers));
	$self->spawn('nginx', '-c', "$dir/nginx.conf", '-e', 'stderr',
		'-p', $dir);
	return;
}

# A front server of its own; text: of its configuration, given a port.
sub front
{
	my ($self, $name, $text, @words) = @_;
	my $file = "$self->{dir}/$name.conf";
	my $port = free_port();

	Statespace::TestSite::write_file($file, $text->($port));
	$self->spawn(@words, $file);
	$self->{urls}{$name} = "http://127.0.0.1:$port";
	return;
}

sub start_fronts
{
	my ($self) = @_;
	my ($cgi, $site, $sockets) = (@$self{qw(cgi)}, $self->site,
		$self->{sockets});

	if ($self->has('lighttpd', 'lighttpd')) {
		$self->front('lighttpd', sub {
			Bench::Fronts::lighttpd_cgi($_[0], $cgi)
		}, qw(lighttpd -D -f));
		$self->front('handover-lighttpd', sub {
			Bench::Fronts::lighttpd_handover($_[0],
				$sockets->{'handover-lighttpd'}, $site)
		}, qw(lighttpd -D -f));
	}
	$self->has('apache2', 'Apache') or return;
	$self->apache('apache', sub {
		Bench::Fronts::apache_cgi(@_, $cgi)
	});
	if (-e '/usr/lib/apache2/modules/mod_xsendfile.so') {
		$self->apache('handover-apache', sub {
			Bench::Fronts::apache_handover(@_,
				$sockets->{'handover-apache'}, $site)
		});
	} else {
		push @{ $self->{missing} },
		    'handover by Apache: mod_xsendfile is not installed';
	}
	return;
}

# It wants a folder for its own sockets and files.
sub apache
{
	my ($self, $name, $text) = @_;
	my $dir = "$self->{dir}/$name";

	mkdir $dir or die "$dir: $!";
	$self->front($name, sub { $text->($dir, @_) },
		qw(apache2 -D FOREGROUND -f));
	return;
}

# ------------------------------------------------------------ begin and end --

# Until everybody accepts; who does not in time is missing.
sub await
{
	my ($self) = @_;
	my $until = time + 20;
	my %left = (%{ $self->{sockets} }, %{ $self->{urls} });

	while (%left && time < $until) {
		for (keys %left) {
			delete $left{$_} if accepts($left{$_});
		}
		sleep 0.02;
	}
	for (sort keys %left) {
		delete $self->{urls}{$_};
		push @{ $self->{missing} }, "$_: it does not listen:\n"
		    . $self->log;
	}
	return;
}

sub accepts
{
	my ($where) = @_;

	return IO::Socket::INET->new(PeerAddr => $1)
	    if $where =~ m{\Ahttp://(.*)\z};
	return IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $where);
}

# Microseconds of processor time that a pool's processes have used, and what
# they started; nothing where children are not waited for.
sub cpu_us
{
	my ($self, $name) = @_;
	my $root = $self->{roots}{$name} // return undef;
	my (%ticks, %children);

	for my $path (glob '/proc/[0-9]*') {
		open my $file, '<', "$path/stat" or next;
		my ($pid, $rest) = (<$file> // '') =~ /\A(\d+) .*\) (.*)/s or next;
		my @rest = split ' ', $rest;
		push @{ $children{ $rest[1] } }, $pid;
		$ticks{$pid} = $rest[11] + $rest[12] + $rest[13] + $rest[14];
	}
	my @todo = $root;
	my $sum = 0;
	while (defined(my $pid = shift @todo)) {
		$sum += $ticks{$pid} // 0;
		push @todo, @{ $children{$pid} // [] };
	}
	return $sum * 1e6 / POSIX::sysconf(POSIX::_SC_CLK_TCK());
}

sub log
{
	my ($self) = @_;

	open my $file, '<', "$self->{dir}/log" or return '';
	local $/;
	return scalar <$file> // '';
}

# Each leads a group of its own: fcgiwrap leaves its children behind.
sub stop
{
	my ($self) = @_;
	my @pids = splice @{ $self->{pids} };
	my $until = time + 10;

	kill 'TERM', @pids;
	for my $pid (@pids) {
		while (waitpid($pid, POSIX::WNOHANG()) == 0) {
			kill 'KILL', $pid if time > $until;
			sleep 0.01;
		}
		kill 'KILL', -$pid;
	}
	return map { "logged: $_" } $self->log =~
	    /^.*(?:Sanitizer|runtime error:|code=internal).*$/mg;
}

sub DESTROY
{
	my ($self) = @_;

	return unless @{ $self->{pids} } && $self->{owner} == $$;
	local ($?, $!, $@);
	$self->stop;
	return;
}

1;
