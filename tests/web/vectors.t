#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The contract's cases of the kinds http, resolve and component, through
# `statespace serve` and a real nginx.  Cases with an equal site and
# configuration share a server.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP ();
use Test::More;
use Time::HiRes qw(sleep);
use Statespace::Server;
use Statespace::TestSite;
use Statespace::Vectors;

plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');

# Sanitizers and a shared machine are slow; a hang is far slower.
my $PATIENCE = $ENV{SANITIZE} ? 6 : 3;

# Parts of the contract that come later, with how to see that they
# are there: the cases that need them are skipped by name until then.
my %LATER = (
	components => {
		why => 'components are not built yet',
		there => sub {
			my ($server) = @_;
			return $server->request('GET', '/c')->{body}
			    !~ /^```component/m;
		} },
);

sub learn_what_is_there
{
	my $server = Statespace::Server->start(files => {
		'README.md' => "x\n",
		'c.md' => "```component\necho one\n```\n",
	});
	for (values %LATER) {
		delete $_->{why} if $_->{there}->($server);
	}
	$server->stop_ok;
	return;
}

sub needs
{
	my ($case) = @_;

	return 'components' if $case->{kind} eq 'component';
	return '';
}

# The site of a case: what stands in its files, by kind.
sub files
{
	my ($case) = @_;

	return { 'README.md' => Statespace::Vectors::bytes($case->{text}) }
	    if $case->{kind} eq 'component';
	return { map { $_ => "FILE:$_\n" } @{ $case->{files} } }
	    if $case->{kind} eq 'resolve';
	return Statespace::Vectors::site($case);
}

# A case's config as the text of a configuration file.
sub config
{
	my ($config) = @_;
	my %line = (
		timeout_s => ['limits', 'timeout'],
		max_output_bytes => ['limits', 'max_output_bytes'],
		component_timeout_s => ['components', 'timeout'],
	);
	my $text = '';

	for (sort keys %$config) {
		next if $_ eq 'env';
		my $to = $line{$_} or die "config: $_ is unknown here";
		my $value = $config->{$_};
		$value .= '.0' if $to->[1] eq 'timeout' && $value !~ /\./;
		$text .= "[$to->[0]]\n$to->[1] = $value\n";
	}
	my $env = $config->{env} or return $text;
	return "$text\[env]\n" . join '', map {
		my $value = JSON::PP->new->allow_nonref->utf8->encode($env->{$_});
		"$_ = $value\n"
	} sort keys %$env;
}

# Cases that can share a server, in the order in which they first appear.
sub groups
{
	my $json = JSON::PP->new->canonical->latin1;
	my (%group, @order);

	for my $case (@_) {
		my %with = (files => files($case),
			symlinks => $case->{symlinks} || {},
			config => config($case->{config} || {}));
		my $key = $json->encode(\%with);
		push @order, $group{$key} = { with => \%with, cases => [] }
		    unless $group{$key};
		push @{ $group{$key}{cases} }, $case;
	}
	return @order;
}

# ----------------------------------------------------------------- compare --

sub list { return ref $_[0] eq 'ARRAY' ? @{ $_[0] } : ($_[0] // ()) }

# Is every member of $wanted in $got with this value?
sub subset
{
	my ($got, $wanted) = @_;

	if (ref $wanted eq 'HASH') {
		return ref $got eq 'HASH' && !grep {
			!subset($got->{$_}, $wanted->{$_})
		} keys %$wanted;
	}
	return defined $got && !ref $got && $got eq $wanted;
}

# Everything that is wrong with an answer.
sub wrongs
{
	my ($case, $answer) = @_;
	my $json = eval { JSON::PP->new->utf8->decode($answer->{body}) };
	my $text = $answer->{body};
	utf8::decode($text);
	$text .= join '', map { $_ // '' } @$json{qw(stdout stderr)}
	    if ref $json eq 'HASH';
	my %headers = %{ $answer->{headers} };
	my @wrong;

	push @wrong, "no whole answer: $answer->{error}" if $answer->{error};
	my @status = list($case->{status_any} // $case->{status} // 200);
	push @wrong, "status $answer->{status}, expected @status"
	    unless grep { $_ == $answer->{status} } @status;
	push @wrong, 'the JSON differs'
	    if $case->{json} && !subset($json, $case->{json});
	for (list($case->{contains})) {
		push @wrong, "does not contain: $_" if index($text, $_) < 0;
	}
	for (list($case->{absent})) {
		push @wrong, "contains: $_"
		    if index($text . join("\n", %headers), $_) >= 0;
	}
	for (sort keys %{ $case->{resp_headers} || {} }) {
		my $value = $headers{ lc $_ } // '(none)';
		push @wrong, "header $_: $value"
		    if $value !~ /$case->{resp_headers}{$_}/i;
	}
	for (list($case->{no_headers})) {
		push @wrong, "has the header $_" if exists $headers{ lc $_ };
	}
	push @wrong, sprintf 'took %d ms', $answer->{ms}
	    if $case->{max_ms} && $answer->{ms} > $PATIENCE * $case->{max_ms};
	push @wrong, 'a body after HEAD'
	    if ($case->{method} // '') eq 'HEAD' && length $answer->{body};
	push @wrong, 'a 500 that says nothing'
	    if $text =~ /"internal"/ && !grep { $_ == 500 } @status;
	return @wrong;
}

sub wrongs_after
{
	my ($case, $server) = @_;
	my @wrong;

	push @wrong, "left running: $case->{no_process}"
	    if $case->{no_process} && Statespace::Server::process_lives(
		    $case->{no_process}, 20);
	if (my $after = $case->{after}) {
		sleep(($after->{wait_ms} || 0) / 1000);
		my $answer = $server->request($after->{method}, $after->{path});
		push @wrong, map { "afterwards: $_" } wrongs($after, $answer);
	}
	return @wrong;
}

sub ask
{
	my ($case, $server) = @_;

	return $server->request('GET', '/') if $case->{kind} eq 'component';
	return $server->request('GET', "/$case->{path}")
	    if $case->{kind} eq 'resolve';
	return $server->request($case->{method},
		Statespace::Vectors::bytes($case->{path}),
		headers => $case->{headers},
		body => Statespace::Vectors::body($case));
}

sub check
{
	my ($case, $server) = @_;
	my $answer = ask($case, $server);
	my %expected = %$case;

	if ($case->{kind} eq 'resolve') {
		$expected{contains} = "FILE:$case->{file}\n" if $case->{file};
		$expected{absent} = $Statespace::TestSite::SECRET;
	}
	my @wrong = (wrongs(\%expected, $answer), wrongs_after($case, $server));
	ok(!@wrong, "$case->{id}: $case->{why}") and return;
	diag("  $_") for @wrong;
	diag('  the answer: ' . substr $answer->{raw}, 0, 600);
	return;
}

sub check_group
{
	my ($with, @cases) = @_;
	my @late;

	for (@cases) {
		my $why = (($LATER{ needs($_) } || {}))->{why};
		push @late, [$_, $why] if $why;
	}
	for (@late) {
		my ($case, $why) = @$_;
		SKIP: { skip "$case->{id}: $why", 1; }
	}
	@cases = grep { my $case = $_; !grep { $_->[0] == $case } @late } @cases;
	return unless @cases;

	my @options = defined $with->{files}{'README.md'}
	    ? () : ('--allow-no-readme');
	my $server = Statespace::Server->start(%$with, options => \@options);
	my $before = $server->site->listing;
	check($_, $server) for @cases;
	is($server->site->listing, $before, "$cases[0]{id} and its group: "
		. 'nothing was written into the site');
	$server->stop_ok(name => "$cases[0]{id} and its group: ends cleanly");
	return;
}

learn_what_is_there();
check_group($_->{with}, @{ $_->{cases} })
    for groups(Statespace::Vectors::cases('protocol.jsonl',
	qw(http resolve component)));
done_testing;
