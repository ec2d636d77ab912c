/* SPDX-License-Identifier: MIT */
/* The cards of a page's tools: what each runs and what it may touch. */
#include "http/html_writer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "page/example.h"
#include "page/toolcall.h"
#include "page/toolname.h"
#include "wire/escape.h"

/* Limits of the tools that are shown as cards. */
#define CARDS_MAX 500
#define CARDS_BYTES_MAX ((size_t)4 << 20)

/* ------------------------------------------------------------ what it runs */

/* view.js writes its value there, as the tool gets it. */
static void
put_variable(struct html_writer *s, const struct html_tool *t,
	const struct part *p, const struct argument *a)
{
	static const char *const escapes[] = { [ESCAPE_URL] = "url",
		[ESCAPE_SQL] = "sql",
		[ESCAPE_JSON] = "json" };
	char name[TOOLCALL_PROPERTY_MAX + 1];

	toolcall_property(t->spec, a, name);
	html_in(s, "<var data-for=\"", name, "\"");
	if (a->escape != ESCAPE_NONE)
		html_in(s, " data-escape=\"", escapes[a->escape], "\"");
	html_put(s, p->optional ? ">[" : ">");
	html_text(s, name);
	html_put(s, p->optional ? "]</var>" : "</var>");
}

static void
put_part(struct html_writer *s, const struct html_tool *t, const struct part *p)
{
	if (p->kind == PART_TEXT) {
		escape_shell(&s->scratch, p->text.data, p->text.len);
		html_scratch(s);
		return;
	}
	for (size_t i = 0; i < p->piece_count && buf_ok(s->out); i++) {
		const struct piece *piece = &p->pieces[i];

		if (piece->argument != NULL) {
			put_variable(s, t, p, piece->argument);
			continue;
		}
		escape_shell(&s->scratch, piece->text.data, piece->text.len);
		html_scratch(s);
	}
}

/* The command as in a shell, with <var> for each word that is not fixed. */
static void
put_command(struct html_writer *s, const struct html_tool *t)
{
	html_put(s, "<p class=\"line\"><code>");
	for (size_t i = 0; i < t->spec->part_count && buf_ok(s->out); i++) {
		html_put(s, i > 0 ? " " : "");
		put_part(s, t, &t->spec->parts[i]);
	}
	html_put(s, t->spec->locked ? "" : " <var class=\"more\">…</var>");
	html_put(s, "</code></p>\n");
}

static void
put_curl(struct html_writer *s, const struct html_tool *t)
{
	struct buf body = BUF_INIT(s->scratch.max);

	example_call(t->spec, t->name, &body);
	buf_text(&s->scratch, "curl --json ");
	escape_shell(&s->scratch, body.data, body.len);
	buf_char(&s->scratch, ' ');
	escape_shell(&s->scratch, s->page->url, strlen(s->page->url));
	html_put(s,
		"<div class=\"curl\">\n<pre tabindex=\"0\" "
		"aria-label=\"The same with curl\"><code>");
	html_scratch(s);
	html_put(s,
		"</code></pre>\n<button type=\"button\" class=\"copy\" hidden>"
		"Copy</button>\n</div>\n");
	s->out->failed |= body.failed;
	s->out->full |= body.full;
	buf_release(&body);
}

/* ------------------------------------------------------- what it may touch */

static void
put_names(struct html_writer *s, const char *before,
	const struct name_list *list, const char *class)
{
	html_in(s, "<li class=\"", class, "\">");
	html_put(s, before);
	for (size_t i = 0; i < list->count; i++)
		html_in(s, i > 0 ? ", <code>" : " <code>", list->names[i],
			"</code>");
	html_put(s, "</li>\n");
}

static void
put_network(struct html_writer *s, const struct powers *p)
{
	switch (p->asked.network) {
	case NETWORK_UNSET:
	case NETWORK_OFF:
		html_put(s,
			p->http ? "<li class=\"wide\">the public Internet, "
				  "over HTTP</li>\n"
				: "<li>no network</li>\n");
		return;
	case NETWORK_LISTED:
		put_names(s, "network", &p->asked.network_targets, "wide");
		return;
	case NETWORK_ALL:
		html_put(s,
			"<li class=\"wide\">every network that the server "
			"reaches</li>\n");
	}
}

static void
put_files(struct html_writer *s, const struct wants *asked)
{
	if (asked->read.count > 0)
		put_names(s, "reads this site and", &asked->read, "");
	else
		html_put(s, "<li>reads this site</li>\n");
	if (asked->write.count > 0)
		put_names(s, "writes", &asked->write, "wide");
	else if (workspace_is_wanted(&asked->workspace))
		html_put(s, "<li>writes a copy of this site</li>\n");
	else
		html_put(s, "<li>writes nothing</li>\n");
	if (asked->unix_sockets.count > 0)
		put_names(s, "local sockets", &asked->unix_sockets, "wide");
}

static void
put_programs(struct html_writer *s, const struct powers *p)
{
	if (p->any_program)
		html_put(s, "<li class=\"wide\">may start any program</li>\n");
	else if (p->asked.exec.count > 0)
		put_names(s, "may start", &p->asked.exec, "");
	if (p->asked.proc)
		html_put(s, "<li class=\"wide\">sees its processes</li>\n");
}

static void
put_bytes_limit(struct html_writer *s, uint64_t bytes)
{
	if (bytes >= (uint64_t)1 << 20)
		buf_printf(s->out, "<li>%" PRIu64 " MiB of memory</li>\n",
			bytes >> 20);
	else if (bytes > 0)
		buf_printf(s->out, "<li>%" PRIu64 " bytes of memory</li>\n",
			bytes);
}

static void
put_limits(
	struct html_writer *s, const struct spec *spec, const struct powers *p)
{
	const struct wants *asked = &p->asked;

	buf_printf(s->out, "<li>at most %g s</li>\n",
		powers_timeout(p, s->page->timeout));
	put_bytes_limit(s, asked->memory_bytes);
	if (asked->processes > 0)
		buf_printf(s->out, "<li>%" PRIu64 " processes</li>\n",
			asked->processes);
	if (spec->max_running > 0)
		buf_printf(s->out, "<li>%" PRIu64 " at a time</li>\n",
			spec->max_running);
	if (spec->confirm)
		html_put(s, "<li>a person is asked first</li>\n");
	if (spec->job != SPEC_JOB_NEVER)
		html_put(s, "<li>a long call may become a job</li>\n");
}

static void
put_powers(
	struct html_writer *s, const struct spec *spec, const struct powers *p)
{
	html_put(s, "<ul class=\"touch\" aria-label=\"What it may touch\">\n");
	put_network(s, p);
	put_files(s, &p->asked);
	put_programs(s, p);
	put_limits(s, spec, p);
	html_put(s, "</ul>\n");
}

/* ------------------------------------------------------------------- cards */

static void
put_name(struct html_writer *s, const struct spec *spec)
{
	const struct part *first = &spec->parts[0];

	if (spec->title != NULL)
		html_text(s, spec->title);
	else if (spec->name != NULL)
		html_text(s, spec->name);
	else if (first->kind == PART_TEXT)
		html_bytes(s, first->text);
	else
		html_put(s, "any program");
}

/* What calls name it by, where the heading is another word. */
static void
put_label(struct html_writer *s, const struct html_tool *t)
{
	const struct spec *spec = t->spec;

	if (spec->title == NULL && spec->name != NULL &&
		strcmp(spec->name, t->name) == 0)
		return;
	html_in(s, "<p>Name: <code>", t->name, "</code></p>\n");
}

static void
put_card(struct html_writer *s, const struct html_tool *t)
{
	const struct spec *spec = t->spec;

	html_put(s, "<div class=\"tool\" role=\"group\" aria-labelledby=\"");
	html_id(s, t, "n", 0);
	html_put(s, "\">\n<h3 id=\"");
	html_id(s, t, "n", 0);
	html_put(s, "\">");
	put_name(s, spec);
	html_put(s, "</h3>\n");
	put_label(s, t);
	if (spec->description != NULL)
		html_in(s, "<p>", spec->description, "</p>\n");
	put_command(s, t);
	html_form(s, t);
	html_put(s, "<div class=\"result\" aria-live=\"polite\"></div>\n");
	put_powers(s, spec, &s->page->powers[t->index]);
	put_curl(s, t);
	html_put(s, "</div>\n");
}

/* False when the card is longer than *left bytes. */
static bool
fit_card(struct html_writer *s, const struct html_tool *t, size_t *left)
{
	struct buf card = BUF_INIT(*left), *out = s->out;
	bool fits;

	s->out = &card;
	put_card(s, t);
	s->out = out;
	fits = !card.full;
	out->failed |= card.failed;
	if (fits)
		buf_add(out, card.data, card.len);
	*left -= fits ? card.len : 0;
	buf_release(&card);
	return fits;
}

static void
put_left_out(struct html_writer *s, size_t count)
{
	if (count > 0)
		buf_printf(s->out,
			"<p class=\"note\">%zu more tool%s not shown here: "
			"<a href=\"#_source\">the source</a> of the page has "
			"them all.</p>\n",
			count, count == 1 ? " is" : "s are");
}

void
html_tools(struct html_writer *s)
{
	const struct frontmatter *front = s->page->front;
	size_t left = CARDS_BYTES_MAX, shown = 0;
	struct toolcall_label *names;

	if (front->spec_count == 0)
		return;
	names = toolcall_labels(front->specs, front->spec_count, s->page->path);
	s->out->failed |= names == NULL;
	html_put(s,
		"<section class=\"tools\" aria-labelledby=\"_tools\">\n"
		"<h2 id=\"_tools\">Tools</h2>\n"
		"<p class=\"note\" data-still>The forms need script. The command "
		"lines below them do not.</p>\n");
	for (size_t i = 0;
		names != NULL && i < front->spec_count && i < CARDS_MAX; i++)
		shown += fit_card(s,
			&(struct html_tool){
				&front->specs[i], names[i].text, i },
			&left);
	put_left_out(s, front->spec_count - shown);
	html_put(s, "</section>\n");
	free(names);
}
