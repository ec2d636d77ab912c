/* SPDX-License-Identifier: MIT */
#include "silent.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "parked.h"
#include "say.h"
#include "sys.h"
#include "unfinished.h"

#define OTHER_FILES 32 /* descriptors of the status server for all else */

bool
silent_open(struct silent *s)
{
	s->ready[0] = s->ready[1] = -1;
	return parked_open(s->given) && parked_open(s->ready);
}

void
silent_close(struct silent *s)
{
	parked_close(s->given);
	parked_close(s->ready);
}

static void
close_peer(struct silent_peer peer)
{
	close(peer.fd);
	if (peer.saved >= 0)
		close(peer.saved);
}

static void
queue_peer(const int ends[2], struct silent_peer peer)
{
	struct parked_request r = { .begun_us = sys_clock_us(),
		.unfinished = peer.saved >= 0,
		.saved = peer.saved };

	parked_put(ends, &r, peer.fd);
	close_peer(peer);
}

static bool
take_peer(const int ends[2], struct silent_peer *peer)
{
	struct parked_request r;

	peer->fd = parked_take(ends, &r);
	peer->saved = peer->fd >= 0 && r.unfinished ? r.saved : -1;
	return peer->fd >= 0;
}

void
silent_give(const struct silent *s, struct silent_peer peer)
{
	queue_peer(s->given, peer);
}

void
silent_pass_on(const struct silent *s, struct silent_peer peer)
{
	queue_peer(s->ready, peer);
}

bool
silent_take_ready(const struct silent *s, struct silent_peer *peer)
{
	return take_peer(s->ready, peer);
}

bool
silent_set_open(struct silent_set *set)
{
	struct rlimit files = { .rlim_cur = 0 };

	getrlimit(RLIMIT_NOFILE, &files);
	set->most = files.rlim_cur >= 2 * SILENT_MAX + OTHER_FILES ? SILENT_MAX
		: files.rlim_cur > OTHER_FILES + 1
		? ((unsigned)files.rlim_cur - OTHER_FILES) / 2
		: 1;
	set->count = 0;
	set->bytes = 0;
	for (unsigned i = 0; i < SILENT_MAX; i++)
		set->held[i].peer.fd = -1;
	set->epoll = epoll_create1(EPOLL_CLOEXEC);
	return set->epoll >= 0;
}

/* epoll(7): a description that lives on in another process stays in a set. */
static struct silent_peer
let_go(struct silent_set *set, unsigned i)
{
	struct silent_peer peer = set->held[i].peer;

	epoll_ctl(set->epoll, EPOLL_CTL_DEL, peer.fd, NULL);
	set->held[i].peer.fd = -1;
	set->bytes -= set->held[i].bytes;
	set->count--;
	return peer;
}

/* Not called on an empty set. */
static void
close_oldest(struct silent_set *set)
{
	unsigned oldest = set->most;

	for (unsigned i = 0; i < set->most; i++)
		if (set->held[i].peer.fd >= 0 &&
			(oldest == set->most ||
				set->held[i].since_us <
					set->held[oldest].since_us))
			oldest = i;
	close_peer(let_go(set, oldest));
}

void
silent_hold(struct silent_set *set, struct silent_peer peer, bool own)
{
	size_t bytes = peer.saved >= 0 ? unfinished_bytes(peer.saved) : 0;
	struct epoll_event event = { .events = EPOLLIN };
	unsigned i = 0;

	while (set->count > 0 &&
		(set->count >= set->most || set->bytes + bytes > SILENT_BYTES))
		close_oldest(set);
	while (set->held[i].peer.fd >= 0)
		i++;
	event.data.u32 = i;
	if (epoll_ctl(set->epoll, EPOLL_CTL_ADD, peer.fd, &event) < 0) {
		close_peer(peer);
		return;
	}
	set->held[i].peer = peer;
	set->held[i].own = own;
	set->held[i].bytes = bytes;
	set->held[i].since_us = sys_clock_us();
	set->bytes += bytes;
	set->count++;
}

void
silent_collect(struct silent_set *set, const struct silent *s)
{
	struct silent_peer peer;

	while (take_peer(s->given, &peer))
		silent_hold(set, peer, false);
}

bool
silent_next(struct silent_set *set, struct silent_peer *peer, bool *own)
{
	struct epoll_event event;

	if (set->count == 0 || epoll_wait(set->epoll, &event, 1, 0) != 1)
		return false;
	*own = set->held[event.data.u32].own;
	*peer = let_go(set, event.data.u32);
	return true;
}

void
silent_expire(struct silent_set *set)
{
	uint64_t now = sys_clock_us();

	for (unsigned i = 0; set->count > 0 && i < set->most; i++) {
		if (set->held[i].peer.fd < 0 ||
			now - set->held[i].since_us < SILENT_KEEP_US)
			continue;
		if (set->held[i].peer.saved >= 0)
			say("a FastCGI connection was dropped: the peer fell "
			    "silent");
		close_peer(let_go(set, i));
	}
}

void
silent_set_close(struct silent_set *set, const struct silent *s)
{
	for (unsigned i = 0; i < set->most; i++) {
		if (set->held[i].peer.fd < 0)
			continue;
		if (set->held[i].own)
			close_peer(set->held[i].peer);
		else
			silent_give(s, set->held[i].peer);
	}
	close(set->epoll);
}
