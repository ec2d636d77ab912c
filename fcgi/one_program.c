/* SPDX-License-Identifier: MIT */
#include "one_program.h"

#include <nss.h>
#include <stddef.h>
#include <string.h>

#include "job_start.h"
#include "tools/helper.h"
#include "transfer.h"

static const struct helper {
	const char *name;
	int (*run)(int argc, char **argv);
} helpers[] = {
	{ "statespace-tool", tool_main },
	{ "statespace-pipe", pipe_main },
	{ "statespace-curl", transfer_main },
	{ "statespace-job", job_main },
};

void
one_program_begin(void)
{
	__nss_configure_lookup("passwd", "files");
	__nss_configure_lookup("group", "files");
	__nss_configure_lookup("services", "files");
	__nss_configure_lookup("hosts", "files dns");
}

bool
one_program_helper(int argc, char **argv, int *status)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	const char *name = slash != NULL ? slash + 1 : argc > 0 ? argv[0] : "";

	for (size_t i = 0; i < sizeof(helpers) / sizeof(*helpers); i++) {
		if (strcmp(helpers[i].name, name) != 0)
			continue;
		*status = helpers[i].run(argc, argv);
		return true;
	}
	return false;
}
