/* SPDX-License-Identifier: MIT */
#include "mcp/session.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/digest.h"
#include "mcp/message.h"
#include "mcp/round.h"

#define ID_BYTES 16 /* nobody guesses 128 bits */
#define ID_LEN (ID_BYTES * 2)
#define ASKS "-asks" /* behind the id of a client that can ask a person */

/* -------------------------------------------------------------- the id -- */

void
mcp_session_read(struct mcp *m, const char *header)
{
	const char *end;

	m->session = NULL;
	if (m->era != MCP_LEGACY || header == NULL ||
		strspn(header, "0123456789abcdef") != ID_LEN)
		return;
	end = header + ID_LEN;
	m->session_asks = strcmp(end, ASKS) == 0;
	if (*end == '\0' || m->session_asks)
		m->session = header;
}

const char *
mcp_session_new(struct mcp *m)
{
	uint8_t bytes[ID_BYTES];
	char *id;

	if (m->site->relay.post == NULL || m->method == NULL ||
		strcmp(m->method, "initialize") != 0 ||
		getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return NULL;
	id = arena_alloc(&m->site->arena, ID_LEN + sizeof(ASKS));
	if (id == NULL)
		return NULL;
	digest_hex(bytes, sizeof(bytes), id);
	if (mcp_elicits(rpc_member(m->rpc.params, "capabilities")))
		memcpy(id + ID_LEN, ASKS, sizeof(ASKS));
	return id;
}

bool
mcp_session_key(const struct mcp *m, const char *purpose, struct ss_text id,
	unsigned char key[static SS_RELAY_KEY])
{
	const struct ss_text parts[] = { text_of(purpose), text_of(m->session),
		text_of(m->user), id };

	if (m->era != MCP_LEGACY || m->session == NULL)
		return false;
	digest_parts(parts, ARRAY_LEN(parts), key);
	return true;
}

/* Of the cancellation of the request with that id. */
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
mcp_session_notified(struct mcp *m)
{
	const struct ss_relay *relay = &m->site->relay;
	unsigned char key[SS_RELAY_KEY];

	if (relay->post != NULL &&
		strcmp(m->rpc.method, "notifications/cancelled") == 0 &&
		key_of(m, rpc_member(m->rpc.params, "requestId"), key))
		relay->post(relay->ctx, key, NULL, 0);
}

/* ---------------------------------------------------------- cancellation -- */

static void
look(struct mcp_cancel *c)
{
	const struct ss_relay *relay = &c->m->site->relay;
	char none[1];

	if (relay->take(relay->ctx, c->key, none, 0) >= 0)
		c->cancelled = true;
}

/* Called when one of the two descriptors is ready: is the run to end? */
static bool
is_over(void *ctx)
{
	struct mcp_cancel *c = ctx;
	struct epoll_event events[2];
	int n = epoll_wait(c->fd, events, 2, 0);
	bool gone = false;

	for (int i = 0; i < n; i++) {
		if (events[i].data.fd != c->client_fd)
			look(c);
		else if (events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
			gone = true;
		else
			gone |= c->left(c->left_ctx);
	}
	return gone || c->cancelled;
}

/* EPOLLET: each post is one event, and nobody has to read the counter. */
static bool
watch(const struct mcp_cancel *c, int relay_fd)
{
	struct epoll_event post = { .events = EPOLLIN | EPOLLET,
		.data.fd = relay_fd };
	struct epoll_event client = { .events = EPOLLRDHUP,
		.data.fd = c->client_fd };

	if (c->left != NULL)
		client.events |= EPOLLIN;
	return epoll_ctl(c->fd, EPOLL_CTL_ADD, relay_fd, &post) == 0 &&
		(c->client_fd < 0 ||
			epoll_ctl(c->fd, EPOLL_CTL_ADD, c->client_fd,
				&client) == 0);
}

void
mcp_cancel_begin(struct mcp_cancel *c, struct mcp *m)
{
	struct ss_site *site = m->site;

	*c = (struct mcp_cancel){ .m = m,
		.fd = -1,
		.client_fd = m->client_fd,
		.left = site->exec_state.client.left,
		.left_ctx = site->exec_state.client.ctx };
	if (site->relay.post == NULL || !mcp_message_runs(m->rpc.method) ||
		!key_of(m, m->rpc.id, c->key))
		return;
	c->fd = epoll_create1(EPOLL_CLOEXEC);
	if (c->fd < 0)
		return;
	if (!watch(c, site->relay.fd)) {
		close(c->fd);
		c->fd = -1;
		return;
	}
	m->client_fd = c->fd;
	ss_site_set_client(site, is_over, c);
	look(c);
}

void
mcp_cancel_end(struct mcp_cancel *c)
{
	if (c->fd < 0)
		return;
	ss_site_set_client(c->m->site, c->left, c->left_ctx);
	c->m->client_fd = c->client_fd;
	close(c->fd);
	c->fd = -1;
}
