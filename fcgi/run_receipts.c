/* SPDX-License-Identifier: MIT */
/*
 * statespace receipts: the helper program verifies them and makes keys, since it
 * alone is linked with what signs.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "say.h"
#include "sys.h"

int
cmd_receipts(int argc, char **argv)
{
	static const char *const places[] = { "libexec",
		"../libexec/statespace" };
	char helper[PATH_MAX];

	if (!sys_find_beside(
		    places, ARRAY_LEN(places), "statespace-receipts", helper)) {
		say("receipts: the helper program statespace-receipts is not "
		    "installed");
		return EXIT_FAULT;
	}
	/* "write" is the server's. */
	if (argc >= 2 && strcmp(argv[1], "write") == 0)
		argv[1] = argv[0];
	execv(helper, argv);
	say("receipts: %s: %s", helper, strerror(errno));
	return EXIT_FAULT;
}
