/* SPDX-License-Identifier: MIT */
/* guard: whose Host and Origin are ours, and whose are only like them. */
#include "http/origin.h"
#include "tap.h"

static const char *hosts[] = { "tools.example.org", "b.example:8443" };
static const char *origins[] = { "https://front.example" };
static struct config config;
static struct ss_error err;

static bool
host(const char *text)
{
	return origin_check_host(&config, text, &err) == SS_OK;
}

static void
test_host(void)
{
	static const char *const ours[] = { "127.0.0.1", "127.0.0.1:8000",
		"192.0.2.7", "[::1]", "[::1]:8000", "localhost", "LOCALHOST:1",
		"localhost.", "tools.example.org", "Tools.Example.Org:443",
		"tools.example.org.", "b.example", "box", "box:8000" };
	static const char *const others[] = { "", ":80", ".", "evil.example",
		"localhost.evil.example", "localhosts", "localhos",
		"127.0.0.1.evil.example", "tools.example.org.evil.example",
		"example.org", "a.tools.example.org", "[::1", "[]", "::1",
		"[evil.example]", "127.1", "0x7f.1", "boxes" };
	char longer[80];

	ok(host(NULL), "no Host is no browser's");
	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		ok(host(ours[i]), "\"%s\" is ours", ours[i]);
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		ok(!host(others[i]) && err.code == SS_HOST_REFUSED,
			"\"%s\" is not", others[i]);
	for (size_t n = 62; n < 66; n++) {
		memset(longer, '1', n);
		longer[n] = '\0';
		ok(!host(longer), "nor are %zu digits", n);
	}
}

static bool
origin(const char *text, const char *at)
{
	return origin_check(&config, text, at, &err) == SS_OK;
}

static void
test_origin(void)
{
	static const struct {
		const char *origin, *host;
	} ours[] = { { NULL, "a.example" }, { NULL, NULL },
		{ "http://a.example", "a.example" },
		{ "http://a.example", "a.example:80" },
		{ "http://a.example:80", "a.example" },
		{ "HTTP://A.example:8000", "a.EXAMPLE:8000" },
		{ "https://a.example", "a.example:443" },
		{ "https://a.example", "a.example" },
		{ "http://[::1]:8000", "[::1]:8000" },
		{ "http://[::1]", "[::1]:80" },
		{ "https://front.example", "a.example" },
		{ "http://Z.example", "z.example" },
		{ "HTTPS://Front.Example", NULL } },
	  others[] = { { "http://b.example", "a.example" },
		  { "http://a.example", NULL }, { "null", "a.example" },
		  { "", "" }, { "http://", "" }, { "http://", ":80" },
		  { "http://a.example:8000", "a.example" },
		  { "http://a.example", "a.example:8000" },
		  { "https://a.example", "a.example:80" },
		  { "http://a.example", "a.example:443" },
		  { "http://a.example/", "a.example" },
		  { "ftp://a.example", "a.example" },
		  { "other://a.example", "a.example:443" },
		  { "a.example", "a.example" },
		  { "http://a.example.evil", "a.example" },
		  { "http://[::1]:8000", "[::2]:8000" },
		  { "http://[::1]:8000", "[::1]:8001" },
		  { "https://front.example:444", "a.example" },
		  { "https://front.example.evil", "a.example" } };
	char longer[400] = "http://";

	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		ok(origin(ours[i].origin, ours[i].host), "%s may POST to %s",
			ours[i].origin != NULL ? ours[i].origin : "nobody",
			ours[i].host != NULL ? ours[i].host : "nothing");
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		ok(!origin(others[i].origin, others[i].host) &&
				err.code == SS_ORIGIN_REFUSED,
			"\"%s\" may not POST to %s", others[i].origin,
			others[i].host != NULL ? others[i].host : "nothing");
	/* With its port and a NUL a name has 300 bytes. */
	memset(longer + 7, 'a', 297);
	ok(!origin(longer, longer + 7), "a name is not endless");
	longer[7 + 296] = '\0';
	ok(origin(longer, longer + 7), "but long");
}

int
main(void)
{
	config.serve.host = "box";
	config.http.hosts.items = hosts;
	config.http.hosts.count = ARRAY_LEN(hosts);
	config.http.origins.items = origins;
	config.http.origins.count = ARRAY_LEN(origins);
	test_host();
	test_origin();
	return done();
}
