/* SPDX-License-Identifier: MIT */
#include "workspace/meta.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/fd.h"
#include "state/state.h"

#define META_BYTES_MAX ((size_t)64 << 10)

/* -------------------------------------------------------------- words -- */

bool
meta_put_word(struct buf *out, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c <= ' ' || c == '%' || c == 0x7f)
			buf_printf(out, "%%%02x", c);
		else
			buf_char(out, bytes[i]);
	}
	/* An empty word is not the same as none. */
	return len > 0 ? buf_ok(out) : buf_char(out, '%');
}

static int
digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

char *
meta_line(char **at)
{
	char *line = *at, *end = strchr(line, '\n');

	if (end == NULL)
		return NULL;
	*end = '\0';
	*at = end + 1;
	return line;
}

char *
meta_word(char **at)
{
	char *start = *at, *from = start, *to = start;

	if (*from == '\0')
		return NULL;
	for (; *from != ' ' && *from != '\0';) {
		if (*from == '%' && digit(from[1]) >= 0 &&
			digit(from[2]) >= 0) {
			*to++ = (char)(digit(from[1]) * 16 + digit(from[2]));
			from += 3;
		} else if (*from == '%') {
			from++;
		} else {
			*to++ = *from++;
		}
	}
	*at = from + (*from == ' ');
	*to = '\0';
	return start;
}

bool
meta_number(char **at, int64_t *out)
{
	char *word = meta_word(at), *end;

	if (word == NULL || *word == '\0')
		return false;
	errno = 0;
	*out = strtoll(word, &end, 10);
	return errno == 0 && *end == '\0';
}

/* ----------------------------------------------------------- the file -- */

enum {
	LINE_BACKEND,
	LINE_ROOT,
	LINE_PAGE,
	LINE_CALLER,
	LINE_FOLDER,
	LINE_DEVICE,
	LINE_INODE,
	LINE_BYTES,
	LINE_FILES,
	LINE_IDLE,
	LINE_TEMPORARY,
	LINE_CREATED,
	LINE_START,
	LINE_COUNT
};

/* In the order of the enum. */
static const char *const names[LINE_COUNT] = { "backend", "root", "page",
	"caller", "folder", "device", "inode", "bytes", "files", "idle",
	"temporary", "created", "start" };

int
meta_write(int dir, const struct workspace_meta *m)
{
	const char *const texts[] = { workspace_backend_name(m->backend),
		m->owner.root, m->owner.page, m->owner.caller, m->folder };
	const int64_t numbers[] = { (int64_t)m->device, (int64_t)m->inode,
		(int64_t)m->bytes_max, (int64_t)m->files_max, m->idle_s,
		m->temporary, m->created_s, m->start_ns };
	struct buf out = BUF_INIT(META_BYTES_MAX);
	int number = ENAMETOOLONG;

	for (size_t i = 0; i < LINE_COUNT; i++) {
		buf_printf(&out, "%s ", names[i]);
		if (i < ARRAY_LEN(texts))
			meta_put_word(&out, texts[i], strlen(texts[i]));
		else
			buf_printf(&out, "%" PRId64,
				numbers[i - ARRAY_LEN(texts)]);
		buf_char(&out, '\n');
	}
	if (buf_ok(&out))
		number = state_put(dir, "meta", out.data, out.len);
	buf_release(&out);
	return number;
}

static const char *
copied(struct arena *arena, const char *text)
{
	return text != NULL ? arena_copy(arena, text, strlen(text)) : NULL;
}

/* 0, EPROTO or ENOMEM. */
static int
parse(char *at, struct arena *arena, struct workspace_meta *m)
{
	const char *texts[LINE_DEVICE];
	int64_t numbers[LINE_COUNT];

	for (size_t i = 0; i < LINE_COUNT; i++) {
		char *line = meta_line(&at);
		const char *name = line != NULL ? meta_word(&line) : NULL;

		if (name == NULL || strcmp(name, names[i]) != 0)
			return EPROTO;
		if (i < ARRAY_LEN(texts)) {
			texts[i] = copied(arena, meta_word(&line));
			if (texts[i] == NULL)
				return EPROTO;
		} else if (!meta_number(&line, &numbers[i])) {
			return EPROTO;
		}
		if (meta_word(&line) != NULL)
			return EPROTO;
	}
	if (!workspace_backend_of(texts[LINE_BACKEND], &m->backend))
		return EPROTO;
	m->owner.root = texts[LINE_ROOT];
	m->owner.page = texts[LINE_PAGE];
	m->owner.caller = texts[LINE_CALLER];
	m->folder = texts[LINE_FOLDER];
	m->device = (uint64_t)numbers[LINE_DEVICE];
	m->inode = (uint64_t)numbers[LINE_INODE];
	m->bytes_max = (uint64_t)numbers[LINE_BYTES];
	m->files_max = (uint64_t)numbers[LINE_FILES];
	m->idle_s = (uint32_t)numbers[LINE_IDLE];
	m->temporary = numbers[LINE_TEMPORARY] != 0;
	m->created_s = numbers[LINE_CREATED];
	m->start_ns = numbers[LINE_START];
	return 0;
}

int
meta_read(int dir, struct arena *arena, struct workspace_meta *out)
{
	struct buf text = BUF_INIT(META_BYTES_MAX);
	int fd = openat(dir, "meta", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	int number = fd < 0 ? errno : fd_read_all(fd, &text);

	fd_close(&fd);
	if (number == 0)
		number = text.len == 0 || text.full
			? EPROTO
			: parse(text.data, arena, out);
	buf_release(&text);
	return number;
}
