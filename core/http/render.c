/* SPDX-License-Identifier: MIT */
#include "http/render.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "page/markdown.h"

/* The child's last byte; a child that was killed sends none. */
enum { LAST_DONE = '\001', LAST_NO_MEMORY = '\002' };

/*
 * SIGPROF kills the child at its budget; RLIMIT_CPU, in whole seconds, does
 * where setitimer(2) fails.
 */
static bool
child_limit(unsigned budget_ms)
{
	const struct rlimit seconds = { budget_ms / 1000 + 2,
		budget_ms / 1000 + 2 };
	const struct itimerval budget = {
		.it_value = { .tv_sec = budget_ms / 1000,
			.tv_usec = budget_ms % 1000 * 1000 }
	};
	sigset_t ours;

	sigemptyset(&ours);
	sigaddset(&ours, SIGPROF);
	return signal(SIGPROF, SIG_DFL) != SIG_ERR &&
		sigprocmask(SIG_UNBLOCK, &ours, NULL) == 0 &&
		setrlimit(RLIMIT_CPU, &seconds) == 0 &&
		setitimer(ITIMER_PROF, &budget, NULL) == 0;
}

static _Noreturn void
child_main(struct ss_text text, const char *base, unsigned budget_ms,
	size_t most, pid_t parent, int fd)
{
	struct buf html = BUF_INIT(most);
	char last;

	signal(SIGPIPE, SIG_DFL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent ||
		!child_limit(budget_ms))
		_exit(1);
	markdown_html(text, base, &html);
	if (html.full)
		_exit(1);
	if (!html.failed)
		fd_write_all(fd, html.data, html.len);
	last = html.failed ? LAST_NO_MEMORY : LAST_DONE;
	fd_write_all(fd, &last, 1);
	_exit(0);
}

/* False: the child was killed. */
static bool
render_in_child(struct ss_text text, const char *base, unsigned budget_ms,
	struct buf *out)
{
	struct buf html = BUF_INIT(out->max + 1);
	pid_t parent = getpid(), pid;
	int ends[2];
	char last;

	if (fd_pipe(ends) != 0)
		return false;
	pid = fork();
	if (pid == 0)
		child_main(text, base, budget_ms, out->max, parent, ends[1]);
	fd_close(&ends[1]);
	if (pid > 0)
		fd_read_all(ends[0], &html);
	fd_close(&ends[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	last = html.len > 0 ? html.data[html.len - 1] : '\0';
	if (last == LAST_DONE)
		buf_add(out, html.data, html.len - 1);
	out->failed |= html.failed || last == LAST_NO_MEMORY;
	buf_release(&html);
	return last == LAST_DONE || out->failed;
}

void
render_markdown(struct ss_text text, const char *base,
	const struct render_limits *limits, struct buf *out)
{
	static const struct render_limits usual = { RENDER_BYTES_HERE,
		RENDER_BUDGET_MS };

	if (limits == NULL)
		limits = &usual;
	if (text.len <= limits->bytes_here)
		markdown_html(text, base, out);
	else if (!render_in_child(text, base, limits->budget_ms, out))
		markdown_plain(text, out);
}
