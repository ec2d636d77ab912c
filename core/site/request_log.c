/* SPDX-License-Identifier: MIT */
#include "site/request_log.h"

#include "site/site.h"

bool
request_log_begin(
	const struct ss_site *site, struct log_line *l, const char *event)
{
	if (site->log == NULL || strcmp(site->config.log.level, "error") == 0)
		return false;
	log_begin(l,
		strcmp(site->config.log.format, "json") == 0 ? LOG_JSON
							     : LOG_LOGFMT,
		event);
	return true;
}

void
request_log_run(
	struct log_line *l, ssize_t tool, const struct ss_result *result)
{
	if (tool < 0)
		return;
	log_number(l, "tool", tool);
	log_number(l, "exit", result->returncode);
	log_text(l, "sandbox", result->sandbox);
	log_text(l, "limit", result->limit);
	log_ms(l, "run_ms", result->run_us);
}
