// SPDX-License-Identifier: MIT
// What a person does with the pages, done by a real browser.  Prints TAP for
// browser.t, which starts the servers and knows where everything is.
//
//	node browser.mjs MODULES CHROMIUM PICTURES EXAMPLE HOSTILE
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";

const [modules, executablePath, pictures, example, hostile] =
	process.argv.slice(2);
const { chromium } = createRequire(modules + "/")("playwright-core");
const axe = readFileSync(modules + "/axe-core/axe.min.js", "utf8");

const WIDE = { viewport: { width: 1200, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true,
	hasTouch: true, deviceScaleFactor: 2 };

let count = 0;

const ok = (passed, sentence, detail) => {
	console.log(`${passed ? "" : "not "}ok ${++count} - ${sentence}`);
	if (!passed && detail !== undefined)
		console.log(`# ${String(detail).replace(/\n/g, "\n# ")}`);
};

const is = (seen, expected, sentence) =>
	ok(seen === expected, sentence, `expected ${expected}, saw ${seen}`);

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox",
	"--disable-gpu", "--disable-quic", "--no-first-run",
	"--disable-background-networking", "--disable-component-update",
	"--disable-sync"] });

// A page that remembers what it said and whom it asked.
const open = async (options) => {
	const context = await browser.newContext(options);
	const page = await context.newPage();

	page.setDefaultTimeout(20000);
	page.said = [];
	page.asked = [];
	page.on("console", (m) => page.said.push(m.text()));
	page.on("pageerror", (e) => page.said.push(String(e)));
	page.on("dialog", async (d) => {
		page.said.push("dialog: " + d.message());
		await d.dismiss();
	});
	page.on("request", (r) => page.asked.push(r.url()));
	return page;
};

const card = (page, name) => page.locator(".tool").filter({
	has: page.getByRole("heading", { name, exact: true }) });

const picture = (page, name, fullPage = true) =>
	page.screenshot({ path: `${pictures}/${name}.png`, fullPage });

// --------------------------------------------------------- reading, running

const visit = async () => {
	const page = await open(WIDE);

	await page.goto(example + "/");
	is(await page.title(), "An example site", "the front page has its title");
	await page.getByRole("navigation", { name: "Pages" })
		.getByRole("link", { name: "texts/" }).click();
	is(await page.locator("h1").innerText(), "Texts",
		"a page of the navigation opens");
	is(await page.locator("nav.pages [aria-current=page]").innerText(),
		"texts/", "and says where one is");

	const search = card(page, "search");
	await search.getByLabel("phrase").fill("the people");
	await search.getByLabel("phrase").press("Enter");
	await search.locator(".state").waitFor();
	const state = await search.locator(".state").innerText();
	ok(/^exit code 0 · [\d.]+ ms, \d+ ms in all$/.test(state),
		"a tool runs from its card: exit code and time", state);
	const output = await search.locator(".result pre").innerText();
	ok(output.includes("gettysburg-address.txt:"), "and what it printed",
		output);
	is(await search.locator(".result").getAttribute("aria-live"), "polite",
		"a screen reader is told");

	const line = await search.locator(".curl code").innerText();
	const answer = JSON.parse(execFileSync("sh", ["-c", line.replace(
		/^curl/, "curl -sS --noproxy '*'")], { timeout: 20000 }));
	is(answer.stdout.trim(), output.trim(),
		"the curl line beside it does the same");
	await page.context().grantPermissions(["clipboard-read",
		"clipboard-write"]);
	await search.getByRole("button", { name: "Copy" }).click();
	await search.getByRole("button", { name: "Copied" }).waitFor();
	is(await page.evaluate(() => navigator.clipboard.readText()), line,
		"and can be copied");
	ok(page.said.length === 0, "the browser has nothing to complain about",
		page.said.join("\n"));
	await picture(page, "texts-light");
	await page.context().close();
};

const refusals = async () => {
	const page = await open(WIDE);

	await page.goto(example + "/texts");
	const head = card(page, "head");
	await head.getByLabel("lines").fill("many");
	is(await head.getByLabel("lines").getAttribute("aria-invalid"), "true",
		"a word that does not match is seen before it is sent");
	await head.getByLabel("file").fill("gettysburg-address.txt");
	await head.getByRole("button", { name: "Run" }).click();
	const box = head.locator(".result .refused");
	await box.waitFor();
	const text = await box.innerText();
	ok(text.startsWith('bad_request: the argument "lines" does not match'),
		"the server refuses it all the same", text);
	ok(text.includes("its pattern is ^"), "and says what it would allow",
		text);
	await box.getByRole("button", { name: "Send this" }).click();
	await head.locator(".result:not([aria-busy]) .state.good").waitFor();
	ok(true, "the next step that it names is a button, and works");
	await head.getByLabel("lines").fill("2");
	is(await head.getByLabel("lines").getAttribute("aria-invalid"), "false",
		"a word that matches is fine");
	await head.getByRole("button", { name: "Run" }).click();
	await head.locator(".result:not([aria-busy]) .state.good").waitFor();
	ok(await box.count() === 0, "the next result replaces the refusal");
	const earlier = head.locator(".earlier details");
	is(await earlier.count(), 2, "both stay below, folded");
	const first = earlier.nth(1);
	ok(/· head -n many /.test(await first.locator("summary").innerText()),
		"with the words that it had",
		await first.locator("summary").innerText());
	await first.locator("summary").click();
	ok(await first.locator(".refused").isVisible(),
		"to be compared with the next one");
	for (let i = 0; i < 6; i++) {
		await head.getByRole("button", { name: "Run" }).click();
		await head.locator(".result:not([aria-busy]) .state.good")
			.waitFor();
	}
	is(await earlier.count(), 5, "no more than five of them stay");

	const words = card(page, "words");
	await words.getByLabel("standard input").fill("one two three\n");
	await words.getByRole("button", { name: "Run" }).click();
	await words.locator(".state").waitFor();
	is((await words.locator(".result pre").innerText()).trim(), "3",
		"standard input is sent");

	await page.goto(example + "/clock");
	const clock = page.locator(".tool").nth(1);
	await clock.getByLabel("seconds").fill("@1000000000");
	await clock.getByLabel("TZ").fill("Asia/Tokyo");
	await clock.getByRole("button", { name: "Run" }).click();
	await clock.locator(".state").waitFor();
	ok((await clock.locator(".result pre").innerText()).includes("+0900"),
		"a variable is sent");

	await page.goto(example + "/");
	const ls = card(page, "ls");
	await ls.getByLabel("more words").fill("-1 'texts'  \"no such\"");
	await ls.getByRole("button", { name: "Run" }).click();
	await ls.locator(".state").waitFor();
	ok((await ls.locator(".result").innerText()).includes("no such"),
		"more words are divided as a shell would");
	ok((await ls.locator(".state").innerText()).startsWith("exit code 2"),
		"an exit code that is not 0 is shown");
	await page.context().close();
};

// Every link of every page of the site leads somewhere, however it is asked.
const links = async () => {
	const page = await open(WIDE);
	const todo = ["/", "/texts", "/texts/", "/texts/README.md", "/clock.md",
		"/clock/"];
	const seen = new Set();
	const broken = [];

	while (todo.length > 0) {
		const path = todo.shift();

		if (seen.has(path))
			continue;
		seen.add(path);
		const response = await page.goto(example + path);
		if (response.status() !== 200) {
			broken.push(`${path}: ${response.status()}`);
			continue;
		}
		for (const link of await page.$$eval("a[href]", (all) =>
			all.map((a) => a.href.replace(/#.*/, ""))))
			if (link.startsWith(example + "/"))
				todo.push(link.slice(example.length));
	}
	ok(seen.size >= 12, `${seen.size} addresses were visited`);
	ok(broken.length === 0, "every link leads somewhere", broken.join("\n"));
	ok(page.said.length === 0, "and no page complains",
		page.said.join("\n"));
	await page.context().close();
};

// What is not there, and the way back from it.
const lost = async () => {
	const page = await open(WIDE);
	const response = await page.goto(example + "/texts/nothing");

	is(response.status(), 404, "a page that is not there");
	is(await page.locator("h1").innerText(), "Not found",
		"says so to a person");
	await page.getByRole("navigation", { name: "Pages" })
		.getByRole("link", { name: "texts/" }).waitFor();
	await page.getByRole("link", { name: "Back to the front page" }).click();
	is(await page.title(), "An example site", "and leads back");
	await page.context().close();
};

const keyboard = async () => {
	const page = await open(WIDE);

	await page.goto(example + "/primes.md");
	await page.keyboard.press("Tab");
	is(await page.evaluate(() => document.activeElement.textContent),
		"Skip to the text", "the first key leads past the navigation");
	await page.keyboard.press("Enter");
	for (let i = 0; i < 20; i++) {
		await page.keyboard.press("Tab");
		if (await page.evaluate(() =>
			document.activeElement.matches("input")))
			break;
	}
	await page.keyboard.type("2026");
	await page.keyboard.press("Enter");
	await page.locator(".state").waitFor();
	is((await page.locator(".result pre").innerText()).trim(),
		"2026: 2 1013", "a tool is run with the keyboard alone");
	await page.context().close();
};

const without_script = async () => {
	const page = await open({ ...WIDE, javaScriptEnabled: false });

	await page.goto(example + "/texts");
	ok(await page.getByText("The forms need script.").isVisible(),
		"without script the page says what is missing");
	ok(!await page.getByRole("button", { name: "Run" }).first().isVisible(),
		"shows no button that does nothing");
	ok((await page.locator(".curl code").first().innerText())
		.startsWith("curl --json '{\"tool_call\": {\"name\": \"search\""),
		"and the command lines");
	await page.context().close();
};

// ------------------------------------------------------------- typed fields

const typed = async () => {
	const page = await open(WIDE);

	await page.goto(hostile + "/typed");
	const get = card(page, "get"), line = get.locator(".line");
	const field = (name) => get.getByLabel(name, { exact: true });
	const run = async () => {
		await get.getByRole("button", { name: "Run" }).click();
		await get.locator(".result:not([aria-busy]) .state").waitFor();
		return get.locator(".result pre").innerText();
	};
	const command = get.locator(".curl code");
	const by_curl = async () => JSON.parse(execFileSync("sh", ["-c",
		(await command.innerText()).replace(/^curl/,
			"curl -sS --noproxy '*'")], { timeout: 20000 })).stdout;

	is(await by_curl(), "10|0.5|open|2026-01-31|/i/1?q=tea|",
		"the first command line works as it is");
	ok((await line.innerText()).startsWith("printf '%s|' 10 ratio open [all] " +
		"day [note]"), "what a field has is in the line above it",
		await line.innerText());
	await field("ratio").fill("1.5");
	await field("day").fill("2025-12-31");
	await field("id").fill("7");
	await field("q").fill("a b/it's");
	await get.getByRole("button", { name: "Run" }).click();
	is(await field("day").evaluate((e) => e.validity.rangeUnderflow), true,
		"a date that is too early is not sent");
	await field("day").fill("2026-02-28");
	is(await run(), "10|1.5|open|2026-02-28|/i/7?q=a%20b%2Fit%27s|",
		"numbers, dates and choices reach the tool");
	ok((await line.innerText()).endsWith(
		"10 1.5 open [all] 2026-02-28 [note] /i/7'?q=''a%20b%2Fit%27s'"),
		"the command line has the same words", await line.innerText());
	is(await by_curl(), "10|1.5|open|2026-02-28|/i/7?q=a%20b%2Fit%27s|",
		"and so has curl's");
	await field("n").fill("");
	await field("state").selectOption("it's");
	await field("all").selectOption("false");
	await field("note").fill("x y");
	is(await run(), "10|1.5|it's|false|2026-02-28|x y|" +
		"/i/7?q=a%20b%2Fit%27s|", "what is filled in is a word more");
	await check(page, "typed fields");
	await picture(page, "typed-light");
	await page.context().close();
};

// ------------------------------------------------------------ hostile pages

const no_harm = async () => {
	const page = await open(WIDE);
	const host = new URL(hostile).host;

	await page.goto(hostile + "/");
	await page.evaluate(() => { window.before = Object.keys(window).length; });
	for (const link of await page.locator("article a").all())
		await link.evaluate((a) => {
			a.target = "_self";
			if (new URL(a.href).protocol === "javascript:")
				a.click();
		});
	is(await page.locator("script").count(), 1,
		"no script of the page is one");
	is(await page.$$eval("*", (all) => all.filter((e) =>
		[...e.attributes].some((a) => /^on|^style$/.test(a.name)))
		.length), 0, "no element acts or brings its style");
	is(await page.$$eval("iframe, object, embed, base, meta[http-equiv], " +
		"form[action], svg, math, link:not([href*='__meta']):not(" +
		"[href$='favicon.svg'])", (all) => all.length), 0,
		"nothing of another document is in it");
	is(await page.$$eval("a[href]", (all) => all.filter((a) =>
		!/^(https?|mailto):$/.test(a.protocol)).length), 0,
		"no link leads to script or data");
	ok(page.asked.every((url) => new URL(url).host === host),
		"nobody else was asked for anything", page.asked.join("\n"));

	for (const tool of await page.locator(".tool").all()) {
		await tool.getByRole("button", { name: "Run" }).click();
		await tool.locator(".state").waitFor();
		ok((await tool.locator(".result").innerText())
			.includes("</script><img src=x onerror="),
			"what a tool says is text");
		is(await tool.locator(".result img, .result script").count(), 0,
			"and nothing else");
	}
	is(await page.evaluate(() => String(window.pwned)), "undefined",
		"no script of the page ran");
	ok(page.said.every((text) => !/pwned|dialog/.test(text)),
		"it said nothing either", page.said.join("\n"));

	// Even if one had got in: the policy stops it.
	page.said.length = 0;
	await page.evaluate(() => {
		const script = document.createElement("script");
		script.textContent = "window.pwned = 1";
		document.body.append(script);
		const box = document.createElement("div");
		box.innerHTML = "<img src=x onerror='window.pwned = 2'>";
		document.body.append(box);
		return fetch("http://127.0.0.1:1/").catch(() => 0);
	});
	await page.waitForTimeout(200);
	is(await page.evaluate(() => String(window.pwned)), "undefined",
		"the policy lets no inline script run");
	ok(page.said.some((text) => /Content Security Policy/.test(text)),
		"and the browser says so");
	await picture(page, "hostile");
	await page.context().close();
};

// ------------------------------------------------------ a person is asked

const agreeing = async () => {
	const page = await open(WIDE);

	await page.goto(hostile + "/confirm");
	const echo = card(page, "echo");
	const dialog = page.getByRole("dialog", { name: "Run this command?" });
	const field = echo.getByLabel("text");
	const result = echo.locator(".result");

	await field.fill("a <b>\u202e");
	await field.press("Enter");
	await dialog.waitFor();
	is(await dialog.locator("pre").innerText(), "echo \"a <b>\\u202e\"",
		"a tool that asks a person shows the command in a dialog");
	is(await result.innerText(), "", "nothing has run");
	await check(page, "the dialog");
	await page.keyboard.press("Enter");
	await dialog.waitFor({ state: "detached" });
	is(await result.innerText(), "It did not run.",
		"Enter alone does not agree");
	await field.press("Enter");
	await dialog.waitFor();
	await page.keyboard.press("Escape");
	await dialog.waitFor({ state: "detached" });
	is(await result.innerText(), "It did not run.", "nor does Escape");
	await field.fill("yes");
	await field.press("Enter");
	await dialog.getByRole("button", { name: "Run it" }).click();
	await echo.locator(".state").waitFor();
	is(await result.locator("pre").innerText(), "yes\n",
		"who agrees gets what the tool says");

	const cancel = card(page, "cancel");
	await cancel.getByLabel("id").fill("7");
	await cancel.getByLabel("why").fill("<b>\u202ex");
	await cancel.getByRole("button", { name: "Run" }).click();
	const question = page.getByRole("dialog");
	await question.waitFor();
	is(await question.locator("h2").innerText(),
		"Cancel order 7 \"<b>\\u202ex\"?", "the author's question is text");
	is(await question.locator("pre").innerText(),
		"echo 7 \"<b>\\u202ex\"", "the whole command is below it");
	await question.getByRole("button", { name: "Run it" }).click();
	await cancel.locator(".state").waitFor();
	is(await cancel.locator(".result pre").innerText(), "7 <b>\u202ex\n",
		"and runs");
	await page.context().close();
};

// ------------------------------------------------------ a long output

const parting = async () => {
	const page = await open(WIDE);

	await page.goto(hostile + "/parts");
	const seq = card(page, "seq");
	const result = seq.locator(".result");
	const more = result.getByRole("button", { name: "More" });
	const texts = () => result.locator("pre").allInnerTexts();

	await seq.getByRole("button", { name: "Run" }).click();
	await more.waitFor();
	is(await result.locator(".note").innerText(), "Lines 1 to 2 of 5. More",
		"a part of a long output tells which it is");
	await check(page, "a long output");
	await more.click();
	await result.getByText("Lines 3 to 4 of 5.").waitFor();
	await more.click();
	await result.getByText("Lines 5 to 5 of 5.").waitFor();
	is(JSON.stringify(await texts()),
		JSON.stringify(["1\n2\n", "3\n4\n", "5\n"]),
		"the button adds the parts that follow");
	is(await more.count(), 0, "and goes with the last one");
	await page.context().close();
};

// ----------------------------------------- what a tool prints, by its type

const printing = async () => {
	const page = await open(WIDE);
	const run = async (name) => {
		const tool = card(page, name);

		await tool.locator(".state").evaluateAll((all) =>
			all.forEach((e) => e.remove()));
		await tool.getByRole("button", { name: "Run" }).click();
		await tool.locator(".state").waitFor();
		return tool.locator(".result");
	};
	const cells = (result) => result.locator("tr").evaluateAll((all) =>
		all.map((tr) => [...tr.cells].map((c) => c.textContent)));
	const saved = async (result) => {
		const [file] = await Promise.all([page.waitForEvent("download"),
			result.getByRole("link").click()]);

		return [file.suggestedFilename(), readFileSync(await file.path())
			.toString("latin1")];
	};
	let result, text;

	await page.addInitScript(() => {
		const make = URL.createObjectURL;

		window.made = [];
		URL.createObjectURL = (blob) => {
			window.made.push(blob.type);
			return make.call(URL, blob);
		};
	});
	await page.goto(hostile + "/output");
	for (const name of ["png", "gif"]) {
		result = await run(name);
		const image = result.locator("img");
		await page.waitForFunction((e) => e.complete,
			await image.elementHandle());
		is(await image.evaluate((e) => e.naturalWidth), 1,
			`a picture is shown: ${name}`);
		is(await image.getAttribute("alt"),
			`What ${name} printed: image/${name}`, "with its words");
	}
	text = await saved(result);
	is(text[0], "gif.gif", "and can be saved");
	ok(text[1].startsWith("GIF89a"), "byte by byte");
	const [url] = await result.locator("img").evaluateAll((all) =>
		all.map((e) => e.src));
	for (let i = 0; i < 6; i++)
		await run("gif");
	ok(await page.evaluate((address) => new Promise((resolve) => {
		const image = new Image();
		image.onload = () => resolve(false);
		image.onerror = () => resolve(true);
		image.src = address;
	}), url), "a result that is not kept gives its bytes back");
	page.said.length = 0;

	result = await run("untrue");
	await result.getByText("The bytes are no picture").waitFor();
	is(await result.locator("img").count(), 0, "bytes that are no picture");
	ok((await saved(result))[1].includes("<script>"), "can be saved");
	ok(await result.getByRole("link").evaluate((a) =>
		a.href.startsWith("blob:") && a.hasAttribute("download")),
		"as a file, not as a document");
	for (const [name, file, size] of [["pdf", "pdf.pdf", 7],
		["odd", "odd.bin", 3]]) {
		result = await run(name);
		text = await saved(result);
		is(`${text[0]} ${text[1].length}`, `${file} ${size}`,
			`other bytes are saved: ${name}`);
		is(await result.locator("img, pre").count(), 0, "and not shown");
	}
	result = await run("empty");
	ok((await result.innerText()).endsWith("No output."), "no bytes at all");
	for (const name of ["svg", "html"]) {
		result = await run(name);
		ok(/^<s/.test(await result.locator("pre").innerText()),
			`text: ${name}`);
		is(await result.locator("img, a, svg").count(), 0, "as text only");
	}

	is((await page.evaluate(() => [...new Set(window.made)])).sort()
		.join(), "application/octet-stream,image/gif,image/png",
		"no bytes become a document of this origin");

	result = await run("csv");
	is(JSON.stringify(await cells(result)), JSON.stringify([
		["name", "a \"b\"", "n"],
		["<img src=x onerror=window.pwned=42>", "two\nlines, one cell",
			"-1.50"],
		["</td><script>window.pwned=43</script>", "", ""],
		["last", "", ""]]), "CSV is a table of text");
	is(await result.locator("th[scope=col]").count(), 3, "with a head");
	is(await result.locator("td.number").innerText(), "-1.50",
		"numbers stand at the right");
	ok(!await result.locator("pre").isVisible(), "the text is folded");
	await check(page, "a picture, tables");
	await card(page, "csv").screenshot(
		{ path: `${pictures}/csv-light.png` });
	await result.getByText("As text").click();
	ok((await result.locator("pre").innerText()).includes("last,"),
		"and can be unfolded");
	for (const name of ["unclosed", "behind", "header", "scalar", "none",
		"deep", "cut"]) {
		result = await run(name);
		is(await result.locator("table").count(), 0,
			`what is no table is text: ${name}`);
		ok(await result.locator("pre").isVisible(), "at once");
	}
	result = await run("wide");
	is(await result.locator("table").count(), 0, "one row is no table");
	result = await run("long");
	is(await result.locator("tr").count(), 501, "a long table is cut");
	is(await result.locator(".note").innerText(),
		"The first 500 rows: the text has all.", "and says so");
	result = await run("large");
	is((await cells(result))[1][0].length, 1001, "a long cell is cut");
	result = await run("bytes");
	is((await cells(result))[1][0], "\ufffd", "bytes that are no text");

	result = await run("json");
	is(JSON.stringify(await cells(result)), JSON.stringify([
		["id", "a", "__proto__", "n", "more", "constructor"],
		["12345678901234567890", "1.10",
			"<script>window.pwned=44</script>", "null", "", ""],
		["2", "", "", "", "{\"x\":[\"<b>\"]}", "true"]]),
		"JSON objects are a table, number by number as written");
	result = await run("keys");
	is(await result.locator("th").count(), 50, "a wide table is cut");
	is(await result.locator(".note").innerText(),
		"The first 50 columns: the text has all.", "and says so");
	is(await page.evaluate(() => String(window.pwned)), "undefined",
		"no script of an output ran");
	is(await page.locator(".result script, .result svg, .result b, " +
		".result iframe").count(), 0, "nothing of it is an element");
	ok(page.said.length === 0, "and nothing is complained about",
		page.said.join("\n"));
	await page.context().close();

	const phone = await open({ ...PHONE, colorScheme: "dark" });
	await phone.goto(hostile + "/output");
	for (const name of ["png", "csv", "json"]) {
		await card(phone, name).getByRole("button", { name: "Run" }).click();
		await card(phone, name).locator(".state").waitFor();
	}
	ok(!await phone.evaluate(() => document.documentElement.scrollWidth >
		innerWidth), "tables fit into a phone");
	await check(phone, "a picture, tables: phone, dark");
	await card(phone, "json").screenshot(
		{ path: `${pictures}/json-phone-dark.png` });
	await phone.context().close();
};

// ------------------------------------------------------------- what it wrote

const following = async () => {
	const page = await open(WIDE);

	await page.goto(hostile + "/slow");
	const slow = card(page, "slow");
	const button = slow.locator("button[type=submit]");
	const result = slow.locator(".result");
	await button.click();
	await result.locator("pre", { hasText: "first" }).waitFor();
	is(await button.innerText(), "Stop", "what a tool wrote is shown while " +
		"it runs");
	await result.locator(".time", { hasText: /· [1-9]/ }).waitFor();
	ok(true, "and how long it has run");
	await check(page, "a running tool");
	await button.click();
	await result.locator(".state.bad", { hasText: "stopped" }).waitFor();
	is(await button.innerText(), "Run", "it can be stopped");
	await page.context().close();
};

const coloured = async () => {
	for (const colorScheme of ["light", "dark"]) {
		const page = await open({ ...WIDE, colorScheme });

		await page.goto(hostile + "/colours");
		const tool = card(page, "colours");
		await tool.getByRole("button", { name: "Run" }).click();
		await tool.locator(".result:not([aria-busy]) .state").waitFor();
		const output = tool.locator(".result pre");
		is(await output.innerText(), "plain red bold\nback 256 all <b>\n" +
			"title link end\n", "control sequences are no text");
		is(await output.locator("span").evaluateAll((all) => all.map((e) =>
			e.className + "=" + e.textContent).join(",")),
			"fg1=red,fg1 bold= bold,bg4=back,fg2=256,fg5=all",
			"colours are classes of text");
		is(await output.locator("b").count(), 0, "and nothing is HTML");
		await check(page, `terminal colours: ${colorScheme}`);
		await tool.screenshot({
			path: `${pictures}/colours-${colorScheme}.png` });
		await page.context().close();
	}
};

// --------------------------------------------------- looks and accessibility

const looks = async () => {
	// axe has seen the colours of the last one, and its layout, before.
	for (const [name, options] of [
		["light", { ...WIDE, colorScheme: "light" }],
		["dark", { ...WIDE, colorScheme: "dark" }],
		["phone", { ...PHONE, colorScheme: "light" }],
		["phone-dark", { ...PHONE, colorScheme: "dark" }]]) {
		const page = await open(options);

		for (const path of ["/", "/zones/", "/countries", "/clock.md",
			"/AGENTS.md", "/texts/nothing"]) {
			await page.goto(example + path);
			const wide = await page.evaluate(() => document
				.documentElement.scrollWidth > innerWidth);
			ok(!wide, `${path} fits into the width: ${name}`);
			if (name !== "phone-dark")
				await check(page, `${path}: ${name}`);
			const file = path.replace(/\W+/g, "") || "front";
			await picture(page, `${file}-${name}`,
				path !== "/AGENTS.md");
		}
		await page.goto(example + "/zones/");
		const table = card(page, "table");
		await table.getByLabel("sql").fill("SELECT code, name FROM " +
			"country ORDER BY name LIMIT 5");
		await table.getByRole("button", { name: "Run" }).click();
		await table.locator(".state").waitFor();
		const query = card(page, "query");
		await query.getByLabel("sql").fill("DROP TABLE zone");
		await query.getByRole("button", { name: "Run" }).click();
		await query.locator(".refused").waitFor();
		if (name !== "phone-dark")
			await check(page, `results: ${name}`);
		await picture(page, `results-${name}`);
		await page.context().close();
	}
};

// The findings of axe that matter: serious ones and worse.
const check = async (page, where) => {
	await page.evaluate(axe);
	const { violations } = await page.evaluate(() => window.axe.run());
	const bad = violations.filter((v) =>
		["serious", "critical"].includes(v.impact));

	ok(bad.length === 0, `no serious finding of axe: ${where}`,
		bad.map((v) => `${v.id}: ${v.help}\n` + v.nodes.map((n) =>
			`  ${n.html}\n  ${n.failureSummary}`).join("\n"))
			.join("\n"));
	for (const v of violations.filter((one) => !bad.includes(one)))
		console.log(`# ${where}: ${v.impact}: ${v.id}: ${v.help}`);
};

try {
	for (const part of [visit, refusals, links, lost, keyboard, without_script,
		typed, no_harm, agreeing, parting, printing,
		following, coloured, looks])
		await part();
} catch (error) {
	ok(false, "the browser could be driven to the end", error);
} finally {
	await browser.close();
}
console.log(`1..${count}`);
