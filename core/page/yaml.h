/* SPDX-License-Identifier: MIT */
/*
 * Reads one YAML document into nodes through libyaml's events; yaml.c is the
 * only file that knows libyaml, whose own header has the name yaml.h.
 * Scalars keep their source text; anchors and aliases work within bounds;
 * merge keys are not applied; duplicate keys and unknown tags are kept, the
 * reader of a key decides (statespace-page(7)).
 */
#ifndef SS_PAGE_YAML_H
#define SS_PAGE_YAML_H

#include "page/node.h"

/* As toml_parse; *out is NULL for an empty document. */
enum ss_err yaml_parse(const struct reading *r, struct ss_text text,
	unsigned line, enum ss_err code, struct node **out);

#endif
