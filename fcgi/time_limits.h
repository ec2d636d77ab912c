/* SPDX-License-Identifier: MIT */
/* How long a request may take by the configuration of its site, in seconds. */
#ifndef FCGI_TIME_LIMITS_H
#define FCGI_TIME_LIMITS_H

#include "statespace.h"

/* The longest tool that a page may have, and the page's components. */
double time_limits_request(const struct ss_site *site);
/* [pool] stop_timeout; by default the longest tool, and a few seconds. */
double time_limits_stop(const struct ss_site *site);

#endif
