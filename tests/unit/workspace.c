/* SPDX-License-Identifier: MIT */
/*
 * Sessions of workspaces: made whole, opened by their owner alone, locked by one
 * process, and nothing is left of a discarded one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "workspace/at.h"
#include "workspace/meta.h"
#include "workspace/own.h"
#include "tap.h"

static char top[] = "/tmp/statespace-workspace-XXXXXX";
static int place, store, root;
static struct arena arena;
static struct ss_error err;

static struct workspace_meta
meta_of(const char *page, const char *caller)
{
	return (struct workspace_meta){ .backend = WORKSPACE_OVERLAY,
		.owner = { top, page, caller },
		.folder = "site",
		.idle_s = 100 };
}

static void
put(int dir, const char *path, const char *text)
{
	int fd = openat(
		dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || fd_write_all(fd, text, strlen(text)) != 0)
		printf("Bail out! %s: %s\n", path, strerror(errno));
	close(fd);
}

static void
must(int result)
{
	if (result < 0)
		printf("Bail out! %s\n", strerror(errno));
}

static bool
is_there(int dir, const char *path)
{
	return faccessat(dir, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int
entries(int dir)
{
	int n = 0;
	char command[256];
	FILE *p;

	snprintf(command, sizeof(command), "ls -A /proc/%d/fd/%d | wc -l",
		(int)getpid(), dir);
	p = popen(command, "r");
	if (p == NULL || fscanf(p, "%d", &n) != 1)
		n = -1;
	pclose(p);
	return n;
}

static void
make(struct workspace *w, const struct workspace_meta *m)
{
	enum ss_err code = workspace_create(w, store, root, m, &arena, &err);

	if (code != SS_OK)
		printf("Bail out! create: %s %s\n", err.message, err.detail);
}

static void
age(const struct workspace *w, int seconds)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
		{ .tv_sec = time(NULL) - seconds } };

	utimensat(w->dir, "lock", times, 0);
}

static enum ss_err
open_as(const char *id, const char *page, const char *caller)
{
	const struct workspace_owner who = { top, page, caller };
	struct workspace w;
	enum ss_err code =
		workspace_open(&w, store, root, id, &who, &arena, &err);

	workspace_close(&w);
	return code;
}

static void
test_words(void)
{
	static const char odd[] = "a b\n%\x80\x01/%41";
	struct buf text = BUF_INIT(1000);
	char *at, *line;

	meta_put_word(&text, odd, sizeof(odd) - 1);
	buf_char(&text, ' ');
	meta_put_word(&text, "", 0);
	buf_text(&text, " 12\n");
	at = text.data;
	line = meta_line(&at);
	is_str(odd, meta_word(&line), "a word of any bytes is read again");
	is_str("", meta_word(&line), "so is an empty one");
	is_str("12", meta_word(&line), "and the last one");
	ok(meta_word(&line) == NULL, "after which there is none");
	ok(meta_line(&at) == NULL, "and no other line");
	buf_release(&text);
}

static void
test_life(void)
{
	struct workspace_meta m = meta_of("a/b.md", "ann");
	struct workspace w, other;
	const struct workspace_owner ann = { top, "a/b.md", "ann" };
	struct stat st;
	char id[STATE_ID_CAP];

	make(&w, &m);
	memcpy(id, w.id, sizeof(id));
	ok(state_is_id(text_of(w.id)), "a session has an id of 128 bits");
	ok(is_there(store, w.id), "and a directory of that name");
	ok(fstat(w.dir, &st) == 0 && (st.st_mode & 07777) == 0700,
		"which is the account's alone");
	ok(fstat(w.upper, &st) == 0 && (st.st_mode & 07777) == 0751,
		"the upper has the folder's mode");
	ok(w.lock >= 0 && fcntl(w.lock, F_GETFD) == FD_CLOEXEC,
		"it is locked, by a descriptor that exec closes");
	is_int(SS_OK,
		workspace_open(&other, store, root, id, &ann, &arena, &err),
		"its owner opens it meanwhile");
	is_int(SS_BUSY, workspace_lock(&other, &err),
		"a second tool is told that it is busy");
	workspace_unlock(&w);
	is_int(SS_OK, workspace_lock(&other, &err),
		"and gets it after the first one");
	is_str("a/b.md", other.meta.owner.page, "the page is kept");
	is_str("site", other.meta.folder, "so is the folder");
	is_int(100, other.meta.idle_s, "and the idle time");
	is_int(w.meta.start_ns, other.meta.start_ns, "and when it began");
	is_int(SS_BUSY, workspace_lock(&w, &err), "the first one has to wait");
	is_int(SS_OK, workspace_discard(&other, &err), "it is discarded");
	ok(!is_there(store, id), "and nothing of it is left");
	is_int(SS_NOT_FOUND, workspace_lock(&w, &err),
		"who had it open is told that it is gone");
	workspace_close(&w);
	is_int(SS_NOT_FOUND, open_as(id, "a/b.md", "ann"), "it is unknown now");
}

static void
test_refusals(void)
{
	struct workspace_meta m = meta_of("a/b.md", "ann");
	struct workspace w;
	char first[512], id[STATE_ID_CAP];
	const char *const bad[] = { "", ".", "..", "../workspaces", "x",
		"0123456789abcdef0123456789abcdeF",
		"0123456789abcdef0123456789abcdef0" };

	make(&w, &m);
	memcpy(id, w.id, sizeof(id));
	workspace_unlock(&w);
	open_as("00000000000000000000000000000000", "a/b.md", "ann");
	memcpy(first, err.message, sizeof(first));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		error_clear(&err);
		is_int(SS_NOT_FOUND, open_as(bad[i], "a/b.md", "ann"),
			"\"%s\" is no session", bad[i]);
		is_str(first, err.message, "with the words of an unknown one");
	}
	is_int(SS_NOT_FOUND, open_as(id, "a/c.md", "ann"),
		"another page does not have it");
	is_str(first, err.message, "with the same words");
	is_int(SS_NOT_FOUND, open_as(id, "a/b.md", "bob"),
		"nor has another caller");
	is_str(first, err.message, "with the same words");
	is_int(SS_OK, open_as(id, NULL, NULL), "the operator has it");
	age(&w, 98);
	is_int(SS_OK, open_as(id, "a/b.md", "ann"), "98 s of 100 are allowed");
	age(&w, 103);
	is_int(SS_NOT_FOUND, open_as(id, "a/b.md", "ann"), "103 s are not");
	is_str(first, err.message, "with the same words");
	workspace_lock(&w, &err);
	workspace_discard(&w, &err);
}

static void
test_folder(void)
{
	struct workspace_meta m = meta_of("p.md", "");
	struct workspace w;

	m.folder = "nowhere";
	is_int(SS_NOT_FOUND,
		workspace_create(&w, store, root, &m, &arena, &err),
		"a folder that is not there is refused");
	m.folder = "out";
	is_int(SS_NOT_FOUND,
		workspace_create(&w, store, root, &m, &arena, &err),
		"so is a link that leads out");
	is_int(0, entries(store), "and no session is left");
	m.folder = "site";
	make(&w, &m);
	workspace_unlock(&w);
	renameat(root, "site", root, "old");
	mkdirat(root, "site", 0751);
	is_int(SS_CONFLICT, open_as(w.id, "p.md", ""),
		"another folder of the same name is not the session's");
	unlinkat(root, "site", AT_REMOVEDIR);
	renameat(root, "old", root, "site");
	is_int(SS_OK, open_as(w.id, "p.md", ""), "the first one is");
	workspace_lock(&w, &err);
	workspace_discard(&w, &err);
}

static void
test_hostile(void)
{
	struct workspace_meta m = meta_of("p.md", "");
	struct workspace w;
	char name[16];
	int at;

	make(&w, &m);
	mkdirat(w.work, "work", 0);
	at = openat(w.upper, ".", AT_DIRECTORY);
	for (int i = 0; i < 300; i++) {
		int next;

		snprintf(name, sizeof(name), "d%d", i);
		mkdirat(at, name, 0700);
		next = openat(at, name, AT_DIRECTORY);
		put(next, "f", "x");
		/* Full now: with the mode 0 nothing more could be made in it. */
		if (i > 0)
			must(fchmod(at, i % 3 == 0 ? 0 : 0700));
		fd_close(&at);
		at = next;
	}
	fd_close(&at);
	must(symlinkat("/etc", w.upper, "link"));
	is_int(SS_OK, workspace_discard(&w, &err),
		"300 directories, some of mode 0, are removed");
	is_int(0, entries(store), "and nothing is left");
	ok(is_there(AT_FDCWD, "/etc/passwd"), "a link was not followed");
}

static void
test_copy(void)
{
	struct workspace_meta m = meta_of("p.md", "");
	struct workspace w;
	struct stat st;
	char target[16] = "";

	m.backend = WORKSPACE_COPY;
	m.bytes_max = 6;
	make(&w, &m);
	ok(is_there(w.upper, "dir/two"), "the copy backend copies all");
	ok(readlinkat(w.upper, "dir/l", target, 15) == 4 &&
			strcmp(target, "/etc") == 0,
		"links as links");
	ok(fstatat(w.upper, "dir/two", &st, 0) == 0 &&
			(st.st_mode & 07777) == 0640,
		"with their modes");
	workspace_discard(&w, &err);
	m.bytes_max = 5;
	is_int(SS_BODY_TOO_LARGE,
		workspace_create(&w, store, root, &m, &arena, &err),
		"a byte more than the limit is refused");
	m.bytes_max = 0;
	m.files_max = 4;
	make(&w, &m);
	workspace_discard(&w, &err);
	m.files_max = 3;
	is_int(SS_BODY_TOO_LARGE,
		workspace_create(&w, store, root, &m, &arena, &err),
		"so is a file more");
	is_int(0, entries(store), "and nothing is left");
}

static void
fill(const struct workspace *w, const char *name, size_t blocks)
{
	char block[4096];
	int fd = openat(w->upper, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	memset(block, 'x', sizeof(block));
	for (size_t i = 0; i < blocks; i++)
		fd_write_all(fd, block, sizeof(block));
	fsync(fd);
	fd_close(&fd);
}

static void
test_limits(void)
{
	struct workspace_meta m = meta_of("p.md", "");
	struct workspace_usage used;
	struct workspace w;

	m.files_max = 3;
	make(&w, &m);
	for (int i = 0; i < 3; i++)
		fill(&w, (const char *[]){ "a", "b", "c" }[i], 1);
	is_int(SS_OK, workspace_check_limits(&w, &err), "3 files of 3");
	workspace_usage(&w, &used, &err);
	w.meta.bytes_max = used.bytes;
	is_int(SS_OK, workspace_check_limits(&w, &err), "all bytes of them");
	w.meta.bytes_max--;
	is_int(SS_BODY_TOO_LARGE, workspace_check_limits(&w, &err),
		"one byte less is too little");
	w.meta.bytes_max = 0;
	fill(&w, "d", 0);
	is_int(SS_BODY_TOO_LARGE, workspace_check_limits(&w, &err),
		"a fourth file is one too many");
	workspace_discard(&w, &err);
}

static void
test_collect(void)
{
	struct workspace_meta m = meta_of("p.md", "");
	const struct workspace_owner who = { top, "p.md", NULL };
	struct workspace_usage used;
	struct workspace_item *items;
	struct workspace w[4];
	size_t removed, count;

	for (int i = 0; i < 4; i++) {
		make(&w[i], &m);
		fill(&w[i], "f", 20);
		age(&w[i], 10 * i + 5);
	}
	workspace_usage(&w[0], &used, &err);
	/* The oldest runs. */
	for (int i = 0; i < 3; i++)
		workspace_unlock(&w[i]);
	workspace_list(store, &who, &arena, &items, &count, &err);
	ok(count == 4 && strcmp(items[0].id, w[0].id) == 0 &&
			strcmp(items[3].id, w[3].id) == 0,
		"the list begins with the one that was used last");
	ok(!items[0].running && items[3].running, "it tells what runs");
	workspace_collect(store, 4 * used.bytes, &removed, &err);
	is_int(0, removed, "what fits is kept");
	workspace_collect(store, 3 * used.bytes, &removed, &err);
	is_int(1, removed, "one too many is removed");
	ok(!is_there(store, w[2].id) && is_there(store, w[3].id),
		"the oldest one that does not run");
	age(&w[0], 101 + 5);
	workspace_collect(store, 0, &removed, &err);
	is_int(1, removed, "an expired one is removed");
	ok(!is_there(store, w[0].id), "that one");
	age(&w[3], 1000);
	workspace_collect(store, 1, &removed, &err);
	ok(is_there(store, w[3].id) && !is_there(store, w[1].id),
		"a running one never is");
	mkdirat(store, OWN_GONE "x", 0700);
	workspace_unlock(&w[3]);
	workspace_collect(store, 1, &removed, &err);
	is_int(0, entries(store), "what a killed process left is removed, too");
	for (int i = 0; i < 4; i++)
		workspace_close(&w[i]);
}

static void
stamp_age(const char *stamp, int seconds)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
		{ .tv_sec = time(NULL) - seconds } };

	must(utimensat(store, stamp, times, 0));
}

static void
test_room(void)
{
	struct workspace_meta m = meta_of("p.md", "");
	struct workspace w[3];

	for (int i = 0; i < 3; i++) {
		make(&w[i], &m);
		fill(&w[i], "f", 20);
		workspace_unlock(&w[i]);
	}
	is_int(SS_OK, workspace_room(store, 4, &err), "room for a fourth");
	is_int(SS_OVERLOADED, workspace_room(store, 3, &err), "none for it");
	ok(strstr(err.hint, "discard") != NULL, "it says what to do");
	is_int(SS_OK, workspace_room(store, 0, &err), "0 is no limit");
	ok(is_there(store, w[0].id) && is_there(store, w[1].id) &&
			is_there(store, w[2].id),
		"no session was removed for it");
	age(&w[1], 1000);
	stamp_age(OWN_EXPIRED, -3600);
	is_int(SS_OK, workspace_room(store, 3, &err),
		"an expired one makes room, also after the clock went back");
	ok(!is_there(store, w[1].id) && is_there(store, w[0].id),
		"that one alone");
	mkdirat(store, OWN_NEW "x", 0700);
	is_int(SS_OVERLOADED, workspace_room(store, 3, &err),
		"one that is being made counts");
	unlinkat(store, OWN_NEW "x", AT_REMOVEDIR);
	for (int i = 0; i < 3; i++)
		workspace_close(&w[i]);
}

/* Two sessions are there. */
static void
test_due(void)
{
	size_t removed;

	workspace_collect_due(store, 0, &removed, &err);
	is_int(0, removed, "what is not expired stays");
	workspace_collect_due(store, 1, &removed, &err);
	is_int(0, removed, "in the next seconds nothing is walked");
	stamp_age(OWN_COLLECTED, 11);
	workspace_collect_due(store, 1, &removed, &err);
	is_int(2, removed, "then it is");
	unlinkat(store, OWN_COLLECTED, 0);
	unlinkat(store, OWN_EXPIRED, 0);
}

static void
test_temporary(void)
{
	struct workspace_meta m = meta_of("p.md", "");
	struct workspace w;
	size_t removed;

	m.temporary = true;
	make(&w, &m);
	is_int(SS_NOT_FOUND, open_as(w.id, "p.md", ""),
		"nobody opens what is one call's");
	workspace_collect(store, 0, &removed, &err);
	is_int(0, removed, "while that runs it is kept");
	workspace_close(&w);
	workspace_collect(store, 0, &removed, &err);
	is_int(1, removed, "and collected when the process was killed");
}

int
main(void)
{
	int before = open_count(), dir;

	umask(022);
	if (mkdtemp(top) == NULL)
		return 1;
	place = open(top, AT_DIRECTORY);
	mkdirat(place, "store", 0700);
	mkdirat(place, "root", 0755);
	store = openat(place, "store", AT_DIRECTORY);
	root = openat(place, "root", AT_DIRECTORY);
	mkdirat(root, "site", 0751);
	must(fchmodat(root, "site", 0751, 0));
	must(symlinkat("/etc", root, "out"));
	dir = openat(root, "site", AT_DIRECTORY);
	put(dir, "one", "1234");
	mkdirat(dir, "dir", 0755);
	put(dir, "dir/two", "12");
	must(fchmodat(dir, "dir/two", 0640, 0));
	must(symlinkat("/etc", dir, "dir/l"));
	fd_close(&dir);
	arena_init(&arena, 0);
	test_words();
	test_life();
	test_refusals();
	test_folder();
	test_hostile();
	test_copy();
	test_limits();
	test_collect();
	test_room();
	test_due();
	test_temporary();
	arena_release(&arena);
	own_remove(place, "store");
	own_remove(place, "root");
	rmdir(top);
	fd_close(&store);
	fd_close(&root);
	fd_close(&place);
	is_int(before, open_count(), "no descriptor is left open");
	return done();
}
