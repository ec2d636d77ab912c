/* SPDX-License-Identifier: MIT */
/*
 * What the listed pages offer over MCP: their titles, the names of their
 * tools and prompts.  Kept from message to message; a page is read again only
 * when its file is another one.
 */
#ifndef SS_CATALOG_H
#define SS_CATALOG_H

#include "page.h"
#include "toolcall.h"

struct catalog_tool {
	char name[TOOLCALL_NAME_MAX + 1]; /* the one that is told */
	char hashed[TOOLCALL_NAME_MAX + 1];
	size_t index; /* in the page's tools */
	bool hidden;  /* equal to one before it, which decides */
};

struct catalog_page {
	const char *path;
	uint64_t device, inode, length;
	int64_t mtime_ns, ctime_ns;
	bool settled;            /* need not be read again */
	const char *title;       /* of the frontmatter, else the first heading,
				    else the path */
	const char *description; /* the same with the first paragraph; "" */
	struct catalog_tool *tools;
	size_t tool_count;
	const char **prompts; /* their names */
	size_t prompt_count;
	bool is_skill; /* a SKILL.md that names its directory */
	const char *skill_description;
};

struct catalog {
	struct arena arena;
	struct catalog_page *pages; /* sorted as they are listed */
	size_t page_count;
	size_t tool_count; /* that are told */
};

/*
 * The site's catalog as it is now.  Lives in the site until the next call.
 * Errors  SS_INTERNAL.
 */
enum ss_err catalog_refresh(
	struct ss_site *site, struct catalog **out, struct ss_error *err);
void catalog_free(struct catalog *c);

/* A tool by name, told or hashed; NULL: there is none. */
const struct catalog_tool *catalog_tool_find(const struct catalog *c,
	const char *name, const struct catalog_page **page);
const struct catalog_page *
catalog_page_find(const struct catalog *c, const char *path);

#endif
