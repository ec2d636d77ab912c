/* SPDX-License-Identifier: MIT */
#include "agentfs_db.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#define QUERIES 40

/*
 * The tables of AgentFS SPEC 0.4, with what the SDKs add: tool_calls.status,
 * fs_overlay_config, and a default for fs_whiteout.parent_path.
 */
static const char tables[] =
	"CREATE TABLE fs_config(key TEXT PRIMARY KEY, value TEXT NOT NULL);"
	"INSERT INTO fs_config VALUES('chunk_size', '4096'),"
	" ('schema_version', '0.4');"
	"CREATE TABLE fs_inode(ino INTEGER PRIMARY KEY AUTOINCREMENT,"
	" mode INTEGER NOT NULL, nlink INTEGER NOT NULL DEFAULT 0,"
	" uid INTEGER NOT NULL DEFAULT 0, gid INTEGER NOT NULL DEFAULT 0,"
	" size INTEGER NOT NULL DEFAULT 0, atime INTEGER NOT NULL,"
	" mtime INTEGER NOT NULL, ctime INTEGER NOT NULL,"
	" rdev INTEGER NOT NULL DEFAULT 0,"
	" atime_nsec INTEGER NOT NULL DEFAULT 0,"
	" mtime_nsec INTEGER NOT NULL DEFAULT 0,"
	" ctime_nsec INTEGER NOT NULL DEFAULT 0);"
	"INSERT INTO fs_inode(ino, mode, nlink, atime, mtime, ctime)"
	" VALUES(1, 16877, 1, unixepoch(), unixepoch(), unixepoch());"
	"CREATE TABLE fs_dentry(id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" name TEXT NOT NULL, parent_ino INTEGER NOT NULL,"
	" ino INTEGER NOT NULL, UNIQUE(parent_ino, name));"
	"CREATE INDEX idx_fs_dentry_parent ON fs_dentry(parent_ino, name);"
	"CREATE TABLE fs_data(ino INTEGER NOT NULL,"
	" chunk_index INTEGER NOT NULL, data BLOB NOT NULL,"
	" PRIMARY KEY(ino, chunk_index));"
	"CREATE TABLE fs_symlink(ino INTEGER PRIMARY KEY,"
	" target TEXT NOT NULL);"
	"CREATE TABLE fs_whiteout(path TEXT PRIMARY KEY,"
	" parent_path TEXT NOT NULL DEFAULT '', created_at INTEGER NOT NULL);"
	"CREATE INDEX idx_fs_whiteout_parent ON fs_whiteout(parent_path);"
	"CREATE TABLE fs_origin(delta_ino INTEGER PRIMARY KEY,"
	" base_ino INTEGER NOT NULL);"
	"CREATE TABLE fs_overlay_config(key TEXT PRIMARY KEY,"
	" value TEXT NOT NULL);"
	"CREATE TABLE kv_store(key TEXT PRIMARY KEY, value TEXT NOT NULL,"
	" created_at INTEGER DEFAULT (unixepoch()),"
	" updated_at INTEGER DEFAULT (unixepoch()));"
	"CREATE INDEX idx_kv_store_created_at ON kv_store(created_at);"
	"CREATE TABLE tool_calls(id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" name TEXT NOT NULL, parameters TEXT, result TEXT, error TEXT,"
	" status TEXT NOT NULL DEFAULT 'pending',"
	" started_at INTEGER NOT NULL, completed_at INTEGER,"
	" duration_ms INTEGER);"
	"CREATE INDEX idx_tool_calls_name ON tool_calls(name);"
	"CREATE INDEX idx_tool_calls_started_at ON tool_calls(started_at);"
	/* Ours: the upper as the file has it, and what each call changed. */
	"CREATE TABLE ss_delta(path TEXT PRIMARY KEY, kind TEXT NOT NULL,"
	" mode INTEGER, inode INTEGER, ctime_ns INTEGER, sha256 TEXT,"
	" run INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;"
	"CREATE TABLE ss_change(call_id INTEGER NOT NULL, path TEXT NOT NULL,"
	" op TEXT NOT NULL, sha256_before TEXT, sha256_after TEXT,"
	" PRIMARY KEY(call_id, path)) WITHOUT ROWID;";

struct db_query {
	const char *sql;
	sqlite3_stmt *stmt;
};

static sqlite3 *db;
static struct db_query queries[QUERIES];
static bool failed;

static void
fail(const char *what)
{
	if (!failed)
		fprintf(stderr, "statespace-agentfs: %s: %s\n", what,
			db != NULL ? sqlite3_errmsg(db) : "no memory");
	failed = true;
}

bool
db_failed(void)
{
	return failed;
}

/* ---------------------------------------------------------------- open -- */

/* The current directory need have no path here: names are used as they are. */
static int
full_name(sqlite3_vfs *vfs, const char *name, int cap, char *out)
{
	(void)vfs;
	return sqlite3_snprintf(cap, out, "%s", name) != NULL ? SQLITE_OK
							      : SQLITE_CANTOPEN;
}

static void
make_tables(const char *base)
{
	struct db_query *q;

	db_exec("BEGIN IMMEDIATE");
	q = db_ask("SELECT 1 FROM sqlite_schema WHERE name = 'fs_inode'");
	if (!db_next(q)) {
		db_exec(tables);
		q = db_ask("INSERT INTO fs_overlay_config VALUES('base_path', "
			   "?1)");
		db_text(q, 1, base);
		db_run(q);
	} else {
		db_end(q);
	}
	db_exec("COMMIT");
}

bool
db_open(const char *base)
{
	static sqlite3_vfs vfs;
	sqlite3_vfs *plain;

	sqlite3_initialize();
	plain = sqlite3_vfs_find(NULL);
	if (plain == NULL)
		return false;
	vfs = *plain;
	vfs.zName = "session";
	vfs.xFullPathname = full_name;
	if (sqlite3_vfs_register(&vfs, 0) != SQLITE_OK ||
		sqlite3_open_v2("session.db", &db,
			SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
				SQLITE_OPEN_NOFOLLOW,
			"session") != SQLITE_OK) {
		fail("open session.db");
		return false;
	}
	/* One file, also after an SDK that left a write-ahead log. */
	db_exec("PRAGMA page_size = 4096; PRAGMA journal_mode = DELETE;"
		"PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF");
	make_tables(base);
	return !failed;
}

void
db_close(void)
{
	for (size_t i = 0; i < QUERIES && queries[i].sql != NULL; i++)
		sqlite3_finalize(queries[i].stmt);
	sqlite3_close(db);
	db = NULL;
}

/* -------------------------------------------------------------- queries -- */

void
db_exec(const char *sql)
{
	if (!failed && sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail(sql);
}

int64_t
db_last(void)
{
	return sqlite3_last_insert_rowid(db);
}

struct db_query *
db_ask(const char *sql)
{
	struct db_query *q = queries;

	while (q < queries + QUERIES - 1 && q->sql != NULL && q->sql != sql)
		q++;
	if (q->sql == NULL && !failed) {
		q->sql = sql;
		if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT,
			    &q->stmt, NULL) != SQLITE_OK)
			fail(sql);
	} else if (q->sql != sql) {
		fail("too many queries");
	}
	sqlite3_reset(q->stmt);
	return q;
}

void
db_text(struct db_query *q, int at, const char *text)
{
	sqlite3_bind_text(q->stmt, at, text, -1, SQLITE_TRANSIENT);
}

void
db_blob(struct db_query *q, int at, const void *data, size_t len)
{
	sqlite3_bind_blob64(q->stmt, at, data, len, SQLITE_TRANSIENT);
}

void
db_number(struct db_query *q, int at, int64_t value)
{
	sqlite3_bind_int64(q->stmt, at, value);
}

bool
db_next(struct db_query *q)
{
	int code = failed ? SQLITE_DONE : sqlite3_step(q->stmt);

	if (code == SQLITE_ROW)
		return true;
	if (code != SQLITE_DONE)
		fail(q->sql);
	sqlite3_reset(q->stmt);
	return false;
}

void
db_run(struct db_query *q)
{
	while (db_next(q))
		;
}

void
db_end(struct db_query *q)
{
	sqlite3_reset(q->stmt);
}

const char *
db_get_text(struct db_query *q, int at)
{
	const char *text = (const char *)sqlite3_column_text(q->stmt, at);

	return text != NULL ? text : "";
}

const void *
db_get_blob(struct db_query *q, int at, size_t *len)
{
	const void *data = sqlite3_column_blob(q->stmt, at);

	*len = (size_t)sqlite3_column_bytes(q->stmt, at);
	return data;
}

int64_t
db_get_number(struct db_query *q, int at)
{
	return sqlite3_column_int64(q->stmt, at);
}
