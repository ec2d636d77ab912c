#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# `statespace fsworker` against a peer in another language (frame_peer.py):
# the eleven behaviours of the protocol's source, every operation, every error.
use strict;
use warnings;
use Cwd ();
use FindBin;
use Test::More;

my $top = Cwd::realpath("$FindBin::Bin/../..");
my $program = ($ENV{BUILD} || "$top/build") . "/statespace";

plan skip_all => 'python3 is not installed'
    if system 'command -v python3 >/dev/null';
exec 'python3', "$top/tests/lib/frame_peer.py", $program
    or die "python3: $!";
