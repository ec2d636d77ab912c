/* SPDX-License-Identifier: MIT */
#include "json.h"
#include "mcp_confirm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "digest.h"

#define VALID_S 600     /* a person reads, thinks, clicks */
#define ROTATION_S 3600 /* each key signs for so long */
#define QUESTION "confirm"
#define ANSWER "ok"
#define STATE_MAX (20 + 1 + DIGEST_HEX)

/* ----------------------------------------------------------------- state -- */

/* The key of the hour in which a state that ends then was signed. */
static void
key_of(const struct ss_site *site, int64_t expires,
	uint8_t key[static DIGEST_BYTES])
{
	char epoch[64];
	int n = snprintf(epoch, sizeof(epoch), "mcp confirm %" PRId64,
		(expires - VALID_S) / ROTATION_S);

	digest_keyed(site->mcp_key, epoch, (size_t)n, key);
}

/* Everything that the person is asked about, and who asks. */
static bool
subject(struct mcp *m, const struct ss_document *doc,
	const struct proto_request *q, uint8_t out[static DIGEST_BYTES])
{
	size_t count = 0, most = q->word_count + 2 * q->env_count + 6;
	struct ss_text *parts =
		arena_array(&m->site->arena, most, sizeof(*parts));
	char numbers[64];

	if (parts == NULL)
		return false;
	snprintf(numbers, sizeof(numbers), "%zu %zu %d", q->word_count,
		q->env_count, q->has_stdin);
	parts[count++] = TEXT("tools/call");
	parts[count++] = text_of(m->user);
	parts[count++] = text_of(doc->path);
	parts[count++] = text_of(numbers);
	for (size_t i = 0; i < q->word_count; i++)
		parts[count++] = q->words[i];
	for (size_t i = 0; i < q->env_count; i++) {
		parts[count++] = text_of(q->env[i].name);
		parts[count++] = text_of(q->env[i].value);
	}
	parts[count++] = q->stdin_text.data != NULL ? q->stdin_text : TEXT("");
	digest_parts(parts, count, out);
	return true;
}

static void
sign(const struct mcp *m, int64_t expires,
	const uint8_t about[static DIGEST_BYTES],
	char state[static STATE_MAX + 1])
{
	uint8_t key[DIGEST_BYTES], mac[DIGEST_BYTES];
	char text[32 + DIGEST_BYTES];
	int n = snprintf(text, 32, "%" PRId64 ".", expires);

	memcpy(text + n, about, DIGEST_BYTES);
	key_of(m->site, expires, key);
	digest_keyed(key, text, (size_t)n + DIGEST_BYTES, mac);
	memcpy(state, text, (size_t)n);
	digest_hex(mac, DIGEST_BYTES, state + n);
}

/* Signed by us, about this, not long ago?  In constant time. */
static bool
is_ours(const struct mcp *m, const char *state,
	const uint8_t about[static DIGEST_BYTES])
{
	char expected[STATE_MAX + 1], *end;
	size_t n = strlen(state);
	int64_t expires, now = (int64_t)time(NULL);

	if (n > STATE_MAX || state[0] < '1' || state[0] > '9')
		return false;
	expires = strtoll(state, &end, 10);
	if (*end != '.' || expires < now || expires > now + VALID_S)
		return false;
	sign(m, expires, about, expected);
	return strlen(expected) == n &&
		digest_equal(
			(const uint8_t *)expected, (const uint8_t *)state, n);
}

/* -------------------------------------------------------------- question -- */

static void
question(struct mcp *m, const struct ss_document *doc, const struct spec *spec,
	const struct proto_request *q)
{
	struct buf text = BUF_INIT(4096);

	if (spec->title != NULL)
		buf_printf(&text, "%s\n", spec->title);
	buf_text(&text, "Run this command?");
	for (size_t i = 0; i < q->word_count; i++) {
		buf_char(&text, i == 0 ? '\n' : ' ');
		buf_add(&text, q->words[i].data, q->words[i].len);
	}
	for (size_t i = 0; i < q->env_count; i++)
		buf_printf(&text, "\n%s=%s", q->env[i].name, q->env[i].value);
	if (q->has_stdin)
		buf_printf(&text, "\nwith %zu bytes of standard input",
			q->stdin_text.len);
	buf_printf(&text, "\nin the directory of /%s", doc->path);
	/* Never a question that shows only the beginning of the command. */
	if (!buf_ok(&text)) {
		buf_clear(&text);
		text.full = false;
		buf_printf(&text,
			"Run a command of /%s that is too long to be shown?",
			doc->path);
	}
	json_string(m->out, text.data, text.len);
	buf_release(&text);
}

static void
ask(struct mcp *m, const struct ss_document *doc, const struct spec *spec,
	const struct proto_request *q, const uint8_t about[static DIGEST_BYTES])
{
	char state[STATE_MAX + 1];

	m->result_type = "input_required";
	mcp_key(m, "inputRequests");
	buf_text(m->out,
		"{\"" QUESTION "\":{\"method\":\"elicitation/create\","
		"\"params\":{\"mode\":\"form\",\"message\":");
	question(m, doc, spec, q);
	buf_text(m->out,
		",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
		"\"" ANSWER "\":{\"type\":\"boolean\",\"title\":\"Run it\","
		"\"default\":false}},\"required\":[\"" ANSWER "\"]}}}}");
	sign(m, (int64_t)time(NULL) + VALID_S, about, state);
	mcp_text(m, "requestState", state);
}

/* An empty object means forms, as it did when there were only forms. */
static bool
can_ask(const struct mcp *m)
{
	const struct rpc_value *e = rpc_member(
		rpc_member(m->meta, MCP_NAMESPACE "clientCapabilities"),
		"elicitation");

	return rpc_is_object(e) &&
		(rpc_first(e) == NULL || rpc_is_object(rpc_member(e, "form")));
}

static enum mcp_answered
cannot_ask(struct mcp *m)
{
	if (m->era == MCP_LEGACY) {
		error_set(&m->err, SS_NOT_ALLOWED,
			"the tool did not run: a person must agree to it, and "
			"this client's version of the protocol cannot ask one "
			"here");
		error_hint(&m->err, "clients of " MCP_MODERN_VERSION " can");
		return MCP_DECLINED;
	}
	buf_text(&m->error_data,
		"{\"requiredCapabilities\":{\"elicitation\":{}}}");
	mcp_refuse(m, RPC_NO_CAPABILITY,
		"a person must agree to this tool, and the client did not say "
		"that it can ask one");
	return MCP_CANNOT_ASK;
}

static bool
agrees(const struct rpc_value *response)
{
	const char *action = rpc_text(rpc_member(response, "action"));

	return action != NULL && strcmp(action, "accept") == 0 &&
		rpc_is_true(
			rpc_member(rpc_member(response, "content"), ANSWER));
}

enum mcp_answered
mcp_confirm(struct mcp *m, const struct ss_document *doc,
	const struct spec *spec, const struct proto_request *request)
{
	const struct rpc_value *state =
		rpc_member(m->rpc.params, "requestState");
	const struct rpc_value *response = rpc_member(
		rpc_member(m->rpc.params, "inputResponses"), QUESTION);
	uint8_t about[DIGEST_BYTES];

	if (m->era == MCP_LEGACY || !can_ask(m))
		return cannot_ask(m);
	if (!subject(m, doc, request, about)) {
		error_memory(&m->err);
		return MCP_DECLINED;
	}
	if (state != NULL &&
		(rpc_text(state) == NULL ||
			!is_ours(m, rpc_text(state), about))) {
		mcp_refuse(m, RPC_BAD_PARAMS,
			"the requestState is not of this request, or too old");
		return MCP_STATE_WRONG;
	}
	if (state == NULL || response == NULL) {
		ask(m, doc, spec, request, about);
		return MCP_ASKED;
	}
	if (agrees(response))
		return MCP_AGREED;
	error_set(&m->err, SS_NOT_ALLOWED,
		"the tool did not run: the person did not agree");
	return MCP_DECLINED;
}
