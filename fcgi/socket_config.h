/* SPDX-License-Identifier: MIT */
/* The socket of the pool as [pool] of the configuration describes it. */
#ifndef FCGI_SOCKET_CONFIG_H
#define FCGI_SOCKET_CONFIG_H

#include "listen.h"

struct socket_config {
	const char *path; /* "": none; the site's */
	int backlog;
	struct listen_access access;
};

/*
 * Errors: SS_CONFIG for an owner or a group that does not exist, a path that
 * is too long, or one in a directory that does not exist.
 */
enum ss_err socket_config_read(const struct ss_site *site,
	struct socket_config *out, struct ss_error *err);

#endif
