/* SPDX-License-Identifier: MIT */
/*
 * The smallest host: opens a directory as a site, reads its front page and
 * runs one of the page's tools.
 *
 *	minimal DIR
 */
#include <statespace.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A body is memory, or a stretch of an open file. */
static void
print_body(const struct ss_response *res)
{
	char chunk[4096];
	uint64_t done = 0;

	if (res->fd == -1) {
		fwrite(res->body, 1, res->body_len, stdout);
		return;
	}
	while (done < res->length) {
		uint64_t left = res->length - done;
		size_t want = left < sizeof chunk ? left : sizeof chunk;
		ssize_t n = pread(
			res->fd, chunk, want, (off_t)(res->offset + done));
		if (n <= 0)
			return;
		fwrite(chunk, 1, (size_t)n, stdout);
		done += (uint64_t)n;
	}
}

static void
ask(struct ss_site *site, const char *method, const char *path,
	const char *json)
{
	struct ss_request req = SS_REQUEST_INIT;
	struct ss_response res = SS_INIT(ss_response);

	req.method = method;
	req.path = path;
	if (json) {
		req.content_type = "application/json";
		req.body = json;
		req.body_len = strlen(json);
	}
	ss_site_handle(site, &req, &res);
	printf("%s %s: %d\n", method, path, res.status);
	print_body(&res);
	printf("\n");
	ss_response_release(&res);
}

int
main(int argc, char *argv[])
{
	struct ss_site *site = ss_site_new();
	struct ss_error err = { 0 };

	if (!site || ss_site_set_root(site, argc > 1 ? argv[1] : ".", &err) ||
		ss_site_open(site, &err)) {
		fprintf(stderr, "minimal: %s\n", err.message);
		ss_site_free(site);
		return 1;
	}
	ask(site, "GET", "/", NULL);
	ask(site, "POST", "/", "{\"command\": [\"ls\", \"-1\"]}");
	ss_site_free(site);
	return 0;
}
