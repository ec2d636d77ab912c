/* SPDX-License-Identifier: MIT */
/*
 * JSONTestSuite (nst/JSONTestSuite, MIT): n_ files must be refused, y_ files
 * taken but where our own bounds are tighter than RFC 8259, and what the
 * suite leaves open (i_) is decided here, file by file.
 *
 * JSON_SUITE names the directory test_parsing; a checkout may have it beside
 * it in ../shared/vectors.
 */
#include "wire/json.h"
#include "wire/proto.h"
#include "tap.h"

#include <dirent.h>
#include <stdlib.h>

/* y_ files that we refuse, and why. */
static const struct {
	const char *file;
	const char *why;
} tighter[] = {
	{ "y_object_duplicated_key.json", "twice" },
	{ "y_object_duplicated_key_and_value.json", "twice" },
	{ "y_object_escaped_null_in_key.json", "\\u0000" },
	{ "y_string_null_escape.json", "\\u0000" },
};

/*
 * i_ files that we take: numbers are not ours to judge as long as they are
 * well-formed.  All others are refused: lone surrogates, bytes that are not
 * UTF-8, UTF-16, a byte order mark, 500 levels.
 */
static const char *const taken[] = {
	"i_number_double_huge_neg_exp.json",
	"i_number_huge_exp.json",
	"i_number_neg_int_huge_exp.json",
	"i_number_pos_double_huge_exp.json",
	"i_number_real_neg_overflow.json",
	"i_number_real_pos_overflow.json",
	"i_number_real_underflow.json",
	"i_number_too_big_neg_int.json",
	"i_number_too_big_pos_int.json",
	"i_number_very_big_negative_int.json",
};

static const char *
tighter_why(const char *file)
{
	for (size_t i = 0; i < ARRAY_LEN(tighter); i++)
		if (strcmp(file, tighter[i].file) == 0)
			return tighter[i].why;
	return NULL;
}

static bool
is_taken(const char *file)
{
	for (size_t i = 0; i < ARRAY_LEN(taken); i++)
		if (strcmp(file, taken[i]) == 0)
			return true;
	return false;
}

static bool
read_file(const char *dir, const char *name, struct buf *out)
{
	char path[4096], *room;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "rbe");
	if (f == NULL)
		return false;
	buf_clear(out);
	while ((room = buf_reserve(out, 65536)) != NULL &&
		(n = fread(room, 1, 65536, f)) > 0)
		out->len += n;
	fclose(f);
	return buf_ok(out);
}

/* Compacted it is still JSON, on one line, and compacted again no shorter. */
static void
check_compact(const char *file, const struct buf *text)
{
	struct buf once = BUF_INIT(4 << 20), twice = BUF_INIT(4 << 20);

	ok(json_compact(&once, text->data, text->len) &&
			json_check(once.data, once.len, NULL) == SS_OK &&
			once.len <= text->len &&
			memchr(once.data, '\n', once.len) == NULL,
		"%s is compacted", file);
	json_compact(&twice, once.data, once.len);
	ok(twice.len == once.len &&
			memcmp(once.data, twice.data, once.len) == 0,
		"%s only once", file);
	buf_release(&once);
	buf_release(&twice);
}

static void
judge(const char *file, const struct buf *text)
{
	const char *why = tighter_why(file);
	bool wanted =
		file[0] == 'y' ? why == NULL : file[0] == 'i' && is_taken(file);
	struct ss_error err = { 0 };
	bool fine = json_check(text->data, text->len, &err) == SS_OK;

	if (fine)
		check_compact(file, text);
	ok(fine == wanted, "%s %s", wanted ? "takes" : "refuses", file);
	if (!fine && fine != wanted)
		printf("# saw %s\n", err.message);
	if (why != NULL)
		ok(strstr(err.message, why) != NULL, "because of %s", why);
}

int
main(void)
{
	const char *dir = getenv("JSON_SUITE");
	struct dirent **names;
	struct buf text = BUF_INIT(4 << 20);
	int count, suite = 0;

	if (dir == NULL)
		dir = "../shared/vectors/json/test_parsing";
	count = scandir(dir, &names, NULL, alphasort);
	if (count < 0) {
		skip(1, "no JSONTestSuite: set JSON_SUITE to test_parsing");
		return done();
	}
	for (int i = 0; i < count; i++) {
		const char *file = names[i]->d_name;

		if (strchr("yni", file[0]) != NULL && file[1] == '_') {
			suite++;
			if (ok(read_file(dir, file, &text), "reads %s", file))
				judge(file, &text);
		}
		free(names[i]);
	}
	free(names);
	ok(suite > 300, "the suite is whole: %d files", suite);
	buf_release(&text);
	return done();
}
