#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The order of the folders of core/, computed from every #include: a file
# includes from its own folder and from those before it; no more than $CIRCLE_MOST
# files of a folder include one another in a circle; a foreign library is
# known to one file; programs and examples include the public header and
# their own folder.
use strict;
use warnings;
use Cwd ();
use FindBin;
use Test::More;

chdir Cwd::realpath("$FindBin::Bin/../..") or die "chdir: $!";

# Lowest first; core/README.md says what each is for.
my @FOLDERS = qw(base wire page files state keyed jobs workspace receipts run sandbox tools site mcp http commands);
# Text in, values out: no system calls.
my %PURE = map { $_ => 1 } qw(wire page);
# What programs, tests and hosts include.
my $PUBLIC = 'statespace.h';
# What the helper programs of the built-in tools include besides.
my %HELPER = map { $_ => 'tools/helper.h' } qw(fcgi/tool.c fcgi/pipe.c
	fcgi/transfer.c fcgi/one_program.c);
$HELPER{$_} = 'workspace/helper.h' for qw(fcgi/agentfs.c fcgi/agentfs_load.c
	fcgi/agentfs_save.c fcgi/agentfs.h);
# Made by the build.
my %MADE = ('core/sandbox/filter.c' => 'filters.h');
# How many files of one folder may include one another in a circle.
my $CIRCLE_MOST = 2;

# Foreign headers and the files that may include them.
my %FOREIGN = (
	'yaml.h' => [qw(core/page/yaml.c)],
	'cjson/cJSON.h' => [qw(core/wire/json_tree.c)],
	'pcre2.h' => [qw(core/page/pattern.c)],
	'nettle/hmac.h' => [qw(core/base/digest.c)],
	'nettle/memops.h' => [qw(core/base/digest.c)],
	'nettle/sha1.h' => [qw(core/base/digest.c)],
	'nettle/sha2.h' => [qw(core/base/digest.c)],
	'seccomp.h' => [qw(core/sandbox/filters/make.c)],
	(map { $_ => [qw(core/page/markdown.c)] } qw(cmark-gfm.h
		cmark-gfm-core-extensions.h cmark-gfm-extension_api.h)),
	'sqlite3.h' => [qw(fcgi/agentfs_db.c)],
	'fastcgi.h' => [qw(fcgi/connection.c)],
	'fcgiapp.h' => [qw(fcgi/connection.c)],
	(map { ("openssl/$_.h" => [qw(fcgi/receipts_sign.c)]) }
		qw(evp hmac pem)),
	'curl/curl.h' => [qw(fcgi/transfer.c)],
);

# The C library and the kernel; a pure folder keeps to the first line.
my $PURE_HEADER = qr{^(?:assert|ctype|errno|float|fnmatch|inttypes|limits|
	locale|math|setjmp|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|
	stdio|stdlib|string|strings|wchar|arpa/inet|netinet/in)\.h$}x;
my $SYSTEM_HEADER = qr{$PURE_HEADER|^(?:dirent|elf|err|fcntl|ftw|getopt|grp|
	ifaddrs|link|netdb|nss|poll|pthread|pwd|sched|search|signal|spawn|syslog|
	termios|time|unistd|(?:asm|linux|net|netinet|sys)/[\w/]+)\.h$}x;

my %place = map { $FOLDERS[$_] => $_ } 0 .. $#FOLDERS;

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

# "core/page/yaml.c" and "page/yaml.h" lie in page.
sub folder
{
	return $_[0] =~ m{^(?:core/)?([^/]+)/} ? $1 : '';
}

# Why a file in folder $from may not include $name; '' if it may.
sub refused
{
	my ($from, $name) = @_;
	my $to = folder($name);

	return "\"$name\" names no folder of core/" unless exists $place{$to};
	return "$to comes after $from" if $place{$to} > $place{$from};
	return -e "core/$name" ? '' : "there is no core/$name";
}

# A header in angle brackets, or a foreign one in quotes.
sub refused_system
{
	my ($path, $name, $pure) = @_;

	if (my $owners = $FOREIGN{$name}) {
		return (grep { $_ eq $path } @$owners) ? ''
		    : "$name belongs to @$owners";
	}
	return "$name is in no list" unless $name =~ $SYSTEM_HEADER;
	return $pure && $name !~ $PURE_HEADER
	    ? "$name: this folder makes no system calls" : '';
}

sub wrongs_in_core
{
	my ($path) = @_;
	my $folder = folder($path);
	my @wrong;

	return "$folder has no place in the order" unless exists $place{$folder};
	for (includes($path)) {
		my ($line, $kind, $name) = @$_;
		next if $name eq $PUBLIC || $name eq ($MADE{$path} // '');
		my $why = $kind eq '"' ? refused($folder, $name)
		    : refused_system($path, $name, $PURE{$folder});
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
		next if $name eq $PUBLIC || $name eq ($HELPER{$path} // '');
		my $why = $kind eq '<' ? refused_system($path, $name, 0)
		    : -e "$folder/$name" ? ''
		    : "$name is neither public nor of this folder";
		push @wrong, "line $line: $why" if $why;
	}
	return @wrong;
}

# Modules (x.c and x.h are one) and what they include of their own folder.
sub graph
{
	my %edges;

	for my $path (@_) {
		my $from = $path =~ s{^core/|\.[ch]$}{}gr;
		$edges{$from} //= {};
		for (includes($path)) {
			my ($line, $kind, $name) = @$_;
			my $to = $name =~ s{\.h$}{}r;
			$edges{$from}{$to} = 1 if $kind eq '"' &&
			    folder($to) eq folder($from) && $to ne $from;
		}
	}
	return \%edges;
}

# What can be reached from a module.
sub reached
{
	my ($edges, $from) = @_;
	my (%seen, @todo);

	@todo = keys %{ $edges->{$from} };
	while (defined(my $at = pop @todo)) {
		push @todo, keys %{ $edges->{$at} // {} } unless $seen{$at}++;
	}
	return \%seen;
}

# The circles: sets of modules each of which reaches all others.
sub circles
{
	my ($edges) = @_;
	my %reach = map { $_ => reached($edges, $_) } keys %$edges;
	my (%done, @found);

	for my $from (sort keys %$edges) {
		next if $done{$from};
		my @same = grep { $_ eq $from ||
			($reach{$from}{$_} && ($reach{$_} // {})->{$from}) }
		    sort keys %$edges;
		$done{$_} = 1 for @same;
		push @found, [@same] if @same > 1;
	}
	return @found;
}

sub check
{
	my ($path, $sentence, @wrong) = @_;

	ok(!@wrong, "$path $sentence");
	diag("  $path: $_") for @wrong;
	return;
}

# The rules themselves: what they must refuse, and what not.
is(refused('base', 'base/buf.h'), '', 'a file includes from its own folder');
is(refused('http', 'run/spawn.h'), '', 'a file includes from a lower folder');
isnt(refused('run', 'site/site.h'), '', 'no file includes from a higher one');
isnt(refused('base', 'buf.h'), '', 'an include names its folder');
isnt(refused('base', 'base/none.h'), '', 'what is included exists');
isnt(refused_system('core/page/toml.c', 'pcre2.h', 0), '',
	'a foreign library has one file');
isnt(refused_system('core/page/toml.c', 'sqlite3.h', 0), '',
	'an unknown library has none');
isnt(refused_system('core/page/toml.c', 'unistd.h', 1), '',
	'the pages make no system calls');
is_deeply([circles({ a => { b => 1 }, b => { c => 1 }, c => { a => 1 },
	d => { a => 1 } })], [[qw(a b c)]], 'a circle is found');

my @core = grep { $_ ne "core/$PUBLIC" }
    glob 'core/*.[ch] core/*/*.[ch] core/*/*/*.[ch]';
check($_, 'includes from its folder and those before', wrongs_in_core($_))
    for @core;
my @large = grep { @$_ > $CIRCLE_MOST } circles(graph(@core));
ok(!@large, "no circle within a folder has more than $CIRCLE_MOST files");
diag("  circle: @$_") for @large;
check($_, 'includes the public header and its own folder', wrongs_outside($_))
    for glob 'fcgi/*.[ch] examples/*/*.[ch]';
check("core/$PUBLIC", 'includes nothing of ours', map { "includes $_->[2]" }
	grep { $_->[1] eq '"' || $_->[2] !~ $SYSTEM_HEADER }
	includes("core/$PUBLIC"));
done_testing;
