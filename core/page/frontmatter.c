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

	return end != NULL ? (size_t)(end - text) + 1 : len;
}

/* Are there only blanks up to the end of the line, which may be CR LF? */
static bool
is_blank(const char *text, size_t len, size_t i)
{
	while (i < len && (text[i] == ' ' || text[i] == '\t'))
		i++;
	if (i < len && text[i] == '\r')
		i++;
	return i == len || text[i] == '\n';
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
		*prompts;
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
		{ "prompts", &out->prompts } };

	for (const struct node *n = root->first; n != NULL; n = n->next)
		for (size_t i = 0; i < ARRAY_LEN(table); i++) {
			if (n->key->kind != NODE_STRING ||
				!text_is((struct ss_text){ n->key->text,
						 n->key->len },
					table[i].name))
				continue;
			if (value_untagged(r, n->key) != SS_OK)
				return SS_BAD_FRONTMATTER;
			if (*table[i].member != NULL)
				return value_refuse_twice(r, n->key);
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
			list->kind == NODE_MAP
				? "begin each tool with a dash: - [ls]"
				: "write tools: [[ls], [cat, {}]]");
	out->specs =
		arena_array(r->arena, list->count + 1, sizeof(*out->specs));
	if (out->specs == NULL)
		return error_memory(r->err);
	for (const struct node *n = list->first; n != NULL; n = n->next) {
		e = spec_parse(r, n, &out->specs[out->spec_count]);
		if (e != SS_OK)
			return e;
		out->spec_count++;
	}
	return SS_OK;
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
	if ((e = find_keys(r, root, &keys)) != SS_OK ||
		(e = read_title(r, keys.title, &out->title)) != SS_OK ||
		(e = read_title(r, keys.description, &out->description)) !=
			SS_OK)
		return e;
	if (keys.env != NULL &&
		(e = value_names(r, keys.env, &out->env)) != SS_OK)
		return e;
	if (keys.sandbox != NULL &&
		(e = wants_parse(r, keys.sandbox, &out->sandbox)) != SS_OK)
		return e;
	if (keys.prompts != NULL &&
		((e = value_untagged(r, keys.prompts)) != SS_OK ||
			(e = prompt_parse(r, keys.prompts, NULL, &out->prompts,
				 &out->prompt_count)) != SS_OK))
		return e;
	out->root = root;
	return keys.tools != NULL ? read_tools(r, keys.tools, out) : SS_OK;
}

enum ss_err
frontmatter_parse(struct arena *arena, const char *text, size_t len,
	struct frontmatter *out, struct node_place *place, struct ss_error *err)
{
	struct fence f = find_fence(text, len);
	const struct reading r = { arena, place, err };
	struct node *root = NULL;
	enum ss_err e;

	*out = (struct frontmatter){ .format = f.format, .body = f.body };
	if (f.format == FRONT_NONE)
		return SS_OK;
	e = (f.format == FRONT_YAML ? yaml_parse : toml_parse)(&r,
		(struct ss_text){ text + f.start, f.end - f.start }, f.line,
		SS_BAD_FRONTMATTER, &root);
	if (e != SS_OK)
		return e;
	/* Empty, or only comments: valid, without tools. */
	if (root == NULL ||
		(root->kind == NODE_NULL && root->len == 0 && !root->tagged))
		return SS_OK;
	e = read_root(&r, root, out);
	if (e != SS_OK) {
		frontmatter_release(out);
		*out = (struct frontmatter){ .format = f.format,
			.body = f.body };
	}
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
