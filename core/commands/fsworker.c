/* SPDX-License-Identifier: MIT */
/*
 * The file worker: a confined process that answers frames with the operations
 * of the file tools below the site's directory.  A wrong message is answered
 * with an error; a frame that is cut or too long ends the worker.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "site/site.h"
#include "tools/files.h"
#include "wire/frame.h"
#include "wire/json.h"
#include "wire/proto.h"

/* Names or lines of one answer: more do not fit into a frame. */
#define ITEMS_MAX 65536

struct worker {
	struct ss_site *site;
	struct arena arena;
	struct frame_request in;
	struct buf out; /* the answer's JSON */
	bool over;      /* end after this answer */
	struct ss_error err;
};

/* ----------------------------------------------------------------- paths -- */

/*
 * Makes a path relative to the root, which the peer may name.  Removes slashes
 * at the end and "." at the start.
 */
static enum ss_err
path_below(struct worker *w, const char *path, const char **out)
{
	const char *root = w->site->config.root;
	size_t n = strlen(root), len;

	*out = NULL;
	if (path[0] == '/') {
		if (strncmp(path, root, n) != 0 ||
			(path[n] != '/' && path[n] != '\0'))
			return error_set(&w->err, SS_PATH_REFUSED,
				"the path is not below this worker's root");
		path += n;
		path += strspn(path, "/");
	}
	while (path[0] == '.' && (path[1] == '/' || path[1] == '\0'))
		path += path[1] == '/' ? 2 + strspn(path + 2, "/") : 1;
	len = strlen(path);
	while (len > 0 && path[len - 1] == '/')
		len--;
	*out = arena_copy(&w->arena, path, len);
	return *out != NULL ? SS_OK : error_memory(&w->err);
}

/* Writes a path found below a root as the peer named the root. */
static bool
write_path(struct worker *w, const char *found)
{
	const char *root = w->in.root;
	size_t n = strlen(root);
	const char *whole;

	while (n > 0 && root[n - 1] == '/')
		n--;
	whole = arena_printf(&w->arena, "%.*s%s%s", (int)n, root,
		root[0] != '\0' ? "/" : "", found);
	return whole != NULL && json_string(&w->out, whole, strlen(whole));
}

/* ------------------------------------------------------------- operations -- */

static enum ss_err
do_read(struct worker *w)
{
	const struct tool_range range = {
		.bytes = true,
		.first = 1,
		.last = w->in.has_max_bytes ? w->in.max_bytes : 0,
	};
	struct buf bytes = BUF_INIT(FRAME_BYTES);
	const char *path;
	enum ss_err code = path_below(w, w->in.path, &path);

	if (code == SS_OK && w->in.has_max_bytes && w->in.max_bytes == 0) {
		struct stat st; /* it need only be readable */
		int fd;

		code = tool_open(
			w->site->documents.root.fd, path, &fd, &st, &w->err);
		fd_close(&fd);
	} else if (code == SS_OK) {
		code = tool_read(w->site->documents.root.fd, path, &range,
			&bytes, &w->err);
	}
	if (code == SS_OK && bytes.full)
		w->out.full = true; /* too long for a frame */
	if (code == SS_OK) {
		buf_text(&w->out, "{\"kind\":\"read\",\"content\":");
		frame_bytes(&w->out, buf_view(&bytes));
		buf_char(&w->out, '}');
	}
	buf_release(&bytes);
	return code;
}

static enum ss_err
do_write(struct worker *w)
{
	const char *path;
	enum ss_err code = path_below(w, w->in.path, &path);

	if (code == SS_OK)
		code = tool_write(w->site->documents.root.fd, path,
			w->in.content.data, w->in.content.len, false, &w->err);
	if (code == SS_OK)
		buf_printf(&w->out,
			"{\"kind\":\"write\",\"bytes_written\":%zu}",
			w->in.content.len);
	return code;
}

static enum ss_err
do_edit(struct worker *w)
{
	struct tool_edit edit = { .old = w->in.old_string,
		.replacement = w->in.new_string,
		.all = true };
	const char *path;
	enum ss_err code = path_below(w, w->in.path, &path);

	if (code == SS_OK)
		code = tool_edit(
			w->site->documents.root.fd, path, &edit, &w->err);
	if (code == SS_OK)
		buf_printf(&w->out, "{\"kind\":\"edit\",\"replacements\":%zu}",
			edit.count);
	return code;
}

static enum ss_err
do_glob(struct worker *w)
{
	struct tool_names names;
	const char *root;
	int dir = -1;
	enum ss_err code = path_below(w, w->in.root, &root);

	if (code == SS_OK)
		code = tool_open_dir(
			w->site->documents.root.fd, root, &dir, &w->err);
	if (code == SS_OK)
		code = tool_glob(&w->arena, dir, w->in.pattern, ITEMS_MAX,
			&names, &w->err);
	fd_close(&dir);
	if (code != SS_OK)
		return code;
	w->out.full |= names.truncated;
	buf_text(&w->out, "{\"kind\":\"glob\",\"paths\":[");
	for (size_t i = 0; i < names.count && buf_ok(&w->out); i++) {
		buf_text(&w->out, i > 0 ? "," : "");
		if (!write_path(w, names.items[i]) && !w->out.full)
			return error_memory(&w->err);
	}
	buf_text(&w->out, "]}");
	return SS_OK;
}

static bool
write_line(void *ctx, const struct tool_line *line)
{
	struct worker *w = ctx;

	if (w->out.data[w->out.len - 1] == '}')
		buf_char(&w->out, ',');
	buf_text(&w->out, "{\"path\":");
	if (!write_path(w, line->path))
		return false;
	buf_printf(&w->out,
		",\"line\":%llu,\"text\":", (unsigned long long)line->number);
	json_string(&w->out, line->text.data, line->text.len);
	return buf_char(&w->out, '}');
}

static enum ss_err
do_grep(struct worker *w)
{
	const struct tool_search what = {
		.pattern = w->in.pattern,
		.include = w->in.include,
	};
	const char *root;
	int dir = -1;
	enum ss_err code = path_below(w, w->in.root, &root);

	if (code == SS_OK)
		code = tool_open_dir(
			w->site->documents.root.fd, root, &dir, &w->err);
	buf_text(&w->out, "{\"kind\":\"grep\",\"matches\":[");
	if (code == SS_OK)
		code = tool_grep(dir, "", &what, write_line, w, &w->err);
	buf_text(&w->out, "]}");
	fd_close(&dir);
	return code;
}

static enum ss_err
do_stat(struct worker *w)
{
	struct tool_stat st = { 0 };
	const char *path;
	enum ss_err code = path_below(w, w->in.path, &path);

	if (code == SS_OK)
		code = tool_stat(
			w->site->documents.root.fd, path, &st, &w->err);
	if (code == SS_OK)
		buf_printf(&w->out,
			"{\"kind\":\"stat\",\"size\":%llu,\"is_dir\":%s,"
			"\"is_symlink\":%s}",
			(unsigned long long)st.size,
			st.is_dir ? "true" : "false",
			st.is_symlink ? "true" : "false");
	return code;
}

/* [env] alone: the peer may not read the environment of the process. */
static const char *
variable_of(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->env_count; i++)
		if (strcmp(config->env[i].name, name) == 0)
			return config->env[i].value;
	return NULL;
}

static enum ss_err
do_get_env(struct worker *w)
{
	buf_text(&w->out, "{\"kind\":\"get_env\",\"values\":[");
	for (size_t i = 0; i < w->in.name_count; i++) {
		const char *value =
			variable_of(&w->site->config, w->in.names[i]);

		buf_text(&w->out, i > 0 ? "," : "");
		if (value != NULL)
			json_string(&w->out, value, strlen(value));
		else
			buf_text(&w->out, "null");
	}
	buf_text(&w->out, "]}");
	return SS_OK;
}

static enum ss_err
do_request(struct worker *w)
{
	switch (w->in.kind) {
	case FRAME_SHUTDOWN: w->over = true; /* fall through */
	case FRAME_PING: buf_text(&w->out, "{\"kind\":\"pong\"}"); return SS_OK;
	case FRAME_READ: return do_read(w);
	case FRAME_WRITE: return do_write(w);
	case FRAME_EDIT: return do_edit(w);
	case FRAME_GLOB: return do_glob(w);
	case FRAME_GREP: return do_grep(w);
	case FRAME_STAT: return do_stat(w);
	case FRAME_GET_ENV: return do_get_env(w);
	}
	return error_internal(&w->err, 0, "a kind that is none");
}

/* --------------------------------------------------------------- the wire -- */

/* 0; ENODATA: it ended before the first byte; EPROTO: after it; errno. */
static int
read_whole(int fd, void *out, size_t len)
{
	char *p = out;
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = read(fd, p + done, len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (n == 0)
			return done == 0 ? ENODATA : EPROTO;
		done += (size_t)n;
	}
	return 0;
}

static int
send_answer(struct worker *w, int out)
{
	unsigned char head[4];
	int number;

	frame_head(w->out.len, head);
	number = fd_write_all(out, (const char *)head, sizeof(head));
	return number != 0 ? number
			   : fd_write_all(out, w->out.data, w->out.len);
}

static void
write_error(struct worker *w, const char *code, const char *message)
{
	buf_clear(&w->out);
	frame_error(&w->out, code, message);
}

static void
answer_frame(struct worker *w, const char *text, size_t len)
{
	enum ss_err code;

	error_clear(&w->err);
	code = frame_parse(&w->arena, text, len, &w->in, &w->err);
	if (code == SS_OK)
		code = do_request(w);
	if (code != SS_OK)
		write_error(w, frame_code(code), w->err.message);
	else if (w->out.full)
		write_error(w, "protocol",
			"outgoing payload size exceeds max 1048576: ask for "
			"less");
	else if (w->out.failed)
		write_error(w, "internal", "out of memory");
}

/* Reads one frame and answers it.  0; ENODATA: the peer closed; errno. */
static int
serve_frame(struct worker *w, int in, int out)
{
	unsigned char head[4];
	char *text = NULL;
	int number = read_whole(in, head, sizeof(head));
	size_t len = frame_length(head);

	if (number != 0)
		return number;
	arena_clear(&w->arena);
	buf_clear(&w->out);
	if (len > FRAME_BYTES) {
		write_error(w, "protocol",
			"incoming payload size exceeds max 1048576");
		number = send_answer(w, out);
		return number != 0 ? number : EPROTO;
	}
	text = malloc(len + 1);
	if (text == NULL)
		return ENOMEM;
	number = len > 0 ? read_whole(in, text, len) : 0;
	if (number == 0) {
		answer_frame(w, text, len);
		number = send_answer(w, out);
	} else if (number == ENODATA) {
		number = EPROTO;
	}
	free(text);
	return number;
}

int
ss_site_fsworker(struct ss_site *site, int in, int out, bool *shut_down)
{
	struct worker w = { .site = site, .out = BUF_INIT(FRAME_BYTES) };
	int number = 0;

	*shut_down = false;
	if (!site->exec_state.is_worker ||
		sandbox_self()->level == SANDBOX_NONE)
		return ENOTSUP;
	arena_init(&w.arena, 0);
	while (number == 0 && !w.over)
		number = serve_frame(&w, in, out);
	*shut_down = w.over;
	arena_release(&w.arena);
	buf_release(&w.out);
	return number == ENODATA ? 0 : number;
}
