/* SPDX-License-Identifier: MIT */
/*
 * Terminal colours as colours: "select graphic rendition" of ECMA-48, 8.3.117,
 * and its extensions for 256 and for all colours, become classes of spans.
 * Every other control sequence is left out.  A colour is the nearest of eight
 * that can be read on the page's ground, light or dark.
 */
"use strict";

const ansi = (() => {
	const STYLES = { 1: "bold", 2: "dim", 3: "italic", 4: "underline",
		7: "inverse", 9: "strike" };
	const ENDS = { 22: ["bold", "dim"], 23: ["italic"], 24: ["underline"],
		27: ["inverse"], 29: ["strike"] };
	/* CSI ... letter; OSC ... BEL or ST; any other escape of two bytes. */
	const SEQUENCE = new RegExp("\\x1b(?:\\[([\\x30-\\x3f]*)[\\x20-\\x2f]*" +
		"([\\x40-\\x7e])|\\][^\\x07\\x1b]*(?:\\x07|\\x1b\\\\)|" +
		"[\\x20-\\x2f]*[\\x30-\\x7e])", "g");
	const MOST = 20000; /* spans: one that makes more gets its rest plain */

	/* Of eight: bit 0 red, bit 1 green, bit 2 blue. */
	const nearest = (r, g, b) => {
		const high = Math.max(r, g, b), low = Math.min(r, g, b);
		const middle = high - low < 48 ? 128 : (high + low) / 2;

		return (r >= middle) + 2 * (g >= middle) + 4 * (b >= middle);
	};

	/* Of xterm's 256: 16 named, a cube of 6 by 6 by 6, 24 greys. */
	const indexed = (n) => {
		const level = (x) => x === 0 ? 0 : 55 + 40 * x;

		if (n < 16)
			return n % 8;
		if (n >= 232)
			return nearest(...Array(3).fill(8 + 10 * (n - 232)));
		n -= 16;
		return nearest(level(Math.floor(n / 36)),
			level(Math.floor(n / 6) % 6), level(n % 6));
	};

	/* What follows 38 or 48; takes its numbers from the list. */
	const extended = (numbers) => {
		const kind = numbers.shift();
		const own = numbers.splice(0, kind === 5 ? 1 : kind === 2 ? 3 : 0);

		if (own.some((n) => !(n <= 255)))
			return null;
		return own.length === 1 ? indexed(own[0])
			: own.length === 3 ? nearest(...own) : null;
	};

	const colour = (now, name, number) => {
		if (number === null)
			delete now[name];
		else
			now[name] = name + number;
	};

	const apply = (now, text) => {
		const numbers = text.split(/[;:]/).slice(0, 32).map(Number);

		while (numbers.length > 0) {
			const n = numbers.shift();
			const ten = n >= 90 ? n - 90 : n - 30;

			if (n === 0)
				for (const name of Object.keys(now))
					delete now[name];
			else if (STYLES[n])
				now[STYLES[n]] = STYLES[n];
			else if (ENDS[n])
				ENDS[n].forEach((name) => delete now[name]);
			else if (n === 38 || n === 48)
				colour(now, n === 38 ? "fg" : "bg",
					extended(numbers));
			else if (n === 39 || n === 49)
				colour(now, n === 39 ? "fg" : "bg", null);
			else if (ten >= 0 && ten % 10 < 8 && ten < 20)
				colour(now, ten < 10 ? "fg" : "bg", ten % 10);
		}
	};

	const span = (now, text) => {
		const e = document.createElement("span");

		e.className = Object.values(now).join(" ");
		e.textContent = text;
		return e;
	};

	/*
	 * Nodes of a text.  now: the rendition where the text begins, and where it
	 * ended afterwards.
	 */
	return (text, now = {}) => {
		const nodes = [];
		let at = 0;

		const put = (end) => {
			const part = text.slice(at, end);

			if (part !== "")
				nodes.push(Object.keys(now).length > 0
					? span(now, part) : part);
		};

		for (const found of text.matchAll(SEQUENCE)) {
			put(found.index);
			at = found.index + found[0].length;
			if (nodes.length >= MOST)
				break;
			if (found[2] === "m")
				apply(now, found[1]);
		}
		put(text.length);
		return nodes;
	};
})();
