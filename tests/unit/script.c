/* SPDX-License-Identifier: MIT */
/*
 * Scripts of a page: what their first line says they are run by, and which
 * files are none.
 */
#include "site/script.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

static char base[] = "/tmp/statespace-script-XXXXXX";
static char site[64];
static const char *const write_list[] = { "data" };
static struct grant grant;
static struct documents documents;

/* ------------------------------------------------------------ first lines */

static const struct {
	const char *head, *file, *option, *starts;
} heads[] = {
	{ "#!/bin/sh\necho\n", "/bin/sh", "", "" },
	{ "#!/bin/sh", "/bin/sh", "", "" },
	{ "#! /bin/sh -eu\n", "/bin/sh", "-eu", "" },
	{ "#!/usr/bin/perl -w  -T \t\n", "/usr/bin/perl", "-w  -T", "" },
	{ "#!/usr/bin/env python3\n", "/usr/bin/env", "python3", "python3" },
	{ "#!/usr/bin/env -S A=1 python3 -u\n", "/usr/bin/env",
		"-S A=1 python3 -u", "python3" },
	{ "#!/usr/bin/env\n", "/usr/bin/env", "", "" },
	{ "echo\n", "", "", "" },
	{ "", "", "", "" },
	{ "#", "", "", "" },
	{ "#!", NULL, NULL, NULL },
	{ "#!\n/bin/sh", NULL, NULL, NULL },
	{ "#!  \t\n", NULL, NULL, NULL },
	{ "#!python3\n", NULL, NULL, NULL },
	{ "#!../sh\n", NULL, NULL, NULL },
};

static void
check_heads(void)
{
	struct interpreter found;
	char text[PROGRAM_LINE_MAX + 1] = "#!/bin/sh\0x\n";

	for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
		bool taken = program_interpreter(
			heads[i].head, strlen(heads[i].head), &found);

		if (heads[i].file == NULL) {
			ok(!taken, "line %zu has no interpreter", i);
			continue;
		}
		ok(taken, "line %zu is read", i);
		is_str(heads[i].file, found.file, "... the file");
		is_str(heads[i].option, found.option, "... its option");
		is_str(heads[i].starts, found.starts, "... what env starts");
	}
	ok(!program_interpreter(text, 12, &found), "a NUL is refused");
	memset(text, 'x', PROGRAM_LINE_MAX);
	memcpy(text, "#!/", 3);
	ok(!program_interpreter(text, PROGRAM_LINE_MAX, &found),
		"a path that does not end is refused");
	text[PROGRAM_LINE_MAX - 1] = '\0';
	ok(program_interpreter(text, PROGRAM_LINE_MAX - 1, &found) &&
			strlen(found.file) == PROGRAM_LINE_MAX - 3,
		"one that ends with the file is taken");
	text[PROGRAM_LINE_MAX - 1] = 'x';
	text[20] = ' ';
	ok(program_interpreter(text, PROGRAM_LINE_MAX, &found) &&
			strlen(found.option) == PROGRAM_LINE_MAX - 21,
		"a long option is cut, as the kernel does");
}

/* --------------------------------------------------------------- the files */

static void
put(const char *name, const char *text)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", base, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, text, strlen(text)) < 0 || close(fd) < 0)
		exit(99);
}

static void
put_folder(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", base, name);
	if (mkdir(path, 0755) < 0)
		exit(99);
}

static void
put_link(const char *to, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", base, name);
	if (symlink(to, path) < 0)
		exit(99);
}

static const struct {
	const char *page_dir, *path;
	enum ss_err code;
	const char *program; /* or a part of the message or its hint */
} scripts[] = {
	{ "docs", "find.sh", SS_OK, "sh" },
	{ "docs", "./find.sh", SS_OK, "sh" },
	{ "docs", "../tools/top.py", SS_OK, "perl" },
	{ "", "tools/top.py", SS_OK, "perl" },
	{ "", "docs/plain", SS_OK, "sh" },
	{ "", "docs/inside.sh", SS_OK, "sh" },
	{ "docs", "wrapped", SS_OK, "env" },
	{ "docs", "own", SS_OK, "/opt/own/interpreter" },
	{ "docs", "none.sh", SS_EXEC_FAILED, "does not exist" },
	{ "docs", "find.sh {q}", SS_EXEC_FAILED, "under arguments" },
	{ "", "docs", SS_EXEC_FAILED, "is no file" },
	{ "", "tools", SS_EXEC_FAILED, "directory" },
	{ "", "README", SS_EXEC_FAILED, "directory, or not there" },
	{ "docs", "pipe", SS_EXEC_FAILED, "does not exist" },
	{ "docs", "relative", SS_EXEC_FAILED, "names no interpreter" },
	{ "docs", "windows", SS_EXEC_FAILED, "carriage return" },
	{ "docs", "windows.py", SS_EXEC_FAILED, "carriage return" },
	{ "docs", ".hidden.sh", SS_EXEC_FAILED, "dot entry" },
	{ "docs", "../../outside.sh", SS_PATH_REFUSED, "leaves the site" },
	{ "", "../outside.sh", SS_PATH_REFUSED, "leaves the site" },
	{ "docs", "out.sh", SS_PATH_REFUSED, "leaves the site" },
	{ "docs", "absolute.sh", SS_PATH_REFUSED, "leaves the site" },
	{ "", "data/new.sh", SS_NOT_ALLOWED, "tools may write" },
	{ "docs", "../data/new.sh", SS_NOT_ALLOWED, "tools may write" },
	{ "docs", "written.sh", SS_NOT_ALLOWED, "tools may write" },
};

static void
put_files(void)
{
	char path[256];

	put_folder("site");
	put_folder("site/docs");
	put_folder("site/tools");
	put_folder("site/data");
	put("outside.sh", "echo out\n");
	put("site/README.md", "# R\n");
	put("site/tools/README.md", "# T\n");
	put("site/docs/find.sh", "#!/bin/sh\necho\n");
	put("site/docs/.hidden.sh", "#!/bin/sh\necho\n");
	put("site/docs/plain", "echo\n");
	put("site/docs/wrapped", "#!/usr/bin/env -S perl -w\n");
	put("site/docs/own", "#!/opt/own/interpreter\n");
	put("site/docs/windows", "#!/bin/sh\r\necho\r\n");
	put("site/docs/windows.py", "#!/usr/bin/env python3\r\n");
	put("site/docs/relative", "#!bin/sh\n");
	put("site/tools/top.py", "#!/usr/bin/env perl\n");
	put("site/data/new.sh", "echo\n");
	put_link("../tools/top.py", "site/docs/inside.pl");
	put_link("find.sh", "site/docs/inside.sh");
	put_link("../../outside.sh", "site/docs/out.sh");
	snprintf(path, sizeof(path), "%s/outside.sh", base);
	put_link(path, "site/docs/absolute.sh");
	put_link("../data/new.sh", "site/docs/written.sh");
	snprintf(path, sizeof(path), "%s/site/docs/pipe", base);
	if (mkfifo(path, 0644) < 0)
		exit(99);
}

static void
check_scripts(void)
{
	for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
		const char *path = scripts[i].path;
		struct ss_error err = { 0 };
		struct script found;
		enum ss_err code = script_read(&documents, scripts[i].page_dir,
			-1, path, &found, &err);

		is_int(scripts[i].code, code, "\"%s\" in \"%s\"", path,
			scripts[i].page_dir);
		if (code == SS_OK)
			is_str(scripts[i].program, found.program,
				"... is run by");
		else
			ok(strstr(err.message, scripts[i].program) != NULL ||
					strstr(err.hint, scripts[i].program) !=
						NULL,
				"... \"%s\" has \"%s\"", err.message,
				scripts[i].program);
	}
}

/* `here` leads to another place than its name: so does ".." in it. */
static void
check_place(void)
{
	struct ss_error err = { 0 };
	struct script found;
	int dir;

	put_folder("site/docs/deep");
	put_folder("site/docs/tools");
	put("site/docs/tools/top.py", "#!/bin/sh\n");
	put_link("docs/deep", "site/here");
	root_find(&documents.root, "here", O_PATH | O_DIRECTORY, &dir);
	is_int(SS_EXEC_FAILED,
		script_read(&documents, "here", dir, "../tools/top.py", &found,
			&err),
		"a script that the interpreter would not find is refused");
	is_int(SS_OK,
		script_read(&documents, "here", -1, "../tools/top.py", &found,
			&err),
		"... as only the open directory tells");
	close(dir);
	root_find(&documents.root, "docs", O_PATH | O_DIRECTORY, &dir);
	is_int(SS_OK,
		script_read(&documents, "docs", dir, "../tools/top.py", &found,
			&err),
		"the one that it finds is taken");
	close(dir);
}

int
main(void)
{
	char command[128];

	if (mkdtemp(base) == NULL)
		return 99;
	put_files();
	snprintf(site, sizeof(site), "%s/site", base);
	grant = (struct grant){
		.root = site, .exec_any = true, .write = { write_list, 1 }
	};
	documents_init(&documents, &grant);
	root_open(&documents.root, site, NULL);
	check_heads();
	check_scripts();
	check_place();
	documents.root.walk = true;
	check_scripts();
	root_close(&documents.root);
	snprintf(command, sizeof(command), "rm -rf %s", base);
	ok(system(command) == 0, "nothing is left of the test's files");
	return done();
}
