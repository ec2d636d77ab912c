/* SPDX-License-Identifier: MIT */
/*
 * A file of receipts (statespace.toml(5), Receipts): lines of JSON, each with
 * its number, the digest of the line before it and a signature.  NAME.head
 * beside it has the last number and
 * digest, so that the chain goes on in a new file when this one is renamed; its
 * lock is that of the chain, for several writers.
 */
#ifndef FCGI_RECEIPTS_CHAIN_H
#define FCGI_RECEIPTS_CHAIN_H

#include <stdint.h>
#include <sys/types.h>

#include "receipts_sign.h"

#define RECEIPT_MAX 16384 /* bytes of a line */

struct chain {
	const struct sign_key *key;
	int dir, fd, head_fd; /* -1: none */
	char name[256], head_name[264];
	uid_t uid; /* who owns new files; (uid_t)-1: whoever makes them */
	gid_t gid;
	uint64_t next; /* number of the next line */
	unsigned char last[SIGN_HASH];
	const char *step; /* the call that failed */
};

/* False: errno and step say why. */
bool chain_open(struct chain *c, const char *path, const struct sign_key *key,
	uid_t uid, gid_t gid);
/*
 * Appends lines that have these members, each ended by a NUL, durable when it
 * returns true; else the file is as before.
 */
bool chain_append(struct chain *c, const char *members, size_t len);
void chain_close(struct chain *c);

/* What a line says of itself; the caller checks its signature. */
struct receipt {
	uint64_t number;
	unsigned char prev[SIGN_HASH], signature[SIGN_BYTES];
	size_t signed_len; /* of the line, that the signature is of */
};

/* A line without its line break.  False: it is none. */
bool receipt_read(const char *line, size_t len, struct receipt *out);

#endif
