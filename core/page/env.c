/* SPDX-License-Identifier: MIT */
/*
 * Variables and agent's words (statespace-protocol(7), RUNNING).  There
 * are three tables: what the operator sets (server), what the page lists (page)
 * and what the client sends (request).  Of $NAME in a word of the author:
 *
 *	1. a listed name that is the whole word becomes its value;
 *	2. another name of the server's is filled in anywhere in the word;
 *	3. anything else is text.
 *
 * So a value of the request never becomes part of a longer word.
 */
#include "page/env.h"

#include "page/interpreter.h"
#include "page/template.h"
#include "wire/path.h"
#include "wire/proto.h"

#include <fnmatch.h>

/*
 * Bytes of all listed variables.  With the largest command they stay under the
 * 2 MiB that execve(2) allows by default, so that the client gets 413 and not a
 * program that failed to start.
 */
#define ENV_BYTES_MAX 262144

/* ----------------------------------------------------------------- names -- */

/*
 * Set by us, or read by ld.so(8) and shells before the author's program runs.
 */
static const char *const reserved[] = { "PATH", "HOME", "TMPDIR", "IFS", "ENV",
	"BASH_ENV", "LD_*", "DYLD_*", "GCONV_PATH", "STATESPACE_REQUEST_ID",
	"STATESPACE_PROGRESS_FD" };

/*
 * Each of these makes some program load a file, run a command or talk to
 * another machine.  Compared without case: http_proxy is HTTP_PROXY.
 */
static const char *const server_only[] = {
	/* interpreters and runtimes */
	"PYTHON*", "PERL5*", "PERLLIB", "PERL_*", "NODE_OPTIONS", "NODE_PATH",
	"NODE_*CERT*", "NODE_TLS*", "NPM_CONFIG_*", "DENO_*", "BUN_*",
	"RUBYOPT", "RUBYLIB", "RUBYPATH", "GEM_HOME", "GEM_PATH", "BUNDLE_*",
	"LUA_*", "PHPRC", "PHP_INI_*", "R_PROFILE*", "R_ENVIRON*", "R_HOME",
	"R_LIBS*", "JULIA_*", "JAVA_*", "_JAVA_*", "JDK_*", "CLASSPATH",
	"DOTNET_*", "CORECLR_*", "COMPLUS_*", "ERL_*", "ELIXIR_ERL_*",
	"TCLLIBPATH", "TCL_LIBRARY", "GUILE_*", "GOFLAGS", "GOPATH", "GOROOT",
	"GOENV", "GOTOOLCHAIN", "CARGO_*", "RUSTC*", "RUSTFLAGS", "RUSTUP_*",
	"PIP_*", "AWKPATH", "AWKLIBPATH",
	/* shells */
	"SHELL", "SHELLOPTS", "BASHOPTS", "BASH_*", "PS[0-9]", "PROMPT_COMMAND",
	"ZDOTDIR", "FPATH", "CDPATH", "INPUTRC", "HISTFILE",
	/* pagers, editors, helpers that are commands */
	"PAGER", "MANPAGER", "*_PAGER", "LESS", "LESSOPEN", "LESSCLOSE",
	"LESSKEY*", "MANOPT", "EDITOR", "*_EDITOR", "VISUAL", "BROWSER",
	"EXINIT", "VIM", "VIMINIT", "VIMRUNTIME", "EMACSLOADPATH", "*_ASKPASS",
	"GIT_*", "SSH_*", "*_RSH", "MAKEFLAGS", "MAKEFILES", "GNUMAKEFLAGS",
	"TAR_OPTIONS", "XDG_*",
	/* libraries */
	"MALLOC_*", "GLIBC_TUNABLES", "LOCPATH", "NLSPATH", "LANG", "LANGUAGE",
	"LC_*", "TERMINFO*", "TERMCAP", "HOSTALIASES", "RES_OPTIONS",
	"LOCALDOMAIN", "OPENSSL_*", "SSL_CERT_*", "SSLKEYLOGFILE", "CURL_*",
	"REQUESTS_CA_BUNDLE", "NETRC", "KRB5*", "FONTCONFIG_*", "MAGICK_*",
	"GST_PLUGIN*",
	/* clients' own configuration, which can name commands and hosts */
	"*_PROXY", "*_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE",
	"AWS_ENDPOINT_*", "KUBECONFIG", "DOCKER_*", "PSQLRC", "PSQL_*",
	"PGSERVICE*", "PGSYSCONFDIR", "PGPASSFILE", "MYSQL_HOME"
};

static bool
is_in(const char *name, const char *const *patterns, size_t count, int flags)
{
	for (size_t i = 0; i < count; i++)
		if (fnmatch(patterns[i], name, flags) == 0)
			return true;
	return false;
}

static bool
is_letter(char c)
{
	char lower = (char)(c | 0x20);

	return (lower >= 'a' && lower <= 'z') || c == '_';
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* How many bytes at the start of text are a name. */
static size_t
name_len(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && (is_letter(text[n]) || (n > 0 && is_digit(text[n]))))
		n++;
	return n;
}

bool
env_is_name(const char *name, size_t len)
{
	return len > 0 && name_len(name, len) == len;
}

/* PATH, HOME, LD_*, ...: a page may not list them at all. */
static bool
is_reserved(const char *name)
{
	return is_in(name, reserved, ARRAY_LEN(reserved), 0);
}

bool
env_is_allowed(const char *name)
{
	return !is_reserved(name);
}

/* PYTHON*, GIT_*, *_PROXY, ...: only the server may set them. */
static bool
is_server_only(const char *name)
{
	return is_in(name, server_only, ARRAY_LEN(server_only), FNM_CASEFOLD);
}

static const char *
find_value(const struct ss_pair *table, size_t count, struct ss_text name)
{
	for (size_t i = 0; i < count; i++)
		if (text_is(name, table[i].name))
			return table[i].value;
	return NULL;
}

bool
env_is_listed(const struct env_scope *scope, struct ss_text name)
{
	return scope->page != NULL && name_list_has(scope->page, name) &&
		(scope->tool == NULL || !scope->tool->set ||
			name_list_has(scope->tool, name));
}

const char *
env_server_value(const struct env_scope *scope, struct ss_text name)
{
	return find_value(scope->server, scope->server_count, name);
}

bool
env_is_open(const struct env_scope *scope, const char *name)
{
	return env_is_listed(scope, text_of(name)) && !is_reserved(name) &&
		!is_server_only(name) &&
		env_server_value(scope, text_of(name)) == NULL;
}

const char *
env_request_value(const struct env_scope *scope, const char *name)
{
	return env_is_open(scope, name)
		? find_value(
			  scope->request, scope->request_count, text_of(name))
		: NULL;
}

size_t
env_variable_at(const char *text, size_t len, struct ss_text *name)
{
	size_t brace = len > 1 && text[1] == '{', end;

	if (len < 2 || text[0] != '$')
		return 0;
	name->data = text + 1 + brace;
	name->len = name_len(name->data, len - 1 - brace);
	end = 1 + brace + name->len;
	if (name->len == 0)
		return 0;
	if (brace == 0)
		return end;
	return end < len && text[end] == '}' ? end + 1 : 0;
}

/* ------------------------------------------------------------- page load -- */

enum ss_err
env_check_list(const struct name_list *list, struct node_place *place,
	struct ss_error *err)
{
	for (size_t i = 0; i < list->count; i++) {
		const char *name = list->names[i];
		size_t len = strlen(name);
		bool named = env_is_name(name, len);

		if (named && !is_reserved(name))
			continue;
		error_set(err, SS_BAD_FRONTMATTER,
			"line %u, column %u: found \"%.*s\" in env, expected "
			"%s",
			list->line, list->column, (int)utf8_cut(name, len, 64),
			name,
			named ? "a variable that a page may pass on"
			      : "the name of a variable");
		error_hint(err, "%s",
			named ? "this name belongs to the server or to the "
				"system's loader; use one of your own"
			      : "names are made of A-Z, a-z, 0-9 and _, and "
				"do not begin with a digit; no $");
		*place = (struct node_place){ list->line, list->column };
		return SS_BAD_FRONTMATTER;
	}
	return SS_OK;
}

/* Finds a name in word that rule 2 would fill in. */
static bool
finds_filled(struct ss_text word, const struct env_scope *scope,
	struct ss_text *name)
{
	for (size_t i = 0, n; i<word.len; i += n> 0 ? n : 1) {
		n = env_variable_at(word.data + i, word.len - i, name);
		if (n > 0 && !env_is_listed(scope, *name) &&
			env_server_value(scope, *name) != NULL)
			return true;
	}
	return false;
}

static enum ss_err
refuse_filled(
	const struct part *part, struct ss_text name, struct ss_error *err)
{
	int len = (int)(name.len < 64 ? name.len : 64);

	error_set(err, SS_BAD_FRONTMATTER,
		"line %u, column %u: found $%.*s inside a script, expected a "
		"name that env: lists",
		part->line, part->column, len, name.data);
	error_hint(err,
		"add %.*s to env:, so that the script reads it from its "
		"environment instead of holding its value",
		len, name.data);
	return SS_BAD_FRONTMATTER;
}

/* Values of these types cannot end the text around them. */
static bool
is_harmless(const struct part *part)
{
	for (size_t i = 0; i < part->piece_count; i++) {
		const struct argument *a = part->pieces[i].argument;

		if (a != NULL &&
			(a->type == ARGUMENT_WORD || a->type == ARGUMENT_TEXT ||
				a->type == ARGUMENT_PATH))
			return false;
	}
	return true;
}

static enum ss_err
refuse_inside(
	const struct part *part, struct node_place *place, struct ss_error *err)
{
	error_set(err, SS_BAD_FRONTMATTER,
		"line %u, column %u: found an argument inside a script, "
		"expected it as a word after the script",
		part->line, part->column);
	error_hint(err,
		"an interpreter would read the value as its own text; in sh "
		"write: [sh, -c, 'grep -e \"$1\" app.log', sh, {q}, ;]");
	*place = (struct node_place){ part->line, part->column };
	return SS_BAD_FRONTMATTER;
}

/*
 * After an interpreter, neither a variable nor an argument may be filled into
 * an option that takes a script, or into the word after it.  An interpreter
 * after a wrapper (env, timeout) and one that the agent names count too.  An
 * option -e of the script's own is refused as well: listing the name gives the
 * same word.
 */
enum ss_err
env_check_spec(const struct spec *spec, const struct env_scope *scope,
	struct node_place *place, struct ss_error *err)
{
	struct env_scope narrowed = *scope;
	struct interpreter_scan scan = { 0 };
	struct ss_text name;

	narrowed.tool = &spec->env;
	for (size_t i = 0; i < spec->part_count; i++) {
		const struct part *part = &spec->parts[i];

		if (interpreter_next(&scan, part) == INTERPRETER_NONE)
			continue;
		if (!is_harmless(part))
			return refuse_inside(part, place, err);
		if (!finds_filled(part->text, &narrowed, &name))
			continue;
		*place = (struct node_place){ part->line, part->column };
		return refuse_filled(part, name, err);
	}
	return SS_OK;
}

static bool
is_granted(const struct env_grant *grant, struct ss_text name)
{
	for (size_t i = 0; !grant->any && i < grant->count; i++)
		if (text_is(name, grant->names[i]))
			return true;
	return grant->any;
}

static enum ss_err
refuse_grant(struct ss_text name, const struct node_place *place,
	struct ss_error *err)
{
	error_set(err, SS_CAPABILITY_REFUSED,
		"line %u, column %u: env: %.*s is more than this server grants",
		place->line, place->column,
		(int)utf8_cut(name.data, name.len, 64), name.data);
	error_hint(
		err, "take it out, or have the operator add it to [grant] env");
	return SS_CAPABILITY_REFUSED;
}

enum ss_err
env_check_grant(const struct env_scope *scope, const struct env_grant *grant,
	struct node_place *place, struct ss_error *err)
{
	for (size_t i = 0; i < scope->page->count; i++) {
		struct ss_text name = text_of(scope->page->names[i]);

		if (is_granted(grant, name))
			continue;
		*place = (struct node_place){ scope->page->line,
			scope->page->column };
		return refuse_grant(name, place, err);
	}
	return SS_OK;
}

enum ss_err
env_check_spec_grant(const struct spec *spec, const struct env_scope *scope,
	const struct env_grant *grant, struct node_place *place,
	struct ss_error *err)
{
	struct env_scope narrowed = *scope;
	struct ss_text word, name;

	narrowed.tool = &spec->env;
	for (size_t i = 0; i < spec->part_count && !grant->any; i++) {
		const struct part *part = &spec->parts[i];

		if (part->kind != PART_TEXT)
			continue;
		for (word = part->text; finds_filled(word, &narrowed, &name);
			word.len -= (size_t)(name.data - word.data),
		    word.data = name.data) {
			if (is_granted(grant, name))
				continue;
			*place =
				(struct node_place){ part->line, part->column };
			return refuse_grant(name, place, err);
		}
	}
	return SS_OK;
}

/* ----------------------------------------------------------------- words -- */

/*
 * "/x", also as the value of an option or an operand: "--file=/x", "if=/x".
 * Not in "https://host/?q=/x" or in a script, which are no paths.
 */
static bool
is_absolute(struct ss_text word)
{
	size_t i = 0;

	while (i < word.len &&
		(is_letter(word.data[i]) || is_digit(word.data[i]) ||
			word.data[i] == '-' || word.data[i] == '.'))
		i++;
	i = i < word.len && word.data[i] == '=' ? i + 1 : 0;
	return i < word.len && word.data[i] == '/';
}

static enum ss_err
refuse_path(struct ss_text word, const char *wrong, struct ss_error *err)
{
	error_set(err, SS_PATH_REFUSED, "the word \"%.*s\" %s",
		(int)utf8_cut(word.data, word.len, 64), word.data, wrong);
	error_hint(err,
		"paths that you choose begin in the page's directory and stay "
		"below it");
	return SS_PATH_REFUSED;
}

/* matched: its author's regex decided whether it may be absolute. */
static enum ss_err
check_word(struct ss_text word, bool matched, struct ss_error *err)
{
	if (path_word_climbs(word))
		return refuse_path(
			word, "holds \"..\" as a part of a path", err);
	if (!matched && is_absolute(word))
		return refuse_path(word, "is an absolute path", err);
	return SS_OK;
}

static enum ss_err
check_argument(
	const struct argument *a, struct ss_text word, struct ss_error *err)
{
	bool matched = a->regex.data != NULL && a->type == ARGUMENT_WORD;

	if (a->type == ARGUMENT_TEXT || argument_is_authors(a, word))
		return SS_OK;
	return check_word(word, matched, err);
}

/* A path in a longer word is one, too. */
static enum ss_err
check_template(const struct part *p, const struct ss_text *values,
	struct ss_text word, struct ss_error *err)
{
	enum ss_err code = SS_OK;

	for (size_t i = 0; code == SS_OK && i < p->piece_count; i++) {
		const struct argument *a = p->pieces[i].argument;

		if (a != NULL && a->type == ARGUMENT_PATH)
			code = check_argument(a, values[a->index], err);
	}
	if (code != SS_OK)
		return code;
	switch (template_climbs(p, values)) {
	case PATTERN_NO: return SS_OK;
	case PATTERN_MEMORY: return error_memory(err);
	case PATTERN_YES:
	case PATTERN_LIMIT: break;
	}
	return refuse_path(word, "holds \"..\" as a part of a path", err);
}

enum ss_err
env_check_words(const struct command *command, struct ss_error *err)
{
	enum ss_err code = SS_OK;

	for (size_t i = 0; code == SS_OK && i < command->count; i++) {
		const struct part *p = command->parts[i];
		struct ss_text word = command->words[i];

		if (p == NULL)
			code = check_word(word, false, err);
		else if (p->kind == PART_ARGUMENT)
			code = check_argument(part_argument(p), word, err);
		else if (p->kind == PART_TEMPLATE)
			code = check_template(p, command->values, word, err);
	}
	return code;
}

/* --------------------------------------------------------------- request -- */

/* The first name that a request may set; NULL when there is none. */
static const char *
first_open(const struct env_scope *scope)
{
	for (size_t i = 0; scope->page != NULL && i < scope->page->count; i++)
		if (env_is_open(scope, scope->page->names[i]))
			return scope->page->names[i];
	return NULL;
}

static enum ss_err
refuse_name(const struct env_scope *scope, const char *name, const char *why,
	struct ss_error *err)
{
	const char *other = first_open(scope);

	error_set(err, SS_BAD_ENV, "\"env\" may not set \"%.*s\": %s",
		(int)utf8_cut(name, strlen(name), 64), name, why);
	if (other == NULL)
		error_hint(err,
			"this tool takes no variables: leave \"env\" "
			"out");
	else
		error_hint(err,
			"the variables that the page lists can be set, "
			"such as \"%.64s\"",
			other);
	return SS_BAD_ENV;
}

enum ss_err
env_check_request(const struct env_scope *scope, struct ss_error *err)
{
	for (size_t i = 0; i < scope->request_count; i++) {
		const char *name = scope->request[i].name;
		const char *why = NULL;

		if (!env_is_name(name, strlen(name)))
			why = "it is not the name of a variable";
		else if (is_reserved(name) || is_server_only(name))
			why = "only the server may";
		else if (!env_is_listed(scope, text_of(name)))
			why = "the page does not list it";
		if (why != NULL)
			return refuse_name(scope, name, why, err);
	}
	return SS_OK;
}

/* ------------------------------------------------------------------ fill -- */

struct fill {
	struct arena *arena;
	const struct env_scope *scope;
	size_t total; /* bytes of argv so far */
	struct ss_error *err;
};

static const char *
request_value(const struct env_scope *scope, struct ss_text name)
{
	return find_value(scope->request, scope->request_count, name);
}

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
	value = request_value(f->scope, name);
	if (value == NULL) {
		error_set(f->err, SS_BAD_ENV, "the variable %.*s is not set",
			len, name.data);
		error_hint(f->err, "send \"env\": {\"%.*s\": \"...\"}", len,
			name.data);
		return SS_BAD_ENV;
	}
	*word = *shown = text_of(value);
	return check_word(*word, false, f->err);
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
		value = request_value(scope, text_of(name));
	if (value == NULL || is_reserved(name) ||
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
