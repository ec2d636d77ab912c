// SPDX-License-Identifier: MIT
// The calls of company.t by the official SDK clients, over HTTP and over lines,
// in both eras.  Prints TAP.
//
//	node company.mjs URL PROGRAM SITE CONFIG TABLE
//
// TABLE is a file of company.t.  Node looks for packages beside this file: it is
// copied to where they are.
import { readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';

const [url, program, site, config, file] = process.argv.slice(2);
const table = JSON.parse(readFileSync(file, 'utf8'));

let count = 0;
const ok = (passed, sentence, detail) => {
	console.log(`${passed ? 'ok' : 'not ok'} ${++count} - ${sentence}`);
	if (!passed && detail !== undefined)
		console.log(`# ${String(detail).replace(/\n/g, '\n# ')}`);
};
const is = (seen, expected, sentence) => ok(seen === expected, sentence,
	`expected ${JSON.stringify(expected)}\nsaw ${JSON.stringify(seen)}`);

// How often the tool ran that a person must agree to.
const cancelled = () => Number(execFileSync('sqlite3',
	[`${site}/data/orders.db`, 'SELECT count(*) FROM cancelled']));

// The first block is standard output; standard error and notes are others.
const text = result => result.content[0]?.text;
const told = result => result.content.map(c => c.text).join('\n');

// A call that is refused is an error of the tool, or of the request.
const refusal = async (call, name, args) => {
	try {
		const result = await call(name, args);
		return result.isError ? told(result) : `it ran: ${told(result)}`;
	} catch (e) {
		return String(e.message);
	}
};

// person: what the one at the client answers, and what it was asked; null: the
// client can ask nobody.
async function same(name, client, transport, ask, person)
{
	let answers = '';
	const call = async (...words) => {
		const result = await ask(...words);
		answers += JSON.stringify(result);
		return result;
	};

	await client.connect(transport);
	for (const [task, , tool, args, stdout] of table.calls) {
		const result = await call(tool, args);
		is(text(result), stdout, `${task} ${name}: ${tool} ` +
			JSON.stringify(args));
	}
	for (const [, tool, args, why] of table.refusals) {
		const message = await refusal(call, tool, args);
		ok(new RegExp(why).test(message), `4 ${name}: refused ${tool} ` +
			JSON.stringify(args), message);
	}

	let all = '', parts = 0, next;
	do {
		const result = await call('search', { q: 'GET',
			...next && { next } });
		all += text(result);
		next = result._meta?.['statespace/next'];
		parts++;
	} while (next && parts < 20);
	is(all, table.whole, `2 ${name}: all parts are the whole`);

	if (table.picture) {
		const { content } = await call('chart', {});
		const image = content.find(c => c.type === 'image');
		is(`${image?.mimeType} ${image?.data}`,
			`image/png ${table.picture}`, `3 ${name}: a picture`);
	}

	const before = cancelled();
	const id = table.order;
	if (person) {
		person.answer = { action: 'decline' };
		await refusal(call, 'cancel', { id });
		is(cancelled(), before, `4 ${name}: a person says no`);
		ok(person.asked?.startsWith(`Cancel order ${id}?`),
			`4 ${name}: the author's question`, person.asked);
		person.answer = { action: 'accept', content: { ok: true } };
		is(text(await call('cancel', { id })),
			`Order ${id} is cancelled: wish\n`,
			`4 ${name}: a person agrees`);
		is(cancelled(), before + 1, `4 ${name}: it ran once`);
	} else {
		const message = await refusal(call, 'cancel', { id });
		is(cancelled(), before, `4 ${name}: without a person it is not run`);
		ok(/person/.test(message), `4 ${name}: and says why`, message);
	}

	const seen = [];
	await call('count', { shelves: 4, pause: 0.2 }, p => seen.push(p));
	const last = seen.at(-1);
	ok(seen.length >= 2 && last.total === 4 && /^shelf \d$/.test(last.message),
		`4 ${name}: progress, of how much, and with a message`,
		JSON.stringify(seen));

	const { tools } = await client.listTools();
	const input = tools.find(t => t.name === 'orders').inputSchema.properties;
	is(JSON.stringify([input.state.enum, input.n.type, input.n.minimum,
		input.n.maximum, input.n.default, input.since.format]),
		'[["open","paid","cancelled"],"integer",1,99,10,"date"]',
		`4 ${name}: the schema has the types`);
	const prompt = await client.getPrompt({ name: 'handover',
		arguments: { shift: 'early' } });
	ok(prompt.messages[0].content.text.includes('the early shift'),
		`5 ${name}: a prompt`);
	const read = async path => (await client.readResource(
		{ uri: `page:///${path}` })).contents[0].text;
	ok((await read('README.md')).includes('There are **3** open orders'),
		`5 ${name}: a page with its component`);
	const { resources } = await client.listResources();
	const skill = resources.find(r => /refunds\/SKILL/.test(r.uri));
	ok(skill && (await client.readResource({ uri: skill.uri }))
		.contents[0].text.includes('# Refunds'), `5 ${name}: a skill`,
		JSON.stringify(resources.map(r => r.uri)));
	ok(!answers.includes(table.key), `3 ${name}: the key is in no answer`);
	await client.close();
}

const lines = { command: program, args: ['mcp', '-c', config, site],
	stderr: 'ignore' };

async function version1()
{
	const sdk = '@modelcontextprotocol/sdk';
	const { Client } = await import(`${sdk}/client/index.js`);
	const { ElicitRequestSchema } = await import(`${sdk}/types.js`);
	const { StreamableHTTPClientTransport: Http } = await import(
		`${sdk}/client/streamableHttp.js`);
	const { StdioClientTransport: Lines } = await import(
		`${sdk}/client/stdio.js`);

	for (const [name, transport, person] of [
		['SDK 1 over HTTP', new Http(new URL(url)), {}],
		['SDK 1 over lines', new Lines(lines), null]]) {
		const client = new Client({ name: 'test', version: '1' },
			{ capabilities: person ? { elicitation: {} } : {} });
		if (person)
			client.setRequestHandler(ElicitRequestSchema,
				async ({ params }) => {
					person.asked = params.message;
					return person.answer;
				});
		await same(name, client, transport, (tool, args, onprogress) =>
			client.callTool({ name: tool, arguments: args }, undefined,
				onprogress && { onprogress }), person);
	}
}

async function version2()
{
	const { Client, StreamableHTTPClientTransport: Http } =
		await import('@modelcontextprotocol/client');
	const { StdioClientTransport: Lines } =
		await import('@modelcontextprotocol/client/stdio');

	for (const [mode, where, transport] of [
		['legacy', 'over HTTP', new Http(new URL(url))],
		['auto', 'over HTTP', new Http(new URL(url))],
		['auto', 'over lines', new Lines(lines)]]) {
		const person = {};
		const client = new Client({ name: 'test', version: '1' }, {
			versionNegotiation: { mode },
			capabilities: { elicitation: {} } });
		client.setRequestHandler('elicitation/create',
			async ({ params }) => {
				person.asked = params.message;
				return person.answer;
			});
		await same(`SDK 2 ${mode} ${where}`, client, transport,
			(tool, args, onprogress) => client.callTool(
				{ name: tool, arguments: args },
				onprogress && { onprogress }), person);
	}
}

try {
	await version1();
	await version2();
} catch (e) {
	ok(false, 'the clients come to their end', e.stack ?? e);
}
console.log(`1..${count}`);
process.exit(0);
