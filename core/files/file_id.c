/* SPDX-License-Identifier: MIT */
#include "files/file_id.h"

static int64_t
in_ns(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct file_id
file_id_of(const struct ss_document *doc)
{
	return (struct file_id){ .device = doc->device,
		.inode = doc->inode,
		.length = doc->length,
		.mtime_ns = doc->mtime_ns,
		.ctime_ns = doc->ctime_ns };
}

struct file_id
file_id_of_stat(const struct stat *st)
{
	return (struct file_id){ .device = st->st_dev,
		.inode = st->st_ino,
		.length = (uint64_t)st->st_size,
		.mtime_ns = in_ns(st->st_mtim),
		.ctime_ns = in_ns(st->st_ctim) };
}

bool
file_id_same(const struct file_id *a, const struct file_id *b)
{
	return a->inode == b->inode && a->device == b->device &&
		a->length == b->length && a->mtime_ns == b->mtime_ns &&
		a->ctime_ns == b->ctime_ns;
}

bool
file_id_is_known(const struct file_id *id)
{
	return id->device != 0 || id->inode != 0 || id->mtime_ns != 0;
}
