/* SPDX-License-Identifier: MIT */
#include "http/origin.h"

#include <arpa/inet.h>
#include <strings.h>

#include "wire/authority.h"

static bool
is_literal(struct ss_text name)
{
	char copy[64];
	unsigned char address[16];

	if (name.len == 0 || name.len >= sizeof(copy))
		return false;
	memcpy(copy, name.data, name.len);
	copy[name.len] = '\0';
	return inet_pton(AF_INET, copy, address) == 1 ||
		inet_pton(AF_INET6, copy, address) == 1;
}

static bool
same_name(struct ss_text name, const char *known)
{
	struct ss_text k = authority_host(text_of(known));

	return name.len > 0 && name.len == k.len &&
		strncasecmp(name.data, k.data, k.len) == 0;
}

enum ss_err
origin_check_host(
	const struct config *config, const char *host, struct ss_error *err)
{
	struct ss_text name;

	if (host == NULL)
		return SS_OK;
	name = authority_host(text_of(host));
	if (is_literal(name) || same_name(name, "localhost") ||
		same_name(name, config->serve.host))
		return SS_OK;
	for (size_t i = 0; i < config->http.hosts.count; i++)
		if (same_name(name, config->http.hosts.items[i]))
			return SS_OK;
	error_set(err, SS_HOST_REFUSED,
		"this server does not answer for that Host");
	error_hint(err,
		"use the server's address, localhost, or a name listed "
		"in [http] hosts");
	return SS_HOST_REFUSED;
}

/*
 * Writes "host:port" with a port and in lower case; false: it is no authority.
 */
static bool
normalize_authority(struct ss_text authority, const char *default_port,
	char *out, size_t cap)
{
	struct ss_text name = authority_host(authority);
	const char *port = default_port;
	size_t port_len = strlen(default_port), after;
	const char *bracket = authority.len > 0 && authority.data[0] == '['
		? memchr(authority.data, ']', authority.len)
		: NULL;
	const char *colon;

	after = bracket != NULL ? (size_t)(bracket - authority.data) : 0;
	colon = memchr(authority.data + after, ':', authority.len - after);
	if (colon != NULL) {
		port = colon + 1;
		port_len = authority.len - (size_t)(port - authority.data);
	}
	if (name.len == 0 || name.len + port_len + 2 > cap)
		return false;
	for (size_t i = 0; i < name.len; i++)
		out[i] = (char)(name.data[i] >= 'A' && name.data[i] <= 'Z'
				? name.data[i] | 0x20
				: name.data[i]);
	out[name.len] = ':';
	memcpy(out + name.len + 1, port, port_len);
	out[name.len + 1 + port_len] = '\0';
	return true;
}

static bool
same_authority(const char *origin, const char *host)
{
	char a[300], b[300];
	const char *rest, *port;

	if (host == NULL)
		return false;
	if (strncasecmp(origin, "http://", 7) == 0) {
		rest = origin + 7;
		port = "80";
	} else if (strncasecmp(origin, "https://", 8) == 0) {
		rest = origin + 8;
		port = "443";
	} else {
		return false;
	}
	return strchr(rest, '/') == NULL &&
		normalize_authority(text_of(rest), port, a, sizeof(a)) &&
		normalize_authority(text_of(host), port, b, sizeof(b)) &&
		strcmp(a, b) == 0;
}

bool
origin_lists(const struct config *config, const char *origin)
{
	for (size_t i = 0; origin != NULL && i < config->http.origins.count;
		i++)
		if (strcasecmp(origin, config->http.origins.items[i]) == 0)
			return true;
	return false;
}

enum ss_err
origin_check(const struct config *config, const char *origin, const char *host,
	struct ss_error *err)
{
	if (origin == NULL || same_authority(origin, host) ||
		origin_lists(config, origin))
		return SS_OK;
	error_set(err, SS_ORIGIN_REFUSED,
		"a page of another site may not run tools here");
	error_hint(err, "the operator may list its origin in [http] origins");
	error_setting(err, "http.origins", "+%.200s", origin);
	return SS_ORIGIN_REFUSED;
}
