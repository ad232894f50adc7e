/* SPDX-License-Identifier: BSD-2-Clause */
#include "security/parser_sandbox.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/thread.h"
#include "os/map_query.h"
#include "security/call_filter.h"
#include "security/privileges.h"
#include "security/server_sandbox.h"

/* Calls that are allowed with any arguments. */
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

/* Signals to this process, and its own limits. */
static int allow_own(scmp_filter_ctx filter)
{
	const int self[] = { 0, getpid() };
	int failed = call_filter_allow_values(filter, SCMP_SYS(tgkill), 0, &self[1], 1);

	return failed ? failed
		      : call_filter_allow_values(filter, SCMP_SYS(prlimit64), 0, self,
						 array_length(self));
}

static int allow_watching(scmp_filter_ctx filter)
{
	int failed =
		call_filter_allow_values(filter, SCMP_SYS(bpf), 0, of_maps, array_length(of_maps));

	if (!failed)
		failed = call_filter_allow(filter, confines, array_length(confines));
	return failed ? failed
		      : call_filter_allow_values(filter, SCMP_SYS(prctl), 0, of_filters,
						 array_length(of_filters));
}

static int add_rules(scmp_filter_ctx filter, const void *kind)
{
	int failed = allow_threads(filter);

	if (!failed)
		failed = call_filter_allow(filter, allowed, array_length(allowed));
	if (!failed)
		failed = allow_own(filter);
	if (!failed)
		failed = call_filter_allow_values(filter, SCMP_SYS(ioctl), 1, controls,
						  array_length(controls));
	if (!failed)
		failed = call_filter_allow_values(filter, SCMP_SYS(ptrace), 0, traces,
						  array_length(traces));
	if (!failed && *(const enum thread_kind *)kind == THREAD_WATCHER)
		failed = allow_watching(filter);
	return failed;
}

static bool restrict_calls(enum thread_kind kind)
{
	return kind == THREAD_CLIENT ? server_sandbox_send_in_thread()
				     : call_filter_install(add_rules, &kind);
}

/* In the new thread, which must not go on with more than this. */
static void confine(enum thread_kind kind)
{
	static const unsigned uses[] = {
		[THREAD_PARSER] = PRIVILEGE_READ_PROCESSES,
		[THREAD_WATCHER] = PRIVILEGE_READ_PROCESSES | PRIVILEGE_GROW_MAPS,
		[THREAD_CLIENT] = 0,
	};

	static const char reason[] = "ctprof: cannot restrict system calls or capabilities of a "
				     "parser thread\n";

	if (privileges_keep_in_thread(uses[kind]) || !restrict_calls(kind)) {
		(void)!write(STDERR_FILENO, reason, sizeof(reason) - 1);
		abort();
	}
}

void parser_sandbox_begin(void)
{
	thread_confine(confine);
}
