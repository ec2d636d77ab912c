/* SPDX-License-Identifier: MIT */
#include "served.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "say.h"

/* flags of open(2), which sets errno; *fd is -1 without a log. */
static enum ss_err
open_log_file(
	const struct ss_site *site, int flags, int *fd, struct ss_error *err)
{
	const char *file = ss_site_option(site, "log.file");
	int why;

	*fd = -1;
	if (file == NULL || *file == '\0')
		return SS_OK;
	*fd = open(
		file, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | flags, 0640);
	if (*fd >= 0)
		return SS_OK;
	why = errno;
	say_refusal(err, SS_CONFIG, "cannot open the log %s: %s", file,
		strerror(why));
	errno = why;
	return SS_CONFIG;
}

/*
 * Its directory is there, and not of proc(5) or sysfs(5), where no file can be
 * made whatever access(2) says to root.
 */
static bool
can_be_made(const char *file)
{
	const char *slash = strrchr(file, '/');
	char directory[PATH_MAX] = ".";
	struct statfs fs;
	struct stat st;

	if (slash != NULL)
		snprintf(directory, sizeof(directory), "%.*s/",
			(int)(slash - file), file);
	return stat(directory, &st) == 0 && S_ISDIR(st.st_mode) &&
		statfs(directory, &fs) == 0 && fs.f_type != PROC_SUPER_MAGIC &&
		fs.f_type != SYSFS_MAGIC;
}

/* Makes no file; what only this account may not do is no mistake. */
enum ss_err
served_check_log(const struct ss_site *site, struct ss_error *err)
{
	struct ss_error refused = { .code = SS_OK };
	int fd;

	if (open_log_file(site, O_NONBLOCK, &fd, &refused) == SS_OK) {
		if (fd >= 0)
			close(fd);
		return SS_OK;
	}
	if (errno == EACCES || errno == EPERM || errno == ENXIO ||
		(errno == ENOENT &&
			can_be_made(ss_site_option(site, "log.file"))))
		return SS_OK;
	*err = refused;
	return refused.code;
}

/* The pool starts no writer without one (core/receipts/). */
enum ss_err
served_check_receipts(const struct ss_site *site, struct ss_error *err)
{
	const char *receipts = ss_site_option(site, "log.receipts");
	const char *key = ss_site_option(site, "log.receipts_key");
	int fd;

	if (receipts == NULL || *receipts == '\0')
		return SS_OK;
	fd = key != NULL && *key != '\0' ? open(key, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0) {
		close(fd);
		return SS_OK;
	}
	if (key == NULL || *key == '\0')
		say_refusal(err, SS_CONFIG,
			"[log] receipts needs receipts_key, a private key");
	else
		say_refusal(err, SS_CONFIG,
			"cannot open [log] receipts_key %s: %s", key,
			strerror(errno));
	snprintf(err->hint, sizeof(err->hint),
		"`statespace receipts key FILE` makes one");
	return SS_CONFIG;
}

static enum ss_err
open_log(struct served *s, struct ss_error *err)
{
	enum ss_err code = open_log_file(s->site, O_CREAT, &s->log_fd, err);

	if (code != SS_OK)
		return code;
	ss_site_set_log(s->site, say_line, s->log_fd >= 0 ? &s->log_fd : NULL);
	return SS_OK;
}

static bool
open_counts(struct served *s, const struct served *before, struct ss_error *err)
{
	if (site_counts_open(&s->counts, s->site,
		    before != NULL ? before->counts : NULL,
		    before != NULL ? before->site : NULL))
		return true;
	say_refusal(err, SS_INTERNAL, "out of memory");
	return false;
}

struct served *
served_new(const struct options *o, const struct served *before,
	struct ss_error *err)
{
	struct served *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		say_refusal(err, SS_INTERNAL, "out of memory");
		return NULL;
	}
	s->log_fd = -1;
	s->site = options_site(o, err);
	if (s->site == NULL ||
		request_attach(&s->request, s->site, err) != SS_OK ||
		peers_read(&s->peers, s->site, err) != SS_OK ||
		open_log(s, err) != SS_OK ||
		ss_site_open(s->site, err) != SS_OK ||
		(!o->cgi && ss_site_open_state(s->site, err) != SS_OK) ||
		ss_site_open_state(s->site, err) != SS_OK ||
		ss_site_open_receipts(s->site, err) != SS_OK ||
		!open_counts(s, before, err)) {
		served_free(s);
		return NULL;
	}
	return s;
}

void
served_free(struct served *s)
{
	if (s == NULL)
		return;
	ss_site_free(s->site);
	site_counts_close(s->counts);
	request_release(&s->request);
	if (s->log_fd >= 0)
		close(s->log_fd);
	free(s);
}
