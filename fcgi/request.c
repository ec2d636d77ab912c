/* SPDX-License-Identifier: MIT */
#include "request.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"
#include "sys.h"

enum request_origin { REQUEST_FASTCGI, REQUEST_CGI };

/* Where a value goes that is not text of struct ss_request itself. */
enum extra {
	SCRIPT_NAME,
	PATH_INFO,
	CONTENT_LENGTH,
	HTTP_TRANSFER_ENCODING,
	REMOTE_USER,
	AUTH_TYPE,
	STATESPACE_AUTH,
	STATESPACE_FRONT,
	STATESPACE_STATUS,
	STATESPACE_END,
	SERVER_NAME,
	EXTRA_COUNT
};

#define NOT_TEXT ((size_t)-1)
#define TEXT(name, member)                                                     \
	name, sizeof(name) - 1, offsetof(struct ss_request, member), 0
#define EXTRA(name) #name, sizeof(#name) - 1, NOT_TEXT, name

/* In the order of nginx/statespace_params: see field_of. */
static const struct field {
	const char *name;
	size_t name_len;
	size_t offset;
	enum extra extra;
} fields[] = {
	{ EXTRA(REMOTE_USER) },
	{ EXTRA(STATESPACE_AUTH) },
	{ EXTRA(STATESPACE_STATUS) },
	{ TEXT("STATESPACE_HANDOVER", handover) },
	{ EXTRA(STATESPACE_FRONT) },
	{ TEXT("REQUEST_METHOD", method) },
	{ EXTRA(SCRIPT_NAME) },
	{ TEXT("REQUEST_URI", request_uri) },
	{ TEXT("CONTENT_TYPE", content_type) },
	{ EXTRA(CONTENT_LENGTH) },
	{ TEXT("HTTP_HOST", host) },
	{ TEXT("STATESPACE_HOST", site_host) },
	{ TEXT("HTTP_ORIGIN", origin) },
	{ TEXT("HTTP_ACCEPT", accept) },
	{ TEXT("HTTP_IF_NONE_MATCH", if_none_match) },
	{ TEXT("HTTP_IF_MODIFIED_SINCE", if_modified_since) },
	{ TEXT("HTTP_IF_RANGE", if_range) },
	{ TEXT("HTTP_RANGE", range) },
	{ TEXT("HTTP_MCP_PROTOCOL_VERSION", mcp_version) },
	{ TEXT("HTTP_MCP_METHOD", mcp_method) },
	{ TEXT("HTTP_MCP_NAME", mcp_name) },
	{ TEXT("HTTP_MCP_SESSION_ID", mcp_session) },
	{ TEXT("HTTP_IDEMPOTENCY_KEY", idempotency_key) },
	{ TEXT("HTTP_PREFER", prefer) },
	{ TEXT("HTTP_LAST_EVENT_ID", last_event_id) },
	{ TEXT("HTTP_TRACEPARENT", traceparent) },
	{ TEXT("REMOTE_ADDR", remote_addr) },
	{ TEXT("REQUEST_ID", request_id) },
	{ EXTRA(STATESPACE_END) },
	{ EXTRA(PATH_INFO) },
	{ EXTRA(AUTH_TYPE) },
	{ EXTRA(HTTP_TRANSFER_ENCODING) },
	{ EXTRA(SERVER_NAME) },
};

#define FIELD_COUNT (ARRAY_LEN(fields))

/* While the variables of one request are read. */
struct variables {
	bool seen[FIELD_COUNT];
	size_t next; /* of fields: the one behind the last hit */
	const char *extras[EXTRA_COUNT];
};

static enum ss_err
refuse_before(void *ctx, const struct ss_request *req, struct ss_error *err)
{
	const struct request *r = ctx;

	(void)req;
	if (r->refused.code != SS_OK)
		*err = r->refused;
	return r->refused.code;
}

enum ss_err
request_attach(struct request *r, struct ss_site *site, struct ss_error *err)
{
	struct ss_hook hook = SS_INIT(ss_hook);

	*r = (struct request){ .ss = SS_INIT(ss_request) };
	r->max_body =
		(size_t)ss_site_option_number(site, "limits.max_body_bytes");
	hook.ctx = r;
	hook.before = refuse_before;
	return ss_site_add_hook(site, &hook, err);
}

void
request_release(struct request *r)
{
	free(r->body);
	r->body = NULL;
}

/* The first reason is kept. */
void
request_refuse(struct request *r, enum ss_err code, const char *message)
{
	if (r->refused.code == SS_OK)
		say_refusal(&r->refused, code, "%s", message);
}

/* Fronts send names in our table's order: search from the last hit. */
static const struct field *
field_of(const char *pair, size_t name_len, size_t from)
{
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		const struct field *f = &fields[(from + i) % FIELD_COUNT];

		if (f->name_len == name_len &&
			memcmp(f->name, pair, name_len) == 0)
			return f;
	}
	return NULL;
}

/* Header values may hold a tab (RFC 9110 5.5); nothing else below a space. */
static bool
is_clean(const char *value, bool header)
{
	for (const unsigned char *c = (const unsigned char *)value; *c; c++)
		if ((*c < 0x20 && !(header && *c == '\t')) || *c == 0x7f)
			return false;
	return true;
}

static void
take_variable(struct request *r, struct variables *v, const char *pair)
{
	const char *equals = strchr(pair, '=');
	const struct field *f = equals == NULL
		? NULL
		: field_of(pair, (size_t)(equals - pair), v->next);

	if (f == NULL)
		return;
	if (v->seen[f - fields])
		request_refuse(
			r, SS_BAD_REQUEST, "a request variable came twice");
	v->seen[f - fields] = true;
	v->next = (size_t)(f - fields) + 1;
	if (!is_clean(equals + 1, strncmp(pair, "HTTP_", 5) == 0))
		request_refuse(
			r, SS_BAD_REQUEST, "the request holds a control byte");
	if (f->offset == NOT_TEXT)
		v->extras[f->extra] = equals + 1;
	else if (equals[1] != '\0')
		*(const char **)(void *)((char *)&r->ss + f->offset) =
			equals + 1;
}

/*
 * nginx has the whole path in SCRIPT_NAME; lighttpd and Apache split it.
 * Under CGI SCRIPT_NAME is the program, the page is PATH_INFO.
 */
static void
read_path(struct request *r, const char *script, const char *info,
	enum request_origin origin)
{
	char *end;

	if (script == NULL || origin == REQUEST_CGI)
		script = "";
	if (info == NULL)
		info = "";
	end = memccpy(r->path, script, '\0', sizeof(r->path));
	if (end != NULL)
		end = memccpy(end - 1, info, '\0',
			(size_t)(r->path + sizeof(r->path) - (end - 1)));
	if (end == NULL) {
		r->path[sizeof(r->path) - 1] = '\0';
		request_refuse(r, SS_BAD_REQUEST, "the path is too long");
	}
	r->ss.path = r->path[0] != '\0' ? r->path : "/";
}

/* Digits only (RFC 9110 8.6); an empty value is no body. */
static void
read_length(struct request *r, const char *text)
{
	size_t n = 0;

	r->content_length = r->announced = 0;
	r->unannounced = text == NULL || *text == '\0';
	if (text == NULL)
		return;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (r->announced < (UINT64_C(1) << 36))
			r->announced =
				r->announced * 10 + (size_t)(*text - '0');
		n = n * 10 + (size_t)(*text - '0');
		if (n > r->max_body) {
			r->ss.body_too_large = true;
			n = r->max_body + 1;
		}
	}
	if (*text != '\0')
		request_refuse(
			r, SS_BAD_REQUEST, "the Content-Length is no number");
	r->content_length = n;
}

/*
 * A front that sends STATESPACE_FRONT ends its list with STATESPACE_END, so
 * that a list that was cut is not taken for a whole one.
 */
static void
check_names(struct request *r, const char *extras[static EXTRA_COUNT])
{
	const char *end = extras[STATESPACE_END];

	if (extras[STATESPACE_FRONT] != NULL &&
		(end == NULL || strcmp(end, "1") != 0))
		request_refuse(r, SS_INTERNAL,
			"the front server's parameters did not arrive whole");
	if (r->ss.method == NULL) {
		request_refuse(r, SS_INTERNAL,
			"the front server passed no REQUEST_METHOD");
		r->ss.method = "GET";
	}
	if (r->refused.code == SS_INTERNAL)
		say("%s: is the parameter file included in the same block "
		    "as fastcgi_pass?",
			r->refused.message);
}

/*
 * nginx fills REMOTE_USER from any Basic header, right or wrong: it counts when
 * the front says STATESPACE_AUTH=verified.
 */
static void
read_user(struct request *r, const char *extras[static EXTRA_COUNT],
	enum request_origin origin)
{
	const char *auth = extras[STATESPACE_AUTH], *type = extras[AUTH_TYPE];
	bool verified = auth != NULL && strcmp(auth, "verified") == 0;

	if (origin == REQUEST_CGI && type != NULL && *type != '\0')
		verified = true;
	r->ss.remote_user = verified ? extras[REMOTE_USER] : NULL;
}

static void
clear_request(struct request *r)
{
	r->ss = SS_INIT(ss_request);
	r->ss.client_fd = -1;
	r->ss.host = ""; /* NULL would be a local caller, who is not checked */
	r->refused.code = SS_OK;
}

static void
read_extras(struct request *r, const char *extras[static EXTRA_COUNT],
	enum request_origin origin)
{
	const char *status = extras[STATESPACE_STATUS];

	read_path(r, extras[SCRIPT_NAME], extras[PATH_INFO], origin);
	/* Caddy sends -1 for a chunked body. */
	if (origin == REQUEST_FASTCGI && extras[CONTENT_LENGTH] != NULL &&
		strcmp(extras[CONTENT_LENGTH], "-1") == 0)
		request_refuse(r, SS_LENGTH_REQUIRED, NO_LENGTH);
	read_length(r, extras[CONTENT_LENGTH]);
	/* RFC 3875 4.2: without a length a program reads no body. */
	if (origin == REQUEST_CGI && r->unannounced &&
		extras[HTTP_TRANSFER_ENCODING] != NULL)
		request_refuse(r, SS_LENGTH_REQUIRED, NO_LENGTH);
	read_user(r, extras, origin);
	check_names(r, extras);
	/* HTTP/1.0 without Host: the name that the front server goes by. */
	if (r->ss.site_host == NULL && *r->ss.host == '\0')
		r->ss.site_host = extras[SERVER_NAME];
	r->ss.status_allowed = status != NULL && strcmp(status, "1") == 0;
}

void
request_read_environ(struct request *r, char *const env[])
{
	struct variables v = { .next = 0 };

	clear_request(r);
	for (; *env != NULL; env++)
		take_variable(r, &v, *env);
	read_extras(r, v.extras, REQUEST_CGI);
}

void
request_read_params(struct request *r, const char *params, size_t len)
{
	struct variables v = { .next = 0 };

	clear_request(r);
	for (size_t at = 0; at < len; at += strlen(params + at) + 1)
		take_variable(r, &v, params + at);
	read_extras(r, v.extras, REQUEST_FASTCGI);
}

char *
request_body(struct request *r)
{
	if (r->body == NULL)
		r->body = malloc(r->max_body + 1);
	if (r->body == NULL)
		request_refuse(r, SS_INTERNAL, "out of memory");
	return r->body;
}
