/* SPDX-License-Identifier: MIT */
/*
 * What tools wrote, kept for the parts that clients ask for later (struct
 * ss_store), in shared memory: the next request may reach another worker.
 *
 * Each worker writes a ring of its own and reads all of them; the oldest bytes
 * of a ring are overwritten first.  The memory is taken as it is written.  A
 * reader checks every number, and core compares a digest: a worker that was
 * killed while it wrote, or that writes nonsense, harms nobody but its own
 * clients.  The supervisor makes the memory and does not read it.
 */
#ifndef FCGI_KEPT_H
#define FCGI_KEPT_H

#include <stdatomic.h>
#include <stdint.h>

#include "statespace.h"

#define KEPT_US UINT64_C(600000000) /* as long as a cursor is good */

struct kept_ring;

struct kept {
	size_t count;     /* of rings; 0: nothing is kept */
	size_t bytes;     /* of the data of each */
	char *rings;      /* for writing */
	const char *seen; /* the same memory, read-only */
	size_t own;
};

/*
 * In the supervisor: count rings of so many bytes.  0 of either: nothing is
 * kept.  False with errno.
 */
bool kept_open(struct kept *k, size_t count, uint64_t bytes);
void kept_close(struct kept *k);

/*
 * In worker number own: unmaps what others write.  A worker without a ring, own
 * >= count, reads.
 */
void kept_own(struct kept *k, size_t own);
/* The site uses k, which lives as long as the site does in this process. */
void kept_attach(struct kept *k, struct ss_site *site);

/* As put and get of struct ss_store. */
bool kept_put(struct kept *k, const unsigned char id[SS_STORE_ID],
	const char *data, size_t len, uint64_t *place);
bool kept_get(const struct kept *k, const unsigned char id[SS_STORE_ID],
	uint64_t place, char *data, size_t len);

#endif
