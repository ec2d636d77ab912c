/* SPDX-License-Identifier: MIT */
/*
 * A tool of a page: its parts and its keys (statespace-page(7), Tools).  Reads
 * nodes, knows neither YAML nor TOML.  match.h says what it allows.
 */
#ifndef SS_PAGE_SPEC_H
#define SS_PAGE_SPEC_H

#include "base/buf.h"
#include "page/ask.h"
#include "page/part.h"
#include "page/wants.h"

/* Parts of one tool that may be absent. */
#define SPEC_OPTIONAL_MAX 64
#define SPEC_ARGUMENT_MAX 128
/* Of a part of the output of a tool that has only `lines`, and the fewest. */
#define SPEC_PART_BYTES 65536
#define SPEC_PART_BYTES_MIN 16

/* How a tool tells its progress. */
enum spec_progress {
	SPEC_PROGRESS_NONE,
	SPEC_PROGRESS_STDERR, /* by lines of its standard error */
	SPEC_PROGRESS_FD      /* by lines on a descriptor of its own */
};

/* When a call of a tool becomes a job. */
enum spec_job {
	SPEC_JOB_NEVER,
	SPEC_JOB_ASKED,   /* when its caller asks for one */
	SPEC_JOB_LONG,    /* the same, and when it runs longer than job_after */
	SPEC_JOB_REQUIRED /* always */
};

/* Of SPEC_JOB_LONG, where the page does not say it. */
#define SPEC_JOB_AFTER_S 10.0

struct spec {
	struct part *parts;
	size_t part_count;
	struct argument **arguments; /* of the parts, each once */
	size_t argument_count;
	size_t optional_count; /* of the parts */
	bool plain;            /* each part is one word, and none is optional */
	bool locked;           /* ended with ; */
	const char *name, *title, *description, *version, *output;
	bool takes_stdin;
	bool confirm;
	bool once;            /* a call must have a key */
	const char *question; /* that confirm: asks; NULL: the command */
	const struct ask *asks;
	size_t ask_count;
	struct name_list env; /* narrows the page's */
	struct wants wants;
	uint64_t max_running; /* 0: no limit */
	/* Of a part of its output; both 0: it comes whole. */
	uint64_t part_lines, part_bytes;
	enum spec_progress progress;
	enum spec_job job;
	double job_after; /* seconds */
	/*
	 * What runs, where callers do not send it (stages.h): the stages of a
	 * pipe, or the arguments of a script as the parts of one.  They have
	 * the tool's arguments, and parts of their own.
	 */
	struct spec *stages;
	size_t stage_count;
	const char *script; /* its path; NULL: none */
	unsigned line, column;
};

/*
 * Reads one entry of `tools:`.  Everything in *out lives in arena, except the
 * patterns, which spec_release frees.
 * Errors  SS_BAD_FRONTMATTER with line, column, found, expected, hint.
 */
enum ss_err
spec_parse(const struct reading *r, const struct node *entry, struct spec *out);
void spec_release(struct spec *s);

/*
 * The value of a key `job`: true, false, auto, required or {after: SECONDS};
 * *job stays when it is none of them, and is refused unless `lenient`.
 */
enum ss_err spec_read_job(const struct reading *r, const struct node *n,
	bool lenient, enum spec_job *job, double *after);

/* The value of `once:`, of a tool or of a page. */
enum ss_err
spec_parse_once(const struct reading *r, const struct node *n, bool *out);
/* Does its output come in parts? */
bool spec_has_parts(const struct spec *s);
/* For stages.h: the parts of one list, without its arguments' numbers. */
enum ss_err spec_parse_parts(
	const struct reading *r, const struct node *list, struct spec *out);

/*
 * The lists of parts that become words of programs: the stages, else the tool
 * itself.
 */
const struct spec *spec_commands(const struct spec *s, size_t *count);

/* The first part that has the argument. */
const struct part *spec_part(const struct spec *s, const struct argument *a);
/* May a call leave the argument out? */
bool spec_may_omit(const struct spec *s, const struct argument *a);
/* Its description, else that of the word that it is in; NULL: none. */
const char *spec_describe(const struct spec *s, const struct argument *a);

/* The tool as its author wrote it, in one line: [cat, {}, ;] */
bool spec_print(const struct spec *s, struct buf *out);
/* The same without descriptions: equal where the same commands match. */
bool spec_identify(const struct spec *s, struct buf *out);
/*
 * The same, shorter, for people and models: placeholders by name, "…" for a
 * script, a long word and the end of a long command.
 */
bool spec_outline(const struct spec *s, struct buf *out);
/* Names this part, or the tool (NULL), as what decided an error. */
void
spec_rule(const struct spec *s, const struct part *p, struct ss_error *err);

#endif
