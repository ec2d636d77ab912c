/* SPDX-License-Identifier: MIT */
/*
 * What reading a page with many tools costs, and matching a command with it.
 *
 *	match TOOLS TIMES
 *
 * A line each: microseconds (median of TIMES), a tab, what was done.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "statespace.h"

#define READS 9

static double
median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), by_value);
	return values[n / 2];
}

/* Tools that begin alike and differ late; each line ends as `last` says. */
static char *
page(size_t tools, const char *last)
{
	size_t room = 64 + tools * (64 + strlen(last));
	char *text = malloc(room), *at = text;

	if (text == NULL)
		exit(1);
	at += sprintf(at, "---\ntools:\n");
	for (size_t i = 0; i < tools; i++)
		at += sprintf(
			at, "  - [report, --kind, kind%zu, %s]\n", i, last);
	sprintf(at, "---\n# Many tools\n");
	return text;
}

static void
measure(const char *what, size_t tools, size_t times, const char *last)
{
	double *took = calloc(times + READS, sizeof(*took)), start;
	char *text = page(tools, last), kind[32];
	const char *allowed[] = { "report", "--kind", kind, "2026-01-02" };
	const char *refused[] = { "report", "--kind", kind, "20x6-01-02" };
	struct ss_error err = { .code = SS_OK };
	struct ss_toolset *set;
	size_t tool;

	snprintf(kind, sizeof(kind), "kind%zu", tools - 1);
	if (took == NULL)
		exit(1);
	for (size_t i = 0; i < READS; i++) {
		start = now_us();
		if (ss_toolset_parse(text, strlen(text), &set, &err) != SS_OK)
			exit(1);
		took[i] = now_us() - start;
		if (i < READS - 1)
			ss_toolset_free(set);
	}
	printf("%.2f\treading %zu tools, %s\n", median(took, READS), tools,
		what);
	for (size_t i = 0; i < times; i++) {
		start = now_us();
		if (ss_toolset_allows(set, 4, allowed, &tool, &err) != SS_OK ||
			tool != tools - 1)
			exit(1);
		took[i] = now_us() - start;
	}
	printf("%.2f\tthe last of %zu tools matches, %s\n", median(took, times),
		tools, what);
	kind[0] = 'x';
	for (size_t i = 0; i < times; i++) {
		start = now_us();
		if (ss_toolset_allows(set, 4, refused, &tool, &err) == SS_OK)
			exit(1);
		took[i] = now_us() - start;
	}
	printf("%.2f\tnone of %zu tools matches, %s\n", median(took, times),
		tools, what);
	ss_toolset_free(set);
	free(text);
	free(took);
}

int
main(int argc, char **argv)
{
	size_t tools = argc == 3 ? (size_t)atol(argv[1]) : 0;
	size_t times = argc == 3 ? (size_t)atol(argv[2]) : 0;

	if (tools == 0 || times == 0)
		return 2;
	measure("words", tools, times, "'{}', ;");
	measure("regexes", tools, times,
		"{ regex: '^\\d{4}-\\d\\d-\\d\\d$' }, ;");
	return 0;
}
