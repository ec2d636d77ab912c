/* SPDX-License-Identifier: MIT */
/*
 * Whose connections an inherited TCP socket takes ([pool] allow).  A Unix
 * socket has an owner and a mode instead: its peers are never looked at.
 */
#ifndef FCGI_PEERS_H
#define FCGI_PEERS_H

#include <stdbool.h>

#include "statespace.h"

#define PEERS_MAX 64

struct sockaddr_storage;

struct peers {
	size_t count; /* 0: this machine only */
	char ranges[PEERS_MAX][64];
};

/* Errors: SS_CONFIG, when the list is too long. */
enum ss_err
peers_read(struct peers *p, const struct ss_site *site, struct ss_error *err);

/*
 * May this peer of an accepted connection be served?  An IPv4 address that an
 * IPv6 socket reports (RFC 4291 section 2.5.5.2) is one of IPv4.  Logs a
 * refusal, at most one in ten seconds.
 */
bool peers_allow(const struct peers *p, const struct sockaddr_storage *from);

/*
 * Makes a TCP listener's connections notice within half a minute that their
 * peer has vanished; accepted sockets inherit it (tcp(7)).  Returns whether it
 * is a TCP listener.
 */
bool peers_watch(int listener);

#endif
