/* SPDX-License-Identifier: MIT */
/*
 * statespace serve: a directory on a port of this machine, with a private
 * nginx (or lighttpd) in front of a pool, for as long as this process lives.
 *
 *	serve --- the pool's supervisor --- workers
 *	      \-- nginx                 --- its workers
 *
 * The port is bound here and inherited by the front, so that port 0 gets its
 * number, and a taken port its message, at once.  Nothing is written into the
 * served directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "front_config.h"
#include "listen.h"
#include "options.h"
#include "pool.h"
#include "run_dir.h"
#include "say.h"
#include "served.h"
#include "sys.h"
#include "time_limits.h"

#define BACKLOG 511
#define START_S 15
#define SECOND UINT64_C(1000000) /* of sys_clock_us */
#define STOP_S 6                 /* for a process without requests */

static const char usage[] =
	"usage: statespace serve [-h HOST] [-p PORT] [-c FILE] [--timeout SECS]\n"
	"                        [-e K=V]... [--env-file F] [--front FRONT]\n"
	"                        [--workers N] [--allow-no-readme] [DIR]\n";

enum {
	OPTION_HOST = 'h',
	OPTION_PORT = 'p',
	OPTION_FRONT = OPTION_OWN,
	OPTION_ALLOW_NO_README
};

static const struct option long_options[] = { OPTIONS_LONG,
	{ "host", required_argument, NULL, OPTION_HOST },
	{ "port", required_argument, NULL, OPTION_PORT },
	{ "front", required_argument, NULL, OPTION_FRONT },
	{ "allow-no-readme", no_argument, NULL, OPTION_ALLOW_NO_README },
	{ 0 } };

struct serve {
	struct options options;
	bool allow_no_readme;
	struct served *served;
	struct ss_account account;
	struct run_dir run;
	struct listener web;    /* what clients connect to */
	struct listener socket; /* what the front connects to */
	struct listener status; /* the same for health and figures */
	char address[128];
	struct front server; /* nginx or lighttpd */
	pid_t pool, front;
	sigset_t open; /* the mask while waiting */
};

static volatile sig_atomic_t asked_stop, asked_reload;

static void
on_signal(int number)
{
	if (number == SIGHUP)
		asked_reload = 1;
	else if (number != SIGCHLD)
		asked_stop = 1;
}

/* SIGHUP of a terminal ends the process; elsewhere it asks for a reload. */
static void
set_signals(struct serve *s)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGQUIT, SIGHUP,
		SIGCHLD };

	sys_block_signals(numbers, ARRAY_LEN(numbers), on_signal, &s->open);
	if (isatty(STDIN_FILENO))
		signal(SIGHUP, SIG_DFL);
}

/* ------------------------------------------------------------ the site -- */

/* A missing directory is left to served_new, whose message is better. */
static bool
lacks_page(const char *root, const char *name)
{
	char path[PATH_MAX];
	struct stat st;
	int n = snprintf(path, sizeof(path), "%s/%s", root, name);

	if (stat(root, &st) < 0 || !S_ISDIR(st.st_mode))
		return false;
	return n < 0 || (size_t)n >= sizeof(path) || stat(path, &st) < 0 ||
		!S_ISREG(st.st_mode);
}

/* The root page is README.md, else API.md. */
static bool
lacks_root_page(const char *root)
{
	return lacks_page(root, "README.md") && lacks_page(root, "API.md");
}

/* Without a directory on the command line or in the file: the current one. */
static enum ss_err
open_site(struct serve *s, struct ss_error *err)
{
	struct ss_site *site = options_site(&s->options, err);
	const char *root = site != NULL ? ss_site_option(site, "root") : NULL;

	bool several = site != NULL && options_has_sites(site);

	if (site != NULL && !several && (root == NULL || *root == '\0'))
		s->options.root = root = ".";
	/* mcp.enabled = auto: on for a person at this machine. */
	if (site != NULL &&
		strcmp(ss_site_option(site, "mcp.enabled"), "auto") == 0)
		options_add(&s->options, "mcp.enabled", "true");
	if (site != NULL && *root != '\0' && !s->allow_no_readme &&
		lacks_root_page(root))
		say_refusal(err, SS_CONFIG,
			"%s has no README.md, so it is no site; name one, or "
			"use --allow-no-readme",
			root);
	ss_site_free(site);
	if (site == NULL || err->code != SS_OK)
		return err->code;
	s->served = served_new(&s->options, NULL, err);
	if (s->served != NULL)
		s->account = ss_site_account(s->served->site);
	return err->code;
}

/* ------------------------------------------------- the two processes -- */

static enum ss_err
start_front(struct serve *s, struct ss_error *err)
{
	s->front = fork();
	if (s->front == 0)
		front_become(&s->server, &s->run, s->web.fd, &s->open);
	return s->front > 0
		? SS_OK
		: say_refusal(err, SS_INTERNAL, "fork: %s", strerror(errno));
}

/* In a process group of its own: a terminal signals the other one. */
static enum ss_err
start_pool(struct serve *s, struct ss_error *err)
{
	pid_t parent = getpid();

	s->pool = fork();
	if (s->pool < 0)
		return say_refusal(
			err, SS_INTERNAL, "fork: %s", strerror(errno));
	if (s->pool > 0)
		return SS_OK;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_FAULT);
	close(s->web.fd);
	_exit(pool_run(s->served, &s->options, &s->socket, &s->status));
}

/* ----------------------------------------------------- while they run -- */

/* Reaps; true when both still run. */
static bool
both_run(struct serve *s, bool telling)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		const char *who = pid == s->front ? s->server.name : "the pool";

		if (pid == s->front) {
			/* Its workers, if it has not ended them. */
			kill(-pid, SIGTERM);
			s->front = 0;
		} else if (pid == s->pool) {
			s->pool = 0;
		} else {
			continue;
		}
		if (telling && WIFSIGNALED(status))
			say("%s was ended by signal %d; stopping", who,
				WTERMSIG(status));
		else if (telling)
			say("%s ended with status %d; stopping", who,
				WEXITSTATUS(status));
	}
	return s->front != 0 && s->pool != 0;
}

/* A request that the front answers by itself: any answer will do. */
static int
send_probe(const struct serve *s)
{
	static const char probe[] = "GET\r\n\r\n";
	struct sockaddr_storage to = { 0 };
	socklen_t len = sizeof(to);
	int fd;

	if (getsockname(s->web.fd, (struct sockaddr *)&to, &len) < 0)
		return -1;
	fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&to, len) == 0 &&
		send(fd, probe, sizeof(probe) - 1, MSG_NOSIGNAL) > 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool
wait_until_up(struct serve *s)
{
	struct pollfd answer = { .fd = send_probe(s), .events = POLLIN };
	const struct timespec step = { .tv_sec = 1 };
	uint64_t end = sys_clock_us() + START_S * SECOND;
	bool up = false;

	while (!up && !asked_stop && sys_clock_us() < end && both_run(s, true))
		up = ppoll(&answer, 1, &step, &s->open) > 0;
	if (answer.fd >= 0)
		close(answer.fd);
	if (!up && !asked_stop && s->front != 0 && s->pool != 0)
		say("%s does not answer; stopping", s->server.name);
	return up;
}

static void
signal_child(pid_t pid, int signal_number)
{
	if (pid > 0)
		kill(pid, signal_number);
}

/* True when both have ended in time. */
static bool
wait_for_end(struct serve *s, unsigned seconds)
{
	const struct timespec step = { .tv_nsec = 200000000 };
	uint64_t end = sys_clock_us() + seconds * SECOND;

	while (s->front != 0 || s->pool != 0) {
		both_run(s, false);
		if (s->front == 0)
			signal_child(s->pool, SIGTERM);
		if ((s->front == 0 && s->pool == 0) || asked_stop ||
			sys_clock_us() >= end)
			break;
		ppoll(NULL, 0, &step, &s->open);
	}
	return s->front == 0 && s->pool == 0;
}

/*
 * The front first: it stops accepting and finishes its requests; the pool is
 * told to stop when the front has ended.  A front that idle clients hold does
 * not hold the pool, which finishes its requests.  A second signal does not
 * wait.
 */
static void
stop_both(struct serve *s)
{
	unsigned patience = s->served != NULL
		? (unsigned)time_limits_stop(s->served->site) + STOP_S
		: STOP_S;

	asked_stop = 0;
	signal_child(s->front, s->server.stop);
	if (wait_for_end(s, STOP_S))
		return;
	signal_child(s->pool, SIGTERM);
	while (s->pool != 0 && !asked_stop && patience-- > 0)
		wait_for_end(s, 1);
	if (wait_for_end(s, 1))
		return;
	asked_stop = 0;
	signal_child(s->front, SIGTERM);
	if (wait_for_end(s, STOP_S))
		return;
	signal_child(s->front, SIGKILL);
	signal_child(s->pool, SIGKILL);
	wait_for_end(s, STOP_S);
}

static void
wait_until_stopped(struct serve *s)
{
	while (!asked_stop && both_run(s, true)) {
		if (asked_reload)
			signal_child(s->pool, SIGHUP);
		asked_reload = 0;
		ppoll(NULL, 0, NULL, &s->open);
	}
}

static bool
is_loopback(const char *address)
{
	return strncmp(address, "127.", 4) == 0 ||
		strncmp(address, "[::1]", 5) == 0;
}

static void
announce(const struct serve *s)
{
	if (!is_loopback(s->address))
		say("other machines can reach this: anybody there can run "
		    "the tools of every page");
	if (ss_site_count(s->served->site) > 0)
		printf("statespace: serving %zu sites at http://%s\n",
			ss_site_count(s->served->site), s->address);
	else
		printf("statespace: serving %s at http://%s\n",
			ss_site_option(s->served->site, "root"), s->address);
	fflush(stdout);
}

static enum ss_err
prepare_run(struct serve *s, struct ss_error *err)
{
	const struct listen_access ours = {
		.mode = 0600, .owner = s->account.uid, .group = s->account.gid
	};
	const struct ss_site *site = s->served->site;
	char path[128];
	enum ss_err code;

	code = front_find(&s->server, ss_site_option(site, "serve.front"), err);
	if (code != SS_OK)
		return code;
	code = listen_tcp(&s->web, ss_site_option(site, "serve.host"),
		(unsigned)ss_site_option_number(site, "serve.port"), BACKLOG,
		s->address, err);
	if (code == SS_OK)
		code = run_dir_make(&s->run, &s->account, err);
	if (code != SS_OK)
		return code;
	run_dir_file(&s->run, "pool.sock", path);
	code = listen_unix(&s->socket, path, BACKLOG, &ours, err);
	run_dir_file(&s->run, "pool.sock" POOL_STATUS_SUFFIX, path);
	if (code == SS_OK)
		code = listen_unix(&s->status, path, BACKLOG, &ours, err);
	if (code != SS_OK)
		return code;
	return front_config_write(&(struct front_config){ .site = site,
					  .front = &s->server,
					  .run = &s->run,
					  .socket = s->socket.path,
					  .status = s->status.path,
					  .address = s->address },
		err);
}

static int
run_serve(struct serve *s)
{
	struct ss_error err = { .code = SS_OK };
	int status = EXIT_FAILURE;
	bool up = false;

	set_signals(s);
	if (open_site(s, &err) == SS_OK && prepare_run(s, &err) == SS_OK &&
		start_pool(s, &err) == SS_OK && start_front(s, &err) == SS_OK)
		up = wait_until_up(s);
	else
		status = options_failed(&err, EXIT_FAILURE);
	if (up) {
		announce(s);
		wait_until_stopped(s);
		if (s->front != 0 && s->pool != 0)
			status = 0;
	}
	stop_both(s);
	listen_close(&s->web);
	listen_close(&s->socket);
	listen_close(&s->status);
	run_dir_remove(&s->run);
	served_free(s->served);
	return status;
}

/* -1: go on; else the exit status. */
static int
take_option(struct serve *s, int option)
{
	const char *name = NULL;

	switch (option) {
	case OPTION_HOST: name = "serve.host"; break;
	case OPTION_PORT: name = "serve.port"; break;
	case OPTION_FRONT: name = "serve.front"; break;
	case OPTION_ALLOW_NO_README: s->allow_no_readme = true; return -1;
	default: return options_take(&s->options, option, optarg);
	}
	return options_add(&s->options, name, optarg)
		? -1
		: options_misused(&s->options, "too many options");
}

int
cmd_serve(int argc, char **argv)
{
	static struct serve s;
	int option, status;

	s.options.usage = usage;
	s.web = s.socket = s.status = LISTENER_INIT;
	while ((option = getopt_long(argc, argv, "h:p:" OPTIONS_SHORT,
			long_options, NULL)) != -1)
		if ((status = take_option(&s, option)) >= 0)
			return status;
	status = options_directory(&s.options, argc, argv);
	return status >= 0 ? status : run_serve(&s);
}
