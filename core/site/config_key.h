/* SPDX-License-Identifier: MIT */
/*
 * Every key of statespace.toml(5) once, with its type, bounds and default.
 * Tests compare the shipped statespace.toml and the manual page with it.
 */
#ifndef SS_SITE_CONFIG_KEY_H
#define SS_SITE_CONFIG_KEY_H

#include "page/node.h"
#include "site/config.h"

enum key_type {
	KEY_TEXT,
	KEY_PATH,    /* text; relative to the file that has it */
	KEY_WORD,    /* one of words */
	KEY_FLAG,    /* true or false */
	KEY_COUNT,   /* an integer from least to most */
	KEY_SECONDS, /* a number from least to most */
	KEY_LIST,    /* of texts */
	KEY_CHOICE   /* one of words, or a list of texts */
};

/* Of one of several sites: statespace.toml(5), Several sites. */
enum key_scope {
	KEY_OF_POOL,   /* no site can set it */
	KEY_INHERITED, /* a site that does not set it has the file's */
	KEY_OWN        /* a site that does not set it has the default */
};

struct config_key {
	const char *name; /* "limits.timeout"; no two differ only in . and _ */
	enum key_type type;
	size_t offset;        /* of the value in struct config */
	size_t choice_offset; /* KEY_CHOICE: of its enum config_choice */
	const char *preset;   /* the default, as config_set reads it */
	double least, most;
	const char *words;              /* with blanks between */
	bool (*fits)(const char *text); /* every text; NULL: any */
	const char *wanted;             /* what fits wants, for messages */
	enum key_scope scope;
};

/* The i-th key in the order of statespace.toml(5); NULL after the last. */
const struct config_key *config_key_at(size_t i);
const struct config_key *config_key_find(struct ss_text name);
/* By the end of a variable's name, "LIMITS_TIMEOUT". */
const struct config_key *config_key_of_variable(struct ss_text name);
/* The key with the most similar name; NULL: none is similar. */
const struct config_key *config_key_near(const char *name);

/* Is it a section?  "limits" */
bool config_key_is_section(struct ss_text name);
/* The section of a key, "" for root, and its name in there. */
struct ss_text config_key_section(const struct config_key *key);
const char *config_key_tail(const struct config_key *key);

/* Whether the word (a string, or a boolean) is one of the key's. */
bool config_key_has_word(const struct config_key *key, const struct node *n);
/* "seconds from 0.01 to 86400.0", ... written to out. */
void config_key_expects(const struct config_key *key, char *out, size_t cap);
/* The default as a file has it. */
void config_key_preset(const struct config_key *key, char *out, size_t cap);

/* Seconds as TOML writes them, in any locale: "30.0". */
void config_key_seconds(double seconds, char *out, size_t cap);

#endif
