/* SPDX-License-Identifier: MIT */
#include "mcp/round.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "base/base64.h"

#define NUMBER_BYTES 12
#define ANSWERS_MAX ((size_t)1 << 20)

/* Digests who asks for what: it must be the same in each round. */
static enum rpc_code
digest_about(struct mcp *m, struct mcp_round *r, const char *path,
	struct ss_text declared)
{
	const struct rpc_value *arguments =
		rpc_member(m->rpc.params, "arguments");
	struct buf text = BUF_INIT(ANSWERS_MAX * 8);
	struct ss_text parts[6];

	if (arguments != NULL)
		rpc_write(&text, arguments);
	parts[0] = text_of(m->rpc.method);
	parts[1] = text_of(rpc_text(rpc_member(m->rpc.params, "name")));
	parts[2] = text_of(m->client.user);
	parts[3] = text_of(path);
	parts[4] = declared;
	parts[5] = buf_view(&text);
	digest_parts(parts, ARRAY_LEN(parts), r->about);
	if (!buf_ok(&text))
		error_memory(&m->err);
	buf_release(&text);
	return m->err.code == SS_OK ? RPC_OK : RPC_INTERNAL;
}

/* Signs the state's text up to its last point, together with r->about. */
static void
sign_state(const struct mcp *m, const struct mcp_round *r, struct ss_text text,
	uint8_t out[static DIGEST_BYTES])
{
	const struct ss_text parts[] = { text,
		{ (const char *)r->about, DIGEST_BYTES } };

	seal_sign(&m->site->seal, "mcp round", r->expires, parts,
		ARRAY_LEN(parts), out);
}

/* ----------------------------------------------------------------- state -- */

/*
 * EXPIRES.KIND.NUMBER.ANSWERS.SIGNATURE: seconds, "a" for a form or "c" for
 * confirm, a random number that no other state has, and names and values in
 * base64, each ended by a NUL.
 */
bool
mcp_round_state(
	struct mcp *m, struct mcp_round *r, bool confirming, struct buf *out)
{
	struct buf answers = BUF_INIT(ANSWERS_MAX);
	uint8_t number[NUMBER_BYTES];
	char hex[DIGEST_HEX + 1];

	if (getrandom(number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return false;
	for (size_t i = 0; i < r->answer_count; i++) {
		buf_add(&answers, r->answers[i].name,
			strlen(r->answers[i].name) + 1);
		buf_add(&answers, r->answers[i].value,
			strlen(r->answers[i].value) + 1);
	}
	r->expires = (int64_t)time(NULL) + SEAL_VALID_S;
	digest_hex(number, sizeof(number), hex);
	buf_printf(out, "%" PRId64 ".%c.%s.", r->expires,
		confirming ? 'c' : 'a', hex);
	base64_write(out, answers.data, answers.len);
	sign_state(m, r, buf_view(out), r->signature);
	digest_hex(r->signature, DIGEST_BYTES, hex);
	buf_printf(out, ".%s", hex);
	buf_release(&answers);
	return buf_ok(out) && !answers.full && !answers.failed;
}

/* Cuts the next field, up to a point, off the start of *rest. */
static struct ss_text
cut_field(struct ss_text *rest)
{
	const char *point = memchr(rest->data, '.', rest->len);
	struct ss_text f = *rest;

	if (point == NULL) {
		*rest = TEXT("");
		return f;
	}
	f.len = (size_t)(point - f.data);
	rest->data += f.len + 1;
	rest->len -= f.len + 1;
	return f;
}

static bool
read_answers(struct mcp *m, struct mcp_round *r, struct ss_text base64)
{
	struct buf plain = BUF_INIT(ANSWERS_MAX);
	const char *at = NULL, *end;
	bool good = base64_read(&plain, base64.data, base64.len);

	if (good)
		at = arena_copy(&m->site->arena, plain.data, plain.len);
	end = at != NULL ? at + plain.len : NULL;
	while (at != NULL && at < end && r->answer_count < r->answer_max) {
		struct ss_pair *p = &r->answers[r->answer_count++];

		p->name = at;
		p->value = at + strlen(at) + 1;
		at = p->value + strlen(p->value) + 1;
	}
	buf_release(&plain);
	return at != NULL && at == end;
}

/*
 * Did we sign this, for this request, not long ago?  The signature is compared
 * in constant time.
 */
static bool
is_ours(struct mcp *m, struct mcp_round *r, const char *text)
{
	struct ss_text rest = text_of(text), answers, kind;
	int64_t now = (int64_t)time(NULL);
	char hex[DIGEST_HEX + 1];
	struct ss_text given;

	if (rest.len > MCP_ROUND_STATE_MAX || text[0] < '1' || text[0] > '9')
		return false;
	r->expires = strtoll(cut_field(&rest).data, NULL, 10);
	if (r->expires < now || r->expires > now + SEAL_VALID_S)
		return false;
	kind = cut_field(&rest);
	cut_field(&rest);
	answers = cut_field(&rest);
	given = rest;
	if (given.len != DIGEST_HEX)
		return false;
	sign_state(m, r,
		(struct ss_text){ text, (size_t)(given.data - text) - 1 },
		r->signature);
	digest_hex(r->signature, DIGEST_BYTES, hex);
	r->confirming = text_is(kind, "c");
	return digest_equal((const uint8_t *)hex, (const uint8_t *)given.data,
		       DIGEST_HEX) &&
		read_answers(m, r, answers);
}

enum rpc_code
mcp_round_begin(struct mcp *m, struct mcp_round *r, const char *path,
	struct ss_text declared, size_t max_answers)
{
	const struct rpc_value *given =
		rpc_member(m->rpc.params, "requestState");
	const struct rpc_value *responses =
		rpc_member(m->rpc.params, "inputResponses");
	enum rpc_code code;

	*r = (struct mcp_round){ .answer_max = 0 };
	if (m->revision->asking != MCP_ASKS_BY_RESULT)
		return RPC_OK;
	r->answer_max = max_answers;
	if (responses != NULL && !rpc_is_object(responses))
		return mcp_refuse(m, RPC_BAD_PARAMS,
			"\"inputResponses\" must be an object");
	r->answers = arena_array(
		&m->site->arena, max_answers + 1, sizeof(*r->answers));
	if (r->answers == NULL)
		return mcp_no_memory(m);
	code = digest_about(m, r, path, declared);
	if (code != RPC_OK || given == NULL)
		return code;
	if (rpc_text(given) != NULL && is_ours(m, r, rpc_text(given)))
		return RPC_OK;
	return mcp_refuse(m, RPC_BAD_PARAMS,
		"the requestState is not of this request, or too old");
}

void
mcp_round_answer(struct mcp_round *r, const char *name, const char *value)
{
	if (r->answer_count < r->answer_max)
		r->answers[r->answer_count++] =
			(struct ss_pair){ .name = name, .value = value };
}

bool
mcp_round_use(struct mcp *m, const struct mcp_round *r)
{
	/*
	 * A request without a place for its tool is handled again later: its
	 * agreement is still good then.
	 */
	return limit_start(&m->site->exec_state.limit) &&
		seal_use(&m->site->seal, r->signature, r->expires);
}
