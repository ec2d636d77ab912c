/* SPDX-License-Identifier: MIT */
#include "http/output.h"

#include "wire/media.h"

/*
 * Does the client prefer the declared type to JSON?  A tie, as of any type, is
 * JSON.  What failed, was cut at a limit or is a part is told in JSON.
 */
static bool
wants_raw(struct exchange *x)
{
	const struct ss_result *r = &x->result;
	const char *offers[] = { "application/json", NULL };

	if (r->type == NULL || x->req->accept == NULL || r->returncode != 0 ||
		r->limit != NULL || r->part.lines > 0)
		return false;
	offers[1] =
		arena_copy(&x->site->arena, r->type, media_plain_len(r->type));
	x->body.failed |= offers[1] == NULL;
	return offers[1] != NULL &&
		media_prefer(x->req->accept, offers, ARRAY_LEN(offers)) == 1;
}

/* As files are sent: no browser runs script in it. */
static void
answer_raw(struct exchange *x)
{
	buf_add(&x->body, x->result.out.data, x->result.out.len);
	exchange_header(x, "Statespace-Returncode", "0");
	exchange_header(x, "Content-Security-Policy", "sandbox");
	exchange_header(x, "Vary", "Accept");
	exchange_body(x, 200, media_harmless(x->result.type));
}

void
output_answer(struct exchange *x)
{
	exchange_header(x, "Cache-Control", "no-store");
	if (wants_raw(x)) {
		answer_raw(x);
		return;
	}
	proto_result(&x->body, &x->result);
	exchange_body(x, 200, "application/json");
}
