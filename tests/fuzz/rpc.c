/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes what MCP's clients and pages send through: messages, base64,
 * expressions.  Properties: a message that was taken is taken again as it is
 * written; base64 that was read is written back byte for byte; an expression
 * that is told is text, and telling it again changes nothing that matters.
 */
#include "base/base64.h"
#include "wire/ecma.h"
#include "fuzz.h"
#include "wire/rpc.h"

static void
check_message(const char *text, size_t len)
{
	struct buf written = BUF_INIT(len * 6 + 1024);
	struct ss_error err = { 0 };
	struct rpc first, second;
	enum rpc_code code = rpc_parse(text, len, &first, &err);

	if (code == RPC_OK) {
		promise(rpc_write(&written, first.root));
		promise(rpc_parse(written.data, written.len, &second, NULL) ==
			RPC_OK);
		promise(first.kind == second.kind);
		promise((first.id == NULL) == (second.id == NULL));
		rpc_release(&second);
	} else {
		promise(err.message[0] != '\0');
	}
	rpc_release(&first);
	buf_release(&written);
}

static void
check_base64(const char *text, size_t len)
{
	struct buf bytes = BUF_INIT(len + 1), again = BUF_INIT(len + 4);

	if (base64_read(&bytes, text, len)) {
		promise(base64_write(&again, bytes.data, bytes.len));
		promise(again.len == len &&
			(len == 0 || memcmp(again.data, text, len) == 0));
	}
	buf_release(&bytes);
	buf_release(&again);
}

static void
check_expression(const char *text, size_t len)
{
	struct buf once = BUF_INIT(len * 24 + 64);
	struct buf twice = BUF_INIT(len * 48 + 64);

	if (ecma_write(&once, text, len)) {
		promise(utf8_valid(once.data, once.len));
		/* What it writes is in the language that both read. */
		promise(once.len == 0 || memchr(once.data, '\0', once.len) ||
			strstr(once.data, "\\v") != NULL ||
			ecma_write(&twice, once.data, once.len));
	}
	buf_release(&once);
	buf_release(&twice);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;

	check_message(text, size);
	check_base64(text, size);
	check_expression(text, size);
	return 0;
}
