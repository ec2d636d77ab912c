/* SPDX-License-Identifier: MIT */
/*
 * The keys of the configuration and what each of them takes
 * (statespace.toml(5)).  A new key is a field in config.h, a line here, and its
 * place in conf/statespace.toml and statespace.toml.5, which tests ask for.
 */
#include "site/config_key.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "keyed/store.h"
#include "page/env.h"
#include "site/hidden.h"
#include "wire/path.h"

#define KIB ((double)1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)
#define TIB (GIB * 1024)
#define DAY ((double)86400)

/* -------------------------------------------------- what a text must be -- */

static bool
is_one_word(const char *text)
{
	return *text != '\0' && strpbrk(text, " \t\r\n") == NULL;
}

static bool
is_filled(const char *text)
{
	return *text != '\0';
}

/*
 * Refuses /tmp, which is another directory for each tool.  A last "?" marks a
 * path that may be absent; it is not part of the path.
 */
static bool
is_grant(const char *text)
{
	struct ss_text path = text_of(text);

	path.len -= path.len > 1 && text_ends(path, "?");
	if (path_word_climbs(path))
		return false;
	while (text[0] == '/' && text[1] == '/')
		text++;
	return *text != '\0' &&
		(strncmp(text, "/tmp", 4) != 0 ||
			(text[4] != '\0' && text[4] != '/'));
}

static bool
is_number(const char *text, unsigned long most)
{
	char *end;

	if (*text < '0' || *text > '9' || strlen(text) > 5)
		return false;
	return strtoul(text, &end, 10) <= most && *end == '\0';
}

static bool
is_address(const char *text, size_t len, unsigned *bits)
{
	struct in6_addr room;
	char copy[INET6_ADDRSTRLEN];

	if (len >= sizeof(copy))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	*bits = inet_pton(AF_INET, copy, &room) == 1    ? 32
		: inet_pton(AF_INET6, copy, &room) == 1 ? 128
							: 0;
	return *bits != 0;
}

/* An address, or a range like "10.0.0.0/8". */
static bool
is_range(const char *text)
{
	const char *slash = strchr(text, '/');
	unsigned bits;

	if (slash == NULL)
		return is_address(text, strlen(text), &bits);
	return is_address(text, (size_t)(slash - text), &bits) &&
		is_number(slash + 1, bits);
}

/* "host:port", "[address]:port", an address, or a range of them. */
static bool
is_target(const char *text)
{
	const char *colon = strrchr(text, ':');

	if (is_range(text))
		return true;
	return strchr(text, '/') == NULL && is_one_word(text) &&
		colon != NULL && colon != text && strcmp(colon, ":0") != 0 &&
		is_number(colon + 1, 65535);
}

static bool
is_variable(const char *text)
{
	return env_is_name(text, strlen(text));
}

static bool
is_host(const char *text)
{
	return is_one_word(text) && strpbrk(text, "/@?#*") == NULL;
}

static bool
is_origin(const char *text)
{
	const char *host = strstr(text, "://");

	return host != NULL && host != text && is_host(host + 3);
}

static bool
is_page_pattern(const char *text)
{
	return *text == '/';
}

static bool
is_prefix(const char *text)
{
	return *text == '\0' || *text == '/';
}

static bool
is_uri_start(const char *text)
{
	const char *colon = strstr(text, "://");

	return colon != NULL && colon != text && is_one_word(text) &&
		strpbrk(text, "{}\"\\?#%") == NULL;
}

static bool
is_short(const char *text)
{
	return strlen(text) <= 64;
}

static bool
is_icon(const char *text)
{
	return *text == '\0' || strncmp(text, "https://", 8) == 0 ||
		strncmp(text, "data:image/", 11) == 0;
}

static bool
is_state_directory(const char *text)
{
	return *text == '\0' || *text == '/' || strcmp(text, "auto") == 0;
}

static bool
is_socket_mode(const char *text)
{
	size_t digits = strspn(text, "01234567");

	return text[digits] == '\0' &&
		(digits == 3 || (digits == 4 && *text == '0'));
}

/* ------------------------------------------------------------ the table -- */

#define AT(field) .offset = offsetof(struct config, field)
#define GRANT_PATHS                                                            \
	.fits = is_grant,                                                      \
	.wanted = "a path inside the site, or an absolute one that is not "    \
		  "under /tmp"

static const struct config_key keys[] = {
	{ "root", KEY_PATH, AT(root), .preset = "", .scope = KEY_OWN },
	{ "sites", KEY_PATH, AT(sites), .preset = "" },

	{ "serve.host", KEY_TEXT, AT(serve.host), .preset = "127.0.0.1",
		.fits = is_host, .wanted = "a host name or an address" },
	{ "serve.port", KEY_COUNT, AT(serve.port), .preset = "8000",
		.most = 65535 },
	{ "serve.front", KEY_WORD, AT(serve.front), .preset = "nginx",
		.words = "nginx lighttpd" },

	{ "limits.timeout", KEY_SECONDS, AT(limits.timeout), .preset = "30.0",
		.least = 0.01, .most = DAY, .scope = KEY_INHERITED },
	{ "limits.max_output_bytes", KEY_COUNT, AT(limits.max_output_bytes),
		.preset = "1048576", .least = 1, .most = GIB,
		.scope = KEY_INHERITED },
	{ "limits.max_body_bytes", KEY_COUNT, AT(limits.max_body_bytes),
		.preset = "1048576", .least = 1, .most = GIB },
	{ "limits.max_list_items", KEY_COUNT, AT(limits.max_list_items),
		.preset = "1000", .least = 1, .most = 1e6,
		.scope = KEY_INHERITED },
	{ "limits.cpu", KEY_COUNT, AT(limits.cpu), .preset = "20", .most = DAY,
		.scope = KEY_INHERITED },
	{ "limits.memory_bytes", KEY_COUNT, AT(limits.memory_bytes),
		.preset = "1073741824", .most = 1024 * TIB,
		.scope = KEY_INHERITED },
	{ "limits.processes", KEY_COUNT, AT(limits.processes), .preset = "64",
		.most = 1e6, .scope = KEY_INHERITED },
	{ "limits.open_files", KEY_COUNT, AT(limits.open_files),
		.preset = "256", .most = 1e6, .scope = KEY_INHERITED },
	{ "limits.file_bytes", KEY_COUNT, AT(limits.file_bytes),
		.preset = "67108864", .most = 1024 * TIB,
		.scope = KEY_INHERITED },
	{ "limits.scratch_bytes", KEY_COUNT, AT(limits.scratch_bytes),
		.preset = "67108864", .least = 64 * KIB, .most = TIB },
	{ "limits.scratch_files", KEY_COUNT, AT(limits.scratch_files),
		.preset = "10000", .least = 10, .most = 1e7 },

	{ "components.enabled", KEY_FLAG, AT(components.enabled),
		.preset = "true", .scope = KEY_INHERITED },
	{ "components.timeout", KEY_SECONDS, AT(components.timeout),
		.preset = "5.0", .least = 0.01, .most = 3600,
		.scope = KEY_INHERITED },
	{ "components.total", KEY_SECONDS, AT(components.total),
		.preset = "30.0", .least = 0.01, .most = 3600,
		.scope = KEY_INHERITED },
	{ "components.max_blocks", KEY_COUNT, AT(components.max_blocks),
		.preset = "20", .most = 1000, .scope = KEY_INHERITED },
	{ "components.parallel", KEY_COUNT, AT(components.parallel),
		.preset = "4", .least = 1, .most = 64, .scope = KEY_INHERITED },

	{ "sandbox.mode", KEY_WORD, AT(sandbox.mode), .preset = "auto",
		.words = "auto strict landlock off" },

	{ "grant.read", KEY_LIST, AT(grant.read), .preset = "[]", GRANT_PATHS,
		.scope = KEY_OWN },
	{ "grant.write", KEY_LIST, AT(grant.write), .preset = "[]", GRANT_PATHS,
		.scope = KEY_OWN },
	{ "grant.unix", KEY_LIST, AT(grant.unix_sockets), .preset = "[]",
		GRANT_PATHS, .scope = KEY_OWN },
	{ "grant.workspace", KEY_LIST, AT(grant.workspace), .preset = "[]",
		GRANT_PATHS, .scope = KEY_OWN },
	{ "grant.exec", KEY_CHOICE, AT(grant.exec), .preset = "any",
		.choice_offset = offsetof(struct config, grant.exec_choice),
		.words = "any", .fits = is_filled,
		.wanted = "a program's name or path", .scope = KEY_INHERITED },
	{ "grant.network", KEY_CHOICE, AT(grant.network), .preset = "false",
		.choice_offset = offsetof(struct config, grant.network_choice),
		.words = "false true", .fits = is_target,
		.wanted = "\"host:port\" or an address range like "
			  "\"10.0.0.0/8\"",
		.scope = KEY_OWN },
	{ "grant.http", KEY_FLAG, AT(grant.http), .preset = "true",
		.scope = KEY_INHERITED },
	{ "grant.proc", KEY_FLAG, AT(grant.proc), .preset = "false",
		.scope = KEY_OWN },
	{ "grant.env", KEY_CHOICE, AT(grant.env), .preset = "any",
		.choice_offset = offsetof(struct config, grant.env_choice),
		.words = "any", .fits = is_variable,
		.wanted = "a variable's name", .scope = KEY_INHERITED },
	{ "grant.timeout", KEY_SECONDS, AT(grant.timeout), .preset = "0.0",
		.most = DAY, .scope = KEY_INHERITED },
	{ "grant.memory_bytes", KEY_COUNT, AT(grant.memory_bytes),
		.preset = "0", .most = 1024 * TIB, .scope = KEY_INHERITED },
	{ "grant.processes", KEY_COUNT, AT(grant.processes), .preset = "0",
		.most = 1e6, .scope = KEY_INHERITED },

	{ "http.hosts", KEY_LIST, AT(http.hosts), .preset = "[]",
		.fits = is_host, .wanted = "a host name without https://",
		.scope = KEY_OWN },
	{ "http.origins", KEY_LIST, AT(http.origins), .preset = "[]",
		.fits = is_origin,
		.wanted = "an origin like \"https://example.org\", without a "
			  "path",
		.scope = KEY_OWN },
	{ "http.cors", KEY_FLAG, AT(http.cors), .preset = "false",
		.scope = KEY_INHERITED },
	{ "http.html", KEY_FLAG, AT(http.html), .preset = "true",
		.scope = KEY_INHERITED },
	{ "http.preamble", KEY_FLAG, AT(http.preamble), .preset = "true",
		.scope = KEY_INHERITED },
	{ "http.listed", KEY_LIST, AT(http.listed), .preset = "[\"/**\"]",
		.fits = is_page_pattern,
		.wanted = "a pattern that begins with \"/\"",
		.scope = KEY_INHERITED },
	{ "http.hidden", KEY_LIST, AT(http.hidden), .preset = "[]",
		.fits = hidden_is_pattern,
		.wanted = "a pattern that begins with \"/\", like "
			  "\"/data/**\"",
		.scope = KEY_INHERITED },
	{ "http.handover", KEY_WORD, AT(http.handover), .preset = "auto",
		.words = "auto none nginx lighttpd apache",
		.scope = KEY_INHERITED },
	{ "http.prefix", KEY_TEXT, AT(http.prefix), .preset = "",
		.fits = is_prefix, .wanted = "a path that begins with \"/\"" },

	{ "mcp.enabled", KEY_WORD, AT(mcp.enabled), .preset = "auto",
		.words = "auto true false", .scope = KEY_INHERITED },
	{ "mcp.max_tools", KEY_COUNT, AT(mcp.max_tools), .preset = "100",
		.least = 1, .most = 10000, .scope = KEY_INHERITED },
	{ "mcp.uri", KEY_TEXT, AT(mcp.uri), .preset = "page:///",
		.fits = is_uri_start,
		.wanted = "the start of a URI, as \"page:///\"",
		.scope = KEY_OWN },
	{ "mcp.name", KEY_TEXT, AT(mcp.name), .preset = "", .fits = is_short,
		.wanted = "at most 64 bytes", .scope = KEY_OWN },
	{ "mcp.icon", KEY_TEXT, AT(mcp.icon), .preset = "", .fits = is_icon,
		.wanted = "a URI that begins with https: or data:",
		.scope = KEY_OWN },
	{ "mcp.instructions", KEY_TEXT, AT(mcp.instructions), .preset = "",
		.scope = KEY_OWN },
	{ "mcp.key_file", KEY_PATH, AT(mcp.key_file), .preset = "",
		.scope = KEY_INHERITED },

	{ "pool.mode", KEY_WORD, AT(pool.mode), .preset = "dynamic",
		.words = "dynamic static ondemand" },
	{ "pool.workers", KEY_COUNT, AT(pool.workers), .preset = "0",
		.most = 4096 },
	{ "pool.start", KEY_COUNT, AT(pool.start), .preset = "0",
		.most = 4096 },
	{ "pool.spare_min", KEY_COUNT, AT(pool.spare_min), .preset = "0",
		.most = 4096 },
	{ "pool.spare_max", KEY_COUNT, AT(pool.spare_max), .preset = "0",
		.most = 4096 },
	{ "pool.readers", KEY_COUNT, AT(pool.readers), .preset = "1000",
		.most = 65536 },
	{ "pool.reserve", KEY_COUNT, AT(pool.reserve), .preset = "2",
		.most = 4096 },
	{ "pool.kept_bytes", KEY_COUNT, AT(pool.kept_bytes),
		.preset = "4194304", .most = GIB },
	{ "pool.max_requests", KEY_COUNT, AT(pool.max_requests),
		.preset = "10000", .most = 1e9 },
	{ "pool.idle_timeout", KEY_SECONDS, AT(pool.idle_timeout),
		.preset = "10.0", .least = 0.1, .most = DAY },
	{ "pool.watchdog", KEY_SECONDS, AT(pool.watchdog), .preset = "60.0",
		.least = 1, .most = DAY },
	{ "pool.drain", KEY_SECONDS, AT(pool.drain), .preset = "0.0",
		.most = DAY },
	{ "pool.stop_timeout", KEY_SECONDS, AT(pool.stop_timeout),
		.preset = "0.0", .most = DAY },
	{ "pool.socket", KEY_PATH, AT(pool.socket), .preset = "" },
	{ "pool.socket_mode", KEY_TEXT, AT(pool.socket_mode), .preset = "0660",
		.fits = is_socket_mode,
		.wanted = "an octal mode in quotes, like \"0660\"" },
	{ "pool.socket_owner", KEY_TEXT, AT(pool.socket_owner), .preset = "" },
	{ "pool.socket_group", KEY_TEXT, AT(pool.socket_group), .preset = "" },
	{ "pool.allow", KEY_LIST, AT(pool.allow), .preset = "[]",
		.fits = is_range,
		.wanted = "an address, or a range like \"10.0.0.0/8\"" },
	{ "pool.backlog", KEY_COUNT, AT(pool.backlog), .preset = "511",
		.least = 1, .most = 65535 },
	{ "pool.user", KEY_TEXT, AT(pool.user), .preset = "" },
	{ "pool.group", KEY_TEXT, AT(pool.group), .preset = "" },

	{ "workspace.max_bytes", KEY_COUNT, AT(workspace.max_bytes),
		.preset = "268435456", .most = 1024 * TIB,
		.scope = KEY_INHERITED },
	{ "workspace.max_files", KEY_COUNT, AT(workspace.max_files),
		.preset = "100000", .most = 1e9, .scope = KEY_INHERITED },
	{ "workspace.total_bytes", KEY_COUNT, AT(workspace.total_bytes),
		.preset = "4294967296", .most = 1024 * TIB },
	{ "workspace.max", KEY_COUNT, AT(workspace.max), .preset = "1000",
		.most = 1e6 },
	{ "workspace.idle", KEY_SECONDS, AT(workspace.idle),
		.preset = "86400.0", .most = 365 * DAY,
		.scope = KEY_INHERITED },
	{ "workspace.commit", KEY_WORD, AT(workspace.commit), .preset = "files",
		.words = "none files all", .scope = KEY_INHERITED },

	{ "state.directory", KEY_TEXT, AT(state.directory), .preset = "auto",
		.fits = is_state_directory,
		.wanted = "\"auto\", an absolute path, or \"\"" },

	{ "jobs.max", KEY_COUNT, AT(jobs.max), .preset = "64", .least = 1,
		.most = 10000 },
	{ "jobs.max_page", KEY_COUNT, AT(jobs.max_page), .preset = "16",
		.least = 1, .most = 10000, .scope = KEY_INHERITED },
	{ "jobs.max_kept", KEY_COUNT, AT(jobs.max_kept), .preset = "1000",
		.least = 1, .most = 1e6 },
	{ "jobs.max_output_bytes", KEY_COUNT, AT(jobs.max_output_bytes),
		.preset = "16777216", .least = 1, .most = GIB,
		.scope = KEY_INHERITED },
	{ "jobs.timeout", KEY_SECONDS, AT(jobs.timeout), .preset = "3600.0",
		.least = 0.01, .most = 30 * DAY, .scope = KEY_INHERITED },
	{ "jobs.idle", KEY_SECONDS, AT(jobs.idle), .preset = "0.0",
		.most = 30 * DAY, .scope = KEY_INHERITED },
	{ "jobs.keep", KEY_SECONDS, AT(jobs.keep), .preset = "3600.0",
		.most = 365 * DAY },
	{ "once.keep", KEY_SECONDS, AT(once.keep), .preset = "86400.0",
		.least = 1, .most = 366 * DAY, .scope = KEY_INHERITED },
	{ "once.records", KEY_COUNT, AT(once.records), .preset = "262144",
		.least = KEYED_PARTS, .most = 1e9, .scope = KEY_INHERITED },

	{ "log.level", KEY_WORD, AT(log.level), .preset = "info",
		.words = "error warn info debug", .scope = KEY_INHERITED },
	{ "log.format", KEY_WORD, AT(log.format), .preset = "logfmt",
		.words = "logfmt json" },
	{ "log.file", KEY_PATH, AT(log.file), .preset = "" },
	{ "log.slow", KEY_SECONDS, AT(log.slow), .preset = "0.0", .most = DAY,
		.scope = KEY_INHERITED },
	{ "log.receipts", KEY_PATH, AT(log.receipts), .preset = "" },
	{ "log.receipts_key", KEY_PATH, AT(log.receipts_key), .preset = "" },
};

/* -------------------------------------------------------------- lookups -- */

const struct config_key *
config_key_at(size_t i)
{
	return i < ARRAY_LEN(keys) ? &keys[i] : NULL;
}

const struct config_key *
config_key_find(struct ss_text name)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (text_is(name, keys[i].name))
			return &keys[i];
	return NULL;
}

/* Small letters, and "_" for ".": a variable has no other way to write it. */
static char
folded(char c)
{
	if (c == '.' || c == '-')
		return '_';
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Compares with capitals alone: a variable in small letters is a mistake. */
const struct config_key *
config_key_of_variable(struct ss_text name)
{
	for (size_t i = 0; i < name.len; i++)
		if (name.data[i] >= 'a' && name.data[i] <= 'z')
			return NULL;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		size_t n = 0;

		while (n < name.len && keys[i].name[n] != '\0' &&
			folded(name.data[n]) == folded(keys[i].name[n]))
			n++;
		if (n == name.len && keys[i].name[n] == '\0')
			return &keys[i];
	}
	return NULL;
}

struct ss_text
config_key_section(const struct config_key *key)
{
	const char *dot = strchr(key->name, '.');

	return (struct ss_text){ key->name,
		dot != NULL ? (size_t)(dot - key->name) : 0 };
}

const char *
config_key_tail(const struct config_key *key)
{
	const char *dot = strchr(key->name, '.');

	return dot != NULL ? dot + 1 : key->name;
}

bool
config_key_is_section(struct ss_text name)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (name.len > 0 &&
			text_equal(name, config_key_section(&keys[i])))
			return true;
	return text_is(name, "env");
}

/* -------------------------------------------------------- near spellings -- */

#define NAME_MAX_LEN 63

/* How many letters to change, add or drop (Levenshtein), one row at a time. */
static unsigned
distance(const char *a, const char *b)
{
	unsigned row[NAME_MAX_LEN + 1];
	size_t n = strlen(b);

	if (strlen(a) > NAME_MAX_LEN || n > NAME_MAX_LEN)
		return NAME_MAX_LEN;
	for (unsigned j = 0; j <= n; j++)
		row[j] = j;
	for (unsigned i = 1; a[i - 1] != '\0'; i++) {
		unsigned corner = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= n; j++) {
			unsigned same = folded(a[i - 1]) == folded(b[j - 1]);
			unsigned best = corner + !same;

			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			corner = row[j];
			row[j] = best;
		}
	}
	return row[n];
}

/* "state.dir" of "state.directory": three letters or more of the last part. */
static bool
is_start(const char *name, size_t last_len, const char *of)
{
	return last_len >= 3 && strncmp(name, of, strlen(name)) == 0;
}

/*
 * The right name in a wrong section counts as two wrong letters, the start of
 * one as three.
 */
const struct config_key *
config_key_near(const char *name)
{
	const char *dot = strchr(name, '.');
	const char *tail = dot != NULL ? dot + 1 : name;
	const struct config_key *best = NULL;
	unsigned least = 4;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		unsigned d = distance(name, keys[i].name);

		if (d > 2 && strcmp(tail, config_key_tail(&keys[i])) == 0)
			d = 2;
		if (d > 3 && is_start(name, strlen(tail), keys[i].name))
			d = 3;
		if (d < least) {
			least = d;
			best = &keys[i];
		}
	}
	return best;
}

/* ------------------------------------------------------- words, messages -- */

static bool
is_boolean_word(const char *word)
{
	return strcmp(word, "true") == 0 || strcmp(word, "false") == 0;
}

bool
config_key_has_word(const struct config_key *key, const struct node *n)
{
	const char *p = key->words;

	if (n->kind != NODE_STRING && n->kind != NODE_BOOL)
		return false;
	if ((n->kind == NODE_BOOL) != is_boolean_word(n->text))
		return false;
	while (*p != '\0') {
		size_t len = strcspn(p, " ");

		if (len == n->len && memcmp(p, n->text, len) == 0)
			return true;
		p += len + strspn(p + len, " ");
	}
	return false;
}

/* "auto", true or false */
static void
list_words(const char *words, char *out, size_t cap)
{
	size_t used = 0;

	*out = '\0';
	for (const char *p = words; *p != '\0' && used < cap;) {
		int len = (int)strcspn(p, " ");
		bool last = p[len] == '\0';
		bool bare = strncmp(p, "true", 4) == 0 ||
			strncmp(p, "false", 5) == 0;
		const char *quote = bare ? "" : "\"";

		used += (size_t)snprintf(out + used, cap - used, "%s%s%.*s%s",
			p == words     ? ""
				: last ? " or "
				       : ", ",
			quote, len, p, quote);
		p += len + !last;
	}
}

void
config_key_preset(const struct config_key *key, char *out, size_t cap)
{
	bool text = key->type == KEY_TEXT || key->type == KEY_PATH;
	bool word = key->type == KEY_WORD || key->type == KEY_CHOICE;
	bool quoted = text || (word && !is_boolean_word(key->preset));

	snprintf(out, cap, quoted ? "\"%s\"" : "%s", key->preset);
}

void
config_key_seconds(double seconds, char *out, size_t cap)
{
	uint64_t micros = (uint64_t)(seconds * 1e6 + 0.5);
	int n = snprintf(out, cap, "%" PRIu64 ".%06" PRIu64, micros / 1000000,
		micros % 1000000);

	while (n > 2 && (size_t)n < cap && out[n - 1] == '0' &&
		out[n - 2] != '.')
		out[--n] = '\0';
}

void
config_key_expects(const struct config_key *key, char *out, size_t cap)
{
	char low[32], high[32], words[128];
	const char *wanted = key->wanted != NULL ? key->wanted : "text";

	switch (key->type) {
	case KEY_TEXT:
		snprintf(out, cap, "%s",
			key->wanted != NULL ? wanted : "text in quotes");
		break;
	case KEY_PATH: snprintf(out, cap, "a path in quotes"); break;
	case KEY_WORD: list_words(key->words, out, cap); break;
	case KEY_FLAG: snprintf(out, cap, "true or false"); break;
	case KEY_COUNT:
		snprintf(out, cap,
			"a whole number from %" PRIu64 " to %" PRIu64,
			(uint64_t)key->least, (uint64_t)key->most);
		break;
	case KEY_SECONDS:
		config_key_seconds(key->least, low, sizeof(low));
		config_key_seconds(key->most, high, sizeof(high));
		snprintf(out, cap, "seconds from %s to %s", low, high);
		break;
	case KEY_LIST:
		snprintf(out, cap, "a list in [], each item %s", wanted);
		break;
	case KEY_CHOICE:
		list_words(key->words, words, sizeof(words));
		snprintf(out, cap, "%s, or a list in [], each item %s", words,
			wanted);
		break;
	}
}
