/* SPDX-License-Identifier: MIT */
/*
 * A site that is ready to be served: configured, with struct request attached,
 * its log open, itself open.  Each reload makes a new one.
 */
#ifndef FCGI_SERVED_H
#define FCGI_SERVED_H

#include "options.h"
#include "peers.h"
#include "request.h"
#include "site_counts.h"

struct served {
	struct ss_site *site;
	struct request request;
	struct peers peers;
	int log_fd;
	struct site_counts *counts; /* NULL: it is one site */
};

/*
 * NULL with err filled: nothing is left behind.  Freed with served_free.
 * before: the counts of its sites go on; NULL at the start.
 */
struct served *served_new(const struct options *o, const struct served *before,
	struct ss_error *err);
void served_free(struct served *s);
/* Would served_new find that [log] file cannot be?  Makes no file. */
enum ss_err served_check_log(const struct ss_site *site, struct ss_error *err);
/* [log] receipts without a receipts_key that can be opened. */
enum ss_err
served_check_receipts(const struct ss_site *site, struct ss_error *err);
#endif
