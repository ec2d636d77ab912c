/* SPDX-License-Identifier: MIT */
#include "workspace/agentfs.h"

#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "wire/json.h"
#include "workspace/own.h"

#define WORDS_MAX 10
#define PARAMETERS_MAX ((size_t)100 << 10) /* one word of execve(2) has 128 K */

static bool
is_kept(const struct workspace *w)
{
	return w->meta.backend == WORKSPACE_AGENTFS && !w->meta.temporary;
}

static enum ss_err
refuse_without(struct ss_error *err)
{
	error_set(err, SS_SANDBOX_UNAVAILABLE,
		"this server cannot keep a workspace as an AgentFS file");
	error_hint(err,
		"the operator installs statespace-agentfs, or the page says "
		"workspace: overlay");
	return SS_SANDBOX_UNAVAILABLE;
}

/* Starts it in the session's directory; 0 or errno. */
static int
start(const struct workspace *w, char *const *words, pid_t *child)
{
	posix_spawn_file_actions_t acts;
	char *const none[] = { NULL };
	int number = posix_spawn_file_actions_init(&acts);

	if (number != 0)
		return number;
	number = posix_spawn_file_actions_addfchdir_np(&acts, w->dir);
	if (number == 0)
		number = posix_spawn_file_actions_adddup2(&acts, w->base, 3);
	if (number == 0)
		number = posix_spawn(child, words[0], &acts, NULL, words, none);
	posix_spawn_file_actions_destroy(&acts);
	return number;
}

/* The helper may have made another upper. */
static int
reopen(struct workspace *w)
{
	fd_close(&w->upper);
	fd_close(&w->work);
	return own_open_parts(w);
}

static enum ss_err
run(struct workspace *w, char **words, struct ss_error *err)
{
	int status = 0, number;
	pid_t child = -1;

	if (words[0] == NULL || words[0][0] == '\0')
		return refuse_without(err);
	number = start(w, words, &child);
	if (number == ENOENT || number == EACCES)
		return refuse_without(err);
	if (number != 0)
		return error_internal(err, number, "start %s", words[0]);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return error_internal(err, errno, "waitpid");
	number = reopen(w);
	if (number == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return SS_OK;
	return error_internal(err, number, "statespace-agentfs %s: status %d",
		words[1], status);
}

static enum ss_err
run_verb(struct workspace *w, const char *helper, const char *verb,
	struct ss_error *err)
{
	char path[8192], verb_word[8], program[4096];
	char *words[] = { program, verb_word, path, NULL };

	if (!is_kept(w))
		return SS_OK;
	snprintf(program, sizeof(program), "%s", helper != NULL ? helper : "");
	snprintf(verb_word, sizeof(verb_word), "%s", verb);
	snprintf(path, sizeof(path), "%s/%s", w->meta.owner.root,
		w->meta.folder);
	return run(w, words, err);
}

enum ss_err
agentfs_load(struct workspace *w, const char *helper, struct ss_error *err)
{
	return run_verb(w, helper, "load", err);
}

enum ss_err
agentfs_begin(struct workspace *w, const char *helper, struct ss_error *err)
{
	return run_verb(w, helper, "begin", err);
}

/* {"argv": [...]}, without words that do not fit. */
static bool
put_parameters(struct buf *out, char *const *argv)
{
	buf_text(out, "{\"argv\":[");
	for (size_t i = 0; argv[i] != NULL; i++) {
		if (out->len + 6 * strlen(argv[i]) + 32 > out->max) {
			buf_text(out, "],\"cut\":true}");
			return buf_ok(out);
		}
		buf_text(out, i > 0 ? "," : "");
		json_string(out, argv[i], strlen(argv[i]));
	}
	buf_text(out, "]}");
	return buf_ok(out);
}

enum ss_err
agentfs_save(struct workspace *w, const char *helper,
	const struct agentfs_call *call, struct ss_error *err)
{
	struct buf parameters = BUF_INIT(PARAMETERS_MAX);
	char program[4096], verb[] = "save", path[8192], name[256];
	char code[16], started[32], took[32];
	const char *slash = strrchr(call->argv[0], '/');
	char *words[WORDS_MAX] = { program, verb, path, name, NULL, code,
		started, took };
	enum ss_err result = SS_OK;

	if (!is_kept(w))
		return SS_OK;
	snprintf(program, sizeof(program), "%s", helper != NULL ? helper : "");
	snprintf(path, sizeof(path), "%s/%s", w->meta.owner.root,
		w->meta.folder);
	snprintf(name, sizeof(name), "%s",
		slash != NULL ? slash + 1 : call->argv[0]);
	snprintf(code, sizeof(code), "%d", call->returncode);
	snprintf(started, sizeof(started), "%" PRId64, call->started_s);
	snprintf(took, sizeof(took), "%" PRId64, call->duration_ms);
	if (put_parameters(&parameters, call->argv)) {
		words[4] = parameters.data;
		result = run(w, words, err);
	} else {
		result = error_memory(err);
	}
	buf_release(&parameters);
	return result;
}
