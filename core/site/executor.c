/* SPDX-License-Identifier: MIT */
#include "site/executor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "sandbox/sandbox_run.h"
#include "sandbox/sandbox_scratch.h"
#include "site/explain.h"
#include "site/workspaces.h"
#include "tools/stages.h"

#define REFUSED_MAX ((size_t)1 << 20)

void
executor_release(struct executor *e)
{
	spawn_result_release(&e->last);
	buf_release(&e->collected[0]);
	buf_release(&e->collected[1]);
	buf_release(&e->refused);
	buf_release(&e->denied);
	buf_release(&e->workspace);
}

void
executor_cleaned(struct executor *e)
{
	e->must_exit = !sandbox_clean();
}

/* For messages: the name of a variable in place of its value. */
static const char *
name_of(const struct ss_command *cmd)
{
	const struct right *right = cmd->policy;

	return right->ask.program != NULL ? right->ask.word : cmd->argv[0];
}

static enum ss_err
set_missing(const char *what, const char *name, const char *hint,
	struct ss_error *err)
{
	error_set(err, SS_EXEC_FAILED, "%s %s does not exist", what, name);
	error_hint(err, "%s", hint);
	error_rule(err, 0, "%s", name);
	if (err != NULL)
		err->sys_errno = ENOENT;
	return SS_EXEC_FAILED;
}

/*
 * Here is inside the view: a file of the host that it lacks does not exist.
 * name is what messages call the program's word.
 */
static enum ss_err
no_program(const struct ss_command *cmd, const char *word, const char *name,
	struct ss_error *err)
{
	const struct right *right = cmd->policy;
	struct stat st;

	if (right->script != NULL)
		return set_missing("what runs the script", name,
			"its first line names it, as #!/bin/sh does", err);
	if (strchr(word, '/') == NULL)
		return set_missing("the program", name,
			"the operator installs it, or the page names another",
			err);
	if (fstatat(cmd->dir_fd, word, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return set_missing("the program", name,
			"tools see the programs of /usr, the site and what "
			"[grant] lists: the operator installs it there or "
			"grants it; `statespace check` says which",
			err);
	error_set(err, SS_EXEC_FAILED,
		"the program %s is a link to where tools cannot see", name);
	error_hint(err, "`statespace check` says where it leads");
	if (err != NULL)
		err->sys_errno = ENOENT;
	return SS_EXEC_FAILED;
}

/* execve(2), EACCES. */
static enum ss_err
not_executable(const struct ss_command *cmd, int number, struct ss_error *err)
{
	const char *name = name_of(cmd);
	struct stat st;

	error_set(err, SS_EXEC_FAILED, "the program %s cannot be started: %s",
		name, strerror(number));
	if (err != NULL)
		err->sys_errno = number;
	if (number != EACCES ||
		fstatat(cmd->dir_fd, cmd->argv[0], &st, 0) < 0 ||
		!S_ISREG(st.st_mode))
		return SS_EXEC_FAILED;
	if ((st.st_mode & 0111) == 0)
		error_hint(err, "it is not executable: chmod +x %s", name);
	else
		error_hint(err,
			"its owner and mode, or its file system, keep the "
			"tools' account from running it; `statespace check` "
			"says which");
	return SS_EXEC_FAILED;
}

/* execve(2) fails with ENOENT also for a missing interpreter of a script. */
static bool
lacks_interpreter(const struct ss_command *cmd)
{
	return strchr(cmd->argv[0], '/') != NULL &&
		faccessat(cmd->dir_fd, cmd->argv[0], F_OK, 0) == 0;
}

/* The child reported that it did not reach the program. */
static enum ss_err
error_of_start(const struct spawn_result *r, const struct ss_command *cmd,
	struct ss_error *err)
{
	const char *name = name_of(cmd);

	if (r->failed_step != SPAWN_STEP_EXEC)
		return error_internal(err, r->failed_errno, "child: %s",
			spawn_step_name(r->failed_step));
	if (r->failed_errno == ENOENT && lacks_interpreter(cmd))
		return set_missing("what runs the program", name,
			"its first line names it, as #!/bin/sh does", err);
	if (r->failed_errno == ENOENT || r->failed_errno == ENOTDIR)
		return no_program(cmd, cmd->argv[0], name_of(cmd), err);
	if (r->failed_errno == E2BIG)
		return error_set(err, SS_COMMAND_TOO_LARGE,
			"the command is larger than the kernel takes");
	return not_executable(cmd, r->failed_errno, err);
}

static enum ss_err
error_of_end(const struct spawn_result *r, const struct ss_command *cmd,
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
		error_setting(err, "limits.timeout", "%g",
			2 * cmd->timeout_ms / 1000.0);
		return SS_TIMEOUT;
	case SPAWN_OUTPUT:
		error_set(err, SS_OUTPUT_TOO_LARGE,
			"the tool ran and was stopped: it wrote more than %llu "
			"bytes",
			(unsigned long long)cmd->max_output_bytes);
		error_hint(err, "ask for less: a limit, a filter, a range");
		error_setting(err, "limits.max_output_bytes", "%llu",
			4 * (unsigned long long)cmd->max_output_bytes);
		return SS_OUTPUT_TOO_LARGE;
	case SPAWN_GONE: return error_set(err, SS_GONE, "the client left");
	case SPAWN_FAILED: return error_of_start(r, cmd, err);
	}
	return error_internal(err, 0, "spawn ended in no known way");
}

/*
 * The filter answers a system call of another architecture with SIGSYS, and
 * nothing else; a tool's own filter may do so too.
 */
static enum ss_err
error_of_foreign(const struct spawn_result *r, const char *program,
	const struct ss_command *cmd, struct ss_error *err)
{
	if (r->end != SPAWN_SIGNALLED || r->status != SIGSYS ||
		sandbox_self()->level < SANDBOX_LANDLOCK ||
		!program_is_foreign(program))
		return SS_OK;
	error_set(err, SS_EXEC_FAILED,
		"%s is a 32-bit program, whose system calls the sandbox "
		"refuses",
		name_of(cmd));
	error_hint(err,
		"the operator installs it for the architecture of this "
		"server");
	return SS_EXEC_FAILED;
}

/* TMPDIR becomes the scratch directory of this process. */
static enum ss_err
set_tmpdir(struct arena *arena, char *const *envp, char *const **out,
	struct ss_error *err)
{
	const char *scratch = sandbox_self()->scratch;
	size_t n = 0;
	char **copy;

	*out = envp;
	if (scratch == NULL || strcmp(scratch, EXECUTOR_TMPDIR) == 0)
		return SS_OK;
	while (envp[n] != NULL)
		n++;
	copy = arena_array(arena, n + 1, sizeof(*copy));
	if (copy == NULL)
		return error_memory(err);
	for (size_t i = 0; i < n; i++) {
		copy[i] = envp[i];
		if (strncmp(envp[i], "TMPDIR=", 7) == 0)
			copy[i] = arena_join(arena, "TMPDIR", "=", scratch);
		if (copy[i] == NULL)
			return error_memory(err);
	}
	*out = copy;
	return SS_OK;
}

/* The file that runs: the policy's, or the one that the agent's word names. */
static const char *
program_of(const struct right *right, const struct ss_command *cmd, char *found,
	size_t cap)
{
	if (right->ask.program != NULL)
		return right->policy.program;
	if (strchr(cmd->argv[0], '/') != NULL)
		return cmd->argv[0];
	return spawn_find(cmd->argv[0], found, cap) ? found : NULL;
}

/* A built-in tool is a helper program: its bounds come before its words. */
static enum ss_err
use_helper(const struct executor *e, const struct right *right, struct spawn *s,
	struct ss_error *err)
{
	struct tool_bounds bounds;

	if (right->builtin == NULL)
		return SS_OK;
	bounds = rights_bounds(right, e->config);
	bounds.timeout_ms = right->policy.limits.timeout_ms;
	s->reports = true;
	s->argv = tool_argv(e->arena, right->builtin, s->argv, &bounds);
	return s->argv != NULL ? SS_OK : error_memory(err);
}

/* A program of the page's directory is executed relative to it. */
static enum ss_err
find_stage(const struct executor *e, const struct ss_command *cmd, size_t i,
	struct stage *out, struct ss_error *err)
{
	const struct right *right = cmd->policy;
	const struct policy_program *asked = &right->ask.more[i];
	struct tool_bounds bounds = rights_bounds(right, e->config);

	out->name = asked->word;
	out->program = right->policy.more[i];
	if (out->program == NULL)
		return no_program(cmd, asked->name, asked->word, err);
	if (asked->helper == NULL) {
		if (strchr(asked->name, '/') != NULL && asked->name[0] != '/')
			out->program = asked->name;
		return SS_OK;
	}
	out->argv =
		tool_argv(e->arena, tool_find(asked->name), out->argv, &bounds);
	return out->argv != NULL ? SS_OK : error_memory(err);
}

/* The helper's own line; stages have no descriptor to report on. */
static enum ss_err
use_stages(const struct executor *e, const struct right *right,
	const struct ss_command *cmd, struct spawn *s, struct ss_error *err)
{
	struct stage stages[STAGES_MAX];
	size_t count = right->ask.more_count;
	enum ss_err code = SS_OK;

	for (size_t i = 0; i < count && code == SS_OK; i++) {
		stages[i] = (struct stage){ .argv = cmd->stages[i] };
		code = find_stage(e, cmd, i, &stages[i], err);
	}
	if (code != SS_OK)
		return code;
	s->argv = stages_argv(e->arena, stages, count);
	return s->argv != NULL ? SS_OK : error_memory(err);
}

static void
take_result(const struct executor *e, struct ss_result *result)
{
	result->out = buf_view(&e->last.out);
	result->err = buf_view(&e->last.err);
	result->limit = spawn_limit_name(e->last.limit);
	result->run_us = e->last.run_us;
	result->cpu_us = e->last.cpu_us;
	result->memory_bytes = e->last.memory_bytes;
	result->workspace = buf_view(&e->last.workspace);
}

/* An act on a session runs no program; its answer is the output. */
static enum ss_err
run_act(struct executor *e, const struct right *right, struct spawn *s,
	struct ss_result *result, struct ss_error *err)
{
	enum ss_err code;

	s->program = "";
	spawn_result_release(&e->last);
	code = sandbox_run(&right->policy, &right->ruleset, s, &e->last, err);
	executor_cleaned(e);
	result->out = buf_view(&e->last.out);
	result->workspace = buf_view(&e->last.workspace);
	return code;
}

/* In a process that is confined. */
static enum ss_err
run_here(void *ctx, const struct ss_command *cmd, struct ss_result *result,
	struct ss_error *err)
{
	struct executor *e = ctx;
	struct right *right = cmd->policy;
	char found[PATH_MAX];
	struct spawn s = {
		.argv = cmd->argv,
		.dir_fd = cmd->dir_fd,
		.stdin_data = cmd->stdin_data,
		.stdin_len = cmd->stdin_len,
		.stdin_fd = cmd->stdin_fd,
		.client_fd = cmd->client_fd,
		.client_left = e->client.left,
		.client_ctx = e->client.ctx,
		.output = cmd->output,
		.output_ctx = cmd->output_ctx,
		.tick_ms = cmd->tick_ms,
		.has_progress = cmd->has_progress,
		.progress = cmd->progress,
		.workspace = cmd->workspace,
	};
	enum ss_err code = rights_prepare(right, e->grant, err);

	result->unstarted = true;
	result->sandbox = sandbox_level_name(sandbox_self()->level);
	result->memory = sandbox_memory_name(sandbox_self()->memory);
	result->remedy = sandbox_remedy();
	if (code == SS_SANDBOX_UNAVAILABLE)
		executor_cleaned(e);
	if (code == SS_OK)
		code = set_tmpdir(e->arena, cmd->envp, &s.envp, err);
	if (code != SS_OK)
		return code;
	if (s.workspace != NULL && s.workspace->act != WORKSPACE_RUN)
		return run_act(e, right, &s, result, err);
	s.program = program_of(right, cmd, found, sizeof(found));
	if (s.program == NULL)
		return no_program(cmd, cmd->argv[0], name_of(cmd), err);
	s.limits = right->policy.limits;
	code = cmd->stages != NULL ? use_stages(e, right, cmd, &s, err)
				   : use_helper(e, right, &s, err);
	if (code != SS_OK)
		return code;
	spawn_result_release(&e->last);
	result->unstarted = false;
	code = sandbox_run(&right->policy, &right->ruleset, &s, &e->last, err);
	executor_cleaned(e);
	if (code != SS_OK)
		return code;
	take_result(e, result);
	result->unstarted = e->last.end == SPAWN_FAILED &&
		e->last.failed_step != SPAWN_STEP_NONE;
	code = tool_reported(buf_view(&e->last.report), err);
	if (code == SS_OK)
		code = error_of_foreign(&e->last, s.program, cmd, err);
	if (code != SS_OK)
		return code;
	return error_of_end(&e->last, cmd, result, err);
}

/* ------------------------------------------------ in a process of its own -- */

/* What executor_apart passes to the child. */
struct apart {
	const struct executor *executor;
	const struct right *right;
	oneshot_fn fn;
	void *ctx;
};

/*
 * In the child: the descriptors of the parent lead to files outside of the
 * child's mount namespace, so the root and the page's directory are opened
 * again.
 */
static enum ss_err
run_inside(void *ctx, const struct ss_command *cmd, struct oneshot_result *out,
	struct ss_error *err)
{
	const struct apart *a = ctx;
	struct documents *documents = a->executor->documents;
	struct ss_command inside = *cmd;
	enum ss_err code = documents_enter_view(documents, err);

	inside.dir_fd = -1;
	if (code == SS_OK && cmd->dir_fd >= 0)
		code = root_open_at(&documents->root, a->right->ask.page_dir,
			O_PATH | O_DIRECTORY, &inside.dir_fd, err);
	return code == SS_OK ? a->fn(a->ctx, &inside, out, err) : code;
}

enum ss_err
executor_apart(struct executor *e, const struct right *right,
	struct oneshot *oneshot, struct oneshot_result *result,
	struct ss_error *err)
{
	struct apart a = { .executor = e,
		.right = right,
		.fn = oneshot->fn,
		.ctx = oneshot->ctx };
	struct oneshot inside = *oneshot;
	enum ss_err code;

	inside.plan = e->plan;
	inside.keeps = right->powers.keeps;
	inside.fn = run_inside;
	inside.ctx = &a;
	code = oneshot_run(&inside, result, err);
	oneshot->watch = inside.watch;
	oneshot->ended = inside.ended;
	return code;
}

/* run_here, for oneshot_run. */
static enum ss_err
run_tool(void *ctx, const struct ss_command *cmd, struct oneshot_result *out,
	struct ss_error *err)
{
	struct executor *e = ctx;
	struct ss_result result = SS_INIT(ss_result);
	enum ss_err code = run_here(ctx, cmd, &result, err);

	*out = (struct oneshot_result){ .returncode = result.returncode,
		.limit = e->last.limit,
		.run_us = result.run_us,
		.cpu_us = result.cpu_us,
		.memory_bytes = result.memory_bytes,
		.unstarted = result.unstarted };
	if (cmd->workspace != NULL && result.out.len > 0)
		cmd->output(
			cmd->output_ctx, 1, result.out.data, result.out.len);
	if (result.workspace.len > 0)
		cmd->output(cmd->output_ctx, ONESHOT_WORKSPACE,
			result.workspace.data, result.workspace.len);
	return code;
}

/* A run that failed is explained, too: a refusal may be why. */
static enum ss_err
add_explanation(struct executor *e, const struct ss_command *cmd,
	const struct watch *watch, enum ss_err code, struct ss_result *result,
	struct ss_error *err)
{
	const struct right *right = cmd->policy;
	const struct explain run = {
		.watch = watch,
		.plan = e->plan,
		.grant = e->grant,
		.ask = &right->ask,
		.page = cmd->page,
		.failed = code != SS_OK || result->returncode != 0,
	};

	buf_release(&e->refused);
	buf_release(&e->denied);
	e->refused = e->denied = BUF_INIT(REFUSED_MAX);
	if (!explain_print(&run, &e->refused, &e->denied) && !e->refused.full)
		return error_memory(err);
	result->refused = buf_view(&e->refused);
	if (buf_ok(&e->denied))
		result->denied = buf_view(&e->denied);
	return code;
}

static void
take_oneshot(const struct executor *e, const struct oneshot_result *got,
	struct ss_result *result)
{
	const char *remedy = e->plan->remedy;

	result->returncode = got->returncode;
	result->limit = spawn_limit_name(got->limit);
	result->run_us = got->run_us;
	result->cpu_us = got->cpu_us;
	result->memory_bytes = got->memory_bytes;
	result->unstarted = got->unstarted;
	result->sandbox = sandbox_level_name(got->level);
	result->memory = sandbox_memory_name(got->memory);
	result->remedy = remedy[0] != '\0' ? remedy : NULL;
}

static enum ss_err
run_apart(struct executor *e, const struct ss_command *cmd,
	struct ss_result *result, struct ss_error *err)
{
	struct oneshot oneshot = { .fn = run_tool,
		.ctx = e,
		.cmd = cmd,
		.collected = e->collected,
		.workspace = &e->workspace,
		.watched = cmd->explain,
		.last = e->last_run };
	struct oneshot_result got;
	enum ss_err code;

	buf_release(&e->workspace);
	e->workspace = BUF_INIT(WORKSPACE_ANSWER_MAX);
	if (cmd->workspace != NULL) {
		code = workspaces_open_store(
			e->plan, *e->state, e->config, err);
		if (code != SS_OK)
			return code;
	}
	for (size_t i = 0; i < 2; i++) {
		buf_release(&e->collected[i]);
		e->collected[i] = BUF_INIT(cmd->max_output_bytes);
	}
	code = executor_apart(e, cmd->policy, &oneshot, &got, err);
	if (oneshot.ended)
		take_oneshot(e, &got, result);
	result->out = buf_view(&e->collected[0]);
	result->err = buf_view(&e->collected[1]);
	result->workspace = buf_view(&e->workspace);
	if (oneshot.watch != NULL)
		code = add_explanation(
			e, cmd, oneshot.watch, code, result, err);
	watch_free(oneshot.watch);
	return code;
}

static enum ss_err
executor_run(void *ctx, const struct ss_command *cmd, struct ss_result *result,
	struct ss_error *err)
{
	struct executor *e = ctx;

	result->unstarted = e->must_exit;
	if (e->must_exit)
		return error_set(err, SS_SANDBOX_UNAVAILABLE,
			"the tool did not run: this worker is being replaced");
	return e->is_worker ? run_here(ctx, cmd, result, err)
			    : run_apart(e, cmd, result, err);
}

struct ss_executor
executor_table(struct executor *e)
{
	return (struct ss_executor){ .size = sizeof(struct ss_executor),
		.ctx = e,
		.run = executor_run };
}
