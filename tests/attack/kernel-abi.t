#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A tool goes to the kernel by its side doors; and what a tool is, by the
# kernel's own account.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Attack;
use Statespace::TestSite qw(slurp);
use Test::More;

sub perl { return ['perl', '-e', $_[0]] }
sub wins { return perl("print \"PWNED\\n\" if $_[0]") }

my $flags = ['sh', '-c', "cat /proc/self/status"];
my @own = (
	{ id => 'abi-io-uring', tool => perl('my $p = "\0" x 120; '
		. 'print "PWNED\n" if syscall(425, 4, $p) >= 0') },
	{ id => 'abi-userfaultfd', tool => wins('syscall(323, 1) >= 0') },
	{ id => 'abi-memfd', tool => perl('my $n = "x"; '
		. 'print "PWNED\n" if syscall(319, $n, 0) >= 0') },
	{ id => 'abi-memfd-secret', tool => wins('syscall(447, 0) >= 0') },
	{ id => 'abi-clone-newuser', tool => perl(
		'my $r = syscall(56, 0x10000000 | 17, 0, 0, 0, 0); '
		. 'exit if $r == 0; print "PWNED\n" if $r > 0') },
	{ id => 'abi-traceme', tool => wins('syscall(101, 0, 0, 0, 0) == 0') },
	{ id => 'abi-tracer', tool => wins('syscall(157, 0x59616d61, -1) == 0') },
	{ id => 'abi-lease', tool => perl('$SIG{IO} = "IGNORE"; '
		. 'open my $f, "<", "{PAGE}"; '
		. 'print "PWNED\n" if fcntl($f, 1024, 0)') },
	{ id => 'abi-notify', tool => perl('$SIG{IO} = "IGNORE"; '
		. 'open my $d, "<", "."; print "PWNED\n" '
		. 'if syscall(72, fileno $d, 1026, 0x3f) == 0') },
	{ id => 'abi-kcmp', tool => wins('syscall(312, $$ + 0, $$ + 0, 2, 0, 0) '
		. '>= 0') },
	# Landlock mode grants no /proc: it would show every process.
	{ id => 'abi-kept-privileges', setups => [qw(strict exec cgi)], policy => { proc => JSON::PP::true },
		tool => $flags, check => sub {
			my ($world, $ran) = @_;
			my $said = $ran->{json}{stdout} // '';
			my %is = $said =~ /^(\w+):\s*(\S+)/mg;
			my %must = (NoNewPrivs => 1, Seccomp => 2,
				SigBlk => '0' x 16, SigIgn => '0' x 16,
				map { $_ => '0' x 16 }
				qw(CapEff CapPrm CapInh CapBnd CapAmb));
			return map { "$_ is " . ($is{$_} // 'unsaid') }
			    grep { ($is{$_} // '') ne $must{$_} }
			    sort keys %must;
		} },
);
my $nothing = 'it says nothing';
$Statespace::Attack::no_control{$_} = $nothing
    for qw(abi-kept-privileges sys-own-sandbox sys-status-flags);
$Statespace::Attack::no_wonder{'abi-io-uring'} = 'io_uring is off here';
$Statespace::Attack::no_wonder{'abi-userfaultfd'} = 'userfaultfd is off here';
$Statespace::Attack::no_wonder{'abi-memfd-secret'} = 'memfd_secret is off here';
$Statespace::Attack::no_wonder{'abi-kcmp'} = 'kcmp is off here';
$Statespace::Attack::no_wonder{'abi-tracer'} = 'Yama is off here';

Statespace::Attack::family(areas => ['kernel-abi', 'selfcheck'],
	own => [@own, foreign_entry(), arm_entry()], change => {
		'sys-own-sandbox' => { check => sub {
			my ($world, $ran) = @_;
			return ($ran->{json}{stdout} // '') =~ /nested ok/
			    ? () : 'a tool cannot confine itself further';
		} } });
done_testing;

# On aarch64 a program of 32-bit ARM: write(2), _exit(2).  A tool that is one
# gets an error; the shell's is met by the filter.
sub arm_entry
{
	return () unless `uname -m` =~ /aarch64/;
	my $code = pack 'V8a6', 0xe3a07004, 0xe3a00001, 0xe28f1010, 0xe3a02006,
	    0xef000000, 0xe3a07001, 0xe3a00000, 0xef000000, "PWNED\n";
	my ($at, $head) = (0x10000, 84);
	my $size = $head + length $code;
	my $bytes = pack('a4C3x9vvV5v6', "\x7fELF", 1, 1, 1, 2, 40, 1,
		$at + $head, 52, 0, 0x05000000, 52, 32, 1, 0, 0, 0)
	    . pack('V8', 1, 0, $at, $at, $size, $size, 5, 0x1000) . $code;

	$Statespace::Attack::no_wonder{'abi-arm32'} =
	    'this processor has no 32-bit entry';
	return { id => 'abi-arm32', file => { entry => $bytes },
		policy => { exec => ['./entry'] },
		tool => ['sh', '-c', './entry; echo $?'], check => sub {
			my ($world, $ran) = @_;
			return ($ran->{json}{stdout} // '') eq "159\n" ? ()
			    : 'it was not ended by SIGSYS';
		} };
}

# The 32-bit entry needs a program of our own, in the site: int 0x80, getpid.
sub foreign_entry
{
	my $program = 'void _start(void) { long r; static const char w[] = '
	    . '"PWNED\n"; __asm__ volatile("int $0x80" : "=a"(r) : "0"(20L) : '
	    . '"memory", "r8", "r9", "r10", "r11"); if (r > 0) __asm__ volatile'
	    . '("syscall" : "=a"(r) : "0"(1L), "D"(1L), "S"(w), "d"(6L) : '
	    . '"rcx", "r11", "memory"); __asm__ volatile("syscall" : : '
	    . '"a"(231L), "D"(0L)); }';
	return () unless $^O eq 'linux' && `uname -m` =~ /x86_64/;
	my $dir = File::Temp->newdir(DIR => '/var/tmp');
	Statespace::TestSite::write_file("$dir/entry.c", $program);
	my $cc = $ENV{CC} || 'cc';
	system("$cc -O1 -static -nostdlib -ffreestanding -fno-stack-protector "
	    . "-o $dir/entry $dir/entry.c 2>/dev/null") == 0 or return ();
	my $bytes = slurp("$dir/entry");
	$Statespace::Attack::no_wonder{'abi-int80'} =
	    'this kernel has no 32-bit entry';
	return { id => 'abi-int80', file => { entry => $bytes },
		policy => { exec => ['./entry'] }, tool => ['./entry'] };
}
