/* SPDX-License-Identifier: MIT */
/*
 * Is the request meant for us?  Host and Origin as statespace-protocol(7),
 * REFUSALS says: the answer to DNS rebinding and to foreign pages that POST.
 * Pure.
 */
#ifndef SS_HTTP_ORIGIN_H
#define SS_HTTP_ORIGIN_H

#include "base/error.h"
#include "site/config.h"

/* SS_HOST_REFUSED; NULL (no Host at all) passes: browsers always send one. */
enum ss_err origin_check_host(
	const struct config *config, const char *host, struct ss_error *err);
/* Is it one of [http] origins? */
bool origin_lists(const struct config *config, const char *origin);
/* SS_ORIGIN_REFUSED; NULL passes: no browser page sent it. */
enum ss_err origin_check(const struct config *config, const char *origin,
	const char *host, struct ss_error *err);

#endif
