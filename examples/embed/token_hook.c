/* SPDX-License-Identifier: MIT */
/*
 * A host that asks every visitor for a token.  The library knows nothing of
 * tokens: the host reads the header where it reads HTTP, lays it down where
 * its hook finds it, and the hook says no.
 *
 *	token_hook DIR EXPECTED SENT
 */
#include <statespace.h>

#include <stdio.h>
#include <string.h>

struct door {
	const char *expected;
	const char *sent;
	unsigned refused;
};

/* Takes the same time wherever the first difference is. */
static bool
same(const char *a, const char *b)
{
	size_t n = strlen(a);
	unsigned char diff = 0;

	if (strlen(b) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		diff |= (unsigned char)(a[i] ^ b[i]);
	return diff == 0;
}

static enum ss_err
door_before(void *ctx, const struct ss_request *req, struct ss_error *err)
{
	struct door *door = ctx;

	(void)req;
	if (same(door->expected, door->sent))
		return SS_OK;
	if (err) {
		err->code = SS_UNAUTHORIZED;
		snprintf(err->message, sizeof err->message,
			"this site wants a token");
	}
	return SS_UNAUTHORIZED;
}

static void
door_after(
	void *ctx, const struct ss_request *req, const struct ss_response *res)
{
	struct door *door = ctx;

	(void)req;
	door->refused += res->outcome == SS_UNAUTHORIZED;
}

int
main(int argc, char *argv[])
{
	static const char json[] = "{\"command\": [\"ls\"]}";
	struct door door = { 0 };
	struct ss_hook hook = SS_INIT(ss_hook);
	struct ss_request req = SS_REQUEST_INIT;
	struct ss_response res = SS_INIT(ss_response);
	struct ss_error err = { 0 };
	struct ss_site *site = ss_site_new();

	if (argc != 4 || !site) {
		fprintf(stderr, "usage: token_hook DIR EXPECTED SENT\n");
		ss_site_free(site);
		return 2;
	}
	door.expected = argv[2];
	door.sent = argv[3];
	hook.ctx = &door;
	hook.before = door_before;
	hook.after = door_after;
	if (ss_site_set_root(site, argv[1], &err) ||
		ss_site_add_hook(site, &hook, &err) ||
		ss_site_open(site, &err)) {
		fprintf(stderr, "token_hook: %s\n", err.message);
		ss_site_free(site);
		return 1;
	}
	req.method = "POST";
	req.path = "/";
	req.content_type = "application/json";
	req.body = json;
	req.body_len = sizeof json - 1;
	ss_site_handle(site, &req, &res);
	printf("%d %.*s\nrefused: %u\n", res.status, (int)res.body_len,
		res.body, door.refused);
	ss_response_release(&res);
	ss_site_free(site);
	return 0;
}
