/* SPDX-License-Identifier: MIT */
#include "site/catalog.h"

#include <stdlib.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "page/agents.h"
#include "page/title.h"
#include "wire/path.h"

#define LISTS_FRESH_US 200000

static void
free_catalog(struct catalog *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < CATALOG_KINDS; i++)
		buf_release(&c->lists[i].text);
	arena_release(&c->arena);
	free(c);
}

void
catalog_release(struct catalog_cache *cache)
{
	free_catalog(cache->last);
	cache->last = NULL;
}

/* ------------------------------------------------------------- one page --- */

static enum ss_err
name_tools(struct catalog *c, const struct frontmatter *front,
	struct catalog_page *out, struct ss_error *err)
{
	struct toolcall_label *labels =
		toolcall_labels(front->specs, front->spec_count, out->path);
	bool good = labels != NULL;

	out->tools = arena_array(
		&c->arena, front->spec_count + 1, sizeof(*out->tools));
	good = good && out->tools != NULL;
	for (size_t i = 0; good && i < front->spec_count; i++) {
		struct catalog_tool *t = &out->tools[out->tool_count++];

		t->index = i;
		strcpy(t->label, labels[i].text);
		strcpy(t->name, labels[i].text);
		good = toolcall_hashed_name(
			&front->specs[i], out->path, t->hashed);
		for (size_t k = 0; k < i; k++)
			t->hidden |=
				strcmp(out->tools[k].hashed, t->hashed) == 0;
	}
	free(labels);
	return good ? SS_OK : error_memory(err);
}

static enum ss_err
name_prompts(struct catalog *c, const struct frontmatter *front,
	struct catalog_page *out, struct ss_error *err)
{
	if (front->prompt_count == 0)
		return SS_OK;
	out->prompts = arena_array(
		&c->arena, front->prompt_count, sizeof(*out->prompts));
	if (out->prompts == NULL)
		return error_memory(err);
	for (size_t i = 0; i < front->prompt_count; i++) {
		const char *name = front->prompts[i].name;

		out->prompts[i] = arena_copy(&c->arena, name, strlen(name));
		if (out->prompts[i] == NULL)
			return error_memory(err);
		out->prompt_count++;
	}
	return SS_OK;
}

/* Lower case, digits and single dashes (SEP-2640). */
static bool
is_skill_name(const char *s)
{
	size_t n = strlen(s);

	return n > 0 && n <= 64 && s[0] != '-' && s[n - 1] != '-' &&
		strstr(s, "--") == NULL &&
		strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

static enum ss_err
read_skill(struct catalog *c, const struct frontmatter *front,
	struct catalog_page *out, struct ss_error *err)
{
	struct ss_text path = text_of(out->path);
	const struct node *name =
		front->root != NULL ? node_member(front->root, "name") : NULL;
	size_t dir = path_dir_len(out->path), start = dir;

	if (!text_ends(path, "/SKILL.md") || front->description == NULL ||
		name == NULL || name->kind != NODE_STRING ||
		!is_skill_name(name->text))
		return SS_OK;
	while (start > 0 && out->path[start - 1] != '/')
		start--;
	if (dir - start != name->len ||
		memcmp(out->path + start, name->text, name->len) != 0)
		return SS_OK;
	out->is_skill = true;
	out->skill_description = arena_copy(
		&c->arena, front->description, strlen(front->description));
	return out->skill_description != NULL ? SS_OK : error_memory(err);
}

/* ------------------------------------------------------------- the lists -- */

/*
 * Notes the lines that were added from len on.  An entry that does not fit is
 * dropped and ends the list.
 */
static enum ss_err
close_lines(struct catalog *c, size_t kind, size_t len,
	struct catalog_page *out, struct ss_error *err)
{
	struct catalog_list *list = &c->lists[kind];

	if (list->text.failed)
		return error_memory(err);
	if (list->text.full) {
		list->text.len = len;
		list->text.full = false;
		list->cut = true;
	}
	out->lines[kind].at = len;
	out->lines[kind].len = list->text.len - len;
	return SS_OK;
}

static enum ss_err
add_lines(struct catalog *c, const struct agents_page *page,
	struct catalog_page *out, struct ss_error *err)
{
	static void (*const add[])(const struct agents_page *,
		struct buf *) = { agents_block, agents_link };
	enum ss_err code = SS_OK;

	for (size_t i = 0; code == SS_OK && i < ARRAY_LEN(add); i++) {
		size_t len = c->lists[i].text.len;

		if (!c->has_lists || c->lists[i].cut)
			continue;
		add[i](page, &c->lists[i].text);
		code = close_lines(c, i, len, out, err);
	}
	return code;
}

static enum ss_err
copy_lines(struct catalog *c, const struct catalog *from,
	const struct catalog_page *old, struct catalog_page *out,
	struct ss_error *err)
{
	enum ss_err code = SS_OK;

	for (size_t i = 0; code == SS_OK && i < CATALOG_KINDS; i++) {
		size_t len = c->lists[i].text.len;

		out->lines[i].len = 0;
		if (!c->has_lists || c->lists[i].cut)
			continue;
		buf_add(&c->lists[i].text,
			from->lists[i].text.data + old->lines[i].at,
			old->lines[i].len);
		code = close_lines(c, i, len, out, err);
	}
	return code;
}

/* Has the old catalog the text of every list that this one makes? */
static bool
has_lines(const struct catalog *c, const struct catalog_page *old)
{
	for (size_t i = 0; c->has_lists && i < CATALOG_KINDS; i++)
		if (!c->lists[i].cut && old->lines[i].len == 0)
			return false;
	return true;
}

/* ------------------------------------------------------------ the reading -- */

static enum ss_err
read_parsed(struct catalog *c, const struct agents_page *page,
	struct catalog_page *out, struct ss_error *err)
{
	enum ss_err code = add_lines(c, page, out, err);

	if (code != SS_OK || !page->grants)
		return code;
	out->has_workspace =
		workspace_is_wanted(&page->front->sandbox.workspace);
	code = name_tools(c, page->front, out, err);
	if (code == SS_OK)
		code = name_prompts(c, page->front, out, err);
	return code == SS_OK ? read_skill(c, page->front, out, err) : code;
}

static struct ss_text
text_after(const struct buf *text, size_t body)
{
	struct ss_text t = buf_view(text);

	if (body > t.len)
		body = t.len;
	return (struct ss_text){ t.data + body, t.len - body };
}

static enum ss_err
read_page(const struct catalog_cache *cache, struct catalog *c,
	const struct ss_document *doc, struct catalog_page *out,
	struct ss_error *err)
{
	struct agents_page shown = { .path = out->path,
		.server = cache->pages->config->env,
		.server_count = cache->pages->config->env_count };
	struct buf text = BUF_INIT(PAGE_BYTES_MAX);
	struct ss_text body;
	struct page *page;
	enum ss_err code = page_get(cache->pages, doc, &page, err);

	if (code != SS_OK)
		return code;
	out->settled = page->settled;
	out->says_hidden = page->front.hidden;
	if (out->says_hidden)
		return SS_OK;
	if (page->error.code != SS_OK) {
		out->error = arena_copy(&c->arena, page->error.message,
			strlen(page->error.message));
		if (out->error == NULL)
			return error_memory(err);
	}
	shown.front = &page->front;
	shown.grants = page->error.code == SS_OK &&
		!documents_writable(cache->source.documents, doc);
	if (shown.front->title == NULL || shown.front->description == NULL)
		code = page_read(doc, &text, err);
	body = text_after(&text, page->front.body);
	out->title = title_find(&c->arena, shown.front, out->path, body);
	out->description = title_summary(&c->arena, shown.front, body);
	buf_release(&text);
	if (code != SS_OK)
		return code;
	if (out->title == NULL || out->description == NULL)
		return error_memory(err);
	shown.title = out->title;
	return read_parsed(c, &shown, out, err);
}

/*
 * Is the file that a known page was read from still there?  fstatat(2) without
 * opening: whatever a link on the way leads to now, the file is the one that
 * was checked.
 */
static bool
is_unchanged(const struct catalog_cache *cache, const struct catalog_page *p)
{
	struct stat st;
	struct file_id id;

	if (!p->settled ||
		fstatat(cache->source.documents->root.fd, p->path, &st,
			AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	id = file_id_of_stat(&st);
	return file_id_same(&p->id, &id);
}

/* Copies what the old catalog has of a page. */
static enum ss_err
keep_page(struct catalog *c, const struct catalog *from,
	const struct catalog_page *old, struct catalog_page *out,
	struct ss_error *err)
{
	struct arena *a = &c->arena;
	const char *path = out->path;

	*out = *old;
	out->path = path;
	out->title = arena_copy(a, old->title, strlen(old->title));
	out->description =
		arena_copy(a, old->description, strlen(old->description));
	out->tools = arena_array(a, old->tool_count + 1, sizeof(*out->tools));
	out->prompts =
		arena_array(a, old->prompt_count + 1, sizeof(*out->prompts));
	if (old->error != NULL)
		out->error = arena_copy(a, old->error, strlen(old->error));
	if (old->is_skill)
		out->skill_description = arena_copy(a, old->skill_description,
			strlen(old->skill_description));
	if (out->title == NULL || out->description == NULL ||
		out->tools == NULL || out->prompts == NULL ||
		(old->error != NULL && out->error == NULL) ||
		(old->is_skill && out->skill_description == NULL))
		return error_memory(err);
	for (size_t i = 0; i < old->tool_count; i++)
		out->tools[i] = old->tools[i];
	for (size_t i = 0; i < old->prompt_count; i++) {
		out->prompts[i] =
			arena_copy(a, old->prompts[i], strlen(old->prompts[i]));
		if (out->prompts[i] == NULL)
			return error_memory(err);
	}
	return copy_lines(c, from, old, out, err);
}

/* The old entry of a page; most have the same index as before. */
static const struct catalog_page *
find_old(const struct catalog *c, size_t place, const char *path)
{
	if (c != NULL && place < c->page_count &&
		strcmp(c->pages[place].path, path) == 0)
		return &c->pages[place];
	return catalog_page_find(c, path);
}

/* Logs the error of a page once for each change of the file. */
static void
log_error(const struct catalog_cache *cache, const struct catalog_page *p)
{
	const struct catalog_page *old =
		catalog_page_find(cache->last, p->path);
	struct log_line l;

	if (p->error == NULL ||
		(old != NULL && old->error != NULL &&
			strcmp(old->error, p->error) == 0 &&
			file_id_same(&old->id, &p->id)))
		return;
	if (!request_log_begin(cache->log, &l, "page"))
		return;
	log_text(&l, "path", p->path);
	log_text(&l, "error", p->error);
	request_log_end(cache->log, &l);
}

/* The page behind the others is one of them, or a hidden one. */
static void
count_page(struct catalog *c)
{
	const struct catalog_page *p = &c->pages[c->page_count];

	if (p->says_hidden)
		c->hidden[c->hidden_count++] =
			(struct catalog_page){ .path = p->path,
				.id = p->id,
				.settled = p->settled,
				.says_hidden = true };
	else
		c->page_count++;
}

/* Opens a page to read it.  A page that was removed meanwhile is left out. */
static enum ss_err
open_page(const struct catalog_cache *cache, struct catalog *c,
	const struct catalog_page *old, struct catalog_page *p,
	struct ss_error *err)
{
	const struct documents *documents = cache->source.documents;
	struct ss_document doc;
	enum ss_err code = documents_open(documents, p->path, &doc, err);

	if (code != SS_OK)
		return code == SS_INTERNAL ? code : SS_OK;
	p->id = file_id_of(&doc);
	if (old != NULL && old->settled && file_id_same(&old->id, &p->id))
		code = keep_page(c, cache->last, old, p, err);
	else
		code = read_page(cache, c, &doc, p, err);
	p->real = NULL;
	if (code == SS_OK && doc.linked && doc.real[0] != '\0') {
		p->real = arena_copy(&c->arena, doc.real, strlen(doc.real));
		code = p->real != NULL ? SS_OK : error_memory(err);
	}
	if (code == SS_OK)
		log_error(cache, p);
	if (code == SS_OK)
		count_page(c);
	documents_close(documents, &doc);
	return code;
}

/* Was it hidden in the last catalog, and did not change since?  Fills out. */
static bool
is_known_hidden(const struct catalog_cache *cache, size_t place,
	const char *path, struct catalog_page *out)
{
	const struct catalog *c = cache->last;

	if (c == NULL || place >= c->hidden_count ||
		strcmp(c->hidden[place].path, path) != 0 ||
		!is_unchanged(cache, &c->hidden[place]))
		return false;
	*out = c->hidden[place];
	out->path = path;
	return true;
}

static enum ss_err
add_page(const struct catalog_cache *cache, struct catalog *c, const char *path,
	struct ss_error *err)
{
	struct catalog_page *p = &c->pages[c->page_count];
	const struct catalog_page *old =
		find_old(cache->last, c->page_count, path);
	enum ss_err code;

	*p = (struct catalog_page){ .path = arena_copy(
					    &c->arena, path, strlen(path)) };
	if (p->path == NULL)
		return error_memory(err);
	if (old == NULL &&
		is_known_hidden(cache, c->hidden_count, p->path, p)) {
		count_page(c);
		return SS_OK;
	}
	if (old != NULL && !has_lines(c, old))
		old = NULL;
	if (old == NULL || !is_unchanged(cache, old))
		return open_page(cache, c, old, p, err);
	code = keep_page(c, cache->last, old, p, err);
	c->page_count += code == SS_OK;
	return code;
}

/* ------------------------------------------------------------- all pages -- */

/* A tool in the order of names. */
struct named {
	struct catalog_tool *tool;
	const char *path;
};

static int
by_name(const void *left, const void *right)
{
	const struct named *a = left, *b = right;

	return strcmp(a->tool->name, b->tool->name);
}

static void
qualify(struct named *n)
{
	char name[TOOLCALL_NAME_MAX + 1];

	strcpy(n->tool->name,
		toolcall_qualify(n->path, n->tool->label, name)
			? name
			: n->tool->hashed);
}

static void
use_hash(struct named *n)
{
	strcpy(n->tool->name, n->tool->hashed);
}

/* Gives tools that share a name another one. */
static void
part_names(struct named *all, size_t n, void (*rename)(struct named *n))
{
	qsort(all, n, sizeof(*all), by_name);
	for (size_t i = 0, run; i < n; i += run) {
		for (run = 1;
			i + run < n && by_name(&all[i], &all[i + run]) == 0;)
			run++;
		for (size_t k = i; run > 1 && k < i + run; k++)
			rename(&all[k]);
	}
}

/* Each name of another catalog may have been one that no tool shared. */
static enum ss_err
settle_names(struct catalog *c, struct ss_error *err)
{
	struct named *all;
	size_t n = 0, count = 0;

	for (size_t i = 0; i < c->page_count; i++)
		count += c->pages[i].tool_count;
	all = calloc(count + 1, sizeof(*all));
	if (all == NULL)
		return error_memory(err);
	for (size_t i = 0; i < c->page_count; i++)
		for (size_t k = 0; k < c->pages[i].tool_count; k++) {
			struct catalog_tool *t = &c->pages[i].tools[k];

			strcpy(t->name, t->label);
			if (!t->hidden)
				all[n++] =
					(struct named){ t, c->pages[i].path };
		}
	c->tool_count = n;
	part_names(all, n, qualify);
	part_names(all, n, use_hash);
	free(all);
	return SS_OK;
}

static struct catalog *
catalog_new(const struct listing *list, bool has_lists)
{
	struct catalog *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	arena_init(&c->arena, 0);
	for (size_t i = 0; i < CATALOG_KINDS; i++)
		c->lists[i].text = BUF_INIT(CATALOG_LIST_MAX);
	c->cut = list->cut;
	c->has_lists = has_lists;
	c->pages = arena_array(&c->arena, list->count + 1, sizeof(*c->pages));
	c->hidden = arena_array(&c->arena, list->count + 1, sizeof(*c->hidden));
	if (c->pages != NULL && c->hidden != NULL)
		return c;
	free_catalog(c);
	return NULL;
}

/* Are the pages of the last catalog all that there are, and unchanged? */
static bool
is_current(const struct catalog_cache *cache, const struct listing *list,
	bool has_lists)
{
	const struct catalog *c = cache->last;

	size_t hidden = 0;

	if (c == NULL || c->has_lists != has_lists || c->cut != list->cut ||
		c->page_count + c->hidden_count != list->count)
		return false;
	for (size_t i = 0; i < list->count; i++) {
		const char *path = list->paths[i];
		const struct catalog_page *p = &c->pages[i - hidden];

		if (hidden < c->hidden_count &&
			strcmp(c->hidden[hidden].path, path) == 0)
			p = &c->hidden[hidden++];
		if (p->path == NULL || strcmp(p->path, path) != 0 ||
			!is_unchanged(cache, p))
			return false;
	}
	return true;
}

static enum ss_err
refresh_lists(struct catalog_cache *cache, bool has_lists, struct catalog **out,
	struct ss_error *err)
{
	uint64_t now = clock_us();
	struct listing list = { 0 };
	struct catalog *c;
	enum ss_err code = listing_site(&cache->source, &list, err);

	if (code != SS_OK)
		return code;
	if (is_current(cache, &list, has_lists))
		goto out;
	c = catalog_new(&list, has_lists);
	if (c == NULL)
		return error_memory(err);
	for (size_t i = 0; code == SS_OK && i < list.count; i++)
		code = add_page(cache, c, list.paths[i], err);
	if (code == SS_OK)
		code = settle_names(c, err);
	if (code != SS_OK) {
		free_catalog(c);
		return code;
	}
	free_catalog(cache->last);
	cache->last = c;
out:
	cache->last->checked_us = now;
	*out = cache->last;
	return SS_OK;
}

enum ss_err
catalog_refresh(
	struct catalog_cache *cache, struct catalog **out, struct ss_error *err)
{
	const struct catalog *old = cache->last;

	return refresh_lists(cache, old != NULL && old->has_lists, out, err);
}

enum ss_err
catalog_lists(
	struct catalog_cache *cache, struct catalog **out, struct ss_error *err)
{
	struct catalog *c = cache->last;

	if (c == NULL || !c->has_lists ||
		clock_us() - c->checked_us > LISTS_FRESH_US)
		return refresh_lists(cache, true, out, err);
	*out = c;
	return SS_OK;
}

const struct catalog_tool *
catalog_tool_find(const struct catalog *c, const char *name,
	const struct catalog_page **page)
{
	for (size_t i = 0; c != NULL && i < c->page_count; i++)
		for (size_t k = 0; k < c->pages[i].tool_count; k++) {
			const struct catalog_tool *t = &c->pages[i].tools[k];

			if (t->hidden ||
				(strcmp(t->name, name) != 0 &&
					strcmp(t->hashed, name) != 0))
				continue;
			*page = &c->pages[i];
			return t;
		}
	return NULL;
}

const struct catalog_page *
catalog_page_find(const struct catalog *c, const char *path)
{
	for (size_t i = 0; c != NULL && i < c->page_count; i++)
		if (strcmp(c->pages[i].path, path) == 0)
			return &c->pages[i];
	return NULL;
}

const struct catalog_page *
catalog_next_error(const struct catalog *c, size_t *at)
{
	while (*at < c->page_count) {
		const struct catalog_page *p = &c->pages[(*at)++];

		if (p->error != NULL)
			return p;
	}
	return NULL;
}
