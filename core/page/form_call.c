/* SPDX-License-Identifier: MIT */
/* A call by name near to a refused one, and requests as JSON. */
#include <stdlib.h>

#include "page/form.h"
#include "page/near.h"
#include "page/toolname.h"
#include "wire/json.h"

/* ------------------------------------------------------------ the arguments -- */

struct filling {
	const struct form_page *page;
	const struct spec *spec;
	const struct proto_argument *args;
	size_t count;
	bool *used;   /* of args */
	size_t *from; /* of each argument: args' index and one; 0: none */
	struct form *out;
};

static struct ss_text
text_given(const struct proto_argument *a)
{
	if (a->kind == PROTO_LIST && a->item_count == 1)
		return a->items[0];
	return a->kind == PROTO_LIST || a->kind == PROTO_MAP ||
			a->kind == PROTO_OTHER
		? (struct ss_text){ NULL, 0 }
		: a->text;
}

/* By the name itself, then by one that is near to it. */
static void
pair_names(struct filling *f, bool near)
{
	char own[TOOLCALL_PROPERTY_MAX + 1];
	const char *name = own;

	for (size_t i = 0; i < f->spec->argument_count; i++) {
		toolcall_property(f->spec, f->spec->arguments[i], own);
		for (size_t k = 0; f->from[i] == 0 && k < f->count; k++) {
			const char *given = f->args[k].name;

			if (f->used[k] ||
				(near ? near_key(text_of(given), &name, 1) ==
							NULL
				      : strcmp(given, own) != 0))
				continue;
			f->used[k] = true;
			f->from[i] = k + 1;
		}
	}
}

/* A value under a name that is unknown, where one is missing and it fits. */
static void
pair_values(struct filling *f)
{
	for (size_t i = 0; i < f->spec->argument_count; i++) {
		const struct argument *a = f->spec->arguments[i];

		if (f->from[i] != 0 || spec_may_omit(f->spec, a))
			continue;
		for (size_t k = 0; f->from[i] == 0 && k < f->count; k++) {
			struct ss_text text = text_given(&f->args[k]);

			if (f->used[k] || text.data == NULL ||
				form_repair(f->page, a, text).data == NULL)
				continue;
			f->used[k] = true;
			f->from[i] = k + 1;
		}
	}
}

static const char *
own_name(struct filling *f, const struct argument *a)
{
	char own[TOOLCALL_PROPERTY_MAX + 1];

	toolcall_property(f->spec, a, own);
	return arena_copy(f->page->arena, own, strlen(own));
}

/* False: nothing is known that the argument takes. */
static bool
add_argument(struct filling *f, size_t i)
{
	const struct argument *a = f->spec->arguments[i];
	struct proto_argument *arg = &f->out->args[f->out->arg_count];
	struct ss_text value = { NULL, 0 };

	if (f->from[i] != 0)
		value = form_repair(
			f->page, a, text_given(&f->args[f->from[i] - 1]));
	f->out->own += value.data != NULL;
	if (value.data == NULL && spec_may_omit(f->spec, a))
		return true;
	if (value.data == NULL)
		value = form_example(f->page, a);
	*arg = (struct proto_argument){
		.name = own_name(f, a), .kind = PROTO_TEXT, .text = value
	};
	if (argument_is_json(a))
		arg->kind =
			a->type == ARGUMENT_BOOLEAN ? PROTO_BOOL : PROTO_NUMBER;
	f->out->arg_count++;
	return value.data != NULL && arg->name != NULL;
}

/* "args", "env" and "stdin" stay as they are where the tool takes them. */
static void
keep_others(struct filling *f)
{
	for (size_t k = 0; k < f->count; k++) {
		const struct proto_argument *a = &f->args[k];

		if ((strcmp(a->name, TOOLCALL_ENV) == 0 &&
			    a->kind == PROTO_MAP) ||
			(strcmp(a->name, TOOLCALL_ARGS) == 0 &&
				a->kind == PROTO_LIST && !f->spec->locked) ||
			(strcmp(a->name, TOOLCALL_STDIN) == 0 &&
				a->kind == PROTO_TEXT && f->spec->takes_stdin))
			f->out->args[f->out->arg_count++] = *a;
	}
}

static bool
fill_call(const struct form_page *page, size_t tool, const char *name,
	const struct proto_argument *args, size_t count, struct form *out)
{
	const struct spec *s = &page->specs[tool];
	struct filling f = { .page = page,
		.spec = s,
		.args = args,
		.count = count,
		.used = arena_array(page->arena, count + 1, sizeof(*f.used)),
		.from = arena_array(
			page->arena, s->argument_count + 1, sizeof(*f.from)),
		.out = out };

	*out = (struct form){ .tool = tool,
		.name = arena_copy(page->arena, name, strlen(name)),
		.args = arena_array(page->arena, count + s->argument_count + 1,
			sizeof(*out->args)) };
	if (f.used == NULL || f.from == NULL || out->args == NULL ||
		out->name == NULL)
		return false;
	pair_names(&f, false);
	pair_names(&f, true);
	pair_values(&f);
	for (size_t i = 0; i < s->argument_count; i++)
		if (!add_argument(&f, i))
			return false;
	keep_others(&f);
	return true;
}

/* ---------------------------------------------------------------- the tool -- */

/* By its label, by a name that is near to it, else by its program. */
static bool
find_tool(const struct form_page *page, const struct toolcall_label *labels,
	const char *name, size_t *tool)
{
	struct ss_text asked = text_of(name);
	const char *label;

	if (!toolcall_find(page->specs, page->count, page->path, name, tool))
		return false;
	if (*tool != SIZE_MAX)
		return true;
	for (size_t i = 0; i < page->count; i++) {
		label = labels[i].text;
		if (near_word(asked, &label, 1) != NULL)
			return *tool = i, true;
	}
	for (size_t i = 0; i < page->count; i++)
		if (page->specs[i].part_count > 0 &&
			text_equal(page->specs[i].parts[0].text, asked))
			return *tool = i, true;
	return *tool = 0, page->count == 1;
}

bool
form_of_call(const struct form_page *page, const char *name,
	const struct proto_argument *args, size_t count, struct form *out)
{
	struct toolcall_label *labels =
		toolcall_labels(page->specs, page->count, page->path);
	bool found = false;
	size_t tool;

	if (labels == NULL)
		return false;
	pattern_command_begin();
	if (find_tool(page, labels, name, &tool))
		found = fill_call(
			page, tool, labels[tool].text, args, count, out);
	pattern_command_end();
	free(labels);
	return found;
}

/* -------------------------------------------------------------------- JSON -- */

static void
print_list(const struct ss_text *items, size_t count, struct buf *out)
{
	buf_char(out, '[');
	for (size_t i = 0; i < count; i++) {
		buf_text(out, i > 0 ? ", " : "");
		json_string(out, items[i].data, items[i].len);
	}
	buf_char(out, ']');
}

static void
print_argument(const struct proto_argument *a, struct buf *out)
{
	json_string(out, a->name, strlen(a->name));
	buf_text(out, ": ");
	switch (a->kind) {
	case PROTO_LIST: print_list(a->items, a->item_count, out); return;
	case PROTO_NUMBER:
	case PROTO_BOOL: buf_add(out, a->text.data, a->text.len); return;
	case PROTO_MAP: break;
	case PROTO_TEXT:
	case PROTO_OTHER: json_string(out, a->text.data, a->text.len); return;
	}
	buf_char(out, '{');
	for (size_t i = 0; i < a->pair_count; i++) {
		buf_text(out, i > 0 ? ", " : "");
		json_string(out, a->pairs[i].name, strlen(a->pairs[i].name));
		buf_text(out, ": ");
		json_string(out, a->pairs[i].value, strlen(a->pairs[i].value));
	}
	buf_char(out, '}');
}

static void
print_call(const char *name, const struct proto_argument *args, size_t count,
	struct buf *out)
{
	buf_text(out, "\"tool_call\": {\"name\": ");
	json_string(out, name, strlen(name));
	buf_text(out, count > 0 ? ", \"arguments\": {" : "");
	for (size_t i = 0; i < count; i++) {
		buf_text(out, i > 0 ? ", " : "");
		print_argument(&args[i], out);
	}
	buf_text(out, count > 0 ? "}}" : "}");
}

/* The same values by name: the words hold one that is too long to repeat. */
static bool
print_named(const struct form_page *page, const struct form *form,
	const char *name, struct buf *out)
{
	const struct spec *s = &page->specs[form->tool];
	struct toolcall_label *labels =
		toolcall_labels(page->specs, page->count, page->path);
	struct proto_argument *args =
		arena_array(page->arena, s->argument_count + 2, sizeof(*args));
	char own[TOOLCALL_PROPERTY_MAX + 1];
	struct given given;
	size_t count = 0;
	bool good = labels != NULL && args != NULL &&
		match_words(s, form->words, form->word_count, page->arena,
			&given) == PATTERN_YES;

	for (size_t i = 0; good && i < s->argument_count; i++) {
		const struct argument *a = s->arguments[i];

		if (given.values[i].data == NULL)
			continue;
		toolcall_property(s, a, own);
		args[count++] = (struct proto_argument){
			.name = arena_copy(page->arena, own, strlen(own)),
			.kind = argument_is_json(a) ? PROTO_NUMBER : PROTO_TEXT,
			.text = given.values[i]
		};
		good = args[count - 1].name != NULL;
	}
	if (good && given.extra_count > 0)
		args[count++] = (struct proto_argument){ .name = TOOLCALL_ARGS,
			.kind = PROTO_LIST,
			.items = given.extra,
			.item_count = given.extra_count };
	if (good)
		print_call(name != NULL ? name : labels[form->tool].text, args,
			count, out);
	free(labels);
	return good;
}

bool
form_print(const struct form_page *page, const struct form *form,
	const char *name, struct buf *out)
{
	const struct spec *s = &page->specs[form->tool];

	if (form->words == NULL) {
		print_call(name != NULL ? name : form->name, form->args,
			form->arg_count, out);
		return buf_ok(out);
	}
	for (size_t i = 0; !form->sent && i < s->part_count; i++)
		if (part_is_long(&s->parts[i]))
			return print_named(page, form, name, out) &&
				buf_ok(out);
	buf_text(out, "\"command\": ");
	print_list(form->words, form->word_count, out);
	return buf_ok(out);
}
