/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the mcp room share: one message in hand, the methods, and
 * the few words that every result is written with.
 */
#ifndef SS_MCP_PARTS_H
#define SS_MCP_PARTS_H

#include "site/call.h"
#include "site/catalog.h"
#include "site/site.h"
#include "wire/rpc.h"

#define MCP_MODERN_VERSION "2026-07-28"
#define MCP_NAMESPACE "io.modelcontextprotocol/"

/* Up to 2025-11-25 with `initialize`; from 2026-07-28 on without. */
enum mcp_era { MCP_LEGACY = 1, MCP_MODERN = 2 };

/*
 * How a client of MCP_LEGACY is asked while its call waits.  receive gives the
 * response to the question of that id, good until it is called again; else
 * SS_TIMEOUT, SS_GONE.
 */
struct mcp_asker {
	bool (*send)(void *ctx, const char *message, size_t len);
	enum ss_err (*receive)(void *ctx, const char *id, uint32_t timeout_ms,
		const char **message, size_t *len);
	void *ctx;
};

struct mcp {
	struct ss_site *site;
	struct rpc rpc;
	enum mcp_era era;
	const struct rpc_value *meta; /* params._meta */
	const char *request_id;
	const char *user;    /* verified by the front; NULL: nobody's name */
	const char *session; /* the client's, of HTTP; NULL: none */
	bool session_asks;   /* its client can ask a person */
	int client_fd;       /* a hang-up ends a run; -1 */
	/* Notifications go here; NULL: there is no way to send any. */
	bool (*notify)(void *ctx, const char *message, size_t len);
	void *notify_ctx;
	size_t event_max; /* of the answer, when it is an event; 0: none */

	struct mcp_asker asker;    /* receive NULL: it cannot be asked */
	struct buf question;       /* what is asked, while it is written */
	struct buf *answer_out;    /* out, meanwhile */
	const char *question_name; /* as confirm, or of a form */
	char question_id[33];
	struct rpc response;              /* to the last question */
	const struct rpc_value *answered; /* its result; NULL: none yet */
	char relayed[1024];               /* the response's text, over HTTP */

	struct buf *out;         /* the answer */
	const char *result_type; /* "complete" */
	struct buf error_data;   /* JSON for error.data; empty: none */
	struct ss_error err;
	/* For the log line. */
	const char *method; /* of the table; NULL: unknown */
	const char *page;   /* of the tool, in the arena; NULL: none */
	ssize_t tool;
	struct ss_result result;
};

/*
 * A method writes the members of its result to m->out with the functions
 * below, or fills m->err (and error_data) and returns another code.
 */
typedef enum rpc_code (*mcp_method_fn)(struct mcp *m);

enum rpc_code mcp_tools_list(struct mcp *m);
enum rpc_code mcp_tools_call(struct mcp *m);
enum rpc_code mcp_resources_list(struct mcp *m);
enum rpc_code mcp_resources_templates(struct mcp *m);
enum rpc_code mcp_resources_read(struct mcp *m);
enum rpc_code mcp_prompts_list(struct mcp *m);
enum rpc_code mcp_prompts_get(struct mcp *m);
enum rpc_code mcp_complete(struct mcp *m);
enum rpc_code mcp_skills_list(struct mcp *m);
enum rpc_code mcp_skills_get(struct mcp *m);

/* `,"name":`, without the comma behind an opening bracket. */
void mcp_key(struct mcp *m, const char *name);
/* The comma alone, between items of a list. */
void mcp_comma(struct mcp *m);
void mcp_string(struct mcp *m, const char *text);
void mcp_text(struct mcp *m, const char *key, const char *text);
/* How long a list or a page may be kept: only 2026-07-28 has words for it. */
void mcp_cacheable(struct mcp *m);

/* Both fill m->err. */
enum rpc_code mcp_refuse(struct mcp *m, enum rpc_code code, const char *message,
	...) PRINTF_LIKE(3, 4);
enum rpc_code mcp_failed(struct mcp *m);
/* params.name as text; NULL with m->err filled. */
const char *mcp_param(struct mcp *m, const char *name);

/* mcp_list.c: one piece of a list that the client pages through. */
struct mcp_list {
	const char *key;   /* of the member; binds the cursor to it */
	const char *after; /* where to go on; NULL: from the start */
	const char *last;  /* the last that was taken */
	size_t room;       /* for so many more */
	bool started, more;
};

#define MCP_PAGE_SIZE 100

/* Opens the list, or fills m->err; *c is fresh. */
enum rpc_code mcp_list_begin(struct mcp *m, struct mcp_list *l, const char *key,
	size_t room, struct catalog **c);
/* Is the item of this name to be written now?  Asked of each, in order. */
bool mcp_list_takes(struct mcp_list *l, const char *name);
enum rpc_code mcp_list_end(struct mcp *m, const struct mcp_list *l);

/* In quotes. */
void mcp_base64(struct mcp *m, struct ss_text bytes);
/*
 * A document, and unless page is NULL what its frontmatter says, which must be
 * right; closed by the caller if SS_OK.
 */
enum ss_err mcp_open(struct mcp *m, const char *path, struct ss_document *doc,
	struct page **page);
void mcp_close(struct mcp *m, struct ss_document *doc);

/* mcp_schema.c: what a tool takes and gives. */
void mcp_input_schema(
	struct mcp *m, const struct page *page, const struct spec *spec);
/* The members, behind its type, of a form's field for a placeholder. */
void mcp_field(struct mcp *m, const struct part *p);
void mcp_output_schema(struct mcp *m);
void mcp_annotations(
	struct mcp *m, const struct page *page, const struct spec *spec);
/* The same for powers that are known, as far as the sandbox enforces them. */
void mcp_annotate(struct mcp *m, bool writes, bool reaches);

/* mcp_progress.c: call_run, with news of it where the request asks for them. */
enum ss_err mcp_run(struct mcp *m, struct call *job);

/* mcp_resources.c: the resource of a page, quoted, and back. */
void mcp_uri(struct mcp *m, const char *path);
/* The clean path that uri names, in the arena; NULL: none of ours. */
const char *mcp_uri_path(struct mcp *m, const char *uri);
/* The path, escaped, without quotes and base; and back to a clean path. */
void mcp_uri_path_add(struct mcp *m, const char *path);
const char *mcp_uri_decode(struct mcp *m, const char *escaped);
/*
 * What GET would answer for a clean path, in out, released by the caller;
 * resolved is where it was found.
 * Errors  SS_NOT_FOUND, also for what is not listed; SS_OUTPUT_TOO_LARGE; those
 *         of the road.
 */
enum ss_err mcp_read_path(struct mcp *m, const char *path,
	char resolved[static 4097], struct buf *out);
/* mcp_skills.c: a file of a skill, quoted; the path of one, NULL: of none. */
void mcp_skill_uri(struct mcp *m, const char *path);
const char *mcp_skill_file(struct mcp *m, const char *uri);
/* Members mimeType and text or blob. */
void mcp_contents(struct mcp *m, const char *path, struct ss_text bytes);

#endif
