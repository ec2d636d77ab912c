/* SPDX-License-Identifier: MIT */
/*
 * The writer: one process that workers hand receipts to, over the socket that
 * is its standard input (core/receipts/receipts.h has the messages).  A run is
 * announced before it begins, so that one whose worker was killed has a receipt
 * too.  What came at the same time is made durable at once, then acknowledged.
 */
#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "receipts_chain.h"
#include "receipts_main.h"

#define RUNS_MAX 4096
#define MESSAGE_MAX 8192 /* members of one run */
#define WAITING_MAX ((size_t)4 << 20)

/* One run between its announcement and its end. */
struct run {
	int fd;        /* -1: free */
	char *members; /* as announced, with the digest of its words */
	bool ended;    /* its receipt is among those that wait */
};

struct writer {
	struct chain chain;
	unsigned char secret[SIGN_HASH];
	struct run runs[RUNS_MAX];
	size_t run_count; /* the used ones are below */
	char *waiting;    /* members that are not written, each with a NUL */
	size_t waiting_len;
	bool failing; /* the last try to write */
};

static void
say_failure(const struct chain *c)
{
	fprintf(stderr, "statespace-receipts: cannot %s: %s\n",
		c->step != NULL ? c->step : "write", strerror(errno));
}

/* Printable, so that nobody writes lines of his own. */
static bool
is_text(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return false;
	return len > 0;
}

/*
 * "HEX MEMBERS": the digest of the words becomes one that nobody who lacks the
 * key can compare with guessed words.  NULL: it is malformed.
 */
static char *
make_members(struct writer *w, const char *text, size_t len)
{
	unsigned char words[SIGN_HASH], keyed[SIGN_HASH];
	char hex[2 * SIGN_HASH + 1], *members;
	size_t skip = 2 * SIGN_HASH + 1;

	if (len <= skip || !is_text(text, len) || text[skip - 1] != ' ' ||
		!sign_unhex(text, words, SIGN_HASH) ||
		!sign_keyed(w->secret, (const char *)words, SIGN_HASH, keyed))
		return NULL;
	sign_hex(keyed, SIGN_HASH, hex);
	members = malloc(len + 2 * SIGN_HASH + 16);
	if (members != NULL)
		sprintf(members, "%.*s,\"argv\":\"%s\"", (int)(len - skip),
			text + skip, hex);
	return members;
}

/* Puts a receipt among those that wait. */
static bool
put(struct writer *w, const char *members, const char *end, size_t end_len)
{
	size_t n = strlen(members);

	if (w->waiting_len + n + end_len + 2 > WAITING_MAX)
		return false;
	memcpy(w->waiting + w->waiting_len, members, n);
	w->waiting_len += n;
	w->waiting[w->waiting_len++] = ',';
	memcpy(w->waiting + w->waiting_len, end, end_len);
	w->waiting_len += end_len;
	w->waiting[w->waiting_len++] = '\0';
	return true;
}

/* Writes all that wait; false: they go on waiting. */
static bool
flush_waiting(struct writer *w)
{
	if (w->waiting_len == 0)
		return true;
	if (!chain_append(&w->chain, w->waiting, w->waiting_len)) {
		if (!w->failing)
			say_failure(&w->chain);
		w->failing = true;
		return false;
	}
	w->waiting_len = 0;
	w->failing = false;
	return true;
}

static void
answer(int fd, bool good)
{
	(void)!send(fd, good ? "1" : "0", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void
free_run(struct run *r)
{
	close(r->fd);
	free(r->members);
	*r = (struct run){ .fd = -1 };
}

static struct run *
new_run(struct writer *w)
{
	for (size_t i = 0; i < RUNS_MAX; i++) {
		if (i < w->run_count && w->runs[i].fd >= 0)
			continue;
		if (i >= w->run_count)
			w->run_count = i + 1;
		return &w->runs[i];
	}
	return NULL;
}

/*
 * 'B' announces a run; 'W' is one that ended, whose writer went away.  Takes fd.
 */
static void
take_message(struct writer *w, const char *text, size_t len, int fd)
{
	struct run *r = NULL;
	char *members = NULL, *bar;
	bool good = len > 1 && !(w->failing && !flush_waiting(w)) &&
		w->waiting_len < WAITING_MAX / 2;

	if (good)
		members = make_members(w, text + 1, len - 1);
	if (members != NULL && text[0] == 'W') {
		/* The end comes behind a bar: members|end,"argv" */
		bar = strchr(members, '|');
		good = bar != NULL;
		if (good)
			*bar = ',';
	}
	if (members != NULL && good && (r = new_run(w)) != NULL) {
		*r = (struct run){ .fd = fd, .members = members };
		if (text[0] == 'W') {
			static const char late[] = "\"late\":true";

			r->ended = put(w, members, late, sizeof(late) - 1);
		} else {
			answer(fd, true);
		}
		return;
	}
	free(members);
	answer(fd, false);
	close(fd);
}

static bool
receive(struct writer *w)
{
	char text[MESSAGE_MAX + 1];
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { text, MESSAGE_MAX };
	struct msghdr m = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	ssize_t n = recvmsg(STDIN_FILENO, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	int fd = -1;

	if (n == 0)
		return false;
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (c != NULL && c->cmsg_type == SCM_RIGHTS &&
		c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	text[n] = '\0';
	if (fd >= 0 && (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0)
		take_message(w, text, (size_t)n, fd);
	else if (fd >= 0)
		close(fd);
	return true;
}

/* The end of a run, or of the worker that began it. */
static void
receive_end(struct writer *w, struct run *r)
{
	static const char lost[] = "\"outcome\":\"unknown\"";
	char text[MESSAGE_MAX];
	ssize_t n = recv(r->fd, text, sizeof(text), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 1 && text[0] == 'E' && is_text(text + 1, (size_t)n - 1)) {
		r->ended = put(w, r->members, text + 1, (size_t)n - 1);
		if (!r->ended) {
			answer(r->fd, false);
			free_run(r);
		}
		return;
	}
	put(w, r->members, lost, sizeof(lost) - 1);
	free_run(r);
}

/* After a round: what ended is durable, or its worker is told that it is not. */
static void
settle(struct writer *w)
{
	bool written = flush_waiting(w);

	for (size_t i = 0; i < w->run_count; i++)
		if (w->runs[i].fd >= 0 && w->runs[i].ended) {
			answer(w->runs[i].fd, written);
			free_run(&w->runs[i]);
		}
	while (w->run_count > 0 && w->runs[w->run_count - 1].fd < 0)
		w->run_count--;
}

static int
serve(struct writer *w)
{
	static struct pollfd fds[RUNS_MAX + 1];
	static size_t at[RUNS_MAX + 1];
	bool open = true;

	for (;;) {
		size_t n = 0;

		if (open)
			fds[n++] = (struct pollfd){ STDIN_FILENO, POLLIN, 0 };
		for (size_t i = 0; i < w->run_count; i++)
			if (w->runs[i].fd >= 0) {
				at[n] = i;
				fds[n++] = (struct pollfd){ w->runs[i].fd,
					POLLIN, 0 };
			}
		if (n == 0 && w->waiting_len == 0)
			return 0;
		if (n == 0 && !flush_waiting(w))
			return 1;
		if (poll(fds, n, w->failing ? 1000 : -1) < 0)
			continue;
		for (size_t i = open ? 1 : 0; i < n; i++)
			if (fds[i].revents != 0)
				receive_end(w, &w->runs[at[i]]);
		if (open && fds[0].revents != 0)
			open = receive(w);
		settle(w);
	}
}

static bool
become(uid_t uid, gid_t gid)
{
	return geteuid() != 0 || uid == 0 ||
		(setgroups(0, NULL) == 0 && setgid(gid) == 0 &&
			setuid(uid) == 0);
}

int
receipts_write(int argc, char **argv)
{
	static struct writer w;
	struct sign_key *key;
	uid_t uid = (uid_t)-1;
	gid_t gid = (gid_t)-1;
	int status;

	if (argc != 3 && argc != 5)
		return 2;
	if (argc == 5) {
		uid = (uid_t)strtoul(argv[3], NULL, 10);
		gid = (gid_t)strtoul(argv[4], NULL, 10);
	}
	signal(SIGPIPE, SIG_IGN);
	/* They end with what sends receipts, not before. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	key = sign_key_read(argv[2], true);
	if (key == NULL && errno != EINVAL) {
		fprintf(stderr, "statespace-receipts: %s: %s\n", argv[2],
			strerror(errno));
		return 1;
	}
	w.waiting = malloc(WAITING_MAX);
	if (key == NULL || w.waiting == NULL ||
		!sign_key_secret(key, w.secret)) {
		fprintf(stderr,
			"statespace-receipts: %s is no private key of Ed25519 "
			"in PEM\n",
			argv[2]);
		return 1;
	}
	if (!chain_open(&w.chain, argv[1], key, uid, gid)) {
		fprintf(stderr, "statespace-receipts: %s: ", argv[1]);
		say_failure(&w.chain);
		return 1;
	}
	if (argc == 5 && !become(uid, gid)) {
		perror("statespace-receipts: setuid");
		return 1;
	}
	prctl(PR_SET_DUMPABLE, 0);
	/* Whoever started it waits for this byte. */
	answer(STDIN_FILENO, true);
	status = serve(&w);
	chain_close(&w.chain);
	sign_key_free(key);
	free(w.waiting);
	return status;
}
