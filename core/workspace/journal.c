/* SPDX-License-Identifier: MIT */
#include "workspace/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/fd.h"
#include "workspace/meta.h"
#include "workspace/own.h"

int
journal_add(struct journal *j, const struct step *step)
{
	struct step *more;

	if (j->count == j->cap) {
		j->cap = j->cap == 0 ? 64 : j->cap * 2;
		more = realloc(j->steps, j->cap * sizeof(*more));
		if (more == NULL)
			return ENOMEM;
		j->steps = more;
	}
	j->steps[j->count++] = *step;
	return 0;
}

void
journal_release(struct journal *j)
{
	free(j->steps);
	buf_release(&j->text);
	*j = JOURNAL_INIT;
}

int
journal_write(int dir, const struct journal *j)
{
	struct buf out = BUF_INIT((size_t)1 << 30);
	uint8_t digest[DIGEST_BYTES];
	char hex[DIGEST_HEX + 1];
	int number = ENOMEM;

	for (size_t i = 0; i < j->count; i++) {
		const struct step *s = &j->steps[i];

		buf_printf(&out,
			"%c %u %" PRId64 " %" PRId64 " %" PRId64 " %" PRIu32
			" %" PRIu32 " %s ",
			(char)s->kind, s->slot, (int64_t)s->inode,
			(int64_t)s->old_inode, s->old_mtime_ns, s->mode,
			s->old_mode, s->digest[0] != '\0' ? s->digest : "-");
		meta_put_word(&out, s->path, strlen(s->path));
		buf_char(&out, '\n');
	}
	if (buf_ok(&out)) {
		digest_of(out.data, out.len, digest);
		digest_hex(digest, DIGEST_BYTES, hex);
		buf_printf(&out, "%s\n", hex);
	}
	if (buf_ok(&out))
		number = state_put(dir, OWN_JOURNAL, out.data, out.len);
	buf_release(&out);
	return number;
}

/* Is the last line the digest of those before it?  Takes it off. */
static bool
is_whole(struct buf *text)
{
	size_t last = DIGEST_HEX + 1;
	uint8_t digest[DIGEST_BYTES];
	char hex[DIGEST_HEX + 1];

	if (text->len < last)
		return false;
	digest_of(text->data, text->len - last, digest);
	digest_hex(digest, DIGEST_BYTES, hex);
	if (memcmp(hex, text->data + text->len - last, DIGEST_HEX) != 0)
		return false;
	text->len -= last;
	text->data[text->len] = '\0';
	return true;
}

static int
parse_step(struct journal *j, char *line)
{
	struct step s = { 0 };
	int64_t n[6];
	const char *kind = meta_word(&line), *digest;

	for (size_t i = 0; i < ARRAY_LEN(n); i++)
		if (!meta_number(&line, &n[i]))
			return EPROTO;
	digest = meta_word(&line);
	s.path = meta_word(&line);
	if (kind == NULL || digest == NULL || s.path == NULL ||
		strchr("+~-rma", kind[0]) == NULL ||
		strlen(digest) > DIGEST_HEX)
		return EPROTO;
	s.kind = (enum step_kind)kind[0];
	s.slot = (unsigned)n[0];
	s.inode = (uint64_t)n[1];
	s.old_inode = (uint64_t)n[2];
	s.old_mtime_ns = n[3];
	s.mode = (uint32_t)n[4];
	s.old_mode = (uint32_t)n[5];
	memcpy(s.digest, digest, strlen(digest) + 1);
	return journal_add(j, &s);
}

int
journal_read(int dir, struct journal *j)
{
	int fd = openat(dir, OWN_JOURNAL, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	int number = fd < 0 ? errno : fd_read_all(fd, &j->text);
	char *at, *line;

	fd_close(&fd);
	if (number == 0 && !is_whole(&j->text))
		number = EPROTO;
	at = j->text.data;
	while (number == 0 && (line = meta_line(&at)) != NULL)
		number = parse_step(j, line);
	return number;
}
