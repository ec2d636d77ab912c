/* SPDX-License-Identifier: MIT */
/* The helper of the HTTP tool; transfer.c is all of it. */
#include "helper.h"
#include "transfer.h"

int
main(int argc, char **argv)
{
	return transfer_main(argc, argv);
}
