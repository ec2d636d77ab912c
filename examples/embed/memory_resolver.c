/* SPDX-License-Identifier: MIT */
/*
 * A host whose pages lie in memory: a resolver of its own takes the place of
 * the directory tree.  The same could read a database or an archive.
 *
 *	memory_resolver
 */
#include <statespace.h>

#include <stdio.h>
#include <string.h>

static const struct entry {
	const char *path;
	const char *text;
} shelf[] = {
	{ "README.md",
		"---\n"
		"tools:\n"
		"  - [echo, {}, ;]\n"
		"---\n"
		"# In memory\n" },
	{ "notes/README.md", "# Notes\n" },
	{ "notes/today.md", "Nothing today.\n" },
};

static const char *
find(const char *path)
{
	for (size_t i = 0; i < sizeof shelf / sizeof shelf[0]; i++)
		if (strcmp(shelf[i].path, path) == 0)
			return shelf[i].text;
	return NULL;
}

/*
 * The order of statespace-protocol(7), PATHS: the file, the directory, ".md".
 */
static enum ss_err
shelf_open(void *ctx, const char *path, struct ss_document *doc,
	struct ss_error *err)
{
	const char *forms[] = { "%s", *path ? "%s/README.md" : "%sREADME.md",
		"%s.md" };

	(void)ctx;
	for (size_t i = 0; i < 3; i++) {
		int n = snprintf(doc->path, sizeof doc->path, forms[i], path);
		if (n < 0 || (size_t)n >= sizeof doc->path)
			continue;
		doc->data = find(doc->path);
		if (!doc->data)
			continue;
		strcpy(doc->real, doc->path);
		doc->length = strlen(doc->data);
		doc->fd = -1;
		doc->dir_fd = -1;
		return SS_OK;
	}
	if (err) {
		err->code = SS_NOT_FOUND;
		snprintf(err->message, sizeof err->message, "not on the shelf");
	}
	return SS_NOT_FOUND;
}

/* The texts are constants: nothing to give back. */
static void
shelf_close(void *ctx, struct ss_document *doc)
{
	(void)ctx;
	doc->data = NULL;
}

static void
ask(struct ss_site *site, const char *method, const char *path,
	const char *json)
{
	struct ss_request req = SS_REQUEST_INIT;
	struct ss_response res = SS_INIT(ss_response);

	req.method = method;
	req.path = path;
	req.content_type = "application/json";
	req.body = json;
	req.body_len = json ? strlen(json) : 0;
	ss_site_handle(site, &req, &res);
	printf("%s %s: %d\n%.*s\n", method, path, res.status, (int)res.body_len,
		res.body_len ? res.body : "");
	ss_response_release(&res);
}

int
main(void)
{
	struct ss_resolver resolver = SS_INIT(ss_resolver);
	struct ss_site *site = ss_site_new();
	struct ss_error err = { 0 };

	resolver.open = shelf_open;
	resolver.close = shelf_close;
	if (!site || ss_site_set_resolver(site, &resolver, &err) ||
		ss_site_open(site, &err)) {
		fprintf(stderr, "memory_resolver: %s\n", err.message);
		ss_site_free(site);
		return 1;
	}
	ask(site, "GET", "/", NULL);
	ask(site, "GET", "/notes/today", NULL);
	ask(site, "GET", "/elsewhere", NULL);
	ask(site, "POST", "/", "{\"command\": [\"echo\", \"from memory\"]}");
	ss_site_free(site);
	return 0;
}
