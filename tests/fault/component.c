/* SPDX-License-Identifier: MIT */
/*
 * A page with components while memory runs out, one allocation after the
 * other, in a worker.  The answer is the page, or an honest 500; the worker
 * answers the next request as if nothing had been.
 *
 * wrap: malloc calloc realloc
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"
#include "base/fd.h"
#include "statespace.h"
#include "tap.h"

FAULT(malloc, void *, NULL, ENOMEM, (size_t n), (n))
FAULT(calloc, void *, NULL, ENOMEM, (size_t n, size_t size), (n, size))
FAULT(realloc, void *, NULL, ENOMEM, (void *p, size_t n), (p, n))

#define CALLS_MAX 2000
/* More than a process keeps parsed: each request parses anew. */
#define PAGES 200

static const char page[] = "---\ntools: [[ls]]\n---\na\n```component\n"
			   "echo one\n```\nb\n```component\nexit 3\n```\n";
static const char rendered[] = "---\ntools: [[ls]]\n---\na\none\nb\n"
			       "[eval error: exit 3]\n";

static struct ss_site *site;
static int report = -1;

/* 200 with the whole page, 500, or 0 for anything else. */
static int
get(void)
{
	struct ss_request req = SS_REQUEST_INIT;
	struct ss_response res;
	static unsigned turn;
	char path[16];
	int status = 0;

	snprintf(path, sizeof(path), "/%u", turn++ % PAGES);
	req.method = "GET";
	req.path = path;
	ss_site_handle(site, &req, &res);
	if (res.status == 500 ||
		(res.status == 200 && res.body_len == sizeof(rendered) - 1 &&
			memcmp(res.body, rendered, res.body_len) == 0))
		status = res.status;
	ss_response_release(&res);
	return status;
}

static int
worker(void *ctx)
{
	int n, lies = 0, lost = 0, first = get();
	int before;

	(void)ctx;
	/* A parsed page holds a ruleset open: first as many as are kept. */
	for (n = 1; n < PAGES; n++)
		get();
	before = open_count();
	for (n = 1; n < CALLS_MAX; n++) {
		int status;

		fault_at = n;
		status = get();
		if (fault_at != 0)
			break;
		lies += status == 0;
		lost += get() != 200;
	}
	fault_at = 0;
	dprintf(report, "%d %d %d %d %d", first, n - 1, lies, lost,
		open_count() - before);
	return 0;
}

static bool
make_site(char dir[], struct ss_error *err)
{
	char path[128];
	int fd;

	if (mkdtemp(dir) == NULL || chmod(dir, 0755) != 0)
		return false;
	for (int i = 0; i < PAGES; i++) {
		snprintf(path, sizeof(path), "%s/%d.md", dir, i);
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		if (fd < 0 || fd_write_all(fd, page, sizeof(page) - 1) != 0)
			return false;
		close(fd);
	}
	site = ss_site_new();
	return site != NULL && ss_site_set_root(site, dir, err) == SS_OK &&
		ss_site_set_option(site, "limits.processes", "5000", err) ==
		SS_OK &&
		ss_site_open(site, err) == SS_OK;
}

int
main(void)
{
	char dir[] = "/tmp/ss-fault-XXXXXX", path[128], text[128] = "";
	int first = 0, calls = 0, lies = 0, lost = 0, left = 0, ends[2];
	struct ss_error err = { .code = SS_OK };
	struct ss_child child;

	if (fd_pipe(ends) != 0 || !make_site(dir, &err))
		return 1;
	report = ends[1];
	if (ss_site_fork(site, SS_FORK_LAUNCHER, worker, NULL, &child, &err) !=
		SS_OK)
		return 1;
	close(ends[1]);
	if (read(ends[0], text, sizeof(text) - 1) > 0)
		sscanf(text, "%d %d %d %d %d", &first, &calls, &lies, &lost,
			&left);
	waitpid(child.pid, NULL, 0);
	if (first != 200) {
		skip(4, "components cannot be run here");
	} else {
		ok(calls > 5 && calls < CALLS_MAX,
			"%d allocations fail, one after the other", calls);
		is_int(0, lies, "each answer is the page or an honest 500");
		is_int(0, lost, "the next one is the page");
		ok(left <= 0, "no descriptor is left open");
	}
	ss_site_free(site);
	for (int i = 0; i < PAGES; i++) {
		snprintf(path, sizeof(path), "%s/%d.md", dir, i);
		unlink(path);
	}
	rmdir(dir);
	return done();
}
