/* SPDX-License-Identifier: MIT */
#include "mcp/cancel.h"
#include "mcp/message.h"
#include "mcp/session.h"

#include <sys/epoll.h>
#include <unistd.h>

/* The key of the cancellation of the request with that id. */
static bool
key_of(const struct mcp *m, const struct rpc_value *id,
	unsigned char key[static SS_RELAY_KEY])
{
	struct buf text = BUF_INIT(65536);
	bool good = rpc_is_token(id) && rpc_write(&text, id) &&
		mcp_session_key(m, "cancelled", buf_view(&text), key);

	buf_release(&text);
	return good;
}

void
mcp_cancel_notified(struct mcp *m)
{
	const struct ss_relay *relay = &m->site->relay;
	unsigned char key[SS_RELAY_KEY];

	if (relay->post != NULL &&
		strcmp(m->rpc.method, "notifications/cancelled") == 0 &&
		key_of(m, rpc_member(m->rpc.params, "requestId"), key))
		relay->post(relay->ctx, key, NULL, 0);
}

static void
look_for_notice(struct mcp_cancel *c)
{
	const struct ss_relay *relay = &c->m->site->relay;
	char none[1];

	if (relay->take(relay->ctx, c->key, none, 0) >= 0)
		c->cancelled = true;
}

/* Called when one of the two descriptors is ready: must the run end? */
static bool
is_over(void *ctx)
{
	struct mcp_cancel *c = ctx;
	struct epoll_event events[2];
	int n = epoll_wait(c->fd, events, 2, 0);
	bool gone = false;

	for (int i = 0; i < n; i++) {
		if (events[i].data.fd != c->watched_fd)
			look_for_notice(c);
		else if (events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
			gone = true;
		else
			gone |= c->left(c->left_ctx);
	}
	return gone || c->cancelled;
}

/* EPOLLET: each post is one event, and the eventfd is never read. */
static bool
watch_both(const struct mcp_cancel *c, int relay_fd)
{
	struct epoll_event post = { .events = EPOLLIN | EPOLLET,
		.data.fd = relay_fd };
	struct epoll_event client = { .events = EPOLLRDHUP,
		.data.fd = c->watched_fd };

	if (c->left != NULL)
		client.events |= EPOLLIN;
	return epoll_ctl(c->fd, EPOLL_CTL_ADD, relay_fd, &post) == 0 &&
		(c->watched_fd < 0 ||
			epoll_ctl(c->fd, EPOLL_CTL_ADD, c->watched_fd,
				&client) == 0);
}

void
mcp_cancel_begin(struct mcp_cancel *c, struct mcp *m)
{
	struct ss_site *site = m->site;

	*c = (struct mcp_cancel){ .m = m,
		.fd = -1,
		.client_fd = m->client.fd,
		.watched_fd = mcp_message_key(m) == NULL ? m->client.fd : -1,
		.ended = m->client.ends,
		.left = site->exec_state.client.left,
		.left_ctx = site->exec_state.client.ctx };
	if (site->relay.post == NULL || !mcp_message_runs(m->rpc.method) ||
		!key_of(m, m->rpc.id, c->key))
		return;
	c->fd = epoll_create1(EPOLL_CLOEXEC);
	if (c->fd < 0)
		return;
	if (!watch_both(c, site->relay.fd)) {
		close(c->fd);
		c->fd = -1;
		return;
	}
	m->client.fd = c->fd;
	m->client.ends = true;
	ss_site_set_client(site, is_over, c);
	look_for_notice(c);
}

void
mcp_cancel_end(struct mcp_cancel *c)
{
	if (c->fd < 0)
		return;
	ss_site_set_client(c->m->site, c->left, c->left_ctx);
	c->m->client.fd = c->client_fd;
	c->m->client.ends = c->ended;
	close(c->fd);
	c->fd = -1;
}
