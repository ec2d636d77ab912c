/* SPDX-License-Identifier: MIT */
/*
 * A site made ready to be served: configured, with the request room attached,
 * its log opened, opened itself.  One reload makes one more of these.
 */
#ifndef FCGI_SERVED_H
#define FCGI_SERVED_H

#include <sys/types.h>

#include "options.h"
#include "request.h"

struct served {
	struct ss_site *site;
	struct request request;
	int log_fd;
	/* The directory as it was named, and what stood there when opened. */
	char root[4096];
	dev_t device;
	ino_t inode;
};

/* NULL with err filled: nothing is left behind.  Freed with served_free. */
struct served *served_new(const struct options *o, struct ss_error *err);
void served_free(struct served *s);
/*
 * Does another directory stand there now?  A deploy that renames or re-points
 * it is not seen by workers, whose view of the old one is fixed.
 */
bool served_moved(const struct served *s);

#endif
