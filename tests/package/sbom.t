#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# The list of parts that `make sbom` writes: of this very program, with every
# package that the linker took a file from, each with version, licence and the
# checksum of its source.
use strict;
use warnings;
use Cwd qw(abs_path realpath);
use Digest::SHA ();
use File::Basename qw(dirname);
use FindBin;
use JSON::PP ();
use lib "$FindBin::Bin/../lib";
use Statespace::TestSite qw(slurp);
use Test::More;

my $top = abs_path(dirname(__FILE__) . '/../..');
my $build = abs_path($ENV{BUILD} // "$top/build");
my ($file) = glob "$build/statespace-*.spdx.json";
defined $file && -e "$build/static/linked"
    or plan skip_all => 'make sbom was not run';

my $list = JSON::PP->new->utf8->decode(slurp($file));
my %part = map { $_->{name} => $_ } @{ $list->{packages} };
my ($version) = slurp("$top/core/statespace.h") =~ /SS_VERSION "([^"]+)"/;
is($list->{spdxVersion}, 'SPDX-2.3', 'its format');
is($part{statespace}{versionInfo}, $version, 'the version of this tree');
is($part{statespace}{checksums}[0]{checksumValue},
	Digest::SHA->new(256)->addfile("$build/static/statespace")->hexdigest,
	'the checksum of the program');
is(join(' ', sort map { $_->{relatedSpdxElement} }
	grep { $_->{relationshipType} eq 'STATIC_LINK' }
	@{ $list->{relationships} }),
	join(' ', sort map { $_->{SPDXID} } grep { $_->{name} ne 'statespace' }
	@{ $list->{packages} }), 'each part is linked into it');

# What ld read, by another way than the script's: the names of the archives.
my %of = (c => 'glibc', cjson => 'cjson', 'cmark-gfm' => 'cmark-gfm',
	'cmark-gfm-extensions' => 'cmark-gfm', crypto => 'openssl',
	curl => 'curl', fcgi => 'libfcgi', gcc => qr/^gcc-\d+$/,
	gcc_eh => qr/^gcc-\d+$/, nettle => 'nettle', 'pcre2-8' => 'pcre2',
	ssl => 'openssl', yaml => 'libyaml');
my %archives = map { $_ => 1 }
    slurp("$build/static/linked") =~ m{/lib([^/\s()]+)\.a\b}g;
cmp_ok(scalar keys %archives, '>=', 12, 'the linker took archives');
for my $name (sort keys %archives) {
	my $package = $of{$name} // $name;
	my ($found) = grep { $_ =~ /^$package$/ } keys %part;

	ok(defined $found, "lib$name.a: its package is a part") or next;
	my $one = $part{$found};
	like($one->{versionInfo}, qr/\d/, '... with its version');
	like($one->{licenseDeclared}, qr/^[A-Z][\w.-]+|^curl$/,
		'... and its licence');
	SKIP: {
		skip $one->{comment}, 1 if defined $one->{comment};
		like($one->{checksums}[0]{checksumValue} // '',
			qr/^[0-9a-f]{64}$/, '... and the checksum of its source');
	}
}
done_testing;
