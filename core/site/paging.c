/* SPDX-License-Identifier: MIT */
#include "site/paging.h"

#include <sys/random.h>
#include <time.h>

#include "base/base64.h"

const struct seal paging_shell = { .key = "statespace-exec" };

/* ------------------------------------------------------------------ parts -- */

/* Behind the line that begins at from; the end when it has no newline. */
static size_t
line_end(struct ss_text all, size_t from)
{
	const char *end = memchr(all.data + from, '\n', all.len - from);

	return end != NULL ? (size_t)(end - all.data) + 1 : all.len;
}

/* A line that is longer than a part is cut, behind a character of UTF-8. */
size_t
paging_end(struct ss_text all, size_t from, uint64_t lines, uint64_t bytes)
{
	size_t end = from, next, left = all.len - from;
	size_t most = bytes < left ? (size_t)bytes : left, cut;

	for (uint64_t n = 0; end < all.len && (lines == 0 || n < lines); n++) {
		next = line_end(all, end);
		if (next - from > most)
			break;
		end = next;
	}
	if (end > from || left == 0)
		return end;
	cut = utf8_cut(all.data + from, left, most);
	return from + (cut > 0 ? cut : most);
}

static uint64_t
count_lines(struct ss_text t)
{
	uint64_t n = 0;

	for (size_t at = 0; at < t.len; n++)
		at = line_end(t, at);
	return n;
}

static uint64_t
count_breaks(const char *data, size_t len)
{
	uint64_t n = 0;

	for (const char *end = data + len;
		(data = memchr(data, '\n', (size_t)(end - data))) != NULL;
		data++)
		n++;
	return n;
}

/* ----------------------------------------------------------------- cursor -- */

/*
 * In base64: when it expires, a random id, the rest hidden by a keyed digest of
 * both, a signature over all of it and the call.
 */
struct packed {
	int64_t expires;
	unsigned char id[SS_STORE_ID];
	struct {
		uint64_t numbers[4]; /* offset, length, place, flags */
		uint8_t before[16], all[16];
	} hidden;
	uint8_t signature[DIGEST_BYTES];
};

#define FLAG_KEPT 0x100 /* of the flags; below it is the exit code */
#define SIGNED_BYTES offsetof(struct packed, signature)

_Static_assert(sizeof(struct packed) == 8 + SS_STORE_ID + 64 + DIGEST_BYTES,
	"no padding");
_Static_assert(sizeof(struct packed) <= PAGING_CURSOR_MAX / 4 * 3,
	"a cursor in base64");

static void
digest_half(const char *data, size_t len, uint8_t out[static 16])
{
	uint8_t all[DIGEST_BYTES];

	digest_of(data, len, all);
	memcpy(out, all, 16);
}

/* Once hides, twice shows. */
static void
hide(const struct paging *p, struct packed *c)
{
	uint8_t stream[2][DIGEST_BYTES];
	uint8_t *bytes = (uint8_t *)&c->hidden;

	for (size_t i = 0; i < 2; i++) {
		const struct ss_text parts[] = { { (const char *)c->id,
							 sizeof(c->id) },
			{ i == 0 ? "0" : "1", 1 } };

		seal_sign(p->seal, "next hidden", c->expires, parts,
			ARRAY_LEN(parts), stream[i]);
	}
	_Static_assert(sizeof(c->hidden) == sizeof(stream), "two digests");
	for (size_t i = 0; i < sizeof(stream); i++)
		bytes[i] ^= ((const uint8_t *)stream)[i];
}

static bool
sign(const struct paging *p, const struct packed *c,
	uint8_t out[static DIGEST_BYTES])
{
	uint8_t about[DIGEST_BYTES];
	const struct ss_text parts[] = { { (const char *)c, SIGNED_BYTES },
		{ (const char *)about, DIGEST_BYTES } };

	if (!confirm_about(p->what, about))
		return false;
	seal_sign(p->seal, "next", c->expires, parts, ARRAY_LEN(parts), out);
	return true;
}

/* NULL: no memory. */
static const char *
write_cursor(const struct paging *p, const struct paging_cursor *at)
{
	struct packed c = { .expires = (int64_t)time(NULL) + SEAL_VALID_S,
		.hidden.numbers = { at->offset, at->length, at->place,
			(uint64_t)(at->returncode & 0xff) |
				(at->kept ? FLAG_KEPT : 0) } };
	struct buf text = BUF_INIT(PAGING_CURSOR_MAX);
	const char *copy = NULL;

	memcpy(c.id, at->id, sizeof(c.id));
	memcpy(c.hidden.before, at->before, sizeof(c.hidden.before));
	memcpy(c.hidden.all, at->all, sizeof(c.hidden.all));
	hide(p, &c);
	if (sign(p, &c, c.signature) &&
		base64_write(&text, (const char *)&c, sizeof(c)))
		copy = arena_copy(p->what->arena, text.data, text.len);
	buf_release(&text);
	return copy;
}

/* SS_NEXT_GONE, with err as it is: this is no cursor. */
static enum ss_err
unpack(const char *next, struct packed *c, struct ss_error *err)
{
	struct buf bytes = BUF_INIT(PAGING_CURSOR_MAX);
	size_t len = strlen(next);
	enum ss_err code = SS_NEXT_GONE;

	if (len <= PAGING_CURSOR_MAX && base64_read(&bytes, next, len) &&
		bytes.len == sizeof(*c)) {
		memcpy(c, bytes.data, sizeof(*c));
		code = SS_OK;
	}
	if (bytes.failed)
		code = error_memory(err);
	buf_release(&bytes);
	return code;
}

static enum ss_err
refuse(struct ss_error *err, const char *why)
{
	error_set(err, SS_NEXT_GONE, "%s", why);
	error_hint(err,
		"send the same request without \"next\": the output "
		"begins again");
	return SS_NEXT_GONE;
}

enum ss_err
paging_open(struct paging *p, const char *next, struct ss_error *err)
{
	static const char foreign[] = "this \"next\" is of another request, "
				      "altered, or older than ten minutes; "
				      "nothing ran";
	int64_t now = (int64_t)time(NULL);
	uint8_t signature[DIGEST_BYTES];
	struct packed c;
	enum ss_err code = unpack(next, &c, err);

	if (code == SS_INTERNAL)
		return code;
	if (code != SS_OK || c.expires < now || c.expires > now + SEAL_VALID_S)
		return refuse(err, foreign);
	if (!sign(p, &c, signature))
		return error_memory(err);
	if (!digest_equal(signature, c.signature, DIGEST_BYTES))
		return refuse(err, foreign);
	hide(p, &c);
	p->from = (struct paging_cursor){ .offset = c.hidden.numbers[0],
		.length = c.hidden.numbers[1],
		.place = c.hidden.numbers[2],
		.kept = (c.hidden.numbers[3] & FLAG_KEPT) != 0,
		.returncode = (int)(c.hidden.numbers[3] & 0xff) };
	memcpy(p->from.id, c.id, sizeof(c.id));
	memcpy(p->from.before, c.hidden.before, sizeof(c.hidden.before));
	memcpy(p->from.all, c.hidden.all, sizeof(c.hidden.all));
	return SS_OK;
}

enum ss_err
paging_gone(struct ss_error *err)
{
	return refuse(err,
		"what this \"next\" goes on with is not kept any more, and "
		"the tool does not run again by itself");
}

/* ---------------------------------------------------------------- answers -- */

/* Fills result->out and what is told of it; at has the rest of the cursor. */
static bool
show_part(const struct paging *p, struct ss_text all, struct paging_cursor *at,
	struct ss_result *result)
{
	size_t from = (size_t)p->from.offset;
	size_t end = paging_end(all, from, p->lines, p->bytes);
	uint64_t first = count_breaks(all.data, from) + 1;
	uint64_t breaks =
		end > from ? count_breaks(all.data + from, end - from - 1) : 0;

	result->out = (struct ss_text){ all.data + from, end - from };
	result->part = (struct ss_part){ .lines = count_lines(all),
		.bytes = all.len,
		.first = first,
		.last = first + breaks,
		.more = end < all.len };
	if (end == all.len || (!at->kept && !p->again))
		return true;
	at->offset = end;
	at->length = all.len;
	digest_half(all.data, end, at->before);
	result->part.next = write_cursor(p, at);
	return result->part.next != NULL;
}

enum ss_err
paging_take(struct paging *p, struct ss_result *result, struct ss_error *err)
{
	struct paging_cursor at = p->from;
	uint8_t digest[16];
	char *data;

	if (!p->from.kept || p->store->get == NULL ||
		p->from.offset > p->from.length)
		return SS_NEXT_GONE;
	data = arena_alloc(p->what->arena, (size_t)p->from.length + 1);
	if (data == NULL)
		return error_memory(err);
	if (!p->store->get(p->store->ctx, p->from.id, p->from.place, data,
		    (size_t)p->from.length))
		return SS_NEXT_GONE;
	data[p->from.length] = '\0';
	digest_half(data, (size_t)p->from.length, digest);
	if (!digest_equal(digest, p->from.all, sizeof(digest)))
		return SS_NEXT_GONE;
	result->returncode = p->from.returncode;
	return show_part(p, (struct ss_text){ data, (size_t)p->from.length },
		       &at, result)
		? SS_OK
		: error_memory(err);
}

/* Did the tool write the same up to where the part begins? */
static bool
goes_on(const struct paging *p, struct ss_text all)
{
	uint8_t digest[16];

	if (p->from.offset == 0)
		return true;
	if (p->from.offset > all.len)
		return false;
	digest_half(all.data, (size_t)p->from.offset, digest);
	return digest_equal(digest, p->from.before, sizeof(digest));
}

enum ss_err
paging_cut(struct paging *p, struct ss_result *result, struct ss_error *err)
{
	struct paging_cursor at = { .returncode = result->returncode };
	struct ss_text all = result->out;
	size_t end;

	if (!goes_on(p, all)) {
		result->out = result->err = TEXT("");
		return refuse(err,
			"the tool ran again and wrote something else before "
			"this part");
	}
	if (p->from.offset > 0)
		result->err = TEXT("");
	end = paging_end(all, (size_t)p->from.offset, p->lines, p->bytes);
	if (p->from.offset == 0 && end == all.len)
		return SS_OK;
	if (end < all.len) {
		digest_half(all.data, all.len, at.all);
		if (getrandom(at.id, sizeof(at.id), 0) !=
			(ssize_t)sizeof(at.id))
			return error_internal(err, 0, "getrandom");
		at.kept = p->store->put != NULL &&
			p->store->put(p->store->ctx, at.id, all.data, all.len,
				&at.place);
	}
	return show_part(p, all, &at, result) ? SS_OK : error_memory(err);
}
