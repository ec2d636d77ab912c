/* SPDX-License-Identifier: MIT */
#include "tool_slots.h"

/* Searches from the worker's own number on, which is mostly free. */
bool
tool_slots_take(struct tool_slot *u)
{
	uint32_t most = u->slots->most;

	if (u->held || most == 0)
		return true;
	if (most > SIZING_MAX)
		most = SIZING_MAX;
	for (uint32_t i = 0; i < most; i++) {
		uint32_t at = (u->number + i) % most, none = 0;

		if (!atomic_compare_exchange_strong(
			    &u->slots->owner[at], &none, u->number))
			continue;
		u->held = true;
		u->at = at;
		return true;
	}
	return false;
}

void
tool_slots_give(struct tool_slot *u)
{
	if (u->held)
		atomic_store(&u->slots->owner[u->at], 0);
	u->held = false;
}

void
tool_slots_clear(struct tool_slots *s, uint32_t number)
{
	for (uint32_t i = 0; i < SIZING_MAX; i++) {
		uint32_t owner = number;

		atomic_compare_exchange_strong(&s->owner[i], &owner, 0);
	}
}

unsigned
tool_slots_count(const struct tool_slots *s)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < s->most && i < SIZING_MAX; i++)
		count += s->owner[i] != 0;
	return count;
}

bool
tool_slots_full(const struct tool_slots *s)
{
	return s->most > 0 && (s->parked > 0 || tool_slots_count(s) >= s->most);
}
