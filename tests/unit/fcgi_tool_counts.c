/* SPDX-License-Identifier: MIT */
/*
 * tool_counts and status: runs by page and tool have bounds on both sides, and
 * a worker that writes nonsense changes counts and no text.
 */
#include "../../fcgi/status.c"
#include "../../fcgi/tool_counts.c"

#include "tap.h"

#define SLOTS 3

static struct worker_page region[SLOTS];
static struct figures figures;
static struct tool_counts counts;
static char text[STATUS_MAX];

/* Stands for the site: pages of one tool each, with numbers from 1 on. */
static size_t listed;
static const char *first = "a.md";

/* One site: no counts of several. */
size_t
ss_site_count(const struct ss_site *site)
{
	(void)site;
	return 0;
}

const char *
site_counts_name(
	const struct site_counts *c, const struct ss_site *site, size_t row)
{
	(void)c;
	(void)site;
	(void)row;
	return "";
}

enum ss_err
ss_site_each_tool(struct ss_site *site,
	void (*fn)(void *ctx, uint64_t number, const char *page, size_t tool),
	void *ctx, struct ss_error *err)
{
	char page[32];

	(void)site;
	(void)err;
	for (size_t i = 1; i <= listed; i++) {
		snprintf(page, sizeof(page), "p%zu.md", i);
		fn(ctx, i, i == 1 ? first : page, 0);
	}
	return SS_OK;
}

void
say_error(const char *what, const struct ss_error *err)
{
	(void)what;
	(void)err;
}

static void
reset(size_t pages)
{
	memset(region, 0, sizeof(region));
	listed = pages;
	first = "a.md";
}

static void
run(size_t slot, uint64_t number, uint64_t cpu_us, uint64_t memory)
{
	struct ss_result r = { .cpu_us = cpu_us, .memory_bytes = memory };

	tool_counts_add(&region[slot], number, &r);
}

static void
take(void)
{
	tool_counts_take(&counts, region, SLOTS, NULL);
}

static const char *
as_text(size_t (*print)(const struct status *s, char *out, size_t cap))
{
	struct status s;

	take();
	status_take(&s, &figures, region, SLOTS, &region[SLOTS - 1], 0);
	s.tools = &counts;
	text[0] = '\0';
	print(&s, text, sizeof(text));
	return text;
}

static void
test_sums(void)
{
	reset(2);
	run(0, 1, 1500, 4000);
	run(1, 1, 500, 9000);
	run(1, 2, 1, 1);
	run(1, 77, 5, 5);
	take();
	is_int(2, (long long)counts.count, "two tools have names");
	is_str("a.md", counts.named[0].page, "the first is named");
	is_int(2, (long long)counts.named[0].sum.runs, "runs are added up");
	is_int(2000, (long long)counts.named[0].sum.cpu_us, "times, too");
	is_int(9000, (long long)counts.named[0].sum.memory_most,
		"of the memory it is the largest");
	is_int(1, (long long)counts.other.runs, "what is not listed is other");
}

static void
test_worker_bound(void)
{
	reset(SCOREBOARD_TOOLS + 1);
	for (size_t i = 1; i < SCOREBOARD_TOOLS; i++)
		run(0, i, 1, 1);
	take();
	is_int(SCOREBOARD_TOOLS - 1, (long long)counts.count,
		"a worker has a place for each of 127 tools");
	is_int(0, (long long)counts.other.runs, "and none is other");
	run(0, SCOREBOARD_TOOLS, 1, 1);
	run(0, SCOREBOARD_TOOLS + 1, 1, 1);
	run(0, 5, 1, 1);
	take();
	is_int(SCOREBOARD_TOOLS - 1, (long long)counts.count, "more have none");
	is_int(2, (long long)counts.other.runs, "and are other");
	is_int(2, (long long)counts.named[4].sum.runs,
		"those that have one go on");
}

static void
test_status_bound(void)
{
	reset(TOOL_COUNTS_NAMED + 1);
	for (size_t i = 1; i <= TOOL_COUNTS_NAMED; i++)
		run(i % SLOTS, i, 1, 1);
	take();
	is_int(TOOL_COUNTS_NAMED, (long long)counts.count,
		"256 tools are named");
	is_int(0, (long long)counts.other.runs, "and none is other");
	run(1, TOOL_COUNTS_NAMED + 1, 1, 1);
	take();
	is_int(TOOL_COUNTS_NAMED, (long long)counts.count, "257 are not");
	is_int(1, (long long)counts.other.runs, "the last is other");
}

static void
test_nonsense(void)
{
	reset(2);
	run(1, 1, 10, 10);
	memset(&region[0], 0xff, sizeof(region[0]));
	take();
	is_int(1, (long long)counts.count, "a worker that claims too much");
	is_str("a.md", counts.named[0].page, "adds no name");
	is_int(1, (long long)counts.named[0].sum.runs,
		"and hides none of another worker");
	reset(TOOL_COUNTS_NAMED);
	for (size_t i = 0; i < SCOREBOARD_TOOLS - 1; i++)
		run(0, UINT64_MAX - i, 1, 1);
	for (size_t i = 1; i < SCOREBOARD_TOOLS; i++)
		run(1, i, 1, 1);
	take();
	is_int(SCOREBOARD_TOOLS - 1, (long long)counts.count,
		"numbers without a tool take no place from those with one");
	is_int(SCOREBOARD_TOOLS - 1, (long long)counts.other.runs,
		"they are other");
}

static void
test_text(void)
{
	static char path[TOOL_COUNTS_PATH + 1];

	reset(1);
	first = "a\"b\\c.md";
	run(0, 1, 2500000, 10);
	ok(strstr(as_text(status_prometheus),
		   "\nstatespace_page_tool_cpu_seconds_total"
		   "{page=\"a\\\"b\\\\c.md\",tool=\"0\"} 2.5\n") != NULL,
		"a label is escaped");
	ok(strstr(as_text(status_json),
		   "{\"page\": \"a\\\"b\\\\c.md\", \"tool\": 0, \"runs\": 1, "
		   "\"cpu_s\": 2.500000, \"memory_most\": 10}") != NULL,
		"JSON, too");
	first = "a\nb.md";
	take();
	is_int(0, (long long)counts.count,
		"a path that no request can have has no name");
	memset(path, 'p', TOOL_COUNTS_PATH - 1);
	first = path;
	take();
	is_int(1, (long long)counts.count, "255 bytes of path are named");
	memset(path, 'p', TOOL_COUNTS_PATH);
	take();
	is_int(0, (long long)counts.count, "256 are not");
	is_int(1, (long long)counts.other.runs, "but counted");
}

/* The longest there can be. */
static void
test_room(void)
{
	struct status s = { .figures = &figures, .tools = &counts };

	memset(&counts, 0xff, sizeof(counts));
	counts.count = TOOL_COUNTS_NAMED;
	for (size_t i = 0; i < TOOL_COUNTS_NAMED; i++) {
		memset(counts.named[i].page, '"', TOOL_COUNTS_PATH - 1);
		counts.named[i].page[TOOL_COUNTS_PATH - 1] = '\0';
	}
	memset(s.outcomes, 0xff, sizeof(s.outcomes));
	memset(s.times, 0xff, sizeof(s.times));
	ok(status_prometheus(&s, text, sizeof(text)) > 0,
		"the longest text fits");
	ok(status_json(&s, text, sizeof(text)) > 0, "and the longest JSON");
}

int
main(void)
{
	test_sums();
	test_worker_bound();
	test_status_bound();
	test_nonsense();
	test_text();
	test_room();
	return done();
}
