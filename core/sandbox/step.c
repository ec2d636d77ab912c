/* SPDX-License-Identifier: MIT */
#include "sandbox/step.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

bool
step_fail(struct step *s, const char *name, ...)
{
	va_list args;

	s->number = errno;
	va_start(args, name);
	vsnprintf(s->name, sizeof(s->name), name, args);
	va_end(args);
	return false;
}

bool
step_fail_at(enum step_part part, struct step *s, const char *name, ...)
{
	va_list args;

	s->number = errno;
	s->part = part;
	va_start(args, name);
	vsnprintf(s->name, sizeof(s->name), name, args);
	va_end(args);
	return false;
}
