/* SPDX-License-Identifier: MIT */
/*
 * A site that is ready to be served: configured, with struct request attached,
 * its log open, itself open.  Each reload makes a new one.
 */
#ifndef FCGI_SERVED_H
#define FCGI_SERVED_H

#include <sys/types.h>

#include "options.h"
#include "peers.h"
#include "request.h"

struct served {
	struct ss_site *site;
	struct request request;
	struct peers peers;
	int log_fd;
	/*
	 * The directory as it was named, and its identity when it was opened.
	 */
	char root[4096];
	dev_t device;
	ino_t inode;
};

/* NULL with err filled: nothing is left behind.  Freed with served_free. */
struct served *served_new(const struct options *o, struct ss_error *err);
void served_free(struct served *s);
/* Would served_new find that [log] file cannot be?  Makes no file. */
enum ss_err served_check_log(const struct ss_site *site, struct ss_error *err);
/*
 * Does the name lead to another directory now?  Workers see the old one: their
 * view was mounted at their start.
 */
bool served_moved(const struct served *s);

#endif
