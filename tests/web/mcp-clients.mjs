// SPDX-License-Identifier: MIT
// The official SDK clients against a server of tests/data/mcp/site, over HTTP
// and over lines.  Prints TAP.
//
//	node mcp-clients.mjs URL PROGRAM SITE CONFIG
//
// Node looks for packages beside the file: it is copied to where they are.
const [url, program, site, config] = process.argv.slice(2);

let count = 0;
const ok = (passed, sentence) =>
	console.log(`${passed ? 'ok' : 'not ok'} ${++count} - ${sentence}`);
const text = result => result.content.find(c => c.type === 'text')?.text;

// What every client does with every way to reach the server.  person: the client
// can ask one; modern: it does so between two requests (2026-07-28).
async function same(name, client, transport, { person, modern })
{
	try {
		await client.connect(transport);
		const { tools } = await client.listTools();
		ok(tools.some(t => t.name === 'test_simple_text'),
			`${name}: lists tools`);
		const call = (tool, options) => client.callTool(
			{ name: tool, arguments: {} }, ...options ?? []);
		ok(text(await call('test_simple_text')).startsWith('This is'),
			`${name}: calls a tool`);
		ok((await call('test_error_handling')).isError,
			`${name}: sees a tool's failure`);
		const read = await client.readResource(
			{ uri: 'test://static-text' });
		ok(read.contents[0].text.includes('static text'),
			`${name}: reads a resource`);
		const prompt = await client.getPrompt({
			name: 'test_prompt_with_arguments',
			arguments: { arg1: 'a', arg2: 'b' } });
		ok(prompt.messages[0].content.text.includes("arg1='a'"),
			`${name}: gets a prompt`);
		let unknown = false;
		await call('no_such_tool').catch(() => { unknown = true; });
		ok(unknown, `${name}: an unknown tool is an error`);
		let agreed = '';
		try {
			agreed = text(await call('test_streaming_elicitation'));
		} catch { }
		ok(person ? agreed === 'agreed\n' : agreed.includes('not run'),
			`${name}: a person is asked, or nothing runs`);
		const rounds = modern
			? text(await call('test_input_required_result_multi_round'))
			: text(await client.callTool({
				name: 'test_input_required_result_multi_round',
				arguments: { color: 'blue', env: { name: 'Ada' } } }));
		ok(rounds === 'Ada likes blue.\n',
			`${name}: what a call needs is asked for, or given`);
	} catch (e) {
		ok(false, `${name}: ${e.stack ?? e}`);
	}
	await client.close().catch(() => { });
}

// A tool that runs for longer than the client waits for a sign of life.
// LONG=1: two minutes of silence, and a client that gives up after ten seconds.
async function follow(name, client, ...more)
{
	const long = process.env.LONG === '1';
	let told = 0, result = '';

	try {
		result = text(await client.callTool({
			name: long ? 'test_long_tool' : 'test_slow_tool',
			arguments: {} }, ...more, {
			onprogress: () => { told++; },
			timeout: long ? 10000 : 2500,
			resetTimeoutOnProgress: true }));
	} catch (e) {
		result = `${e}`;
	}
	ok(result.startsWith('done') && told > 1,
		`${name}: follows a tool to its end (${told} signs, ${result.trim()})`);
}

async function version1()
{
	const { Client } = await import(
		'@modelcontextprotocol/sdk/client/index.js');
	const { StreamableHTTPClientTransport } = await import(
		'@modelcontextprotocol/sdk/client/streamableHttp.js');
	const { StdioClientTransport } = await import(
		'@modelcontextprotocol/sdk/client/stdio.js');
	const make = () => new Client({ name: 'test', version: '1' });

	await same('SDK 1 over HTTP', make(),
		new StreamableHTTPClientTransport(new URL(url)), {});
	await same('SDK 1 over lines', make(), new StdioClientTransport({
		command: program, args: ['mcp', '-c', config, site],
		stderr: 'ignore' }), {});

	const client = make();
	await client.connect(new StreamableHTTPClientTransport(new URL(url)));
	const seen = [];
	await client.callTool({ name: 'test_tool_with_progress', arguments: {} },
		undefined, { onprogress: p => seen.push(p.progress) });
	ok(seen.length >= 2 && seen.every((p, i) => i === 0 || p > seen[i - 1]),
		'SDK 1 over HTTP: progress rises');
	await follow('SDK 1 over HTTP', client, undefined);
	await client.close();
}

async function version2()
{
	const { Client, StreamableHTTPClientTransport } =
		await import('@modelcontextprotocol/client');
	const { StdioClientTransport } =
		await import('@modelcontextprotocol/client/stdio');
	const make = mode => {
		const client = new Client({ name: 'test', version: '1' }, {
			versionNegotiation: { mode },
			capabilities: { elicitation: {} } });

		// A person who knows what each field wants.
		const all = { ok: true, name: 'Ada', color: 'blue' };
		client.setRequestHandler('elicitation/create', async request => ({
			action: 'accept', content: Object.fromEntries(
				Object.keys(request.params.requestedSchema.properties)
					.map(field => [field, all[field]])) }));
		return client;
	};

	for (const [mode, modern] of [['legacy', false], ['auto', true],
		[{ pin: '2026-07-28' }, true]])
		await same(`SDK 2 ${mode.pin ?? mode} over HTTP`, make(mode),
			new StreamableHTTPClientTransport(new URL(url)),
			{ person: true, modern });
	const client = make('auto');
	await client.connect(new StreamableHTTPClientTransport(new URL(url)));
	await follow('SDK 2 over HTTP', client);
	await client.close().catch(() => { });
	for (const [mode, modern] of [['legacy', false], ['auto', true]])
		await same(`SDK 2 ${mode} over lines`, make(mode),
			new StdioClientTransport({ command: program,
				args: ['mcp', '-c', config, site],
				stderr: 'ignore' }), { person: true, modern });
}

await version1();
await version2();
console.log(`1..${count}`);
process.exit(0);
