/* SPDX-License-Identifier: MIT */
/*
 * What replaces a block, by how its run ended (statespace-page(7),
 * Components). The runs are made up here; tests/web/component.t has real ones.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "site/component.h"
#include "tap.h"

static struct buf out = BUF_INIT(1 << 20);

/* What a run that ended so becomes, with 5 s for one and 30 s for all. */
static const char *
shown(enum spawn_end end, int status, const char *said, const char *complained,
	uint64_t run_us)
{
	struct spawn_result r = { .end = end,
		.status = status,
		.out = BUF_INIT(1 << 20),
		.err = BUF_INIT(1 << 20),
		.failed_errno = E2BIG,
		.run_us = run_us };

	buf_text(&r.out, said);
	buf_text(&r.err, complained);
	buf_clear(&out);
	component_result(&out, &r, 5.0, 30.0);
	spawn_result_release(&r);
	return out.data;
}

static void
test_output(void)
{
	is_str(" a\n b",
		shown(SPAWN_EXITED, 0, " a\n b \t\r\n\v\f\n", "noise", 1),
		"white space goes from the end, from nowhere else");
	is_str("", shown(SPAWN_EXITED, 0, "", "noise", 1),
		"what a block that succeeds complains of is dropped");
	is_str("x\xef\xbf\xbdy\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
		shown(SPAWN_EXITED, 0, "x\xffy\xe2\x82z\xed\xa0\x80", "", 1),
		"each ill-formed part becomes one U+FFFD");
	is_str("kept", shown(SPAWN_OUTPUT, 0, "kept", "", 1),
		"what reached the ceiling is kept and is no failure");
	is_str("", shown(SPAWN_GONE, 0, "x", "", 1),
		"nobody reads what a client left behind");
}

static void
test_failure(void)
{
	is_str("[eval error: exit 3 \xe2\x80\x94 why]",
		shown(SPAWN_EXITED, 3, "out", "\n why \n", 1),
		"a failure says stderr, trimmed on both sides");
	is_str("[eval error: exit 3 \xe2\x80\x94 out]",
		shown(SPAWN_EXITED, 3, " out\n", " \n", 1),
		"or stdout when stderr is blank");
	is_str("[eval error: exit 255]", shown(SPAWN_EXITED, 255, "", "", 1),
		"or its code alone");
	is_str("[eval error: exit 137]",
		shown(SPAWN_SIGNALLED, SIGKILL, "", "", 1),
		"a signal counts as the shell counts");
	is_str("[eval error: exit 126 \xe2\x80\x94 Argument list too long]",
		shown(SPAWN_FAILED, 0, "", "", 0),
		"one that never ran says why");
}

static void
test_time(void)
{
	is_str("[eval error: timed out after 5s]",
		shown(SPAWN_TIMEOUT, 0, "x", "y", 5000000),
		"its own time was over");
	is_str("[eval error: timed out after 30s]",
		shown(SPAWN_TIMEOUT, 0, "x", "y", 4999999),
		"the time of all was over before");
	is_str("[eval error: timed out after 30s]",
		shown(SPAWN_TIMEOUT, 0, "", "", 0),
		"the time of all was over before it began");
}

/* A detail of n digits and then tail; kept says how many are shown. */
static void
is_cut(size_t n, const char *tail, size_t kept, bool dots, const char *sentence)
{
	char said[512], wanted[512];

	snprintf(said, sizeof(said), "%0*d%s", (int)n, 0, tail);
	snprintf(wanted, sizeof(wanted),
		"[eval error: exit 1 \xe2\x80\x94 %.*s%s]", (int)kept, said,
		dots ? "\xe2\x80\xa6" : "");
	is_str(wanted, shown(SPAWN_EXITED, 1, "", said, 1), "%s", sentence);
}

static void
test_cut(void)
{
	is_cut(200, "", 200, false, "200 bytes of detail are whole");
	is_cut(201, "", 200, true, "the 201st is not shown");
	is_cut(198, "\xc3\xa9", 200, false, "a character that fits is whole");
	is_cut(199, "\xc3\xa9", 199, true, "one that does not fit is left out");
	is_cut(198, "\xe2\x82\xac", 198, true, "so is one of three bytes");
	is_cut(197, "\xf0\x9f\x98\x80", 197, true, "and one of four");
	is_cut(196, "\xf0\x9f\x98\x80x", 200, true,
		"and one of four that fits");
}

int
main(void)
{
	test_output();
	test_failure();
	test_time();
	test_cut();
	buf_release(&out);
	return done();
}
