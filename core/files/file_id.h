/* SPDX-License-Identifier: MIT */
/*
 * Which file this is, and in which state: what is known of a file holds for as
 * long as these are equal.  All zero: not known, as a host's resolver may say.
 */
#ifndef SS_FILES_FILE_ID_H
#define SS_FILES_FILE_ID_H

#include <sys/stat.h>

#include "base/base.h"

struct file_id {
	uint64_t device, inode, length;
	int64_t mtime_ns, ctime_ns;
};

struct file_id file_id_of(const struct ss_document *doc);
struct file_id file_id_of_stat(const struct stat *st);
bool file_id_same(const struct file_id *a, const struct file_id *b);
bool file_id_is_known(const struct file_id *id);

#endif
