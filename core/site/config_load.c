/* SPDX-License-Identifier: MIT */
/*
 * Reads the configuration whole: from the defaults, a file, a directory of
 * files, the environment, an option.
 */
#include "site/config_load.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fd.h"
#include "page/toml.h"
#include "site/config_sites.h"
#include "site/config_value.h"

#define FILE_BYTES_MAX ((size_t)1 << 20)
#define VARIABLE_PREFIX "STATESPACE_"

/* ------------------------------------------------- all of it or nothing -- */

/* Copies what c holds; the memory stays c's. */
static bool
save_config(struct config *c, struct config *before)
{
	*before = *c;
	before->env = arena_array(
		&c->arena, c->env_count * 2 + 1, sizeof(*before->env));
	if (before->env == NULL)
		return false;
	if (c->env_count > 0)
		memcpy(before->env, c->env, c->env_count * sizeof(*c->env));
	return true;
}

static void
restore_config(struct config *c, const struct config *before)
{
	struct arena held = c->arena;

	*c = *before;
	c->arena = held;
	if (c->last_site != NULL)
		c->last_site->next = NULL;
}

/* ------------------------------------------------------------ beginning -- */

enum ss_err
config_init(struct config *c, struct ss_error *err)
{
	const struct config_source from = { .file = NULL };
	const struct config_key *key;
	struct arena scratch = { .limit = 0 };
	enum ss_err code = SS_OK;
	struct node n;

	memset(c, 0, sizeof(*c));
	arena_init(&c->arena, 0);
	for (size_t i = 0; code == SS_OK && (key = config_key_at(i)) != NULL;
		i++)
		code = config_preset_node(key, &n)
			? config_store_value(c, key, &n, &from, err)
			: config_set_text(
				  c, &scratch, key, key->preset, &from, err);
	arena_release(&scratch);
	if (code != SS_OK)
		config_release(c);
	return code;
}

void
config_release(struct config *c)
{
	config_drop_tables(c);
	arena_release(&c->arena);
	memset(c, 0, sizeof(*c));
}

enum ss_err
config_set(struct config *c, const char *key, const char *value,
	struct ss_error *err)
{
	const struct config_source from = { .file = NULL };
	const struct config_key *known = config_key_find(text_of(key));
	struct arena scratch = { .limit = 0 };
	enum ss_err code;

	if (strncmp(key, "env.", 4) == 0)
		return config_set_env(
			c, key + 4, strlen(key + 4), value, &from, err);
	if (known == NULL)
		return config_refuse_name(key, 0, &from, err);
	code = config_set_text(c, &scratch, known, value, &from, err);
	arena_release(&scratch);
	return code;
}

/* ----------------------------------------------------------- whole files -- */

/*
 * The main file may be a pipe of the shell.  A fifo in the directory `sites`
 * would keep a reload, and so the pool, waiting for its writer.
 */
static int
open_file(const char *file, bool only_sites, int *fd)
{
	struct stat st;

	*fd = open(file,
		O_RDONLY | O_CLOEXEC | O_NOCTTY |
			(only_sites ? O_NONBLOCK : 0));
	if (*fd < 0 || fstat(*fd, &st) < 0)
		return errno;
	return only_sites && !S_ISREG(st.st_mode) ? EINVAL : 0;
}

static enum ss_err
read_file(const char *file, bool only_sites, struct buf *text,
	struct ss_error *err)
{
	int fd, failed = open_file(file, only_sites, &fd);

	if (failed == 0)
		failed = fd_read_all(fd, text);
	fd_close(&fd);
	if (failed == ENOMEM || text->failed)
		return error_memory(err);
	if (failed == 0 && !text->full)
		return SS_OK;
	error_set(err, SS_CONFIG, "%s: cannot be read: %s",
		config_shown_file(file),
		failed == EINVAL      ? "it is no regular file"
			: failed != 0 ? strerror(failed)
				      : "it is larger than 1 MiB");
	if (err != NULL)
		err->sys_errno = failed;
	error_hint(err, "give the configuration file with -c FILE");
	return SS_CONFIG;
}

/* The directory that relative paths in the file start from. */
static enum ss_err
directory_of(const char *file, struct arena *scratch, char **out,
	struct ss_error *err)
{
	const char *slash = strrchr(file, '/');
	size_t len = slash == NULL ? 0 : (size_t)(slash - file);
	char *dir = slash == NULL ? arena_copy(scratch, ".", 1)
		: len == 0        ? arena_copy(scratch, "/", 1)
				  : arena_copy(scratch, file, len);
	char *real;

	if (dir == NULL)
		return error_memory(err);
	real = realpath(dir, NULL);
	if (real == NULL)
		return error_set(err, SS_CONFIG,
			"%s: its directory cannot be found: %s",
			config_shown_file(file), strerror(errno));
	*out = arena_copy(scratch, real, strlen(real));
	free(real);
	return *out != NULL ? SS_OK : error_memory(err);
}

/* The reader's "line L, column C: what" becomes "FILE:L: column C: what". */
static enum ss_err
parse_file(const char *file, const struct buf *text, struct arena *scratch,
	struct node **root, struct ss_error *err)
{
	struct ss_error found = { .code = SS_OK };
	struct node_place place = { 0, 0 };
	const struct reading r = {
		.arena = scratch, .place = &place, .err = &found
	};
	enum ss_err code = toml_parse(&r, buf_view(text), 1, SS_CONFIG, root);
	const char *what = strstr(found.message, ": ");

	if (code == SS_INTERNAL)
		return error_memory(err);
	if (code == SS_OK)
		return SS_OK;
	error_set(err, SS_CONFIG, "%s:%u: column %u: %s",
		config_shown_file(file), place.line, place.column,
		what != NULL ? what + 2 : found.message);
	error_hint(err, "%s", found.hint);
	return SS_CONFIG;
}

static bool
is_site(const struct node *n)
{
	return strcmp(n->key->text, "site") == 0;
}

/* A file of the directory `sites` has tables of sites, and nothing else. */
static enum ss_err
store_top(struct config *c, const struct node *n,
	const struct config_source *from, bool only_sites,
	struct arena *scratch, struct ss_error *err)
{
	if (is_site(n))
		return config_add_sites(c, n, from, err);
	if (!only_sites)
		return config_store_member(c, n, from, scratch, err);
	error_set(err, SS_CONFIG,
		"%s:%u: %.*s: found a key outside of a table of a site",
		config_shown_file(from->file), n->key->line,
		(int)utf8_cut(n->key->text, n->key->len, CONFIG_SHOWN_VALUE),
		n->key->text);
	error_hint(err,
		"begin this file with [site.\"HOST/PREFIX\"]; sections of the "
		"site are [site.\"HOST/PREFIX\".limits]");
	return SS_CONFIG;
}

static enum ss_err
load_file(struct config *c, const char *file, bool only_sites,
	struct ss_error *err)
{
	struct config_source from = { .file = file };
	struct arena scratch = { .limit = 0 };
	struct buf text = BUF_INIT(FILE_BYTES_MAX);
	struct config before;
	struct node *root = NULL;
	char *dir = NULL;
	enum ss_err code;

	if (!save_config(c, &before))
		return error_memory(err);
	code = read_file(file, only_sites, &text, err);
	if (code == SS_OK)
		code = directory_of(file, &scratch, &dir, err);
	if (code == SS_OK)
		code = parse_file(file, &text, &scratch, &root, err);
	from.dir = dir;
	for (const struct node *n = root != NULL ? root->first : NULL;
		n != NULL && code == SS_OK; n = n->next)
		code = store_top(c, n, &from, only_sites, &scratch, err);
	if (code == SS_OK && c->site_count > before.site_count)
		code = config_hold_tables(c, &scratch, err);
	if (code != SS_OK)
		restore_config(c, &before);
	buf_release(&text);
	arena_release(&scratch);
	return code;
}

enum ss_err
config_load(struct config *c, const char *file, struct ss_error *err)
{
	return load_file(c, file, false, err);
}

static int
is_toml(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && dot != NULL &&
		strcmp(dot, ".toml") == 0;
}

enum ss_err
config_load_sites(struct config *c, struct ss_error *err)
{
	struct dirent **entries;
	enum ss_err code = SS_OK;
	int count;

	if (c->sites[0] == '\0')
		return SS_OK;
	count = scandir(c->sites, &entries, is_toml, alphasort);
	if (count < 0) {
		error_set(err, SS_CONFIG, "sites: %s cannot be read: %s",
			c->sites, strerror(errno));
		error_hint(err, "name a directory of files with [site] tables");
		return SS_CONFIG;
	}
	for (int i = 0; i < count; i++) {
		char *file = arena_printf(
			&c->arena, "%s/%s", c->sites, entries[i]->d_name);

		if (code == SS_OK)
			code = file != NULL ? load_file(c, file, true, err)
					    : error_memory(err);
		free(entries[i]);
	}
	free(entries);
	return code;
}

/* ------------------------------------------------------------ environment -- */

/* name is variable without its prefix. */
static enum ss_err
set_variable(struct config *c, const char *variable, struct ss_text name,
	const char *value, struct ss_error *err)
{
	const struct config_source from = { .variable = variable };
	const struct config_key *key = config_key_of_variable(name);
	struct arena scratch = { .limit = 0 };
	enum ss_err code;

	if (text_starts(name, "ENV_"))
		return config_set_env(
			c, name.data + 4, name.len - 4, value, &from, err);
	if (key == NULL) {
		config_refuse_name(
			variable + strlen(VARIABLE_PREFIX), 0, &from, err);
		return SS_CONFIG;
	}
	code = config_set_text(c, &scratch, key, value, &from, err);
	arena_release(&scratch);
	return code;
}

enum ss_err
config_environ(struct config *c, char *const envp[], struct ss_error *err)
{
	const size_t skip = strlen(VARIABLE_PREFIX);
	enum ss_err code = SS_OK;
	struct config before;

	if (!save_config(c, &before))
		return error_memory(err);
	for (; *envp != NULL && code == SS_OK; envp++) {
		const char *equals = strchr(*envp, '=');
		struct ss_text name;
		char *variable;

		if (strncmp(*envp, VARIABLE_PREFIX, skip) != 0 ||
			equals == NULL)
			continue;
		name = (struct ss_text){ *envp + skip,
			(size_t)(equals - *envp) - skip };
		/*
		 * STATESPACE_CONFIG is the -c option; tools, which may start
		 * us again, have STATESPACE_REQUEST_ID.
		 */
		if (text_is(name, "CONFIG") || text_is(name, "REQUEST_ID"))
			continue;
		variable =
			arena_copy(&c->arena, *envp, (size_t)(equals - *envp));
		code = variable != NULL
			? set_variable(c, variable, name, equals + 1, err)
			: error_memory(err);
	}
	if (code != SS_OK)
		restore_config(c, &before);
	return code;
}
