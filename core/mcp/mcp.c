/* SPDX-License-Identifier: MIT */
#include "mcp/mcp.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/base64.h"
#include "wire/json.h"

#define CACHE_MS 5000

/* --------------------------------------------------------------- writing -- */

void
mcp_comma(struct mcp *m)
{
	const struct buf *b = m->out;

	if (b->len > 0 && strchr("{[:", b->data[b->len - 1]) == NULL)
		buf_char(m->out, ',');
}

void
mcp_key(struct mcp *m, const char *name)
{
	mcp_comma(m);
	mcp_string(m, name);
	buf_char(m->out, ':');
}

void
mcp_string(struct mcp *m, const char *text)
{
	json_string(m->out, text, strlen(text));
}

void
mcp_text(struct mcp *m, const char *key, const char *text)
{
	mcp_key(m, key);
	mcp_string(m, text);
}

void
mcp_base64(struct mcp *m, struct ss_text bytes)
{
	buf_char(m->out, '"');
	base64_write(m->out, bytes.data, bytes.len);
	buf_char(m->out, '"');
}

void
mcp_cacheable(struct mcp *m)
{
	if (!m->revision->cacheable)
		return;
	mcp_key(m, "ttlMs");
	buf_printf(m->out, "%d", CACHE_MS);
	mcp_text(m, "cacheScope", "private");
}

/* -------------------------------------------------------------- refusing -- */

enum rpc_code
mcp_refuse(struct mcp *m, enum rpc_code code, const char *message, ...)
{
	char text[512];
	va_list args;

	va_start(args, message);
	vsnprintf(text, sizeof(text), message, args);
	va_end(args);
	error_set(&m->err, SS_BAD_REQUEST, "%s", text);
	return code;
}

enum rpc_code
mcp_no_memory(struct mcp *m)
{
	error_memory(&m->err);
	return RPC_INTERNAL;
}

enum rpc_code
mcp_failed(struct mcp *m)
{
	return m->err.code == SS_INTERNAL ? RPC_INTERNAL : RPC_BAD_PARAMS;
}

/* --------------------------------------------------------------- reading -- */

const char *
mcp_param(struct mcp *m, const char *name)
{
	const char *text = rpc_text(rpc_member(m->rpc.params, name));

	if (text == NULL)
		mcp_refuse(m, RPC_BAD_PARAMS,
			"\"params\" needs \"%s\", a string", name);
	return text;
}

enum rpc_code
mcp_arguments(struct mcp *m, const struct rpc_value **out)
{
	*out = rpc_member(m->rpc.params, "arguments");
	if (*out == NULL || rpc_is_object(*out))
		return RPC_OK;
	return mcp_refuse(m, RPC_BAD_PARAMS, "\"arguments\" must be an object");
}
