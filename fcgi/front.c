/* SPDX-License-Identifier: MIT */
#include "front.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "say.h"
#include "sys.h"

#define WEB_FD 3 /* the number at which both expect an inherited socket */

static const struct {
	const char *name, *template, *file;
	int stop;
} known[] = {
	{ "nginx", "serve.conf.in", "nginx.conf", SIGQUIT },
	{ "lighttpd", "serve.lighttpd.in", "lighttpd.conf", SIGINT },
};

/* A directory is executable, too: `make` leaves build/nginx. */
static bool
is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		access(path, X_OK) == 0;
}

static bool
find_program(struct front *f)
{
	static const char more[] = ":/usr/sbin:/usr/local/sbin:/sbin";
	const char *env = getenv("PATH");
	char all[8192], *rest = all, *dir;

	snprintf(
		all, sizeof(all), "%s%s", env != NULL ? env : "/usr/bin", more);
	while ((dir = strsep(&rest, ":")) != NULL) {
		snprintf(f->program, sizeof(f->program), "%s/%s", dir, f->name);
		if (dir[0] == '/' && is_program(f->program))
			return true;
	}
	return false;
}

enum ss_err
front_find(struct front *f, const char *wanted, struct ss_error *err)
{
	bool any = strcmp(wanted, known[0].name) == 0;

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		*f = (struct front){ known[i].name, known[i].template,
			known[i].file, known[i].stop, "" };
		if (!any && strcmp(wanted, f->name) != 0)
			continue;
		if (!find_program(f))
			continue;
		if (strcmp(wanted, f->name) != 0)
			say("%s is not installed; %s is started instead",
				wanted, f->name);
		return SS_OK;
	}
	if (any)
		return say_refusal(err, SS_CONFIG,
			"neither nginx nor lighttpd is installed (Debian: apt "
			"install nginx-light)");
	return say_refusal(err, SS_CONFIG,
		"%s is not installed (Debian: apt install %s)", wanted, wanted);
}

/*
 * nginx takes listening sockets from the variable NGINX, as in its own
 * upgrade of the binary; lighttpd from systemd's LISTEN_FDS (sd_listen_fds(3)).
 */
static void
run_nginx(const struct front *f, char *prefix, char *file)
{
	char inherit[] = "NGINX=3;", path[] = "PATH=/usr/bin:/bin";
	char *const envp[] = { inherit, path, NULL };
	/*
	 * What nginx logs before it reads its file is about the socket only.
	 * Root is us only where it is the one account (sys_become).
	 */
	const char *const argv[] = { f->program, "-e", "/dev/null", "-p",
		prefix, "-c", file, geteuid() == 0 ? "-g" : NULL, "user root;",
		NULL };

	execve(f->program, (char *const *)(uintptr_t)argv, envp);
}

static void
run_lighttpd(const struct front *f, char *file)
{
	char count[] = "LISTEN_FDS=1", path[] = "PATH=/usr/bin:/bin", pid[32];
	char *const envp[] = { count, pid, path, NULL };
	const char *const argv[] = { f->program, "-D", "-f", file, NULL };

	snprintf(pid, sizeof(pid), "LISTEN_PID=%ld", (long)getpid());
	execve(f->program, (char *const *)(uintptr_t)argv, envp);
}

void
front_become(const struct front *f, const struct run_dir *run, int web,
	const sigset_t *mask)
{
	char prefix[128], file[128];
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	run_dir_file(run, "", prefix);
	run_dir_file(run, f->file, file);
	setsid();
	signal(SIGPIPE, SIG_DFL);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
		dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		_exit(EXIT_FAULT);
	if (web == WEB_FD ? fcntl(web, F_SETFD, 0) < 0 : dup2(web, WEB_FD) < 0)
		_exit(EXIT_FAULT);
	/* prctl(2): setresuid(2) clears PR_SET_PDEATHSIG. */
	if (!sys_become(&run->account) || prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
		_exit(EXIT_FAULT);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (strcmp(f->name, known[0].name) == 0)
		run_nginx(f, prefix, file);
	else
		run_lighttpd(f, file);
	_exit(EXIT_NO_PROGRAM);
}
