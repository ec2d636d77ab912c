// SPDX-License-Identifier: MIT
// The calls of company.t by a person in a browser.  Prints TAP.
//
//	node company-browser.mjs MODULES CHROMIUM URL SITE TABLE
//
// TABLE is a file of company.t.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";

const [modules, executablePath, url, site, file] = process.argv.slice(2);
const { chromium } = createRequire(modules + "/")("playwright-core");
const table = JSON.parse(readFileSync(file, "utf8"));

let count = 0;
const ok = (passed, sentence, detail) => {
	console.log(`${passed ? "ok" : "not ok"} ${++count} - ${sentence}`);
	if (!passed && detail !== undefined)
		console.log(`# ${String(detail).replace(/\n/g, "\n# ")}`);
};
const is = (seen, expected, sentence) => ok(seen === expected, sentence,
	`expected ${JSON.stringify(expected)}\nsaw ${JSON.stringify(seen)}`);

// How often the tool ran that a person must agree to.
const cancelled = () => Number(execFileSync("sqlite3",
	[`${site}/data/orders.db`, "SELECT count(*) FROM cancelled"]));

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox",
	"--disable-gpu", "--disable-quic", "--no-first-run",
	"--disable-background-networking", "--disable-component-update",
	"--disable-sync"] });
const page = await (await browser.newContext()).newPage();
page.setDefaultTimeout(10000);

const card = (name) => page.locator(".tool").filter({
	has: page.getByRole("heading", { name, exact: true }) });


// Fills in what the call says and leaves the rest as the page offers it.
const fill = async (tool, args) => {
	for (const [name, value] of Object.entries(args)) {
		const field = tool.getByLabel(name, { exact: true });
		const kind = await field.evaluate((e) =>
			e.type === "checkbox" ? "check" : e.tagName);

		if (kind === "SELECT")
			await field.selectOption(String(value));
		else if (kind === "check")
			await field.setChecked(value);
		else
			await field.fill(String(value));
	}
};

const press = async (tool) => {
	await tool.locator(".state, .refused").evaluateAll((all) =>
		all.forEach((e) => e.remove()));
	await tool.getByRole("button", { name: "Run" }).click();
};

const result = async (tool) => {
	await tool.locator(".state").waitFor();
	return tool.locator(".result");
};

const printed = async (tool) => {
	const pre = (await result(tool)).locator("pre").first();

	return await pre.count() ? pre.textContent() : "";
};

const calls = async () => {
	let at;

	for (const [task, path, name, args, stdout] of table.calls) {
		if (at !== path)
			await page.goto(`${url}/${path}`);
		else
			await page.evaluate(() => document.querySelectorAll("form")
				.forEach((form) => form.reset()));
		at = path;
		const tool = card(name);
		await fill(tool, args);
		await press(tool);
		is(await printed(tool), stdout, `${task} browser: ${name} ` +
			JSON.stringify(args));
	}
};

const fields = async () => {
	await page.goto(`${url}/orders`);
	const tool = card("orders");
	const kinds = await tool.locator("input, select").evaluateAll((all) =>
		all.filter((e) => e.type !== "hidden").map((e) => e.tagName ===
			"SELECT" ? [...e.options].map((o) => o.value).join() :
			[e.type, e.min, e.max].join()));
	ok(kinds.some((k) => /open,paid,cancelled$/.test(k)) &&
		kinds.includes("number,1,99") &&
		kinds.some((k) => k.startsWith("date,")),
		"4 browser: fields have the types", kinds.join("\n"));
	await fill(tool, { n: 100 });
	ok(await tool.getByLabel("n", { exact: true }).evaluate((e) =>
		e.validity.rangeOverflow), "4 browser: and their limits");
	const [asked] = await Promise.all([
		page.waitForRequest((r) => r.method() === "POST", { timeout: 500 })
			.catch(() => null), press(tool)]);
	is(asked, null, "4 browser: what is over them is not sent");
};

const parts = async () => {
	await page.goto(`${url}/logs`);
	const tool = card("search");
	const more = tool.getByRole("button", { name: "More" });
	await fill(tool, { q: "GET" });
	await press(tool);
	const all = (await result(tool)).locator("pre");
	let seen = 1;
	while (await more.count() && seen < 20) {
		await more.click();
		await all.nth(seen++).waitFor();
	}
	is((await all.allTextContents()).join(""), table.whole,
		"2 browser: all parts are the whole");
	is(seen, Math.ceil((table.whole.split("\n").length - 1) / 40),
		"2 browser: in parts");
};

const picture = async () => {
	await page.goto(`${url}/reports`);
	await press(card("chart"));
	const image = (await result(card("chart"))).locator("img");
	await image.waitFor();
	await page.waitForFunction((e) => e.complete,
		await image.elementHandle());
	is(await image.evaluate((e) => `${e.naturalWidth} ${e.naturalHeight}`),
		"96 40", "3 browser: a picture");
	await page.getByRole("link", { name: "the chart" }).click();
	is(await page.evaluate(() => document.images[0]?.naturalWidth), 96,
		"3 browser: the one in the outbox");
};

const agreeing = async () => {
	await page.goto(`${url}/orders`);
	const before = cancelled();
	const tool = card("cancel");
	const dialog = page.getByRole("dialog");
	await fill(tool, { id: table.order });
	await press(tool);
	await dialog.waitFor();
	ok((await dialog.innerText()).startsWith(
		`Cancel order ${table.order}?`),
		"4 browser: the author's question", await dialog.innerText());
	await page.keyboard.press("Escape");
	await dialog.waitFor({ state: "detached" });
	is(cancelled(), before, "4 browser: a person says no");
	await press(tool);
	await dialog.getByRole("button", { name: "Run it" }).click();
	is(await printed(tool), `Order ${table.order} is cancelled: wish\n`,
		"4 browser: a person agrees");
	is(cancelled(), before + 1, "4 browser: it ran once");
};

const component = async () => {
	await page.goto(url);
	ok((await page.locator("body").innerText()).includes(
		"There are 3 open orders"), "5 browser: a component");
};

try {
	for (const part of [calls, fields, parts, ...table.picture ? [picture] : [],
		agreeing, component])
		await part();
} catch (error) {
	ok(false, "the browser could be driven to the end", error);
} finally {
	await browser.close();
}
console.log(`1..${count}`);
