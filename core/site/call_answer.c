/* SPDX-License-Identifier: MIT */
/* The end of a call: its result, or what decided against it and a next step. */
#include "site/call_step.h"

#include <stdio.h>

#include "site/refusal.h"

/* Names the line of a run that failed; a timeout of the page's own is its. */
static void
note_rule(const struct call_state *r, struct ss_error *err)
{
	char value[sizeof(err->value)];

	if (!r->started)
		return;
	if (err->code == SS_TIMEOUT && r->own_timeout > 0) {
		error_rule(err, r->own_line, "timeout: %g", r->own_timeout);
		snprintf(value, sizeof(value), "%g", 2 * r->own_timeout);
		error_setting(err, "", "%s", value);
	} else if (err->line == 0 && err->code != SS_INTERNAL) {
		err->line = r->line;
	}
}

enum ss_err
call_run(const struct call_parts *parts, const struct call *call,
	const char **stage, struct ss_result *result, struct ss_error *err)
{
	struct call_state r;
	enum ss_err code;

	call_begin(&r, parts, call, result, err);
	code = call_run_steps(&r, stage);
	if (code == SS_OK || err == NULL)
		return code;
	note_rule(&r, err);
	refusal_step(&(struct refusal){ .parts = parts,
			     .doc = call->doc,
			     .page = r.started ? NULL : r.page,
			     .request = call->request,
			     .token = call->token },
		err, result);
	return code;
}
