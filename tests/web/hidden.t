#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# What readers may not fetch ([http] hidden, and `hidden: true` of a page): no
# list names it, and every way to it is answered as one to no file.  The same
# requests to a site that hides nothing are the control.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP ();
use Test::More;
use Time::HiRes qw(sleep time);
use Statespace::Server;
use Statespace::TestSite;

my @fronts = grep { Statespace::Server::front($_) } qw(nginx lighttpd);
plan skip_all => 'neither nginx nor lighttpd is installed' unless @fronts;

my $JSON = JSON::PP->new->utf8->canonical;
my $SECRET = 'KEEPTHIS-8841';
# Names that no list may show.
my $NAMES = qr/orders|notes|report|private|quiet|alias|broken|unclosed|pub\b|link\.txt/;

my $README = <<'END';
---
tools:
  - { name: dump, command: [cat, data/orders.db, ;] }
  - { name: get, command: [read, { name: file }, ;] }
  - { name: list, command: [glob, '**', ;] }
prompts:
  - { name: own, messages: [{ role: user, file: data/orders.db }] }
  - { name: asked, arguments: [name], messages: [{ role: user, file: '{name}' }] }
---
# Front
END
# A page, whose frontmatter is wrong in one of the ways there are.
sub page
{
	my ($front) = @_;

	return "---\n$front\n---\n# $SECRET\n";
}
my $tools = "tools:\n  - { name: inside, command: [echo, $SECRET, ;] }\n"
    . "prompts:\n  - { name: inside, text: $SECRET }";
my %by_pattern = (
	'data/orders.db' => "$SECRET\n",
	'data/README.md' => page($tools),
	'data/notes.md' => page("title: $SECRET"),
	'data/deep/more/x.csv' => "$SECRET\n",
	'tools/report.py' => "# $SECRET\n",
	'named.md' => page("title: $SECRET"),
);
my %by_page = (
	'private.md' => page("hidden: true\n$tools"),
	'quiet/README.md' => page("hidden: true"),
	'quiet/toml.md' => "+++\nhidden = true\n+++\n# $SECRET\n",
	'broken.md' => page("hidden: true\ntools: 7"),
	'broken2.md' => page("{ tools: [[ls]], 'hidden': yes, env: [1X] }"),
	'broken3.md' => page("hidden:\ntools: [[ls]]"),
	'broken4.md' => page("hidden: true\ntools: [["),
	'unclosed.md' => "---\nhidden: true\n\n# $SECRET\n",
	'skill/SKILL.md' => page("name: skill\ndescription: x\nhidden: true"),
	'shown/private.md' => page('hidden: true'),
);
my %files = ('README.md' => $README, 'seen.txt' => "seen\n",
	'shown/SKILL.md' => page("name: shown\ndescription: seen") =~
	    s/$SECRET/Skill/r,
	'seen.md' => page("title: Seen\nhidden: false") =~ s/$SECRET/Seen/r);
my %links = (pub => 'data', 'link.txt' => 'data/orders.db',
	'alias.md' => 'private.md', 'data/out.txt' => '$OUT/secret.md',
	'data/more.md' => '$OUT/secret.md');
my $PATTERNS = '["/data/**", "/tools/*.py", "/named"]';

# Each way to write the path: it is asked for a hidden file and for no file.
my %variants = (
	'as it is' => sub { $_[0] },
	'escaped' => sub { $_[0] =~ s{([a-z])}{sprintf '%%%02x', ord $1}egr },
	'escaped in capitals' => sub { $_[0] =~ s{([a-z])}{sprintf '%%%02X', ord $1}egr },
	'with an escaped slash' => sub { $_[0] =~ s{(?<=.)/}{%2f}gr },
	'with two slashes' => sub { $_[0] =~ s{(?<=.)/}{//}gr },
	'with dots' => sub { $_[0] =~ s{/}{/./}gr },
	'with dots that are escaped' => sub { $_[0] =~ s{/}{/%2e/}gr },
	'with a way back' => sub { "/shown/..$_[0]" },
	'with a slash at the end' => sub { "$_[0]/" },
	'with two at the start' => sub { "/$_[0]" },
	'with a query' => sub { "$_[0]?v=1" },
	'with a fragment' => sub { "$_[0]#x" },
	'with a host' => sub { "http://127.0.0.1$_[0]" },
	'without its extension' => sub { $_[0] =~ s{\.md\z}{}r },
	'by its directory' => sub { $_[0] =~ s{/README\.md\z}{/}r },
	'with a NUL' => sub { "$_[0]%00" },
	'with a space' => sub { "$_[0]%20" },
	'in capitals' => sub { uc $_[0] },
	'of the front' => sub { "/__front/file$_[0]" },
);
my %headers = (
	'a plain client' => {},
	'a browser' => { Accept => 'text/html' },
	'JSON' => { Accept => 'application/json' },
	'a range' => { Range => 'bytes=0-3' },
	'a condition' => { 'If-None-Match' => '*' },
	'a handover' => { 'X-Statespace-Handover' => 'nginx /',
		'X-Sendfile-Type' => 'X-Accel-Redirect' },
);

# Status, headers and body without what differs from request to request.
sub answer
{
	my ($got, $path, $twin) = @_;
	my $body = $got->{body};
	my %kept = %{ $got->{headers} };

	delete @kept{qw(date x-request-id content-length)};
	$body =~ s/\Q$path\E|\Q$twin\E/PATH/g;
	return join "\n", $got->{status},
	    (map { "$_: $kept{$_}" } sort keys %kept), $body;
}

# The path of no file, in directories of the same kind.
sub twin
{
	my ($path) = @_;

	return $path =~ s{([a-z0-9]+)(?=[./]|\z)}{'n' x length $1}egr =~
	    s{nn\z|nnnnnnnn\z}{md}r;
}

sub ask
{
	my ($server, $method, $path, %with) = @_;

	return $server->request($method, $path, timeout => 10, %with);
}

sub rpc
{
	my ($server, $method, %params) = @_;
	my $got = $server->request('POST', '/mcp', headers => {
		'Content-Type' => 'application/json',
		Accept => 'application/json, text/event-stream',
		'MCP-Protocol-Version' => '2025-06-18' },
	    body => $JSON->encode({ jsonrpc => '2.0', id => 1,
		method => $method, params => \%params }));

	return $got->{body};
}

sub command
{
	my ($server, $page, @words) = @_;

	return $server->run($page, \@words);
}

# Everything that lists something.
sub lists
{
	my ($server) = @_;
	my %said = (map { ("GET $_" => ask($server, 'GET', $_)->{body}) }
		qw(/AGENTS.md /llms.txt));

	$said{"$_ in a browser"} = ask($server, 'GET', $_,
		headers => { Accept => 'text/html' })->{body} =~ s{<pre.*?</pre>|<code.*?</code>|data-\w+="[^"]*"}{}sgr
	    for '/seen', '/AGENTS.md', '/nosuch', '/shown/SKILL.md';
	$said{$_} = rpc($server, $_)
	    for qw(resources/list tools/list prompts/list skills/list);
	$said{completion} = rpc($server, 'completion/complete',
		ref => { type => 'ref/resource', uri => 'page:///{+path}' },
		argument => { name => 'path', value => '' });
	$said{initialize} = rpc($server, 'initialize',
		protocolVersion => '2025-06-18', capabilities => {},
		clientInfo => { name => 't', version => '1' });
	# The front page's own tool names a file; that is its author's text.
	s{data/orders\.db}{}g for values %said;
	return \%said;
}

# What the requests to a path must not have: asked with and without hiding.
sub reads
{
	my ($server, $path, $name) = @_;
	my $twin = twin("/$path");

	for my $way (sort keys %variants) {
		my ($to, $other) = map { $variants{$way}->($_) } "/$path", $twin;
		my ($got, $none) = map { ask($server, 'GET', $_) } $to, $other;

		unlike $got->{raw}, qr/$SECRET/, "$name: $way: nothing is sent";
		is answer($got, $to, $other), answer($none, $to, $other),
		    "$name: $way: as for no file" or diag $to;
	}
	for my $client (sort keys %headers) {
		my @with = (headers => $headers{$client});
		my ($got, $none) = map { ask($server, 'GET', $_, @with) }
		    "/$path", $twin;

		unlike $got->{raw}, qr/$SECRET/, "$name: $client";
		is answer($got, "/$path", $twin), answer($none, "/$path", $twin),
		    "$name: $client: as for no file";
	}
	for my $method (qw(HEAD POST OPTIONS PUT PROPFIND)) {
		my ($got, $none) = map { ask($server, $method, $_) }
		    "/$path", $twin;

		is answer($got, "/$path", $twin), answer($none, "/$path", $twin),
		    "$name: $method: as for no file";
	}
	my ($ran, $none) = map { command($server, $_, 'echo', $SECRET) }
	    "/$path", $twin;
	is answer($ran, "/$path", $twin), answer($none, "/$path", $twin),
	    "$name: a command: as for no file";
	is $ran->{status}, 404, "$name: which is 404";
	for my $uri ("page:///$path", "skill://$path") {
		unlike rpc($server, 'resources/read', uri => $uri),
		    qr/"result"|$SECRET/, "$name: $uri is no resource";
	}
}

for my $front (@fronts) {
	my @start = (files => { %files, %by_pattern, %by_page },
		symlinks => \%links, options => ['--front', $front]);
	my $server = Statespace::Server->start(@start,
		config => "[http]\nhidden = $PATTERNS\n");

	chmod 0755, $server->site->dir . '/tools/report.py';
	reads($server, $_, "$front: $_") for sort(keys %by_pattern, keys %by_page),
	    'alias.md', 'link.txt', 'pub/orders.db', 'pub/deep/more/x.csv';
	for my $path ('/data/out.txt', '/data/more', '/pub/out.txt') {
		is ask($server, 'GET', $path)->{status}, 404,
		    "$front: $path, a link out of the site, is no file either";
	}
	my $said = lists($server);
	for my $list (sort keys %$said) {
		unlike $said->{$list}, qr/$SECRET/, "$front: $list tells no secret";
		my ($name) = $said->{$list} =~ /($NAMES)/;
		is $name, undef, "$front: $list names none of them"
		    or diag $said->{$list};
	}
	like $said->{'resources/list'}, qr/seen\.md/, "$front: ... but the others";
	like $said->{'/seen in a browser'}, qr/seen/, "$front: ... and here";
	unlike rpc($server, 'tools/call', name => 'inside', arguments => {}),
	    qr/$SECRET/, "$front: a hidden page's tool cannot be called";
	unlike rpc($server, 'prompts/get', name => 'inside'), qr/$SECRET/,
	    "$front: nor its prompt be got";

	# Tools and the author's own texts are no readers.
	like command($server, '/', 'cat', 'data/orders.db')->{body}, qr/$SECRET/,
	    "$front: a tool reads a hidden file";
	like command($server, '/', 'read', 'data/orders.db')->{body}, qr/$SECRET/,
	    "$front: so does a built-in one";
	like command($server, '/', 'glob', '**')->{body}, qr/private\.md/,
	    "$front: and finds it";
	like rpc($server, 'prompts/get', name => 'own'), qr/$SECRET|@{[
		encode_secret()]}/, "$front: a prompt holds one that its author names";
	unlike rpc($server, 'prompts/get', name => 'asked',
		arguments => { name => 'data/orders.db' }),
	    qr/$SECRET|@{[encode_secret()]}/, "$front: but none that a client names";

	# A reload changes it.
	my $file = $server->site->scratch . '/statespace.toml';
	Statespace::TestSite::write_file($file, "[http]\nhidden = []\n");
	kill 'HUP', $server->pid;
	ok until_true(sub { ask($server, 'GET', '/data/orders.db')->{status} == 200 }),
	    "$front: a reload shows it again";
	Statespace::TestSite::write_file($file, "[http]\nhidden = [\"/data\"]\n");
	kill 'HUP', $server->pid;
	ok until_true(sub { ask($server, 'GET', '/data/orders.db')->{status} == 404 }),
	    "$front: and another one hides it";
	my $private = $server->site->dir . '/private.md';
	Statespace::TestSite::write_file($private, page("hidden: false"));
	like ask($server, 'GET', '/private')->{body}, qr/$SECRET/,
	    "$front: a page that is hidden no longer is sent";
	sleep 0.3;
	like rpc($server, 'resources/list'), qr/private\.md/, "$front: and listed";
	Statespace::TestSite::write_file($private, page("hidden: true"));
	is ask($server, 'GET', '/private')->{status}, 404,
	    "$front: and hidden again";
	unlike rpc($server, 'resources/list'), qr/private\.md/,
	    "$front: and listed no longer";
	$server->stop_ok;

	# ---- the control: without the setting, and with "hidden: false" ----
	$server = Statespace::Server->start(options => ['--front', $front],
		symlinks => \%links, files => { %files, %by_pattern,
			map { ($_ => $by_page{$_} =~
				s/hidden['"]?(?: =|:)(?: true| yes)?/other: 1/r) }
			grep { !/toml/ } keys %by_page });
	for my $path (sort(keys %by_pattern, grep { !/toml/ } keys %by_page),
		'alias.md', 'link.txt', 'pub/orders.db') {
		for my $way ('as it is', 'escaped', 'with a query',
			'without its extension') {
			like ask($server, 'GET', $variants{$way}->("/$path"))->{body},
			    qr/$SECRET/, "$front: control: $path $way is sent";
		}
	}
	$said = lists($server);
	like $said->{$_}, $NAMES, "$front: control: $_ names them"
	    for grep { !/initialize|prompts/ } sort keys %$said;
	like rpc($server, 'tools/call', name => 'data_inside', arguments => {})
	    . rpc($server, 'tools/call', name => 'inside', arguments => {}),
	    qr/inside/, "$front: control: there is such a tool";
	$server->stop_ok;
}

sub encode_secret
{
	require MIME::Base64;
	return substr MIME::Base64::encode_base64("$SECRET\n", ''), 0, 12;
}

sub until_true
{
	my ($test) = @_;
	my $end = time + 15;

	until ($test->()) {
		return 0 if time > $end;
		sleep 0.1;
	}
	return 1;
}

done_testing;
