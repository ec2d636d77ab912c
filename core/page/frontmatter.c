/* SPDX-License-Identifier: MIT */
#include "page/frontmatter.h"

#include "page/toml.h"
#include "page/value.h"
#include "page/yaml.h"

/* Where the frontmatter is in the page. */
struct fence {
	enum front_format format;
	size_t start, end; /* of the text between the fences */
	size_t body;
	unsigned line; /* of start, in the page */
};

/* ---------------------------------------------------------------- fences */

/* Offset of the line after the one that holds i. */
static size_t
next_line(const char *text, size_t len, size_t i)
{
	const char *end = memchr(text + i, '\n', len - i);
	size_t next = end != NULL ? (size_t)(end - text) + 1 : len;
	const char *cr = memchr(text + i, '\r', next - i);

	if (cr != NULL && cr + 1 != end)
		next = (size_t)(cr - text) + 1;
	return next;
}

/* Are there only blanks up to the end of the line? */
static bool
is_blank(const char *text, size_t len, size_t i)
{
	while (i < len && (text[i] == ' ' || text[i] == '\t'))
		i++;
	return i == len || text[i] == '\n' || text[i] == '\r';
}

static bool
begins(const char *text, size_t len, size_t i, const char *fence)
{
	return len - i >= 3 && memcmp(text + i, fence, 3) == 0;
}

static struct fence
find_fence(const char *text, size_t len)
{
	struct fence f = { .format = FRONT_NONE, .line = 1 };
	enum front_format format;
	const char *fence;
	size_t i = 0;

	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		f.body = i = 3;
	for (; i < len && is_blank(text, len, i); f.line++)
		i = next_line(text, len, i);
	format = begins(text, len, i, "---")  ? FRONT_YAML
		: begins(text, len, i, "+++") ? FRONT_TOML
					      : FRONT_NONE;
	if (format == FRONT_NONE || !is_blank(text, len, i + 3))
		return f;
	fence = format == FRONT_YAML ? "---" : "+++";
	f.start = next_line(text, len, i);
	f.line++;
	for (i = f.start; i < len; i = next_line(text, len, i))
		if (begins(text, len, i, fence)) {
			f.format = format;
			f.end = i;
			f.body = next_line(text, len, i);
			break;
		}
	return f;
}

const char *
frontmatter_format_name(enum front_format format)
{
	switch (format) {
	case FRONT_NONE: return "none";
	case FRONT_YAML: return "yaml";
	case FRONT_TOML: return "toml";
	}
	return "none";
}

/* ------------------------------------------------------------------ keys */

/* One member for each key that is read; NULL: absent. */
struct keys {
	const struct node *tools, *env, *sandbox, *title, *description,
		*prompts, *hidden, *once, *job, *workspace;
};

/* Other keys are the page's own.  A key of ours is refused the second time. */
static enum ss_err
find_keys(const struct reading *r, const struct node *root, struct keys *out)
{
	const struct {
		const char *name;
		const struct node **member;
	} table[] = { { "tools", &out->tools }, { "env", &out->env },
		{ "sandbox", &out->sandbox }, { "title", &out->title },
		{ "description", &out->description },
		{ "prompts", &out->prompts }, { "hidden", &out->hidden },
		{ "once", &out->once }, { "job", &out->job },
		{ "workspace", &out->workspace } };
	enum ss_err e;

	for (const struct node *n = root->first; n != NULL; n = n->next)
		for (size_t i = 0; i < ARRAY_LEN(table); i++) {
			if (n->key->kind != NODE_STRING ||
				!text_is((struct ss_text){ n->key->text,
						 n->key->len },
					table[i].name))
				continue;
			e = value_untagged(r, n->key);
			if (e == SS_OK && *table[i].member != NULL)
				e = value_refuse_twice(r, n->key);
			if (e != SS_OK && value_go_on(r, e) != SS_OK)
				return e;
			if (*table[i].member == NULL)
				*table[i].member = n;
		}
	return SS_OK;
}

static enum ss_err
read_tools(const struct reading *r, const struct node *list,
	struct frontmatter *out)
{
	enum ss_err e;

	if (value_untagged(r, list) != SS_OK)
		return SS_BAD_FRONTMATTER;
	if (list->kind == NODE_NULL && list->len == 0)
		return SS_OK;
	if (list->kind != NODE_LIST)
		return value_refuse(r, list, "a list of tools",
			list->kind == NODE_STRING && list->text[0] == '-'
				? "put a blank after each dash: - [ls]"
				: "begin each tool with a dash, - [ls], or "
				  "write tools: [[ls], [cat, {}]]");
	out->specs =
		arena_array(r->arena, list->count + 1, sizeof(*out->specs));
	if (out->specs == NULL)
		return error_memory(r->err);
	for (const struct node *n = list->first; n != NULL; n = n->next) {
		e = spec_parse(r, n, &out->specs[out->spec_count]);
		if (e == SS_OK)
			out->spec_count++;
		else if (value_go_on(r, e) != SS_OK)
			return e;
	}
	return SS_OK;
}

/* Of all tools that have no key `job`; another value is the page's own. */
static enum ss_err
share_job(const struct reading *r, const struct keys *keys,
	struct frontmatter *out)
{
	enum spec_job job = SPEC_JOB_NEVER;
	double after = SPEC_JOB_AFTER_S;
	const struct node *entry;
	enum ss_err e;
	size_t i = 0;

	if (keys->job == NULL || keys->tools == NULL)
		return SS_OK;
	e = spec_read_job(r, keys->job, true, &job, &after);
	for (entry = keys->tools->first; e == SS_OK && job != SPEC_JOB_NEVER &&
		i < out->spec_count && out->spec_count == keys->tools->count;
		entry = entry->next, i++) {
		struct spec *s = &out->specs[i];

		if ((entry->kind == NODE_MAP &&
			    node_member(entry, "job") != NULL) ||
			spec_has_parts(s))
			continue;
		s->job = job;
		s->job_after = after;
	}
	return e;
}

/* An empty title counts as none. */
static enum ss_err
read_title(const struct reading *r, const struct node *n, const char **out)
{
	if (n == NULL ||
		(!n->tagged &&
			(n->kind == NODE_NULL ||
				(n->kind == NODE_STRING && n->len == 0))))
		return SS_OK;
	return value_text(r, n, out);
}

static enum ss_err
read_lists(const struct reading *r, const struct keys *keys,
	struct frontmatter *out)
{
	enum ss_err e = SS_OK;

	if (keys->hidden != NULL)
		e = value_go_on(r, value_bool(r, keys->hidden, &out->hidden));
	if (e == SS_OK && keys->once != NULL)
		e = value_go_on(r, spec_parse_once(r, keys->once, &out->once));
	if (e == SS_OK && keys->env != NULL)
		e = value_go_on(r, value_names(r, keys->env, &out->env));
	if (e == SS_OK && keys->sandbox != NULL)
		e = value_go_on(
			r, wants_parse(r, keys->sandbox, &out->sandbox));
	if (e == SS_OK && keys->workspace != NULL)
		e = workspace_want_parse(
			r, keys->workspace, &out->sandbox.workspace);
	return e;
}

static enum ss_err
read_prompts(const struct reading *r, const struct node *list,
	struct frontmatter *out)
{
	if (list == NULL)
		return SS_OK;
	if (value_untagged(r, list) != SS_OK)
		return SS_BAD_FRONTMATTER;
	return prompt_parse(r, list, NULL, &out->prompts, &out->prompt_count);
}

/*
 * The keys of ours, also below metadata.statespace: a SKILL.md has them there,
 * since the format of skills knows no key of ours beside its own.
 */
static enum ss_err
find_all_keys(
	const struct reading *r, const struct node *root, struct keys *out)
{
	const struct node *below = node_member(root, "metadata");
	enum ss_err e = value_go_on(r, find_keys(r, root, out));

	if (below != NULL && below->kind == NODE_MAP)
		below = node_member(below, "statespace");
	else
		below = NULL;
	return e == SS_OK && below != NULL && below->kind == NODE_MAP
		? value_go_on(r, find_keys(r, below, out))
		: e;
}

static enum ss_err
read_root(const struct reading *r, const struct node *root,
	struct frontmatter *out)
{
	struct keys keys = { 0 };
	enum ss_err e;

	if (value_untagged(r, root) != SS_OK)
		return SS_BAD_FRONTMATTER;
	if (root->kind != NODE_MAP)
		return value_refuse(r, root, "a mapping of keys",
			root->kind == NODE_LIST
				? "write tools: before the list"
				: "write key: value lines; +++ lines enclose "
				  "TOML, --- lines YAML");
	out->root = root;
	if ((e = find_all_keys(r, root, &keys)) != SS_OK ||
		(e = value_go_on(r, read_title(r, keys.title, &out->title))) !=
			SS_OK ||
		(e = value_go_on(r,
			 read_title(r, keys.description, &out->description))) !=
			SS_OK ||
		(e = value_go_on(r, read_lists(r, &keys, out))) != SS_OK ||
		(e = value_go_on(r, read_prompts(r, keys.prompts, out))) !=
			SS_OK)
		return e;
	if (keys.tools == NULL)
		return SS_OK;
	e = value_go_on(r, read_tools(r, keys.tools, out));
	return e == SS_OK ? value_go_on(r, share_job(r, &keys, out)) : e;
}

static const char blanks[] = " \t\r\"'";

static size_t
skip_blanks(struct ss_text t, size_t i)
{
	while (i < t.len && memchr(blanks, t.data[i], sizeof(blanks) - 1))
		i++;
	return i;
}

/* Is the text from i on the rest of a key, with a value other than false? */
static bool
rest_hides(struct ss_text line, size_t i)
{
	static const char ends[] = " \t\r\n\"',}#";
	struct ss_text value;

	i = skip_blanks(line, i);
	if (i == line.len || (line.data[i] != ':' && line.data[i] != '='))
		return false;
	i = skip_blanks(line, i + 1);
	value = (struct ss_text){ line.data + i, 0 };
	while (i + value.len < line.len &&
		!memchr(ends, value.data[value.len], sizeof(ends) - 1))
		value.len++;
	return !text_is(value, "false");
}

/* "hidden: true", "{ tools: [], 'hidden': yes }"; not "hiddenness: 1". */
static bool
line_hides(struct ss_text line)
{
	bool at_key = true;

	for (size_t i = 0; i < line.len; i++) {
		if (at_key && line.len - i >= 6 &&
			memcmp(line.data + i, "hidden", 6) == 0 &&
			rest_hides(line, i + 6))
			return true;
		if (!memchr(blanks, line.data[i], sizeof(blanks) - 1))
			at_key = line.data[i] == '{' || line.data[i] == ',';
	}
	return false;
}

/* In the lines from i to len. */
static bool
lines_hide(const char *text, size_t len, size_t i)
{
	for (size_t next; i < len; i = next) {
		next = next_line(text, len, i);
		if (line_hides((struct ss_text){ text + i, next - i }))
			return true;
	}
	return false;
}

bool
frontmatter_says_hidden(const char *text, size_t len)
{
	struct fence f = find_fence(text, len);

	return f.start > 0 &&
		lines_hide(text, f.format == FRONT_NONE ? len : f.end, f.start);
}

static enum ss_err
read_between(const struct reading *r, struct ss_text text,
	const struct fence *f, struct frontmatter *out)
{
	struct node *root = NULL;
	enum ss_err e = (f->format == FRONT_YAML ? yaml_parse : toml_parse)(r,
		(struct ss_text){ text.data + f->start, f->end - f->start },
		f->line, SS_BAD_FRONTMATTER, &root);

	if (e != SS_OK)
		return e;
	/* Empty, or only comments: valid, without tools. */
	if (root == NULL ||
		(root->kind == NODE_NULL && root->len == 0 && !root->tagged))
		return SS_OK;
	return read_root(r, root, out);
}

static enum ss_err
read_page(const struct reading *r, struct ss_text text, struct frontmatter *out)
{
	struct fence f = find_fence(text.data, text.len);
	enum ss_err e = SS_OK;

	*out = (struct frontmatter){ .format = f.format, .body = f.body };
	if (f.format != FRONT_NONE)
		e = value_go_on(r, read_between(r, text, &f, out));
	if (e != SS_OK) {
		frontmatter_release(out);
		*out = (struct frontmatter){ .format = f.format,
			.body = f.body };
	}
	if (e != SS_OK || f.format == FRONT_NONE)
		out->hidden = frontmatter_says_hidden(text.data, text.len);
	return e;
}

enum ss_err
frontmatter_parse(struct arena *arena, const char *text, size_t len,
	struct frontmatter *out, struct node_place *place, struct ss_error *err)
{
	const struct reading r = { .arena = arena, .place = place, .err = err };

	return read_page(&r, (struct ss_text){ text, len }, out);
}

enum ss_err
frontmatter_check(struct arena *arena, struct ss_text text,
	struct refusals *all, struct frontmatter *out, struct ss_error *err)
{
	struct node_place place = { 0, 0 };
	struct ss_error own = { .code = SS_OK };
	const struct reading r = { arena, &place, &own, all };
	enum ss_err e = read_page(&r, text, out);

	if (e != SS_OK && err != NULL)
		*err = own;
	return e;
}

void
frontmatter_release(struct frontmatter *f)
{
	for (size_t i = 0; i < f->spec_count; i++)
		spec_release(&f->specs[i]);
	f->specs = NULL;
	f->spec_count = 0;
}
