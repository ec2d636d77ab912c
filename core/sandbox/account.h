/* SPDX-License-Identifier: MIT */
/*
 * The account that tools run as.  Started as root: [pool] user and group, else
 * "statespace", else "nobody", never uid 0; an account may also be a number.
 * Otherwise the caller's own.
 */
#ifndef SS_SANDBOX_ACCOUNT_H
#define SS_SANDBOX_ACCOUNT_H

#include <sys/types.h>

#include "base/error.h"

struct account {
	uid_t uid;
	gid_t gid;
	char name[64]; /* "": none was found yet */
	bool drop;     /* we are root: account_become changes to it */
	/*
	 * We are user 0 of a user namespace that has no other: tools run as us,
	 * under this number in a user namespace of their own.
	 */
	bool alias;
	uid_t own_uid; /* what uid and gid are outside that namespace */
	gid_t own_gid;
};

/*
 * user and group may be NULL or "" for the default.
 * Errors  SS_CONFIG: no such account or group, uid or gid 0, or a user that
 *         only root can become.
 */
enum ss_err account_find(const char *user, const char *group,
	struct account *out, struct ss_error *err);
/* Has root what account_become takes?  Containers may start it without. */
bool account_can_become(const struct account *account);
/* Gives up root for the account, if we are root; false and errno. */
bool account_become(const struct account *account);

#endif
