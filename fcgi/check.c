/* SPDX-License-Identifier: MIT */
/*
 * statespace check: mistakes in the pages of a site, with line, column and
 * remedy (statespace(1)).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "options.h"
#include "say.h"
#include "served.h"
#include "socket_config.h"

static const char usage[] =
	"usage: statespace check [-c FILE] [-e K=V]... [--env-file F] [--json]\n"
	"                        [-C DIR] [DIR | PAGE]\n";

enum { OPTION_DIR = 'C', OPTION_JSON = OPTION_OWN };

struct check {
	struct options options;
	bool json;
	const char *page; /* NULL: every page */
	size_t pages, errors, warnings;
};

static void
print_problem(const char *page, const struct ss_problem *p)
{
	printf("%s:%u:%u: %s: %s\n", page, p->line, p->column,
		p->level == SS_LEVEL_ERROR ? "error" : "warning", p->message);
	if (p->hint != NULL)
		printf("    %s\n", p->hint);
}

static void
on_report(void *ctx, const struct ss_report *report)
{
	struct check *job = ctx;
	const char *json = job->json ? ss_report_json(report) : NULL;

	job->pages++;
	for (size_t i = 0; i < report->problem_count; i++) {
		if (report->problems[i].level == SS_LEVEL_ERROR)
			job->errors++;
		else
			job->warnings++;
		if (!job->json)
			print_problem(report->page, &report->problems[i]);
	}
	if (json != NULL)
		puts(json);
}

static bool
is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool
is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/*
 * A directory is the site, anything else a page of it.  A file that is named
 * from the root of the system, or from above, is a page of its directory.
 */
static void
take_operand(struct check *job, char *operand)
{
	char *slash = strrchr(operand, '/');

	job->page = operand;
	if (job->options.root != NULL)
		return;
	if (is_directory(operand)) {
		job->options.root = operand;
		job->page = NULL;
	} else if ((operand[0] == '/' || strncmp(operand, "../", 3) == 0) &&
		is_file(operand)) {
		*slash = '\0';
		job->options.root = slash == operand ? "/" : operand;
		job->page = slash + 1;
	}
}

/* -1 goes on, else the exit status. */
static int
take_arguments(struct check *job, int argc, char **argv)
{
	static const struct option table[] = { OPTIONS_LONG,
		{ "directory", required_argument, NULL, OPTION_DIR },
		{ "json", no_argument, NULL, OPTION_JSON },
		{ NULL, 0, NULL, 0 } };
	int option, status;

	while ((option = getopt_long(
			argc, argv, "C:" OPTIONS_SHORT, table, NULL)) != -1) {
		if (option == OPTION_DIR) {
			job->options.root = optarg;
		} else if (option == OPTION_JSON) {
			job->json = true;
		} else {
			status = options_take(&job->options, option, optarg);
			if (status >= 0)
				return status;
		}
	}
	if (argc - optind > 1)
		return options_misused(&job->options, "one site or one page");
	if (optind < argc)
		take_operand(job, argv[optind]);
	return -1;
}

int
cmd_check(int argc, char **argv)
{
	struct check job = { .options = { .usage = usage } };
	struct ss_error err = { 0 };
	struct ss_site *site;
	int status = take_arguments(&job, argc, argv);

	if (status >= 0)
		return status;
	site = options_open(&job.options, ".", &err);
	if (site == NULL)
		return options_failed(&err, EXIT_FAILURE);
	if (job.options.config != NULL &&
		(socket_config_read(site, &(struct socket_config){ 0 }, &err) !=
				SS_OK ||
			served_check_log(site, &err) != SS_OK)) {
		ss_site_free(site);
		return options_failed(&err, EXIT_FAILURE);
	}
	if (ss_site_check(site, job.page, on_report, &job, &err) != SS_OK) {
		ss_site_free(site);
		return options_failed(&err, EXIT_FAILURE);
	}
	ss_site_free(site);
	if (!job.json)
		printf("%zu pages, %zu errors, %zu warnings\n", job.pages,
			job.errors, job.warnings);
	return job.errors > 0 ? 1 : 0;
}
