/* SPDX-License-Identifier: MIT */
/*
 * The host of an authority, "name", "name:port" or "[address]:port" (RFC 3986
 * 3.2): what Host has, and what sites are named by.
 */
#ifndef SS_WIRE_AUTHORITY_H
#define SS_WIRE_AUTHORITY_H

#include "base/base.h"

#define AUTHORITY_HOST_MAX 253 /* RFC 1035 2.3.4 */

/*
 * The host, without port, brackets and one last dot, as it is written.  Empty
 * for what is no authority: user information, a second colon, a port that is
 * no number.  Borrowed from authority; pure.
 */
struct ss_text authority_host(struct ss_text authority);
/*
 * The same as it is compared: in lower case, an IPv6 address in the form of
 * inet_ntop(3).  False: none, or a byte that no host has.
 */
bool authority_host_folded(
	struct ss_text authority, char out[static AUTHORITY_HOST_MAX + 1]);

#endif
