#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# What `make install` gives a system besides the programs: units that systemd
# accepts and that leave the sandbox whole, the account, the completion.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp ();
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::FastCGI qw(call talk);
use Statespace::Server qw(has);
use Statespace::TestSite qw(slurp);
use Test::More;
use Time::HiRes qw(sleep);

my $top = abs_path(dirname(__FILE__) . '/../..');
my $program = Statespace::Server::binary();
-x $program or plan skip_all => 'the program is not built';
my $dir = File::Temp->newdir('statespace-XXXXXXXX', TMPDIR => 1);
chmod 0755, $dir;

# -------------------------------------------------------------------- units --
my $unit = slurp("$top/conf/statespace.service");
my %set = $unit =~ /^(\w+)=(.*)$/mg;
SKIP: {
	skip 'systemd-analyze is not installed', 1 unless has('systemd-analyze');
	(my $ours = $unit) =~ s{/usr/local/bin/statespace}{$program};
	Statespace::TestSite::write_file("$dir/statespace.service", $ours);
	Statespace::TestSite::write_file("$dir/statespace.socket",
		slurp("$top/conf/statespace.socket"));
	my $said = `SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no \\
		$dir/statespace.service $dir/statespace.socket 2>&1`;
	# Of other units of this machine it complains, too.
	$said = join "\n", grep { /statespace/ } split /\n/, $said;
	is($said, '', 'systemd finds nothing wrong in the units');
}
SKIP: {
	skip 'systemd-analyze is not installed', 1 unless has('systemd-analyze');
	for (qw(service socket)) {
		my $text = slurp("$top/conf/statespace\@.$_")
		    =~ s{/usr/local/bin/statespace}{$program}r;
		Statespace::TestSite::write_file("$dir/statespace\@.$_", $text);
	}
	my $said = `SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no \\
		$dir/statespace\@one.service $dir/statespace\@one.socket 2>&1`;
	is(join("\n", grep { /statespace/ } split /\n/, $said), '',
		'nor in those of several pools');
}
# One pool of several is confined as a single one is.
my %several = slurp("$top/conf/statespace\@.service") =~ /^(\w+)=(.*)$/mg;
is(join(' ', grep { $several{$_} ne $set{$_} } sort keys %set),
	'Also Description ExecStart StateDirectory Wants', 'they differ in their names only');
is($several{ExecStart}, '/usr/local/bin/statespace fcgi '
	. '-c /etc/statespace/%i.toml --socket /run/statespace/%i.sock',
	'each has its configuration and its socket');
is($set{Type}, 'notify', 'the service says when it is ready');
ok(!exists $set{RestrictNamespaces} && $unit !~ /^ProtectKernelTunables=/m,
	'nothing of it keeps workers from building namespaces');
ok(!exists $set{RestrictSUIDSGID}, 'nor from openat2(2), which that would');

# No capabilities, no new privileges, a system that is read-only: still strict.
SKIP: {
	skip 'only root can take so much away', 1 if $> != 0;
	skip 'unshare or setpriv is not installed', 1
	    unless has('unshare') && has('setpriv');
	my $site = Statespace::TestSite->new(
		files => { 'README.md' => "---\ntools: [[\"true\"]]\n---\n" });
	my ($root, $socket) = ($site->dir, "/dev/shm/statespace-$$/sock");
	mkdir dirname($socket) or skip '/dev/shm is not writable', 1;
	chown 65534, 65534, dirname($socket);
	Statespace::TestSite::write_file($site->scratch . '/empty.toml', '');
	my $before = `$program doctor 2>&1`;
	my $pid = fork() // die "fork: $!";
	if ($pid == 0) {
		open STDERR, '>', '/dev/null';
		open STDOUT, '>', '/dev/null';
		delete $ENV{$_} for grep { /^STATESPACE_/ } keys %ENV;
		exec 'unshare', '-m', 'sh', '-c', 'mount --make-rprivate / &&
			mount -o remount,bind,ro / && exec setpriv \
			--reuid=65534 --regid=65534 --clear-groups \
			--no-new-privs --bounding-set=-all "$@"', 'sh', $program,
			'fcgi', '-c', $site->scratch . '/empty.toml',
			'--workers', 1, '--socket', $socket, $root;
	}
	for (1 .. 100) {
		last if -S $socket;
		sleep 0.05;
	}
	my $answer = -S $socket ? talk($socket, call('/', ['true'])) : {};
	kill 'TERM', $pid;
	waitpid $pid, 0;
	unlink $socket, "$socket.status";
	rmdir dirname($socket);
	skip 'no strict level on this machine', 1
	    unless ($answer->{body} // '') =~ /"strict"/
	    || $before =~ /^level:? +strict/m;
	like($answer->{body}, qr/"level": "strict"/,
		'what the unit takes away leaves tools confined');
}

# ------------------------------------------------------------------ account --
SKIP: {
	skip 'systemd-sysusers is not installed', 1 unless has('systemd-sysusers');
	my $said = `systemd-sysusers --dry-run --root=$dir \\
		$top/conf/sysusers.conf 2>&1`;
	is($? >> 8, 0, 'systemd-sysusers accepts the account') or diag $said;
}
SKIP: {
	skip 'systemd-tmpfiles is not installed', 1
	    unless has('systemd-tmpfiles') && $> == 0;
	mkdir "$dir/etc";
	Statespace::TestSite::write_file("$dir/etc/passwd",
		"statespace:x:998:998::/:/bin/false\n");
	Statespace::TestSite::write_file("$dir/etc/group",
		"statespace:x:998:\n");
	`systemd-tmpfiles --create --root=$dir $top/conf/tmpfiles.conf 2>&1`;
	is((stat "$dir/run/statespace")[2] & 07777, 0755,
		"systemd-tmpfiles makes the sockets' directory");
}

# --------------------------------------------------------------- completion --
SKIP: {
	skip 'bash is not installed', 1 unless has('bash');
	my $complete = sub {
		my (@words) = @_;
		my $list = join ' ', map { "'$_'" } @words;
		my $all = `bash -c '. $top/conf/completion.bash
			COMP_WORDS=($list) COMP_CWORD=$#words
			_statespace; echo "\${COMPREPLY[*]}"'`;
		chomp $all;
		return $all;
	};
	is($complete->('statespace', 'se'), 'serve', 'a command is completed');
	is($complete->('statespace', 'hel'), 'help', 'help is one');
	is($complete->('statespace', 'help', ''),
		'new serve fcgi exec mcp receipts fsworker check workspace doctor',
		'which takes a command');
	is($complete->('statespace', 'help', 'exec', ''), '', 'and no more');
	is($complete->('statespace', 'serve', '--fr'), '--front', 'an option');
	is($complete->('statespace', 'serve', '--front', 'l'), 'lighttpd',
		"an option's word");
	is($complete->('statespace', 'workspace', ''),
		'create list diff commit discard export', 'what a command does');
	is($complete->('statespace', 'receipts', 'v'), 'verify', '... by a letter');
	is($complete->('statespace', 'workspace', '--backend', 'a'), 'agentfs',
		'a backend');
	is($complete->('statespace', 'check', $_, ''), '', "no file behind $_")
	    for '--site', '--timeout';
	is($complete->('statespace-exec', 'page', '--tool', ''), '',
		'nor behind --tool');
	is($complete->('statespace-exec', '--dir'), '--directory',
		'by the name that it was called');
	is($complete->('statespace', 'exec', 'page', '--', '--he'), '',
		"and nothing among a tool's words");
	is($complete->('statespace-exec', '-C', "$top/examples/site", 'p'),
		'primes.md', 'a page of the site that -C names');
	is($complete->('statespace', 'exec', '-C', "$top/examples/site", 'z'),
		'zones/', 'a directory of it');
	is($complete->('statespace-exec', '-C', "$top/examples/site", 'data/c'),
		'', 'and nothing that is no page');
	# Every long option that it offers is one that the program takes; --tool
	# comes after the page.
	my %taken = map { $_ => slurp("$top/fcgi/$_.c") } qw(serve fcgi exec
		check doctor);
	my $common = slurp("$top/fcgi/options.h");
	for my $command (sort keys %taken) {
		my @unknown = grep {
			my $name = s/^--//r;
			$name ne 'help' && "$taken{$command}$common"
			    !~ /"(?:\Q$name\E", (?:no|required)_argument|--\Q$name\E"\))/;
		} split ' ', $complete->('statespace', $command, '--');
		is("@unknown", '', "$command: it offers what there is");
	}
	# And every one that the usage names is offered.
	for my $command (qw(new serve fcgi exec mcp check fsworker doctor)) {
		my %offered = map { $_ => 1 }
		    split ' ', $complete->('statespace', $command, '--');
		my $usage = `$program $command --help`;
		my @missing = grep { !$offered{$_} } $usage =~ /(--[a-z-]{2,})/g;
		is("@missing", '', "$command: it offers all there is");
	}
}

# ------------------------------------------------------------- installation --
my $make = 'make -s -C ' . $top . ' --no-print-directory';
my $places = `$make -n install DESTDIR=$dir/root PREFIX=/usr BINDIR=/usr/bin 2>&1`;
for my $name (qw(systemd/system/statespace.service systemd/system/statespace.socket
	systemd/system/statespace@.service systemd/system/statespace@.socket
	sysusers.d/statespace.conf tmpfiles.d/statespace.conf)) {
	like($places, qr{\Q$dir/root/usr/lib/\E\Q$name\E}, "$name is installed");
}
like($places, qr{\Q/share/bash-completion/completions/statespace\E},
	'so is the completion');

# Nothing that is installed names a place below another PREFIX.
my $said = qx($make install DESTDIR=$dir/real PREFIX=/usr 2>&1);
is($?, 0, 'it installs') or diag $said;
is(qx(grep -rlI /usr/local $dir/real), '', 'what is installed names its own places');
is(slurp("$dir/real/usr/share/man/man1/statespace-fcgi.1"),
	".so man1/statespace.1\n", 'statespace-fcgi has a manual page');
qx($make uninstall DESTDIR=$dir/real PREFIX=/usr 2>&1);
is(qx(find $dir/real -type f), '', 'nothing is left after make uninstall');

# ----------------------------------------------------------------- packages --
# What a package is built with is what `make deps` installs.
my ($make_text, $control) = (slurp("$top/Makefile"),
	slurp("$top/conf/debian/control"));
my ($deps) = $make_text =~ /^PACKAGES := (.*?[^\\])\n/ms;
# Debian 13's name of pkg-config.
my %dep = map { $_ => 1 } 'pkgconf', split /[\s\\]+/, $deps;
my ($needs) = $control =~ /^Build-Depends:(.*?)\n(?=\S)/ms;
my @unknown = grep { !$dep{$_} && !/^(?:debhelper|dh-)/ }
    $needs =~ /([a-z][\w.+-]+)(?: \([^)]*\))?/g;
is("@unknown", '', "the package's Build-Depends are among make's PACKAGES");
ok(scalar(() = $needs =~ /,/g) > 8, 'it has some');

# debhelper's own preinst would close the sockets for an upgrade.
like(slurp("$top/conf/debian/rules"), qr/dh_installsystemd.*--no-stop-on-upgrade/,
	"an upgrade of the package does not stop what runs");

# debian/changelog is made from the project's own list of changes.
my $log = qx(cd $top/conf && TZ=UTC LC_ALL=C awk -v now=1700000000 -f debian/changelog.awk CHANGELOG.md);
my ($version) = slurp("$top/core/statespace.h") =~ /SS_VERSION "(.*)"/;
like($log, qr/\Astatespace \(\Q$version\E-1\) unstable; urgency=medium\n\n  \* /,
	'conf/CHANGELOG.md begins with this version');
like($log, qr/^ -- .* <.*>  \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000$/m,
	'in the form that dpkg reads');
SKIP: {
	skip 'dpkg-parsechangelog is not installed', 1
	    unless has('dpkg-parsechangelog');
	Statespace::TestSite::write_file("$dir/changelog", $log);
	my $parsed = qx(dpkg-parsechangelog -l $dir/changelog -S Version 2>&1);
	is($parsed, "$version-1\n", 'which it does');
}

done_testing;
