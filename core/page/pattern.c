/* SPDX-License-Identifier: MIT */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "page/pattern.h"

#include <pcre2.h>
#include <stdlib.h>

#include "base/clock.h"

#define SOURCE_BYTES_MAX ((size_t)64 * 1024)

/*
 * What a search may cost: about half a second at worst.  One limit is not
 * enough, for two reasons.  PCRE2 counts its match limit anew at every place
 * where a search starts, so a search that is not anchored at the start of the
 * word shares the steps between the places.  And one step may scan the word to
 * its end: the steps shrink as words grow.
 */
#define STEPS_MAX 4000000   /* of backtracking, in all */
#define SCANS_MAX 500000000 /* bytes that they scan, from one start */
#define STEPS_FLOOR 100     /* at each start */
#define UNBOUND_BYTES_MAX ((size_t)16 * 1024) /* of an unanchored search */
#define HEAP_KIB_MAX 8192

/*
 * PCRE2's compiled code does not count every step: (a|a)(a|a)... ran for
 * minutes under a limit of ten million.  The interpreter does.  So compiled
 * code is used where uncounted steps cannot multiply: patterns without groups
 * and counted repeats, on words of ordinary length.
 */
#define JIT_BYTES_MAX 256
#define JIT_STACK_MIN ((size_t)32 * 1024)
#define JIT_STACK_MAX ((size_t)512 * 1024)

/* For all searches of one command. */
#define COMMAND_FREE_MS 100 /* before the processor time is looked at */
#define COMMAND_CPU_MS 900  /* after that */

/* The interpreter keeps its memory with the results: up to here. */
#define KEPT_BYTES_MAX 4096

struct pattern {
	pcre2_code *code;
	bool at_start; /* can match only at the start of the word */
};

/*
 * Used by every search of the process, which has one thread: results and
 * limits.  Made with the first pattern, never freed.
 */
static struct {
	pcre2_compile_context *compile;
	pcre2_match_context *match;
	pcre2_match_data *data;
	pcre2_jit_stack *stack; /* NULL: the thread's own, 32 KiB */
} shared;

/* The command whose words are compared; clock_ms() alone makes no call. */
static struct {
	bool counted;
	uint64_t began_ms;
	uint64_t cpu_ms; /* at the end of the free time; 0: it is not over */
} command;

void
pattern_command_begin(void)
{
	command.counted = true;
	command.began_ms = clock_ms();
	command.cpu_ms = 0;
}

void
pattern_command_end(void)
{
	command.counted = false;
}

/* A process that only waited for the processor has not used its time. */
static bool
is_used_up(void)
{
	uint64_t cpu_ms;

	if (!command.counted || clock_ms() - command.began_ms < COMMAND_FREE_MS)
		return false;
	cpu_ms = clock_cpu_ms();
	if (command.cpu_ms == 0)
		command.cpu_ms = cpu_ms > 0 ? cpu_ms : 1;
	return cpu_ms >= command.cpu_ms + COMMAND_CPU_MS;
}

static bool
prepare_shared(void)
{
	if (shared.compile == NULL) {
		shared.compile = pcre2_compile_context_create(NULL);
		if (shared.compile == NULL)
			return false;
		pcre2_set_max_pattern_length(shared.compile, SOURCE_BYTES_MAX);
	}
	if (shared.data == NULL)
		shared.data = pcre2_match_data_create(1, NULL);
	if (shared.match == NULL) {
		shared.match = pcre2_match_context_create(NULL);
		if (shared.match == NULL)
			return false;
		pcre2_set_heap_limit(shared.match, HEAP_KIB_MAX);
		shared.stack = pcre2_jit_stack_create(
			JIT_STACK_MIN, JIT_STACK_MAX, NULL);
		pcre2_jit_stack_assign(shared.match, NULL, shared.stack);
	}
	return shared.data != NULL;
}

static enum ss_err
refuse_source(struct ss_error *err, int number, size_t at, const char *source,
	size_t len)
{
	PCRE2_UCHAR text[160];
	size_t character = 1, n;

	if (number == PCRE2_ERROR_NOMEMORY)
		return error_memory(err);
	if (number == PCRE2_ERROR_HEAP_FAILED)
		return error_memory(err);
	for (size_t i = 0; i < at && i < len; i += n, character++)
		if ((n = utf8_sequence(source + i, len - i)) == 0)
			n = 1;
	if (pcre2_get_error_message(number, text, sizeof(text)) < 0)
		text[0] = '\0';
	return error_set(err, SS_BAD_FRONTMATTER,
		"a regex that is wrong at character %zu: %s", character,
		(const char *)text);
}

enum ss_err
pattern_new(const char *source, size_t len, struct pattern **out,
	struct ss_error *err)
{
	const uint32_t options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY |
		PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UCP;
	struct pattern *p;
	uint32_t found = 0;
	size_t at = 0;
	int number = 0;

	*out = NULL;
	if (len == 0)
		return error_set(err, SS_BAD_FRONTMATTER, "an empty regex");
	if (len > SOURCE_BYTES_MAX)
		return error_set(err, SS_BAD_FRONTMATTER,
			"a regex of more than 65536 bytes");
	p = malloc(sizeof(*p));
	if (p == NULL || !prepare_shared()) {
		free(p);
		return error_memory(err);
	}
	p->code = pcre2_compile(
		(PCRE2_SPTR)source, len, options, &number, &at, shared.compile);
	if (p->code == NULL) {
		free(p);
		return refuse_source(err, number, at, source, len);
	}
	/* Without executable memory PCRE2 falls back to the interpreter. */
	if (memchr(source, '(', len) == NULL &&
		memchr(source, '{', len) == NULL)
		(void)pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE);
	pcre2_pattern_info(p->code, PCRE2_INFO_ALLOPTIONS, &found);
	p->at_start = (found & PCRE2_ANCHORED) != 0;
	*out = p;
	return SS_OK;
}

void
pattern_free(struct pattern *p)
{
	if (p == NULL)
		return;
	pcre2_code_free(p->code);
	free(p);
}

/* Steps at each start of a search in a word of len bytes. */
static uint32_t
steps_for(const struct pattern *p, size_t len)
{
	uint64_t n = len + 1;
	uint64_t starts = p->at_start ? 1 : n;
	uint64_t steps = STEPS_MAX / starts;
	uint64_t scans = SCANS_MAX / n;

	if (!p->at_start)
		scans = scans * 8 / n;
	steps = steps < scans ? steps : scans;
	return steps > STEPS_FLOOR ? (uint32_t)steps : STEPS_FLOOR;
}

static int
match_within(const struct pattern *p, const char *text, size_t len,
	pcre2_match_data *data)
{
	uint32_t steps = steps_for(p, len);

	pcre2_set_match_limit(shared.match, steps);
	pcre2_set_depth_limit(shared.match, steps);
	return pcre2_match(p->code, (PCRE2_SPTR)text, len, 0,
		len > JIT_BYTES_MAX ? PCRE2_NO_JIT : 0, data, shared.match);
}

/*
 * PCRE2 checks the word's UTF-8; an invalid word matches nothing.  Any other
 * error refuses the command, as a limit does.
 */
enum pattern_result
pattern_search(const struct pattern *p, const char *text, size_t len)
{
	pcre2_match_data *data = shared.data;
	int rc;

	if (is_used_up() || (!p->at_start && len > UNBOUND_BYTES_MAX))
		return PATTERN_LIMIT;
	if (len > KEPT_BYTES_MAX)
		data = pcre2_match_data_create(1, NULL);
	if (data == NULL)
		return PATTERN_MEMORY;
	rc = match_within(p, text, len, data);
	if (data != shared.data)
		pcre2_match_data_free(data);
	if (rc >= 0)
		return PATTERN_YES;
	if (rc == PCRE2_ERROR_NOMATCH ||
		(rc <= PCRE2_ERROR_UTF8_ERR1 && rc >= PCRE2_ERROR_UTF8_ERR21))
		return PATTERN_NO;
	return rc == PCRE2_ERROR_NOMEMORY ? PATTERN_MEMORY : PATTERN_LIMIT;
}

/* ---------------------------------------------------------------- lint --- */

/* Is the character at i taken literally, after an odd run of backslashes? */
static bool
is_escaped(const char *source, size_t i)
{
	size_t n = 0;

	while (i > n && source[i - n - 1] == '\\')
		n++;
	return n % 2 == 1;
}

/* Length of the first alternative: up to a | outside of groups and classes. */
static size_t
alternative_len(const char *source, size_t len)
{
	bool in_class = false;
	size_t depth = 0;

	for (size_t i = 0; i < len; i++) {
		if (source[i] == '\\')
			i++;
		else if (in_class)
			in_class = source[i] != ']';
		else if (source[i] == '[') {
			in_class = true;
			/* []...] and [^]...]: the first ] is an ordinary one */
			if (i + 1 < len && source[i + 1] == '^')
				i++;
			if (i + 1 < len && source[i + 1] == ']')
				i++;
		} else if (source[i] == '(')
			depth++;
		else if (source[i] == ')' && depth > 0)
			depth--;
		else if (source[i] == '|' && depth == 0)
			return i;
	}
	return len;
}

/* Where the pattern begins after its inline options, "(?i)". */
static size_t
skip_options(const char *source, size_t len)
{
	size_t i = 2;

	if (len < 3 || source[0] != '(' || source[1] != '?')
		return 0;
	while (i < len && strchr("imnsxJ^-", source[i]) != NULL)
		i++;
	return i < len && source[i] == ')' ? i + 1 : 0;
}

static bool
binds_start(const char *source, size_t len)
{
	return (len > 0 && source[0] == '^') ||
		(len >= 2 && memcmp(source, "\\A", 2) == 0);
}

static bool
binds_end(const char *source, size_t len)
{
	if (len > 0 && source[len - 1] == '$')
		return !is_escaped(source, len - 1);
	return len >= 2 && memcmp(source + len - 2, "\\z", 2) == 0 &&
		!is_escaped(source, len - 2);
}

/* With (?m), ^ and $ bind lines, and a word may hold line breaks. */
struct pattern_anchors
pattern_anchors(const char *source, size_t len)
{
	size_t i = skip_options(source, len), n;
	bool lines = memchr(source, 'm', i) != NULL;
	struct pattern_anchors out = { !lines, !lines, false };

	for (;; i += n + 1) {
		n = alternative_len(source + i, len - i);
		out.start &= binds_start(source + i, n);
		out.end &= binds_end(source + i, n);
		if (i + n >= len)
			return out;
		out.alternatives = true;
	}
}

bool
pattern_is_anchored(const char *source, size_t len)
{
	const struct pattern_anchors a = pattern_anchors(source, len);

	return a.start && a.end;
}
