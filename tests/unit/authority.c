/* SPDX-License-Identifier: MIT */
/* authority: the host of Host, and of names of sites. */
#include "wire/authority.h"

#include "tap.h"

static const struct {
	const char *authority, *folded; /* NULL: none */
} hosts[] = {
	{ "a.example", "a.example" },
	{ "A.Example:8080", "a.example" },
	{ "a.example.", "a.example" },
	{ "a.example.:80", "a.example" },
	{ "a_b-1.example", "a_b-1.example" },
	{ "127.0.0.1:1", "127.0.0.1" },
	{ "[::1]", "::1" },
	{ "[2001:DB8:0:0::0001]:443", "2001:db8::1" },
	{ "a.example:", "a.example" },
	{ "", NULL },
	{ ".", NULL },
	{ ":80", NULL },
	{ "a.example:x", NULL },
	{ "a.example:80:80", NULL },
	{ "a.example:1234567", NULL },
	{ "u@a.example", NULL },
	{ "a.example:80@b", NULL },
	{ "a.example/b", NULL },
	{ "a example", NULL },
	{ "a,b", NULL },
	{ "b%2eexample", NULL },
	{ "[a.example]", NULL },
	{ "[::1", NULL },
	{ "[::1]x", NULL },
	{ "[::g]", NULL },
	{ "::1", NULL },
	{ "\xc3\xa4.example", NULL },
};

int
main(void)
{
	char out[AUTHORITY_HOST_MAX + 1], longest[AUTHORITY_HOST_MAX + 2];
	bool found;

	for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
		found = authority_host_folded(text_of(hosts[i].authority), out);
		is_str(hosts[i].folded != NULL ? hosts[i].folded : "none",
			found ? out : "none", "the host of \"%s\"",
			hosts[i].authority);
	}
	memset(longest, 'a', sizeof(longest));
	ok(authority_host_folded(
		   (struct ss_text){ longest, AUTHORITY_HOST_MAX }, out),
		"a host of 253 bytes");
	ok(!authority_host_folded(
		   (struct ss_text){ longest, AUTHORITY_HOST_MAX + 1 }, out),
		"no longer one");
	is_int(9, (long)authority_host(text_of("A.example.:1")).len,
		"as it is written, without the last dot");
	done();
	return 0;
}
