# SPDX-License-Identifier: MIT
# Cases as data: a file with one JSON object a line.
#
#	my @cases = Statespace::Vectors::cases('protocol.jsonl', qw(http resolve));
package Statespace::Vectors;

use strict;
use warnings;
use File::Basename qw(dirname);
use JSON::PP ();
use MIME::Base64 qw(decode_base64);

my $DATA = dirname(__FILE__) . '/../../data';

# The cases of these kinds (all without a kind), in the order of the file.
# Text comes as characters; bytes() makes what goes over the wire.
sub cases
{
	my ($name, @kinds) = @_;
	my %wanted = map { $_ => 1 } @kinds;
	my $json = JSON::PP->new->utf8;
	my @cases;

	open my $file, '<:raw', "$DATA/$name" or die "$DATA/$name: $!";
	while (my $line = <$file>) {
		next unless $line =~ /\S/;
		my $case = $json->decode($line);
		push @cases, $case if !@kinds || $wanted{ $case->{kind} };
	}
	return @cases;
}

sub bytes
{
	my ($text) = @_;

	utf8::encode($text);
	return $text;
}

# A request's body: body, body_b64 or body_parts (text, or text times n).
sub body
{
	my ($case) = @_;

	return bytes($case->{body}) if defined $case->{body};
	return decode_base64($case->{body_b64}) if defined $case->{body_b64};
	return undef unless $case->{body_parts};
	return join '', map { ref ? bytes($_->[0]) x $_->[1] : bytes($_) }
	    @{ $case->{body_parts} };
}

# A site's files as bytes: site, site_b64 (text or base64 by name).
sub site
{
	my ($case) = @_;
	my %files = map { $_ => bytes($case->{site}{$_}) }
	    keys %{ $case->{site} || {} };

	$files{$_} = decode_base64($case->{site_b64}{$_})
	    for keys %{ $case->{site_b64} || {} };
	return \%files;
}

1;
