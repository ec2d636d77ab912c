/* SPDX-License-Identifier: MIT */
#include "mcp/confirm.h"
#include "page/ask.h"
#include "page/question.h"
#include "wire/escape.h"
#include "wire/json.h"

#define ANSWER "ok"

static void
write_message(struct mcp *m, const struct mcp_command *c)
{
	const struct proto_request *q = c->request;
	struct buf text = BUF_INIT(4096);

	if (c->spec->title != NULL)
		buf_printf(&text, "%s\n", c->spec->title);
	if (c->spec->question != NULL)
		question_fill(c->spec, c->values, &c->scope, &text);
	else
		buf_text(&text, "Run this command?");
	for (size_t i = 0; i < q->word_count; i++) {
		buf_char(&text, i == 0 ? '\n' : ' ');
		escape_shown(&text, q->words[i].data, q->words[i].len);
	}
	for (size_t i = 0; i < q->env_count; i++) {
		const char *name = q->env[i].name;
		const char *value = env_request_value(&c->scope, name);

		if (value == NULL)
			continue;
		buf_printf(&text, "\n%s=", name);
		escape_shown(&text, value, strlen(value));
	}
	if (q->has_stdin)
		buf_printf(&text, "\nwith %zu bytes of standard input",
			q->stdin_text.len);
	buf_printf(&text, "\nin the directory of /%s", c->doc->path);
	/* Never a question that shows only the beginning of the command. */
	if (!buf_ok(&text)) {
		buf_clear(&text);
		text.full = false;
		buf_printf(&text,
			"Run a command of /%s that is too long to be shown?",
			c->doc->path);
	}
	json_string(m->out, text.data, text.len);
	buf_release(&text);
}

static enum mcp_answered
ask_person(struct mcp *m, struct mcp_round *round, const struct mcp_command *c)
{
	static const char *const required[] = { ANSWER };
	enum mcp_answered answered;

	mcp_question_begin(m, ASK_CONFIRM, ASK_PERSON);
	write_message(m, c);
	mcp_question_form(m);
	buf_text(m->out,
		"\"" ANSWER "\":{\"type\":\"boolean\",\"title\":\"Run it\","
		"\"default\":false}");
	answered = mcp_question_end(m, ASK_PERSON, required, 1);
	if (answered == MCP_ASKED)
		mcp_question_send(m, round, true);
	return answered;
}

/* What is left to an agent: a POST is answered with a token to agree with. */
#define BY_POST                                                                \
	"POST the command to /%s, show it to the person, and when they agree " \
	"POST it again with \"confirm\": the text of error.confirm in the "    \
	"answer 428"

static enum mcp_answered
cannot_ask(struct mcp *m, const struct mcp_command *c)
{
	if (m->revision->asking == MCP_ASKS_BY_REQUEST) {
		error_set(&m->err, SS_NOT_ALLOWED,
			"the tool did not run: a person must agree to it, and "
			"this client cannot ask one here");
		error_hint(&m->err,
			"use a client of %s, or one that declares the "
			"capability \"elicitation\", or let the person run it "
			"on its page in a browser, or over HTTP " BY_POST,
			mcp_revision_newest(true)->version, c->doc->path);
		return MCP_DECLINED;
	}
	buf_text(&m->error_data,
		"{\"requiredCapabilities\":{\"elicitation\":{}}}");
	mcp_refuse(m, RPC_NO_CAPABILITY,
		"a person must agree to this tool, and the client did not "
		"declare that it can ask one; over HTTP " BY_POST,
		c->doc->path);
	return MCP_CANNOT_ASK;
}

enum mcp_answered
mcp_confirm(struct mcp *m, struct mcp_round *round, const struct mcp_command *c)
{
	const struct rpc_value *response =
		mcp_question_response(m, ASK_CONFIRM);
	enum mcp_answered answered;

	if (!mcp_question_possible(m, ASK_PERSON))
		return cannot_ask(m, c);
	if (!round->confirming || response == NULL) {
		answered = ask_person(m, round, c);
		if (answered != MCP_AGREED)
			return answered;
		response = mcp_question_response(m, ASK_CONFIRM);
	}
	if (!mcp_question_is_accepted(response) ||
		!rpc_is_true(
			rpc_member(rpc_member(response, "content"), ANSWER))) {
		error_set(&m->err, SS_NOT_ALLOWED,
			"the tool did not run: the person did not agree");
		return MCP_DECLINED;
	}
	if (m->revision->asking == MCP_ASKS_BY_REQUEST ||
		mcp_round_use(m, round))
		return MCP_AGREED;
	mcp_refuse(m, RPC_BAD_PARAMS,
		"this agreement was used for a run before: call again without "
		"it");
	return MCP_USED;
}
