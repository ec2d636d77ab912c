/* SPDX-License-Identifier: MIT */
/* The helper of `pipe` tools: all of it is the library's. */
#include "helper.h"
#include "tools/helper.h"

int
main(int argc, char **argv)
{
	return pipe_main(argc, argv);
}
