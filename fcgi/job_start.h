/* SPDX-License-Identifier: MIT */
/*
 * Starting the holder of a job, libexec/statespace-job: apart from this process
 * (setsid(2), another parent), under the tools' account, so that it survives a
 * reload, a restart and the death of the pool.
 *
 * A worker cannot leave its pid namespace: it sends the id, and nothing else,
 * to the process that started it (struct job_post).
 */
#ifndef FCGI_JOB_START_H
#define FCGI_JOB_START_H

#include "options.h"

struct job_starter {
	const struct options *options; /* of this process */
	struct ss_site *site;
};

/* id NULL: it looks at all jobs, and starts those that wait. */
bool job_start(const struct job_starter *starter, const char *id);
/* The words that job_start writes. */
struct job_words {
	struct options options;
	struct ss_account account; /* to be taken by root; uid 0: none */
	const char *id;            /* NULL: all jobs */
};

bool job_read_words(struct job_words *w, int argc, char **argv);

/* The helper program, where it is a part of this one. */
int job_main(int argc, char **argv);

/* Two ends of a socket: workers write ids, their parent reads them. */
struct job_post {
	int ends[2]; /* -1: it could not be made */
};

#define JOB_POST_INIT ((struct job_post){ { -1, -1 } })

void job_post_open(struct job_post *post);
void job_post_close(struct job_post *post);
/* In a worker: jobs of the site are started through it. */
void job_post_attach(struct job_post *post, struct ss_site *site);
/* In the parent: the descriptor to be watched; -1: none. */
int job_post_fd(const struct job_post *post);
/* Starts what has been asked for; at most some of it. */
void
job_post_serve(const struct job_post *post, const struct job_starter *starter);

#endif
