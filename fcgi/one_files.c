/* SPDX-License-Identifier: MIT */
/*
 * The installed files, in the one static program.  The assembler reads them
 * (.incbin) from the directory that make runs in.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "installed.h"
#include "sys.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define INCLUDE(symbol, path)                                                  \
	__asm__(".pushsection .rodata\n" #symbol ":\n"                         \
		"\t.incbin \"" path "\"\n" #symbol "_end:\n"                   \
		"\t.byte 0\n\t.popsection\n");                                 \
	extern const char(symbol)[] HIDDEN, symbol##_end[] HIDDEN

INCLUDE(one_nginx, "nginx/serve.conf.in");
INCLUDE(one_lighttpd, "nginx/serve.lighttpd.in");
INCLUDE(one_params, "nginx/statespace_params");
INCLUDE(one_errors, "nginx/statespace_errors");
INCLUDE(one_readme, "examples/starter/README.md");
INCLUDE(one_ideas, "examples/starter/notes/ideas.txt");
INCLUDE(one_todo, "examples/starter/notes/todo.txt");

struct file {
	const char *name, *begin, *end;
};

static const struct file templates[] = {
	{ "serve.conf.in", one_nginx, one_nginx_end },
	{ "serve.lighttpd.in", one_lighttpd, one_lighttpd_end },
	{ "statespace_params", one_params, one_params_end },
	{ "statespace_errors", one_errors, one_errors_end },
};

/* A directory comes before its files: its name ends in '/'. */
static const struct file starter[] = {
	{ "README.md", one_readme, one_readme_end },
	{ "notes/", NULL, NULL },
	{ "notes/ideas.txt", one_ideas, one_ideas_end },
	{ "notes/todo.txt", one_todo, one_todo_end },
};

FILE *
installed_template(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(templates); i++) {
		const struct file *t = &templates[i];
		union {
			const char *in;
			char *out;
		} text = { .in = t->begin };

		if (strcmp(t->name, name) == 0)
			return fmemopen(
				text.out, (size_t)(t->end - t->begin), "r");
	}
	return NULL;
}

/* lighttpd opens them by name: it sends its own. */
bool
installed_errors(char path[static PATH_MAX])
{
	path[0] = '\0';
	return false;
}

bool
installed_starter(void)
{
	return true;
}

static bool
write_file(int to, const struct file *f)
{
	int fd = openat(to, f->name,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	bool done;

	if (fd < 0)
		return false;
	done = sys_write_all(fd, f->begin, (size_t)(f->end - f->begin));
	return close(fd) == 0 && done;
}

bool
installed_starter_copy(int to)
{
	for (size_t i = 0; i < ARRAY_LEN(starter); i++)
		if (starter[i].begin != NULL
				? !write_file(to, &starter[i])
				: mkdirat(to, starter[i].name, 0777) < 0)
			return false;
	return true;
}
