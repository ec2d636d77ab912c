/* SPDX-License-Identifier: MIT */
#include "page/spec.h"

#include <ctype.h>
#include <stdio.h>

#define PART_EXPECTED                                                          \
	"a part: text, {}, {name}, { regex: '...' }, { literal: '...' }"

/* ----------------------------------------------------------------- parts */

static bool
is_identifier(struct ss_text t)
{
	for (size_t i = 0; i < t.len; i++)
		if (!isalpha((unsigned char)t.data[i]) && t.data[i] != '_' &&
			(i == 0 || !isdigit((unsigned char)t.data[i])))
			return false;
	return t.len > 0;
}

/* Keys of a part cannot name a placeholder. */
static bool
is_reserved(struct ss_text t)
{
	return text_is(t, "regex") || text_is(t, "literal") ||
		text_is(t, "name") || text_is(t, "description");
}

static enum ss_err
refuse_reserved(
	const struct reading *r, const struct node *n, struct ss_text name)
{
	return value_refuse_found(r, n, "a reserved placeholder name",
		"another name",
		"write { %.*s: ... } for that key, { literal: \"{%.*s}\" } "
		"for text, {} for any word",
		(int)name.len, name.data, (int)name.len, name.data);
}

static enum ss_err
set_name(const struct reading *r, const struct node *n, struct ss_text name,
	struct part *out)
{
	if (is_reserved(name))
		return refuse_reserved(r, n, name);
	if (!is_identifier(name))
		return value_refuse(r, n,
			"a placeholder's name: letters, digits, _",
			"a name begins with a letter and holds no blank");
	out->kind = PART_ANY;
	out->name = arena_copy(r->arena, name.data, name.len);
	return out->name != NULL ? SS_OK : error_memory(r->err);
}

static enum ss_err
parse_word(const struct reading *r, const struct node *n, struct part *out)
{
	struct ss_text name;
	enum ss_err e;

	if ((e = value_word(r, n, PART_EXPECTED, &out->text)) != SS_OK)
		return e;
	if (n->kind != NODE_STRING || out->text.len < 2 ||
		!text_starts(out->text, "{") || !text_ends(out->text, "}"))
		return SS_OK;
	name = (struct ss_text){ out->text.data + 1, out->text.len - 2 };
	if (name.len == 0)
		out->kind = PART_ANY;
	else if (is_identifier(name))
		return set_name(r, n, name, out);
	return SS_OK;
}

static enum ss_err
parse_regex(const struct reading *r, const struct node *n, struct part *out)
{
	struct ss_error inner;
	enum ss_err e;

	e = value_word(r, n, "a regex as text", &out->text);
	if (e != SS_OK) {
		if (n->kind == NODE_LIST || n->kind == NODE_MAP)
			error_hint(r->err,
				"quote a regex that begins with [ or {: "
				"{ regex: '[a-z]+' }");
		return e;
	}
	out->kind = PART_REGEX;
	e = pattern_new(out->text.data, out->text.len, &out->pattern, &inner);
	if (e == SS_BAD_FRONTMATTER)
		return value_refuse_found(r, n, inner.message,
			"a PCRE2 regular expression",
			"single quotes keep every backslash: '\\.txt$'");
	if (e != SS_OK && r->err != NULL)
		*r->err = inner;
	return e;
}

/* Key `word` with no value: {word}. */
static bool
is_bare_name(const struct node *map)
{
	const struct node *n = map->first;

	return map->count == 1 && n->kind == NODE_NULL && n->len == 0 &&
		!n->tagged && n->key->kind == NODE_STRING && !n->key->tagged;
}

static enum ss_err
parse_name(const struct reading *r, const struct node *map, struct part *out)
{
	const struct node *n = node_member(map, "name");
	struct ss_text name;
	enum ss_err e;

	if (n == NULL)
		return SS_OK;
	if ((e = value_word(r, n, "a placeholder's name", &name)) != SS_OK)
		return e;
	return set_name(r, n, name, out);
}

static enum ss_err
parse_literal(const struct reading *r, const struct node *map, struct part *out)
{
	static const char *const keys[] = { "literal" };
	enum ss_err e;

	e = value_keys(r, map, keys, 1, "literal alone in this part");
	if (e != SS_OK)
		return e;
	return value_word(r, map->first, "text for literal", &out->text);
}

/* { regex: R }, { name: N }, each with name: and description:. */
static enum ss_err
parse_described(
	const struct reading *r, const struct node *map, struct part *out)
{
	static const char *const keys[] = { "regex", "name", "description" };
	const struct node *regex, *described;
	enum ss_err e;

	e = value_keys(r, map, keys, ARRAY_LEN(keys),
		"a key of a part (regex, literal, name, description)");
	if (e != SS_OK || (e = parse_name(r, map, out)) != SS_OK)
		return e;
	regex = node_member(map, "regex");
	described = node_member(map, "description");
	if (described != NULL &&
		(e = value_text(r, described, &out->description)) != SS_OK)
		return e;
	if (regex != NULL)
		return parse_regex(r, regex, out);
	if (out->name == NULL)
		return value_refuse_found(r, map, "a part without a name",
			"name or regex with description",
			"write { name: word, description: ... }");
	return SS_OK;
}

static enum ss_err
parse_map(const struct reading *r, const struct node *map, struct part *out)
{
	const struct node *first = map->first;

	if (first == NULL) {
		out->kind = PART_ANY;
		return SS_OK;
	}
	if (is_bare_name(map))
		return set_name(r, first->key,
			(struct ss_text){ first->key->text, first->key->len },
			out);
	if (node_member(map, "literal") != NULL)
		return parse_literal(r, map, out);
	return parse_described(r, map, out);
}

static enum ss_err
parse_part(const struct reading *r, const struct node *n, struct part *out)
{
	*out = (struct part){ .line = n->line, .column = n->column };
	if (value_untagged(r, n) != SS_OK)
		return SS_BAD_FRONTMATTER;
	if (n->kind == NODE_LIST)
		return value_refuse(r, n, PART_EXPECTED,
			"a tool is one flat list of parts; quote text that "
			"begins with [");
	if (n->kind == NODE_MAP)
		return parse_map(r, n, out);
	return parse_word(r, n, out);
}

/* --------------------------------------------------------------- command */

static bool
is_lock(const struct node *n)
{
	return n->next == NULL && n->kind == NODE_STRING && !n->tagged &&
		text_is((struct ss_text){ n->text, n->len }, ";");
}

static enum ss_err
parse_command(
	const struct reading *r, const struct node *list, struct spec *out)
{
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
		e = parse_part(r, n, &out->parts[out->part_count++]);
		if (e != SS_OK)
			return e;
	}
	return SS_OK;
}

/* --------------------------------------------------------------- mapping */

static const char *const tool_keys[] = { "command", "name", "title",
	"description", "version", "stdin", "env", "max_running", "confirm",
	"ask", "output", WANTS_KEYS };

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
			(e = value_text(r, n, texts[i].out)) != SS_OK)
			return e;
	return SS_OK;
}

/* `type/subtype` of RFC 9110 section 8.3.1; parameters are not checked. */
static bool
is_media_type(const char *s)
{
	static const char token[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789!#$%&'*+-.^_`|~";
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

static enum ss_err
read_settings(const struct reading *r, const struct node *map, struct spec *out)
{
	const struct node *n;
	enum ss_err e = SS_OK;

	if ((n = node_member(map, "stdin")) != NULL)
		e = value_bool(r, n, &out->takes_stdin);
	if (e == SS_OK && (n = node_member(map, "confirm")) != NULL)
		e = value_bool(r, n, &out->confirm);
	if (e == SS_OK && (n = node_member(map, "env")) != NULL)
		e = value_names(r, n, &out->env);
	if (e == SS_OK && (n = node_member(map, "max_running")) != NULL)
		e = value_count(r, n, &out->max_running);
	return e;
}

static bool
has_argument(const struct spec *s, const char *name)
{
	for (size_t i = 0; i < s->part_count; i++)
		if (s->parts[i].name != NULL &&
			strcmp(s->parts[i].name, name) == 0)
			return true;
	return name_list_has(&s->env, text_of(name));
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
parse_mapping(const struct reading *r, const struct node *map, struct spec *out)
{
	const struct node *command;
	enum ss_err e;

	e = value_keys(r, map, tool_keys, ARRAY_LEN(tool_keys),
		"a key of a tool (command, name, description, env, timeout, "
		"...)");
	if (e != SS_OK)
		return e;
	command = node_member(map, "command");
	if (command == NULL)
		return value_refuse_found(r, map, "a tool without command",
			"the key command",
			"write - command: [cat, {}], or just - [cat, {}]");
	if ((e = read_texts(r, map, out)) != SS_OK ||
		(e = check_output(r, map, out)) != SS_OK ||
		(e = read_settings(r, map, out)) != SS_OK ||
		(e = wants_read(r, map, &out->wants)) != SS_OK ||
		(e = parse_command(r, command, out)) != SS_OK)
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
				: "put brackets around it: - [ls]");
	if (e != SS_OK)
		spec_release(out);
	return e;
}

void
spec_release(struct spec *s)
{
	for (size_t i = 0; i < s->part_count; i++)
		pattern_free(s->parts[i].pattern);
	*s = (struct spec){ .line = s->line, .column = s->column };
}

/* -------------------------------------------------------------- matching */

/*
 * Compares all literals first, which refuses most commands cheaply.  A regex is
 * tried only when everything else matches.
 */
enum pattern_result
spec_match(const struct spec *s, const struct ss_text *words, size_t count)
{
	enum pattern_result found;

	if (count < s->part_count || (s->locked && count > s->part_count))
		return PATTERN_NO;
	for (size_t i = 0; i < s->part_count; i++)
		if (s->parts[i].kind == PART_TEXT &&
			!text_equal(s->parts[i].text, words[i]))
			return PATTERN_NO;
	for (size_t i = 0; i < s->part_count; i++) {
		if (s->parts[i].kind != PART_REGEX)
			continue;
		found = pattern_search(
			s->parts[i].pattern, words[i].data, words[i].len);
		if (found != PATTERN_YES)
			return found;
	}
	return PATTERN_YES;
}

enum word_origin
spec_origin(const struct spec *s, size_t i)
{
	if (i >= s->part_count)
		return WORD_EXTRA;
	switch (s->parts[i].kind) {
	case PART_TEXT: return WORD_AUTHOR;
	case PART_ANY: return WORD_FREE;
	case PART_REGEX: return WORD_REGEX;
	}
	return WORD_EXTRA;
}

/* Bytes kept free for "and N more". */
#define MORE_BYTES 64

static void
hint_tools(const struct spec *specs, size_t count, struct ss_error *err)
{
	struct buf line = BUF_INIT(sizeof(err->hint) - MORE_BYTES);
	size_t shown = 0, kept = 0;

	while (shown < count && buf_text(&line, shown ? ", " : "") &&
		spec_print(&specs[shown], &line)) {
		kept = line.len;
		shown++;
	}
	if (shown == count && count > 0)
		error_hint(err, "this page allows: %s", line.data);
	else if (kept > 0)
		error_hint(err, "this page allows: %.*s, … and %zu more",
			(int)kept, line.data, count - shown);
	else
		error_hint(err, "this page allows %zu tools", count);
	buf_release(&line);
}

enum ss_err
spec_choose(const struct spec *specs, size_t count, const struct ss_text *words,
	size_t word_count, size_t *tool, struct ss_error *err)
{
	for (size_t i = 0; i < count; i++)
		switch (spec_match(&specs[i], words, word_count)) {
		case PATTERN_NO: break;
		case PATTERN_YES: *tool = i; return SS_OK;
		case PATTERN_LIMIT:
			error_set(err, SS_NOT_ALLOWED,
				"a regex reached its limit on this command");
			error_hint(err, "try a shorter word");
			error_detail(
				err, "tool %zu, line %u", i, specs[i].line);
			return SS_NOT_ALLOWED;
		}
	error_set(err, SS_NOT_ALLOWED,
		"no tool of this page allows this command");
	if (err != NULL)
		hint_tools(specs, count, err);
	return SS_NOT_ALLOWED;
}

/* -------------------------------------------------------------- printing */

/* Longer words are shown as "…". */
#define OUTLINE_WORD_MAX 40
#define OUTLINE_MAX 300

/* Does the text mean the same without quotes in a YAML flow list? */
static bool
is_plain(struct ss_text t)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_./+$=@%-";

	if (t.len == 0 || text_is(t, "null") || text_is(t, "Null") ||
		text_is(t, "NULL") || strchr("%@=", t.data[0]) != NULL ||
		text_is(t, "-"))
		return false;
	for (size_t i = 0; i < t.len; i++)
		if (t.data[i] == '\0' || strchr(safe, t.data[i]) == NULL)
			return false;
	return true;
}

/*
 * Length of the character at i when it needs an escape, else 0: controls, and
 * what YAML 1.1 reads as a line break or calls not printable.
 */
static size_t
needs_escape(struct ss_text t, size_t i, unsigned *codepoint)
{
	const unsigned char *s = (const unsigned char *)t.data + i;
	size_t n = utf8_sequence(t.data + i, t.len - i);

	*codepoint = s[0];
	if (n == 1)
		return s[0] < ' ' || s[0] == 0x7f;
	if (n == 2)
		*codepoint = (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu);
	else if (n == 3)
		*codepoint = (s[0] & 0xfu) << 12 | (s[1] & 0x3fu) << 6 |
			(s[2] & 0x3fu);
	else
		return 0;
	return *codepoint < 0xa0 || *codepoint == 0x2028 ||
			*codepoint == 0x2029 || *codepoint == 0xfeff ||
			*codepoint >= 0xfffe
		? n
		: 0;
}

/* In double quotes, where YAML has escapes. */
static void
print_escaped(struct ss_text t, struct buf *out)
{
	unsigned codepoint;
	size_t n;

	buf_char(out, '"');
	for (size_t i = 0; i<t.len; i += n> 0 ? n : 1) {
		n = needs_escape(t, i, &codepoint);
		if (n > 0 && codepoint == '\n')
			buf_text(out, "\\n");
		else if (n > 0)
			buf_printf(out, "\\u%04x", codepoint);
		else if (t.data[i] == '"' || t.data[i] == '\\')
			buf_printf(out, "\\%c", t.data[i]);
		else
			buf_char(out, t.data[i]);
	}
	buf_char(out, '"');
}

static void
print_quoted(struct ss_text t, struct buf *out)
{
	unsigned codepoint;

	for (size_t i = 0; i < t.len; i++)
		if (needs_escape(t, i, &codepoint) > 0) {
			print_escaped(t, out);
			return;
		}
	buf_char(out, '\'');
	for (size_t i = 0; i < t.len; i++) {
		buf_text(out, t.data[i] == '\'' ? "'" : "");
		buf_char(out, t.data[i]);
	}
	buf_char(out, '\'');
}

static void
print_text(struct ss_text t, struct buf *out)
{
	if (is_plain(t))
		buf_add(out, t.data, t.len);
	else
		print_quoted(t, out);
}

/* Would this text be read back as a placeholder or a lock? */
static bool
needs_literal(struct ss_text t, bool last)
{
	struct ss_text inner = { t.data + 1, t.len - 2 };

	if (last && text_is(t, ";"))
		return true;
	return t.len >= 2 && text_starts(t, "{") && text_ends(t, "}") &&
		(inner.len == 0 || is_identifier(inner));
}

static void
print_keys(const struct part *p, struct buf *out)
{
	const char *between = "";

	buf_text(out, "{ ");
	if (p->kind == PART_REGEX) {
		buf_text(out, "regex: ");
		print_quoted(p->text, out);
		between = ", ";
	}
	if (p->name != NULL) {
		buf_printf(out, "%sname: %s", between, p->name);
		between = ", ";
	}
	if (p->description != NULL) {
		buf_printf(out, "%sdescription: ", between);
		print_quoted(text_of(p->description), out);
	}
	buf_text(out, " }");
}

static void
print_part(const struct part *p, bool last, struct buf *out)
{
	if (p->kind == PART_TEXT && needs_literal(p->text, last)) {
		buf_text(out, "{ literal: ");
		print_quoted(p->text, out);
		buf_text(out, " }");
	} else if (p->kind == PART_TEXT)
		print_text(p->text, out);
	else if (p->kind == PART_REGEX || p->description != NULL)
		print_keys(p, out);
	else
		buf_printf(out, "{%s}", p->name != NULL ? p->name : "");
}

bool
spec_print(const struct spec *s, struct buf *out)
{
	buf_char(out, '[');
	for (size_t i = 0; i < s->part_count; i++) {
		buf_text(out, i > 0 ? ", " : "");
		print_part(&s->parts[i], i + 1 == s->part_count && !s->locked,
			out);
	}
	buf_text(out, s->locked ? ", ;]" : "]");
	return buf_ok(out);
}

bool
spec_outline(const struct spec *s, struct buf *out)
{
	buf_char(out, '[');
	for (size_t i = 0; i < s->part_count; i++) {
		const struct part *p = &s->parts[i];

		buf_text(out, i > 0 ? ", " : "");
		if (out->len > OUTLINE_MAX) {
			buf_text(out, "…");
			break;
		}
		if (p->kind != PART_TEXT)
			buf_printf(out, "{%s}", p->name != NULL ? p->name : "");
		else if (p->text.len > OUTLINE_WORD_MAX ||
			memchr(p->text.data, '\n', p->text.len) != NULL)
			buf_text(out, "…");
		else
			print_part(
				p, i + 1 == s->part_count && !s->locked, out);
	}
	buf_text(out, s->locked ? ", ;]" : "]");
	return buf_ok(out);
}
