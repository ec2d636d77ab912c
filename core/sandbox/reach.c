/* SPDX-License-Identifier: MIT */
#include "sandbox/reach.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/program.h"
#include "sandbox/view_find.h"

#define LINKS_MAX 40    /* as the kernel, path_resolution(7) */
#define DEPTH 4         /* interpreters of interpreters */
#define PASSED_MAX 4096 /* bytes of a path that is still to be walked */

#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif

/* One path on its way through the view. */
struct walk {
	const struct sandbox_plan *plan;
	bool view;
	struct reach *r;
	char done[PATH_MAX]; /* walked, as the tool names it; "" is the root */
	char rest[PASSED_MAX]; /* what follows */
	char host[PATH_MAX];   /* what done is on the host */
	unsigned links;
};

/* --------------------------------------------------- in the account's child */

static bool
stop(struct walk *w, enum reach_end end, const char *at)
{
	struct stat st;

	w->r->end = end;
	snprintf(w->r->at, sizeof(w->r->at), "%.*s", PATH_MAX - 1, at);
	if (lstat(at, &st) == 0) {
		w->r->owner = st.st_uid;
		w->r->mode = st.st_mode;
	}
	return false;
}

/* At this path and what was to follow it. */
static bool
stop_before(struct walk *w, enum reach_end end, const char *at)
{
	char all[PASSED_MAX + PATH_MAX];

	snprintf(all, sizeof(all), "%s%s%s", at,
		w->rest[0] != '\0' && w->rest[0] != '/' ? "/" : "", w->rest);
	return stop(w, end, all);
}

/*
 * As the account.  By a descriptor: what is above it is checked by itself, and
 * only where the tool walks through it.  An old kernel without the call is no
 * finding.
 */
static bool
may(const struct walk *w, const char *host, int mode)
{
	const struct account *a = &w->plan->account;
	int fd = open(host, O_PATH | O_CLOEXEC);
	bool allowed = true;

	if (fd < 0)
		return errno != EACCES;
	if (!a->drop || seteuid(a->uid) == 0) {
		allowed = syscall(SYS_faccessat2, fd, "", mode,
				  AT_EMPTY_PATH | AT_EACCESS) == 0 ||
			errno != EACCES;
		if (a->drop && seteuid(0) < 0)
			_exit(1);
	}
	fd_close(&fd);
	return allowed;
}

/* An ordinary user cannot even look: the first directory that is closed. */
static bool
stop_at_closed(struct walk *w, const char *host)
{
	char part[PATH_MAX];
	const char *slash = host;

	while ((slash = strchr(slash + 1, '/')) != NULL) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - host), host);
		if (access(part, X_OK) < 0)
			return stop(w, REACH_DENIED, part);
	}
	return stop(w, REACH_DENIED, host);
}

/* Where the next part is, on the host; false: it ends here. */
static bool
find_place(struct walk *w, const char *next, bool *own, bool *top)
{
	const struct view_plan view = { .root = sandbox_plan_site(w->plan),
		.libexec = w->plan->libexec,
		.grant = w->plan->grant,
		.writes = true };
	struct stat st;

	*own = *top = false;
	if (!w->view) {
		snprintf(w->host, sizeof(w->host), "%s", next);
		return true;
	}
	switch (view_find(&view, w->r->keeps, next, w->host, top)) {
	case VIEW_ITS_OWN: *own = true; return true;
	case VIEW_OF_HOST: return true;
	case VIEW_NOTHING: break;
	}
	stop_before(w, REACH_UNSEEN, next);
	if (lstat(w->r->at, &st) < 0 && (errno == ENOENT || errno == ENOTDIR))
		w->r->end = REACH_ABSENT;
	return false;
}

/* The link's target comes before what is left. */
static bool
follow(struct walk *w)
{
	char target[PATH_MAX], all[PASSED_MAX];
	ssize_t n = readlink(w->host, target, sizeof(target) - 1);
	int len;

	if (n < 0)
		return stop(w, REACH_ABSENT, w->host);
	target[n] = '\0';
	len = snprintf(all, sizeof(all), "%s%s", target, w->rest);
	if (++w->links > LINKS_MAX || len < 0 || (size_t)len >= sizeof(all))
		return stop(w, REACH_LOOP, w->host);
	memcpy(w->rest, all, (size_t)len + 1);
	if (target[0] == '/')
		w->done[0] = '\0';
	w->r->linked = true;
	return true;
}

static void
cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash != NULL)
		*slash = '\0';
}

/* One part of the path, which is not "." or "..". */
static bool
enter(struct walk *w, const char *part)
{
	char next[PATH_MAX];
	bool own, top, last = w->rest[strspn(w->rest, "/")] == '\0';
	struct stat st;

	if ((size_t)snprintf(next, sizeof(next), "%s/%s", w->done, part) >=
		sizeof(next))
		return stop(w, REACH_LOOP, w->r->path);
	if (!find_place(w, next, &own, &top))
		return false;
	if (!own && (top ? stat(w->host, &st) : lstat(w->host, &st)) < 0)
		return errno == EACCES ? stop_at_closed(w, w->host)
				       : stop_before(w, REACH_ABSENT, w->host);
	if (!own && S_ISLNK(st.st_mode))
		return follow(w);
	memcpy(w->done, next, sizeof(next));
	if (own)
		w->host[0] = '\0';
	if (last || own)
		return true;
	if (!S_ISDIR(st.st_mode))
		return stop(w, REACH_ABSENT, w->r->path);
	return may(w, w->host, X_OK) || stop(w, REACH_DENIED, w->host);
}

/* To the end of the path: w->host is the file, "" one of the view's own. */
static bool
walk_path(struct walk *w, const char *path)
{
	char part[NAME_MAX + 1];
	size_t n;

	w->done[0] = w->host[0] = '\0';
	snprintf(w->rest, sizeof(w->rest), "%s", path);
	for (;;) {
		char *at = w->rest + strspn(w->rest, "/");

		n = strcspn(at, "/");
		if (n == 0)
			return true;
		if (n >= sizeof(part))
			return stop(w, REACH_ABSENT, path);
		memcpy(part, at, n);
		part[n] = '\0';
		memmove(w->rest, at + n, strlen(at + n) + 1);
		if (strcmp(part, "..") == 0)
			cut_last(w->done);
		else if (strcmp(part, ".") != 0 && !enter(w, part))
			return false;
	}
}

/* A directory may hold programs. */
static bool
check_program(struct walk *w)
{
	struct statvfs fs;
	struct stat st;

	if (stat(w->host, &st) < 0)
		return stop(w, REACH_ABSENT, w->host);
	if (!S_ISREG(st.st_mode))
		return stop(w, REACH_KIND, w->host);
	if ((st.st_mode & 0111) == 0)
		return stop(w, REACH_NO_X, w->host);
	if (!may(w, w->host, X_OK))
		return stop(w, REACH_DENIED, w->host);
	if (w->plan->mode != SANDBOX_MODE_OFF && program_is_foreign(w->host))
		return stop(w, REACH_FOREIGN, w->host);
	if (statvfs(w->host, &fs) == 0 && (fs.f_flag & ST_NOEXEC))
		return stop(w, REACH_MOUNT, w->host);
	return true;
}

static bool
check_access(struct walk *w)
{
	struct statvfs fs;
	struct stat st;
	int mode = R_OK;

	if (w->host[0] == '\0' || stat(w->host, &st) < 0)
		return true;
	if (w->r->what == REACH_WRITE)
		mode = W_OK;
	if (S_ISDIR(st.st_mode))
		mode |= X_OK;
	if (!may(w, w->host, mode))
		return stop(w, REACH_DENIED, w->host);
	if (w->r->what == REACH_WRITE && statvfs(w->host, &fs) == 0 &&
		(fs.f_flag & ST_RDONLY))
		return stop(w, REACH_MOUNT, w->host);
	return true;
}

static bool run_path(struct walk *w, const char *path, unsigned depth);

/* What executing the file takes, too. */
static bool
check_needs(struct walk *w, unsigned depth)
{
	char needs[2][PATH_MAX], file[PATH_MAX];
	bool linked = w->r->linked;

	memcpy(file, w->host, sizeof(file));
	program_needs(file, needs[0], needs[1], PATH_MAX);
	for (size_t i = 0; i < 2; i++) {
		if (needs[i][0] == '\0' ||
			(needs[i][0] == '/' &&
				run_path(w, needs[i], depth + 1)))
			continue;
		snprintf(w->r->needs, sizeof(w->r->needs), "%.255s", needs[i]);
		w->r->linked = linked;
		return stop(w, REACH_NEEDS, file);
	}
	w->r->linked = linked;
	memcpy(w->host, file, sizeof(file));
	return true;
}

static bool
run_path(struct walk *w, const char *path, unsigned depth)
{
	return walk_path(w, path) && check_program(w) &&
		(depth == DEPTH || check_needs(w, depth));
}

static void
answer(const struct sandbox_plan *plan, bool view, struct reach *r)
{
	struct walk w = { .plan = plan, .view = view, .r = r };
	bool held;

	r->end = REACH_HELD;
	r->linked = false;
	if (r->what == REACH_RUN)
		held = run_path(&w, r->path, 0);
	else
		held = walk_path(&w, r->path) && check_access(&w);
	if (held)
		stop(&w, REACH_HELD, w.host);
}

/* Without root's groups; open(2) stays root's, may() is the account. */
static int
child_answer(const struct sandbox_plan *plan, bool view, struct reach *asks,
	size_t count, int to)
{
	const struct account *a = &plan->account;

	if (a->drop &&
		(syscall(SYS_setgroups, 0, NULL) < 0 || setegid(a->gid) < 0))
		return 1;
	for (size_t i = 0; i < count; i++)
		answer(plan, view, &asks[i]);
	return fd_write_all(to, (const char *)asks, count * sizeof(*asks)) != 0;
}

/* --------------------------------------------------------- in the parent */

bool
reach_ask(const struct sandbox_plan *plan, bool view, struct reach *asks,
	size_t count)
{
	size_t size = count * sizeof(*asks), done = 0;
	int ends[2];
	ssize_t n = 0;
	pid_t pid;

	if (count == 0)
		return true;
	if (fd_pipe(ends) != 0)
		return false;
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(child_answer(plan, view, asks, count, ends[1]));
	fd_close(&ends[1]);
	while (pid > 0 && done < size) {
		n = read(ends[0], (char *)asks + done, size - done);
		if (n == 0 || (n < 0 && errno != EINTR))
			break;
		done += n > 0 ? (size_t)n : 0;
	}
	fd_close(&ends[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return done == size;
}

static const char *
verb_of(const struct reach *r)
{
	if (S_ISDIR(r->mode) && r->what != REACH_WRITE)
		return "enter";
	switch (r->what) {
	case REACH_READ: return "read";
	case REACH_WRITE: return "write";
	case REACH_RUN: return "execute";
	}
	return "";
}

static bool
print_denied(const struct reach *r, const char *account, struct buf *out)
{
	const struct passwd *owner = getpwuid(r->owner);

	buf_printf(out, "the account %s may not %s %s", account, verb_of(r),
		r->at);
	if (r->mode == 0)
		return buf_ok(out);
	if (owner != NULL)
		buf_printf(out, " (owner %s", owner->pw_name);
	else
		buf_printf(out, " (owner %u", r->owner);
	return buf_printf(out, ", mode %04o)", r->mode & 07777u);
}

/* A script that was saved with CR LF names an interpreter with a CR. */
static bool
print_needs(const struct reach *r, struct buf *out)
{
	size_t n = strcspn(r->needs, "\r");

	buf_printf(out, "needs %.*s", (int)n, r->needs);
	return buf_text(out,
		r->needs[n] == '\0'
			? ", which tools cannot run"
			: " with a CR after it, which is no program: save the "
			  "script with LF line ends");
}

bool
reach_print(const struct reach *r, const char *account, struct buf *out)
{
	if (r->linked && r->end != REACH_DENIED)
		buf_printf(out, "leads to %s, which ", r->at);
	else if (r->end == REACH_UNSEEN)
		return buf_text(out, "lies where tools cannot see it");
	switch (r->end) {
	case REACH_HELD: return buf_text(out, "can be reached");
	case REACH_ABSENT: return buf_text(out, "does not exist");
	case REACH_UNSEEN: return buf_text(out, "tools cannot see");
	case REACH_DENIED: return print_denied(r, account, out);
	case REACH_NO_X: return buf_text(out, "is not executable");
	case REACH_KIND: return buf_text(out, "is no program");
	case REACH_FOREIGN:
		return buf_text(out,
			"is a 32-bit program, whose system calls the sandbox "
			"refuses");
	case REACH_MOUNT:
		return buf_text(out,
			r->what == REACH_RUN ? "is on a noexec mount"
					     : "is on a read-only mount");
	case REACH_NEEDS: return print_needs(r, out);
	case REACH_LOOP: return buf_text(out, "has too many links");
	}
	return false;
}
