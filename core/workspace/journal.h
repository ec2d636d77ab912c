/* SPDX-License-Identifier: MIT */
/*
 * The steps of a commit, as a file of the session: written whole or not at all,
 * and read only if its digest is right.
 */
#ifndef SS_WORKSPACE_JOURNAL_H
#define SS_WORKSPACE_JOURNAL_H

#include "base/buf.h"
#include "base/digest.h"
#include "workspace/workspace.h"

enum step_kind {
	STEP_PUT = '+',    /* rename slot to path, where nothing is */
	STEP_SWAP = '~',   /* exchange slot and path */
	STEP_DROP = '-',   /* rename path to slot */
	STEP_RIGHTS = 'r', /* chmod(2) of path, if it still is inode */
	STEP_MODE = 'm',   /* the same, and it must be */
	STEP_ATTRS = 'a',  /* user.* of path become those of slot */
};

struct step {
	enum step_kind kind;
	unsigned slot; /* its name below the stage */
	/* Of the staged object (PUT, SWAP), else of the one at path. */
	uint64_t inode;
	/* Of what path has before (SWAP, DROP). */
	uint64_t old_inode;
	int64_t old_mtime_ns;
	uint32_t mode, old_mode;
	char digest[DIGEST_HEX + 1]; /* of a staged file; else "-" */
	const char *path;
};

struct journal {
	struct step *steps;
	size_t count, cap;
	struct buf text; /* the paths of one that was read */
};

#define JOURNAL_INIT ((struct journal){ .text = BUF_INIT((size_t)1 << 30) })

/* 0 or ENOMEM. */
int journal_add(struct journal *j, const struct step *step);
/* 0 or errno; afterwards the commit happens. */
int journal_write(int dir, const struct journal *j);
/* 0; ENOENT: there is none; EPROTO: it is damaged; errno. */
int journal_read(int dir, struct journal *j);
void journal_release(struct journal *j);

#endif
