# SPDX-License-Identifier: MIT
# Places in which the sandbox is tried: containers, kernels and roots that lack
# something, made by tests/places/place.c.  In each, the first command is had,
# or one remedy for each cause is told, in the same words by doctor,
# statespace-exec, the pool's log and the pool's answer.
#
#	my $places = Statespace::Places->new;
#	for my $row (Statespace::Places::rows()) {
#		my $seen = $places->try($row);	# undef: $row->{why}
#		$places->wrong($row, $seen)	# what is not as it should be
package Statespace::Places;

use strict;
use warnings;
use Cwd ();
use FindBin;
use JSON::PP ();
use POSIX ();
use Statespace::FastCGI;
use Statespace::Pool;
use Statespace::TestSite qw(slurp write_file);

my $TOP = Cwd::realpath("$FindBin::Bin/../..");
my $BUILD = Cwd::realpath($ENV{BUILD} || "$TOP/build")
    || die 'BUILD: no such directory';

# What the remedy of each cause is recognised by.
my $FILTER = qr/seccomp filter that it inherits/;
my $CHROOT = qr/pivot_root\(2\), not by chroot/;
my $PROC = qr{\Amount -t proc proc /proc\z};
my $TMP = qr{\Amount -t tmpfs -o mode=1777 tmpfs /tmp\z};
my $NO_TMP = qr{\Amkdir -m 1777 /tmp\z};
my $NULL = qr{\Amknod -m 666 /dev/null c 1 3\z};
my $USERS = qr/\Asysctl -w user\.max_user_namespaces=\d+\z/;
my $ACCOUNT = qr/\Astart it as an account that is not 0/;

# The directories of this machine but some, as a step's list.
sub all_but
{
	my %without = map { $_ => 1 } @_, qw(. .. mnt lost+found);

	opendir my $dir, '/' or die "/: $!";
	return ((map { "/$_" } grep { !$without{$_} && (-d "/$_" || -l "/$_") }
	    sort readdir $dir), ',');
}

# name, steps; level that is reached; runs: does the tool; remedies, one for
# each cause.  long: not in `make test`.  root: only root makes it.
sub rows
{
	my @new = qw(user newuser newns);
	my @off = qw(deny newuser);
	my @nons = qw(newuser write /proc/sys/user/max_user_namespaces 0);

	return (
	{ name => 'ordinary user', steps => ['user'], level => 'strict' },
	{ name => 'root', steps => [], level => 'strict', root => 1 },
	{ name => 'user.max_user_namespaces = 0', steps => ['user', @nons],
	    level => 'landlock', remedies => [$USERS] },
	{ name => 'user namespaces refused by a filter',
	    steps => ['user', @off], level => 'landlock',
	    remedies => [$FILTER] },
	{ name => 'mounts refused inside a user namespace (as on Ubuntu 24.04)',
	    steps => [qw(user deny mount)], level => 'landlock',
	    remedies => [$FILTER] },
	{ name => "filter like Docker's default", level => 'landlock',
	    steps => [qw(user deny docker)], remedies => [$FILTER] },
	{ name => "filter like Docker's default, root", root => 1, long => 1,
	    steps => [qw(deny docker)], level => 'landlock',
	    remedies => [$FILTER] },
	{ name => 'masked /proc', steps => [@new, qw(cover /proc/bus)],
	    level => 'strict' },
	{ name => "masked /proc and a filter like Docker's", long => 1,
	    steps => [@new, qw(cover /proc/bus deny docker)],
	    level => 'landlock', remedies => [$FILTER] },
	{ name => 'kernel without Landlock', runs => 0, level => 'strict',
	    steps => [qw(user deny landlock)], remedies => [$FILTER] },
	{ name => 'the same, of a shell', level => 'strict', doctor_rc => 1,
	    steps => [qw(user deny landlock)], remedies => [$FILTER],
	    tool => [qw(sh -c), 'echo 2026: 2 1013'] },
	{ name => 'without Landlock and user namespaces', runs => 0,
	    steps => [qw(user deny landlock), @off], level => 'none',
	    remedies => [$FILTER], long => 1 },
	{ name => 'read-only root', level => 'strict',
	    steps => [@new, qw(keep {BASE} ro /)] },
	{ name => 'read-only root, user namespaces refused', runs => 0,
	    steps => [@new, qw(keep {BASE} ro /), @off], level => 'none',
	    remedies => [$FILTER, $TMP], long => 1 },
	{ name => 'read-only /tmp', steps => [@new, qw(ro /tmp)],
	    level => 'strict', long => 1 },
	{ name => 'noexec /tmp', steps => [@new, qw(noexec /tmp)],
	    level => 'strict', long => 1 },
	{ name => 'no /tmp', steps => [@new, 'root', all_but('tmp')],
	    level => 'strict' },
	{ name => 'no /tmp, user namespaces refused', runs => 0, long => 1,
	    steps => [@new, 'root', all_but('tmp'), @off], level => 'none',
	    remedies => [$FILTER, $NO_TMP] },
	{ name => 'chroot(2)', steps => [@new, 'chroot', all_but()],
	    level => 'landlock', remedies => [$CHROOT] },
	{ name => 'chroot(2), root', root => 1,
	    steps => [qw(newns chroot), all_but()],
	    level => 'landlock', remedies => [$CHROOT] },
	{ name => 'chroot(2) without /proc', long => 1,
	    steps => [@new, 'chroot', all_but('proc')],
	    level => 'landlock', remedies => [$CHROOT] },
	{ name => 'user namespace without a map', steps => [qw(user newuser-)],
	    level => 'landlock', remedies => [qr/--map-current-user/] },
	{ name => 'no /proc', steps => [@new, 'root', all_but('proc')],
	    level => 'landlock', remedies => [$PROC] },
	{ name => 'no /proc, root', root => 1, long => 1,
	    steps => [qw(newns root), all_but('proc')],
	    level => 'landlock', remedies => [$PROC] },
	{ name => 'no /dev/null', steps => [@new, 'root', all_but('dev')],
	    runs => 0, level => 'none', remedies => [$NULL] },
	{ name => 'no /usr', long => 1, level => 'strict',
	    steps => [@new, 'root', qw(/usr/bin=/bin /usr/lib=/lib),
		(-d '/usr/lib64' ? '/usr/lib64=/lib64' : ()),
		all_but(qw(usr bin sbin lib lib64))] },
	{ name => 'user namespace with user 0 only', level => 'strict',
	    steps => [qw(user newuser0)] },
	{ name => 'the same, started by root', root => 1, long => 1,
	    steps => ['newuser0'], level => 'strict' },
	{ name => 'user 0 only, user namespaces refused', runs => 0,
	    steps => [qw(user newuser0), @off], level => 'none',
	    remedies => [$FILTER, $ACCOUNT], long => 1 },
	{ name => 'container of an ordinary user', level => 'strict',
	    steps => [@new, 'newpid'] },
	{ name => 'container with users of its own', root => 1,
	    steps => [qw(newuser+ newns newpid)], level => 'strict' },
	{ name => 'the same, not its root', root => 1, long => 1,
	    steps => [qw(newuser+ newns newpid user)], level => 'strict' },
	{ name => '500 bind mounts', steps => [@new, qw(binds 500)],
	    level => 'strict', long => 1 },
	{ name => 'no passwd', steps => [@new, qw(cover /etc/passwd)],
	    level => 'strict', long => 1 },
	{ name => 'no passwd, root, [pool] user = "65534"', root => 1,
	    steps => [qw(newns cover /etc/passwd)], level => 'strict',
	    config => "user = \"65534\"\n" },
	{ name => 'no passwd, root', root => 1,
	    steps => [qw(newns cover /etc/passwd)],
	    stops => qr/STATESPACE_POOL_USER=65534/ },
	{ name => 'root without capabilities', root => 1, steps => ['nocaps'],
	    stops => qr/start it as an account that is not 0/ },
	{ name => 'ordinary user in bubblewrap', level => 'strict',
	    steps => ['user'], under => [qw(bwrap --unshare-all --die-with-parent
		--bind / / --dev /dev --proc /proc --tmpfs /run --)] },
	{ name => 'bubblewrap by root for user 65534', level => 'strict',
	    root => 1, long => 1, steps => [], under => [qw(bwrap
		--die-with-parent --unshare-user --uid 65534 --gid 65534 --bind / /
		--dev-bind /dev /dev --)] },
	{ name => '32-bit program', steps => ['user'], level => 'strict',
	    tool => './bits32', runs => 0,
	    refusal => qr/is a 32-bit program/, needs => 'bits32' },
	{ name => 'program of musl', steps => [qw(user newuser newns),
		'root', '{MUSL}/lib=/lib', '/usr/lib64=/lib64',
		qw(/usr/bin=/bin /usr/bin /usr/lib /usr/share),
		(grep { !m{^/(?:usr|bin|sbin|lib\w*)\z|,} } all_but()), ','],
	    level => 'strict', tool => './musl', needs => 'musl', long => 1 },
	);
}

# ------------------------------------------------------------------ making --

sub new
{
	my ($class) = @_;
	local $ENV{TMPDIR} = '/var/tmp';	# rows take /tmp away
	my $site = Statespace::TestSite->new(files => { 'README.md' => "---\n"
	    . "tools:\n  - [factor, { regex: '^[0-9]+\$' }, ;]\n"
	    . "  - [./bits32, ;]\n  - [./musl, ;]\n  - [sh, -c, {}]\n---\n# A page\n" });
	my $self = bless { site => $site, base => $site->scratch, made => {},
		owner => $$ }, $class;

	$self->{place} = "$self->{base}/place";
	system($ENV{CC} || 'cc', '-D_GNU_SOURCE', '-O1', '-o', $self->{place},
		"$TOP/tests/places/place.c", '-lseccomp') == 0
	    or die 'tests/places/place.c cannot be built';
	$self->{sanitized} = qx{nm -D '$BUILD/statespace' 2>/dev/null}
	    =~ /__asan_/;
	mkdir $self->run_dir;
	chmod 01777, $self->run_dir;
	return $self;
}

sub run_dir { $_[0]{base} . '/run' }

my $BITS32 = 'void _start(void) { static const char w[] = "32 bits\n"; int r;'
    . ' __asm__ volatile("int $0x80" : "=a"(r) : "0"(4), "b"(1), "c"(w),'
    . ' "d"(8) : "memory"); __asm__ volatile("int $0x80" : : "a"(1), "b"(0));'
    . ' }';
my $MUSL = 'int puts(const char *); void exit(int); int fflush(void *);'
    . ' void _start(void) { puts("2026: 2 1013"); fflush(0); exit(0); }';

# A program of the site; false: this machine cannot make it.
sub make_bits32
{
	my ($self) = @_;

	return compile($self, 'bits32', $BITS32, qw(-m32 -static -nostdlib
	    -ffreestanding -fno-pie -no-pie));
}

# By Debian's package of musl: its loader, and a program that asks for it.
sub make_musl
{
	my ($self) = @_;
	my $dir = $self->{musl} = "$self->{base}/musl";

	return if `uname -m` !~ /x86_64/;
	mkdir $dir;
	system("cd '$dir' && apt-get download -q musl >/dev/null 2>&1 && "
	    . 'dpkg -x musl_*.deb .') == 0 or return;
	# On Debian's merged /usr the libraries of both lie side by side.
	symlink '/usr/lib/x86_64-linux-gnu', "$dir/lib/x86_64-linux-gnu";
	return compile($self, 'musl', $MUSL, qw(-nostdlib -fno-pie -no-pie),
	    '-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1',
	    "-L$dir/lib/x86_64-linux-musl", '-l:libc.so');
}

sub compile
{
	my ($self, $name, $text, @options) = @_;
	my $path = $self->{site}->dir . "/$name";

	write_file("$self->{base}/$name.c", $text);
	return if system(($ENV{CC} || 'cc') . ' -O1 -fno-stack-protector '
	    . "-fno-builtin -o '$path' '$self->{base}/$name.c' @options "
	    . "2>'$self->{base}/cc.log'") != 0;
	chmod 0755, $path;
	return 1;
}

# ------------------------------------------------------------------ trying --

sub lacks
{
	my ($self, $row) = @_;
	my $needs = $row->{needs} or return;

	$self->{made}{$needs} //= ($needs eq 'musl' ? $self->make_musl
	    : $self->make_bits32) ? 1 : 0;
	return !$self->{made}{$needs};
}

sub steps
{
	my ($self, $row) = @_;
	my @steps = @{ $row->{steps} };

	s/\{BASE\}/$self->{base}/, s/\{MUSL\}/$self->{musl} \/\/ ''/e for @steps;
	return ($self->{place}, @steps, '--', @{ $row->{under} || [] });
}

# Status, what it printed, what it said of errors.
sub output_of
{
	my ($self, @words) = @_;
	my $pid = fork() // die "fork: $!";

	if ($pid == 0) {
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', "$self->{base}/out";
		open STDERR, '>', "$self->{base}/err";
		delete $ENV{$_} for grep { /^STATESPACE_/ } keys %ENV;
		no warnings 'exec';
		exec { $words[0] } @words;
		POSIX::_exit(127);
	}
	waitpid $pid, 0;
	return ($? >> 8, map { slurp("$self->{base}/$_") } qw(out err));
}

sub decoded
{
	my ($text) = @_;

	return eval { JSON::PP->new->utf8->decode($text) } || {};
}

# What all four say of a place; undef with $row->{why}: it cannot be made here.
sub try
{
	my ($self, $row) = @_;
	my %seen;

	$row->{why} = $row->{root} && $> != 0 ? 'only root makes it'
	    : $self->{sanitized} && grep({ $_ eq '/usr' } @{ $row->{steps} })
		&& !grep({ $_ eq '/proc' } @{ $row->{steps} })
	    ? 'sanitizers read /proc'
	    : $row->{name} =~ m{/tmp} && $BUILD =~ m{^/tmp/}
	    ? 'the program lies below /tmp'
	    : $self->lacks($row) ? "this machine cannot make $row->{needs}"
	    : '';
	return if $row->{why};
	my @place = $self->steps($row);
	my ($made, undef, $why) = $self->output_of(@place, 'true');
	if ($made != 0) {
		$row->{why} = 'it cannot be made here: ' . ($why =~ s/\n.*//sr);
		return;
	}
	my $conf = $self->run_dir . '/places.toml';
	my $dir = $self->{site}->dir;
	my $tool = $row->{tool} || [qw(factor 2026)];
	my @tool = ref $tool ? @$tool : $tool;
	write_file($conf, "root = \"$dir\"\n[pool]\nmode = \"static\"\n"
	    . ($row->{config} // ''));
	(@seen{qw(doctor_rc doctor doctor_err)}) = $self->output_of(@place,
		"$BUILD/statespace", 'doctor', '--json', '-c', $conf);
	$seen{doctor} = decoded($seen{doctor});
	my ($rc, $out, $err) = $self->output_of(@place,
		"$BUILD/statespace-exec", '--json', '-c', $conf, '-C', $dir,
		'/', '--', @tool);
	$seen{exec} = decoded($out);
	$seen{exec_err} = $err;
	$seen{exec_rc} = $rc;
	$self->ask_pool(\%seen, slurp($conf), \@place, \@tool);
	return \%seen;
}

sub ask_pool
{
	my ($self, $seen, $conf, $place, $tool) = @_;
	my $socket = $self->run_dir . '/' . ++$self->{pools} . '.sock';

	unlink "$self->{base}/log";
	my $pool = eval { Statespace::Pool->start(site => $self->{site},
		socket => $socket, config => $conf, under => $place,
		options => ['--workers', 1]) };
	if (!$pool) {
		$seen->{pool_log} = "$@";
		return;
	}
	my $answer = Statespace::FastCGI::talk($socket,
		Statespace::FastCGI::call('/', $tool));
	$seen->{pool} = decoded($answer->{body});
	$seen->{pool_log} = $pool->log;
	# bubblewrap is ended by the signal, and its processes with it.
	my @wrong = grep { !/\Aended with status 0, signal|\Aits log:/ }
	    $pool->stop;
	$seen->{pool_stop} = join "\n", @wrong;
	return;
}

# What doctor takes a place for; more: variables of its environment.
sub container
{
	my ($self, $steps, %more) = @_;
	local @ENV{ keys %more } = values %more;
	my (undef, $out) = $self->output_of($self->steps({ steps => $steps }),
		"$BUILD/statespace", 'doctor', '--json');
	my ($found) = grep { $_->{name} eq 'container' }
	    @{ decoded($out)->{layers} || [] };

	return ($found->{detail} // 'nothing') =~ s/, started by systemd\z//r;
}

# ------------------------------------------------------------------ judging --

sub expected_output { $_[0]{refusal} ? '' : "2026: 2 1013\n" }

# The words of the answer in which an operator finds the remedy.
sub remedy_of_answer
{
	my ($answer) = @_;
	my ($hint) = ($answer->{error}{hint} // '')
	    =~ /\Athe operator's remedy: (.*)\z/s;

	return $answer->{sandbox}{remedy} // $hint // '';
}

# One program's view of a place: does its tool run, at which level, with what
# remedy.  Returns what is not as the row says.
sub wrong_answer
{
	my ($row, $who, $answer, $remedy) = @_;
	my $runs = $row->{runs} // 1;
	my $level = $answer->{sandbox}{level} // 'unsaid';
	my @wrong;

	return "$who: gave no answer" unless defined $answer->{returncode};
	if ($row->{refusal}) {
		return ($answer->{error}{message} // '') =~ $row->{refusal}
		    ? () : "$who: does not say why";
	}
	if ($runs) {
		push @wrong, "$who: the tool did not run: "
		    . ($answer->{stderr} // '')
		    if ($answer->{stdout} // '') ne expected_output($row);
		push @wrong, "$who: level $level, not $row->{level}"
		    if $level ne $row->{level};
	} elsif (($answer->{error}{code} // '') ne 'sandbox_unavailable') {
		push @wrong, "$who: the tool was not refused";
	}
	my $told = remedy_of_answer($answer);
	push @wrong, "$who: the remedy is \"$told\", not \"$remedy\""
	    if $told ne $remedy;
	return @wrong;
}

# Where nothing starts: all three say why.
sub wrong_stop
{
	my ($row, $seen) = @_;
	my @wrong;

	push @wrong, "doctor: exit $seen->{doctor_rc}" if $seen->{doctor_rc} != 1;
	push @wrong, "exec: exit $seen->{exec_rc}" if $seen->{exec_rc} != 125;
	for my $who (qw(doctor_err exec_err pool_log)) {
		push @wrong, "$who: $seen->{$who}"
		    if ($seen->{$who} // '') !~ $row->{stops};
	}
	push @wrong, 'the pool started' if $seen->{pool};
	return @wrong;
}

# What is not as the row says; nothing where all is well.
sub wrong
{
	my ($self, $row, $seen) = @_;
	return wrong_stop($row, $seen) if $row->{stops};
	my @causes = @{ $row->{remedies} || [] };
	my @told = @{ $seen->{doctor}{remedies} || [] };
	my $remedy = join '; and ', @told;
	my $refuses = !($row->{runs} // 1) && !$row->{refusal};
	my @wrong;

	push @wrong, 'doctor: exit ' . $seen->{doctor_rc} . ' ' . $seen->{doctor_err}
	    if $seen->{doctor_rc} != ($row->{doctor_rc} // ($refuses ? 1 : 0));
	push @wrong, 'doctor: level ' . ($seen->{doctor}{level} // 'unsaid')
	    if ($seen->{doctor}{level} // '') ne $row->{level};
	push @wrong, 'doctor: ' . @told . ' remedies for ' . @causes
	    . ' causes: ' . join ' | ', @told if @told != @causes;
	for my $n (0 .. $#causes) {
		push @wrong, "doctor: remedy $n is not $causes[$n]: "
		    . ($told[$n] // 'none')
		    if ($told[$n] // '') !~ $causes[$n];
	}
	push @wrong, wrong_answer($row, 'exec', $seen->{exec}, $remedy);
	push @wrong, wrong_answer($row, 'pool', $seen->{pool} || {}, $remedy);
	my ($line) = ($seen->{pool_log} // '') =~ /(tools are confined: .*?)"?$/m;
	push @wrong, "the pool's log has \"" . ($line // '') . '"'
	    if ($line // '') !~ /: \Q$row->{level}\E(?:;|\z)/
	    || (($line =~ /; remedy: (.*)/)[0] // '') ne $remedy;
	push @wrong, "the pool: $seen->{pool_stop}" if $seen->{pool_stop};
	push @wrong, $seen->{exec_err} . $seen->{pool_log} if @wrong;
	return @wrong;
}

# ------------------------------------------------------------------- telling --

# A row of the README's table.
sub line_of
{
	my ($row, $seen) = @_;
	my @told = map { s/\|/\\|/gr } @{ $seen->{doctor}{remedies} || [] };
	return "| $row->{name} | does not start | "
	    . (($seen->{doctor_err} =~ /; (.*)/)[0] // '') . " |\n"
	    if $row->{stops};
	my $first = $row->{refusal} ? 'refused: a 32-bit program'
	    : ($row->{runs} // 1) ? "`$row->{level}`" : 'refused';

	return "| $row->{name} | $first | "
	    . join('; ', map { "`$_`" } @told) . " |\n";
}

1;
