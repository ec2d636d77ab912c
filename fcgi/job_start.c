/* SPDX-License-Identifier: MIT */
#include "job_start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"
#include "sys.h"

#define PROGRAM "statespace-job"
#define ID_LEN 32
#define SERVED_AT_ONCE 64
#define WORDS_FIXED 12

extern char **environ;

/* -------------------------------------------------------------- its words -- */

struct account_words {
	char uid[24], gid[24]; /* "": we are not root */
};

/*
 *	-c FILE			as of every command
 *	--root DIR		--key K V	--env-line K=V	--env-file FILE
 *	--account UID GID	if it is started as root: it reads the
 *				configuration, then becomes that account
 */
static char **
words_of(const struct options *o, const struct account_words *account,
	const char *id, char config[static PATH_MAX])
{
	char **words = calloc(o->count * 3 + WORDS_FIXED, sizeof(*words));
	const char *file = options_config(o, config);
	size_t n = 0;

#define WORD(text) words[n++] = (char *)(uintptr_t)(text)
	if (words == NULL)
		return NULL;
	WORD(PROGRAM);
	if (account->uid[0] != '\0') {
		WORD("--account");
		WORD(account->uid);
		WORD(account->gid);
	}
	if (file != NULL) {
		WORD("-c");
		WORD(file);
	}
	if (o->root != NULL) {
		WORD("--root");
		WORD(o->root);
	}
	for (size_t i = 0; i < o->count; i++) {
		const struct option_item *item = &o->items[i];

		switch (item->kind) {
		case OPTION_IS_KEY:
			WORD("--key");
			WORD(item->key);
			break;
		case OPTION_IS_ENV: WORD("--env-line"); break;
		case OPTION_IS_ENV_FILE: WORD("--env-file"); break;
		}
		WORD(item->value);
	}
	if (id != NULL)
		WORD(id);
#undef WORD
	return words;
}

static bool
take_item(struct options *o, enum option_kind kind, const char *key,
	const char *value)
{
	if (value == NULL || o->count == OPTIONS_MAX)
		return false;
	o->items[o->count++] = (struct option_item){ kind, key, value };
	return true;
}

static bool
take_account(struct ss_account *a, const char *uid, const char *gid)
{
	if (uid == NULL || gid == NULL)
		return false;
	a->uid = (uid_t)strtoul(uid, NULL, 10);
	a->gid = (gid_t)strtoul(gid, NULL, 10);
	return a->uid != 0 && a->gid != 0;
}

/* How many words the option at argv[i] has; 0: it is none of ours. */
static int
take_option(struct job_words *w, char **argv, int left)
{
	struct options *o = &w->options;
	const char *word = argv[0];
	const char *next = left > 1 ? argv[1] : NULL;
	const char *third = left > 2 ? argv[2] : NULL;

	if (strcmp(word, "-c") == 0)
		return (o->config = next) != NULL ? 2 : 0;
	if (strcmp(word, "--root") == 0)
		return (o->root = next) != NULL ? 2 : 0;
	if (strcmp(word, "--account") == 0)
		return take_account(&w->account, next, third) ? 3 : 0;
	if (strcmp(word, "--key") == 0)
		return take_item(o, OPTION_IS_KEY, next, third) ? 3 : 0;
	if (strcmp(word, "--env-line") == 0)
		return take_item(o, OPTION_IS_ENV, NULL, next) ? 2 : 0;
	if (strcmp(word, "--env-file") == 0)
		return take_item(o, OPTION_IS_ENV_FILE, NULL, next) ? 2 : 0;
	return 0;
}

bool
job_read_words(struct job_words *w, int argc, char **argv)
{
	int taken;

	for (int i = 1; i < argc; i += taken) {
		if (argv[i][0] != '-' && i == argc - 1) {
			w->id = argv[i];
			return true;
		}
		taken = take_option(w, argv + i, argc - i);
		if (taken == 0)
			return false;
	}
	return true;
}

/* ------------------------------------------------------------- the process -- */

/* Nothing of ours stays open: a reader of our output must not wait for it. */
static void
leave_descriptors(void)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	close_range(STDERR_FILENO + 1, ~0U, 0);
}

/* Signals as a new process has them. */
static void
leave_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the second child: its parent has ended when it runs. */
static void
become_holder(const struct job_starter *starter, const char *path, char **words)
{
	static char *const cgi_environ[] = { NULL };
	if (setsid() < 0)
		_exit(1);
	leave_signals();
	leave_descriptors();
	execve(path, words, starter->options->cgi ? cgi_environ : environ);
	_exit(1);
}

static bool
fork_twice(const struct job_starter *starter, const char *path, char **words)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		pid = fork();
		if (pid == 0)
			become_holder(starter, path, words);
		_exit(pid < 0);
	}
	if (pid < 0)
		return false;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return true; /* reaped by somebody else */
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool
job_start(const struct job_starter *starter, const char *id)
{
	struct ss_account a = ss_site_account(starter->site);
	struct account_words account = { "", "" };
	char path[PATH_MAX], config[PATH_MAX];
	char **words;
	bool started;

	if (!ss_site_helper(starter->site, PROGRAM, path, sizeof(path))) {
		say("no job can run: %s is not installed", PROGRAM);
		return false;
	}
	if (geteuid() == 0 && a.uid != 0) {
		snprintf(account.uid, sizeof(account.uid), "%lu",
			(unsigned long)a.uid);
		snprintf(account.gid, sizeof(account.gid), "%lu",
			(unsigned long)a.gid);
	}
	words = words_of(starter->options, &account, id, config);
	started = words != NULL && fork_twice(starter, path, words);
	if (!started)
		say("a job was not started: %s", strerror(errno));
	free(words);
	return started;
}

/* ----------------------------------------------------- from worker to parent */

void
job_post_open(struct job_post *post)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		    0, post->ends) < 0)
		*post = JOB_POST_INIT;
}

void
job_post_close(struct job_post *post)
{
	for (size_t i = 0; i < 2; i++)
		if (post->ends[i] >= 0)
			close(post->ends[i]);
	*post = JOB_POST_INIT;
}

static bool
post_id(void *ctx, const char *id)
{
	const struct job_post *post = ctx;

	return send(post->ends[1], id, ID_LEN, MSG_DONTWAIT | MSG_NOSIGNAL) ==
		ID_LEN;
}

void
job_post_attach(struct job_post *post, struct ss_site *site)
{
	const struct ss_jobs jobs = {
		.size = sizeof(jobs), .ctx = post, .start = post_id
	};

	if (post->ends[1] >= 0)
		ss_site_set_jobs(site, &jobs);
}

int
job_post_fd(const struct job_post *post)
{
	return post->ends[0];
}

/* A worker may be somebody else's by now: what is no id is dropped. */
static bool
is_id(const char *text, ssize_t len)
{
	if (len != ID_LEN)
		return false;
	for (ssize_t i = 0; i < len; i++)
		if (text[i] == '\0' ||
			strchr("0123456789abcdef", text[i]) == NULL)
			return false;
	return true;
}

void
job_post_serve(const struct job_post *post, const struct job_starter *starter)
{
	char id[ID_LEN + 2];
	ssize_t n;

	for (int i = 0; i < SERVED_AT_ONCE; i++) {
		n = recv(post->ends[0], id, sizeof(id) - 1, MSG_DONTWAIT);
		if (n <= 0)
			return;
		id[ID_LEN] = '\0';
		if (is_id(id, n))
			job_start(starter, id);
	}
}
