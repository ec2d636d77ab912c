/* SPDX-License-Identifier: MIT */
/*
 * statespace fsworker: reads, writes, edits and searches the files below one
 * directory for a host that sends frames, over standard input and output or
 * over a Unix socket.  It is confined as a tool's worker is.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "options.h"
#include "say.h"

static const char usage[] =
	"usage: statespace fsworker [-c FILE] [-e K=V]... [--env-file F]\n"
	"                           [--socket PATH] [--root DIR]\n";

enum { OPTION_SOCKET = OPTION_OWN, OPTION_ROOT };

struct fsworker {
	struct options options;
	const char *socket_path; /* NULL: standard input and output */
	int listener;
	struct ss_site *site;
};

/* -------------------------------------------------------- in the worker -- */

static int
say_end(int number)
{
	if (number == 0)
		return 0;
	if (number == ENOTSUP)
		say("fsworker: this system cannot confine it: see `statespace "
		    "doctor`");
	else if (number == EPROTO)
		say("fsworker: a frame is cut or too long");
	else
		say("fsworker: %s", strerror(number));
	return number == ENOTSUP ? EXIT_REFUSED : 1;
}

/* One peer after the other: a bad frame ends one connection, no more. */
static int
serve_socket(const struct fsworker *job)
{
	bool over = false;
	int peer, number;

	while (!over) {
		peer = accept4(job->listener, NULL, NULL, SOCK_CLOEXEC);
		if (peer < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (peer < 0)
			return say_end(errno);
		number = ss_site_fsworker(job->site, peer, peer, &over);
		close(peer);
		if (number == ENOTSUP)
			return say_end(number);
		say_end(number);
	}
	return 0;
}

static int
worker_main(void *ctx)
{
	const struct fsworker *job = ctx;
	bool over;

	signal(SIGPIPE, SIG_IGN);
	if (job->listener >= 0)
		return serve_socket(job);
	return say_end(ss_site_fsworker(
		job->site, STDIN_FILENO, STDOUT_FILENO, &over));
}

/* ---------------------------------------------------------- its parent -- */

static bool
listen_at(struct fsworker *job)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	mode_t old;
	int bound;

	if (strlen(job->socket_path) >= sizeof(name.sun_path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	strcpy(name.sun_path, job->socket_path);
	job->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (job->listener < 0)
		return false;
	old = umask(0177);
	bound = bind(job->listener, (struct sockaddr *)&name, sizeof(name));
	umask(old);
	return bound == 0 && listen(job->listener, 16) == 0;
}

static volatile sig_atomic_t worker_pid;

/* It is pid 1 of its own namespace: nothing else reaches it. */
static void
on_signal(int number)
{
	(void)number;
	if (worker_pid > 0)
		kill(worker_pid, SIGKILL);
}

static int
wait_worker(pid_t pid)
{
	struct sigaction end = { .sa_handler = on_signal };
	int status;

	worker_pid = pid;
	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGHUP, &end, NULL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILURE;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The host may change everything below the root. */
static bool
open_site(struct fsworker *job, struct ss_error *err)
{
	if (job->options.root == NULL)
		job->options.root = ".";
	if (!options_add(&job->options, "grant.write", "[\".\"]"))
		return false;
	job->site = options_site(&job->options, err);
	return job->site != NULL && ss_site_open(job->site, err) == SS_OK;
}

static int
take_arguments(struct fsworker *job, int argc, char **argv)
{
	static const struct option table[] = { OPTIONS_LONG,
		{ "socket", required_argument, NULL, OPTION_SOCKET },
		{ "root", required_argument, NULL, OPTION_ROOT },
		{ NULL, 0, NULL, 0 } };
	int option, status;

	while ((option = getopt_long(argc, argv, OPTIONS_SHORT, table, NULL)) !=
		-1) {
		if (option == OPTION_SOCKET) {
			job->socket_path = optarg;
		} else if (option == OPTION_ROOT) {
			job->options.root = optarg;
		} else {
			status = options_take(&job->options, option, optarg);
			if (status >= 0)
				return status;
		}
	}
	if (optind < argc)
		return options_misused(&job->options, "there is no operand");
	return -1;
}

int
cmd_fsworker(int argc, char **argv)
{
	struct fsworker job = { .options = { .usage = usage }, .listener = -1 };
	struct ss_error err = { 0 };
	int status = take_arguments(&job, argc, argv);
	struct ss_child child;

	if (status >= 0)
		return status;
	status = EXIT_FAILURE;
	if (!open_site(&job, &err))
		goto refused;
	if (job.socket_path != NULL && !listen_at(&job)) {
		say("fsworker: %s: %s", job.socket_path, strerror(errno));
		goto out;
	}
	if (ss_site_fork(job.site, SS_FORK_LAUNCHER | SS_FORK_MEMORY,
		    worker_main, &job, &child, &err) != SS_OK)
		goto refused;
	if (job.listener >= 0)
		close(job.listener);
	status = wait_worker(child.pid);
	goto out;
refused:
	status = options_failed(&err, EXIT_FAILURE);
out:
	if (job.listener >= 0)
		unlink(job.socket_path);
	ss_site_free(job.site);
	return status;
}
