/* SPDX-License-Identifier: MIT */
/* The configuration file of the web server that `statespace serve` starts. */
#ifndef FCGI_FRONT_CONFIG_H
#define FCGI_FRONT_CONFIG_H

#include "front.h"

struct front_config {
	const struct ss_site *site;
	const struct front *front;
	const struct run_dir *run;
	const char *socket, *status; /* paths of the pool's sockets */
	const char *address;         /* "127.0.0.1:8000" */
};

/* Writes it into the run's directory.  SS_CONFIG with a sentence. */
enum ss_err
front_config_write(const struct front_config *c, struct ss_error *err);

#endif
