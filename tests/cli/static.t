#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# statespace-exec as a static program: what needs a name service is done by the
# dynamic program beside it, with the same words.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Temp qw(tempdir);
use Test::More;

my $build = abs_path($ENV{BUILD} // dirname(__FILE__) . '/../../build');
-x "$build/statespace-exec" or plan skip_all => 'statespace-exec is not built';
-l "$build/statespace-exec" and plan skip_all => 'it is no static program here';

my $tmp = tempdir(CLEANUP => 1);
chmod 0755, $tmp;
mkdir $_ for "$tmp/site", "$tmp/bin", "$tmp/alone";

sub put
{
	my ($file, $text) = @_;

	open my $to, '>', "$tmp/$file" or die "$file: $!";
	print $to $text;
	close $to;
	return "$tmp/$file";
}

# What a command says, both streams, and its status.
sub said
{
	my @words = @_;
	my $pid = open my $from, '-|' // die "fork: $!";

	if ($pid == 0) {
		open STDERR, '>&', \*STDOUT;
		exec { $words[0] } @words or exit 99;
	}
	my $text = do { local $/; <$from> } // '';
	close $from;
	return "$text$?";
}

put('site/README.md', "---\ntools: [[echo, {}]]\n---\n");
my @call = ('README.md', '--', 'echo', 'here');
my @site = ('-C', "$tmp/site");
open my $elf, '<:raw', "$build/statespace-exec" or die $!;
read $elf, my $head, 4096;
unlike($head, qr/ld-linux|ld-musl/, 'it names no loader');
is(said("$build/statespace-exec", @site, @call), "here\n0", 'it runs a tool');

# What it is beside is a script that tells its words.
copy("$build/statespace-exec", "$tmp/bin/statespace-exec");
copy("$build/statespace-exec", "$tmp/alone/statespace-exec");
put('bin/statespace', "#!/bin/sh\necho \"other: \$*\"\n");
chmod 0755, "$tmp/bin/statespace", map { "$tmp/$_/statespace-exec" }
    qw(bin alone);
for my $key (qw(user group)) {
	my $conf = put("$key.toml", "[pool]\n$key = \"no-such-name\"\n"
		. ($key eq 'group' ? "user = \"nobody\"\n" : ''));
	my @words = ('-c', $conf, @site, @call);
	SKIP: {
		skip 'only root has a group to choose', 2
		    if $key eq 'group' && $> != 0;
		is(said("$tmp/bin/statespace-exec", @words),
			"other: @words\n0",
			"pool.$key in no file: the other program goes on");
		like(said("$tmp/alone/statespace-exec", @words),
			qr/there is no (account|group) (named )?no-such-name/,
			'... and without one it is refused');
	}
}
is(said("$tmp/bin/statespace-exec", '-c',
	put('known.toml', "[pool]\nuser = \"" . getpwuid($> || 65534) . "\"\n"),
	@site, @call), "here\n0", 'a user of passwd(5) is found here');
# It has cJSON itself where that is there as an archive.
open my $flags, '<', "$build/flags" or die "$build/flags: $!";
my $own_json = !grep { /-lcjson\b/ } <$flags>;
if (!$own_json) {
	for my $option ('--json', '--js', '-') {
		my @words = (@site, $option, @call);

		is(said("$tmp/bin/statespace-exec", @words),
			"other: @words\n0",
			"$option is for the other program, which has cJSON");
		like(said("$tmp/alone/statespace-exec", @words),
			qr/needs the program statespace beside/,
			'... or refused');
	}
	local $ENV{GATEWAY_INTERFACE} = 'CGI/1.1';

	is(said("$tmp/bin/statespace-exec"), "other: \n0",
		'CGI is for the other program');
	like(said("$tmp/alone/statespace-exec"),
		qr/needs the program statespace beside/, '... or refused');
}
if ($own_json) {
	my $alone = "$tmp/alone/statespace-exec";

	like(said($alone, @site, '--json', @call), qr/^\{"stdout": "here\\n"/,
		'--json is done here');
	put('alone/statespace.toml', "root = \"$tmp/site\"\n");
	my $body = put('body', '{"command": ["echo", "here"]}');
	like(said('/bin/sh', '-c', "exec '$alone' @site README.md - <'$body'"),
		qr/here/, '... and a request on standard input');
	local @ENV{qw(GATEWAY_INTERFACE REQUEST_METHOD SCRIPT_NAME PATH_INFO
		HTTP_HOST CONTENT_TYPE CONTENT_LENGTH)} = ('CGI/1.1', 'POST',
		'/x', '/', 'localhost', 'application/json', -s $body);
	like(said('/bin/sh', '-c', "exec '$alone' <'$body'"),
		qr/^Status: 200 .*"stdout": "here\\n"/ms, '... and plain CGI');
}
is(said("$tmp/bin/statespace-exec", @site, 'README.md', '--', 'echo',
	'--json'), "--json\n0", 'but not as a word of the command');
done_testing;
