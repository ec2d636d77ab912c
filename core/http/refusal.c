/* SPDX-License-Identifier: MIT */
#include "http/refusal.h"

#include "page/near.h"
#include "site/listing.h"
#include "site/refusal.h"
#include "wire/path.h"

/* path is relative to the site, in the arena or static. */
static void
set_get(struct exchange *x, const char *path, const char *text,
	const char *header, const char *value)
{
	struct arena *arena = &x->site->arena;
	const char *prefix = x->site->config.http.prefix;
	size_t n = strlen(prefix);
	struct step step = { .kind = STEP_GET,
		.text = text,
		.header = header,
		.header_value = value };

	while (n > 0 && prefix[n - 1] == '/')
		n--;
	step.path = arena_printf(arena, "%.*s/%s", (int)n, prefix, path);
	if (step.path != NULL)
		refusal_set(arena, &step, &x->result);
}

static void
set_agents(struct exchange *x)
{
	set_get(x, "AGENTS.md",
		"this lists the pages and how to call their tools", NULL, NULL);
}

/* ---------------------------------------------------------- no such file -- */

/* The name without its folder and ".md". */
static struct ss_text
page_name(const char *path)
{
	struct ss_text name = text_of(path);
	size_t dir = path_dir_len(path);

	name.data += dir > 0 ? dir + 1 : 0;
	name.len -= dir > 0 ? dir + 1 : 0;
	if (text_ends(name, ".md"))
		name.len -= 3;
	return name;
}

/* Is it shown to readers?  A page may have `hidden: true`. */
static bool
is_shown(struct exchange *x, const char *path)
{
	struct ss_site *site = x->site;
	struct ss_document doc;
	struct page *page;

	if (page_open(&site->pages, &site->documents, path, &doc, &page,
		    NULL) != SS_OK)
		return false;
	documents_close(&site->documents, &doc);
	return true;
}

/* The page of the same folder whose name is spelled most like it; NULL. */
static const char *
near_page(struct exchange *x)
{
	struct ss_site *site = x->site;
	const struct listing_source from = { .config = &site->config,
		.documents = &site->documents,
		.arena = &site->arena };
	size_t dir = path_dir_len(x->path);
	const char *folder = arena_copy(&site->arena, x->path, dir);
	struct ss_text asked = page_name(x->path);
	struct listing pages = { .count = 0 };
	const char **names;
	const char *found = NULL;

	if (folder == NULL || asked.len == 0 ||
		listing_folder(&from, folder, &pages, NULL) != SS_OK)
		return NULL;
	names = arena_array(&site->arena, pages.count + 1, sizeof(*names));
	for (size_t i = 0; names != NULL && i < pages.count; i++) {
		struct ss_text name = page_name(pages.paths[i]);

		names[i] = arena_copy(&site->arena, name.data, name.len);
		if (names[i] == NULL)
			return NULL;
	}
	if (names != NULL)
		found = near_word(asked, names, pages.count);
	for (size_t i = 0; found != NULL && i < pages.count; i++)
		if (names[i] == found)
			return is_shown(x, pages.paths[i]) ? pages.paths[i]
							   : NULL;
	return NULL;
}

static void
set_near_page(struct exchange *x)
{
	const char *path = x->path[0] != '\0' ? near_page(x) : NULL;

	if (path == NULL)
		set_agents(x);
	else
		set_get(x, path, "the page with the nearest name", NULL, NULL);
}

/* ------------------------------------------------------------------------- */

/* A POST to a page whose body was no request. */
static void
set_call(struct exchange *x)
{
	const struct ss_request *req = x->req;
	const struct call_parts *parts = &x->site->calls;
	static const struct proto_request nothing;

	refusal_step(
		&(const struct refusal){ .parts = parts,
			.doc = &x->doc,
			.page = x->parsed,
			.request = &nothing,
			.body = req->body != NULL ? req->body : "",
			.body_len = req->body_too_large ? 0 : req->body_len },
		&x->err, &x->result);
}

void
http_refusal(struct exchange *x)
{
	if (x->result.step != NULL || x->err.setting[0] != '\0')
		return;
	switch (x->err.code) {
	case SS_NOT_FOUND: set_near_page(x); break;
	case SS_HOST_REFUSED:
		set_get(x, x->path, "ask under a name of this server", "Host",
			"localhost");
		break;
	case SS_METHOD:
		if (x->doc_open)
			set_get(x, x->doc.path, "read the page", NULL, NULL);
		else if (x->path[0] != '\0')
			set_get(x, x->path, "read it", NULL, NULL);
		else
			set_agents(x);
		break;
	case SS_BAD_REQUEST:
	case SS_CONTENT_TYPE:
	case SS_LENGTH_REQUIRED:
		if (x->doc_open && exchange_is(x, "POST"))
			set_call(x);
		else
			set_agents(x);
		break;
	case SS_PATH_REFUSED:
	case SS_NO_FRONTMATTER: set_agents(x); break;
	default: break;
	}
}
