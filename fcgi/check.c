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
	"                        [--run | --run-all] [--site SITE] [-C DIR]\n"
	"                        [DIR | PAGE]\n";

enum {
	OPTION_DIR = 'C',
	OPTION_JSON = OPTION_OWN,
	OPTION_RUN,
	OPTION_RUN_ALL,
};

struct check {
	struct options options;
	bool json;
	unsigned what;    /* SS_CHECK_... */
	const char *page; /* NULL: every page */
	const char *site; /* of several, the one that is looked at; "" */
	size_t pages, errors, warnings, ran, passed_over;
};

/* Names of files, texts of pages and what tools write are part of these. */
static void
print_text(const char *text)
{
	for (size_t bytes; *text != '\0'; text += bytes > 0 ? bytes : 1) {
		bytes = say_control(text);
		if (*text == '\n')
			fputs("\\n", stdout);
		else
			putchar(bytes > 0 ? '?' : *text);
	}
}

static void
print_problem(const char *site, const char *page, const struct ss_problem *p)
{
	const char *level = p->level == SS_LEVEL_ERROR ? "error" : "warning";

	if (*site != '\0')
		printf("%s: ", site);
	print_text(page);
	if (p->line > 0)
		printf(":%u:%u", p->line, p->column);
	printf(": %s: ", level);
	print_text(p->message);
	if (p->name != NULL)
		printf(" [%s]", p->name);
	putchar('\n');
	if (p->hint != NULL) {
		fputs("    ", stdout);
		print_text(p->hint);
		putchar('\n');
	}
}

static void
on_report(void *ctx, const struct ss_report *report)
{
	struct check *job = ctx;
	const char *json = job->json ? ss_report_json(report) : NULL;

	/* "." is the site itself. */
	job->pages += strcmp(report->page, ".") != 0;
	job->ran += report->ran;
	job->passed_over += report->passed_over;
	for (size_t i = 0; i < report->problem_count; i++) {
		if (report->problems[i].level == SS_LEVEL_ERROR)
			job->errors++;
		else
			job->warnings++;
		if (!job->json)
			print_problem(
				job->site, report->page, &report->problems[i]);
	}
	if (json != NULL && *job->site != '\0')
		printf("{\"site\": \"%s\", %s\n", job->site, json + 1);
	else if (json != NULL)
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
		{ "run", no_argument, NULL, OPTION_RUN },
		{ "run-all", no_argument, NULL, OPTION_RUN_ALL },
		{ "site", required_argument, NULL, OPTION_SITE },
		{ NULL, 0, NULL, 0 } };
	int option, status;

	while ((option = getopt_long(
			argc, argv, "C:" OPTIONS_SHORT, table, NULL)) != -1) {
		if (option == OPTION_DIR) {
			job->options.root = optarg;
		} else if (option == OPTION_JSON) {
			job->json = true;
		} else if (option == OPTION_RUN) {
			job->what |= SS_CHECK_RUN;
		} else if (option == OPTION_RUN_ALL) {
			job->what |= SS_CHECK_RUN | SS_CHECK_RUN_ALL;
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

static void
print_count(size_t count, const char *what)
{
	printf("%zu %s%s", count, what, count == 1 ? "" : "s");
}

static void
print_sum(const struct check *job)
{
	if (job->json)
		return;
	print_count(job->pages, "page");
	fputs(", ", stdout);
	print_count(job->errors, "error");
	fputs(", ", stdout);
	print_count(job->warnings, "warning");
	if (job->what != 0) {
		fputs("; ", stdout);
		print_count(job->ran, "tool");
		printf(" ran, %zu did not", job->passed_over);
	}
	putchar('\n');
}

/* [pool] socket, [log] file and receipts_key. */
static enum ss_err
check_settings(const struct ss_site *site, struct ss_error *err)
{
	struct socket_config socket;
	enum ss_err code = socket_config_read(site, &socket, err);

	if (code == SS_OK)
		code = served_check_log(site, err);
	return code == SS_OK ? served_check_receipts(site, err) : code;
}

/* That site, or all that have a root when none is named. */
static enum ss_err
check_sites(struct check *job, struct ss_site *all, size_t number,
	struct ss_error *err)
{
	size_t last = number > 0 ? number : ss_site_count(all);
	enum ss_err code = SS_OK;
	struct ss_site *one;

	for (size_t i = number; i <= last && code == SS_OK; i++) {
		code = ss_site_pick(all, i, &one, err);
		if (code != SS_OK || *ss_site_option(one, "root") == '\0')
			continue;
		job->site = ss_site_name(all, i);
		code = ss_site_check_with(
			one, job->what, job->page, on_report, job, err);
	}
	return code;
}

int
cmd_check(int argc, char **argv)
{
	struct check job = { .options = { .usage = usage }, .site = "" };
	struct ss_error err = { 0 };
	struct ss_site *all;
	size_t number;
	int status = take_arguments(&job, argc, argv);

	if (status >= 0)
		return status;
	if (options_open_one(&job.options, ".", &all, &number, &err) == NULL)
		return options_failed(&err, EXIT_FAILURE);
	if ((job.options.config != NULL &&
		    check_settings(all, &err) != SS_OK) ||
		check_sites(&job, all, number, &err) != SS_OK) {
		ss_site_free(all);
		return options_failed(&err, EXIT_FAILURE);
	}
	ss_site_free(all);
	print_sum(&job);
	return job.errors > 0 ? 1 : 0;
}
