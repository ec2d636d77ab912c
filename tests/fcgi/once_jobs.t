#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Jobs of calls with a key (statespace-protocol(7), EXACTLY ONCE): one job for
# each key, whose address every request with the key gets.  The tools count
# themselves in files.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Fcntl qw(F_SETLK F_WRLCK F_UNLCK O_RDWR SEEK_SET);
use JSON::PP qw(decode_json);
use POSIX ();
use Statespace::FastCGI qw(request variables call talk);
use Statespace::Pool;
use Statespace::TestSite qw(slurp write_file);
use Test::More;
use Time::HiRes qw(sleep);

-x Statespace::Server::binary() or plan skip_all => 'the program is not built';

my $RUN = 'echo run >>"$1"; echo told; while test -e out/wait; do sleep 0.05; done';
my $page = <<"END";
---
job: true
tools:
  - {command: [sh, -c, '$RUN', must, {}], write: [out], job: required, once: required}
  - {command: [sh, -c, '$RUN', long, {}], write: [out], job: {after: 20}}
  - {command: [sh, -c, '$RUN', sh, {}], write: [out]}
---
END
my $site = Statespace::TestSite->new(files => { 'README.md' => $page });
mkdir $site->dir . '/out' or die "mkdir: $!";
chmod 01777, $site->dir . '/out';
my $state = $site->scratch . '/state';
my $config = "[state]\ndirectory = \"$state\"\n[grant]\nwrite = [\"out\"]\n"
    . "[pool]\nmode = \"static\"\nworkers = 4\n";
my $pool = Statespace::Pool->start(site => $site, config => $config);
my $socket = $pool->socket;

sub post
{
	my ($name, $file, $key, %more) = @_;
	my $answer = talk($socket, call('/', ['sh', '-c', $RUN, $name,
		"out/$file"], HTTP_IDEMPOTENCY_KEY => $key, %more));

	$answer->{json} = eval { decode_json($answer->{body}) } || {};
	$answer->{replayed} = $answer->{headers}{'idempotency-replayed'} // 'no';
	return $answer;
}

sub state_of
{
	my ($href) = @_;
	my $answer = talk($socket, request(variables(REQUEST_METHOD => 'GET',
		SCRIPT_NAME => $href, REQUEST_URI => "$href?wait=2")));

	return (eval { decode_json($answer->{body}) } || {})->{state} // '';
}

sub runs
{
	my $file = $site->dir . "/out/$_[0]";

	return -e $file ? slurp($file) =~ tr/\n// : 0;
}

sub hold { write_file($site->dir . '/out/wait', '') }
sub let_go { unlink $site->dir . '/out/wait' }

sub ended
{
	my ($href) = @_;

	return $pool->until_true(sub { state_of($href) eq 'completed' });
}

my $probe = post('sh', 'probe', 'probe');
if ($probe->{status} == 503 && $probe->{body} =~ /sandbox_unavailable/) {
	$pool->stop_ok;
	done_testing;
	exit;
}

# --------------------------------------------------------- while it runs --
hold();
my $first = post('must', 'must', 'k1');
is($first->{status}, 202, 'a call with a key becomes a job');
is($first->{replayed}, 'no', '... which is new');
my $href = $first->{json}{href} // '/';
ok($pool->until_true(sub { runs('must') }), '... and runs');
my $again = post('must', 'must', 'k1');
is($again->{status}, 202, 'the same while it runs');
is($again->{json}{href}, $href, '... has the same job');
is($again->{headers}{location}, $href, '... and its address');
is($again->{replayed}, 'true', '... and says so');
is(post('must', 'other', 'k1')->{status}, 422, 'another body is refused');
let_go();
ok(ended($href), 'the job ends');
$again = post('must', 'must', 'k1');
is("$again->{status} $again->{json}{href} $again->{replayed}",
	"202 $href true", 'the same after its end');
is(runs('must'), 1, 'it ran once');
is(runs('other'), 0, 'the other one did not');

# ------------------------------------------------------------ asked, auto --
$first = post('sh', 'asked', 'k2', HTTP_PREFER => 'respond-async');
is($first->{status}, 202, 'who asks gets a job');
ok(ended($first->{json}{href}), '... which ends');
for ('respond-async', 'respond-sync') {
	$again = post('sh', 'asked', 'k2', HTTP_PREFER => $_);
	is("$again->{status} " . ($again->{json}{href} // ''),
		"202 $first->{json}{href}", "... again with $_");
}
$first = post('long', 'long', 'k3');
is($first->{status}, 200, 'a short run of `after` is told at once');
$again = post('long', 'long', 'k3');
is("$again->{status} $again->{json}{stdout}$again->{replayed}",
	"200 told\ntrue", '... and again');
is(runs($_), 1, "$_: it ran once") for 'asked', 'long';

# --------------------------------------------------------- several at once --
for my $round (1 .. 5) {
	my @from;

	for (1 .. 4) {
		pipe my $in, my $out or die "pipe: $!";
		my $child = fork() // die "fork: $!";
		if ($child == 0) {
			my $answer = post('must', "once$round", "r$round");
			print {$out} "$answer->{status} "
			    . ($answer->{json}{href} // $answer->{body});
			close $out;
			POSIX::_exit(0);
		}
		close $out;
		push @from, [$child, $in];
	}
	my %seen;
	for (@from) {
		my ($child, $in) = @$_;
		$seen{join '', <$in>}++;
		waitpid $child, 0;
	}
	is(keys %seen, 1, "four at once, $round: one job")
	    or diag join "\n", keys %seen;
	my ($told) = keys %seen;
	like($told, qr/^202 /, '... that all are told of');
	ok(ended($told =~ s/^202 //r), '... it ends');
	is(runs("once$round"), 1, '... and ran once');
}

# Some ask for a job, others do not: the first one decides.
for my $round (1 .. 5) {
	my @from;

	for my $who (1 .. 4) {
		pipe my $in, my $out or die "pipe: $!";
		my $child = fork() // die "fork: $!";
		if ($child == 0) {
			my $answer = post('sh', "mixed$round", "m$round",
				$who % 2 ? (HTTP_PREFER => 'respond-async') : ());
			print {$out} "$answer->{status} "
			    . ($answer->{json}{href} ? 'job'
				: $answer->{json}{stdout} // '');
			close $out;
			POSIX::_exit(0);
		}
		close $out;
		push @from, [$child, $in];
	}
	for (@from) {
		my ($child, $in) = @$_;
		like(join('', <$in>), qr/^(?:202 job|200 told|409 )$/,
			"mixed, $round: each gets its answer");
		waitpid $child, 0;
	}
	ok($pool->until_true(sub { runs("mixed$round") == 1 }),
		'... of one run');
}

# ------------------------------------------------------ none could be made --
chmod 0500, "$state/jobs";
my $none = post('must', 'none', 'k4');
chmod 0700, "$state/jobs";
is($none->{status}, 503, 'where no job can be kept none is made');
$first = post('must', 'none', 'k4');
is("$first->{status} $first->{replayed}", '202 no',
	'... and the key is not used up');
ok(ended($first->{json}{href}), '... it ends');
is(runs('none'), 1, '... and ran once');

# ---------------------------------------------- killed before it is durable --
sub lock_jobs
{
	my ($type) = @_;
	our $lock;

	sysopen $lock, "$state/jobs/.lock", O_RDWR or die ".lock: $!"
	    unless defined $lock;
	fcntl $lock, F_SETLK, pack('s s x4 q q l x4', $type, SEEK_SET, 0, 0, 0)
	    or die "fcntl: $!";
}

sub files { return grep { -e } glob "$_[0]" }

lock_jobs(F_WRLCK);
my $child = fork() // die "fork: $!";
if ($child == 0) {
	post('must', 'killed', 'k5');
	POSIX::_exit(0);
}
ok($pool->until_true(sub { files("$state/jobs/.new-*/request") }),
	'a job is being made');
my $all = Statespace::Server::processes();
my $supervisor = $pool->pid;
kill 'KILL', $pool->pid, grep { ($all->{$_}{ppid}) == $supervisor }
    keys %$all;
waitpid $pool->pid, 0;
delete $pool->{pid};
waitpid $child, 0;
lock_jobs(F_UNLCK);
$socket = $site->scratch . '/second.sock';
$pool = Statespace::Pool->start(site => $site, config => $config,
	socket => $socket);
my $unknown = post('must', 'killed', 'k5');
is("$unknown->{status} " . ($unknown->{json}{error}{outcome} // ''),
	'409 unknown', 'the worker was killed: the outcome is unknown');
is(post('must', 'killed', 'k5')->{status}, 409, '... and stays so');
is(runs('killed'), 0, '... and nothing ran');

# ---------------------- killed before the record names the durable job: the
# record is its head then.
my ($record) = sort { -M $a <=> -M $b } files("$state/once/*/*");
my %before = map { $_ => 1 } files("$state/once/*/*");
$first = post('must', 'headless', 'k6');
($record) = grep { !$before{$_} } files("$state/once/*/*");
ok(ended($first->{json}{href}), 'a job that ended');
truncate $record, 81 or die "truncate: $!";
$unknown = post('must', 'headless', 'k6');
is("$unknown->{status} " . ($unknown->{json}{error}{outcome} // ''),
	'409 unknown', 'a record that does not name its job is unknown');
is(runs('headless'), 1, '... and nothing runs again');

# ------------------------------------------------- the job is kept no more --
my ($id) = $href =~ m{([0-9a-f]{32})};
unlink files("$state/jobs/$id/*");
rmdir "$state/jobs/$id" or die "rmdir: $!";
$again = post('must', 'must', 'k1');
is("$again->{status} $again->{json}{href} $again->{replayed}",
	"202 $href true", 'a job that is gone is told of as before');
is(runs('must'), 1, '... and does not run again');

$pool->stop_ok;
done_testing;
