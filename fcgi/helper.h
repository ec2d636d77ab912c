/* SPDX-License-Identifier: MIT */
/* For the programs of libexec, once in each: they always run confined. */
#ifndef FCGI_HELPER_H
#define FCGI_HELPER_H

#ifdef __SANITIZE_ADDRESS__
/* The sandbox has no /proc, which LeakSanitizer needs. */
const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

#endif
