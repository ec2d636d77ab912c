/* SPDX-License-Identifier: MIT */
#include "site/script.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/spawn.h"
#include "wire/path.h"

static enum ss_err
refuse(struct ss_error *err, const char *path, const char *what,
	const char *hint)
{
	error_set(err, SS_EXEC_FAILED, "the script %s %s", path, what);
	error_hint(err, "%s", hint);
	error_rule(err, 0, "%s", path);
	return SS_EXEC_FAILED;
}

/*
 * page_dir and path as one clean path.  False: it climbs out of the site, or is
 * too long.  ".." comes first in path: spec_parse refuses it anywhere else.
 */
static bool
join(const char *page_dir, const char *path, char out[static PATH_MAX])
{
	size_t dir = strlen(page_dir);
	int n;

	for (;;) {
		if (strncmp(path, "./", 2) == 0) {
			path += 2;
			continue;
		}
		if (strncmp(path, "../", 3) != 0)
			break;
		if (dir == 0)
			return false;
		while (dir > 0 && page_dir[dir - 1] != '/')
			dir--;
		dir -= dir > 0;
		path += 3;
	}
	n = snprintf(out, PATH_MAX, "%.*s%s%s", (int)dir, page_dir,
		dir > 0 ? "/" : "", path);
	return n > 0 && n < PATH_MAX;
}

/* The interpreter opens the path from the page's directory: is it this file? */
static bool
is_same(int dir_fd, const char *path, int fd)
{
	struct stat here, there;

	return dir_fd < 0 ||
		(fstat(fd, &here) == 0 &&
			fstatat(dir_fd, path, &there, 0) == 0 &&
			here.st_dev == there.st_dev &&
			here.st_ino == there.st_ino);
}

/* "/usr/bin/python3" is python3, so that [grant] exec may have either. */
static void
shorten(char program[static PROGRAM_LINE_MAX + 1])
{
	char found[PATH_MAX];
	const char *name = strrchr(program, '/') + 1;
	struct stat given, same;

	if (spawn_find(name, found, sizeof(found)) &&
		stat(program, &given) == 0 && stat(found, &same) == 0 &&
		given.st_dev == same.st_dev && given.st_ino == same.st_ino)
		memmove(program, name, strlen(name) + 1);
}

/* Without a #! line it is for sh(1).  `env NAME` alone is NAME. */
static void
take_interpreter(const struct interpreter *found, struct script *out)
{
	const char *program = found->file;

	if (found->file[0] == '\0')
		program = "sh";
	else if (found->starts[0] != '\0' &&
		strcmp(found->starts, found->option) == 0)
		program = found->starts;
	*out = (struct script){ .program = "" };
	memcpy(out->program, program, strlen(program) + 1);
	if (program == found->file) {
		memcpy(out->option, found->option, sizeof(out->option));
		memcpy(out->starts, found->starts, sizeof(out->starts));
		shorten(out->program);
	}
}

static enum ss_err
read_line(int fd, const char *path, struct script *out, struct ss_error *err)
{
	char head[PROGRAM_LINE_MAX + 1];
	struct interpreter found;
	ssize_t n = pread(fd, head, PROGRAM_LINE_MAX, 0);

	if (n < 0)
		return error_internal(err, errno, "reading %s", path);
	head[n] = '\0';
	if (!program_interpreter(head, (size_t)n, &found))
		return refuse(err, path, "names no interpreter",
			"its first line begins with an absolute path, as "
			"#!/bin/sh does");
	if (strchr(found.file, '\r') != NULL ||
		strchr(found.option, '\r') != NULL)
		return refuse(err, path,
			"has a carriage return in its first line",
			"save it with line ends of Unix");
	take_interpreter(&found, out);
	return SS_OK;
}

static enum ss_err
check_file(const struct documents *d, const struct ss_document *doc,
	const char *asked, int dir_fd, const char *path, struct ss_error *err)
{
	if (documents_writable(d, doc)) {
		error_set(err, SS_NOT_ALLOWED,
			"the script %s lies where tools may write", path);
		error_hint(err,
			"put it where [grant] write does not reach, or a tool "
			"could replace it");
		return SS_NOT_ALLOWED;
	}
	if (strcmp(doc->path, asked) != 0)
		return refuse(err, path, "is a directory, or not there",
			"name a file, relative to the page's directory");
	if (!is_same(dir_fd, path, doc->fd))
		return refuse(err, path,
			"is another file when .. passes a link",
			"name it without the link");
	return SS_OK;
}

enum ss_err
script_read(const struct documents *d, const char *page_dir, int dir_fd,
	const char *path, struct script *out, struct ss_error *err)
{
	char whole[PATH_MAX];
	struct ss_document doc;
	enum ss_err code;

	if (!join(page_dir, path, whole))
		return error_set(err, SS_PATH_REFUSED,
			"the script %s leaves the site", path);
	if (d->root.fd < 0)
		return refuse(err, path, "is no file here",
			"scripts need a site that is a directory");
	if (root_hides(whole))
		return refuse(err, path, "lies below a dot entry",
			"tools do not see dot entries: name it without a dot");
	code = root_resolve(&d->root, whole, ROOT_FILE, &doc, err);
	if (code == SS_NOT_FOUND)
		return refuse(err, path,
			"does not exist, or is no file that can be read",
			strpbrk(path, " {") != NULL
				? "name the file alone, and write its words "
				  "under arguments: [{q}]"
				: "name a file, relative to the page's "
				  "directory");
	if (code != SS_OK)
		return code;
	code = check_file(d, &doc, whole, dir_fd, path, err);
	if (code == SS_OK)
		code = read_line(doc.fd, path, out, err);
	root_close_document(&doc);
	return code;
}

bool
script_put(struct arena *arena, const struct script *s, const char *path,
	struct env_command *words)
{
	const char *const front[] = { s->program, s->option, path };
	size_t count = 0, n = 0;
	char **argv;
	const char **shown;

	while (words->argv[count] != NULL)
		count++;
	argv = arena_array(arena, count + ARRAY_LEN(front) + 1, sizeof(*argv));
	shown = arena_array(
		arena, count + ARRAY_LEN(front) + 1, sizeof(*shown));
	if (argv == NULL || shown == NULL)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(front); i++) {
		if (front[i][0] == '\0')
			continue;
		argv[n] = arena_copy(arena, front[i], strlen(front[i]));
		if (argv[n] == NULL)
			return false;
		shown[n] = argv[n];
		n++;
	}
	for (size_t i = 0; i < count; i++, n++) {
		argv[n] = words->argv[i];
		shown[n] = words->shown[i];
	}
	words->argv = argv;
	words->shown = shown;
	return true;
}
