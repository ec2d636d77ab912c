/* SPDX-License-Identifier: MIT */
/*
 * The configuration (statespace.toml(5)).  config_load.h reads it.
 */
#ifndef SS_SITE_CONFIG_H
#define SS_SITE_CONFIG_H

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"

struct config_list {
	const char **items;
	size_t count;
};

/* A key that takes one word ("any", false, true) or a list. */
enum config_choice { CHOICE_LIST, CHOICE_ANY, CHOICE_NONE };

struct node;

/* A table [site."HOST/PREFIX"], not read yet. */
struct config_site {
	const char *name;   /* as it is compared: "example.org/docs" */
	const char *host;   /* in lower case; "": any */
	const char *prefix; /* "/docs" or "" */
	const char *file, *dir;
	unsigned line;
	const struct node *table; /* NULL after config_drop_tables */
	struct config_site *next;
};

#define CONFIG_SITES_MAX 4096
#define CONFIG_SITE_NAME_MAX 511

struct config_held;

struct config {
	struct arena arena; /* holds every text and list below */

	const char *root;  /* absolute once set from a file; "" unset */
	const char *sites; /* a directory of files with tables; "": none */
	struct config_site *first_site, *last_site; /* in their order */
	size_t site_count;
	struct config_held *held; /* what the tables live in */
	struct {
		const char *host;
		uint64_t port;
		const char *front; /* "nginx", "lighttpd" */
	} serve;
	struct {
		double timeout; /* seconds */
		uint64_t max_output_bytes, max_body_bytes, max_list_items;
		uint64_t cpu; /* seconds */
		uint64_t memory_bytes, processes, open_files, file_bytes;
		uint64_t scratch_bytes, scratch_files;
	} limits;
	struct {
		bool enabled;
		double timeout, total;
		uint64_t max_blocks, parallel;
	} components;
	struct ss_pair *env;
	size_t env_count;
	struct {
		const char *mode; /* "auto", "strict", "landlock", "off" */
	} sandbox;
	struct {
		struct config_list read, write, unix_sockets, workspace;
		enum config_choice exec_choice; /* ANY or LIST */
		struct config_list exec;
		enum config_choice network_choice; /* NONE, ANY or LIST */
		struct config_list network;
		bool http, proc;
		enum config_choice env_choice; /* ANY or LIST */
		struct config_list env;
		double timeout;                   /* 0: limits.timeout rules */
		uint64_t memory_bytes, processes; /* 0: limits rule */
	} grant;
	struct {
		struct config_list hosts, origins, listed, hidden;
		bool cors, html, preamble;
		const char *handover; /* "auto", "none", or a front's name */
		const char *prefix;   /* taken off the request path; "" */
	} http;
	struct {
		const char *enabled; /* "auto", "true", "false" */
		uint64_t max_tools;
		const char *uri;          /* what resources begin with */
		const char *name;         /* of the server; "": ours */
		const char *icon;         /* its URI; "": none */
		const char *instructions; /* for models; "": none */
		const char *key_file;     /* "": a key of this start */
	} mcp;
	struct {
		const char *mode; /* "dynamic", "static", "ondemand" */
		uint64_t workers, start, spare_min, spare_max; /* 0: by cores */
		uint64_t reserve;
		uint64_t readers;
		uint64_t kept_bytes; /* of each worker */
		uint64_t max_requests;
		double idle_timeout, watchdog, drain, stop_timeout;
		const char *socket, *socket_mode, *socket_owner, *socket_group;
		struct config_list allow; /* peers of a TCP socket */
		uint64_t backlog;
		const char *user, *group;
	} pool;
	struct {
		const char *directory; /* "auto"; "": none; absolute */
	} state;
	struct {
		uint64_t max_bytes, max_files; /* of a session; 0: no limit */
		uint64_t total_bytes;          /* of all sessions */
		uint64_t max;                  /* sessions; 0: no limit */
		double idle;
		const char *commit; /* "none", "files", "all" */
	} workspace;
	struct {
		uint64_t max, max_page, max_kept, max_output_bytes;
		double timeout, idle, keep; /* seconds */
	} jobs;
	struct {
		double keep; /* seconds */
		uint64_t records;
	} once;
	struct {
		const char *level;
		const char *format; /* "logfmt", "json" */
		const char *file;   /* "": standard error */
		double slow;        /* 0: no lines of slow requests */
		const char *receipts, *receipts_key; /* files; "": none */
	} log;
};

/*
 * A key's value as text in c's arena; a list as TOML; "" when it is unset; NULL
 * when there is no such key, or no memory.
 */
const char *config_text(struct config *c, const char *key);
/* Numbers and booleans; 0 for anything else. */
double config_text_number(const struct config *c, const char *key);

#endif
