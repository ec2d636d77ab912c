/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static const struct {
	const char *code;
	int status;
	const char *class;
	unsigned retry_after; /* seconds; 0: the same request fails again */
} table[] = {
	[SS_OK] = { "ok", 200, "", 0 },
	[SS_BAD_REQUEST] = { "bad_request", 400, "matching", 0 },
	[SS_BAD_ENV] = { "bad_env", 400, "matching", 0 },
	[SS_NO_FRONTMATTER] = { "no_frontmatter", 400, "page", 0 },
	[SS_BAD_FRONTMATTER] = { "bad_frontmatter", 400, "page", 0 },
	[SS_KEY_REQUIRED] = { "key_required", 400, "matching", 0 },
	[SS_UNAUTHORIZED] = { "unauthorized", 401, "capability", 0 },
	[SS_NOT_ALLOWED] = { "not_allowed", 403, "matching", 0 },
	[SS_PATH_REFUSED] = { "path_refused", 403, "path", 0 },
	[SS_ADDRESS_REFUSED] = { "address_refused", 403, "capability", 0 },
	[SS_ORIGIN_REFUSED] = { "origin_refused", 403, "capability", 0 },
	[SS_CAPABILITY_REFUSED] = { "capability_refused", 403, "capability",
		0 },
	[SS_NOT_FOUND] = { "not_found", 404, "path", 0 },
	[SS_METHOD] = { "method", 405, "matching", 0 },
	[SS_TIMEOUT] = { "timeout", 408, "limit", 0 },
	[SS_KEY_RUNNING] = { "key_running", 409, "overload", 1 },
	[SS_KEY_UNKNOWN] = { "outcome_unknown", 409, "server", 0 },
	[SS_BUSY] = { "busy", 409, "overload", 1 },
	[SS_CONFLICT] = { "conflict", 409, "matching", 0 },
	[SS_NEXT_GONE] = { "next_gone", 410, "matching", 0 },
	[SS_LENGTH_REQUIRED] = { "length_required", 411, "matching", 0 },
	[SS_BODY_TOO_LARGE] = { "body_too_large", 413, "limit", 0 },
	[SS_COMMAND_TOO_LARGE] = { "command_too_large", 413, "limit", 0 },
	[SS_OUTPUT_TOO_LARGE] = { "output_too_large", 413, "limit", 0 },
	[SS_CONTENT_TYPE] = { "content_type", 415, "matching", 0 },
	[SS_HOST_REFUSED] = { "host_refused", 421, "capability", 0 },
	[SS_KEY_REUSED] = { "key_reused", 422, "matching", 0 },
	[SS_CONFIRM_REQUIRED] = { "confirm_required", 428, "capability", 0 },
	[SS_EXEC_FAILED] = { "exec_failed", 500, "server", 0 },
	[SS_INTERNAL] = { "internal", 500, "server", 0 },
	[SS_NETWORK] = { "network", 502, "server", 2 },
	[SS_OVERLOADED] = { "overloaded", 503, "overload", 1 },
	[SS_SANDBOX_UNAVAILABLE] = { "sandbox_unavailable", 503, "server", 0 },
	[SS_STATE] = { "state_unavailable", 503, "server", 0 },
	[SS_CONFIG] = { "config", 500, "server", 0 },
	[SS_GONE] = { "gone", 500, "server", 0 },
};

const char *
ss_version(void)
{
	return SS_VERSION;
}

const char *
ss_err_code(enum ss_err code)
{
	return (size_t)code < ARRAY_LEN(table) ? table[code].code : "internal";
}

int
ss_err_status(enum ss_err code)
{
	return (size_t)code < ARRAY_LEN(table) ? table[code].status : 500;
}

const char *
ss_err_class(enum ss_err code)
{
	return (size_t)code < ARRAY_LEN(table) ? table[code].class : "server";
}

unsigned
ss_err_retry_after(enum ss_err code)
{
	return (size_t)code < ARRAY_LEN(table) ? table[code].retry_after : 0;
}

bool
ss_err_retryable(enum ss_err code)
{
	return ss_err_retry_after(code) > 0;
}

/* Formats into a fixed field; a long text is cut between two characters. */
static void
fill_field(char *field, size_t cap, const char *format, va_list args)
{
	int n = vsnprintf(field, cap, format, args);

	if (n >= 0 && (size_t)n >= cap)
		field[utf8_cut(field, cap, cap - 1)] = '\0';
}

enum ss_err
error_set(struct ss_error *err, enum ss_err code, const char *message, ...)
{
	va_list args;

	if (err == NULL)
		return code;
	error_clear(err);
	err->code = code;
	va_start(args, message);
	fill_field(err->message, sizeof(err->message), message, args);
	va_end(args);
	return code;
}

void
error_hint(struct ss_error *err, const char *hint, ...)
{
	va_list args;

	if (err == NULL)
		return;
	va_start(args, hint);
	fill_field(err->hint, sizeof(err->hint), hint, args);
	va_end(args);
}

void
error_detail(struct ss_error *err, const char *detail, ...)
{
	va_list args;

	if (err == NULL)
		return;
	va_start(args, detail);
	fill_field(err->detail, sizeof(err->detail), detail, args);
	va_end(args);
}

void
error_rule(struct ss_error *err, unsigned line, const char *rule, ...)
{
	va_list args;

	if (err == NULL)
		return;
	err->line = line;
	va_start(args, rule);
	fill_field(err->rule, sizeof(err->rule), rule, args);
	va_end(args);
}

void
error_setting(struct ss_error *err, const char *key, const char *value, ...)
{
	va_list args;

	if (err == NULL)
		return;
	snprintf(err->setting, sizeof(err->setting), "%s", key);
	va_start(args, value);
	fill_field(err->value, sizeof(err->value), value, args);
	va_end(args);
}

enum ss_err
error_internal(struct ss_error *err, int number, const char *detail, ...)
{
	va_list args;

	if (err == NULL)
		return SS_INTERNAL;
	error_set(err, SS_INTERNAL,
		"an internal error; the operator's log has it");
	err->sys_errno = number;
	va_start(args, detail);
	fill_field(err->detail, sizeof(err->detail), detail, args);
	va_end(args);
	return SS_INTERNAL;
}

/* Clears the first byte of each field only: the fields are large. */
void
error_clear(struct ss_error *err)
{
	if (err == NULL)
		return;
	err->code = SS_OK;
	err->sys_errno = 0;
	err->message[0] = err->hint[0] = err->detail[0] = '\0';
	err->line = 0;
	err->rule[0] = err->setting[0] = err->value[0] = '\0';
}
