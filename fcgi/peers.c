/* SPDX-License-Identifier: MIT */
#include "peers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "say.h"
#include "sys.h"

#define SAY_EVERY_US (10 * UINT64_C(1000000))
/* Seconds of silence before the first probe, between probes, and in all. */
#define IDLE_S 15
#define PROBE_S 5
#define PROBES 3
#define VANISHED_S (IDLE_S + PROBES * PROBE_S)

/* The site's text of the list is ["10.0.0.1", "::1"]. */
enum ss_err
peers_read(struct peers *p, const struct ss_site *site, struct ss_error *err)
{
	static const char between[] = "[\", ]";
	const char *at = ss_site_option(site, "pool.allow");

	p->count = 0;
	if (at == NULL)
		return say_refusal(
			err, SS_CONFIG, "[pool] allow cannot be read");
	for (at += strspn(at, between); *at != '\0';
		at += strspn(at, between)) {
		size_t len = strcspn(at, between);

		if (p->count == PEERS_MAX || len >= sizeof(p->ranges[0]))
			return say_refusal(err, SS_CONFIG,
				"[pool] allow has more than %d addresses; "
				"write ranges like \"10.0.0.0/8\"",
				PEERS_MAX);
		memcpy(p->ranges[p->count], at, len);
		p->ranges[p->count++][len] = '\0';
		at += len;
	}
	return SS_OK;
}

static bool
is_listed(const struct peers *p, int family, const void *address)
{
	if (p->count == 0)
		return ss_address_is_in("127.0.0.0/8", family, address) ||
			ss_address_is_in("::1", family, address);
	for (size_t i = 0; i < p->count; i++)
		if (ss_address_is_in(p->ranges[i], family, address))
			return true;
	return false;
}

static void
say_refused(int family, const void *address)
{
	static uint64_t said_us;
	uint64_t now = sys_clock_us();
	char text[INET6_ADDRSTRLEN] = "";

	if (said_us != 0 && now < said_us + SAY_EVERY_US)
		return;
	said_us = now;
	inet_ntop(family, address, text, sizeof(text));
	say("a connection from %s is closed: [pool] allow does not list it",
		text);
}

bool
peers_allow(const struct peers *p, const struct sockaddr_storage *from)
{
	static const unsigned char mapped[12] = { [10] = 0xff, 0xff };
	const void *address;
	int family = from->ss_family;

	switch (family) {
	case AF_UNIX: return true;
	case AF_INET:
		address = &((const struct sockaddr_in *)from)->sin_addr;
		break;
	case AF_INET6:
		address = &((const struct sockaddr_in6 *)from)->sin6_addr;
		break;
	default: return false;
	}
	if (family == AF_INET6 &&
		memcmp(address, mapped, sizeof(mapped)) == 0) {
		address = (const unsigned char *)address + sizeof(mapped);
		family = AF_INET;
	}
	if (is_listed(p, family, address))
		return true;
	say_refused(family, address);
	return false;
}

static void
set(int fd, int level, int option, int value)
{
	setsockopt(fd, level, option, &value, sizeof(value));
}

bool
peers_watch(int listener)
{
	int domain = AF_UNIX;
	socklen_t len = sizeof(domain);

	if (getsockopt(listener, SOL_SOCKET, SO_DOMAIN, &domain, &len) < 0 ||
		domain == AF_UNIX)
		return false;
	set(listener, SOL_SOCKET, SO_KEEPALIVE, 1);
	set(listener, IPPROTO_TCP, TCP_KEEPIDLE, IDLE_S);
	set(listener, IPPROTO_TCP, TCP_KEEPINTVL, PROBE_S);
	set(listener, IPPROTO_TCP, TCP_KEEPCNT, PROBES);
	set(listener, IPPROTO_TCP, TCP_USER_TIMEOUT, VANISHED_S * 1000);
	return true;
}
