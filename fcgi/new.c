/* SPDX-License-Identifier: MIT */
/*
 * statespace new: copies the starter, a small site that is installed with this
 * program, into a new or empty directory.  Nothing is overwritten.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "options.h"
#include "say.h"
#include "sys.h"

#define DEPTH_MAX 8

static const char usage[] = "usage: statespace new DIR\n";

/* ----------------------------------------------------------- the copying -- */

/* errno has the reason when a function here is false. */
static bool
copy_bytes(int from, int to)
{
	char bytes[16384];
	ssize_t n;

	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		if (!sys_write_all(to, bytes, (size_t)n))
			return false;
	return n == 0;
}

static bool
copy_file(int from_dir, int to_dir, const char *name)
{
	int from = openat(from_dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	int to = -1;
	bool copied = false;

	if (from >= 0)
		to = openat(to_dir, name,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0666);
	if (to >= 0)
		copied = copy_bytes(from, to);
	if (from >= 0)
		close(from);
	if (to >= 0 && close(to) < 0)
		copied = false;
	return copied;
}

static bool copy_tree(int from, int to, unsigned depth);

static bool
copy_directory(int from_dir, int to_dir, const char *name, unsigned depth)
{
	const int how = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int from = openat(from_dir, name, how), to;
	bool copied;

	if (from < 0)
		return false;
	if (depth == 0 || mkdirat(to_dir, name, 0777) < 0 ||
		(to = openat(to_dir, name, how)) < 0) {
		close(from);
		return false;
	}
	copied = copy_tree(from, to, depth - 1);
	close(to);
	return copied;
}

/* All but names with a dot.  Takes from. */
static bool
copy_tree(int from, int to, unsigned depth)
{
	DIR *dir = fdopendir(from);
	struct dirent *e;
	struct stat st;
	bool copied = dir != NULL;

	if (dir == NULL)
		close(from);
	while (copied && (errno = 0, e = readdir(dir)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		copied = fstatat(from, e->d_name, &st, AT_SYMLINK_NOFOLLOW) ==
				0 &&
			(S_ISDIR(st.st_mode) ? copy_directory(from, to,
						       e->d_name, depth)
					     : copy_file(from, to, e->d_name));
	}
	copied = copied && errno == 0;
	if (dir != NULL)
		closedir(dir);
	return copied;
}

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

static int
open_starter(void)
{
	static const char *const places[] = { "../share/statespace", "." };
	char path[PATH_MAX];
	int fd = -1;

	if (sys_find_beside(places, ARRAY_LEN(places), "starter", path))
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		say("cannot find starter, which is installed with this "
		    "program");
	return fd;
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
	int from = open_starter(), to;
	bool made;

	if (from < 0)
		return EXIT_FAILURE;
	to = open_target(dir);
	if (to < 0) {
		close(from);
		return EXIT_FAILURE;
	}
	made = copy_tree(from, to, DEPTH_MAX);
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
