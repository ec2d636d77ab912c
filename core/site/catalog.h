/* SPDX-License-Identifier: MIT */
/*
 * What the listed pages offer: over MCP their titles and the names of their
 * tools and prompts; in AGENTS.md and llms.txt a few lines for each.  Kept from
 * request to request: a page is read again only when its file changed.
 */
#ifndef SS_SITE_CATALOG_H
#define SS_SITE_CATALOG_H

#include "page/toolname.h"
#include "site/listing.h"
#include "site/page.h"
#include "site/request_log.h"

#define CATALOG_LIST_MAX ((size_t)512 << 10)

/* The lists that are text. */
enum catalog_kind { CATALOG_AGENTS, CATALOG_LLMS, CATALOG_KINDS };

struct catalog_list {
	struct buf text; /* of all pages, one after the other */
	bool cut;        /* not all pages fitted */
};

struct catalog_tool {
	char label[TOOLCALL_NAME_MAX + 1]; /* the one in its page */
	char name[TOOLCALL_NAME_MAX + 1];  /* in the site: the one MCP lists */
	char hashed[TOOLCALL_NAME_MAX + 1];
	size_t index; /* in the page's tools */
	bool hidden;  /* the same as an earlier tool, which is called */
};

struct catalog_page {
	const char *path;
	const char *real; /* where a linked page lies; NULL: at its path */
	struct file_id id;
	bool settled;            /* need not be read again */
	bool says_hidden;        /* its frontmatter does */
	const char *error;       /* why it offers nothing; NULL: no reason */
	const char *title;       /* of the frontmatter, else the first heading,
				    else the path */
	const char *description; /* the same with the first paragraph; "" */
	struct catalog_tool *tools;
	size_t tool_count;
	const char **prompts; /* their names */
	size_t prompt_count;
	/* Where its lines are in each list; len 0: nowhere. */
	struct {
		size_t at, len;
	} lines[CATALOG_KINDS];
	bool has_workspace; /* its tools run in one */
	bool is_skill;      /* a SKILL.md that names its directory */
	const char *skill_description;
};

struct catalog {
	struct arena arena;
	struct catalog_page *pages; /* sorted as they are listed */
	size_t page_count;
	/* Those with `hidden: true`: their path and file alone. */
	struct catalog_page *hidden;
	size_t hidden_count;
	size_t tool_count; /* that MCP lists */
	bool cut;          /* the site has more pages */
	bool has_lists;
	struct catalog_list lists[CATALOG_KINDS];
	uint64_t checked_us; /* of the last catalog_refresh */
};

/* The last catalog, and what the next one is made of.  All borrowed. */
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
/* The same with its lists; a catalog of the last 200 ms will do. */
enum ss_err catalog_lists(struct catalog_cache *cache, struct catalog **out,
	struct ss_error *err);
void catalog_release(struct catalog_cache *cache);

/* A tool by its listed or its hashed name; NULL: there is none. */
const struct catalog_tool *catalog_tool_find(const struct catalog *c,
	const char *name, const struct catalog_page **page);
/* The next page from *at on that has an error; NULL: no more. */
const struct catalog_page *
catalog_next_error(const struct catalog *c, size_t *at);
const struct catalog_page *
catalog_page_find(const struct catalog *c, const char *path);

#endif
