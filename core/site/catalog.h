/* SPDX-License-Identifier: MIT */
/*
 * What the listed pages offer: over MCP their titles, the names of their tools
 * and prompts; in AGENTS.md and llms.txt a few lines each.  Kept from request
 * to request; a page is read again only when its file is another one.
 */
#ifndef SS_SITE_CATALOG_H
#define SS_SITE_CATALOG_H

#include "page/toolcall.h"
#include "site/listing.h"
#include "site/page.h"
#include "site/request_log.h"

#define CATALOG_LIST_MAX ((size_t)512 << 10)

/* The lists that are text. */
enum catalog_kind { CATALOG_AGENTS, CATALOG_LLMS, CATALOG_KINDS };

struct catalog_list {
	struct buf text; /* of all pages, one after the other */
	bool cut;        /* the pages behind did not fit */
};

struct catalog_tool {
	char name[TOOLCALL_NAME_MAX + 1]; /* the one that is told */
	char hashed[TOOLCALL_NAME_MAX + 1];
	size_t index; /* in the page's tools */
	bool hidden;  /* equal to one before it, which decides */
};

struct catalog_page {
	const char *path;
	const char *real; /* where a linked page lies; NULL: at its path */
	struct file_id id;
	bool settled;            /* need not be read again */
	const char *error;       /* why it offers nothing; NULL: no reason */
	const char *title;       /* of the frontmatter, else the first heading,
				    else the path */
	const char *description; /* the same with the first paragraph; "" */
	struct catalog_tool *tools;
	size_t tool_count;
	const char **prompts; /* their names */
	size_t prompt_count;
	/* Its lines in each list; len 0: it is not in it. */
	struct {
		size_t at, len;
	} said[CATALOG_KINDS];
	bool is_skill; /* a SKILL.md that names its directory */
	const char *skill_description;
};

struct catalog {
	struct arena arena;
	struct catalog_page *pages; /* sorted as they are listed */
	size_t page_count;
	size_t tool_count; /* that are told */
	bool cut;          /* the site has more pages */
	bool has_lists;
	struct catalog_list lists[CATALOG_KINDS];
	uint64_t checked_us; /* when the site was last looked at */
};

/* The last catalog, and what the next one is made of: borrowed. */
struct catalog_cache {
	struct catalog *last; /* NULL: none was made yet */
	struct listing_source source;
	struct page_cache *pages;
	const struct request_log *log;
};

/*
 * The site's catalog as it is now.  Lives in the cache until the next call.
 * Errors  SS_INTERNAL.
 */
enum ss_err catalog_refresh(struct catalog_cache *cache, struct catalog **out,
	struct ss_error *err);
/*
 * The same with its lists; as it was a fifth of a second ago is good enough.
 */
enum ss_err catalog_lists(struct catalog_cache *cache, struct catalog **out,
	struct ss_error *err);
void catalog_release(struct catalog_cache *cache);

/* A tool by name, told or hashed; NULL: there is none. */
const struct catalog_tool *catalog_tool_find(const struct catalog *c,
	const char *name, const struct catalog_page **page);
/* The next page from *at on that has an error; NULL: no more. */
const struct catalog_page *
catalog_next_error(const struct catalog *c, size_t *at);
const struct catalog_page *
catalog_page_find(const struct catalog *c, const char *path);

#endif
