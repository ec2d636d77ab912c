/* SPDX-License-Identifier: MIT */
/*
 * One JSON-RPC 2.0 message as MCP sends it: no batches, an id that is text or a
 * whole number, params that are an object.  json.c checks the text before
 * json_tree.c reads it.
 */
#ifndef SS_WIRE_RPC_H
#define SS_WIRE_RPC_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

struct proto_argument;

/* The error codes of JSON-RPC 2.0 and MCP. */
enum rpc_code {
	RPC_OK = 0,
	RPC_PARSE = -32700,
	RPC_INVALID = -32600,
	RPC_NO_METHOD = -32601,
	RPC_BAD_PARAMS = -32602,
	RPC_INTERNAL = -32603,
	RPC_NOT_FOUND = -32002,       /* a resource, up to 2025-11-25 */
	RPC_HEADER_MISMATCH = -32020, /* from 2026-07-28 on, as the next two */
	RPC_NO_CAPABILITY = -32021,
	RPC_NO_VERSION = -32022
};

enum rpc_kind { RPC_REQUEST, RPC_NOTIFICATION, RPC_RESPONSE };

/* A value of the message; lives as long as the message. */
struct rpc_value;

struct rpc {
	enum rpc_kind kind;
	const char *method;             /* NULL: a response */
	const struct rpc_value *id;     /* NULL: none that can be echoed */
	const struct rpc_value *params; /* an object; NULL: none */
	struct rpc_value *root;
};

/*
 * Reads one message; out is released with rpc_release in any case.
 * Returns RPC_OK, or RPC_PARSE, RPC_INVALID, RPC_BAD_PARAMS, RPC_INTERNAL with
 * err filled; out->id is set whenever the message has one.
 */
enum rpc_code
rpc_parse(const char *text, size_t len, struct rpc *out, struct ss_error *err);
void rpc_release(struct rpc *r);

/* All of these accept NULL, and then return NULL, false or 0. */
const struct rpc_value *rpc_member(
	const struct rpc_value *object, const char *name); /* null is absent */
const struct rpc_value *rpc_first(const struct rpc_value *container);
const struct rpc_value *rpc_next(const struct rpc_value *item);
const char *rpc_text(const struct rpc_value *v); /* NULL: no string */
bool rpc_is_object(const struct rpc_value *v);
bool rpc_is_list(const struct rpc_value *v);
bool rpc_is_true(const struct rpc_value *v);
/* A string or a whole number: what may be an id or a progress token. */
bool rpc_is_token(const struct rpc_value *v);

/* A tool's arguments as proto_arguments reads them. */
bool rpc_arguments(struct arena *arena, const struct rpc_value *object,
	size_t more, struct proto_argument **out, size_t *count);

/* As compact JSON. */
bool rpc_write(struct buf *out, const struct rpc_value *v);

#endif
