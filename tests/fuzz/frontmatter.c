/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a page: no crash; what is refused grants nothing and says
 * where and why, also when all refusals are told; what is accepted prints as
 * YAML that means the same tools, and what lint says of it can be shown.
 */
#include "fuzz.h"
#include "page/lint.h"

static void
check_refusal(const struct frontmatter *f, const struct node_place *place,
	const struct ss_error *err)
{
	promise(err->code == SS_BAD_FRONTMATTER);
	promise(place->line > 0 && place->column > 0);
	promise(strncmp(err->message, "line ", 5) == 0);
	promise(strstr(err->message, ": found ") != NULL);
	promise(utf8_valid(err->message, strlen(err->message)));
	promise(utf8_valid(err->hint, strlen(err->hint)));
	promise(f->spec_count == 0 && f->specs == NULL && !f->env.set &&
		f->root == NULL && f->sandbox.timeout_at.line == 0);
}

static void
check_lint(void *ctx, const struct ss_problem *p)
{
	(void)ctx;
	promise(p->line > 0 && p->column > 0);
	promise(p->message[0] != '\0' &&
		utf8_valid(p->message, strlen(p->message)));
	promise(p->hint == NULL || utf8_valid(p->hint, strlen(p->hint)));
	promise(p->level == SS_LEVEL_ERROR || p->name != NULL);
}

static void
check_refused(
	void *ctx, const struct node_place *place, const struct ss_error *err)
{
	(void)ctx;
	promise(err->code == SS_BAD_FRONTMATTER && place->line > 0);
}

/* Reading all finds an error exactly when reading to the first one does. */
static void
check_all(struct arena *arena, struct ss_text text, bool valid)
{
	struct refusals all = { .take = check_refused };
	const struct lint_page page = { .text = text };
	struct frontmatter f;

	promise(frontmatter_check(arena, text, &all, &f, NULL) == SS_OK);
	promise((all.count == 0) == valid);
	promise(allow_read(arena, &f, check_lint, NULL) != NULL);
	lint_frontmatter(&f, &page, check_lint, NULL);
	frontmatter_release(&f);
}

/* One tool, printed, parsed and printed again. */
static void
check_print(struct arena *arena, const struct spec *s)
{
	struct buf once = BUF_INIT(1 << 20), page = BUF_INIT(1 << 21),
		   twice = BUF_INIT(1 << 20);
	struct frontmatter again;
	struct ss_error err;

	if (spec_print(s, &once)) {
		buf_printf(&page, "---\ntools: [%s]\n---\n", once.data);
		promise(frontmatter_parse(arena, page.data, page.len, &again,
				NULL, &err) == SS_OK);
		promise(again.spec_count == 1);
		promise(spec_print(&again.specs[0], &twice));
		promise(strcmp(once.data, twice.data) == 0);
		frontmatter_release(&again);
	}
	buf_release(&once);
	buf_release(&page);
	buf_release(&twice);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct node_place place = { 0, 0 };
	struct frontmatter f;
	struct ss_error err;
	struct arena arena;

	arena_init(&arena, 0);
	error_clear(&err);
	if (frontmatter_parse(&arena, (const char *)data, size, &f, &place,
		    &err) != SS_OK)
		check_refusal(&f, &place, &err);
	promise(f.body <= size);
	for (size_t i = 0; i < f.spec_count && i < 20; i++)
		check_print(&arena, &f.specs[i]);
	frontmatter_release(&f);
	check_all(&arena, (struct ss_text){ (const char *)data, size },
		err.code == SS_OK);
	arena_release(&arena);
	return 0;
}
