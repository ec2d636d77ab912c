# SPDX-License-Identifier: MIT
# `statespace fcgi` on a Unix socket in a temporary folder, without any front
# server: the test itself is the front.
#
#	my $pool = Statespace::Pool->start(files => { ... }, config => '...',
#		options => ['--workers', 2]);
#	talk($pool->socket, request(...));
#	$pool->workers; $pool->signal('HUP'); $pool->stop_ok;
package Statespace::Pool;

use strict;
use warnings;
use parent -norequire, 'Statespace::Server';
use Socket qw(SOCK_STREAM);
use IO::Socket::UNIX;
use Statespace::Server;
use Statespace::TestSite;
use Time::HiRes qw(sleep time);

sub start
{
	my ($class, %with) = @_;
	my $site = $with{site} || Statespace::TestSite->new(
		files => $with{files} || { 'README.md' => "# Hello\n" });
	my $socket = $with{socket} || $site->scratch . '/pool.sock';
	my $file = $site->scratch . '/statespace.toml';
	my @words = $with{words} ? @{ $with{words} } : ('--socket', $socket);

	# The account that serves has to pass through, not more.
	Statespace::TestSite::write_file($file,
		$with{config} // "[pool]\nmode = \"static\"\n");
	my $self = bless {
		site => $site, dir => $site->dir, seen => {}, owner => $$,
		log_file => $site->scratch . '/log', socket => $socket,
		config_file => $file,
		# under: a program that starts another one, with its words
		command => [@{ $with{under} || [] },
			Statespace::Server::binary(), 'fcgi', '-c', $file, @words,
			@{ $with{options} || [] },
			# sites: the configuration has their roots
			$with{sites} ? () : $site->dir],
	}, $class;
	$self->spawn($with{environment} || {});
	$self->await unless $with{no_wait};
	return $self;
}

sub socket { $_[0]{socket} }
sub config_file { $_[0]{config_file} }

sub await
{
	my ($self) = @_;
	my $until = time + 40;

	while (time < $until) {
		return if -S $self->{socket} && IO::Socket::UNIX->new(
			Type => SOCK_STREAM, Peer => $self->{socket});
		if (waitpid($self->{pid}, 1) > 0) {
			delete $self->{pid};
			die 'the pool ended: ' . $self->log;
		}
		sleep 0.02;
	}
	die 'the pool does not listen: ' . $self->log;
}

# The pids of its workers now, as they call themselves.
sub workers
{
	my ($self) = @_;

	return $self->children('ss-worker');
}

sub children
{
	my ($self, $name) = @_;
	my $all = Statespace::Server::processes();
	my @pids = sort { $a <=> $b } grep {
		$all->{$_}{ppid} == $self->{pid} && name_of($_) eq $name
	} keys %$all;

	return @pids;
}

sub name_of
{
	my ($pid) = @_;

	open my $file, '<', "/proc/$pid/comm" or return '';
	chomp(my $name = <$file> // '');
	return $name;
}

# Waits until the test is true; false when it never was.  The bound is far
# beyond what a machine under load needs: only a failure takes as long.
sub until_true
{
	my ($self, $test, $seconds) = @_;
	my $until = time + ($seconds || 30);

	while (time < $until) {
		return 1 if $test->();
		sleep 0.02;
	}
	return 0;
}

sub signal
{
	my ($self, $name, $pid) = @_;

	return kill $name, $pid || $self->{pid};
}

1;
