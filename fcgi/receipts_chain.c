/* SPDX-License-Identifier: MIT */
#include "receipts_chain.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BEGIN "{\"seq\":"
#define PREV ",\"prev\":\""
#define SIG "\",\"sig\":\""
#define END "\"}"
#define LEN(text) (sizeof(text) - 1)
/* Behind the members. */
#define PREV_LEN (LEN(PREV) + 2 * SIGN_HASH)
#define SIG_LEN (LEN(SIG) + 2 * SIGN_BYTES + LEN(END))
/* "NUMBER DIGEST SIZE", of the last line and the file behind it. */
#define HEAD_LEN (20 + 1 + 2 * SIGN_HASH + 1 + 20 + 1)

bool
receipt_read(const char *line, size_t len, struct receipt *out)
{
	const char *sig, *prev;
	char *end;

	if (len < LEN(BEGIN) + 1 + PREV_LEN + SIG_LEN || len > RECEIPT_MAX ||
		memcmp(line, BEGIN, LEN(BEGIN)) != 0 ||
		line[LEN(BEGIN)] < '0' || line[LEN(BEGIN)] > '9')
		return false;
	errno = 0;
	out->number = strtoull(line + LEN(BEGIN), &end, 10);
	sig = line + len - SIG_LEN;
	prev = sig - PREV_LEN;
	out->signed_len = (size_t)(sig - line) + 1;
	return errno == 0 && *end == ',' &&
		memcmp(prev, PREV, LEN(PREV)) == 0 &&
		memcmp(sig, SIG, LEN(SIG)) == 0 &&
		memcmp(line + len - LEN(END), END, LEN(END)) == 0 &&
		sign_unhex(prev + LEN(PREV), out->prev, SIGN_HASH) &&
		sign_unhex(sig + LEN(SIG), out->signature, SIGN_BYTES);
}

static bool
fail(struct chain *c, const char *step)
{
	c->step = step;
	return false;
}

static int
open_own(struct chain *c, const char *name, int flags)
{
	int fd = openat(c->dir, name,
		O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);

	if (fd >= 0 && c->uid != (uid_t)-1 && geteuid() == 0 &&
		fchown(fd, c->uid, c->gid) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The file of that name now: another one, when the last was renamed. */
static bool
open_file(struct chain *c)
{
	struct stat named, open;
	int fd;

	if (c->fd >= 0 && fstat(c->fd, &open) == 0 &&
		fstatat(c->dir, c->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
		named.st_dev == open.st_dev && named.st_ino == open.st_ino)
		return true;
	fd = open_own(c, c->name, O_APPEND);
	if (fd < 0)
		return fail(c, "open the file of receipts");
	if (c->fd >= 0)
		close(c->fd);
	c->fd = fd;
	return true;
}

/* ------------------------------------------------------------------- lines */

static bool
write_whole(int fd, const char *data, size_t len)
{
	ssize_t n;

	while (len > 0) {
		n = write(fd, data, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

/* A line of these members behind the last one; its bytes in out, or 0. */
static size_t
make_line(struct chain *c, const char *members, char out[static RECEIPT_MAX])
{
	char prev[2 * SIGN_HASH + 1], sig[2 * SIGN_BYTES + 1], when[40];
	unsigned char signature[SIGN_BYTES];
	struct timespec now;
	struct tm utc;
	int n, more;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &utc);
	sign_hex(c->last, SIGN_HASH, prev);
	n = snprintf(out, RECEIPT_MAX,
		BEGIN "%" PRIu64 ",\"time\":\"%s.%03ldZ\",%s" PREV "%s\"",
		c->next, when, now.tv_nsec / 1000000, members, prev);
	if (n < 0 || (size_t)n + SIG_LEN + 1 >= RECEIPT_MAX ||
		!sign_make(c->key, out, (size_t)n, signature))
		return 0;
	sign_hex(signature, SIGN_BYTES, sig);
	more = snprintf(out + n, RECEIPT_MAX - (size_t)n, "%s%s" END "\n",
		&SIG[1], sig);
	return (size_t)n + (size_t)more;
}

static bool
append_line(struct chain *c, const char *members)
{
	char line[RECEIPT_MAX];
	size_t len = make_line(c, members, line);

	if (len == 0)
		return fail(c, "sign a receipt");
	if (!write_whole(c->fd, line, len))
		return fail(c, "write a receipt");
	c->next++;
	return sign_hash(line, len - 1, c->last) || fail(c, "digest");
}

/* -------------------------------------------------------------------- head */

static bool
read_head(struct chain *c, uint64_t *size)
{
	char text[HEAD_LEN + 1] = "";

	if (pread(c->head_fd, text, HEAD_LEN, 0) != (ssize_t)HEAD_LEN ||
		text[20] != ' ' || text[21 + 2 * SIGN_HASH] != ' ' ||
		!sign_unhex(text + 21, c->last, SIGN_HASH))
		return false;
	c->next = strtoull(text, NULL, 10) + 1;
	*size = strtoull(text + 22 + 2 * SIGN_HASH, NULL, 10);
	return true;
}

/* Not durable: after a power cut the file itself says more. */
static bool
write_head(struct chain *c)
{
	char text[HEAD_LEN + 1], digest[2 * SIGN_HASH + 1];
	struct stat st;

	if (fstat(c->fd, &st) < 0)
		return fail(c, "fstat");
	sign_hex(c->last, SIGN_HASH, digest);
	snprintf(text, sizeof(text), "%020" PRIu64 " %s %020" PRIu64 "\n",
		c->next - 1, digest, (uint64_t)st.st_size);
	return pwrite(c->head_fd, text, HEAD_LEN, 0) == (ssize_t)HEAD_LEN ||
		fail(c, "write the head");
}

/* -------------------------------------------------------------------- mend */

/* The last line that is whole, read into text; 0: there is none. */
static size_t
last_line(struct chain *c, off_t size, char text[static RECEIPT_MAX])
{
	off_t from = size > RECEIPT_MAX ? size - RECEIPT_MAX : 0;
	ssize_t n = pread(c->fd, text, (size_t)(size - from), from);
	ssize_t start = n - 1; /* behind the line: its line break */

	if (n <= 0 || text[n - 1] != '\n')
		return 0;
	while (start > 0 && text[start - 1] != '\n')
		start--;
	memmove(text, text + start, (size_t)(n - 1 - start));
	return (size_t)(n - 1 - start);
}

/* Bytes behind the last line break: a writer was killed, or the power cut. */
static bool
cut_torn(struct chain *c, off_t *size, uint64_t *torn)
{
	char text[RECEIPT_MAX];
	off_t from = *size > RECEIPT_MAX ? *size - RECEIPT_MAX : 0;
	ssize_t n = pread(c->fd, text, (size_t)(*size - from), from), keep = n;

	while (keep > 0 && text[keep - 1] != '\n')
		keep--;
	*torn = (uint64_t)(n - keep);
	if (n < 0 || (keep == 0 && from > 0)) {
		errno = n < 0 ? errno : EBADMSG;
		return fail(c, "read the last receipt");
	}
	if (*torn == 0)
		return true;
	*size -= (off_t)*torn;
	return ftruncate(c->fd, *size) == 0 || fail(c, "ftruncate");
}

static bool
begin_chain(struct chain *c)
{
	unsigned char public[SIGN_PUBLIC];
	char hex[2 * SIGN_PUBLIC + 1], members[160];

	c->next = 0;
	memset(c->last, 0, sizeof(c->last));
	if (!sign_key_public(c->key, public))
		return fail(c, "read the public key");
	sign_hex(public, SIGN_PUBLIC, hex);
	snprintf(members, sizeof(members), "\"event\":\"begin\",\"key\":\"%s\"",
		hex);
	return append_line(c, members);
}

/* Goes on behind what the head and the file say, and tells what was wrong. */
static bool
find_end(struct chain *c)
{
	char text[RECEIPT_MAX], members[96];
	uint64_t told = 0, torn = 0, number;
	bool has_head = read_head(c, &told);
	struct receipt last;
	struct stat st;
	size_t len;

	if (fstat(c->fd, &st) < 0)
		return fail(c, "fstat");
	if (has_head && st.st_size == (off_t)told)
		return true;
	if (!cut_torn(c, &st.st_size, &torn))
		return false;
	if (st.st_size == 0 && !has_head)
		return begin_chain(c);
	number = has_head ? c->next : 0;
	if (st.st_size > 0) {
		len = last_line(c, st.st_size, text);
		errno = EBADMSG;
		if (!receipt_read(text, len, &last))
			return fail(c, "read the last receipt");
		if (last.number + 1 >= number) {
			c->next = last.number + 1;
			if (!sign_hash(text, len, c->last))
				return fail(c, "digest");
		} else if (!append_line(c, "\"event\":\"lines_are_missing\"")) {
			return false;
		}
	}
	if (torn == 0)
		return true;
	snprintf(members, sizeof(members),
		"\"event\":\"cut_line_removed\",\"bytes\":%" PRIu64, torn);
	fprintf(stderr,
		"statespace-receipts: the last line was cut: %" PRIu64
		" bytes removed\n",
		torn);
	return append_line(c, members);
}

static bool
lock_and_find(struct chain *c)
{
	while (flock(c->head_fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return fail(c, "lock the head");
	return open_file(c) && find_end(c);
}

bool
chain_append(struct chain *c, const char *members, size_t len)
{
	struct stat st = { .st_size = -1 };
	int kept;
	bool done = lock_and_find(c);

	if (done && fstat(c->fd, &st) < 0)
		done = fail(c, "fstat");
	for (const char *at = members; done && at < members + len;
		at += strlen(at) + 1)
		done = append_line(c, at);
	if (done && fdatasync(c->fd) < 0)
		done = fail(c, "fdatasync");
	done = done && write_head(c);
	kept = errno;
	if (!done && st.st_size >= 0)
		(void)!ftruncate(c->fd, st.st_size);
	flock(c->head_fd, LOCK_UN);
	errno = kept;
	return done;
}

bool
chain_open(struct chain *c, const char *path, const struct sign_key *key,
	uid_t uid, gid_t gid)
{
	const char *slash = strrchr(path, '/');
	char dir[4096] = ".";

	*c = (struct chain){ .key = key,
		.dir = -1,
		.fd = -1,
		.head_fd = -1,
		.uid = uid,
		.gid = gid };
	if (slash != NULL)
		snprintf(dir, sizeof(dir), "%.*s",
			slash == path ? 1 : (int)(slash - path), path);
	snprintf(c->name, sizeof(c->name), "%s",
		slash != NULL ? slash + 1 : path);
	snprintf(c->head_name, sizeof(c->head_name), "%s.head", c->name);
	c->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->dir < 0)
		return fail(c, "open the directory");
	c->head_fd = open_own(c, c->head_name, 0);
	if (c->head_fd < 0)
		return fail(c, "open the head");
	return chain_append(c, "", 0);
}

void
chain_close(struct chain *c)
{
	int *all[] = { &c->dir, &c->fd, &c->head_fd };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (*all[i] >= 0)
			close(*all[i]);
		*all[i] = -1;
	}
}
