/* SPDX-License-Identifier: MIT */
/*
 * statespace workspace: copy-on-write sessions, by hand (statespace(1)).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "options.h"
#include "say.h"
#include "sys.h"

static const char usage[] =
	"usage: statespace workspace create|list|diff|commit|discard|export\n"
	"                            [-C DIR] [-c FILE] [--site SITE] [--json]\n"
	"                            [--folder DIR] [--backend B] [--patch]\n"
	"                            [--force] [--digest D] [--after CURSOR]\n"
	"                            [--most N] [SESSION]\n";

enum {
	OPTION_DIR = 'C',
	OPTION_JSON = OPTION_OWN,
	OPTION_FOLDER,
	OPTION_BACKEND,
	OPTION_PATCH,
	OPTION_FORCE,
	OPTION_DIGEST,
	OPTION_AFTER,
	OPTION_MOST
};

struct job {
	struct options options;
	struct ss_workspace_ask ask;
};

static bool
print(void *ctx, const char *data, size_t len)
{
	(void)ctx;
	return sys_write_all(STDOUT_FILENO, data, len);
}

static int
take_option(struct job *job, int option, const char *argument)
{
	char *end;

	switch (option) {
	case OPTION_DIR: job->options.root = argument; break;
	case OPTION_JSON: job->ask.json = true; break;
	case OPTION_FOLDER: job->ask.folder = argument; break;
	case OPTION_BACKEND: job->ask.backend = argument; break;
	case OPTION_PATCH: job->ask.patch = true; break;
	case OPTION_FORCE: job->ask.force = true; break;
	case OPTION_DIGEST: job->ask.expected = argument; break;
	case OPTION_AFTER: job->ask.after = argument; break;
	case OPTION_MOST:
		job->ask.most = strtoul(argument, &end, 10);
		if (*argument != '\0' && *end == '\0')
			break;
		return options_misused(&job->options, "--most takes a number");
	default: return options_take(&job->options, option, argument);
	}
	return -1;
}

static int
take_arguments(struct job *job, int argc, char **argv)
{
	static const struct option table[] = { OPTIONS_LONG,
		{ "directory", required_argument, NULL, OPTION_DIR },
		{ "json", no_argument, NULL, OPTION_JSON },
		{ "folder", required_argument, NULL, OPTION_FOLDER },
		{ "backend", required_argument, NULL, OPTION_BACKEND },
		{ "patch", no_argument, NULL, OPTION_PATCH },
		{ "force", no_argument, NULL, OPTION_FORCE },
		{ "digest", required_argument, NULL, OPTION_DIGEST },
		{ "after", required_argument, NULL, OPTION_AFTER },
		{ "most", required_argument, NULL, OPTION_MOST },
		{ "site", required_argument, NULL, OPTION_SITE },
		{ NULL, 0, NULL, 0 } };
	int option, status;

	while ((option = getopt_long(
			argc, argv, "C:" OPTIONS_SHORT, table, NULL)) != -1) {
		status = take_option(job, option, optarg);
		if (status >= 0)
			return status;
	}
	if (optind >= argc)
		return options_misused(
			&job->options, "name what to do with workspaces");
	job->ask.operation = argv[optind++];
	/* The whole of it, as a patch. */
	if (strcmp(job->ask.operation, "export") == 0) {
		job->ask.operation = "diff";
		job->ask.patch = true;
	}
	if (optind < argc)
		job->ask.session = argv[optind++];
	if (optind < argc)
		return options_misused(&job->options, "one session, please");
	return -1;
}

int
cmd_workspace(int argc, char **argv)
{
	struct job job = { .options = { .usage = usage },
		.ask = SS_INIT(ss_workspace_ask) };
	struct ss_error err = { 0 };
	struct ss_site *site, *all = NULL;
	int status = take_arguments(&job, argc, argv);
	enum ss_err code;

	if (status >= 0)
		return status;
	job.ask.put = print;
	site = options_open_one(&job.options, ".", &all, NULL, &err);
	if (site == NULL)
		return options_failed(&err, EXIT_FAILURE);
	code = ss_site_workspace(site, &job.ask, &err);
	status = code == SS_OK ? 0 : options_failed(&err, EXIT_FAILURE);
	ss_site_free(all);
	return status;
}
