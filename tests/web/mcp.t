#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# MCP at /mcp through `statespace serve` and a real nginx: both eras, tools,
# resources, prompts, questions to a person, progress, and hostile messages.
use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP ();
use Test::More;
use Time::HiRes qw(sleep time);
use Statespace::Server;

plan skip_all => 'nginx is not installed'
    unless Statespace::Server::front('nginx');

my $JSON = JSON::PP->new->utf8->canonical->allow_nonref;
my $MODERN = '2026-07-28';
my $META = 'io.modelcontextprotocol/';

my $server = Statespace::Server->start(
	files => {
		'README.md' => <<'END',
---
description: Words about the site.
env: [WHO, LANG_HINT]
tools:
  - [echo, {word}, ;]
  - { name: first, command: [head, -n, { regex: '^\d+$', name: lines, description: How many }, { name: file }] }
  - { name: greet, command: [sh, -c, 'echo "hello $WHO"', ;] }
  - { name: eat, command: [cat, ;], stdin: true }
  - { name: careful, command: [echo, done, {}, ;], confirm: true }
  - { name: fails, command: [sh, -c, 'echo why >&2; exit 3', ;] }
  - { name: pixel, command: [printf, '\377', ;], output: image/png }
  - { name: blob, command: [printf, '\000', ;], output: application/x-thing }
  - { name: sound, command: [sh, -c, 'printf "\377"; echo loud >&2', ;], output: Audio/wav; rate=1 }
  - { name: torn, command: [sh, -c, 'printf "\377"; echo torn >&2; exit 4', ;], output: image/png }
  - { name: told, command: [sh, -c, 'printf why; exit 4', ;], output: image/png }
  - { name: drawing, command: [printf, '<svg/>', ;], output: image/svg+xml }
  - { name: object, command: [printf, ' {"a": [1.10, {}],\n "stdout": null}\n', ;], output: application/json; x=y }
  - { name: list, command: [sh, -c, 'printf "[1,\n 2]"; echo more >&2', ;], output: application/json }
  - { name: word, command: [printf, 'null', ;], output: application/geo+json }
  - { name: wrong, command: [printf, '{"a": 1', ;], output: application/json }
  - { name: deep, command: [sh, -c, 'head -c 65 /dev/zero | tr "\0" "["', ;], output: application/json }
  - { name: failing, command: [sh, -c, 'printf "{}"; exit 5', ;], output: application/json }
  - { name: late_json, command: [sh, -c, 'printf "[1"; sleep 20.2', ;], output: application/json, timeout: 1 }
  - { name: long_json, command: [sh, -c, 'printf "[\""; head -c 900000 /dev/zero | tr "\0" x; printf "\"]"', ;], output: application/json }
  - { name: longer_json, command: [sh, -c, 'printf "[\""; head -c 1045000 /dev/zero | tr "\0" x; printf "\"]"', ;], output: application/json }
  - { name: steps, command: [sh, -c, 'echo one >&2; sleep 0.3; echo two >&2; sleep 0.3; echo end', ;] }
  - { name: slow, command: [sleep, '20', ;] }
  - { name: counts, progress: stderr, command: [sh, -c, 'echo 1/4 one >&2; sleep 0.2; echo text >&2; sleep 0.2; printf "\\033[1m50%% half\\033[0m\\r" >&2; sleep 0.2; echo 1/4 back >&2; sleep 0.2; echo end', ;] }
  - { name: tells, progress: fd, command: [sh, -c, 'echo 1/4 one >&$STATESPACE_PROGRESS_FD; sleep 0.2; echo not this >&2; sleep 0.2; echo 4/4 four >&3; echo end', ;] }
  - { name: pours, progress: fd, command: [sh, -c, 'yes "1/2 much" | head -c 104857600 >&3; printf "\\n2/2 all\\n" >&3; sleep 0.3; echo end', ;] }
  - { name: early, command: [sh, -c, 'echo first >&2; sleep 1; echo end', ;] }
  - { name: late, command: [sh, -c, 'echo begun; printf why >&2; sleep 20.1', ;], timeout: 1 }
  - { name: endless, command: [yes, ;] }
  - { name: long, command: [sh, -c, 'head -c 900000 /dev/zero | tr "\\0" x', ;] }
  - { name: longer, command: [sh, -c, 'head -c 40000 /dev/zero | tr "\\0" e >&2; head -c 900000 /dev/zero | tr "\\0" "\""', ;] }
  - { name: picture, command: [head, -c, '900000', /dev/zero, ;], output: image/png }
  - { name: again, command: [echo, done, ;], confirm: true }
  - { name: slower, command: [sleep, '22', ;] }
  - { name: bytes, command: [printf, 'a\377b', ;] }
  - name: order
    command: [sh, -c, 'echo "$0 for $WHO, $1"', { name: what, regex: '^(tea|milk\.coffee)$', description: The drink }, { name: note }, ;]
    env: [WHO]
    ask:
      - { name: first, message: Which drink?, arguments: [what] }
      - { name: second, message: For whom?, arguments: [WHO, note] }
  - name: order_slowly
    command: [echo, { name: what }, ;]
    confirm: true
    ask: [{ name: first, message: Which drink?, arguments: [what] }]
  - { name: cancel, command: [printf, '%s|', { name: id, type: integer }, { name: note, kind: text, default: none }, ;], confirm: 'Cancel {id} ({note})?' }
  - name: typed
    command:
      - printf
      - '%s|'
      - { name: n, type: integer, min: 1, max: 99, default: 10, examples: [5] }
      - { name: ratio, type: number, dash: true }
      - { name: all, type: boolean, description: Every one }
      - { name: day, type: date, min: 2026-01-01, max: 2026-12-31 }
      - { name: state, enum: [open, '5', paid], default: open }
      - { name: what, kind: text }
      - { name: count, type: integer, optional: true }
      - { text: '/items/{id}?q={q}', id: { type: integer }, q: { kind: text, escape: url, description: Words to find, dash: true }, description: An address }
      - ;
  - name: form
    command: [printf, '%s|', { name: n, type: integer, max: 9, default: 3 }, { name: ratio, type: number }, { name: all, type: boolean }, { name: day, type: date }, { name: state, enum: [open, paid] }, { name: note, optional: true }, ;]
    ask:
      - { name: first, message: How many?, arguments: [n, ratio, all, day, note] }
      - { name: second, message: Which?, arguments: [state] }
prompts:
  - name: asking
    arguments: [{ name: topic, required: true, description: About what }]
    ask: [{ name: form, message: What about?, arguments: [topic] }]
    text: 'Say something about {topic}.'
  - { name: hello, arguments: [who, { name: page, required: true }], text: 'Hello {who}, see {page}. {other}' }
---
# The site
END
		'docs/a.md' => "---\ntools: [[grep, {}, {}], [grep, -c, {}, {}]]\n"
		    . "---\n# Page A\n\nAbout A.\n",
		'docs/live.md' => "# Live\n```component\necho ran\n```\n",
		'docs/tea/SKILL.md' => "---\nname: tea\ndescription: Tea.\n---\n"
		    . "```component\necho ran\n```\n",
		'docs/tea/more/x.bin' => "\xff",
		'docs/tea/.hidden' => 'x',
		'docs/other/SKILL.md' => "---\nname: tea\ndescription: x\n---\n",
		'data.bin' => "\x00\xff",
		'broken.md' => "---\ntools: 7\n---\n# Broken\n",
		'private/secret.md' => "---\ntools: [[ls]]\n---\n# Secret\n",
	},
	config => "[env]\nLANG_HINT = \"en\"\n"
	    . "[grant]\nproc = true\n"
	    . "[http]\nlisted = [\"/*.md\", \"/docs/**\", \"/data.bin\"]\n");

# ------------------------------------------------------------------ asking --

sub post
{
	my ($body, %headers) = @_;
	my $answer = $server->request('POST', '/mcp', headers => {
		'Content-Type' => 'application/json',
		'Accept' => 'application/json, text/event-stream', %headers },
		body => ref $body ? $JSON->encode($body) : $body);

	$answer->{json} = eval { $JSON->decode($answer->{body}) };
	return $answer;
}

my $id = 0;

sub legacy
{
	my ($method, $params) = @_;

	return post({ jsonrpc => '2.0', id => ++$id, method => $method,
		$params ? (params => $params) : () });
}

sub modern
{
	my ($method, $params, %with) = @_;
	my $named = $params->{name} // $params->{uri};

	return post({ jsonrpc => '2.0', id => ++$id, method => $method,
		params => { %{ $params || {} }, _meta => {
			"${META}protocolVersion" => $MODERN,
			"${META}clientCapabilities" => $with{can} || {},
			%{ $with{meta} || {} } } } },
		'MCP-Protocol-Version' => $MODERN, 'Mcp-Method' => $method,
		defined $named ? ('Mcp-Name' => $named) : (),
		%{ $with{headers} || {} });
}

sub result { return $_[0]{json}{result} // {} }
sub error { return $_[0]{json}{error} // {} }

sub call
{
	my ($name, $arguments) = @_;

	return result(legacy('tools/call',
		{ name => $name, arguments => $arguments || {} }));
}

my $YES = { action => 'accept', content => { ok => JSON::PP::true } };
my %CAN = (can => { elicitation => {} });

# ----------------------------------------------------------------- tools --

sub test_tools
{
	my $tools = result(legacy('tools/list'))->{tools};
	my %tool = map { $_->{name} => $_ } @$tools;

	is_deeply([map { $_->{name} } @$tools], [map { $_->{name} }
		@{ result(legacy('tools/list'))->{tools} }],
		'the order of tools is stable');
	is(scalar(grep { /^docs-a_grep_/ } keys %tool), 2,
		'two tools of one program are told apart by their words');
	ok(!(grep { /secret|broken/ } keys %tool),
		'a page that is not listed, or is wrong, offers none');
	is_deeply($tool{echo}{inputSchema}, { type => 'object',
		properties => { word => { type => 'string' },
			env => $tool{echo}{inputSchema}{properties}{env} },
		required => ['word'], additionalProperties => JSON::PP::false },
		'a placeholder is a required string, a lock leaves no args');
	is_deeply([keys %{ $tool{echo}{inputSchema}{properties}{env}{properties} }],
		['WHO'], 'env is what a request may set and the server has not');
	is_deeply($tool{first}{inputSchema}{properties}{lines},
		{ type => 'string', pattern => '^\d+$',
			description => 'How many' },
		'a regex becomes a pattern, with its description');
	is($tool{first}{inputSchema}{properties}{args}{type}, 'array',
		'a tool without a lock takes more words');
	ok($tool{eat}{inputSchema}{properties}{stdin}, 'stdin where declared');
	SKIP: {
		skip 'the level is not strict', 1
		    if ($ENV{STATESPACE_SANDBOX_MODE} // '') =~ /^(?:off|landlock)$/;
		is_deeply($tool{echo}{annotations}, {
			readOnlyHint => JSON::PP::true,
			destructiveHint => JSON::PP::false,
			openWorldHint => JSON::PP::false },
			'what cannot write or reach anything is read-only');
	}
	is_deeply([@{ $tool{careful}{annotations} }{qw(readOnlyHint
		destructiveHint)}], [JSON::PP::false, JSON::PP::true],
		'what a person has to agree to is not');
	like($tool{careful}{description}, qr/; a person is asked first$/,
		'and is told');
	unlike($tool{echo}{description}, qr/a person is asked/, 'of it alone');
	ok(!(grep { exists $_->{outputSchema} } @$tools),
		'no output schema: no tool has one of its own');
	like($tool{steps}{description}, qr/^Runs \[sh, -c, \x{2026}, ;\] in the/m,
		'a script is not listed');
	like($tool{first}{description}, qr/^Runs \[head, -n, \{lines\}, \{file\}\] in/m,
		'the names of arguments are');
	like($tool{careful}{description}, qr/^Runs \[echo, done, \{\}, ;\] in/m,
		'short words are');
	like($tool{echo}{description}, qr/^Words about the site\.\n/,
		'a tool without words of its own has those of its page');
	return;
}

# JSON Schema says what the author's types say.
sub test_typed
{
	my ($tool) = grep { $_->{name} eq 'typed' }
	    @{ result(legacy('tools/list'))->{tools} };
	my $schema = $tool->{inputSchema};

	delete $schema->{properties}{env};
	is_deeply($schema->{properties}, {
		n => { type => 'integer', minimum => 1, maximum => 99,
			default => 10, examples => [5] },
		ratio => { type => 'number' },
		all => { type => 'boolean', description => 'Every one' },
		day => { type => 'string', format => 'date', description =>
			'Takes a date as 2026-01-31 from 2026-01-01 to 2026-12-31.' },
		state => { type => 'string', enum => ['open', '5', 'paid'],
			default => 'open' },
		what => { type => 'string',
			description => 'Takes text that begins with no -.' },
		count => { type => 'integer', minimum => 0 },
		id => { type => 'integer', minimum => 0,
			description => 'An address' },
		q => { type => 'string', description => 'Words to find' },
	}, 'each type has its schema');
	is_deeply($schema->{required}, [qw(ratio all day what id q)],
		'what has a default or is optional is not required');
	my %given = (ratio => -1.5, all => JSON::PP::true,
		day => '2026-02-28', what => 'a/../b', id => 7, q => '-a b/c');
	is(call('typed', \%given)->{content}[0]{text},
		'10|-1.5|true|2026-02-28|open|a/../b|/items/7?q=-a%20b%2Fc|',
		'numbers and booleans of JSON become words');
	is(call('typed', { %given, n => '99', count => 0, state => 5 })
		->{content}[0]{text}, '99|-1.5|true|2026-02-28|5|a/../b|'
		. '0|/items/7?q=-a%20b%2Fc|', 'and so does their text');
	like(call('typed', { %given, %$_ })->{content}[0]{text},
		qr/no value for the argument "\w+"|"\w+" must be/, 'refuses '
		. $JSON->encode($_)) for { n => 0 }, { n => 100 }, { n => 1.5 },
		{ ratio => 'x' }, { all => 'yes' }, { day => '2027-01-01' },
		{ day => '2026-02-30' }, { state => 'shut' }, { what => '-x' },
		{ count => -1 }, { all => 1 }, { what => 1 };
	return;
}

# A form has fields of these types, and its answers come as their values.
sub test_typed_form
{
	my %call = (name => 'form', arguments => {});
	my $asked = result(modern('tools/call', \%call, %CAN));
	my %first = (n => 5, ratio => 1.5, all => JSON::PP::false,
		day => '2026-01-31');

	is_deeply($asked->{inputRequests}{first}{params}{requestedSchema}, {
		type => 'object', required => [qw(ratio all day)], properties => {
		n => { type => 'integer', minimum => 0, maximum => 9,
			default => 3 },
		ratio => { type => 'number', minimum => 0 },
		all => { type => 'boolean' },
		day => { type => 'string', format => 'date' },
		note => { type => 'string' } } }, 'a form has typed fields');
	for (['too large', n => 10], ['no number', ratio => 'x'],
		['no date', day => '2026-02-30'], ['no boolean', all => 3]) {
		my ($what, @wrong) = @$_;
		my $next = result(again(\%call, $asked,
			first => { %first, @wrong }));
		is_deeply($next->{inputRequests}{first}{params}
			{requestedSchema}{required},
			$wrong[0] eq 'n' ? [] : [$wrong[0]],
			"$what: asked again");
	}
	my $next = result(again(\%call, $asked, first => \%first));
	is_deeply($next->{inputRequests}, { second => {
		method => 'elicitation/create', params => { mode => 'form',
		message => 'Which?', requestedSchema => { type => 'object',
		required => ['state'], properties => { state => {
		type => 'string', enum => ['open', 'paid'] } } } } } },
		'what is optional is asked for once');
	is(result(again(\%call, $next, second => { state => 'paid' }))
		->{content}[0]{text}, '5|1.5|false|2026-01-31|paid|',
		'and the tool gets the values as words');
	delete $first{n};
	$next = result(again(\%call, $asked, first => { %first, note => 'x' }));
	is(result(again(\%call, $next, second => { state => 'open' }))
		->{content}[0]{text}, '3|1.5|false|2026-01-31|open|x|',
		'a field that is left empty has its default');
	return;
}

sub test_calls
{
	my $r = call('echo', { word => 'a "b" $WHO' });

	is_deeply($r, { content => [{ type => 'text',
		text => "a \"b\" \$WHO\n" }], isError => JSON::PP::false },
		'a call runs the tool, and its text is sent once');
	is(call('first', { lines => '1', file => 'docs/a.md' })
		->{content}[0]{text}, "---\n", 'arguments become words');
	is(call('first', { lines => '1', file => 'docs/a.md', args => undef,
		stdin => undef })->{content}[0]{text}, "---\n",
		'one that is null is absent');
	is(call('greet', { env => { WHO => 'ada' } })
		->{content}[0]{text}, "hello ada\n", 'env is set');
	is(call('eat', { stdin => "line\n" })->{content}[0]{text},
		"line\n", 'stdin is passed');
	is(call('bytes')->{content}[0]{text}, "a\x{fffd}b",
		'bytes that are no text become U+FFFD');
	$r = call('fails');
	ok($r->{isError} && $r->{_meta}{"statespace/returncode"} == 3,
		'an exit code is an error of the tool');
	like($r->{content}[-1]{text}, qr/exit status 3/, 'the text has the exit status');
	for (['first', { lines => 'x', file => 'a' }, qr/does not match/],
		['first', { lines => '1' }, qr/"file" is missing/],
		['echo', { word => 1 }, qr/must be a string: it is a number/],
		['first', { lines => '1', file => 'docs/a.md', args => [1] },
			qr/must be an array of strings: .* more than strings/],
		['echo', { word => 'a', env => { WHO => [] } },
			qr/must be an object of strings: .* more than strings/],
		['echo', { word => 'a', more => 'b' }, qr/no argument "more"/],
		['first', { lines => '1', file => '../x' }, qr/\Q..\E/],
		['echo', { word => 'a', env => { PATH => 'x' } }, qr/PATH/]) {
		my ($name, $arguments, $why) = @$_;
		$r = call($name, $arguments);
		ok($r->{isError} && $r->{content}[0]{text} =~ $why,
			"the model reads what is wrong with an argument: $why");
	}
	is_deeply(call('pixel')->{content}, [{ type => 'image', data => '/w==',
		mimeType => 'image/png' }], 'an image is an image');
	$r = call('blob')->{content}[0];
	is_deeply([$r->{type}, @{ $r->{resource} }{qw(blob mimeType uri)}],
		['resource', 'AA==', 'application/x-thing', 'page:///README.md'],
		'other bytes are a resource');
	is(error(legacy('tools/call', { name => 'ls' }))->{code}, -32602,
		'a tool that is not offered is unknown');
	return;
}

# What a tool declares as its output decides the blocks and the structure.
sub test_declared
{
	my %tool = map { $_->{name} => $_ }
	    @{ result(legacy('tools/list'))->{tools} };
	my $r = call('sound');

	is_deeply($r->{content}, [{ type => 'audio', data => '/w==',
		mimeType => 'Audio/wav' }, { type => 'text', text => "loud\n" }],
		'a sound is a sound, with what the tool said beside it');
	$r = call('torn');
	is_deeply([$r->{isError}, map { $_->{text} } @{ $r->{content} }],
		[JSON::PP::true, "torn\n", 'exit status 4'],
		'half an image is not shown, the reason is');
	is(call('told')->{content}[0]{text}, 'why',
		'what a failed tool says instead of it is');
	is_deeply(call('drawing')->{content}, [{ type => 'text',
		text => '<svg/>' }], 'SVG is text');
	$r = call('object');
	is_deeply($r->{structuredContent}, { a => [1.1, {}], stdout => undef },
		'JSON is the structure');
	is_deeply([$r->{isError}, $r->{content}], [JSON::PP::false, [{
		type => 'text', text => qq( {"a": [1.10, {}],\n "stdout": null}\n)
	}]], 'and the text as it was written');
	$r = call('list');
	is_deeply([$r->{structuredContent}, $r->{content}[1]{text}],
		[{ result => [1, 2] }, "more\n"],
		'another value is its "result"');
	is_deeply(call('word')->{structuredContent}, { result => undef },
		'null too');
	for (['wrong', 'invalid JSON: .*byte 8', '{"a": 1'],
		['deep', 'invalid JSON: too many levels at byte 65', '[' x 65]) {
		my ($name, $why, $text) = @$_;
		$r = call($name);
		is_deeply([$r->{isError}, $r->{structuredContent},
			$r->{content}[0]{text}], [JSON::PP::false, undef, $text],
			'what is no JSON is text');
		like($r->{content}[1]{text}, qr/^no structuredContent: $why/,
			'and the model reads why');
	}
	$r = call('failing');
	is_deeply([@$r{qw(isError structuredContent)},
		map { $_->{text} } @{ $r->{content} }],
		[JSON::PP::true, undef, '{}', 'exit status 5'],
		'a tool that failed has no structure');
	$r = call('late_json');
	is_deeply([@$r{qw(isError structuredContent)}, $r->{content}[0]{text}],
		[JSON::PP::true, undef, '[1'],
		'nor one that was ended: what it had written is text');
	$r = result(modern('tools/call', { name => 'object', arguments => {} },
		meta => { 'statespace/structured' => JSON::PP::true }));
	is_deeply([@$r{qw(content structuredContent)}],
		[[], { a => [1.1, {}], stdout => undef }],
		'a client that reads the structure gets it alone');
	$r = result(modern('tools/call', { name => 'list', arguments => {} },
		meta => { 'statespace/structured' => JSON::PP::true }));
	is_deeply([map { $_->{text} } @{ $r->{content} }], ["more\n"],
		'with what else the tool wrote');
	like($tool{object}{description},
		qr{; prints application/json; x=y$}, 'the type is told');
	unlike($tool{echo}{description}, qr/prints/, 'where there is one');
	return;
}

# Between two earlier calls a page may change, come and go.
sub test_changes
{
	my $site = $server->site;

	$site->write('new.md', "---\ntools: [[echo, old, ;]]\n---\n");
	is(call('new_echo_old')->{content}[0]{text}, "old\n",
		'a new page is there at once');
	$site->write('new.md', "---\ntools: [[ls], [echo, old, new, ;]]\n---\n");
	is(call('new_echo_old_new')->{content}[0]{text}, "old new\n",
		'a tool keeps its name when another is put before it');
	unlink $site->dir . '/new.md';
	is(error(legacy('tools/call', { name => 'new_echo' }))->{code}, -32602,
		'a page that is gone takes its tools along');
	return;
}

# ---------------------------------------------------- resources, prompts --

sub test_resources
{
	my $list = result(legacy('resources/list'))->{resources};
	my %by = map { $_->{uri} => $_ } @$list;
	my $read = sub {
		my ($uri) = @_;
		return legacy('resources/read', { uri => $uri });
	};

	is_deeply([sort keys %by], [(map { "page:///$_" } qw(README.md broken.md
		docs/a.md docs/live.md docs/other/SKILL.md)),
		'skill://docs/tea/SKILL.md'], 'listed pages are resources');
	is_deeply([@{ $by{'page:///docs/a.md'} }{qw(name title description)}],
		['docs/a.md', 'Page A', 'About A.'],
		'with the title and the words of the page');
	like(result($read->('page:///docs/a'))->{contents}[0]{text}, qr/# Page A/,
		'a page is read as GET finds it');
	like(result($read->('page:///docs/live.md'))->{contents}[0]{text},
		qr/^ran$/m, 'its components run');
	is(result($read->('page:///data.bin'))->{contents}[0]{blob}, 'AP8=',
		'what is no text is a blob');
	for my $uri ('page:///private/secret.md', 'page:///nothing',
		'page:///../etc/passwd', 'page:///%2e%2e/x', 'file:///etc/passwd',
		'page:///.git', 'page:///%00', 'page:///a%zz',
		'page:////docs/a', 'page:///%2Fdocs/a') {
		my $answer = $read->($uri);
		is_deeply([@{ error($answer) }{qw(code data)}],
			[-32002, { uri => $uri }], "no such resource: $uri");
	}
	is(result(legacy('resources/templates/list'))->{resourceTemplates}[0]
		{uriTemplate}, 'page:///{+path}', 'one template for every file');
	is_deeply(result(legacy('completion/complete', {
		ref => { type => 'ref/resource', uri => 'page:///{+path}' },
		argument => { name => 'path', value => 'docs/' } }))->{completion},
		{ values => ['docs/a.md', 'docs/live.md', 'docs/other/SKILL.md',
			'docs/tea/SKILL.md'], total => 4,
			hasMore => JSON::PP::false }, 'paths are completed');
	return;
}

sub test_skills
{
	my ($skill, @more) = @{ result(legacy('skills/list'))->{skills} };
	my $read = sub {
		return result(legacy('resources/read', { uri => $_[0] }))
		    ->{contents}[0];
	};

	is_deeply([$skill->{uri}, scalar @more],
		['skill://docs/tea/SKILL.md', 0],
		'a directory that its SKILL.md names is a skill');
	is_deeply($skill->{frontmatter}, { name => 'tea',
		description => 'Tea.' }, 'with its frontmatter');
	is_deeply([map { $_->{uri} } @{ $skill->{resources} }],
		['skill://docs/tea/SKILL.md', 'skill://docs/tea/more/x.bin'],
		'and all its files that are not hidden');
	is($skill->{resources}[1]{digest}, 'sha256:'
		. sha256_hex("\xff"), 'each with its digest');
	my $text = $read->($skill->{uri})->{text};
	is('sha256:' . sha256_hex($text), $skill->{resources}[0]{digest},
		'which is of the bytes that are read: no component runs');
	is($read->('skill://docs/tea/more/x.bin')->{blob}, '/w==', 'a blob too');
	is_deeply(result(legacy('skills/get', { uri => $skill->{uri} }))
		->{skill}, $skill, 'one skill by its address');
	for my $uri ('skill://docs/other/SKILL.md', 'skill://docs/tea/none',
		'skill://docs/tea/../../private/secret.md', 'skill://README.md',
		'skill://docs/tea/.hidden', 'skill://private/secret.md') {
		is(error(legacy('resources/read', { uri => $uri }))->{code},
			-32002, "not of a skill: $uri");
	}
	is(error(legacy('skills/get', { uri => 'skill://x/SKILL.md' }))->{code},
		-32602, 'an unknown skill');
	return;
}

sub test_prompts
{
	my ($prompt) = grep { $_->{name} eq 'hello' }
	    @{ result(legacy('prompts/list'))->{prompts} };

	is_deeply([$prompt->{name}, map { [@$_{qw(name required)}] }
		@{ $prompt->{arguments} }], ['hello', ['who', JSON::PP::false],
		['page', JSON::PP::true]], 'a prompt with its arguments');
	is(result(legacy('prompts/get', { name => 'hello',
		arguments => { who => '{page}', page => 'A' } }))
		->{messages}[0]{content}{text},
		'Hello {page}, see A. {other}', 'filled in once');
	is(error(legacy('prompts/get', { name => 'hello' }))->{code}, -32602,
		'a required argument is required');
	is(error(legacy('prompts/get', { name => 'no' }))->{code}, -32602,
		'an unknown prompt is refused');
	like(error(legacy('prompts/get', { name => 'hello',
		arguments => ['x'] }))->{message}, qr/must be an object/,
		'so are arguments in a list');
	return;
}

# -------------------------------------------------------- both eras, HTTP --

sub test_eras
{
	my $answer = legacy('initialize', { protocolVersion => '2025-06-18' });

	is(result($answer)->{protocolVersion}, '2025-06-18',
		'the version that was asked for');
	is(result(legacy('initialize', { protocolVersion => '1999-01-01' }))
		->{protocolVersion}, '2025-11-25', 'else the newest revision with initialize');
	like($answer->{headers}{'mcp-session-id'}, qr/^[0-9a-f]{32}$/,
		'with a session');
	ok(!exists modern('server/discover')->{headers}{'mcp-session-id'},
		'which 2026-07-28 does not have');
	is(post({ jsonrpc => '2.0', method => 'notifications/initialized' })
		->{status}, 202, 'a notification is accepted');
	is_deeply(result(legacy('ping')), {}, 'ping');
	is(legacy('no/method')->{status}, 200,
		'an unknown method is a JSON-RPC error with initialize');
	$answer = modern('server/discover');
	is_deeply(result($answer)->{supportedVersions}, [$MODERN], 'discover');
	is(result($answer)->{resultType}, 'complete', 'with its type');
	is(modern('ping')->{status}, 404, '2026-07-28 has no ping');
	is(error(modern('no/method'))->{code}, -32601, 'unknown methods are 404');
	ok(defined result(modern('tools/list'))->{ttlMs}, 'lists may be kept');
	is(result(modern('tools/call', { name => 'echo',
		arguments => { word => 'x' } }))->{content}[0]{text},
		"x\n", 'a call needs nothing before it');
	is(error(modern('resources/read', { uri => 'page:///x' }))->{code},
		-32602, 'what is not found has another code there');
	return;
}

sub test_headers
{
	my %call = (name => 'echo', arguments => { word => 'x' });

	for ([{ 'Mcp-Method' => undef }, 'no Mcp-Method'],
		[{ 'Mcp-Method' => 'TOOLS/CALL' }, 'Mcp-Method in capitals'],
		[{ 'Mcp-Name' => 'eat' }, 'another Mcp-Name'],
		[{ 'Mcp-Name' => undef }, 'no Mcp-Name'],
		[{ 'MCP-Protocol-Version' => undef }, 'no version'],
		[{ 'MCP-Protocol-Version' => '2025-11-25' }, 'another version']) {
		my ($headers, $what) = @$_;
		my $answer = modern('tools/call', \%call, headers => $headers);
		is_deeply([$answer->{status}, error($answer)->{code},
			$answer->{json}{id}], [400, -32020, $id],
			"the headers must repeat the body: $what");
	}
	is(modern('tools/call', \%call, headers => {
		'Mcp-Name' => '=?base64?ZWNobw==?=' })->{status}, 200,
		'a name in base64 is the name');
	my $answer = modern('tools/list', {}, meta => {
		"${META}protocolVersion" => '2030-01-01' },
		headers => { 'MCP-Protocol-Version' => '2030-01-01' });
	is_deeply([$answer->{status}, @{ error($answer) }{qw(code data)}],
		[400, -32022, { supported => [$MODERN],
			requested => '2030-01-01' }], 'an unknown version');
	is(error(modern('tools/list', {}, meta => {
		"${META}clientCapabilities" => undef }))->{code}, -32602,
		'capabilities are required');
	is(post({ jsonrpc => '2.0', id => 1, method => 'tools/list' },
		'MCP-Protocol-Version' => '2020-01-01')->{status}, 400,
		'a version that was never spoken');
	return;
}

sub test_http
{
	for my $method (qw(GET DELETE PUT HEAD)) {
		my $answer = $server->request($method, '/mcp');
		is_deeply([$answer->{status}, $answer->{headers}{allow}],
			[405, 'POST, OPTIONS'], "$method is 405");
	}
	is($server->request('OPTIONS', '/mcp')->{status}, 204, 'OPTIONS');
	my $ping = $JSON->encode({ jsonrpc => '2.0', id => 'i',
		method => 'ping' });
	my $large = ' ' x (1 << 20);
	for ([415, 'content_type', $ping, 'Content-Type' => 'text/plain'],
		[421, 'host_refused', $ping, Host => 'evil.example'],
		[403, 'origin_refused', $ping, Origin => 'http://evil.example'],
		[413, 'body_too_large', "$ping$large"],
		# By nginx itself, at its own limit.
		[413, 'body_too_large', "$ping$large$large"],
		[400, 'bad_request', $ping, Cookie => 'a' x 40000]) {
		my ($status, $code, $body, %headers) = @$_;
		my $answer = post($body, %headers);
		my $json = $answer->{json};
		is($answer->{status}, $status, "refused: $status $code");
		is_deeply([sort keys %$json], [qw(error id jsonrpc)],
			'as an error of JSON-RPC');
		is($json->{id}, length $body > 1 << 20 || $status == 400
			? undef : 'i', 'with the id, or null');
		is_deeply([@{ $json->{error} }{'code'}, $json->{error}{data}{code}],
			[-32600, $code], 'and a code');
		ok(length $json->{error}{message}, 'and a text');
	}
	return;
}

# --------------------------------------------------------------- questions --


# The same request again, with the state that came and the answers of a person.
sub again
{
	my ($call, $asked, %given) = @_;

	return modern('tools/call', { %$call,
		defined $asked->{requestState}
			? (requestState => $asked->{requestState}) : (),
		inputResponses => { map { $_ => ref $given{$_}
			? { action => 'accept', content => $given{$_} }
			: { action => $given{$_} } } keys %given } }, %CAN);
}

sub test_confirm
{
	my %call = (name => 'careful', arguments => { arg1 => 'x' });
	my ($yes, $no) = map { { ok => $_ } } JSON::PP::true, JSON::PP::false;
	my $ask = sub { return result(modern('tools/call', \%call, %CAN)) };
	my $asked = $ask->();
	my $state = $asked->{requestState};

	is($asked->{resultType}, 'input_required', 'a person is asked');
	like($asked->{inputRequests}{confirm}{params}{message},
		qr/^echo done x$/m, 'about the whole command');
	like(result(modern('tools/call', { %call, arguments => {
		arg1 => "x\nin the directory of /else" } }, %CAN))
		->{inputRequests}{confirm}{params}{message},
		qr/^echo done "x\\nin the directory of \/else"$/m,
		'a word cannot pass for a line of the question');
	ok(result(again(\%call, $asked, confirm => $no))->{isError},
		'it does not run when the box is empty');
	ok(result(again(\%call, $asked, confirm => 'decline'))->{isError},
		'nor when the person declines');
	is(error(again({ %call, arguments => { arg1 => 'y' } }, $asked,
		confirm => $yes))->{code}, -32602,
		'the answer is to that question alone');
	is(error(again({ %call, name => 'order_slowly' }, $asked,
		confirm => $yes))->{code}, -32602, 'and to that tool');
	is(error(again(\%call, { requestState => $_ }, confirm => $yes))->{code},
		-32602, "a state of one's own: $_")
	    for "${state}0", ($state =~ s/^(\d+)/$1 + 1/er), 'x', '9999999999.',
	    '', ($state =~ s/\.c\./.a./r), ($state =~ s/\..*\././r);
	is(result(again(\%call, {}, confirm => $yes))->{resultType},
		'input_required', 'an answer without a question is asked again');
	is(result(again(\%call, $asked, confirm => $yes))
		->{content}[0]{text}, "done x\n",
		'and the tool runs when the person agrees');
	is(error(again(\%call, $asked, confirm => $yes))->{code}, -32602,
		'once') for 1 .. 8;
	is(result(again(\%call, $ask->(), confirm => $yes))
		->{content}[0]{text}, "done x\n",
		'who is asked again may agree again');
	my $answer = modern('tools/call', \%call);
	is_deeply([$answer->{status}, @{ error($answer) }{qw(code data)}],
		[400, -32021, { requiredCapabilities => { elicitation => {} } }],
		'a client that cannot ask gets an error');
	like(error($answer)->{message}, qr{POST .* to /.*error\.confirm},
		'and what its agent can do instead');
	like(call('careful', { arg1 => 'x' })->{content}[0]{text},
		qr{did not run.*elicitation.*browser.*POST .* to /.*error\.confirm}s,
		'so is one of an older revision');
	return;
}

sub test_question
{
	my %call = (name => 'cancel', arguments => { id => 7 });
	my $asked = result(modern('tools/call', \%call, %CAN));

	is($asked->{inputRequests}{confirm}{params}{message},
		"Cancel 7 (none)?\nprintf \"%s|\" 7 none\nin the directory of "
		. "/README.md", 'the author\'s question, and the '
		. 'command');
	is(result(again(\%call, $asked, confirm => { ok => JSON::PP::true }))
		->{content}[0]{text}, '7|none|', 'which then runs');
	my $mine = asking_session('2025-11-25');
	my $call = begin_with({ id => 1, name => 'cancel', arguments =>
		{ id => 8, note => "\x{202e}x\n" } }, 'Mcp-Session-Id' => $mine);
	my $q = next_event($call);
	like($q->{params}{message}, qr/^Cancel 8 \("\\u202ex\\n"\)\?\nprintf/,
		'and with initialize, with nothing unseen');
	reply($q, $mine, $YES);
	is(next_event($call)->{result}{content}[0]{text},
		"8|\x{202e}x\n|", 'and it runs');
	return;
}

# Of many who come with one agreement at the same time, one has its run.
sub test_agreement
{
	my %call = (name => 'careful', arguments => { arg1 => 'x' });
	my $asked = result(modern('tools/call', \%call, %CAN));
	my $body = $JSON->encode({ jsonrpc => '2.0', id => 1,
		method => 'tools/call', params => { %call,
		requestState => $asked->{requestState}, inputResponses => {
			confirm => { action => 'accept',
				content => { ok => JSON::PP::true } } },
		_meta => { "${META}protocolVersion" => $MODERN,
			"${META}clientCapabilities" => { elicitation => {} } } } });
	my @sockets = map { $server->connect } 1 .. 24;

	for my $socket (@sockets) {
		print {$socket} "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
		    . "Connection: close\r\nContent-Type: application/json\r\n"
		    . "MCP-Protocol-Version: $MODERN\r\n"
		    . "Mcp-Method: tools/call\r\nMcp-Name: careful\r\n"
		    . 'Content-Length: ' . length($body) . "\r\n\r\n$body";
		$socket->flush;
	}
	my @answers = map { local $/; scalar readline($_) // '' } @sockets;
	cmp_ok(scalar(grep { /"text":"done x\\n"/ } @answers), '<=', 1,
		'an agreement has one run, whatever the worker');
	is(scalar(grep { /"code":-32602|"text":"done x/ } @answers),
		24, 'and all others get an error');
	return;
}

# What a call leaves out, a person is asked for: one form a round.
sub test_asking
{
	my %call = (name => 'order', arguments => {});
	my $asked = result(modern('tools/call', \%call, %CAN));
	my $form = $asked->{inputRequests}{first}{params};

	is_deeply([keys %{ $asked->{inputRequests} }], ['first'],
		'the first form is asked');
	is_deeply([@$form{qw(mode message requestedSchema)}], ['form',
		'Which drink?', { type => 'object', required => ['what'],
		properties => { what => { type => 'string',
			description => 'The drink',
			enum => ['tea', 'milk.coffee'] } } }],
		'with the words of a regex to choose from');
	for (['a word that does not fit', { what => 'beer' }],
		['no word', {}], ['a number', { what => 3 }]) {
		my ($what, $content) = @$_;
		is((keys %{ result(again(\%call, $asked, first => $content))
			->{inputRequests} })[0], 'first', "$what: asked again");
	}
	my $next = result(again(\%call, $asked, first => { what => 'tea' }));
	is_deeply($next->{inputRequests}{second}{params}{requestedSchema}
		{required}, ['WHO', 'note'], 'then the second');
	isnt($next->{requestState}, $asked->{requestState},
		'with a state of its own');
	is(result(again(\%call, $next, second => { WHO => 'ada',
		note => '$x "y"' }))->{content}[0]{text},
		"tea for ada, \$x \"y\"\n", 'and then the tool runs');
	is(result(again(\%call, {}, first => { what => 'tea' },
		second => { WHO => 'b', note => 'n' }, other => 'accept'))
		->{content}[0]{text}, "tea for b, n\n",
		'answers may come together, and others are ignored');
	like(result(again(\%call, $asked, first => 'cancel'))
		->{content}[0]{text}, qr/did not answer: "Which drink\?"/,
		'a person need not answer');
	is(error(again({ %call, arguments => { note => 'x' } }, $next,
		second => { WHO => 'b', note => 'n' }))->{code}, -32602,
		'answers belong to their request');
	is(error(again(\%call, { requestState =>
		$next->{requestState} =~ s/(\.[A-Za-z0-9+\/=]+)(\.[0-9a-f]+)$/.$2/r },
		second => { WHO => 'b', note => 'n' }))->{code}, -32602,
		'and cannot be taken out');
	$asked = result(modern('tools/call', { name => 'order', arguments =>
		{ what => 'tea', note => 'n', env => { WHO => 'c' } } }, %CAN));
	is($asked->{content}[0]{text}, "tea for c, n\n",
		'who gives all is not asked');
	$asked = result(modern('tools/call', { name => 'order', arguments =>
		{ what => 'tea', note => 'n' } }, %CAN));
	is_deeply($asked->{inputRequests}{second}{params}{requestedSchema}
		{required}, ['WHO'], 'only what is missing is asked for');
	like(result(modern('tools/call', \%call))->{content}[0]{text},
		qr/"what" is missing/, 'a client that cannot ask reads what is missing');
	like(call('order')->{content}[0]{text}, qr/"what" is missing/,
		'and one with initialize');
	my ($tool) = grep { $_->{name} eq 'order' }
	    @{ result(modern('tools/list'))->{tools} };
	is_deeply($tool->{inputSchema}{required}, [],
		'what can be asked for may be left out');
	($tool) = grep { $_->{name} eq 'order' }
	    @{ result(legacy('tools/list'))->{tools} };
	is_deeply($tool->{inputSchema}{required}, ['what', 'note'],
		'but not with initialize');
	return;
}

# The words, and then the agreement to run them.
sub test_asking_and_confirm
{
	my %call = (name => 'order_slowly', arguments => {});
	my $yes = { ok => JSON::PP::true };
	my $asked = result(modern('tools/call', \%call, %CAN));

	is((keys %{ $asked->{inputRequests} })[0], 'first', 'first the word');
	my $next = result(again(\%call, $asked, first => { what => 'tea' },
		confirm => $yes));
	like($next->{inputRequests}{confirm}{params}{message}, qr/^echo tea$/m,
		'then the command with it, whatever was agreed to before');
	is(result(again(\%call, $next, confirm => $yes))
		->{content}[0]{text}, "tea\n", 'and then it runs');
	is(error(again(\%call, $next, confirm => $yes))->{code}, -32602, 'once');
	return;
}

sub test_asking_prompt
{
	my $asked = result(modern('prompts/get', { name => 'asking' }, %CAN));
	my ($prompt) = grep { $_->{name} eq 'asking' }
	    @{ result(modern('prompts/list'))->{prompts} };

	ok(!$prompt->{arguments}[0]{required}, 'may be left out');
	is_deeply($asked->{inputRequests}{form}{params}{requestedSchema}
		{properties}, { topic => { type => 'string',
		description => 'About what' } }, 'a prompt asks too');
	is(result(modern('prompts/get', { name => 'asking',
		requestState => $asked->{requestState}, inputResponses => {
		form => { action => 'accept', content => { topic => 'tea' } } } },
		%CAN))->{messages}[0]{content}{text},
		'Say something about tea.', 'and is filled in');
	is(error(modern('prompts/get', { name => 'asking',
		inputResponses => { form => { action => 'decline' } } }, %CAN))
		->{code}, -32602, 'or not');
	is(error(modern('prompts/get', { name => 'asking' }))->{code}, -32602,
		'a client that cannot ask has to give it');
	is(error(legacy('prompts/get', { name => 'asking' }))->{code}, -32602,
		'and one with initialize');
	return;
}

# ---------------------------------------------------------------- progress --

sub events
{
	return map { /^data: (.*)$/m ? $JSON->decode($1) : () }
	    split /\n\n/, $_[0];
}

sub test_progress
{
	my $ask = sub {
		my (%headers) = @_;
		return post({ jsonrpc => '2.0', id => ++$id,
			method => 'tools/call', params => { name => 'steps',
			arguments => {}, _meta => { progressToken => 7 } } },
			%headers);
	};
	my $answer = $ask->();
	my @events = events($answer->{body});
	my @news = grep { exists $_->{method} } @events;

	is($answer->{headers}{'content-type'}, 'text/event-stream',
		'who asks for progress gets events');
	cmp_ok(scalar @news, '>=', 2, 'at the start and when the tool writes');
	ok(!(grep { $_->{params}{progressToken} != 7 } @news), 'with its token');
	is_deeply([sort { $a <=> $b } map { $_->{params}{progress} } @news],
		[map { $_->{params}{progress} } @news], 'the value rises');
	ok((grep { ($_->{params}{message} // '') eq 'two' } @news),
		'and has what the tool wrote');
	is($events[-1]{result}{content}[0]{text}, "end\n",
		'the result comes last');
	is($ask->(Accept => 'application/json')->{json}{id}, $id,
		'who does not read events gets one answer');
	return;
}

# A call that asks for progress, with its events.
sub watched
{
	my ($name) = @_;

	return post({ jsonrpc => '2.0', id => ++$id, method => 'tools/call',
		params => { name => $name, arguments => {},
			_meta => { progressToken => 7 } } });
}

sub test_first_line
{
	my @news = map { $_->{params}{message} // () }
	    events(watched('early')->{body});

	is_deeply(\@news, ['first'], 'a line that comes at once is reported');
	return;
}

sub told
{
	return map { my $p = $_->{params};
		[$p->{progress}, $p->{total}, $p->{message}] }
	    grep { exists $_->{method} } events(watched($_[0])->{body});
}

# A tool that tells its progress.
sub test_told
{
	my @told = told('counts');
	my @values = map { $_->[0] } @told;

	is_deeply([map { $_->[2] // () } @told], ['one', 'text', 'half', 'back'],
		'each line of standard error is a message, without its numbers');
	is_deeply([map { $_->[1] // '-' } @told], ['-', 4, 4, 100, '-'],
		'the totals are told');
	is_deeply([map { int } @values], [0, 1, 1, 50, 50], 'and the values');
	ok(!(grep { $values[$_] <= $values[$_ - 1] } 1 .. $#values),
		'which rise, also where the tool falls back');
	@told = told('tells');
	is_deeply([map { $_->[2] // () } @told], ['one', 'four'],
		'on a descriptor of its own, and on that alone');
	is_deeply([@{ $told[-1] }[0, 1]], [4, 4], 'up to the end');
	my ($r) = grep { exists $_->{result} } events(watched('tells')->{body});
	is($r->{result}{content}[0]{text}, "end\n",
		'it is no output');
	@told = told('pours');
	cmp_ok(scalar @told, '<', 400, '100 MB of progress are a few messages');
	is($told[-1][2], 'all', 'of which the last one counts');
	is(call('tells')->{content}[0]{text}, "end\n",
		'nobody needs to listen');
	return;
}

# Clients refuse an event of over 1 MiB.
sub test_long_events
{
	my $read = sub {
		my ($body) = watched($_[0])->{body} =~ /([^\n]*"result"[^\n]*)/;
		cmp_ok(length $body, '<', 1 << 20, "$_[0]: an event is read");
		return (events($body))[-1]{result};
	};
	my $r = $read->('long');

	is(length $r->{content}[0]{text}, 900000,
		'what fits is whole');
	ok(!exists $r->{_meta}{"statespace/truncated"}, 'and not called cut');
	is(scalar @{ $r->{content} }, 1, 'by no text either');
	ok(!$r->{isError}, 'and it is no error');
	$r = $read->('longer');
	is(length $r->{content}[1]{text}, 40000, 'stderr is kept');
	cmp_ok(length $r->{content}[0]{text}, '>', 400000,
		'of the rest what fits');
	ok($r->{_meta}{"statespace/truncated"}, 'a text that is cut is marked');
	like($r->{content}[-1]{text}, qr/of 940000 bytes; ask for less/,
		'and as text');
	$r = $read->('picture');
	ok($r->{isError} && $r->{content}[0]{text} =~ /without a progressToken/,
		'what cannot be cut is refused');
	$r = $read->('long_json');
	is(length $r->{structuredContent}{result}[0], 900000,
		'JSON that fits once is whole as structure');
	like($r->{content}[1]{text}, qr/^\[cut: .* structuredContent has all\]$/,
		'and the text is cut');
	$r = $read->('longer_json');
	is_deeply([$r->{isError}, exists $r->{structuredContent}],
		[JSON::PP::false, ''], 'JSON that does not fit is only text');
	like($r->{content}[-1]{text}, qr/^\[cut: .* ask for less/, 'that is cut');
	is(length call('longer_json')->{structuredContent}{result}[0], 1045000,
		'an answer that is no event has it');
	is(length call('long')->{content}[0]{text}, 900000,
		'as has one of text');
	is(length call('picture')->{content}[0]{data}, 1200000, 'any kind');
	return;
}

# What a tool wrote before it was ended reaches the client.
sub test_ended
{
	my $late = qr/\Awhy\nthe tool ran and was stopped after 1 s/;

	for (call('late'), (events(watched('late')->{body}))[-1]{result}) {
		is($_->{content}[0]{text}, "begun\n",
			'the output of a tool that ran out of time');
		like($_->{content}[1]{text}, $late, 'and the reason');
		ok($_->{isError}, 'it is an error');
	}
	my $r = call('endless');
	is(length $r->{content}[0]{text}, 1 << 20,
		'the output up to its limit');
	like($r->{content}[1]{text}, qr/wrote more than/, 'and why');
	for (['late', 408, "begun\n", $late],
		['endless', 413, "y\n" x (1 << 19), qr/wrote more than/]) {
		my ($name, $status, $out, $why) = @$_;
		my $answer = $server->request('POST', '/',
			headers => { 'Content-Type' => 'application/json' },
			body => $JSON->encode({ tool_call => { name => $name } }));
		my $json = $JSON->decode($answer->{body});
		is($answer->{status}, $status, "by POST: $name");
		ok($json->{stdout} eq $out, 'its output');
		like($json->{stderr}, $why, 'and the reason');
		is($json->{returncode}, 1, 'as an error');
		like($json->{error}{message}, qr/^the tool ran/, 'of the tool');
	}
	return;
}

# A client that leaves ends its tool.
sub test_leaving
{
	my $body = $JSON->encode({ jsonrpc => '2.0', id => 1,
		method => 'tools/call', params => { name => 'slow' } });
	my $socket = $server->connect;

	print {$socket} "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
	    . "Content-Type: application/json\r\nContent-Length: "
	    . length($body) . "\r\n\r\n$body";
	$socket->flush;
	my $until = time + 5;
	sleep 0.05 until Statespace::Server::process_lives('sleep 20')
	    || time > $until;
	ok(Statespace::Server::process_lives('sleep 20'), 'a slow tool runs');
	close $socket;
	ok(!Statespace::Server::process_lives('sleep 20', 10),
		'and ends when its client leaves');
	return;
}

# A call that is answered later: its socket.
sub begin
{
	my ($id, $name, %headers) = @_;

	return begin_with({ id => $id, name => $name }, %headers);
}

sub begin_with
{
	my ($what, %headers) = @_;
	my ($id, %params) = (delete $what->{id}, %$what);
	my $body = $JSON->encode({ jsonrpc => '2.0', id => $id,
		method => 'tools/call', params => \%params });
	my $socket = $server->connect;
	%headers = (Host => 'localhost', Connection => 'close',
		'Content-Type' => 'application/json',
		Accept => 'application/json, text/event-stream',
		'Content-Length' => length $body, %headers);

	print {$socket} "POST /mcp HTTP/1.1\r\n",
	    (map { "$_: $headers{$_}\r\n" } sort keys %headers), "\r\n$body";
	$socket->flush;
	return $socket;
}

sub whole_answer
{
	my ($socket) = @_;

	local $/;
	return scalar readline $socket;
}

sub runs
{
	my ($command) = @_;
	my $until = time + 20;

	sleep 0.05 until Statespace::Server::process_lives($command)
	    || time > $until;
	return Statespace::Server::process_lives($command);
}

sub session
{
	return legacy('initialize', { protocolVersion => $_[0] // '2025-11-25' })
	    ->{headers}{'mcp-session-id'};
}

sub cancel
{
	my ($id, @session) = @_;

	return post({ jsonrpc => '2.0', method => 'notifications/cancelled',
		params => { requestId => $id, reason => 'test' } },
		@session ? ('Mcp-Session-Id' => $session[0]) : ())->{status};
}

# The worker that runs the tool is busy: the notice always comes to another.
sub test_cancelling
{
	for my $version ('2025-11-25', '2025-06-18') {
		my ($mine, $theirs) = (session($version), session($version));
		isnt($mine, $theirs, "$version: each client has its session");
		my $first = begin(7, 'slow', 'Mcp-Session-Id' => $mine);
		my $second = begin(7, 'slower', 'Mcp-Session-Id' => $theirs);
		ok(runs('sleep 20') && runs('sleep 22'),
			'two clients run a tool, both as request 7');
		is(cancel(7), 202, 'a cancellation of no session');
		is(cancel($_, $mine), 202, "one of request $_") for 8, '7x';
		is(cancel(7, 'f' x 32), 202, 'one of a session that is guessed');
		is(cancel(7, $theirs), 202, 'one client cancels');
		ok(!Statespace::Server::process_lives('sleep 22', 20),
			'its tool ends');
		like(whole_answer($second), qr/^HTTP\S+ 200 .*event-stream.*: cancelled/s, 'its call has no response');
		ok(Statespace::Server::process_lives('sleep 20'),
			'the tool of the other goes on');
		is(cancel(7, $mine), 202, 'which its own client cancels');
		ok(!Statespace::Server::process_lives('sleep 20', 20),
			'then it ends, too');
		whole_answer($first);
	}
	return;
}

sub test_cancelling_more
{
	my $mine = session();
	my $call = begin(1, 'slow', 'Mcp-Session-Id' => $mine,
		Accept => 'application/json');

	ok(runs('sleep 20'), 'a client that reads no events calls a tool');
	cancel(1, $mine);
	like(whole_answer($call), qr/"id":1,"error":.*was cancelled/,
		'and gets an error when it cancels');
	cancel(2, $mine);
	like(whole_answer(begin(2, 'slow', 'Mcp-Session-Id' => $mine)),
		qr/: cancelled\n\n/, 'a call that comes after its cancellation');
	ok(!Statespace::Server::process_lives('sleep 20', 5), 'does not run');
	for my $n (10 .. 29) {
		my $long = begin($n, 'slow', 'Mcp-Session-Id' => $mine);
		runs('sleep 20');
		cancel($n, $mine);
		whole_answer($long);
	}
	is(call('echo', { word => 'x' })->{content}[0]{text}, "x\n",
		'twenty cancelled calls hold no worker');
	ok(!Statespace::Server::process_lives('sleep 20', 5), 'and leave no tool');
	$server->{site}->write('docs/far.md', "---\nsandbox: { proc: true }\n"
		. "tools: [{ name: far, command: [sleep, '24', ;] }]\n---\n");
	my $far = begin(40, 'far', 'Mcp-Session-Id' => $mine);
	ok(runs('sleep 24'), 'a tool that the launcher runs');
	cancel(40, $mine);
	ok(!Statespace::Server::process_lives('sleep 24', 20), 'ends, too');
	whole_answer($far);
	my $left = begin(30, 'slow', 'Mcp-Session-Id' => $mine);
	ok(runs('sleep 20'), 'a client with a session');
	close $left;
	ok(!Statespace::Server::process_lives('sleep 20', 20),
		'ends its tool when it leaves');
	return;
}

# Up to the next event of a stream that goes on, as a value.
sub next_event
{
	my ($socket) = @_;

	while (defined(my $line = readline $socket)) {
		return $JSON->decode($1) if $line =~ /^data: (.*)$/m;
	}
	return undef;
}

sub asking_session
{
	return legacy('initialize', { protocolVersion => $_[0],
		capabilities => { elicitation => {} } })
	    ->{headers}{'mcp-session-id'};
}

sub reply
{
	my ($question, $session, $result) = @_;

	return post({ jsonrpc => '2.0', id => $question->{id},
		result => $result }, 'Mcp-Session-Id' => $session)->{status};
}

# The answer is another POST, which another worker takes.
sub test_elicitation
{
	for my $version ('2025-11-25', '2025-06-18') {
		my ($mine, $theirs) = map { asking_session($version) } 1 .. 2;
		my %mine = ('Mcp-Session-Id' => $mine);
		my $call = begin(1, 'again', %mine);
		my $q = next_event($call);

		is($q->{method}, 'elicitation/create', "$version: a person is asked");
		like($q->{params}{message}, qr/^echo done$/m, 'about the command');
		is(reply($q, $theirs, $YES), 202, 'the answer of another client');
		is(reply({ id => 'x' }, $mine, $YES), 202, 'to another question');
		is(reply($q, $mine, { action => 'decline' }), 202, 'the answer');
		like(next_event($call)->{result}{content}[0]{text},
			qr/did not agree/, 'counts alone: the person declines');
		for my $n (2 .. 12) {
			$call = begin($n, 'again', %mine);
			reply(next_event($call), $mine, $YES);
			is(next_event($call)->{result}{content}[0]{text},
				"done\n", 'the person agrees') || last;
		}
		$call = begin(20, 'again', %mine);
		reply(next_event($call), $mine, { %$YES, more => 'x' x 2000 });
		like(next_event($call)->{result}{content}[0]{text},
			qr/did not run/, 'an answer without end is none');
		$call = begin(21, 'again', %mine);
		ok(next_event($call), 'a question');
		cancel(21, $mine);
		is(next_event($call), undef, 'of a call that is cancelled');
		$call = begin(22, 'again', %mine);
		ok(next_event($call), 'a question');
		close $call;
		for my $headers ({}, { 'Mcp-Session-Id' => session($version) },
			{ %mine, Accept => 'application/json' }) {
			like(whole_answer(begin(23, 'again', %$headers)),
				qr/"isError":true/, 'who cannot be asked is refused');
		}
	}
	return;
}

sub test_typed_elicitation
{
	for my $version ('2025-11-25', '2025-06-18') {
		my $mine = asking_session($version);
		my $call = begin(1, 'form', 'Mcp-Session-Id' => $mine);
		my $q = next_event($call);
		my $fields = $q->{params}{requestedSchema}{properties};

		is_deeply($fields->{ratio}, { type => 'number', minimum => 0 },
			"$version: a number is asked for");
		reply($q, $mine, { action => 'accept', content => { ratio => 2,
			all => JSON::PP::true, day => '2026-01-31' } });
		$q = next_event($call);
		is($q->{params}{message}, 'Which?', 'then the second form');
		reply($q, $mine, { action => 'accept',
			content => { state => 'open' } });
		is(next_event($call)->{result}{content}[0]{text},
			'3|2|true|2026-01-31|open|', 'and the tool runs');
	}
	return;
}

# Some workers never wait for a person.
sub test_many_questions
{
	my $mine = asking_session('2025-11-25');
	my %mine = ('Mcp-Session-Id' => $mine);
	my ($refused, @calls) = (0);

	my $ask = sub {
		my $call = begin($_[0], 'again', %mine);
		my $first = '';
		while (defined(my $line = readline $call)) {
			$first .= $line;
			last if $line =~ /create|isError/;
		}
		push @calls, $call;
		return $first =~ /too many people/;
	};
	$refused += $ask->($_) for 1 .. 9;
	ok($refused && $refused < 9, 'a limited number of people is asked at a time');
	is(call('echo', { word => 'x' })->{content}[0]{text}, "x\n",
		'and other clients are served');
	close $_ for splice @calls;
	my ($n, $until) = (100, time + 20);
	$refused = 1;
	$refused = $ask->($n++) while $refused && time < $until;
	ok(!$refused, 'and the next are asked when those have left');
	close $_ for @calls;
	return;
}

# ----------------------------------------------------------------- hostile --

sub test_hostile
{
	my $deep = '[' x 100000;

	for (['[]', -32600, 'an empty batch'],
		['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, 'a batch'],
		['', -32700, 'nothing'], ['{', -32700, 'half a message'],
		['null', -32600, 'null'],
		['{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700,
			'two ids'],
		['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600,
			'an object as an id'],
		['{"jsonrpc":"2.0","id":1,"method":"ping","params":3}', -32602,
			'params that are a number'],
		["{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", -32700,
			'bytes that are no text'],
		['{"jsonrpc":"2.0","id":1,"method":"a\u0000b"}', -32700, 'a NUL'],
		["{\"params\":$deep", -32700, 'a deep body'],
		['{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600,
			'a boolean as an id'],
		['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600,
			'a fraction as an id'],
		['{"jsonrpc":"2.0","id":' . 9 x 400000 . ',"method":"ping"}',
			-32600, 'a number without end as an id'],
		['{"jsonrpc":2.0,"id":1,"method":"ping"}', -32600,
			'a version that is a number'],
		['{"jsonrpc":"2.1","id":1,"method":"ping"}', -32600,
			'a version that is not'],
		['{"jsonrpc":"2.0","id":1,"method":"ping"} {}', -32700,
			'two messages'],
		["\xef\xbb\xbf{}", -32700, 'a byte order mark'],
		["{\0\"\0", -32700, 'UTF-16'],
		['{"jsonrpc":"2.0","id":"\ud800","method":"ping"}', -32700,
			'half a surrogate pair'],
		['{"params":' . '{"a":' x 100000, -32700, 'deep objects'],
		['{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{'
			. "\"_meta\":{\"${META}protocolVersion\":3}}}", -32602,
			'a version in _meta that is a number'],
		['{"jsonrpc":"2.0","id":1,"method":"tools/list","params":'
			. '{"cursor":"AAAA"}}', -32602, 'a cursor that we did not make'],
		['{"jsonrpc":"2.0","id":1,"method":"tools/list","params":'
			. '{"cursor":"' . 'QUFB' x 100000 . '"}}', -32602,
			'a cursor without end']) {
		my ($body, $code, $what) = @$_;
		my $answer = post($body);
		is(error($answer)->{code}, $code, "refused: $what");
		ok($answer->{status} == 400 || $what =~ /cursor/,
			'with a status to match');
	}
	test_large();
	is(post('{"jsonrpc":"2.0","id":1,"method":"' . 'x' x 1100000 . '"}')
		->{status}, 413, 'a giant body');
	my $long = error(legacy('x' x 100000));
	cmp_ok(length $long->{message}, '<', 300, 'a long method is not echoed');
	is(legacy('tools/call', { name => 'echo', arguments => [] })
		->{json}{error}{code}, -32602, 'arguments that are a list');
	is(post({ jsonrpc => '2.0', id => 'é' . 'y' x 5000, method => 'ping' })
		->{status}, 200, 'a long id comes back');
	return;
}

# Within the limit of a body, and still no work for long.
sub test_large
{
	my $began = time;
	my %many = map { ("k$_" => '1') } 1 .. 60000;

	for (['arguments', { name => 'first', arguments => \%many },
			qr/no argument "k\d+"/],
		['words', { name => 'first', arguments => { lines => '1',
			file => 'a', args => [('a') x 200000] } },
			qr/200004 words/],
		['variables', { name => 'greet', arguments => { env => \%many } },
			qr/"k\d+": the page does not list it/]) {
		my ($what, $params, $why) = @$_;
		my $r = result(legacy('tools/call', $params));
		ok($r->{isError} && $r->{content}[0]{text} =~ $why,
			"too many $what are an error for the model");
	}
	is_deeply(result(legacy('ping', \%many)), {},
		'unknown parameters are ignored');
	is(error(legacy('resources/read', { uri => 'page:///'
		. '%41' x 300000 }))->{code}, -32002, 'a URI without end');
	is(error(modern('tools/call', { name => 'order', requestState =>
		'9' . '.a' x 400000 }, %CAN))->{code}, -32602,
		'a state without end');
	is(error(modern('tools/call', { name => 'order',
		inputResponses => [] }, %CAN))->{code}, -32602,
		'answers that are a list');
	is(error(modern('tools/list', {}, meta => {
		"${META}protocolVersion" => 'v' x 200000 }))->{code}, -32020,
		'a version without end');
	cmp_ok(time - $began, '<', 20, 'none of it takes long');
	return;
}

# Two thousand calls of two hundred clients at once: each gets its answers.
sub test_crowd
{
	my ($clients, $each, $right) = (200, 10, 0);
	my @sockets = map {
		my $client = $_;
		my $socket = $server->connect;
		for my $n (map { $client * $each + $_ } 1 .. $each) {
			my $body = $JSON->encode({ jsonrpc => '2.0', id => $n,
				method => 'tools/call', params => {
				name => 'echo', arguments => { word => "w$n" } } });
			print {$socket} "POST /mcp HTTP/1.1\r\n"
			    . "Host: localhost\r\n"
			    . ($n % $each ? '' : "Connection: close\r\n")
			    . "Content-Type: application/json\r\n"
			    . 'Content-Length: ' . length($body)
			    . "\r\n\r\n$body";
		}
		$socket->flush;
		$socket;
	} 0 .. $clients - 1;

	for my $client (0 .. $clients - 1) {
		local $/;
		my $answer = readline($sockets[$client]) // '';
		for my $n (map { $client * $each + $_ } 1 .. $each) {
			$right++ if $answer =~ /"id":$n,.*"text":"w$n\\n"/;
		}
	}
	is($right, $clients * $each, 'two thousand calls are each answered');
	return;
}

test_tools();
test_typed();
test_typed_form();
test_calls();
test_declared();
test_crowd();
test_changes();
test_resources();
test_skills();
test_prompts();
test_eras();
test_headers();
test_http();
test_confirm();
test_question();
test_agreement();
test_asking();
test_asking_and_confirm();
test_asking_prompt();
test_progress();
test_told();
test_first_line();
test_long_events();
test_ended();
test_leaving();
test_cancelling();
test_cancelling_more();
test_elicitation();
test_typed_elicitation();
test_many_questions();
test_hostile();
$server->stop_ok;

# ------------------------------------------------- many tools, no MCP at all --

sub test_many
{
	$server = Statespace::Server->start(files => {
		'README.md' => "# x\n",
		map { ("p$_.md" => "---\ntools: [[echo, {}], "
			. "{ command: [date], confirm: true }]\n---\n") } 1 .. 60,
	}, config => "[mcp]\nmax_tools = 119\n");
	my @tools = @{ result(legacy('tools/list'))->{tools} };

	is_deeply([map { $_->{name} } @tools], [qw(search read run)],
		'with more tools than max_tools there are three for all');
	like(call('run', { page => 'none', command => ['echo', 'hi'] })
		->{content}[0]{text}, qr/\npages with tools: p1\.md, /,
		'as does the answer to a wrong one');
	is(call('run', { page => 'p7', command => ['echo', 'hi'] })
		->{content}[0]{text}, "hi\n", 'it runs what a page allows');
	like(call('run', { page => 'p7', command => ['id'] })
		->{content}[0]{text}, qr/no tool of this page/,
		'and nothing else');
	like(call('run', { page => 'p7', command => ['date'] })
		->{content}[0]{text}, qr/did not run/,
		'a question to a person is no way around');
	ok(call('run', { page => '../x', command => ['echo'] })->{isError},
		'a path that climbs is refused');
	like(call('run', { page => 'p7', command => ['echo', '{w}'],
		args => { w => 'hi' } })->{content}[0]{text},
		qr/no other argument/, 'so is what its schema has not');
	$server->stop_ok;
	return;
}

sub test_pages
{
	$server = Statespace::Server->start(files => {
		'README.md' => "# x\n",
		map { (sprintf('p%03d.md', $_) => "---\ntools: [[echo, {}]]\n---\n") }
		    1 .. 230,
	}, config => "[mcp]\nmax_tools = 1000\n");
	for my $kind ('tools', 'resources') {
		my (@names, $cursor);
		for (1 .. 9) {
			my $r = result(legacy("$kind/list",
				$cursor ? { cursor => $cursor } : {}));
			push @names, map { $_->{name} } @{ $r->{$kind} };
			$cursor = $r->{nextCursor} or last;
		}
		is(scalar(@names), $kind eq 'tools' ? 230 : 231,
			"a long list of $kind comes in pieces");
		my %seen = map { $_ => 1 } @names;
		is(scalar(keys %seen), scalar(@names), 'each once');
	}
	$server->stop_ok;
	return;
}

sub test_off
{
	$server = Statespace::Server->start(config => "[mcp]\nenabled = false\n",
		files => { 'README.md' => "# x\n" });
	my $answer = legacy('ping');
	is($answer->{status}, 405, 'where it is off nothing answers');
	is_deeply([$answer->{json}{id}, error($answer)->{data}{code}],
		[$id, 'method'], 'which a client can read');
	is($server->request('GET', '/mcp')->{status}, 404, 'or is there');
	$server->stop_ok;
	return;
}

test_many();
test_pages();
test_off();
done_testing;
