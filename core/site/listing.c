/* SPDX-License-Identifier: MIT */
#include "site/listing.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "tools/wildcard.h"
#include "wire/path.h"

#define DEPTH_MAX 32
#define ENTRIES_MAX 10000 /* read of one folder */
#define VISITS_MAX 50000  /* read of the whole site */
#define PATTERNS_MAX 1024

struct entry {
	const char *name;
	bool folder;
	bool front; /* README.md */
};

struct walk {
	const struct listing_source *from;
	const char **patterns;
	size_t pattern_count;
	struct listing *out;
	size_t max, visits;
	struct ss_error *err;
};

/* One folder while it is read. */
struct folder {
	const char *path;
	int fd;
	struct entry *entries;
	size_t count;
	size_t keep; /* no more than the first so many; 0: all */
	bool full; /* the first `keep` are sorted: what is behind is not kept */
};

/* -------------------------------------------------------- what is listed -- */

static enum ss_err
read_patterns(struct walk *w)
{
	const struct config_list *listed = &w->from->config->http.listed;
	const char *written[WILDCARD_LISTS];
	enum ss_err code = SS_OK;
	size_t n;

	w->patterns =
		arena_array(w->from->arena, PATTERNS_MAX, sizeof(*w->patterns));
	if (w->patterns == NULL)
		return error_memory(w->err);
	for (size_t i = 0; code == SS_OK && i < listed->count; i++) {
		code = wildcard_expand(
			w->from->arena, listed->items[i], written, &n, w->err);
		for (size_t k = 0; code == SS_OK && k < n &&
			w->pattern_count < PATTERNS_MAX;
			k++)
			w->patterns[w->pattern_count++] = written[k];
	}
	return code;
}

static bool
is_listed(const struct walk *w, const char *path)
{
	for (size_t i = 0; i < w->pattern_count; i++)
		if (wildcard_path(w->patterns[i], path))
			return true;
	return false;
}

static void
add(struct walk *w, const char *path)
{
	struct listing *l = w->out;

	if (!is_listed(w, path))
		return;
	if (l->count == w->max)
		l->cut = true;
	else
		l->paths[l->count++] = path;
}

/* ------------------------------------------------------------ one folder -- */

static const char *
join(struct walk *w, const char *folder, const char *name)
{
	size_t len = strlen(folder) + strlen(name) + 1;

	if (len > PATH_BYTES_MAX)
		return NULL;
	return folder[0] != '\0'
		? arena_printf(w->from->arena, "%s/%s", folder, name)
		: name;
}

/* Does exactly this path lead to a file?  Symlinks may stand on the way. */
static bool
is_file(struct walk *w, const char *path)
{
	struct ss_document doc = SS_INIT(ss_document);
	bool same;

	if (path == NULL ||
		root_resolve(&w->from->documents->root, path, ROOT_FILE, &doc,
			NULL) != SS_OK)
		return false;
	same = strcmp(doc.path, path) == 0;
	document_close(&doc);
	return same;
}

/* Is this entry a page, or a folder?  Neither: false. */
static bool
look(struct walk *w, const struct folder *f, const struct dirent *d,
	struct entry *out)
{
	unsigned char type = d->d_type;
	struct stat st;

	if (type == DT_UNKNOWN &&
		fstatat(f->fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		type = S_ISDIR(st.st_mode)    ? DT_DIR
			: S_ISREG(st.st_mode) ? DT_REG
			: S_ISLNK(st.st_mode) ? DT_LNK
					      : DT_UNKNOWN;
	out->folder = type == DT_DIR;
	if (type == DT_DIR || (type == DT_REG && path_is_page(d->d_name)))
		return true;
	return type == DT_LNK && path_is_page(d->d_name) &&
		is_file(w, join(w, f->path, d->d_name));
}

/* A name that a request can hold. */
static bool
is_askable(const char *name)
{
	char clean[PATH_BYTES_MAX + 1];

	return name[0] != '.' &&
		ss_path_clean(name, strlen(name), clean, sizeof(clean), NULL) ==
		SS_OK;
}

static bool
is_front(const char *name)
{
	return strcmp(name, "README.md") == 0;
}

/* The README.md first, then by name. */
static int
compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->front != y->front)
		return x->front ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void
sort(struct folder *f)
{
	if (f->count > 0)
		qsort(f->entries, f->count, sizeof(*f->entries), compare);
	if (f->keep == 0 || f->count <= f->keep)
		return;
	f->count = f->keep;
	f->full = true;
}

/* To be sorted away: most names of a large folder cost no more than this. */
static bool
is_behind(const struct folder *f, const char *name)
{
	struct entry e = { .name = name, .front = is_front(name) };

	return f->full && compare(&e, &f->entries[f->keep - 1]) > 0;
}

static enum ss_err
add_entry(struct walk *w, struct folder *f, struct entry e, size_t *cap)
{
	struct arena *arena = w->from->arena;
	struct entry *grown;

	if (f->keep > 0 && f->count == 2 * f->keep)
		sort(f);
	if (f->count == *cap) {
		grown = arena_array(
			arena, *cap = *cap * 2 + 64, sizeof(*grown));
		if (grown == NULL)
			return error_memory(w->err);
		if (f->count > 0)
			memcpy(grown, f->entries, f->count * sizeof(*grown));
		f->entries = grown;
	}
	e.name = arena_copy(arena, e.name, strlen(e.name));
	if (e.name == NULL)
		return error_memory(w->err);
	f->entries[f->count++] = e;
	return SS_OK;
}

static enum ss_err
read_entries(struct walk *w, struct folder *f, DIR *dir)
{
	enum ss_err code = SS_OK;
	size_t cap = 0, seen = 0;
	struct dirent *d;

	while (code == SS_OK && (d = readdir(dir)) != NULL) {
		struct entry e = { .name = d->d_name,
			.front = is_front(d->d_name) };

		if (seen == ENTRIES_MAX || ++w->visits > VISITS_MAX) {
			w->out->cut = true;
			break;
		}
		if (is_behind(f, d->d_name)) {
			seen++;
			continue;
		}
		if (!is_askable(d->d_name) || !look(w, f, d, &e))
			continue;
		seen++;
		code = add_entry(w, f, e, &cap);
	}
	sort(f);
	w->out->cut |= f->full;
	return code;
}

/* What cannot be opened is empty. */
static enum ss_err
read_folder(struct walk *w, struct folder *f)
{
	enum ss_err code;
	DIR *dir;
	int fd;

	if (root_open_at(&w->from->documents->root, f->path,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW, &fd, NULL) != SS_OK)
		return SS_OK;
	dir = fdopendir(fd);
	if (dir == NULL) {
		fd_close(&fd);
		return error_memory(w->err);
	}
	f->fd = fd;
	code = read_entries(w, f, dir);
	closedir(dir);
	f->fd = -1;
	return code;
}

/* ------------------------------------------------------------- both walks -- */

static enum ss_err
begin(struct walk *w, size_t max)
{
	*w->out = (struct listing){ .paths = NULL };
	w->max = max;
	w->out->paths =
		arena_array(w->from->arena, max + 1, sizeof(*w->out->paths));
	if (w->out->paths == NULL)
		return error_memory(w->err);
	return read_patterns(w);
}

enum ss_err
listing_folder(const struct listing_source *from, const char *folder,
	struct listing *out, struct ss_error *err)
{
	struct walk w = { .from = from, .out = out, .err = err };
	struct folder f = {
		.path = folder, .fd = -1, .keep = LISTING_FOLDER_MAX
	};
	enum ss_err code = begin(&w, LISTING_FOLDER_MAX);

	if (code == SS_OK && documents_are_files(from->documents))
		code = read_folder(&w, &f);
	for (size_t i = 0; code == SS_OK && i < f.count; i++) {
		const char *path = join(&w, folder, f.entries[i].name);

		if (path != NULL && f.entries[i].folder)
			path = join(&w, path, "README.md");
		if (path == NULL)
			continue;
		if (!f.entries[i].folder || is_file(&w, path))
			add(&w, path);
	}
	return code;
}

/* Its own pages before those of the folders in it. */
static enum ss_err
walk_folder(struct walk *w, const char *path, size_t depth)
{
	struct folder f = { .path = path, .fd = -1 };
	enum ss_err code = SS_OK;

	if (depth > DEPTH_MAX || w->out->cut) {
		w->out->cut = true;
		return SS_OK;
	}
	code = read_folder(w, &f);
	for (size_t i = 0; code == SS_OK && i < f.count; i++) {
		const char *below = join(w, path, f.entries[i].name);

		if (!f.entries[i].folder && below != NULL)
			add(w, below);
	}
	for (size_t i = 0; code == SS_OK && i < f.count; i++) {
		const char *below = join(w, path, f.entries[i].name);

		if (f.entries[i].folder && below != NULL)
			code = walk_folder(w, below, depth + 1);
	}
	return code;
}

enum ss_err
listing_site(const struct listing_source *from, struct listing *out,
	struct ss_error *err)
{
	struct walk w = { .from = from, .out = out, .err = err };
	uint64_t max = from->config->limits.max_list_items;
	enum ss_err code = begin(
		&w, max < LISTING_SITE_MAX ? (size_t)max : LISTING_SITE_MAX);

	if (code == SS_OK && documents_are_files(from->documents))
		code = walk_folder(&w, "", 0);
	return code;
}

bool
listing_has(const struct listing_source *from, const char *path)
{
	struct walk w = { .from = from };

	return read_patterns(&w) == SS_OK && is_listed(&w, path);
}
