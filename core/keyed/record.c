/* SPDX-License-Identifier: MIT */
#include "keyed/record.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define MAGIC "statespace key 1\n"
#define MAGIC_LEN (sizeof(MAGIC) - 1)
#define HEAD_LEN (MAGIC_LEN + DIGEST_BYTES + DIGEST_BYTES)
#define PREFIX_LEN 9 /* kind and length of an answer */

/* 0 or errno. */
static int
write_at(int fd, const void *data, size_t len, off_t at)
{
	const char *from = data;
	ssize_t n;

	while (len > 0) {
		n = pwrite(fd, from, len, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		from += n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* 0 or errno; ENODATA: the file ends before. */
static int
read_at(int fd, void *data, size_t len, off_t at)
{
	char *to = data;
	ssize_t n;

	while (len > 0) {
		n = pread(fd, to, len, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : ENODATA;
		to += n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* The head: MAGIC, the digest of the request, the digest of both. */
static void
make_head(const uint8_t body[static DIGEST_BYTES], uint8_t out[static HEAD_LEN])
{
	memcpy(out, MAGIC, MAGIC_LEN);
	memcpy(out + MAGIC_LEN, body, DIGEST_BYTES);
	digest_of((const char *)out, MAGIC_LEN + DIGEST_BYTES,
		out + MAGIC_LEN + DIGEST_BYTES);
}

int
keyed_record_begin(int fd, const uint8_t body[static DIGEST_BYTES])
{
	uint8_t head[HEAD_LEN];

	make_head(body, head);
	return write_at(fd, head, sizeof(head), 0);
}

int
keyed_record_head(int fd, uint8_t body[static DIGEST_BYTES])
{
	uint8_t head[HEAD_LEN], right[HEAD_LEN];
	int number = read_at(fd, head, sizeof(head), 0);

	if (number != 0)
		return number == ENODATA ? EBADMSG : number;
	make_head(head + MAGIC_LEN, right);
	if (memcmp(head, right, sizeof(head)) != 0)
		return EBADMSG;
	memcpy(body, head + MAGIC_LEN, DIGEST_BYTES);
	return 0;
}

/* Of kind, length, request and answer. */
static void
make_check(const uint8_t prefix[static PREFIX_LEN],
	const uint8_t body[static DIGEST_BYTES], const char *data, size_t len,
	uint8_t out[static DIGEST_BYTES])
{
	const struct ss_text parts[] = { { (const char *)prefix, PREFIX_LEN },
		{ (const char *)body, DIGEST_BYTES }, { data, len } };

	digest_parts(parts, ARRAY_LEN(parts), out);
}

int
keyed_record_store(int fd, enum keyed_kind kind,
	const uint8_t body[static DIGEST_BYTES], const char *data, size_t len)
{
	uint8_t prefix[PREFIX_LEN] = { (uint8_t)kind }, check[DIGEST_BYTES];
	off_t at = HEAD_LEN;
	int number;

	for (size_t i = 0; i < 8; i++)
		prefix[1 + i] = (uint8_t)((uint64_t)len >> (8 * i));
	make_check(prefix, body, data, len, check);
	number = write_at(fd, prefix, sizeof(prefix), at);
	if (number == 0)
		number = write_at(fd, data, len, at += PREFIX_LEN);
	if (number == 0)
		number = write_at(fd, check, sizeof(check), at + (off_t)len);
	return number;
}

/* *len: as the prefix has it; false: the file is shorter. */
static bool
is_whole(int fd, const uint8_t prefix[static PREFIX_LEN], size_t *len)
{
	uint64_t told = 0;
	struct stat st;

	for (size_t i = 0; i < 8; i++)
		told |= (uint64_t)prefix[1 + i] << (8 * i);
	*len = (size_t)told;
	return fstat(fd, &st) == 0 && told <= (uint64_t)st.st_size &&
		(uint64_t)st.st_size >=
		told + HEAD_LEN + PREFIX_LEN + DIGEST_BYTES;
}

int
keyed_record_answer(int fd, const uint8_t body[static DIGEST_BYTES],
	struct buf *out, enum keyed_kind *kind)
{
	uint8_t prefix[PREFIX_LEN], check[DIGEST_BYTES], right[DIGEST_BYTES];
	off_t at = HEAD_LEN + PREFIX_LEN;
	size_t len;
	char *to;
	int number = read_at(fd, prefix, sizeof(prefix), HEAD_LEN);

	*kind = KEYED_OPEN;
	buf_clear(out);
	if (number == ENODATA)
		return 0;
	if (number != 0)
		return number;
	if (!is_whole(fd, prefix, &len))
		return 0;
	to = len > 0 ? buf_reserve(out, len) : buf_empty;
	if (to == NULL)
		return out->full ? EFBIG : ENOMEM;
	number = read_at(fd, to, len, at);
	if (number == 0)
		number = read_at(fd, check, sizeof(check), at + (off_t)len);
	if (number != 0)
		return number == ENODATA ? 0 : number;
	make_check(prefix, body, to, len, right);
	if (!digest_equal(check, right, sizeof(right)))
		return 0;
	out->len = len;
	if (len > 0)
		out->data[len] = '\0';
	*kind = prefix[0] == KEYED_STORED    ? KEYED_STORED
		: prefix[0] == KEYED_DROPPED ? KEYED_DROPPED
					     : KEYED_OPEN;
	return 0;
}
