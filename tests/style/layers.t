#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The floors of core/ (DESIGN section 3), kept true: every room stands in this
# table and includes nothing from above its floor; a foreign library has one
# file; programs and examples live on the public header and their own folder.
use strict;
use warnings;
use Cwd ();
use FindBin;
use Test::More;

chdir Cwd::realpath("$FindBin::Bin/../..") or die "chdir: $!";

# From the ground up.  A floor may include its own rooms, statespace.h and
# what `sees` names: floors (by name) or single rooms.  `ordered`: only rooms
# to the left.  A part of a room, toml_scalar.c, stands where its room does.
my @FLOORS = (
	{ name => 'ground', ordered => 1, sees => [],
	  rooms => [qw(base error clock buf arena log fdio)] },
	# Bytes in, values out, no system calls: hence no clock, no fdio.
	{ name => 'reading', pure => 1, sees => [qw(base error buf arena log)],
	  rooms => [qw(node yaml toml value pattern spec ask wants frontmatter
		toolset lint proto path wildcard media fence addr env json escape
		markdown heading assets html digest toolcall rpc
		base64 ecma roster)] },
	{ name => 'hands', sees => [qw(ground env path spec wants)],
	  rooms => [qw(root dots scratch reap spawn watch landlock filter filters program loader view walls
		policy ruleset sandbox birth enter clean census cgroup launcher probe)] },
	{ name => 'workshop', sees => [qw(ground reading hands)],
	  rooms => [qw(tool)] },
	{ name => 'desk', sees => [qw(ground reading hands workshop)],
	  rooms => [qw(config rights resolver executor oneshot explain page site
		exchange guard content listing virtual render browser seal call local check doctor component catalog
		mcp fsworker handle)] },
);

# Foreign headers and the files that may include them.
my %FOREIGN = (
	'yaml.h' => [qw(core/yaml.c)],
	'pcre2.h' => [qw(core/pattern.c)],
	'cjson/cJSON.h' => [qw(core/proto.c core/proto_frame.c
		core/rpc.c)],
	'nettle/hmac.h' => [qw(core/digest.c)],
	'nettle/memops.h' => [qw(core/digest.c)],
	'nettle/sha2.h' => [qw(core/digest.c)],
	'seccomp.h' => [qw(core/filters/make.c)],
	(map { $_ => [qw(core/markdown.c)] } qw(cmark-gfm.h
		cmark-gfm-core-extensions.h cmark-gfm-extension_api.h)),
	'fcgiapp.h' => [qw(fcgi/gate.c)],
	'curl/curl.h' => [qw(fcgi/curl.c)],
);

# The C library and the kernel; a pure room keeps to the first line.
my $PURE = qr{^(?:assert|ctype|errno|float|fnmatch|inttypes|limits|locale|
	math|setjmp|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|
	stdlib|string|strings|
	wchar|arpa/inet|netinet/in)\.h$}x;
my $SYSTEM = qr{$PURE|^(?:dirent|elf|err|fcntl|ftw|getopt|grp|link|netdb|poll|
	pthread|pwd|sched|search|signal|spawn|syslog|termios|time|
	unistd|
	(?:asm|linux|net|netinet|sys)/[\w/]+)\.h$}x;

# Every #include of a file: [line, '"' or '<', name].
sub includes
{
	my ($path) = @_;
	my @found;

	open my $file, '<', $path or die "$path: $!";
	while (my $text = <$file>) {
		push @found, [$., $1, $2]
		    if $text =~ /^\s*#\s*include\s*(["<])([^">]+)/;
	}
	return @found;
}

my (%floor_of, %place);
for my $floor (@FLOORS) {
	$floor_of{$_} = $floor for @{ $floor->{rooms} };
	$place{ $floor->{rooms}[$_] } = $_ for 0 .. $#{ $floor->{rooms} };
}

# core/toml_scalar.h is a part of toml, core/filters/make.c of filters.
sub room
{
	my ($name) = $_[0] =~ m{^(?:core/)?([^/]+)(?:\.[ch]|/[^/]+)$} or return '';

	$name =~ s/_.*// unless $floor_of{$name};
	return $name;
}

# Why a file of room $from may not include a header of room $to; '' if it may.
sub refused
{
	my ($from, $to) = @_;
	my ($floor, $other) = @floor_of{ $from, $to };

	return "$to has no place in the table" unless $other;
	return '' if $from eq $to;
	return $floor->{ordered} && $place{$to} > $place{$from}
	    ? "$to stands to its right" : '' if $floor == $other;
	return '' if grep { $_ eq $to || $_ eq $other->{name} }
	    @{ $floor->{sees} };
	return "the $floor->{name} floor does not see $to ($other->{name})";
}

# A header in angle brackets, or a foreign one in quotes.
sub refused_system
{
	my ($path, $name, $pure) = @_;

	if (my $owners = $FOREIGN{$name}) {
		return (grep { $_ eq $path } @$owners) ? ''
		    : "$name belongs to @$owners";
	}
	return "$name is in no list" unless $name =~ $SYSTEM;
	return $pure && $name !~ $PURE ? "$name: this floor is pure" : '';
}

sub wrongs_in_core
{
	my ($path) = @_;
	my $room = room($path);
	my @wrong;

	return "$room has no place in the table" unless $floor_of{$room};
	for (includes($path)) {
		my ($line, $kind, $name) = @$_;
		next if $name eq 'statespace.h';
		my $why = $kind eq '"' ? refused($room, room($name))
		    : refused_system($path, $name, $floor_of{$room}{pure});
		push @wrong, "line $line: $why" if $why;
	}
	return @wrong;
}

# Programs and examples: the public header and their own folder.
sub wrongs_outside
{
	my ($path) = @_;
	my ($folder) = $path =~ m{(.*)/};
	my @wrong;

	for (includes($path)) {
		my ($line, $kind, $name) = @$_;
		next if $name eq 'statespace.h';
		my $why = $kind eq '<' ? refused_system($path, $name, 0)
		    : -e "$folder/$name" ? ''
		    : "$name is neither public nor of this folder";
		push @wrong, "line $line: $why" if $why;
	}
	return @wrong;
}

sub check
{
	my ($path, $sentence, @wrong) = @_;

	ok(!@wrong, "$path $sentence");
	diag("  $path: $_") for @wrong;
	return;
}

# The rules themselves: what they must refuse, and what not.
is(refused('base', 'base'), '', 'a room may include its own header');
isnt(refused('base', 'fdio'), '', 'the ground looks only to its left');
isnt(refused('node', 'clock'), '', 'reading has no clock');
isnt(refused('spawn', 'site'), '', 'hands do not reach up to the desk');
is(refused('handle', 'spawn'), '', 'the desk sees the hands');
isnt(refused_system('core/toml.c', 'pcre2.h', 0), '',
	'a foreign library has one file');
isnt(refused_system('core/toml.c', 'sqlite3.h', 0), '',
	'an unknown library has none');
isnt(refused_system('core/toml.c', 'unistd.h', 1), '',
	'reading makes no system calls');

my @core = grep { $_ ne 'core/statespace.h' }
    glob 'core/*.[ch] core/*/*.[ch]';
check($_, 'stays on its floor', wrongs_in_core($_)) for @core;
check($_, 'lives on the public header', wrongs_outside($_))
    for glob 'fcgi/*.[ch] examples/*/*.[ch]';
check('core/statespace.h', 'needs nothing of ours', map { "includes $_->[2]" }
	grep { $_->[1] eq '"' || $_->[2] !~ $SYSTEM }
	includes('core/statespace.h'));
done_testing;
