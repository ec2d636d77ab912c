/* SPDX-License-Identifier: MIT */
/*
 * statespace-tool from its command line to its exit status.  What becomes an
 * error of the call goes to SPAWN_REPORT_FD; other failures (no such file, no
 * match) go to standard error with status 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "run/spawn.h"
#include "tools/files.h"
#include "tools/parts.h"

#define INPUT_BYTES TOOL_FILE_BYTES
#define FLUSH_BYTES 65536

struct job {
	struct tool_words words;
	struct tool_setting setting;
	struct arena arena;
	struct buf out;
	int dir;
	bool gone; /* standard output is closed */
	struct ss_error err;
};

bool
tool_report(enum ss_err code, const char *message, const char *hint)
{
	char text[1024];
	int n = snprintf(text, sizeof(text), "%s\n%.600s\n%.300s\n",
		ss_err_code(code), message, hint != NULL ? hint : "");

	return n > 0 && (size_t)n < sizeof(text) &&
		write(SPAWN_REPORT_FD, text, (size_t)n) == n;
}

/* ---------------------------------------------------------------- output */

static void
flush_output(struct job *j)
{
	if (j->out.len > 0)
		j->gone |= fd_write_all(
				   STDOUT_FILENO, j->out.data, j->out.len) != 0;
	buf_clear(&j->out);
}

static void
print_error(const char *text)
{
	struct buf line = BUF_INIT(2048);

	if (buf_printf(&line, "%s\n", text))
		fd_write_all(STDERR_FILENO, line.data, line.len);
	buf_release(&line);
}

static enum ss_err
show_names(struct job *j, const struct tool_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		if (!buf_printf(&j->out, "%s\n", names->items[i]))
			return error_memory(&j->err);
	flush_output(j);
	if (names->truncated)
		print_error("truncated");
	return SS_OK;
}

/* ------------------------------------------------------------ operations */

static enum ss_err
do_glob(struct job *j)
{
	struct tool_names names;
	enum ss_err code = tool_glob(&j->arena, j->dir, j->words.operands[0],
		j->setting.items, &names, &j->err);

	return code == SS_OK ? show_names(j, &names) : code;
}

static enum ss_err
do_read(struct job *j)
{
	const struct tool_range range = {
		.bytes = j->words.bytes,
		.first = j->words.first,
		.last = j->words.last,
	};
	struct buf whole = BUF_INIT(TOOL_FILE_BYTES);
	enum ss_err code = tool_read(
		j->dir, j->words.operands[0], &range, &whole, &j->err);

	if (code == SS_OK && whole.len > 0)
		j->gone =
			fd_write_all(STDOUT_FILENO, whole.data, whole.len) != 0;
	if (code == SS_OK && whole.full)
		print_error("truncated");
	buf_release(&whole);
	return code;
}

static enum ss_err
do_write(struct job *j)
{
	const struct tool_words *w = &j->words;
	struct buf input = BUF_INIT(INPUT_BYTES);
	struct ss_text text = TEXT("");
	enum ss_err code = SS_OK;

	if (w->operand_count == 2)
		text = text_of(w->operands[1]);
	else if (fd_read_all(STDIN_FILENO, &input) != 0 || input.full)
		code = error_set(&j->err, SS_BAD_REQUEST,
			"write: standard input cannot be read, or is too long");
	else
		text = buf_view(&input);
	if (code == SS_OK)
		code = tool_write(j->dir, w->operands[0], text.data, text.len,
			w->new_only, &j->err);
	if (code == SS_OK)
		buf_printf(&j->out, "%zu bytes written\n", text.len);
	buf_release(&input);
	return code;
}

static enum ss_err
do_edit(struct job *j)
{
	const struct tool_words *w = &j->words;
	struct tool_edit edit = { .old = text_of(w->operands[1]),
		.replacement = text_of(w->operands[2]),
		.all = w->all };
	enum ss_err code = tool_edit(j->dir, w->operands[0], &edit, &j->err);

	if (code == SS_OK)
		buf_printf(&j->out, "%zu replaced\n", edit.count);
	return code;
}

/* What grep has shown. */
struct shown {
	struct job *job;
	size_t hits;
	char last[4096]; /* with -l: the path that was named last */
	bool truncated;
};

static bool
show_line(void *ctx, const struct tool_line *line)
{
	struct shown *s = ctx;
	struct job *j = s->job;
	char mark = line->hit ? ':' : '-';

	if (j->words.brief) {
		if (strcmp(s->last, line->path) == 0)
			return true;
		snprintf(s->last, sizeof(s->last), "%s", line->path);
		buf_printf(&j->out, "%s\n", line->path);
	} else {
		if (line->gap && (j->words.before > 0 || j->words.after > 0))
			buf_text(&j->out, "--\n");
		buf_printf(&j->out, "%s%c%llu%c", line->path, mark,
			(unsigned long long)line->number, mark);
		buf_add(&j->out, line->text.data, line->text.len);
		buf_char(&j->out, '\n');
	}
	if (j->out.len >= FLUSH_BYTES)
		flush_output(j);
	s->hits += line->hit;
	s->truncated = s->hits == j->setting.items;
	return !j->gone && !s->truncated && buf_ok(&j->out);
}

static enum ss_err
do_grep(struct job *j)
{
	const struct tool_words *w = &j->words;
	const struct tool_search what = {
		.pattern = w->operands[0],
		.fixed = w->fixed,
		.ignore_case = w->ignore_case,
		.include = w->include,
		.before = w->brief ? 0 : w->before,
		.after = w->brief ? 0 : w->after,
	};
	struct shown s = { .job = j };
	enum ss_err code = SS_OK;

	for (size_t i = 1; code == SS_OK && !s.truncated &&
		i < (w->operand_count > 1 ? w->operand_count : 2);
		i++)
		code = tool_grep(j->dir,
			w->operand_count > 1 ? w->operands[i] : "", &what,
			show_line, &s, &j->err);
	flush_output(j);
	if (s.truncated)
		print_error("truncated");
	if (code == SS_OK && s.hits == 0)
		j->err.code = SS_NOT_FOUND; /* status 1, as grep(1) */
	return code == SS_OK ? j->err.code : code;
}

static bool
show_stat(struct buf *out, const char *path, const struct tool_stat *st)
{
	time_t when = (time_t)st->mtime_s;
	struct tm tm = { 0 };
	char text[32];

	gmtime_r(&when, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return buf_printf(out, "%s %04o %llu %s %s\n", st->type, st->mode,
		(unsigned long long)st->size, text, path);
}

static enum ss_err
do_stat(struct job *j)
{
	enum ss_err code = SS_OK;
	struct tool_stat st;

	for (size_t i = 0; code == SS_OK && i < j->words.operand_count; i++) {
		const char *path = j->words.operands[i];

		code = tool_stat(j->dir, path, &st, &j->err);
		if (code == SS_OK && !show_stat(&j->out, path, &st))
			code = error_memory(&j->err);
	}
	return code;
}

/* Shows each entry as stat does. */
static enum ss_err
show_details(struct job *j, const char *path, const struct tool_names *names)
{
	struct tool_stat st;

	for (size_t i = 0; i < names->count; i++) {
		const char *below = arena_printf(&j->arena, "%s%s%s", path,
			path[0] != '\0' ? "/" : "", names->items[i]);

		if (below == NULL)
			return error_memory(&j->err);
		if (tool_stat(j->dir, below, &st, NULL) == SS_OK)
			show_stat(&j->out, names->items[i], &st);
	}
	flush_output(j);
	if (names->truncated)
		print_error("truncated");
	return SS_OK;
}

static enum ss_err
do_ls(struct job *j)
{
	const char *path =
		j->words.operand_count > 0 ? j->words.operands[0] : "";
	struct tool_names names;
	enum ss_err code = tool_ls(
		&j->arena, j->dir, path, j->setting.items, &names, &j->err);

	if (code != SS_OK)
		return code;
	return j->words.details ? show_details(j, path, &names)
				: show_names(j, &names);
}

static enum ss_err
run_operation(struct job *j)
{
	switch (j->words.op) {
	case OP_GLOB: return do_glob(j);
	case OP_READ: return do_read(j);
	case OP_WRITE: return do_write(j);
	case OP_EDIT: return do_edit(j);
	case OP_GREP: return do_grep(j);
	case OP_STAT: return do_stat(j);
	case OP_LS: return do_ls(j);
	}
	return error_internal(&j->err, 0, "an unknown operation");
}

/* ------------------------------------------------------------------ main */

/* Normalizes "./a//b/" to a/b, for output. */
static const char *
normalize_path(struct arena *arena, const char *path)
{
	char *copy = arena_copy(arena, path, strlen(path)), *out = copy;
	size_t n;

	if (copy == NULL || path[0] == '/')
		return copy;
	for (; *path != '\0'; path += n) {
		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n == 0 || (n == 1 && path[0] == '.'))
			continue;
		if (out != copy)
			*out++ = '/';
		memcpy(out, path, n);
		out += n;
	}
	*out = '\0';
	return copy;
}

static bool
tidy_paths(struct job *j)
{
	struct tool_words *w = &j->words;
	size_t first = w->op == OP_GREP, last = w->operand_count;

	if (w->op == OP_GLOB || w->op == OP_WRITE || w->op == OP_EDIT)
		last = w->op == OP_GLOB ? 0 : 1;
	for (size_t i = first; i < last; i++)
		if ((w->operands[i] = normalize_path(
			     &j->arena, w->operands[i])) == NULL)
			return false;
	return true;
}

static int
exit_status(struct job *j, enum ss_err code)
{
	bool reported = false;

	flush_output(j);
	switch (code) {
	case SS_OK: return j->gone;
	case SS_BAD_REQUEST:
	case SS_NOT_ALLOWED:
	case SS_PATH_REFUSED:
	case SS_CAPABILITY_REFUSED:
		reported = tool_report(code, j->err.message, j->err.hint);
		break;
	default: break;
	}
	if (!reported && j->err.message[0] != '\0')
		print_error(j->err.message);
	if (!reported && j->err.hint[0] != '\0')
		print_error(j->err.hint);
	return code == SS_BAD_REQUEST ? 2 : 1;
}

int
tool_main(int argc, char **argv)
{
	static struct job j;
	char *const *words;
	enum ss_err code;
	int status;

	j = (struct job){ .dir = -1, .out = BUF_INIT(TOOL_FILE_BYTES) };
	words = argc > 0 ? tool_settings_read(argv, &j.setting) : NULL;
	if (words == NULL) {
		print_error("usage: statespace-tool -- TOOL [WORD...]");
		return 2;
	}
	arena_init(&j.arena, 0);
	code = tool_words_read(words, &j.words, &j.err);
	if (code == SS_OK && !tidy_paths(&j))
		code = error_memory(&j.err);
	if (code == SS_OK) {
		j.dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
		code = j.dir < 0 ? tool_failed(errno, ".", "enter", &j.err)
				 : run_operation(&j);
	}
	status = exit_status(&j, code);
	fd_close(&j.dir);
	buf_release(&j.out);
	arena_release(&j.arena);
	return status;
}
