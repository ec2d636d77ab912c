/* SPDX-License-Identifier: MIT */
#include "wire/rpc.h"

#include "wire/json_tree.h"
#include "wire/proto.h"

/* Whole numbers that a double holds exactly. */
#define INTEGER_MAX 9007199254740991.0

/* A struct rpc_value is a json_value. */
static const struct json_value *
tree_of(const struct rpc_value *v)
{
	return (const struct json_value *)(const void *)v;
}

static const struct rpc_value *
value_of(const struct json_value *item)
{
	return (const struct rpc_value *)(const void *)item;
}

/* ------------------------------------------------------------------ values */

const struct rpc_value *
rpc_member(const struct rpc_value *object, const char *name)
{
	const struct json_value *m = rpc_is_object(object)
		? json_member(tree_of(object), name)
		: NULL;

	return m == NULL || json_is(m, JSON_NULL) ? NULL : value_of(m);
}

const struct rpc_value *
rpc_first(const struct rpc_value *container)
{
	return container != NULL ? value_of(tree_of(container)->child) : NULL;
}

const struct rpc_value *
rpc_next(const struct rpc_value *item)
{
	return item != NULL ? value_of(tree_of(item)->next) : NULL;
}

const char *
rpc_text(const struct rpc_value *v)
{
	return v != NULL ? tree_of(v)->text : NULL;
}

bool
rpc_is_object(const struct rpc_value *v)
{
	return v != NULL && json_is(tree_of(v), JSON_OBJECT);
}

bool
rpc_is_list(const struct rpc_value *v)
{
	return v != NULL && json_is(tree_of(v), JSON_LIST);
}

bool
rpc_is_true(const struct rpc_value *v)
{
	return v != NULL && json_is(tree_of(v), JSON_TRUE);
}

static bool
is_integer(const struct json_value *item)
{
	double n = item->number;

	return json_is(item, JSON_NUMBER) && n >= -INTEGER_MAX &&
		n <= INTEGER_MAX && n == (double)(int64_t)n;
}

bool
rpc_is_token(const struct rpc_value *v)
{
	return v != NULL &&
		(json_is(tree_of(v), JSON_STRING) || is_integer(tree_of(v)));
}

bool
rpc_arguments(struct arena *arena, const struct rpc_value *object, size_t more,
	struct proto_argument **out, size_t *count)
{
	return proto_arguments(arena, tree_of(object), more, out, count);
}

bool
rpc_write(struct buf *out, const struct rpc_value *v)
{
	const struct json_value *item = tree_of(v);

	if (is_integer(item))
		return buf_printf(out, "%lld", (long long)item->number);
	return json_write(out, item);
}

/* ----------------------------------------------------------------- message */

static enum rpc_code
refuse_invalid(struct ss_error *err, const char *what)
{
	error_set(err, SS_BAD_REQUEST, "%s", what);
	return RPC_INVALID;
}

static enum rpc_code
read_id(struct rpc *out, const struct json_value *id, struct ss_error *err)
{
	if (id == NULL)
		return RPC_OK;
	if (!rpc_is_token(value_of(id)))
		return refuse_invalid(
			err, "\"id\" must be a string or an integer");
	out->id = value_of(id);
	return RPC_OK;
}

static enum rpc_code
read_message(
	struct rpc *out, const struct json_value *root, struct ss_error *err)
{
	const struct json_value *id = json_member(root, "id");
	const struct json_value *method = json_member(root, "method");
	const struct json_value *params = json_member(root, "params");
	enum rpc_code code = read_id(out, id, err);
	const char *version = rpc_text(rpc_member(value_of(root), "jsonrpc"));

	if (code != RPC_OK)
		return code;
	if (version == NULL || strcmp(version, "2.0") != 0)
		return refuse_invalid(err, "\"jsonrpc\" must be \"2.0\"");
	if (method == NULL && id != NULL &&
		(rpc_is_object(rpc_member(value_of(root), "result")) ||
			rpc_is_object(rpc_member(value_of(root), "error")))) {
		out->kind = RPC_RESPONSE;
		return RPC_OK;
	}
	if (!json_is(method, JSON_STRING))
		return refuse_invalid(err, "\"method\" must be a string");
	out->kind = id != NULL ? RPC_REQUEST : RPC_NOTIFICATION;
	out->method = method->text;
	out->params = rpc_member(value_of(root), "params");
	if (params == NULL || json_is(params, JSON_OBJECT))
		return RPC_OK;
	error_set(err, SS_BAD_REQUEST, "\"params\" must be an object");
	return RPC_BAD_PARAMS;
}

enum rpc_code
rpc_parse(const char *text, size_t len, struct rpc *out, struct ss_error *err)
{
	enum ss_err code = json_check(text, len, err);
	struct json_value *root;

	*out = (struct rpc){ .kind = RPC_REQUEST };
	if (code != SS_OK)
		return code == SS_BAD_REQUEST ? RPC_PARSE : RPC_INTERNAL;
	root = json_tree(text, len);
	if (root == NULL) {
		error_memory(err);
		return RPC_INTERNAL;
	}
	out->root = (struct rpc_value *)(void *)root;
	if (json_is(root, JSON_LIST))
		return refuse_invalid(
			err, "batches are not taken: send one message");
	if (!json_is(root, JSON_OBJECT))
		return refuse_invalid(err, "a message is a JSON object");
	return read_message(out, root, err);
}

void
rpc_release(struct rpc *r)
{
	json_tree_free((struct json_value *)(void *)r->root);
	*r = (struct rpc){ .kind = RPC_REQUEST };
}
