/* SPDX-License-Identifier: MIT */
#include "mcp/wait.h"
#include "mcp/session.h"

#include <poll.h>

#include "base/clock.h"
#include "wire/json.h"

#define PURPOSE "answered" /* of a key in the relay */
#define BEAT_MS 5000       /* proxies end connections that are silent */
#define WAIT_MS (300 * 1000)

bool
mcp_wait_possible(const struct mcp *m)
{
	const struct ss_relay *relay = &m->site->relay;

	return m->client.session != NULL && m->client.session_asks != 0 &&
		relay->post != NULL && relay->wait != NULL;
}

bool
mcp_wait_begin(struct mcp *m)
{
	const struct ss_relay *relay = &m->site->relay;

	if (relay->wait(relay->ctx, true))
		return true;
	error_set(&m->err, SS_NOT_ALLOWED,
		"it did not run: too many people are being asked already");
	error_hint(&m->err, "call again a little later");
	return false;
}

/* A hang-up, or a cancellation; m->client.fd is the epoll of mcp_cancel. */
static bool
client_left(struct mcp *m, int timeout_ms)
{
	struct pollfd p = { .fd = m->client.fd, .events = POLLIN };

	return poll(&p, 1, timeout_ms) > 0 &&
		m->site->exec_state.client.left(m->site->exec_state.client.ctx);
}

static enum ss_err
wait_for_key(struct mcp *m, const unsigned char *key, uint64_t deadline_ms,
	const struct mcp_wait_beat *beat, struct ss_text *response)
{
	const struct ss_relay *relay = &m->site->relay;
	char *data = m->elicitation.relayed;
	ssize_t n;

	for (;;) {
		int left = clock_left_ms(deadline_ms);

		n = relay->take(
			relay->ctx, key, data, sizeof(m->elicitation.relayed));
		if (n >= 0)
			break;
		if (left == 0 || !relay->wait(relay->ctx, false))
			return SS_TIMEOUT;
		if (client_left(m, left < BEAT_MS ? left : BEAT_MS) ||
			!beat->send(beat->ctx))
			return SS_GONE;
	}
	*response = (struct ss_text){ data, (size_t)n };
	return SS_OK;
}

enum ss_err
mcp_wait_response(struct mcp *m, const char *id, uint32_t timeout_ms,
	const struct mcp_wait_beat *beat, struct ss_text *response)
{
	const struct ss_relay *relay = &m->site->relay;
	uint64_t deadline_ms =
		clock_ms() + (timeout_ms < WAIT_MS ? timeout_ms : WAIT_MS);
	unsigned char key[SS_RELAY_KEY];
	struct buf quoted = BUF_INIT(256);
	enum ss_err code = SS_TIMEOUT;

	json_string(&quoted, id, strlen(id));
	if (m->client.fd >= 0 && m->site->exec_state.client.left != NULL &&
		mcp_session_key(m, PURPOSE, buf_view(&quoted), key))
		code = wait_for_key(m, key, deadline_ms, beat, response);
	relay->waited(relay->ctx);
	buf_release(&quoted);
	return code;
}

/* A response that is too long reaches the waiting process as an error. */
void
mcp_wait_responded(struct mcp *m, const char *text, size_t len)
{
	const struct ss_relay *relay = &m->site->relay;
	struct buf id = BUF_INIT(256), refusal = BUF_INIT(512);
	unsigned char key[SS_RELAY_KEY];

	if (relay->post != NULL && rpc_is_token(m->rpc.id) &&
		rpc_write(&id, m->rpc.id) &&
		mcp_session_key(m, PURPOSE, buf_view(&id), key) &&
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
