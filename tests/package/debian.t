#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Clean systems of Debian, made here: the packages are built in one, installed
# with one command in another, upgraded under load in a third that systemd has
# started, and purged; a fourth builds from the source.  Needs root, mmdebstrap
# and a mirror; takes some ten minutes.  `make check-deb` runs it.  What all
# commands printed is in build/package.log.
#
#	RELEASES='bookworm trixie'	which ones
#	STEPS='contents package source apparmor upgrade'	which of these
#	KEEP=DIR	leaves clean systems and packages there for the next run
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use File::Temp ();
use FindBin;
use lib "$FindBin::Bin/../lib";
use POSIX ();
use Statespace::FastCGI qw(call request talk variables);
use Statespace::Server qw(has);
use Statespace::TestSite qw(slurp write_file);
use Test::More;
use Time::HiRes qw(sleep time);

my $top = abs_path(dirname(__FILE__) . '/../..');
my $build = abs_path($ENV{BUILD} || "$top/build");
my $enter = "$top/tests/package/enter";
my @releases = split ' ', $ENV{RELEASES} // 'bookworm trixie';

$> == 0 or plan skip_all => 'only root can make systems';
has('mmdebstrap') or plan skip_all => 'mmdebstrap is not installed';
my $mirror = mirror() or plan skip_all => 'apt knows no mirror of Debian';
my ($version) = slurp("$top/core/statespace.h") =~ /SS_VERSION "(.*)"/;
my $next = $version =~ s/(\d+)$/$1 + 1/er;
unlink "$build/package.log";
my $tarball = "$build/statespace-$version.tar.gz";

my $work = File::Temp->newdir('statespace-deb-XXXXXX', TMPDIR => 1);
chmod 0755, $work;
my $keep = $ENV{KEEP} // $work;
my ($cgroup, $booted, $init);
END {
	my $code = $?;
	power_off() if $booted;
	$? = $code;
}
$SIG{INT} = $SIG{TERM} = sub { exit 1 };

# The first repository of Debian itself that apt reads.
sub mirror
{
	my @all = qx(apt-get indextargets --format '\$(REPO_URI) \$(LABEL)' \\
		'Created-By: Packages' 2>/dev/null);

	return (map { /^(\S+) Debian$/ ? $1 : () } @all)[0];
}

# A shell line on this machine; what it printed is in a log, too.
sub run
{
	my ($line) = @_;
	my $output = qx(exec 2>&1; $line);
	my $good = $? == 0;

	open my $log, '>>', "$build/package.log" or die "package.log: $!";
	print $log "+ $line\n$output";
	return ($good, $output);
}

sub in_root
{
	my ($root, $line) = @_;

	write_file("$root/root/script", "set -e\n$line\n");
	return run("$enter $root sh /root/script </dev/null");
}

# A new system, of which nobody has used anything.
sub clean_root
{
	my ($release, $name) = @_;
	my ($base, $root) = ("$keep/$release.tar", "$work/$release-$name");

	unless (-e $base) {
		my ($ok, $said) = run("mmdebstrap --quiet --variant=apt "
			. "--skip=cleanup/apt/lists $release $base $mirror");
		$ok or do { diag $said; return };
	}
	mkdir $root;
	run("tar -xf $base -C $root && cp -L /etc/resolv.conf $root/etc/");
	# As in a container: the installation starts no services.
	write_file("$root/usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n");
	chmod 0755, "$root/usr/sbin/policy-rc.d";
	return $root;
}

sub drop
{
	my ($root) = @_;

	run("rm -rf --one-file-system $root");
}

# ------------------------------------------------------------------ building --
# Both versions, lintian, and what is in the packages.
sub build
{
	my ($release) = @_;
	my $out = "$keep/$release-packages";
	my $tree = "/src/statespace-$version";
	my $began = time;

	return $out if -d $out;
	my $root = clean_root($release, 'build') or return;
	mkdir "$root/src";
	run("tar -xzf $tarball -C $root/src");
	my ($ok, $said) = in_root($root,
		"apt-get install -y -qq make && make -C $tree deb");
	ok($ok, "$release: make deb in a clean system")
	    or do { diag substr $said, -3000; return };
	printf "# %s: built in %d s\n", $release, time - $began;
	my @tags = $said =~ /^([EW]: .*)/mg;
	print "# $release: $_\n" for @tags;
	is(join("\n", grep { /^E/ } @tags), '', "$release: lintian finds no error");
	is(join("\n", grep { !/initial-upload-closes-no-bugs/ } @tags), '',
		"$release: nor a warning but that no bug asked for the package");

	run("rm -rf $work/first && mkdir $work/first && cp $root$tree/build/deb/*.deb $work/first");
	write_file("$root$tree/core/statespace.h",
		slurp("$root$tree/core/statespace.h")
		    =~ s/SS_VERSION "\Q$version\E"/SS_VERSION "$next"/r);
	write_file("$root$tree/conf/CHANGELOG.md",
		slurp("$root$tree/conf/CHANGELOG.md")
		    =~ s/^(?=## )/## $next (2026-12-01)\n\n- More.\n\n/mr);
	($ok, $said) = in_root($root, "make -C $tree deb DEBFLAGS=-b");
	ok($ok, "$release: and so does the next version")
	    or do { diag substr $said, -3000; return };

	run("mkdir $out && cp $work/first/*.deb $root$tree/build/deb/*.deb $out");
	drop($root);
	return $out;
}

sub contents
{
	my ($release, $packages) = @_;
	my %file;

	for my $name (qw(statespace libstatespace-dev statespace-doc)) {
		my ($deb) = glob "$packages/${name}_$version-1_*.deb";
		for (qx(dpkg-deb -c $deb)) {
			$file{$1} = $name if m{ \./(\S+?)(?: -> .*)?$};
		}
		mkdir "$work/x";
		run("dpkg-deb -x $deb $work/x");
	}
	my @want = (qw(usr/bin/statespace usr/bin/statespace-exec
		usr/bin/statespace-fcgi etc/statespace/statespace.toml
		etc/logrotate.d/statespace usr/lib/sysusers.d/statespace.conf
		usr/lib/tmpfiles.d/statespace.conf usr/share/statespace/apparmor
		usr/share/bash-completion/completions/statespace),
		(map { "usr/libexec/statespace/statespace-$_" } qw(curl job pipe
			tool)),
		(map { "usr/share/man/man1/$_.1.gz" }
			qw(statespace statespace-exec statespace-fcgi)));
	is(join(' ', grep { ($file{$_} // '') ne 'statespace' } @want), '',
		"$release: the package has what it should");
	is(scalar(grep { m{lib/systemd/system/statespace} } keys %file), 4,
		"$release: and four units");
	is($file{'usr/include/statespace.h'}, 'libstatespace-dev',
		"$release: the header is in the package for developers");
	is($file{'usr/share/doc/statespace/examples/site/README.md'},
		'statespace-doc', "$release: the examples in the documentation's");
	is(join(' ', grep { !$file{"usr/share/doc/statespace/$_/README.md"} }
		map { s{.*/(examples/\w+)/README\.md\z}{$1}r }
		glob "$top/examples/*/README.md"), '', "$release: all of them");
	is(qx(grep -rIl /usr/local $work/x/etc $work/x/lib $work/x/usr/lib $work/x/usr/share/statespace 2>/dev/null),
		'', "$release: no installed file names /usr/local");
	my $linked = qx(objdump -p $work/x/usr/bin/statespace);
	like($linked, qr/NEEDED +libyaml/, "$release: libraries are shared");
	drop("$work/x");
}

# -------------------------------------------------------- the first answer --
sub two_commands
{
	my ($release, $packages) = @_;
	my $root = clean_root($release, 'package') or return;
	my $deb = basename(glob "$packages/statespace_$version-1_*.deb");

	run("cp $packages/$deb $root/root");
	my $began = time;
	my ($ok, $said) = in_root($root,
		"cd /root && apt-get install -y -qq ./$deb");
	ok($ok, "$release: apt installs the package") or diag substr $said, -2000;
	my $exec = 'statespace exec --json -C /usr/share/statespace/starter '
	    . 'README --tool search text=tea';
	($ok, $said) = in_root($root, $exec);
	printf "# %s: two commands, %d s: %s\n", $release, time - $began, $said
	    =~ s/\n//gr;
	like($said, qr/"returncode": ?0.*"level": ?"strict"/s,
		"$release: the second command answers, confined");
	($ok, $said) = in_root($root, 'setpriv --reuid=65534 --regid=65534 '
		. "--clear-groups $exec");
	like($said, qr/"returncode": ?0.*"level": ?"strict"/s,
		"$release: so it does for an ordinary user");
	($ok, $said) = in_root($root, 'getent passwd statespace');
	like($said, qr{^statespace:[^:]*:\d+:\d+:[^:]*:/nonexistent:/usr/sbin/nologin}m,
		"$release: the account is there");
	drop($root);
}

sub from_source
{
	my ($release) = @_;
	my $root = clean_root($release, 'source') or return;
	my $tree = "/src/statespace-$version";

	mkdir "$root/src";
	run("tar -xzf $tarball -C $root/src");
	my $began = time;
	my ($ok, $said) = in_root($root, 'apt-get install -y -qq make curl');
	ok($ok, "$release: the first command from the source installs make");
	# The second one; the request comes from another terminal.
	($ok, $said) = in_root($root, <<"END");
cd $tree
make serve SERVE='--port 0' >/root/log 2>&1 &
pid=\$!
for i in \$(seq 600); do
	url=\$(sed -n 's|.*\\(http://127.0.0.1:[0-9]*\\).*|\\1|p' /root/log | head -n 1)
	[ -z "\$url" ] && kill -0 \$pid 2>/dev/null || break
	sleep 1
done
tail -n 3 /root/log
curl -sS -H 'Content-Type: application/json' -d '{"command": ["factor", "2026"]}' \$url/primes
kill -INT \$pid 2>/dev/null || true
END
	like($said, qr/2026: 2 1013.*"level": "strict"/s,
		"$release: make serve answers, confined") or diag $said;
	printf "# %s: two commands from the source, %d s\n", $release,
	    time - $began;
	drop($root);
}

# ------------------------------------------------- AppArmor, where it is 4.0 --
# The kernel here may lack AppArmor: what is seen is that the parser of this
# release reads the profile, or that it is not linked.
sub apparmor
{
	my ($release, $packages) = @_;
	my $root = clean_root($release, 'apparmor') or return;
	my $deb = basename(glob "$packages/statespace_$version-1_*.deb");

	run("cp $packages/$deb $root/root");
	my ($ok, $said) = in_root($root, "cd /root && apt-get install -y -qq "
		. "--no-install-recommends ./$deb && apt-get install -y -qq "
		. '--no-install-recommends apparmor');
	ok($ok, "$release: AppArmor is installed after it") or diag $said;
	my $link = "$root/etc/apparmor.d/statespace";
	if (-e "$root/etc/apparmor.d/abi/4.0") {
		ok(-l $link, "$release: AppArmor 4 has our profile");
		($ok, $said) = in_root($root, 'apparmor_parser -Q -K -N '
			. '/etc/apparmor.d/statespace');
		ok($ok && $said =~ /^statespace$/m,
			"$release: its parser reads it") or diag $said;
	} else {
		ok(!-l $link, "$release: AppArmor 3 has no profile of ours");
		($ok, $said) = in_root($root,
			'apparmor_parser -Q -K /usr/share/statespace/apparmor');
		ok(!$ok, "$release: which it could not read");
	}
	($ok, $said) = in_root($root, 'apt-get purge -y -qq statespace');
	ok($ok && !-l $link, "$release: none is left after purge");
	drop($root);
}

# ------------------------------------------------------- under its systemd --
sub boot
{
	my ($root) = @_;
	my ($top_group) = map { /^\S+ (\S+) cgroup2 / ? $1 : () }
	    split /\n/, slurp('/proc/mounts');

	return 0 unless $top_group;
	$cgroup = "$top_group/statespace-deb-$$";
	mkdir $cgroup or return 0;
	$booted = fork() // die "fork: $!";
	if ($booted == 0) {
		open my $file, '>', "$cgroup/cgroup.procs" or POSIX::_exit(1);
		print $file $$;
		close $file or POSIX::_exit(1);
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', "$root.log";
		open STDERR, '>&', \*STDOUT;
		exec $enter, '--boot', $root or POSIX::_exit(1);
	}
	for (1 .. 240) {
		($init) = split ' ', slurp("/proc/$booted/task/$booted/children")
		    // '';
		last if $init && (in_init('systemctl is-system-running'))[1]
		    =~ /^(?:running|degraded)$/m;
		sleep 0.25;
	}
	return $init && -d "/proc/$init";
}

sub in_init
{
	my ($line) = @_;

	$line =~ s/'/'\\''/g;
	return run("nsenter -t $init -m -p -u -i -n -C -r -w env -i "
		. 'DEBIAN_FRONTEND=noninteractive HOME=/root LC_ALL=C.UTF-8 '
		. "PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -c '$line' </dev/null");
}

# The first process of a pid namespace takes all others along.
sub power_off
{
	kill 'KILL', $init if $init && -d "/proc/$init";
	waitpid $booted, 0;
	($booted, $init) = ();
	for (1 .. 100) {
		qx(find $cgroup -depth -type d -exec rmdir {} \\; 2>/dev/null);
		last unless -d $cgroup;
		sleep 0.1;
	}
}

# All names of the system but those of the kernel and of apt's own cache.
sub names
{
	my ($ok, $said) = in_init('find / -xdev ! -path "/tmp/*" '
		. '! -path "/var/cache/*" ! -path "/var/lib/apt/*" '
		. '! -path "/var/log/journal/*" ! -path "/root/*" | sort');

	return $said;
}

# Requests without a break, until the file is gone; how many came back whole.
sub client
{
	my ($socket, $file) = @_;
	pipe my $from, my $to or die "pipe: $!";
	my $pid = fork() // die "fork: $!";

	return ($pid, $from) if $pid;
	my %seen = (sent => 0, whole => 0);
	my @kinds = (request(variables()), call('/', ['echo', 'a word']));
	while (-e $file) {
		my $post = $seen{sent}++ % 2;
		# They wait while the old pool finishes a tool.
		my $answer = eval { talk($socket, $kinds[$post], seconds => 60) };
		my $good = $answer && $answer->{ended}
		    && $answer->{status} == 200
		    && (!$post || $answer->{body} =~ /"stdout": "a word\\n"/);
		if ($good) {
			$seen{whole}++;
		} else {
			$seen{bad} //= $@ || ($answer->{status} // 'cut');
			sleep 0.01;
		}
	}
	syswrite $to, join ' ', $seen{sent}, $seen{whole}, $seen{bad} // '';
	POSIX::_exit(0);
}

sub upgrade
{
	my ($release, $packages) = @_;
	my $root = clean_root($release, 'systemd') or return;
	my ($old, $new) = map { basename(glob "$packages/statespace_$_-1_*.deb") }
	    $version, $next;

	run("cp $packages/statespace_*.deb $root/root");
	unlink "$root/usr/sbin/policy-rc.d";
	my ($ok, $said) = in_root($root, 'apt-get install -y -qq systemd-sysv '
		. "libpam-systemd- && cd /root && apt-get satisfy -y -qq "
		. "\"\$(dpkg-deb -f $old Depends)\"");
	ok($ok, "$release: a system with systemd") or diag substr $said, -2000;
	SKIP: {
		boot($root) or skip "$release: systemd does not start here", 1;
		with_systemd($release, $root, $old, $new);
	}
	power_off() if $booted;
	drop($root);
}

sub with_systemd
{
	my ($release, $root, $old, $new) = @_;
	my $before = names();
	my ($ok, $said) = in_init('cd /root && apt-get install -y -qq '
		. "--no-install-recommends ./$old");

	ok($ok, "$release: installed beside systemd") or diag $said;
	(undef, $said) = in_init('systemctl is-enabled statespace.socket '
		. 'statespace.service; systemctl is-active statespace.service');
	is($said, "disabled\ndisabled\ninactive\n",
		"$release: nothing runs before there is a site");
	mkdir "$root/srv/site";
	write_file("$root/srv/site/README.md", "---\ntools:\n  - [echo, {}, ;]\n"
		. "  - [sleep, '20', ;]\n---\nA page.\n");
	run("sed -i 's|^root = .*|root = \"/srv/site\"|' "
		. "$root/etc/statespace/statespace.toml && cp "
		. "$root/etc/statespace/statespace.toml $root/etc/statespace/two.toml");
	($ok, $said) = in_init('systemctl enable --now statespace.socket '
		. 'statespace.service statespace@two.socket statespace@two.service');
	ok($ok, "$release: two pools start") or diag $said;
	my $run = "/proc/$init/root/run/statespace";
	my $answer = eval { talk("$run/pool.sock", call('/', ['echo', 'x'])) };
	like($answer->{body} // $@, qr/"level": "strict"/,
		"$release: the unit's pool confines its tools");
	$answer = eval { talk("$run/two.sock", call('/', ['echo', 'x'])) };
	like($answer->{body} // $@, qr/"level": "strict"/,
		"$release: so does statespace\@two's");

	under_load($release, $run, $new);
	purge($release, $before);
}

sub main_pids
{
	my (undef, $said) = in_init('systemctl show -P MainPID statespace.service '
		. 'statespace@two.service');

	return grep { /^[1-9]/ } split /\n/, $said;
}

sub under_load
{
	my ($release, $run, $new) = @_;
	my $flag = "$work/load";
	my @old = main_pids();

	is(scalar @old, 2, "$release: two supervisors");
	write_file($flag, '');
	my @clients = map { [client("$run/$_.sock", $flag)] } qw(pool pool two);
	# A tool that has begun before the upgrade, and ends after it.
	pipe my $from, my $to or die "pipe: $!";
	my $long = fork() // die "fork: $!";
	if ($long == 0) {
		my $got = eval { talk("$run/pool.sock",
			call('/', ['sleep', '20']), seconds => 60) };
		syswrite $to, time . ' ' . ($got->{body} // "lost: $@");
		POSIX::_exit(0);
	}
	close $to;
	sleep 1;
	my ($ok, $said) = in_init('cd /root && apt-get install -y -qq '
		. "--no-install-recommends ./$new");
	ok($ok, "$release: the next version is installed under load")
	    or diag $said;
	my @now = main_pids();
	sleep 1;
	unlink $flag;
	my ($sent, $whole, @bad) = (0, 0);
	for (@clients) {
		my ($pid, $pipe) = @$_;
		waitpid $pid, 0;
		sysread $pipe, my $line, 1000;
		my ($n, $m, $bad) = split / /, $line, 3;
		$sent += $n;
		$whole += $m;
		push @bad, $bad if $bad;
	}
	print "# $release: $sent requests during the upgrade, $whole answered\n";
	cmp_ok($sent, '>', 100, "$release: clients asked all the time");
	is($whole, $sent, "$release: no request is lost in an upgrade")
	    or diag "@bad";
	sysread $from, my $body, 1000;
	waitpid $long, 0;
	my ($ended, $rest) = split / /, $body, 2;
	like($rest, qr/"returncode": 0/,
		"$release: a tool that was running ended as it should");
	(undef, $said) = in_init('journalctl -u statespace.service --no-pager '
		. '-o short-unix | grep Stopping');
	my ($stopping) = $said =~ /^([\d.]+)/;
	cmp_ok($ended, '>', $stopping // $ended,
		"$release: after its pool had been told to stop");
	is(scalar(grep { my $pid = $_; !grep { $_ == $pid } @old } @now), 2,
		"$release: both pools are new processes");
	(undef, $said) = in_init('statespace --version; for p in '
		. "@now; do readlink /proc/\$p/exe; done");
	is($said, "statespace $next\n" . "/usr/bin/statespace\n" x 2,
		"$release: of the new program");
}

sub purge
{
	my ($release, $before) = @_;
	my ($ok, $said) = in_init('apt-get purge -y -qq statespace');

	ok($ok, "$release: purged") or diag $said;
	my @warnings = $said =~ /^(.*(?:warning|not removed).*)$/mgi;
	is(scalar(grep { !m{'/etc/statespace' not empty} } @warnings), 0,
		"$release: without a warning but of what the operator made")
	    or diag @warnings;
	in_init('rm -r /srv/site /etc/statespace');
	my %was = map { $_ => 1 } split /\n/, $before;
	my $after = names();
	is(join(' ', grep { !$was{$_} } split /\n/, $after), '',
		"$release: purge leaves no file");
	my %is = map { $_ => 1 } split /\n/, $after;
	is(join(' ', grep { !$is{$_} } sort keys %was), '',
		"$release: and takes none of others");
	(undef, $said) = in_init('getent passwd statespace | cut -d: -f1; '
		. 'ls /run/statespace 2>/dev/null; ps -e -o comm= 2>/dev/null | '
		. 'grep statespace; systemctl list-units --no-legend --all '
		. '"statespace*"; true');
	is($said, "statespace\n",
		"$release: the account stays, no process and no unit does");
}

# ----------------------------------------------------------------------- all --
my %step = (contents => \&contents, package => \&two_commands,
	source => \&from_source, apparmor => \&apparmor, upgrade => \&upgrade);
my @steps = split ' ', $ENV{STEPS}
    // 'contents package source apparmor upgrade';
my ($ok, $said) = run("make -s -C $top --no-print-directory dist BUILD=$build");
$ok && -e $tarball or BAIL_OUT("make dist: $said");
for my $release (@releases) {
	my $packages = build($release);
	if (!$packages) {
		fail("$release: packages");
		next;
	}
	$step{$_}->($release, $packages) for @steps;
	unlink "$work/$release.tar" if $keep eq $work;
}
done_testing;
