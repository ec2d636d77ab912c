/* SPDX-License-Identifier: MIT */
/*
 * All of statespace-curl.  argv is what the executor made (tools/tool.h); the
 * return value is the exit status.  Uses descriptors 0 to 3.
 */
#ifndef FCGI_TRANSFER_H
#define FCGI_TRANSFER_H

int transfer_main(int argc, char **argv);

#endif
