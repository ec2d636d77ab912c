/* SPDX-License-Identifier: MIT */
/*
 * Runs a page's tools from their cards.  What comes back is set as text, as
 * cells of text or as a raster picture, and never as HTML.  Without this script everything can be read; the fields then
 * do nothing.
 */
"use strict";

(() => {
	const element = (name, className, text) => {
		const e = document.createElement(name);

		if (className)
			e.className = className;
		if (text !== undefined)
			e.textContent = text;
		return e;
	};

	/* ------------------------------------------------- what is sent -- */

	/* Words divided by blanks; quotes and backslashes as in a shell. */
	const split = (line) => {
		const words = [];
		let word = null, quote = "";

		for (let i = 0; i < line.length; i++) {
			const c = line[i];

			if (quote && c === quote) {
				quote = "";
			} else if (quote === "'" || (quote && c !== "\\")) {
				word += c;
			} else if (c === "\\" && i + 1 < line.length) {
				word = (word || "") + line[++i];
			} else if (c === "'" || c === "\"") {
				quote = c;
				word = word || "";
			} else if (/\s/.test(c)) {
				if (word !== null)
					words.push(word);
				word = null;
			} else {
				word = (word || "") + c;
			}
		}
		if (word !== null)
			words.push(word);
		return words;
	};

	/* A number or boolean as JSON has it, when it is written that way. */
	const json = (text) => {
		try {
			const value = JSON.parse(text);

			return String(value) === text ? value : text;
		} catch {
			return text;
		}
	};

	const fields = (form) => form.querySelectorAll("[data-argument]");

	const given = (input) => input.value !== "" ||
		!("omit" in input.dataset);

	/* The request of a form, as it stands now; text: what a field says. */
	const request = (form, text) => {
		const more = form.querySelector("[data-more]");
		const stdin = form.querySelector("[data-stdin]");
		const values = {}, env = {};
		const body = { tool_call: { name: form.dataset.tool } };

		for (const input of fields(form))
			if (given(input))
				values[input.dataset.argument] =
					"json" in input.dataset
						? json(text(input))
						: text(input);
		if (more && split(more.value).length > 0)
			values.args = split(more.value);
		if (Object.keys(values).length > 0)
			body.tool_call.arguments = values;
		for (const input of form.querySelectorAll("[data-env]"))
			if (input.value !== "")
				env[input.dataset.env] = input.value;
		if (Object.keys(env).length > 0)
			body.env = env;
		if (stdin && stdin.value !== "")
			body.stdin = stdin.value;
		return body;
	};

	const quoted = (word) => /^[\w./:~-]+$/.test(word) ? word
		: "'" + word.replace(/'/g, "'\\''") + "'";

	const address = () => location.origin + location.pathname;

	/* What is not filled in yet has an example, or stands there by its name. */
	const curl = (form) => "curl --json " +
		quoted(JSON.stringify(request(form, (input) => input.value ||
			(input.dataset.sample ??
				"{" + input.dataset.argument + "}")))) +
		" " + quoted(address());

	/* How the author has a value written inside a word. */
	const escapes = {
		url: (value) => encodeURIComponent(value).replace(/[!'()*]/g,
			(c) => "%" + c.charCodeAt(0).toString(16).toUpperCase()),
		sql: (value) => value.replace(/'/g, "''"),
		json: (value) => JSON.stringify(value).slice(1, -1),
	};

	/* Writes the values of the fields into the command line. */
	const fill = (form, line) => {
		const inputs = new Map([...fields(form)].map(
			(input) => [input.dataset.argument, input]));

		for (const place of line.querySelectorAll("[data-for]")) {
			const { value } = inputs.get(place.dataset.for);
			const escape = escapes[place.dataset.escape];

			place.dataset.name ??= place.textContent;
			place.textContent = value === "" ? place.dataset.name
				: quoted(escape ? escape(value) : value);
		}
	};

	/* ------------------------------------------------ what is checked -- */

	/*
	 * The page's expression is PCRE's; most of them read the same here.
	 * null: this one does not, and the server decides alone.
	 */
	const expression = (source) => {
		const start = /^\(\?([a-z]+)\)/.exec(source);
		const flags = start ? start[1] : "";

		if (/[^ims]/.test(flags))
			return null;
		try {
			return new RegExp(source.slice(start ? start[0].length
				: 0), flags + "u");
		} catch {
			return null;
		}
	};

	/* Only advice: the server decides, and says why. */
	const watch = (input) => {
		const regex = expression(input.dataset.regex);
		const help = document.getElementById(input.id + "h");

		input.addEventListener("input", () => {
			const wrong = regex && input.value !== "" &&
				input.value.length < 1000 &&
				!regex.test(input.value);

			input.setAttribute("aria-invalid", String(Boolean(wrong)));
			help.classList.toggle("wrong", Boolean(wrong));
		});
	};

	/* ------------------------------------------------- what comes back -- */

	const stream = (name, text) => {
		const pre = element("pre");
		const title = element("h4", "", name);

		pre.tabIndex = 0;
		pre.setAttribute("aria-label", name);
		const code = element("code");

		code.append(...ansi(text));
		pre.append(code);
		return text === "" ? [] : [title, pre];
	};

	const state = (text, good, time) => {
		const p = element("p", "state " + (good ? "good" : "bad"), text);

		p.append(element("span", "time", " · " + time));
		return p;
	};

	/*
	 * The next step that the server names: sent by a button, or a link.  keep
	 * is the member that the refused request has and next.request has not.
	 */
	const next_step = (next, body) => {
		const p = element("p", "next", next.text);
		const path = next.path && new URL(next.path, location.href);

		if (next.do === "call" && (!path ||
			path.pathname === location.pathname)) {
			const button = element("button", "copy", "Send this");
			const kept = next.keep && body
				? { [next.keep]: body[next.keep] } : {};
			const text = JSON.stringify(next.request);

			button.type = "button";
			button.addEventListener("click", () => button.closest(".tool")
				.run({ ...next.request, ...kept }, text));
			p.append(element("code", "", text), button);
		} else if (next.do === "wait" && body) {
			const button = element("button", "copy", "Try again");

			button.type = "button";
			button.addEventListener("click",
				() => button.closest(".tool").run(body,
					JSON.stringify(body)));
			p.append(button);
		} else if (next.do === "get" && path &&
			path.origin === location.origin) {
			const link = element("a", "", next.path);

			link.href = path;
			p.append(link);
		}
		return p;
	};

	const refused = (error, body) => {
		const box = element("div", "refused");
		const list = /^this page allows: (.*)$/s.exec(error.hint || "");
		const p = element("p");

		p.append(element("strong", "", error.code), ": " + error.message);
		box.append(p);
		if (list) {
			const tools = element("ul");

			for (const tool of list[1].split(/(?<=\]), (?=[[…])/)) {
				const item = element("li");

				item.append(element("code", "", tool));
				tools.append(item);
			}
			box.append(element("p", "", "This page allows:"), tools);
		} else if (error.hint) {
			box.append(element("p", "", error.hint));
		}
		if (error.next)
			box.append(next_step(error.next, body));
		return box;
	};

	/* run: how long the tool itself ran; undefined: it did not. */
	const duration = (run, ms) => {
		const text = Math.round(ms) + " ms";

		return run !== undefined ? Number(run).toPrecision(3) + " ms, " +
			text + " in all" : text;
	};

	/* ---------------------------------------------- bytes and pictures -- */

	/* What browsers show as a picture and nothing else: no SVG. */
	const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
	const ENDINGS = { "image/jpeg": "jpg", "audio/mpeg": "mp3",
		"application/gzip": "gz" };

	/* The type without parameters; "": none was declared. */
	const plain = (type) => (type || "").split(";")[0].trim().toLowerCase();

	const file = (name, type) => {
		const known = /\/(png|gif|webp|avif|pdf|zip|tar|wav|ogg|mp4)$/;
		const end = ENDINGS[type] || (known.exec(type) || [])[1] || "bin";

		return (name.replace(/[^\w.-]+/g, "-") || "output") + "." + end;
	};

	const bytes = (base64) => {
		const text = atob(base64);
		const data = new Uint8Array(text.length);

		for (let i = 0; i < text.length; i++)
			data[i] = text.charCodeAt(i);
		return data;
	};

	/*
	 * Saves the bytes.  Their own type stays unused: a document that a tool
	 * wrote would be one of this origin.
	 */
	const saving = (data, type, name) => {
		const p = element("p");
		const link = element("a", "", "Download " + file(name, type));

		link.href = URL.createObjectURL(new Blob([data],
			{ type: "application/octet-stream" }));
		link.download = file(name, type);
		p.append(link, element("span", "time", " · " +
			data.length.toLocaleString("en") + " bytes, " + type));
		return p;
	};

	const picture = (data, type, name) => {
		const image = element("img");

		image.alt = "What " + name + " printed: " + type;
		image.src = URL.createObjectURL(new Blob([data], { type }));
		image.addEventListener("error", () => image.replaceWith(
			element("p", "note", "The bytes are no picture that " +
				"this browser can show.")));
		return image;
	};

	const binary = (answer, name) => {
		const data = bytes(answer.stdout_base64);
		const type = plain(answer.type);

		if (data.length === 0)
			return [];
		return [element("h4", "", "stdout"),
			...(PICTURES.includes(type) ? [picture(data, type, name)]
				: []),
			saving(data, type, name)];
	};

	/* Object URLs keep their bytes until they are given back. */
	const forget = (result) => {
		for (const e of result.querySelectorAll("[href^='blob:'], " +
			"[src^='blob:']"))
			URL.revokeObjectURL(e.href || e.src);
	};

	/* -------------------------------------------------- earlier runs -- */

	const EARLIER = 5, SO_FAR = 100000;

	/* What is shown goes below, to be compared with what comes next. */
	const keep = (result) => {
		const details = element("details");
		const { run } = result;
		let list = result.nextElementSibling;

		if (!run)
			return;
		if (!list.matches(".earlier")) {
			list = element("div", "earlier");
			result.after(list);
		}
		details.append(element("summary", "", "Earlier: " + run),
			...result.childNodes);
		list.prepend(details);
		while (list.childElementCount > EARLIER) {
			forget(list.lastElementChild);
			list.lastElementChild.remove();
		}
	};

	/* Counts the seconds; a screen reader is told of the start alone. */
	const clock = (result) => {
		const p = element("p", "note", "Running");
		const time = element("span", "time");
		const output = element("pre");
		let timer, began;

		time.setAttribute("aria-hidden", "true");
		output.setAttribute("aria-live", "off");
		output.setAttribute("aria-label", "output so far");
		output.tabIndex = 0;
		p.append(time);
		return {
			/* The last of what was written so far. */
			write: (text) => {
				output.textContent = text.slice(-SO_FAR);
				if (!output.isConnected)
					result.append(output);
				output.scrollTop = output.scrollHeight;
			},
			start: () => {
				began = performance.now();
				time.textContent = "";
				result.replaceChildren(p);
				timer = setInterval(() => {
					time.textContent = " · " + Math.round(
						(performance.now() - began) /
						1000) + " s";
				}, 1000);
			},
			stop: () => {
				clearInterval(timer);
				result.replaceChildren();
				return performance.now() - began;
			},
		};
	};

	/* -------------------------------------------------------- tables -- */

	const ROWS = 500, COLUMNS = 50, CELL = 1000;

	/* The cell at `at` and its end; quotes as in RFC 4180, 2.5 to 2.7. */
	const cell = (text, at) => {
		let value = "";

		if (text[at] !== "\"") {
			const end = /[,\r\n]|$/g;

			end.lastIndex = at;
			value = text.slice(at, end.exec(text).index);
			return [value, at + value.length];
		}
		for (;;) {
			const end = text.indexOf("\"", at + 1);

			if (end < 0)
				throw new SyntaxError("a quote that is not closed");
			value += text.slice(at + 1, end);
			if (text[end + 1] !== "\"")
				return [value, end + 1];
			value += "\"";
			at = end + 1;
		}
	};

	/* Rows of CSV, one more than is shown; throws if it is none. */
	const csv = (text) => {
		const rows = [];
		let row = [], wide = 0, value = "", comma = false;
		let at = text.startsWith("\ufeff") ? 1 : 0;

		while ((at < text.length || comma) && rows.length <= ROWS + 1) {
			[value, at] = cell(text, at);
			if (row.length <= COLUMNS)
				row.push(value);
			if (at < text.length && !",\r\n".includes(text[at]))
				throw new SyntaxError("text behind a quote");
			comma = text[at] === ",";
			if (comma) {
				at++;
				continue;
			}
			at += text.startsWith("\r\n", at) ? 2 : 1;
			if (row.length > 1 || row[0] !== "")
				rows.push(row);
			wide = Math.max(wide, row.length);
			row = [];
		}
		return { head: rows.slice(0, 1), rows: rows.slice(1), wide };
	};

	/* Numbers as they were written, where the browser tells. */
	const written = (key, value, context) => {
		if (typeof value !== "number")
			return value;
		if (context && context.source !== undefined)
			return context.source === String(value) ? value
				: context.source;
		if (Number.isInteger(value) && !Number.isSafeInteger(value))
			throw new RangeError("a number that would be rounded");
		return value;
	};

	const is_object = (value) => typeof value === "object" &&
		value !== null && !Array.isArray(value);

	const words = (value) => value === undefined ? ""
		: typeof value === "string" ? value : JSON.stringify(value);

	/* The same of a list of objects. */
	const objects = (text) => {
		const list = JSON.parse(text, written);
		const names = new Set();

		if (!Array.isArray(list) || !list.every(is_object))
			throw new TypeError("no list of objects");
		for (const one of list.slice(0, ROWS))
			for (const name of Object.keys(one)) {
				if (names.size > COLUMNS)
					break;
				names.add(name);
			}
		const head = [...names];
		return { head: [head], wide: head.length,
			rows: list.slice(0, ROWS + 1).map((one) => head.map(
				(name) => Object.hasOwn(one, name)
					? words(one[name]) : "")) };
	};

	const table = (found) => {
		const box = element("div", "scroll");
		const made = element("table");
		const wide = Math.min(found.wide, COLUMNS);

		const add = (row, name) => {
			const tr = element("tr");

			for (let i = 0; i < wide; i++) {
				const value = row[i] || "";
				const td = element(name,
					/^-?[\d.,]{1,40}$/.test(value) ? "number" : "",
					value.length > CELL
						? value.slice(0, CELL) + "…" : value);

				if (name === "th")
					td.scope = "col";
				tr.append(td);
			}
			made.append(tr);
		};

		box.tabIndex = 0;
		box.setAttribute("role", "group");
		box.setAttribute("aria-label", "stdout as a table");
		for (const row of found.head)
			add(row, "th");
		for (const row of found.rows.slice(0, ROWS))
			add(row, "td");
		box.append(made);
		return box;
	};

	/* null: the text is to be shown as it is. */
	const tabular = (type, text) => {
		const read = type === "text/csv" ? csv
			: /^application\/json$|\+json$/.test(type) ? objects : null;

		try {
			const found = read && read(text);

			return found && found.rows.length > 0 && found.wide > 0
				? found : null;
		} catch {
			return null;
		}
	};

	const text_or_table = (answer) => {
		const found = tabular(plain(answer.type), answer.stdout);
		const [title, pre] = stream("stdout", answer.stdout);

		if (!found)
			return title ? [title, pre] : [];
		const cut = [
			...(found.rows.length > ROWS ? [ROWS + " rows"] : []),
			...(found.wide > COLUMNS ? [COLUMNS + " columns"] : []),
		];
		const details = element("details");

		details.append(element("summary", "", "As text"), pre);
		return [title, table(found), ...(cut.length > 0 ? [element("p",
			"note", "The first " + cut.join(" and ") +
			": the text has all.")] : []), details];
	};

	/*
	 * Which lines of a long output these are, and a button for those that
	 * follow.  The request is the one that they answer, agreement and all.
	 */
	const further = (answer, body) => {
		const part = answer.part;
		const p = element("p", "note");
		const button = element("button", "", "More");

		if (!part)
			return [];
		p.append("Lines " + part.first_line + " to " + part.last_line +
			" of " + part.lines +
			(answer.truncated && !answer.next
				? "; what follows is not kept. " : ". "));
		button.type = "button";
		button.addEventListener("click", async () => {
			button.disabled = true;
			try {
				p.replaceWith(...continued(await (await post(
					{ ...body, next: answer.next })).json(),
				body));
			} catch (error) {
				p.replaceWith(failure(error));
			}
		});
		if (answer.next)
			p.append(button);
		return [p];
	};

	const continued = (answer, body) => [
		...(answer.error ? [refused(answer.error)] : []),
		...(answer.part ? stream("from line " + answer.part.first_line,
			answer.stdout) : []),
		...further(answer, body),
	];

	const show = (answer, time, name, body) => {
		const limit = answer.sandbox && answer.sandbox.limit;

		if (answer.error)
			return [state("refused", false, time),
				refused(answer.error, body),
				...stream("stdout", answer.stdout || ""),
				...further(answer, body)];
		return [
			state("exit code " + answer.returncode +
				(limit ? ", ended by its limit: " + limit : ""),
				answer.returncode === 0, time),
			...(answer.stdout_base64 !== undefined
				? binary(answer, name) : text_or_table(answer)),
			...further(answer, body),
			...stream("stderr", answer.stderr),
			...(!answer.stdout && !answer.stdout_base64 &&
				answer.stderr === ""
				? [element("p", "note", "No output.")] : []),
		];
	};

	/* -------------------------------------------------- what is agreed to -- */

	/* No word can be taken for several, or be written backwards. */
	const shown = (word) => /^[\w./:=@%+,-]+$/.test(word) ? word
		: JSON.stringify(word).replace(
			/[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
			(c) => "\\u" +
				c.charCodeAt(0).toString(16).padStart(4, "0"));

	/* The command that the server would run, and what goes with it. */
	const question = (body, error) => {
		const lines = [error.command.map(shown).join(" ")];

		for (const [name, value] of Object.entries(body.env || {}))
			lines.push(name + "=" + shown(value));
		if (body.stdin !== undefined)
			lines.push("with this standard input: " +
				shown(body.stdin));
		return lines.join("\n");
	};

	const agreed = (body, error) => new Promise((resolve) => {
		const dialog = element("dialog", "confirm");
		const title = element("h2", "",
			error.question || "Run this command?");
		const pre = element("pre");
		const act = element("div", "act");
		const cancel = element("button", "", "Cancel");
		const run = element("button", "", "Run it");

		title.id = "_confirm";
		dialog.setAttribute("aria-labelledby", title.id);
		pre.tabIndex = 0;
		pre.append(element("code", "", question(body, error)));
		cancel.type = run.type = "button";
		cancel.autofocus = true;
		cancel.addEventListener("click", () => dialog.close(""));
		run.addEventListener("click", () => dialog.close("run"));
		dialog.addEventListener("close", () => {
			dialog.remove();
			resolve(dialog.returnValue === "run");
		});
		act.append(run, cancel);
		dialog.append(title, pre, act);
		document.body.append(dialog);
		dialog.showModal();
	});

	/* ------------------------------------------------------- the cards -- */

	const post = (body, signal, accept) => fetch(address(), {
		method: "POST",
		headers: { "Content-Type": "application/json",
			Accept: accept || "application/json" },
		body: JSON.stringify(body),
		signal,
	});

	/*
	 * What a job has come to in the end; Stop ends it.  Each request waits for
	 * more output, and the last one reads all of it.
	 */
	const finished = async (job, signal) => {
		const end = () => fetch(job.href, { method: "DELETE" });
		const read = async (query) =>
			(await fetch(job.href + query, { signal })).json();
		let answer = job;

		signal.addEventListener("abort", end);
		while (answer.state === "queued" || answer.state === "running")
			answer = await read("?wait=20&after=" +
				(answer.after || "0,0"));
		signal.removeEventListener("abort", end);
		return answer.state ? read("") : answer;
	};

	/* An answer, or a text that is none: { status, text }. */
	const ask = async (body, signal, running) => {
		running.start();
		const response = await post(body, signal, "text/event-stream, " +
			"application/json;q=0.9");
		const type = plain(response.headers.get("Content-Type"));

		if (type === "text/event-stream")
			return { ...await follow(response.body, running.write),
				ms: running.stop() };
		const text = await response.text();
		let answer;

		try {
			answer = JSON.parse(text);
		} catch {
			answer = { status: response.status, text };
		}
		if (response.status === 202 && answer.href)
			answer = await finished(answer, signal);
		return { ...answer, ms: running.stop() };
	};

	const send = async (body, name, signal, running) => {
		let answer = await ask(body, signal, running);
		const { error } = answer;

		if (error && error.code === "confirm_required" && error.confirm) {
			if (!await agreed(body, error))
				return [element("p", "note", "It did not run.")];
			answer = await ask({ ...body, confirm: error.confirm }, signal,
				running);
		}

		const time = duration(answer.run_ms, answer.ms);

		if (answer.text !== undefined)
			return [state("status " + answer.status, false, time),
				...stream("answer", answer.text)];
		return show(answer, time, name, body);
	};

	const failure = (error) => element("p", "state bad",
		error.name === "AbortError" ? "stopped"
			: "The server could not be reached.");

	const prepare = (form) => {
		const card = form.closest(".tool");
		const button = form.querySelector("[type=submit]");
		const result = card.querySelector(".result");
		const line = card.querySelector(".line");
		const command = card.querySelector(".curl code");
		let running = null;

		const update = () => {
			command.textContent = curl(form);
			fill(form, line);
		};

		card.run = async (body, words) => {
			const time = clock(result);

			running = new AbortController();
			button.textContent = "Stop";
			result.setAttribute("aria-busy", "true");
			keep(result);
			result.run = new Date().toLocaleTimeString() + " · " + words;
			try {
				result.replaceChildren(...await send(body,
					card.querySelector("h3").textContent,
					running.signal, time));
			} catch (error) {
				time.stop();
				result.replaceChildren(failure(error));
			}
			result.removeAttribute("aria-busy");
			button.textContent = "Run";
			running = null;
		};
		form.addEventListener("submit", (event) => {
			event.preventDefault();
			if (running)
				running.abort();
			else
				card.run(request(form, (input) => input.value),
					line.textContent);
		});
		form.addEventListener("input", update);
		for (const input of form.querySelectorAll("[data-regex]"))
			watch(input);
		button.hidden = false;
		update();
	};

	const copy = async (button) => {
		const code = button.parentElement.querySelector("code");

		try {
			await navigator.clipboard.writeText(code.textContent);
			button.textContent = "Copied";
		} catch {
			getSelection().selectAllChildren(code);
			button.textContent = "Selected";
		}
		setTimeout(() => { button.textContent = "Copy"; }, 2000);
	};

	for (const note of document.querySelectorAll("[data-still]"))
		note.hidden = true;
	for (const form of document.querySelectorAll(".tool form"))
		prepare(form);
	for (const button of document.querySelectorAll("button.copy")) {
		button.hidden = false;
		button.addEventListener("click", () => copy(button));
	}
})();
