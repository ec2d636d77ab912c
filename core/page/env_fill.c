/* SPDX-License-Identifier: MIT */
/*
 * There are three tables: what the operator sets (server), what the page lists
 * (page) and what the client sends (request).  Of $NAME in a word of the author:
 *
 *	1. a listed name that is the whole word becomes its value;
 *	2. another name of the server's is filled in anywhere in the word;
 *	3. anything else is text.
 *
 * So a value of the request never becomes part of a longer word.
 */
#include "page/env_fill.h"

#include "page/template.h"
#include "page/words.h"
#include "wire/proto.h"

/*
 * Bytes of all listed variables.  With the largest command they stay under the
 * 2 MiB that execve(2) allows by default, so that the client gets 413 and not a
 * program that failed to start.
 */
#define ENV_BYTES_MAX 262144

struct fill {
	struct arena *arena;
	const struct env_scope *scope;
	size_t total; /* bytes of argv so far */
	struct ss_error *err;
};

/* A word that is a listed $NAME and nothing else (rule 1). */
static enum ss_err
fill_listed(struct fill *f, struct ss_text name, struct ss_text *word,
	struct ss_text *shown)
{
	const char *value = env_server_value(f->scope, name);
	int len = (int)(name.len < 64 ? name.len : 64);

	if (value != NULL) {
		*word = text_of(value);
		return SS_OK;
	}
	value = env_sent_value(f->scope, name);
	if (value == NULL) {
		error_set(f->err, SS_BAD_ENV, "the variable %.*s is not set",
			len, name.data);
		error_hint(f->err, "send \"env\": {\"%.*s\": \"...\"}", len,
			name.data);
		return SS_BAD_ENV;
	}
	*word = *shown = text_of(value);
	return word_check(*word, false, f->err);
}

/* The next piece of a word: a variable's value (rule 2), or text (rule 3). */
static struct ss_text
piece_at(const struct env_scope *scope, struct ss_text text, size_t *used)
{
	struct ss_text name;
	const char *value = NULL, *next;

	*used = env_variable_at(text.data, text.len, &name);
	if (*used > 0 && !env_is_listed(scope, name))
		value = env_server_value(scope, name);
	if (value != NULL)
		return text_of(value);
	next = memchr(text.data + 1, '$', text.len - 1);
	*used = next != NULL ? (size_t)(next - text.data) : text.len;
	return (struct ss_text){ text.data, *used };
}

/* Writes the filled word to out unless that is NULL; returns its length. */
static size_t
fill_pieces(const struct env_scope *scope, struct ss_text word, char *out)
{
	size_t len = 0, used;

	for (size_t i = 0; i < word.len && len <= PROTO_WORD_MAX; i += used) {
		struct ss_text rest = { word.data + i, word.len - i };
		struct ss_text piece = piece_at(scope, rest, &used);

		if (out != NULL)
			memcpy(out + len, piece.data, piece.len);
		len += piece.len;
	}
	return len;
}

static enum ss_err
check_size(struct fill *f, size_t len)
{
	f->total += len + 1;
	if (len <= PROTO_WORD_MAX && f->total <= PROTO_COMMAND_MAX)
		return SS_OK;
	return error_set(f->err, SS_COMMAND_TOO_LARGE,
		"the command is too large once its variables are filled in");
}

/* Fills one word of the author; *shown keeps $NAME for the server's values. */
static enum ss_err
fill_word(struct fill *f, struct ss_text *word, struct ss_text *shown)
{
	struct ss_text name;
	char *filled;
	size_t len;

	if (memchr(word->data, '$', word->len) == NULL)
		return SS_OK;
	if (env_variable_at(word->data, word->len, &name) == word->len &&
		env_is_listed(f->scope, name))
		return fill_listed(f, name, word, shown);
	len = fill_pieces(f->scope, *word, NULL);
	/* Both passes stop at the limit; a word that was cut is refused. */
	filled = arena_alloc(f->arena, len + 1);
	if (filled == NULL)
		return error_memory(f->err);
	fill_pieces(f->scope, *word, filled);
	*word = (struct ss_text){ filled, len };
	return SS_OK;
}

enum ss_err
env_program(struct arena *arena, struct ss_text word,
	const struct env_scope *scope, const char **out, struct ss_error *err)
{
	struct fill f = { .arena = arena, .scope = scope, .err = err };
	struct ss_text name = { "", 0 }, shown = word;
	enum ss_err code;

	*out = NULL;
	if (env_variable_at(word.data, word.len, &name) == word.len &&
		env_is_listed(scope, name) &&
		env_server_value(scope, name) == NULL)
		return SS_OK;
	code = fill_word(&f, &word, &shown);
	if (code == SS_OK)
		code = check_size(&f, word.len);
	if (code == SS_OK)
		*out = word.data;
	return code;
}

/* execve(2) takes char *; nothing writes through it. */
static char *
unconst(const char *text)
{
	union {
		const char *from;
		char *to;
	} u = { text };

	return u.to;
}

/* Fills the author's pieces of a template; values are put in afterwards. */
static enum ss_err
fill_template(struct fill *f, const struct part *p,
	const struct ss_text *values, struct ss_text *word)
{
	struct buf out = BUF_INIT(PROTO_WORD_MAX + 1);
	enum ss_err code = SS_OK;
	char *copy;

	if (memchr(p->text.data, '$', p->text.len) == NULL)
		return SS_OK;
	for (size_t i = 0; i < p->piece_count; i++) {
		const struct argument *a = p->pieces[i].argument;
		struct ss_text text = p->pieces[i].text;
		size_t len;
		char *room;

		if (a != NULL) {
			template_escape(a->escape, values[a->index], &out);
			continue;
		}
		len = fill_pieces(f->scope, text, NULL);
		room = buf_reserve(&out, len);
		if (room == NULL)
			break;
		fill_pieces(f->scope, text, room);
		out.len += len;
		out.data[out.len] = '\0';
	}
	copy = arena_copy(f->arena, out.data, out.len);
	*word = (struct ss_text){ copy,
		out.full ? PROTO_WORD_MAX + 1 : out.len };
	if (copy == NULL || out.failed)
		code = error_memory(f->err);
	buf_release(&out);
	return code;
}

enum ss_err
env_fill(struct arena *arena, const struct env_scope *scope,
	const struct command *command, struct env_command *out,
	struct ss_error *err)
{
	struct fill f = { .arena = arena, .scope = scope, .err = err };
	size_t count = command->count;
	char **argv = arena_array(arena, count + 1, sizeof(*argv));
	const char **shown = arena_array(arena, count + 1, sizeof(*shown));
	enum ss_err code = SS_OK;

	if (argv == NULL || shown == NULL)
		return error_memory(err);
	for (size_t i = 0; i < count && code == SS_OK; i++) {
		const struct part *p = command->parts[i];
		struct ss_text word = command->words[i], as_shown = word;

		if (p != NULL && p->kind == PART_TEXT)
			code = fill_word(&f, &word, &as_shown);
		else if (p != NULL && p->kind == PART_TEMPLATE)
			code = fill_template(&f, p, command->values, &word);
		if (code == SS_OK)
			code = check_size(&f, word.len);
		argv[i] = unconst(word.data);
		shown[i] = as_shown.data;
	}
	if (code == SS_OK)
		*out = (struct env_command){ argv, shown };
	return code;
}

/* ----------------------------------------------------------- environment -- */

struct block {
	struct arena *arena;
	char **vars;
	size_t count;
	size_t fixed;
	size_t bytes; /* of the listed ones */
};

static bool
block_put(struct block *b, size_t at, const char *name, const char *value)
{
	b->vars[at] = arena_join(b->arena, name, "=", value);
	if (at == b->count)
		b->count++;
	return b->vars[at] != NULL;
}

static bool
put_fixed(struct block *b, const struct env_scope *scope, const char *tmpdir)
{
	bool fine = block_put(b, b->count, "PATH",
			    "/usr/local/bin:/usr/bin:/bin") &&
		block_put(b, b->count, "HOME", "/tmp") &&
		block_put(b, b->count, "LANG", "C.UTF-8") &&
		block_put(b, b->count, "LC_ALL", "C.UTF-8");

	if (fine && tmpdir != NULL)
		fine = block_put(b, b->count, "TMPDIR", tmpdir);
	if (fine && scope->request_id != NULL)
		fine = block_put(b, b->count, "STATESPACE_REQUEST_ID",
			scope->request_id);
	if (fine && scope->progress_fd != NULL)
		fine = block_put(b, b->count, "STATESPACE_PROGRESS_FD",
			scope->progress_fd);
	b->fixed = b->count;
	return fine;
}

/* The index for a listed name: a listed LANG or LC_ALL replaces ours. */
static size_t
place_of(const struct block *b, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < b->fixed; i++)
		if (strncmp(b->vars[i], name, len) == 0 &&
			b->vars[i][len] == '=')
			return i;
	return b->count;
}

static enum ss_err
put_listed(struct block *b, const struct env_scope *scope, const char *name,
	struct ss_error *err)
{
	const char *value = env_server_value(scope, text_of(name));
	size_t size;

	if (value == NULL)
		value = env_sent_value(scope, text_of(name));
	if (value == NULL || !env_is_allowed(name) ||
		!env_is_listed(scope, text_of(name)))
		return SS_OK;
	size = strlen(name) + 1 + strlen(value);
	b->bytes += size + 1;
	if (size > PROTO_WORD_MAX || b->bytes > ENV_BYTES_MAX)
		return error_set(err, SS_COMMAND_TOO_LARGE,
			"the values of the listed variables are too large");
	if (!block_put(b, place_of(b, name), name, value))
		return error_memory(err);
	return SS_OK;
}

enum ss_err
env_build(struct arena *arena, const struct env_scope *scope,
	const char *tmpdir, char ***envp, struct ss_error *err)
{
	size_t listed = scope->page != NULL ? scope->page->count : 0;
	struct block b = { .arena = arena };

	/* Seven fixed names at most, and the NULL. */
	b.vars = arena_array(arena, listed + 8, sizeof(*b.vars));
	if (b.vars == NULL || !put_fixed(&b, scope, tmpdir))
		return error_memory(err);
	for (size_t i = 0; i < listed; i++) {
		enum ss_err code =
			put_listed(&b, scope, scope->page->names[i], err);

		if (code != SS_OK)
			return code;
	}
	*envp = b.vars;
	return SS_OK;
}
