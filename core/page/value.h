/* SPDX-License-Identifier: MIT */
/*
 * Typed values from nodes, for the readers of frontmatter keys: each function
 * gives the value or refuses in the form that an author sees,
 * "line L, column C: found X, expected Y", with a hint.  Null, a tag that is
 * not known and a NUL are refused here, for every key alike.
 */
#ifndef SS_PAGE_VALUE_H
#define SS_PAGE_VALUE_H

#include "page/name_list.h"
#include "page/node.h"

/* SS_BAD_FRONTMATTER at n: "found <n>, expected <expected>"; hint or NULL. */
enum ss_err value_refuse(const struct reading *r, const struct node *n,
	const char *expected, const char *hint, ...) PRINTF_LIKE(4, 5);
/* The same with a text for what was found. */
enum ss_err value_refuse_found(const struct reading *r, const struct node *n,
	const char *found, const char *expected, const char *hint, ...)
	PRINTF_LIKE(5, 6);
/* At a key that its mapping already holds. */
enum ss_err value_refuse_twice(const struct reading *r, const struct node *key);
/*
 * Passes a result on; a refusal that r->all takes, or took already, becomes
 * SS_OK: what was refused is left out, and reading goes on.
 */
enum ss_err value_go_on(const struct reading *r, enum ss_err code);
/*
 * How many r->all took; and SS_BAD_FRONTMATTER when it took one since, so that
 * nothing is made of what was read.
 */
size_t value_refusals(const struct reading *r);
enum ss_err value_since(const struct reading *r, size_t refusals);
/* SS_OK when n carries no tag that is not known. */
enum ss_err value_untagged(const struct reading *r, const struct node *n);

/*
 * Every key of the mapping is one of names, once, at most 64 names.
 * what     for messages: "a key of a tool".
 */
enum ss_err value_keys(const struct reading *r, const struct node *map,
	const char *const *names, size_t count, const char *what);

/* A word as the author wrote it: text, in TOML also integers and booleans. */
enum ss_err value_word(const struct reading *r, const struct node *n,
	const char *expected, struct ss_text *out);
/* The text of a key's value n; an empty one is refused. */
enum ss_err
value_text(const struct reading *r, const struct node *n, const char **out);
enum ss_err
value_bool(const struct reading *r, const struct node *n, bool *out);
/* Is this scalar a boolean, and which? */
bool value_is_bool(const struct node *n, bool *out);
/* Seconds, above 0 and at most VALUE_SECONDS_MAX. */
#define VALUE_SECONDS_MAX 4000000.0
enum ss_err
value_seconds(const struct reading *r, const struct node *n, double *out);
/* A whole number from 1 on. */
enum ss_err
value_count(const struct reading *r, const struct node *n, uint64_t *out);
/*
 * A list of texts that are not empty.  Lists of a page are walked for each of
 * its tools, hence the limit.
 */
#define VALUE_NAMES_MAX 1000
enum ss_err value_names(
	const struct reading *r, const struct node *n, struct name_list *out);

#endif
