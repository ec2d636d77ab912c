/* SPDX-License-Identifier: MIT */
#include "site/explain_find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/grant_path.h"
#include "sandbox/reach.h"
#include "sandbox/view.h"
#include "wire/proto.h"

/* ------------------------------------------------------------- places */

bool
explain_is_strict(const struct explain *e)
{
	return e->plan->level == SANDBOX_STRICT;
}

/* The path outside of the tool's view; false: it exists only in the view. */
static bool
find_host_path(const struct explain *e, const char *path, char *out)
{
	const char *root = e->grant->root, *base = VIEW_SITE;
	char real[PATH_MAX];
	int n;

	if (explain_is_strict(e) && grant_path_is_below(path, VIEW_LIBEXEC))
		return false;
	if (!explain_is_strict(e))
		base = root != NULL ? realpath(root, real) : NULL;
	n = base != NULL && grant_path_is_below(path, base)
		? snprintf(out, PATH_MAX, "%s%s", root, path + strlen(base))
		: snprintf(out, PATH_MAX, "%s", path);
	return n > 0 && n < PATH_MAX;
}

/* A page writes paths below the site relative to the site. */
static void
set_name(const struct explain *e, struct finding *f)
{
	const char *rest = f->goal, *root = e->grant->root;

	if (grant_path_is_below(f->goal, root))
		rest += strlen(root) + (f->goal[strlen(root)] == '/');
	snprintf(f->name, sizeof(f->name), "%s", rest[0] != '\0' ? rest : ".");
}

static void
cut_last_part(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash != NULL)
		slash[slash == path] = '\0';
}

static const char *
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static bool
is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
		x.st_ino == y.st_ino;
}

/* By its bare name where PATH finds it, else from the page's directory. */
static void
set_program_name(const struct explain *e, struct finding *f)
{
	const char *base = last_part(f->event->asked), *dir = e->ask->page_dir;
	char found[PATH_MAX];
	size_t up = dir[0] != '\0', len = 0;

	if (spawn_find(base, found, sizeof(found)) &&
		is_same_file(found, f->host)) {
		snprintf(f->name, sizeof(f->name), "%s", base);
		return;
	}
	set_name(e, f);
	if (f->name[0] == '/')
		return;
	for (const char *c = dir; *c != '\0'; c++)
		up += *c == '/';
	memcpy(found, f->name, sizeof(found));
	snprintf(f->name, sizeof(f->name), "./");
	for (; up > 0 && len + 4 < sizeof(f->name); up--, len += 3)
		memcpy(f->name + len, "../", 4);
	len = strlen(f->name);
	snprintf(f->name + len, sizeof(f->name) - len, "%s", found);
}

static bool
is_pid_file(const char *path)
{
	const char *part = path + strlen("/proc");

	return part[0] == '\0' || strncmp(part, "/self", 5) == 0 ||
		strncmp(part, "/thread-self", 12) == 0 ||
		(part[1] >= '1' && part[1] <= '9');
}

/* Paths that no grant may name: sandbox_prepare refuses them. */
static void
rule_out_path(const struct explain *e, struct finding *f)
{
	static const char *const kernel[] = { "/proc", "/sys", "/dev", NULL };
	const char *goal = f->goal;

	if (grant_path_is_below(goal, e->grant->root))
		return;
	/* Settings of the C library and of interpreters. */
	f->quiet = f->key == KEY_READ && grant_path_is_below(goal, "/etc");
	if (grant_path_is_below_any(goal, kernel)) {
		f->quiet = true;
		f->key = explain_is_strict(e) && f->key == KEY_READ &&
				grant_path_is_below(goal, "/proc") &&
				is_pid_file(goal)
			? KEY_PROC
			: KEY_NONE;
		f->why = "files of the kernel cannot be granted";
	} else if (grant_path_is_below(goal, VIEW_SCRATCH)) {
		f->key = KEY_NONE;
		f->why = "nothing below /tmp can be granted";
	} else if (goal[1] == '\0') {
		f->key = KEY_NONE;
		f->why = "the whole tree cannot be granted";
	}
}

/* -------------------------------------------------- what is granted now */

struct name_list *
explain_list(struct wants *w, enum key key)
{
	switch (key) {
	case KEY_READ: return &w->read;
	case KEY_WRITE: return &w->write;
	case KEY_EXEC: return &w->exec;
	case KEY_UNIX: return &w->unix_sockets;
	case KEY_NONE:
	case KEY_NETWORK:
	case KEY_PROC: break;
	}
	return NULL;
}

/* ----------------------------------------------- one refused system call */

/* Is there an event of the same family that has the address? */
static bool
is_addressed(const struct explain *e, const struct watch_event *v)
{
	size_t count;
	const struct watch_event *all = watch_events(e->watch, &count);

	for (size_t i = 0; v->path == NULL && i < count; i++)
		if (all[i].kind == WATCH_SOCKET && all[i].path != NULL &&
			all[i].family == v->family)
			return true;
	return false;
}

static bool
key_for_socket(const struct explain *e, struct finding *f)
{
	switch (f->event->family) {
	case AF_INET:
	case AF_INET6:
		f->key = KEY_NETWORK;
		return powers_of(e->ask).asked.network != NETWORK_ALL &&
			!is_addressed(e, f->event);
	case AF_UNIX:
		f->key = KEY_UNIX;
		f->quiet = true; /* getpwnam(3) asks nscd(8) by one */
		snprintf(f->name, sizeof(f->name), "/path/of/the/socket");
		break;
	default:
		f->quiet = true;
		f->why = "sockets of this family cannot be granted";
	}
	return f->event->number != 0;
}

/*
 * A new entry needs the right to write its directory.  A page that lies where
 * tools may write declares no tools.
 */
static void
key_for_write(const struct explain *e, struct finding *f)
{
	char page[PATH_MAX];
	struct stat st;

	f->key = KEY_WRITE;
	if (f->event->kind == WATCH_ENTRY || stat(f->host, &st) < 0)
		cut_last_part(f->goal);
	set_name(e, f);
	snprintf(page, sizeof(page), "%s/%s", e->grant->root, e->page);
	if (grant_path_is_below(page, f->goal)) {
		f->key = KEY_NONE;
		f->why = "a page that tools may write declares no tools: "
			 "let it write to another directory";
	}
}

/* git(1) reads many files there, one after another: one line is for all. */
static void
cut_repository(char *path)
{
	char *in = strstr(path, "/.git/");

	if (in != NULL)
		in[strlen("/.git")] = '\0';
}

/* Finds the key that would grant the call; false: no sandbox refused it. */
static bool
find_key(const struct explain *e, struct finding *f)
{
	const struct watch_event *v = f->event;

	f->verdict = ALLOWED;
	if (v->kind == WATCH_SOCKET) {
		return key_for_socket(e, f);
	}
	if (v->path[0] == '@') {
		f->why = "abstract sockets cannot be granted";
		return true;
	}
	if (!utf8_valid(v->path, strlen(v->path)) ||
		!find_host_path(e, v->path, f->host))
		return false;
	memcpy(f->goal, f->host, sizeof(f->goal));
	switch (v->kind) {
	case WATCH_READ:
		f->key = KEY_READ;
		cut_repository(f->goal);
		break;
	case WATCH_CONNECT: f->key = KEY_UNIX; break;
	case WATCH_EXEC: f->key = KEY_EXEC; break;
	case WATCH_WRITE:
	case WATCH_ENTRY: key_for_write(e, f); break;
	case WATCH_SOCKET: break;
	}
	set_name(e, f);
	if (f->key == KEY_EXEC)
		set_program_name(e, f);
	if (f->key != KEY_NONE)
		rule_out_path(e, f);
	/* The scratch directory is the tool's own: no sandbox refused it. */
	return f->key != KEY_NONE || !explain_is_strict(e) ||
		(v->kind != WATCH_WRITE && v->kind != WATCH_ENTRY) ||
		!grant_path_is_below(f->goal, VIEW_SCRATCH);
}

/* -------------------------------------------------- asking the account */

static enum verdict
verdict_on(const struct finding *f)
{
	int mode = R_OK;
	struct stat st;

	if (f->host[0] == '\0')
		return ALLOWED;
	if (stat(f->goal, &st) < 0)
		return ABSENT;
	switch (f->event->kind) {
	case WATCH_READ: break;
	case WATCH_WRITE: mode = W_OK; break;
	case WATCH_ENTRY: mode = W_OK | X_OK; break;
	case WATCH_EXEC:
		if (!S_ISREG(st.st_mode))
			return ABSENT;
		mode = X_OK;
		break;
	case WATCH_CONNECT:
		if (!S_ISSOCK(st.st_mode))
			return ABSENT;
		mode = W_OK;
		break;
	case WATCH_SOCKET: break;
	}
	return access(f->goal, mode) == 0 ? ALLOWED : DENIED;
}

static int
child_judge(const struct sandbox_plan *plan, const struct finding *found,
	size_t count, int answer)
{
	char verdicts[EXPLAIN_FOUND_MAX];

	if (!account_become(&plan->account))
		return 1;
	for (size_t i = 0; i < count; i++)
		verdicts[i] = (char)verdict_on(&found[i]);
	return fd_write_all(answer, verdicts, count) != 0;
}

static bool
ask_account(
	const struct sandbox_plan *plan, struct finding *found, size_t count)
{
	char verdicts[EXPLAIN_FOUND_MAX];
	int ends[2];
	ssize_t n;
	pid_t pid;

	if (fd_pipe(ends) != 0)
		return false;
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(child_judge(plan, found, count, ends[1]));
	fd_close(&ends[1]);
	do
		n = read(ends[0], verdicts, count);
	while (n < 0 && errno == EINTR);
	fd_close(&ends[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (pid < 0 || n != (ssize_t)count)
		return false;
	for (size_t i = 0; i < count; i++)
		found[i].verdict = (enum verdict)verdicts[i];
	return true;
}

/* ----------------------------------------------- what is granted already */

/* The item that has the path; NULL: none. */
static const char *
find_cover(const struct explain *e, const char *const *items, size_t count,
	const char *path)
{
	char granted[PATH_MAX];
	bool optional;

	for (size_t i = 0; i < count; i++)
		if (grant_path_outside(items[i], e->grant->root, granted,
			    sizeof(granted), &optional) &&
			grant_path_is_below(path, granted))
			return items[i];
	return NULL;
}

const char *
explain_asked(const struct explain *e, enum key key, const char *path)
{
	struct wants w = powers_of(e->ask).asked;
	const struct name_list *list = explain_list(&w, key);

	return list == NULL ? NULL
			    : find_cover(e, (const char *const *)list->names,
				      list->count, path);
}

/* Is the grant in force already?  Then something else refused. */
static bool
is_granted(const struct explain *e, const struct finding *f)
{
	const char *asked;

	if (f->host[0] == '\0' || f->key == KEY_NONE || f->key == KEY_PROC ||
		f->key == KEY_EXEC)
		return false;
	asked = explain_asked(e, f->key, f->goal);
	return asked != NULL &&
		(f->key != KEY_READ ||
			policy_read_holds(e->ask, e->grant, asked));
}

/* ------------------------------------------------------------ the whole */

/* A file of the site, or one that the page asks for: its mode is a mistake. */
static bool
is_theirs(const struct explain *e, const struct finding *f)
{
	return grant_path_is_below(f->goal, e->grant->root) ||
		explain_asked(e, f->key, f->goal) != NULL;
}

/*
 * Did the sandbox refuse it, and not the file's mode?  ENOENT and EROFS in the
 * view come before the mode is looked at.
 */
static bool
is_sandbox(const struct explain *e, const struct finding *f)
{
	int number = f->event->number;

	switch (f->verdict) {
	case ABSENT: return false;
	case DENIED:
		if (f->event->kind == WATCH_EXEC)
			return false;
		return is_theirs(e, f) ||
			(explain_is_strict(e) &&
				(number == ENOENT || number == EROFS));
	case ALLOWED: break;
	}
	return !is_granted(e, f);
}

/* ENOENT for a file that does not exist is no refusal. */
static bool
is_missing(const struct finding *f)
{
	struct stat st;

	return f->host[0] != '\0' && lstat(f->goal, &st) < 0 &&
		(errno == ENOENT || errno == ENOTDIR);
}

static size_t
collect_findings(const struct explain *e, struct finding *found)
{
	size_t count, kept = 0;
	const struct watch_event *events = watch_events(e->watch, &count);

	for (size_t i = 0; i < count && kept < EXPLAIN_FOUND_MAX; i++) {
		found[kept] = (struct finding){ .event = &events[i] };
		kept += find_key(e, &found[kept]) && !is_missing(&found[kept]);
	}
	return kept;
}

/* Has an earlier finding the same line? */
static bool
is_repeated(const struct finding *found, size_t at)
{
	const struct finding *f = &found[at], *o;

	if (f->event->kind == WATCH_SOCKET)
		return false; /* watch notes each address once */
	for (size_t i = 0; i < at; i++) {
		o = &found[i];
		if (o->verdict != ABSENT && o->key == f->key &&
			o->event->kind == f->event->kind &&
			strcmp(o->host, f->host) == 0)
			return true;
	}
	return false;
}

bool
explain_find(const struct explain *e, struct finding *found, size_t *count,
	bool *more)
{
	size_t all = collect_findings(e, found);

	*count = 0;
	*more = all == EXPLAIN_FOUND_MAX || watch_is_partial(e->watch);
	if (all > 0 && !ask_account(e->plan, found, all))
		return false;
	for (size_t i = 0; i < all; i++)
		if (is_sandbox(e, &found[i]) && !is_repeated(found, i))
			found[(*count)++] = found[i];
	return true;
}
