/* SPDX-License-Identifier: MIT */
/* The HTTP tool's words, and every way to spell an address that is not open. */
#include <arpa/inet.h>

#include "tap.h"
#include "tools/tool.h"
#include "tools/parts.h"

static struct tool_http http;
static struct ss_error err;

static enum ss_err
parse(const char *const *words, size_t count, const char *const *targets,
	size_t target_count)
{
	static char copy[40][512];
	static char *argv[64];
	struct tool_bounds bounds = { .items = 10,
		.timeout_ms = 5000,
		.targets = targets,
		.target_count = target_count };
	static struct arena arena;
	char *const *line;
	int argc = 0;

	for (size_t i = 0; i < count; i++) {
		snprintf(copy[i], sizeof(copy[i]), "%s", words[i]);
		argv[i] = copy[i];
	}
	argv[count] = NULL;
	arena_clear(&arena);
	line = tool_argv(&arena, tool_find("curl"), argv, &bounds);
	while (line[argc] != NULL)
		argc++;
	err = (struct ss_error){ .code = SS_OK };
	return tool_http_parse(argc, line, &http, &err);
}

#define PARSE(...)                                                             \
	parse((const char *const[]){ "curl", __VA_ARGS__ },                    \
		sizeof((const char *const[]){ "curl", __VA_ARGS__ }) /         \
			sizeof(char *),                                        \
		NULL, 0)

static void
check_spellings(void)
{
	static const char *const refused[] = { "http://127.0.0.1/",
		"http://127.1/", "http://2130706433/", "http://0x7f000001/",
		"http://0x7f.1/", "http://017700000001/", "http://0177.0.0.1/",
		"http://127.0.0.1./", "http://0/", "http://0.0.0.0:80/",
		"http://10.0.0.1/", "http://172.16.0.1/", "http://192.168.1.1/",
		"http://169.254.169.254/latest/", "http://0xa9fea9fe/",
		"http://100.64.0.1/", "http://192.0.2.1/", "http://198.18.0.1/",
		"http://224.0.0.1/", "http://255.255.255.255/", "http://[::1]/",
		"http://[::]/", "http://[::ffff:127.0.0.1]/",
		"http://[::ffff:7f00:1]/", "http://[::127.0.0.1]/",
		"http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/",
		"http://[2001:0:1:2:3:4:80ff:fffe]/", "http://[fe80::1]/",
		"http://[fc00::1]/", "http://[ff02::1]/",
		"http://[2001:db8::1]/", "http://localhost/",
		"http://LOCALHOST:80/", "http://localhost./",
		"http://a.localhost/", "http://metadata.google.internal/",
		"http://METADATA.google.internal./", "http://printer.local/",
		"http://user@example.org/", "http://user:pw@127.0.0.1/",
		"http://example.org@127.0.0.1/", "http://127.0.0.1%2f@x.org/",
		"http://%31%32%37.0.0.1/", "http://127.0.0.1.0x/",
		"http://1.2.3.256/", "http://example.org../",
		"http://.example.org/", "http://ex_ample..org/",
		"http://\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1/",
		/* Ideographic full stops; octal, so that no digit joins in. */
		"http://127\343\200\202\060\343\200\202\060\343\200\202\061/",
		"http://b\303\274cher.example/", "file:///etc/passwd",
		"FILE:///etc/passwd", "gopher://127.0.0.1:6379/_x",
		"ftp://example.org/", "dict://example.org/",
		"data:text/plain,x", "ws://example.org/",
		"scp://example.org/" };

	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		is_int(SS_ADDRESS_REFUSED, PARSE(refused[i]), "refuses %s",
			refused[i]);
}

static void
check_wrong_urls(void)
{
	static const char *const wrong[] = { "", "example.org",
		"example.org:80/x", "//example.org/", "http:example.org",
		"http:/example.org/", "http:///example.org/", "http://",
		"http://:80/", "http://example.org:/", "http://example.org:0/",
		"http://example.org:65536/", "http://example.org:80x/",
		"http://example.org:-1/", "http://[::1/", "http://[]/",
		"http://[fe80::1%25eth0]/", "http://[::1]x/",
		"http://example.org/a b", "http://example.org/\n",
		"http://example.org\\@127.0.0.1/", "http://127.0.0.1\t/" };

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		ok(PARSE(wrong[i]) == SS_BAD_REQUEST ||
				err.code == SS_ADDRESS_REFUSED,
			"is no URL: %s", wrong[i]);
}

static void
check_open_urls(void)
{
	static const struct {
		const char *url, *host;
		int port;
	} fine[] = { { "http://example.org/", "example.org", 80 },
		{ "https://example.org", "example.org", 443 },
		{ "HTTPS://Example.ORG.:8443/x?y#z", "example.org", 8443 },
		{ "http://93.184.216.34/", "93.184.216.34", 80 },
		{ "http://[2606:2800:220:1::1]:81/", "2606:2800:220:1::1", 81 },
		{ "http://xn--bcher-kva.example?q=@x", "xn--bcher-kva.example",
			80 },
		{ "http://localhost.example.org/", "localhost.example.org",
			80 } };

	for (size_t i = 0; i < ARRAY_LEN(fine); i++) {
		is_int(SS_OK, PARSE(fine[i].url), "takes %s", fine[i].url);
		is_str(fine[i].host, http.host, "... its host");
		is_int(fine[i].port, http.port, "... its port");
	}
}

static void
check_options(void)
{
	static const char *const refused[] = { "-o", "-O", "-L", "-k", "-x",
		"-u", "-b", "-c", "-K", "-T", "-F", "-e", "-A", "-v", "-n",
		"-G", "-6", "--output", "--location", "--insecure", "--proxy",
		"--config", "--resolve", "--connect-to", "--unix-socket",
		"--upload-file", "--next", "--url", "--interface", "--socks5",
		"--data-binary", "--data-urlencode", "--form", "--netrc" };

	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		is_int(SS_NOT_ALLOWED,
			PARSE(refused[i], "x", "http://example.org/"),
			"does not take %s", refused[i]);
		ok(strstr(err.message, refused[i]) != NULL, "... and names it");
	}
	is_int(SS_NOT_ALLOWED, PARSE("-sSfo", "x", "http://example.org/"),
		"sees an option at the end of a cluster");
	is_int(SS_OK,
		PARSE("-sSXPOST", "-H", "A: b", "-HC:d", "-d", "x=1",
			"--data-raw", "@y", "-i", "-f", "http://example.org/"),
		"takes what it lists");
	ok(strcmp(http.method, "POST") == 0 && http.header_count == 2 &&
			http.data_count == 2 && http.include && http.fail &&
			strcmp(http.data[1], "@y") == 0,
		"... all of it");
	is_int(5000, http.timeout_ms, "... and the executor's bounds");
	is_int(SS_OK, PARSE("http://example.org/", "-I"),
		"options may follow the URL");
	is_int(SS_NOT_ALLOWED,
		PARSE("-d", "@/etc/passwd", "http://example.org/"),
		"reads no file as a body");
	is_int(SS_NOT_ALLOWED, PARSE("-H", "@x", "http://example.org/"),
		"reads no file of headers");
	is_int(SS_BAD_REQUEST,
		PARSE("-H", "A: b\r\nHost: c", "http://example.org/"),
		"a header is one line");
	is_int(SS_BAD_REQUEST, PARSE("-H", "nothing", "http://example.org/"),
		"a header has a name and a value");
	is_int(SS_BAD_REQUEST,
		PARSE("-X", "GET /x HTTP/1.1\r\n", "http://example.org/"),
		"a method is one word");
	is_int(SS_NOT_ALLOWED, PARSE("-X", "connect", "http://example.org/"),
		"no tunnels");
	is_int(SS_BAD_REQUEST,
		PARSE("http://example.org/", "http://example.com/"),
		"one URL at a time");
	is_int(SS_BAD_REQUEST, PARSE("-s"), "no URL at all");
	is_int(SS_BAD_REQUEST, PARSE("http://example.org/", "-H"),
		"an option without its value");
	is_int(SS_BAD_REQUEST, PARSE("-I", "-d", "x", "http://example.org/"),
		"HEAD has no body");
	is_int(SS_BAD_REQUEST, PARSE("--", "-o"), "what follows -- is a URL");
}

static bool
may(int family, const char *address, uint16_t port)
{
	unsigned char bytes[16];

	return inet_pton(family, address, bytes) == 1 &&
		tool_http_may_connect(&http, family, bytes, port);
}

/* Whatever ends in 34. */
static bool
is_own(int family, const void *address)
{
	return family == AF_INET && ((const unsigned char *)address)[3] == 34;
}

static void
check_targets(void)
{
	static const char *const targets[] = { "db.internal:8080",
		"10.1.0.0/16", "192.168.7.7", "[fd00::5]:81", "fd12::/33",
		"nonsense", "10.2.0.0/", "10.3.0.0/99", "10.4.0.0/8x", "",
		"93.184.217.0/24" };
	const char *const inner[] = { "curl", "http://db.internal:8080/" };
	const char *const other[] = { "curl", "http://db.internal:8081/" };
	const char *const outer[] = { "curl", "http://example.org/" };
	const char *const listed[] = { "curl", "http://10.1.2.3/" };
	size_t n = ARRAY_LEN(targets);

	is_int(SS_OK, parse(inner, 2, targets, n), "a listed host and port");
	ok(may(AF_INET, "10.9.9.9", 8080), "... wherever its name leads");
	ok(!may(AF_INET, "10.9.9.9", 8081), "... at that port only");
	is_int(SS_ADDRESS_REFUSED, parse(other, 2, targets, n),
		"the same host at another port");
	is_int(SS_OK, parse(listed, 2, targets, n), "an address of a range");
	is_int(SS_OK, parse(outer, 2, targets, n), "a host that is not listed");
	ok(may(AF_INET, "93.184.216.34", 80), "... reaches public addresses");
	http.is_own = is_own;
	ok(!may(AF_INET, "93.184.216.34", 80), "... unless they are our own");
	ok(may(AF_INET, "93.184.216.35", 80), "... which others are not");
	ok(may(AF_INET, "93.184.217.34", 80), "... and no target names");
	http.is_own = NULL;
	ok(may(AF_INET, "10.1.255.255", 80), "... and the listed range");
	ok(!may(AF_INET, "10.2.0.1", 80), "... and nothing beside it");
	ok(!may(AF_INET, "10.3.0.1", 80), "... nor a range that is none");
	ok(!may(AF_INET, "10.4.0.1", 80), "... nor one with text behind");
	ok(may(AF_INET, "192.168.7.7", 1), "... and a single address");
	ok(!may(AF_INET, "192.168.7.8", 1), "... not its neighbour");
	ok(may(AF_INET6, "fd12:0:7fff::1", 1) &&
			!may(AF_INET6, "fd12:0:8000::1", 1),
		"... and a range that ends within a byte");
	ok(!may(AF_INET6, "fd00::5", 81), "a target counts for its own host");
	ok(!may(AF_UNIX, "10.1.0.1", 80), "no other family");
}

static void
check_any(void)
{
	static const char *const any[] = { TOOL_TARGET_ANY };
	const char *const words[] = { "curl", "http://localhost:1/" };

	is_int(SS_OK, parse(words, 2, any, 1), "network = true opens all");
	ok(may(AF_INET, "127.0.0.1", 1), "... to the socket");
}

int
main(void)
{
	check_spellings();
	check_wrong_urls();
	check_open_urls();
	check_options();
	check_targets();
	check_any();
	return done();
}
