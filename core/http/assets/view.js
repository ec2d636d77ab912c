/* SPDX-License-Identifier: MIT */
/*
 * Runs a page's tools from their cards.  What comes back is set as text and
 * never as HTML.  Without this script everything can be read; the fields then
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

	/* The request of a form, as it stands now. */
	const request = (form) => {
		const command = JSON.parse(form.dataset.command);
		const more = form.querySelector("[data-more]");
		const stdin = form.querySelector("[data-stdin]");
		const env = {};
		const body = { command };

		for (const input of form.querySelectorAll("[data-word]"))
			command[Number(input.dataset.word)] = input.value;
		if (more)
			command.push(...split(more.value));
		for (const input of form.querySelectorAll("[data-env]"))
			if (input.value !== "")
				env[input.dataset.env] = input.value;
		if (Object.keys(env).length > 0)
			body.env = env;
		if (stdin && stdin.value !== "")
			body.stdin = stdin.value;
		return body;
	};

	const quoted = (word) => "'" + word.replace(/'/g, "'\\''") + "'";

	const address = () => location.origin + location.pathname;

	/* What is not filled in yet stands there by its name. */
	const curl = (form) => {
		const body = request(form);

		for (const input of form.querySelectorAll("[data-word]"))
			if (input.value === "")
				body.command[Number(input.dataset.word)] =
					"{" + input.labels[0].textContent + "}";
		return "curl --json " + quoted(JSON.stringify(body)) + " " +
			(/^[\w./:%~-]+$/.test(address()) ? address()
				: quoted(address()));
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
		pre.append(element("code", "", text));
		return text === "" ? [] : [title, pre];
	};

	const state = (text, good, time) => {
		const p = element("p", "state " + (good ? "good" : "bad"), text);

		p.append(element("span", "time", " · " + time));
		return p;
	};

	const refused = (error) => {
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
		return box;
	};

	/* Server-Timing says how long the tool itself ran. */
	const duration = (response, ms) => {
		const run = /(?:^|,)\s*run;dur=([\d.]+)/.exec(
			response.headers.get("Server-Timing") || "");
		const text = Math.round(ms) + " ms";

		return run ? Number(run[1]).toPrecision(3) + " ms, " + text +
			" in all" : text;
	};

	const show = (answer, time) => {
		const limit = answer.sandbox && answer.sandbox.limit;

		if (answer.error)
			return [state("refused", false, time),
				refused(answer.error)];
		return [
			state("exit code " + answer.returncode +
				(limit ? ", ended by its limit: " + limit : ""),
				answer.returncode === 0, time),
			...stream("stdout", answer.stdout),
			...stream("stderr", answer.stderr),
			...(answer.stdout + answer.stderr === ""
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
		const title = element("h2", "", "Run this command?");
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

	const post = (body, signal) => fetch(address(), {
		method: "POST",
		headers: { "Content-Type": "application/json" },
		body: JSON.stringify(body),
		signal,
	});

	/* The token of a tool that asks a person first; null: it asks nobody. */
	const asked = (response, text) => {
		try {
			const { error } = JSON.parse(text);

			return response.status === 428 && error.confirm ? error
				: null;
		} catch {
			return null;
		}
	};

	const send = async (form, signal) => {
		const body = request(form);
		let started = performance.now();
		let response = await post(body, signal);
		let text = await response.text();
		const error = asked(response, text);

		if (error) {
			if (!await agreed(body, error))
				return [element("p", "note", "It did not run.")];
			started = performance.now();
			response = await post({ ...body, confirm: error.confirm },
				signal);
			text = await response.text();
		}

		const time = duration(response, performance.now() - started);

		try {
			return show(JSON.parse(text), time);
		} catch {
			return [state("status " + response.status, false, time),
				...stream("answer", text)];
		}
	};

	const failure = (error) => element("p", "state bad",
		error.name === "AbortError" ? "stopped"
			: "The server could not be reached.");

	const prepare = (form) => {
		const card = form.closest(".tool");
		const button = form.querySelector("[type=submit]");
		const result = card.querySelector(".result");
		const line = card.querySelector(".curl code");
		let running = null;

		const update = () => {
			line.textContent = curl(form);
		};

		form.addEventListener("submit", async (event) => {
			event.preventDefault();
			if (running) {
				running.abort();
				return;
			}
			running = new AbortController();
			button.textContent = "Stop";
			result.setAttribute("aria-busy", "true");
			try {
				result.replaceChildren(
					...await send(form, running.signal));
			} catch (error) {
				result.replaceChildren(failure(error));
			}
			result.removeAttribute("aria-busy");
			button.textContent = "Run";
			running = null;
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
