/* SPDX-License-Identifier: MIT */
#include "served.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "say.h"

static enum ss_err
open_log(struct served *s, struct ss_error *err)
{
	const char *file = ss_site_option(s->site, "log.file");

	s->log_fd = -1;
	if (file != NULL && *file != '\0') {
		s->log_fd = open(file,
			O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY,
			0640);
		if (s->log_fd < 0)
			return say_refusal(err, SS_CONFIG,
				"cannot open the log %s: %s", file,
				strerror(errno));
	}
	ss_site_set_log(s->site, say_line, s->log_fd >= 0 ? &s->log_fd : NULL);
	return SS_OK;
}

/* Before the site is opened, which resolves symlinks in the name. */
static void
note_root(struct served *s)
{
	const char *root = ss_site_option(s->site, "root");
	struct stat st;

	if (root == NULL || stat(root, &st) < 0)
		return;
	snprintf(s->root, sizeof(s->root), "%s", root);
	s->device = st.st_dev;
	s->inode = st.st_ino;
}

bool
served_moved(const struct served *s)
{
	struct stat st;

	return s->root[0] != '\0' && stat(s->root, &st) == 0 &&
		(st.st_dev != s->device || st.st_ino != s->inode);
}

struct served *
served_new(const struct options *o, struct ss_error *err)
{
	struct served *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		say_refusal(err, SS_INTERNAL, "out of memory");
		return NULL;
	}
	s->log_fd = -1;
	s->site = options_site(o, err);
	if (s->site != NULL)
		note_root(s);
	if (s->site == NULL ||
		request_attach(&s->request, s->site, err) != SS_OK ||
		open_log(s, err) != SS_OK ||
		ss_site_open(s->site, err) != SS_OK) {
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
	request_release(&s->request);
	if (s->log_fd >= 0)
		close(s->log_fd);
	free(s);
}
