/* SPDX-License-Identifier: MIT */
/*
 * mcp_round: what a client holds between two rounds is good for the request,
 * the user and the tool that it was made for, for a while, and an agreement
 * for one run, whoever of the processes that share a site comes first.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mcp/message.h"
#include "mcp/question.h"
#include "site/once.h"
#include "tap.h"

static struct ss_site site;
static time_t now = 1800000000;

/* The library's own clock is this one. */
time_t
time(time_t *out)
{
	if (out != NULL)
		*out = now;
	return now;
}

struct asking {
	const char *user, *path, *declared, *name, *arguments, *method;
	size_t room;
	const char *version;
};

static const struct asking usual = { "ada", "a.md", "[echo, {}]", "echo",
	"{\"a\":\"b\"}", "tools/call", 4, "2026-07-28" };

/* One round; state: the text that comes along, "" for none. */
static enum rpc_code
begin(struct mcp *m, struct mcp_round *r, const struct asking *q,
	const char *state)
{
	struct buf text = BUF_INIT(65536);
	enum rpc_code code;

	buf_printf(&text,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\","
		"\"params\":{\"name\":\"%s\",\"arguments\":%s",
		q->method, q->name, q->arguments);
	if (state[0] != '\0')
		buf_printf(&text, ",\"requestState\":\"%s\"", state);
	buf_text(&text, "}}");
	code = rpc_parse(text.data, text.len, &m->rpc, &m->err);
	m->revision = mcp_revision_find(q->version);
	m->client.user = q->user;
	if (code == RPC_OK)
		code = mcp_round_begin(
			m, r, q->path, text_of(q->declared), q->room);
	buf_release(&text);
	return code;
}

/* A question of this kind, with one answer so far: its state. */
static const char *
ask(bool confirming)
{
	static const char *const names[] = { "x" };
	static char state[4096];
	struct buf out = BUF_INIT(65536);
	struct mcp_round r;
	struct mcp m;
	char *at, *end;

	mcp_message_init(&m, &site, &out);
	state[0] = '\0';
	if (begin(&m, &r, &usual, "") == RPC_OK) {
		mcp_round_answer(&r, "drink", "tea");
		mcp_question_begin(&m, "form", ASK_PERSON);
		mcp_string(&m, "Well?");
		mcp_question_form(&m);
		mcp_question_end(&m, ASK_PERSON, names, 1);
		mcp_question_send(&m, &r, confirming);
	}
	at = strstr(out.data, "\"requestState\":\"");
	if (at != NULL) {
		at += strlen("\"requestState\":\"");
		end = strchr(at, '"');
		snprintf(state, sizeof(state), "%.*s", (int)(end - at), at);
	}
	mcp_message_release(&m);
	buf_release(&out);
	return state;
}

/* What becomes of this state in a request like the usual one. */
static enum rpc_code
present(const struct asking *q, const char *state, struct mcp_round *r)
{
	struct buf out = BUF_INIT(65536);
	struct mcp m;
	enum rpc_code code;

	mcp_message_init(&m, &site, &out);
	code = begin(&m, r, q, state);
	mcp_message_release(&m);
	buf_release(&out);
	return code;
}

static void
test_state(void)
{
	const char *state = ask(false);
	struct asking other = usual;
	struct mcp_round r;
	char wrong[4096];
	unsigned taken = 0;

	is_int(RPC_OK, present(&usual, state, &r), "a state comes back");
	ok(!r.confirming && r.answer_count == 1 &&
			strcmp(r.answers[0].name, "drink") == 0 &&
			strcmp(r.answers[0].value, "tea") == 0,
		"with the answers so far");
	ok(present(&usual, ask(true), &r) == RPC_OK && r.confirming,
		"and with what was asked");
	snprintf(wrong, sizeof(wrong), "%s", ask(false));
	ok(strcmp(wrong, ask(false)) != 0, "each is another one");
	other.user = "bob";
	is_int(RPC_BAD_PARAMS, present(&other, state, &r),
		"it is of no use to another user");
	other = usual;
	other.path = "b.md";
	is_int(RPC_BAD_PARAMS, present(&other, state, &r), "on another page");
	other = usual;
	other.declared = "[rm, {}]";
	is_int(RPC_BAD_PARAMS, present(&other, state, &r),
		"when the tool is another one by now");
	other = usual;
	other.name = "cat";
	is_int(RPC_BAD_PARAMS, present(&other, state, &r), "for another tool");
	other = usual;
	other.arguments = "{\"a\":\"c\"}";
	is_int(RPC_BAD_PARAMS, present(&other, state, &r),
		"or for other arguments");
	other = usual;
	other.method = "prompts/get";
	is_int(RPC_BAD_PARAMS, present(&other, state, &r), "or another method");
	other = usual;
	other.room = 0;
	is_int(RPC_BAD_PARAMS, present(&other, state, &r),
		"nor with answers that nobody has asked for");
	other = usual;
	other.version = "2025-11-25";
	is_int(RPC_OK, present(&other, "x", &r),
		"older revisions have no such member");
	other = usual;
	other.arguments = "{},\"inputResponses\":[]";
	is_int(RPC_BAD_PARAMS, present(&other, "", &r),
		"answers that come along are an object");
	snprintf(wrong, sizeof(wrong), "%s0", state);
	taken += present(&usual, wrong, &r) == RPC_OK;
	for (size_t i = 0; i < strlen(state); i++) {
		snprintf(wrong, sizeof(wrong), "%s", state);
		wrong[i] = wrong[i] == '0' ? '1' : '0';
		taken += present(&usual, wrong, &r) == RPC_OK;
		wrong[i] = '\0';
		taken += i > 0 && present(&usual, wrong, &r) == RPC_OK;
	}
	is_int(0, taken, "no byte of it can be changed, added or left out");
	site.seal.key[0] ^= 1;
	is_int(RPC_BAD_PARAMS, present(&usual, state, &r), "or to another key");
	site.seal.key[0] ^= 1;
}

static void
test_age(void)
{
	const time_t start = now;
	const char *state = ask(true);
	struct mcp_round r;

	now = start + 599;
	is_int(RPC_OK, present(&usual, state, &r),
		"it is good for ten minutes");
	now = start + 601;
	is_int(RPC_BAD_PARAMS, present(&usual, state, &r), "and no longer");
	now = start - 10;
	is_int(RPC_BAD_PARAMS, present(&usual, state, &r),
		"nor before it was made");
	/* Over the change of the hour's key. */
	now = start / 3600 * 3600 + 3599;
	state = ask(true);
	now += 300;
	is_int(RPC_OK, present(&usual, state, &r), "keys rotate beneath it");
	now = start;
}

#define RACERS 4
#define ROUNDS 4000

static struct mcp_round
round_of(unsigned i, int64_t expires)
{
	struct mcp_round r = { .expires = expires };
	uint8_t digest[DIGEST_BYTES];

	digest_of((const char *)&i, sizeof(i), digest);
	memcpy(r.signature, digest, sizeof(digest));
	return r;
}

/* All start together on the same agreements, each counts its own runs. */
static void
race(_Atomic unsigned *runs, struct mcp *m)
{
	atomic_fetch_add(&runs[ROUNDS], 1);
	while (atomic_load(&runs[ROUNDS]) < RACERS)
		sched_yield();
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct mcp_round r = round_of(i, now + 600);

		if (mcp_round_use(m, &r))
			atomic_fetch_add(&runs[i], 1);
	}
	_exit(0);
}

static void
test_spending(void)
{
	struct mcp m = { .site = &site };
	struct mcp_round r = round_of(1000000, now + 600);
	unsigned once = 0, more = 0;
	size_t size = (ROUNDS + 1) * sizeof(_Atomic unsigned);
	void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	_Atomic unsigned *runs = shared;

	if (shared == MAP_FAILED)
		return;

	ok(mcp_round_use(&m, &r), "an agreement has a run");
	ok(!mcp_round_use(&m, &r) && !mcp_round_use(&m, &r), "and only one");
	for (int i = 0; i < RACERS; i++)
		if (fork() == 0)
			race(runs, &m);
	while (wait(NULL) > 0)
		;
	for (unsigned i = 0; i < ROUNDS; i++) {
		once += runs[i] == 1;
		more += runs[i] > 1;
	}
	is_int(0, more, "none has two, however many come at once");
	ok(once > ROUNDS / 2, "most have one: %u of %d", once, ROUNDS);
	munmap(shared, size);
	now += 700;
	once = 0;
	for (unsigned i = ROUNDS; i < ROUNDS * 2; i++) {
		r = round_of(i, now + 600);
		once += mcp_round_use(&m, &r);
	}
	is_int(ROUNDS, once, "what has expired is removed");
	for (unsigned i = 0; i < 40000; i++) {
		r = round_of(i * 2 + 1, now + 600);
		once += mcp_round_use(&m, &r);
	}
	ok(once < 20000, "a full table lets nothing run: %u", once);
}

int
main(void)
{
	arena_init(&site.arena, 0);
	site.seal.used = once_open();
	if (site.seal.used == NULL)
		return 1;
	test_state();
	test_age();
	test_spending();
	once_close(site.seal.used);
	arena_release(&site.arena);
	return done();
}
