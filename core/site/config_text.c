/* SPDX-License-Identifier: MIT */
/*
 * The value of a key of the configuration, as text that config_set reads or as
 * a number.
 */
#include <inttypes.h>

#include "base/buf.h"
#include "site/config_key.h"

/* A file has at most 1 MiB; quoting makes a character six bytes at worst. */
#define LIST_TEXT_MAX ((size_t)8 << 20)

static const void *
field_at(const struct config *c, size_t offset)
{
	return (const char *)c + offset;
}

/* A TOML string; every control character as its number. */
static void
add_quoted(struct buf *b, const char *text)
{
	buf_char(b, '"');
	for (const char *p = text; *p != '\0'; p++)
		if (*p == '"' || *p == '\\')
			buf_printf(b, "\\%c", *p);
		else if ((unsigned char)*p < 0x20 || *p == 0x7f)
			buf_printf(b, "\\u%04X", (unsigned)*p);
		else
			buf_char(b, *p);
	buf_char(b, '"');
}

static const char *
list_text(struct arena *arena, const struct config_list *list)
{
	struct buf b = BUF_INIT(LIST_TEXT_MAX);
	const char *text = NULL;

	buf_char(&b, '[');
	for (size_t i = 0; i < list->count; i++) {
		buf_text(&b, i > 0 ? ", " : "");
		add_quoted(&b, list->items[i]);
	}
	buf_char(&b, ']');
	if (buf_ok(&b))
		text = arena_copy(arena, b.data, b.len);
	buf_release(&b);
	return text;
}

static const char *
choice_text(struct config *c, const struct config_key *key)
{
	struct config_list list;
	enum config_choice choice;

	memcpy(&choice, field_at(c, key->choice_offset), sizeof(choice));
	memcpy(&list, field_at(c, key->offset), sizeof(list));
	switch (choice) {
	case CHOICE_LIST: return list_text(&c->arena, &list);
	case CHOICE_NONE: return "false";
	case CHOICE_ANY: break;
	}
	return strcmp(key->words, "any") == 0 ? "any" : "true";
}

static const char *
key_text(struct config *c, const struct config_key *key)
{
	const void *at = field_at(c, key->offset);
	struct config_list list;
	const char *text;
	char number[64];
	uint64_t count;
	double seconds;
	bool flag;

	switch (key->type) {
	case KEY_TEXT:
	case KEY_PATH:
	case KEY_WORD: memcpy(&text, at, sizeof(text)); return text;
	case KEY_FLAG:
		memcpy(&flag, at, sizeof(flag));
		return flag ? "true" : "false";
	case KEY_COUNT:
		memcpy(&count, at, sizeof(count));
		return arena_printf(&c->arena, "%" PRIu64, count);
	case KEY_SECONDS:
		memcpy(&seconds, at, sizeof(seconds));
		config_key_seconds(seconds, number, sizeof(number));
		return arena_copy(&c->arena, number, strlen(number));
	case KEY_LIST:
		memcpy(&list, at, sizeof(list));
		return list_text(&c->arena, &list);
	case KEY_CHOICE: return choice_text(c, key);
	}
	return NULL;
}

const char *
config_text(struct config *c, const char *key)
{
	const struct config_key *known = config_key_find(text_of(key));

	if (known != NULL)
		return key_text(c, known);
	if (strncmp(key, "env.", 4) != 0)
		return NULL;
	for (size_t i = 0; i < c->env_count; i++)
		if (strcmp(c->env[i].name, key + 4) == 0)
			return c->env[i].value;
	return "";
}

double
config_text_number(const struct config *c, const char *key)
{
	const struct config_key *known = config_key_find(text_of(key));
	const char *text;
	uint64_t count;
	double seconds;
	bool flag;

	if (known == NULL)
		return 0;
	switch (known->type) {
	case KEY_COUNT:
		memcpy(&count, field_at(c, known->offset), sizeof(count));
		return (double)count;
	case KEY_SECONDS:
		memcpy(&seconds, field_at(c, known->offset), sizeof(seconds));
		return seconds;
	case KEY_FLAG:
		memcpy(&flag, field_at(c, known->offset), sizeof(flag));
		return flag;
	case KEY_WORD:
		memcpy(&text, field_at(c, known->offset), sizeof(text));
		return strcmp(text, "true") == 0;
	case KEY_TEXT:
	case KEY_PATH:
	case KEY_LIST:
	case KEY_CHOICE: break;
	}
	return 0;
}
