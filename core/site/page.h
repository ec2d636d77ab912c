/* SPDX-License-Identifier: MIT */
/*
 * A parsed page, and the cache of them.  An entry is valid while the file is
 * the same (files/file_id.h).
 */
#ifndef SS_SITE_PAGE_H
#define SS_SITE_PAGE_H

#include "base/arena.h"
#include "files/file_id.h"
#include "page/frontmatter.h"
#include "site/documents.h"
#include "site/rights.h"

#define PAGE_CACHE_SIZE 64
#define PAGE_BYTES_MAX ((size_t)16 << 20)

struct page {
	struct file_id id;
	char *path; /* resolved; it decides what may be granted */
	uint64_t last_use;
	bool settled; /* may be taken from the cache */
	struct arena arena;
	struct frontmatter front;
	struct rights rights;
	struct node_place place; /* of the error */
	struct ss_error error;   /* code SS_OK, or why it grants nothing */
	bool has_components;
};

struct page_cache {
	const struct config *config; /* borrowed, as are the next two */
	const struct grant *grant;
	const struct documents *documents;
	struct page *pages[PAGE_CACHE_SIZE];
	uint64_t uses;
};

/*
 * documents_open for a reader, who is not shown a page with `hidden: true`
 * either.  *page is NULL for what is no page, else as from page_get.
 */
enum ss_err
page_open(struct page_cache *cache, const struct documents *d, const char *path,
	struct ss_document *doc, struct page **page, struct ss_error *err);
/*
 * The parsed page of an open document, from the cache or read now.  It lives
 * until the next page_get or page_cache_release.  A page with wrong frontmatter
 * is SS_OK here, and page->error has the reason why it grants nothing.
 * Errors  SS_INTERNAL: it cannot be read, or no memory.
 */
enum ss_err page_get(struct page_cache *cache, const struct ss_document *doc,
	struct page **out, struct ss_error *err);
/* Has the file been as it is for so long that its times tell a change? */
bool page_is_settled(const struct file_id *id);
/* Adds all bytes of a document to out, which has the ceiling. */
enum ss_err
page_read(const struct ss_document *doc, struct buf *out, struct ss_error *err);
void page_cache_release(struct page_cache *cache);

#endif
