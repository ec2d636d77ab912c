/* SPDX-License-Identifier: MIT */
/*
 * One request under plain CGI, again and again, while one allocation or system
 * call after the other fails, in the process that answers or in its worker.
 * There is an answer every time, whole and honest: a server that gets none may
 * report success.
 *
 * wrap: malloc calloc realloc mmap poll read waitpid
 */
#include "../../fcgi/cgi.c"
#include "../../fcgi/job_start.c"
#include "../../fcgi/peers.c"
#include "../../fcgi/reply.c"
#include "../../fcgi/request.c"
#include "../../fcgi/say.c"
#include "../../fcgi/served.c"
#include "../../fcgi/site_counts.c"
#include "../../fcgi/sys.c"

#include <sys/stat.h>

#include "fault.h"
#include "tap.h"

FAULT(malloc, void *, NULL, ENOMEM, (size_t n), (n))
FAULT(calloc, void *, NULL, ENOMEM, (size_t n, size_t size), (n, size))
FAULT(realloc, void *, NULL, ENOMEM, (void *p, size_t n), (p, n))
FAULT(mmap, void *, MAP_FAILED, ENOMEM,
	(void *at, size_t n, int prot, int flags, int fd, off_t from),
	(at, n, prot, flags, fd, from))
FAULT(poll, int, -1, ENOMEM, (struct pollfd * p, nfds_t n, int ms), (p, n, ms))
/* Of a pipe of ours: interrupted, which is all that can happen to it. */
FAULT(read, ssize_t, -1, fd == STDIN_FILENO ? EIO : EINTR,
	(int fd, void *p, size_t n), (fd, p, n))
FAULT(waitpid, pid_t, -1, EINTR, (pid_t pid, int *s, int how), (pid, s, how))

#define CALLS_MAX 3000
static const char *root;

const char *
options_config(const struct options *o, char path[static PATH_MAX])
{
	(void)o;
	(void)path;
	return NULL;
}

/* In the place of options.c, which reads files: only the root is set. */
struct ss_site *
options_site(const struct options *o, struct ss_error *err)
{
	struct ss_site *site = ss_site_new();

	(void)o;
	if (site != NULL && ss_site_set_root(site, root, err) != SS_OK) {
		ss_site_free(site);
		site = NULL;
	}
	return site;
}

static void
quiet(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	dup2(null, STDERR_FILENO);
}

/* In the child: one request of CGI, its body on in, the answer to out. */
static void
serve(int in, int out, const char *body, int n)
{
	char length[32];

	snprintf(length, sizeof(length), "%zu", strlen(body));
	clearenv();
	setenv("GATEWAY_INTERFACE", "CGI/1.1", 1);
	setenv("REQUEST_METHOD", *body ? "POST" : "GET", 1);
	setenv("HTTP_HOST", "localhost", 1);
	setenv("CONTENT_TYPE", "application/json", 1);
	setenv("CONTENT_LENGTH", length, 1);
	quiet();
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	fault_at = n;
	cgi_answer();
}

/* The status of a whole answer; -1: none, or one that is not whole. */
static int
status_of(char *text, size_t len)
{
	const char *body, *told;
	size_t length;
	int status;

	text[len] = '\0';
	body = strstr(text, "\r\n\r\n");
	told = strstr(text, "Content-Length: ");
	if (body == NULL || told == NULL ||
		sscanf(text, "Status: %d", &status) != 1 ||
		sscanf(told, "Content-Length: %zu", &length) != 1 ||
		(size_t)(text + len - body - 4) != length)
		return -1;
	return status;
}

/* *failed: whether the n-th call was reached. */
static int
ask(const char *body, int n, bool *failed)
{
	static char text[65536];
	int in[2], out[2], status = 0;
	size_t have = 0;
	ssize_t got;
	pid_t pid;

	if (pipe(in) != 0 || pipe(out) != 0)
		return -1;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		close(in[1]);
		close(out[0]);
		serve(in[0], out[1], body, n);
		_exit(0);
	}
	close(in[0]);
	close(out[1]);
	if (write(in[1], body, strlen(body)) < 0)
		have = 0;
	close(in[1]);
	while (have < sizeof(text) - 1 &&
		(got = __real_read(
			 out[0], text + have, sizeof(text) - 1 - have)) > 0)
		have += (size_t)got;
	close(out[0]);
	__real_waitpid(pid, &status, 0);
	*failed = fault_at <= 0;
	fault_at = 0;
	return status == 0 ? status_of(text, have) : -1;
}

static void
each_call_fails(const char *what, const char *body)
{
	int calls = 0, silent = 0, wrong = 0, first;
	bool failed;

	first = ask(body, 0, &failed);
	if (first != 200) {
		skip(3, "tools cannot be confined here");
		return;
	}
	for (int n = 1; n < CALLS_MAX; n++) {
		int status = ask(body, n, &failed);

		if (!failed)
			break;
		calls++;
		if (status < 0)
			printf("# %s: nothing whole when call %d, %s, fails\n",
				what, n, fault_name);
		silent += status < 0;
		wrong += status >= 0 && status != 200 && status != 400 &&
			status < 500;
	}
	ok(calls > 20 && calls < CALLS_MAX - 1,
		"%s: %d calls fail, one after the other", what, calls);
	is_int(0, silent, "%s: each time there is a whole answer", what);
	is_int(0, wrong, "%s: and an honest one", what);
}

int
main(void)
{
	static const char page[] = "---\ntools: [[echo, x]]\n---\nHi\n";
	char dir[] = "/tmp/ss-fault-XXXXXX", path[64];
	int fd;

	/* One that fails early reads no body. */
	signal(SIGPIPE, SIG_IGN);
	/* The child's children count, too. */
	fault = __real_mmap(NULL, sizeof(*fault), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fault == MAP_FAILED || mkdtemp(dir) == NULL ||
		chmod(dir, 0755) != 0)
		return 1;
	root = dir;
	snprintf(path, sizeof(path), "%s/README.md", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, page, sizeof(page) - 1) < 0)
		return 1;
	close(fd);
	each_call_fails("a page", "");
	each_call_fails("a tool", "{\"command\": [\"echo\", \"x\"]}");
	unlink(path);
	rmdir(dir);
	return done();
}
