/* SPDX-License-Identifier: MIT */
/*
 * The SQLite file of a session: AgentFS 0.4, in the form that all its SDKs take,
 * and our own tables ss_delta and ss_change.  The only file with libsqlite3.
 */
#ifndef FCGI_AGENTFS_DB_H
#define FCGI_AGENTFS_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Opens session.db of the current directory, made if it is not there.  False
 * after a message.  base is told to other readers as the folder's path.
 */
bool db_open(const char *base);
void db_close(void);

/* One statement at a time for each text, which is its key: a literal. */
struct db_query;
struct db_query *db_ask(const char *sql);
void db_text(struct db_query *q, int at, const char *text); /* NULL: null */
void db_blob(struct db_query *q, int at, const void *data, size_t len);
void db_number(struct db_query *q, int at, int64_t value);
/* Is there a row?  At the end the query is done with. */
bool db_next(struct db_query *q);
/* Runs it to its end. */
void db_run(struct db_query *q);
/* Ends it before that. */
void db_end(struct db_query *q);
const char *db_get_text(struct db_query *q, int at);
const void *db_get_blob(struct db_query *q, int at, size_t *len);
int64_t db_get_number(struct db_query *q, int at);

void db_exec(const char *sql);
int64_t db_last(void); /* the row that was inserted */
/* Has a call failed since db_open?  Its reason was printed. */
bool db_failed(void);

#endif
