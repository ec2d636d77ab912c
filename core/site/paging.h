/* SPDX-License-Identifier: MIT */
/*
 * The output of a tool with `lines` or `bytes`, part by part
 * (statespace-protocol(7), RUNNING).  An answer has one part and a cursor; the
 * same call with the cursor gets the next part, from what the host kept
 * (struct ss_store), else from another run of a tool that may run again.
 *
 * A cursor is of one call of one user, as a confirmation is, for SEAL_VALID_S;
 * it is signed, and its contents are hidden.
 */
#ifndef SS_SITE_PAGING_H
#define SS_SITE_PAGING_H

#include "site/confirm.h"

#define PAGING_CURSOR_MAX 255

/* Signs cursors where each process has another key: at the shell. */
extern const struct seal paging_shell;

struct paging_cursor {
	uint64_t offset; /* where the next part begins */
	uint64_t length; /* of all that the tool wrote */
	bool kept;
	uint64_t place; /* where, for the store */
	unsigned char id[SS_STORE_ID];
	int returncode;
	uint8_t before[16]; /* digest of the bytes before offset */
	uint8_t all[16];    /* of all */
};

/* One call of such a tool. */
struct paging {
	uint64_t lines, bytes; /* of a part, of a spec */
	const struct confirm *what;
	const struct seal *seal;
	const struct ss_store *store; /* put NULL: none */
	bool again;                   /* the tool may run again for a part */
	struct paging_cursor from;    /* zero: the first part */
};

/* Where the part that begins at from ends: behind it, unless all is empty. */
size_t
paging_end(struct ss_text all, size_t from, uint64_t lines, uint64_t bytes);

/*
 * Reads the client's cursor into p->from.
 * Errors  SS_NEXT_GONE: we did not make it, or for another call, or too long
 *         ago; SS_INTERNAL.
 */
enum ss_err
paging_open(struct paging *p, const char *next, struct ss_error *err);
/*
 * Fills the result with the next part of what was kept.
 * Errors  SS_NEXT_GONE, with err as it is: nothing is kept; SS_INTERNAL.
 */
enum ss_err
paging_take(struct paging *p, struct ss_result *result, struct ss_error *err);
/* The error when it is, and the tool must not run again. */
enum ss_err paging_gone(struct ss_error *err);
/*
 * Leaves in result->out, which is all that the tool wrote, only the part, and
 * in the rest what a client is told of it.  Keeps the output when another part
 * follows.
 * Errors  SS_NEXT_GONE: the tool ran again and began differently.
 */
enum ss_err
paging_cut(struct paging *p, struct ss_result *result, struct ss_error *err);

#endif
