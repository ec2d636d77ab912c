/* SPDX-License-Identifier: MIT */
#include "site/component.h"

#include <fcntl.h>

#include "base/error.h"
#include "page/env_fill.h"
#include "page/fence.h"
#include "sandbox/sandbox_run.h"
#include "sandbox/sandbox_scratch.h"
#include "wire/escape.h"

/* Of the message of a failed block. */
#define DETAIL_MAX 200
/* The status of sh(1) for a program that cannot be run. */
#define CANNOT_RUN 126
/* The bytes of U+FFFD, which replaces one byte. */
#define REPAIRED_MAX 3

/* One page while it is rendered. */
struct rendering {
	const struct component_job *job;
	struct buf text;
	struct fence_block *blocks;
	size_t count;
	struct spawn *runs; /* one for each block, as the results */
	struct spawn_result *results;
	struct ss_error
		refused; /* why none of them ran; code SS_OK: they did */
};

/*  ---------------------------------------------------------- the output */

static bool
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct ss_text
without_end(struct ss_text t)
{
	while (t.len > 0 && is_blank(t.data[t.len - 1]))
		t.len--;
	return t;
}

static struct ss_text
without_blanks(struct ss_text t)
{
	for (; t.len > 0 && is_blank(*t.data); t.len--)
		t.data++;
	return without_end(t);
}

/* Bytes that are not UTF-8 become U+FFFD. */
static void
add_repaired(struct buf *out, struct ss_text t)
{
	size_t done = 0, n;

	for (size_t i = 0; i < t.len;) {
		n = utf8_sequence(t.data + i, t.len - i);
		if (n > 0) {
			i += n;
			continue;
		}
		buf_add(out, t.data + done, i - done);
		buf_text(out, "\xef\xbf\xbd");
		i += utf8_ill_formed(t.data + i, t.len - i);
		done = i;
	}
	buf_add(out, t.data + done, t.len - done);
}

static void
add_detail(struct buf *out, struct ss_text detail)
{
	struct buf whole = BUF_INIT(REPAIRED_MAX * (DETAIL_MAX + 4));
	size_t cut;

	/* No more is shown, however it is repaired. */
	if (detail.len > DETAIL_MAX + 4)
		detail.len = DETAIL_MAX + 4;
	add_repaired(&whole, detail);
	cut = utf8_cut(whole.data, whole.len, DETAIL_MAX);
	buf_add(out, whole.data, cut);
	if (cut < whole.len)
		buf_text(out, "\xe2\x80\xa6");
	out->failed |= whole.failed;
	buf_release(&whole);
}

static void
add_failure(struct buf *out, int status, struct ss_text detail)
{
	buf_printf(out, "[eval error: exit %d", status);
	if (detail.len > 0) {
		buf_text(out, " \xe2\x80\x94 ");
		add_detail(out, detail);
	}
	buf_char(out, ']');
}

/* A block that ended by itself, or by a signal. */
static void
add_end(struct buf *out, const struct spawn_result *r, int status)
{
	struct ss_text detail = without_blanks(buf_view(&r->err));

	if (status == 0) {
		add_repaired(out, without_end(buf_view(&r->out)));
		return;
	}
	if (detail.len == 0)
		detail = without_blanks(buf_view(&r->out));
	add_failure(out, status, detail);
}

void
component_result(struct buf *out, const struct spawn_result *r, double own_s,
	double all_s)
{
	bool own = (double)r->run_us >= own_s * 1e6;

	switch (r->end) {
	case SPAWN_EXITED: add_end(out, r, r->status); break;
	case SPAWN_SIGNALLED: add_end(out, r, 128 + r->status); break;
	case SPAWN_OUTPUT: add_end(out, r, 0); break;
	case SPAWN_TIMEOUT:
		buf_printf(out, "[eval error: timed out after %gs]",
			own ? own_s : all_s);
		break;
	case SPAWN_GONE: break;
	case SPAWN_FAILED:
		add_failure(
			out, CANNOT_RUN, text_of(strerror(r->failed_errno)));
		break;
	}
}

/* ------------------------------------------------------------ the blocks */

bool
component_applies(const struct executor *e, const struct ss_document *doc,
	const struct page *page)
{
	return page->has_components && e->config->components.enabled &&
		e->config->components.max_blocks > 0 &&
		!documents_writable(e->documents, doc);
}

/*
 * CR LF becomes LF for the shell.  A NUL byte would end the argument early, and
 * half a script must not run.
 */
static char *
script_of(struct arena *arena, const char *text, size_t len)
{
	static const struct ss_text refusal =
		TEXT("echo the block holds a NUL byte >&2; exit 126");
	char *script;
	size_t n = 0;

	if (memchr(text, '\0', len) != NULL)
		return arena_copy(arena, refusal.data, refusal.len);
	script = arena_copy(arena, text, len);
	if (script == NULL)
		return NULL;
	for (size_t i = 0; i < len; i++)
		if (script[i] != '\r' || i + 1 == len || script[i + 1] != '\n')
			script[n++] = script[i];
	script[n] = '\0';
	return script;
}

static enum ss_err
find_blocks(struct rendering *r, struct ss_error *err)
{
	const struct component_job *job = r->job;
	struct fence_scan scan = { .text = r->text.data,
		.len = r->text.len,
		.at = job->page->front.body };
	size_t most = job->executor->config->components.max_blocks;
	struct arena *arena = job->executor->arena;

	r->blocks = arena_array(arena, most, sizeof(*r->blocks));
	r->runs = arena_array(arena, most, sizeof(*r->runs));
	r->results = arena_array(arena, most, sizeof(*r->results));
	if (r->blocks == NULL || r->runs == NULL || r->results == NULL)
		return error_memory(err);
	while (r->count < most && fence_next(&scan, &r->blocks[r->count]))
		r->count++;
	return SS_OK;
}

/* As a tool's (env_build): what the page lists, and nothing of a request. */
static enum ss_err
make_environment(const struct rendering *r, char ***envp, struct ss_error *err)
{
	const struct component_job *job = r->job;
	const struct config *c = job->executor->config;
	struct env_scope scope = { .server = c->env,
		.server_count = c->env_count,
		.page = &job->page->front.env,
		.request_id = job->request_id };
	const char *scratch = sandbox_self()->scratch;

	return env_build(job->executor->arena, &scope,
		scratch != NULL ? scratch : EXECUTOR_TMPDIR, envp, err);
}

static enum ss_err
prepare_run(struct rendering *r, size_t i, const struct spawn *common,
	struct ss_error *err)
{
	static char shell[] = "sh", option[] = "-c";
	const struct fence_block *b = &r->blocks[i];
	struct arena *arena = r->job->executor->arena;
	char **argv = arena_array(arena, 4, sizeof(*argv));

	if (argv == NULL)
		return error_memory(err);
	argv[0] = shell;
	argv[1] = option;
	argv[2] = script_of(arena, r->text.data + b->script, b->script_len);
	if (argv[2] == NULL)
		return error_memory(err);
	r->runs[i] = *common;
	r->runs[i].argv = argv;
	return SS_OK;
}

/* ----------------------------------------------------------- the running */

static enum ss_err
run_blocks(struct rendering *r, struct right *right, struct ss_error *err)
{
	const struct component_job *job = r->job;
	struct executor *e = job->executor;
	const struct config *c = e->config;
	struct spawn_batch batch = { .commands = r->runs,
		.results = r->results,
		.count = r->count,
		.parallel = c->components.parallel,
		.total_ms = (uint32_t)(c->components.total * 1000) };
	struct spawn common = { .program = right->policy.program,
		.dir_fd = job->doc->dir_fd,
		.stdin_fd = -1,
		.client_fd = job->client_fd,
		.client_left = e->client.left,
		.client_ctx = e->client.ctx,
		.limits = right->policy.limits };
	enum ss_err code;
	char **envp;

	if (common.program == NULL)
		return error_set(err, SS_EXEC_FAILED, "there is no shell");
	code = make_environment(r, &envp, err);
	common.envp = envp;
	common.limits.timeout_ms = (uint32_t)(c->components.timeout * 1000);
	common.limits.output_bytes = COMPONENT_OUTPUT_MAX;
	for (size_t i = 0; code == SS_OK && i < r->count; i++)
		code = prepare_run(r, i, &common, err);
	if (code == SS_OK)
		code = sandbox_run_many(
			&right->policy, &right->ruleset, r->runs, &batch, err);
	executor_cleaned(e);
	return code;
}

/* In a confined process.  A refusal is shown in the page. */
static enum ss_err
run_page(struct rendering *r, struct ss_error *err)
{
	struct executor *e = r->job->executor;
	struct right *right = &r->job->page->rights.component;
	enum ss_err code;

	if (e->must_exit)
		code = error_set(&r->refused, SS_SANDBOX_UNAVAILABLE,
			"this worker is being replaced");
	else
		code = rights_prepare(right, e->grant, &r->refused);
	if (code == SS_OK && r->count > 0) {
		if (!limit_start(&e->limit))
			return limit_error(err);
		code = run_blocks(r, right, &r->refused);
		limit_end(&e->limit);
	}
	for (size_t i = 0; code == SS_OK && i < r->count; i++)
		if (r->results[i].end == SPAWN_GONE)
			return error_set(err, SS_GONE, "the client left");
	if (code != SS_INTERNAL)
		return SS_OK;
	if (err != NULL)
		*err = r->refused;
	return code;
}

static void
write_page(const struct rendering *r, struct buf *out)
{
	const struct config *c = r->job->executor->config;
	size_t at = 0;

	for (size_t i = 0; i < r->count; i++) {
		const struct fence_block *b = &r->blocks[i];

		buf_add(out, r->text.data + at, b->start - at);
		if (r->refused.code != SS_OK)
			add_failure(
				out, CANNOT_RUN, text_of(r->refused.message));
		else
			component_result(out, &r->results[i],
				c->components.timeout, c->components.total);
		at = b->end;
	}
	buf_add(out, r->text.data + at, r->text.len - at);
}

static size_t
line_of(const struct rendering *r, size_t offset)
{
	size_t line = 1;

	for (size_t i = 0; i < offset; i++)
		line += r->text.data[i] == '\n';
	return line;
}

/* One line for each, whatever its program wrote. */
static void
write_failed(const struct rendering *r, struct buf *out)
{
	const struct config *c = r->job->executor->config;
	struct buf one = BUF_INIT(COMPONENT_OUTPUT_MAX * REPAIRED_MAX);

	for (size_t i = 0; i < r->count; i++) {
		const struct spawn_result *run = &r->results[i];
		bool ran = r->refused.code == SS_OK;

		if (ran &&
			((run->end == SPAWN_EXITED && run->status == 0) ||
				run->end == SPAWN_OUTPUT))
			continue;
		buf_clear(&one);
		if (ran)
			component_result(&one, run, c->components.timeout,
				c->components.total);
		else
			add_failure(
				&one, CANNOT_RUN, text_of(r->refused.message));
		buf_printf(out, "%zu ", line_of(r, r->blocks[i].start));
		escape_line(out, one.data, one.len);
		buf_char(out, '\n');
		out->failed |= one.failed;
	}
	buf_release(&one);
}

/* A list of failed blocks may be cut. */
static bool
is_whole(const struct component_job *job, const struct buf *out)
{
	return buf_ok(out) && (job->failed == NULL || !job->failed->failed);
}

static enum ss_err
render_here(
	const struct component_job *job, struct buf *out, struct ss_error *err)
{
	struct rendering r = { .job = job, .text = BUF_INIT(PAGE_BYTES_MAX) };
	enum ss_err code = page_read(job->doc, &r.text, err);

	if (code == SS_OK)
		code = find_blocks(&r, err);
	if (code == SS_OK)
		code = run_page(&r, err);
	if (code == SS_OK && job->failed != NULL)
		write_failed(&r, job->failed);
	if (code == SS_OK)
		write_page(&r, out);
	if (code == SS_OK && !is_whole(job, out))
		code = error_memory(err);
	for (size_t i = 0; i < r.count; i++)
		spawn_result_release(&r.results[i]);
	buf_release(&r.text);
	return code;
}

/* For executor_apart. */
static enum ss_err
render_inside(void *ctx, const struct ss_command *cmd,
	struct oneshot_result *result, struct ss_error *err)
{
	struct component_job job = *(const struct component_job *)ctx;
	struct ss_document doc = *job.doc;
	struct buf out = BUF_INIT(cmd->max_output_bytes);
	enum ss_err code;

	(void)result;
	job.doc = &doc;
	job.client_fd = cmd->client_fd;
	doc.dir_fd = cmd->dir_fd;
	code = render_here(&job, &out, err);
	if (code == SS_OK)
		cmd->output(cmd->output_ctx, 1, out.data, out.len);
	if (code == SS_OK && job.failed != NULL)
		cmd->output(
			cmd->output_ctx, 2, job.failed->data, job.failed->len);
	return code;
}

/* Where the child's two streams go. */
struct rendered {
	struct buf *out, *failed;
};

static void
add_output(void *ctx, int stream, const char *data, size_t len)
{
	const struct rendered *r = ctx;
	struct buf *to = stream == 2 ? r->failed : r->out;

	if (to != NULL)
		buf_add(to, data, len);
}

static enum ss_err
render_apart(
	const struct component_job *job, struct buf *out, struct ss_error *err)
{
	struct component_job copy = *job;
	struct rendered rendered = { out, job->failed };
	struct ss_command cmd = { .size = sizeof(cmd),
		.dir_fd = job->doc->dir_fd,
		.stdin_fd = -1,
		.client_fd = job->client_fd,
		.max_output_bytes = out->max,
		.output = add_output,
		.output_ctx = &rendered };
	struct oneshot oneshot = {
		.fn = render_inside, .ctx = &copy, .cmd = &cmd
	};
	struct oneshot_result result;
	enum ss_err code = executor_apart(job->executor,
		&job->page->rights.component, &oneshot, &result, err);

	return code == SS_OK && !is_whole(job, out) ? error_memory(err) : code;
}

enum ss_err
component_render(
	const struct component_job *job, struct buf *out, struct ss_error *err)
{
	out->max = PAGE_BYTES_MAX +
		job->executor->config->components.max_blocks * REPAIRED_MAX *
			COMPONENT_OUTPUT_MAX;
	return job->executor->is_worker ? render_here(job, out, err)
					: render_apart(job, out, err);
}
