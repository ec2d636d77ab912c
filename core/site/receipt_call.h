/* SPDX-License-Identifier: MIT */
/*
 * What the receipt of a call says: which page, which tool, whose call, by their
 * digests what ran and what came of it.  No word, variable or output is in it.
 */
#ifndef SS_SITE_RECEIPT_CALL_H
#define SS_SITE_RECEIPT_CALL_H

#include "receipts/receipts.h"
#include "site/documents.h"

struct receipt_what {
	const char *request_id, *root;
	const struct ss_document *doc;
	const char *user; /* that the front verified; NULL */
	const char *key;  /* NULL: none */
	size_t tool;
	const char *name;  /* of the tool; NULL */
	char *const *argv; /* that runs, NULL-terminated */
};

/* Fills what is announced.  Errors as page_read. */
enum ss_err receipt_announce(
	const struct receipt_what *what, struct buf *out, struct ss_error *err);
/* Fills what is told of the end; the texts are what the caller got. */
void receipt_end(const struct ss_result *result, enum ss_err code,
	struct ss_text out, struct ss_text err, struct buf *members);

#endif
