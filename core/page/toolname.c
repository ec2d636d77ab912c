/* SPDX-License-Identifier: MIT */
#include "page/toolname.h"

#include <stdlib.h>

#include "base/digest.h"
#include "page/toolcall.h"
#include "wire/path.h"

#define CUT 48
/* Words behind the program that are taken for what it is to do. */
#define VERBS_MAX 3
#define VERB_BYTES_MAX 24

/* ------------------------------------------------------------ characters -- */

static bool
is_name_char(char c)
{
	char lower = (char)(c | 0x20);

	return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') ||
		c == '_' || c == '-';
}

/* Bytes of a name; those that do not fit are only counted. */
struct plain {
	char *out;
	size_t cap, len;
};

static void
add_char(struct plain *name, char c)
{
	if (name->len < name->cap)
		name->out[name->len] = c;
	name->len++;
}

static void
add_name(struct plain *name, struct ss_text t)
{
	for (size_t i = 0; i < t.len; i++) {
		/* One dash for a character, however many bytes it has. */
		if (((unsigned char)t.data[i] & 0xc0) == 0x80)
			continue;
		add_char(name, is_name_char(t.data[i]) ? t.data[i] : '-');
	}
}

/* The same for words that nobody wrote as a name: one dash between letters. */
static void
add_word(struct plain *name, struct ss_text t)
{
	bool gap = false, begun = false;

	for (size_t i = 0; i < t.len; i++) {
		if (!is_name_char(t.data[i]) || t.data[i] == '-') {
			gap = true;
			continue;
		}
		if (!begun && name->len > 0)
			add_char(name, '_');
		else if (gap && begun)
			add_char(name, '-');
		add_char(name, t.data[i]);
		begun = true;
		gap = false;
	}
}

/* -------------------------------------------------------- parts of a name -- */

/* The page's part of a name: docs/a for docs/a.md, docs for docs/README.md. */
static struct ss_text
page_stem(const char *page)
{
	struct ss_text t = text_of(page);
	size_t dir = path_dir_len(page);

	if (text_ends(t, ".md"))
		t.len -= 3;
	else if (text_ends(t, ".markdown"))
		t.len -= 9;
	if (text_is((struct ss_text){ page + dir + (dir > 0),
			    t.len - dir - (dir > 0) },
		    "README"))
		t.len = dir;
	return t;
}

/* The program's name without its path: jq for "/usr/bin/jq". */
static struct ss_text
program_of(const struct spec *spec)
{
	const struct part *first = &spec->parts[0];
	const char *slash;

	if (first->kind != PART_TEXT)
		return TEXT("run");
	slash = strrchr(first->text.data, '/');
	return text_of(slash != NULL ? slash + 1 : first->text.data);
}

/* Is the last segment of the page the program, as in git.md? */
static bool
is_of_program(struct ss_text stem, struct ss_text program)
{
	const char *slash =
		stem.len > 0 ? memrchr(stem.data, '/', stem.len) : NULL;
	size_t skip = slash != NULL ? (size_t)(slash + 1 - stem.data) : 0;

	return stem.len - skip == program.len &&
		memcmp(stem.data + skip, program.data, program.len) == 0;
}

/* Says what the program is to do: log, but no file, number or option. */
static bool
is_verb(struct ss_text t)
{
	char lower = (char)(t.len > 0 ? t.data[0] | 0x20 : 0);

	if (lower < 'a' || lower > 'z' || t.len > VERB_BYTES_MAX)
		return false;
	for (size_t i = 1; i < t.len; i++)
		if (!is_name_char(t.data[i]))
			return false;
	return true;
}

static bool
is_option(struct ss_text t)
{
	return t.len > 0 && t.data[0] == '-';
}

/* Returns the first part that is not among them. */
static size_t
add_verbs(struct plain *name, const struct spec *spec)
{
	size_t count = 0, after = 1;

	if (spec->parts[0].kind != PART_TEXT)
		return after;

	for (size_t i = 1; i < spec->part_count && count < VERBS_MAX; i++) {
		const struct part *p = &spec->parts[i];

		if (p->kind != PART_TEXT || p->optional)
			break;
		if (is_option(p->text))
			continue;
		if (!is_verb(p->text))
			break;
		add_word(name, p->text);
		after = i + 1;
		count++;
	}
	return after;
}

/* ---------------------------------------------------------------- a name --- */

/*
 * The length of the whole; at most cap bytes of it are written.  after: the
 * first part that it says nothing of; NULL: not asked for.
 */
static size_t
plain_name(const struct spec *spec, const char *page, char *out, size_t cap,
	size_t *after)
{
	struct plain name = { .out = out, .cap = cap };
	struct ss_text stem = page_stem(page), program = program_of(spec);
	size_t next = 0;

	if (spec->name != NULL) {
		add_name(&name, text_of(spec->name));
	} else {
		add_name(&name, stem);
		if (!is_of_program(stem, program)) {
			if (stem.len > 0)
				add_char(&name, '_');
			add_name(&name, program);
		}
		next = add_verbs(&name, spec);
	}
	if (after != NULL)
		*after = next;
	return name.len;
}

/* With all words and arguments behind it. */
static size_t
detailed_name(const struct spec *spec, const char *page, char *out, size_t cap)
{
	char property[TOOLCALL_PROPERTY_MAX + 1];
	struct plain name = { .out = out, .cap = cap };
	size_t after;

	name.len = plain_name(spec, page, out, cap, &after);
	for (size_t i = after == 0 ? 0 : 1; i < spec->part_count; i++) {
		const struct part *p = &spec->parts[i];

		/* Options between the verbs were left out. */
		if (i < after && !is_option(p->text))
			continue;
		if (p->kind == PART_TEXT)
			add_word(&name, p->text);
		for (size_t k = 0; k < p->piece_count; k++) {
			if (p->pieces[k].argument == NULL)
				continue;
			toolcall_property(
				spec, p->pieces[k].argument, property);
			add_word(&name, text_of(property));
		}
	}
	return name.len;
}

/* A digest of the page and of what the tool runs. */
static bool
identity(const struct spec *spec, const char *page,
	uint8_t digest[static DIGEST_BYTES])
{
	struct buf canonical = BUF_INIT((size_t)1 << 20);
	struct ss_text parts[2] = { text_of(page) };
	bool failed;

	spec_identify(spec, &canonical);
	parts[1] = buf_view(&canonical);
	digest_parts(parts, 2, digest);
	failed = canonical.failed;
	buf_release(&canonical);
	return !failed;
}

bool
toolcall_hashed_name(const struct spec *spec, const char *page,
	char out[static TOOLCALL_NAME_MAX + 1])
{
	uint8_t digest[DIGEST_BYTES];
	size_t len = plain_name(spec, page, out, CUT, NULL);
	bool good = identity(spec, page, digest);

	len = len < CUT ? len : CUT;
	out[len] = '-';
	digest_hex(digest, 4, out + len + 1);
	return good;
}

bool
toolcall_name(const struct spec *spec, const char *page,
	char out[static TOOLCALL_NAME_MAX + 1])
{
	size_t len = plain_name(spec, page, out, TOOLCALL_NAME_MAX, NULL);

	if (len == 0 || len > TOOLCALL_NAME_MAX)
		return toolcall_hashed_name(spec, page, out);
	out[len] = '\0';
	return true;
}

bool
toolcall_qualify(const char *page, const char *label,
	char out[static TOOLCALL_NAME_MAX + 1])
{
	struct plain name = { .out = out, .cap = TOOLCALL_NAME_MAX };
	size_t stem;

	add_name(&name, page_stem(page));
	stem = name.len;
	if (stem > 0 && stem < TOOLCALL_NAME_MAX &&
		(strncmp(label, out, stem) != 0 ||
			(label[stem] != '_' && label[stem] != '\0')))
		add_char(&name, '_');
	else
		name.len = 0;
	add_name(&name, text_of(label));
	if (name.len > TOOLCALL_NAME_MAX)
		return false;
	out[name.len] = '\0';
	return true;
}

/* ----------------------------------------------------------- all of a page -- */

struct labels {
	const struct spec *specs;
	const char *page;
	struct toolcall_label *all;
	struct toolcall_label **sorted;
	size_t count;
};

static int
compare_labels(const void *a, const void *b)
{
	const struct toolcall_label *const *left = a, *const *right = b;

	return strcmp((*left)->text, (*right)->text);
}

static bool
add_detail(struct labels *l, size_t i)
{
	char *out = l->all[i].text;
	size_t len =
		detailed_name(&l->specs[i], l->page, out, TOOLCALL_NAME_MAX);

	if (len > TOOLCALL_NAME_MAX)
		return toolcall_hashed_name(&l->specs[i], l->page, out);
	out[len] = '\0';
	return true;
}

static bool
add_hash(struct labels *l, size_t i)
{
	return toolcall_hashed_name(&l->specs[i], l->page, l->all[i].text);
}

/* Gives those that share a name another one. */
static bool
part_labels(struct labels *l, bool (*rename)(struct labels *l, size_t i))
{
	bool *again = calloc(l->count + 1, sizeof(*again));
	bool good = again != NULL;

	for (size_t i = 0; i < l->count; i++)
		l->sorted[i] = &l->all[i];
	qsort(l->sorted, l->count, sizeof(struct toolcall_label *),
		compare_labels);
	for (size_t i = 1; good && i < l->count; i++)
		if (strcmp(l->sorted[i - 1]->text, l->sorted[i]->text) == 0)
			again[l->sorted[i - 1] - l->all] =
				again[l->sorted[i] - l->all] = true;
	for (size_t i = 0; good && i < l->count; i++) {
		if (!again[i])
			continue;
		l->all[i].shared = true;
		good = rename(l, i);
	}
	free(again);
	return good;
}

struct toolcall_label *
toolcall_labels(const struct spec *specs, size_t count, const char *page)
{
	struct labels l = { .specs = specs,
		.page = page,
		.all = calloc(count + 1, sizeof(*l.all)),
		.sorted = calloc(count + 1, sizeof(struct toolcall_label *)),
		.count = count };
	bool good = l.all != NULL && l.sorted != NULL;

	for (size_t i = 0; good && i < count; i++)
		good = toolcall_name(&specs[i], page, l.all[i].text);
	good = good && part_labels(&l, add_detail) && part_labels(&l, add_hash);
	free(l.sorted);
	if (good)
		return l.all;
	free(l.all);
	return NULL;
}

bool
toolcall_find(const struct spec *specs, size_t count, const char *page,
	const char *name, size_t *index)
{
	struct toolcall_label *labels = toolcall_labels(specs, count, page);
	char other[TOOLCALL_NAME_MAX + 1];
	bool good = labels != NULL;
	size_t found = SIZE_MAX;

	for (size_t i = 0; good && found == SIZE_MAX && i < count; i++)
		if (strcmp(labels[i].text, name) == 0)
			found = i;
	for (size_t i = 0; good && found == SIZE_MAX && i < count; i++)
		if (toolcall_qualify(page, labels[i].text, other) &&
			strcmp(other, name) == 0)
			found = i;
	for (size_t i = 0; good && found == SIZE_MAX && i < count; i++) {
		good = toolcall_hashed_name(&specs[i], page, other);
		if (good && strcmp(other, name) == 0)
			found = i;
	}
	free(labels);
	*index = found;
	return good;
}
