/* SPDX-License-Identifier: MIT */
#include "page/name_list.h"

bool
name_list_has(const struct name_list *list, struct ss_text name)
{
	for (size_t i = 0; i < list->count; i++)
		if (text_is(name, list->names[i]))
			return true;
	return false;
}
