/* SPDX-License-Identifier: MIT */
#include "run/watch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

#define OPTIONS                                                                \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |    \
		PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)
#define SYSCALL_STOP (SIGTRAP | 0x80)
#define ROUNDS 64    /* over all tracees, before output has its turn */
#define LINKS_MAX 40 /* as the kernel's */

/* PTRACE_GET_SYSCALL_INFO, ptrace(2); glibc had the struct late. */
#define GET_SYSCALL_INFO 0x420e
enum { INFO_ENTRY = 1, INFO_EXIT = 2 };
struct syscall_info {
	uint8_t op;
	uint8_t pad[3];
	uint32_t arch;
	uint64_t ip, sp;
	union {
		struct {
			uint64_t nr, args[6];
		} entry;
		struct {
			int64_t value;
			uint8_t failed;
		} exit;
	} u;
};

struct tracee {
	pid_t pid;
	bool quiet;   /* the confined process itself */
	bool pending; /* the call below was begun */
	uint64_t nr, args[6];
};

struct watch {
	struct tracee tracees[WATCH_PROCESSES_MAX];
	size_t tracee_count;
	struct watch_event events[WATCH_EVENTS_MAX];
	size_t event_count;
	bool partial;
	bool attached;
	int fd;
	sigset_t old_mask;
	struct sigaction old_child;
};

/* --------------------------------------------------- reading the tool */

static bool
read_memory(pid_t pid, uint64_t from, void *out, size_t len)
{
	struct iovec here = { out, len },
		     there = { (void *)(uintptr_t)from, len };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)len;
}

/* In pieces that cross no page: the next one may not be mapped. */
static bool
read_text(pid_t pid, uint64_t from, char *out, size_t cap)
{
	size_t len = 0, n;

	while (len < cap) {
		n = 256 - (size_t)((from + len) % 256);
		if (n > cap - len)
			n = cap - len;
		if (!read_memory(pid, from + len, out + len, n))
			return false;
		if (memchr(out + len, '\0', n) != NULL)
			return true;
		len += n;
	}
	return false;
}

/* The directory that a relative path starts from, as the tool sees it. */
static bool
read_base(pid_t pid, int dir, char *out, size_t cap)
{
	char link[64];
	ssize_t n;

	if (dir == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/%d/cwd", pid);
	else
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, dir);
	n = readlink(link, out, cap - 1);
	if (n <= 0 || out[0] != '/')
		return false;
	out[n] = '\0';
	return true;
}

/* ------------------------------------------ following a path in its view */

struct walk {
	int root;
	char done[PATH_MAX]; /* "" or "/a/b", no link in it */
	char rest[2 * PATH_MAX];
	unsigned links;
	bool missing; /* from here on there is only text */
};

static void
walk_up(struct walk *w)
{
	char *slash = strrchr(w->done, '/');

	if (slash != NULL)
		*slash = '\0';
}

/* Puts the target of the link at the end of done in front of the rest. */
static bool
walk_link(struct walk *w, const char *target)
{
	char joined[sizeof(w->rest)];
	int n = snprintf(joined, sizeof(joined), "%s/%s", target, w->rest);

	if (n < 0 || (size_t)n >= sizeof(joined) || ++w->links > LINKS_MAX)
		return false;
	memcpy(w->rest, joined, (size_t)n + 1);
	if (target[0] == '/')
		w->done[0] = '\0';
	else
		walk_up(w);
	return true;
}

/* Follows done if it is a link; links of /proc depend on who reads them. */
static bool
walk_look(struct walk *w)
{
	struct open_how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT };
	char target[PATH_MAX];
	ssize_t n;
	int fd;

	if (w->missing || strncmp(w->done, "/proc/", 6) == 0)
		return true;
	fd = (int)syscall(SYS_openat2, w->root, w->done, &how, sizeof(how));
	if (fd < 0) {
		w->missing = true;
		return true;
	}
	n = readlinkat(fd, "", target, sizeof(target) - 1);
	fd_close(&fd);
	if (n <= 0)
		return true;
	target[n] = '\0';
	return walk_link(w, target);
}

/* Takes the next part off the rest; false: there is none. */
static bool
walk_part(struct walk *w, char part[NAME_MAX + 1])
{
	const char *start = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(start, "/");

	if (n == 0 || n > NAME_MAX)
		return false;
	memcpy(part, start, n);
	part[n] = '\0';
	memmove(w->rest, start + n, strlen(start + n) + 1);
	return true;
}

static bool
walk_all(struct walk *w)
{
	char part[NAME_MAX + 1];
	size_t len;
	int n;

	while (walk_part(w, part)) {
		if (strcmp(part, ".") == 0)
			continue;
		if (strcmp(part, "..") == 0) {
			walk_up(w);
			continue;
		}
		len = strlen(w->done);
		n = snprintf(w->done + len, sizeof(w->done) - len, "/%s", part);
		if (n < 0 || (size_t)n >= sizeof(w->done) - len ||
			!walk_look(w))
			return false;
	}
	return true;
}

/* The path as the tool sees it, links followed; NULL: no memory. */
static char *
resolve_path(pid_t pid, const char *asked)
{
	struct walk w = { .root = -1 };
	char root[64];
	char *found = NULL;

	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	snprintf(w.rest, sizeof(w.rest), "%s", asked);
	w.root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (w.root >= 0 && walk_all(&w))
		found = strdup(w.done[0] != '\0' ? w.done : "/");
	fd_close(&w.root);
	return found;
}

/* -------------------------------------------------------------- noting */

static bool
is_same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
is_noted(const struct watch *w, const struct watch_event *e)
{
	const struct watch_event *o;

	for (size_t i = 0; i < w->event_count; i++) {
		o = &w->events[i];
		if (o->kind == e->kind && o->family == e->family &&
			is_same(o->path, e->path))
			return true;
	}
	return false;
}

/* Owns the texts of e from now on. */
static void
note_event(struct watch *w, struct watch_event *e)
{
	bool whole = e->kind == WATCH_SOCKET ||
		(e->asked != NULL && e->path != NULL);

	if (whole && !is_noted(w, e)) {
		if (w->event_count < WATCH_EVENTS_MAX) {
			w->events[w->event_count++] = *e;
			return;
		}
		w->partial = true;
	}
	free(e->asked);
	free(e->path);
}

static void
note_path(struct watch *w, pid_t pid, enum watch_kind kind, int number, int dir,
	const char *name)
{
	struct watch_event e = { .kind = kind, .number = number };
	char whole[2 * PATH_MAX], base[PATH_MAX] = "";

	if (name[0] == '\0')
		return; /* the descriptor itself */
	if (name[0] != '/' && !read_base(pid, dir, base, sizeof(base)))
		return;
	snprintf(whole, sizeof(whole), "%s%s%s", base,
		name[0] != '/' ? "/" : "", name);
	e.asked = strdup(whole);
	e.path = resolve_path(pid, whole);
	note_event(w, &e);
}

union address {
	sa_family_t family;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

/* "" for what is no Internet address. */
static void
write_address(const union address *a, char *out, size_t cap)
{
	char host[INET6_ADDRSTRLEN] = "";
	bool v6 = a->family == AF_INET6;

	out[0] = '\0';
	if (v6)
		inet_ntop(AF_INET6, &a->in6.sin6_addr, host, sizeof(host));
	else if (a->family == AF_INET)
		inet_ntop(AF_INET, &a->in.sin_addr, host, sizeof(host));
	if (host[0] != '\0')
		snprintf(out, cap, v6 ? "[%s]:%u" : "%s:%u", host,
			ntohs(v6 ? a->in6.sin6_port : a->in.sin_port));
}

static void
note_socket(struct watch *w, int number, int family, const char *address)
{
	struct watch_event e = {
		.kind = WATCH_SOCKET, .number = number, .family = family
	};

	if (address != NULL && address[0] != '\0') {
		e.asked = strdup(address);
		e.path = strdup(address);
	}
	note_event(w, &e);
}

static void
note_address(struct watch *w, pid_t pid, int number, uint64_t at, uint64_t len)
{
	union address address = { .family = AF_UNSPEC };
	char name[sizeof(address.un.sun_path) + 1] = "";
	struct watch_event e = { .kind = WATCH_CONNECT, .number = number };

	if (len <= offsetof(struct sockaddr_un, sun_path))
		return;
	if (len > sizeof(address))
		len = sizeof(address);
	if (!read_memory(pid, at, &address, (size_t)len))
		return;
	if (address.family != AF_UNIX) {
		write_address(&address, name, sizeof(name));
		note_socket(w, number, address.family, name);
		return;
	}
	memcpy(name, address.un.sun_path, sizeof(address.un.sun_path));
	if (name[0] != '\0') {
		note_path(w, pid, WATCH_CONNECT, number, AT_FDCWD, name);
		return;
	}
	name[0] = '@';
	e.asked = strdup(name);
	e.path = strdup(name);
	note_event(w, &e);
}

/* ---------------------------------------------------------- the calls */

enum form { FORM_LOOK, FORM_OPEN, FORM_HOW, FORM_WRITE, FORM_ENTRY, FORM_EXEC };

/* Calls with a path: which arguments are the directory (-1: none) and it. */
static const struct path_call {
	long nr;
	enum form form;
	int dir, path;
} path_calls[] = {
	{ SYS_openat, FORM_OPEN, 0, 1 },
	{ SYS_openat2, FORM_HOW, 0, 1 },
	{ SYS_execve, FORM_EXEC, -1, 0 },
	{ SYS_execveat, FORM_EXEC, 0, 1 },
	{ SYS_newfstatat, FORM_LOOK, 0, 1 },
	{ SYS_statx, FORM_LOOK, 0, 1 },
	{ SYS_faccessat, FORM_LOOK, 0, 1 },
	{ 439 /* faccessat2 */, FORM_LOOK, 0, 1 },
	{ SYS_chdir, FORM_LOOK, -1, 0 },
	{ SYS_truncate, FORM_WRITE, -1, 0 },
	{ SYS_mkdirat, FORM_ENTRY, 0, 1 },
	{ SYS_unlinkat, FORM_ENTRY, 0, 1 },
	{ SYS_symlinkat, FORM_ENTRY, 1, 2 },
	{ SYS_linkat, FORM_ENTRY, 2, 3 },
	{ SYS_renameat2, FORM_ENTRY, 0, 1 },
	{ SYS_renameat2, FORM_ENTRY, 2, 3 },
#ifdef SYS_open /* what newer architectures left out */
	{ SYS_open, FORM_OPEN, -1, 0 },
	{ SYS_creat, FORM_WRITE, -1, 0 },
	{ SYS_stat, FORM_LOOK, -1, 0 },
	{ SYS_lstat, FORM_LOOK, -1, 0 },
	{ SYS_access, FORM_LOOK, -1, 0 },
	{ SYS_mkdir, FORM_ENTRY, -1, 0 },
	{ SYS_rmdir, FORM_ENTRY, -1, 0 },
	{ SYS_unlink, FORM_ENTRY, -1, 0 },
	{ SYS_symlink, FORM_ENTRY, -1, 1 },
	{ SYS_link, FORM_ENTRY, -1, 1 },
	{ SYS_rename, FORM_ENTRY, -1, 0 },
	{ SYS_rename, FORM_ENTRY, -1, 1 },
#endif
#ifdef SYS_renameat
	{ SYS_renameat, FORM_ENTRY, 0, 1 },
	{ SYS_renameat, FORM_ENTRY, 2, 3 },
#endif
};

static bool
is_seen(uint64_t nr)
{
	for (size_t i = 0; i < ARRAY_LEN(path_calls); i++)
		if ((uint64_t)path_calls[i].nr == nr)
			return true;
	return nr == SYS_socket || nr == SYS_connect || nr == SYS_bind ||
		nr == SYS_sendto;
}

static enum watch_kind
kind_of_flags(uint64_t flags)
{
	return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC))
		? WATCH_WRITE
		: WATCH_READ;
}

static enum watch_kind
kind_of(const struct tracee *t, const struct path_call *c)
{
	struct open_how how = { .flags = 0 };

	switch (c->form) {
	case FORM_LOOK: break;
	case FORM_OPEN: return kind_of_flags(t->args[c->path + 1]);
	case FORM_HOW:
		read_memory(t->pid, t->args[2], &how.flags, sizeof(how.flags));
		return kind_of_flags(how.flags);
	case FORM_WRITE: return WATCH_WRITE;
	case FORM_ENTRY: return WATCH_ENTRY;
	case FORM_EXEC: return WATCH_EXEC;
	}
	return WATCH_READ;
}

/*
 * Errors that the sandbox causes: EXDEV comes from Landlock for a rename, the
 * last two from an empty network namespace.
 */
static bool
is_refusal(int number)
{
	return number == EACCES || number == EPERM || number == ENOENT ||
		number == EROFS || number == EXDEV || number == EAFNOSUPPORT ||
		number == ENETUNREACH || number == EADDRNOTAVAIL;
}

static void
note_call(struct watch *w, const struct tracee *t, int number)
{
	char name[PATH_MAX];

	if (t->nr == SYS_socket)
		note_socket(w, number, (int)t->args[0], NULL);
	if (t->nr == SYS_connect || t->nr == SYS_bind)
		note_address(w, t->pid, number, t->args[1], t->args[2]);
	if (t->nr == SYS_sendto && t->args[4] != 0)
		note_address(w, t->pid, number, t->args[4], t->args[5]);
	for (size_t i = 0; i < ARRAY_LEN(path_calls); i++) {
		const struct path_call *c = &path_calls[i];

		if ((uint64_t)c->nr == t->nr &&
			read_text(t->pid, t->args[c->path], name, sizeof(name)))
			note_path(w, t->pid, kind_of(t, c), number,
				c->dir < 0 ? AT_FDCWD : (int)t->args[c->dir],
				name);
	}
}

static void
syscall_stop(struct watch *w, struct tracee *t)
{
	struct syscall_info info = { .op = 0 };

	if (ptrace((enum __ptrace_request)GET_SYSCALL_INFO, t->pid,
		    sizeof(info), &info) <= 0)
		return;
	if (info.op == INFO_ENTRY) {
		t->pending = is_seen(info.u.entry.nr);
		t->nr = info.u.entry.nr;
		memcpy(t->args, info.u.entry.args, sizeof(t->args));
	} else if (info.op == INFO_EXIT) {
		if (t->pending && info.u.exit.failed &&
			is_refusal((int)-info.u.exit.value))
			note_call(w, t, (int)-info.u.exit.value);
		else if (t->pending && t->nr == SYS_socket)
			note_call(w, t,
				0); /* an empty network namespace may follow */
		t->pending = false;
	}
}

/* ------------------------------------------------------------ tracing */

static void
remove_tracee(struct watch *w, pid_t pid)
{
	for (size_t i = 0; i < w->tracee_count; i++)
		if (w->tracees[i].pid == pid) {
			w->tracees[i] = w->tracees[--w->tracee_count];
			return;
		}
}

/* One too many is detached: after its first stop, which always comes. */
static void
add_tracee(struct watch *w, pid_t pid)
{
	int status;

	if (w->tracee_count < WATCH_PROCESSES_MAX) {
		w->tracees[w->tracee_count++] = (struct tracee){ .pid = pid };
		return;
	}
	w->partial = true;
	if (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status))
		ptrace(PTRACE_DETACH, pid, NULL, NULL);
}

static bool
stops_group(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN ||
		signal == SIGTTOU;
}

static void
resume_tracee(const struct tracee *t, int signal)
{
	ptrace(t->quiet ? PTRACE_CONT : PTRACE_SYSCALL, t->pid, NULL,
		(void *)(uintptr_t)signal);
}

/* t is a copy: the table may change. */
static void
handle_stop(struct watch *w, size_t index, int status)
{
	struct tracee t = w->tracees[index];
	int event = status >> 16, signal = WSTOPSIG(status);
	unsigned long other = 0;

	if (!WIFSTOPPED(status)) {
		remove_tracee(w, t.pid);
		return;
	}
	switch (event) {
	case 0:
		if (signal == SYSCALL_STOP)
			syscall_stop(w, &w->tracees[index]);
		resume_tracee(&t, signal == SYSCALL_STOP ? 0 : signal);
		return;
	case PTRACE_EVENT_STOP:
		if (!stops_group(signal))
			break;
		ptrace(PTRACE_LISTEN, t.pid, NULL, NULL);
		return;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		if (ptrace(PTRACE_GETEVENTMSG, t.pid, NULL, &other) == 0)
			add_tracee(w, (pid_t)other);
		break;
	case PTRACE_EVENT_EXEC: /* a thread's exec takes the leader's id */
		if (ptrace(PTRACE_GETEVENTMSG, t.pid, NULL, &other) == 0 &&
			(pid_t)other != t.pid)
			remove_tracee(w, (pid_t)other);
		break;
	}
	resume_tracee(&t, 0);
}

/* Waits for each tracee by its id, since a host has other children. */
static bool
round_over(struct watch *w)
{
	bool busy = false;
	int status;
	pid_t pid;

	for (size_t i = w->tracee_count; i-- > 0;) {
		if (i >= w->tracee_count)
			continue;
		pid = waitpid(w->tracees[i].pid, &status, WNOHANG | __WALL);
		if (pid > 0)
			handle_stop(w, i, status);
		else if (pid < 0 && errno == ECHILD)
			remove_tracee(w, w->tracees[i].pid);
		busy |= pid > 0;
	}
	return busy;
}

bool
watch_drain(struct watch *w)
{
	struct signalfd_siginfo info;

	if (!w->attached)
		return false;
	while (read(w->fd, &info, sizeof(info)) > 0)
		;
	for (int i = 0; i < ROUNDS; i++)
		if (!round_over(w))
			return false;
	return true;
}

void
watch_finish(struct watch *w, pid_t pid)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };
	bool busy, alive = true;

	while (alive) {
		busy = watch_drain(w);
		alive = false;
		for (size_t i = 0; i < w->tracee_count; i++)
			alive |= w->tracees[i].pid == pid;
		if (alive && !busy)
			poll(&p, 1, -1);
	}
}

/* ----------------------------------------------------- beginning and end */

/* SIGCHLD reports stops: it is blocked and read from a signalfd(2). */
struct watch *
watch_new(void)
{
	struct sigaction normal = { .sa_handler = SIG_DFL };
	struct watch *w = calloc(1, sizeof(*w));
	sigset_t child;

	if (w == NULL)
		return NULL;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	w->fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (w->fd < 0) {
		free(w);
		return NULL;
	}
	sigprocmask(SIG_BLOCK, &child, &w->old_mask);
	sigaction(SIGCHLD, &normal, &w->old_child);
	return w;
}

void
watch_free(struct watch *w)
{
	if (w == NULL)
		return;
	sigaction(SIGCHLD, &w->old_child, NULL);
	sigprocmask(SIG_SETMASK, &w->old_mask, NULL);
	fd_close(&w->fd);
	for (size_t i = 0; i < w->event_count; i++) {
		free(w->events[i].asked);
		free(w->events[i].path);
	}
	free(w);
}

int
watch_attach(struct watch *w, pid_t pid)
{
	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)(uintptr_t)OPTIONS) < 0)
		return errno;
	w->tracees[w->tracee_count++] =
		(struct tracee){ .pid = pid, .quiet = true };
	w->attached = true;
	return 0;
}

int
watch_fd(const struct watch *w)
{
	return w->fd;
}

const struct watch_event *
watch_events(const struct watch *w, size_t *count)
{
	*count = w->event_count;
	return w->events;
}

bool
watch_is_partial(const struct watch *w)
{
	return w->partial;
}
