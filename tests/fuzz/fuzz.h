/* SPDX-License-Identifier: MIT */
/* What every fuzz target has: its entry, and a promise that may not break. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void
promise(bool kept)
{
	if (!kept)
		abort();
}

#endif
