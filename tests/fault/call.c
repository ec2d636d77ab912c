/* SPDX-License-Identifier: MIT */
/*
 * A tool's call while memory runs out, one allocation after the other: it is
 * answered as ever, or with an honest error.  A refusal is the same refusal,
 * and the question to a person is whole.
 *
 * wrap: malloc calloc realloc
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"
#include "base/fd.h"
#include "statespace.h"
#include "tap.h"

FAULT(malloc, void *, NULL, ENOMEM, (size_t n), (n))
FAULT(calloc, void *, NULL, ENOMEM, (size_t n, size_t size), (n, size))
FAULT(realloc, void *, NULL, ENOMEM, (void *p, size_t n), (p, n))

#define CALLS_MAX 4000
#define ANSWER_MAX 65536

static const char page[] =
	"---\ntools:\n"
	"- { name: say, command: [echo, { name: n, type: integer, max: 9, "
	"default: 7 }, { text: 'id={id};q={q}', id: '^[0-9]+$', "
	"q: { kind: text, escape: url } }] }\n"
	"- { name: words, command: [echo, { regex: '^(a|b)+$', name: word }, "
	"{ name: how, enum: [fast, slow], optional: true }, ;] }\n"
	"- { name: lines, command: [printf, '1\\n2\\n3\\n', ;], "
	"lines: 2 }\n"
	"- { name: table, command: [echo, 'a,b', ;], output: text/csv }\n"
	"- { name: drop, command: [echo, drop, { name: table, "
	"regex: '^[a-z]+$' }], confirm: 'Really drop {table}?' }\n"
	"---\n# Page\n";

static char dir[] = "/tmp/ss-fault-XXXXXX";
static struct ss_site *site;

static bool
write_page(void)
{
	struct timespec settle = { .tv_nsec = 40000000 };
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/README.md", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || fd_write_all(fd, page, strlen(page)) != 0)
		return false;
	close(fd);
	nanosleep(&settle, NULL); /* what is newer is not kept */
	return true;
}

/* One that knows nothing yet. */
static bool
open_site(void)
{
	struct ss_error err = { .code = SS_OK };

	ss_site_free(site);
	site = ss_site_new();
	return site != NULL && ss_site_set_root(site, dir, &err) == SS_OK &&
		ss_site_set_option(site, "sandbox.mode", "off", &err) ==
		SS_OK &&
		ss_site_set_option(site, "mcp.enabled", "true", &err) ==
		SS_OK &&
		ss_site_open(site, &err) == SS_OK;
}

/* The status; the body as text. */
static int
post(const char *body, char answer[static ANSWER_MAX])
{
	struct ss_request req = SS_REQUEST_INIT;
	struct ss_response res;
	size_t len;
	int status;

	req.method = "POST";
	req.path = strstr(body, "jsonrpc") != NULL ? "/mcp" : "/";
	req.content_type = "application/json";
	req.accept = "text/csv, application/json;q=0.1";
	req.body = body;
	req.body_len = strlen(body);
	ss_site_handle(site, &req, &res);
	len = res.body_len < ANSWER_MAX ? res.body_len : ANSWER_MAX - 1;
	memcpy(answer, res.body, len);
	answer[len] = '\0';
	status = res.status;
	ss_response_release(&res);
	return status;
}

static void
test_post(const char *request, int wanted, const char *least)
{
	static char whole[ANSWER_MAX], body[ANSWER_MAX];
	int expected, n, lies = 0, lost = 0;

	if (!open_site())
		printf("# no site\n");
	expected = post(request, whole);
	is_int(wanted, expected, "%s", request);
	for (n = 1; n < CALLS_MAX && open_site(); n++) {
		int status;

		fault_at = n;
		status = post(request, body);
		if (fault_at != 0)
			break;
		lies += !is_honest(status, body, expected, whole, least);
		status = post(request, body);
		lost += !is_honest(status, body, expected, whole, least) ||
			is_internal(status, body);
	}
	fault_at = 0;
	ok(n > 4 && n < CALLS_MAX, "%d allocations fail", n - 1);
	is_int(0, lies, "each answer is whole or an honest error");
	is_int(0, lost, "the next one is whole");
}

/* Without memory a refusal may lack its next step, never its code. */
#define REFUSED(code) "\"code\": \"" code "\""

int
main(void)
{
	char path[128];

	if (mkdtemp(dir) == NULL || chmod(dir, 0755) != 0 || !write_page())
		return 1;
	test_post("{\"command\": [\"echo\", \"3\", \"id=12;q=a%20b\"]}", 200,
		NULL);
	test_post("{\"tool_call\": {\"name\": \"say\", \"arguments\": "
		  "{\"id\": \"5\", \"q\": \"x y\"}}}",
		200, NULL);
	test_post("{\"command\": [\"echo\", \"aab\", \"slow\"]}", 200, NULL);
	test_post("{\"tool_call\": {\"name\": \"lines\"}}", 200,
		"\"stdout\": \"1\\n2\\n\"");
	test_post("{\"command\": [\"echo\", \"99\", \"id=1;q=2\"]}", 403,
		REFUSED("not_allowed"));
	test_post(
		"{\"command\": [\"cat\", \"x\"]}", 403, REFUSED("not_allowed"));
	test_post("{\"tool_call\": {\"name\": \"table\"}}", 200, NULL);
	test_post("{\"tool_call\": {\"name\": \"say\", \"arguments\": "
		  "{\"n\": 99, \"id\": \"5\", \"q\": \"x\"}}}",
		400, REFUSED("bad_request"));
	test_post("{\"tool_call\": {\"name\": \"say\", \"arguments\": "
		  "{\"m\": \"1\"}}}",
		400, REFUSED("bad_request"));
	test_post("{\"tool_call\": {\"name\": \"none\"}}", 403,
		REFUSED("not_allowed"));
	test_post("{\"tool_call\": {\"name\": \"lines\", \"arguments\": "
		  "{\"next\": \"AAAA\"}}}",
		410, REFUSED("next_gone"));
	test_post("{\"command\": [\"echo\", \"drop\", \"users\"]}", 428,
		"Really drop users?");
	test_post("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": "
		  "\"tools/list\"}",
		200, NULL);
	test_post("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": "
		  "\"tools/call\", \"params\": {\"name\": \"lines\"}}",
		200, "lines 1 to 2 of 3");
	test_post("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": "
		  "\"tools/call\", \"params\": {\"name\": \"say\", "
		  "\"arguments\": {\"id\": \"5\", \"q\": \"x\", \"n\": 99}}}",
		200, "\"isError\":true");
	ss_site_free(site);
	snprintf(path, sizeof(path), "%s/README.md", dir);
	unlink(path);
	rmdir(dir);
	return done();
}
