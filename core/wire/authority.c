/* SPDX-License-Identifier: MIT */
#include "wire/authority.h"

#include <arpa/inet.h>

static const struct ss_text none = { "", 0 };

/* ":" and digits, or nothing. */
static bool
is_port(const char *text, size_t len)
{
	if (len == 0)
		return true;
	if (text[0] != ':' || len > 6)
		return false;
	for (size_t i = 1; i < len; i++)
		if (text[i] < '0' || text[i] > '9')
			return false;
	return true;
}

struct ss_text
authority_host(struct ss_text a)
{
	const char *end;
	struct ss_text host;

	if (a.len > 0 && a.data[0] == '[') {
		end = memchr(a.data, ']', a.len);
		/* RFC 3986 3.2.2: brackets are for addresses alone. */
		if (end == NULL ||
			memchr(a.data, ':', (size_t)(end - a.data)) == NULL ||
			!is_port(end + 1, (size_t)(a.data + a.len - end) - 1))
			return none;
		return (struct ss_text){ a.data + 1,
			(size_t)(end - a.data) - 1 };
	}
	end = memchr(a.data, ':', a.len);
	host = end != NULL ? (struct ss_text){ a.data, (size_t)(end - a.data) }
			   : a;
	if (!is_port(host.data + host.len, a.len - host.len) ||
		memchr(host.data, '@', host.len) != NULL)
		return none;
	if (host.len > 0 && host.data[host.len - 1] == '.')
		host.len--;
	return host;
}

/* Letters, digits, "-", ".", "_"; names in other letters come as xn--. */
static bool
fold_name(struct ss_text host, char *out)
{
	for (size_t i = 0; i < host.len; i++) {
		char c = host.data[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
			c != '-' && c != '.' && c != '_')
			return false;
		out[i] = c;
	}
	out[host.len] = '\0';
	return true;
}

bool
authority_host_folded(
	struct ss_text authority, char out[static AUTHORITY_HOST_MAX + 1])
{
	struct ss_text host = authority_host(authority);
	char text[INET6_ADDRSTRLEN];
	struct in6_addr address;

	if (host.len == 0 || host.len > AUTHORITY_HOST_MAX)
		return false;
	if (memchr(host.data, ':', host.len) == NULL)
		return fold_name(host, out);
	if (host.len >= sizeof(text))
		return false;
	memcpy(text, host.data, host.len);
	text[host.len] = '\0';
	return inet_pton(AF_INET6, text, &address) == 1 &&
		inet_ntop(AF_INET6, &address, out, INET6_ADDRSTRLEN) != NULL;
}
