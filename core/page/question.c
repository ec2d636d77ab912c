/* SPDX-License-Identifier: MIT */
#include "page/question.h"

#include "page/toolcall.h"
#include "wire/escape.h"

/* The author's text; blanks and controls are one space. */
static void
add_text(const char *text, size_t len, struct buf *out)
{
	for (size_t i = 0; i < len; i++) {
		bool blank = (unsigned char)text[i] <= ' ' || text[i] == 0x7f;

		if (!blank)
			buf_char(out, text[i]);
		else if (out->len > 0 && out->data[out->len - 1] != ' ')
			buf_char(out, ' ');
	}
}

static void
add_value(struct ss_text value, struct buf *out)
{
	size_t len = utf8_cut(value.data, value.len, QUESTION_VALUE_MAX);

	escape_shown(out, value.data, len);
	buf_text(out, len < value.len ? "…" : "");
}

/* What stands for {name}; the server may have set a variable. */
static void
add_named(const struct spec *spec, const struct ss_text *values,
	const struct env_scope *scope, const char *name, struct buf *out)
{
	const char *value;

	for (size_t i = 0; i < spec->argument_count; i++) {
		const struct argument *a = spec->arguments[i];

		if (a->name == NULL || strcmp(a->name, name) != 0)
			continue;
		if (values[i].data != NULL)
			add_value(values[i], out);
		else
			buf_text(out, "(none)");
		return;
	}
	value = env_request_value(scope, name);
	if (value != NULL)
		add_value(text_of(value), out);
	else
		buf_printf(out, "$%s", name);
}

void
question_fill(const struct spec *spec, const struct ss_text *values,
	const struct env_scope *scope, struct buf *out)
{
	const char *at = spec->question, *open, *end;

	while ((open = strchr(at, '{')) != NULL) {
		char name[SPEC_ARGUMENT_MAX + 1];
		size_t len;

		end = strchr(open, '}');
		len = end != NULL ? (size_t)(end - open) - 1 : 0;
		if (len == 0 || len > SPEC_ARGUMENT_MAX ||
			!argument_is_name((struct ss_text){ open + 1, len })) {
			add_text(at, (size_t)(open - at) + 1, out);
			at = open + 1;
			continue;
		}
		memcpy(name, open + 1, len);
		name[len] = '\0';
		add_text(at, (size_t)(open - at), out);
		add_named(spec, values, scope, name, out);
		at = end + 1;
	}
	add_text(at, strlen(at), out);
}
