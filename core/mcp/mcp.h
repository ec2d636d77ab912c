/* SPDX-License-Identifier: MIT */
/*
 * One message in hand, and the words that every method writes its result and
 * its refusals with.
 */
#ifndef SS_MCP_MCP_H
#define SS_MCP_MCP_H

#include "mcp/revision.h"
#include "site/catalog.h"
#include "site/site.h"

#define MCP_NAMESPACE "io.modelcontextprotocol/"
#define MCP_OWN "statespace/" /* before names of ours in _meta */

/*
 * How a client is asked while its call waits (MCP_ASKS_BY_REQUEST).  receive
 * gives the response to the question of that id, good until it is called
 * again; else SS_TIMEOUT, SS_GONE.
 */
struct mcp_asker {
	bool (*send)(void *ctx, const char *message, size_t len);
	enum ss_err (*receive)(void *ctx, const char *id, uint32_t timeout_ms,
		const char **message, size_t *len);
	void *ctx;
};

/* Who sent the message, and how more than the answer reaches it. */
struct mcp_client {
	const char *user;      /* verified by the front; NULL: none */
	const char *trace;     /* traceparent of HTTP; NULL: none */
	const char *session;   /* of HTTP; NULL: none */
	unsigned session_asks; /* whom its client can ask: mcp_elicit_offers */
	unsigned asks;         /* the same, while asker.receive is set */
	int fd;                /* a hang-up ends a run; -1: none */
	bool ends;             /* also one with a key: nothing else does */
	uint32_t wait_ms;      /* for the answer of a call with the same key */
	/* Notifications go here; NULL: there is no way to send any. */
	bool (*notify)(void *ctx, const char *message, size_t len);
	void *notify_ctx;
	size_t event_max; /* of the answer, when it is an event; 0: none */
	struct mcp_asker asker; /* receive NULL: it cannot be asked */
};

/* The last question of MCP_ASKS_BY_REQUEST, and its response. */
struct mcp_elicitation {
	struct buf text;    /* while it is written */
	struct buf *answer; /* m->out, meanwhile */
	const char *name;   /* "confirm", or of a form */
	char id[33];
	struct rpc response;
	const struct rpc_value *result; /* of response; NULL: none yet */
	char relayed[1024];             /* its text, over HTTP */
};

/* For the log line. */
struct mcp_record {
	const char *method; /* of the table; NULL: unknown */
	const char *trace;  /* trace_parent of _meta, else of HTTP; NULL */
	const char *page;   /* of the tool, in the arena; NULL: none */
	ssize_t tool;
	struct ss_result result;
};

struct mcp {
	struct ss_site *site;
	const struct mcp_revision *revision;
	const char *request_id; /* of the log, not of JSON-RPC */
	struct rpc rpc;
	const struct rpc_value *meta; /* params._meta */
	struct mcp_client client;
	struct mcp_elicitation elicitation;

	struct buf *out;         /* the answer */
	const char *result_type; /* "complete" */
	bool parks;              /* the call's questions become a task's */
	const char *task;        /* that asked, and is answered; NULL: none */
	struct buf error_data;   /* JSON for error.data; empty: none */
	struct buf result_meta;  /* members of result._meta, each with a comma
				    before it */
	struct ss_error err;
	struct mcp_record record;
};

/* `,"name":`, without the comma behind an opening bracket. */
void mcp_key(struct mcp *m, const char *name);
/* The comma alone, between items of a list. */
void mcp_comma(struct mcp *m);
void mcp_string(struct mcp *m, const char *text);
void mcp_text(struct mcp *m, const char *key, const char *text);
/* In quotes. */
void mcp_base64(struct mcp *m, struct ss_text bytes);
/* How long a list or a page may be kept, if the revision has words for it. */
void mcp_cacheable(struct mcp *m);

/* Both fill m->err. */
enum rpc_code mcp_refuse(struct mcp *m, enum rpc_code code, const char *message,
	...) PRINTF_LIKE(3, 4);
enum rpc_code mcp_no_memory(struct mcp *m);
/* The code for m->err. */
enum rpc_code mcp_failed(struct mcp *m);

/* params.name as text; NULL with m->err filled. */
const char *mcp_param(struct mcp *m, const char *name);
/* params.arguments, NULL when there are none, or RPC_BAD_PARAMS. */
enum rpc_code mcp_arguments(struct mcp *m, const struct rpc_value **out);

#endif
