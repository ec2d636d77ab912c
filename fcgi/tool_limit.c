/* SPDX-License-Identifier: MIT */
#include "tool_limit.h"

#include <sched.h>
#include <time.h>

#include "sys.h"
#include "tool_counts.h"

#define TIME_LOOKS 1000 /* at a worker that is about to write its time */

/* When the other one started it; 0, earlier than all: it did not write it. */
static uint64_t
time_of(const struct worker_page *other, uint64_t tool)
{
	uint64_t at = 0;

	for (unsigned i = 0; i < TIME_LOOKS && other->tool == tool; i++) {
		at = other->tool_ns;
		if (at != 0)
			break;
		sched_yield();
	}
	return at;
}

/*
 * Lamport's bakery algorithm with the clock for numbers.  Equal times count as
 * earlier.
 */
bool
tool_limit_enter(struct tool_limit *l, uint64_t tool, uint64_t most)
{
	uint64_t running = 0, own;

	l->own->tool_ns = 0;
	l->own->tool = tool;
	own = sys_clock_ns();
	l->own->tool_ns = own;
	for (size_t i = 0; i < l->count; i++) {
		const struct worker_page *other =
			scoreboard_read(l->scoreboard, i);

		if (other->tool == tool && time_of(other, tool) <= own &&
			other->tool == tool)
			running++;
	}
	/* Our own page is among them. */
	if (running <= most)
		return true;
	tool_limit_leave(l);
	return false;
}

void
tool_limit_leave(struct tool_limit *l)
{
	l->own->tool = 0;
}

static bool
on_enter(void *ctx, uint64_t tool, uint64_t most)
{
	return tool_limit_enter(ctx, tool, most);
}

static void
on_leave(void *ctx, uint64_t tool)
{
	(void)tool;
	tool_limit_leave(ctx);
}

static void
ran(void *ctx, uint64_t tool, const struct ss_result *result)
{
	struct tool_limit *l = ctx;

	tool_counts_add(l->own, tool, result);
	site_counts_run(l->sites, l->site, result);
}

/* Parked requests go first. */
static bool
on_start(void *ctx)
{
	struct tool_slot *u = ((struct tool_limit *)ctx)->use;

	u->put_off = (!u->held && !u->resumed && u->slots->parked > 0) ||
		!tool_slots_take(u);
	return !u->put_off;
}

static void
on_end(void *ctx)
{
	tool_slots_give(((struct tool_limit *)ctx)->use);
}

void
tool_limit_attach(struct tool_limit *l, struct ss_site *site)
{
	struct ss_tool_limit hooks = { .size = sizeof(hooks),
		.ctx = l,
		.enter = on_enter,
		.leave = on_leave,
		.ran = ran };

	if (l->use != NULL) {
		hooks.start = on_start;
		hooks.end = on_end;
	}

	ss_site_set_tool_limit(site, &hooks);
}
