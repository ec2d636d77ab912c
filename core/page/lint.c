/* SPDX-License-Identifier: MIT */
#include "page/lint.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "page/env.h"

struct lint {
	const struct frontmatter *front;
	struct env_scope scope;
	lint_fn fn;
	void *ctx;
};

/* hint may be NULL. */
static void lint_warn(const struct lint *l, unsigned line, unsigned column,
	const char *hint, const char *message, ...) PRINTF_LIKE(5, 6);

static void
lint_warn(const struct lint *l, unsigned line, unsigned column,
	const char *hint, const char *message, ...)
{
	char text[256];
	va_list args;
	int n;

	va_start(args, message);
	n = vsnprintf(text, sizeof(text), message, args);
	va_end(args);
	if (n >= (int)sizeof(text))
		text[utf8_cut(text, sizeof(text) - 1, sizeof(text) - 2)] = '\0';
	l->fn(l->ctx, line, column, SS_LEVEL_WARNING, text, hint);
}

/* -------------------------------------------------------------- programs */

enum danger {
	DANGER_SHELL,  /* a shell: as DANGER_SCRIPT, and starts any program */
	DANGER_SCRIPT, /* runs a file, or code after an option */
	DANGER_RUNNER, /* runs the program that its words name */
	DANGER_OPTION, /* some option runs a program or writes */
	DANGER_WRITES  /* changes files that its words name */
};

static const struct program {
	const char *name;
	enum danger danger;
	const char *code; /* option letters that take code */
} programs[] = {
	{ "sh", DANGER_SHELL, "c" },
	{ "bash", DANGER_SHELL, "c" },
	{ "dash", DANGER_SHELL, "c" },
	{ "ash", DANGER_SHELL, "c" },
	{ "ksh", DANGER_SHELL, "c" },
	{ "zsh", DANGER_SHELL, "c" },
	{ "busybox", DANGER_SHELL, "" },
	{ "python", DANGER_SCRIPT, "c" },
	{ "perl", DANGER_SCRIPT, "eE" },
	{ "ruby", DANGER_SCRIPT, "e" },
	{ "node", DANGER_SCRIPT, "ep" },
	{ "php", DANGER_SCRIPT, "r" },
	{ "lua", DANGER_SCRIPT, "e" },
	{ "Rscript", DANGER_SCRIPT, "e" },
	{ "tclsh", DANGER_SCRIPT, "" },
	{ "xargs", DANGER_RUNNER, "" },
	{ "env", DANGER_RUNNER, "" },
	{ "nice", DANGER_RUNNER, "" },
	{ "nohup", DANGER_RUNNER, "" },
	{ "timeout", DANGER_RUNNER, "" },
	{ "time", DANGER_RUNNER, "" },
	{ "setsid", DANGER_RUNNER, "" },
	{ "stdbuf", DANGER_RUNNER, "" },
	{ "flock", DANGER_RUNNER, "" },
	{ "watch", DANGER_RUNNER, "" },
	{ "parallel", DANGER_RUNNER, "" },
	{ "sudo", DANGER_RUNNER, "" },
	{ "find", DANGER_OPTION, "" },
	{ "awk", DANGER_OPTION, "" },
	{ "gawk", DANGER_OPTION, "" },
	{ "mawk", DANGER_OPTION, "" },
	{ "sed", DANGER_OPTION, "" },
	{ "tar", DANGER_OPTION, "" },
	{ "git", DANGER_OPTION, "" },
	{ "make", DANGER_OPTION, "" },
	{ "rsync", DANGER_OPTION, "" },
	{ "ssh", DANGER_OPTION, "" },
	{ "vi", DANGER_OPTION, "" },
	{ "vim", DANGER_OPTION, "" },
	{ "less", DANGER_OPTION, "" },
	{ "man", DANGER_OPTION, "" },
	{ "zip", DANGER_OPTION, "" },
	{ "sqlite3", DANGER_OPTION, "" },
	{ "psql", DANGER_OPTION, "" },
	{ "rm", DANGER_WRITES, "" },
	{ "rmdir", DANGER_WRITES, "" },
	{ "mv", DANGER_WRITES, "" },
	{ "cp", DANGER_WRITES, "" },
	{ "ln", DANGER_WRITES, "" },
	{ "tee", DANGER_WRITES, "" },
	{ "dd", DANGER_WRITES, "" },
	{ "touch", DANGER_WRITES, "" },
	{ "mkdir", DANGER_WRITES, "" },
	{ "chmod", DANGER_WRITES, "" },
	{ "chown", DANGER_WRITES, "" },
	{ "install", DANGER_WRITES, "" },
	{ "truncate", DANGER_WRITES, "" },
	{ "shred", DANGER_WRITES, "" },
	{ "split", DANGER_WRITES, "" },
	{ "patch", DANGER_WRITES, "" },
	{ "unzip", DANGER_WRITES, "" },
};

/* "/usr/bin/python3.11" is python. */
static struct ss_text
program_name(struct ss_text word)
{
	for (size_t i = word.len; i > 0; i--)
		if (word.data[i - 1] == '/') {
			word.data += i;
			word.len -= i;
			break;
		}
	if (text_starts(word, "python"))
		word.len = strlen("python");
	return word;
}

static const struct program *
find_program(const struct spec *s)
{
	struct ss_text name;

	if (s->parts[0].kind != PART_TEXT)
		return NULL;
	name = program_name(s->parts[0].text);
	for (size_t i = 0; i < ARRAY_LEN(programs); i++)
		if (text_is(name, programs[i].name))
			return &programs[i];
	return NULL;
}

static bool
is_option(const struct part *p)
{
	return p->kind == PART_TEXT && text_starts(p->text, "-");
}

/* "-c" or "-lc" for the letter c; "--eval" for e. */
static bool
takes_code(const struct part *p, const char *letters)
{
	struct ss_text t = p->text;

	if (!is_option(p) || t.len < 2 || letters[0] == '\0')
		return false;
	if (text_is(t, "--eval") || text_is(t, "--print"))
		return true;
	return t.data[1] != '-' && strchr(letters, t.data[t.len - 1]) != NULL;
}

/*
 * Does the agent choose what runs: the word after -c, or the first that is no
 * option?  A script or program that the author named is the author's.
 */
static bool
agent_chooses(const struct spec *s, const char *letters)
{
	size_t i = 1;

	while (i < s->part_count && is_option(&s->parts[i]))
		if (takes_code(&s->parts[i++], letters))
			break;
	return i < s->part_count ? s->parts[i].kind == PART_ANY : !s->locked;
}

static bool
edits_in_place(const struct spec *s)
{
	for (size_t i = 1; i < s->part_count; i++)
		if (s->parts[i].kind == PART_TEXT &&
			(text_starts(s->parts[i].text, "-i") ||
				text_starts(s->parts[i].text, "--in-place")))
			return true;
	return false;
}

/* May a free word of the agent's be an option: does it follow none? */
static bool
agent_adds_option(const struct spec *s)
{
	for (size_t i = 1; i < s->part_count; i++) {
		if (is_option(&s->parts[i]) && s->parts[i].text.len == 2 &&
			s->parts[i].text.data[1] == '-')
			return false;
		if (s->parts[i].kind == PART_ANY &&
			!is_option(&s->parts[i - 1]))
			return true;
	}
	return !s->locked;
}

static void
lint_danger(const struct lint *l, const struct spec *s, const struct program *p)
{
	switch (p->danger) {
	case DANGER_SHELL:
		lint_warn(l, s->line, s->column,
			"name the program itself where no shell is needed",
			"%s may execute every program of the view", p->name);
		/* fall through */
	case DANGER_SCRIPT:
		if (agent_chooses(s, p->code))
			lint_warn(l, s->line, s->column,
				"write the script in the page and end the "
				"tool with ;",
				"the agent chooses the code that %s runs",
				p->name);
		break;
	case DANGER_RUNNER:
		if (agent_chooses(s, p->code))
			lint_warn(l, s->line, s->column,
				"name the program in the page",
				"the agent chooses the program that %s runs",
				p->name);
		break;
	case DANGER_OPTION:
		if (edits_in_place(s) && strcmp(p->name, "sed") == 0 &&
			!s->locked)
			lint_warn(l, s->line, s->column,
				"end the tool with ; so that no word can be "
				"appended",
				"sed -i writes, and the agent may append "
				"words");
		else if (agent_adds_option(s))
			lint_warn(l, s->line, s->column,
				"end the tool with ; and use a regex that "
				"refuses a leading - for its words",
				"%s has options that run programs or write, "
				"and the agent may add them",
				p->name);
		break;
	case DANGER_WRITES:
		if (!s->locked)
			lint_warn(l, s->line, s->column,
				"end the tool with ; so that no word can be "
				"appended",
				"%s writes, and the agent may append words",
				p->name);
		break;
	}
}

/* ------------------------------------------------------------- variables */

/*
 * The name of the next $NAME or ${NAME} in word from *at on, which moves after
 * it.  The name is empty when there is none.
 */
static struct ss_text
next_variable(struct ss_text word, size_t *at)
{
	struct ss_text name;

	for (size_t i = *at, n; i < word.len; i++) {
		n = env_variable_at(word.data + i, word.len - i, &name);
		if (n == 0)
			continue;
		*at = i + n;
		return name;
	}
	*at = word.len;
	return (struct ss_text){ "", 0 };
}

/* An upper-case name, as in environments; not $x or $Foo of some language. */
static bool
looks_like_environment(struct ss_text name)
{
	for (size_t i = 0; i < name.len; i++)
		if (islower((unsigned char)name.data[i]))
			return false;
	return name.len >= 2;
}

static bool
has_free_word(const struct spec *s)
{
	for (size_t i = 0; i < s->part_count; i++)
		if (s->parts[i].kind == PART_ANY)
			return true;
	return !s->locked;
}

/* Scripts have variables of their own. */
static bool
holds_scripts(const struct program *p)
{
	return p != NULL &&
		(p->danger == DANGER_SHELL || p->danger == DANGER_SCRIPT ||
			strstr(p->name, "awk") != NULL ||
			strcmp(p->name, "make") == 0);
}

static void
lint_variables(const struct lint *l, const struct spec *s,
	const struct part *part, const struct program *p)
{
	struct ss_text name;
	size_t at = 0;

	while ((name = next_variable(part->text, &at)).len > 0) {
		int len = name.len < 64 ? (int)name.len : 64;

		if (env_server_value(&l->scope, name) != NULL &&
			has_free_word(s))
			lint_warn(l, part->line, part->column,
				"fix the other words, with a regex or as "
				"text, and end the tool with ;",
				"$%.*s is the server's, and the agent chooses "
				"other words of this tool",
				len, name.data);
		if (env_server_value(&l->scope, name) == NULL &&
			!env_is_listed(&l->scope, name) && !holds_scripts(p) &&
			looks_like_environment(name))
			lint_warn(l, part->line, part->column,
				"list it under env:, or have the server set "
				"it",
				"$%.*s is neither listed nor set, and stays "
				"text",
				len, name.data);
	}
}

/* ----------------------------------------------------------------- parts */

/* "{file-name}": braces around what is no identifier are text. */
static bool
looks_like_placeholder(struct ss_text t)
{
	if (t.len < 3 || !text_starts(t, "{") || !text_ends(t, "}"))
		return false;
	for (size_t i = 1; i + 1 < t.len; i++)
		if (!isalnum((unsigned char)t.data[i]) &&
			strchr("_- .", t.data[i]) == NULL)
			return false;
	return true;
}

static void
lint_part(const struct lint *l, const struct spec *s, const struct part *part,
	const struct program *p)
{
	switch (part->kind) {
	case PART_ANY: return;
	case PART_REGEX:
		if (!pattern_is_anchored(part->text.data, part->text.len))
			lint_warn(l, part->line, part->column,
				"bind the whole word: '^...$'",
				"this regex is found anywhere in a word");
		return;
	case PART_TEXT:
		if (looks_like_placeholder(part->text))
			lint_warn(l, part->line, part->column,
				"a placeholder's name holds letters, digits "
				"and _ only",
				"this text looks like a placeholder and is "
				"none");
		lint_variables(l, s, part, p);
		return;
	}
}

static void
lint_network(const struct lint *l, const struct wants *w)
{
	if (w->network == NETWORK_ALL)
		lint_warn(l, w->network_at.line, w->network_at.column,
			"list what is needed: network: [\"host:443\"]",
			"network: true reaches all that the host reaches, "
			"loopback and metadata services included");
}

/* A tool's list narrows the page's: it adds nothing. */
static void
lint_env(const struct lint *l, const struct name_list *own)
{
	for (size_t i = 0; i < own->count; i++)
		if (!env_is_listed(&l->scope, text_of(own->names[i])))
			lint_warn(l, own->line, own->column,
				"list it under the page's env: too",
				"%.64s is not in the page's env:, so the tool "
				"does not get it",
				own->names[i]);
}

static void
lint_spec(const struct lint *l, const struct spec *s)
{
	const struct program *p = find_program(s);

	if (s->parts[0].kind != PART_TEXT)
		lint_warn(l, s->parts[0].line, s->parts[0].column,
			"write the program's name",
			"the agent chooses the program");
	if (p != NULL)
		lint_danger(l, s, p);
	lint_network(l, &s->wants);
	lint_env(l, &s->env);
	for (size_t i = 0; i < s->part_count; i++)
		lint_part(l, s, &s->parts[i], p);
}

static void
report_mistake(void *ctx, const struct node_place *at, const char *message,
	const char *hint)
{
	const struct lint *l = ctx;

	l->fn(l->ctx, at->line, at->column, SS_LEVEL_WARNING, message, hint);
}

/*
 * Parse the prompts again, now with a listener: the page's parser skipped what
 * is wrong in them.
 */
static void
lint_prompts(struct lint *l, const struct node *list)
{
	const struct prompt_listener listener = { report_mistake, l };
	struct ss_error err = { 0 };
	struct arena arena;
	const struct reading r = { .arena = &arena, .err = &err };
	struct prompt *prompts;
	size_t count;

	if (list == NULL)
		return;
	arena_init(&arena, 0);
	prompt_parse(&r, list, &listener, &prompts, &count);
	arena_release(&arena);
}

void
lint_frontmatter(const struct frontmatter *f, const struct ss_pair *server,
	size_t server_count, lint_fn fn, void *ctx)
{
	struct lint l = { .front = f,
		.scope = { .server = server,
			.server_count = server_count,
			.page = &f->env },
		.fn = fn,
		.ctx = ctx };

	lint_network(&l, &f->sandbox);
	for (size_t i = 0; i < f->spec_count; i++)
		lint_spec(&l, &f->specs[i]);
	lint_prompts(&l, node_member(f->root, "prompts"));
}
