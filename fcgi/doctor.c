/* SPDX-License-Identifier: MIT */
/*
 * statespace doctor: what this kernel and account can confine, one line a
 * layer, with the remedy for each gap.  Exit 1 when tools would be refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "options.h"
#include "say.h"

static const char usage[] = "usage: statespace doctor [-c FILE] [--json]\n";

enum { OPTION_JSON = OPTION_OWN };

/* Probe texts are printable, but may hold quotes. */
static void
print_string(const char *text)
{
	putchar('"');
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar((unsigned char)*text < 0x20 ? ' ' : *text);
	}
	putchar('"');
}

static void
print_line(void *ctx, const struct ss_probe *p)
{
	(void)ctx;
	printf("%-4s %-22s %s\n",
		p->works            ? "ok"
			: p->needed ? "NO"
				    : "no",
		p->name, p->detail);
	if (p->remedy != NULL)
		printf("     %-22s -> %s\n", "", p->remedy);
}

static void
print_object(void *ctx, const struct ss_probe *p)
{
	bool *first = ctx;

	printf("%s{\"name\": ", *first ? "" : ", ");
	*first = false;
	print_string(p->name);
	printf(", \"works\": %s, \"needed\": %s, \"detail\": ",
		p->works ? "true" : "false", p->needed ? "true" : "false");
	print_string(p->detail);
	printf(", \"remedy\": ");
	if (p->remedy != NULL)
		print_string(p->remedy);
	else
		printf("null");
	putchar('}');
}

static void
print_level(bool json, const char *level, const char *why)
{
	if (json) {
		printf("], \"level\": ");
		print_string(level);
		printf(", \"why\": ");
		print_string(why);
		printf("}\n");
	} else if (why[0] != '\0') {
		printf("tools run: %s (%s)\n", level, why);
	} else {
		printf("tools run: %s\n", level);
	}
}

int
cmd_doctor(int argc, char **argv)
{
	static const struct option table[] = { OPTIONS_LONG,
		{ "json", no_argument, NULL, OPTION_JSON },
		{ NULL, 0, NULL, 0 } };
	struct options options = { .usage = usage };
	const char *level = "none", *why = "";
	struct ss_error err = { 0 };
	struct ss_site *site = NULL;
	bool json = false, first = true;
	int option, status;

	while ((option = getopt_long(argc, argv, OPTIONS_SHORT, table, NULL)) !=
		-1) {
		if (option == OPTION_JSON) {
			json = true;
			continue;
		}
		status = options_take(&options, option, optarg);
		if (status >= 0)
			return status;
	}
	if (optind != argc)
		return options_misused(&options, "doctor takes no operand");
	site = options_open(&options, "/usr", &err);
	if (site == NULL)
		goto failed;
	if (json)
		printf("{\"layers\": [");
	if (ss_site_probe(site, json ? print_object : print_line, &first,
		    &level, &why, &err) != SS_OK)
		goto failed;
	print_level(json, level, why);
	ss_site_free(site);
	return strcmp(level, "none") == 0 ? 1 : 0;
failed:
	ss_site_free(site);
	return options_failed(&err, EXIT_FAILURE);
}
