/* SPDX-License-Identifier: MIT */
/*
 * A site made ready to be served: configured, with the request room attached,
 * its log opened, opened itself.  One reload makes one more of these.
 */
#ifndef FCGI_SERVED_H
#define FCGI_SERVED_H

#include "options.h"
#include "request.h"

struct served {
	struct ss_site *site;
	struct request request;
	int log_fd;
};

/* NULL with err filled: nothing is left behind.  Freed with served_free. */
struct served *served_new(const struct options *o, struct ss_error *err);
void served_free(struct served *s);

/*
 * The account that tools and pages are served by when started as root:
 * [pool] user and group, else "statespace", else "nobody".  SS_CONFIG when a
 * named one does not exist.  Not as root: our own.
 */
struct account {
	uid_t uid;
	gid_t gid;
	char name[64];
};
enum ss_err served_account(
	const struct ss_site *site, struct account *out, struct ss_error *err);

#endif
