/* SPDX-License-Identifier: MIT */
#include "mcp/skills.h"

#include <fcntl.h>

#include "base/digest.h"
#include "base/fd.h"
#include "files/walk.h"
#include "mcp/document.h"
#include "mcp/list.h"
#include "mcp/uri.h"
#include "site/listing.h"
#include "wire/json.h"
#include "wire/media.h"
#include "wire/path.h"

#define SKILLS_PER_ANSWER 20
/* The limits of the extension for one skill. */
#define FILES_MAX 512
#define SKILL_BYTES_MAX ((size_t)16 << 20)
#define FOLDERS_MAX 8 /* one in another */
#define NODES_MAX 16

/* ----------------------------------------------------------- frontmatter -- */

static bool
is_integer(const char *s)
{
	size_t n;

	s += *s == '-';
	n = strspn(s, "0123456789");
	return n > 0 && n < 16 && s[n] == '\0' && (s[0] != '0' || n == 1);
}

/* YAML's scalars are texts here: JSON gets plain ones as what they mean. */
static void
write_scalar(struct mcp *m, const struct node *n)
{
	bool word = n->kind == NODE_BOOL || n->kind == NODE_INTEGER ||
		(n->plain &&
			(strcmp(n->text, "true") == 0 ||
				strcmp(n->text, "false") == 0 ||
				is_integer(n->text)));

	if (n->kind == NODE_NULL)
		buf_text(m->out, "null");
	else if (word)
		buf_text(m->out, n->text);
	else
		json_string(m->out, n->text, n->len);
}

/* False: too many levels. */
static bool
write_node(struct mcp *m, const struct node *n, unsigned depth)
{
	bool map = n->kind == NODE_MAP, good = depth < NODES_MAX;

	if (!map && n->kind != NODE_LIST) {
		write_scalar(m, n);
		return true;
	}
	buf_char(m->out, map ? '{' : '[');
	for (const struct node *i = n->first; good && i != NULL; i = i->next) {
		mcp_comma(m);
		if (map) {
			json_string(m->out, i->key->text, i->key->len);
			buf_char(m->out, ':');
		}
		good = write_node(m, i, depth + 1);
	}
	buf_char(m->out, map ? '}' : ']');
	return good;
}

static bool
write_frontmatter(struct mcp *m, const char *path)
{
	struct ss_document doc;
	struct page *page;
	bool there;

	if (mcp_document_open(m, path, &doc, &page) != SS_OK)
		return false;
	there = page->front.root != NULL;
	if (there) {
		mcp_key(m, "frontmatter");
		there = write_node(m, page->front.root, 0);
	}
	mcp_document_close(m, &doc);
	return there;
}

/* ----------------------------------------------------------------- files -- */

struct files {
	struct mcp *m;
	const char *paths[FILES_MAX];
	size_t count;
	bool over; /* more than a skill may have */
};

/* A page with `hidden: true` is no file of a skill. */
static bool
is_shown(struct mcp *m, const char *path)
{
	struct ss_document doc;

	if (!listing_has(&m->site->catalog.source, path))
		return false;
	if (!path_is_page(path))
		return true;
	if (mcp_document_open(m, path, &doc, NULL) != SS_OK)
		return false;
	mcp_document_close(m, &doc);
	return true;
}

static bool
take_file(void *ctx, const char *path, enum walk_type type)
{
	struct files *f = ctx;

	if (f->count == FILES_MAX) {
		f->over = true;
		return false;
	}
	if (type != WALK_FILE || !is_shown(f->m, path))
		return true;
	path = arena_copy(&f->m->site->arena, path, strlen(path));
	f->over |= path == NULL;
	f->paths[f->count] = path;
	f->count += path != NULL;
	return path != NULL;
}

/* False: there are more than a skill may have, or memory ran out. */
static bool
find_files(struct files *f, struct ss_text folder)
{
	struct walk_tree tree = { .root = &f->m->site->documents.root,
		.depth = FOLDERS_MAX - 1,
		.visits = SIZE_MAX,
		.visit = take_file,
		.ctx = f };

	memcpy(tree.path, folder.data, folder.len);
	return walk_each(&tree, NULL) == SS_OK && !f->over;
}

void
mcp_skills_uri(struct mcp *m, const char *path)
{
	buf_text(m->out, "\"skill://");
	mcp_uri_escape(m, path);
	buf_char(m->out, '"');
}

/* False: it cannot be read, or is too large. */
static bool
write_file(struct mcp *m, const char *path, size_t *left)
{
	struct buf bytes = BUF_INIT(*left);
	uint8_t digest[DIGEST_BYTES];
	char hex[DIGEST_HEX + 1];
	int fd = -1;
	bool read = root_open_at(&m->site->documents.root, path,
			    O_RDONLY | O_NOFOLLOW, &fd, NULL) == SS_OK &&
		fd_read_all(fd, &bytes) == 0 && buf_ok(&bytes);

	fd_close(&fd);
	if (read) {
		struct ss_text whole = buf_view(&bytes);

		digest_of(whole.data, whole.len, digest);
		digest_hex(digest, DIGEST_BYTES, hex);
		mcp_comma(m);
		buf_text(m->out, "{\"uri\":");
		mcp_skills_uri(m, path);
		buf_printf(m->out, ",\"digest\":\"sha256:%s\",\"size\":%zu}",
			hex, whole.len);
		*left -= whole.len;
	}
	m->out->failed |= bytes.failed;
	buf_release(&bytes);
	return read;
}

/* ---------------------------------------------------------------- skills -- */

/* False, and nothing is written: the skill cannot be listed whole. */
static bool
write_skill(struct mcp *m, const struct catalog_page *p)
{
	size_t before = m->out->len, left = SKILL_BYTES_MAX;
	size_t dir = path_dir_len(p->path);
	struct files files = { .m = m };
	bool whole = find_files(&files, (struct ss_text){ p->path, dir });

	mcp_comma(m);
	buf_text(m->out, "{\"uri\":");
	mcp_skills_uri(m, p->path);
	whole = whole && write_frontmatter(m, p->path);
	mcp_key(m, "resources");
	buf_char(m->out, '[');
	for (size_t i = 0; whole && i < files.count; i++)
		whole = write_file(m, files.paths[i], &left);
	buf_text(m->out, "]}");
	if (!whole)
		m->out->len = before;
	return whole;
}

enum rpc_code
mcp_skills_list(struct mcp *m)
{
	struct mcp_list l;
	struct catalog *c;
	enum rpc_code code =
		mcp_list_begin(m, &l, "skills", SKILLS_PER_ANSWER, &c);

	if (code != RPC_OK)
		return code;
	for (size_t i = 0; i < c->page_count; i++) {
		const struct catalog_page *p = &c->pages[i];

		if (p->is_skill && mcp_list_includes(&l, p->path))
			write_skill(m, p);
	}
	error_clear(&m->err);
	return mcp_list_end(m, &l);
}

static const char *
skill_path(struct mcp *m, const char *uri)
{
	static const char scheme[] = "skill://";

	return strncmp(uri, scheme, sizeof(scheme) - 1) == 0
		? mcp_uri_decode(m, uri + sizeof(scheme) - 1)
		: NULL;
}

enum rpc_code
mcp_skills_get(struct mcp *m)
{
	const char *uri = mcp_param(m, "uri"), *path;
	const struct catalog_page *p = NULL;
	struct catalog *c;

	if (uri == NULL)
		return RPC_BAD_PARAMS;
	if (catalog_refresh(&m->site->catalog, &c, &m->err) != SS_OK)
		return RPC_INTERNAL;
	path = skill_path(m, uri);
	if (path != NULL)
		p = catalog_page_find(c, path);
	mcp_key(m, "skill");
	if (p == NULL || !p->is_skill || !write_skill(m, p))
		return mcp_refuse(m, RPC_BAD_PARAMS, "there is no such skill");
	mcp_cacheable(m);
	return RPC_OK;
}

/* ------------------------------------------------------------- directory -- */

#define DIRECTORY_TYPE "inode/directory"

/* Is the path the directory of a skill, or below one? */
static bool
is_in_skill(const struct catalog *c, const char *path)
{
	for (size_t i = 0; i < c->page_count; i++) {
		const char *manifest = c->pages[i].path;
		size_t dir = path_dir_len(manifest);

		if (c->pages[i].is_skill && strncmp(path, manifest, dir) == 0 &&
			(path[dir] == '/' || path[dir] == '\0'))
			return true;
	}
	return false;
}

static void
write_child(struct mcp *m, const char *path, const char *name, bool directory)
{
	const char *type = directory ? DIRECTORY_TYPE
		: path_is_page(path) ? "text/markdown"
				     : media_type(path);

	mcp_comma(m);
	buf_text(m->out, "{\"uri\":");
	mcp_skills_uri(m, path);
	mcp_text(m, "name", name);
	mcp_key(m, "mimeType");
	json_string(m->out, type, media_plain_len(type));
	buf_char(m->out, '}');
}

/* The direct children of the files found, each once: they are in order. */
static void
write_children(
	struct mcp *m, struct mcp_list *l, const struct files *f, size_t dir)
{
	const char *last = "";

	for (size_t i = 0; i < f->count; i++) {
		const char *start = f->paths[i] + dir + 1;
		size_t len = strcspn(start, "/");
		const char *path =
			arena_copy(&m->site->arena, f->paths[i], dir + 1 + len);

		if (path == NULL) {
			m->out->failed = true;
			return;
		}
		if (strcmp(path, last) == 0)
			continue;
		last = path;
		if (mcp_list_includes(l, path))
			write_child(m, path, path + dir + 1, start[len] == '/');
	}
}

enum rpc_code
mcp_skills_directory(struct mcp *m)
{
	const char *uri = mcp_param(m, "uri"), *path;
	struct files files = { .m = m };
	struct mcp_list l;
	struct catalog *c;
	enum rpc_code code;

	if (uri == NULL)
		return RPC_BAD_PARAMS;
	code = mcp_list_begin(m, &l, "resources", MCP_LIST_PIECE, &c);
	if (code != RPC_OK)
		return code;
	path = skill_path(m, uri);
	if (path == NULL || !is_in_skill(c, path) ||
		!find_files(&files, text_of(path)) || files.count == 0)
		return mcp_refuse(m, RPC_BAD_PARAMS,
			"there is no such directory of a skill");
	write_children(m, &l, &files, strlen(path));
	error_clear(&m->err);
	return mcp_list_end(m, &l);
}

const char *
mcp_skills_file(struct mcp *m, const char *uri)
{
	const char *path = skill_path(m, uri);
	struct catalog *c;

	if (path == NULL ||
		catalog_refresh(&m->site->catalog, &c, &m->err) != SS_OK)
		return NULL;
	for (size_t i = 0; i < c->page_count; i++) {
		const char *manifest = c->pages[i].path;
		size_t dir = path_dir_len(manifest);

		if (c->pages[i].is_skill && strlen(path) > dir &&
			path[dir] == '/' && strncmp(path, manifest, dir) == 0)
			return path;
	}
	return NULL;
}
