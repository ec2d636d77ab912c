/* SPDX-License-Identifier: MIT */
#include "page/spec.h"

#include <stdio.h>
#include <strings.h>

#include "page/interpreter.h"
#include "page/stages.h"
#include "wire/media.h"

/* --------------------------------------------------------------- command */

static bool
is_lock(const struct node *n)
{
	return n->next == NULL && n->kind == NODE_STRING && !n->tagged &&
		text_is((struct ss_text){ n->text, n->len }, ";");
}

/* Numbers the arguments in the order of their first places. */
static enum ss_err
collect_arguments(
	const struct reading *r, const struct node *list, struct spec *out)
{
	size_t most = 0;

	for (size_t i = 0; i < out->part_count; i++)
		most += out->parts[i].piece_count;
	out->arguments =
		arena_array(r->arena, most + 1, sizeof(struct argument *));
	if (out->arguments == NULL)
		return error_memory(r->err);
	out->plain = true;
	for (size_t i = 0; i < out->part_count; i++) {
		const struct part *p = &out->parts[i];

		out->plain &= p->kind != PART_TEMPLATE && !p->optional;
		out->optional_count += p->optional;
		for (size_t k = 0; k < p->piece_count; k++) {
			struct argument *a = p->pieces[k].argument;
			bool known = a == NULL ||
				(out->argument_count > a->index &&
					out->arguments[a->index] == a);

			if (known)
				continue;
			a->index = out->argument_count;
			out->arguments[out->argument_count++] = a;
		}
	}
	if (out->parts[0].optional)
		return value_refuse_found(r, list, "an optional program",
			"a first part that is always there", NULL);
	if (out->optional_count > SPEC_OPTIONAL_MAX)
		return value_refuse_found(r, list,
			"more than 64 optional parts", "at most 64", NULL);
	return SS_OK;
}

enum ss_err
spec_parse_parts(
	const struct reading *r, const struct node *list, struct spec *out)
{
	size_t before = value_refusals(r);
	enum ss_err e;

	if (value_untagged(r, list) != SS_OK)
		return SS_BAD_FRONTMATTER;
	if (list->kind != NODE_LIST)
		return value_refuse(r, list, "a list of parts",
			list->kind == NODE_STRING
				? "put brackets around it: [ls]"
				: "a tool is written [cat, {}]");
	if (list->count == 0 || is_lock(list->first))
		return value_refuse_found(r, list,
			list->count == 0 ? "an empty list" : "only a ;",
			"the program's name as the first part",
			"a tool is written [cat, {}]");
	out->parts = arena_array(r->arena, list->count, sizeof(*out->parts));
	if (out->parts == NULL)
		return error_memory(r->err);
	for (const struct node *n = list->first; n != NULL; n = n->next) {
		if (is_lock(n)) {
			out->locked = true;
			break;
		}
		/*
		 * Count the part first: spec_release frees it also when half
		 * made.
		 */
		e = value_go_on(
			r, part_parse(r, n, &out->parts[out->part_count++]));
		if (e != SS_OK)
			return e;
	}
	return value_since(r, before);
}

static enum ss_err
parse_command(
	const struct reading *r, const struct node *list, struct spec *out)
{
	enum ss_err e = spec_parse_parts(r, list, out);

	return e == SS_OK ? collect_arguments(r, list, out) : e;
}

/* `pipe` or `script`: the stages have the arguments of the whole. */
static enum ss_err
parse_stages(const struct reading *r, const struct node *map, struct spec *out)
{
	enum ss_err e = stages_parse(r, map, out);

	if (e == SS_OK)
		e = collect_arguments(r, map, out);
	for (size_t i = 0; e == SS_OK && i < out->stage_count; i++) {
		out->stages[i].arguments = out->arguments;
		out->stages[i].argument_count = out->argument_count;
		out->stages[i].env = out->env;
		out->stages[i].name = out->name;
	}
	return e;
}

/* --------------------------------------------------------------- mapping */

static const char *const tool_keys[] = { "command", "pipe", "script",
	"arguments", "name", "title", "description", "version", "stdin", "env",
	"max_running", "confirm", "ask", "output", "lines", "bytes", "progress",
	"once", "job", "allow", WANTS_KEYS };

static enum ss_err
read_texts(const struct reading *r, const struct node *map, struct spec *out)
{
	const struct {
		const char *key;
		const char **out;
	} texts[] = { { "name", &out->name }, { "title", &out->title },
		{ "description", &out->description },
		{ "version", &out->version }, { "output", &out->output } };
	const struct node *n;
	enum ss_err e;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if ((n = node_member(map, texts[i].key)) != NULL &&
			(e = value_go_on(r, value_text(r, n, texts[i].out))) !=
				SS_OK)
			return e;
	return SS_OK;
}

/*
 * `type/subtype` of RFC 9110 section 8.3.1, without the ranges of section
 * 12.5.1; parameters are not checked.
 */
static bool
is_media_type(const char *s)
{
	static const char token[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789!#$%&'+-.^_`|~";
	size_t type = strspn(s, token), subtype;

	if (type == 0 || s[type] != '/')
		return false;
	s += type + 1;
	subtype = strspn(s, token);
	s += subtype;
	s += strspn(s, " ");
	for (const char *c = s; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			return false;
	return subtype > 0 && (*s == '\0' || *s == ';');
}

static enum ss_err
check_output(const struct reading *r, const struct node *map, struct spec *out)
{
	if (out->output == NULL || strcmp(out->output, "text") == 0 ||
		is_media_type(out->output))
		return SS_OK;
	return value_refuse(r, node_member(map, "output"),
		"text or a MIME type", "write output: application/json");
}

/*
 * true, or the question that a person is asked, with {name} in it.  What is a
 * boolean in YAML 1.1 or without its quotes is no question.
 */
static enum ss_err
read_confirm(const struct reading *r, const struct node *n, struct spec *out)
{
	static const char *const flags[] = { "true", "false", "yes", "no", "on",
		"off" };
	enum ss_err e;

	if (value_is_bool(n, &out->confirm))
		return value_untagged(r, n);
	out->confirm = true;
	e = value_text(r, n, &out->question);
	for (size_t i = 0; e == SS_OK && i < ARRAY_LEN(flags); i++)
		if (strcasecmp(out->question, flags[i]) == 0)
			return value_refuse(r, n, "true, false or a question",
				"write confirm: true or confirm: false, "
				"without quotes");
	return e;
}

bool
spec_has_parts(const struct spec *s)
{
	return s->part_lines > 0 || s->part_bytes > 0;
}

/* A part is cut between lines or characters: the output must be text. */
static enum ss_err
read_parts(const struct reading *r, const struct node *map, struct spec *out)
{
	const struct node *lines = node_member(map, "lines");
	const struct node *bytes = node_member(map, "bytes");
	enum ss_err e = SS_OK;

	if (lines != NULL)
		e = value_count(r, lines, &out->part_lines);
	if (e == SS_OK && bytes != NULL)
		e = value_count(r, bytes, &out->part_bytes);
	if (e != SS_OK || !spec_has_parts(out))
		return e;
	if (bytes == NULL)
		out->part_bytes = SPEC_PART_BYTES;
	if (out->part_bytes < SPEC_PART_BYTES_MIN)
		return value_refuse(r, bytes, "at least 16 bytes",
			"write bytes: %d", SPEC_PART_BYTES);
	if (out->output != NULL && strcmp(out->output, "text") != 0 &&
		(!media_is_text(out->output) || media_is_json(out->output)))
		return value_refuse(r, node_member(map, "output"),
			"text, whose parts mean something",
			"remove lines and bytes, or write output: text");
	return SS_OK;
}

static enum ss_err
read_progress(const struct reading *r, const struct node *map, struct spec *out)
{
	const struct node *n = node_member(map, "progress");
	const char *word = "";
	enum ss_err e = n != NULL ? value_text(r, n, &word) : SS_OK;

	if (e != SS_OK || n == NULL)
		return e;
	if (strcmp(word, "stderr") == 0)
		out->progress = SPEC_PROGRESS_STDERR;
	else if (strcmp(word, "fd") == 0)
		out->progress = SPEC_PROGRESS_FD;
	else
		return value_refuse(r, n, "stderr or fd",
			"write progress: stderr, and its lines tell how far "
			"it is");
	if (out->progress == SPEC_PROGRESS_FD &&
		node_member(map, "pipe") != NULL)
		return value_refuse(r, n, "stderr: stages have no more",
			"write progress: stderr");
	return SS_OK;
}

static bool
is_word(const struct node *n, const char *word)
{
	return n->kind == NODE_STRING && !n->tagged &&
		text_is((struct ss_text){ n->text, n->len }, word);
}

enum ss_err
spec_read_job(const struct reading *r, const struct node *n, bool lenient,
	enum spec_job *job, double *after)
{
	const struct node *seconds = n->kind == NODE_MAP && n->count == 1
		? node_member(n, "after")
		: NULL;
	bool truth;

	if (value_is_bool(n, &truth)) {
		*job = truth ? SPEC_JOB_ASKED : SPEC_JOB_NEVER;
		return lenient ? SS_OK : value_untagged(r, n);
	}
	if (is_word(n, "required") || is_word(n, "auto")) {
		*job = is_word(n, "auto") ? SPEC_JOB_LONG : SPEC_JOB_REQUIRED;
		*after = SPEC_JOB_AFTER_S;
		return SS_OK;
	}
	if (seconds != NULL) {
		*job = SPEC_JOB_LONG;
		return value_seconds(r, seconds, after);
	}
	return lenient
		? SS_OK
		: value_refuse(r, n, "true, auto, required or {after: SECONDS}",
			  "write job: true, and callers may ask for a "
			  "job");
}

/* What a part is of is known at the end alone. */
static enum ss_err
read_job(const struct reading *r, const struct node *map, struct spec *out)
{
	const struct node *n = node_member(map, "job");
	enum ss_err e = n == NULL
		? SS_OK
		: spec_read_job(r, n, false, &out->job, &out->job_after);

	if (e != SS_OK || out->job == SPEC_JOB_NEVER || !spec_has_parts(out))
		return e;
	return value_refuse(r, n, "either job or lines and bytes",
		"a job's output is read from any byte on: remove lines and "
		"bytes");
}

enum ss_err
spec_parse_once(const struct reading *r, const struct node *n, bool *out)
{
	const char *word = "";
	enum ss_err e = value_text(r, n, &word);

	if (e != SS_OK)
		return e;
	if (strcmp(word, "required") != 0)
		return value_refuse(r, n, "required",
			"write once: required, and each call must have an "
			"Idempotency-Key");
	*out = true;
	return SS_OK;
}

static enum ss_err
read_settings(const struct reading *r, const struct node *map, struct spec *out)
{
	const struct node *n;
	enum ss_err e = SS_OK;

	if ((n = node_member(map, "stdin")) != NULL)
		e = value_go_on(r, value_bool(r, n, &out->takes_stdin));
	if (e == SS_OK && (n = node_member(map, "confirm")) != NULL)
		e = value_go_on(r, read_confirm(r, n, out));
	if (e == SS_OK && (n = node_member(map, "env")) != NULL)
		e = value_go_on(r, value_names(r, n, &out->env));
	if (e == SS_OK && (n = node_member(map, "max_running")) != NULL)
		e = value_go_on(r, value_count(r, n, &out->max_running));
	if (e == SS_OK && (n = node_member(map, "once")) != NULL)
		e = value_go_on(r, spec_parse_once(r, n, &out->once));
	if (e == SS_OK)
		e = value_go_on(r, read_parts(r, map, out));
	if (e == SS_OK)
		e = value_go_on(r, read_job(r, map, out));
	return e == SS_OK ? value_go_on(r, read_progress(r, map, out)) : e;
}

static bool
has_argument(const struct spec *s, const char *name)
{
	for (size_t i = 0; i < s->argument_count; i++)
		if (s->arguments[i]->name != NULL &&
			strcmp(s->arguments[i]->name, name) == 0)
			return true;
	return name_list_has(&s->env, text_of(name));
}

/* After command: each {name} of the question is an argument. */
static enum ss_err
check_question(
	const struct reading *r, const struct node *map, const struct spec *s)
{
	const char *at = s->question, *end;

	if (at == NULL)
		return SS_OK;
	while ((at = strchr(at, '{')) != NULL) {
		char name[SPEC_ARGUMENT_MAX + 1];

		end = strchr(++at, '}');
		if (end == NULL || end == at ||
			!argument_is_name(
				(struct ss_text){ at, (size_t)(end - at) }))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(end - at), at);
		if (!has_argument(s, name))
			return value_refuse(r, node_member(map, "confirm"),
				"a question with the tool's own arguments",
				"this tool has no argument \"%s\"", name);
	}
	return SS_OK;
}

/* After command and env: forms ask only for what these take. */
static enum ss_err
read_asks(const struct reading *r, const struct node *map, struct spec *out)
{
	const struct node *n = node_member(map, "ask");
	enum ss_err e;

	if (n == NULL)
		return SS_OK;
	if ((e = ask_parse(r, n, &out->asks, &out->ask_count)) != SS_OK)
		return e;
	for (size_t i = 0; i < out->ask_count; i++)
		for (size_t k = 0; k < out->asks[i].arguments.count; k++) {
			const char *name = out->asks[i].arguments.names[k];

			if (!has_argument(out, name))
				return value_refuse(r, n,
					"forms for placeholders of the "
					"command and variables of its env",
					"this tool takes no \"%.*s\"",
					(int)utf8_cut(name, strlen(name), 100),
					name);
		}
	return SS_OK;
}

static enum ss_err
check_program_key(const struct reading *r, const struct node *map)
{
	const struct node *command = node_member(map, "command");
	const struct node *arguments = node_member(map, "arguments");
	bool staged = node_member(map, "pipe") != NULL ||
		node_member(map, "script") != NULL;

	if (command == NULL && !staged)
		return value_refuse_found(r, map, "a tool without command",
			"the key command",
			"write - command: [cat, {}], or just - [cat, {}]");
	if (command != NULL && staged)
		return value_refuse_found(r, command,
			"command beside pipe or script",
			"one of command, pipe and script", NULL);
	if (arguments != NULL && !staged)
		return value_refuse_found(r, arguments,
			"arguments without script",
			"arguments only beside script",
			"write them into command: [cat, {file}]");
	return SS_OK;
}

static enum ss_err
parse_program(const struct reading *r, const struct node *map, struct spec *out)
{
	const struct node *command = node_member(map, "command");

	return command != NULL ? parse_command(r, command, out)
			       : parse_stages(r, map, out);
}

/* All keys but those that need to know the tool's arguments. */
static enum ss_err
parse_keys(const struct reading *r, const struct node *map, struct spec *out)
{
	enum ss_err e;

	if ((e = value_go_on(r, read_texts(r, map, out))) != SS_OK ||
		(e = value_go_on(r, check_output(r, map, out))) != SS_OK ||
		(e = read_settings(r, map, out)) != SS_OK)
		return e;
	return wants_read(r, map, &out->wants);
}

/* Keys of the page that no tool has. */
static enum ss_err
refuse_page_keys(const struct reading *r, const struct node *map)
{
	static const char *const names[] = { "tools", "sandbox", "workspace",
		"prompts", "hidden" };
	const struct node *n;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if ((n = node_member(map, names[i])) != NULL)
			return value_refuse(r, n->key, "a key of a tool",
				"%s is a key of the page: write it beside "
				"tools, not in one of them",
				names[i]);
	return SS_OK;
}

static enum ss_err
parse_mapping(const struct reading *r, const struct node *map, struct spec *out)
{
	size_t before = value_refusals(r);
	enum ss_err e = refuse_page_keys(r, map);

	if (e != SS_OK)
		return e;
	e = value_go_on(r,
		value_keys(r, map, tool_keys, ARRAY_LEN(tool_keys),
			"a key of a tool (command, name, description, env, "
			"timeout, ...)"));
	if (e == SS_OK)
		e = parse_keys(r, map, out);
	/* A misspelt key may be the one that is missing. */
	if (e != SS_OK ||
		(node_member(map, "command") == NULL &&
			(e = value_since(r, before)) != SS_OK) ||
		(e = check_program_key(r, map)) != SS_OK ||
		(e = parse_program(r, map, out)) != SS_OK ||
		(e = value_since(r, before)) != SS_OK)
		return e;
	if ((e = check_question(r, map, out)) != SS_OK)
		return e;
	return read_asks(r, map, out);
}

enum ss_err
spec_parse(const struct reading *r, const struct node *entry, struct spec *out)
{
	enum ss_err e;

	*out = (struct spec){ .line = entry->line, .column = entry->column };
	if (value_untagged(r, entry) != SS_OK)
		return SS_BAD_FRONTMATTER;
	if (entry->kind == NODE_MAP)
		e = parse_mapping(r, entry, out);
	else if (entry->kind == NODE_LIST)
		e = parse_command(r, entry, out);
	else
		e = value_refuse(r, entry, "a tool: a list of parts",
			entry->kind == NODE_NULL
				? "remove the dash, or write - [ls]"
				: "a tool is a list with a dash before it: "
				  "- [ls]");
	if (e != SS_OK)
		spec_release(out);
	return e;
}

void
spec_release(struct spec *s)
{
	for (size_t i = 0; i < s->part_count; i++)
		part_release(&s->parts[i]);
	for (size_t i = 0; i < s->stage_count; i++)
		spec_release(&s->stages[i]);
	*s = (struct spec){ .line = s->line, .column = s->column };
}

const struct spec *
spec_commands(const struct spec *s, size_t *count)
{
	*count = s->stage_count > 0 ? s->stage_count : 1;
	return s->stage_count > 0 ? s->stages : s;
}

const struct part *
spec_part(const struct spec *s, const struct argument *a)
{
	for (size_t i = 0; i < s->part_count; i++)
		for (size_t k = 0; k < s->parts[i].piece_count; k++)
			if (s->parts[i].pieces[k].argument == a)
				return &s->parts[i];
	return NULL;
}

bool
spec_may_omit(const struct spec *s, const struct argument *a)
{
	const struct part *p = spec_part(s, a);

	return a->initial != NULL || (p != NULL && p->optional);
}

const char *
spec_describe(const struct spec *s, const struct argument *a)
{
	const struct part *p = spec_part(s, a);

	return a->description != NULL || p == NULL ? a->description
						   : p->description;
}

/* -------------------------------------------------------------- printing */

#define OUTLINE_MAX 300

static bool
print_parts(const struct spec *s, struct buf *out,
	void (*print)(const struct part *p, bool last, struct buf *out))
{
	buf_char(out, '[');
	for (size_t i = 0; i < s->part_count; i++) {
		buf_text(out, i > 0 ? ", " : "");
		print(&s->parts[i], i + 1 == s->part_count && !s->locked, out);
	}
	buf_text(out, s->locked ? ", ;]" : "]");
	return buf_ok(out);
}

bool
spec_print(const struct spec *s, struct buf *out)
{
	return print_parts(s, out, part_print);
}

bool
spec_identify(const struct spec *s, struct buf *out)
{
	return print_parts(s, out, part_identify);
}

bool
spec_outline(const struct spec *s, struct buf *out)
{
	struct interpreter_scan scan = { 0 };

	buf_char(out, '[');
	for (size_t i = 0; i < s->part_count; i++) {
		const struct part *p = &s->parts[i];

		buf_text(out, i > 0 ? ", " : "");
		if (out->len > OUTLINE_MAX) {
			buf_text(out, "…");
			break;
		}
		if (interpreter_next(&scan, p) == INTERPRETER_SCRIPT)
			buf_text(out, "…");
		else
			part_outline(
				p, i + 1 == s->part_count && !s->locked, out);
	}
	buf_text(out, s->locked ? ", ;]" : "]");
	return buf_ok(out);
}

void
spec_rule(const struct spec *s, const struct part *p, struct ss_error *err)
{
	struct buf text = BUF_INIT(4096);

	if (p != NULL)
		part_print(p, false, &text);
	else
		spec_outline(s, &text);
	error_rule(err, p != NULL && p->line > 0 ? p->line : s->line, "%s",
		text.data);
	buf_release(&text);
}
