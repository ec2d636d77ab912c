/* SPDX-License-Identifier: MIT */
#include "run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"
#include "sys.h"

static const char *const files[] = { "pool.sock", "pool.sock.status",
	"nginx.conf", "lighttpd.conf" };

/* The path is written into the front's configuration: no special characters. */
static bool
is_plain(const char *path)
{
	return path != NULL && path[0] == '/' && strlen(path) < 64 &&
		strspn(path,
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			"0123456789/._-") == strlen(path);
}

void
run_dir_file(const struct run_dir *d, const char *name, char out[static 128])
{
	snprintf(out, 128, "%s/%s", d->path, name);
}

static bool
make_in(struct run_dir *d, const char *parent)
{
	snprintf(d->path, sizeof(d->path), "%s/statespace-XXXXXX", parent);
	if (mkdtemp(d->path) != NULL)
		return true;
	d->path[0] = '\0';
	return false;
}

/* As root: the account may pass through the directory to its own tmp. */
static bool
set_owners(const struct run_dir *d)
{
	char tmp[128];

	run_dir_file(d, "tmp", tmp);
	if (mkdir(tmp, 0700) < 0)
		return false;
	if (geteuid() != 0)
		return true;
	return chown(d->path, 0, d->account.gid) == 0 &&
		chmod(d->path, 0710) == 0 &&
		lchown(tmp, d->account.uid, d->account.gid) == 0;
}

enum ss_err
run_dir_make(struct run_dir *d, const struct ss_account *account,
	struct ss_error *err)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	*d = (struct run_dir){ .account = *account };
	/* Root's own runtime directory lets no other account through. */
	if (geteuid() == 0 || !is_plain(runtime) || !make_in(d, runtime))
		make_in(d, "/tmp");
	if (d->path[0] == '\0')
		return say_refusal(err, SS_CONFIG,
			"cannot make a directory in /tmp: %s", strerror(errno));
	if (set_owners(d))
		return SS_OK;
	say_refusal(err, SS_CONFIG, "cannot prepare %s: %s", d->path,
		strerror(errno));
	run_dir_remove(d);
	return SS_CONFIG;
}

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	remove(path);
	return 0;
}

/*
 * The account could exchange a directory for a symlink while nftw(3) walks: it
 * runs as the account, not as root.
 */
static void
remove_tmp(const struct run_dir *d, const char *tmp)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (sys_become(&d->account))
			nftw(tmp, remove_one, 8, FTW_DEPTH | FTW_PHYS);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	rmdir(tmp);
}

void
run_dir_remove(struct run_dir *d)
{
	char path[128];

	if (d->path[0] == '\0')
		return;
	run_dir_file(d, "tmp", path);
	remove_tmp(d, path);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		run_dir_file(d, files[i], path);
		unlink(path);
	}
	rmdir(d->path);
	d->path[0] = '\0';
}

/* The value for the @NAME@ at text, and its length in *len; NULL: none. */
static const char *
filling_at(const char *text, const struct filling *fillings, size_t count,
	size_t *len)
{
	for (size_t i = 0; i < count; i++) {
		*len = strlen(fillings[i].name);
		if (text[0] == '@' &&
			strncmp(text + 1, fillings[i].name, *len) == 0 &&
			text[1 + *len] == '@')
			return fillings[i].value;
	}
	return NULL;
}

static void
write_filled(FILE *out, const char *text, const struct filling *fillings,
	size_t count)
{
	while (*text != '\0') {
		size_t plain = strcspn(text + 1, "@") + 1, name_len;
		const char *value =
			filling_at(text, fillings, count, &name_len);

		if (value != NULL)
			fputs(value, out);
		else
			fwrite(text, 1, plain, out);
		text += value != NULL ? name_len + 2 : plain;
	}
}

enum ss_err
run_dir_write(const struct run_dir *d, const char *name, const char *text,
	const struct filling *fillings, size_t count, struct ss_error *err)
{
	char path[128];
	FILE *out;
	bool failed;
	int fd;

	run_dir_file(d, name, path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	out = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (out == NULL) {
		if (fd >= 0)
			close(fd);
		return say_refusal(err, SS_CONFIG, "cannot write %s: %s", path,
			strerror(errno));
	}
	write_filled(out, text, fillings, count);
	failed = ferror(out) != 0;
	if (fclose(out) != 0 || failed)
		return say_refusal(err, SS_CONFIG, "cannot write %s", path);
	return SS_OK;
}
