/* SPDX-License-Identifier: MIT */
#include "tools/walk.h"

#include <errno.h>

enum ss_err
tool_entries(struct arena *arena, int *fd, struct walk_list *out,
	struct ss_error *err)
{
	const struct walk_order order = { .most = TOOL_VISITS };
	int number = walk_read(arena, *fd, &order, NULL, out);

	*fd = -1;
	if (number == ENOMEM)
		return error_memory(err);
	return number == 0 ? SS_OK
			   : tool_failed(number, "the directory", "read", err);
}
