#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# examples/container/make-image: the layout is one of OCI, whose digests are
# right, and what is in it belongs to root and is no secret.  With a base
#	IMAGE_BASE=FILE.tar prove tests/cli/image.t
# (a tar of mmdebstrap with nginx-light, libcjson1, libcurl4, jq, sqlite3) and
# umoci and runc it is also run, as an account without rights on a read-only
# root: commands are confined as strictly as outside.
use strict;
use warnings;
use Cwd qw(abs_path);
use Digest::SHA;
use File::Basename qw(dirname);
use FindBin;
use JSON::PP qw(decode_json encode_json);
use lib "$FindBin::Bin/../lib";
use Statespace::Server;
use Statespace::TestSite qw(slurp write_file);
use Test::More;
use Time::HiRes qw(sleep time);

my $top = abs_path(dirname(__FILE__) . '/../..');
my $here = "$top/examples/container";
-x Statespace::Server::binary() or plan skip_all => 'the program is not built';
-w ($ENV{BUILD} || "$top/build")
    or plan skip_all => 'make install writes to the build directory';
$ENV{SANITIZE} and plan skip_all => 'no image is made of a build for tests';
$ENV{PATH} .= ':/usr/sbin:/sbin';
Statespace::Server::has('make') or plan skip_all => 'make is not installed';

# A line that no builder knows would end `podman build` before it began.
my $lines = slurp("$here/Containerfile") =~ s/^\s*#.*\n//mgr =~ s/\\\n//gr;
is_deeply([ grep { !/\A(?:ARG|CMD|COPY|ENTRYPOINT|EXPOSE|FROM|RUN|STOPSIGNAL|USER) / }
	grep { /\S/ } split /\n/, $lines ], [],
	'each line of the Containerfile is an instruction');

my $site = Statespace::TestSite->new(files => { 'README.md' => "---\ntools:\n"
	. "  - [sh, -c, {}, ;]\n---\n# In an image\n" });
my $dir = $site->scratch;
my $out = "$dir/image";
my $base = $ENV{IMAGE_BASE};

if (!$base) {
	mkdir "$dir/root";
	mkdir "$dir/root/etc";
	write_file("$dir/root/etc/$_", slurp("/etc/$_")) for qw(passwd group);
	$base = "$dir/base.tar";
	system('tar', '-C', "$dir/root", '-cf', $base, '.') == 0 or die 'tar';
}
local $ENV{BASE} = $base;
delete $ENV{MAKEFLAGS};
my $said = `$here/make-image $out @{[ $site->dir ]} 2>&1`;
is($?, 0, 'an image is made') or BAIL_OUT($said);
like($said, qr/\Amade \Q$out\E/, 'and it says where');

# -------------------------------------------------------------- the layout --
sub blob
{
	my ($of) = @_;
	my ($sum) = $of->{digest} =~ /\Asha256:([0-9a-f]{64})\z/ or return;
	my $file = "$out/blobs/sha256/$sum";

	is(Digest::SHA->new(256)->addfile($file)->hexdigest, $sum,
		"$of->{mediaType}: its digest is right");
	is(-s $file, $of->{size}, 'and its size');
	return $file;
}

is(decode_json(slurp("$out/oci-layout"))->{imageLayoutVersion}, '1.0.0',
	'a layout of version 1');
my $index = decode_json(slurp("$out/index.json"));
my $manifest = decode_json(slurp(blob($index->{manifests}[0])));
my $config = decode_json(slurp(blob($manifest->{config})));
my @layers = map { blob($_) } @{ $manifest->{layers} };
is(scalar @layers, 2, 'two layers');
for my $n (0, 1) {
	my $sum = `gzip -dc $layers[$n] | sha256sum`;
	like($config->{rootfs}{diff_ids}[$n], qr/\Asha256:@{[ substr $sum, 0, 64 ]}\z/,
		"layer $n is what the configuration says");
}
like($config->{config}{User}, qr/\A[1-9]\d+:[1-9]\d+\z/,
	'the account is a number that is not 0');
is($config->{config}{StopSignal}, 'SIGQUIT', 'it is stopped by SIGQUIT');
my @files = map { [split ' ', $_, 6] } split /\n/, `tar --numeric-owner -tvzf $layers[1]`;
chomp $_->[5] for @files;
my %names = map { $_->[5] => $_ } @files;
ok($names{$_}, "$_ is there") for qw(./usr/local/bin/statespace
	./usr/local/libexec/statespace/statespace-tool ./srv/statespace/README.md
	./etc/statespace/statespace.toml ./etc/nginx/nginx.conf);
is(join(' ', map { $_->[5] } grep { $_->[1] ne '0/0' } @files), '',
	'all of it belongs to root');
is(join(' ', map { $_->[5] } grep { $_->[0] !~ /^[dl-]..[x-].-[x-]r-[x-]|^l/ }
	@files), '', 'and only root may write it, and everybody read it');
isnt(system("$here/make-image $out >/dev/null 2>&1"), 0,
	'what is there is not overwritten');
my $other = "$dir/other";
system("$here/make-image $other @{[ $site->dir ]} >/dev/null 2>&1");
is(slurp("$other/index.json"), slurp("$out/index.json"),
	'the same again is the same, bit for bit');

# ------------------------------------------------------- seccomp profiles --
# A profile of Kubernetes has the same form as the runtime's.
sub profile
{
	my $p = decode_json(slurp("$top/examples/kubernetes/seccomp.json"));

	delete $_->{comment} for @{ $p->{syscalls} };
	return $p;
}

# What the default profiles of Docker and containerd refuse without
# CAP_SYS_ADMIN: CLONE_NEWUSER is 0x10000000.
sub default_profile
{
	my $p = profile();

	push @{ $p->{syscalls} }, { names => [qw(unshare setns mount umount2
		pivot_root)], action => 'SCMP_ACT_ERRNO', errnoRet => 1 },
	    { names => ['clone'], action => 'SCMP_ACT_ERRNO', errnoRet => 1,
		args => [{ index => 0, value => 0x10000000,
		valueTwo => 0x10000000, op => 'SCMP_CMP_MASKED_EQ' }] },
	    { names => ['clone3'], action => 'SCMP_ACT_ERRNO', errnoRet => 38 };
	return $p;
}

# ------------------------------------------------------------------ it runs --
sub bundle_config
{
	my ($bundle, $args, %with) = @_;
	my $c = decode_json(slurp("$bundle/config.json.made"));

	$c->{process}{args} = $args;
	$c->{process}{terminal} = JSON::PP::false;
	$c->{process}{noNewPrivileges} = JSON::PP::true;
	$c->{process}{capabilities} = {};
	$c->{root}{readonly} = JSON::PP::true;
	@{ $c->{linux} }{qw(maskedPaths readonlyPaths)} = ([], [])
	    if $with{unmasked};
	$c->{mounts} = [grep { $_->{destination} ne '/sys/fs/cgroup' }
		@{ $c->{mounts} }];
	$c->{linux}{seccomp} = $with{seccomp} if $with{seccomp};
	push @{ $c->{mounts} }, { destination => $_, type => 'tmpfs',
		source => 'tmpfs', options => ['nosuid', 'nodev', 'mode=1777'] }
	    for qw(/tmp /run);
	write_file("$bundle/config.json", encode_json($c));
	return;
}

SKIP: {
	skip 'IMAGE_BASE names no base image', 1 unless $ENV{IMAGE_BASE};
	skip 'only root starts containers here', 1 if $> != 0;
	my ($umoci, $runc) = map { Statespace::Server::has($_) } qw(umoci runc);
	skip 'umoci or runc is not installed', 1 unless $umoci && $runc;
	my $bundle = "$dir/bundle";
	is(system("$umoci unpack --image $out:latest $bundle >/dev/null 2>&1"), 0,
		'umoci unpacks it');
	rename "$bundle/config.json", "$bundle/config.json.made";
	my $ask = q{statespace serve -c /etc/statespace/statespace.toml >/tmp/log 2>&1 &
		n=0; until grep -q serving /tmp/log || [ $n = 200 ]; do
			n=$((n + 1)); sleep 0.1; done
		b='{"command":["sh","-c","id -u; touch /srv/x /etc/x; echo $HOME"]}'
		printf 'POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' ${#b} "$b" >/tmp/ask
		exec 3<>/dev/tcp/127.0.0.1/8080; cat /tmp/ask >&3; cat <&3
		echo; touch /x; kill -QUIT $!; wait $!; echo "ended $?"};
	for my $masked (1, 0) {
		my $name = $masked ? 'masked /proc' : 'unmasked /proc';
		bundle_config($bundle, ['bash', '-c', $ask], unmasked => !$masked);
		my $answer = `timeout 60 $runc run -b $bundle ss-test-$$ 2>&1 </dev/null`;
		like($answer, qr/"level": "strict"/, "$name: commands are strict");
		like($answer, qr/"stdout": "\d+\\n/, "$name: and run");
		unlike($answer, qr/"stdout": "0\\n/, "$name: not as root");
		like($answer, qr/cannot touch '\/x': Read-only/,
			"$name: the root is read-only");
		like($answer, qr/^ended 0$/m, "$name: SIGQUIT ends it");
	}
	for ([strict => 'the profile of examples/kubernetes', profile()],
		[landlock => 'a profile that refuses namespaces',
		default_profile()]) {
		my ($level, $name, $profile) = @$_;
		bundle_config($bundle, ['bash', '-c', $ask], seccomp => $profile);
		my $answer = `timeout 60 $runc run -b $bundle ss-test-$$ 2>&1 </dev/null`;
		like($answer, qr/"stdout": "\d+\\n.*"level": "$level"/,
			"$name: commands are confined: $level");
	}
}
done_testing;
