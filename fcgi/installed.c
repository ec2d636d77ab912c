/* SPDX-License-Identifier: MIT */
#include "installed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys.h"

#define DEPTH_MAX 8

/* Where it was installed, or beside the build directory. */
static bool
find_nginx(const char *name, char path[static PATH_MAX])
{
	static const char *const places[] = { "../share/statespace/nginx",
		"../nginx", "nginx" };

	return sys_find_beside(places, ARRAY_LEN(places), name, path);
}

FILE *
installed_template(const char *name)
{
	char path[PATH_MAX];

	return find_nginx(name, path) ? fopen(path, "re") : NULL;
}

bool
installed_errors(char path[static PATH_MAX])
{
	return find_nginx("errors", path);
}

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

static int
open_starter(void)
{
	static const char *const places[] = { "../share/statespace", "." };
	char path[PATH_MAX];

	return sys_find_beside(places, ARRAY_LEN(places), "starter", path)
		? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
		: -1;
}

bool
installed_starter(void)
{
	int fd = open_starter();

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

bool
installed_starter_copy(int to)
{
	int from = open_starter();

	return from >= 0 && copy_tree(from, to, DEPTH_MAX);
}
