/* SPDX-License-Identifier: MIT */
#include "site/listing.h"

#include <fcntl.h>

#include "base/error.h"
#include "files/walk.h"
#include "tools/wildcard.h"
#include "wire/path.h"

#define DEPTH_MAX 32
#define ENTRIES_MAX 10000 /* read of one folder */
#define VISITS_MAX 50000  /* read of the whole site */
#define PATTERNS_MAX 1024

/* A list while it is made. */
struct lister {
	const struct listing_source *from;
	const char **patterns;
	size_t pattern_count;
	struct listing *out;
	size_t max;
	const char *folder; /* the one that is read */
	bool no_memory;
	struct ss_error *err;
};

/* -------------------------------------------------------- what is listed -- */

static enum ss_err
read_patterns(struct lister *w)
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
is_named(const struct lister *w, const char *path)
{
	for (size_t i = 0; i < w->pattern_count; i++)
		if (wildcard_path(w->patterns[i], path))
			return true;
	return false;
}

static bool
is_listed(const struct lister *w, const char *path)
{
	return is_named(w, path) &&
		!hidden_has(&w->from->documents->hidden, path);
}

static void
add_listed(struct lister *w, const char *path)
{
	struct listing *l = w->out;

	if (!is_listed(w, path))
		return;
	if (l->count == w->max) {
		l->cut = true;
		return;
	}
	path = arena_copy(w->from->arena, path, strlen(path));
	w->no_memory |= path == NULL;
	l->paths[l->count] = path;
	l->count += path != NULL;
}

/* ------------------------------------------------------------ one folder -- */

static const char *
join_path(struct lister *w, const char *folder, const char *name)
{
	size_t len = strlen(folder) + strlen(name) + 1;

	if (len > PATH_BYTES_MAX)
		return NULL;
	return folder[0] != '\0'
		? arena_printf(w->from->arena, "%s/%s", folder, name)
		: name;
}

/* Does exactly this path lead to a file?  Symlinks may be on the way. */
static bool
is_file(struct lister *w, const char *path)
{
	struct ss_document doc = SS_INIT(ss_document);
	bool same;

	if (path == NULL ||
		root_resolve(&w->from->documents->root, path, ROOT_FILE, &doc,
			NULL) != SS_OK)
		return false;
	same = strcmp(doc.path, path) == 0 &&
		!documents_hides(w->from->documents, &doc);
	root_close_document(&doc);
	return same;
}

/* Can a request name it? */
static bool
is_askable(const char *name)
{
	char clean[PATH_BYTES_MAX + 1];

	return ss_path_clean(name, strlen(name), clean, sizeof(clean), NULL) ==
		SS_OK;
}

/* Is this entry a folder or a page? */
static bool
is_wanted(void *ctx, const struct walk_entry *e)
{
	struct lister *w = ctx;

	if (!is_askable(e->name))
		return false;
	if (e->type == WALK_DIRECTORY)
		return true;
	return path_is_page(e->name) &&
		(e->type == WALK_FILE ||
			(e->type == WALK_LINK &&
				is_file(w, join_path(w, w->folder, e->name))));
}

/* The README.md first, then by name. */
static int
compare_names(const void *left, const void *right)
{
	const struct walk_entry *a = left, *b = right;
	bool a_first = strcmp(a->name, "README.md") == 0;
	bool b_first = strcmp(b->name, "README.md") == 0;

	if (a_first != b_first)
		return a_first ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* The pages of a folder before the folders in it. */
static int
compare_pages_first(const void *left, const void *right)
{
	const struct walk_entry *a = left, *b = right;
	bool a_last = a->type == WALK_DIRECTORY;
	bool b_last = b->type == WALK_DIRECTORY;

	return a_last != b_last ? (a_last ? 1 : -1) : compare_names(a, b);
}

/* ------------------------------------------------------------- both lists -- */

static enum ss_err
begin_list(struct lister *w, size_t max)
{
	*w->out = (struct listing){ .paths = NULL };
	w->max = max;
	w->out->paths =
		arena_array(w->from->arena, max + 1, sizeof(*w->out->paths));
	if (w->out->paths == NULL)
		return error_memory(w->err);
	return read_patterns(w);
}

/* A folder that cannot be opened has no entries. */
static enum ss_err
read_folder(struct lister *w, struct walk_list *out)
{
	const struct walk_order order = { .most = ENTRIES_MAX,
		.keep = LISTING_FOLDER_MAX,
		.compare = compare_names,
		.wanted = is_wanted,
		.ctx = w };
	size_t visits = VISITS_MAX;
	int fd;

	*out = (struct walk_list){ 0 };
	if (root_open_at(&w->from->documents->root, w->folder,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW, &fd, NULL) != SS_OK)
		return SS_OK;
	if (walk_read(w->from->arena, fd, &order, &visits, out) != 0)
		return error_memory(w->err);
	w->out->cut = out->cut;
	return SS_OK;
}

enum ss_err
listing_folder(const struct listing_source *from, const char *folder,
	struct listing *out, struct ss_error *err)
{
	struct lister w = {
		.from = from, .out = out, .folder = folder, .err = err
	};
	struct walk_list list = { 0 };
	enum ss_err code = begin_list(&w, LISTING_FOLDER_MAX);

	if (code == SS_OK && documents_are_files(from->documents))
		code = read_folder(&w, &list);
	for (size_t i = 0; code == SS_OK && i < list.count; i++) {
		const struct walk_entry *e = &list.items[i];
		const char *path = join_path(&w, folder, e->name);

		if (path != NULL && e->type == WALK_DIRECTORY)
			path = join_path(&w, path, "README.md");
		if (path == NULL)
			continue;
		if (e->type != WALK_DIRECTORY || is_file(&w, path))
			add_listed(&w, path);
	}
	return w.no_memory ? error_memory(err) : code;
}

struct tree_lister {
	struct lister lister;
	struct walk_tree tree;
};

/* No folder is entered once the list is cut. */
static bool
list_entry(void *ctx, const char *path, enum walk_type type)
{
	struct tree_lister *t = ctx;

	if (type == WALK_DIRECTORY)
		return !t->tree.cut && !t->lister.out->cut;
	add_listed(&t->lister, path);
	return !t->lister.no_memory;
}

enum ss_err
listing_site(const struct listing_source *from, struct listing *out,
	struct ss_error *err)
{
	struct tree_lister t = {
		.lister = { .from = from, .out = out, .err = err },
		.tree = { .root = &from->documents->root,
			.order = { .most = ENTRIES_MAX,
				.compare = compare_pages_first,
				.wanted = is_wanted,
				.ctx = &t.lister },
			.depth = DEPTH_MAX,
			.visits = VISITS_MAX,
			.visit = list_entry,
			.ctx = &t },
	};
	uint64_t max = from->config->limits.max_list_items;
	enum ss_err code = begin_list(&t.lister,
		max < LISTING_SITE_MAX ? (size_t)max : LISTING_SITE_MAX);

	t.lister.folder = t.tree.path;
	if (code == SS_OK && documents_are_files(from->documents))
		code = walk_each(&t.tree, err);
	out->cut |= t.tree.cut;
	return t.lister.no_memory ? error_memory(err) : code;
}

bool
listing_has(const struct listing_source *from, const char *path)
{
	struct lister w = { .from = from };

	return read_patterns(&w) == SS_OK && is_listed(&w, path);
}

bool
listing_names(const struct listing_source *from, const char *path)
{
	struct lister w = { .from = from };

	return read_patterns(&w) == SS_OK && is_named(&w, path);
}
