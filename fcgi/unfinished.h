/* SPDX-License-Identifier: MIT */
/*
 * A request of which a part has come, in a pipe(2), so that another process can
 * read the rest of it (a worker's seccomp filter refuses memfd_create(2)).
 * What is loaded is checked: the process that saved it may lie.
 */
#ifndef FCGI_UNFINISHED_H
#define FCGI_UNFINISHED_H

#include "record.h"

struct unfinished {
	uint64_t begun_us; /* when its first byte came; CLOCK_MONOTONIC */
	uint64_t drained;
	uint64_t params_len;
	uint64_t body_len;
	uint64_t refused; /* 1: a byte of its body was one too many */
};

/*
 * The pipe's reading end, the caller's; -1: no descriptor, or more than a pipe
 * may hold (F_SETPIPE_SZ in fcntl(2)).  Sets params_len.
 */
int unfinished_save(
	struct unfinished *u, const struct record_reader *r, const char *body);
/* All but the body, of which u->body_len bytes follow. */
bool unfinished_load(int fd, struct unfinished *u, struct record_reader *r);
bool unfinished_load_body(int fd, char *body, size_t len);
/* Memory that it takes. */
size_t unfinished_bytes(int fd);

#endif
