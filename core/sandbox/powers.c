/* SPDX-License-Identifier: MIT */
#include "sandbox/powers.h"

static const struct wants nothing;

static bool
is_shell(const char *program)
{
	static const char *const shells[] = { "sh", "dash", "bash", "ash",
		"ksh", "zsh", "busybox" };
	const char *slash = strrchr(program, '/');
	const char *name = slash != NULL ? slash + 1 : program;

	for (size_t i = 0; i < ARRAY_LEN(shells); i++)
		if (strcmp(name, shells[i]) == 0)
			return true;
	return false;
}

static void
merge_list(struct name_list *tool, const struct name_list *page)
{
	if (!tool->set)
		*tool = *page;
}

static void
merge_network(struct wants *tool, const struct wants *page)
{
	if (tool->network == NETWORK_UNSET) {
		tool->network = page->network;
		tool->network_targets = page->network_targets;
		tool->network_at = page->network_at;
	}
	if (tool->network == NETWORK_UNSET)
		tool->network = NETWORK_OFF;
}

static void
merge_exec(struct wants *tool, const struct wants *page)
{
	if (tool->exec.set || tool->exec_any)
		return;
	tool->exec = page->exec;
	tool->exec_any = page->exec_any;
	tool->exec_at = page->exec_at;
}

static void
merge_limits(struct wants *tool, const struct wants *page)
{
	if (tool->timeout == 0) {
		tool->timeout = page->timeout;
		tool->timeout_at = page->timeout_at;
	}
	if (tool->memory_bytes == 0) {
		tool->memory_bytes = page->memory_bytes;
		tool->memory_at = page->memory_at;
	}
	if (tool->processes == 0) {
		tool->processes = page->processes;
		tool->processes_at = page->processes_at;
	}
}

/* Each key by itself: the tool's where it has one, else the page's. */
static struct wants
merged(struct wants tool, const struct wants *page)
{
	merge_list(&tool.read, &page->read);
	merge_list(&tool.write, &page->write);
	merge_list(&tool.unix_sockets, &page->unix_sockets);
	merge_exec(&tool, page);
	merge_network(&tool, page);
	merge_limits(&tool, page);
	if (!tool.proc_set) {
		tool.proc = page->proc;
		tool.proc_set = page->proc_set;
		tool.proc_at = page->proc_at;
	}
	tool.workspace = page->workspace;
	return tool;
}

static bool
starts_any(const struct policy_ask *ask, const struct wants *asked)
{
	if (ask->component || asked->exec_any)
		return true;
	for (size_t i = 0; i < ask->more_count; i++)
		if (ask->more[i].helper == NULL && is_shell(ask->more[i].name))
			return true;
	if (ask->helper != NULL)
		return false;
	return ask->program == NULL || is_shell(ask->program);
}

static unsigned
keeps_of(const struct wants *asked, bool http)
{
	bool network = asked->network == NETWORK_ALL || http;

	return (network ? KEEP_NETWORK : 0u) |
		(asked->unix_sockets.count > 0 ? KEEP_UNIX : 0u) |
		(asked->proc ? KEEP_PROC : 0u) |
		(workspace_is_wanted(&asked->workspace) ? KEEP_WORKSPACE : 0u);
}

struct powers
powers_of(const struct policy_ask *ask)
{
	struct powers p = {
		.asked = merged(ask->tool != NULL ? *ask->tool : nothing,
			ask->page != NULL ? ask->page : &nothing),
		.http = ask->http,
	};

	/* Blocks of a page read; the HTTP tool has no files. */
	if (ask->component || ask->http)
		p.asked.workspace.kind = WORKS_UNSET;
	p.any_program = starts_any(ask, &p.asked);
	p.keeps = keeps_of(&p.asked, p.http);
	return p;
}

double
powers_timeout(const struct powers *p, double usual)
{
	return p->asked.timeout > 0 ? p->asked.timeout : usual;
}

bool
powers_only_read(const struct powers *p)
{
	return p->asked.write.count == 0 && p->asked.network == NETWORK_OFF &&
		!p->http && p->asked.unix_sockets.count == 0 &&
		!workspace_is_wanted(&p->asked.workspace);
}
