/* SPDX-License-Identifier: MIT */
/*
 * libstatespace: serves a directory of Markdown pages and runs the
 * command-line tools that each page's frontmatter allows.
 *
 * This is the only header that a host needs; the bundled programs in fcgi/
 * live on it alone.  It is made of three parts:
 *
 *   1. pure functions that need no site (tool sets, paths, addresses);
 *   2. the site: made, configured, opened once, then asked;
 *   3. the extension points: where documents come from (resolver), how an
 *      allowed command runs (executor), who looks at a request (hooks).
 *
 * Conventions
 *   Ownership   A pointer that comes in is borrowed for the call unless its
 *               comment says otherwise.  What comes out of a site lives until
 *               the release function named beside it.
 *   Text        Bytes with a length; text given back is also NUL-terminated.
 *   Errors      enum ss_err; details in struct ss_error, filled once, where
 *               the failure happened.  `err` may be NULL.
 *   Growth      Structs that may grow begin with their own size; set it with
 *               SS_INIT, which also zeroes the rest.
 *   Processes   One request at a time per process, one thread.  The library
 *               prints nothing and never ends the process.
 *
 * A Source line names a manual page and its section; RFD 001 is the document
 * that the project grew from.
 */
#ifndef STATESPACE_H
#define STATESPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SS_VERSION "0.1.0"
#define SS_INIT(type) ((struct type){ .size = sizeof(struct type) })

/* The version that was linked, as text: compare it with SS_VERSION. */
const char *ss_version(void);

/*
 * What can go wrong.  Each value has the code and the HTTP status that
 * statespace-protocol(7), REFUSALS, lists; the last group never reaches a
 * client over HTTP.
 */
enum ss_err {
	SS_OK = 0,
	SS_BAD_REQUEST,         /* 400 bad_request */
	SS_BAD_ENV,             /* 400 bad_env */
	SS_NO_FRONTMATTER,      /* 400 no_frontmatter */
	SS_BAD_FRONTMATTER,     /* 400 bad_frontmatter */
	SS_KEY_REQUIRED,        /* 400 key_required */
	SS_UNAUTHORIZED,        /* 401 unauthorized: for hooks, never ours */
	SS_NOT_ALLOWED,         /* 403 not_allowed */
	SS_PATH_REFUSED,        /* 403 path_refused */
	SS_ADDRESS_REFUSED,     /* 403 address_refused */
	SS_ORIGIN_REFUSED,      /* 403 origin_refused */
	SS_CAPABILITY_REFUSED,  /* 403 capability_refused */
	SS_NOT_FOUND,           /* 404 not_found */
	SS_METHOD,              /* 405 method */
	SS_TIMEOUT,             /* 408 timeout */
	SS_KEY_RUNNING,         /* 409 key_running */
	SS_KEY_UNKNOWN,         /* 409 outcome_unknown */
	SS_BUSY,                /* 409 busy */
	SS_CONFLICT,            /* 409 conflict */
	SS_NEXT_GONE,           /* 410 next_gone */
	SS_LENGTH_REQUIRED,     /* 411 length_required */
	SS_BODY_TOO_LARGE,      /* 413 body_too_large */
	SS_COMMAND_TOO_LARGE,   /* 413 command_too_large */
	SS_OUTPUT_TOO_LARGE,    /* 413 output_too_large */
	SS_CONTENT_TYPE,        /* 415 content_type */
	SS_HOST_REFUSED,        /* 421 host_refused */
	SS_KEY_REUSED,          /* 422 key_reused */
	SS_CONFIRM_REQUIRED,    /* 428 confirm_required */
	SS_EXEC_FAILED,         /* 500 exec_failed */
	SS_INTERNAL,            /* 500 internal */
	SS_NETWORK,             /* 502 network */
	SS_OVERLOADED,          /* 503 overloaded */
	SS_SANDBOX_UNAVAILABLE, /* 503 sandbox_unavailable */
	SS_STATE,               /* 503 state_unavailable */

	SS_CONFIG, /* a configuration that cannot be used */
	SS_GONE    /* the client left; no answer is read */
};

/* "not_allowed" and the like; never NULL. */
const char *ss_err_code(enum ss_err code);
/* The HTTP status for it; 500 for what has none. */
int ss_err_status(enum ss_err code);
/*
 * What decided: "matching", "path", "capability", "limit", "overload", "page"
 * or "server"; never NULL.
 */
const char *ss_err_class(enum ss_err code);
/* May the same request, sent again after so many seconds, succeed? */
bool ss_err_retryable(enum ss_err code);
unsigned ss_err_retry_after(enum ss_err code);

/*
 * One failure: a text for the client, what to do about it, and what only the
 * operator may read (paths, patterns, errno).  All are NUL-terminated.
 */
struct ss_error {
	enum ss_err code;
	int sys_errno;     /* errno of the failed call, else 0 */
	char message[512]; /* for the client */
	char hint[2048];   /* for the client: what would work */
	char detail[1024]; /* for the operator's log, never sent */
	/* The line of the page that decided (0: none), and what it says. */
	unsigned line;
	char rule[256];
	/*
	 * A key of the configuration that decided, "grant.write", and what to
	 * add to its list, or its value, to allow it; "": unknown.
	 */
	char setting[48];
	char value[256];
};

/* ------------------------------------------------------------------ */
/* 1. Pure functions                                                  */
/* ------------------------------------------------------------------ */

/*
 * Turns a request path into a clean relative path.
 *
 * raw      len bytes as the front server decoded them, never unescaped here;
 *          leading '/' optional.
 * out      the caller's buffer of cap bytes; on success NUL-terminated, without
 *          a leading '/', without "." or empty parts; "" means the root.
 * Errors   SS_BAD_REQUEST for a NUL, a control byte, bad UTF-8 or over 4096
 *          bytes; SS_PATH_REFUSED for any ".." and for "//" at the start;
 *          SS_NOT_FOUND for a component that begins with another dot.
 * Pure     no I/O, no allocation.
 * Source   statespace-protocol(7), PATHS; RFD 001 "Path Traversal Prevention".
 */
enum ss_err ss_path_clean(const char *raw, size_t len, char *out, size_t cap,
	struct ss_error *err);

/*
 * The tools of one page, parsed from frontmatter text alone.
 *
 * text     the whole page, len bytes, from its first byte.
 * out      the new set, released with ss_toolset_free; NULL on failure.
 * Errors   SS_NO_FRONTMATTER; SS_BAD_FRONTMATTER with line and column in the
 *          message and a hint; SS_INTERNAL when memory ran out.
 * Pure     allocates, no I/O.
 * Source   statespace-page(7), Tools; RFD 001 "Frontmatter Format".
 */
struct ss_toolset;
enum ss_err ss_toolset_parse(const char *text, size_t len,
	struct ss_toolset **out, struct ss_error *err);
size_t ss_toolset_count(const struct ss_toolset *set);
/*
 * Which tool allows this command: its index is stored in *tool.
 * SS_NOT_ALLOWED when none does; its hint lists the tools.  Matching only:
 * neither the agent's words nor variables are looked at.
 */
enum ss_err ss_toolset_allows(const struct ss_toolset *set, size_t argc,
	const char *const argv[], size_t *tool, struct ss_error *err);
void ss_toolset_free(struct ss_toolset *set);

/*
 * May the open Internet be reached at this address, and nothing else?  False
 * for every special-purpose range (loopback, private, link-local, metadata
 * services, documentation, multicast, ...), for an IPv6 address whose embedded
 * IPv4 address is not public, and for a family that is not known.
 *
 * family   AF_INET or AF_INET6.
 * address  4 or 16 bytes in network order, as in struct in_addr and in6_addr.
 * Pure     ask it about the address of the very socket, not about a name.
 * Source   statespace-page(7), Built-in tools; IANA's special-purpose address
 *          registries.
 */
bool ss_address_is_public(int family, const void *address);

/*
 * Is the address in this range?
 *
 * range    "192.0.2.1", "192.0.2.0/24", "2001:db8::/32"; nothing is in a range
 *          that is written otherwise, or of another family.
 * family, address  as above.  An IPv4-mapped address is an IPv6 address.
 */
bool ss_address_is_in(const char *range, int family, const void *address);

/* ------------------------------------------------------------------ */
/* 2. The site                                                        */
/* ------------------------------------------------------------------ */

struct ss_site;

/*
 * Makes an unopened site with the built-in defaults.  NULL when memory ran
 * out.  Configure it in this order, later words win: file, environment,
 * options; then ss_site_open.
 */
struct ss_site *ss_site_new(void);
/* Releases everything, also of a site that was never opened; NULL is fine. */
void ss_site_free(struct ss_site *site);

/* The directory that is served; path is copied. */
enum ss_err
ss_site_set_root(struct ss_site *site, const char *path, struct ss_error *err);
/*
 * Reads a TOML configuration file (blocking).  SS_CONFIG names file, line and
 * remedy.  Relative paths in it are relative to the file.
 */
enum ss_err ss_site_set_config(
	struct ss_site *site, const char *file, struct ss_error *err);
/*
 * Reads the variables STATESPACE_SECTION_KEY of an environment block as
 * configuration.  STATESPACE_CONFIG is the caller's to look at.
 */
enum ss_err ss_site_set_environ(
	struct ss_site *site, char *const envp[], struct ss_error *err);
/*
 * Sets one key by its name in the configuration file, "limits.timeout", from
 * text: "5.0", "true", a word, or a TOML array for lists.
 */
enum ss_err ss_site_set_option(struct ss_site *site, const char *key,
	const char *value, struct ss_error *err);
/* One variable of the server's table ([env] in the file). */
enum ss_err ss_site_set_env(struct ss_site *site, const char *name,
	const char *value, struct ss_error *err);

/*
 * The value of a key, as text; "" when it is not set; NULL when there is no
 * such key.  Lists read as TOML.  The text lives until the key changes.
 */
const char *ss_site_option(const struct ss_site *site, const char *key);
/* The same for numbers and booleans (false 0, true 1); seconds as they are. */
double ss_site_option_number(const struct ss_site *site, const char *key);
/* The same, the most that it is in any of the sites of ss_site_count. */
double ss_site_option_most(const struct ss_site *site, const char *key);

/*
 * Checks the configuration, opens the root, freezes the site: nothing can be
 * set afterwards.  A root that cannot be read is refused here, in one
 * sentence.
 */
enum ss_err ss_site_open(struct ss_site *site, struct ss_error *err);

/*
 * What a process of ss_site_fork has beside itself; 0 for a process that runs
 * no tools.
 *
 * A confined process has given up the network, unix sockets and /proc.  A tool
 * that is granted one of them runs in the launcher of that process: a second
 * confined child of the caller, which kept what the configuration grants and
 * ends with the first.  A site that grants none of them starts no launcher,
 * whatever the flags; without a launcher such a tool is refused.
 */
enum ss_fork_flags {
	SS_FORK_LAUNCHER = 1,       /* started with the process */
	SS_FORK_LAUNCHER_LATER = 2, /* started when the process asks for it */
	SS_FORK_MEMORY = 4,         /* a group: see ss_memory_delegate */
	SS_FORK_BRIEF = 8           /* for one request or command */
};

/* What the caller of ss_site_fork holds. */
struct ss_child {
	pid_t pid;     /* to be waited for; -1: there is none */
	int launch_fd; /* SS_FORK_LAUNCHER_LATER: see ss_site_launch; or -1 */
};

/*
 * Forks a process that may run tools and serve requests, confined as far as
 * kernel and configuration allow.  The child runs worker(ctx) and exits with
 * its result.  The caller should be single-threaded and read no client input.
 *
 * flags    SS_FORK_...: with a launcher waitpid(2) also reports a child whose
 *          pid the caller has not seen.
 * *child   the caller closes launch_fd when the child has ended.
 * Errors   SS_INTERNAL; a child that cannot be confined still serves pages
 *          and answers tools with SS_SANDBOX_UNAVAILABLE.
 * Source   core/README.md, The sandbox.
 */
enum ss_err
ss_site_fork(struct ss_site *site, unsigned flags, int (*worker)(void *ctx),
	void *ctx, struct ss_child *child, struct ss_error *err);
/*
 * Call it when poll(2) reports any event on child->launch_fd, which must not
 * be read from: starts the launcher that the child asks for, in a millisecond
 * or two, and closes launch_fd.  False: none was started, because the child
 * has ended, or because none could be; then its tool is refused.
 */
bool ss_site_launch(struct ss_site *site, struct ss_child *child);

/* The account that tools run as; name lives as long as the site. */
struct ss_account {
	uid_t uid;
	gid_t gid;
	const char *name;
};

/*
 * Of an opened site.  Started as root: [pool] user and group, else the account
 * "statespace", else "nobody", never uid 0.  Otherwise the caller's own.
 */
struct ss_account ss_site_account(const struct ss_site *site);

/*
 * Opens the state directory ([state] directory) that the processes of
 * ss_site_fork will use; call it before the first of them.  A process that is
 * not confined opens it at its first use.
 *
 * Errors  SS_CONFIG: a directory that was named and cannot be used.  SS_OK with
 *         "auto", also where there is none: then requests that need it are
 *         answered with SS_STATE.
 * Source  statespace.toml(5), Section state.
 */
enum ss_err ss_site_open_state(struct ss_site *site, struct ss_error *err);

/*
 * Starts the writer of receipts ([log] receipts), a child of this process that
 * ends with the site, before processes of ss_site_fork are started; and another
 * one when it has ended: call it every now and then.  Without receipts it does
 * nothing.  A process that is not confined starts it at its first use.
 *
 * Errors  SS_CONFIG: it does not start.
 * Source  statespace.toml(5), Section log.
 */
enum ss_err ss_site_open_receipts(struct ss_site *site, struct ss_error *err);
/* Its number; -1: none. */
pid_t ss_site_receipts_pid(const struct ss_site *site);

/*
 * Lets the memory of all processes of a tool be bounded together: where the
 * control group (v2) of this process is delegated to it, with the memory
 * controller, and holds no other process, moves this process to a leaf; what
 * ss_site_fork starts with SS_FORK_MEMORY from then on has a group of its own.
 * False: as before, each process is bounded by itself.
 *
 * Process  One group a process, whatever the number of sites; give it back
 *          when all children have ended.
 */
bool ss_memory_delegate(void);
void ss_memory_return(void);

struct ss_response;

/* What a request waits for: that a job goes on (statespace-protocol(7), JOBS). */
struct ss_wait {
	size_t size;
	int job_fd;          /* its directory; borrowed */
	uint64_t status;     /* its files when they were looked at last */
	uint64_t seen[2];    /* bytes of stdout and stderr */
	uint64_t sent[2];    /* the same, that the client has */
	uint64_t until_us;   /* CLOCK_MONOTONIC: answer then */
	uint64_t beat_at_us; /* the same, of events: send something then */
	bool streamed;       /* the head of the answer has left */
};

/* Has one of the job's files changed since?  Blocks not. */
bool ss_wait_is_over(const struct ss_wait *wait);

/* One request as the front server handed it over.  Absent text is NULL. */
struct ss_request {
	size_t size;
	const char *method;      /* "GET" */
	const char *path;        /* decoded, begins with '/' */
	const char *request_uri; /* undecoded; only looked at to refuse */
	const char *host;        /* NULL: a local caller, not checked */
	const char *origin;
	const char *content_type;
	const char *accept;
	const char *if_none_match;
	const char *if_modified_since;
	const char *if_range;
	const char *range;
	const char *remote_addr; /* for the log */
	const char *remote_user; /* verified by the front, for the log */
	const char *request_id;  /* from the front, never the client */
	bool status_allowed;     /* the front lets this one see status */
	const char *body;
	size_t body_len;
	bool body_too_large;         /* it was not read whole */
	int client_fd;               /* watched for hang-up; -1: none */
	uint64_t received_us;        /* CLOCK_MONOTONIC when accepted; 0: now */
	const char *mcp_version;     /* MCP-Protocol-Version */
	const char *mcp_method;      /* Mcp-Method */
	const char *mcp_name;        /* Mcp-Name */
	const char *mcp_session;     /* Mcp-Session-Id */
	const char *idempotency_key; /* Idempotency-Key */
	const char *prefer;          /* Prefer, RFC 7240 */
	const char *last_event_id;   /* Last-Event-ID */
	/*
	 * Sends a piece of an answer at once, the head of res (200, without a
	 * length) before the first; false: the client left.  NULL: answers are
	 * whole.  Then res->streamed is set, and nothing is left to be sent.
	 */
	bool (*stream)(void *ctx, const struct ss_response *res,
		const char *data, size_t len);
	void *stream_ctx;
	/*
	 * "nginx /srv/site": this front server sends files by itself when it
	 * is told their names, those of this root.  NULL: it does not.
	 */
	const char *handover;
	/*
	 * The host that the front server has chosen for the request, where it
	 * tells: of several sites it finds the one that is asked.  NULL: host.
	 */
	const char *site_host;
	const char *traceparent; /* of W3C Trace Context */
	/*
	 * Takes over a request that waits: when ss_wait_is_over, or it is time,
	 * the same request is handled again, with waited.  True: the answer of
	 * this turn is thrown away, SS_GONE.  False: too many wait.  NULL: the
	 * site waits itself, for a short time.
	 */
	bool (*wait)(void *ctx, const struct ss_wait *wait);
	void *wait_ctx;
	const struct ss_wait *waited; /* NULL: it comes for the first time */
};

#define SS_REQUEST_INIT                                                        \
	((struct ss_request){                                                  \
		.size = sizeof(struct ss_request), .client_fd = -1 })

struct ss_header {
	const char *name;
	const char *value;
};

/*
 * Of an answer to HEAD that would have to run something to know it, and of one
 * whose body the front server fetches.
 */
#define SS_LENGTH_UNKNOWN UINT64_MAX

/*
 * One answer.  The body is memory, or a stretch of a file: when fd is not -1
 * send length bytes of it from offset on instead of body.
 */
struct ss_response {
	size_t size;
	int status;
	const struct ss_header *headers;
	size_t header_count;
	const char *body;
	size_t body_len;
	int fd;
	uint64_t offset;
	uint64_t length;     /* of the body, also of one in memory */
	bool head_only;      /* HEAD: headers as they are, no body */
	bool streamed;       /* it has left, through the request's stream */
	enum ss_err outcome; /* what it was, for hooks and the log */
	void *owner;         /* the site's; do not touch */
};

/*
 * Answers one request; blocks while a tool runs.  Every request gets an
 * answer, an out-of-memory one too; only SS_GONE means that the client left.
 * The response is released with ss_response_release before the next call.
 */
enum ss_err ss_site_handle(struct ss_site *site, const struct ss_request *req,
	struct ss_response *res);
void ss_response_release(struct ss_response *res);

/*
 * The sites that tables [site."HOST/PREFIX"] of the configuration name, in one
 * struct ss_site: ss_site_handle finds the one that is asked by host and path,
 * and settings of the host hold for all of them.  Numbers are from 1 to
 * ss_site_count; 0 is the site itself, which answers for all other names if it
 * has a root.  All of them of an opened site, but that the count is also known
 * before, without those of the directory that `sites` names.
 */
size_t ss_site_count(const struct ss_site *site);
/* "example.org/docs"; "" for 0; NULL behind the last. */
const char *ss_site_name(const struct ss_site *site, size_t number);
/* The number of the site with that name, or another host of it; 0: none. */
size_t ss_site_find(const struct ss_site *site, const char *name);
/* The number of the site whose root that directory is or lies in; 0: none. */
size_t ss_site_holding(const struct ss_site *site, const char *directory);
/* The number of the site that ss_site_handle or ss_site_pick asked last. */
size_t ss_site_chosen(const struct ss_site *site);
/*
 * The site of that number by itself, for ss_site_call, ss_site_check and the
 * like; it belongs to site, and is used before the next pick or request.
 * Errors  SS_CONFIG: there is none; SS_INTERNAL: its root cannot be opened.
 */
enum ss_err ss_site_pick(struct ss_site *site, size_t number,
	struct ss_site **out, struct ss_error *err);
/*
 * For a process that answers one request: what ss_site_fork starts from now on
 * sees the site of that request alone.
 */
void ss_site_narrow(struct ss_site *site, const struct ss_request *req);
/*
 * Does the name of the root lead to another directory by now?  Processes of
 * ss_site_fork see the old one.  Of many sites each call looks at some.
 */
bool ss_site_moved(struct ss_site *site);

/*
 * True when this process must not run another tool (something of the last one
 * could not be removed): a pool replaces it; pages are still answered.
 */
bool ss_site_must_exit(const struct ss_site *site);
/*
 * Removes the private directories that processes of ss_site_fork left below
 * /tmp when they ended, as far as they are this account's; to be called in a
 * process of ss_site_fork.  budget_ms 0: until nothing is left, a fifth
 * of the time at most.  False: something is left.
 */
bool ss_sweep(uint32_t budget_ms);
/* May there be such directories?  Not where each process has its own /tmp. */
bool ss_site_sweeps(const struct ss_site *site);

struct ss_text {
	const char *data;
	size_t len;
};

struct ss_pair {
	const char *name;
	const char *value;
};

/* Where output goes while it comes: stream 1 is stdout, 2 stderr. */
typedef void (*ss_output_fn)(
	void *ctx, int stream, const char *data, size_t len);

/*
 * A call without HTTP: the same way as POST from the page on.  Used by the
 * local command.  Either json (a request body) or words is given.
 */
struct ss_call {
	size_t size;
	const char *page; /* request path, '/' optional */
	const char *json;
	size_t json_len;
	const char *const *words;
	size_t word_count;
	const struct ss_pair *env; /* the request's env */
	size_t env_count;
	int stdin_fd;        /* relayed to a tool that declares it; -1: none */
	int client_fd;       /* a hang-up ends the run: SS_GONE; -1: none */
	bool dry_run;        /* stop before running */
	bool explain;        /* watch for what the sandbox refuses */
	ss_output_fn output; /* NULL: collected in the result */
	void *output_ctx;
	/*
	 * Asked before a tool with `confirm` runs argv, secrets as $NAME; the
	 * result has its question already.  True runs it.  NULL:
	 * SS_CONFIRM_REQUIRED.
	 */
	bool (*confirm)(void *ctx, const char *const *argv, size_t argc);
	void *confirm_ctx;
	const char *next; /* of the result of the same call; NULL: none */
	/*
	 * Not NULL: the tool of that name is called with these arguments; the
	 * words, which may be none, are put behind its command.
	 */
	const char *tool;
	const struct ss_pair *arguments;
	size_t argument_count;
	const char *key; /* the tool runs once for it; NULL: none */
	/* Of a page with `workspace`: a session's id; NULL: one of its own. */
	const char *session;
	bool commit; /* apply what changed if the tool ended with 0 */
	/*
	 * This process ends behind the call: where init reaps what it leaves,
	 * the call does not wait until the kernel has taken the namespaces
	 * away.  No process of the tool is left, and its scratch is empty.
	 */
	bool last;
};

#define SS_CALL_INIT                                                           \
	((struct ss_call){ .size = sizeof(struct ss_call),                     \
		.stdin_fd = -1,                                                \
		.client_fd = -1 })

/*
 * A part of the output of a tool with `lines` or `bytes`: the lines from first
 * to last, of all that it wrote.
 */
struct ss_part {
	uint64_t first, last; /* counted from 1 */
	uint64_t lines;       /* of all; 0: nothing was cut */
	uint64_t bytes;       /* of all */
	bool more;            /* others follow */
	const char *next;     /* the same call with it gets the next one */
};

struct ss_result {
	size_t size;
	struct ss_text out; /* the tool's bytes, unchanged */
	struct ss_text err;
	int returncode;          /* 128 + n for signal n */
	ssize_t tool;            /* index of the entry; -1: none matched */
	const char *const *argv; /* what runs, secrets as $NAME */
	size_t argc;
	const char *limit;   /* "wall", "cpu", ...; NULL: none ended it */
	const char *sandbox; /* level reached: "strict", "none", ... */
	uint64_t run_us;
	/* With explain: lines of what was refused and would grant it, or "" */
	struct ss_text refused;
	void *owner;
	/*
	 * How the memory of the command's processes together was bounded: NULL,
	 * read at intervals; "group", by a control group; "process", not at
	 * all, only that of each.
	 */
	const char *memory;
	uint64_t cpu_us;       /* processor time of the child */
	uint64_t memory_bytes; /* its largest resident set */
	struct ss_part part;   /* that out is */
	const char *type;      /* declared for out; NULL: text */
	bool parse;            /* the request wants out as JSON */
	const char *remedy;    /* of a lower level, for the operator; NULL */
	const char *question;  /* that a person is asked; NULL: the command */
	/*
	 * What runs where argv is what callers send: the words of each stage of
	 * a pipe, or those of a script and its interpreter; each list and all
	 * of them NULL-terminated.  NULL: argv runs.
	 */
	const char *const *const *stages;
	/*
	 * Of a page with `workspace`: what is told of it, as an object of JSON
	 * (statespace-protocol(7)); else "".
	 */
	struct ss_text workspace;
	/*
	 * No program was started: set by an executor that is sure of it, so
	 * that a key is as if it had not been used.
	 */
	bool unstarted;
	bool replayed; /* the answer that was stored for the key */
	/*
	 * Of a refusal: the page whose rule decided, and one step that would
	 * work, as the JSON object of statespace-protocol(7), REFUSALS, and as
	 * one line; NULL: as the code alone tells.
	 */
	const char *page;
	const char *step;
	const char *step_line;
	/* With explain: what was refused, as the items of a JSON list, or "" */
	struct ss_text denied;
};

/*
 * Runs one call.  The result is filled as far as the call came, also on
 * failure, and is released with ss_result_release before the next call.
 */
enum ss_err ss_site_call(struct ss_site *site, const struct ss_call *call,
	struct ss_result *result, struct ss_error *err);
/*
 * The result as the answer object of statespace-protocol(7), RUNNING and
 * statespace-protocol(7), REFUSALS (error: err not NULL and with a code); of a
 * dry run, as the object of section 9.  Lives until ss_result_release.  NULL:
 * no memory.
 */
const char *
ss_result_json(struct ss_result *result, const struct ss_error *err);
/*
 * The command of a dry run as one line that a POSIX shell reads as these words,
 * without a line break; lives as long.  NULL: no memory.
 */
const char *ss_result_command(struct ss_result *result);
/*
 * The step that would work after the refusal err, in one line; lives as long.
 * NULL: no memory, or no site was asked.
 */
const char *
ss_result_next(struct ss_result *result, const struct ss_error *err);
void ss_result_release(struct ss_result *result);

/*
 * The file worker: answers frames (a length of four bytes, big-endian, and
 * JSON) from in on out, until in ends or a frame ends it.  Call it in what
 * ss_site_fork started; paths are beneath the root, writing is what
 * grant.write allows.  Blocks.
 *
 * Returns  0 at a clean end; EPROTO for a frame that is cut or too long;
 *          ENOTSUP in a process that is not confined; else errno.
 */
int ss_site_fsworker(struct ss_site *site, int in, int out, bool *shut_down);

/*
 * One operation on the site's copy-on-write sessions, as the account that owns
 * the state directory: sessions of all pages and callers, outside any sandbox.
 * Commits whose process was killed are finished first, old sessions collected.
 *
 * operation  "create", "list", "diff", "commit" or "discard".
 * put        gets the answer; false ends it with SS_GONE.
 * Errors     SS_STATE: there is no state directory; SS_NOT_FOUND: no such
 *            session or folder; SS_BUSY: a tool runs in it; SS_CONFLICT and
 *            SS_NOT_ALLOWED: nothing was committed, and put had the reasons;
 *            SS_BAD_REQUEST; SS_INTERNAL.
 */
struct ss_workspace_ask {
	size_t size;
	const char *operation;
	const char *session;  /* of diff, commit and discard */
	const char *folder;   /* of create, below the root; NULL: all of it */
	const char *backend;  /* of create; NULL: "overlay" */
	bool json;            /* objects; else lines for a person */
	bool patch;           /* of diff: what git apply takes */
	const char *after;    /* of diff in JSON: `next` of the page before */
	size_t most;          /* of changes on a page; 0: all */
	bool force;           /* of commit: over conflicts */
	const char *expected; /* of commit: `digest` of what was shown; NULL */
	bool (*put)(void *ctx, const char *data, size_t len);
	void *ctx;
};

enum ss_err ss_site_workspace(struct ss_site *site,
	const struct ss_workspace_ask *ask, struct ss_error *err);

/*
 * One message of the Model Context Protocol without HTTP, a JSON object of
 * len bytes.  send gets each message of the answer, without a line break:
 * notifications while a tool runs, then the response; nothing for what needs
 * none.  Blocking; what the protocol calls an error is an answer.
 *
 * client_fd  a hang-up ends a running tool: SS_GONE; -1: none.
 * Errors     SS_GONE, also when send returns false; SS_INTERNAL: no memory.
 */
enum ss_err ss_site_mcp(struct ss_site *site, const char *message, size_t len,
	int client_fd, bool (*send)(void *ctx, const char *message, size_t len),
	void *ctx);

/*
 * A client of the revisions that begin with `initialize`, who can be asked for
 * a person's agreement or arguments: a question is a request that send gets,
 * and receive waits for the client's response to it.
 *
 * receive  the response, valid until the next call: SS_OK; SS_TIMEOUT; SS_GONE
 *          when the client left.  NULL: the client cannot ask a person.
 */
struct ss_mcp_client {
	size_t size;
	int client_fd;
	bool (*send)(void *ctx, const char *message, size_t len);
	enum ss_err (*receive)(void *ctx, uint32_t timeout_ms,
		const char **message, size_t *len);
	void *ctx;
	unsigned asks; /* SS_MCP_ASKS_...; 0: a person alone */
};

/* The same for a client that can be asked. */
enum ss_err ss_site_mcp_client(struct ss_site *site, const char *message,
	size_t len, const struct ss_mcp_client *client);

/*
 * What a host has to know of a message before it hands it over: whether it may
 * run a program (then in a process of ss_site_fork), asks to end the
 * request whose id, as JSON, is in id ("": none; of one over 255 bytes "#"
 * and a digest, the same for the same id), or is the response to a question of
 * that id.  Of `initialize`: can the client ask?  Of one that may run: page, if
 * only the components of a page that it reads do so.
 */
/* Whom the client can ask, for ss_mcp_client.asks and ss_mcp_glance.asks. */
enum {
	SS_MCP_ASKS_PERSON = 1, /* elicitation */
	SS_MCP_ASKS_MODEL = 2,  /* sampling */
	SS_MCP_ASKS_ROOTS = 4   /* the directories that it works in */
};

enum ss_mcp_kind { SS_MCP_SIMPLE, SS_MCP_RUNS, SS_MCP_CANCELS, SS_MCP_ANSWERS };

struct ss_mcp_glance {
	enum ss_mcp_kind kind;
	bool can_ask;
	char id[256];
	bool page;
	unsigned asks; /* of `initialize`: SS_MCP_ASKS_... */
};

void ss_mcp_look(const char *message, size_t len, struct ss_mcp_glance *out);

/* One finding of ss_site_check. */
enum ss_level { SS_LEVEL_ERROR, SS_LEVEL_WARNING };

struct ss_problem {
	unsigned line;   /* from 1; 0: the page as a whole */
	unsigned column; /* in characters, from 1 */
	enum ss_level level;
	const char *message;
	const char *hint; /* NULL: none */
	const char *name; /* of a warning, for the page's `allow`; NULL: none */
};

struct ss_report {
	const char *page;   /* relative to the site; ".": the site itself */
	const char *format; /* "yaml", "toml", "none", "error" */
	size_t tools;
	const struct ss_problem *problems;
	size_t problem_count;
	size_t ran, passed_over; /* tools, with SS_CHECK_RUN */
	void *owner;
};

/* What ss_site_check_with does besides. */
enum {
	/*
	 * Runs each page's components, and once each tool whose arguments have
	 * examples or may be absent, unless it asks a person first or may
	 * write, use the network or a socket.
	 */
	SS_CHECK_RUN = 1,
	SS_CHECK_RUN_ALL = 2 /* and those that may; never one that asks first */
};

/*
 * Lints one page, or every page of the site when page is NULL, and hands each
 * report to fn, borrowed for that call.  Of every page: last, if there is
 * anything to say, a report of the site itself, whose problems have the line 0.
 * Blocking; follows no symlinked directory.  SS_NOT_FOUND when the named page is
 * not there.
 */
enum ss_err ss_site_check(struct ss_site *site, const char *page,
	void (*fn)(void *ctx, const struct ss_report *report), void *ctx,
	struct ss_error *err);

/* The same; what: SS_CHECK_... */
enum ss_err ss_site_check_with(struct ss_site *site, unsigned what,
	const char *page, void (*fn)(void *ctx, const struct ss_report *report),
	void *ctx, struct ss_error *err);

/* The report as the object of statespace(1); lives as long. */
const char *ss_report_json(const struct ss_report *report);

/* One layer of confinement, tried for real. */
struct ss_probe {
	const char *name; /* "user namespace", "landlock", ... */
	bool works;
	bool needed;        /* for the best level of the configured mode */
	const char *detail; /* "" for none */
	/* NULL: none, or another layer's is first.  Two layers that fail for
	 * one cause have the same text. */
	const char *remedy;
};

/*
 * Tries every layer that this kernel and account could give, in throw-away
 * children, and hands each to fn, borrowed for that call; NULL: none is
 * tried.  level is the one that the configured mode reaches here, why no
 * higher one ("": none is higher); both live as long as the site.
 */
enum ss_err ss_site_probe(struct ss_site *site,
	void (*fn)(void *ctx, const struct ss_probe *probe), void *ctx,
	const char **level, const char **why, struct ss_error *err);

/* What the configured mode comes to on this machine. */
struct ss_confined {
	size_t size;
	const char *level; /* as ss_result.sandbox */
	const char *why;   /* no higher one; "": none is higher */
	/* What would give it, a command or a line of a file; "": nothing. */
	const char *remedy;
	/* False: none run, or only those that may execute every program. */
	bool all_tools;
};

/* Tries the levels, best first.  The texts live as long as the site. */
enum ss_err ss_site_confined(
	struct ss_site *site, struct ss_confined *out, struct ss_error *err);

/* A finished log line without its line break, for the program to write. */
void ss_site_set_log(struct ss_site *site,
	void (*fn)(void *ctx, const char *line, size_t len), void *ctx);

struct ss_field {
	const char *name;
	const char *text; /* NULL: the number */
	int64_t number;
};

/*
 * One log line of the host's own, at every level, in the configured format: the
 * time, the event, the fields.  False: there is no log.
 */
bool ss_site_log(const struct ss_site *site, const char *event,
	const struct ss_field *fields, size_t count);

/* ------------------------------------------------------------------ */
/* 3. Extension points                                                */
/* ------------------------------------------------------------------ */

/*
 * A document that a resolver opened.  fd or data holds its bytes.  The
 * identity decides whether a parsed page may be used again: all zero means
 * never.
 */
struct ss_document {
	size_t size;
	char path[4097];  /* resolved, "docs/README.md" */
	bool linked;      /* a symlink was followed */
	char real[4097];  /* where it really lies below the root */
	int fd;           /* regular file, or -1 */
	int dir_fd;       /* its directory; -1: none on disk */
	const char *data; /* when fd is -1 */
	uint64_t length;
	uint64_t device, inode;
	int64_t mtime_ns, ctime_ns;
	void *handle; /* the resolver's own */
};

/*
 * Where documents come from (RFD 001: ContentResolver).  open gets a clean path
 * (ss_path_clean) and follows statespace-protocol(7), PATHS: the path as a
 * file, a directory's README.md, the path with ".md".  close accepts what open
 * filled.
 */
struct ss_resolver {
	size_t size;
	void *ctx;
	enum ss_err (*open)(void *ctx, const char *path,
		struct ss_document *doc, struct ss_error *err);
	void (*close)(void *ctx, struct ss_document *doc);
};

/* An allowed command, ready to run. */
struct ss_command {
	size_t size;
	const char *page; /* resolved path of the page */
	size_t tool;
	char *const *argv;      /* NULL-terminated */
	char *const *envp;      /* NULL-terminated, complete */
	int dir_fd;             /* working directory; -1: none */
	const char *stdin_data; /* NULL with length 0: empty */
	size_t stdin_len;
	int stdin_fd; /* relayed instead; -1: none */
	uint32_t timeout_ms;
	uint64_t max_output_bytes; /* of both streams together */
	int client_fd;             /* a hang-up ends the run; -1: none */
	ss_output_fn output;       /* NULL: collect */
	void *output_ctx;
	uint32_t tick_ms; /* output is called so often, with stream 0 */
	bool explain;     /* fill the result's refused */
	void *policy;     /* for the built-in executor */
	/*
	 * The tool writes its progress to the descriptor that
	 * STATESPACE_PROGRESS_FD names, always 3: progress gets the bytes and
	 * output_ctx; NULL: they are dropped.
	 */
	bool has_progress;
	void (*progress)(void *ctx, const char *data, size_t len);
	/*
	 * Of a pipe: the words of each stage, each list and all of them
	 * NULL-terminated; argv is then what the caller sent.  NULL: no pipe.
	 */
	char *const *const *stages;
	const void *workspace; /* for the built-in executor; NULL */
};

/*
 * How an allowed command runs (RFD 001: ToolExecutor).  run fills out, err,
 * returncode, limit, sandbox and run_us; its memory may live until release or
 * until the next run.
 */
struct ss_executor {
	size_t size;
	void *ctx;
	enum ss_err (*run)(void *ctx, const struct ss_command *cmd,
		struct ss_result *result, struct ss_error *err);
};

/*
 * Who looks at a request (RFD 001: Middleware).  before runs in the order of
 * adding; a code other than SS_OK ends the request with that error.  after
 * runs in reverse for every hook whose before was called.
 */
struct ss_hook {
	size_t size;
	void *ctx;
	enum ss_err (*before)(
		void *ctx, const struct ss_request *req, struct ss_error *err);
	void (*after)(void *ctx, const struct ss_request *req,
		const struct ss_response *res);
};

/* Set before ss_site_open; the struct is copied, ctx stays the caller's. */
enum ss_err ss_site_set_resolver(struct ss_site *site,
	const struct ss_resolver *resolver, struct ss_error *err);
enum ss_err ss_site_set_executor(struct ss_site *site,
	const struct ss_executor *executor, struct ss_error *err);
enum ss_err ss_site_add_hook(
	struct ss_site *site, const struct ss_hook *hook, struct ss_error *err);

/*
 * Counts the runs of a tool over all processes of a host, for a page's
 * max_running; tool is the same number in all of them.  enter is asked right
 * before a run: false when most others are running already.  leave follows
 * every enter that returned true.
 */
struct ss_tool_limit {
	size_t size;
	void *ctx;
	bool (*enter)(void *ctx, uint64_t tool, uint64_t most);
	void (*leave)(void *ctx, uint64_t tool);
	/*
	 * Both or neither.  start is asked right before a tool or the blocks
	 * of a page run, whatever max_running says: false when the host has
	 * no process for it now.  The host then throws the answer away and
	 * handles the same request again later; hooks have run, no line was
	 * logged.  It may be asked again before the run, and stays true; end
	 * follows the run.
	 */
	bool (*start)(void *ctx);
	void (*end)(void *ctx);
	/*
	 * Called after each run with its run_us, cpu_us and memory_bytes, not
	 * when no program was started.  NULL: they are not counted.
	 */
	void (*ran)(void *ctx, uint64_t tool, const struct ss_result *result);
};

/*
 * At any time, so also in the process that ss_site_fork made.  Without one
 * max_running is not looked at: a process runs one tool at a time.
 */
void
ss_site_set_tool_limit(struct ss_site *site, const struct ss_tool_limit *limit);
/*
 * Calls fn for each tool of the pages that http.listed names, in their order:
 * its number in struct ss_tool_limit, its page and its index there.  Pages
 * that were read before are read again only when their files changed.
 * Errors  SS_INTERNAL.
 */
enum ss_err ss_site_each_tool(struct ss_site *site,
	void (*fn)(void *ctx, uint64_t number, const char *page, size_t tool),
	void *ctx, struct ss_error *err);

/*
 * Called while a tool runs and the request's client_fd can be read: left reads
 * what came, without blocking, and returns whether the client gave the request up.
 * Set it in the process that ss_site_fork made; NULL: bytes from the client are
 * left unread.
 */
void
ss_site_set_client(struct ss_site *site, bool (*left)(void *ctx), void *ctx);

/*
 * Carries short messages between the processes of a host, for MCP clients of
 * revision 2025-11-25 and older: what cancels a call, or answers its question,
 * is a request of its own and may reach another process.
 *
 * fd    becomes readable again with each post: watch it with EPOLLET; it is
 *       never read.
 * post  offers data to all processes; false: too long.
 * take  copies what was posted for key a short while ago; -1: nothing.
 * wait  asked before a request waits for a person's answer (begin), and every
 *       few seconds while it does: may it?  waited follows a begin that
 *       returned true.  NULL: clients of HTTP are not asked.
 *
 * At any time, so also in the process that ss_site_fork made.  Without one
 * such clients get no session, and what they cancel runs on.
 */
#define SS_RELAY_KEY 32

struct ss_relay {
	size_t size;
	void *ctx;
	int fd;
	bool (*post)(void *ctx, const unsigned char *key, const char *data,
		size_t len);
	ssize_t (*take)(
		void *ctx, const unsigned char *key, char *data, size_t cap);
	bool (*wait)(void *ctx, bool begin);
	void (*waited)(void *ctx);
};

void ss_site_set_relay(struct ss_site *site, const struct ss_relay *relay);

/*
 * Keeps what tools with `lines` or `bytes` wrote, until a client asks for the
 * next part, in ten minutes at most.
 *
 * put  keeps len bytes for id, a random number that is used once; *place comes
 *      back with get.  False: they are not kept.
 * get  copies the bytes that were kept for id; false: they are gone.  The
 *      caller compares their digest.
 *
 * At any time, so also in the process that ss_site_fork made.  Without one, or
 * when the bytes are gone, a tool that only reads runs again for the next part.
 */
#define SS_STORE_ID 16

struct ss_store {
	size_t size;
	void *ctx;
	bool (*put)(void *ctx, const unsigned char *id, const char *data,
		size_t len, uint64_t *place);
	bool (*get)(void *ctx, const unsigned char *id, uint64_t place,
		char *data, size_t len);
};

void ss_site_set_store(struct ss_site *site, const struct ss_store *store);

/*
 * Starts the process that runs a job (ss_site_run_job), apart from all others:
 * it goes on when the host ends.
 *
 * start  id is a job's, 32 hexadecimal digits; it may be asked twice for one.
 *        False: not now; it is asked again later.
 *
 * At any time, so also in the process that ss_site_fork made.  Without one no
 * call becomes a job.
 */
struct ss_jobs {
	size_t size;
	void *ctx;
	bool (*start)(void *ctx, const char *id);
};

void ss_site_set_jobs(struct ss_site *site, const struct ss_jobs *jobs);
/*
 * Runs the job of that id to its end, in a process that does nothing else: it
 * opens the page anew, checks the call as any other, and takes SIGALRM.  Blocks.
 * Errors  SS_NOT_FOUND: no such job; SS_STATE, SS_INTERNAL: it stays as it was.
 *         What the tool came to is the job's, not the caller's.
 */
enum ss_err
ss_site_run_job(struct ss_site *site, const char *id, struct ss_error *err);
/*
 * Looks at all jobs: removes those that ended long ago, notes those that were
 * lost, and has fn start those that wait for a process.
 */
enum ss_err ss_site_tend_jobs(struct ss_site *site,
	void (*fn)(void *ctx, const char *id), void *ctx, struct ss_error *err);
/* May there be any?  After ss_site_open_state. */
bool ss_site_has_jobs(const struct ss_site *site);
/*
 * The file to execute for a helper program of that name, which is also its
 * argv[0]; false: there is none.
 */
bool ss_site_helper(
	const struct ss_site *site, const char *name, char *path, size_t cap);

/*
 * The built-in ones, for those that replace them and still want to call them.
 * They live as long as the site; the resolver needs an opened one.
 */
const struct ss_resolver *ss_site_builtin_resolver(struct ss_site *site);
const struct ss_executor *ss_site_builtin_executor(struct ss_site *site);

#ifdef __cplusplus
}
#endif
#endif
