/* SPDX-License-Identifier: MIT */
/*
 * walk: directories read sorted, within their bounds; links are not followed
 * and dot entries are not there.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/walk.h"
#include "tap.h"

static char dir[] = "/tmp/statespace-walk-XXXXXX";
static struct root root = { .fd = -1 };
static struct arena arena;
static char seen[4096];

static void
put(const char *name)
{
	char path[512];
	size_t len = strlen(name);
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (name[len - 1] == '/') {
		mkdir(path, 0755);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	close(fd);
}

static int
drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void
note(const char *name, enum walk_type type)
{
	static const char marks[] = { [WALK_FILE] = ' ',
		[WALK_DIRECTORY] = '/',
		[WALK_LINK] = '@',
		[WALK_OTHER] = '?' };
	size_t len = strlen(seen);

	snprintf(seen + len, sizeof(seen) - len, "%s%c", name, marks[type]);
}

/* The entries of one directory; "+" at the end: cut. */
static const char *
read_top(const struct walk_order *order, size_t *visits)
{
	struct walk_list list;
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	seen[0] = '\0';
	arena_clear(&arena);
	if (walk_read(&arena, fd, order, visits, &list) != 0)
		return "an error";
	for (size_t i = 0; i < list.count; i++)
		note(list.items[i].name, list.items[i].type);
	return strcat(seen, list.cut ? "+" : "");
}

static bool
is_file(void *ctx, const struct walk_entry *entry)
{
	(void)ctx;
	return entry->type == WALK_FILE;
}

static void
test_directory(void)
{
	struct walk_order order = { .most = 0 };
	size_t visits = 5;

	is_str("a b/c d/z@", read_top(&order, NULL),
		"a directory is sorted, without its dot entries");
	is_str("a b/c d/z@", read_top(&order, &visits),
		"as many names as may be looked at are all");
	is_int(0, (long long)visits, "each of them counts");
	visits = 4;
	ok(strchr(read_top(&order, &visits), '+') != NULL,
		"one more cuts the list");
	order.most = 5;
	is_str("a b/c d/z@", read_top(&order, NULL), "as many as wanted");
	order.most = 4;
	ok(strchr(read_top(&order, NULL), '+') != NULL, "one more is cut");
	order = (struct walk_order){ .most = 3, .wanted = is_file };
	is_str("a c ", read_top(&order, NULL),
		"what is not wanted does not count");
	order = (struct walk_order){ .keep = 2 };
	is_str("a b/+", read_top(&order, NULL), "the first two by name");
	order.keep = 5;
	is_str("a b/c d/z@", read_top(&order, NULL), "all are kept");
	is_int(ENOTDIR,
		walk_read(&arena, open("/dev/null", O_RDONLY | O_CLOEXEC),
			&order, NULL, &(struct walk_list){ 0 }),
		"a file is no directory");
}

static const char *stop; /* the path at which the walk ends */

static bool
visit(void *ctx, const char *path, enum walk_type type)
{
	(void)ctx;
	note(path, type);
	return stop == NULL || strcmp(path, stop) != 0;
}

static const char *
walk_top(const char *folder, size_t depth, size_t visits)
{
	struct walk_tree tree = {
		.root = &root, .depth = depth, .visits = visits, .visit = visit
	};

	seen[0] = '\0';
	snprintf(tree.path, sizeof(tree.path), "%s", folder);
	if (walk_each(&tree, NULL) != SS_OK)
		return "an error";
	return strcat(seen, tree.cut ? "+" : "");
}

static void
test_tree(void)
{
	is_str("a b/b/m/b/m/n b/o c d/d/p z@", walk_top("", 9, 99),
		"a tree, each directory before what is in it");
	is_str("b/m/b/m/n b/o ", walk_top("b", 9, 99), "from a directory on");
	is_str("", walk_top("none", 9, 99), "one that is not there is empty");
	is_str("", walk_top("z", 9, 99), "so is a link to one");
	is_str("a b/b/m/b/m/n b/o c d/d/p z@", walk_top("", 2, 99),
		"as deep as the depth");
	is_str("a b/b/m/b/o c d/d/p z@+", walk_top("", 1, 99),
		"what is deeper is cut");
	is_str("a b/b/m/b/m/n b/o c d/d/p z@", walk_top("", 9, 9),
		"as many names as may be looked at, of all directories");
	ok(strchr(walk_top("", 9, 8), '+') != NULL, "one more is cut");
	stop = "b/m";
	is_str("a b/b/m/", walk_top("", 9, 99), "the walk ends when told");
	stop = NULL;
}

int
main(void)
{
	if (mkdtemp(dir) == NULL || root_open(&root, dir, NULL) != SS_OK)
		return 1;
	arena_init(&arena, 0);
	put("c");
	put("a");
	put("b/");
	put("b/m/");
	put("b/m/n");
	put("b/o");
	put("d/");
	put("d/p");
	put(".hidden/");
	put(".dot");
	if (symlinkat("b", root.fd, "z") != 0)
		printf("# symlink failed\n");
	test_directory();
	test_tree();
	root_close(&root);
	arena_release(&arena);
	nftw(dir, drop, 16, FTW_DEPTH | FTW_PHYS);
	return done();
}
