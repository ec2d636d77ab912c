/* SPDX-License-Identifier: MIT */
/*
 * The extension io.modelcontextprotocol/tasks (SEP-2663): a call that is a job
 * (site/jobs.h) is answered with a task, whose id is the job's.  Only clients
 * that declare the extension in the request get one.
 */
#ifndef SS_MCP_TASKS_H
#define SS_MCP_TASKS_H

#include "mcp/mcp.h"
#include "site/call_job.h"

#define MCP_TASKS MCP_NAMESPACE "tasks"
/* Of the call, or of the question, that a task keeps. */
#define MCP_TASK_FILE_MAX ((size_t)8 << 20)

/* Are there tasks, in this revision and on this host? */
bool mcp_tasks_possible(const struct mcp *m);
/* Does the request declare that its client reads tasks? */
bool mcp_tasks_offered(const struct mcp *m);
/* RPC_NO_CAPABILITY, with what is missing. */
enum rpc_code mcp_tasks_refuse(struct mcp *m);

/* A tools/call, as the body of a POST that calls the same. */
struct mcp_task_call {
	const char *path; /* of the page */
	const struct spec *spec;
	const struct proto_argument
		*args; /* by name; NULL: the request's words */
	size_t count;
	const struct proto_request *request;
};

/* For call_job.write; ctx is a struct mcp_task_call. */
bool mcp_task_write(void *ctx, struct buf *out);
/*
 * The result of the call that made the job: a task, or what it came to while
 * the page says to wait.
 */
enum rpc_code mcp_task_made(struct mcp *m, const struct call_job *made);

/*
 * The call has asked a person in its result, which begins at `from` in m->out:
 * makes a task that asks the same, and that the result is now.
 */
enum rpc_code
mcp_task_park(struct mcp *m, const struct call_job_of *of, size_t from);

/* What a task that asks keeps of its call and of its question. */
struct site_job;
enum rpc_code mcp_task_open(struct mcp *m, struct site_job *job);
/* Its question as params of a message; rpc_release must follow. */
bool mcp_task_question(const struct site_job *job, struct rpc *out);

/* Methods; task_update.h has the third. */
enum rpc_code mcp_tasks_get(struct mcp *m);
enum rpc_code mcp_tasks_cancel(struct mcp *m);

#endif
