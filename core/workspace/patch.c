/* SPDX-License-Identifier: MIT */
/* The parts of a patch, file by file; deletions come first. */
#include "workspace/patch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <unistd.h>

#include "base/fd.h"
#include "workspace/at.h"

/* What git looks at to tell text from the rest: buffer_is_binary. */
#define LOOK 8000

#define GIT_LINK 0120000u
#define NO_BLOB "0000000000000000000000000000000000000000"

struct patch {
	const struct workspace *w;
	struct buf out;
	bool (*put)(void *ctx, const char *data, size_t len);
	void *ctx;
	int number; /* errno of what failed */
};

/* --------------------------------------------------------------- names -- */

static bool
needs_quotes(const char *path)
{
	for (; *path != '\0'; path++)
		if ((unsigned char)*path < ' ' || (unsigned char)*path > '~' ||
			*path == '"' || *path == '\\')
			return true;
	return false;
}

static void
put_quoted(struct buf *out, const char *path)
{
	static const char escapes[] = "a\ab\bt\tn\nv\vf\fr\r\"\"\\\\";
	const char *e;

	for (; *path != '\0'; path++) {
		for (e = escapes; *e != '\0' && e[1] != *path; e += 2)
			;
		if (*e != '\0')
			buf_printf(out, "\\%c", *e);
		else if (*path < ' ' || *path > '~')
			buf_printf(out, "\\%03o", (unsigned char)*path);
		else
			buf_char(out, *path);
	}
}

static void
put_name(struct buf *out, const char *prefix, const char *path)
{
	if (!needs_quotes(path)) {
		buf_printf(out, "%s%s", prefix, path);
		return;
	}
	buf_printf(out, "\"%s", prefix);
	put_quoted(out, path);
	buf_char(out, '"');
}

/* A name with a blank ends with a tab there. */
static void
put_side_name(
	struct buf *out, const char *sign, const char *prefix, const char *path)
{
	buf_text(out, sign);
	if (path == NULL) {
		buf_text(out, "/dev/null\n");
		return;
	}
	put_name(out, prefix, path);
	buf_text(out,
		strchr(path, ' ') != NULL && !needs_quotes(path) ? "\t\n"
								 : "\n");
}

static void
put_note(struct buf *out, const char *path, const char *what)
{
	buf_text(out, "# ");
	put_name(out, "", path);
	buf_printf(out, ": %s\n", what);
}

/* ------------------------------------------------------------- contents -- */

static uint32_t
git_mode(const struct change_side *side)
{
	if (side->kind == CHANGE_LINK)
		return GIT_LINK;
	return (side->mode & 0100) != 0 ? 0100755 : 0100644;
}

/* Bytes of a file, or the target of a link.  0 or errno. */
static int
read_side(int root, const char *path, const struct change_side *side, bool own,
	struct buf *out)
{
	const char *name;
	int dir, fd, number;
	char target[PATH_MAX];
	ssize_t n;

	if (side->kind != CHANGE_FILE && side->kind != CHANGE_LINK)
		return 0;
	dir = at_parent(root, path, &name);
	if (dir < 0)
		return errno;
	if (side->kind == CHANGE_LINK) {
		n = readlinkat(dir, name, target, sizeof(target));
		number = n < 0 ? errno : 0;
		if (number == 0 && !buf_add(out, target, (size_t)n))
			number = ENOMEM;
	} else {
		fd = own ? at_read(dir, name, O_RDONLY | O_NONBLOCK)
			 : openat(dir, name,
				   O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
					   O_CLOEXEC);
		number = fd < 0 ? errno : fd_read_all(fd, out);
		if (number == 0 && out->full)
			number = EFBIG;
		fd_close(&fd);
	}
	fd_close(&dir);
	return number;
}

static bool
is_binary(struct ss_text t)
{
	return t.len > 0 &&
		memchr(t.data, '\0', t.len < LOOK ? t.len : LOOK) != NULL;
}

static void
put_blob(struct buf *out, const struct change_side *side, struct ss_text data)
{
	char hex[DIGEST_GIT_HEX + 1] = NO_BLOB;

	if (side->kind != CHANGE_NONE)
		digest_git(data.data, data.len, hex);
	buf_text(out, hex);
}

/* ------------------------------------------------------------- one file -- */

static void
put_head(struct patch *p, const char *from, const char *path,
	const struct change_side *was, const struct change_side *now)
{
	struct buf *out = &p->out;

	buf_text(out, "diff --git ");
	put_name(out, "a/", from);
	buf_char(out, ' ');
	put_name(out, "b/", path);
	buf_char(out, '\n');
	if (was->kind == CHANGE_NONE)
		buf_printf(out, "new file mode %" PRIo32 "\n", git_mode(now));
	else if (now->kind == CHANGE_NONE)
		buf_printf(
			out, "deleted file mode %" PRIo32 "\n", git_mode(was));
	else if (git_mode(was) != git_mode(now))
		buf_printf(out, "old mode %" PRIo32 "\nnew mode %" PRIo32 "\n",
			git_mode(was), git_mode(now));
}

static void
put_content(struct patch *p, const char *path, const struct change_side *was,
	const struct change_side *now, struct ss_text left,
	struct ss_text right)
{
	struct buf *out = &p->out;
	bool both = was->kind != CHANGE_NONE && now->kind != CHANGE_NONE;
	bool ok = true;

	if (both && text_equal(left, right))
		return;
	buf_text(out, "index ");
	put_blob(out, was, left);
	buf_text(out, "..");
	put_blob(out, now, right);
	if (both && git_mode(was) == git_mode(now))
		buf_printf(out, " %" PRIo32, git_mode(now));
	buf_char(out, '\n');
	if (is_binary(left) || is_binary(right)) {
		ok = patch_literal(out, right);
	} else if (left.len + right.len > 0) {
		put_side_name(out, "--- ", "a/",
			was->kind != CHANGE_NONE ? path : NULL);
		put_side_name(out, "+++ ", "b/",
			now->kind != CHANGE_NONE ? path : NULL);
		ok = patch_hunks(out, left, right);
	}
	if (!ok)
		p->number = ENOMEM;
}

static void
put_file(struct patch *p, const char *path, const struct change_side *was,
	const struct change_side *now)
{
	struct buf left = BUF_INIT(PATCH_FILE_MAX);
	struct buf right = BUF_INIT(PATCH_FILE_MAX);
	int number = read_side(p->w->base, path, was, false, &left);

	if (number == 0)
		number = read_side(p->w->upper, path, now, true, &right);
	if (number == EFBIG) {
		put_note(&p->out, path, "too large for a patch");
	} else if (number != 0) {
		p->number = number;
	} else {
		put_head(p, path, path, was, now);
		put_content(
			p, path, was, now, buf_view(&left), buf_view(&right));
	}
	buf_release(&left);
	buf_release(&right);
}

/* A side that git has no object for. */
static bool
is_for_git(const struct change_side *side)
{
	return side->kind == CHANGE_FILE || side->kind == CHANGE_LINK;
}

static void
put_notes(struct patch *p, const struct change *c)
{
	bool file = c->now.kind == CHANGE_FILE;

	if (c->attributes)
		put_note(&p->out, c->path,
			"git does not record extended attributes");
	if (file && c->was.kind == CHANGE_FILE &&
		git_mode(&c->was) == git_mode(&c->now) &&
		c->was.mode != c->now.mode)
		put_note(&p->out, c->path,
			"git does not record this change of its mode");
	if (c->now.kind == CHANGE_DIRECTORY || c->now.kind == CHANGE_OTHER)
		put_note(&p->out, c->path,
			c->now.kind == CHANGE_OTHER
				? "a device, pipe or socket"
				: "git does not record directories");
}

static const struct change_side none;

/* What has another kind is deleted and added, as git does. */
static bool
is_replaced(const struct change *c)
{
	return c->was.kind != c->now.kind;
}

static void
put_deletion(struct patch *p, const struct change *c)
{
	if (c->op != 'R' && is_for_git(&c->was) && is_replaced(c))
		put_file(p, c->path, &c->was, &none);
}

static void
put_rest(struct patch *p, const struct change *c)
{
	put_notes(p, c);
	if (c->op == 'R') {
		put_head(p, c->from, c->path, &c->was, &c->now);
		buf_text(&p->out, "similarity index 100%\nrename from ");
		put_name(&p->out, "", c->from);
		buf_text(&p->out, "\nrename to ");
		put_name(&p->out, "", c->path);
		buf_char(&p->out, '\n');
	} else if (is_for_git(&c->now)) {
		bool same_kind = !is_replaced(c);

		if (same_kind && !c->content &&
			git_mode(&c->was) == git_mode(&c->now))
			return;
		put_file(p, c->path, same_kind ? &c->was : &none, &c->now);
	}
}

enum ss_err
patch_write(const struct workspace *w, const struct changes *c,
	bool (*put)(void *ctx, const char *data, size_t len), void *ctx,
	struct ss_error *err)
{
	struct patch p = {
		.w = w, .out = BUF_INIT(SIZE_MAX / 2), .put = put, .ctx = ctx
	};
	enum ss_err code = SS_OK;

	for (size_t i = 0; code == SS_OK && i < 2 * c->count; i++) {
		buf_clear(&p.out);
		if (i < c->count)
			put_deletion(&p, &c->items[i]);
		else
			put_rest(&p, &c->items[i - c->count]);
		if (!buf_ok(&p.out) || p.number != 0)
			code = error_internal(err,
				p.number != 0 ? p.number : ENOMEM,
				"a patch of %s", w->id);
		else if (p.out.len > 0 && !put(ctx, p.out.data, p.out.len))
			code = error_set(err, SS_GONE, "the reader left");
	}
	buf_release(&p.out);
	return code;
}
