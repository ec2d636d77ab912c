/* SPDX-License-Identifier: MIT */
/*
 * Every call that resolving a path makes fails once, with each errno that the
 * kernel may give, in both ways.  The answer is the right file or an honest
 * failure, and no descriptor is left.
 *
 * wrap: syscall openat __openat_2 fcntl fstat readlinkat __readlinkat_chk
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault.h"
#include "base/fd.h"
#include "files/root.h"
#include "tap.h"

static int number; /* the errno in turn */

FAULT(fstat, int, -1, number, (int fd, struct stat *st), (fd, st))
FAULT(__openat_2, int, -1, number, (int at, const char *path, int flags),
	(at, path, flags))
FAULT(readlinkat, ssize_t, -1, number,
	(int at, const char *path, char *to, size_t n), (at, path, to, n))
FAULT(__readlinkat_chk, ssize_t, -1, number,
	(int at, const char *path, char *to, size_t n, size_t size),
	(at, path, to, n, size))

int __real_openat(int at, const char *path, int flags, ...);
int __wrap_openat(int at, const char *path, int flags, ...);
int
__wrap_openat(int at, const char *path, int flags, ...)
{
	if (!fault_now("openat"))
		return __real_openat(at, path, flags);
	errno = number;
	return -1;
}

int __real_fcntl(int fd, int what, ...);
int __wrap_fcntl(int fd, int what, ...);
FAULT_UNCHECKED int
__wrap_fcntl(int fd, int what, ...)
{
	long w[1];

	FAULT_WORDS(w, what);
	if (!fault_now("fcntl"))
		return __real_fcntl(fd, what, w[0]);
	errno = number;
	return -1;
}

long __real_syscall(long call, ...);
long __wrap_syscall(long call, ...);
FAULT_UNCHECKED long
__wrap_syscall(long call, ...)
{
	long w[4];

	FAULT_WORDS(w, call);
	if (!fault_now("openat2"))
		return __real_syscall(call, w[0], w[1], w[2], w[3]);
	errno = number;
	return -1;
}

static const int numbers[] = { EMFILE, ENOMEM, EIO, ENOSYS, EPERM, EACCES,
	EAGAIN, ENOENT, ELOOP, EXDEV, EINVAL };

static void
put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	fd_write_all(fd, text, strlen(text));
	close(fd);
}

static struct ss_document doc;
static unsigned lies, traces;

/* A good answer is what the file holds; a bad one holds nothing. */
static bool
honest(enum ss_err code, const struct ss_error *err, const char *text)
{
	char seen[16] = "";

	if (code == SS_OK)
		return read(doc.fd, seen, sizeof(seen) - 1) > 0 &&
			strcmp(seen, text) == 0;
	return doc.fd == -1 && doc.dir_fd == -1 && err->code == code &&
		(code == SS_NOT_FOUND || code == SS_PATH_REFUSED ||
			(code == SS_INTERNAL && err->sys_errno == number));
}

static bool
resolve_once(const struct root *r, const char *path, const char *text, int n)
{
	int before = open_count();
	struct ss_error err;
	enum ss_err code;
	bool reached;

	fault_at = n;
	code = root_resolve(
		r, path, n % 2 ? ROOT_FILE : ROOT_FILE_AND_DIR, &doc, &err);
	reached = fault_at == 0;
	fault_at = 0;
	if (!honest(code, &err, text) && ++lies)
		printf("# %s: %s with %s: code %d\n", path, fault_name,
			strerror(number), code);
	root_close_document(&doc);
	if (open_count() != before && ++traces)
		printf("# %s: %s with %s leaves a descriptor\n", path,
			fault_name, strerror(number));
	return reached;
}

static void
try_path(const struct root *r, const char *path, const char *text)
{
	int calls = 0;

	lies = traces = 0;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		int n = 1;

		number = numbers[i];
		/* Two in turn: one asks for the directory, one does not. */
		while (resolve_once(r, path, text, n) ||
			resolve_once(r, path, text, n + 1))
			n++;
		calls += n - 1;
	}
	ok(calls > 0 && lies == 0, "%s, %s: %d failures, all honest",
		r->walk ? "walk" : "openat2", path[0] ? path : "/", calls);
	is_int(0, traces, "none leaves a descriptor");
}

static void
try_open(void)
{
	int before = open_count();
	unsigned wrong = 0;
	struct root r;

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		for (int n = 1; n < 4; n++) {
			number = numbers[i];
			fault_at = n;
			if (root_open(&r, "site", NULL) == SS_OK) {
				wrong += r.fd < 0;
				root_close(&r);
			}
			fault_at = 0;
			wrong += open_count() != before;
		}
	is_int(0, wrong, "opening the root fails without a trace");
}

int
main(void)
{
	char base[] = "/tmp/ss-fault-XXXXXX";
	struct root r;

	if (mkdtemp(base) == NULL || chdir(base) != 0)
		return 1;
	mkdir("site", 0755), mkdir("site/d", 0755);
	put("site/README.md", "front"), put("site/d/README.md", "d");
	put("site/d/x.md", "x");
	ok(symlink("d/../d/x.md", "site/link") == 0 &&
			symlink("d", "site/dlink") == 0,
		"a site to resolve in");
	try_open();
	root_open(&r, "site", NULL);
	for (int way = 0; way < 2; way++) {
		r.walk = r.walk || way == 1;
		try_path(&r, "", "front");
		try_path(&r, "d", "d");
		try_path(&r, "d/x", "x");
		try_path(&r, "link", "x");
		try_path(&r, "dlink/x", "x");
	}
	root_close(&r);
	unlink("site/link"), unlink("site/dlink"), unlink("site/d/x.md");
	unlink("site/d/README.md"), unlink("site/README.md");
	rmdir("site/d"), rmdir("site");
	is_int(0, chdir("/") + rmdir(base), "no file is left");
	return done();
}
