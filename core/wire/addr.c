/* SPDX-License-Identifier: MIT */
/*
 * Which addresses are public, and which are in a range.  The tables are IANA's
 * registries of special-purpose addresses (RFC 6890 and its successors),
 * multicast, and what is unallocated.  Ranges that a registry calls globally reachable
 * (anycast of AS112, AMT, PCP) are refused too: no page needs them.
 */
#include "base/base.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>

struct range4 {
	unsigned char base[4];
	unsigned bits;
};

static const struct range4 special4[] = {
	{ { 0, 0, 0, 0 }, 8 },        /* this network, RFC 791 */
	{ { 10, 0, 0, 0 }, 8 },       /* private use, RFC 1918 */
	{ { 100, 64, 0, 0 }, 10 },    /* shared address space, RFC 6598 */
	{ { 127, 0, 0, 0 }, 8 },      /* loopback, RFC 1122 */
	{ { 168, 63, 129, 16 }, 32 }, /* Azure's host, seen from a guest */
	{ { 169, 254, 0, 0 }, 16 },   /* link-local, RFC 3927; metadata */
	{ { 172, 16, 0, 0 }, 12 },    /* private use, RFC 1918 */
	{ { 192, 0, 0, 0 }, 24 },     /* protocol assignments, RFC 6890 */
	{ { 192, 0, 2, 0 }, 24 },     /* TEST-NET-1, RFC 5737 */
	{ { 192, 31, 196, 0 }, 24 },  /* AS112, RFC 7535 */
	{ { 192, 52, 193, 0 }, 24 },  /* AMT, RFC 7450 */
	{ { 192, 88, 99, 0 }, 24 },   /* 6to4 relays, RFC 7526 */
	{ { 192, 168, 0, 0 }, 16 },   /* private use, RFC 1918 */
	{ { 192, 175, 48, 0 }, 24 },  /* AS112, RFC 7534 */
	{ { 198, 18, 0, 0 }, 15 },    /* benchmarking, RFC 2544 */
	{ { 198, 51, 100, 0 }, 24 },  /* TEST-NET-2, RFC 5737 */
	{ { 203, 0, 113, 0 }, 24 },   /* TEST-NET-3, RFC 5737 */
	{ { 224, 0, 0, 0 }, 4 },      /* multicast, RFC 5771 */
	{ { 240, 0, 0, 0 }, 4 },      /* reserved and broadcast, RFC 1112 */
};

enum verdict {
	REFUSED,
	LAST_FOUR /* as public as the IPv4 address in the last four bytes */
};

struct range6 {
	unsigned char base[16];
	unsigned bits;
	enum verdict verdict;
};

/*
 * The first range that holds the address decides.  IPv4-compatible addresses
 * (::/96) are outside 2000::/3 and so refused.  6to4 and Teredo hold an IPv4
 * address too; both are obsolete tunnels, refused whatever it is.
 */
static const struct range6 special6[] = {
	/* IPv4-mapped, RFC 4291 */
	{ { [10] = 0xff, 0xff }, 96, LAST_FOUR },
	/* NAT64, RFC 6052 */
	{ { 0x00, 0x64, 0xff, 0x9b }, 96, LAST_FOUR },
	/* protocol assignments, RFC 2928: Teredo, ORCHID, benchmarking, ... */
	{ { 0x20, 0x01 }, 23, REFUSED },
	/* documentation, RFC 3849 */
	{ { 0x20, 0x01, 0x0d, 0xb8 }, 32, REFUSED },
	/* 6to4, RFC 3056 */
	{ { 0x20, 0x02 }, 16, REFUSED },
	/* AS112, RFC 7534 */
	{ { 0x26, 0x20, 0x00, 0x4f, 0x80, 0x00 }, 48, REFUSED },
	/* 6bone, returned by RFC 3701 */
	{ { 0x3f, 0xfe }, 16, REFUSED },
	/* documentation, RFC 9637 */
	{ { 0x3f, 0xff }, 20, REFUSED },
};

/*
 * The range that IANA assigns global unicast from.  Outside of it: ::, ::1,
 * local NAT64 (64:ff9b:1::/48), discard (100::/64), dummy (100:0:0:1::/64),
 * SRv6 (5f00::/16), unique local, link-local, site-local, multicast.
 */
static const unsigned char global6[] = { 0x20 };
#define GLOBAL6_BITS 3

static bool
has_prefix(
	const unsigned char *address, const unsigned char *base, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;

	if (memcmp(address, base, whole) != 0)
		return false;
	return rest == 0 || (address[whole] ^ base[whole]) >> (8 - rest) == 0;
}

static bool
is_public4(const unsigned char *address)
{
	for (size_t i = 0; i < ARRAY_LEN(special4); i++)
		if (has_prefix(address, special4[i].base, special4[i].bits))
			return false;
	return true;
}

/*
 * RFC 5214 section 6.1: an interface identifier of 0000:5efe and an IPv4
 * address; the universal bit, 0x02, may be set.
 */
static bool
is_isatap(const unsigned char *address)
{
	static const unsigned char mark[] = { 0x00, 0x5e, 0xfe };

	return (address[8] & 0xfd) == 0 && memcmp(address + 9, mark, 3) == 0;
}

static bool
is_public6(const unsigned char *address)
{
	for (size_t i = 0; i < ARRAY_LEN(special6); i++) {
		if (!has_prefix(address, special6[i].base, special6[i].bits))
			continue;
		return special6[i].verdict == LAST_FOUR &&
			is_public4(address + 12);
	}
	if (!has_prefix(address, global6, GLOBAL6_BITS))
		return false;
	return !is_isatap(address) || is_public4(address + 12);
}

bool
ss_address_is_public(int family, const void *address)
{
	switch (family) {
	case AF_INET: return is_public4(address);
	case AF_INET6: return is_public6(address);
	default: return false;
	}
}

bool
ss_address_is_in(const char *range, int family, const void *address)
{
	unsigned char base[sizeof(struct in6_addr)];
	const char *slash = strchr(range, '/');
	size_t len = slash != NULL ? (size_t)(slash - range) : strlen(range);
	unsigned long bits = family == AF_INET ? 32 : 128;
	char text[INET6_ADDRSTRLEN];
	char *end = NULL;

	if ((family != AF_INET && family != AF_INET6) || len >= sizeof(text))
		return false;
	memcpy(text, range, len);
	text[len] = '\0';
	if (inet_pton(family, text, base) != 1)
		return false;
	if (slash != NULL) {
		unsigned long own = strtoul(slash + 1, &end, 10);

		if (slash[1] < '0' || slash[1] > '9' || *end != '\0' ||
			own > bits)
			return false;
		bits = own;
	}
	return has_prefix(address, base, (unsigned)bits);
}
