/* SPDX-License-Identifier: MIT */
/*
 * Resolution beneath the root (statespace-protocol(7), PATHS), every case on
 * both ways: openat2 and the walk.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "files/root.h"
#include "tap.h"

static char base[] = "/tmp/ss-root-XXXXXX";

static void
die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

/* The paths of this test are relative to base, the working directory. */
static void
put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || fd_write_all(fd, text, strlen(text)) != 0)
		die(path);
	close(fd);
}

static void
folder(const char *path)
{
	if (mkdir(path, 0755) != 0)
		die(path);
}

static void
point(const char *path, const char *target)
{
	if (symlink(target, path) != 0)
		die(path);
}

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)at;
	if (kind == FTW_DNR)
		chmod(path, 0700);
	return remove(path);
}

static void
clean_up(void)
{
	chmod("site/closed", 0700);
	chmod("site/enter", 0700);
	if (chdir("/") == 0)
		nftw(base, remove_one, 20, FTW_DEPTH | FTW_PHYS);
}

static void
listen_at(const char *path)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(name.sun_path, path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&name, sizeof(name)) != 0)
		die(path);
	close(fd);
}

static void
chain(unsigned links)
{
	char name[32], target[32];

	for (unsigned i = 0; i < links; i++) {
		snprintf(name, sizeof(name), "site/chain%u", i);
		snprintf(target, sizeof(target), "chain%u", i + 1);
		point(name, target);
	}
	snprintf(name, sizeof(name), "site/chain%u", links);
	put(name, "end of chain");
}

static void
build(void)
{
	if (mkdtemp(base) == NULL || chdir(base) != 0)
		die(base);
	folder("site"), folder("out");
	put("out/secret.md", "OUTSIDE"), put("out/README.md", "OUTSIDE");
	put("site/README.md", "front"), put("site/a.md", "a");
	put("site/data.csv", "1,2"), put("site/v1.2.md", "v");
	put("site/secret.md", "x"), put("site/e.md", "not me");
	folder("site/d"), folder("site/e"), folder("site/d/sub");
	put("site/d/README.md", "d front"), put("site/d/x.md", "x");
	put("site/d/sub/deep.md", "deep"), put("site/e/y.md", "y");
	folder("site/odd"), folder("site/odd/README.md");
	folder("site/.git"), put("site/.git/config.md", "hidden");
	if (mkfifo("site/fifo", 0644) != 0 ||
		mkfifo("site/odd/fifo.md", 0644) != 0)
		die("mkfifo");
	listen_at("site/socket");
	point("site/in", "a.md"), point("site/dlink", "d");
	point("site/d/up", "../a.md"),
		point("site/d/around", "../d/sub/../x.md");
	point("site/two", "dlink/up"), point("site/slashes", "d//.//x.md");
	point("site/abs", "/etc/passwd"), point("site/absdir", "/etc");
	point("site/outside.md", "../out/secret.md");
	point("site/outdir", "../out"), point("site/back", "../site/a.md");
	point("site/d/climb", "../../out/secret.md");
	point("site/loop", "loop"), point("site/ping", "pong");
	point("site/pong", "ping"), point("site/loopdir", "loopdir/x");
	point("site/hidden", ".git/config.md"), point("site/hide", ".git");
	point("site/dangling", "nothing"), point("site/up", "d/..");
	point("site/here", "."), point("site/tofifo", "fifo");
	point("site/loop2", "loop2"), put("site/loop2.md", "not me");
	chain(41);
	put("site/unread.md", "no"), chmod("site/unread.md", 0);
	folder("site/closed"), put("site/closed/README.md", "no");
	chmod("site/closed", 0);
	folder("site/enter"), put("site/enter/README.md", "entered");
	chmod("site/enter", 0711);
}

static const struct {
	const char *path;
	enum ss_err code;
	const char *name; /* doc->path */
	const char *real; /* NULL: the same and no link */
	const char *text;
	const char *sentence;
} cases[] = {
	{ "a.md", SS_OK, "a.md", NULL, "a", "a file as it is" },
	{ "a", SS_OK, "a.md", NULL, "a", ".md is added" },
	{ "data.csv", SS_OK, "data.csv", NULL, "1,2", "any regular file" },
	{ "", SS_OK, "README.md", NULL, "front", "the root's README.md" },
	{ "d", SS_OK, "d/README.md", NULL, "d front", "a directory's README" },
	{ "d/x", SS_OK, "d/x.md", NULL, "x", ".md in a subdirectory" },
	{ "d/sub/deep.md", SS_OK, "d/sub/deep.md", NULL, "deep", "two deep" },
	{ "README", SS_OK, "README.md", NULL, "front", "README by its stem" },
	{ "v1.2", SS_OK, "v1.2.md", NULL, "v", ".md is appended, not put" },
	{ "e", SS_NOT_FOUND, 0, 0, 0, "a directory wins over e.md" },
	{ "secret.txt", SS_NOT_FOUND, 0, 0, 0, "no extension is replaced" },
	{ "missing", SS_NOT_FOUND, 0, 0, 0, "a name that is not there" },
	{ "A", SS_NOT_FOUND, 0, 0, 0, "names are case-sensitive" },
	{ "a.md/x", SS_NOT_FOUND, 0, 0, 0, "a file is no directory" },
	{ "odd", SS_NOT_FOUND, 0, 0, 0, "a README.md that is a directory" },
	{ "fifo", SS_NOT_FOUND, 0, 0, 0, "a FIFO, without hanging" },
	{ "odd/fifo", SS_NOT_FOUND, 0, 0, 0, "a FIFO found by .md" },
	{ "tofifo", SS_NOT_FOUND, 0, 0, 0, "a link to a FIFO" },
	{ "socket", SS_NOT_FOUND, 0, 0, 0, "a socket" },
	{ "in", SS_OK, "in", "a.md", "a", "a relative link inside" },
	{ "dlink", SS_OK, "dlink/README.md", "d/README.md", "d front",
		"a linked directory's README" },
	{ "dlink/x", SS_OK, "dlink/x.md", "d/x.md", "x",
		".md below a linked directory" },
	{ "d/up", SS_OK, "d/up", "a.md", "a", "a link that climbs inside" },
	{ "d/around", SS_OK, "d/around", "d/x.md", "x", "a link with detours" },
	{ "two", SS_OK, "two", "a.md", "a", "links through links" },
	{ "slashes", SS_OK, "slashes", "d/x.md", "x", "a link with // and ." },
	{ "up", SS_OK, "up/README.md", "README.md", "front",
		"a link that ends in .." },
	{ "here/a", SS_OK, "here/a.md", "a.md", "a", "a link to ." },
	{ "abs", SS_PATH_REFUSED, 0, 0, 0, "an absolute link" },
	{ "absdir/passwd", SS_PATH_REFUSED, 0, 0, 0, "an absolute directory" },
	{ "outside.md", SS_PATH_REFUSED, 0, 0, 0, "a link that leaves" },
	{ "outside", SS_PATH_REFUSED, 0, 0, 0, "a link that leaves, by .md" },
	{ "outdir", SS_PATH_REFUSED, 0, 0, 0, "a directory that leaves" },
	{ "outdir/secret", SS_PATH_REFUSED, 0, 0, 0, "a file beneath it" },
	{ "d/climb", SS_PATH_REFUSED, 0, 0, 0, "a link that climbs too far" },
	{ "back", SS_PATH_REFUSED, 0, 0, 0, "a link out and in again" },
	{ "loop", SS_NOT_FOUND, 0, 0, 0, "a link to itself" },
	{ "ping", SS_NOT_FOUND, 0, 0, 0, "a loop of two" },
	{ "loopdir", SS_NOT_FOUND, 0, 0, 0, "a link below itself" },
	{ "loop2", SS_NOT_FOUND, 0, 0, 0, "a loop is not passed over for .md" },
	{ "chain1", SS_OK, "chain1", "chain41", "end of chain", "40 links" },
	{ "chain0", SS_NOT_FOUND, 0, 0, 0, "41 links" },
	{ "hidden", SS_NOT_FOUND, 0, 0, 0, "a link to a dot component" },
	{ "hide/config", SS_NOT_FOUND, 0, 0, 0, "a linked dot directory" },
	{ "dangling", SS_NOT_FOUND, 0, 0, 0, "a link to nothing" },
	{ "enter", SS_OK, "enter/README.md", NULL, "entered",
		"a directory that may be entered and not listed" },
};

static const char *
read_text(int fd)
{
	static char text[64];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n < 0 ? 0 : n] = '\0';
	return text;
}

/* What a directory handed out holds under the file's last name. */
static bool
holds(int dir, const struct ss_document *doc)
{
	const char *name = strrchr(doc->real, '/');
	struct stat st;

	name = name != NULL ? name + 1 : doc->real;
	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		st.st_ino == doc->inode && st.st_dev == doc->device;
}

static struct ss_document doc;

static void
try_case(const struct root *r, size_t i, const char *way)
{
	const char *real = cases[i].real ? cases[i].real : cases[i].name;
	struct ss_error err;
	enum ss_err code;

	code = root_resolve(r, cases[i].path, ROOT_FILE_AND_DIR, &doc, &err);
	if (code != SS_OK || cases[i].code != SS_OK) {
		is_int(cases[i].code, code, "%s: %s", way, cases[i].sentence);
		if (code != cases[i].code)
			printf("# %s (%s)\n", err.message, err.detail);
		return;
	}
	ok(strcmp(doc.path, cases[i].name) == 0 &&
			strcmp(doc.real, real) == 0 &&
			strcmp(read_text(doc.fd), cases[i].text) == 0 &&
			doc.linked == (cases[i].real != NULL) &&
			holds(doc.dir_fd, &doc),
		"%s: %s", way, cases[i].sentence);
	root_close_document(&doc);
}

static void
test_list(struct root *r, const char *way)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		try_case(r, i, way);
}

static void
test_identity(const struct root *r, const char *way)
{
	struct stat st;

	stat("site/d/x.md", &st);
	root_resolve(r, "d/x", ROOT_FILE, &doc, NULL);
	is_int(-1, doc.dir_fd, "%s: no directory for who wants none", way);
	ok(doc.inode == st.st_ino && doc.device == st.st_dev &&
			doc.length == 1 &&
			doc.mtime_ns ==
				st.st_mtim.tv_sec * 1000000000LL +
					st.st_mtim.tv_nsec &&
			doc.ctime_ns ==
				st.st_ctim.tv_sec * 1000000000LL +
					st.st_ctim.tv_nsec,
		"%s: a document's identity is its file's", way);
	ok(fcntl(doc.fd, F_GETFD) & FD_CLOEXEC, "%s: close-on-exec", way);
	root_close_document(&doc);
	is_int(-1, doc.fd, "%s: closing empties", way);
}

/* Long names are 404 and never a fault of ours. */
static void
test_long(const struct root *r, const char *way)
{
	char path[5001];

	memset(path, 'x', 3000);
	path[3000] = '\0';
	is_int(SS_NOT_FOUND, root_resolve(r, path, ROOT_FILE, &doc, NULL),
		"%s: a name longer than any file system's", way);
	for (size_t i = 0; i < 4096; i++)
		path[i] = i % 2 ? '/' : 'd';
	path[4095] = 'd', path[4096] = '\0';
	is_int(SS_NOT_FOUND, root_resolve(r, path, ROOT_FILE, &doc, NULL),
		"%s: a path of 4096 bytes", way);
	memset(path, 'd', 5000);
	path[5000] = '\0';
	is_int(SS_NOT_FOUND, root_resolve(r, path, ROOT_FILE, &doc, NULL),
		"%s: a path of 5000 bytes", way);
}

/* The cases that root may read anyway. */
static void
test_closed(const struct root *r, const char *way)
{
	if (geteuid() == 0) {
		skip(2, "root reads what it likes");
		return;
	}
	is_int(SS_NOT_FOUND, root_resolve(r, "unread", ROOT_FILE, &doc, NULL),
		"%s: a file without leave to read", way);
	is_int(SS_NOT_FOUND, root_resolve(r, "closed", ROOT_FILE, &doc, NULL),
		"%s: a directory without leave to enter", way);
}

static void
test_open_at(const struct root *r, const char *way)
{
	struct stat st, site;
	int fd;

	stat("site", &site);
	is_int(SS_OK, root_open_at(r, "", O_PATH | O_DIRECTORY, &fd, NULL),
		"%s: the empty path opens", way);
	ok(fstat(fd, &st) == 0 && st.st_ino == site.st_ino,
		"%s: and it is the root", way);
	fd_close(&fd);
	is_int(SS_OK, root_open_at(r, "dlink", O_PATH, &fd, NULL),
		"%s: a link opens as what it points to", way);
	ok(fstat(fd, &st) == 0 && S_ISDIR(st.st_mode),
		"%s: also where O_PATH would take the link", way);
	fd_close(&fd);
	is_int(SS_PATH_REFUSED,
		root_open_at(r, "d/../../out/secret.md", O_RDONLY, &fd, NULL),
		"%s: dot-dots cannot leave", way);
	is_int(-1, fd, "%s: a refusal hands nothing out", way);
}

/*
 * A target made of thousands of detours costs a bounded walk: "d/../" 800
 * times, and forty such links in a row.
 */
static void
test_cost(const struct root *r, const char *way)
{
	char target[4096], name[32];
	uint64_t start = clock_ms();
	size_t n = 0;

	for (unsigned i = 0; i < 39; i++) {
		n = 0;
		while (n < 3900)
			n += (size_t)sprintf(target + n, "d/../");
		sprintf(target + n, "far%u", i + 1);
		snprintf(name, sizeof(name), "site/far%u", i);
		unlink(name);
		point(name, target);
	}
	is_int(SS_NOT_FOUND, root_resolve(r, "far0", ROOT_FILE, &doc, NULL),
		"%s: endless detours lead nowhere", way);
	ok(clock_ms() - start < 1000, "%s: and end soon", way);
}

/* The round after the next tries again. */
static bool
try_link(const char *target, const char *path)
{
	return symlink(target, path) == 0;
}

/*
 * One process keeps exchanging a directory for a link that leaves the site
 * and moving it out from under ".."; the other must never read a byte of it.
 */
static void
swap_for_ever(void)
{
	for (;;) {
		rename("site/race/in", "out/in");
		try_link("../../out", "site/race/in");
		unlink("site/race/in");
		rename("out/in", "site/race/in");
		try_link("../../out/secret.md", "site/race/new");
		rename("site/race/new", "site/race/f.md");
		try_link("in/f.md", "site/race/new");
		rename("site/race/new", "site/race/f.md");
	}
}

static void
test_race(const struct root *r, const char *way)
{
	static const char *const paths[] = { "race/in/f", "race/f",
		"race/in/sub/up", "race/in/README" };
	uint64_t end = clock_ms() + 700;
	unsigned seen = 0, wrong = 0, odd = 0;
	pid_t swapper = fork();
	enum ss_err code;

	if (swapper == 0)
		swap_for_ever();
	for (unsigned i = 0; clock_ms() < end; i++) {
		code = root_resolve(r, paths[i % 4],
			i % 8 < 4 ? ROOT_FILE : ROOT_FILE_AND_DIR, &doc, NULL);
		odd += code == SS_INTERNAL;
		if (code != SS_OK)
			continue;
		seen++;
		wrong += strcmp(read_text(doc.fd), "OUTSIDE") == 0;
		if (doc.dir_fd >= 0) {
			struct stat st, out;

			stat("out", &out);
			fstat(doc.dir_fd, &st);
			wrong += st.st_ino == out.st_ino;
		}
		root_close_document(&doc);
	}
	kill(swapper, SIGKILL);
	waitpid(swapper, NULL, 0);
	ok(seen > 0, "%s: %u files opened in a race", way, seen);
	is_int(0, wrong, "%s: none of them from outside", way);
	is_int(0, odd, "%s: and no fault of ours", way);
}

static void
build_race(void)
{
	unlink("site/race/f.md"), unlink("site/race/new");
	unlink("site/race/in");
	rename("out/in", "site/race/in");
	mkdir("site/race", 0755), mkdir("site/race/in", 0755);
	mkdir("site/race/in/sub", 0755);
	put("site/race/in/f.md", "INSIDE");
	unlink("site/race/in/sub/up");
	point("site/race/in/sub/up", "../../in/f.md");
}

static void
test_root_itself(void)
{
	struct ss_error err;
	struct root r;

	is_int(SS_CONFIG, root_open(&r, "site/a.md", &err),
		"a file is no site");
	ok(strstr(err.message, "cannot be served: Not a directory") != NULL,
		"and the refusal says why");
	is_int(-1, r.fd, "a refused root holds nothing");
	is_int(SS_CONFIG, root_open(&r, "nowhere", NULL),
		"neither is what does not exist");
	if (geteuid() != 0)
		is_int(SS_CONFIG, root_open(&r, "site/closed", NULL),
			"nor what cannot be entered");
}

int
main(void)
{
	int before = open_count();
	struct root r;

	alarm(60);
	build();
	test_root_itself();
	if (!ok(root_open(&r, "site", NULL) == SS_OK, "a directory opens"))
		return done();
	if (r.walk)
		printf("# no openat2 here: the walk is tested twice\n");
	for (int way = 0; way < 2; way++) {
		const char *name = way == 0 ? "openat2" : "walk";

		r.walk = r.walk || way == 1;
		test_list(&r, name);
		test_identity(&r, name);
		test_long(&r, name);
		test_closed(&r, name);
		test_open_at(&r, name);
		test_cost(&r, name);
		build_race();
		test_race(&r, name);
	}
	root_close(&r);
	clean_up();
	is_int(before, open_count(), "no descriptor is left");
	ok(access(base, F_OK) != 0, "no file is left");
	return done();
}
