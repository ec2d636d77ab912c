#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The root is a link to a release, as a deploy leaves it: a request sees one
# release from its first byte to its last, whatever the link does meanwhile, and
# none is lost when it changes.  Files replaced in place are whole, each alone.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use POSIX ();
use Statespace::FastCGI qw(request variables call talk connect_to receive);
use Statespace::Pool;
use Statespace::TestSite qw(slurp write_file);
use Test::More;
use Time::HiRes qw(sleep time);

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

# The text, the tool's file and the component's file have the same number.
sub release
{
	my ($at, $number) = @_;
	my $page = "---\ntools:\n  - [sh, -c, "
	    . "'cat word.txt; test -e hold.txt && sleep 2.0625; sleep 0.03; "
	    . "cat word.txt', ;]\n---\nrelease $number\n\n"
	    . "```component\nsh -c 'cat word.txt; sleep 0.03; cat word.txt'\n```\n";

	mkdir $at or die "mkdir $at: $!";
	chmod 0755, $at;
	write_file("$at/README.md", $page);
	write_file("$at/word.txt", "release $number\n");
	return $at;
}

# rename(2) puts the new link in the old one's place: there is always one.
sub point
{
	my ($link, $to) = @_;

	unlink "$link.new";
	symlink $to, "$link.new" or die "symlink: $!";
	rename "$link.new", $link or die "rename: $!";
	return;
}

my $site = Statespace::TestSite->new(files => { 'README.md' => "unused\n" });
my $base = $site->scratch . '/srv';
my $link = "$base/current";
mkdir $base;
chmod 0755, $base;
my $number = 1;
point($link, release("$base/$number", $number));

{
	package Linked;
	our @ISA = ('Statespace::TestSite');
	sub dir { return "$_[0]{base}/srv/current" }
}
bless $site, 'Linked';
my $pool = Statespace::Pool->start(site => $site,
	config => "[pool]\nmode = \"static\"\nworkers = 4\n");
my @tool = ('sh', '-c', 'cat word.txt; test -e hold.txt && sleep 2.0625; '
	. 'sleep 0.03; cat word.txt');

sub get { return talk($pool->socket, request(variables())) }
sub numbers { return join ' ', $_[0] =~ /release (\d+)/g }

my $first = talk($pool->socket, call('/', \@tool));
if ($first->{status} != 200) {
	$pool->stop;
	plan skip_all => 'tools cannot be confined here';
}
is(numbers($first->{body}), '1 1', 'a root that is a link is served');

# ------------------------------------------------------- changed under load --
my $stop = $site->scratch . '/stop';
my @clients;
for my $client (1 .. 4) {
	pipe my $read, my $write or die "pipe: $!";
	my $pid = fork() // die "fork: $!";
	if ($pid == 0) {
		until (-e $stop) {
			my $answer = eval { $client % 2 ? get()
				: talk($pool->socket, call('/', \@tool)) };
			my $all = $answer ? numbers($answer->{body}) : '';
			print $write $answer && $answer->{ended}
			    && $answer->{status} == 200 ? "$all\n" : "lost\n";
		}
		close $write;
		POSIX::_exit(0);
	}
	close $write;
	push @clients, [$pid, $read];
}
for (1 .. 6) {
	$number++;
	point($link, release("$base/$number", $number));
	ok($pool->until_true(sub { numbers(get()->{body}) eq join ' ',
		($number) x 3 }), "release $number is served without a signal");
}
write_file($stop, '');
my (@lines, %seen);
for (@clients) {
	my ($pid, $read) = @$_;
	push @lines, <$read>;
	waitpid $pid, 0;
}
chomp @lines;
is(scalar(grep { $_ eq 'lost' } @lines), 0,
	'none of ' . @lines . ' requests was lost meanwhile');
is(join(', ', grep { !/^(\d+)(?: \1)+$/ } @lines), '',
	'none saw two releases');
$seen{$_ =~ s/ .*//r}++ for @lines;
cmp_ok(scalar keys %seen, '>', 3, 'and they saw several');

# ------------------------------------------------- a request that is open --
write_file("$link/hold.txt", '');
my $open = connect_to($pool->socket);
syswrite $open, call('/', \@tool);
$pool->until_true(sub {
	Statespace::Server::process_lives('sleep 2.0625') });
my $old = $number++;
point($link, release("$base/$number", $number));
ok($pool->until_true(sub { numbers(get()->{body}) =~ /^$number / }),
	'while a tool runs the next request sees the new release');
is(numbers(receive($open)->{body}), "$old $old", 'the tool keeps its own');

# -------------------------------------------------- a release that is none --
point($link, "$base/none");
sleep 1.2;
is(numbers(get()->{body}), join(' ', ($number) x 3),
	'a link that leads nowhere changes nothing');
point($link, "$base/$number");

# -------------------------------------------------------- replaced in place --
# As rsync and git do: a new file is renamed over the old one.
my @whole = map { "# Page $_\n" . "line $_\n" x 3000 } 1, 2;
my $writer = fork() // die "fork: $!";
if ($writer == 0) {
	unlink $stop;
	for (my $n = 0; !-e $stop; $n++) {
		write_file("$base/$number/page.md.tmp", $whole[$n % 2]);
		chmod 0644, "$base/$number/page.md.tmp";
		rename "$base/$number/page.md.tmp", "$base/$number/page.md";
	}
	POSIX::_exit(0);
}
my %page = (0 => 0, 1 => 0, other => 0);
$pool->until_true(sub { -e "$base/$number/page.md" });
$pool->until_true(sub {
	my $body = talk($pool->socket,
		request(variables(SCRIPT_NAME => '/page')))->{body};
	$page{$body eq $whole[0] ? 0 : $body eq $whole[1] ? 1 : 'other'}++;
	return $page{0} > 30 && $page{1} > 30;
});
write_file($stop, '');
waitpid $writer, 0;
is($page{other}, 0, 'a file that is renamed into place is whole, always: '
	. "$page{0} of one, $page{1} of the other");
cmp_ok($page{$_}, '>', 30, "and both were seen ($_)") for 0, 1;

is($pool->reap, 0, 'it ends cleanly') if $pool->signal('TERM');
delete $pool->{pid};
done_testing;
