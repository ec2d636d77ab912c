#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The environment: what of the server's a tool sees, what of the request's
# reaches the loader, an interpreter or a shell.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Statespace::Attack;
use Test::More;

my @own = (
	{ id => 'env-secret', tool => ['sh', '-c',
		'env | grep -q envsecret- && echo PWNED'] },
	{ id => 'env-secret-of-parent', tool => ['sh', '-c',
		'cat /proc/$PPID/environ | grep -q . && echo PWNED'] },
	{ id => 'env-secret-of-worker', tool => ['sh', '-c',
		'cat /proc/{WPID}/environ | grep -q . && echo PWNED'] },
);

# Variables that a request must not set, each with a value that would matter.
my %hooks = (LD_PRELOAD => '/tmp/x.so', LD_AUDIT => '/tmp/x.so',
	LD_LIBRARY_PATH => '/tmp', LD_DEBUG => 'all', PATH => '/tmp',
	HOME => '/', TMPDIR => '/', IFS => '/', ENV => '/tmp/x',
	BASH_ENV => '/tmp/x', PERL5OPT => '-Mx', PERL5LIB => '/tmp',
	PYTHONPATH => '/tmp', PYTHONSTARTUP => '/tmp/x',
	NODE_OPTIONS => '--require x', RUBYOPT => '-rx',
	JAVA_TOOL_OPTIONS => '-x', GIT_SSH_COMMAND => 'x',
	GIT_CONFIG_COUNT => '1', PAGER => 'x', EDITOR => 'x',
	LESSOPEN => '|x', GCONV_PATH => '/tmp', NLSPATH => '/tmp/%N',
	TERMINFO => '/tmp', HOSTALIASES => '/tmp/x',
	http_proxy => 'http://x', HTTPS_PROXY => 'http://x',
	'BASH_FUNC_x%%' => '() { echo PWNED; }', UNLISTED => 'x',
	'' => 'x', 'A=B' => 'y', "A\0B" => 'y', 'A B' => 'y', '1A' => 'y',
	DATABASE_URL => 'x', STATESPACE_REQUEST_ID => 'x',
	SECRET_OF_SERVER => 'x');

sub asked
{
	my ($world, %send) = @_;

	return $world->run_tool({ id => 'env-asked', tool => ['env'],
		keys => { env => ['TZ'] }, send => \%send });
}

Statespace::Attack::family(areas => ['env'], own => \@own, without => [qw(
	env-ld-preload env-interpreter-hooks env-secret-leak env-bad-names)],
	after => sub {
		my ($world) = @_;
		my $setup = $world->{setup};
		my $ran = asked($world, env => { TZ => 'UTC' });
		my $out = $ran->{json}{stdout} // '';
		is(join(' ', sort $out =~ /^(\w+)=/mg), 'HOME LANG LC_ALL PATH '
			. 'STATESPACE_REQUEST_ID TMPDIR TZ',
			"$setup: the environment is what is documented")
		    or diag $ran->{raw};
		like($out, qr/^HOME=\/tmp$/m, "$setup: with its own HOME");
		my @through = grep {
			my $got = asked($world, env => { $_ => $hooks{$_} });
			($got->{json}{error}{code} // 'none') !~ /\Abad_/
		} sort keys %hooks;
		is_deeply(\@through, [], "$setup: a request sets no name that "
			. 'the page does not list, and no hook');
		my $value = asked($world, env => { TZ => "U\0C" });
		like($value->{json}{error}{code} // 'none', qr/\Abad_/,
			"$setup: a value with a NUL is refused");
	});
done_testing;
