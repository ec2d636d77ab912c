/* SPDX-License-Identifier: MIT */
/*
 * The private directory of one run of `statespace serve`: its making, its files
 * and its removal.
 *
 *	RUN/            mode 0700; as root 0710 for the account
 *	RUN/pool.sock   what the front connects to
 *	RUN/pool.sock.status    the same for health and figures
 *	RUN/nginx.conf or lighttpd.conf
 *	RUN/tmp/        the account's: pid file, temporary files
 */
#ifndef FCGI_RUN_DIR_H
#define FCGI_RUN_DIR_H

#include "served.h"

struct run_dir {
	char path[96]; /* "": none; short, a socket must fit below */
	struct ss_account account;
};

#define RUN_DIR_INIT ((struct run_dir){ .path = "" })

/* Below $XDG_RUNTIME_DIR, else /tmp.  SS_CONFIG with a sentence. */
enum ss_err run_dir_make(struct run_dir *d, const struct ss_account *account,
	struct ss_error *err);
/* Removes it with everything in it; the account's files as the account. */
void run_dir_remove(struct run_dir *d);

/* "RUN/name" in out. */
void
run_dir_file(const struct run_dir *d, const char *name, char out[static 128]);

/* What replaces "@NAME@". */
struct filling {
	const char *name;
	const char *value;
};

/*
 * Writes file `name` of the directory: the text with every @NAME@ filled in.
 */
enum ss_err
run_dir_write(const struct run_dir *d, const char *name, const char *text,
	const struct filling *fillings, size_t count, struct ss_error *err);

#endif
