/* SPDX-License-Identifier: MIT */
#include "page/words.h"

#include "page/template.h"
#include "wire/path.h"

static bool
is_name_char(char c)
{
	char lower = (char)(c | 0x20);

	return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') ||
		c == '_';
}

/*
 * "/x", also as the value of an option or an operand: "--file=/x", "if=/x".
 * Not in "https://host/?q=/x" or in a script, which are no paths.
 */
static bool
is_absolute(struct ss_text word)
{
	size_t i = 0;

	while (i < word.len &&
		(is_name_char(word.data[i]) || word.data[i] == '-' ||
			word.data[i] == '.'))
		i++;
	i = i < word.len && word.data[i] == '=' ? i + 1 : 0;
	return i < word.len && word.data[i] == '/';
}

static enum ss_err
refuse_path(struct ss_text word, const char *wrong, struct ss_error *err)
{
	error_set(err, SS_PATH_REFUSED, "the word \"%.*s\" %s",
		(int)utf8_cut(word.data, word.len, 64), word.data, wrong);
	error_hint(err,
		"paths that you choose begin in the page's directory and stay "
		"below it");
	return SS_PATH_REFUSED;
}

enum ss_err
word_check(struct ss_text word, bool matched, struct ss_error *err)
{
	if (path_word_climbs(word))
		return refuse_path(
			word, "holds \"..\" as a part of a path", err);
	if (!matched && is_absolute(word))
		return refuse_path(word, "is an absolute path", err);
	return SS_OK;
}

static enum ss_err
check_argument(
	const struct argument *a, struct ss_text word, struct ss_error *err)
{
	bool matched = a->regex.data != NULL && a->type == ARGUMENT_WORD;

	if (a->type == ARGUMENT_TEXT || argument_is_authors(a, word))
		return SS_OK;
	return word_check(word, matched, err);
}

/* A path in a longer word is one, too. */
static enum ss_err
check_template(const struct part *p, const struct ss_text *values,
	struct ss_text word, struct ss_error *err)
{
	enum ss_err code = SS_OK;

	for (size_t i = 0; code == SS_OK && i < p->piece_count; i++) {
		const struct argument *a = p->pieces[i].argument;

		if (a != NULL && a->type == ARGUMENT_PATH)
			code = check_argument(a, values[a->index], err);
	}
	if (code != SS_OK)
		return code;
	switch (template_climbs(p, values)) {
	case PATTERN_NO: return SS_OK;
	case PATTERN_MEMORY: return error_memory(err);
	case PATTERN_YES:
	case PATTERN_LIMIT: break;
	}
	return refuse_path(word, "holds \"..\" as a part of a path", err);
}

enum ss_err
words_check(const struct command *command, struct ss_error *err)
{
	enum ss_err code = SS_OK;

	for (size_t i = 0; code == SS_OK && i < command->count; i++) {
		const struct part *p = command->parts[i];
		struct ss_text word = command->words[i];

		if (p == NULL)
			code = word_check(word, false, err);
		else if (p->kind == PART_ARGUMENT)
			code = check_argument(part_argument(p), word, err);
		else if (p->kind == PART_TEMPLATE)
			code = check_template(p, command->values, word, err);
		if (code != SS_OK && p != NULL)
			spec_rule(command->spec, p, err);
	}
	return code;
}
