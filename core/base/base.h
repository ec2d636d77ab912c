/* SPDX-License-Identifier: MIT */
/* What every file may use.  No allocation, no system call. */
#ifndef SS_BASE_BASE_H
#define SS_BASE_BASE_H

#include "base/text.h"
#include "base/utf8.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

#endif
