/* SPDX-License-Identifier: MIT */
/*
 * The output of a tool while it writes it (statespace-protocol(7), Events),
 * and at its end the answer as it would be in JSON.
 */
"use strict";

const follow = (() => {
	/* Blocks of lines up to an empty one: HTML, 9.2.6 Event stream. */
	const events = async function* (body) {
		const reader = body.pipeThrough(new TextDecoderStream()).getReader();
		let text = "";

		for (;;) {
			const { done, value } = await reader.read();

			if (done)
				return;
			text += value;

			const blocks = text.split("\n\n");

			text = blocks.pop();
			for (const block of blocks) {
				const fields = {};

				for (const line of block.split("\n")) {
					const at = line.indexOf(": ");

					if (at > 0)
						fields[line.slice(0, at)] =
							line.slice(at + 2);
				}
				if (fields.event)
					yield { name: fields.event,
						data: JSON.parse(fields.data) };
			}
		}
	};

	const decode = (base64) => Uint8Array.from(atob(base64),
		(c) => c.charCodeAt(0));

	/* Text, or the bytes of what is not UTF-8. */
	const is_text = (pieces) => pieces.every((p) => typeof p === "string");

	const bytes = (pieces) => pieces.map((p) => typeof p === "string"
		? new TextEncoder().encode(p) : decode(p.base64));

	/* As an answer in JSON has it: what is not UTF-8 is replaced. */
	const whole = async (pieces) => is_text(pieces) ? pieces.join("")
		: new Blob(bytes(pieces)).text();

	const base64 = async (pieces) => {
		const all = new Uint8Array(await new Blob(bytes(pieces))
			.arrayBuffer());
		let text = "";

		for (const byte of all)
			text += String.fromCharCode(byte);
		return btoa(text);
	};

	/* write: gets the text of both streams so far. */
	return async (body, write) => {
		const written = { stdout: [], stderr: [] };
		let so_far = "";

		for await (const { name, data } of events(body)) {
			if (name === "end") {
				const stderr = await whole(written.stderr);

				return { ...data, stderr, ...(data.binary
					? { stdout_base64: await base64(written.stdout) }
					: { stdout: await whole(written.stdout) }) };
			}
			written[name].push(data);
			so_far += typeof data === "string" ? data : "\ufffd";
			write(so_far);
		}
		throw new TypeError("the stream was cut");
	};
})();
