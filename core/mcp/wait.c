/* SPDX-License-Identifier: MIT */
/*
 * Waiting, over HTTP, for the response to a question: a request of its own,
 * which mostly reaches another process and is handed over by the relay.
 */
#include "mcp/session.h"

#include <poll.h>

#include "base/clock.h"
#include "wire/json.h"

#define BEAT_MS 5000 /* what lies between must not take us for dead */
#define WAIT_MS (300 * 1000)

bool
mcp_session_can_wait(const struct mcp *m)
{
	const struct ss_relay *relay = &m->site->relay;

	return m->session != NULL && m->session_asks && relay->post != NULL &&
		relay->wait != NULL;
}

bool
mcp_session_wait_begin(struct mcp *m)
{
	const struct ss_relay *relay = &m->site->relay;

	if (relay->wait(relay->ctx, true))
		return true;
	error_set(&m->err, SS_NOT_ALLOWED,
		"it did not run: as many people are being asked as may be");
	error_hint(&m->err, "call again a little later");
	return false;
}

/* A hang-up, or a cancellation; m->client_fd is the epoll of mcp_cancel. */
static bool
client_left(struct mcp *m, int timeout_ms)
{
	struct pollfd p = { .fd = m->client_fd, .events = POLLIN };

	return poll(&p, 1, timeout_ms) > 0 &&
		m->site->exec_state.client.left(m->site->exec_state.client.ctx);
}

static enum ss_err
wait_for(struct mcp *m, const unsigned char *key, uint64_t deadline_ms,
	bool (*beat)(void *ctx), void *ctx, size_t *len)
{
	const struct ss_relay *relay = &m->site->relay;
	ssize_t n;

	for (;;) {
		int left = clock_left_ms(deadline_ms);

		n = relay->take(
			relay->ctx, key, m->relayed, sizeof(m->relayed));
		if (n >= 0)
			break;
		if (left == 0 || !relay->wait(relay->ctx, false))
			return SS_TIMEOUT;
		if (client_left(m, left < BEAT_MS ? left : BEAT_MS) ||
			!beat(ctx))
			return SS_GONE;
	}
	*len = (size_t)n;
	return SS_OK;
}

enum ss_err
mcp_session_wait(struct mcp *m, const char *id, uint32_t timeout_ms,
	bool (*beat)(void *ctx), void *ctx, const char **message, size_t *len)
{
	const struct ss_relay *relay = &m->site->relay;
	uint64_t deadline_ms =
		clock_ms() + (timeout_ms < WAIT_MS ? timeout_ms : WAIT_MS);
	unsigned char key[SS_RELAY_KEY];
	struct buf quoted = BUF_INIT(256);
	enum ss_err code = SS_TIMEOUT;

	json_string(&quoted, id, strlen(id));
	if (m->client_fd >= 0 && m->site->exec_state.client.left != NULL &&
		mcp_session_key(m, "answered", buf_view(&quoted), key))
		code = wait_for(m, key, deadline_ms, beat, ctx, len);
	*message = m->relayed;
	relay->waited(relay->ctx);
	buf_release(&quoted);
	return code;
}

/* One that is too long is no answer: who waits is told at once. */
void
mcp_session_responded(struct mcp *m, const char *text, size_t len)
{
	const struct ss_relay *relay = &m->site->relay;
	struct buf id = BUF_INIT(256), refusal = BUF_INIT(512);
	unsigned char key[SS_RELAY_KEY];

	if (relay->post != NULL && rpc_is_token(m->rpc.id) &&
		rpc_write(&id, m->rpc.id) &&
		mcp_session_key(m, "answered", buf_view(&id), key) &&
		!relay->post(relay->ctx, key, text, len)) {
		buf_printf(&refusal,
			"{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":"
			"{\"code\":-32600,\"message\":\"too long\"}}",
			id.data);
		relay->post(relay->ctx, key, refusal.data, refusal.len);
	}
	buf_release(&refusal);
	buf_release(&id);
}
