/* SPDX-License-Identifier: MIT */
/*
 * What a session changed, against its folder as it is now: complete, sorted by
 * bytes, with what each path is and was.  An unchanged copy is no change.
 *
 *   Memory      everything is the caller's arena's.
 *   Blocking    reads all changed files, in the session and in the base; not
 *               what was not changed.  Needs no lock, but a tool that runs
 *               meanwhile makes the answer old.
 *   Errors      SS_INTERNAL, its detail names the call.
 */
#ifndef SS_WORKSPACE_CHANGES_H
#define SS_WORKSPACE_CHANGES_H

#include "base/buf.h"
#include "base/digest.h"
#include "workspace/workspace.h"

enum change_kind {
	CHANGE_NONE,
	CHANGE_FILE,
	CHANGE_DIRECTORY,
	CHANGE_LINK, /* symbolic */
	CHANGE_OTHER /* device, pipe, socket: refused */
};

/* One side of a path. */
struct change_side {
	enum change_kind kind;
	uint32_t mode; /* permission bits alone */
	uint64_t size; /* bytes; of a link its target's */
	bool hashed;   /* digest is of the bytes, or of the target */
	uint8_t digest[DIGEST_BYTES];
};

struct change {
	const char *path; /* below the folder; "." is the folder itself */
	char op;          /* 'A', 'M', 'D', or 'R' of changes_pair */
	const char *from; /* of an 'R'; else NULL */
	struct change_side now, was;
	bool content;    /* the bytes, the target or the kind changed */
	bool attributes; /* user.* of xattr(7) changed */
	/* Sentences for the client; NULL: none. */
	const char *conflict; /* the base is not as the session found it */
	const char *refused;  /* commit never applies it */
	const char *note;
	/* Of the base, for commit.c. */
	uint64_t device, inode;
	int64_t ctime_ns, mtime_ns;
	const char *origin; /* of a copy whose original is not at path */
	size_t origin_len;
};

struct changes {
	struct change *items;
	size_t count, cap;
	size_t conflicts, refusals;
	const char **notes; /* about the whole folder */
	size_t note_count;
	/*
	 * Of all of them, before they are paired: commit_apply compares it with
	 * what a person was shown.
	 */
	char digest[DIGEST_HEX + 1];
};

/*
 * Which paths a commit may not touch, beyond dot entries: returns the reason,
 * or NULL.  The path is below the folder.
 */
struct change_rule {
	const char *(*refuse)(void *ctx, const char *path);
	void *ctx;
};

/* rule NULL: none beyond dot entries.  w->base must be open. */
enum ss_err
changes_read(const struct workspace *w, const struct change_rule *rule,
	struct arena *arena, struct changes *out, struct ss_error *err);

/*
 * Makes one 'R' of a deleted and an added file of the same mode and bytes,
 * where exactly one of each has them and they are not empty.  For readers:
 * commit_apply and patch_write pair by themselves or not at all.
 */
enum ss_err
changes_pair(struct changes *c, struct arena *arena, struct ss_error *err);

/*
 * An object: changes, counts, notes, digest, and `next` when there are more.
 *
 * after   the `next` of an earlier page; NULL: from the first.
 * most    of changes on a page; 0: all.
 * Errors  SS_BAD_REQUEST: after is none of ours; SS_INTERNAL.
 */
enum ss_err changes_json(struct buf *out, const struct changes *c,
	const char *after, size_t most, struct ss_error *err);

/* "file", "directory", "link", "other"; "" of none. */
const char *change_kind_name(enum change_kind kind);

#endif
