/* SPDX-License-Identifier: MIT */
/*
 * Checks Host against DNS rebinding and Origin against pages of other sites
 * that POST (statespace-protocol(7), HOSTS AND ORIGINS).  Pure.
 */
#ifndef SS_HTTP_ORIGIN_H
#define SS_HTTP_ORIGIN_H

#include "base/error.h"
#include "site/config.h"

/*
 * SS_HOST_REFUSED. NULL, no Host at all, is accepted: browsers always send one.
 */
enum ss_err origin_check_host(
	const struct config *config, const char *host, struct ss_error *err);
/* Is it one of [http] origins? */
bool origin_lists(const struct config *config, const char *origin);
/* SS_ORIGIN_REFUSED. NULL is accepted: no browser page sent the request. */
enum ss_err origin_check(const struct config *config, const char *origin,
	const char *host, struct ss_error *err);

#endif
