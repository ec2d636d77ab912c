/* SPDX-License-Identifier: MIT */
#include "run/reap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"

/* Children in one pass; the others come in the next. */
#define PASS_MAX 256
/* The pause after a pass that reaped nothing: it doubles. */
#define PAUSE_FIRST_US 50
#define PAUSE_LAST_US 5000
/* After so long the tool forks as fast as we kill: storm_end. */
#define STORM_MS 30
/* Processes that storm_end can look at. */
#define STORM_MAX 8192

/* /proc/self/task/TID/children (CONFIG_PROC_CHILDREN) of process list_pid. */
static int list_fd = -1;
static pid_t list_pid;

int
reap_prepare(void)
{
	char path[64];

	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
		return errno;
	fd_close(&list_fd);
	list_pid = getpid();
	snprintf(path, sizeof(path), "/proc/self/task/%d/children",
		(int)gettid());
	list_fd = open(path, O_RDONLY | O_CLOEXEC);
	return 0;
}

static bool
has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) ==
		0 ||
		errno != ECHILD;
}

/*
 * A child of ours, dead or alive: until it is reaped no other process gets its
 * number.
 */
static bool
is_child(pid_t pid)
{
	siginfo_t info;

	return waitid(P_PID, (id_t)pid, &info,
		       WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

static bool
is_spared(const struct reap *r, pid_t pid)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->spared[i] == pid)
			return true;
	return false;
}

struct pids {
	pid_t *pid;
	size_t count, cap;
};

static void
add_child(const struct reap *r, struct pids *list, pid_t pid)
{
	if (pid > 0 && list->count < list->cap && !is_spared(r, pid) &&
		is_child(pid))
		list->pid[list->count++] = pid;
}

/* The kernel's list: numbers with spaces between. */
static int
list_by_kernel(const struct reap *r, struct pids *list)
{
	char chunk[4096];
	pid_t pid = 0;
	off_t at = 0;
	ssize_t n;

	while ((n = pread(list_fd, chunk, sizeof(chunk), at)) > 0) {
		at += n;
		for (ssize_t i = 0; i < n; i++) {
			if (chunk[i] >= '0' && chunk[i] <= '9') {
				pid = pid * 10 + (chunk[i] - '0');
				continue;
			}
			add_child(r, list, pid);
			pid = 0;
		}
	}
	add_child(r, list, pid);
	return n < 0 ? errno : 0;
}

/* Without CONFIG_PROC_CHILDREN: which of all processes are our children? */
static int
list_by_search(const struct reap *r, struct pids *list)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	if (proc == NULL)
		return errno;
	while ((entry = readdir(proc)) != NULL)
		add_child(r, list, (pid_t)strtol(entry->d_name, NULL, 10));
	closedir(proc);
	return 0;
}

static int
list_children(const struct reap *r, struct pids *list)
{
	int e = ENOENT;

	list->count = 0;
	if (list_fd >= 0 && list_pid == getpid())
		e = list_by_kernel(r, list);
	return e == 0 ? 0 : list_by_search(r, list);
}

int
reap_note(struct reap *r)
{
	struct reap none = REAP_INIT;
	struct pids list = { .cap = 16 };
	pid_t *more;
	int e = 0;

	if (r->own_namespace || !has_children())
		return 0;
	do {
		list.cap *= 2;
		more = realloc(list.pid, list.cap * sizeof(*more));
		if (more == NULL) {
			e = ENOMEM;
			break;
		}
		list.pid = more;
		e = list_children(&none, &list);
	} while (e == 0 && list.count == list.cap);
	if (e != 0)
		list.count = 0;
	r->spared = list.pid;
	r->count = list.count;
	return e;
}

void
reap_release(struct reap *r)
{
	free(r->spared);
	*r = REAP_INIT;
}

/* Kills our children once and reaps the dead.  *left counts those seen. */
static int
kill_pass(const struct reap *r, size_t *left, size_t *reaped)
{
	pid_t found[PASS_MAX];
	struct pids list = { .pid = found, .cap = PASS_MAX };
	int e = list_children(r, &list);

	*left = list.count;
	*reaped = 0;
	for (size_t i = 0; i < list.count; i++)
		kill(list.pid[i], SIGKILL);
	for (size_t i = 0; i < list.count; i++)
		*reaped += waitpid(list.pid[i], NULL, WNOHANG | __WALL) > 0;
	return e;
}

/*
 * The same in a pid namespace of our own: kill(-1, SIGKILL) reaches every
 * process at once, so that none can fork in between.
 */
static int
kill_pass_namespace(size_t *left, size_t *reaped)
{
	kill(-1, SIGKILL);
	*left = 1;
	*reaped = 0;
	while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
		++*reaped;
	return 0;
}

/* ------------------------------------------------------------- the storm */

/*
 * Processes that fork as fast as we kill replace each one that we kill, and
 * waitid(2) does not show grandchildren.  So all descendants are stopped first,
 * which ends the forking, and then killed.  A process that is not our child is
 * held by a pidfd while its parent is read again: then the number cannot have
 * gone to another process before the signal.
 */
struct process {
	pid_t pid, parent;
	bool ours;
	bool still; /* stopped or dead */
};

/* State and parent from /proc/PID/stat: "12 (a) name) S 1 ...". */
static bool
process_read(struct process *p)
{
	char path[32], text[512], *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)p->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	end = strrchr(text, ')');
	if (end == NULL || strlen(end) < 5)
		return false;
	p->still = strchr("TtZX", end[2]) != NULL;
	p->parent = (pid_t)strtol(end + 4, NULL, 10);
	return true;
}

static size_t
process_list(struct process *list, size_t cap)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t n = 0;

	if (proc == NULL)
		return 0;
	while (n < cap && (entry = readdir(proc)) != NULL) {
		list[n] = (struct process){ .pid = (pid_t)strtol(
						    entry->d_name, NULL, 10) };
		if (list[n].pid > 1 && process_read(&list[n]))
			n++;
	}
	closedir(proc);
	return n;
}

static const struct process *
process_find(const struct process *list, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].pid == pid)
			return &list[i];
	return NULL;
}

/* Marks our descendants, but for the spared children and theirs. */
static void
process_mark(const struct reap *r, struct process *list, size_t n)
{
	const struct process *parent;
	pid_t self = getpid();
	bool more = true;

	for (size_t i = 0; i < n; i++)
		list[i].ours =
			list[i].parent == self && !is_spared(r, list[i].pid);
	while (more) {
		more = false;
		for (size_t i = 0; i < n; i++) {
			if (list[i].ours || list[i].parent <= 1)
				continue;
			parent = process_find(list, n, list[i].parent);
			if (parent != NULL && parent->ours)
				more = list[i].ours = true;
		}
	}
}

static void
process_signal(const struct process *p, int number)
{
	struct process now = { .pid = p->pid };
	int fd = (int)syscall(SYS_pidfd_open, p->pid, 0);

	if (fd < 0)
		return;
	if (process_read(&now) && now.parent == p->parent)
		syscall(SYS_pidfd_send_signal, fd, number, NULL, 0);
	close(fd);
}

/* True when one of them was not stopped yet. */
static bool
storm_signal(const struct reap *r, struct process *list, int number)
{
	size_t n = process_list(list, STORM_MAX);
	bool moved = false;

	process_mark(r, list, n);
	for (size_t i = 0; i < n; i++) {
		if (!list[i].ours || (number == SIGSTOP && list[i].still))
			continue;
		process_signal(&list[i], number);
		moved = true;
	}
	return moved;
}

static void
storm_end(const struct reap *r, uint64_t deadline)
{
	struct process *list = malloc(STORM_MAX * sizeof(*list));

	if (list == NULL)
		return;
	while (storm_signal(r, list, SIGSTOP) && clock_left_ms(deadline) > 0)
		continue;
	storm_signal(r, list, SIGKILL);
	free(list);
}

/* --------------------------------------------------------------- the end */

static void
pause_us(long us)
{
	struct timespec t = { .tv_nsec = us * 1000 };

	nanosleep(&t, NULL);
}

int
reap_all(const struct reap *r, unsigned limit_ms)
{
	uint64_t start = clock_ms(), deadline = start + limit_ms;
	long wait = PAUSE_FIRST_US;
	size_t left, reaped;
	int e;

	while (has_children()) {
		if (!r->own_namespace && clock_ms() - start > STORM_MS)
			storm_end(r, deadline);
		e = r->own_namespace ? kill_pass_namespace(&left, &reaped)
				     : kill_pass(r, &left, &reaped);
		if (e != 0)
			return e;
		if (left == 0 && r->count > 0)
			return 0;
		if (clock_left_ms(deadline) == 0)
			return ETIME;
		if (reaped > 0) {
			wait = PAUSE_FIRST_US;
			continue;
		}
		pause_us(wait);
		wait = wait * 2 > PAUSE_LAST_US ? PAUSE_LAST_US : wait * 2;
	}
	return 0;
}

/* PROC_PID_INIT_INO, namespaces(7): of the first pid namespace, always. */
bool
reap_is_for_init(void)
{
	static const char first[] = "pid:[4026531836]";
	char name[sizeof(first) + 1];

	return readlink("/proc/self/ns/pid", name, sizeof(name)) ==
		(ssize_t)strlen(first) &&
		memcmp(name, first, strlen(first)) == 0;
}
