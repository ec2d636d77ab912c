/* SPDX-License-Identifier: MIT */
/*
 * peers: a TCP socket takes connections of this machine, or of the addresses
 * that [pool] allow lists, and of nobody else.
 */
#include "../../fcgi/peers.c"

#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "tap.h"

static const char *list = "[]";
static uint64_t now = 1000000;
static unsigned said;

uint64_t
sys_clock_us(void)
{
	return now;
}

void
say(const char *format, ...)
{
	(void)format;
	said++;
}

enum ss_err
say_refusal(struct ss_error *err, enum ss_err code, const char *format, ...)
{
	(void)err;
	(void)format;
	return code;
}

const char *
ss_site_option(const struct ss_site *site, const char *key)
{
	(void)site;
	return strcmp(key, "pool.allow") == 0 ? list : NULL;
}

static struct peers
read_list(const char *text)
{
	struct ss_error err = { .code = SS_OK };
	struct peers p;

	list = text;
	ok(peers_read(&p, NULL, &err) == SS_OK, "%s is a list", text);
	return p;
}

static bool
allows(const struct peers *p, const char *address)
{
	struct sockaddr_storage from = { .ss_family = AF_INET6 };

	if (inet_pton(AF_INET6, address,
		    &((struct sockaddr_in6 *)&from)->sin6_addr) == 1)
		return peers_allow(p, &from);
	from.ss_family = AF_INET;
	inet_pton(AF_INET, address, &((struct sockaddr_in *)&from)->sin_addr);
	return peers_allow(p, &from);
}

static void
nothing_listed(void)
{
	struct peers p = read_list("[]");
	struct sockaddr_storage from = { .ss_family = AF_UNIX };

	ok(allows(&p, "127.0.0.1"), "without a list: this machine");
	ok(allows(&p, "127.8.9.10"), "with any of its addresses");
	ok(allows(&p, "::1"), "in IPv6");
	ok(allows(&p, "::ffff:127.0.0.1"), "and as an IPv6 socket tells it");
	ok(!allows(&p, "10.0.0.1"), "no other");
	ok(!allows(&p, "fe80::1"), "nor a neighbour");
	ok(!allows(&p, "::"), "nor no address");
	ok(peers_allow(&p, &from), "a Unix socket's peer is not looked at");
	from.ss_family = AF_UNSPEC;
	ok(!peers_allow(&p, &from), "an unknown family is refused");
}

static void
some_listed(void)
{
	struct peers p = read_list("[\"10.1.0.0/16\", \"2001:db8::7\"]");

	is_int(2, (long long)p.count, "a list is read");
	ok(allows(&p, "10.1.2.3"), "who is listed is served");
	ok(allows(&p, "::ffff:10.1.2.3"), "as an IPv6 socket tells it, too");
	ok(allows(&p, "2001:db8::7"), "in IPv6");
	ok(!allows(&p, "10.2.0.0"), "who is not listed is refused");
	ok(!allows(&p, "2001:db8::8"), "in IPv6, too");
	ok(!allows(&p, "127.0.0.1"), "this machine must be listed then");
}

static void
too_many(void)
{
	char text[PEERS_MAX * 16 + 32] = "[";
	struct ss_error err = { .code = SS_OK };
	struct peers p;

	for (int i = 0; i <= PEERS_MAX; i++)
		snprintf(text + strlen(text), 16, "\"10.0.0.%d\", ", i);
	list = text;
	is_int(SS_CONFIG, peers_read(&p, NULL, &err),
		"a list that is too long is refused");
}

static void
log_lines(void)
{
	struct peers p = read_list("[]");

	now += SAY_EVERY_US;
	said = 0;
	for (int i = 0; i < 100; i++)
		allows(&p, "10.0.0.1");
	is_int(1, said, "a hundred refusals are one line");
	now += SAY_EVERY_US;
	allows(&p, "10.0.0.1");
	is_int(2, said, "later there is another one");
}

static void
watched(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 0;
	socklen_t len = sizeof(on);
	int other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ok(!peers_watch(other), "a Unix socket is left alone");
	ok(peers_watch(fd), "a TCP socket is watched");
	getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, &len);
	is_int(1, on, "it probes a silent peer");
	getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &on, &len);
	is_int(VANISHED_S * 1000, on, "and gives one up that does not answer");
	close(fd);
	close(other);
}

int
main(void)
{
	nothing_listed();
	some_listed();
	too_many();
	log_lines();
	watched();
	return done();
}
