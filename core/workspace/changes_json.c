/* SPDX-License-Identifier: MIT */
/* Changes as JSON, by pages. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base64.h"
#include "wire/json.h"
#include "workspace/changes.h"

static void
put_text(struct buf *out, const char *name, const char *value)
{
	if (value == NULL)
		return;
	buf_printf(out, ",\"%s\":", name);
	json_string(out, value, strlen(value));
}

static void
put_base64(struct buf *out, const char *name, const char *bytes)
{
	buf_printf(out, ",\"%s\":\"", name);
	base64_write(out, bytes, strlen(bytes));
	buf_char(out, '"');
}

/* A name that is not UTF-8 is there a second time, whole. */
static void
put_path(struct buf *out, const char *name, const char *path)
{
	char second[32];

	put_text(out, name, path);
	if (path == NULL || utf8_valid(path, strlen(path)))
		return;
	snprintf(second, sizeof(second), "%s_base64", name);
	put_base64(out, second, path);
}

static void
put_side(struct buf *out, const char *prefix, const struct change_side *side)
{
	char digest[DIGEST_HEX + 1];

	if (side->kind == CHANGE_NONE)
		return;
	buf_printf(out, ",\"%stype\":\"%s\"", prefix,
		change_kind_name(side->kind));
	if (side->kind != CHANGE_LINK)
		buf_printf(out, ",\"%smode\":\"%04" PRIo32 "\"", prefix,
			side->mode);
	if (side->kind == CHANGE_DIRECTORY)
		return;
	buf_printf(out, ",\"%ssize\":%" PRIu64, prefix, side->size);
	if (!side->hashed)
		return;
	digest_hex(side->digest, DIGEST_BYTES, digest);
	buf_printf(out, ",\"%ssha256\":\"%s\"", prefix, digest);
}

static void
put_change(struct buf *out, const struct change *c)
{
	buf_printf(out, "{\"op\":\"%c\"", c->op);
	put_path(out, "path", c->path);
	put_path(out, "from", c->from);
	put_side(out, "", &c->now);
	put_side(out, "old_", &c->was);
	if (c->attributes)
		buf_text(out, ",\"attributes\":true");
	put_text(out, "conflict", c->conflict);
	put_text(out, "refused", c->refused);
	put_text(out, "note", c->note);
	buf_char(out, '}');
}

/* The first change behind the cursor. */
static enum ss_err
first_of(const struct changes *c, const char *after, size_t *first,
	struct ss_error *err)
{
	struct buf path = BUF_INIT(8192);
	bool ok = after == NULL ||
		(base64_read(&path, after, strlen(after)) && buf_ok(&path));

	*first = 0;
	while (ok && after != NULL && *first < c->count &&
		strcmp(c->items[*first].path, path.data) <= 0)
		*first += 1;
	buf_release(&path);
	return ok ? SS_OK
		  : error_set(err, SS_BAD_REQUEST,
			    "this is no cursor of a list of changes");
}

enum ss_err
changes_json(struct buf *out, const struct changes *c, const char *after,
	size_t most, struct ss_error *err)
{
	size_t first, end;
	enum ss_err code = first_of(c, after, &first, err);

	if (code != SS_OK)
		return code;
	end = most > 0 && c->count - first > most ? first + most : c->count;
	buf_printf(out,
		"{\"count\":%zu,\"conflicts\":%zu,\"refused\":%zu,"
		"\"digest\":\"%s\",\"notes\":[",
		c->count, c->conflicts, c->refusals, c->digest);
	for (size_t i = 0; i < c->note_count; i++) {
		buf_text(out, i > 0 ? "," : "");
		json_string(out, c->notes[i], strlen(c->notes[i]));
	}
	buf_text(out, "],\"changes\":[");
	for (size_t i = first; i < end; i++) {
		buf_text(out, i > first ? "," : "");
		put_change(out, &c->items[i]);
	}
	buf_char(out, ']');
	if (end < c->count && end > first)
		put_base64(out, "next", c->items[end - 1].path);
	buf_char(out, '}');
	return buf_ok(out) ? SS_OK : error_memory(err);
}
