/* SPDX-License-Identifier: MIT */
/*
 * The built-in tools and pipelines, for the helper programs that run them
 * (fcgi/tool.c, fcgi/transfer.c, fcgi/pipe.c; fcgi/one_program.c) in a process
 * that the executor confined.  They need no site.
 * Not for hosts, and not installed.
 */
#ifndef SS_TOOLS_HELPER_H
#define SS_TOOLS_HELPER_H

#include "statespace.h"

/*
 * All of statespace-tool: the file tools, in a process that an executor
 * confined.  argv is what the executor made, or "--" and a tool's words; the
 * return value is the exit status.  Uses descriptors 0 to 3.
 */
int tool_main(int argc, char **argv);

/* All of statespace-pipe: argv is what stages_argv (tools/stages.h) made. */
int pipe_main(int argc, char **argv);

#define TOOL_HTTP_HEADERS 64
#define TOOL_HTTP_DATA 16

/* A command line of the HTTP tool, read; texts are those of argv. */
struct tool_http {
	const char *url;
	char host[256]; /* lower case, without brackets and last dot */
	uint16_t port;
	const char *method; /* NULL: by the other options */
	const char *headers[TOOL_HTTP_HEADERS];
	size_t header_count;
	const char *data[TOOL_HTTP_DATA]; /* to be joined by '&' */
	size_t data_count;
	bool head, include, fail;
	uint32_t timeout_ms;        /* of the whole run; 0: none */
	const char *const *targets; /* what the operator allows besides */
	size_t target_count;
	/*
	 * Is this public address one of this machine's own?  It then counts as
	 * private.  NULL: none is.
	 */
	bool (*is_own)(int family, const void *address);
};

/*
 * Reads what the executor made of the tool's words (or "--" and the words).
 * Errors  SS_BAD_REQUEST: wrong usage; SS_NOT_ALLOWED: an option that is not
 *         taken; SS_ADDRESS_REFUSED: scheme, spelling or literal address.
 * Pure
 */
enum ss_err tool_http_parse(int argc, char *const argv[], struct tool_http *out,
	struct ss_error *err);
/*
 * May a socket be connected to this address?  Public ones that are not this
 * machine's own, and what the targets name.  family and address as for
 * ss_address_is_public.
 */
bool tool_http_may_connect(const struct tool_http *http, int family,
	const void *address, uint16_t port);
/*
 * Tells the executor why a helper refuses; it becomes the error of the call.
 * False when descriptor 3 is not open.
 */
bool tool_report(enum ss_err code, const char *message, const char *hint);

#endif
