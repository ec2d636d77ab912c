/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "say.h"
#include "sys.h"

#define INSTALLED_CONFIG "/etc/statespace/statespace.toml"
#define CONFIG_NAME "statespace.toml"

/* How many sites a message names. */
#define SITES_NAMED 8
#define NAMES_SIZE 384

extern char **environ;

static bool
add_item(struct options *o, enum option_kind kind, const char *key,
	const char *value)
{
	if (o->count == OPTIONS_MAX)
		return false;
	o->items[o->count++] = (struct option_item){ kind, key, value };
	return true;
}

bool
options_add(struct options *o, const char *key, const char *value)
{
	return add_item(o, OPTION_IS_KEY, key, value);
}

int
options_misused(const struct options *o, const char *sentence)
{
	if (sentence != NULL)
		say("%s", sentence);
	fputs(o->usage, stderr);
	return EXIT_USAGE;
}

/* One sentence for each option that the usage names. */
static void
print_help(const char *usage)
{
	static const struct {
		const char *word, *what;
	} sentences[] = {
		{ "-h HOST",
			"The address to listen on; 127.0.0.1 by default." },
		{ "-p PORT", "The port to listen on; 8000 by default." },
		{ "-C DIR", "The site; the current directory by default." },
		{ "-c FILE",
			"The file of statespace.toml(5) that configures it." },
		{ "-e K=V", "A variable that pages fill in as $K." },
		{ "--env-file F", "Such variables from a file, one a line." },
		{ "--timeout S", "How many seconds a command may run." },
		{ "--socket PATH", "The Unix socket to listen on." },
		{ "--workers N", "How many requests are answered at a time." },
		{ "--front FRONT",
			"The web server to start: nginx, lighttpd." },
		{ "--allow-no-readme", "Serve a directory without README.md." },
		{ "--root DIR", "The directory whose files are served." },
		{ "--json", "Print objects instead of sentences." },
		{ "--folder DIR",
			"The directory of the site that it is a copy of." },
		{ "--backend B", "What keeps it: overlay, agentfs or copy." },
		{ "--patch", "Print a patch that git apply takes." },
		{ "--force", "Commit over what changed in the site, too." },
		{ "--digest D", "Commit only if the changes are these." },
		{ "--after CURSOR",
			"Go on behind an earlier page of changes." },
		{ "--most N", "How many changes a page has." },
		{ "--tool",
			"Run the tool of this name, with arguments NAME=VALUE." },
		{ "--run", "Run components, and tools with their examples." },
		{ "--run-all", "Also tools that may write or connect." },
		{ "--dry-run", "Print what would run, and run nothing." },
		{ "--explain", "Run it and tell what the sandbox refused." },
		{ "--yes", "Agree to a tool that asks a person first." },
		{ "--site SITE",
			"Of several sites the one with this HOST/PREFIX." },
		{ "--next CURSOR", "Print the next part of a long output." },
		{ "--workspace ID",
			"Run it in that session of a page with workspace." },
		{ "--commit", "Apply what it changed if it ended with 0." },
		{ "--once KEY",
			"Run once for the key; later runs tell its answer." },
		{ "--get PAGE", "Print what GET would answer." },
	};

	printf("%s\n", usage);
	for (size_t i = 0; i < ARRAY_LEN(sentences); i++)
		if (strstr(usage, sentences[i].word) != NULL)
			printf("  %-18s %s\n", sentences[i].word,
				sentences[i].what);
	printf("  %-18s %s\n", "--help", "Print this.");
}

int
options_take(struct options *o, int option, const char *argument)
{
	bool taken = true;

	switch (option) {
	case OPTION_CONFIG: o->config = argument; break;
	case OPTION_ENV:
		taken = add_item(o, OPTION_IS_ENV, NULL, argument);
		break;
	case OPTION_ENV_FILE:
		taken = add_item(o, OPTION_IS_ENV_FILE, NULL, argument);
		break;
	case OPTION_TIMEOUT:
		taken = options_add(o, "limits.timeout", argument);
		break;
	case OPTION_WORKERS:
		taken = options_add(o, "pool.workers", argument);
		break;
	case OPTION_SITE: o->site = argument; break;
	case OPTION_HELP: print_help(o->usage); return 0;
	case OPTION_VERSION: printf("statespace %s\n", ss_version()); return 0;
	default: return options_misused(o, NULL);
	}
	return taken ? -1 : options_misused(o, "too many options");
}

/* NAME=VALUE into the site's table; where names the origin in messages. */
static enum ss_err
set_env(struct ss_site *site, const char *pair, const char *where,
	struct ss_error *err)
{
	const char *equals = strchr(pair, '=');
	char name[256];

	if (equals == NULL || equals == pair ||
		(size_t)(equals - pair) >= sizeof(name))
		return say_refusal(err, SS_CONFIG,
			"%s: a variable is written NAME=VALUE", where);
	memcpy(name, pair, (size_t)(equals - pair));
	name[equals - pair] = '\0';
	return ss_site_set_env(site, name, equals + 1, err);
}

/*
 * One line of an --env-file: blank, "# comment", or [export ]NAME=VALUE with
 * the value as it stands or within one pair of quotes.
 */
static enum ss_err
set_env_line(struct ss_site *site, char *line, const char *where,
	struct ss_error *err)
{
	char *value;
	size_t len;

	line[strcspn(line, "\r\n")] = '\0';
	line += strspn(line, " \t");
	if (*line == '\0' || *line == '#')
		return SS_OK;
	if (strncmp(line, "export ", 7) == 0)
		line += 7 + strspn(line + 7, " \t");
	value = strchr(line, '=');
	len = value != NULL ? strlen(++value) : 0;
	if (len >= 2 && (*value == '"' || *value == '\'') &&
		value[len - 1] == *value) {
		memmove(value, value + 1, len - 2);
		value[len - 2] = '\0';
	}
	return set_env(site, line, where, err);
}

static enum ss_err
set_env_file(struct ss_site *site, const char *name, struct ss_error *err)
{
	enum ss_err code = SS_OK;
	char *line = NULL, where[PATH_MAX + 32];
	size_t cap = 0;
	unsigned number = 0;
	FILE *file;

	file = fopen(name, "re");
	if (file == NULL)
		return say_refusal(err, SS_CONFIG,
			"cannot read the --env-file %s: %s", name,
			strerror(errno));
	while (code == SS_OK && getline(&line, &cap, file) >= 0) {
		snprintf(where, sizeof(where), "%s line %u", name, ++number);
		code = set_env_line(site, line, where, err);
	}
	free(line);
	fclose(file);
	return code;
}

const char *
options_config(const struct options *o, char path[static PATH_MAX])
{
	static const char *const here[] = { "." };
	const char *name = o->config;

	if (o->cgi)
		name = sys_find_beside(here, 1, CONFIG_NAME, path) ? path
								   : NULL;
	else if (name == NULL)
		name = getenv("STATESPACE_CONFIG");
	if (name == NULL && access(INSTALLED_CONFIG, F_OK) == 0)
		name = INSTALLED_CONFIG;
	return name;
}

/* A wrong value on the command line is wrong usage. */
static enum ss_err
set_item(struct ss_site *site, const struct option_item *item,
	struct ss_error *err)
{
	enum ss_err code = SS_OK;

	switch (item->kind) {
	case OPTION_IS_KEY:
		code = ss_site_set_option(site, item->key, item->value, err);
		break;
	case OPTION_IS_ENV:
		code = set_env(site, item->value, "--env", err);
		break;
	case OPTION_IS_ENV_FILE: return set_env_file(site, item->value, err);
	}
	if (code == SS_CONFIG)
		code = err->code = SS_BAD_REQUEST;
	return code;
}

static enum ss_err
configure(struct ss_site *site, const struct options *o, struct ss_error *err)
{
	char path[PATH_MAX];
	const char *config = options_config(o, path);
	enum ss_err code = SS_OK;

	if (config != NULL && *config != '\0')
		code = ss_site_set_config(site, config, err);
	if (code == SS_OK && !o->cgi)
		code = ss_site_set_environ(site, environ, err);
	for (size_t i = 0; code == SS_OK && i < o->count; i++)
		code = set_item(site, &o->items[i], err);
	if (code == SS_OK && o->root != NULL)
		code = ss_site_set_root(site, o->root, err);
	return code;
}

struct ss_site *
options_site(const struct options *o, struct ss_error *err)
{
	struct ss_site *site = ss_site_new();

	if (site == NULL) {
		say_refusal(err, SS_INTERNAL, "out of memory");
		return NULL;
	}
	if (configure(site, o, err) != SS_OK) {
		ss_site_free(site);
		return NULL;
	}
	return site;
}

bool
options_has_sites(const struct ss_site *site)
{
	return ss_site_count(site) > 0 ||
		*ss_site_option(site, "sites") != '\0';
}

/* "a.example, b.example/docs": the first of their names. */
static void
list_names(const struct ss_site *all, char *out, size_t cap)
{
	size_t len = 0, count = ss_site_count(all);

	snprintf(out, cap, "%s", "none");
	for (size_t i = 1; i <= count && len < cap; i++) {
		if (i > SITES_NAMED) {
			snprintf(out + len, cap - len, " and %zu more",
				count - SITES_NAMED);
			break;
		}
		len += (size_t)snprintf(out + len, cap - len, "%s%s",
			i > 1 ? ", " : "", ss_site_name(all, i));
	}
}

static void
refuse_unnamed(const struct ss_site *all, struct ss_error *err)
{
	char names[NAMES_SIZE];

	list_names(all, names, sizeof(names));
	say_refusal(err, SS_BAD_REQUEST,
		"the configuration has several sites: name one with --site; it "
		"has %s",
		names);
}

/* Which of the sites is meant; 0: none is named. */
static bool
find_number(const struct options *o, const struct ss_site *all,
	const char *fallback, size_t *number, struct ss_error *err)
{
	char names[NAMES_SIZE];

	if (o->site == NULL) {
		*number = ss_site_holding(
			all, o->root != NULL ? o->root : fallback);
		if (*number > 0 || o->root == NULL || !options_has_sites(all))
			return true;
		say_refusal(err, SS_BAD_REQUEST,
			"%s lies in no site of the configuration", o->root);
		return false;
	}
	*number = ss_site_find(all, o->site);
	if (*number > 0)
		return true;
	list_names(all, names, sizeof(names));
	say_refusal(err, SS_BAD_REQUEST,
		"--site %s: the configuration has no such site; it has %s",
		o->site, names);
	return false;
}

/* With the fallback where no directory and no table of a site is configured. */
static bool
open_site(struct ss_site *site, const char *fallback, struct ss_error *err)
{
	return (*ss_site_option(site, "root") != '\0' ||
		       options_has_sites(site) ||
		       ss_site_set_root(site, fallback, err) == SS_OK) &&
		ss_site_open(site, err) == SS_OK;
}

struct ss_site *
options_open(
	const struct options *o, const char *fallback, struct ss_error *err)
{
	struct ss_site *site = options_site(o, err);

	if (site != NULL && !open_site(site, fallback, err)) {
		ss_site_free(site);
		site = NULL;
	}
	return site;
}

/* A directory on the command line is the site, or says which of several. */
static bool
open_all(struct ss_site *all, const struct options *o, const char *fallback,
	struct ss_error *err)
{
	if (!options_has_sites(all) && o->root != NULL &&
		ss_site_set_root(all, o->root, err) != SS_OK)
		return false;
	return open_site(all, fallback, err);
}

struct ss_site *
options_open_one(const struct options *o, const char *fallback,
	struct ss_site **all, size_t *number, struct ss_error *err)
{
	struct options without = *o;
	struct ss_site *one = NULL;
	size_t n = 0;

	without.root = NULL;
	*all = options_site(&without, err);
	if (*all == NULL)
		return NULL;
	if (open_all(*all, o, fallback, err) &&
		find_number(o, *all, fallback, &n, err)) {
		if (n == 0 && number == NULL &&
			*ss_site_option(*all, "root") == '\0')
			refuse_unnamed(*all, err);
		else if (ss_site_pick(*all, n, &one, err) != SS_OK)
			one = NULL;
	}
	if (one == NULL) {
		ss_site_free(*all);
		*all = NULL;
	}
	if (number != NULL)
		*number = n;
	return one;
}

int
options_failed(const struct ss_error *err, int fault)
{
	say_error(NULL, err);
	return err->code == SS_BAD_REQUEST ? EXIT_USAGE : fault;
}

int
options_directory(struct options *o, int argc, char **argv)
{
	if (argc - optind > 1)
		return options_misused(o, "one directory, please");
	if (optind < argc)
		o->root = argv[optind];
	return -1;
}
