# SPDX-License-Identifier: MIT
# A site in a temporary folder: files, symbolic links, and a folder of secrets
# outside its root, which tests point links at.  All of it is readable by any
# account, since a server started as root serves as another one, and is gone
# with the object.
#
#	my $site = Statespace::TestSite->new(
#		files => { 'README.md' => "# Hello\n" },
#		symlinks => { 'out.md' => '$OUT/secret.md' });
#	$site->dir; $site->out; $site->scratch;
package Statespace::TestSite;

use strict;
use warnings;
use Cwd ();
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp ();

our @EXPORT_OK = qw(slurp write_file);

# What stands in every file outside the root, and must never be answered.
our $SECRET = 'TOPSECRET';

# What the servers of a test keep ([state] directory "auto") ends with it.
# `our`: a lexical of the file would be freed, and removed, when it was read.
our $kept = File::Temp->newdir('statespace-XXXXXXXX', TMPDIR => 1);
chmod 0755, "$kept" or die "chmod $kept: $!";
$ENV{STATE_DIRECTORY} = Cwd::realpath("$kept") . '/state';

sub new
{
	my ($class, %with) = @_;
	my $temp = File::Temp->newdir('statespace-XXXXXXXX', TMPDIR => 1);
	my $base = Cwd::realpath("$temp");
	my $self = bless { temp => $temp, base => $base }, $class;

	chmod 0755, $base or die "chmod $base: $!";
	mkdir $_ or die "mkdir $_: $!" for $self->dir, $self->out;
	my $page = "---\ntools: [[echo], [cat]]\n---\n$SECRET\n";
	write_file($self->out . "/$_", $page) for qw(secret.md README.md);
	$self->write($_, $with{files}{$_}) for sort keys %{ $with{files} || {} };
	$self->link($_, $with{symlinks}{$_})
	    for sort keys %{ $with{symlinks} || {} };
	return $self;
}

sub dir     { $_[0]{base} . '/site' }
sub out     { $_[0]{base} . '/outside' }
sub scratch { $_[0]{base} }    # for the test's own files, beside the site

# Writes one file of the site (text as it is, without any encoding).
sub write
{
	my ($self, $name, $bytes) = @_;
	my $path = $self->dir . "/$name";

	make_path(dirname($path));
	write_file($path, $bytes);
	return $path;
}

sub link
{
	my ($self, $name, $target) = @_;
	my ($path, $out) = ($self->dir . "/$name", $self->out);

	make_path(dirname($path));
	$target =~ s/\$OUT/$out/g;
	symlink $target, $path or die "symlink $path: $!";
	return $path;
}

# Every file below the site with its size and mtime: "nothing was written".
sub listing
{
	my ($self) = @_;
	my @found;
	require File::Find;
	File::Find::find({ no_chdir => 1, wanted => sub {
		my @stat = lstat $_ or return;
		push @found, join ' ', $_, @stat[2, 7, 9];
	} }, $self->dir);
	return join "\n", sort @found;
}

sub write_file
{
	my ($path, $bytes) = @_;

	utf8::encode($bytes) if utf8::is_utf8($bytes);
	open my $file, '>:raw', $path or die "$path: $!";
	print $file $bytes;
	close $file or die "$path: $!";
	return;
}

# A file's bytes; of one that is not there what the caller says, or it ends.
sub slurp
{
	my ($path, $otherwise) = @_;

	open my $file, '<:raw', $path
	    or return $otherwise // die "$path: $!";
	local $/;
	return scalar <$file> // '';
}

1;
