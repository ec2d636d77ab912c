/* SPDX-License-Identifier: MIT */
/*
 * relay: what one worker posts, every other finds by its key, and nobody else
 * can write; a page that a worker left half written, or wrote badly, is no
 * message.
 */
#include "../../fcgi/relay.c"
#include "../../fcgi/shared_memory.c"

#include <stdlib.h>
#include <signal.h>
#include <sys/wait.h>

#include "tap.h"

static uint64_t now = UINT64_C(1000000000);

uint64_t
sys_clock_us(void)
{
	return now;
}

bool
worker_is_leaving(void)
{
	return false;
}

bool
tool_limit_enter(struct tool_limit *g, uint64_t tool, uint64_t most)
{
	return g != NULL && tool != 0 && most > 0;
}

void
tool_limit_leave(struct tool_limit *g)
{
	(void)g;
}

void
ss_site_set_relay(struct ss_site *site, const struct ss_relay *relay)
{
	(void)site;
	(void)relay;
}

static struct relay relay;

static const unsigned char *
key(unsigned n)
{
	static unsigned char bytes[SS_RELAY_KEY];

	memset(bytes, 'k', sizeof(bytes));
	bytes[SS_RELAY_KEY - 1] = (unsigned char)n;
	return bytes;
}

/* In a process of its own, as workers are. */
static int
as_worker(size_t own, int (*fn)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		relay_keep(&relay, own);
		_exit(fn());
	}
	waitpid(pid, &status, 0);
	return status;
}

static int
post_one(void)
{
	return relay_post(&relay, key(1), "words", 5) ? 0 : 1;
}

static int
post_many(void)
{
	static char most[RELAY_DATA + 1];

	for (unsigned i = 100; i <= 100 + RELAY_POSTS; i++)
		if (!relay_post(&relay, key(i), most, RELAY_DATA))
			return 1;
	return relay_post(&relay, key(99), most, RELAY_DATA + 1) ? 2 : 0;
}

static int
write_foreign(void)
{
	signal(SIGSEGV, SIG_DFL); /* a sanitizer has a handler */
	relay.slots[0].posts[0].len = 1;
	return 0;
}

static int
unlock_seen(void)
{
	void *at = (void *)(uintptr_t)relay.seen;

	return mprotect(at, 4096, PROT_READ | PROT_WRITE) == 0 ? 0 : 1;
}

static ssize_t
found(unsigned n)
{
	static char out[RELAY_DATA];

	return relay_take(&relay, key(n), out, sizeof(out));
}

static void
test_posts(void)
{
	char out[8] = "";
	eventfd_t many = 0;

	is_int(-1, found(1), "nothing is there at first");
	is_int(0, as_worker(3, post_one), "a worker posts");
	is_int(5, relay_take(&relay, key(1), out, sizeof(out)), "others see");
	is_str("words", out, "what it posted");
	eventfd_read(relay.fd, &many);
	is_int(1, (long long)many, "and are woken");
	is_int(-1, found(2), "under its key alone");
	is_int(-1, relay_take(&relay, key(1), out, 4),
		"what does not fit is not cut");
	now += RELAY_KEEP_US + 1;
	is_int(-1, found(1), "after a minute it is over");
}

static void
test_limits(void)
{
	is_int(0, as_worker(3, post_many),
		"messages as long as may be, and none that is longer");
	is_int(-1, found(100), "one more takes the place of the oldest");
	is_int(RELAY_DATA, found(101), "and no other");
	is_int(RELAY_DATA, found(100 + RELAY_POSTS), "the last is there");
	ok(WIFSIGNALED(as_worker(3, write_foreign)),
		"a worker cannot write the page of another");
	ok(as_worker(3, unlock_seen) != 0, "nor make it writable");
}

static void
test_damage(void)
{
	struct relay_post *p = &relay.slots[3].posts[5];
	unsigned n = p->key[SS_RELAY_KEY - 1];

	is_int(RELAY_DATA, found(n), "a message");
	p->len = RELAY_DATA + 1;
	is_int(-1, found(n), "that lies about its length is none");
	p->len = 1;
	is_int(1, found(n), "one of another length is");
	p->turn++;
	is_int(-1, found(n), "one that is half written is none");
	for (int i = 0; i < RELAY_POSTS; i++)
		relay_post(&relay, key(7), "", 0);
	*relay.used = UINT32_MAX;
	is_int(-1, found(n + 50), "a wrong count of pages leads nowhere");
}

int
main(void)
{
	if (!ok(relay_open(&relay, 4), "memory for four workers"))
		return done();
	test_posts();
	test_limits();
	test_damage();
	relay_close(&relay);
	return done();
}
