/* SPDX-License-Identifier: MIT */
/*
 * The site as core/mcp, core/http and core/commands see it: configuration,
 * documents, extension points, the cache of parsed pages, and the one exchange
 * that a process has at a time.
 */
#ifndef SS_SITE_SITE_H
#define SS_SITE_SITE_H

#include "base/arena.h"
#include "sandbox/sandbox_plan.h"
#include "site/call.h"
#include "site/catalog.h"
#include "site/config.h"
#include "site/executor.h"
#include "site/hidden_pages.h"
#include "receipts/receipts.h"
#include "site/page.h"
#include "state/state.h"
#include "statespace.h"

#define SITE_HOOKS_MAX 16

struct exchange;
struct local_call;
struct sites;

/* A directory as it was named, and which one that was. */
struct named_directory {
	const char *name; /* "": none */
	dev_t device;
	ino_t inode;
};

struct ss_site {
	struct sites *sites; /* those of its pool; NULL: it is the only one */
	/* Of one of those sites: "example.org/docs", and its number from 1. */
	const char *name;
	unsigned number;
	uint64_t last_use;
	struct named_directory root_is;
	struct config config;
	bool opened;
	struct documents documents;
	struct grant grant; /* [grant] */
	struct sandbox_plan plan;
	struct ss_executor builtin_executor, executor;
	struct executor exec_state;
	struct ss_relay relay;    /* post NULL: none */
	struct ss_store store;    /* put NULL: none */
	struct ss_jobs jobs_host; /* start NULL: none */
	struct ss_hook hooks[SITE_HOOKS_MAX];
	size_t hook_count;
	struct page_cache pages;
	struct catalog_cache catalog;
	struct hidden_pages hidden_pages;
	struct state own_state;       /* opened at first use: site_state */
	struct state *state;          /* the same, or that of all sites */
	struct receipts own_receipts; /* opened at first use: site_receipts */
	struct receipts *receipts;    /* the same, or those of all sites */
	struct seal seal; /* of confirmations, and of what MCP clients keep */
	struct call_parts calls;
	struct arena arena;        /* of the current request or call */
	struct exchange *exchange; /* of the current request; allocated once */
	struct local_call *local;  /* the same for ss_site_call */
	struct request_log log;
	uint64_t request_seed; /* for site_make_id */
};

/* Without a configuration.  NULL: no memory. */
struct ss_site *site_new_blank(void);
/*
 * Opens one of the sites of all, whose configuration is there, and leaves it
 * cold: with no descriptor open.
 */
enum ss_err site_open_part(
	struct ss_site *site, const struct ss_site *all, struct ss_error *err);
/* Opens its root, which lies at that path here; and the opposite. */
enum ss_err
site_warm_up(struct ss_site *site, const char *place, struct ss_error *err);
void site_cool(struct ss_site *site);
/* Does the name of its root lead to another directory now? */
bool site_root_moved(const struct ss_site *site);

/*
 * The state directory, opened now unless it was: not in a worker, whose view
 * has no such path.  SS_STATE: there is none; SS_CONFIG as state_open.
 */
enum ss_err site_state(
	struct ss_site *site, const struct state **out, struct ss_error *err);

/*
 * The writer of receipts, started now unless it was: not in a worker.  *out
 * NULL: none are wanted.  Errors as receipts_start; SS_STATE: there is no
 * writer.
 */
enum ss_err site_receipts(struct ss_site *site, const struct receipts **out,
	struct ss_error *err);

/* SS_CONFIG when the site is open, or is not open. */
enum ss_err site_needs_closed(const struct ss_site *site, struct ss_error *err);
enum ss_err site_needs_open(const struct ss_site *site, struct ss_error *err);

/* A request id: 32 hexadecimal digits and a NUL. */
void site_make_id(struct ss_site *site, char out[static 33]);

#endif
