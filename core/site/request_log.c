/* SPDX-License-Identifier: MIT */
#include "site/request_log.h"

#define OWN_TEXT_MAX 3072 /* of a host's field: an error with its hint */
#define OWN_TEXT_LEAST 512

static enum log_format
format_of(const struct request_log *log)
{
	return strcmp(log->config->log.format, "json") == 0 ? LOG_JSON
							    : LOG_LOGFMT;
}

/* Escapes can make a text too long for a line: then it is cut shorter. */
bool
request_log_fields(const struct request_log *log, const char *event,
	const struct ss_field *fields, size_t count)
{
	struct log_line l = { .full = true };

	if (log->write == NULL)
		return false;
	for (size_t max = OWN_TEXT_MAX; l.full && max >= OWN_TEXT_LEAST;
		max /= 2) {
		log_begin(&l, format_of(log), event);
		for (size_t i = 0; i < count; i++)
			if (fields[i].text != NULL)
				log_text_max(&l, fields[i].name, fields[i].text,
					max);
			else
				log_number(
					&l, fields[i].name, fields[i].number);
	}
	request_log_end(log, &l);
	return true;
}

bool
request_log_begin(
	const struct request_log *log, struct log_line *l, const char *event)
{
	if (log->write == NULL || strcmp(log->config->log.level, "error") == 0)
		return false;
	log_begin(l, format_of(log), event);
	log_text(l, "site", log->site);
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
	log_text(l, "replayed", result->replayed ? "true" : NULL);
	log_ms(l, "run_ms", result->run_us);
}

bool
request_log_slow(const struct request_log *log, struct log_line *l,
	const char *id, const char *page, ssize_t tool, uint64_t total_us)
{
	double slow = log->config->log.slow;

	if (slow <= 0 || (double)total_us < slow * 1e6 ||
		!request_log_begin(log, l, "slow"))
		return false;
	log_text(l, "id", id);
	log_text(l, "page", page);
	if (tool >= 0)
		log_number(l, "tool", tool);
	log_ms(l, "total_ms", total_us);
	return true;
}

void
request_log_usage(
	struct log_line *l, ssize_t tool, const struct ss_result *result)
{
	if (tool < 0)
		return;
	log_ms(l, "tool_ms", result->run_us);
	log_ms(l, "cpu_ms", result->cpu_us);
	log_number(l, "memory", (int64_t)result->memory_bytes);
}

void
request_log_end(const struct request_log *log, struct log_line *l)
{
	log_end(l, log->write, log->ctx);
}
