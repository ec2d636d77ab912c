/* SPDX-License-Identifier: MIT */
/*
 * statespace doctor: what this kernel and account can confine, one line a
 * layer, then each remedy once, however many layers it is for.  Exit 1 when
 * tools would be refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "options.h"
#include "say.h"

#define REMEDIES_MAX 32

static const char usage[] = "usage: statespace doctor [-c FILE] [--json]\n";

enum { OPTION_JSON = OPTION_OWN };

/* Without repetition.  The texts are constants of the library. */
struct list {
	const char *items[REMEDIES_MAX];
	size_t count;
};

struct report {
	bool json, first;
	struct list remedies; /* for the level */
	struct list options;  /* for layers that no level needs */
};

static void
add_once(struct list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], text) == 0)
			return;
	if (list->count < REMEDIES_MAX)
		list->items[list->count++] = text;
}

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
print_object(struct report *r, const struct ss_probe *p)
{
	printf("%s{\"name\": ", r->first ? "" : ", ");
	r->first = false;
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
print_layer(void *ctx, const struct ss_probe *p)
{
	struct report *r = ctx;

	if (p->remedy != NULL)
		add_once(p->needed ? &r->remedies : &r->options, p->remedy);
	if (r->json)
		print_object(r, p);
	else
		printf("%-4s %-22s %s\n",
			p->works            ? "ok"
				: p->needed ? "NO"
					    : "no",
			p->name, p->detail);
}

static void
print_list(const char *name, const struct list *list, bool json)
{
	if (json)
		printf(", \"%s\": [", name);
	for (size_t i = 0; i < list->count; i++) {
		if (!json) {
			printf("%s: %s\n", name, list->items[i]);
			continue;
		}
		printf("%s", i > 0 ? ", " : "");
		print_string(list->items[i]);
	}
	if (json)
		printf("]");
}

static void
print_end(const struct report *r, const struct ss_confined *is)
{
	if (r->json)
		printf("]");
	print_list(r->json ? "remedies" : "remedy", &r->remedies, r->json);
	print_list(r->json ? "options" : "option", &r->options, r->json);
	if (!r->json) {
		printf("tools run: %s%s%s%s\n", is->level,
			is->why[0] != '\0' ? " (" : "", is->why,
			is->why[0] != '\0' ? ")" : "");
		return;
	}
	printf(", \"level\": ");
	print_string(is->level);
	printf(", \"why\": ");
	print_string(is->why);
	printf(", \"all_tools\": %s}\n", is->all_tools ? "true" : "false");
}

static enum ss_err
diagnose(struct ss_site *site, struct report *r, struct ss_confined *is,
	struct ss_error *err)
{
	const char *level, *why;
	enum ss_err code;

	if (r->json)
		printf("{\"layers\": [");
	code = ss_site_probe(site, print_layer, r, &level, &why, err);
	if (code == SS_OK)
		code = ss_site_confined(site, is, err);
	if (code != SS_OK)
		return code;
	if (r->remedies.count == 0 && is->remedy[0] != '\0')
		add_once(&r->remedies, is->remedy);
	print_end(r, is);
	return SS_OK;
}

int
cmd_doctor(int argc, char **argv)
{
	static const struct option table[] = { OPTIONS_LONG,
		{ "json", no_argument, NULL, OPTION_JSON },
		{ NULL, 0, NULL, 0 } };
	struct options options = { .usage = usage };
	struct ss_confined is = { .size = sizeof(is) };
	struct report report = { .first = true };
	struct ss_error err = { 0 };
	struct ss_site *site = NULL;
	int option, status;

	while ((option = getopt_long(argc, argv, OPTIONS_SHORT, table, NULL)) !=
		-1) {
		if (option == OPTION_JSON) {
			report.json = true;
			continue;
		}
		status = options_take(&options, option, optarg);
		if (status >= 0)
			return status;
	}
	if (optind != argc)
		return options_misused(&options, "doctor takes no operand");
	site = options_open(
		&options, access("/usr", X_OK) == 0 ? "/usr" : "/", &err);
	if (site == NULL || diagnose(site, &report, &is, &err) != SS_OK) {
		ss_site_free(site);
		return options_failed(&err, EXIT_FAILURE);
	}
	ss_site_free(site);
	return is.all_tools ? 0 : 1;
}
