/* SPDX-License-Identifier: MIT */
#include "status.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct text {
	char *at;
	size_t len, cap;
	bool full;
};

__attribute__((format(printf, 2, 3))) static void
add(struct text *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->at + t->len, t->cap - t->len, format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= t->cap - t->len)
		t->full = true;
	else
		t->len += (size_t)n;
}

static const char *
mode_name(uint32_t mode)
{
	static const char *const names[] = { "static", "dynamic", "ondemand" };

	return mode < sizeof(names) / sizeof(names[0]) ? names[mode] : "";
}

static const char *
outcome_name(size_t i)
{
	return i == SS_OK      ? "ok"
		: i == SS_GONE ? "gone"
			       : ss_err_code((enum ss_err)i);
}

void
status_take(struct status *s, const struct figures *figures,
	const void *scoreboard, size_t count,
	const struct worker_page *status_server, uint64_t now_us)
{
	memset(s, 0, sizeof(*s));
	s->figures = figures;
	s->uptime_us = now_us - figures->started_us;
	s->refused = status_server->accepted + status_server->refused;
	s->log_lost = figures->log_lost + status_server->log_lost;
	for (size_t i = 0; i < count; i++) {
		const struct worker_page *b = scoreboard_read(scoreboard, i);
		uint32_t state = b->state;
		uint64_t since = b->since_us;

		s->log_lost += b->log_lost;
		for (size_t k = 0; k < SCOREBOARD_OUTCOMES; k++) {
			s->outcomes[k] += b->outcomes[k];
			s->times_us[k] += b->times_us[k];
			for (size_t j = 0; j < SCOREBOARD_TIMES; j++)
				s->times[k][j] += b->times[k][j];
		}
		if (state == WORKER_NONE)
			continue;
		s->total++;
		if (state != WORKER_BUSY) {
			s->idle++;
			continue;
		}
		s->busy++;
		if (since < now_us && now_us - since > s->oldest_us)
			s->oldest_us = now_us - since;
	}
	s->outcomes[SS_OVERLOADED] += s->refused;
}

static void
add_pool(struct text *t, const struct status *s)
{
	const struct figures *f = s->figures;

	add(t,
		"\"pool\": {\"mode\": \"%s\", \"max\": %" PRIu32
		", \"start\": %" PRIu32 ", \"spare_min\": %" PRIu32
		", \"spare_max\": %" PRIu32 ", \"reserve\": %" PRIu32
		", \"tools\": %" PRIu32 ", \"total\": %" PRIu32
		", \"idle\": %" PRIu32 ", \"busy\": %" PRIu32
		", \"most_busy\": %" PRIu32 ", \"max_reached\": %" PRIu64
		", \"births\": %" PRIu64 ", \"deaths\": %" PRIu64
		", \"stuck\": %" PRIu64 ", \"reloads\": %" PRIu64
		", \"watchdog_s\": %.0f}",
		mode_name(f->mode), f->max, f->start, f->spare_min,
		f->spare_max, f->reserve, f->tools, s->total, s->idle, s->busy,
		f->most_busy, f->max_reached, f->births, f->deaths, f->stuck,
		f->reloads, (double)f->request_us / 1e6);
}

size_t
status_json(const struct status *s, char *out, size_t cap)
{
	struct text t = { .at = out, .cap = cap };
	const char *comma = "";

	add(&t,
		"{\"name\": \"statespace\", \"version\": \"%s\", "
		"\"sandbox\": \"%s\", \"uptime_s\": %.3f, ",
		ss_version(), s->figures->sandbox, (double)s->uptime_us / 1e6);
	add_pool(&t, s);
	add(&t,
		", \"queue\": {\"length\": %" PRIu32 ", \"most\": %" PRIu32
		", \"refused\": %" PRIu64 "}, \"log\": {\"lost\": %" PRIu64
		"}, \"oldest_request_s\": %.3f, \"requests\": {",
		s->figures->queue, s->figures->queue_most, s->refused,
		s->log_lost, (double)s->oldest_us / 1e6);
	for (size_t i = 0; i < SCOREBOARD_OUTCOMES; i++) {
		if (s->outcomes[i] == 0 && i != SS_OK)
			continue;
		add(&t, "%s\"%s\": %" PRIu64, comma, outcome_name(i),
			s->outcomes[i]);
		comma = ", ";
	}
	add(&t, "}}\n");
	return t.full ? 0 : t.len;
}

static void
metric(struct text *t, const char *name, const char *type, const char *help)
{
	add(t, "# HELP statespace_%s %s\n# TYPE statespace_%s %s\n", name, help,
		name, type);
}

static void
one(struct text *t, const char *name, const char *type, const char *help,
	double value)
{
	metric(t, name, type, help);
	add(t, "statespace_%s %.15g\n", name, value);
}

/* Of outcomes that came: cumulative, as the text format has it. */
static void
add_times(struct text *t, const struct status *s)
{
	static const char name[] = "request_duration_seconds";

	metric(t, name, "histogram", "Answered requests by outcome.");
	for (size_t i = 0; i < SCOREBOARD_OUTCOMES; i++) {
		const char *outcome = outcome_name(i);
		uint64_t all = 0;

		for (size_t j = 0; j < SCOREBOARD_TIMES; j++)
			all += s->times[i][j];
		if (all == 0)
			continue;
		all = 0;
		for (size_t j = 0; j < SCOREBOARD_TIMES; j++) {
			all += s->times[i][j];
			add(t, "statespace_%s_bucket{outcome=\"%s\",le=\"",
				name, outcome);
			if (j < SCOREBOARD_TIMES - 1)
				add(t, "%g",
					(double)scoreboard_bounds[j] / 1e6);
			else
				add(t, "+Inf");
			add(t, "\"} %" PRIu64 "\n", all);
		}
		add(t,
			"statespace_%s_sum{outcome=\"%s\"} %.6f\n"
			"statespace_%s_count{outcome=\"%s\"} %" PRIu64 "\n",
			name, outcome, (double)s->times_us[i] / 1e6, name,
			outcome, all);
	}
}

size_t
status_prometheus(const struct status *s, char *out, size_t cap)
{
	struct text t = { .at = out, .cap = cap };
	const struct figures *f = s->figures;

	metric(&t, "info", "gauge", "The version and how tools are confined.");
	add(&t, "statespace_info{version=\"%s\",sandbox=\"%s\",mode=\"%s\"} 1\n",
		ss_version(), f->sandbox, mode_name(f->mode));
	one(&t, "uptime_seconds", "gauge", "Since the master was started.",
		(double)s->uptime_us / 1e6);
	metric(&t, "workers", "gauge", "Workers by what they do.");
	add(&t,
		"statespace_workers{state=\"idle\"} %" PRIu32
		"\nstatespace_workers{state=\"busy\"} %" PRIu32 "\n",
		s->idle, s->busy);
	one(&t, "workers_max", "gauge", "The configured most.", f->max);
	one(&t, "workers_most_busy", "gauge",
		"The most that were busy at once.", f->most_busy);
	one(&t, "workers_max_reached_total", "counter",
		"How often all workers were busy and no more were allowed.",
		(double)f->max_reached);
	one(&t, "worker_births_total", "counter", "Workers started.",
		(double)f->births);
	one(&t, "worker_deaths_total", "counter",
		"Workers that ended without being asked.", (double)f->deaths);
	one(&t, "worker_stuck_total", "counter",
		"Workers ended by the watchdog.", (double)f->stuck);
	one(&t, "reloads_total", "counter", "Successful reloads.",
		(double)f->reloads);
	one(&t, "queue_length", "gauge", "Connections that wait.", f->queue);
	one(&t, "queue_most", "gauge", "The most that waited at once.",
		f->queue_most);
	one(&t, "queue_refused_total", "counter",
		"Connections told 503 because no worker came free.",
		(double)s->refused);
	one(&t, "oldest_request_seconds", "gauge",
		"Age of the oldest request in hand.",
		(double)s->oldest_us / 1e6);
	one(&t, "log_lines_lost_total", "counter",
		"Log lines that could not be written.", (double)s->log_lost);
	metric(&t, "requests_total", "counter", "Requests by outcome.");
	for (size_t i = 0; i < SCOREBOARD_OUTCOMES; i++)
		add(&t,
			"statespace_requests_total{outcome=\"%s\"} %" PRIu64
			"\n",
			outcome_name(i), s->outcomes[i]);
	add_times(&t, s);
	return t.full ? 0 : t.len;
}

/* Saturated: every worker that there may be has a request in hand. */
static const char *
ready_word(const struct status *s)
{
	uint32_t on_demand = 2;

	if (s->total == 0)
		return s->figures->mode == on_demand ? "ok" : "no worker";
	return s->idle == 0 && s->busy >= s->figures->max ? "saturated" : "ok";
}

size_t
status_ready(const struct status *s, bool *ready, char *out, size_t cap)
{
	struct text t = { .at = out, .cap = cap };
	const char *word = ready_word(s);

	*ready = strcmp(word, "ok") == 0;
	add(&t, "{\"status\": \"%s\", \"sandbox\": \"%s\", ", word,
		s->figures->sandbox);
	add_pool(&t, s);
	add(&t, "}\n");
	return t.full ? 0 : t.len;
}
