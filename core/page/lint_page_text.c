/* SPDX-License-Identifier: MIT */
/*
 * The page as text: frontmatter that is none because a fence is missing or
 * misplaced, and components that never run.
 */
#include <ctype.h>

#include "page/fence.h"
#include "page/lint_own.h"
#include "page/near.h"

struct line {
	struct ss_text text;
	unsigned number;
};

struct lines {
	struct ss_text rest;
	unsigned number;
};

static bool
next_line(struct lines *all, struct line *out)
{
	const char *end;
	size_t len;

	if (all->rest.len == 0)
		return false;
	end = memchr(all->rest.data, '\n', all->rest.len);
	len = end != NULL ? (size_t)(end - all->rest.data) : all->rest.len;
	out->text = (struct ss_text){ all->rest.data, len };
	out->number = ++all->number;
	if (len > 0 && out->text.data[len - 1] == '\r')
		out->text.len--;
	len += end != NULL;
	all->rest.data += len;
	all->rest.len -= len;
	return true;
}

static void
warn_line(const struct lint *l, enum warning w, unsigned line, const char *hint,
	const char *message)
{
	lint_warn(l, w, (struct node_place){ line, 1 }, hint, "%s", message);
}

/* ------------------------------------------------------------- frontmatter */

/* Does the line begin with a key of ours: "tools:" or "tools ="? */
static bool
begins_with_key(struct ss_text t, const char *key)
{
	size_t n = strlen(key);

	if (!text_starts(t, key))
		return false;
	while (n < t.len && t.data[n] == ' ')
		n++;
	return n < t.len && (t.data[n] == ':' || t.data[n] == '=');
}

static bool
is_key_line(struct ss_text t)
{
	static const char *const keys[] = { "tools", "title", "description",
		"env", "sandbox", "prompts", "workspace" };

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (begins_with_key(t, keys[i]))
			return true;
	return text_starts(t, "[[tools]]") || text_starts(t, "[sandbox]");
}

static bool
is_blank(struct ss_text t)
{
	for (size_t i = 0; i < t.len; i++)
		if (t.data[i] != ' ' && t.data[i] != '\t')
			return false;
	return true;
}

/* "---" or "+++", with blanks behind it. */
static bool
is_fence(struct ss_text t)
{
	if (!text_starts(t, "---") && !text_starts(t, "+++"))
		return false;
	return is_blank((struct ss_text){ t.data + 3, t.len - 3 });
}

/* A line that somebody may have meant to be a fence. */
static bool
resembles_fence(struct ss_text t)
{
	while (t.len > 0 && (t.data[0] == ' ' || t.data[0] == '\t')) {
		t.data++;
		t.len--;
	}
	return text_starts(t, "--") || text_starts(t, "++") ||
		text_starts(t, "\xe2\x80\x94") || /* em dash */
		text_starts(t, "\xe2\x80\x93") || /* en dash */
		text_is(t, "...") || text_is(t, "```yaml") ||
		text_is(t, "```yml") || text_is(t, "```toml");
}

/* Is there a key of ours among the lines up to the next one that is empty? */
static bool
keys_follow(struct lines all)
{
	struct line line;

	while (next_line(&all, &line) && !is_blank(line.text))
		if (is_key_line(line.text))
			return true;
	return false;
}

/* The hint for frontmatter without its end. */
static const char *
hint_for_end(struct lines all, char opening)
{
	struct line line;

	while (next_line(&all, &line)) {
		if (line.text.len > 0 && line.text.data[0] != opening &&
			is_fence(line.text))
			return opening == '-' ? "--- closes what --- opens, "
						"and +++ what +++ opens: make "
						"them the same"
					      : "+++ closes what +++ opens: "
						"make them the same";
		if (resembles_fence(line.text) && opening == '-')
			return "end it with a line of three hyphens, without "
			       "a blank before them";
	}
	return opening == '-' ? "end it with a line of three hyphens: ---"
			      : "end it with a line of three plus signs: +++";
}

/* The page begins with no frontmatter: did its author think so? */
static void
lint_opening(const struct lint *l)
{
	struct lines all = { l->text, 0 };
	struct line first = { { "", 0 }, 0 };

	if (text_starts(all.rest, "\xff\xfe") ||
		text_starts(all.rest, "\xfe\xff")) {
		warn_line(l, WARN_FENCE, 1, "save the file as UTF-8",
			"this page is UTF-16: it has no frontmatter");
		return;
	}
	if (text_starts(all.rest, "\xef\xbb\xbf")) {
		all.rest.data += 3;
		all.rest.len -= 3;
	}
	while (next_line(&all, &first) && is_blank(first.text))
		;
	if (begins_with_key(first.text, "tools")) {
		warn_line(l, WARN_FENCE, first.number,
			"put a line --- before the keys, and one after them",
			"these keys are text: no --- opens the frontmatter");
		return;
	}
	if (!keys_follow(all))
		return;
	if (is_fence(first.text))
		warn_line(l, WARN_FENCE, first.number,
			hint_for_end(all, first.text.data[0]),
			"this frontmatter is never closed: the page has no "
			"tools");
	else if (resembles_fence(first.text))
		warn_line(l, WARN_FENCE, first.number,
			"begin it with a line of three hyphens, ---, and "
			"nothing else",
			"this line opens no frontmatter: the page has no "
			"tools");
}

/* A block further down that looks like frontmatter, outside of code. */
static void
lint_later_blocks(const struct lint *l)
{
	struct fence_scan scan = { l->text.data, l->text.len, l->front->body };
	struct ss_text line;
	const char *fence = NULL;
	unsigned number = 1;

	while (fence_next_line(&scan, &line)) {
		if (is_fence(line) && line.len > 0) {
			fence = line.data;
			continue;
		}
		if (is_blank(line) || fence == NULL || fence == l->text.data)
			continue;
		if (begins_with_key(line, "tools")) {
			for (const char *c = l->text.data; c < fence; c++)
				number += *c == '\n';
			warn_line(l, WARN_FENCE, number,
				"frontmatter begins in the first line of the "
				"file: move it there",
				"this is text, though it looks like "
				"frontmatter");
			return;
		}
		if (!is_key_line(line))
			fence = NULL;
	}
}

/* -------------------------------------------------------------- components */

/* "components", "Component", "component sh". */
static bool
resembles_component(struct ss_text info)
{
	static const char *const names[] = { "component" };
	size_t n = 0;

	while (n < info.len && isalpha((unsigned char)info.data[n]))
		n++;
	return near_word((struct ss_text){ info.data, n }, names, 1) != NULL;
}

static bool
is_empty(struct ss_text script)
{
	for (size_t i = 0; i < script.len; i++)
		if (!isspace((unsigned char)script.data[i]))
			return false;
	return true;
}

static void
lint_block(const struct lint *l, const struct fence_block *b, unsigned line)
{
	const char *script = l->text.data + b->script;

	if (!b->component) {
		if (resembles_component(b->info))
			warn_line(l, WARN_COMPONENT, line,
				"a component begins with ```component at the "
				"start of the line, and nothing else",
				"this block is no component, and does not "
				"run");
	} else if (!b->closed)
		warn_line(l, WARN_COMPONENT, line,
			"end it with a line of three backticks",
			"this component is never closed, and does not run");
	else if (memchr(script, '\r', b->script_len) != NULL)
		warn_line(l, WARN_COMPONENT, line,
			"save the file with Unix line ends",
			"the lines of this component end in CR LF: the shell "
			"takes the CR as part of a word");
	else if (is_empty((struct ss_text){ script, b->script_len }))
		warn_line(l, WARN_COMPONENT, line,
			"write its commands, or remove it",
			"this component is empty");
}

static void
lint_components(const struct lint *l)
{
	struct fence_scan scan = { l->text.data, l->text.len, l->front->body };
	const char *counted = l->text.data;
	struct fence_block block;
	unsigned line = 1;

	while (fence_next_any(&scan, &block)) {
		for (; counted < l->text.data + block.start; counted++)
			line += *counted == '\n';
		lint_block(l, &block, line);
	}
}

void
lint_page_text(const struct lint *l)
{
	if (l->text.len == 0)
		return;
	if (l->front->format == FRONT_NONE)
		lint_opening(l);
	lint_later_blocks(l);
	lint_components(l);
}
