/* SPDX-License-Identifier: MIT */
/*
 * Tools whose callers do not send what runs: `pipe` and `script`
 * (statespace-page(7), Tools).  Callers send the tool's name and a word for
 * each argument; spec->stages has what runs.
 */
#ifndef SS_PAGE_STAGES_H
#define SS_PAGE_STAGES_H

#include "page/spec.h"

#define STAGES_MAX 16

/*
 * Reads `pipe`, or `script` and `arguments`, of a tool whose name is read
 * already.  Fills the parts, the stages and the script of *out, which
 * spec_release frees also after an error; the caller numbers the arguments.
 * Errors  SS_BAD_FRONTMATTER.
 */
enum ss_err
stages_parse(const struct reading *r, const struct node *map, struct spec *out);

#endif
