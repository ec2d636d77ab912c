/* SPDX-License-Identifier: MIT */
/*
 * statespace new: copies the starter, a small site that is installed with this
 * program, into a new or empty directory.  Nothing is overwritten.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "installed.h"
#include "options.h"
#include "say.h"
#include "sys.h"

static const char usage[] = "usage: statespace new DIR\n";

/* --------------------------------------------------------- the directory -- */

/* 0, ENOTEMPTY or another errno. */
static int
check_empty(int fd)
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own >= 0 ? fdopendir(own) : NULL;
	struct dirent *e;
	int found = 0;

	if (dir == NULL) {
		found = errno;
		if (own >= 0)
			close(own);
		return found;
	}
	while (found == 0 && (errno = 0, e = readdir(dir)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			found = ENOTEMPTY;
	if (found == 0)
		found = errno;
	closedir(dir);
	return found;
}

/* The new directory, or the one that is there and empty; -1 after a message. */
static int
open_target(const char *name)
{
	bool made = mkdir(name, 0777) == 0;
	int fd = -1, why;

	if (made || errno == EEXIST)
		fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	why = fd < 0 ? errno : made ? 0 : check_empty(fd);
	if (why == ENOTEMPTY)
		say("%s is not empty; name a new directory, or an empty one",
			name);
	else if (why != 0)
		say("%s: %s", name, strerror(why));
	if (why == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* --------------------------------------------------------------- the rest -- */

/* As a word of a command line. */
static void
print_word(const char *word)
{
	bool plain = word[0] != '\0' &&
		strspn(word,
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			"0123456789/._-+:,@%") == strlen(word);

	if (word[0] == '-')
		fputs("./", stdout);
	if (plain) {
		fputs(word, stdout);
		return;
	}
	putchar('\'');
	for (; *word != '\0'; word++)
		if (*word == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*word);
	putchar('\'');
}

static void
print_next(const char *dir)
{
	static const char *const commands[] = { "check", "serve" };

	printf("%s is a site now.  Look for mistakes in it, then serve it:\n\n",
		dir);
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		printf("  statespace %s ", commands[i]);
		print_word(dir);
		putchar('\n');
	}
}

static int
make_site(const char *dir)
{
	int to;
	bool made;

	if (!installed_starter()) {
		say("cannot find starter, which is installed with this "
		    "program");
		return EXIT_FAILURE;
	}
	to = open_target(dir);
	if (to < 0)
		return EXIT_FAILURE;
	made = installed_starter_copy(to);
	if (made)
		print_next(dir);
	else
		say("%s: %s; what was copied is left there", dir,
			strerror(errno));
	close(to);
	return made ? 0 : EXIT_FAILURE;
}

int
cmd_new(int argc, char **argv)
{
	static const struct option table[] = { { "help", no_argument, NULL,
						       OPTION_HELP },
		{ "version", no_argument, NULL, OPTION_VERSION },
		{ NULL, 0, NULL, 0 } };
	struct options options = { .usage = usage };
	int option, status;

	while ((option = getopt_long(argc, argv, "", table, NULL)) != -1) {
		status = options_take(&options, option, optarg);
		if (status >= 0)
			return status;
	}
	if (argc - optind != 1)
		return options_misused(&options, "new takes one directory");
	return make_site(argv[optind]);
}
