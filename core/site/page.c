/* SPDX-License-Identifier: MIT */
#include "site/page.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "page/env_check.h"
#include "page/fence.h"
#include "wire/path.h"

/*
 * A file that changes twice within one tick of the kernel's clock keeps its
 * times: what was read that soon after a change is not kept.
 */
#define FRESH_NS 20000000

static void
page_free(struct page *p)
{
	if (p == NULL)
		return;
	rights_release(&p->rights);
	frontmatter_release(&p->front);
	arena_release(&p->arena);
	free(p);
}

void
page_cache_release(struct page_cache *cache)
{
	for (size_t i = 0; i < PAGE_CACHE_SIZE; i++) {
		page_free(cache->pages[i]);
		cache->pages[i] = NULL;
	}
}

bool
page_is_settled(const struct file_id *id)
{
	struct timespec now;
	int64_t now_ns;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	return file_id_is_known(id) && now_ns - id->ctime_ns > FRESH_NS;
}

enum ss_err
page_read(const struct ss_document *doc, struct buf *out, struct ss_error *err)
{
	int number = 0;

	if (doc->fd >= 0) {
		if (lseek(doc->fd, 0, SEEK_SET) < 0)
			number = errno;
		else
			number = fd_read_all(doc->fd, out);
	} else {
		buf_add(out, doc->data, doc->length);
	}
	if (number != 0 || out->failed)
		return error_internal(err, number, "read %s", doc->path);
	return SS_OK;
}

/* Variables are checked after the page's own syntax: they need [env]. */
static enum ss_err
check_variables(const struct config *config, const struct frontmatter *front,
	struct node_place *place, struct ss_error *err)
{
	const struct env_scope scope = { .server = config->env,
		.server_count = config->env_count,
		.page = &front->env };
	const struct env_grant grant = {
		.any = config->grant.env_choice == CHOICE_ANY,
		.names = config->grant.env.items,
		.count = config->grant.env.count,
	};
	enum ss_err code = env_check_list(&front->env, place, err);

	if (code == SS_OK)
		code = env_check_grant(&scope, &grant, place, err);
	for (size_t i = 0; code == SS_OK && i < front->spec_count; i++) {
		size_t count;
		const struct spec *c = spec_commands(&front->specs[i], &count);

		for (; code == SS_OK && count > 0; count--, c++) {
			code = env_check_spec(c, &scope, place, err);
			if (code == SS_OK)
				code = env_check_spec_grant(
					c, &scope, &grant, place, err);
		}
	}
	return code;
}

static bool
has_components(const struct buf *text, size_t body)
{
	struct fence_scan scan = {
		.text = text->data, .len = text->len, .at = body
	};
	struct fence_block block;

	return fence_next(&scan, &block);
}

static enum ss_err
parse_page(const struct page_cache *cache, const struct ss_document *doc,
	struct page *p, struct ss_error *err)
{
	struct buf text = BUF_INIT(PAGE_BYTES_MAX);
	enum ss_err code = page_read(doc, &text, err);

	if (code != SS_OK)
		goto out;
	if (text.full) {
		error_set(&p->error, SS_BAD_FRONTMATTER,
			"the page is larger than %zu bytes", PAGE_BYTES_MAX);
		p->front.hidden = frontmatter_says_hidden(text.data, text.len);
		goto out;
	}
	code = frontmatter_parse(&p->arena, text.data, text.len, &p->front,
		&p->place, &p->error);
	if (code == SS_OK)
		code = check_variables(
			cache->config, &p->front, &p->place, &p->error);
	if (code == SS_OK)
		code = rights_init(&p->rights, &p->arena,
			&(struct rights_source){ .front = &p->front,
				.page_path = p->path,
				.dir_fd = doc->dir_fd,
				.documents = cache->documents,
				.config = cache->config,
				.ceiling = cache->grant },
			&p->place, &p->error);
	if (code == SS_OK)
		p->has_components = has_components(&text, p->front.body);
	if (code == SS_INTERNAL && err != NULL)
		*err = p->error;
	else
		code = SS_OK;
out:
	buf_release(&text);
	return code;
}

static enum ss_err
page_new(const struct page_cache *cache, const struct ss_document *doc,
	struct page **out, struct ss_error *err)
{
	struct page *p = calloc(1, sizeof(*p));
	enum ss_err code;

	if (p == NULL)
		return error_memory(err);
	arena_init(&p->arena, 0);
	p->rights = RIGHTS_INIT;
	p->id = file_id_of(doc);
	p->path = arena_copy(&p->arena, doc->path, strlen(doc->path));
	if (p->path == NULL)
		code = error_memory(err);
	else
		code = parse_page(cache, doc, p, err);
	if (code != SS_OK) {
		page_free(p);
		return code;
	}
	*out = p;
	return SS_OK;
}

/* The entry to replace: an empty one, else the least recently used. */
static struct page **
entry_to_replace(struct page_cache *cache)
{
	struct page **slot = &cache->pages[0];

	for (size_t i = 0; i < PAGE_CACHE_SIZE; i++) {
		if (cache->pages[i] == NULL)
			return &cache->pages[i];
		if (cache->pages[i]->last_use < (*slot)->last_use)
			slot = &cache->pages[i];
	}
	return slot;
}

enum ss_err
page_get(struct page_cache *cache, const struct ss_document *doc,
	struct page **out, struct ss_error *err)
{
	const struct file_id id = file_id_of(doc);
	struct page *p = NULL, **slot;
	enum ss_err code;

	for (size_t i = 0; i < PAGE_CACHE_SIZE; i++) {
		p = cache->pages[i];
		if (p != NULL && p->settled && file_id_same(&p->id, &id) &&
			strcmp(p->path, doc->path) == 0) {
			p->last_use = ++cache->uses;
			*out = p;
			return SS_OK;
		}
	}
	code = page_new(cache, doc, &p, err);
	if (code != SS_OK)
		return code;
	p->settled = page_is_settled(&id);
	p->last_use = p->settled ? ++cache->uses : 0;
	slot = entry_to_replace(cache);
	page_free(*slot);
	*slot = p;
	*out = p;
	return SS_OK;
}

enum ss_err
page_open(struct page_cache *cache, const struct documents *d, const char *path,
	struct ss_document *doc, struct page **page, struct ss_error *err)
{
	enum ss_err code = documents_open(d, path, doc, err);

	*page = NULL;
	if (code != SS_OK || !path_is_page(doc->path))
		return code;
	code = page_get(cache, doc, page, err);
	if (code == SS_OK && (*page)->front.hidden)
		code = documents_refuse_hidden(path, err);
	if (code == SS_OK)
		return SS_OK;
	documents_close(d, doc);
	doc->fd = doc->dir_fd = -1;
	*page = NULL;
	return code;
}
