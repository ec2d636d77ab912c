// SPDX-License-Identifier: MIT
// Every kind of message that a server of tests/data/mcp/site sends, over HTTP
// and over lines, against the published JSON Schema of its revision, which the
// conformance suite carries.  Prints TAP.
//
//	node mcp-schema.mjs URL PROGRAM SITE CONFIG
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

const [url, program, site, config] = process.argv.slice(2);
const MODERN = '2026-07-28', META = 'io.modelcontextprotocol/';

let count = 0;
const ok = (passed, sentence, why) => {
	console.log(`${passed ? 'ok' : 'not ok'} ${++count} - ${sentence}`);
	if (!passed)
		console.log(`# ${JSON.stringify(why)?.slice(0, 2000)}`);
};

// ------------------------------------------------------------- schemas --

// The object literal at this place of a minified program, strings and all.
function literal(source, start)
{
	let depth = 0, quote = null;

	for (let i = start; ; i++) {
		const c = source[i];
		if (quote !== null) {
			if (c === '\\')
				i++;
			else if (c === quote)
				quote = null;
		} else if (c === '`' || c === '"' || c === "'") {
			quote = c;
		} else if (c === '{') {
			depth++;
		} else if (c === '}' && --depth === 0) {
			return new Function(`return ${source.slice(start, i + 1)}`)();
		}
	}
}

function schemas()
{
	const source = readFileSync(new URL(
		'node_modules/@modelcontextprotocol/conformance/dist/index.js',
		import.meta.url), 'utf8');
	const found = {};

	for (const m of source.matchAll(
		/\{\$schema:`[^`]*`,(\$defs|definitions):\{/g)) {
		const schema = literal(source, m.index);
		const all = schema.$defs ?? schema.definitions;

		if (all.InputRequiredResult)
			found[MODERN] = schema;
		else if (all.ElicitRequestFormParams)
			found['2025-11-25'] = schema;
		else if (all.ElicitRequest)
			found['2025-06-18'] = schema;
	}
	return found;
}

const ajvs = {};
for (const [version, schema] of Object.entries(schemas())) {
	ajvs[version] = new Ajv2020({ strict: false, validateFormats: false });
	ajvs[version].addSchema({ ...schema, $schema: undefined }, 'mcp');
}

// What is wrong with value as this definition has it; null: nothing.
function wrong(version, name, value)
{
	const place = version === '2025-06-18' ? 'definitions' : '$defs';
	const check = ajvs[version].getSchema(`mcp#/${place}/${name}`);

	if (!check)
		return `no ${name} in ${version}`;
	return check(value) ? null : check.errors;
}

// ------------------------------------------------------------- transports --

const meta = (version, can) => version !== MODERN ? undefined : {
	[`${META}protocolVersion`]: version,
	[`${META}clientInfo`]: { name: 'test', version: '1' },
	[`${META}clientCapabilities`]: can ?? { elicitation: {} } };

const sent = (version, id, method, params, can) => ({ jsonrpc: '2.0', id,
	method, params: version === MODERN || params
		? { ...params, _meta: { ...meta(version, can), ...params?._meta } }
		: undefined });

// All messages that come back.
async function post(body, headers)
{
	const answer = await fetch(url, { method: 'POST', body, headers: {
		'Content-Type': 'application/json',
		Accept: 'application/json, text/event-stream', ...headers } });
	const text = await answer.text();

	return /event-stream/.test(answer.headers.get('content-type'))
		? [...text.matchAll(/^data: (.*)$/mg)].map(m => JSON.parse(m[1]))
		: text === '' ? [] : [JSON.parse(text)];
}

const http = (version, message, extra) => post(JSON.stringify(message),
	version === MODERN ? { 'MCP-Protocol-Version': version,
		'Mcp-Method': message.method,
		...message.params.name && { 'Mcp-Name': message.params.name },
		...message.params.uri && { 'Mcp-Name': message.params.uri },
		...extra } : { 'MCP-Protocol-Version': version, ...extra });

function lines()
{
	const child = spawn(program, ['mcp', '-c', config, site],
		{ stdio: ['pipe', 'pipe', 'ignore'] });
	const reader = createInterface({ input: child.stdout });
	const next = reader[Symbol.asyncIterator]();

	return {
		end: () => child.stdin.end(),
		ask: async (version, message) => {
			const all = [];
			child.stdin.write(`${typeof message === 'string' ? message
				: JSON.stringify(message)}\n`);
			do
				all.push(JSON.parse((await next.next()).value));
			while (all.at(-1).method !== undefined);
			return all;
		},
	};
}

// ------------------------------------------------------------- messages --

const call = (name, more) => ['tools/call', { name, arguments: {}, ...more }];
const BOTH = [MODERN, '2025-11-25', '2025-06-18'], OLD = BOTH.slice(1);

// Method, params, what the result is, and for whom.
const results = [
	['initialize', { protocolVersion: '2025-11-25', capabilities: {},
		clientInfo: { name: 't', version: '1' } }, 'InitializeResult', OLD],
	['ping', undefined, 'EmptyResult', OLD],
	['logging/setLevel', { level: 'info' }, 'EmptyResult', OLD],
	['resources/subscribe', { uri: 'test://x' }, 'EmptyResult', OLD],
	['resources/unsubscribe', { uri: 'test://x' }, 'EmptyResult', OLD],
	['server/discover', undefined, 'DiscoverResult', [MODERN]],
	['tools/list', undefined, 'ListToolsResult', BOTH],
	...['simple_text', 'image_content', 'audio_content', 'embedded_resource',
		'multiple_content_types', 'error_handling'].map(name =>
		[...call(`test_${name}`), 'CallToolResult', BOTH]),
	[...call('test_simple_text', { arguments: { more: 1 } }),
		'CallToolResult', BOTH],
	[...call('test_tool_with_progress', { _meta: { progressToken: 't' } }),
		'CallToolResult', BOTH],
	[...call('test_streaming_elicitation'), 'CallToolResult', OLD],
	[...call('test_streaming_elicitation'), 'InputRequiredResult', [MODERN]],
	[...call('test_input_required_result_multi_round'),
		'InputRequiredResult', [MODERN]],
	['resources/list', undefined, 'ListResourcesResult', BOTH],
	['resources/templates/list', undefined, 'ListResourceTemplatesResult',
		BOTH],
	['resources/read', { uri: 'test://static-text' }, 'ReadResourceResult',
		BOTH],
	['resources/read', { uri: 'test://static-binary' }, 'ReadResourceResult',
		BOTH],
	['prompts/list', undefined, 'ListPromptsResult', BOTH],
	['prompts/get', { name: 'test_simple_prompt' }, 'GetPromptResult', BOTH],
	['prompts/get', { name: 'test_prompt_with_image' }, 'GetPromptResult',
		BOTH],
	['prompts/get', { name: 'test_prompt_with_embedded_resource',
		arguments: { resourceUri: 'test://example-resource' } },
		'GetPromptResult', BOTH],
	['prompts/get', { name: 'test_input_required_result_prompt' },
		'InputRequiredResult', [MODERN]],
	['completion/complete', { ref: { type: 'ref/resource',
		uri: 'test://{+path}' }, argument: { name: 'path', value: 's' } },
		'CompleteResult', BOTH],
	['skills/list', undefined, 'Result', BOTH],
	['skills/get', { uri: 'skill://skills/make-tea/SKILL.md' }, 'Result',
		BOTH],
];

// The same for errors: the code, and the definition that it has of its own.
const errors = [
	['no/method', undefined, -32601, 'MethodNotFoundError'],
	['tools/call', {}, -32602, 'InvalidParamsError'],
	[...call('no_such_tool'), -32602, 'InvalidParamsError'],
	['prompts/get', { name: 'none' }, -32602, 'InvalidParamsError'],
	['prompts/get', { name: 'test_prompt_with_arguments' }, -32602,
		'InvalidParamsError'],
	['tools/list', { cursor: 'x' }, -32602, 'InvalidParamsError'],
	['skills/get', { uri: 'x' }, -32602, 'InvalidParamsError'],
];

const raw = [['{', -32700, 'ParseError'], ['[]', -32600, 'InvalidRequestError'],
	['{"jsonrpc":"1.0","id":7,"method":"x"}', -32600, 'InvalidRequestError'],
	['{"jsonrpc":"2.0","id":null,"method":"x"}', -32600,
		'InvalidRequestError'],
	['{"jsonrpc":"2.0","id":7,"method":"x","params":[]}', -32602,
		'InvalidParamsError']];

let id = 0;

function check_result(where, version, message, answers, definition)
{
	const news = answers.slice(0, -1), last = answers.at(-1);
	const why = wrong(version, version === MODERN ? 'JSONRPCResultResponse'
		: version === '2025-11-25' ? 'JSONRPCResultResponse'
		: 'JSONRPCResponse', last)
		?? wrong(version, definition, last.result)
		?? news.map(n => wrong(version, 'ProgressNotification', n))
			.find(n => n !== null)
		?? (last.id === message.id ? null : 'another id');

	ok(why == null, `${where} ${version}: ${message.method} `
		+ `${message.params?.name ?? message.params?.uri ?? ''}`
		+ ` is a ${definition}`, why && { why, last });
}

function check_error(where, version, answers, code, definition)
{
	const last = answers.at(-1);
	const kind = version === '2025-06-18' ? 'JSONRPCError'
		: 'JSONRPCErrorResponse';
	// No id could be read: only the later revisions have words for it.
	const why = (last.id === undefined && version === '2025-06-18' ? null
		: wrong(version, kind, last))
		?? (last.error?.code === code ? null : `not ${code}`)
		?? (version === MODERN && definition
			? wrong(version, definition, last)
				&& wrong(version, definition, last.error) : null);

	ok(why == null, `${where} ${version}: an error ${code} is a ${definition}`,
		why && { why, last });
}

for (const [where, ask, end] of [['HTTP', http, () => { }],
	(l => ['lines', l.ask, l.end])(lines())]) {
	for (const [method, params, definition, versions] of results)
		for (const version of versions) {
			const message = sent(version, ++id, method, params);
			check_result(where, version, message,
				await ask(version, message), definition);
		}
	for (const [method, params, code, definition] of errors)
		for (const version of BOTH)
			check_error(where, version, await ask(version, sent(version,
				++id, method, params)), code, definition);
	for (const version of BOTH)
		check_error(where, version, await ask(version, sent(version, ++id,
			'resources/read', { uri: 'test://none' })),
			version === MODERN ? -32602 : -32002, 'Error');
	check_error(where, MODERN, await ask(MODERN, sent(MODERN, ++id,
		...call('test_streaming_elicitation'), { })), -32021,
		'MissingRequiredClientCapabilityError');
	check_error(where, MODERN, await ask(MODERN, sent(MODERN, ++id,
		...call('test_streaming_elicitation', { requestState: 'x' }))),
		-32602, 'InvalidParamsError');
	const later = sent(MODERN, ++id, 'tools/list');
	later.params._meta[`${META}protocolVersion`] = '2030-01-01';
	check_error(where, MODERN, await ask(MODERN, later,
		{ 'MCP-Protocol-Version': '2030-01-01' }), -32022,
		'UnsupportedProtocolVersionError');
	for (const [body, code, definition] of raw)
		check_error(where, MODERN, where === 'HTTP' ? await post(body)
			: await ask(MODERN, body), code, definition);
	end();
}
check_error('HTTP', MODERN, await http(MODERN, sent(MODERN, ++id,
	...call('test_simple_text')), { 'Mcp-Name': 'other' }), -32020,
	'HeaderMismatchError');

// A tool's own schemas are schemas, and what it gives is what it says.
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
formats.default(ajv, ['date']);
const [{ result: { tools } }] = await http(MODERN,
	sent(MODERN, ++id, 'tools/list'));
for (const tool of tools) {
	let compiled = true;
	try {
		ajv.compile(tool.inputSchema);
	} catch (e) {
		compiled = String(e);
	}
	ok(compiled === true, `${tool.name}: its schemas compile`, compiled);
}
console.log(`1..${count}`);
process.exit(0);
