/* SPDX-License-Identifier: BSD-2-Clause */
#include "security/server_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "security/call_filter.h"
#include "security/privileges.h"

/* The default of /proc/sys/kernel/overflowuid, the user "nobody": it owns no files. */
#define NOBODY 65534

/* Calls that are allowed with any arguments. */
static const int allowed[] = {
	/* clang-format off */
	/* memory, which mmap() and mprotect() below cannot make executable */
	SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(futex),
	/* connections */
	SCMP_SYS(accept4), SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(recvfrom), SCMP_SYS(recvmsg),
	SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(shutdown),
	SCMP_SYS(close), SCMP_SYS(getsockname), SCMP_SYS(getpeername), SCMP_SYS(getsockopt),
	/* waiting for them */
	SCMP_SYS(epoll_create1), SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait),
	SCMP_SYS(eventfd2), SCMP_SYS(poll), SCMP_SYS(ppoll),
	/* time */
	SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(clock_nanosleep),
	SCMP_SYS(restart_syscall), SCMP_SYS(getrusage),
	/* this process and its end */
	SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(sched_yield), SCMP_SYS(getrandom),
	SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
	SCMP_SYS(exit), SCMP_SYS(exit_group),
	/* clang-format on */
};

static const int option_levels[] = { SOL_SOCKET, IPPROTO_TCP };
static const int descriptor_controls[] = { F_GETFL, F_SETFL, F_GETFD, F_SETFD };

static int add_rules(scmp_filter_ctx filter, const void *context)
{
	/* abort() sends itself a signal by tgkill(). */
	const int self = getpid();
	int failed = call_filter_allow(filter, allowed, array_length(allowed));

	(void)context;
	if (!failed)
		failed = call_filter_allow_without(filter, SCMP_SYS(mmap), 2, PROT_EXEC);
	if (!failed)
		failed = call_filter_allow_without(filter, SCMP_SYS(mprotect), 2, PROT_EXEC);
	if (!failed)
		failed = call_filter_allow_values(filter, SCMP_SYS(setsockopt), 1, option_levels,
						  array_length(option_levels));
	if (!failed)
		failed = call_filter_allow_values(filter, SCMP_SYS(fcntl), 1, descriptor_controls,
						  array_length(descriptor_controls));
	return failed ? failed : call_filter_allow_values(filter, SCMP_SYS(tgkill), 0, &self, 1);
}

static int compare_descriptors(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void close_between(int first, int last)
{
	/* close_range(2) is as of Linux 5.9. */
	if (first > last || !syscall(SYS_close_range, first, last, 0))
		return;
	if (last > 65535)
		last = 65535;
	for (int fd = first; fd <= last; fd++)
		close(fd);
}

static struct error *keep_descriptors(int *kept, size_t count)
{
	int next = STDERR_FILENO + 1, null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
		return error_system(errno, "/dev/null");
	if (count)
		qsort(kept, count, sizeof(*kept), compare_descriptors);
	for (size_t i = 0; i < count; i++) {
		if (kept[i] < next)
			continue;
		close_between(next, kept[i] - 1);
		next = kept[i] + 1;
	}
	close_between(next, INT_MAX);
	return NULL;
}

/* Drop all capabilities from the bounding set. This needs CAP_SETPCAP, so call it before
 * change_user(). */
static void drop_bounds(void)
{
	for (unsigned long each = 0; prctl(PR_CAPBSET_READ, each, 0, 0, 0) >= 0; each++)
		prctl(PR_CAPBSET_DROP, each, 0, 0, 0);
}

/* Change root to NOBODY. Without CAP_SETUID and CAP_SETGID the process stays root, which is
 * acceptable: without capabilities root has no rights over files of other users, and the filter
 * forbids opening its own. */
static struct error *change_user(void)
{
	if (geteuid() != 0)
		return NULL;
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return errno == EPERM || errno == EINVAL
			       ? NULL
			       : error_system(errno, "cannot change the user of the server");
	return NULL;
}

struct error *server_sandbox_enter(int *kept, size_t count)
{
	const struct rlimit none = { 0 };
	struct error *err;

	/* tzset() reads the time zone's file, which the filter would refuse later. */
	tzset();
	err = keep_descriptors(kept, count);
	drop_bounds();
	if (!err)
		err = change_user();
	if (!err)
		err = privileges_keep(0);
	if (err)
		return err;
	setrlimit(RLIMIT_CORE, &none);
	/* Changing the user clears PR_SET_PDEATHSIG, so set it afterwards. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Processes of the same user can then neither trace this one nor read its memory. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return error_system(errno, "cannot protect the memory of the server");
	if (!call_filter_install(add_rules, NULL))
		return error_create("cannot restrict the system calls of the server");
	return NULL;
}
