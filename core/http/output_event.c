/* SPDX-License-Identifier: MIT */
#include "http/output_event.h"

#include "base/base64.h"
#include "base/utf8.h"
#include "wire/json.h"

/* A JSON string; of bytes that are not UTF-8 an object with base64. */
static void
write_data(struct buf *out, const char *bytes, size_t len)
{
	if (utf8_valid(bytes, len)) {
		json_string(out, bytes, len);
		return;
	}
	buf_text(out, "{\"base64\": \"");
	base64_write(out, bytes, len);
	buf_text(out, "\"}");
}

bool
output_event(struct exchange *x, const char *name, const char *id,
	const char *bytes, size_t len)
{
	struct buf data = BUF_INIT(len * 6 + 64);
	bool sent;

	write_data(&data, bytes, len);
	sent = buf_ok(&data) && events_send(x, name, id, data.data, data.len);
	buf_release(&data);
	return sent;
}
