/* SPDX-License-Identifier: MIT */
#include "tool_limit.h"

#include <sched.h>
#include <time.h>

#include "sys.h"
#include "tool_counts.h"

#define PATIENCE 1000 /* looks at one that is about to name its time */

/* When the other took it up; 0, which is earlier than all: it does not say. */
static uint64_t
time_of(const struct worker_page *other, uint64_t tool)
{
	uint64_t at = 0;

	for (unsigned i = 0; i < PATIENCE && other->tool == tool; i++) {
		at = other->tool_ns;
		if (at != 0)
			break;
		sched_yield();
	}
	return at;
}

/* Lamport's bakery, the clock giving the numbers; equal ones count. */
bool
tool_limit_enter(struct tool_limit *g, uint64_t tool, uint64_t most)
{
	uint64_t running = 0, own;

	g->own->tool_ns = 0;
	g->own->tool = tool;
	own = sys_clock_ns();
	g->own->tool_ns = own;
	for (size_t i = 0; i < g->count; i++) {
		const struct worker_page *other =
			scoreboard_read(g->scoreboard, i);

		if (other->tool == tool && time_of(other, tool) <= own &&
			other->tool == tool)
			running++;
	}
	/* Our own page is among them. */
	if (running <= most)
		return true;
	tool_limit_leave(g);
	return false;
}

void
tool_limit_leave(struct tool_limit *g)
{
	g->own->tool = 0;
}

static bool
enter(void *ctx, uint64_t tool, uint64_t most)
{
	return tool_limit_enter(ctx, tool, most);
}

static void
leave(void *ctx, uint64_t tool)
{
	(void)tool;
	tool_limit_leave(ctx);
}

static void
ran(void *ctx, uint64_t tool, const struct ss_result *result)
{
	tool_counts_add(((struct tool_limit *)ctx)->own, tool, result);
}

/* Who waits already goes first. */
static bool
start(void *ctx)
{
	struct tool_slot *u = ((struct tool_limit *)ctx)->use;

	u->put_off = (!u->held && !u->resumed && u->slots->parked > 0) ||
		!tool_slots_take(u);
	return !u->put_off;
}

static void
end(void *ctx)
{
	tool_slots_give(((struct tool_limit *)ctx)->use);
}

void
tool_limit_attach(struct tool_limit *g, struct ss_site *site)
{
	struct ss_tool_limit hooks = { .size = sizeof(hooks),
		.ctx = g,
		.enter = enter,
		.leave = leave,
		.ran = ran };

	if (g->use != NULL) {
		hooks.start = start;
		hooks.end = end;
	}

	ss_site_set_tool_limit(site, &hooks);
}
