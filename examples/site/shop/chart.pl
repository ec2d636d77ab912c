#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The takings of each month of ../data/orders.csv as a bar chart in PNG.
#
#	chart.pl YEAR
use strict;
use warnings;

my ($year) = @ARGV;
my ($bar, $gap, $height) = (24, 8, 160);
my $width = 12 * ($bar + $gap) + $gap;

# Each chunk has its CRC-32, and the image its Adler-32 (PNG, sections 5 and 10).
my @table = map {
	my $c = $_;
	$c = $c & 1 ? 0xedb88320 ^ $c >> 1 : $c >> 1 for 1 .. 8;
	$c
} 0 .. 255;

sub crc
{
	my $crc = 0xffffffff;

	$crc = $table[($crc ^ $_) & 255] ^ $crc >> 8 for unpack 'C*', $_[0];
	return $crc ^ 0xffffffff;
}

sub chunk
{
	my ($name, $data) = @_;

	return pack('N', length $data) . $name . $data
	    . pack('N', crc("$name$data"));
}

# zlib's format with blocks that are stored and not compressed (RFC 1951, 3.2.4).
sub stored
{
	my ($data) = @_;
	my ($s, $t, $out) = (1, 0, "\x78\x01");

	for (unpack 'C*', $data) {
		$s = ($s + $_) % 65521;
		$t = ($t + $s) % 65521;
	}
	while (length $data) {
		my $block = substr $data, 0, 65535, '';
		$out .= pack 'Cvv', !length $data, length $block,
		    ~length($block) & 65535;
		$out .= $block;
	}
	return $out . pack 'N', $t << 16 | $s;
}

my @takings = (0) x 12;
open my $orders, '<', '../data/orders.csv' or die "orders.csv: $!\n";
while (<$orders>) {
	chomp;
	my ($id, $day, $customer, $state, $total) = split /,/;
	next if $state ne 'paid' || $day !~ /^\Q$year\E-(\d\d)/;
	$takings[$1 - 1] += $total;
}
my ($most) = sort { $b <=> $a } @takings;
die "no order was paid in $year\n" if !$most;

# One bit for each pixel: 0 is the ground, 1 a bar.
my $pixels = '';
for my $y (1 .. $height) {
	my $row = '0' x $width;
	for my $month (0 .. 11) {
		my $top = $height - $height * $takings[$month] / $most;
		substr($row, $gap + $month * ($bar + $gap), $bar)
		    = '1' x $bar if $y > $top;
	}
	$pixels .= "\0" . pack 'B*', $row;
}
binmode STDOUT;
print "\x89PNG\r\n\x1a\n",
    chunk('IHDR', pack 'NNCCCCC', $width, $height, 1, 3, 0, 0, 0),
    chunk('PLTE', pack 'C*', 0xf4, 0xf1, 0xea, 0x2b, 0x5d, 0x8a),
    chunk('IDAT', stored($pixels)), chunk('IEND', '');
