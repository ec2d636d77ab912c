/* SPDX-License-Identifier: MIT */
/*
 * Skills (SEP-2640): a directory with a SKILL.md whose frontmatter names it.
 * A client gets the frontmatter, and each file with its size and digest, and
 * reads the files it needs as skill://DIRECTORY/FILE, byte for byte.
 */
#ifndef SS_MCP_SKILLS_H
#define SS_MCP_SKILLS_H

#include "mcp/mcp.h"

/* Methods. */
enum rpc_code mcp_skills_list(struct mcp *m);
enum rpc_code mcp_skills_get(struct mcp *m);

/* The files and directories of a skill's directory, of the uri of params. */
enum rpc_code mcp_skills_directory(struct mcp *m);

/* The URI of a skill's file, in quotes. */
void mcp_skills_uri(struct mcp *m, const char *path);
/* The path of a skill's file; NULL: the URI names none. */
const char *mcp_skills_file(struct mcp *m, const char *uri);

#endif
