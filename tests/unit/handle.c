/* SPDX-License-Identifier: MIT */
/*
 * handle: one request through its stages, with documents from memory and an
 * executor that only notes what it was given.
 */
#include <stdlib.h>

#include "statespace.h"
#include "tap.h"

static const struct {
	const char *path, *text;
} documents[] = {
	{ "README.md",
		"---\ntools:\n  - [echo, {}]\n  - [cat, {regex: '^a$'}, ;]\n"
		"env: [WHO]\n---\n# Front\n" },
	{ "plain.md", "# No frontmatter\n" },
	{ "bad.md", "---\ntools: ls\n---\n" },
	{ "data.csv", "0123456789" },
	{ "page.html", "<script>1</script>" },
};

static int64_t changed = 1700000000; /* when all of them were */

static enum ss_err
memory_open(void *ctx, const char *path, struct ss_document *doc,
	struct ss_error *err)
{
	(void)ctx;
	if (path[0] == '\0')
		path = "README.md";
	for (size_t i = 0; i < sizeof(documents) / sizeof(*documents); i++) {
		if (strcmp(documents[i].path, path) != 0)
			continue;
		snprintf(doc->path, sizeof(doc->path), "%s", path);
		snprintf(doc->real, sizeof(doc->real), "%s", path);
		doc->fd = doc->dir_fd = -1;
		doc->data = documents[i].text;
		doc->length = strlen(documents[i].text);
		doc->inode = i + 1;
		doc->device = 1;
		doc->mtime_ns = changed * 1000000000;
		doc->ctime_ns = doc->mtime_ns;
		return SS_OK;
	}
	err->code = SS_NOT_FOUND;
	snprintf(err->message, sizeof(err->message), "no such file");
	return SS_NOT_FOUND;
}

static void
memory_close(void *ctx, struct ss_document *doc)
{
	(void)ctx;
	(void)doc;
}

static char ran[256];

static enum ss_err
note_run(void *ctx, const struct ss_command *cmd, struct ss_result *result,
	struct ss_error *err)
{
	(void)ctx;
	(void)err;
	ran[0] = '\0';
	for (size_t i = 0; cmd->argv[i] != NULL; i++) {
		strcat(ran, i > 0 ? " " : "");
		strcat(ran, cmd->argv[i]);
	}
	result->out = (struct ss_text){ "out\xff", 4 };
	result->err = (struct ss_text){ "", 0 };
	result->returncode = 3;
	return SS_OK;
}

static char hook_trace[64];

static enum ss_err
hook_before(void *ctx, const struct ss_request *req, struct ss_error *err)
{
	strcat(hook_trace, ctx);
	if (req->remote_user != NULL && strcmp(req->remote_user, ctx) == 0) {
		err->code = SS_UNAUTHORIZED;
		snprintf(err->message, sizeof(err->message), "no token");
		return SS_UNAUTHORIZED;
	}
	return SS_OK;
}

static void
hook_after(
	void *ctx, const struct ss_request *req, const struct ss_response *res)
{
	(void)req;
	(void)res;
	strcat(hook_trace, ctx);
}

static char logged[1024];

static void
note_log(void *ctx, const char *line, size_t len)
{
	(void)ctx;
	snprintf(logged, sizeof(logged), "%.*s", (int)len, line);
}

static struct ss_site *
make_site(const char *cors)
{
	static char first[] = "a", second[] = "b";
	struct ss_resolver resolver = SS_INIT(ss_resolver);
	struct ss_executor executor = SS_INIT(ss_executor);
	struct ss_hook hook = SS_INIT(ss_hook);
	struct ss_site *site = ss_site_new();
	struct ss_error err = { 0 };

	resolver.open = memory_open;
	resolver.close = memory_close;
	executor.run = note_run;
	hook.before = hook_before;
	hook.after = hook_after;
	hook.ctx = first;
	ss_site_add_hook(site, &hook, &err);
	hook.ctx = second;
	ss_site_add_hook(site, &hook, &err);
	ss_site_set_resolver(site, &resolver, &err);
	ss_site_set_executor(site, &executor, &err);
	ss_site_set_option(site, "http.hosts", "[\"known.example\"]", &err);
	ss_site_set_option(
		site, "http.origins", "[\"https://friend.example\"]", &err);
	ss_site_set_log(site, note_log, NULL);
	ss_site_set_option(site, "http.cors", cors, &err);
	is_int(SS_OK, ss_site_open(site, &err),
		"a site without a root opens "
		"on its own resolver");
	return site;
}

static struct ss_site *site;
static struct ss_response res;

static struct ss_request
get(const char *path)
{
	struct ss_request req = SS_REQUEST_INIT;

	req.method = "GET";
	req.path = path;
	return req;
}

static struct ss_request
post(const char *path, const char *body)
{
	struct ss_request req = get(path);

	req.method = "POST";
	req.content_type = "application/json";
	req.body = body;
	req.body_len = strlen(body);
	return req;
}

/* Status of the answer; res stays until the next one. */
static int
ask(const struct ss_request *req)
{
	ss_response_release(&res);
	hook_trace[0] = '\0';
	ss_site_handle(site, req, &res);
	return res.status;
}

static const char *
header(const char *name)
{
	for (size_t i = 0; i < res.header_count; i++)
		if (strcmp(res.headers[i].name, name) == 0)
			return res.headers[i].value;
	return NULL;
}

static void
test_get(void)
{
	struct ss_request req = get("/");
	char etag[128], date[128];

	is_int(200, ask(&req), "a page is found");
	is_str("text/markdown; charset=utf-8", header("Content-Type"),
		"a page is Markdown");
	is_str("nosniff", header("X-Content-Type-Options"), "never sniffed");
	ok(strstr(res.body, "tools:") != NULL, "frontmatter is part of it");
	ok(header("X-Request-Id") != NULL &&
			strlen(header("X-Request-Id")) == 32,
		"an answer carries an id of ours");
	snprintf(etag, sizeof(etag), "%s", header("ETag"));
	snprintf(date, sizeof(date), "%s", header("Last-Modified"));

	req.request_id = "front-1.x_Y";
	ask(&req);
	is_str("front-1.x_Y", header("X-Request-Id"), "the front's id is kept");
	req.request_id = "no spaces";
	ask(&req);
	ok(strcmp(header("X-Request-Id"), "no spaces") != 0,
		"an id with other characters is not believed");

	req.if_none_match = etag;
	is_int(304, ask(&req), "If-None-Match with our ETag: not modified");
	is_int(0, (long long)res.body_len, "and no body");
	req.if_none_match = "\"other\", W/\"more\"";
	is_int(200, ask(&req), "another ETag: whole");
	req.if_modified_since = date;
	is_int(200, ask(&req), "If-None-Match decides, not the date");
	req.if_none_match = NULL;
	is_int(304, ask(&req), "If-Modified-Since with our date: not modified");
	req.if_modified_since = "Tue, 14 Nov 2000 22:13:20 GMT";
	is_int(200, ask(&req), "an older date: whole");

	req = get("/");
	req.method = "HEAD";
	is_int(200, ask(&req), "HEAD is GET");
	ok(res.head_only && res.length > 0, "with the length and no body");
	req = get("/page.html");
	ask(&req);
	ok(strncmp(header("Content-Type"), "text/plain", 10) == 0,
		"HTML of the site is text");
	is_str("sandbox", header("Content-Security-Policy"),
		"a data file is sandboxed");
	req = get("/nothing");
	is_int(404, ask(&req), "no such file");
	ok(strncmp(header("Content-Type"), "text/plain", 10) == 0,
		"a GET's error is text");
	req.accept = "application/json";
	ask(&req);
	is_str("application/json", header("Content-Type"),
		"unless the client prefers JSON");
}

/* RFC 9110 5.6.7 and 8.8.3. */
static void
test_validators(void)
{
	static const struct {
		int64_t seconds;
		const char *date, *etag;
	} cases[] = {
		{ 784111777, "Sun, 06 Nov 1994 08:49:37 GMT",
			"\"4-a-ae1b981bc490a00-ae1b981bc490a00\"" },
		{ 951868799, "Tue, 29 Feb 2000 23:59:59 GMT",
			"\"4-a-d35b7a1252c3600-d35b7a1252c3600\"" },
		{ 946684800, "Sat, 01 Jan 2000 00:00:00 GMT",
			"\"4-a-d234ccf52430000-d234ccf52430000\"" },
		{ 1, "Thu, 01 Jan 1970 00:00:01 GMT",
			"\"4-a-3b9aca00-3b9aca00\"" },
		{ -1, "Wed, 31 Dec 1969 23:59:59 GMT",
			"\"4-a-ffffffffc4653600-ffffffffc4653600\"" },
	};
	struct ss_request req = get("/data.csv");

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		changed = cases[i].seconds;
		ask(&req);
		is_str(cases[i].date, header("Last-Modified"),
			"a date of HTTP");
		is_str(cases[i].etag, header("ETag"), "and a tag");
		req.if_modified_since = cases[i].date;
		is_int(304, ask(&req), "which compares with itself");
		req.if_modified_since = NULL;
	}
	changed = 1700000000;
}

static void
test_range(void)
{
	static const struct {
		const char *range;
		int status;
		const char *content_range, *body;
	} cases[] = {
		{ "bytes=0-0", 206, "bytes 0-0/10", "0" },
		{ "bytes=9-9", 206, "bytes 9-9/10", "9" },
		{ "bytes=10-", 416, "bytes */10", "" },
		{ "bytes=3-5", 206, "bytes 3-5/10", "345" },
		{ "bytes=8-99", 206, "bytes 8-9/10", "89" },
		{ "bytes=-2", 206, "bytes 8-9/10", "89" },
		{ "bytes=-99", 206, "bytes 0-9/10", "0123456789" },
		{ "bytes=-0", 416, "bytes */10", "" },
		{ "bytes=5-3", 200, NULL, "0123456789" },
		{ "bytes=0-1,4-5", 200, NULL, "0123456789" },
		{ "lines=0-1", 200, NULL, "0123456789" },
		{ "bytes=99999999999999999999-", 200, NULL, "0123456789" },
	};
	struct ss_request req = get("/data.csv");
	char etag[128], date[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		req.range = cases[i].range;
		is_int(cases[i].status, ask(&req), "Range: %s", req.range);
		is_str(cases[i].content_range, header("Content-Range"),
			"Content-Range for %s", req.range);
		ok(res.body_len == strlen(cases[i].body) &&
				memcmp(res.body, cases[i].body, res.body_len) ==
					0,
			"the bytes for %s", req.range);
	}
	req.range = "bytes=0-1";
	ask(&req);
	snprintf(etag, sizeof(etag), "%s", header("ETag"));
	req.if_range = etag;
	is_int(206, ask(&req), "If-Range with our ETag: the part");
	req.if_range = "\"old\"";
	is_int(200, ask(&req), "If-Range with another: the whole");
	snprintf(etag, sizeof(etag), "W/%s", header("ETag"));
	req.if_range = etag;
	is_int(200, ask(&req), "If-Range with a weak one: the whole");
	snprintf(date, sizeof(date), "%s", header("Last-Modified"));
	req.if_range = date;
	is_int(206, ask(&req), "If-Range with our date: the part");
	req.if_range = "Tue, 14 Nov 2000 22:13:20 GMT";
	is_int(200, ask(&req), "If-Range with another date: the whole");
	req.if_range = NULL;
	req.if_none_match = "*";
	is_int(304, ask(&req), "a condition comes before the range");
	req.if_none_match = etag;
	is_int(304, ask(&req), "If-None-Match compares weakly");
	req.if_none_match = NULL;
	req.method = "HEAD";
	is_int(200, ask(&req), "HEAD has no parts");
	is_int(10, (long long)res.length, "and tells the length of the whole");
	req = get("/");
	req.range = "bytes=0-1";
	is_int(200, ask(&req), "a page is never sent in parts");
}

static void
test_post(void)
{
	struct ss_request req = post("/", "{\"command\": [\"echo\", \"hi\"]}");

	is_int(200, ask(&req), "an allowed command runs");
	is_str("echo hi", ran, "with its words");
	is_str("{\"stdout\": \"out\xef\xbf\xbd\", \"stderr\": \"\", "
	       "\"returncode\": 3}",
		res.body,
		"the answer is JSON, what is not UTF-8 becomes U+FFFD");
	ok(header("Server-Timing") != NULL, "and says how long it took");
	ok(strstr(logged, " tool=0 exit=3 ") != NULL, "as does the log");
	ran[0] = '\0';
	req = post("/", "{\"command\": [\"cat\", \"b\"]}");
	is_int(403, ask(&req), "another command is refused");
	ok(strstr(res.body, "not_allowed") && strstr(res.body, "[echo, {}]"),
		"with the tools as the author wrote them");
	is_str("", ran, "and nothing ran");
	req = post("/", "{\"command\": [\"echo\", \"/etc/passwd\"]}");
	is_int(403, ask(&req), "an absolute word is refused");
	req = post("/",
		"{\"command\": [\"echo\", \"a\"], \"env\": {\"X\": \"1\"}}");
	is_int(400, ask(&req), "an unlisted variable is refused");
	req = post("/", "{\"command\": [\"echo\", \"a\"], \"stdin\": \"x\"}");
	is_int(400, ask(&req), "stdin for a tool that does not declare it");
	req = post("/", "{\"command\": []}");
	is_int(400, ask(&req), "an empty command is refused");
	ok(strstr(logged, "stage=parse code=bad_request total_ms=") != NULL,
		"and the log names no tool");
	req = post("/plain.md", "{\"command\": [\"echo\", \"a\"]}");
	is_int(400, ask(&req), "a page without frontmatter");
	ok(strstr(res.body, "no_frontmatter") != NULL, "says so");
	req = post("/bad.md", "{\"command\": [\"ls\"]}");
	is_int(400, ask(&req), "a page with bad frontmatter");
	ok(strstr(res.body, "line 2") != NULL, "says where");
	req = post("/data.csv", "{\"command\": [\"ls\"]}");
	is_int(403, ask(&req), "a file that is no page");
	req = post("/", "{\"command\": [\"echo\", \"a\"]}");
	req.content_type = "text/plain";
	is_int(415, ask(&req), "another content type");
	req.content_type = "application/merge+json; charset=utf-8";
	is_int(200, ask(&req), "a +json type is JSON");
	req.body_too_large = true;
	is_int(413, ask(&req), "a body that the gate stopped reading");
	req = post("/healthz", "{}");
	is_int(405, ask(&req), "a reserved path takes no POST");
	is_str("GET, HEAD, OPTIONS", header("Allow"),
		"and does not say that it does");
}

static void
test_guard(void)
{
	static const struct {
		const char *host;
		int status;
	} hosts[] = { { "127.0.0.1:8000", 200 }, { "[::1]:80", 200 },
		{ "[::1]", 200 }, { "localhost", 200 }, { "LOCALHOST.:9", 200 },
		{ "known.example", 200 }, { "known.example.:1", 200 },
		{ "evil.example", 421 }, { "localhost.evil.example", 421 },
		{ "127.0.0.1.evil.example", 421 }, { "", 421 },
		{ "[::1", 421 } };
	static const struct {
		const char *origin, *host;
		int status;
	} origins[] = {
		{ "http://127.0.0.1:8000", "127.0.0.1:8000", 200 },
		{ "http://127.0.0.1", "127.0.0.1:80", 200 },
		{ "https://known.example", "known.example:443", 200 },
		{ "http://[::1]:80", "[::1]", 200 },
		{ "https://friend.example", "127.0.0.1", 200 },
		{ "http://127.0.0.1:8001", "127.0.0.1:8000", 403 },
		{ "https://127.0.0.1:8000", "127.0.0.1", 403 },
		{ "https://evil.example", "127.0.0.1:8000", 403 },
		{ "null", "127.0.0.1:8000", 403 },
		{ "", "127.0.0.1:8000", 403 },
		{ "http://127.0.0.1:8000/x", "127.0.0.1:8000", 403 },
	};
	struct ss_request req;

	for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
		req = get("/");
		req.host = hosts[i].host;
		is_int(hosts[i].status, ask(&req), "Host: %s", req.host);
	}
	for (size_t i = 0; i < sizeof(origins) / sizeof(*origins); i++) {
		req = post("/", "{\"command\": [\"echo\", \"a\"]}");
		req.origin = origins[i].origin;
		req.host = origins[i].host;
		is_int(origins[i].status, ask(&req), "Origin %s for Host %s",
			req.origin, req.host);
	}
	req = get("/");
	req.origin = "https://evil.example";
	is_int(200, ask(&req), "a foreign page may look");
	ok(header("Access-Control-Allow-Origin") == NULL,
		"but its browser does not show it the answer");
	req.origin = "https://friend.example";
	ask(&req);
	ok(header("Access-Control-Allow-Origin") == NULL,
		"nor to a listed one, unless the operator says so");
}

/* On a site with [http] cors. */
static void
test_cors(void)
{
	struct ss_request req = get("/");

	ask(&req);
	is_str("Accept, Origin", header("Vary"),
		"a cache learns that answers differ by Origin");
	ok(header("Access-Control-Allow-Origin") == NULL,
		"without an Origin there is nobody to tell");
	req.origin = "https://evil.example";
	is_int(200, ask(&req), "a foreign page may look");
	ok(header("Access-Control-Allow-Origin") == NULL,
		"but its browser does not show it the answer");
	req.origin = "https://friend.example";
	ask(&req);
	is_str(req.origin, header("Access-Control-Allow-Origin"),
		"a listed one is shown it");
	req.method = "OPTIONS";
	is_int(204, ask(&req), "its browser asks before it posts");
	is_str(header("Allow"), header("Access-Control-Allow-Methods"),
		"and is told the methods");
	ok(strstr(header("Access-Control-Allow-Headers"), "Content-Type") !=
			NULL,
		"and that JSON can be sent");
	req = post("/", "{\"command\": [\"rm\"]}");
	req.origin = "https://friend.example";
	is_int(403, ask(&req), "a refusal");
	is_str(req.origin, header("Access-Control-Allow-Origin"),
		"can be read like an answer");
	is_str("Origin", header("Vary"), "which only the Origin changes");
	req.origin = "https://evil.example";
	is_int(403, ask(&req), "who is not listed does not post");
	ok(header("Access-Control-Allow-Origin") == NULL,
		"and does not read why");
}

static void
test_paths(void)
{
	struct ss_request req = get("/");

	req.method = "PUT";
	is_int(405, ask(&req), "another method");
	is_str("GET, HEAD, POST, OPTIONS", header("Allow"), "says which go");
	req.method = "OPTIONS";
	is_int(204, ask(&req), "OPTIONS has no body");
	is_str("GET, HEAD, POST, OPTIONS", header("Allow"),
		"and says the same");
	req = get("/README.md");
	req.request_uri = "/x/../README.md";
	is_int(403, ask(&req), "a dot-dot that the front resolved is refused");
	req.request_uri = "/README.md?q=../..";
	is_int(200, ask(&req), "a query is not a path");
	req = get("/../etc/passwd");
	is_int(403, ask(&req), "a dot-dot is refused");
	req = get("/healthz");
	is_int(200, ask(&req), "healthz answers");
	req = get("/__meta/status");
	is_int(404, ask(&req), "status is not there for everyone");
}

/* Without an exchange, as when memory ran out. */
static void
test_closed(void)
{
	struct ss_request req = get("/");

	site = ss_site_new();
	req.request_id = "front-1";
	is_int(500, ask(&req), "a site that is not open has an answer");
	is_str("nosniff", header("X-Content-Type-Options"),
		"with the headers of every answer");
	is_str("front-1", header("X-Request-Id"), "and its id");
	ss_response_release(&res);
	ss_site_free(site);
}

int
main(void)
{
	struct ss_request req;

	test_closed();

	site = make_site("true");
	test_cors();
	ss_response_release(&res);
	ss_site_free(site);
	site = make_site("false");
	test_get();
	test_validators();
	test_range();
	test_post();
	test_guard();
	test_paths();

	req = get("/");
	ask(&req);
	is_str("abba", hook_trace, "hooks look in order and back in reverse");
	req.remote_user = "a";
	is_int(401, ask(&req), "a hook can refuse");
	is_str("aa", hook_trace, "then only those that looked see the answer");
	ss_response_release(&res);
	ss_site_free(site);
	return done();
}
