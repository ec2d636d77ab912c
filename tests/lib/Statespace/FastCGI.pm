# SPDX-License-Identifier: MIT
# The front server's side of FastCGI, honest or hostile: records are made one
# by one, so that a test can cut, repeat, reorder them and lie in them.
#
#	my $bytes = request({ REQUEST_METHOD => 'GET', SCRIPT_NAME => '/' });
#	my $answer = talk($socket_path, $bytes);
#	$answer->{status}, $answer->{headers}{etag}, $answer->{body}
#	$answer->{ended}	an END_REQUEST came; else the answer was cut
package Statespace::FastCGI;

use strict;
use warnings;
use Exporter qw(import);
use IO::Socket::UNIX;
use Socket qw(MSG_NOSIGNAL SHUT_WR SOCK_STREAM);
use Time::HiRes qw(time);

our @EXPORT_OK = qw(record begin pair params stdin variables request call talk
	connect_to receive);

# The types of records.
use constant { T_BEGIN => 1, T_END => 3, T_PARAMS => 4, T_STDIN => 5,
	T_STDOUT => 6, T_STDERR => 7 };

# One record; words: version, id, length (a lie), padding.
sub record
{
	my ($type, $content, %with) = @_;
	my $padding = $with{padding} // 0;

	return pack('CCnnCx', $with{version} // 1, $type, $with{id} // 1,
		$with{length} // length $content, $padding)
	    . $content . "\0" x $padding;
}

sub begin
{
	my (%with) = @_;

	return record(T_BEGIN, pack('nCx5', $with{role} // 1, $with{keep} // 0),
		%with);
}

sub pair_length
{
	my ($n) = @_;

	return $n < 128 ? pack 'C', $n : pack 'N', $n | 0x80000000;
}

sub pair
{
	my ($name, $value) = @_;

	return pair_length(length $name) . pair_length(length $value)
	    . $name . $value;
}

# The PARAMS records of pairs; an array keeps order and repetition.
sub params
{
	my ($pairs, %with) = @_;
	my @list = ref $pairs eq 'HASH'
	    ? map { ($_, $pairs->{$_}) } sort keys %$pairs : @$pairs;
	my $bytes = '';

	while (my ($name, $value) = splice @list, 0, 2) {
		$bytes .= pair($name, $value);
	}
	return stream(T_PARAMS, $bytes, %with);
}

sub stdin
{
	my ($bytes, %with) = @_;

	return stream(T_STDIN, $bytes // '', %with);
}

# A stream in records of at most $with{piece} bytes, and its end.
sub stream
{
	my ($type, $bytes, %with) = @_;
	my $piece = $with{piece} || 65528;
	my $out = '';

	while (length $bytes) {
		$out .= record($type, substr($bytes, 0, $piece, ''), %with);
	}
	return $out . record($type, '', %with);
}

# What an honest front passes for a request of its own.
sub variables
{
	my (%more) = @_;

	return { REQUEST_METHOD => 'GET', SCRIPT_NAME => '/',
		REQUEST_URI => '/', HTTP_HOST => 'localhost',
		REMOTE_ADDR => '127.0.0.1', CONTENT_LENGTH => '', %more };
}

sub request
{
	my ($variables, $body, %with) = @_;

	return begin(%with) . params($variables, %with) . stdin($body, %with);
}

# A POST of a command as a whole request.
sub call
{
	my ($page, $command, %more) = @_;
	require JSON::PP;
	my $body = JSON::PP::encode_json({ command => $command });

	return request(variables(REQUEST_METHOD => 'POST',
		SCRIPT_NAME => $page, CONTENT_TYPE => 'application/json',
		CONTENT_LENGTH => length $body, %more), $body);
}

sub connect_to
{
	my ($path) = @_;

	return IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $path)
	    || die "connect to $path: $!";
}

# Sends everything, reads the answer to its end or for $with{seconds}.
sub talk
{
	my ($path, $bytes, %with) = @_;
	my $socket = ref $path ? $path : connect_to($path);

	while (length $bytes) {
		my $n = send $socket, $bytes, MSG_NOSIGNAL;
		last unless defined $n;
		substr($bytes, 0, $n, '');
	}
	shutdown $socket, SHUT_WR if $with{shut};
	return receive($socket, %with);
}

sub receive
{
	my ($socket, %with) = @_;
	my $began = time;
	my $until = $began + ($with{seconds} || 20);
	my ($in, $eof) = ('', 0);

	while (!$eof && time < $until) {
		my $r = '';
		vec($r, fileno $socket, 1) = 1;
		select($r, undef, undef, $until - time) or last;
		my $n = sysread $socket, $in, 65536, length $in;
		$eof = 1 unless $n;
	}
	return { parse($in), eof => $eof, took => time - $began };
}

# Records to an answer: status, headers, body, error stream.
sub parse
{
	my ($in) = @_;
	my %stream = (T_STDOUT, '', T_STDERR, '');
	my %answer = (status => 0, headers => {}, body => '', ended => 0);

	while (length $in >= 8) {
		my (undef, $type, undef, $length, $padding) =
		    unpack 'CCnnC', $in;
		last if length $in < 8 + $length + $padding;
		my $content = substr $in, 8, $length;
		substr($in, 0, 8 + $length + $padding, '');
		$stream{$type} .= $content if exists $stream{$type};
		$answer{ended} = 1 if $type == T_END;
	}
	$answer{rest} = $in;
	$answer{stderr} = $stream{ (T_STDERR) };
	my ($head, $body) = split /\r\n\r\n/, $stream{ (T_STDOUT) }, 2;
	for (split /\r\n/, $head // '') {
		my ($name, $value) = /\A([^:]+): (.*)\z/ or next;
		$answer{headers}{ lc $name } = $value;
	}
	$answer{status} = ($answer{headers}{status} // 0) =~ /(\d+)/ ? $1 : 0;
	$answer{body} = $body // '';
	return %answer;
}

1;
