/* SPDX-License-Identifier: MIT */
/*
 * What a page names in the file system: its programs, the paths that it asks
 * for, and author's words that look like files.  A word is only text to the
 * server, so that what merely might be a file is passed over.
 */
#include <ctype.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/error.h"
#include "commands/question.h"
#include "run/spawn.h"
#include "sandbox/grant_path.h"
#include "sandbox/policy.h"
#include "site/script.h"

/* ---------------------------------------------------------------- programs */

static bool
is_folder(const char *path, int dir_fd)
{
	struct stat st;

	return strchr(path, '/') != NULL &&
		fstatat(dir_fd, path, &st, 0) == 0 && S_ISDIR(st.st_mode);
}

/* Where administrators and package managers put programs besides. */
static bool
find_elsewhere(const char *name, char *path, size_t cap)
{
	static const char *const folders[] = { "/usr/local/sbin", "/usr/sbin",
		"/sbin", "/snap/bin", "/opt/bin", "/usr/games" };
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		snprintf(path, cap, "%s/%s", folders[i], name);
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
			return true;
	}
	return false;
}

static void
warn_of_name(struct check *c, const char *program, const char *word,
	struct node_place at)
{
	char message[512], hint[PATH_MAX + 64], path[PATH_MAX];

	snprintf(message, sizeof(message), "the program %s is not installed",
		word);
	if (word[0] == '$' || !find_elsewhere(program, path, sizeof(path))) {
		check_warn(c, WARN_INSTALLED, at, message,
			"install it, or correct its name");
		return;
	}
	snprintf(hint, sizeof(hint),
		"it is not in the PATH of tools: name it by its path, %s",
		path);
	check_warn(c, WARN_INSTALLED, at, message, hint);
}

/* By a path from the page, by a name in PATH, or built in. */
static bool
ask_program(struct questions *q, const struct right *right, const char *program,
	const char *word, struct node_place at)
{
	const struct question item = {
		.of = QUESTION_PROGRAM, .name = word, .right = right, .at = at
	};
	char path[PATH_MAX];

	if (strchr(program, '/') != NULL) {
		if (question_path(q->check, right->ask.page_dir, program, path))
			return question_add(q, &item, REACH_RUN, path);
	} else if (tool_find(program) != NULL) {
		return true;
	} else if (spawn_find(program, path, sizeof(path))) {
		return question_add(q, &item, REACH_RUN, path);
	}
	warn_of_name(q->check, program, word, at);
	return true;
}

/* "jq?" may be absent; "lib/" is all programs below it. */
static bool
ask_exec(struct questions *q, const struct right *right,
	const struct name_list *exec, int dir_fd)
{
	bool done = true;

	for (size_t i = 0; i < exec->count && done; i++)
		if (!text_ends(text_of(exec->names[i]), "?") &&
			!is_folder(exec->names[i], dir_fd))
			done = ask_program(q, right, exec->names[i],
				exec->names[i],
				(struct node_place){
					exec->line, exec->column });
	return done;
}

/* ---------------------------------------------------------- granted paths */

/* A read of the site that page and operator must both name. */
static void
warn_of_hidden(struct check *c, const struct right *right,
	const struct name_list *list, const char *name)
{
	char message[PATH_MAX + 128], hint[PATH_MAX + 64];

	if (policy_read_holds(&right->ask, &c->site->grant, name))
		return;
	snprintf(message, sizeof(message),
		"read: %s is not given: a dot entry on the way to the page is "
		"open to tools when page and operator both name it",
		name);
	snprintf(hint, sizeof(hint),
		"have the operator add it: [grant] read = [\"%s\"]", name);
	check_warn(c, WARN_GRANT,
		(struct node_place){ list->line, list->column }, message, hint);
}

static bool
ask_paths(struct questions *q, const struct right *right,
	const struct name_list *list, const char *key, enum reach_what what)
{
	const struct grant *g = &q->check->site->grant;
	const char *site = question_in_view(q->check) ? VIEW_SITE : g->root;
	struct question item = { .of = QUESTION_GRANT,
		.key = key,
		.right = right,
		.at = { list->line, list->column } };
	char path[PATH_MAX];
	bool done = true;

	for (size_t i = 0; i < list->count && done; i++) {
		item.name = list->names[i];
		if (grant_path_inside(item.name, g->root, site, path,
			    sizeof(path), &item.may_be_absent))
			done = question_add(q, &item, what, path);
		if (what == REACH_READ)
			warn_of_hidden(q->check, right, list, item.name);
	}
	return done;
}

static bool
ask_wants(struct questions *q, const struct right *right)
{
	const struct wants *w = &right->powers.asked;

	return ask_paths(q, right, &w->read, "read", REACH_READ) &&
		ask_paths(q, right, &w->write, "write", REACH_WRITE) &&
		ask_paths(q, right, &w->unix_sockets, "unix", REACH_WRITE);
}

/* ------------------------------------------------------------------- words */

/* The first operand of the first is a pattern, of the second a script. */
static const char *const takes_pattern[] = { "grep", "egrep", "fgrep", "rg",
	"sed", "awk", "gawk", "mawk", "jq", "expr", "tr" };
static const char *const takes_script[] = { "sh", "bash", "dash", "ash", "ksh",
	"zsh", "python", "perl", "ruby", "node", "php", "lua", "Rscript" };
/* Their words name what need not be there. */
static const char *const makes_files[] = { "touch", "mkdir", "tee", "cp", "mv",
	"ln", "install", "dd", "rm", "rmdir", "test", "[", "echo", "printf",
	"basename", "dirname", "split", "truncate", "find" };
/* Options with what will be written, or with text. */
static const char *const takes_output[] = { "-o", "-O", "--output", "--out",
	"-c", "-e", "-m", "-E", "-D", "-H", "-F", "--format", "-name",
	"-path" };
static const char *const endings[] = { "awk", "bz2", "c", "cfg", "conf", "csv",
	"css", "dat", "db", "dot", "gz", "html", "ini", "ipynb", "jpg", "js",
	"json", "jsonl", "log", "lua", "md", "mjs", "parquet", "pdf", "php",
	"pl", "pm", "png", "py", "rb", "sed", "sh", "sql", "sqlite", "sqlite3",
	"svg", "tar", "tgz", "toml", "ts", "tsv", "txt", "xml", "xz", "yaml",
	"yml", "zip" };

static bool
is_one_of(const char *word, size_t len, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(list[i]) == len && memcmp(list[i], word, len) == 0)
			return true;
	return false;
}
#define IS_ONE_OF(word, list)                                                  \
	is_one_of(word, strlen(word), list, ARRAY_LEN(list))

/* "/usr/bin/python3.11" is python. */
static bool
runs_scripts(const char *program)
{
	const char *slash = strrchr(program, '/');
	const char *name = slash != NULL ? slash + 1 : program;
	size_t n = strcspn(name, "0123456789");

	return is_one_of(name, n, takes_script, ARRAY_LEN(takes_script));
}

static bool
has_ending(const char *word)
{
	const char *slash = strrchr(word, '/');
	const char *name = slash != NULL ? slash + 1 : word;
	const char *dot = strrchr(name, '.');

	return dot != NULL && dot > name && IS_ONE_OF(dot + 1, endings);
}

/* Only characters of plain paths, with at least one letter or digit. */
static bool
is_plain(const char *word)
{
	bool named = false;

	for (; *word != '\0'; word++) {
		if (!isalnum((unsigned char)*word) &&
			strchr("._/+@-", *word) == NULL)
			return false;
		named |= isalnum((unsigned char)*word) != 0;
	}
	return named;
}

/* Has the host the first directory of an absolute path? */
static bool
has_top(const char *path)
{
	char top[NAME_MAX + 2];
	size_t n = strcspn(path + 1, "/");
	struct stat st;

	return n > 0 && n < NAME_MAX &&
		snprintf(top, sizeof(top), "/%.*s", (int)n, path + 1) > 0 &&
		stat(top, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool
has_folder(const char *path, int dir_fd)
{
	char folder[PATH_MAX];
	struct stat st;

	snprintf(folder, sizeof(folder), "%.*s", (int)strcspn(path, "/"), path);
	return strchr(path, '/') != NULL &&
		fstatat(dir_fd, folder, &st, 0) == 0 && S_ISDIR(st.st_mode);
}

/* Would a reader take the word for a file? */
static bool
looks_like_file(const char *word, int dir_fd)
{
	if (!is_plain(word) || word[0] == '-')
		return false;
	if (word[0] == '/')
		return has_top(word);
	return strncmp(word, "./", 2) == 0 || strncmp(word, "../", 3) == 0 ||
		has_ending(word) || has_folder(word, dir_fd);
}

/* One tool, its words from left to right. */
struct words {
	struct questions *questions;
	const struct right *right;
	int dir_fd;
	bool makes;   /* words may name what is not there */
	bool pattern; /* the first operand is one */
	bool script;  /* the first operand is one */
	bool skip;    /* the next word belongs to an option */
};

/* An option that takes the next word: an output file, code, a module. */
static bool
takes_next(const struct words *w, const char *option)
{
	size_t n = strlen(option);

	return IS_ONE_OF(option, takes_output) ||
		(w->script && option[1] != '-' && n > 1 &&
			strchr("ceEm", option[n - 1]) != NULL);
}

/* "--config=/etc/x" */
static const char *
value_of(const char *option)
{
	const char *value = strchr(option, '=');

	return value != NULL && value[1] == '/' ? value + 1 : NULL;
}

static void
warn_of_climbing(struct check *c, const char *word, struct node_place at)
{
	char message[PATH_MAX + 64];

	snprintf(message, sizeof(message),
		"%s leads out of the site, where tools see nothing", word);
	check_warn(c, WARN_FILE, at, message,
		"name it by its whole path, ask to read it, and have the "
		"operator add it to [grant] read");
}

/* Output files lie where the tool may write. */
static bool
ask_file(struct words *w, const char *word, struct node_place at)
{
	struct question item = { .of = QUESTION_WORD,
		.name = word,
		.right = w->right,
		.at = at,
		.may_be_absent = w->makes };
	char path[PATH_MAX];

	if (!question_path(
		    w->questions->check, w->right->ask.page_dir, word, path)) {
		warn_of_climbing(w->questions->check, word, at);
		return true;
	}
	return question_add(w->questions, &item, REACH_READ, path);
}

static bool
take_option(struct words *w, const char *option, struct node_place at)
{
	const char *value = value_of(option);

	w->skip = takes_next(w, option);
	w->script &= !w->skip;
	return value == NULL || IS_ONE_OF(option, takes_output) ||
		!looks_like_file(value, w->dir_fd) || ask_file(w, value, at);
}

static bool
take_word(struct words *w, const char *word, struct node_place at)
{
	bool passed = w->skip || w->pattern || strchr(word, '$') != NULL;
	bool script = w->script && is_plain(word);

	if (!w->skip && word[0] == '-')
		return take_option(w, word, at);
	if (!w->skip)
		w->pattern = w->script = false;
	w->skip = false;
	return passed || (!script && !looks_like_file(word, w->dir_fd)) ||
		ask_file(w, word, at);
}

static void
begin_words(struct words *w, const struct part *first)
{
	const char *program = first->text.data;

	w->makes = IS_ONE_OF(program, makes_files);
	w->pattern = IS_ONE_OF(program, takes_pattern);
	w->script = runs_scripts(program);
}

/* The defaults of paths that must exist. */
static bool
ask_defaults(struct words *w, const struct spec *command)
{
	bool done = true;

	for (size_t i = 0; i < command->part_count && done; i++) {
		const struct argument *a = part_argument(&command->parts[i]);

		if (a != NULL && a->exists && a->initial != NULL)
			done = ask_file(w, a->initial,
				(struct node_place){ a->line, a->column });
	}
	return done;
}

/* The words of one command line: of the tool, or of a stage of its pipe. */
static bool
ask_words(struct questions *q, const struct spec *command, bool script,
	const struct right *right, int dir_fd)
{
	struct words w = { .questions = q, .right = right, .dir_fd = dir_fd };
	bool done = ask_defaults(&w, command);

	if (command->part_count == 0 || !done)
		return done;
	if (!script &&
		(command->parts[0].kind != PART_TEXT ||
			tool_find(command->parts[0].text.data) != NULL))
		return true; /* the agent's, or built in: it checks its words */
	if (!script)
		begin_words(&w, &command->parts[0]);
	for (size_t i = !script; i < command->part_count && done; i++) {
		const struct part *p = &command->parts[i];

		if (p->kind == PART_TEXT)
			done = take_word(&w, p->text.data,
				(struct node_place){ p->line, p->column });
		else
			w.skip = w.pattern = w.script = false;
	}
	return done;
}

/* ------------------------------------------------------------ the whole */

/* The programs that a tool starts by its author's words. */
static bool
ask_programs(struct questions *q, const struct right *right)
{
	const struct policy_ask *ask = &right->ask;
	bool done = true;

	if (ask->program != NULL && ask->helper == NULL)
		done = ask_program(
			q, right, ask->program, ask->word, ask->program_at);
	for (size_t i = 0; i < ask->more_count && done; i++)
		if (ask->more[i].helper == NULL)
			done = ask_program(q, right, ask->more[i].name,
				ask->more[i].word, ask->more[i].at);
	return done;
}

/* A call of the tool is refused for the same reason. */
static void
check_script(struct check *c, const struct spec *spec,
	const struct right *right, int dir_fd)
{
	struct ss_error err = { 0 };
	struct script script;

	if (spec->script != NULL &&
		script_read(&c->site->documents, right->ask.page_dir, dir_fd,
			spec->script, &script, &err) != SS_OK)
		check_error(c, right->ask.program_at, &err);
}

static bool
ask_tool(struct questions *q, const struct spec *spec,
	const struct right *right, int dir_fd)
{
	size_t count;
	const struct spec *commands = spec_commands(spec, &count);
	bool done = ask_programs(q, right) &&
		ask_exec(q, right, &spec->wants.exec, dir_fd) &&
		ask_wants(q, right);

	check_script(q->check, spec, right, dir_fd);
	for (size_t i = 0; i < count && done; i++)
		done = ask_words(
			q, &commands[i], spec->script != NULL, right, dir_fd);
	return done;
}

enum ss_err
check_files(struct check *c, const struct page *page,
	const struct ss_document *doc, struct ss_error *err)
{
	const struct frontmatter *front = &page->front;
	const struct right *blocks = &page->rights.component;
	struct questions q = { .check = c };
	bool done = ask_exec(&q, blocks, &front->sandbox.exec, doc->dir_fd);

	if (page->has_components &&
		policy_check(&blocks->ask, &c->site->grant, NULL, NULL) ==
			SS_OK)
		done = done && ask_wants(&q, blocks);
	for (size_t i = 0; i < front->spec_count && done; i++)
		done = ask_tool(&q, &front->specs[i], &page->rights.tools[i],
			doc->dir_fd);
	return done ? question_ask(&q, err) : error_memory(err);
}
