/* SPDX-License-Identifier: MIT */
/*
 * The helper program of receipts: writes them for the server, and verifies them
 * and makes keys for `statespace receipts`.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "helper.h"
#include "receipts_main.h"
#include "receipts_sign.h"

static int
make_key(int argc, char **argv)
{
	char public[4096];

	if (argc != 2 || strlen(argv[1]) > sizeof(public) - 5)
		return 2;
	snprintf(public, sizeof(public), "%s.pub", argv[1]);
	errno = 0;
	if (!sign_key_make(argv[1], public)) {
		fprintf(stderr, "statespace-receipts: %s: %s\n", argv[1],
			errno != 0 ? strerror(errno) : "no key was made");
		return 1;
	}
	printf("%s signs, %s verifies\n", argv[1], public);
	return 0;
}

static int
usage(void)
{
	fprintf(stderr,
		"usage: statespace receipts verify [--key PUBLIC] "
		"[--head DIGEST] FILE...\n"
		"       statespace receipts key FILE\n");
	return 2;
}

int
receipts_main(int argc, char **argv)
{
	int status = 2;

	if (argc >= 2 && strcmp(argv[1], "write") == 0)
		return receipts_write(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "verify") == 0)
		status = receipts_verify(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "key") == 0)
		status = make_key(argc - 1, argv + 1);
	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		usage();
		return 0;
	}
	return status == 2 ? usage() : status;
}

int
main(int argc, char **argv)
{
	return receipts_main(argc, argv);
}
