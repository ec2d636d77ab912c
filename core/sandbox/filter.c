/* SPDX-License-Identifier: MIT */
#include "sandbox/filter.h"

#include <errno.h>
#include <stddef.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "filters.h"
#include "sandbox/filters/target.h"

_Static_assert(FILTERS_ARCH == FILTER_TARGET,
	"filters.h has the system calls of another architecture: see "
	"FILTER_TARGET in the Makefile");
_Static_assert(
	ARRAY_LEN(whole) == FILTER_WHOLE, "one filter for each combination");
_Static_assert(
	ARRAY_LEN(narrow) == FILTER_NARROW, "one filter for each combination");

const struct filter *
filter_whole(unsigned keeps, bool alone, bool mounts)
{
	return &whole[(keeps & (FILTER_NETWORK | FILTER_UNIX)) |
		(alone ? FILTER_ALONE : 0) | (mounts ? FILTER_MOUNTS : 0)];
}

const struct filter *
filter_narrow(unsigned keeps, bool routes)
{
	return &narrow[(keeps & (FILTER_NETWORK | FILTER_UNIX)) |
		(routes ? FILTER_ROUTES : 0)];
}

static int
install(unsigned short count, const struct sock_filter *code)
{
	/* The kernel only reads it. */
	struct sock_fprog program = { count,
		(struct sock_filter *)(uintptr_t)code };

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return errno;
	return 0;
}

int
filter_child_enter(const struct filter *f)
{
	return install(f->count, f->code);
}

#define LOAD(field)                                                            \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define LOAD_ARG0                                                              \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS,                                     \
		offsetof(struct seccomp_data, args[0]) +                       \
			(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0))
#define EQUAL(value, yes, no)                                                  \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, value)

/*
 * BPF by hand, because the process id is known only here, in a child that may
 * not allocate memory.  kill and tgkill have the process in the same argument.
 */
int
filter_child_signals(void)
{
	struct sock_filter code[] = {
		LOAD(nr),
		EQUAL(SYS_kill, 6, 0),
		EQUAL(SYS_tgkill, 5, 0),
		EQUAL(SYS_tkill, 8, 0),
		EQUAL(SYS_rt_sigqueueinfo, 7, 0),
		EQUAL(SYS_rt_tgsigqueueinfo, 6, 0),
		EQUAL(424 /* pidfd_send_signal */, 5, 0),
		ANSWER(SECCOMP_RET_ALLOW),
		LOAD_ARG0,
		EQUAL(0, 1, 0), /* kill(0): its own process group */
		EQUAL((uint32_t)getpid(), 0, 1),
		ANSWER(SECCOMP_RET_ALLOW),
		ANSWER(SECCOMP_RET_ERRNO | EPERM),
	};

	return install((unsigned short)ARRAY_LEN(code), code);
}

#define LOAD_HALF(arg, high)                                                   \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS,                                     \
		offsetof(struct seccomp_data, args[arg]) +                     \
			((__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != (high)    \
					? 4                                    \
					: 0))

#define SETXATTRAT 463    /* Linux 6.13 */
#define REMOVEXATTRAT 466 /* Linux 6.13 */
#define FILE_SETATTR 469  /* Linux 6.17 */
#define FCHMODAT2 452     /* Linux 6.6 */

/*
 * A descriptor that these calls take was opened for more than its path, which
 * Landlock allowed; fchownat(2) and the newer ones take any.
 */
static const uint32_t attribute_calls[] = {
#ifdef SYS_chmod
	SYS_chmod,
	SYS_chown,
	SYS_lchown,
	SYS_utime,
	SYS_utimes,
	SYS_futimesat,
#endif
	SYS_fchmodat,
	FCHMODAT2,
	SYS_fchownat,
	SYS_setxattr,
	SYS_lsetxattr,
	SYS_removexattr,
	SYS_lremovexattr,
	SETXATTRAT,
	REMOVEXATTRAT,
	FILE_SETATTR,
};

int
filter_child_attributes(void)
{
	const struct sock_filter deny = ANSWER(SECCOMP_RET_ERRNO | EPERM);
	/* Without a path it is futimens(3). */
	const struct sock_filter rest[] = { EQUAL(SYS_utimensat, 0, 5),
		LOAD_HALF(1, 0), EQUAL(0, 0, 2), LOAD_HALF(1, 1),
		EQUAL(0, 1, 0), deny, ANSWER(SECCOMP_RET_ALLOW) };
	struct sock_filter code[2 * ARRAY_LEN(attribute_calls) +
		ARRAY_LEN(rest) + 1] = { LOAD(nr) };
	unsigned short count = 1;

	for (size_t i = 0; i < ARRAY_LEN(attribute_calls); i++) {
		code[count++] =
			(struct sock_filter)EQUAL(attribute_calls[i], 0, 1);
		code[count++] = deny;
	}
	for (size_t i = 0; i < ARRAY_LEN(rest); i++)
		code[count++] = rest[i];
	return install(count, code);
}

/* --------------------------------------------- calls that are asked about */

#ifdef SYS_mmap2
#define MMAP SYS_mmap2
#else
#define MMAP SYS_mmap
#endif
#ifdef __x86_64__
#define CLONE_LAST 3 /* clone(2): ctid before tls */
#else
#define CLONE_LAST 4
#endif
#define SHARED_WITHOUT_FILE(answer)                                            \
	EQUAL(MMAP, 0, 5), LOAD_HALF(3, 0),                                    \
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, MAP_TYPE | MAP_ANONYMOUS), \
		EQUAL(MAP_SHARED | MAP_ANONYMOUS, 0, 1), ANSWER(answer),       \
		ANSWER(SECCOMP_RET_ALLOW)

bool
filter_is_mmap(int nr)
{
	return nr == MMAP;
}

static int
install_listener(
	unsigned short count, const struct sock_filter *code, int *listener)
{
	struct sock_fprog program = { count,
		(struct sock_filter *)(uintptr_t)code };

	*listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	return *listener < 0 ? errno : 0;
}

#define JOINED_MAX 1024

/*
 * Both in one, whose answer is that of two: what the first allows goes on to
 * the second, which begins by itself.  The kernel makes and asks one program.
 */
static int
install_joined(const struct filter *first, const struct sock_filter *second,
	size_t count, int *listener)
{
	struct sock_filter all[JOINED_MAX];
	const struct sock_filter allow = ANSWER(SECCOMP_RET_ALLOW);

	if (first->count + count > JOINED_MAX)
		return E2BIG;
	for (unsigned i = 0; i < first->count; i++) {
		all[i] = first->code[i];
		if (all[i].code == allow.code && all[i].k == allow.k)
			all[i] = (struct sock_filter)BPF_STMT(
				BPF_JMP | BPF_JA, first->count - 1u - i);
	}
	memcpy(all + first->count, second, count * sizeof(*second));
	return install_listener(
		(unsigned short)(first->count + count), all, listener);
}

int
filter_child_listen(
	const struct filter *first, const uint64_t *pass, int *listener)
{
	struct sock_filter code[] = {
		LOAD(nr),
		SHARED_WITHOUT_FILE(SECCOMP_RET_USER_NOTIF),
#ifdef SYS_fork
		EQUAL(SYS_fork, 8, 0),
		EQUAL(SYS_vfork, 7, 0),
#endif
		EQUAL(SYS_clone, 1, 0),
		ANSWER(SECCOMP_RET_ALLOW),
		LOAD_HALF(CLONE_LAST, 0),
		EQUAL(pass != NULL ? (uint32_t)*pass : 0, 0, 3),
		LOAD_HALF(CLONE_LAST, 1),
		EQUAL(pass != NULL ? (uint32_t)(*pass >> 32) : 0, 0, 1),
		ANSWER(SECCOMP_RET_ALLOW),
		ANSWER(SECCOMP_RET_USER_NOTIF),
	};
	struct sock_filter memory[] = { LOAD(nr),
		SHARED_WITHOUT_FILE(SECCOMP_RET_USER_NOTIF),
		ANSWER(SECCOMP_RET_ALLOW) };

	if (pass != NULL)
		return install_joined(first, code, ARRAY_LEN(code), listener);
	return install_joined(first, memory, ARRAY_LEN(memory), listener);
}

int
filter_child_unshared(void)
{
	struct sock_filter code[] = { LOAD(nr),
		SHARED_WITHOUT_FILE(SECCOMP_RET_ERRNO | ENOMEM),
		ANSWER(SECCOMP_RET_ALLOW) };

	return install((unsigned short)ARRAY_LEN(code), code);
}
