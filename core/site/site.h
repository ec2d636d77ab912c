/* SPDX-License-Identifier: MIT */
/*
 * The site as the rooms of the desk see it: configuration, root, extension
 * points, the cache of parsed pages, and the one exchange that a process has
 * at a time.
 */
#ifndef SS_SITE_SITE_H
#define SS_SITE_SITE_H

#include "base/arena.h"
#include "files/root.h"
#include "sandbox/sandbox_plan.h"
#include "site/config.h"
#include "site/executor.h"
#include "site/page.h"
#include "statespace.h"

#define SITE_HOOKS_MAX 16

struct catalog;
struct exchange;
struct local_call;
struct once;

struct ss_site {
	struct config config;
	bool opened;
	struct root root;
	struct grant grant; /* the operator's, of the configuration */
	struct sandbox_plan plan;
	bool worker; /* born by ss_site_fork: commands run here */
	struct ss_resolver builtin_resolver, resolver;
	struct ss_executor builtin_executor, executor;
	struct executor exec_state;
	struct ss_tool_limit gauge; /* enter NULL: none */
	bool put_off; /* the tool limit let no tool start: no log line */
	struct ss_relay relay;          /* post NULL: none */
	bool (*client_left)(void *ctx); /* reads a client_fd; NULL: nobody */
	void *client_ctx;
	struct ss_hook hooks[SITE_HOOKS_MAX];
	size_t hook_count;
	struct page_cache pages;
	struct catalog *catalog;   /* for MCP; NULL: not made yet */
	uint8_t mcp_key[32];       /* signs what MCP's clients hold for us */
	struct once *once;         /* agreements that were used */
	struct arena arena;        /* of the request or call in hand */
	struct exchange *exchange; /* made once, one request at a time */
	struct local_call *local;  /* the same for ss_site_call */
	void (*log)(void *ctx, const char *line, size_t len);
	void *log_ctx;
	uint64_t request_seed; /* for ids that we make ourselves */
};

/* SS_CONFIG when the site is already open (or not yet). */
enum ss_err site_needs_closed(const struct ss_site *site, struct ss_error *err);
enum ss_err site_needs_open(const struct ss_site *site, struct ss_error *err);

/*
 * Where a confined process sees the site is not where its parent did: opens
 * the root again, in its own view.
 */
enum ss_err site_enter_view(struct ss_site *site, struct ss_error *err);
/* Does the document lie, by either name, where tools may write? */
bool
site_is_writable(const struct ss_site *site, const struct ss_document *doc);
/*
 * May a tool run now?  False: this answer is thrown away (see struct
 * ss_tool_limit); site_put_off fills err for it.  site_end_tool follows when it
 * was true.
 */
bool site_start_tool(struct ss_site *site);
enum ss_err site_put_off(struct ss_error *err);
void site_end_tool(struct ss_site *site);
/* An id of our own: 32 hexadecimal digits and a NUL. */
void site_make_id(struct ss_site *site, char out[static 33]);

#endif
