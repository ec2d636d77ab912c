/* SPDX-License-Identifier: MIT */
#include "sandbox/loader.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES_MAX (4 << 20) /* real ones have a quarter of a megabyte */
#define PARTS_MAX 64        /* real ones have about a dozen */

/* On every machine, and no program: executing it fails with EACCES. */
static const char nowhere[] = "/dev/null";

/*
 * Of this architecture only: the filter kills a process that makes a system
 * call of another one (a 32-bit program).
 */
const char *const loader_paths[] = {
#if defined(__x86_64__) && !defined(__ILP32__)
	"/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1",
#elif defined(__i386__)
	"/lib/ld-linux.so.2", "/lib/ld-musl-i386.so.1",
#elif defined(__aarch64__)
	"/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-aarch64.so.1",
#elif defined(__arm__)
	"/lib/ld-linux-armhf.so.3", "/lib/ld-musl-armhf.so.1",
#elif defined(__riscv)
	"/lib/ld-linux-riscv64-lp64d.so.1", "/lib/ld-musl-riscv64.so.1",
#elif defined(__powerpc64__)
	"/lib64/ld64.so.2", "/lib/ld-musl-powerpc64le.so.1",
#elif defined(__s390x__)
	"/lib/ld64.so.1", "/lib/ld-musl-s390x.so.1",
#elif defined(__loongarch__)
	"/lib64/ld-linux-loongarch-lp64d.so.1",
#endif
	NULL
};

/*
 * Makes one entry of its program header table a PT_INTERP: a note (a build id),
 * or else the stack's flags, which the kernel reads in programs only.  The name
 * of the interpreter is appended to the file.
 */
static int
make_unrunnable(int fd, off_t size)
{
	ElfW(Ehdr) head;
	ElfW(Phdr) parts[PARTS_MAX];
	size_t bytes, spare = PARTS_MAX;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head))
		return EIO;
	if (head.e_type != ET_DYN || head.e_phnum > PARTS_MAX ||
		head.e_phentsize != sizeof(parts[0]))
		return ENOEXEC;
	bytes = head.e_phnum * sizeof(parts[0]);
	if (pread(fd, parts, bytes, (off_t)head.e_phoff) != (ssize_t)bytes)
		return EIO;
	for (size_t i = head.e_phnum; i-- > 0;)
		if (parts[i].p_type == PT_NOTE ||
			(parts[i].p_type == PT_GNU_STACK && spare == PARTS_MAX))
			spare = i;
	if (spare == PARTS_MAX)
		return ENOEXEC;
	parts[spare] = (ElfW(Phdr)){ .p_type = PT_INTERP,
		.p_flags = PF_R,
		.p_align = 1,
		.p_offset = (ElfW(Off))size,
		.p_filesz = sizeof(nowhere) };
	if (pwrite(fd, parts, bytes, (off_t)head.e_phoff) != (ssize_t)bytes ||
		pwrite(fd, nowhere, sizeof(nowhere), size) !=
			(ssize_t)sizeof(nowhere))
		return EIO;
	return 0;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OURS ELFDATA2LSB
#else
#define OURS ELFDATA2MSB
#endif
#define OUR_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)

int
loader_copy(int from, int to)
{
	unsigned char id[EI_NIDENT];
	struct stat st;
	off_t at = 0;
	ssize_t n;

	if (fstat(from, &st) < 0)
		return errno;
	if (!S_ISREG(st.st_mode) || st.st_size > BYTES_MAX ||
		st.st_size < (off_t)sizeof(ElfW(Ehdr)))
		return ENOEXEC;
	if (pread(from, id, sizeof(id), 0) != sizeof(id))
		return EIO;
	if (memcmp(id, ELFMAG, SELFMAG) != 0 || id[EI_DATA] != OURS ||
		id[EI_CLASS] != OUR_CLASS)
		return ENOEXEC;
	while (at < st.st_size) {
		n = sendfile(to, from, &at, (size_t)(st.st_size - at));
		if (n <= 0)
			return n < 0 ? errno : EIO;
	}
	return make_unrunnable(to, at);
}
