/* SPDX-License-Identifier: MIT */
#include "site/hidden_pages.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "files/file_id.h"
#include "page/frontmatter.h"
#include "site/page.h"

#define KNOWN_MAX 1024

struct hidden_page {
	struct file_id id; /* all zero: free */
	bool hidden;
};

void
hidden_pages_release(struct hidden_pages *h)
{
	free(h->known);
	h->known = NULL;
}

/* The place of a file; another one may take it.  NULL: no memory. */
static struct hidden_page *
place_of(struct hidden_pages *h, const struct file_id *id)
{
	if (h->known == NULL)
		h->known = calloc(KNOWN_MAX, sizeof(*h->known));
	return h->known != NULL ? &h->known[id->inode % KNOWN_MAX] : NULL;
}

/* What a page says of itself, which is valid or not. */
static enum ss_err
parse_hidden(const struct buf *text, bool *hidden, struct ss_error *err)
{
	struct frontmatter front = { .hidden = true };
	struct node_place place;
	struct arena arena;
	enum ss_err code;

	arena_init(&arena, 0);
	code = frontmatter_parse(
		&arena, text->data, text->len, &front, &place, err);
	*hidden = front.hidden;
	frontmatter_release(&front);
	arena_release(&arena);
	return code == SS_INTERNAL ? code : SS_OK;
}

/* What cannot be read is hidden.  SS_INTERNAL: it is not known. */
static enum ss_err
read_hidden(const struct documents *d, const char *path,
	struct hidden_page *out, bool *settled, struct ss_error *err)
{
	struct buf text = BUF_INIT(PAGE_BYTES_MAX);
	struct ss_document doc;
	enum ss_err code = documents_open(d, path, &doc, err);

	out->hidden = true;
	if (code != SS_OK)
		return code == SS_INTERNAL ? code : SS_OK;
	out->id = file_id_of(&doc);
	*settled = page_is_settled(&out->id);
	if (page_read(&doc, &text, err) == SS_OK)
		code = parse_hidden(&text, &out->hidden, err);
	else if (text.failed)
		code = SS_INTERNAL;
	else
		*settled = false;
	buf_release(&text);
	documents_close(d, &doc);
	return code;
}

static enum ss_err
is_hidden(struct hidden_pages *h, const struct documents *d, const char *path,
	bool *hidden, struct ss_error *err)
{
	struct hidden_page *p = NULL, read = { .hidden = true };
	struct file_id id = { 0 };
	bool settled = false;
	struct stat st;
	enum ss_err code = SS_OK;

	if (fstatat(d->root.fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISREG(st.st_mode)) {
		id = file_id_of_stat(&st);
		p = place_of(h, &id);
	}
	if (p != NULL && file_id_same(&p->id, &id))
		read = *p;
	else
		code = read_hidden(d, path, &read, &settled, err);
	if (code == SS_OK && p != NULL && settled &&
		file_id_same(&read.id, &id))
		*p = read;
	*hidden = read.hidden;
	return code;
}

enum ss_err
hidden_pages_drop(struct hidden_pages *h, const struct documents *d,
	struct listing *list, struct ss_error *err)
{
	struct ss_error own = { .code = SS_OK };
	size_t kept = 0;
	bool hidden;

	for (size_t i = 0; i < list->count; i++) {
		enum ss_err code =
			is_hidden(h, d, list->paths[i], &hidden, &own);

		if (code != SS_OK && err != NULL)
			*err = own;
		if (code != SS_OK)
			return code;
		if (!hidden)
			list->paths[kept++] = list->paths[i];
	}
	list->count = kept;
	return SS_OK;
}
