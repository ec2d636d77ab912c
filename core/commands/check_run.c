/* SPDX-License-Identifier: MIT */
/*
 * statespace check --run: the components of a page, and each of its tools once
 * with the examples of its arguments, run as a request would run them.
 */
#include "commands/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "site/call.h"
#include "site/component.h"
#include "wire/escape.h"

#define FAILED_BYTES ((size_t)1 << 20)
#define SHOWN_BYTES 200 /* of a line of standard error */

/* -------------------------------------------------------------- components */

/* "LINE what replaced it", as component_job.failed has them. */
static void
tell_blocks(struct check *c, const char *line)
{
	while (line != NULL && *line != '\0') {
		char message[512], *rest;
		struct ss_error err = { 0 };
		struct node_place at = { (unsigned)strtoul(line, &rest, 10),
			1 };
		size_t n = strcspn(rest, "\n");

		snprintf(message, sizeof(message), "the component failed:%.*s",
			(int)(n < SHOWN_BYTES * 2 ? n : SHOWN_BYTES * 2), rest);
		error_set(&err, SS_EXEC_FAILED, "%s", message);
		error_hint(&err, "a reader sees this in its place");
		check_error(c, at, &err);
		line = rest[n] == '\n' ? rest + n + 1 : NULL;
	}
}

static enum ss_err
run_components(struct check *c, const struct ss_document *doc,
	struct page *page, const char *id, struct ss_error *err)
{
	struct buf failed = BUF_INIT(FAILED_BYTES), out = BUF_INIT(0);
	struct component_job job = { .executor = &c->site->exec_state,
		.doc = doc,
		.page = page,
		.request_id = id,
		.client_fd = -1,
		.failed = &failed };
	enum ss_err code;

	if (!component_applies(job.executor, doc, page))
		return SS_OK;
	code = component_render(&job, &out, err);
	if (code == SS_OK)
		tell_blocks(c, failed.data);
	buf_release(&failed);
	buf_release(&out);
	arena_clear(&c->site->arena);
	return code;
}

/* ------------------------------------------------------------------- tools */

/* What a run of it may change, or whom it may reach. */
static bool
has_effects(const struct right *right)
{
	const struct powers *p = &right->powers;

	return p->asked.write.count > 0 || p->asked.unix_sockets.count > 0 ||
		p->asked.network != NETWORK_OFF || p->http;
}

static bool
may_run(const struct check *c, const struct spec *spec,
	const struct right *right)
{
	return !spec->confirm &&
		((c->what & SS_CHECK_RUN_ALL) || !has_effects(right));
}

/*
 * The first example of each argument; false: one has none and is needed.
 * Copies: the call reads the page again.
 */
static bool
take_examples(struct arena *arena, const struct spec *spec, struct given *out)
{
	if (!given_init(out, spec, arena))
		return false;
	for (size_t i = 0; i < spec->argument_count; i++) {
		const struct argument *a = spec->arguments[i];
		const char *example =
			a->examples.count > 0 ? a->examples.names[0] : NULL;

		if (example != NULL)
			out->values[i] = text_of(
				arena_copy(arena, example, strlen(example)));
		else if (a->initial == NULL && !spec_may_omit(spec, a))
			return false;
	}
	return true;
}

static void
print_command(const struct ss_result *result, struct buf *out)
{
	buf_text(out, "it ran: ");
	for (size_t i = 0; result->argv != NULL && i < result->argc; i++) {
		if (i > 0)
			buf_char(out, ' ');
		escape_shell(out, result->argv[i], strlen(result->argv[i]));
	}
}

static void
tell_exit(struct check *c, struct node_place at, const struct ss_result *result)
{
	struct buf command = BUF_INIT(1024);
	struct ss_error err = { 0 };
	size_t n = result->err.len > 0 ? strcspn(result->err.data, "\n") : 0;

	if (n > SHOWN_BYTES)
		n = utf8_cut(result->err.data, n, SHOWN_BYTES);
	error_set(&err, SS_EXEC_FAILED,
		"the tool ended with %d on its examples%s%.*s",
		result->returncode, n > 0 ? ": " : "", (int)n,
		n > 0 ? result->err.data : "");
	print_command(result, &command);
	error_hint(&err, "%s", command.len > 0 ? command.data : "");
	c->memory_failed |= command.failed;
	buf_release(&command);
	check_error(c, at, &err);
}

static void
tell_refusal(struct check *c, struct node_place at, const struct ss_error *why)
{
	struct ss_error err = *why;

	snprintf(err.message, sizeof(err.message),
		"the tool fails on its examples: %.440s", why->message);
	check_error(c, at, &err);
}

static void
run_tool(struct check *c, const struct ss_document *doc, size_t tool,
	struct node_place at, const struct given *given)
{
	struct ss_site *site = c->site;
	struct proto_request request = { 0 };
	struct ss_result result = SS_INIT(ss_result);
	struct ss_error err = { 0 };
	const char *stage = "check";
	char id[33];
	enum ss_err code;

	site_make_id(site, id);
	code = call_run(&site->calls,
		&(struct call){ .doc = doc,
			.request = &request,
			.request_id = id,
			.named = true,
			.tool = tool,
			.given = given,
			.stdin_fd = -1,
			.client_fd = -1 },
		&stage, &result, &err);
	c->report.ran++;
	if (code != SS_OK)
		tell_refusal(c, at, &err);
	else if (result.returncode != 0)
		tell_exit(c, at, &result);
}

enum ss_err
check_run(struct check *c, const struct ss_document *doc, struct ss_error *err)
{
	struct ss_site *site = c->site;
	struct page *page;
	struct given given;
	struct node_place at;
	char id[33];
	enum ss_err code = page_get(&site->pages, doc, &page, err);

	site_make_id(site, id);
	if (code == SS_OK && !documents_writable(&site->documents, doc))
		code = run_components(c, doc, page, id, err);
	for (size_t i = 0; code == SS_OK; i++) {
		/* The last call may have freed it. */
		code = page_get(&site->pages, doc, &page, err);
		if (code != SS_OK || i >= page->front.spec_count)
			break;
		at = (struct node_place){ page->front.specs[i].line,
			page->front.specs[i].column };
		if (may_run(c, &page->front.specs[i], &page->rights.tools[i]) &&
			take_examples(
				&site->arena, &page->front.specs[i], &given))
			run_tool(c, doc, i, at, &given);
		else
			c->report.passed_over++;
		arena_clear(&site->arena);
	}
	return code;
}
