/* SPDX-License-Identifier: MIT */
/* The helper program statespace-receipts. */
#ifndef FCGI_RECEIPTS_MAIN_H
#define FCGI_RECEIPTS_MAIN_H

int receipts_main(int argc, char **argv);

/* write FILE KEY [UID GID]: what core/receipts/receipts.h sends on fd 0. */
int receipts_write(int argc, char **argv);
/* verify [--key PUBLIC] [--head DIGEST] FILE...: 0, 1 something is wrong. */
int receipts_verify(int argc, char **argv);

#endif
