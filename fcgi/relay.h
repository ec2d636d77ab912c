/* SPDX-License-Identifier: MIT */
/*
 * Short messages from one worker to another (struct ss_relay), in shared
 * memory: an MCP client of revision 2025-11-25 or older cancels a call, and
 * answers a question, in a request of its own, which may reach another worker.
 *
 * A worker writes messages on its own pages only; all workers read all pages.
 * The key of a message is a digest of a random session id: nobody who does not
 * know the session can find or forge one.  Readers check every length.  The
 * supervisor makes the memory and does not read it.
 */
#ifndef FCGI_RELAY_H
#define FCGI_RELAY_H

#include <stdatomic.h>
#include <stdint.h>

#include "statespace.h"
#include "tool_limit.h"

#define RELAY_POSTS 16 /* of one worker; the oldest is overwritten */
#define RELAY_DATA 976
#define RELAY_KEEP_US UINT64_C(60000000)

/* turn is odd while the rest is being written; 0: never used. */
struct relay_post {
	_Atomic uint32_t turn;
	uint32_t len;
	uint64_t at_us;
	unsigned char key[SS_RELAY_KEY];
	char data[RELAY_DATA];
};

struct relay_slot {
	struct relay_post posts[RELAY_POSTS];
};

struct relay {
	size_t count;
	struct relay_slot *slots;      /* for writing */
	const struct relay_slot *seen; /* the same memory, read-only */
	_Atomic uint32_t *used;        /* slots from here on hold nothing */
	int fd;                        /* eventfd: written for each post */
	size_t own;
	uint32_t next;
	/* For workers that wait for a person's answer; set before attach. */
	struct tool_limit *waiting;
	struct worker_page *page;
	unsigned waiting_max;
};

/* In the supervisor, for count workers; false with errno. */
bool relay_open(struct relay *r, size_t count);
void relay_close(struct relay *r);

/* In worker number own: unmaps what others write. */
void relay_keep(struct relay *r, size_t own);
/* The site uses r, which lives as long as the site does in this process. */
void relay_attach(struct relay *r, struct ss_site *site);

bool relay_post(struct relay *r, const unsigned char key[SS_RELAY_KEY],
	const char *data, size_t len);
ssize_t relay_take(const struct relay *r, const unsigned char key[SS_RELAY_KEY],
	char *data, size_t cap);

#endif
