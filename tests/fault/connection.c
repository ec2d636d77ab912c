/* SPDX-License-Identifier: MIT */
/*
 * One connection while memory runs out, system calls fail, or libfcgi does, one
 * after the other.  The peer gets the answer, an honest 500, or a connection
 * that was closed without an end; never half an answer that looks whole.  The
 * same process serves the next request, also when the machine's clock is set to
 * another year in between.
 *
 * wrap: malloc calloc realloc recv write fcntl pipe2 pread accept4 setsockopt
 * wrap: clock_gettime time
 * wrap: FCGX_Accept_r FCGX_PutStr FCGX_FFlush FCGX_FClose
 */
#include "../../fcgi/connection.c"
#include "../../fcgi/peers.c"
#include "../../fcgi/record.c"
#include "../../fcgi/reply.c"
#include "../../fcgi/request.c"
#include "../../fcgi/say.c"
#include "../../fcgi/sys.c"
#include "../../fcgi/unfinished.c"

#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "fault.h"
#include "tap.h"

/*
 * Within the library a failed allocation is an assertion: the worker ends.
 * Those are counted apart, in a copy of the worker each.
 */
static bool inside, aim_inside;

static bool
now(const char *name)
{
	return inside == aim_inside && fault_now(name);
}

#define CALL(name, type, value, number, params, args)                          \
	type __real_##name params;                                             \
	type __wrap_##name params;                                             \
	type __wrap_##name params                                              \
	{                                                                      \
		if (now(#name)) {                                              \
			errno = number;                                        \
			return value;                                          \
		}                                                              \
		return __real_##name args;                                     \
	}

CALL(malloc, void *, NULL, ENOMEM, (size_t n), (n))
CALL(calloc, void *, NULL, ENOMEM, (size_t n, size_t size), (n, size))
CALL(realloc, void *, NULL, ENOMEM, (void *p, size_t n), (p, n))
CALL(fcntl, int, -1, EINVAL, (int fd, int what, long value), (fd, what, value))
CALL(pipe2, int, -1, EMFILE, (int ends[2], int flags), (ends, flags))
CALL(pread, ssize_t, -1, EIO, (int fd, void *p, size_t n, off_t at),
	(fd, p, n, at))
CALL(accept4, int, -1, EMFILE,
	(int fd, struct sockaddr *a, socklen_t *n, int flags),
	(fd, a, n, flags))
CALL(setsockopt, int, -1, EINVAL,
	(int fd, int level, int name, const void *v, socklen_t n),
	(fd, level, name, v, n))

/* The wall clock steps; the one that only counts goes on with each piece. */
static time_t step_s, passed_s, piece_s;

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int
__wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	int failed = __real_clock_gettime(id, t);

	if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)
		t->tv_sec += step_s;
	else
		t->tv_sec += passed_s;
	return failed;
}

ssize_t __real_recv(int fd, void *p, size_t n, int flags);
ssize_t __wrap_recv(int fd, void *p, size_t n, int flags);
ssize_t
__wrap_recv(int fd, void *p, size_t n, int flags)
{
	passed_s += piece_s;
	if (now("recv")) {
		errno = EIO;
		return -1;
	}
	return __real_recv(fd, p, piece_s > 0 && n > 16 ? 16 : n, flags);
}

time_t __real_time(time_t *t);
time_t __wrap_time(time_t *t);
time_t
__wrap_time(time_t *t)
{
	time_t now = __real_time(NULL) + step_s;

	if (t != NULL)
		*t = now;
	return now;
}

/* Silences the messages of the connection. */
ssize_t __real_write(int fd, const void *p, size_t n);
ssize_t __wrap_write(int fd, const void *p, size_t n);
ssize_t
__wrap_write(int fd, const void *p, size_t n)
{
	if (fd == STDERR_FILENO)
		return (ssize_t)n;
	if (now("write")) {
		errno = EPIPE;
		return -1;
	}
	return __real_write(fd, p, n);
}

/* What connection.c calls of the library, which can fail as a whole, too. */
#define LIBRARY(name, type, value, params, args)                               \
	type __real_##name params;                                             \
	type __wrap_##name params;                                             \
	type __wrap_##name params                                              \
	{                                                                      \
		type result;                                                   \
                                                                               \
		if (now(#name))                                                \
			return value;                                          \
		inside = true;                                                 \
		result = __real_##name args;                                   \
		inside = false;                                                \
		return result;                                                 \
	}

LIBRARY(FCGX_Accept_r, int, -1, (FCGX_Request * r), (r))
LIBRARY(FCGX_PutStr, int, -1, (const char *s, int n, FCGX_Stream *to),
	(s, n, to))
LIBRARY(FCGX_FFlush, int, -1, (FCGX_Stream * s), (s))
LIBRARY(FCGX_FClose, int, -1, (FCGX_Stream * s), (s))

#define CALLS_MAX 3000
#define PARTS 5

static void
bail(const char *why)
{
	printf("Bail out! %s\n", why);
	exit(1);
}

static struct ss_site *site;
static struct request attached;
static int report = -1;

/* ------------------------------------------------------------------ a peer -- */

static unsigned char sent[8192];

static size_t
put_record(size_t at, unsigned type, const char *content, size_t len)
{
	const unsigned char head[8] = { 1, (unsigned char)type, 0, 1,
		(unsigned char)(len >> 8), (unsigned char)len, 0, 0 };

	memcpy(sent + at, head, sizeof(head));
	memcpy(sent + at + sizeof(head), content, len);
	return at + sizeof(head) + len;
}

static size_t
put_pair(char *to, size_t at, const char *name, const char *value)
{
	to[at++] = (char)strlen(name);
	to[at++] = (char)strlen(value);
	return at + (size_t)sprintf(to + at, "%s%s", name, value);
}

/* A GET of path, or a POST of body to it; its bytes are in sent. */
static size_t
put_request(const char *path, const char *body)
{
	char pairs[1024], length[32];
	size_t n = 0, at;

	snprintf(length, sizeof(length), "%zu", strlen(body));
	n = put_pair(pairs, n, "REQUEST_METHOD", *body ? "POST" : "GET");
	n = put_pair(pairs, n, "SCRIPT_NAME", path);
	n = put_pair(pairs, n, "HTTP_HOST", "localhost");
	n = put_pair(pairs, n, "CONTENT_TYPE", "application/json");
	n = put_pair(pairs, n, "CONTENT_LENGTH", *body ? length : "");
	at = put_record(0, 1, "\0\1\0\0\0\0\0\0", 8);
	at = put_record(at, 4, pairs, n);
	at = put_record(at, 4, "", 0);
	if (*body)
		at = put_record(at, 5, body, strlen(body));
	return put_record(at, 5, "", 0);
}

/*
 * What came: the status of a whole answer, 0 for one without its last record,
 * -1 for one that looks whole and is not.
 */
static int
status_of(const unsigned char *in, size_t len)
{
	static char out[262144];
	size_t n = 0, at = 0, length = 0;
	const char *body, *told;
	bool ended = false;
	int status = 0;

	while (at + 8 <= len) {
		size_t content = (size_t)in[at + 4] << 8 | in[at + 5];

		if (at + 8 + content + in[at + 6] > len)
			break;
		if (in[at + 1] == 6 && n + content < sizeof(out)) {
			memcpy(out + n, in + at + 8, content);
			n += content;
		}
		ended = ended || in[at + 1] == 3;
		at += 8 + content + in[at + 6];
	}
	out[n] = '\0';
	if (!ended)
		return 0;
	body = strstr(out, "\r\n\r\n");
	told = strstr(out, "Content-Length: ");
	if (body == NULL || told == NULL ||
		sscanf(out, "Status: %d", &status) != 1 ||
		sscanf(told, "Content-Length: %zu", &length) != 1 ||
		(size_t)(out + n - body - 4) != length)
		return -1;
	return status;
}

/* One request over a connection of its own; *fit: the worker may go on. */
static int
ask(struct connection *g, size_t len, bool *fit)
{
	static unsigned char in[262144];
	enum ss_err outcome;
	size_t have = 0;
	ssize_t n;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return -1;
	if (send(ends[0], sent, len, 0) != (ssize_t)len)
		return -1;
	*fit = connection_serve(g, ends[1], &outcome);
	while ((n = read(ends[0], in + have, sizeof(in) - have)) > 0)
		have += (size_t)n;
	close(ends[0]);
	return status_of(in, have);
}

/* --------------------------------------------------------------- a worker -- */

struct tally {
	int first, calls, lies, lost, unfit;
};

/*
 * A connection that cannot go on returns false; the pool then replaces the
 * worker.
 */
static struct connection *
same_or_new(struct connection *g, bool fit, struct tally *t)
{
	struct ss_error err = { .code = SS_OK };

	if (fit)
		return g;
	t->unfit++;
	connection_close(g);
	return connection_open(site, &attached, &err);
}

static struct connection *
each_call_fails(struct connection *g, const char *path, const char *body,
	struct tally *t)
{
	size_t len = put_request(path, body);
	bool fit;

	*t = (struct tally){ .first = ask(g, len, &fit) };
	for (int n = 1; n < CALLS_MAX && g != NULL; n++) {
		int status;

		aim_inside = false;
		fault_at = n;
		status = ask(g, len, &fit);
		if (fault_at > 0)
			break;
		fault_at = 0;
		t->calls++;
		t->lies += status != 0 && status != t->first && status < 500;
		g = same_or_new(g, fit, t);
		if (g != NULL)
			t->lost += ask(g, len, &fit) != t->first;
	}
	fault_at = 0;
	return g;
}

/* The library's own allocations, each in a copy of this process. */
static void
each_inside_fails(struct connection *g, struct tally *t)
{
	size_t len = put_request("/", "");
	int more = 1;

	*t = (struct tally){ .first = 200 };
	for (int n = 1; n < CALLS_MAX && more; n++) {
		pid_t pid = fork();
		int status = 0;
		bool fit;

		if (pid == 0) {
			int got;

			prctl(PR_SET_DUMPABLE, 0);
			close(STDERR_FILENO);
			fault_at = n;
			aim_inside = true;
			got = ask(g, len, &fit);
			_exit(fault_at > 0 ? 9
					: got == 0 || got == 200 || got == 500
					? 0
					: 1);
		}
		waitpid(pid, &status, 0);
		more = !(WIFEXITED(status) && WEXITSTATUS(status) == 9);
		t->calls += more;
		t->lies += WIFEXITED(status) && WEXITSTATUS(status) == 1;
		t->lost += ask(g, len, &fit) != 200;
	}
}

static void
clock_steps(struct connection *g, struct tally *t)
{
	static const time_t steps[] = { 3600, -3600, 31536000, -315360000, 0 };
	static const char call[] = "{\"command\": [\"echo\", \"x\"]}";
	bool fit;

	*t = (struct tally){ .first = ask(g, put_request("/", call), &fit) };
	for (int turn = 0; turn < 4; turn++) {
		for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
			step_s = steps[i];
			t->calls++;
			t->lies += ask(g, put_request("/", ""), &fit) != 200;
			t->lost += ask(g, put_request("/", call), &fit) !=
				t->first;
		}
	}
}

/* A byte now and then keeps no worker: all of them have half a minute. */
static void
drips(struct connection *g, struct tally *t)
{
	size_t len = put_request("/", "");
	bool fit;

	piece_s = 1;
	t->lies += ask(g, len, &fit) != 200;
	piece_s = 9;
	t->unfit = ask(g, len, &fit);
	piece_s = 0;
	t->lies += ask(g, len, &fit) != 200;
}

static int
worker(void *ctx)
{
	struct ss_error err = { .code = SS_OK };
	struct tally t[PARTS];
	struct connection *g = connection_open(site, &attached, &err);
	int before;
	bool fit;

	(void)ctx;
	signal(SIGPIPE, SIG_IGN);
	/* A page so young is not kept parsed, which holds a descriptor. */
	poll(NULL, 0, 100);
	ask(g, put_request("/", ""), &fit);
	ask(g, put_request("/", "{\"command\": [\"echo\", \"x\"]}"), &fit);
	before = open_count();
	g = each_call_fails(g, "/", "", &t[0]);
	g = each_call_fails(g, "/file.txt", "", &t[1]);
	g = each_call_fails(g, "/", "{\"command\": [\"echo\", \"x\"]}", &t[2]);
	if (g != NULL)
		each_inside_fails(g, &t[3]);
	if (g != NULL) {
		clock_steps(g, &t[4]);
		drips(g, &t[4]);
	}
	for (int i = 0; i < PARTS; i++)
		dprintf(report, "%d %d %d %d %d %d\n", t[i].first, t[i].calls,
			t[i].lies, t[i].lost, t[i].unfit,
			open_count() - before);
	return 0;
}

/* ------------------------------------------------------------ the listener -- */

static void
accept_fails(const char *dir)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const struct peers peers = { .count = 0 };
	int listener, peer, fd, failed = 0;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", dir);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
		listen(listener, 8) != 0)
		bail("cannot listen");
	for (int n = 1; n <= 3; n++) {
		peer = socket(AF_UNIX, SOCK_STREAM, 0);
		connect(peer, (struct sockaddr *)&address, sizeof(address));
		fault_at = n;
		fd = connection_accept(listener, &peers, 1);
		failed += fd < 0;
		fault_at = 0;
		while ((fd = connection_accept(listener, &peers, 1)) >= 0)
			close(fd);
		close(peer);
	}
	is_int(2, failed, "a connection that cannot be made ready is none");
	ok(errno == EAGAIN, "and the listener goes on");
	close(listener);
	unlink(address.sun_path);
}

static bool
put_file(const char *dir, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	if (file == NULL)
		return false;
	fputs(text, file);
	chmod(path, 0644);
	return fclose(file) == 0;
}

static void
tell(const struct tally *t, const char *what)
{
	ok(t->calls > 5 && t->calls < CALLS_MAX,
		"%s: %d calls fail, one after the other", what, t->calls);
	is_int(0, t->lies, "%s: no answer is a wrong one", what);
	is_int(0, t->lost, "%s: the next one is right", what);
}

static void
tell_clock(const struct tally *t)
{
	ok(t->calls > 0, "the clock is set %d times", t->calls);
	is_int(0, t->lies, "pages are answered as before");
	is_int(0, t->lost, "and tools run");
	is_int(0, t->unfit, "a request that drips in is given up");
}

int
main(void)
{
	static const char *const what[PARTS] = { "a page", "a file", "a tool",
		"the library", "the clock is set" };
	char dir[] = "/tmp/ss-fault-XXXXXX", text[512] = "", *line = text;
	struct ss_error err = { .code = SS_OK };
	size_t have = 0;
	ssize_t n;
	int ends[2], left = 0;
	struct ss_child child;

	if (mkdtemp(dir) == NULL || chmod(dir, 0755) != 0 ||
		!put_file(dir, "README.md",
			"---\ntools: [[echo, x]]\n---\nHi\n") ||
		!put_file(dir, "file.txt", "some bytes\n") || pipe(ends) != 0)
		bail("cannot make a site");
	accept_fails(dir);
	report = ends[1];
	site = ss_site_new();
	if (site == NULL || ss_site_set_root(site, dir, &err) != SS_OK ||
		request_attach(&attached, site, &err) != SS_OK ||
		ss_site_open(site, &err) != SS_OK ||
		ss_site_fork(site, SS_FORK_LAUNCHER, worker, NULL, &child,
			&err) != SS_OK)
		bail("cannot start a worker");
	close(ends[1]);
	while ((n = read(ends[0], text + have, sizeof(text) - 1 - have)) > 0)
		have += (size_t)n;
	waitpid(child.pid, NULL, 0);
	for (int i = 0; i < PARTS; i++) {
		struct tally t = { 0 };

		if (sscanf(line, "%d %d %d %d %d %d", &t.first, &t.calls,
			    &t.lies, &t.lost, &t.unfit, &left) != 6) {
			ok(false, "%s: the worker did not survive", what[i]);
			break;
		}
		line = strchr(line, '\n') + 1;
		if (t.first != 200)
			skip(3, "tools cannot be confined here");
		else if (i < PARTS - 1)
			tell(&t, what[i]);
		else
			tell_clock(&t);
	}
	ok(left <= 0, "no descriptor is left open");
	ss_site_free(site);
	request_release(&attached);
	for (int i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "%s/%s", dir,
			i ? "file.txt" : "README.md");
		unlink(text);
	}
	rmdir(dir);
	return done();
}
