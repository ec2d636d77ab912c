/* SPDX-License-Identifier: MIT */
/*
 * Which of a run's failed system calls the sandbox refused, and the grant that
 * each wants; explain.c writes them down.
 */
#ifndef SS_SITE_EXPLAIN_FIND_H
#define SS_SITE_EXPLAIN_FIND_H

#include <limits.h>

#include "site/explain.h"

#define EXPLAIN_FOUND_MAX 64

enum key {
	KEY_NONE,
	KEY_READ,
	KEY_WRITE,
	KEY_EXEC,
	KEY_UNIX,
	KEY_NETWORK,
	KEY_PROC
};

/* What the account may do with the file outside of the sandbox. */
enum verdict { ABSENT, DENIED, ALLOWED };

struct finding {
	const struct watch_event *event;
	enum key key;
	bool quiet;      /* most tools try it and go on without it */
	const char *why; /* no line grants it */
	enum verdict verdict;
	char host[PATH_MAX]; /* the refused path outside of the view */
	char goal[PATH_MAX]; /* the path to grant, outside of the view */
	char name[PATH_MAX]; /* the goal as a page writes it */
};

/*
 * What the sandbox refused, each once.  found has room for EXPLAIN_FOUND_MAX
 * and one.  *more: there is more than that, or the watch missed some.  Forks
 * once, to call access(2) as the account.
 * False: no memory or no process.
 */
bool explain_find(const struct explain *e, struct finding *found, size_t *count,
	bool *more);

/* What of the page's and the tool's own keys has the path; NULL: nothing. */
const char *
explain_asked(const struct explain *e, enum key key, const char *path);
/* The list of a key; NULL: it has none. */
struct name_list *explain_list(struct wants *w, enum key key);
bool explain_is_strict(const struct explain *e);

#endif
