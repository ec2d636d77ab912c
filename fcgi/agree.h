/* SPDX-License-Identifier: MIT */
/* The question of `confirm`, for the person at the terminal. */
#ifndef FCGI_AGREE_H
#define FCGI_AGREE_H

#include <stdbool.h>
#include <stddef.h>

/* Standard input and standard error are a terminal. */
bool agree_can_ask(void);
/*
 * Shows the question (NULL: whether it is to run) and the command, and reads a
 * line: only "y" or "yes" agrees.
 */
bool agree_ask(const char *question, const char *const *argv, size_t argc);

#endif
