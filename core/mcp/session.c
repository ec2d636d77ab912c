/* SPDX-License-Identifier: MIT */
#include "mcp/session.h"

#include <sys/random.h>

#include "base/digest.h"
#include "mcp/elicit.h"

#define ID_BYTES 16 /* 128 bits cannot be guessed */
#define ID_LEN (ID_BYTES * 2)
#define ASKS "-asks" /* behind the id of a client that can ask a person */

void
mcp_session_read(struct mcp *m, const char *header)
{
	const char *end;

	m->client.session = NULL;
	if (!m->revision->sessions || header == NULL ||
		strspn(header, "0123456789abcdef") != ID_LEN)
		return;
	end = header + ID_LEN;
	m->client.session_asks = strcmp(end, ASKS) == 0;
	if (*end == '\0' || m->client.session_asks)
		m->client.session = header;
}

const char *
mcp_session_new(struct mcp *m)
{
	uint8_t bytes[ID_BYTES];
	char *id;

	if (m->site->relay.post == NULL || m->record.method == NULL ||
		strcmp(m->record.method, "initialize") != 0 ||
		getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return NULL;
	id = arena_alloc(&m->site->arena, ID_LEN + sizeof(ASKS));
	if (id == NULL)
		return NULL;
	digest_hex(bytes, sizeof(bytes), id);
	if (mcp_elicit_offered(rpc_member(m->rpc.params, "capabilities")))
		memcpy(id + ID_LEN, ASKS, sizeof(ASKS));
	return id;
}

bool
mcp_session_key(const struct mcp *m, const char *purpose, struct ss_text id,
	unsigned char key[static SS_RELAY_KEY])
{
	const struct ss_text parts[] = { text_of(purpose),
		text_of(m->client.session), text_of(m->client.user),
		text_of(m->site->name), id };

	if (!m->revision->sessions || m->client.session == NULL)
		return false;
	digest_parts(parts, ARRAY_LEN(parts), key);
	return true;
}
