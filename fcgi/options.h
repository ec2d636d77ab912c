/* SPDX-License-Identifier: MIT */
/*
 * The options that the commands share, and the one place where a site is
 * configured: defaults, file, environment, options, in this order
 * (statespace.toml(5)).
 *
 * A command gives its own getopt table, adds OPTIONS_LONG to it and hands
 * what it does not know to options_take.  Nothing is applied before
 * options_site, so that the order on the command line does not matter.
 */
#ifndef FCGI_OPTIONS_H
#define FCGI_OPTIONS_H

#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "statespace.h"

#define OPTIONS_MAX 256

enum {
	OPTION_CONFIG = 'c',
	OPTION_ENV = 'e',
	OPTION_ENV_FILE = 0x100,
	OPTION_TIMEOUT,
	OPTION_WORKERS,
	OPTION_SITE, /* of some commands */
	OPTION_HELP,
	OPTION_VERSION,
	OPTION_OWN /* the first of a command's own */
};

#define OPTIONS_SHORT "c:e:"
#define OPTIONS_LONG                                                           \
	{ "config", required_argument, NULL, OPTION_CONFIG },                  \
		{ "env", required_argument, NULL, OPTION_ENV },                \
		{ "env-file", required_argument, NULL, OPTION_ENV_FILE },      \
		{ "timeout", required_argument, NULL, OPTION_TIMEOUT },        \
		{ "workers", required_argument, NULL, OPTION_WORKERS },        \
		{ "help", no_argument, NULL, OPTION_HELP },                    \
	{                                                                      \
		"version", no_argument, NULL, OPTION_VERSION                   \
	}

enum option_kind { OPTION_IS_KEY, OPTION_IS_ENV, OPTION_IS_ENV_FILE };

struct option_item {
	enum option_kind kind;
	const char *key;   /* configuration key; NULL for the environment */
	const char *value; /* borrowed from argv */
};

/*
 * A static one gets its usage by assignment: an initializer would put its array
 * into .data, which every start of the program reads.
 */
struct options {
	const char *usage;  /* "usage: ...\n", the synopsis; borrowed */
	const char *root;   /* the directory that is served; NULL: configured */
	const char *site;   /* --site: one of several; NULL */
	const char *config; /* -c; NULL: STATESPACE_CONFIG, else installed */
	/*
	 * Under CGI: only the file beside the program or the installed one;
	 * the environment is the request, not configuration.
	 */
	bool cgi;
	struct option_item items[OPTIONS_MAX];
	size_t count;
};

/* The configuration key gets value (borrowed); false: too many. */
bool options_add(struct options *o, const char *key, const char *value);

/*
 * Takes one of the shared options as getopt_long returned it.  -1: taken, go
 * on; otherwise the exit status to end with (--help and --version print; an
 * unknown option prints the usage on standard error and is EXIT_USAGE).
 */
int options_take(struct options *o, int option, const char *argument);

/* Prints a sentence (may be NULL) and the usage; returns EXIT_USAGE. */
int options_misused(const struct options *o, const char *sentence);

/*
 * Makes the configured site, not yet opened; free it with ss_site_free.
 * NULL with err filled: a file that cannot be read or a value that is wrong.
 * May be called again for a reload.
 */
struct ss_site *options_site(const struct options *o, struct ss_error *err);
/* Does that configuration, before it is opened, name several sites? */
bool options_has_sites(const struct ss_site *site);
/* The same, opened; fallback is the directory when none is configured. */
struct ss_site *options_open(
	const struct options *o, const char *fallback, struct ss_error *err);
/*
 * The same for a command about one site.  Of several it is the one that --site
 * names, else the one that the directory lies in, else the main one.
 *
 * *all     to be freed with ss_site_free in place of the result.
 * number   of the result, 0 also where none was named; NULL: then it is refused
 *          unless there is a main one.
 */
struct ss_site *options_open_one(const struct options *o, const char *fallback,
	struct ss_site **all, size_t *number, struct ss_error *err);

/* The configuration file, perhaps in path; NULL: there is none. */
const char *options_config(const struct options *o, char path[static PATH_MAX]);

/*
 * Prints why there is no site; returns the exit status: EXIT_USAGE for an
 * option's value, else fault: EXIT_FAULT of exec, where 1 is a tool's status,
 * EXIT_FAILURE of the others.
 */
int options_failed(const struct ss_error *err, int fault);

/*
 * The rest of the command line: nothing, or one directory.  -1: taken; else
 * the exit status to end with.
 */
int options_directory(struct options *o, int argc, char **argv);

#endif
