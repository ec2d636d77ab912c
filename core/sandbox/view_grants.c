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
#include "sandbox/other_sites.h"

/* A mount to be made, of a site with that root. */
struct bound {
	char *from, *to;
	const char *root;
	uint64_t attr;
};

struct bound_list {
	const struct view_plan *plan;
	struct bound *items;
	size_t count;
};

/* Number 0 is the site at VIEW_SITE, the others are those of the plan. */
static struct view_site
site_of(const struct view_plan *p, size_t i)
{
	return i > 0 ? p->sites[i - 1]
		     : (struct view_site){ .root = p->root,
			       .grant = p->grant,
			       .at = VIEW_SITE };
}

/*
 * A grant below a writable one, of any site, is visible with that, and gets no
 * mount of its own: it would be looked up by name, and a tool may have put a
 * link there.
 */
static bool
is_in_writable(const struct bound_list *list, const char *path)
{
	const struct view_plan *p = list->plan;
	char upper[PATH_MAX];
	bool optional;

	for (size_t k = 0; p->writes && k <= p->site_count; k++) {
		const struct view_site v = site_of(p, k);

		for (size_t i = 0; v.grant != NULL && i < v.grant->write.count;
			i++)
			if (grant_path_outside(v.grant->write.items[i], v.root,
				    upper, sizeof(upper), &optional) &&
				grant_path_is_below(path, upper) &&
				strcmp(path, upper) != 0)
				return true;
	}
	return false;
}

static bool
bound_add(struct bound_list *list, const struct path_list *paths,
	const struct view_site *v, uint64_t attr)
{
	char from[PATH_MAX], to[PATH_MAX];
	struct bound *b;
	bool optional;

	for (size_t i = 0; i < paths->count; i++) {
		if (!grant_path_outside(paths->items[i], v->root, from,
			    sizeof(from), &optional) ||
			!grant_path_inside(paths->items[i], v->root, v->at, to,
				sizeof(to), &optional) ||
			is_in_writable(list, from))
			continue;
		b = &list->items[list->count++];
		*b = (struct bound){ strdup(from), strdup(to), NULL, attr };
		if (b->from == NULL || b->to == NULL)
			return false;
		b->root = v->root;
	}
	return true;
}

/* Upper directories first; at the same one the writable mount last. */
static int
bound_order(const void *a, const void *b)
{
	const struct bound *x = a, *y = b;
	size_t n = strlen(x->to), m = strlen(y->to);
	int names;

	if (n != m)
		return n < m ? -1 : 1;
	names = strcmp(x->to, y->to);
	if (names != 0)
		return names;
	return (x->attr == MOUNT_WRITABLE) - (y->attr == MOUNT_WRITABLE);
}

/* Its links may lead into the root of another site since the start. */
static int
copy_outside(const struct view_plan *p, const struct bound *b)
{
	const struct other_sites others = { .own = b->root,
		.main = p->root,
		.sites = p->sites,
		.count = p->site_count };
	int fd, tree;

	if (p->site_count == 0)
		return mount_copy(AT_FDCWD, b->from, b->attr);
	fd = open(b->from, O_PATH | O_CLOEXEC);
	if (fd >= 0 && other_sites_have(&others, b->from, fd)) {
		fd_close(&fd);
		errno = EXDEV;
	}
	tree = fd < 0 ? -1 : mount_copy(fd, "", b->attr);
	fd_close(&fd);
	return tree;
}

/*
 * A grant within the site is looked up beneath it: the author's links cannot
 * lead the operator's grant elsewhere.
 */
static int
copy_grant(const struct view_plan *p, const struct bound *b)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
	const char *site = b->root, *rest = b->from + strlen(site);
	int root, fd, tree;

	if (!grant_path_is_below(b->from, site))
		return copy_outside(p, b);
	root = p->site_count > 0 ? fd_open_straight(site)
				 : open(site, O_PATH | O_DIRECTORY | O_CLOEXEC);
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
bind_grants(int root, struct bound_list *list, struct step *s)
{
	const struct bound *b;
	bool done = true;
	int tree;

	if (list->count > 0)
		qsort(list->items, list->count, sizeof(*list->items),
			bound_order);
	for (size_t i = 0; i < list->count && done; i++) {
		b = &list->items[i];
		if (i > 0 && bound_order(b - 1, b) == 0 &&
			strcmp(b->to, b[-1].to) == 0 &&
			strcmp(b->from, b[-1].from) == 0)
			continue;
		tree = copy_grant(list->plan, b);
		if (tree < 0 &&
			(errno == ENOENT || errno == EACCES || errno == EXDEV ||
				errno == ELOOP))
			continue;
		/* One of several sites may be covered: view.c. */
		done = (tree >= 0 && mount_place(root, tree, b->to)) ||
			grant_path_is_below(b->to, VIEW_SITES) ||
			step_fail(s, "bind %s at %s", b->from, b->to);
		fd_close(&tree);
	}
	return done;
}

/* Programs that are named by a path; bare names are looked up, not mounted. */
static bool
bound_add_programs(struct bound_list *list, const struct path_list *paths,
	const struct view_site *v)
{
	struct path_list one;

	for (size_t i = 0; i < paths->count; i++) {
		one = (struct path_list){ &paths->items[i], 1 };
		if (strchr(paths->items[i], '/') != NULL &&
			!bound_add(list, &one, v, MOUNT_READ_ONLY))
			return false;
	}
	return true;
}

static size_t
count_grants(const struct grant *g)
{
	return g == NULL ? 0
			 : g->read.count + g->write.count + g->exec.count +
			g->unix_sockets.count;
}

static bool
list_site(struct bound_list *list, const struct view_site *v, unsigned keeps)
{
	static const struct path_list none = { NULL, 0 };
	const struct grant *g = v->grant;

	return g == NULL ||
		(bound_add(list, &g->read, v, MOUNT_READ_ONLY) &&
			bound_add_programs(list, &g->exec, v) &&
			bound_add(list, list->plan->writes ? &g->write : &none,
				v, MOUNT_WRITABLE) &&
			bound_add(list,
				keeps & KEEP_UNIX ? &g->unix_sockets : &none, v,
				MOUNT_READ_ONLY));
}

/*
 * All that a view gets of them, p with its sites borrowed; release_grants
 * follows, also after false.
 */
static bool
list_grants(const struct view_plan *p, unsigned keeps, struct bound_list *list)
{
	size_t count = 1;
	bool done;

	for (size_t i = 0; i <= p->site_count; i++)
		count += count_grants(site_of(p, i).grant);
	*list = (struct bound_list){ .plan = p };
	list->items = calloc(count, sizeof(*list->items));
	done = list->items != NULL;
	for (size_t i = 0; i <= p->site_count && done; i++) {
		const struct view_site v = site_of(p, i);

		done = list_site(list, &v, keeps);
	}
	return done;
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

	done = done && bind_grants(root, &list, s);
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
