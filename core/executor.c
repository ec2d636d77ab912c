/* SPDX-License-Identifier: MIT */
#include "executor.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "error.h"
#include "site.h"

/* How long a worker may spend on what a tool left in its scratch. */
#define EMPTY_BUDGET_MS 500

void
executor_init(struct executor *e, struct ss_site *site)
{
	*e = (struct executor){ .site = site, .scratch = SCRATCH_INIT };
}

void
executor_release(struct executor *e)
{
	spawn_result_release(&e->last);
	scratch_close(&e->scratch);
}

/* A forked process inherits nothing of this: it prepares for itself. */
enum ss_err
executor_prepare(struct executor *e, struct ss_error *err)
{
	int number;

	if (e->worn) {
		error_set(err, SS_SANDBOX_UNAVAILABLE,
			"the tool did not run: this worker is being replaced");
		return SS_SANDBOX_UNAVAILABLE;
	}
	if (e->prepared == getpid())
		return SS_OK;
	number = spawn_prepare();
	if (number != 0)
		return error_internal(err, number, "prepare to spawn");
	e->scratch = SCRATCH_INIT;
	if (scratch_make(&e->scratch, err) != SS_OK)
		return SS_INTERNAL;
	e->prepared = getpid();
	return SS_OK;
}

const char *
executor_tmpdir(const struct executor *e)
{
	return e->prepared == getpid() ? e->scratch.path : "/tmp";
}

static enum ss_err
no_program(const char *name, int number, struct ss_error *err)
{
	error_set(err, SS_EXEC_FAILED, "the program %s does not exist", name);
	error_hint(err, "the operator installs it, or the page names another");
	if (err != NULL)
		err->sys_errno = number;
	return SS_EXEC_FAILED;
}

/* Why the child never became the program. */
static enum ss_err
explain_failure(
	const struct spawn_result *r, const char *name, struct ss_error *err)
{
	if (strcmp(r->failed_step, "exec") != 0)
		return error_internal(
			err, r->failed_errno, "child: %s", r->failed_step);
	if (r->failed_errno == ENOENT || r->failed_errno == ENOTDIR)
		return no_program(name, ENOENT, err);
	if (r->failed_errno == E2BIG)
		return error_set(err, SS_COMMAND_TOO_LARGE,
			"the command is larger than the kernel takes");
	error_set(err, SS_EXEC_FAILED, "the program %s cannot be started: %s",
		name, strerror(r->failed_errno));
	if (err != NULL)
		err->sys_errno = r->failed_errno;
	return SS_EXEC_FAILED;
}

static enum ss_err
explain_end(const struct spawn_result *r, const struct ss_command *cmd,
	struct ss_result *result, struct ss_error *err)
{
	switch (r->end) {
	case SPAWN_EXITED: result->returncode = r->status; return SS_OK;
	case SPAWN_SIGNALLED:
		result->returncode = 128 + r->status;
		return SS_OK;
	case SPAWN_TIMEOUT:
		error_set(err, SS_TIMEOUT,
			"the tool ran and was stopped after %g s",
			cmd->timeout_ms / 1000.0);
		error_hint(err, "sending it again runs it again");
		return SS_TIMEOUT;
	case SPAWN_OUTPUT:
		error_set(err, SS_OUTPUT_TOO_LARGE,
			"the tool ran and was stopped: it wrote more than %llu "
			"bytes",
			(unsigned long long)cmd->max_output_bytes);
		error_hint(err, "ask for less: a limit, a filter, a range");
		return SS_OUTPUT_TOO_LARGE;
	case SPAWN_GONE: return error_set(err, SS_GONE, "the client left");
	case SPAWN_FAILED: return explain_failure(r, cmd->argv[0], err);
	}
	return error_internal(err, 0, "spawn ended in no known way");
}

static enum ss_err
run(void *ctx, const struct ss_command *cmd, struct ss_result *result,
	struct ss_error *err)
{
	struct executor *e = ctx;
	const struct config *config = &e->site->config;
	char found[PATH_MAX];
	struct spawn s = {
		.program = cmd->argv[0],
		.argv = cmd->argv,
		.envp = cmd->envp,
		.dir_fd = cmd->dir_fd,
		.stdin_data = cmd->stdin_data,
		.stdin_len = cmd->stdin_len,
		.stdin_fd = cmd->stdin_fd,
		.client_fd = cmd->client_fd,
		.limits = { .timeout_ms = cmd->timeout_ms,
			.output_bytes = cmd->max_output_bytes,
			.cpu_s = (uint32_t)config->limits.cpu,
			.memory_bytes = config->limits.memory_bytes,
			.open_files = config->limits.open_files,
			.file_bytes = config->limits.file_bytes },
		.output = cmd->output,
		.output_ctx = cmd->output_ctx,
	};
	enum ss_err code = executor_prepare(e, err);

	if (code != SS_OK)
		return code;
	if (strchr(cmd->argv[0], '/') == NULL) {
		if (!spawn_find(cmd->argv[0], found, sizeof(found)))
			return no_program(cmd->argv[0], ENOENT, err);
		s.program = found;
	}
	spawn_result_release(&e->last);
	code = spawn_run(&s, &e->last, err);
	e->worn = !scratch_empty(&e->scratch, EMPTY_BUDGET_MS);
	if (code != SS_OK)
		return code;
	result->out =
		(struct ss_text){ e->last.out.data ? e->last.out.data : "",
			e->last.out.len };
	result->err =
		(struct ss_text){ e->last.err.data ? e->last.err.data : "",
			e->last.err.len };
	result->limit = e->last.limit;
	result->run_us = e->last.run_us;
	result->sandbox = "none";
	return explain_end(&e->last, cmd, result, err);
}

struct ss_executor
executor_table(struct executor *e)
{
	return (struct ss_executor){
		.size = sizeof(struct ss_executor), .ctx = e, .run = run
	};
}
