/* SPDX-License-Identifier: MIT */
/* A buffer: never NULL, NUL-terminated, bounded, a failure sticks. */
#include "base/buf.h"
#include "tap.h"

static void
test_empty(void)
{
	struct buf b = BUF_INIT(8), other = BUF_INIT(8);

	is_str("", b.data, "an unused buffer holds an empty text");
	buf_clear(&b);
	is_str("", b.data, "... also when it is cleared");
	buf_release(&b);
	is_str("", b.data, "... also when it is released");
	ok(buf_add(&b, NULL, 0) && b.len == 0, "nothing can be appended");
	is_str("", b.data, "... and leaves it empty");
	buf_text(&b, "one");
	is_str("", other.data, "buffers do not share what is appended");
	is_str("one", buf_view(&b).data, "the view has the bytes");
	buf_clear(&b);
	is_str("", b.data, "cleared, it is an empty text");
	buf_text(&b, "two");
	is_str("two", b.data, "... that takes bytes again");
	buf_release(&b);
	ok(b.data[0] == '\0' && b.len == 0 && b.cap == 0 && b.max == 8,
		"released, it keeps its ceiling alone");
}

static void
test_ceiling(void)
{
	struct buf b = BUF_INIT(3), none = BUF_INIT(0);

	ok(buf_text(&b, "abc") && buf_ok(&b), "takes what its ceiling allows");
	ok(!buf_char(&b, 'd') && !buf_ok(&b) && b.full, "refuses a byte more");
	is_str("abc", b.data, "... and keeps what it held");
	ok(!buf_text(&b, "") && !b.failed, "a failure sticks");
	buf_clear(&b);
	ok(buf_printf(&b, "%d", 123), "clearing it forgets the failure");
	ok(!buf_printf(&b, "%0200d", 1), "a long text is bounded, too");
	buf_release(&b);
	ok(!buf_char(&none, 'x') && none.full, "a ceiling of 0 takes nothing");
	is_str("", none.data, "... and its text is empty, not NULL");
	buf_release(&none);
}

static void
test_growth(void)
{
	struct buf b = BUF_INIT(100000);
	char *space;
	int wrong = 0;

	for (int i = 0; i < 50000; i++)
		buf_char(&b, (char)('a' + i % 26));
	for (int i = 0; i < 50000; i++)
		wrong += b.data[i] != 'a' + i % 26;
	ok(b.len == 50000 && wrong == 0 && b.data[b.len] == '\0',
		"growth keeps every byte");
	space = buf_reserve(&b, 50000);
	ok(space == b.data + 50000 && b.len == 50000,
		"reserved space begins behind the bytes");
	ok(buf_reserve(&b, 50001) == NULL && b.full, "... up to the ceiling");
	buf_clear(&b);
	buf_number(&b, INT64_MIN);
	is_str("-9223372036854775808", b.data, "the least number is written");
	buf_release(&b);
	ok(buf_printf(&b, "%0300d", 7) && b.len == 300 && b.data[299] == '7',
		"a formatted text longer than the stack's is whole");
	buf_release(&b);
}

int
main(void)
{
	test_empty();
	test_ceiling();
	test_growth();
	return done();
}
