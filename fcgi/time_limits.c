/* SPDX-License-Identifier: MIT */
#include "time_limits.h"

#define STOP_MARGIN_S 5.0

/* grant.timeout is what a page may ask for beyond limits.timeout; of any site. */
static double
longest_tool(const struct ss_site *site)
{
	double usual = ss_site_option_most(site, "limits.timeout");
	double granted = ss_site_option_most(site, "grant.timeout");

	return granted > usual ? granted : usual;
}

double
time_limits_request(const struct ss_site *site)
{
	return longest_tool(site) +
		ss_site_option_most(site, "components.total");
}

double
time_limits_stop(const struct ss_site *site)
{
	double own = ss_site_option_number(site, "pool.stop_timeout");
	double tool = longest_tool(site);
	double components = ss_site_option_most(site, "components.total");

	if (own > 0)
		return own;
	return (tool > components ? tool : components) + STOP_MARGIN_S;
}
