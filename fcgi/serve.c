/* SPDX-License-Identifier: MIT */
/*
 * statespace serve: a directory on a port of this machine, with a private
 * nginx (or lighttpd) in front of a pool, for as long as this process lives.
 *
 *	serve --- pool's master --- workers
 *	      \-- nginx         --- its workers
 *
 * The port is bound here and handed over, so that "port 0" and "taken" are
 * known at once.  Nothing is written into the served directory.
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
#include "front.h"
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
#define STOP_S 6                 /* for what has nothing in hand */
#define TEMPLATE_MAX 65536
#define BODY_MARGIN 65536 /* so that our own 413 answers, not nginx's */
#define READ_MARGIN_S 70  /* beyond the pool's watchdog */
/*
 * A tool's answer fits into the front's temporary file, so that a slow reader
 * holds no worker: each byte of output may become six, and MCP says it twice.
 */
#define ANSWER_GROWTH 16.0
#define TEMP_LEAST (16.0 * 1024 * 1024)

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
	struct front server; /* the one in front */
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

/* A terminal that goes away ends us; elsewhere HUP asks for a reload. */
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

/* Of a directory that is not there served_new says more. */
static bool
lacks_readme(const char *root)
{
	char path[PATH_MAX];
	struct stat st;
	int n = snprintf(path, sizeof(path), "%s/README.md", root);

	if (stat(root, &st) < 0 || !S_ISDIR(st.st_mode))
		return false;
	return n < 0 || (size_t)n >= sizeof(path) || stat(path, &st) < 0 ||
		!S_ISREG(st.st_mode);
}

/* Without a directory on the command line or in the file: the current one. */
static enum ss_err
open_site(struct serve *s, struct ss_error *err)
{
	struct ss_site *site = options_site(&s->options, err);
	const char *root = site != NULL ? ss_site_option(site, "root") : NULL;

	if (site != NULL && (root == NULL || *root == '\0'))
		s->options.root = root = ".";
	/* What the file leaves open is on for a person at this machine. */
	if (site != NULL &&
		strcmp(ss_site_option(site, "mcp.enabled"), "auto") == 0)
		options_add(&s->options, "mcp.enabled", "true");
	if (site != NULL && !s->allow_no_readme && lacks_readme(root))
		say_refusal(err, SS_CONFIG,
			"%s has no README.md, so it is no site; name one, or "
			"use --allow-no-readme",
			root);
	ss_site_free(site);
	if (site == NULL || err->code != SS_OK)
		return err->code;
	s->served = served_new(&s->options, err);
	if (s->served != NULL)
		s->account = ss_site_account(s->served->site);
	return err->code;
}

/* ------------------------------------------------- the front's own files -- */

/* Where it was installed, or beside the build directory. */
static bool
find_template(const char *name, char path[static PATH_MAX])
{
	static const char *const places[] = { "../share/statespace/nginx",
		"../nginx", "nginx" };

	return sys_find_beside(places, ARRAY_LEN(places), name, path);
}

static char *
read_template(const char *name, struct ss_error *err)
{
	char path[PATH_MAX];
	char *text = calloc(1, TEMPLATE_MAX + 1);
	FILE *file = NULL;

	if (text != NULL && find_template(name, path))
		file = fopen(path, "re");
	if (file == NULL || fread(text, 1, TEMPLATE_MAX, file) == 0) {
		say_refusal(err, SS_CONFIG,
			"cannot read %s, which is installed with this program",
			name);
		free(text);
		text = NULL;
	}
	if (file != NULL)
		fclose(file);
	return text;
}

/* Between double quotes; a dollar sign would begin a variable. */
static bool
is_quotable(const char *path)
{
	return strpbrk(path, "\"\\$\n\r") == NULL;
}

/* Whether the front sends files: by default, where it can be told the path. */
static bool
is_handed_over(const struct serve *s, const char *root)
{
	const char *handover = ss_site_option(s->served->site, "http.handover");

	return strcmp(handover, "none") != 0 && is_quotable(root);
}

/* Who else would send the files would not be there. */
static enum ss_err
check_handover(const struct serve *s, const char *root, struct ss_error *err)
{
	const char *handover = ss_site_option(s->served->site, "http.handover");

	if (strcmp(handover, "none") == 0 || strcmp(handover, "auto") == 0)
		return SS_OK;
	if (strcmp(handover, s->server.name) != 0)
		return say_refusal(err, SS_CONFIG,
			"http.handover is \"%s\", and serve starts %s",
			handover, s->server.name);
	if (!is_quotable(root))
		return say_refusal(err, SS_CONFIG,
			"http.handover: %s cannot be told the path %s",
			s->server.name, root);
	return SS_OK;
}

/* lighttpd's own errors; it sends pages of its own where there are none. */
static void
find_error_files(char path[static PATH_MAX])
{
	if (!find_template("errors", path) || !is_quotable(path))
		snprintf(path, PATH_MAX, "/nonexistent");
}

/* The address in two parts, as lighttpd wants it. */
static void
split_address(const char *address, char host[static 128], const char **port)
{
	char *colon;

	snprintf(host, 128, "%s", address);
	colon = strrchr(host, ':');
	*port = address + (colon - host) + 1;
	*colon = '\0';
}

static enum ss_err
write_configuration(struct serve *s, struct ss_error *err)
{
	const struct ss_site *site = s->served->site;
	const char *root = ss_site_option(site, "root");
	char *text = read_template(s->server.template, err);
	char *params =
		text != NULL ? read_template("statespace_params", err) : NULL;
	char *errors =
		params != NULL ? read_template("statespace_errors", err) : NULL;
	double seconds = time_limits_request(site);
	double stop_s = time_limits_stop(site);
	double body_max = ss_site_option_number(site, "limits.max_body_bytes") +
		BODY_MARGIN;
	double answer_max = ANSWER_GROWTH *
		ss_site_option_number(site, "limits.max_output_bytes");
	bool handed = is_handed_over(s, root);
	char body[32], kib[32], wait[32], temp[32], end[32], host[128];
	char sendfile[PATH_MAX + 128], error_files[PATH_MAX];
	const char *port;
	enum ss_err code = SS_CONFIG;

	snprintf(body, sizeof(body), "%.0f", body_max);
	snprintf(kib, sizeof(kib), "%.0f", body_max / 1024);
	snprintf(wait, sizeof(wait), "%.0f", seconds + READ_MARGIN_S);
	snprintf(temp, sizeof(temp), "%.0f",
		answer_max > TEMP_LEAST ? answer_max : TEMP_LEAST);
	snprintf(end, sizeof(end), "%.0f", stop_s);
	find_error_files(error_files);
	if (errors != NULL)
		code = check_handover(s, root, err);
	split_address(s->address, host, &port);
	snprintf(sendfile, sizeof(sendfile),
		"\"x-sendfile\" => \"enable\", "
		"\"x-sendfile-docroot\" => ( \"%s\" ),",
		is_quotable(root) ? root : "/nonexistent");
	if (code == SS_OK) {
		const struct filling fillings[] = {
			{ "RUN", s->run.path },
			{ "SOCKET", s->socket.path },
			{ "STATUS", s->status.path },
			{ "LISTEN", s->address },
			{ "BODY_MAX", body },
			{ "READ_TIMEOUT", wait },
			{ "STOP_TIMEOUT", end },
			{ "PARAMS", params },
			{ "ERRORS", errors },
			{ "SITE", is_quotable(root) ? root : "/nonexistent" },
			{ "TEMP_MAX", temp },
			{ "HANDOVER", handed ? s->server.name : "none" },
			{ "IGNORED", handed ? "" : "X-Accel-Redirect" },
			{ "SENDFILE", handed ? sendfile : "" },
			{ "HOST", host },
			{ "PORT", port },
			{ "BODY_KIB", kib },
			{ "ERROR_FILES", error_files },
		};

		code = run_dir_write(&s->run, s->server.file, text, fillings,
			ARRAY_LEN(fillings), err);
	}
	free(errors);
	free(params);
	free(text);
	return code;
}

/* -------------------------------------------------------- the two halves -- */

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

/* The pool in a process group of its own, apart from the terminal's. */
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

/* ----------------------------------------------------------- being alive -- */

/* Collects the dead; true when both are still there. */
static bool
both_live(struct serve *s, bool telling)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		const char *who = pid == s->front ? s->server.name : "the pool";

		if (pid == s->front) {
			/* Its workers, should it not have seen to them. */
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

	while (!up && !asked_stop && sys_clock_us() < end && both_live(s, true))
		up = ppoll(&answer, 1, &step, &s->open) > 0;
	if (answer.fd >= 0)
		close(answer.fd);
	if (!up && !asked_stop && s->front != 0 && s->pool != 0)
		say("%s does not answer; stopping", s->server.name);
	return up;
}

static void
tell(pid_t pid, int signal_number)
{
	if (pid > 0)
		kill(pid, signal_number);
}

/* Until both are gone or the time is up. */
static bool
wait_for_end(struct serve *s, unsigned seconds)
{
	const struct timespec step = { .tv_nsec = 200000000 };
	uint64_t end = sys_clock_us() + seconds * SECOND;

	while (s->front != 0 || s->pool != 0) {
		both_live(s, false);
		if (s->front == 0)
			tell(s->pool, SIGTERM);
		if ((s->front == 0 && s->pool == 0) || asked_stop ||
			sys_clock_us() >= end)
			break;
		ppoll(NULL, 0, &step, &s->open);
	}
	return s->front == 0 && s->pool == 0;
}

/*
 * The front first: it stops accepting and ends what it has; the pool goes when
 * nobody can ask it any more.  A front that idle clients hold does not keep the
 * pool: it is told to end what is in hand.  A second signal is not patient.
 */
static void
stop(struct serve *s)
{
	unsigned patience = s->served != NULL
		? (unsigned)time_limits_stop(s->served->site) + STOP_S
		: STOP_S;

	asked_stop = 0;
	tell(s->front, s->server.stop);
	if (wait_for_end(s, STOP_S))
		return;
	tell(s->pool, SIGTERM);
	while (s->pool != 0 && !asked_stop && patience-- > 0)
		wait_for_end(s, 1);
	if (wait_for_end(s, 1))
		return;
	asked_stop = 0;
	tell(s->front, SIGTERM);
	if (wait_for_end(s, STOP_S))
		return;
	tell(s->front, SIGKILL);
	tell(s->pool, SIGKILL);
	wait_for_end(s, STOP_S);
}

static void
live(struct serve *s)
{
	while (!asked_stop && both_live(s, true)) {
		if (asked_reload)
			tell(s->pool, SIGHUP);
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
	printf("statespace: serving %s at http://%s\n",
		ss_site_option(s->served->site, "root"), s->address);
	fflush(stdout);
}

static enum ss_err
prepare(struct serve *s, struct ss_error *err)
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
	return code == SS_OK ? write_configuration(s, err) : code;
}

static int
run(struct serve *s)
{
	struct ss_error err = { .code = SS_OK };
	int status = EXIT_FAILURE;
	bool up = false;

	set_signals(s);
	if (open_site(s, &err) == SS_OK && prepare(s, &err) == SS_OK &&
		start_pool(s, &err) == SS_OK && start_front(s, &err) == SS_OK)
		up = wait_until_up(s);
	else
		status = options_failed(&err, EXIT_FAILURE);
	if (up) {
		announce(s);
		live(s);
		if (s->front != 0 && s->pool != 0)
			status = 0;
	}
	stop(s);
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
	return status >= 0 ? status : run(&s);
}
