/* SPDX-License-Identifier: MIT */
#include "wire/step.h"

#include "wire/json.h"

/* ----------------------------------------------------------------- writing */

static void
add_name(const char *name, struct buf *out)
{
	buf_text(out, ", \"");
	buf_text(out, name);
	buf_text(out, "\": ");
}

static void
add_text(const char *name, const char *text, struct buf *out)
{
	if (text == NULL)
		return;
	add_name(name, out);
	json_string(out, text, strlen(text));
}

static void
add_number(const char *name, unsigned number, struct buf *out)
{
	if (number == 0)
		return;
	add_name(name, out);
	buf_number(out, number);
}

static const char *
kind_name(enum step_kind kind)
{
	switch (kind) {
	case STEP_GET: return "get";
	case STEP_CALL: return "call";
	case STEP_WAIT: return "wait";
	case STEP_ASK: break;
	}
	return "ask";
}

/* "[grant] write" of "grant.write". */
static void
add_key(const char *key, struct buf *out)
{
	const char *dot = strchr(key, '.');

	if (dot == NULL)
		buf_text(out, key);
	else
		buf_printf(out, "[%.*s] %s", (int)(dot - key), key, dot + 1);
}

/* The sentence; of a setting it is made here, so that it is written once. */
static void
add_sentence(const struct step *s, struct buf *out)
{
	if (s->text != NULL) {
		buf_text(out, s->text);
		return;
	}
	if (s->key == NULL)
		return;
	buf_printf(out, "the %s %s ", s->who, s->add != NULL ? "adds" : "sets");
	if (s->add != NULL) {
		json_string(out, s->add, strlen(s->add));
		buf_text(out, " to ");
	}
	add_key(s->key, out);
	if (s->set != NULL)
		buf_printf(out, " = %s", s->set);
}

void
step_json(const struct step *s, struct buf *out)
{
	struct buf text = BUF_INIT(4096);

	add_sentence(s, &text);
	buf_printf(out, "{\"do\": \"%s\"", kind_name(s->kind));
	add_text("text", text.data, out);
	add_text("path", s->path, out);
	if (s->header != NULL) {
		buf_text(out, ", \"headers\": {");
		json_string(out, s->header, strlen(s->header));
		buf_text(out, ": ");
		json_string(out, s->header_value, strlen(s->header_value));
		buf_char(out, '}');
	}
	if (s->request.len > 0) {
		add_name("request", out);
		buf_add(out, s->request.data, s->request.len);
	}
	add_text("keep", s->keep, out);
	add_number("seconds", s->seconds, out);
	add_text("who", s->who, out);
	add_text("key", s->key, out);
	add_text("add", s->add, out);
	add_text("set", s->set, out);
	add_text("page", s->page, out);
	add_number("line", s->line, out);
	add_text("command", s->command, out);
	buf_char(out, '}');
	out->failed |= text.failed;
	buf_release(&text);
}

void
step_line(const struct step *s, struct buf *out)
{
	add_sentence(s, out);
	if (s->kind == STEP_GET)
		buf_printf(out, ": GET %s", s->path);
	if (s->header != NULL)
		buf_printf(out, ", with %s: %s", s->header, s->header_value);
	if (s->kind == STEP_CALL && s->path != NULL)
		buf_printf(out, ", to %s", s->path);
	if (s->request.len > 0) {
		buf_text(out, ": ");
		buf_add(out, s->request.data, s->request.len);
	}
	if (s->page != NULL)
		buf_printf(out, ": %s", s->page);
	if (s->line > 0)
		buf_printf(out, ", line %u", s->line);
	if (s->text != NULL && s->key != NULL)
		buf_printf(out, " (%s: %s)", s->key,
			s->add != NULL           ? s->add
				: s->set != NULL ? s->set
						 : "");
	if (s->command != NULL)
		buf_printf(out, " (%s)", s->command);
}

/* ------------------------------------------------- what the code alone tells */

static struct step
step_setting(const struct ss_error *err)
{
	struct step s = {
		.kind = STEP_ASK, .who = "operator", .key = err->setting
	};

	if (err->value[0] == '+')
		s.add = err->value + 1;
	else if (err->value[0] != '\0')
		s.set = err->value;
	return s;
}

static struct step
ask_operator(const char *text, const char *command)
{
	return (struct step){ .kind = STEP_ASK,
		.who = "operator",
		.text = text,
		.command = command };
}

static struct step
ask_author(const struct ss_error *err, const char *page, const char *text)
{
	return (struct step){ .kind = STEP_ASK,
		.who = "author",
		.text = text,
		.page = page,
		.line = err->line,
		.command = "statespace check" };
}

struct step
step_of(const struct ss_error *err, const char *page)
{
	unsigned seconds = ss_err_retry_after(err->code);

	if (seconds > 0)
		return (struct step){ .kind = STEP_WAIT,
			.text = "send the same request again later",
			.seconds = seconds };
	if (err->setting[0] != '\0')
		return step_setting(err);
	switch (err->code) {
	case SS_CONFIRM_REQUIRED:
		return (struct step){ .kind = STEP_ASK,
			.who = "person",
			.text = "a person agrees to this command" };
	case SS_SANDBOX_UNAVAILABLE:
		return ask_operator("the operator sees what is missing",
			"statespace doctor");
	case SS_KEY_UNKNOWN:
		return (struct step){ .kind = STEP_ASK,
			.who = "person",
			.text = "look whether it was done; if it was not, send "
				"the same request with a new Idempotency-Key" };
	case SS_INTERNAL:
	case SS_CONFIG:
		return ask_operator(
			"the operator's log has it, by the request's id", NULL);
	case SS_UNAUTHORIZED:
		return ask_operator("the operator gives access", NULL);
	case SS_EXEC_FAILED:
		return ask_operator("the operator installs it", NULL);
	case SS_CAPABILITY_REFUSED:
		return ask_author(err, page,
			"the author corrects the line, or the operator makes "
			"what it names");
	case SS_BAD_FRONTMATTER:
		return ask_author(err, page, "the author corrects the page");
	case SS_TIMEOUT:
	case SS_OUTPUT_TOO_LARGE:
		return ask_author(
			err, page, "the author changes the tool's limits");
	default:
		return (struct step){ .kind = STEP_GET,
			.text = "this lists the pages and how to call their "
				"tools",
			.path = "/AGENTS.md" };
	}
}

/* ------------------------------------------------------------- the members */

static void
add_rule(const struct ss_error *err, const char *page, struct buf *out)
{
	struct buf rule = BUF_INIT(8192);

	if (err->line > 0 || err->rule[0] != '\0')
		add_text("page", page, &rule);
	add_number("line", err->line, &rule);
	add_text("text", err->rule[0] != '\0' ? err->rule : NULL, &rule);
	add_text("setting", err->setting[0] != '\0' ? err->setting : NULL,
		&rule);
	if (rule.len > 2)
		buf_printf(out, ", \"rule\": {%s}", rule.data + 2);
	out->failed |= rule.failed;
	buf_release(&rule);
}

void
step_members(const struct ss_error *err, const char *page, const char *step,
	struct buf *out)
{
	bool again = ss_err_retryable(err->code);
	struct step own;

	add_text("class", ss_err_class(err->code), out);
	add_rule(err, page, out);
	buf_printf(out, ", \"retryable\": %s", again ? "true" : "false");
	add_number("retry_after", ss_err_retry_after(err->code), out);
	add_name("next", out);
	if (step != NULL) {
		buf_text(out, step);
		return;
	}
	own = step_of(err, page);
	step_json(&own, out);
}
