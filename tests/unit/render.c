/* SPDX-License-Identifier: MIT */
/*
 * render: a text takes no more processor time than its budget, whatever it
 * is; what did not get ready is shown as it is.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "page/markdown.h"
#include "http/render.h"
#include "tap.h"

static struct buf html = BUF_INIT((size_t)64 << 20);
static const struct render_limits patient = { 0, 60000 }, hasty = { 0, 1 };

static const char *
show(struct ss_text text, const struct render_limits *limits)
{
	buf_clear(&html);
	render_markdown(text, "x/", limits, &html);
	return html.data;
}

static bool
is_plain(void)
{
	return strstr(html.data, "<pre class=\"plain\"") != NULL;
}

/* The same piece over and over. */
static struct ss_text
many(const char *piece)
{
	static char text[MARKDOWN_BYTES_MAX / 8];
	size_t n = strlen(piece), at = 0;

	for (; at + n <= sizeof(text); at += n)
		memcpy(text + at, piece, n);
	return (struct ss_text){ text, at };
}

static void
test_same(void)
{
	struct ss_text text = TEXT("# A\n\n[b](c) *d* &\n");
	char here[256];

	snprintf(here, sizeof(here), "%s", show(text, NULL));
	is_str(here, show(text, &patient),
		"a child renders what this process does");
	ok(strstr(here, "href=\"x/c\"") != NULL, "its links are moved");
	is_int(-1, waitpid(-1, NULL, WNOHANG), "no child is left");
	is_int(ECHILD, errno, "not even a dead one");
}

static void
test_budget(void)
{
	struct ss_text text = many("[a](b) *c*\n\n");

	show(text, &patient);
	ok(buf_ok(&html) && !is_plain() && html.len > text.len,
		"a long text is rendered within a large budget");
	show(text, &hasty);
	ok(buf_ok(&html) && is_plain(), "but not within a small one");
	ok(strstr(html.data, "takes too long") != NULL, "the reader is told");
	is_int(-1, waitpid(-1, NULL, WNOHANG), "and no child is left");
}

/* Signals of the worker do not keep a child alive. */
static void
test_blocked(void)
{
	sigset_t all, old;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	signal(SIGPROF, SIG_IGN);
	show(many("[a](b) *c*\n\n"), &hasty);
	ok(is_plain(), "a blocked and ignored SIGPROF ends it all the same");
	signal(SIGPROF, SIG_DFL);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static void
test_no_descriptor(void)
{
	struct rlimit old, none;

	getrlimit(RLIMIT_NOFILE, &old);
	none = (struct rlimit){ 0, old.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	show(TEXT("*a*\n"), &patient);
	setrlimit(RLIMIT_NOFILE, &old);
	ok(is_plain(), "without a pipe the text is shown as it is");
}

int
main(void)
{
	test_same();
	test_budget();
	test_blocked();
	test_no_descriptor();
	buf_release(&html);
	return done();
}
