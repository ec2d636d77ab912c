/* SPDX-License-Identifier: MIT */
/* The promises of tests/fuzz/template.c on values that a fixed seed makes. */
#include "../fuzz/template.c"
#include "tap.h"

#define TRIES 60000

static uint32_t state = 2463534242u;

static uint32_t
next(void)
{
	state ^= state << 13;
	state ^= state >> 17;
	return state ^= state << 5;
}

/* Pieces that mean something in URLs, SQL, JSON, paths and options. */
static const char *const pieces[] = { "-", "--", "'", "''", "\"", "\\", "/",
	"..", ".", "%", "%2e", "%2F", "%00", "?", "#", "&", "=", " ", "\n",
	"\t", "a", "b", "Z", "0", "7", "-5", "1e3", "\xc3\xa9", "$HOME", "${X}",
	"{q}", "; drop", "\x01", "\x7f", "http://h/", "/x", "n = '", "' or",
	"a=", "z", "{\"a\": \"", "\"}", "\\u0041", "\\n" };

int
main(void)
{
	for (size_t i = 0; i < TRIES; i++) {
		uint8_t input[256] = { (uint8_t)next() };
		size_t len = 1, count = next() % 6;

		for (size_t k = 0; k < count; k++) {
			const char *piece = pieces[next() % ARRAY_LEN(pieces)];

			memcpy(input + len, piece, strlen(piece));
			len += strlen(piece);
		}
		LLVMFuzzerTestOneInput(input, len);
	}
	ok(true, "%d values keep every promise", TRIES);
	return done();
}
