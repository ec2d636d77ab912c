#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A tool in a workspace tries to reach more than its session, now or by what is
# committed later.  Each attack has a control: the same works where nothing
# holds it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP ();
use Test::More;
use Statespace::Server;
use Statespace::TestSite qw(slurp);

plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');

my $JSON = JSON::PP->new->utf8;
my $site = Statespace::TestSite->new(files => {
	'README.md' => "---\nworkspace: overlay\ntools: [[sh, -c, {}], "
	    . "[perl, -e, {}]]\n---\n",
	'run.md' => "---\nworkspace: overlay\ntools: [[./bin/run], [sh, -c, {}]]"
	    . "\n---\n", 'bin/run' => "#!/bin/sh\necho ran\n",
	'notes/a.txt' => "base\n", 'notes/b.txt' => "base\n",
});
chmod 0755, $site->dir . '/bin/run';
my $out = $site->out;
if ($> == 0) {
	system('chown', '-R', '65534:65534', $site->dir, $out) == 0 or die;
}
my $server = Statespace::Server->start(site => $site,
	config => "[grant]\nworkspace = [\".\"]\n", options => ['--workers', 2]);
my $state = "$ENV{STATE_DIRECTORY}/workspaces";

sub ask
{
	my ($method, $path, $body) = @_;
	my $answer = $server->request($method, $path, defined $body ? (
		headers => { 'Content-Type' => 'application/json' },
		body => $JSON->encode($body)) : ());

	return ($answer->{status},
		eval { $JSON->decode($answer->{body}) } // $answer->{body});
}

sub session { return (ask('POST', '/__workspaces/', { page => '/' }))[1]{session} }

# What a script prints in a session, or without one.
sub tool
{
	my ($script, $session, $shell) = @_;
	my ($status, $answer) = ask('POST', '/', {
		command => $shell ? ['perl', '-e', $script]
		    : ['sh', '-c', "$script"],
		workspace => { defined $session ? (session => $session) : () } });

	return $answer->{stdout} // '';
}

# The same without walls, as the tools' account, in a directory.
sub control
{
	my ($dir, $script) = @_;
	my $pid = open(my $from, '-|') // die "fork: $!";

	if (!$pid) {
		chdir $dir or die "chdir $dir: $!";
		$( = $) = '65534 65534', $> = $< = 65534 if $> == 0;
		open STDERR, '>&', \*STDOUT;
		exec 'sh', '-c', $script;
	}
	return do { local $/; <$from> } // '';
}

my ($status, $answer) = ask('POST', '/__workspaces/', { page => '/' });
plan skip_all => 'this machine has no workspaces' if $status == 503;
plan skip_all => 'overlayfs is not to be had here'
    if $answer->{backend} ne 'overlay';
my $id = $answer->{session};
my $upper = "$state/$id/upper";

# Links that lead out: by reading, by writing through them, by a commit.
tool("ln -s $out/secret.md leak; rm -r notes; ln -s $out notes", $id);
like(control($upper, 'cat leak'), qr/tools/, 'control: the link leads out');
is((ask('GET', "/__workspaces/$id/files/leak"))[0] >= 400, 1,
	'a link of a session is not followed to be read');
is((ask('GET', "/__workspaces/$id/files/notes/secret.md"))[0] >= 400, 1,
	'nor one in the middle of a path');
tool('echo PWNED >notes/written', $id);
control($upper, 'echo x >notes/by-control');
ok(-e "$out/by-control" && !-e "$out/written",
	'a tool writes through none; control: without walls it does');
ask('POST', "/__workspaces/$id/commit", {});
ok(!-e "$out/written" && -e "$out/secret.md", 'nor does the commit');
is($server->request('GET', '/leak')->{status} >= 400, 1,
	'a link that was committed is no file of the site');
ask('DELETE', "/__workspaces/$id");
unlink $site->dir . '/notes', $site->dir . '/leak';
control($site->dir, 'mkdir -p notes; echo base >notes/a.txt; echo base >notes/b.txt');

# Attributes of overlayfs, set by the tool.
$id = session();
$upper = "$state/$id/upper";
my $opaque = 'my ($p, $n, $v) = ("notes", "user.overlay.opaque", "y"); '
    . 'syscall(188, $p, $n, $v, 1, 0) == 0 or print "refused "';
tool('mkdir -p notes; touch notes/new', $id);
tool($opaque, $id, 1);
like(tool('ls notes', $id), qr/a\.txt/, 'a forged attribute hides nothing');
control($upper, "perl -e '$opaque'");
unlike(tool('ls notes', $id), qr/a\.txt/,
	'control: set in the upper directory itself, it does');
ask('DELETE', "/__workspaces/$id");

# Devices, and the whiteout that is one.
$id = session();
my $mknod = 'my $p = "notes/dev"; print "PWNED" if syscall(133, $p, 020666, '
    . '0x103) == 0';
is(tool($mknod, $id, 1), '', 'no device is made');
SKIP: {
	skip 'only root makes devices', 1 if $> != 0;
	my $dev = $site->scratch . '/dev';
	system('mknod', $dev, 'c', 1, 3) == 0
	    or skip 'this root makes no devices', 1;
	ok(-c $dev, 'control: root makes one');
}

# Set-user-ID files: by the tool, and put into the upper directory.
unlike(tool('echo x >suid; chmod 4755 suid && echo PWNED', $id), qr/PWNED/,
	'no set-user-ID file is made');
$upper = "$state/$id/upper";
control($upper, 'chmod 4755 suid');
ok((stat "$upper/suid")[2] & 04000, 'control: without walls it is');
ask('POST', "/__workspaces/$id/commit", {});
ok(!-e $site->dir . '/suid' || !((stat _)[2] & 06000),
	'and no commit gives the site one');
ask('DELETE', "/__workspaces/$id");

# Changes between the look and the commit.
$id = session();
tool('echo shown >notes/a.txt', $id);
my $digest = (ask('GET', "/__workspaces/$id/diff"))[1]{digest};
tool('echo PWNED >notes/b.txt', $id);
($status, $answer) = ask('POST', "/__workspaces/$id/commit",
	{ digest => $digest });
is("$status $answer->{error}{code}", '409 conflict',
	'what was not shown is not committed');
is(slurp($site->dir . '/notes/b.txt'), "base\n", 'nothing of it is there');
($status) = ask('POST', "/__workspaces/$id/commit", {});
is("$status " . slurp($site->dir . '/notes/b.txt'), "200 PWNED\n",
	'control: without the digest it is');

# The state directory, and what other sessions have.
my $other = session();
tool('echo MARKER-OF-OTHER >notes/marker', $other);
my $find = "cat $state/*/upper/notes/marker $state/*/meta "
    . '/layers/workspaces/*/upper/notes/marker /layers/0/notes/a.txt; '
    . 'find / -xdev -name marker -exec cat {} + ; '
    . 'ls -d /proc/*/fd/* /layers/* /layers/.. | grep -c workspaces; '
    . 'perl -e \'for (0 .. 40) { open my $f, "<&=", $_ or next; '
    . 'print "MARKER-OF-OTHER" if -d $f }\'';
my $mine = session();
unlike(tool("($find) 2>/dev/null", $mine), qr/MARKER-OF-OTHER|backend/,
	"no other session's files are reached");
like(`cat $state/*/upper/notes/marker`, qr/MARKER-OF-OTHER/,
	'control: without walls they are');
is(tool('for d in .. ../.. ../../..; do ls $d/workspaces $d/layers/0; done '
    . '2>/dev/null', $mine), '', 'nor by the way up');

# A program that the page runs, replaced in the session: by a file, by a link in
# the place of its directory.
for my $script ('echo "echo PWNED" >>bin/run', 'mkdir e; printf "#!/bin/sh\necho '
    . 'PWNED\n" >e/run; chmod +x e/run; rm -r bin; ln -s e bin') {
	my $id = (ask('POST', '/__workspaces/', { page => '/run' }))[1]{session};
	my $run = sub { (ask('POST', '/run', { command => $_[0],
		workspace => { session => $id } }))[1] };
	is($run->(['./bin/run'])->{stdout}, "ran\n", 'a program of the site runs');
	$run->(['sh', '-c', $script]);
	is($run->(['./bin/run'])->{error}{code}, 'not_allowed',
		'one that a session changed does not');
	like($run->(['sh', '-c', './bin/run'])->{stdout}, qr/PWNED/,
		'control: as a file of a shell it does');
}

# Mounts.
my $mount = 'mount -t tmpfs none notes && echo PWNED; umount -l . && echo '
    . 'PWNED; umount -l /site && echo PWNED; unshare -m true && echo PWNED';
is(tool("($mount) 2>/dev/null", $mine), '', 'a tool mounts and unmounts nothing');
SKIP: {
	my $new = `unshare -rm sh -c 'mount -t tmpfs none /mnt && echo PWNED' 2>&1`;
	skip 'no unshare here', 1 unless $new =~ /PWNED/;
	pass('control: with the right to it can');
}

$server->stop_ok;
done_testing;
