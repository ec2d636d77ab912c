/* SPDX-License-Identifier: MIT */
#include "status.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sys.h"

struct text {
	char *at;
	size_t len, cap;
	bool full;
};

__attribute__((format(printf, 2, 3))) static void
text_add(struct text *t, const char *format, ...)
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

	return mode < ARRAY_LEN(names) ? names[mode] : "";
}

static const char *
outcome_name(size_t i)
{
	return i == SS_OK      ? "ok"
		: i == SS_GONE ? "gone"
			       : ss_err_code((enum ss_err)i);
}

static void
take_runs(struct status *s, const struct worker_page *b)
{
	uint64_t most = b->memory_most;

	for (size_t i = 0; i < SCOREBOARD_TIMES; i++)
		s->cpu[i] += b->cpu[i];
	for (size_t i = 0; i < SCOREBOARD_SIZES; i++)
		s->memory[i] += b->memory[i];
	s->cpu_us += b->cpu_us;
	s->memory_bytes += b->memory_bytes;
	if (most > s->memory_most)
		s->memory_most = most;
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
		take_runs(s, b);
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

	text_add(t,
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
		f->most_busy, f->max_reached, f->started, f->died, f->stuck,
		f->reloads, (double)f->request_us / 1e6);
}

/* A path has no control bytes (ss_path_clean): JSON and labels are alike. */
static void
add_path(struct text *t, const char *path)
{
	for (; *path != '\0'; path++)
		text_add(t, *path == '"' || *path == '\\' ? "\\%c" : "%c",
			*path);
}

static void
add_figures(struct text *t, const struct tool_sum *sum)
{
	text_add(t,
		"\"runs\": %" PRIu64
		", \"cpu_s\": %.6f, \"memory_most\": %" PRIu64,
		sum->runs, (double)sum->cpu_us / 1e6, sum->memory_most);
}

static void
add_tools(struct text *t, const struct status *s)
{
	const struct tool_counts *c = s->tools;
	struct tool_sum all = { .cpu_us = s->cpu_us,
		.memory_most = s->memory_most };

	for (size_t i = 0; i < SCOREBOARD_TIMES; i++)
		all.runs += s->cpu[i];
	text_add(t, "\"tools\": {");
	add_figures(t, &all);
	text_add(t, ", \"listed\": [");
	for (size_t i = 0; i < c->count; i++) {
		text_add(t, "%s{\"page\": \"", i > 0 ? ", " : "");
		add_path(t, c->named[i].page);
		text_add(t, "\", \"tool\": %zu, ", c->named[i].tool);
		add_figures(t, &c->named[i].sum);
		text_add(t, "}");
	}
	text_add(t, "], \"other\": {");
	add_figures(t, &c->other);
	text_add(t, "}}");
}

/* The main site has no name: its requests are those of no other one. */
static const char *
site_name(const struct status *s, size_t row)
{
	const char *name = site_counts_name(s->sites, s->site, row);

	return *name != '\0' ? name : "default";
}

static void
add_sites(struct text *t, const struct status *s)
{
	if (s->sites == NULL)
		return;
	text_add(t, ", \"sites\": {\"count\": %zu, \"listed\": [",
		ss_site_count(s->site));
	for (size_t i = 0; i < s->sites->rows; i++) {
		const struct site_count *c = &s->sites->of[i];

		text_add(t,
			"%s{\"site\": \"%s\", \"ok\": %" PRIu64
			", \"refused\": %" PRIu64 ", \"failed\": %" PRIu64
			", \"runs\": %" PRIu64 ", \"cpu_s\": %.6f}",
			i > 0 ? ", " : "", site_name(s, i), c->answers[SITE_OK],
			c->answers[SITE_REFUSED], c->answers[SITE_FAILED],
			c->runs, (double)c->cpu_us / 1e6);
	}
	text_add(t, "]}");
}

size_t
status_json(const struct status *s, char *out, size_t cap)
{
	struct text t = { .at = out, .cap = cap };
	const char *comma = "";

	text_add(&t,
		"{\"name\": \"statespace\", \"version\": \"%s\", "
		"\"sandbox\": \"%s\", \"uptime_s\": %.3f, ",
		ss_version(), s->figures->sandbox, (double)s->uptime_us / 1e6);
	add_pool(&t, s);
	text_add(&t,
		", \"queue\": {\"length\": %" PRIu32 ", \"most\": %" PRIu32
		", \"refused\": %" PRIu64 "}, \"log\": {\"lost\": %" PRIu64
		"}, \"oldest_request_s\": %.3f, \"requests\": {",
		s->figures->queue, s->figures->queue_most, s->refused,
		s->log_lost, (double)s->oldest_us / 1e6);
	for (size_t i = 0; i < SCOREBOARD_OUTCOMES; i++) {
		if (s->outcomes[i] == 0 && i != SS_OK)
			continue;
		text_add(&t, "%s\"%s\": %" PRIu64, comma, outcome_name(i),
			s->outcomes[i]);
		comma = ", ";
	}
	text_add(&t, "}, ");
	add_tools(&t, s);
	add_sites(&t, s);
	text_add(&t, "}\n");
	return t.full ? 0 : t.len;
}

static void
metric(struct text *t, const char *name, const char *type, const char *help)
{
	text_add(t, "# HELP statespace_%s %s\n# TYPE statespace_%s %s\n", name,
		help, name, type);
}

static void
add_one(struct text *t, const char *name, const char *type, const char *help,
	double value)
{
	metric(t, name, type, help);
	text_add(t, "statespace_%s %.15g\n", name, value);
}

/* A histogram's counts are cumulative; its name has its unit. */
struct histogram {
	const char *name, *outcome; /* NULL: no label */
	const uint64_t *counts, *bounds;
	size_t count;
	uint64_t sum;
	double unit;
};

static void
add_histogram(struct text *t, const struct histogram *h)
{
	char label[64] = "", braces[72] = "";
	uint64_t all = 0;

	if (h->outcome != NULL) {
		snprintf(label, sizeof(label), "outcome=\"%s\",", h->outcome);
		snprintf(
			braces, sizeof(braces), "{outcome=\"%s\"}", h->outcome);
	}
	for (size_t i = 0; i < h->count; i++) {
		all += h->counts[i];
		text_add(t, "statespace_%s_bucket{%sle=\"", h->name, label);
		if (i < h->count - 1)
			text_add(t, "%.15g", (double)h->bounds[i] / h->unit);
		else
			text_add(t, "+Inf");
		text_add(t, "\"} %" PRIu64 "\n", all);
	}
	text_add(t,
		"statespace_%s_sum%s %.15g\nstatespace_%s_count%s %" PRIu64
		"\n",
		h->name, braces, (double)h->sum / h->unit, h->name, braces,
		all);
}

/* Of outcomes that came. */
static void
add_times(struct text *t, const struct status *s)
{
	struct histogram h = { .name = "request_duration_seconds",
		.bounds = scoreboard_bounds,
		.count = SCOREBOARD_TIMES,
		.unit = 1e6 };

	metric(t, h.name, "histogram", "Answered requests by outcome.");
	for (size_t i = 0; i < SCOREBOARD_OUTCOMES; i++) {
		uint64_t all = 0;

		for (size_t j = 0; j < SCOREBOARD_TIMES; j++)
			all += s->times[i][j];
		h.outcome = outcome_name(i);
		h.counts = s->times[i];
		h.sum = s->times_us[i];
		if (all > 0)
			add_histogram(t, &h);
	}
}

/* Of all tools together. */
static void
add_runs(struct text *t, const struct status *s)
{
	struct histogram cpu = { .name = "tool_cpu_seconds",
		.counts = s->cpu,
		.bounds = scoreboard_bounds,
		.count = SCOREBOARD_TIMES,
		.sum = s->cpu_us,
		.unit = 1e6 };
	struct histogram memory = { .name = "tool_memory_bytes",
		.counts = s->memory,
		.bounds = scoreboard_sizes,
		.count = SCOREBOARD_SIZES,
		.sum = s->memory_bytes,
		.unit = 1 };

	metric(t, cpu.name, "histogram",
		"Runs of tools by user and system time.");
	add_histogram(t, &cpu);
	metric(t, memory.name, "histogram",
		"Runs of tools by largest resident set.");
	add_histogram(t, &memory);
	add_one(t, "tool_memory_most_bytes", "gauge",
		"The largest resident set of all runs.",
		(double)s->memory_most);
}

/* By page and index; what has no name there has the label other. */
static void
add_each_tool(struct text *t, const struct tool_counts *c, const char *name,
	double (*value)(const struct tool_sum *sum))
{
	for (size_t i = 0; i < c->count; i++) {
		text_add(t, "statespace_%s{page=\"", name);
		add_path(t, c->named[i].page);
		text_add(t, "\",tool=\"%zu\"} %.15g\n", c->named[i].tool,
			value(&c->named[i].sum));
	}
	if (c->other.runs > 0)
		text_add(t,
			"statespace_%s{page=\"other\",tool=\"other\"} %.15g\n",
			name, value(&c->other));
}

static double
runs_of(const struct tool_sum *sum)
{
	return (double)sum->runs;
}

static double
cpu_of(const struct tool_sum *sum)
{
	return (double)sum->cpu_us / 1e6;
}

static double
memory_of(const struct tool_sum *sum)
{
	return (double)sum->memory_most;
}

static void
add_by_tool(struct text *t, const struct tool_counts *c)
{
	metric(t, "page_tool_runs_total", "counter",
		"Runs by page and index of the tool.");
	add_each_tool(t, c, "page_tool_runs_total", runs_of);
	metric(t, "page_tool_cpu_seconds_total", "counter",
		"User and system time by page and tool.");
	add_each_tool(t, c, "page_tool_cpu_seconds_total", cpu_of);
	metric(t, "page_tool_memory_most_bytes", "gauge",
		"The largest resident set by page and tool.");
	add_each_tool(t, c, "page_tool_memory_most_bytes", memory_of);
}

static void
add_by_site(struct text *t, const struct status *s)
{
	static const char *const results[] = { [SITE_OK] = "ok",
		[SITE_REFUSED] = "refused",
		[SITE_FAILED] = "failed" };
	const struct site_counts *c = s->sites;

	if (c == NULL)
		return;
	add_one(t, "sites", "gauge", "Sites of this pool.",
		(double)ss_site_count(s->site));
	metric(t, "site_requests_total", "counter",
		"Requests by site; refused: 4xx, failed: 5xx.");
	for (size_t i = 0; i < c->rows; i++)
		for (size_t k = 0; k < SITE_ANSWERS; k++)
			text_add(t,
				"statespace_site_requests_total{site=\"%s\","
				"result=\"%s\"} %" PRIu64 "\n",
				site_name(s, i), results[k],
				c->of[i].answers[k]);
	metric(t, "site_tool_runs_total", "counter", "Runs of tools by site.");
	for (size_t i = 0; i < c->rows; i++)
		text_add(t,
			"statespace_site_tool_runs_total{site=\"%s\"} %" PRIu64
			"\n",
			site_name(s, i), c->of[i].runs);
	metric(t, "site_tool_cpu_seconds_total", "counter",
		"User and system time of tools by site.");
	for (size_t i = 0; i < c->rows; i++)
		text_add(t,
			"statespace_site_tool_cpu_seconds_total{site=\"%s\"} "
			"%.15g\n",
			site_name(s, i), (double)c->of[i].cpu_us / 1e6);
}

/* Figures without labels; a counter's name ends in "_total". */
static void
add_unlabelled(struct text *t, const struct status *s)
{
	const struct figures *f = s->figures;
	const struct {
		const char *name, *help;
		double value;
	} all[] = {
		{ "uptime_seconds", "Since the supervisor started.",
			(double)s->uptime_us / 1e6 },
		{ "workers_max", "The configured most.", f->max },
		{ "workers_reserve",
			"How many more there may be while tools run long.",
			f->reserve },
		{ "workers_most_busy", "The most that were busy at once.",
			f->most_busy },
		{ "workers_max_reached_total",
			"How often all workers were busy and no more were allowed.",
			(double)f->max_reached },
		{ "worker_births_total", "Workers started.",
			(double)f->started },
		{ "worker_deaths_total",
			"Workers that ended without being asked.",
			(double)f->died },
		{ "worker_stuck_total", "Workers ended by the watchdog.",
			(double)f->stuck },
		{ "reloads_total", "Successful reloads.", (double)f->reloads },
		{ "tools_running", "Tools that run now.", f->tools },
		{ "queue_length", "Connections that wait.", f->queue },
		{ "queue_most", "The most that waited at once.",
			f->queue_most },
		{ "queue_refused_total",
			"Connections told 503 because no worker came free.",
			(double)s->refused },
		{ "oldest_request_seconds",
			"Age of the oldest request that is served.",
			(double)s->oldest_us / 1e6 },
		{ "log_lines_lost_total",
			"Log lines that could not be written.",
			(double)s->log_lost },
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		add_one(t, all[i].name,
			strstr(all[i].name, "_total") != NULL ? "counter"
							      : "gauge",
			all[i].help, all[i].value);
}

size_t
status_prometheus(const struct status *s, char *out, size_t cap)
{
	struct text t = { .at = out, .cap = cap };

	metric(&t, "info", "gauge", "The version and how tools are confined.");
	text_add(&t,
		"statespace_info{version=\"%s\",sandbox=\"%s\",mode=\"%s\"} 1\n",
		ss_version(), s->figures->sandbox, mode_name(s->figures->mode));
	metric(&t, "workers", "gauge", "Workers by what they do.");
	text_add(&t,
		"statespace_workers{state=\"idle\"} %" PRIu32
		"\nstatespace_workers{state=\"busy\"} %" PRIu32 "\n",
		s->idle, s->busy);
	add_unlabelled(&t, s);
	metric(&t, "requests_total", "counter", "Requests by outcome.");
	for (size_t i = 0; i < SCOREBOARD_OUTCOMES; i++)
		text_add(&t,
			"statespace_requests_total{outcome=\"%s\"} %" PRIu64
			"\n",
			outcome_name(i), s->outcomes[i]);
	add_times(&t, s);
	add_runs(&t, s);
	add_by_tool(&t, s->tools);
	add_by_site(&t, s);
	return t.full ? 0 : t.len;
}

/* Saturated: a page, or a tool, would have to wait. */
static const char *
ready_word(const struct status *s)
{
	uint32_t on_demand = 2;

	if (s->draining)
		return "draining";
	if (s->total == 0)
		return s->figures->mode == on_demand ? "ok" : "no worker";
	return s->tools_full || (s->idle == 0 && s->busy >= s->figures->max)
		? "saturated"
		: "ok";
}

size_t
status_ready(const struct status *s, bool *ready, char *out, size_t cap)
{
	struct text t = { .at = out, .cap = cap };
	const char *word = ready_word(s);

	*ready = strcmp(word, "ok") == 0;
	text_add(&t, "{\"status\": \"%s\", \"sandbox\": \"%s\", ", word,
		s->figures->sandbox);
	add_pool(&t, s);
	text_add(&t, "}\n");
	return t.full ? 0 : t.len;
}
