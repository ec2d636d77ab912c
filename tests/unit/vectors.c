/* SPDX-License-Identifier: MIT */
/*
 * The contract's cases that need no server: kinds `match` and `frontmatter`
 * of tests/data/protocol.jsonl (tests/data/README.md).  STATESPACE_VECTORS
 * names another file.
 */
#include "tap.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "page/frontmatter.h"

static const char *
text(const cJSON *item, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItem(item, key));
}

/*
 * cJSON cuts a string at U+0000: the file is read with U+0000 written as the
 * private character U+F8FF, and the words get their NUL back here.
 */
static const char stand_in[] = "\\uf8ff", stand_in_utf8[] = "\xef\xa3\xbf";

static size_t
restore_nul(char *s)
{
	size_t len = 0;

	while (*s != '\0') {
		bool nul = strncmp(s, stand_in_utf8, 3) == 0;

		s[0] = nul ? '\0' : *s;
		if (nul)
			memmove(s + 1, s + 3, strlen(s + 3) + 1);
		s++;
		len++;
	}
	return len;
}

static bool
needs_nul(const char *s)
{
	return strstr(s, stand_in_utf8) != NULL;
}

/* ----------------------------------------------------------------- match */

struct words {
	char **list;
	size_t count;
	bool nul; /* one of them cannot be executed */
};

static void
add_word(struct words *w, const char *s, size_t times)
{
	char *word = malloc(strlen(s) * times + 1);

	w->list = realloc(w->list, (w->count + 1) * sizeof(*w->list));
	if (word == NULL || w->list == NULL)
		abort();
	word[0] = '\0';
	for (size_t i = 0; i < times; i++)
		strcpy(word + i * strlen(s), s);
	w->list[w->count++] = word;
	w->nul = w->nul || needs_nul(s);
}

static struct words
read_words(const cJSON *command)
{
	struct words w = { NULL, 0, false };
	const cJSON *item;

	cJSON_ArrayForEach(item, command)
	{
		const char *repeat = text(item, "repeat");
		size_t times = (size_t)cJSON_GetNumberValue(
			cJSON_GetObjectItem(item, "times"));

		if (cJSON_IsString(item))
			add_word(&w, item->valuestring, 1);
		else if (text(item, "as") == NULL)
			add_word(&w, repeat, times);
		else
			while (times-- > 0)
				add_word(&w, repeat, 1);
	}
	return w;
}

/* As a host would: parse, refuse what cannot be executed, ask. */
static bool
allows(const char *page, const struct words *w, struct ss_error *err)
{
	struct ss_toolset *set;
	size_t tool;
	bool allowed;

	if (w->nul) {
		error_set(err, SS_BAD_REQUEST, "cannot be executed");
		return false;
	}
	if (ss_toolset_parse(page, strlen(page), &set, err) != SS_OK)
		return false;
	allowed = ss_toolset_allows(set, w->count, (const char *const *)w->list,
			  &tool, err) == SS_OK;
	ss_toolset_free(set);
	return allowed;
}

static void
check_match(const cJSON *item)
{
	const cJSON *most = cJSON_GetObjectItem(item, "max_ms");
	const char *format = text(item, "format");
	const char *fence =
		format && strcmp(format, "toml") == 0 ? "+++" : "---";
	struct words w = read_words(cJSON_GetObjectItem(item, "command"));
	struct ss_error err = { 0 };
	double start = cpu_ms();
	char *page = NULL;

	if (asprintf(&page, "%s\n%s%s\n", fence, text(item, "tools"), fence) <
		0)
		abort();
	ok(allows(page, &w, &err) ==
			cJSON_IsTrue(cJSON_GetObjectItem(item, "allow")),
		"%s %s", text(item, "id"), text(item, "why"));
	if (most != NULL && is_timed())
		ok(cpu_ms() - start < most->valuedouble, "%s in time",
			text(item, "id"));
	for (size_t i = 0; i < w.count; i++)
		free(w.list[i]);
	free(w.list);
	free(page);
}

/* ----------------------------------------------------------- frontmatter */

static bool
format_holds(const cJSON *item, const char *seen)
{
	const cJSON *any = cJSON_GetObjectItem(item, "format_any"), *one;

	cJSON_ArrayForEach(one, any)
	{
		if (strcmp(one->valuestring, seen) == 0)
			return true;
	}
	return strcmp(text(item, "format"), seen) == 0;
}

static void
check_frontmatter(const cJSON *item)
{
	const cJSON *most = cJSON_GetObjectItem(item, "max_ms");
	char *page = cJSON_GetObjectItem(item, "text")->valuestring;
	struct arena arena;
	struct frontmatter f;
	struct ss_error err = { 0 };
	struct node_place place = { 0, 0 };
	double start = cpu_ms();
	enum ss_err e;

	arena_init(&arena, 0);
	e = frontmatter_parse(
		&arena, page, restore_nul(page), &f, &place, &err);
	ok(format_holds(item,
		   e == SS_OK ? frontmatter_format_name(f.format) : "error"),
		"%s format: %s", text(item, "id"), text(item, "why"));
	is_int((long long)cJSON_GetNumberValue(
		       cJSON_GetObjectItem(item, "tools")),
		(long long)f.spec_count, "%s tools", text(item, "id"));
	if (e != SS_OK)
		ok(place.line > 0 && strstr(err.message, "line ") != NULL &&
				strstr(err.message, ": found ") != NULL &&
				strstr(err.message, ", expected ") != NULL,
			"%s says where and what: %s", text(item, "id"),
			err.message);
	if (most != NULL && is_timed())
		ok(cpu_ms() - start < most->valuedouble, "%s in time",
			text(item, "id"));
	frontmatter_release(&f);
	arena_release(&arena);
}

/* ------------------------------------------------------------------ file */

static void
check_line(char *line)
{
	cJSON *item;
	const char *kind;

	for (char *p = line; (p = strstr(p, "\\u0000")) != NULL; p += 6)
		memcpy(p, stand_in, 6);
	item = cJSON_Parse(line);
	if (!ok(item != NULL, "a line of the vectors is JSON"))
		return;
	kind = text(item, "kind");
	if (strcmp(kind, "match") == 0)
		check_match(item);
	else if (strcmp(kind, "frontmatter") == 0)
		check_frontmatter(item);
	cJSON_Delete(item);
}

static FILE *
open_vectors(const char *program)
{
	static const char data[] = "/tests/data/protocol.jsonl";
	const char *named = getenv("STATESPACE_VECTORS");
	char path[4096];
	FILE *file;

	if (named != NULL)
		return fopen(named, "re");
	file = fopen(data + 1, "re");
	if (file == NULL) { /* build/unit/vectors.t */
		snprintf(path, sizeof(path), "%.*s/../..%s",
			(int)(strrchr(program, '/') - program), program, data);
		file = fopen(path, "re");
	}
	return file;
}

int
main(int argc, char **argv)
{
	FILE *file = open_vectors(argc > 0 ? argv[0] : "./vectors.t");
	char *line = NULL;
	size_t cap = 0;

	if (!ok(file != NULL, "the vectors are there"))
		return done();
	while (getline(&line, &cap, file) > 0)
		check_line(line);
	free(line);
	fclose(file);
	return done();
}
