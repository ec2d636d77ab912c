/* SPDX-License-Identifier: MIT */
/* ecma: which expressions JSON Schema is told, and how they are spelled. */
#include "wire/ecma.h"
#include "tap.h"

static const struct {
	const char *source, *written, *why;
} cases[] = {
	{ "^[a-z]+$", "^[a-z]+$", "anchors and a class are alike" },
	{ "a.c", "a[^\\n]c", "a dot does not find U+2028 there" },
	{ "\\s+", "[\\t\\n\\v\\f\\r ]+", "\\s finds more there" },
	{ "[\\s_]", "[\\t\\n\\v\\f\\r _]", "the same inside a class" },
	{ "\\S", "[^\\t\\n\\v\\f\\r ]", "and outside of it" },
	{ "\\d{2,4}\\w?", "\\d{2,4}\\w?", "ASCII classes and bounds" },
	{ "\\Aa\\z", "^a$", "the ends of the text" },
	{ "\\bword\\b", "\\bword\\b", "word boundaries" },
	{ "(?:a|b)*?", "(?:a|b)*?", "a group, lazily" },
	{ "^(?!x)(?<=y)", "^(?!x)(?<=y)", "look-around" },
	{ "^(?:(?!x)y|\\B)", "^(?:(?!x)y|\\B)", "the same in a group" },
	{ "(?!x)", NULL, "look-around from anywhere" },
	{ "^a|(?<=x)", NULL, "the same in an alternative" },
	{ "\\Ba", NULL, "no word boundary from anywhere" },
	{ "a\\-b\\_\\/", "a-b_\\/", "escapes that mean nothing" },
	{ "[\\-\\.]", "[\\-\\.]", "escapes in a class" },
	{ "[[\\:]", "[\\[:]", "a bracket in a class is no POSIX class" },
	{ "\\x41", "\\x41", "a byte by number" },
	{ "{x}", "\\{x\\}", "braces that are text" },
	{ "a]", "a\\]", "a bracket that is text" },
	{ "é+", "é+", "a character of two bytes" },
	{ "[a-z-]", "[a-z-]", "a last dash is text" },
	{ "a++", NULL, "possessive" },
	{ "(?>a)", NULL, "atomic" },
	{ "(?i)a", NULL, "options" },
	{ "(?<n>a)", NULL, "a name" },
	{ "(a)\\1", NULL, "a reference back" },
	{ "[[:alpha:]]", NULL, "a POSIX class" },
	{ "[]a]", NULL, "a first bracket in a class" },
	{ "[^]a]", NULL, "the same, negated" },
	{ "[\\d-z]", NULL, "a range from a class" },
	{ "[a-\\d]", NULL, "a range to a class" },
	{ "[a-f-z]", NULL, "a range from a range" },
	{ "[\\S]", NULL, "a negated class in a class" },
	{ "\\Z", NULL, "the end before a last line break" },
	{ "\\p{L}", NULL, "a property" },
	{ "\\v", NULL, "any vertical space" },
	{ "\\h", NULL, "any horizontal space" },
	{ "\\Qa\\E", NULL, "quoting" },
	{ "\\x{41}", NULL, "a number in braces" },
	{ "^(?=a)*", NULL, "a quantified look-ahead" },
	{ "^*", NULL, "a quantified anchor" },
	{ "a{,3}", NULL, "bounds without the first" },
	{ "(*UTF)a", NULL, "a verb" },
	{ "(a", NULL, "an open group" },
	{ "a)", NULL, "a group that was not open" },
	{ "[a", NULL, "an open class" },
	{ "\\", NULL, "a backslash at the end" },
	{ "\xff", NULL, "no UTF-8" },
};

static const struct {
	const char *source, *words;
} lists[] = {
	{ "^(a|bc|d-e)$", "a,bc,d-e," },
	{ "^(?:a|é)$", "a,é," },
	{ "^(a\\.b|\\$)$", "a.b,$," },
	{ "^(a)$", "a," },
	{ "^(a|b)", NULL },
	{ "(a|b)$", NULL },
	{ "^(a|b.)$", NULL },
	{ "^(a||b)$", NULL },
	{ "^(|b)$", NULL },
	{ "^(a|)$", NULL },
	{ "^()$", NULL },
	{ "^(?:)$", NULL },
	{ "^(a|b)|(c)$", NULL },
	{ "^(a\\)$", NULL },
	{ "^(a\\d)$", NULL },
	{ "^(a|(b))$", NULL },
	{ "^(?=a)$", NULL },
	{ "^(a\\|b)$", "a|b," },
};

static void
test_choices(void)
{
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const char *source = lists[i].source;
		struct buf out = BUF_INIT(1000);
		bool read = ecma_choices(&out, source, strlen(source));

		for (size_t k = 0; k < out.len; k++)
			if (out.data[k] == '\0')
				out.data[k] = ',';
		if (lists[i].words == NULL)
			ok(!read, "%s is no list of words", source);
		else
			is_str(lists[i].words, read ? out.data : NULL,
				"%s is a list of words", source);
		buf_release(&out);
	}
}

int
main(void)
{
	test_choices();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *source = cases[i].source;
		struct buf out = BUF_INIT(1000);
		bool written = ecma_write(&out, source, strlen(source));

		if (cases[i].written == NULL)
			ok(!written, "not told: %s", cases[i].why);
		else
			is_str(cases[i].written, written ? out.data : NULL,
				"told: %s", cases[i].why);
		buf_release(&out);
	}
	return done();
}
