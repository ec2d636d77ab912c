/* SPDX-License-Identifier: MIT */
#include "sandbox/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "base/fd.h"
#include "sandbox/confine.h"
#include "sandbox/launcher_wire.h"
#include "sandbox/sandbox_run.h"
#include "sandbox/sandbox_scratch.h"
#include "sandbox/workspace_use.h"

/* One command, on its connection. */
struct served_run {
	struct channel channel;
	bool act;  /* of a workspace, and no command: out is collected */
	bool lost; /* the worker does not read any more */
};

static void
relay_output(void *ctx, int stream, const char *data, size_t len)
{
	struct served_run *run = ctx;

	if (!run->lost)
		run->lost = channel_send_pieces(&run->channel, (unsigned)stream,
				    data, len) != 0;
}

static void
relay_progress(void *ctx, const char *data, size_t len)
{
	relay_output(ctx, LAUNCHER_PROGRESS, data, len);
}

static void
send_end(const struct served_run *run, const struct spawn_result *r)
{
	struct buf b = BUF_INIT(4096);

	if (r->workspace.len > 0)
		channel_send_pieces(&run->channel, LAUNCHER_WORKSPACE,
			r->workspace.data, r->workspace.len);
	if (run->act)
		channel_send_pieces(
			&run->channel, LAUNCHER_OUT, r->out.data, r->out.len);
	if (launcher_put_end(
		    &b, r, sandbox_clean() && !in_workspace_is_stuck()))
		channel_send(&run->channel, LAUNCHER_END, b.data, b.len);
	buf_release(&b);
}

static void
send_refusal(const struct served_run *run, const struct ss_error *err)
{
	struct buf b = BUF_INIT(8192);

	if (launcher_put_refusal(&b, err))
		channel_send(&run->channel, LAUNCHER_REFUSED, b.data, b.len);
	buf_release(&b);
}

/* Without a private /tmp the worker's scratch is another directory. */
static bool
fix_tmpdir(struct arena *arena, char **envp)
{
	for (; *envp != NULL; envp++)
		if (strncmp(*envp, "TMPDIR=", 7) == 0 &&
			(*envp = arena_printf(arena, "TMPDIR=%s",
				 sandbox_self()->scratch)) == NULL)
			return false;
	return true;
}

static int
open_page_dir(const char *page_dir)
{
	char text[PATH_MAX];
	const char *path = text;
	int at;

	snprintf(text, sizeof(text), "%s/%s", sandbox_self()->site, page_dir);
	at = sandbox_at(&path);
	return openat(at, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/*
 * The site of the command, with its directory open where no view shows it.
 * The plan's root is there from the start.
 */
static bool
move_to_site(const struct sandbox_plan *plan, unsigned number)
{
	static struct sandbox_place own;
	static int open_fd = -1;
	struct sandbox_place place;

	if (number > plan->site_count)
		return false;
	if (own.site == NULL)
		own = sandbox_place();
	place = own;
	if (number > 0) {
		const struct view_site *v = &plan->sites[number - 1];
		bool strict = sandbox_self()->level == SANDBOX_STRICT;

		fd_close(&open_fd);
		if (!strict)
			open_fd = fd_open_straight(v->root);
		if (!strict && open_fd < 0)
			return false;
		place = (struct sandbox_place){ .number = number,
			.site = strict ? v->at : v->root,
			.site_fd = open_fd };
	}
	sandbox_move(&place);
	return true;
}

static const char *
read_command(const struct channel *c, struct arena *arena, size_t *len)
{
	struct channel_head head;
	char *data;

	if (channel_read_head(c, LAUNCHER_COMMAND_MAX, &head) != 0 ||
		head.kind != LAUNCHER_COMMAND ||
		(data = arena_alloc(arena, head.len)) == NULL ||
		channel_read(c, data, head.len) != 0)
		return NULL;
	*len = head.len;
	return data;
}

static enum ss_err
run_command(const struct sandbox_plan *plan, struct arena *arena, int input,
	struct served_run *run, struct spawn_result *result,
	struct ss_error *err)
{
	struct policy p = { .program = NULL };
	struct ruleset rules = RULESET_INIT;
	struct spawn s = { .dir_fd = -1,
		.stdin_fd = input,
		.client_fd = run->channel.fd,
		.output = relay_output,
		.progress = relay_progress,
		.output_ctx = run };
	size_t len;
	const char *data = read_command(&run->channel, arena, &len);
	enum ss_err code;

	if (data == NULL || !launcher_get_command(arena, data, len, &p, &s) ||
		!fix_tmpdir(arena, (char **)(uintptr_t)s.envp))
		return error_internal(err, 0, "launcher: not a command");
	run->act = s.workspace != NULL && s.workspace->act != WORKSPACE_RUN;
	if (!move_to_site(plan, p.site))
		return error_internal(err, errno, "launcher: the site");
	if (s.workspace != NULL)
		return sandbox_run(&p, &rules, &s, result, err);
	s.dir_fd = open_page_dir(p.page_dir);
	if (s.dir_fd < 0)
		return error_internal(
			err, errno, "launcher: the page's directory");
	code = ruleset_make(arena, &p, &rules, err);
	if (code == SS_OK)
		code = sandbox_run(&p, &rules, &s, result, err);
	ruleset_release(&rules);
	fd_close(&s.dir_fd);
	return code;
}

static void
serve_run(const struct sandbox_plan *plan, int connection, int input)
{
	struct served_run run = { .channel = { .fd = connection } };
	struct spawn_result result = { .end = SPAWN_FAILED };
	struct ss_error err = { .code = SS_OK };
	struct arena arena;

	arena_init(&arena, 3 * LAUNCHER_COMMAND_MAX);
	if (run_command(plan, &arena, input, &run, &result, &err) == SS_OK)
		send_end(&run, &result);
	else
		send_refusal(&run, &err);
	spawn_result_release(&result);
	arena_release(&arena);
}

/* Ends with its worker, or when its scratch cannot be emptied. */
static int
launcher_main(void *ctx)
{
	int fds[2];

	while (launcher_receive_run(CONFINE_FIRST_FD, fds)) {
		serve_run(ctx, fds[0], fds[1]);
		fd_close(&fds[0]);
		fd_close(&fds[1]);
		if (!sandbox_clean() || in_workspace_is_stuck())
			break;
	}
	return 0;
}

static unsigned
keeps_of(const struct grant *g)
{
	unsigned keeps = 0;

	if (g == NULL)
		return 0;
	if (g->http || g->network == NETWORK_ALL)
		keeps |= KEEP_NETWORK;
	if (g->unix_sockets.count > 0)
		keeps |= KEEP_UNIX;
	if (g->proc)
		keeps |= KEEP_PROC;
	if (g->workspace.count > 0)
		keeps |= KEEP_WORKSPACE;
	return keeps;
}

unsigned
launcher_keeps(const struct sandbox_plan *plan)
{
	unsigned keeps = keeps_of(plan->grant);

	for (size_t i = 0; i < plan->site_count; i++)
		keeps |= keeps_of(plan->sites[i].grant);
	return keeps;
}

bool
launcher_fork(struct sandbox_plan *plan, int socket, struct cgroup *group,
	struct step *failed)
{
	struct confine_request request = { .level = plan->level,
		.keeps = launcher_keeps(plan),
		.only = socket,
		.group = group,
		.main = launcher_main,
		.ctx = plan };
	pid_t pid;

	return confine_start(plan, &request, &pid, failed);
}
