/* SPDX-License-Identifier: MIT */
/* The helper of glob and of the file tools: all of it is the library's. */
#include "statespace.h"

#ifdef __SANITIZE_ADDRESS__
/* Within the walls there is no /proc to look for leaks with. */
const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

int
main(int argc, char **argv)
{
	return ss_tool_main(argc, argv);
}
