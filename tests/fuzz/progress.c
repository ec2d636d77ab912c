/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes lines of progress.  Properties: it does not matter in which pieces
 * they come; a value is at most its total; a message is short, is UTF-8 and has
 * no control character.
 */
#include "fuzz.h"
#include "wire/progress.h"

static void
check_message(const struct progress *p)
{
	struct buf out = BUF_INIT(PROGRESS_TEXT_MAX);

	promise(progress_message(p, p->value % 2 == 0, &out));
	promise(out.len <= PROGRESS_TEXT_MAX);
	promise(utf8_valid(out.data, out.len));
	for (size_t i = 0; i < out.len; i++)
		promise((unsigned char)out.data[i] >= ' ' &&
			out.data[i] != 0x7f);
	buf_release(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct progress whole, pieces;
	const char *bytes = (const char *)data;
	size_t step = size > 0 ? data[0] % 7 + 1 : 1;

	memset(&whole, 0, sizeof(whole));
	memset(&pieces, 0, sizeof(pieces));
	progress_read(&whole, bytes, size);
	for (size_t i = 0; i < size; i += step)
		progress_read(
			&pieces, bytes + i, size - i < step ? size - i : step);
	promise(memcmp(&whole, &pieces, sizeof(whole)) == 0);
	promise(whole.value <= whole.total);
	check_message(&whole);
	return 0;
}
