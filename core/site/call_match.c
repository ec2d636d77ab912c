/* SPDX-License-Identifier: MIT */
/* Which tool a call means: the page, a name with arguments, or the words. */
#include "site/call_step.h"

#include <stdlib.h>

#include "page/toolcall.h"
#include "page/toolname.h"
#include "wire/path.h"

/* The page must be one that grants tools. */
enum ss_err
call_step_page(struct call_state *r)
{
	const struct ss_document *doc = r->call->doc;
	enum ss_err code;

	if (!path_is_page(doc->path))
		return error_set(r->err, SS_NOT_ALLOWED,
			"%s is no page: only Markdown files declare tools",
			doc->path);
	if (documents_writable(r->parts->documents, doc))
		return error_set(r->err, SS_NOT_ALLOWED,
			"%s lies where tools may write: it grants nothing",
			doc->path);
	r->page = r->call->page;
	code = r->page == NULL
		? page_get(r->parts->pages, doc, &r->page, r->err)
		: SS_OK;
	if (code != SS_OK)
		return code;
	if (r->page->error.code != SS_OK) {
		if (r->err != NULL)
			*r->err = r->page->error;
		if (r->err != NULL)
			r->err->line = r->page->place.line;
		return r->page->error.code;
	}
	if (r->page->front.format == FRONT_NONE)
		return error_set(r->err, SS_NO_FRONTMATTER,
			"%s has no frontmatter, so it declares no tools",
			doc->path);
	return SS_OK;
}

/* ---- a call by name and arguments ---- */

static enum ss_err
set_name_error(struct call_state *r, const char *what)
{
	const struct frontmatter *front = &r->page->front;
	struct toolcall_label *labels = toolcall_labels(
		front->specs, front->spec_count, r->call->doc->path);
	struct buf list = BUF_INIT(1024);
	bool failed;

	if (labels == NULL)
		return error_memory(r->err);
	error_set(r->err, SS_NOT_ALLOWED, "\"tool_call\": %s", what);
	for (size_t i = 0; i < front->spec_count && buf_ok(&list); i++)
		buf_printf(&list, "%s%s", list.len > 0 ? ", " : "",
			labels[i].text);
	free(labels);
	error_hint(r->err, "this page has: %s",
		list.len > 0 ? list.data : "no tools");
	if (list.failed)
		error_memory(r->err);
	failed = list.failed;
	buf_release(&list);
	return failed ? SS_INTERNAL : SS_NOT_ALLOWED;
}

static enum ss_err
find_named(struct call_state *r)
{
	const struct frontmatter *front = &r->page->front;

	if (!toolcall_find(front->specs, front->spec_count, r->call->doc->path,
		    r->request->call_name, &r->tool))
		return error_memory(r->err);
	if (r->tool == SIZE_MAX)
		return set_name_error(r, "no tool of this page has that name");
	return SS_OK;
}

static enum ss_err
match_named(struct call_state *r)
{
	const struct proto_request *q = r->request;
	enum ss_err code = find_named(r);
	struct toolcall named;

	if (code != SS_OK)
		return code;
	code = toolcall_read(r->parts->arena, &r->page->front.specs[r->tool],
		q->call_args, q->call_arg_count, &named, r->err);
	if (code != SS_OK)
		return code;
	r->filled = *q;
	if (named.env_count > 0) {
		r->filled.env = named.env;
		r->filled.env_count = named.env_count;
	}
	if (named.has_stdin) {
		r->filled.has_stdin = true;
		r->filled.stdin_text = named.stdin_text;
	}
	if (named.next != NULL)
		r->filled.next = named.next;
	r->request = &r->filled;
	r->given = named.given;
	return SS_OK;
}

/* The command must match the tool that the caller chose. */
static enum ss_err
match_chosen(struct call_state *r)
{
	const struct frontmatter *front = &r->page->front;
	const struct proto_request *q = r->call->request;
	const struct given *given = r->call->given;
	enum pattern_result found = PATTERN_NO;

	if (r->tool < front->spec_count && given != NULL) {
		r->given = *given;
		return SS_OK;
	}
	if (r->tool < front->spec_count)
		found = match_words(&front->specs[r->tool], q->words,
			q->word_count, r->parts->arena, &r->given);
	if (found == PATTERN_YES)
		return SS_OK;
	if (found == PATTERN_MEMORY)
		return error_memory(r->err);
	return error_set(r->err, SS_NOT_ALLOWED,
		"this tool does not allow this command");
}

enum ss_err
call_step_match(struct call_state *r)
{
	const struct frontmatter *front = &r->page->front;
	const struct proto_request *q = r->request;

	enum ss_err code;

	r->tool = r->call->tool;
	if (q->call_name != NULL)
		code = match_named(r);
	else if (r->call->named)
		code = match_chosen(r);
	else
		code = match_choose(front->specs, front->spec_count, q->words,
			q->word_count, r->parts->arena, &r->tool, &r->given,
			r->err);
	if (code != SS_OK)
		return code;
	r->spec = &front->specs[r->tool];
	r->result->tool = (ssize_t)r->tool;
	return command_build(
		r->parts->arena, r->spec, &r->given, &r->command, r->err);
}
