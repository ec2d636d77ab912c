/* SPDX-License-Identifier: MIT */
#include "run/usage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define SOCKET_BYTES 212992 /* where SO_SNDBUF cannot be read */
#define INODES_MAX 65536
#define PASSES 64 /* over the threads of a process */

struct process {
	pid_t pid;
	pid_t thread;   /* /proc/THREAD shows its memory and descriptors */
	uint64_t bytes; /* as usage.bytes, without sockets */
	uint64_t page_tables, threads, open_files;
};

struct walk {
	int proc;
	struct process *list;
	size_t count, cap;
	bool unread; /* a process holds what could not be read */
};

static bool
add_process(struct walk *w, pid_t pid)
{
	struct process *more;

	if (w->count == w->cap) {
		w->cap = w->cap > 0 ? 2 * w->cap : 64;
		more = realloc(w->list, w->cap * sizeof(*more));
		if (more == NULL)
			return false;
		w->list = more;
	}
	w->list[w->count++] = (struct process){ .pid = pid, .thread = pid };
	return true;
}

/* A directory of /proc, for reading; NULL: its process is gone. */
static DIR *
open_list(const struct walk *w, const char *path)
{
	int fd = openat(w->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);

	if (list == NULL)
		fd_close(&fd);
	return list;
}

static ssize_t
read_text(const struct walk *w, const char *path, char *out, size_t cap)
{
	int fd = openat(w->proc, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, cap - 1);

	fd_close(&fd);
	out[n > 0 ? n : 0] = '\0';
	return n;
}

/* The number behind "\nNAME:"; 0 without. */
static uint64_t
number_of(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	return line != NULL ? strtoull(line + strlen(name), NULL, 10) : 0;
}

/* ---------------------------------------------------- which processes */

static bool
add_all(struct walk *w)
{
	DIR *list = open_list(w, ".");
	struct dirent *e;
	bool done = list != NULL;
	pid_t pid;

	while (done && (e = readdir(list)) != NULL) {
		pid = (pid_t)strtol(e->d_name, NULL, 10);
		done = pid <= 1 || add_process(w, pid);
	}
	if (list != NULL)
		closedir(list);
	return done;
}

/* Of one thread (CONFIG_PROC_CHILDREN); false: the kernel keeps no list. */
static bool
add_children(struct walk *w, const char *pid, const char *tid)
{
	char path[64], text[16384], *at = text, *end;
	pid_t child;

	snprintf(path, sizeof(path), "%s/task/%s/children", pid, tid);
	if (read_text(w, path, text, sizeof(text)) < 0)
		return false;
	while ((child = (pid_t)strtol(at, &end, 10)) > 0) {
		if (!add_process(w, child))
			return false;
		at = end;
	}
	return true;
}

static bool
add_children_of(struct walk *w, pid_t parent, uint64_t threads)
{
	char pid[16], path[32];
	struct dirent *e;
	DIR *list;

	snprintf(pid, sizeof(pid), "%d", (int)parent);
	if (threads == 1)
		return add_children(w, pid, pid);
	snprintf(path, sizeof(path), "%s/task", pid);
	list = open_list(w, path);
	while (list != NULL && (e = readdir(list)) != NULL)
		if (e->d_name[0] != '.')
			add_children(w, pid, e->d_name);
	if (list != NULL)
		closedir(list);
	return true;
}

/* ---------------------------------------------- what each one holds */

/* False: the thread has ended, or is ending, and shows no memory. */
static bool
read_thread(struct walk *w, struct process *p, pid_t thread)
{
	char path[32], text[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%d/status", (int)thread);
	if (read_text(w, path, text, sizeof(text)) <= 0) {
		w->unread |= errno != ENOENT && errno != ESRCH;
		return false;
	}
	p->threads = number_of(text, "\nThreads:");
	p->threads += p->threads == 0; /* a zombie */
	if (strstr(text, "\nRssAnon:") == NULL)
		return false;
	p->thread = thread;
	p->page_tables = number_of(text, "\nVmPTE:") << 10;
	p->bytes = p->page_tables +
		((number_of(text, "\nRssAnon:") +
			 number_of(text, "\nRssShmem:") +
			 number_of(text, "\nVmSwap:") +
			 number_of(text, "\nHugetlbPages:"))
			<< 10);
	/* Before Linux 6.2 the size was 0. */
	p->open_files = number_of(text, "\nFDSize:");
	snprintf(path, sizeof(path), "%d/fd", (int)thread);
	if (fstatat(w->proc, path, &st, 0) == 0 && st.st_size > 0)
		p->open_files = (uint64_t)st.st_size;
	return true;
}

/* False: none shows memory.  youngest: new threads are last in the list. */
static bool
read_some_thread(struct walk *w, struct process *p, pid_t *youngest)
{
	char path[32];
	struct dirent *e;
	bool found = false;
	DIR *list;

	*youngest = 0;
	snprintf(path, sizeof(path), "%d/task", (int)p->pid);
	list = open_list(w, path);
	if (list == NULL) {
		w->unread |= errno != ENOENT && errno != ESRCH;
		return false;
	}
	while (!found && (e = readdir(list)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		*youngest = (pid_t)strtol(e->d_name, NULL, 10);
		found = read_thread(w, p, *youngest);
	}
	closedir(list);
	return found;
}

/*
 * The first thread may end before the others, and then shows nothing of what
 * they hold.  Threads may also start one another and end, so that each has
 * ended when it is read: the process holds nothing only if no thread was
 * started after all of them were found to have ended.
 */
static void
read_process(struct walk *w, struct process *p)
{
	pid_t youngest = 0, before;

	if (read_thread(w, p, p->pid) || p->threads <= 1)
		return;
	for (int i = 0; i < PASSES; i++) {
		before = youngest;
		if (read_some_thread(w, p, &youngest) || youngest == before)
			return;
	}
	w->unread = true;
}

/*
 * Counts shared pages by the part of each process (PSS).  The file of a process
 * that is not dumpable cannot be read (ptrace(2)): its pages count whole.
 */
static uint64_t
own_part(const struct walk *w, const struct process *p)
{
	char path[32], text[4096];

	snprintf(path, sizeof(path), "%d/smaps_rollup", (int)p->thread);
	if (read_text(w, path, text, sizeof(text)) <= 0)
		return p->bytes;
	return p->page_tables +
		((number_of(text, "\nPss_Anon:") +
			 number_of(text, "\nPss_Shmem:") +
			 number_of(text, "\nSwapPss:") +
			 number_of(text, "\nShared_Hugetlb:") +
			 number_of(text, "\nPrivate_Hugetlb:"))
			<< 10);
}

/* ------------------------------------------------------------- sockets */

/*
 * What a socket of a pair may hold for its reader, unread: the sender's
 * buffer, and one message more (socket(7), SO_SNDBUF).
 */
static uint64_t
socket_bytes(void)
{
	static int bytes;
	socklen_t len = sizeof(bytes);
	int pair[2];

	if (bytes > 0)
		return (uint64_t)bytes;
	bytes = SOCKET_BYTES;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0) {
		getsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &bytes, &len);
		fd_close(&pair[0]);
		fd_close(&pair[1]);
	}
	bytes += bytes / 2;
	return (uint64_t)bytes;
}

static int
compare_inodes(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * False: its descriptors cannot be read.  A thread other than the first may
 * have ended since read_process, and then shows none of them.
 */
static bool
add_sockets(const struct walk *w, const struct process *p, uint64_t *inodes,
	size_t *count)
{
	char path[32], target[64];
	struct dirent *e;
	ssize_t n;
	DIR *list;

	if (p->thread != p->pid)
		return false;
	snprintf(path, sizeof(path), "%d/fd", (int)p->pid);
	list = open_list(w, path);
	if (list == NULL)
		return errno == ENOENT;
	while (*count < INODES_MAX && (e = readdir(list)) != NULL) {
		n = readlinkat(
			dirfd(list), e->d_name, target, sizeof(target) - 1);
		if (n <= 8 || strncmp(target, "socket:[", 8) != 0)
			continue;
		target[n] = '\0';
		inodes[(*count)++] = strtoull(target + 8, NULL, 10);
	}
	closedir(list);
	return true;
}

/* Counts each once, however many processes have it open. */
static uint64_t
count_sockets(const struct walk *w)
{
	uint64_t *inodes = malloc(INODES_MAX * sizeof(*inodes));
	uint64_t total = 0;
	size_t count = 0;

	for (size_t i = 0; i < w->count; i++)
		if (inodes == NULL ||
			!add_sockets(w, &w->list[i], inodes, &count))
			total += w->list[i].open_files;
	if (count > 0)
		qsort(inodes, count, sizeof(*inodes), compare_inodes);
	for (size_t i = 0; i < count; i++)
		total += i == 0 || inodes[i] != inodes[i - 1];
	free(inodes);
	return total;
}

/* --------------------------------------------------------------- all */

static void
sum_up(const struct walk *w, uint64_t enough, struct usage *out)
{
	uint64_t sockets = 0, bytes = 0;

	*out = (struct usage){ 0 };
	for (size_t i = 0; i < w->count; i++) {
		out->tasks += w->list[i].threads;
		bytes += w->list[i].bytes;
		sockets += w->list[i].open_files;
	}
	out->bytes = bytes + sockets * socket_bytes();
	if (out->bytes <= enough)
		return;
	sockets = count_sockets(w) * socket_bytes();
	out->bytes = bytes + sockets;
	if (out->bytes <= enough)
		return;
	out->bytes = sockets;
	for (size_t i = 0; i < w->count; i++)
		out->bytes += own_part(w, &w->list[i]);
}

bool
usage_read(int proc, bool alone, uint64_t enough, struct usage *out)
{
	struct walk w = { .proc = proc };
	bool done = alone ? add_all(&w) : add_children_of(&w, getpid(), 1);

	for (size_t i = 0; i < w.count && done; i++) {
		read_process(&w, &w.list[i]);
		if (!alone && w.list[i].threads > 0)
			add_children_of(&w, w.list[i].pid, w.list[i].threads);
	}
	done = done && !w.unread;
	if (done)
		sum_up(&w, enough, out);
	free(w.list);
	return done;
}
