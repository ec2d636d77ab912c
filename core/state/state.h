/* SPDX-License-Identifier: MIT */
/*
 * The state directory ([state] directory, statespace.toml(5)): what outlives a
 * process, as jobs, workspaces and keys of requests.  It is opened before a
 * worker enters its sandbox and used by this descriptor alone: it has no path
 * in the view, and no tool can reach it.
 */
#ifndef SS_STATE_STATE_H
#define SS_STATE_STATE_H

#include <sys/types.h>

#include "base/base.h"
#include "base/error.h"

#define STATE_ID_LEN 32 /* 128 random bits in hexadecimal */
#define STATE_ID_CAP (STATE_ID_LEN + 1)

struct state {
	int fd;          /* the directory; -1: none */
	bool looked;     /* state_open was called */
	char path[4096]; /* as the operator names it; "" */
	char why[256];   /* why there is none; for the operator */
};

#define STATE_INIT ((struct state){ .fd = -1 })

/*
 * Opens the directory, made if it is not there (mode 0700).
 *
 * directory  absolute; "auto": $STATE_DIRECTORY (systemd.exec(5)), else
 *            /var/lib/statespace as root or where it is the account's, else
 *            statespace below $XDG_STATE_HOME or ~/.local/state; "": none.
 * uid, gid   who owns it, as numbers here; root gives a new one to them.
 * Errors     SS_CONFIG: a directory that was named, and is another account's,
 *            writable by others, or cannot be had.  With "auto" that is SS_OK
 *            and fd is -1.
 */
enum ss_err state_open(struct state *s, const char *directory, uid_t uid,
	gid_t gid, struct ss_error *err);
void state_close(struct state *s);
/* SS_STATE, with the remedy, when there is none. */
enum ss_err state_needed(const struct state *s, struct ss_error *err);

/*
 * A directory in dir, made if it is not there (mode 0700); the caller's
 * descriptor, or -1 and errno.  Links are not followed.
 */
int state_folder(int dir, const char *name);
/*
 * Puts a file with these bytes in place (mode 0600): readers see the old one or
 * the new one, also after a power cut.  0 or errno.
 */
int state_put(int dir, const char *name, const char *data, size_t len);
/* The same if there is no such file: else EEXIST. */
int state_put_new(int dir, const char *name, const char *data, size_t len);
/* fsync(2); a file system without it for directories counts as done. */
int state_sync(int dir);

/* Writes a new id and a NUL; false: getrandom(2) failed. */
bool state_make_id(char out[static STATE_ID_CAP]);
/* Are these bytes an id?  Nothing else becomes a name in the directory. */
bool state_is_id(struct ss_text text);

#endif
