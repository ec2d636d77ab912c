/* SPDX-License-Identifier: MIT */
#include "mcp/list.h"
#include "base/base64.h"
#include "wire/path.h"

/* l->after from the client's cursor; NULL: it sent none. */
static enum rpc_code
read_cursor(struct mcp *m, struct mcp_list *l)
{
	const struct rpc_value *v = rpc_member(m->rpc.params, "cursor");
	const char *text = rpc_text(v);
	struct buf read = BUF_INIT(2 * PATH_BYTES_MAX);
	size_t n = strlen(l->key);
	bool good, failed;

	if (v == NULL)
		return RPC_OK;
	good = text != NULL && base64_read(&read, text, strlen(text)) &&
		read.len > n + 1 && memcmp(read.data, l->key, n + 1) == 0;
	if (good)
		l->after = arena_copy(
			&m->site->arena, read.data + n + 1, read.len - n - 1);
	failed = read.failed;
	buf_release(&read);
	if (failed)
		return mcp_no_memory(m);
	if (!good)
		return mcp_refuse(m, RPC_BAD_PARAMS,
			"the cursor is not one of this list");
	return l->after != NULL ? RPC_OK : mcp_no_memory(m);
}

enum rpc_code
mcp_list_begin(struct mcp *m, struct mcp_list *l, const char *key, size_t max,
	struct catalog **c)
{
	enum rpc_code code;

	*l = (struct mcp_list){ .key = key, .left = max };
	code = read_cursor(m, l);
	if (code != RPC_OK)
		return code;
	if (catalog_refresh(&m->site->catalog, c, &m->err) != SS_OK)
		return RPC_INTERNAL;
	l->started = l->after == NULL;
	mcp_key(m, key);
	buf_char(m->out, '[');
	return RPC_OK;
}

bool
mcp_list_includes(struct mcp_list *l, const char *name)
{
	if (!l->started) {
		l->started = strcmp(name, l->after) == 0;
		return false;
	}
	if (l->more || l->left == 0) {
		l->more = true;
		return false;
	}
	l->left--;
	l->last = name;
	return true;
}

enum rpc_code
mcp_list_end(struct mcp *m, const struct mcp_list *l)
{
	struct buf plain = BUF_INIT(2 * PATH_BYTES_MAX);

	buf_char(m->out, ']');
	if (!l->started)
		return mcp_refuse(m, RPC_BAD_PARAMS,
			"the cursor names one of the %s that is gone", l->key);
	if (l->more && l->last != NULL) {
		/* The key, with its NUL, binds the cursor to this list. */
		buf_add(&plain, l->key, strlen(l->key) + 1);
		buf_text(&plain, l->last);
		mcp_key(m, "nextCursor");
		mcp_base64(m, buf_view(&plain));
	}
	m->out->failed |= plain.failed;
	buf_release(&plain);
	mcp_cacheable(m);
	return RPC_OK;
}
