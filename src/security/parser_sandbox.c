/* SPDX-License-Identifier: BSD-2-Clause */
#include "security/parser_sandbox.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/thread.h"
#include "os/map_query.h"
#include "security/privileges.h"

/* Whatever their arguments. Numbers that this machine does not have are left out. */
static const int allowed[] = {
	/* clang-format off */
	/* memory and threads */
	SCMP_SYS(brk), SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(mprotect),
	SCMP_SYS(madvise), SCMP_SYS(futex), SCMP_SYS(set_robust_list), SCMP_SYS(rseq),
	SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity), SCMP_SYS(exit), SCMP_SYS(exit_group),
	SCMP_SYS(gettid), SCMP_SYS(getpid), SCMP_SYS(geteuid), SCMP_SYS(getuid),
	SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigreturn),
	SCMP_SYS(restart_syscall), SCMP_SYS(getrandom), SCMP_SYS(sysinfo), SCMP_SYS(uname),
	SCMP_SYS(getrlimit),
	/* time */
	SCMP_SYS(clock_gettime), SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep),
	SCMP_SYS(gettimeofday),
	/* files; seccomp cannot inspect the flags of openat2(), which keeps paths of a process
	 * within the root directory of that process (elf/rooted.h) */
	SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(openat2), SCMP_SYS(read), SCMP_SYS(readv),
	SCMP_SYS(pread64), SCMP_SYS(lseek), SCMP_SYS(close), SCMP_SYS(fstat), SCMP_SYS(stat),
	SCMP_SYS(lstat), SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(statfs),
	SCMP_SYS(fstatfs), SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2),
	SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(getcwd), SCMP_SYS(getdents64),
	SCMP_SYS(fcntl), SCMP_SYS(dup), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(fadvise64),
	/* memory of others */
	SCMP_SYS(process_vm_readv), SCMP_SYS(wait4),
	/* a file of the cache: nameless until it is whole */
	SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(pwrite64), SCMP_SYS(ftruncate),
	SCMP_SYS(fdatasync), SCMP_SYS(fchmod), SCMP_SYS(linkat), SCMP_SYS(renameat),
	SCMP_SYS(unlinkat), SCMP_SYS(flock), SCMP_SYS(utimensat), SCMP_SYS(memfd_create),
	SCMP_SYS(sendfile),
	/* clang-format on */
};

/* Requests that stop a thread, read its registers and resume it: for capture --allow-ptrace. */
static const int traces[] = { PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_GETREGSET, PTRACE_DETACH };

/* A thread, not a process. The C library falls back to clone() where there is no clone3(), whose
 * arguments are in memory, too. */
static int allow_threads(scmp_filter_ctx filter)
{
	int failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
				      SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));

	return failed ? failed
		      : seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

/* Calls of a watcher: for maps of BPF programs, and to confine the parsers that it starts. */
static const int of_maps[] = {
	BPF_MAP_CREATE,         BPF_MAP_LOOKUP_ELEM,
	BPF_MAP_UPDATE_ELEM,    BPF_MAP_DELETE_ELEM,
	BPF_MAP_GET_NEXT_KEY,   BPF_MAP_LOOKUP_BATCH,
	BPF_MAP_UPDATE_BATCH,   BPF_MAP_DELETE_BATCH,
	BPF_OBJ_GET_INFO_BY_FD, BPF_MAP_LOOKUP_AND_DELETE_ELEM,
};

static const int confines[] = { SCMP_SYS(capget), SCMP_SYS(capset), SCMP_SYS(seccomp) };
static const int of_filters[] = { PR_SET_NO_NEW_PRIVS, PR_GET_SECCOMP, PR_SET_SECCOMP };

/* Is the descriptor a terminal, and which mapping has an address: no other ioctl(2), for a terminal
 * can be made to type (TIOCSTI). */
static const int controls[] = { TCGETS, (int)MAP_QUERY_REQUEST };

/* Calls, whatever their arguments. */
static int allow(scmp_filter_ctx filter, const int *calls, size_t count)
{
	int failed = 0;

	for (size_t i = 0; !failed && i < count; i++)
		failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	return failed;
}

/* A call with one of these values as the low 32 bits of an argument, which are all that the kernel
 * looks at there. */
static int allow_values(scmp_filter_ctx filter, int call, unsigned argument, const int *values,
			size_t count)
{
	int failed = 0;

	for (size_t i = 0; !failed && i < count; i++) {
		const struct scmp_arg_cmp value = {
			.arg = argument,
			.op = SCMP_CMP_MASKED_EQ,
			.datum_a = UINT32_MAX,
			.datum_b = (uint32_t)values[i],
		};

		failed = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &value);
	}
	return failed;
}

/* Signals to this process, and its own limits. */
static int allow_own(scmp_filter_ctx filter)
{
	const int self[] = { 0, getpid() };
	int failed = allow_values(filter, SCMP_SYS(tgkill), 0, &self[1], 1);

	return failed ? failed
		      : allow_values(filter, SCMP_SYS(prlimit64), 0, self, array_length(self));
}

static int allow_watching(scmp_filter_ctx filter)
{
	int failed = allow_values(filter, SCMP_SYS(bpf), 0, of_maps, array_length(of_maps));

	if (!failed)
		failed = allow(filter, confines, array_length(confines));
	return failed ? failed
		      : allow_values(filter, SCMP_SYS(prctl), 0, of_filters,
				     array_length(of_filters));
}

static int add_rules(scmp_filter_ctx filter, enum thread_kind kind)
{
	int failed = allow_threads(filter);

	if (!failed)
		failed = allow(filter, allowed, array_length(allowed));
	if (!failed)
		failed = allow_own(filter);
	if (!failed)
		failed = allow_values(filter, SCMP_SYS(ioctl), 1, controls, array_length(controls));
	if (!failed)
		failed = allow_values(filter, SCMP_SYS(ptrace), 0, traces, array_length(traces));
	if (!failed && kind == THREAD_WATCHER)
		failed = allow_watching(filter);
	return failed;
}

/* Can this kernel filter system calls, and is that allowed here (Linux 4.14)? */
static bool has_filters(void)
{
	const uint32_t action = SECCOMP_RET_ERRNO;

	return !syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);
}

/* False: the kernel has filters, and did not take this one. */
static bool install_filter(enum thread_kind kind)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	bool is_installed;

	if (!filter)
		return false;
	/* Use a binary tree; and skip the mitigation of speculative store bypass, which is for
	 * untrusted code and slows down everything (SECCOMP_FILTER_FLAG_SPEC_ALLOW). */
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
	is_installed = !add_rules(filter, kind) && !seccomp_load(filter);
	seccomp_release(filter);
	return is_installed || !has_filters();
}

/* In the new thread, which must not go on with more than this. */
static void confine(enum thread_kind kind)
{
	const unsigned uses = kind == THREAD_WATCHER
				      ? PRIVILEGE_READ_PROCESSES | PRIVILEGE_GROW_MAPS
				      : PRIVILEGE_READ_PROCESSES;

	static const char reason[] = "ctprof: cannot restrict system calls or capabilities of a "
				     "parser thread\n";

	if (privileges_keep_in_thread(uses) || !install_filter(kind)) {
		(void)!write(STDERR_FILENO, reason, sizeof(reason) - 1);
		abort();
	}
}

void parser_sandbox_begin(void)
{
	thread_confine(confine);
}
