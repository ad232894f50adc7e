/* SPDX-License-Identifier: BSD-2-Clause */
#include "security/server_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
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

/* Bits of the roles that a call is allowed for. */
#define ANSWERS (1u << SERVER_ANSWERS)
#define FORKS   (1u << SERVER_FORKS)
#define PARSES  (1u << SERVER_PARSES)
#define STARTS  (1u << SERVER_STARTS)
#define SENDS   (1u << SERVER_SENDS)
/* The filter of a parent is in force in its children, too. */
#define SENDING (STARTS | SENDS)
#define ALL     (ANSWERS | FORKS | PARSES | SENDING)

/* Calls that are allowed with any arguments. */
static const struct {
	int call;
	unsigned roles;
} allowed[] = {
	/* clang-format off */
	/* memory, which mmap() and mprotect() below cannot make executable */
	{ SCMP_SYS(brk), ALL }, { SCMP_SYS(munmap), ALL }, { SCMP_SYS(mremap), ALL },
	{ SCMP_SYS(madvise), ALL }, { SCMP_SYS(futex), ALL },
	/* open descriptors */
	{ SCMP_SYS(read), ALL }, { SCMP_SYS(readv), ALL }, { SCMP_SYS(write), ALL },
	{ SCMP_SYS(writev), ALL }, { SCMP_SYS(close), ALL }, { SCMP_SYS(lseek), ALL },
	/* files in memory */
	{ SCMP_SYS(memfd_create), ANSWERS | FORKS }, { SCMP_SYS(ftruncate), ALL },
	{ SCMP_SYS(pread64), ANSWERS | FORKS | SENDING },
	/* connections */
	{ SCMP_SYS(accept4), ANSWERS }, { SCMP_SYS(recvfrom), ANSWERS | SENDING },
	{ SCMP_SYS(recvmsg), ANSWERS | FORKS | SENDING }, { SCMP_SYS(sendto), ANSWERS | SENDING },
	{ SCMP_SYS(sendmsg), ANSWERS | FORKS | SENDING }, { SCMP_SYS(shutdown), ANSWERS | SENDING },
	{ SCMP_SYS(getsockname), ANSWERS | SENDING }, { SCMP_SYS(getpeername), ANSWERS | SENDING },
	{ SCMP_SYS(getsockopt), ANSWERS | SENDING },
	/* to servers, by name, which netlink and several requests at once are for */
	{ SCMP_SYS(connect), SENDING }, { SCMP_SYS(bind), SENDING },
	{ SCMP_SYS(setsockopt), SENDING }, { SCMP_SYS(sendmmsg), SENDING },
	{ SCMP_SYS(socketpair), SENDING }, { SCMP_SYS(uname), SENDING },
	{ SCMP_SYS(pipe), SENDING }, { SCMP_SYS(pipe2), SENDING },
	/* files that are opened for reading: certificates, passwords, names of hosts */
	{ SCMP_SYS(fstat), SENDING }, { SCMP_SYS(stat), SENDING }, { SCMP_SYS(newfstatat), SENDING },
	{ SCMP_SYS(statx), SENDING }, { SCMP_SYS(access), SENDING }, { SCMP_SYS(faccessat), SENDING },
	{ SCMP_SYS(faccessat2), SENDING }, { SCMP_SYS(getdents64), SENDING },
	/* threads */
	{ SCMP_SYS(rseq), SENDING }, { SCMP_SYS(sched_getaffinity), SENDING },
	{ SCMP_SYS(getuid), SENDING }, { SCMP_SYS(geteuid), SENDING },
	{ SCMP_SYS(getgid), SENDING }, { SCMP_SYS(getegid), SENDING },
	/* waiting for them */
	{ SCMP_SYS(epoll_create1), ANSWERS }, { SCMP_SYS(epoll_ctl), ANSWERS },
	{ SCMP_SYS(epoll_wait), ANSWERS }, { SCMP_SYS(epoll_pwait), ANSWERS },
	{ SCMP_SYS(eventfd2), ANSWERS | SENDING }, { SCMP_SYS(poll), ANSWERS | SENDING },
	{ SCMP_SYS(ppoll), ANSWERS | SENDING },
	/* time */
	{ SCMP_SYS(clock_gettime), ALL }, { SCMP_SYS(gettimeofday), ALL },
	{ SCMP_SYS(clock_nanosleep), ANSWERS | SENDING }, { SCMP_SYS(restart_syscall), ALL },
	{ SCMP_SYS(getrusage), ANSWERS },
	/* this process and its end */
	{ SCMP_SYS(getpid), ALL }, { SCMP_SYS(gettid), ALL }, { SCMP_SYS(sched_yield), ALL },
	{ SCMP_SYS(getrandom), ALL }, { SCMP_SYS(exit), ALL }, { SCMP_SYS(exit_group), ALL },
	{ SCMP_SYS(rt_sigreturn), ALL }, { SCMP_SYS(rt_sigaction), ANSWERS | FORKS | SENDING },
	{ SCMP_SYS(rt_sigprocmask), ANSWERS | FORKS | SENDING },
	/* children and their limits: none of these calls adds a right */
	{ SCMP_SYS(wait4), FORKS }, { SCMP_SYS(set_robust_list), FORKS | SENDING },
	{ SCMP_SYS(setitimer), FORKS | SENDING }, { SCMP_SYS(alarm), FORKS | SENDING },
	{ SCMP_SYS(seccomp), FORKS | STARTS },
	{ SCMP_SYS(dup3), FORKS },
	/* clang-format on */
};

static const int option_levels[] = { SOL_SOCKET, IPPROTO_TCP };
static const int descriptor_controls[] = { F_GETFL, F_SETFL, F_GETFD, F_SETFD };
/* The flags that fork() passes to clone(2): none that makes threads or namespaces. */
static const int fork_flags[] = { CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD };
static const int own_process[] = { 0 };
static const int process_controls[] = { PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP,
					PR_SET_NAME };

static int allow_connections(scmp_filter_ctx filter)
{
	return call_filter_allow_values(filter, SCMP_SYS(setsockopt), 1, option_levels,
					array_length(option_levels));
}

static int allow_children(scmp_filter_ctx filter)
{
	int failed = call_filter_allow_values(filter, SCMP_SYS(clone), 0, fork_flags,
					      array_length(fork_flags));

	if (!failed)
		failed = call_filter_allow_values(filter, SCMP_SYS(prlimit64), 0, own_process,
						  array_length(own_process));
	return failed ? failed
		      : call_filter_allow_values(filter, SCMP_SYS(prctl), 0, process_controls,
						 array_length(process_controls));
}

/* Networks; netlink is for the addresses that this host has. Not AF_UNIX: services of this host
 * have sockets of that kind. */
static const int families[] = { AF_INET, AF_INET6, AF_NETLINK };
/* How many bytes there are, and whether calls wait. */
static const int socket_controls[] = { FIONREAD, FIONBIO };

/* Threads, not processes. The C library falls back to clone() where there is no clone3(), whose
 * arguments are in memory. */
static int allow_threads(scmp_filter_ctx filter)
{
	int failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
				      SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));

	return failed ? failed
		      : seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

static int allow_sending(scmp_filter_ctx filter)
{
	int failed = allow_threads(filter);

	if (!failed)
		failed = call_filter_allow_values(filter, SCMP_SYS(socket), 0, families,
						  array_length(families));
	if (!failed)
		failed = call_filter_allow_values(filter, SCMP_SYS(ioctl), 1, socket_controls,
						  array_length(socket_controls));
	if (!failed)
		failed = call_filter_allow_values(filter, SCMP_SYS(prlimit64), 0, own_process,
						  array_length(own_process));
	return failed ? failed
		      : call_filter_allow_without(filter, SCMP_SYS(openat), 2,
						  O_ACCMODE | O_CREAT | O_TRUNC);
}

static int add_rules(scmp_filter_ctx filter, const void *context)
{
	/* abort() sends itself a signal by tgkill(). */
	const int self = getpid();
	const enum server_role role = *(const enum server_role *)context;
	int failed = 0;

	for (size_t i = 0; !failed && i < array_length(allowed); i++)
		if (allowed[i].roles & (1u << role))
			failed = call_filter_allow(filter, &allowed[i].call, 1);
	if (!failed)
		failed = call_filter_allow_without(filter, SCMP_SYS(mmap), 2, PROT_EXEC);
	if (!failed)
		failed = call_filter_allow_without(filter, SCMP_SYS(mprotect), 2, PROT_EXEC);
	if (!failed)
		failed = call_filter_allow_values(filter, SCMP_SYS(fcntl), 1, descriptor_controls,
						  array_length(descriptor_controls));
	if (!failed && role == SERVER_ANSWERS)
		failed = allow_connections(filter);
	if (!failed && (role == SERVER_FORKS || role == SERVER_STARTS))
		failed = allow_children(filter);
	if (!failed && (SENDING & (1u << role)))
		failed = allow_sending(filter);
	return failed ? failed : call_filter_allow_values(filter, SCMP_SYS(tgkill), 0, &self, 1);
}

static struct error *restrict_calls(enum server_role role)
{
	return call_filter_install(add_rules, &role)
		       ? NULL
		       : error_create("cannot restrict the system calls of the server");
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
 * forbids opening its own; for roles that send, writing them. */
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

struct error *server_sandbox_enter(enum server_role role, int *kept, size_t count)
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
	return restrict_calls(role);
}

struct error *server_sandbox_send(void)
{
	/* A child does not inherit it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return restrict_calls(SERVER_SENDS);
}

bool server_sandbox_send_in_thread(void)
{
	const enum server_role role = SERVER_SENDS;

	return call_filter_install(add_rules, &role);
}

struct error *server_sandbox_parse(void)
{
	return restrict_calls(SERVER_PARSES);
}
