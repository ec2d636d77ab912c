/* SPDX-License-Identifier: MIT */
#include "http/virtual.h"

#include "base/error.h"
#include "http/assets.h"
#include "http/browser.h"
#include "http/content.h"
#include "http/openapi.h"
#include "site/catalog.h"
#include "wire/media.h"

/* ------------------------------------------------------------- AGENTS.md -- */

static const char how_to[] =
	"# How to use this site\n"
	"\n"
	"Every page is Markdown. Read it with GET; run one of the commands "
	"that it lists with POST to the same address. Paths below are relative "
	"to the address that this file came from.\n"
	"\n"
	"## Read\n"
	"\n"
	"    curl -sS http://HOST/PAGE\n"
	"\n"
	"A folder answers with its `README.md`, and `.md` may be left out. The "
	"block between `---` (or `+++`) at the top is the page's frontmatter: "
	"`tools` are the commands that it allows, everything else is refused. "
	"Data files beside the pages can be read the same way.\n"
	"\n"
	"## Run\n"
	"\n"
	"    curl -sS --json '{\"command\": [\"WORD\", \"WORD\"]}' "
	"http://HOST/PAGE\n"
	"\n"
	"- `command` is a list of words, not a line for a shell: no quoting, "
	"no pipes, no wildcards, no `&&`. One word of the list is one argument.\n"
	"- The answer is `{\"stdout\": \"...\", \"stderr\": \"...\", "
	"\"returncode\": 0}`, with status 200 whenever the command ran, "
	"whatever its exit code.\n"
	"- A tool that prints another type than text answers with "
	"`stdout_base64` and `type` instead of `stdout`. `-H 'Accept: "
	"image/png'`, with the tool's own type, gets the bytes themselves. "
	"With `\"parse\": true` in the request, JSON comes as a value in "
	"`stdout_json`.\n"
	"- A refusal has `error`: `{\"code\", \"message\", \"hint\"}`. Read the "
	"hint; for `not_allowed` it lists what the page allows.\n"
	"- Status 428 (`confirm_required`): a person has to agree first. Show "
	"them `error.question`, if it is there, and `error.command`; when they agree, send the same request again "
	"with `\"confirm\"`: the text of `error.confirm`. It is good for ten "
	"minutes and one run.\n"
	"- What must not happen twice: send `-H 'Idempotency-Key: UUID'` with a "
	"new UUID, and the same one when you send the request again. It runs "
	"once, and you get its answer.\n"
	"- `-H 'Accept: text/event-stream'` gets the output as it comes: "
	"events `stdout` and `stderr`, and at the end `end`.\n"
	"- After status 408 the command ran and was stopped: it took too long.\n"
	"\n"
	"What the lists below say of a tool:\n"
	"\n"
	"- Its name, its words as YAML, its arguments, and a request that works as it "
	"is. Words are sent as they are written; `{name}` is the argument of "
	"that name, one word, and in an example one that waits for your value; "
	"`…` is left out here.\n"
	"- Any tool can be called by name: `{\"tool_call\": {\"name\": "
	"\"NAME\", \"arguments\": {\"word\": \"peace\"}}}`. An argument "
	"without a name is `arg1`, `arg2`, by its place. Numbers and booleans "
	"may be those of JSON. A `default` is used when you give none; what is "
	"`optional` may be left out. More words go into the list `args`.\n"
	"- With `command` all words are sent, in order: `{\"command\": "
	"[\"grep\", \"peace\"]}`. Without a last `;` more words may follow; "
	"with it, none.\n"
	"- A word of your choice must not begin with `/` or have `..` in a path, "
	"unless its argument is text, or a regex allows the `/`.\n"
	"- `$NAME` in a tool is sent as it stands: the server fills it in. A "
	"name in the page's `env` that the server has not set can be sent: "
	"`\"env\": {\"NAME\": \"value\"}`.\n"
	"- `\"stdin\": \"text\"` is read only by tools that say so.\n"
	"- An answer with `next` is a part of the output: the same request "
	"with `\"next\"` and its text gets the next part.\n"
	"\n"
	"Commands run in the page's folder and see the site's files. What they "
	"write to `/tmp` is gone when they end.\n"
	"\n"
	"## Pages\n";

/* Adds one of the catalog's lists, at most 200 ms old. */
static enum ss_err
add_list(struct exchange *x, enum catalog_kind kind, struct buf *out)
{
	struct catalog *c;
	enum ss_err code = catalog_lists(&x->site->catalog, &c, &x->err);

	if (code != SS_OK)
		return code;
	buf_add(out, c->lists[kind].text.data, c->lists[kind].text.len);
	if (c->lists[kind].cut || c->cut)
		buf_text(
			out, "\nThe list is cut here: there are more pages.\n");
	return SS_OK;
}

static enum ss_err
answer_agents(struct exchange *x)
{
	struct buf text = BUF_INIT(2 * CATALOG_LIST_MAX);
	enum ss_err code;

	buf_text(&text, how_to);
	code = add_list(x, CATALOG_AGENTS, &text);
	if (code == SS_OK && text.failed)
		code = error_memory(&x->err);
	if (code == SS_OK && browser_wanted(x, x->path)) {
		code = browser_show(x, x->path, buf_view(&text));
	} else if (code == SS_OK) {
		buf_add(&x->body, text.data, text.len);
		content_made(x, MEDIA_MARKDOWN, "no-cache");
	}
	buf_release(&text);
	return code;
}

/* -------------------------------------------------------------- llms.txt -- */

/* The form of llmstxt.org: a heading, a summary, lists of links. */
static enum ss_err
answer_llms(struct exchange *x)
{
	enum ss_err code;

	buf_text(&x->body,
		"# Pages of this site\n\n"
		"> Markdown pages; some list commands that can be run with a "
		"POST to the page.\n> [AGENTS.md](AGENTS.md) says how.\n\n"
		"## Pages\n\n");
	code = add_list(x, CATALOG_LLMS, &x->body);
	if (code == SS_OK)
		content_made(x, "text/plain; charset=utf-8", "no-cache");
	return code;
}

/* ----------------------------------------------------------------- files -- */

/* An address with our version never has other bytes. */
static bool
names_version(const char *uri)
{
	const char *query = uri != NULL ? strchr(uri, '?') : NULL;

	return query != NULL && strncmp(query, "?v=", 3) == 0 &&
		strcmp(query + 3, assets_version()) == 0;
}

static enum ss_err
answer_asset(struct exchange *x, const char *name)
{
	struct asset a;

	if (!assets_find(name, &a))
		return error_set(&x->err, SS_NOT_FOUND, "no such file");
	buf_add(&x->body, a.bytes.data, a.bytes.len);
	content_made(x, a.type,
		names_version(x->req->request_uri)
			? "public, max-age=31536000, immutable"
			: "no-cache");
	exchange_header(x, "Content-Security-Policy", "sandbox");
	return SS_OK;
}

enum ss_err
virtual_meta(struct exchange *x)
{
	static const char prefix[] = "__meta/view.";

	if (strncmp(x->path, prefix, sizeof(prefix) - 1) != 0)
		return error_set(&x->err, SS_NOT_FOUND, "no such file");
	return answer_asset(x, x->path + strlen("__meta/"));
}

bool
virtual_is(const char *path)
{
	return strcmp(path, "AGENTS.md") == 0 ||
		strcmp(path, "llms.txt") == 0 ||
		strcmp(path, "openapi.json") == 0 ||
		strcmp(path, "favicon.svg") == 0 ||
		strcmp(path, "favicon.ico") == 0;
}

enum ss_err
virtual_answer(struct exchange *x)
{
	error_clear(&x->err);
	if (exchange_is(x, "POST"))
		return error_set(
			&x->err, SS_METHOD, "/%s takes no POST", x->path);
	if (strcmp(x->path, "AGENTS.md") == 0)
		return answer_agents(x);
	if (strcmp(x->path, "llms.txt") == 0)
		return answer_llms(x);
	if (strcmp(x->path, "openapi.json") == 0)
		return openapi_answer(x);
	return answer_asset(x, x->path);
}
