/* SPDX-License-Identifier: MIT */
/* The helper of glob and of the file tools: all of it is the library's. */
#include "helper.h"
#include "tools/helper.h"

int
main(int argc, char **argv)
{
	return tool_main(argc, argv);
}
