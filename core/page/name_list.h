/* SPDX-License-Identifier: MIT */
/* A list of names that a page or a tool has under one key. */
#ifndef SS_PAGE_NAME_LIST_H
#define SS_PAGE_NAME_LIST_H

#include "base/base.h"

struct name_list {
	bool set; /* the key is there */
	const char **names;
	size_t count;
	unsigned line, column; /* of the key */
};

bool name_list_has(const struct name_list *list, struct ss_text name);

#endif
