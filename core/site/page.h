/* SPDX-License-Identifier: MIT */
/*
 * A page as it was parsed, and the small cache of them.  An entry is good for
 * as long as the file that was opened is the same: device, inode, size, mtime
 * and ctime (core/README.md, One request).
 */
#ifndef SS_SITE_PAGE_H
#define SS_SITE_PAGE_H

#include "base/arena.h"
#include "files/file_id.h"
#include "page/frontmatter.h"
#include "site/rights.h"

#define PAGE_CACHE_SIZE 64
#define PAGE_BYTES_MAX ((size_t)16 << 20)

struct page {
	struct file_id id;
	char *path; /* resolved: what it grants depends on it */
	uint64_t last_use;
	bool settled; /* may be used again */
	struct arena arena;
	struct frontmatter front;
	struct rights rights;
	struct node_place place; /* of the error */
	struct ss_error error;   /* code SS_OK, or why it grants nothing */
	bool has_components;     /* and may run them */
};

struct page_cache {
	const struct config *config; /* borrowed, as is grant */
	const struct grant *grant;
	struct page *pages[PAGE_CACHE_SIZE];
	uint64_t uses;
};

/*
 * The parsed page of an open document; reads it when the cache has none.
 * *out lives until the next page_get or page_cache_release; a page with bad
 * frontmatter is SS_OK here, with page->error saying why it grants nothing.
 * Errors  SS_INTERNAL (cannot be read, no memory).
 */
enum ss_err page_get(struct page_cache *cache, const struct ss_document *doc,
	struct page **out, struct ss_error *err);
/* All bytes of a document, in out (with its own ceiling). */
enum ss_err
page_read(const struct ss_document *doc, struct buf *out, struct ss_error *err);
void page_cache_release(struct page_cache *cache);

#endif
