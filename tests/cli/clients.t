#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# The agents' clients of examples/client read a page and run its tools through
# a real front server.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Server qw(has);
use Test::More;

my $clients = abs_path(dirname(__FILE__) . '/../../examples/client');
Statespace::Server::front('nginx') or plan skip_all => 'nginx is not installed';
-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my $page = <<'END';
---
tools:
  - [printf, '%s|', {}, {}, ;]
  - [ls]
  - [grep, -q, {}, words.txt, ;]
---
# A page
END
my $server = Statespace::Server->start(files => {
	'README.md' => $page, 'words.txt' => "one\n" });
my $url = 'http://127.0.0.1:' . $server->port . '/';
my $err_file = $server->site->scratch . '/client-err';

sub run {
	my @argv = @_;
	my $pid = open(my $pipe, '-|') // die "fork: $!";
	if (!$pid) {
		open STDERR, '>', $err_file or die $!;
		exec { $argv[0] } @argv or exit 127;
	}
	local $/;
	my $out = <$pipe> // '';
	close $pipe;
	my $rc = $? >> 8;
	open my $in, '<', $err_file or die $!;
	return ($out, <$in> // '', $rc);
}

my %clients = (
	'ask.sh' => [qw(sh curl jq)],
	'ask.py' => [qw(python3)],
);
for my $client (sort keys %clients) {
SKIP: {
		for my $needs (@{ $clients{$client} }) {
			skip "$needs is not installed", 9
				unless has($needs);
		}
		my @ask = ("$clients/$client", $url);
		my ($out, $err, $rc) = run(@ask);
		is($out, $page, "$client reads the page as it stands");
		is($rc, 0, '... and ends well');

		($out, $err, $rc) = run(@ask, 'printf', '%s|', 'a "b" \\ $c', "\x{c3}\x{a9}\n");
		is($out, "a \"b\" \\ \$c|\x{c3}\x{a9}\n|",
			"$client hands words over as they are");
		is($rc, 0, '... and ends with the code of the tool');

		($out, $err, $rc) = run(@ask, qw(grep -q two words.txt));
		is($rc, 1, "$client passes the exit code on");

		($out, $err, $rc) = run(@ask, qw(ls no-such-file));
		like($err, qr/no-such-file/, "$client passes stderr on");

		($out, $err, $rc) = run(@ask, qw(rm words.txt));
		is($rc, 126, "$client ends with 126 when it is refused");
		is($out, '', '... prints nothing');
		like($err, qr/grep/, '... and says what the page allows');
	}
}

$server->stop_ok;
done_testing;
