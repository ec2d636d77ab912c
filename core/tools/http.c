/* SPDX-License-Identifier: MIT */
/*
 * The words of the HTTP tool and the addresses that it may reach
 * (statespace-page(7), Built-in tools).  These refusals give an early and
 * clear error; tool_http_may_connect decides on the address of the socket.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <strings.h>

#include "tools/parts.h"

#define URL_BYTES 8192

/* --------------------------------------------------------------- targets */

/* Takes ":80" off; 0: no port there. */
static bool
read_port(const char *text, size_t len, uint16_t *port)
{
	unsigned long n = 0;

	if (len == 0 || len > 5)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		n = n * 10 + (unsigned long)(text[i] - '0');
	}
	*port = (uint16_t)n;
	return n > 0 && n <= 65535;
}

/* Is target, "host:port" or "[address]:port", this host and port? */
static bool
is_target(const char *target, const char *host, uint16_t port)
{
	const char *colon = strrchr(target, ':');
	const char *name = target;
	size_t len;
	uint16_t own;

	if (colon == NULL || !read_port(colon + 1, strlen(colon + 1), &own) ||
		own != port)
		return false;
	len = (size_t)(colon - target);
	if (len > 2 && name[0] == '[' && name[len - 1] == ']') {
		name++;
		len -= 2;
	}
	len -= len > 1 && name[len - 1] == '.';
	return strlen(host) == len && strncasecmp(name, host, len) == 0;
}

static bool
is_named(const struct tool_http *h)
{
	for (size_t i = 0; i < h->target_count; i++)
		if (strcmp(h->targets[i], TOOL_TARGET_ANY) == 0 ||
			is_target(h->targets[i], h->host, h->port))
			return true;
	return false;
}

bool
tool_http_may_connect(const struct tool_http *h, int family,
	const void *address, uint16_t port)
{
	if (ss_address_is_public(family, address) &&
		(h->is_own == NULL || !h->is_own(family, address)))
		return true;
	if (family != AF_INET && family != AF_INET6)
		return false;
	if (port == h->port && is_named(h))
		return true;
	for (size_t i = 0; i < h->target_count; i++)
		if (ss_address_is_in(h->targets[i], family, address))
			return true;
	return false;
}

/* ------------------------------------------------------------------- URL */

static enum ss_err
bad_url(struct ss_error *err, const char *what)
{
	error_set(err, SS_BAD_REQUEST, "curl: %s", what);
	error_hint(err, "a URL looks like https://example.org/path?query");
	return SS_BAD_REQUEST;
}

static enum ss_err
refuse_target(struct ss_error *err, const char *what)
{
	error_set(err, SS_ADDRESS_REFUSED, "curl: %s", what);
	error_hint(err,
		"the HTTP tool reaches public addresses by http and "
		"https; the operator may add others to [grant] network");
	return SS_ADDRESS_REFUSED;
}

static enum ss_err
read_scheme(struct tool_http *h, const char **at, struct ss_error *err)
{
	const char *url = h->url;
	size_t n = 0;

	while (isalnum((unsigned char)url[n]) || strchr("+-.", url[n]) != NULL)
		if (url[n++] == '\0')
			return bad_url(err, "the URL has no scheme");
	if (url[n] != ':')
		return bad_url(err, "the URL has no scheme");
	if (n == 4 && strncasecmp(url, "http", n) == 0)
		h->port = 80;
	else if (n == 5 && strncasecmp(url, "https", n) == 0)
		h->port = 443;
	else if (url[n + 1] != '/' && isdigit((unsigned char)url[n + 1]))
		return bad_url(err, "the URL has no scheme");
	else
		return refuse_target(err, "only http and https are supported");
	if (strncmp(url + n, "://", 3) != 0)
		return bad_url(err, "after the scheme comes ://");
	*at = url + n + 3;
	return SS_OK;
}

/* Labels of letters, digits, hyphens and underscores; no empty one. */
static bool
is_host_name(const char *host)
{
	const char *label = host;

	if (*host == '\0')
		return false;
	for (; *host != '\0'; host++) {
		if (*host == '.') {
			if (host == label)
				return false;
			label = host + 1;
		} else if (!isalnum((unsigned char)*host) && *host != '-' &&
			*host != '_') {
			return false;
		}
	}
	return host > label;
}

static bool
ends_in_number(const char *host)
{
	const char *dot = strrchr(host, '.');
	const char *last = dot != NULL ? dot + 1 : host;

	return isdigit((unsigned char)*last) &&
		(strspn(last, "0123456789") == strlen(last) ||
			strncmp(last, "0x", 2) == 0);
}

/* Names that are never public, whatever a resolver answers. */
static bool
is_inner_name(const char *host)
{
	static const char *const names[] = { "localhost", "localdomain",
		"local", "internal", "home.arpa" };
	struct ss_text whole = text_of(host), tail;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		tail = text_of(names[i]);
		if (text_ends(whole, names[i]) &&
			(whole.len == tail.len ||
				host[whole.len - tail.len - 1] == '.'))
			return true;
	}
	return false;
}

/* Refuses numbers in all spellings of inet_aton(3): 0x7f.1, 017700000001. */
static enum ss_err
check_host(const struct tool_http *h, bool bracketed, struct ss_error *err)
{
	struct in6_addr six;
	struct in_addr four;
	bool open = true;

	if (bracketed) {
		if (inet_pton(AF_INET6, h->host, &six) != 1)
			return bad_url(err, "the brackets hold no address");
		open = tool_http_may_connect(h, AF_INET6, &six, h->port);
	} else if (!is_host_name(h->host)) {
		return refuse_target(err, "the host's name is spelled oddly");
	} else if (inet_aton(h->host, &four) != 0) {
		open = tool_http_may_connect(h, AF_INET, &four, h->port);
	} else if (ends_in_number(h->host)) {
		return refuse_target(err, "the host's name ends in a number");
	} else {
		open = !is_inner_name(h->host) || is_named(h);
	}
	if (open)
		return SS_OK;
	refuse_target(err, "the URL's host is no public address");
	error_setting(err, "grant.network", bracketed ? "+[%s]:%u" : "+%s:%u",
		h->host, (unsigned)h->port);
	return SS_ADDRESS_REFUSED;
}

/* Reads host and port, between "://" and the path: no user, no escapes. */
static enum ss_err
read_authority(struct tool_http *h, const char *at, struct ss_error *err)
{
	size_t len = strcspn(at, "/?#"), n;
	bool bracketed = at[0] == '[';
	const char *host = at + bracketed, *end;

	if (memchr(at, '@', len) != NULL)
		return refuse_target(err, "a URL must not name a user");
	if (memchr(at, '%', len) != NULL)
		return refuse_target(err, "the host's name is spelled oddly");
	end = bracketed ? memchr(at, ']', len) : memchr(at, ':', len);
	if (bracketed && end == NULL)
		return bad_url(err, "a bracket is not closed");
	n = end != NULL ? (size_t)(end - host) : len;
	if (n == 0 || n >= sizeof(h->host))
		return bad_url(err, "the URL has no host, or a long one");
	for (size_t i = 0; i < n; i++)
		h->host[i] = (char)tolower((unsigned char)host[i]);
	n -= n > 1 && h->host[n - 1] == '.';
	h->host[n] = '\0';
	end = end != NULL ? end + bracketed : at + len;
	if (end < at + len &&
		(*end != ':' ||
			!read_port(end + 1, (size_t)(at + len - end) - 1,
				&h->port)))
		return bad_url(err, "the port is no number from 1 to 65535");
	return check_host(h, bracketed, err);
}

static enum ss_err
read_url(struct tool_http *h, struct ss_error *err)
{
	const char *at = NULL;
	enum ss_err code;

	if (strlen(h->url) > URL_BYTES)
		return bad_url(err, "the URL is too long");
	for (const char *p = h->url; *p != '\0'; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f || *p == '\\')
			return bad_url(err,
				"a URL holds no blanks, control bytes or "
				"backslashes: escape them with %XX");
	code = read_scheme(h, &at, err);
	return code == SS_OK ? read_authority(h, at, err) : code;
}

/* --------------------------------------------------------------- options */

static const struct {
	const char *name;
	char letter;
} long_options[] = { { "request", 'X' }, { "header", 'H' }, { "data", 'd' },
	{ "data-raw", 'r' }, { "include", 'i' }, { "head", 'I' },
	{ "silent", 's' }, { "show-error", 'S' }, { "fail", 'f' } };

static enum ss_err
bad_value(struct ss_error *err, const char *what)
{
	return error_set(err, SS_BAD_REQUEST, "curl: %s", what);
}

static bool
has_control(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return true;
	return false;
}

static enum ss_err
from_file(struct ss_error *err, const char *option)
{
	error_set(err, SS_NOT_ALLOWED,
		"curl: %s reads no files: a value that begins with @", option);
	error_hint(err, "--data-raw takes the value as it is");
	return SS_NOT_ALLOWED;
}

static enum ss_err
take_method(struct tool_http *h, const char *value, struct ss_error *err)
{
	size_t n = strspn(value,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_");

	if (n == 0 || n > 32 || value[n] != '\0')
		return bad_value(err, "-X takes a method, such as PUT");
	if (strcasecmp(value, "CONNECT") == 0 ||
		strcasecmp(value, "TRACE") == 0)
		return error_set(err, SS_NOT_ALLOWED,
			"curl: -X takes neither CONNECT nor TRACE");
	h->method = value;
	return SS_OK;
}

static enum ss_err
take_header(struct tool_http *h, const char *value, struct ss_error *err)
{
	size_t n = strcspn(value, ":;");

	if (value[0] == '@')
		return from_file(err, "-H");
	if (n == 0 || value[n] == '\0' || has_control(value))
		return bad_value(err, "-H takes one line, \"Name: value\"");
	if (h->header_count == TOOL_HTTP_HEADERS)
		return bad_value(err, "there are too many headers");
	h->headers[h->header_count++] = value;
	return SS_OK;
}

static enum ss_err
take_data(
	struct tool_http *h, const char *value, bool raw, struct ss_error *err)
{
	if (!raw && value[0] == '@')
		return from_file(err, "-d");
	if (h->data_count == TOOL_HTTP_DATA)
		return bad_value(err, "there are too many -d");
	h->data[h->data_count++] = value;
	return SS_OK;
}

static enum ss_err
take_value(struct tool_http *h, char letter, const char *value,
	struct ss_error *err)
{
	if (value == NULL)
		return bad_value(err, "the last option needs a value");
	switch (letter) {
	case 'X': return take_method(h, value, err);
	case 'H': return take_header(h, value, err);
	default: return take_data(h, value, letter == 'r', err);
	}
}

/* -s and -S are what curl does without a terminal. */
static bool
take_flag(struct tool_http *h, char letter)
{
	switch (letter) {
	case 'i': h->include = true; return true;
	case 'I': h->head = true; return true;
	case 'f': h->fail = true; return true;
	case 's':
	case 'S': return true;
	default: return false;
	}
}

static enum ss_err
refuse_option(struct ss_error *err, const char *option, size_t len)
{
	error_set(err, SS_NOT_ALLOWED, "curl: the option %.*s is not supported",
		(int)(len < 40 ? len : 40), option);
	error_hint(err,
		"-X -H -d --data-raw -i -I -s -S -f are; the page names the "
		"real curl by its path when it means that one");
	return SS_NOT_ALLOWED;
}

static enum ss_err
take_long(struct tool_http *h, const char *word, char *const **next,
	struct ss_error *err)
{
	for (size_t i = 0; i < ARRAY_LEN(long_options); i++) {
		if (strcmp(word + 2, long_options[i].name) != 0)
			continue;
		if (take_flag(h, long_options[i].letter))
			return SS_OK;
		if (**next == NULL)
			return take_value(h, 'd', NULL, err);
		return take_value(h, long_options[i].letter, *(*next)++, err);
	}
	return refuse_option(err, word,
		2 + strspn(word + 2, "abcdefghijklmnopqrstuvwxyz0123456789-"));
}

/* "-sSX" "POST", "-XPOST". */
static enum ss_err
take_short(struct tool_http *h, const char *word, char *const **next,
	struct ss_error *err)
{
	char shown[3] = "-";

	for (const char *p = word + 1; *p != '\0'; p++) {
		if (take_flag(h, *p))
			continue;
		if (*p != 'X' && *p != 'H' && *p != 'd') {
			shown[1] = *p;
			return refuse_option(
				err, shown, isgraph((unsigned char)*p) ? 2 : 1);
		}
		if (p[1] != '\0')
			return take_value(h, *p, p + 1, err);
		return take_value(
			h, *p, **next != NULL ? *(*next)++ : NULL, err);
	}
	return SS_OK;
}

static enum ss_err
take_word(struct tool_http *h, const char *word, char *const **next,
	bool *only_urls, struct ss_error *err)
{
	if (!*only_urls && strcmp(word, "--") == 0) {
		*only_urls = true;
		return SS_OK;
	}
	if (!*only_urls && strncmp(word, "--", 2) == 0)
		return take_long(h, word, next, err);
	if (!*only_urls && word[0] == '-' && word[1] != '\0')
		return take_short(h, word, next, err);
	if (h->url != NULL)
		return bad_value(err, "one URL at a time");
	h->url = word;
	return SS_OK;
}

/* words begins with the tool's own name. */
enum ss_err
tool_http_read(char *const words[], struct tool_http *h, struct ss_error *err)
{
	char *const *next = words + 1;
	bool only_urls = false;
	enum ss_err code = SS_OK;

	while (code == SS_OK && *next != NULL) {
		const char *word = *next++;

		code = take_word(h, word, &next, &only_urls, err);
	}
	if (code != SS_OK)
		return code;
	if (h->url == NULL)
		return bad_value(err, "there is no URL");
	if (h->head && h->data_count > 0)
		return bad_value(err, "-I and -d exclude each other");
	return read_url(h, err);
}

enum ss_err
tool_http_parse(int argc, char *const argv[], struct tool_http *out,
	struct ss_error *err)
{
	struct tool_setting s;
	char *const *words;

	if (argc < 1)
		return error_set(err, SS_BAD_REQUEST, "curl: no command");
	*out = (struct tool_http){ .url = NULL };
	words = tool_settings_read(argv, &s);
	if (words == NULL)
		return error_set(err, SS_BAD_REQUEST, "curl: no command");
	out->timeout_ms = s.timeout_ms;
	out->targets = s.targets;
	out->target_count = s.target_count;
	return tool_http_read(words, out, err);
}
