#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# statespace-agentfs: the session's file has what the tool did, an upper made of
# it is the same again, a kill leaves a file that is whole, and the SDK of the
# format's authors reads and writes it (make deps-agentfs).
use strict;
use warnings;
use Cwd ();
use File::Temp qw(tempdir);
use FindBin;
use POSIX ();
use Test::More;

if ($> == 0) {
	$( = 65534;
	$) = '65534 65534';
	POSIX::setuid(65534);
}
my $build = $ENV{BUILD} // Cwd::realpath("$FindBin::Bin/../../build");
my $helper = "$build/libexec/statespace-agentfs";
$ENV{PYTHONPATH} = "$build/agentfs";
my ($python) = grep { system("$_ -c 'import agentfs_sdk' 2>/dev/null") == 0 }
    qw(python3 /usr/bin/python3);
plan skip_all => 'statespace-agentfs is not built' unless -x $helper;
plan skip_all => 'no user namespaces with mounts here'
	if system('unshare -Urm true 2>/dev/null') != 0;
my $kills = $ENV{RUNS} // 10;
my $top = tempdir('statespace-XXXXXX', TMPDIR => 1, CLEANUP => 1);
$ENV{HOME} = $top;
$ENV{STATESPACE_CONFIG} = "$top/statespace.toml";
mkdir "$top/$_", 0700 for qw(state site merged);

sub put
{
	my ($path, $text) = @_;

	open my $file, '>', $path or die "$path: $!";
	print $file $text;
	close $file;
}

put($ENV{STATESPACE_CONFIG}, qq([state]\ndirectory = "$top/state"\n));
put("$top/site/README.md", "# site\n");
put("$top/site/x.txt", "a\nb\n");
mkdir "$top/site/sub";
put("$top/site/sub/$_", $_) for qw(one two);
mkdir "$top/site/gone";
put("$top/site/gone/f", 'f');

sub run
{
	my @words = @_;

	open my $out, '-|', "$build/statespace", 'workspace', @words, '-C',
	    "$top/site" or die;
	local $/;
	my $text = <$out> // '';
	close $out;
	return $text;
}

my $id = run('create', '--backend', 'agentfs');
chomp $id;
my $session = "$top/state/workspaces/$id";
ok(-s "$session/session.db", 'a session is a file');

sub helper
{
	my ($words, $before) = (join(' ', map { "'$_'" } @_), '');

	return system("cd '$session' && exec '$helper' $words 3<'$top/site'") >> 8;
}

sub inside
{
	my ($script) = @_;

	return system('unshare', '-Urm', 'sh', '-c', "mount -t overlay overlay -o "
		. "lowerdir=$top/site,upperdir=$session/upper,"
		. "workdir=$session/work,userxattr $top/merged && "
		. "cd $top/merged && { $script; }") >> 8;
}

sub sql
{
	my ($question) = @_;

	return scalar `sqlite3 -readonly '$session/session.db' "$question"`;
}

my $long = 'x' x 9000;
is(helper('begin', '/srv/site'), 0, 'the upper is made of it');
ok(!-e "$session/upper.stamp", 'while a tool runs it counts for nothing');
SKIP: {
	skip 'overlayfs cannot be mounted here', 1 unless inside('true') == 0;
	is(inside("echo c >>x.txt; rm -r sub gone; mkdir sub new; "
		. "printf $long >new/long; ln -s x.txt link; chmod 755 README.md; "
		. "head -c 5000 /dev/zero >zeros"), 0, 'a tool runs');
}
is(helper('save', '/srv/site', 'tool', '{"n":1}', 0, 1700000000, 1500), 0,
	'what it did is taken into the file');
is(sql('PRAGMA integrity_check'), "ok\n", 'which is whole');
is(sql('SELECT op, path FROM ss_change ORDER BY path'), join('', map { "$_\n" }
	'M|README.md', 'D|gone', 'D|gone/f', 'A|link', 'A|new', 'A|new/long',
	'D|sub/one', 'D|sub/two', 'M|x.txt', 'A|zeros'),
	'each path is noted with the call');
is(sql('SELECT name, parameters, status, duration_ms FROM tool_calls'),
	qq(tool|{"n":1}|success|1500\n), 'which has its row');
is(sql("SELECT count(*) FROM ss_change WHERE path = 'x.txt' AND sha256_before = "
	. "'911169ddaaf146aff539f58c26c489af3b892dff0fe283c1c264c65ae5aa59a2' AND "
	. "sha256_after = "
	. "'880553fca8fcea94e325ee2cfb48e5a985cc797f39a14cc6d3cedecfeb2ae4d2'"),
	"1\n", 'with the digests before and after');
is(sql('SELECT path, parent_path FROM fs_whiteout ORDER BY path'),
	"/gone|/\n/sub|/\n", 'one whiteout for a deleted directory');
my $seen = run('diff', $id, '--json');
like($seen, qr/"count":\d\d/, 'the changes are listed');
unlink "$session/upper.stamp";
is(run('diff', $id, '--json'), $seen,
	'an upper that is made of the file anew has the same changes');

# A second call sees what the first one left, and nothing else is noted.
helper('begin', '/srv/site');
inside('rm new/long; echo more >>zeros; echo late >sub/one');
helper('save', '/srv/site', 'tool', '{}', 3, 1700000001, 5);
is(sql('SELECT op, path FROM ss_change WHERE call_id = 2 ORDER BY path'),
	"D|new/long\nA|sub/one\nM|zeros\n", "a second call's changes are its own");
is(sql('SELECT status, error FROM tool_calls WHERE id = 2'),
	"error|returncode 3\n", 'a call that failed has its error');

# A kill at any time: the file is whole, and the state before or after the call.
my $halves = 0;
my $before = run('diff', $id, '--json');
for my $n (1 .. $kills) {
	helper('begin', '/srv/site');
	inside("for i in 1 2 3 4 5 6 7 8 9; do printf $long$n >k\$i; done");
	my $pid = fork // die "fork: $!";
	if ($pid == 0) {
		chdir $session;
		open STDERR, '>', '/dev/null';
		open my $base, '<', "$top/site";
		POSIX::dup2(fileno $base, 3);
		exec $helper, 'save', '/srv/site', 'kill', '{}', 0, 1700000002, 1;
	}
	select undef, undef, undef, 0.0004 * $n;
	kill 'KILL', $pid;
	waitpid $pid, 0;
	my $calls = sql("SELECT count(*) FROM tool_calls WHERE name = 'kill'");
	my $changes = run('diff', $id, '--json');
	my $expected = sql("SELECT count(*) FROM fs_dentry WHERE name LIKE 'k_'");
	my $shown = () = $changes =~ /"path":"k\d"/g;
	$halves++ unless sql('PRAGMA integrity_check') eq "ok\n" &&
	    $shown == $expected && ($expected == 0 || $expected == 9) &&
	    ($calls == 0) == ($expected == 0);
}
is($halves, 0, "$kills kills leave a file that is whole, before or after the call");

SKIP: {
	skip 'agentfs-sdk is not here (make deps-agentfs)', 6 unless defined $python;
	put("$top/sdk.py", <<'END');
import asyncio, sys
from agentfs_sdk import AgentFS, AgentFSOptions
async def main():
    a = await AgentFS.open(AgentFSOptions(path=sys.argv[1]))
    print(sorted(n for n in await a.fs.readdir('/') if n[0] != 'k'))
    print(repr(await a.fs.read_file('/x.txt')))
    print(len(await a.fs.read_file('/zeros', encoding=None)))
    await a.fs.write_file('/new/sdk', 'hello')
    await a.fs.write_file('/x.txt', 'theirs')
    await a.fs.unlink('/zeros')
    print(sum(s.total_calls for s in await a.tools.get_stats()) > 1)
    await a.kv.set('key', {'n': 1})
    await a.close()
asyncio.run(main())
END
	is(scalar `$python '$top/sdk.py' '$session/session.db' 2>&1`,
		"['README.md', 'link', 'new', 'sub', 'x.txt', 'zeros']\n"
		. "'a\\nb\\nc\\n'\n5005\nTrue\n",
		'agentfs-sdk reads the file');
	my $after = run('diff', $id);
	like($after, qr{^A f new/sdk$}m, 'what it wrote is a change');
	unlike($after, qr{ zeros$}m, 'what it removed is none any more');
	is(sql('PRAGMA integrity_check'), "ok\n", 'the file is whole');
	helper('begin', '/srv/site');
	inside('echo ours >>new/sdk');
	helper('save', '/srv/site', 'tool', '{}', 0, 1700000003, 5);
	is(sql("SELECT op, path FROM ss_change WHERE call_id = "
		. '(SELECT max(id) FROM tool_calls)'), "M|new/sdk\n",
		'a tool goes on from there');
	put("$top/sdk.py", <<'END');
import asyncio, sys
from agentfs_sdk import AgentFS, AgentFSOptions
async def main():
    a = await AgentFS.open(AgentFSOptions(path=sys.argv[1]))
    print(await a.fs.read_file('/new/sdk'), await a.kv.get('key'))
    await a.close()
asyncio.run(main())
END
	is(scalar `$python '$top/sdk.py' '$session/session.db' 2>&1`,
		"helloours\n {'n': 1}\n", 'and agentfs-sdk reads that again');
}

run('commit', $id);
is(run('diff', $id), '', 'after a commit nothing is left');
is(sql('SELECT count(*) FROM fs_dentry'), "0\n", 'in the file, too');
cmp_ok(sql('SELECT count(*) FROM tool_calls'), '>=', 2, 'but for the calls');
ok(-e "$top/site/new" && !-e "$top/site/gone", 'it was committed');
done_testing;
