/* SPDX-License-Identifier: MIT */
/*
 * Addresses: both edges of every special-purpose range, from inside and from
 * outside.  The ranges are written here as first and last address, from the
 * registries and not from the code.
 */
#include "base/base.h"
#include "tap.h"

#include <arpa/inet.h>

/* NULL where the neighbour is special too, or does not exist. */
struct edges {
	const char *before, *first, *last, *after;
	const char *what;
};

static const struct edges ipv4[] = {
	{ NULL, "0.0.0.0", "0.255.255.255", "1.0.0.0", "this network" },
	{ "9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0",
		"private use" },
	{ "100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0",
		"shared space" },
	{ "126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0",
		"loopback" },
	{ "168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17",
		"Azure's host" },
	{ "169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0",
		"link-local" },
	{ "172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0",
		"private use" },
	{ "191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0",
		"protocol assignments" },
	{ "192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0",
		"TEST-NET-1" },
	{ "192.31.195.255", "192.31.196.0", "192.31.196.255", "192.31.197.0",
		"AS112" },
	{ "192.52.192.255", "192.52.193.0", "192.52.193.255", "192.52.194.0",
		"AMT" },
	{ "192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0",
		"6to4 relays" },
	{ "192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0",
		"private use" },
	{ "192.175.47.255", "192.175.48.0", "192.175.48.255", "192.175.49.0",
		"AS112" },
	{ "198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0",
		"benchmarking" },
	{ "198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0",
		"TEST-NET-2" },
	{ "203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0",
		"TEST-NET-3" },
	{ "223.255.255.255", "224.0.0.0", "239.255.255.255", NULL,
		"multicast" },
	{ NULL, "240.0.0.0", "255.255.255.255", NULL, "reserved" },
};

#define ONES "ffff:ffff:ffff:ffff"

static const struct edges ipv6[] = {
	{ NULL, "::", "::", NULL, "unspecified" },
	{ NULL, "::1", "::1", NULL, "loopback" },
	{ NULL, "::2", "::ffff:ffff", NULL, "IPv4-compatible" },
	{ NULL, "64:ff9b:1::", "64:ff9b:1:ffff:" ONES, NULL, "local NAT64" },
	{ NULL, "100::", "100::" ONES, NULL, "discard" },
	{ NULL, "100:0:0:1::", "100::1:" ONES, NULL, "dummy" },
	{ NULL, "::1:0:0:0:0", "1fff:ffff:ffff:ffff:" ONES,
		"2000::", "unassigned below 2000::" },
	{ "2000:ffff:ffff:ffff:" ONES, "2001::", "2001:1ff:ffff:ffff:" ONES,
		"2001:200::", "protocol assignments" },
	{ NULL, "2001::", "2001::ffff:ffff:" ONES, NULL, "Teredo" },
	{ NULL, "2001:1::1", "2001:1::3", NULL, "anycast of PCP and TURN" },
	{ NULL, "2001:2::", "2001:2:0:ffff:" ONES, NULL, "benchmarking" },
	{ NULL, "2001:3::", "2001:3:ffff:ffff:" ONES, NULL, "AMT" },
	{ NULL, "2001:4:112::", "2001:4:112:ffff:" ONES, NULL, "AS112" },
	{ NULL, "2001:10::", "2001:1f:ffff:ffff:" ONES, NULL, "ORCHID" },
	{ NULL, "2001:20::", "2001:2f:ffff:ffff:" ONES, NULL, "ORCHIDv2" },
	{ NULL, "2001:30::", "2001:3f:ffff:ffff:" ONES, NULL, "drones" },
	{ "2001:db7:ffff:ffff:" ONES, "2001:db8::", "2001:db8:ffff:ffff:" ONES,
		"2001:db9::", "documentation" },
	{ "2001:ffff:ffff:ffff:" ONES, "2002::", "2002:ffff:ffff:ffff:" ONES,
		"2003::", "6to4" },
	{ "2620:4f:7fff:ffff:" ONES, "2620:4f:8000::",
		"2620:4f:8000:ffff:" ONES, "2620:4f:8001::", "AS112" },
	{ "3ffd:ffff:ffff:ffff:" ONES, "3ffe::", "3ffe:ffff:ffff:ffff:" ONES,
		NULL, "6bone" },
	{ NULL, "3fff::", "3fff:fff:ffff:ffff:" ONES,
		"3fff:1000::", "documentation" },
	{ "3fff:ffff:ffff:ffff:" ONES, "4000::", "fbff:ffff:ffff:ffff:" ONES,
		NULL, "unassigned above 3fff::" },
	{ NULL, "5f00::", "5f00:ffff:ffff:ffff:" ONES, NULL, "SRv6" },
	{ NULL, "fc00::", "fdff:ffff:ffff:ffff:" ONES, NULL, "unique local" },
	{ NULL, "fe80::", "febf:ffff:ffff:ffff:" ONES, NULL, "link-local" },
	{ NULL, "fec0::", "feff:ffff:ffff:ffff:" ONES, NULL, "site-local" },
	{ NULL, "ff00::", "ffff:ffff:ffff:ffff:" ONES, NULL, "multicast" },
};

static void
is(int family, const char *text, bool wanted, const char *what)
{
	unsigned char address[16];

	if (text == NULL)
		return;
	if (!ok(inet_pton(family, text, address) == 1, "%s is an address",
		    text))
		return;
	ok(ss_address_is_public(family, address) == wanted, "%s is %s (%s)",
		text, wanted ? "public" : "refused", what);
}

static void
check_edges(int family, const struct edges *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		is(family, ranges[i].before, true, "right before");
		is(family, ranges[i].first, false, ranges[i].what);
		is(family, ranges[i].last, false, ranges[i].what);
		is(family, ranges[i].after, true, "right behind");
	}
}

/* An IPv6 prefix of 96 bits and every IPv4 edge behind it. */
static void
check_embedded(const char *prefix)
{
	char text[64];

	for (size_t i = 0; i < ARRAY_LEN(ipv4); i++) {
		const char *v4[] = { ipv4[i].before, ipv4[i].first,
			ipv4[i].last, ipv4[i].after };

		for (size_t j = 0; j < ARRAY_LEN(v4); j++) {
			if (v4[j] == NULL)
				continue;
			snprintf(text, sizeof(text), "%s%s", prefix, v4[j]);
			is(AF_INET6, text, j == 0 || j == 3, "embedded");
		}
	}
}

static void
test_relics(void)
{
	is(AF_INET6, "::8.8.8.8", false, "IPv4-compatible, whatever it holds");
	is(AF_INET6, "2002:808:808::1", false, "6to4 of a public address");
	is(AF_INET6, "2002:7f00:1::1", false, "6to4 of loopback");
	is(AF_INET6, "2001:0:808:808::f7f7:f7f7", false, "Teredo");
	is(AF_INET6, "64:ff9b:1::8.8.8.8", false, "local NAT64");
	is(AF_INET6, "64:ff9b::1:8.8.8.8", false, "right behind NAT64");
	is(AF_INET6, "64:ff9a:ffff:ffff:ffff:ffff:808:808", false,
		"right before NAT64");
	is(AF_INET6, "::fffe:808:808", false, "right before mapped");
	is(AF_INET6, "::1:0:808:808", false, "right behind mapped");
	is(AF_INET6, "2a00::5efd:127.0.0.1", true, "not quite ISATAP");
	is(AF_INET6, "2a00::400:5efe:127.0.0.1", true, "not quite ISATAP");
}

static void
test_places(void)
{
	unsigned char any[16] = { 8, 8, 8, 8 };

	is(AF_INET, "1.1.1.1", true, "a resolver");
	is(AF_INET, "8.8.8.8", true, "a resolver");
	is(AF_INET, "93.184.215.14", true, "a web server");
	is(AF_INET, "169.254.169.254", false, "a metadata service");
	is(AF_INET, "100.100.100.200", false, "a metadata service");
	is(AF_INET, "192.0.0.192", false, "a metadata service");
	is(AF_INET6, "fd00:ec2::254", false, "a metadata service");
	is(AF_INET6, "2606:4700:4700::1111", true, "a resolver");
	is(AF_INET6, "2001:4860:4860::8888", true, "a resolver");
	ok(!ss_address_is_public(AF_UNSPEC, any), "no family is refused");
	ok(!ss_address_is_public(AF_UNIX, any), "so is another one");
}

/* ------------------------------------------------------------------ ranges -- */

static bool
is_in(const char *range, const char *address)
{
	unsigned char bytes[16];
	int family = strchr(address, ':') != NULL ? AF_INET6 : AF_INET;

	ok(inet_pton(family, address, bytes) == 1, "%s is an address", address);
	return ss_address_is_in(range, family, bytes);
}

static void
ranges(void)
{
	ok(is_in("10.0.0.5", "10.0.0.5"), "an address is in itself");
	ok(!is_in("10.0.0.5", "10.0.0.4"), "and no other is");
	ok(is_in("10.1.0.0/15", "10.0.255.255"), "a range has its first bits");
	ok(is_in("10.1.0.0/15", "10.1.255.255"), "up to its end");
	ok(!is_in("10.1.0.0/15", "10.2.0.0"), "and not beyond");
	ok(is_in("0.0.0.0/0", "203.0.113.9"), "all of IPv4");
	ok(is_in("2001:db8::/33", "2001:db8:7fff::1"), "a range of IPv6");
	ok(!is_in("2001:db8::/33", "2001:db8:8000::1"), "and not beyond");
	ok(!is_in("::/0", "10.0.0.5"), "another family is in no range");
	ok(!is_in("::ffff:10.0.0.5", "10.0.0.5"), "a mapped one is IPv6");
	ok(!is_in("10.0.0.0/33", "10.0.0.0"), "too many bits hold nothing");
	ok(!is_in("10.0.0.0/", "10.0.0.0"), "nor do none");
	ok(!is_in("10.0.0.0/ 8", "10.0.0.0"), "nor a space");
	ok(!is_in("10.0.0.0/-1", "10.0.0.0"), "nor a sign");
	ok(!is_in("", "10.0.0.0"), "nor an empty text");
	ok(!ss_address_is_in("0.0.0.0/0", AF_UNIX, "abcd"),
		"no other family is in a range");
}

int
main(void)
{
	check_edges(AF_INET, ipv4, ARRAY_LEN(ipv4));
	check_edges(AF_INET6, ipv6, ARRAY_LEN(ipv6));
	check_embedded("::ffff:");
	check_embedded("64:ff9b::");
	check_embedded("2a00::5efe:");
	check_embedded("2a00::200:5efe:");
	test_relics();
	test_places();
	ranges();
	return done();
}
