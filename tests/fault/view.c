/* SPDX-License-Identifier: MIT */
/*
 * Pages for people and lists for agents while memory runs out, one allocation
 * after the other.  The answer is whole, or an honest error; the next one is
 * whole again, and nothing half-made is kept.
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

static const struct {
	const char *name, *text;
} pages[] = {
	{ "README.md", "---\ntitle: Front\ntools: [[ls, {dir}]]\n---\n# A\n" },
	{ "one.md", "# One\n\nText.\n" },
	{ "typed.md",
		"---\ntools:\n"
		"- [grep, { regex: '^(one|two)$', name: word }, "
		"{ name: n, type: integer, min: 1, max: 9 }, "
		"{ name: day, type: date, default: 2026-01-31 }]\n"
		"- command: [curl, { text: 'http://h/{id}/{q}', "
		"id: '^[0-9]+$', q: { kind: text, escape: url } }, "
		"{ name: how, enum: [fast, slow], optional: true }]\n"
		"  description: Fetches.\n"
		"- { name: a-name-of-more-than-fifty-seven-characters-is-cut-"
		"and-hashed, command: [ls, { kind: path, name: at }] }\n"
		"- [ls, { regex: '^[a-z]+[0-9]$' }, ;]\n"
		"- [ls, -a]\n---\n# Typed\n" },
	{ "away.md", "---\nhidden: true\n---\n# Away\n" },
	{ "two.md", "---\ntools: ls\n---\n# Bad\n" },
};

static char dir[] = "/tmp/ss-fault-XXXXXX";
static struct ss_site *site;

static void
write_pages(void)
{
	struct timespec settle = { .tv_nsec = 40000000 };

	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
		char path[128];
		int fd;

		snprintf(path, sizeof(path), "%s/%s", dir, pages[i].name);
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		if (fd < 0 ||
			fd_write_all(
				fd, pages[i].text, strlen(pages[i].text)) != 0)
			printf("# cannot write %s\n", path);
		close(fd);
	}
	nanosleep(&settle, NULL); /* what is newer is not kept */
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
		ss_site_open(site, &err) == SS_OK;
}

/* The status; the body as text. */
static int
get(const char *path, const char *accept, char body[static ANSWER_MAX])
{
	struct ss_request req = SS_REQUEST_INIT;
	struct ss_response res;
	size_t len;
	int status;

	req.method = "GET";
	req.path = path;
	req.accept = accept;
	ss_site_handle(site, &req, &res);
	len = res.body_len < ANSWER_MAX ? res.body_len : ANSWER_MAX - 1;
	memcpy(body, res.body, len);
	body[len] = '\0';
	status = res.status;
	ss_response_release(&res);
	return status;
}

static void
test_path(const char *path, const char *accept, const char *least)
{
	static char whole[ANSWER_MAX], body[ANSWER_MAX];
	int expected, n, lies = 0, lost = 0;

	if (!open_site())
		printf("# no site\n");
	expected = get(path, accept, whole);
	for (n = 1; n < CALLS_MAX && open_site(); n++) {
		int status;

		fault_at = n;
		status = get(path, accept, body);
		if (fault_at != 0)
			break;
		lies += !is_honest(status, body, expected, whole, least);
		status = get(path, accept, body);
		lost += !is_honest(status, body, expected, whole, NULL) ||
			is_internal(status, body);
	}
	fault_at = 0;
	ok(n > 4 && n < CALLS_MAX, "%s, %s: %d allocations fail", path, accept,
		n - 1);
	is_int(0, lies, "each answer is whole or an honest error");
	is_int(0, lost, "the next one is whole");
}

int
main(void)
{
	if (mkdtemp(dir) == NULL || chmod(dir, 0755) != 0)
		return 1;
	write_pages();
	test_path("/", "text/html", NULL);
	test_path("/two.md", "text/html", NULL);
	test_path("/one.md", "text/markdown", NULL);
	test_path("/typed.md", "text/html", NULL);
	test_path("/away.md", "text/html", "no such page or file");
	test_path("/nothing", "text/html", "no such page or file");
	test_path("/AGENTS.md", "text/markdown", NULL);
	test_path("/AGENTS.md", "text/html", NULL);
	test_path("/llms.txt", "text/plain", NULL);
	ss_site_free(site);
	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s/%s", dir, pages[i].name);
		unlink(path);
	}
	rmdir(dir);
	return done();
}
