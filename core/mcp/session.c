/* SPDX-License-Identifier: MIT */
#include "mcp/session.h"

#include <sys/random.h>

#include "base/digest.h"
#include "mcp/elicit.h"

#define ID_BYTES 16 /* 128 bits cannot be guessed */
#define ID_LEN (ID_BYTES * 2)
/* Behind the id, with a letter for each that the client can ask. */
#define ASKS "-asks-"
#define LETTERS "pmr" /* by enum ask_from */

/* 0: the text is none of ours. */
static unsigned
read_asks(const char *text)
{
	size_t n = strlen(ASKS);
	unsigned asks = 0;

	if (strncmp(text, ASKS, n) != 0)
		return 0;
	for (text += n; *text != '\0'; text++) {
		const char *letter = strchr(LETTERS, *text);

		if (letter == NULL)
			return 0;
		asks |= 1u << (letter - LETTERS);
	}
	return asks;
}

static void
write_asks(unsigned asks, char *out)
{
	if (asks == 0)
		return;
	out = stpcpy(out, ASKS);
	for (size_t i = 0; i < strlen(LETTERS); i++)
		if ((asks >> i & 1) != 0)
			*out++ = LETTERS[i];
	*out = '\0';
}

void
mcp_session_read(struct mcp *m, const char *header)
{
	const char *end;

	m->client.session = NULL;
	if (!m->revision->sessions || header == NULL ||
		strspn(header, "0123456789abcdef") != ID_LEN)
		return;
	end = header + ID_LEN;
	m->client.session_asks = read_asks(end);
	if (*end == '\0' || m->client.session_asks != 0)
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
	id = arena_alloc(
		&m->site->arena, ID_LEN + sizeof(ASKS) + sizeof(LETTERS));
	if (id == NULL)
		return NULL;
	digest_hex(bytes, sizeof(bytes), id);
	write_asks(mcp_elicit_offers(rpc_member(m->rpc.params, "capabilities")),
		id + ID_LEN);
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
