/* SPDX-License-Identifier: MIT */
#include "site/receipt_call.h"

#include <inttypes.h>

#include "base/digest.h"
#include "site/page.h"
#include "wire/json.h"

static void
add_text(struct buf *out, const char *name, const char *text)
{
	if (text == NULL)
		return;
	buf_printf(out, ",\"%s\":", name);
	json_string(out, text, strlen(text));
}

static void
add_digest(struct buf *out, const char *name, const char *data, size_t len)
{
	uint8_t digest[DIGEST_BYTES];
	char hex[DIGEST_HEX + 1];

	digest_of(data, len, digest);
	digest_hex(digest, sizeof(digest), hex);
	buf_printf(out, ",\"%s\":\"%s\"", name, hex);
}

/* Of the words, each with the NUL that ends it: no two lists have one text. */
static bool
add_words(struct buf *out, char *const *argv)
{
	struct buf all = BUF_INIT((size_t)4 << 20);
	uint8_t digest[DIGEST_BYTES];
	char hex[DIGEST_HEX + 1];

	for (size_t i = 0; argv[i] != NULL; i++)
		buf_add(&all, argv[i], strlen(argv[i]) + 1);
	digest_of(all.data, all.len, digest);
	digest_hex(digest, sizeof(digest), hex);
	buf_printf(out, "%s ", hex);
	buf_release(&all);
	return buf_ok(&all);
}

enum ss_err
receipt_announce(
	const struct receipt_what *w, struct buf *out, struct ss_error *err)
{
	struct buf page = BUF_INIT(PAGE_BYTES_MAX);
	enum ss_err code = page_read(w->doc, &page, err);

	if (code == SS_OK && !add_words(out, w->argv))
		code = error_memory(err);
	if (code == SS_OK) {
		buf_text(out, "\"event\":\"run\"");
		add_text(out, "id", w->request_id);
		add_text(out, "root", w->root);
		add_text(out, "page", w->doc->path);
		add_digest(out, "page_sha256", page.data, page.len);
		buf_printf(out, ",\"tool\":%zu", w->tool);
		add_text(out, "name", w->name);
		add_text(out, "user", w->user);
		add_text(out, "key", w->key);
		if (!buf_ok(out))
			code = error_memory(err);
	}
	buf_release(&page);
	return code;
}

void
receipt_end(const struct ss_result *result, enum ss_err code,
	struct ss_text out, struct ss_text err, struct buf *members)
{
	buf_printf(members, "\"outcome\":\"%s\"",
		result->unstarted ? "not_started" : ss_err_code(code));
	if (code == SS_OK)
		buf_printf(members, ",\"returncode\":%d", result->returncode);
	if (result->limit != NULL)
		add_text(members, "limit", result->limit);
	add_text(members, "sandbox", result->sandbox);
	buf_printf(members, ",\"us\":%" PRIu64, result->run_us);
	add_digest(members, "stdout_sha256", out.data, out.len);
	add_digest(members, "stderr_sha256", err.data, err.len);
}
