/* SPDX-License-Identifier: MIT */
/*
 * What a refusal says beside code, message and hint: its class, the rule that
 * decided, whether to try again, and one step that would work
 * (statespace-protocol(7), REFUSALS).
 */
#ifndef SS_WIRE_STEP_H
#define SS_WIRE_STEP_H

#include "base/buf.h"
#include "statespace.h"

enum step_kind {
	STEP_GET,  /* read path */
	STEP_CALL, /* send request */
	STEP_WAIT, /* send the same again, seconds later */
	STEP_ASK   /* who can change it */
};

/* Absent text is NULL. */
struct step {
	enum step_kind kind;
	const char *text; /* one sentence without a full stop */
	const char *path; /* STEP_CALL: of another page than the refused one */
	/* A header that the request needs. */
	const char *header, *header_value;
	struct ss_text request; /* JSON; of STEP_ASK: once who has agreed */
	const char *keep;       /* a member to take over from the refused one */
	unsigned seconds;
	const char *who;       /* "operator", "author", "person" */
	const char *key;       /* of the configuration, or of a tool */
	const char *add, *set; /* an item for its list, or its value */
	const char *page;
	unsigned line;
	const char *command; /* that shows more, in a shell of theirs */
};

/* As the object error.next, and as one line for people. */
void step_json(const struct step *s, struct buf *out);
void step_line(const struct step *s, struct buf *out);
/* The step that the error alone tells; it borrows from err. */
struct step step_of(const struct ss_error *err, const char *page);

/*
 * Appends the members of an error behind its hint, with a comma before each.
 * page, step: as in struct ss_result.
 */
void step_members(const struct ss_error *err, const char *page,
	const char *step, struct buf *out);

#endif
