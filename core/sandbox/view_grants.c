/* SPDX-License-Identifier: MIT */
#include "sandbox/view_grants.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/grant_path.h"
#include "sandbox/mount.h"

/* A mount to be made. */
struct bound {
	char *from, *to;
	uint64_t attr;
};

struct bound_list {
	struct bound *items;
	size_t count;
	const struct path_list *writable;
};

/*
 * A grant below a writable one is visible with that, and gets no mount of its
 * own: it would be looked up by name, and a tool may have put a link there.
 */
static bool
is_in_writable(
	const struct bound_list *list, const char *path, const char *root)
{
	char upper[PATH_MAX];
	bool optional;

	for (size_t i = 0; i < list->writable->count; i++)
		if (grant_path_outside(list->writable->items[i], root, upper,
			    sizeof(upper), &optional) &&
			grant_path_is_below(path, upper) &&
			strcmp(path, upper) != 0)
			return true;
	return false;
}

static bool
bound_add(struct bound_list *list, const struct path_list *paths,
	const char *root, uint64_t attr)
{
	char from[PATH_MAX], to[PATH_MAX];
	struct bound *b;
	bool optional;

	for (size_t i = 0; i < paths->count; i++) {
		if (!grant_path_outside(paths->items[i], root, from,
			    sizeof(from), &optional) ||
			!grant_path_inside(paths->items[i], root, VIEW_SITE, to,
				sizeof(to), &optional) ||
			is_in_writable(list, from, root))
			continue;
		b = &list->items[list->count++];
		*b = (struct bound){ strdup(from), strdup(to), attr };
		if (b->from == NULL || b->to == NULL)
			return false;
	}
	return true;
}

/* Upper directories first; at the same one the writable mount last. */
static int
bound_order(const void *a, const void *b)
{
	const struct bound *x = a, *y = b;
	size_t n = strlen(x->to), m = strlen(y->to);

	if (n != m)
		return n < m ? -1 : 1;
	return (x->attr == MOUNT_WRITABLE) - (y->attr == MOUNT_WRITABLE);
}

/*
 * A grant within the site is looked up beneath it: the author's links cannot
 * lead the operator's grant elsewhere.
 */
static int
copy_grant(const struct bound *b, const char *site)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
	const char *rest = b->from + strlen(site);
	int root, fd, tree;

	if (!grant_path_is_below(b->from, site))
		return mount_copy(AT_FDCWD, b->from, b->attr);
	root = open(site, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = root < 0
		? -1
		: (int)syscall(SYS_openat2, root,
			  rest[0] == '/' ? rest + 1 : ".", &how, sizeof(how));
	tree = fd < 0 ? -1 : mount_copy(fd, "", b->attr);
	fd_close(&fd);
	fd_close(&root);
	return tree;
}

static bool
bind_grants(int root, struct bound_list *list, const char *site, struct step *s)
{
	const struct bound *b;
	bool done = true;
	int tree;

	if (list->count > 0)
		qsort(list->items, list->count, sizeof(*list->items),
			bound_order);
	for (size_t i = 0; i < list->count && done; i++) {
		b = &list->items[i];
		tree = copy_grant(b, site);
		if (tree < 0 &&
			(errno == ENOENT || errno == EACCES || errno == EXDEV ||
				errno == ELOOP))
			continue;
		done = (tree >= 0 && mount_place(root, tree, b->to)) ||
			step_fail(s, "bind %s at %s", b->from, b->to);
		fd_close(&tree);
	}
	return done;
}

/* Programs that are named by a path; bare names are looked up, not mounted. */
static bool
bound_add_programs(struct bound_list *list, const struct path_list *paths,
	const char *root)
{
	struct path_list one;

	for (size_t i = 0; i < paths->count; i++) {
		one = (struct path_list){ &paths->items[i], 1 };
		if (strchr(paths->items[i], '/') != NULL &&
			!bound_add(list, &one, root, MOUNT_READ_ONLY))
			return false;
	}
	return true;
}

/* All that a view gets of them; release_grants follows, also after false. */
static bool
list_grants(const struct view_plan *p, unsigned keeps, struct bound_list *list)
{
	static const struct path_list none = { NULL, 0 };
	const struct grant *g = p->grant;

	*list = (struct bound_list){ NULL, 0, &none };
	if (g == NULL)
		return true;
	if (p->writes)
		list->writable = &g->write;
	list->items = calloc(g->read.count + g->write.count + g->exec.count +
			g->unix_sockets.count + 1,
		sizeof(*list->items));
	return list->items != NULL &&
		bound_add(list, &g->read, p->root, MOUNT_READ_ONLY) &&
		bound_add_programs(list, &g->exec, p->root) &&
		bound_add(list, list->writable, p->root, MOUNT_WRITABLE) &&
		bound_add(list, keeps & KEEP_UNIX ? &g->unix_sockets : &none,
			p->root, MOUNT_READ_ONLY);
}

static void
release_grants(struct bound_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].from);
		free(list->items[i].to);
	}
	free(list->items);
}

bool
view_grants_bind(
	int root, const struct view_plan *p, unsigned keeps, struct step *s)
{
	struct bound_list list;
	bool done =
		list_grants(p, keeps, &list) || step_fail(s, "list the grants");

	done = done && bind_grants(root, &list, p->root, s);
	release_grants(&list);
	return done;
}

enum view_place
view_grants_find(const struct view_plan *p, unsigned keeps, const char *inside,
	char *outside, bool *top)
{
	struct bound_list list;
	enum view_place found = VIEW_NOTHING;
	size_t longest = 0;

	if (!list_grants(p, keeps, &list))
		list.count = 0;
	for (size_t i = 0; i < list.count; i++) {
		const struct bound *b = &list.items[i];
		size_t n = strlen(b->to);

		if (grant_path_is_below(inside, b->to) && n > longest) {
			snprintf(
				outside, PATH_MAX, "%s%s", b->from, inside + n);
			found = VIEW_OF_HOST;
			longest = n;
			*top = inside[n] == '\0';
		} else if (found == VIEW_NOTHING &&
			grant_path_is_below(b->to, inside)) {
			found = VIEW_ITS_OWN;
		}
	}
	release_grants(&list);
	return found;
}
