/* SPDX-License-Identifier: MIT */
/*
 * Commits of workspaces: what is applied is what the session changed, and a
 * process that is killed at any system call leaves the old folder or the new one.
 * FILES and RUNS make it longer.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "workspace/apply.h"
#include "workspace/at.h"
#include "workspace/commit.h"
#include "workspace/own.h"
#include "workspace/stage.h"
#include "workspace/tree.h"
#include "tap.h"

static char *top, on_disk[] = "/tmp/statespace-commit-XXXXXX",
		  in_memory[] = "/dev/shm/statespace-commit-XXXXXX";
static int place, store, root;
static struct arena arena;
static struct ss_error err;
static int files = 30, runs = 60;

static void
must(int result, const char *what)
{
	if (result < 0) {
		printf("Bail out! %s: %s\n", what, strerror(errno));
		exit(1);
	}
}

/* ------------------------------------------------------ changes by hand -- */

/*
 * A tree that is changed: in place, or, with a base, in the form that overlayfs
 * gives an upper.
 */
struct form {
	int dir, base;
};

static bool
has(int dir, const char *path, struct stat *st)
{
	return dir >= 0 && fstatat(dir, path, st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The directories above path, as overlayfs copies them up. */
static void
parents(const struct form *f, const char *path)
{
	char above[PATH_MAX];
	struct stat st, own;

	for (const char *at = path; (at = strchr(at, '/')) != NULL; at++) {
		memcpy(above, path, (size_t)(at - path));
		above[at - path] = '\0';
		if (has(f->dir, above, &own) || !has(f->base, above, &st))
			continue;
		must(mkdirat(f->dir, above, 0700), above);
		must(fchmodat(f->dir, above, st.st_mode & 07777, 0), above);
	}
}

static void
put(const struct form *f, const char *path, const char *text, mode_t mode)
{
	int fd;
	struct stat st;

	parents(f, path);
	if (has(f->dir, path, &st))
		own_remove(f->dir, path);
	fd = openat(
		f->dir, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	must(fd, path);
	must(-fd_write_all(fd, text, strlen(text)), path);
	must(fchmod(fd, mode), path);
	close(fd);
}

static void
drop(const struct form *f, const char *path)
{
	struct stat st;
	char copy[PATH_MAX];
	const char *name;
	int dir;

	parents(f, path);
	snprintf(copy, sizeof(copy), "%s", path);
	dir = at_parent(f->dir, copy, &name);
	must(dir, path);
	own_remove(dir, name);
	if (has(f->base, path, &st))
		must(mknodat(dir, name, S_IFCHR, 0), "mknod of a whiteout");
	close(dir);
}

static void
folder(const struct form *f, const char *path, mode_t mode)
{
	struct stat st;
	int fd;

	parents(f, path);
	if (has(f->dir, path, &st))
		own_remove(f->dir, path);
	must(mkdirat(f->dir, path, 0700), path);
	must(fchmodat(f->dir, path, mode | 0700, 0), path);
	if (!has(f->base, path, &st))
		return;
	fd = openat(f->dir, path, AT_DIRECTORY);
	must(fd, path);
	must(fsetxattr(fd, "user.overlay.opaque", "y", 1, 0), "opaque");
	close(fd);
}

static void
point(const struct form *f, const char *path, const char *target)
{
	struct stat st;

	parents(f, path);
	if (has(f->dir, path, &st))
		own_remove(f->dir, path);
	must(symlinkat(target, f->dir, path), path);
}

/* Of a directory that stays. */
static void
mode_of(const struct form *f, const char *path, mode_t mode)
{
	struct stat st;

	parents(f, path);
	if (!has(f->dir, path, &st))
		must(mkdirat(f->dir, path, 0700), path);
	must(fchmodat(f->dir, path, mode, 0), path);
}

/* ------------------------------------------------------------ the trees -- */

static void
make_base(int dir)
{
	const struct form f = { dir, -1 };
	char path[64], text[64];

	folder(&f, "d", 0755);
	for (int i = 0; i < files; i++) {
		snprintf(path, sizeof(path), "d/f%d", i);
		snprintf(text, sizeof(text), "old %d\n", i);
		put(&f, path, text, i % 5 == 0 ? 0600 : 0644);
	}
	folder(&f, "gone", 0755);
	folder(&f, "gone/deep", 0555);
	mode_of(&f, "gone/deep", 0755);
	put(&f, "gone/deep/x", "x", 0644);
	put(&f, "gone/y", "y", 0644);
	folder(&f, "was-dir", 0755);
	put(&f, "was-dir/in", "in", 0644);
	put(&f, "was-file", "file", 0644);
	folder(&f, "again", 0755);
	put(&f, "again/old", "old", 0644);
	put(&f, "again/same", "same", 0644);
	folder(&f, "keep", 0755);
	put(&f, "keep/me", "me", 0644);
	point(&f, "link", "d/f1");
	put(&f, "to-link", "t", 0644);
	folder(&f, "narrow", 0755);
	put(&f, "odd\nna\xffme", "odd", 0644);
	put(&f, "a", "1", 0644);
	put(&f, "a-b", "2", 0644);
	put(&f, "alike", "alike", 0644);
}

static void
change(const struct form *f)
{
	char path[64], text[64];

	for (int i = 0; i < files; i++) {
		snprintf(path, sizeof(path), "d/f%d", i);
		snprintf(text, sizeof(text), "new %d\n", i);
		if (i % 3 == 0)
			put(f, path, text, 0644);
		else if (i % 3 == 1)
			drop(f, path);
		snprintf(path, sizeof(path), "d/n%d", i);
		if (i % 3 == 2)
			put(f, path, text, 0755);
	}
	drop(f, "gone");
	drop(f, "was-dir");
	put(f, "was-dir", "now a file", 0600);
	drop(f, "was-file");
	folder(f, "was-file", 0711);
	folder(f, "was-file/more", 0755);
	put(f, "was-file/more/x", "x", 0644);
	point(f, "was-file/l", "../../outside");
	drop(f, "again");
	folder(f, "again", 0755);
	put(f, "again/new", "new", 0644);
	put(f, "again/same", "same", 0644);
	folder(f, "fresh", 0755);
	folder(f, "fresh/shut", 0500);
	put(f, "fresh/shut/in", "in", 0400);
	mode_of(f, "fresh/shut", 0555);
	point(f, "link", "/etc/passwd");
	drop(f, "to-link");
	point(f, "to-link", "a");
	put(f, "narrow/in", "in", 0644);
	mode_of(f, "narrow", 0555);
	put(f, "odd\nna\xffme", "odder", 0644);
	put(f, "a", "1", 0755);
	folder(f, "a-", 0755);
	put(f, "a-/b", "b", 0644);
	put(f, "alike", "alike", 0644);
}

/* A tree as text, each entry with its mode and content. */
static int
note(void *ctx, int dir, const char *path, const struct stat *st)
{
	struct buf *out = ctx;
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	char content[256] = "";
	ssize_t n = 0;
	int fd;

	if (S_ISLNK(st->st_mode)) {
		n = readlinkat(dir, name, content, sizeof(content) - 1);
	} else if (S_ISREG(st->st_mode)) {
		fd = at_read(dir, name, O_RDONLY);
		n = read(fd, content, sizeof(content) - 1);
		close(fd);
	}
	buf_printf(out, "%s %o %.*s;", path,
		(unsigned)(S_ISLNK(st->st_mode) ? 0120777 : st->st_mode),
		(int)(n > 0 ? n : 0), content);
	return 0;
}

static char *
taken(struct buf *b)
{
	char *copy = strdup(b->data);

	buf_release(b);
	return copy;
}

static char *
picture(int dir, const char *name)
{
	struct buf out = BUF_INIT(1 << 24);
	int number = tree_each(dir, name, true, note, &out);

	if (number != 0)
		buf_printf(&out, "an error: %s", strerror(number));
	return taken(&out);
}

/* ----------------------------------------------------------- a session -- */

static const struct commit_ask plain;

static void
begin(struct workspace *w, const char *name)
{
	struct workspace_meta m = { .backend = WORKSPACE_OVERLAY,
		.owner = { top, "p.md", "" },
		.folder = name };
	int dir;

	own_remove(root, name);
	must(mkdirat(root, name, 0755), name);
	dir = openat(root, name, AT_DIRECTORY);
	make_base(dir);
	close(dir);
	if (workspace_create(w, store, root, &m, &arena, &err) != SS_OK)
		printf("Bail out! %s %s\n", err.message, err.detail);
}

static void
begin_changed(struct workspace *w, const char *name)
{
	struct form f;

	begin(w, name);
	f = (struct form){ w->upper, w->base };
	change(&f);
}

static void
end(struct workspace *w)
{
	if (workspace_discard(w, &err) != SS_OK) {
		ok(false, "discard: %s %s", err.message, err.detail);
		workspace_close(w);
	}
}

static enum ss_err
commit(struct workspace *w, const struct commit_ask *ask)
{
	struct changes c;

	error_clear(&err);
	return commit_apply(w, ask, &arena, &c, &err);
}

static char *
list_of(const struct changes *c)
{
	struct buf out = BUF_INIT(1 << 20);

	for (size_t i = 0; i < c->count; i++)
		buf_printf(&out, "%c %s%s%s%s\n", c->items[i].op,
			c->items[i].path,
			c->items[i].from != NULL ? " <- " : "",
			c->items[i].from != NULL ? c->items[i].from : "",
			c->items[i].conflict != NULL          ? " !"
				: c->items[i].refused != NULL ? " X"
							      : "");
	return taken(&out);
}

/* --------------------------------------------------------------- tests -- */

static char *wanted, *old;

static void
test_whole(void)
{
	struct workspace w;
	struct stat st;
	char *seen;

	must(mkdirat(place, "wanted", 0755), "mkdir");
	make_base(openat(place, "wanted", AT_DIRECTORY));
	old = picture(place, "wanted");
	change(&(struct form){ openat(place, "wanted", AT_DIRECTORY), -1 });
	wanted = picture(place, "wanted");
	begin_changed(&w, "site");
	is_int(SS_OK, commit(&w, &plain), "a session is committed%s%s",
		err.detail[0] != '\0' ? ": " : "", err.detail);
	seen = picture(root, "site");
	is_str(wanted, seen, "the folder is what the session had");
	free(seen);
	ok(!workspace_is_pending(&w), "no journal is left");
	ok(!has(w.dir, "upper/d", &st) && has(w.dir, "upper", &st),
		"and the session is empty");
	put(&(struct form){ w.upper, w.base }, "second", "2", 0644);
	is_int(SS_OK, commit(&w, &plain), "it goes on from there");
	ok(has(w.base, "second", &st), "a second commit is applied, too");
	is_int(SS_OK, commit(&w, &plain), "an empty one does nothing");
	end(&w);
}

static void
expect(const char *name, void (*act)(const struct form *),
	void (*meanwhile)(const struct form *), const char *list)
{
	struct workspace w;
	struct changes c;
	struct form f;
	char *seen;

	begin(&w, "site");
	f = (struct form){ w.upper, w.base };
	act(&f);
	if (meanwhile != NULL)
		meanwhile(&(struct form){ w.base, -1 });
	if (changes_read(&w, NULL, &arena, &c, &err) != SS_OK ||
		changes_pair(&c, &arena, &err) != SS_OK)
		printf("# %s %s\n", err.message, err.detail);
	seen = list_of(&c);
	is_str(list, seen, "%s", name);
	free(seen);
	end(&w);
}

static void
act_nothing(const struct form *f)
{
	put(f, "alike", "alike", 0644);
	mode_of(f, "d", 0755);
}

static void
act_rename(const struct form *f)
{
	drop(f, "d/f2");
	put(f, "moved", "old 2\n", 0644);
	drop(f, "d/f3");
	put(f, "one", "old 3\n", 0644);
	put(f, "two", "old 3\n", 0644);
}

static void
act_edit(const struct form *f)
{
	put(f, "a", "mine", 0644);
	drop(f, "d/f2");
	put(f, "new", "mine", 0644);
}

static void
edit_other(const struct form *f)
{
	put(f, "alike", "theirs", 0644);
	put(f, "other", "theirs", 0644);
}

static void
edit_same(const struct form *f)
{
	put(f, "a", "theirs", 0644);
	put(f, "d/f2", "theirs", 0644);
	put(f, "new", "theirs", 0644);
}

static void
act_drop(const struct form *f)
{
	drop(f, "gone");
}

static void
edit_below(const struct form *f)
{
	put(f, "gone/deep/late", "late", 0644);
}

static void
act_hostile(const struct form *f)
{
	put(f, "suid", "x", 04755);
	put(f, "sgid", "x", 02755);
	must(mkfifoat(f->dir, "pipe", 0600), "mkfifo");
	put(f, ".hidden", "x", 0644);
	folder(f, "sub", 0755);
	put(f, "sub/.git", "x", 0644);
}

static void
test_lists(void)
{
	expect("an unchanged copy is no change", act_nothing, NULL, "");
	expect("a rename that is certain is one", act_rename, NULL,
		"D d/f3\nR moved <- d/f2\nA one\nA two\n");
	expect("other paths of the base may change", act_edit, edit_other,
		"M a\nD d/f2\nA new\n");
	expect("the same ones are conflicts", act_edit, edit_same,
		"M a !\nD d/f2 !\nM new !\n");
	expect("also what was put into a deleted directory", act_drop,
		edit_below,
		"D gone\nD gone/deep\nD gone/deep/late !\nD gone/deep/x\n"
		"D gone/y\n");
	expect("what gives power is refused", act_hostile, NULL,
		"A .hidden X\nA pipe X\nA sgid X\nA sub\nA sub/.git X\n"
		"A suid X\n");
}

static void
test_conflict(void)
{
	struct workspace w;
	struct commit_ask force = { .force = true };
	struct form f;
	struct changes c;
	char *before, *seen;

	begin(&w, "site");
	f = (struct form){ w.upper, w.base };
	act_edit(&f);
	edit_same(&(struct form){ w.base, -1 });
	before = picture(root, "site");
	is_int(SS_CONFLICT, commit(&w, &plain), "a conflict stops a commit");
	seen = picture(root, "site");
	is_str(before, seen, "which changed nothing");
	free(seen);
	free(before);
	changes_read(&w, NULL, &arena, &c, &err);
	force.expected = c.digest;
	put(&f, "late", "late", 0644);
	is_int(SS_CONFLICT, commit(&w, &force),
		"what was shown is what is committed, or nothing is");
	drop(&f, "late");
	is_int(SS_OK, commit(&w, &force), "force commits over a conflict");
	end(&w);
	begin(&w, "site");
	act_hostile(&(struct form){ w.upper, w.base });
	before = picture(root, "site");
	force.expected = NULL;
	is_int(SS_NOT_ALLOWED, commit(&w, &force),
		"and never over what is refused");
	seen = picture(root, "site");
	is_str(before, seen, "nothing of it is there");
	free(seen);
	free(before);
	end(&w);
}

static void
test_links(void)
{
	struct workspace w;
	struct stat st;
	char *before, *seen;
	const struct form out = { place, -1 };

	/* The base's directory becomes a link out after the session began. */
	begin(&w, "site");
	put(&(struct form){ w.upper, w.base }, "d/n", "x", 0644);
	folder(&out, "outside", 0755);
	own_remove(w.base, "d");
	must(symlinkat("../../outside", w.base, "d"), "symlink");
	before = picture(root, "site");
	ok(commit(&w, &plain) != SS_OK, "a link in the base is not followed");
	ok(!has(place, "outside/n", &st), "nothing is written outside");
	seen = picture(root, "site");
	is_str(before, seen, "nor inside");
	free(seen);
	free(before);
	end(&w);
	/* A link in the upper is a link, and no way. */
	begin(&w, "site");
	point(&(struct form){ w.upper, w.base }, "out", "../../outside");
	is_int(SS_OK, commit(&w, &plain), "a link is committed as one");
	ok(has(w.base, "out", &st) && S_ISLNK(st.st_mode), "it is there");
	ok(!has(place, "outside/n", &st), "what it leads to is as it was");
	own_remove(place, "outside");
	end(&w);
}

static void
test_overlay_attributes(void)
{
	struct workspace w;
	int fd;

	begin(&w, "site");
	folder(&(struct form){ w.upper, -1 }, "forged", 0755);
	fd = openat(w.upper, "forged", AT_DIRECTORY);
	must(fsetxattr(fd, "user.overlay.redirect", "/etc", 4, 0), "xattr");
	close(fd);
	is_int(SS_NOT_ALLOWED, commit(&w, &plain),
		"a forged redirect is refused");
	end(&w);
}

/* The changes of w, staged in the session: what commit_apply does first. */
static int
stage_of(struct workspace *w, struct journal *j)
{
	static struct changes c;
	int stage;

	changes_read(w, NULL, &arena, &c, &err);
	must(mkdirat(w->dir, "stage", 0700), "mkdir");
	stage = openat(w->dir, "stage", AT_DIRECTORY);
	is_int(0, stage_fill(w, stage, &c, j), "the changes are staged");
	return stage;
}

/* A directory of the base becomes a link between the check and the steps. */
static void
test_race(void)
{
	struct workspace w;
	struct journal j = JOURNAL_INIT;
	struct stat st;
	int stage;

	begin(&w, "site");
	put(&(struct form){ w.upper, w.base }, "d/n", "x", 0644);
	stage = stage_of(&w, &j);
	folder(&(struct form){ place, -1 }, "outside", 0755);
	own_remove(w.base, "d");
	must(symlinkat("../../outside", w.base, "d"), "symlink");
	is_int(ESTALE, apply_all(w.base, stage, &j),
		"a link that came meanwhile is not followed");
	ok(!has(place, "outside/n", &st), "nothing is written outside");
	own_remove(place, "outside");
	journal_release(&j);
	close(stage);
	end(&w);
}

/*
 * The base changes between the check and the steps: the last ones find that, and
 * all are undone.
 */
static void
test_undo(void)
{
	struct workspace w;
	struct journal j = JOURNAL_INIT;
	char *before, *seen;
	int stage;

	begin_changed(&w, "site");
	stage = stage_of(&w, &j);
	put(&(struct form){ w.base, -1 }, "gone/late", "late", 0644);
	before = picture(root, "site");
	is_int(ESTALE, apply_all(w.base, stage, &j),
		"what came meanwhile stops the last step");
	seen = picture(root, "site");
	ok(strcmp(before, seen) != 0, "when others were done");
	free(seen);
	is_int(0, apply_undo(w.base, stage, &j), "all are undone");
	seen = picture(root, "site");
	is_str(before, seen, "and the folder is as before");
	free(seen);
	is_int(0, apply_undo(w.base, stage, &j), "which can be repeated");
	own_remove(w.base, "gone/late");
	free(before);
	journal_release(&j);
	close(stage);
	end(&w);
}

/* ---------------------------------------------------------------- kills -- */

/* A commit that is killed at its number-th stop (0: none): how many it had. */
static int
commit_killed(struct workspace *w, int number)
{
	int status, stops = 0;
	pid_t child = fork();

	if (child == 0) {
		struct changes c;

		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(99);
		raise(SIGSTOP);
		_exit(commit_apply(w, &plain, &arena, &c, &err) == SS_OK ? 0
									 : 1);
	}
	waitpid(child, &status, 0);
	if (WIFEXITED(status))
		return -1;
	while (stops < number || number == 0) {
		if (ptrace(PTRACE_SYSCALL, child, NULL, NULL) < 0)
			break;
		waitpid(child, &status, 0);
		if (!WIFSTOPPED(status))
			return stops;
		stops++;
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return stops;
}

/* One of them: 'o' old, 'n' new, '?' neither. */
static char
run_killed(int number)
{
	struct workspace w;
	struct stat st;
	char stage[OWN_STAGE_CAP], which, *seen;

	begin_changed(&w, "site");
	commit_killed(&w, number);
	if (workspace_lock(&w, &err) != SS_OK ||
		commit_replay(&w, &err) != SS_OK)
		printf("# replay: %s %s\n", err.message, err.detail);
	seen = picture(root, "site");
	which = strcmp(seen, old) == 0      ? 'o'
		: strcmp(seen, wanted) == 0 ? 'n'
					    : '?';
	if (which == '?')
		printf("# killed at %d: %s\n", number, seen);
	own_stage_name(&w, stage);
	if (has(w.base, stage, &st))
		which = '?';
	free(seen);
	if (which == 'o') {
		is_int(SS_OK, commit(&w, &plain), "commits after a kill at %d",
			number);
		seen = picture(root, "site");
		if (strcmp(seen, wanted) != 0)
			which = '?';
		free(seen);
	}
	end(&w);
	return which;
}

static void
test_kills(void)
{
	char stage[OWN_STAGE_CAP];
	struct workspace w;
	int stops, olds = 0, news = 0, halves = 0;

	begin_changed(&w, "site");
	own_stage_name(&w, stage);
	ok(strncmp(stage, OWN_STAGE, strlen(OWN_STAGE)) == 0 &&
			strstr(stage, w.id) == NULL,
		"the stage is no way to the session's id");
	stops = commit_killed(&w, 0);
	workspace_lock(&w, &err);
	commit_replay(&w, &err);
	end(&w);
	if (stops <= 0) {
		skip(1, "ptrace(2) is refused here");
		return;
	}
	for (int i = 0; i < runs; i++) {
		char which = run_killed(1 + (int)((long)stops * i / runs) +
			rand() % (1 + stops / runs));

		olds += which == 'o';
		news += which == 'n';
		halves += which == '?';
		arena_clear(&arena);
	}
	printf("# %d kills at %d stops of %d files: %d old, %d new\n", runs,
		stops, files, olds, news);
	is_int(0, halves, "no kill leaves a half state");
	ok(olds > 0 && news > 0, "both ends were seen");
}

/* In memory, where attributes are kept there: each run syncs all of it. */
static void
make_place(void)
{
	top = in_memory;
	if (getenv("DISK") == NULL && mkdtemp(top) != NULL) {
		place = open(top, AT_DIRECTORY);
		if (fsetxattr(place, "user.test", "y", 1, 0) == 0)
			return;
		close(place);
		rmdir(top);
	}
	top = on_disk;
	must(mkdtemp(top) != NULL ? 0 : -1, "mkdtemp");
	place = open(top, AT_DIRECTORY);
}

int
main(void)
{
	umask(022);
	if (getenv("FILES") != NULL)
		files = atoi(getenv("FILES"));
	if (getenv("RUNS") != NULL)
		runs = atoi(getenv("RUNS"));
	make_place();
	must(mkdirat(place, "store", 0700), "mkdir");
	must(mkdirat(place, "root", 0755), "mkdir");
	store = openat(place, "store", AT_DIRECTORY);
	root = openat(place, "root", AT_DIRECTORY);
	arena_init(&arena, 0);
	test_whole();
	test_lists();
	test_conflict();
	test_links();
	test_overlay_attributes();
	test_race();
	test_undo();
	test_kills();
	arena_release(&arena);
	free(old);
	free(wanted);
	own_remove(place, "wanted");
	own_remove(place, "store");
	own_remove(place, "root");
	rmdir(top);
	return done();
}
