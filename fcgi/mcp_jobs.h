/* SPDX-License-Identifier: MIT */
/*
 * The messages of `statespace mcp` that may run a program: each in a confined
 * process, so that further lines, cancellations above all, are read meanwhile.
 * What a process answers goes to standard output.  A process that is clean after
 * its message waits for another one, as a worker of a pool does.
 */
#ifndef FCGI_MCP_JOBS_H
#define FCGI_MCP_JOBS_H

#include <poll.h>

#include "job_start.h"
#include "kept.h"
#include "lines.h"
#include "statespace.h"

#define MCP_JOBS_TOOLS 8
#define MCP_JOBS_MAX (MCP_JOBS_TOOLS + 2) /* two places are for pages alone */
#define MCP_JOBS_IDLE 2 /* processes that wait for a message */
#define MCP_JOBS_ALL (MCP_JOBS_MAX + MCP_JOBS_IDLE)
#define MCP_JOBS_FDS ((size_t)2 * MCP_JOBS_ALL + 1)

struct mcp_job {
	struct ss_child child; /* pid 0: this place is free */
	int fd;                /* its lines come here; -1: cancelled */
	char id[256];          /* as JSON, or "#" and a digest */
	char question[64];     /* the id of its open question, as JSON; or "" */
	bool idle;             /* its message is done, it waits for another */
	unsigned asks;         /* of mcp_jobs, when it was started */
	bool tool;             /* it runs one, and no page's components */
	bool answered;         /* the last line was a response */
	struct lines in;
};

struct mcp_jobs {
	struct ss_site *site;
	int null; /* /dev/null */
	struct job_post post;
	struct job_starter starter;
	struct kept kept; /* what tools wrote: a ring for each process */
	unsigned asks;    /* whom the client can ask: SS_MCP_ASKS_... */
	struct mcp_job all[MCP_JOBS_ALL];
	size_t running, tools; /* jobs, and those of them that run a tool */
	size_t idle;           /* beside those that are running */
};

/* Is there a place for a page, or for a tool? */
bool mcp_jobs_has_place(const struct mcp_jobs *jobs, bool page);
/* Runs a message; there is a place for it. */
void mcp_jobs_start(struct mcp_jobs *jobs, const char *message, size_t len,
	const struct ss_mcp_glance *glance);
/* The request of that id has no answer from here on. */
void mcp_jobs_cancel(struct mcp_jobs *jobs, const char *id);
/* A response goes to the job that asked the question of that id, once. */
void mcp_jobs_respond(
	struct mcp_jobs *jobs, const char *id, const char *line, size_t len);

/* What poll(2) watches, and for how long at most instead of timeout_ms. */
int
mcp_jobs_watch(const struct mcp_jobs *jobs, struct pollfd *fds, int timeout_ms);
/* After it. */
void mcp_jobs_serve(struct mcp_jobs *jobs, const struct pollfd *fds);
/* Ends all. */
void mcp_jobs_kill(struct mcp_jobs *jobs);

/* An error of JSON-RPC on standard output; id as JSON, or "" for none. */
void mcp_jobs_error(const char *id, int code, const char *message);

#endif
