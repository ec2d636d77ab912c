/* SPDX-License-Identifier: MIT */
/*
 * A text that repeats itself, as long as one may be that is rendered without
 * a budget: head, a piece over and over, tail.  It takes no more processor
 * time for each of its bytes than a multiple of what an ordinary text does.
 *
 * The first byte says how long the head is, the second the piece.
 */
#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "page/markdown.h"
#include "http/render.h"
#include "tap.h"

/* An ordinary text takes 0.1 us for a byte, the worst known 3. */
#define MOST_US_BYTE 50

static double
cost_us(const char *text, size_t len)
{
	struct buf out = BUF_INIT((size_t)64 << 20);
	double begun = cpu_ms();

	markdown_html((struct ss_text){ text, len }, "", &out);
	buf_release(&out);
	return (cpu_ms() - begun) * 1000 / (double)len;
}

static void
add(char *text, size_t *len, const uint8_t *data, size_t size)
{
	if (*len + size <= RENDER_BYTES_HERE) {
		memcpy(text + *len, data, size);
		*len += size;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char text[RENDER_BYTES_HERE];
	size_t head, piece, tail, len = 0, before = 1;
	double least = MOST_US_BYTE + 1;

	if (size < 3)
		return 0;
	head = data[0] % (size - 2);
	piece = 1 + data[1] % (size - 2 - head);
	tail = size - 2 - head - piece;
	add(text, &len, data + 2, head);
	while (len != before && len + piece + tail <= sizeof(text)) {
		before = len;
		add(text, &len, data + 2 + head, piece);
	}
	add(text, &len, data + 2 + head + piece, tail);
	if (len < sizeof(text) / 2)
		return 0;
	/* The least of several: another process may take the processor. */
	for (int i = 0; i < 5 && least > MOST_US_BYTE; i++) {
		double now = cost_us(text, len);

		least = now < least ? now : least;
	}
	promise(least <= MOST_US_BYTE);
	return 0;
}
