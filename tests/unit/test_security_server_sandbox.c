/* SPDX-License-Identifier: BSD-2-Clause */
#include "security/server_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/unit.h"

static bool is_refused(long result)
{
	return result < 0 && errno == EPERM;
}

/* Each returns the number of the line that is not as it should be; 0: all is. By bare calls, for
 * functions of the C library and the sanitizer make others beside them. */
#define WANT(condition)                  \
	do {                             \
		if (!(condition))        \
			return __LINE__; \
	} while (0)

static int try_forbidden(int kept)
{
	char *const arguments[] = { (char[]){ "true" }, NULL };

	WANT(is_refused(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY)));
	WANT(is_refused(syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY)));
	WANT(is_refused(syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", NULL, 0)));
	WANT(is_refused(syscall(SYS_socket, AF_INET, SOCK_STREAM, 0)));
	WANT(is_refused(syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, NULL)));
	WANT(is_refused(syscall(SYS_connect, kept, NULL, 0)));
	WANT(is_refused(syscall(SYS_bind, kept, NULL, 0)));
	WANT(is_refused(syscall(SYS_execve, "/bin/true", arguments, NULL)));
	WANT(is_refused(syscall(SYS_ptrace, PTRACE_ATTACH, getppid(), 0, 0)));
	WANT(is_refused(syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0)));
	WANT(is_refused(syscall(SYS_kill, getppid(), 0)));
	WANT(is_refused(syscall(SYS_tgkill, getppid(), getppid(), 0)));
	WANT(is_refused(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)));
	WANT(is_refused(syscall(SYS_clone3, NULL, 0)));
	WANT(is_refused(syscall(SYS_bpf, 0, NULL, 0)));
	WANT(is_refused(syscall(SYS_setsockopt, kept, IPPROTO_IP, 0, NULL, 0)));
	WANT(is_refused(syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)));
	return 0;
}

static int try_allowed(int kept)
{
	char byte;
	void *memory = (void *)syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	WANT(memory != MAP_FAILED);
	WANT(is_refused(syscall(SYS_mprotect, memory, 4096, PROT_READ | PROT_EXEC)));
	WANT(syscall(SYS_epoll_create1, EPOLL_CLOEXEC) >= 0);
	WANT(syscall(SYS_write, kept, "x", 1) == 1);
	WANT(syscall(SYS_read, kept, &byte, 1) == 1 && byte == 'y');
	return 0;
}

/* What the parent reads of the child while that waits for its last byte. */
static void expect_status(pid_t child)
{
	char path[64], line[256];
	FILE *file;
	int seen = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", child);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "Uid:", 4) && geteuid() == 0)
			seen += !strcmp(line, "Uid:\t65534\t65534\t65534\t65534\n");
		if (!strncmp(line, "Groups:", 7) && geteuid() == 0)
			seen += !strcmp(line, "Groups:\t \n");
		if (!strncmp(line, "CapBnd:", 7) && geteuid() == 0)
			seen += !strcmp(line, "CapBnd:\t0000000000000000\n");
		seen += !strcmp(line, "CapPrm:\t0000000000000000\n");
		seen += !strcmp(line, "CapEff:\t0000000000000000\n");
		seen += !strcmp(line, "CapInh:\t0000000000000000\n");
		seen += !strcmp(line, "NoNewPrivs:\t1\n");
		seen += !strcmp(line, "Seccomp:\t2\n");
	}
	fclose(file);
	assert_int_equal(seen, geteuid() == 0 ? 8 : 5);
}

static int confined(int kept, int other)
{
	char byte;
	int wrong;
	struct error *err = server_sandbox_enter(SERVER_ANSWERS, &kept, 1);

	WANT(!err);
	wrong = try_forbidden(kept);
	if (!wrong)
		wrong = try_allowed(kept);
	WANT(syscall(SYS_write, other, "x", 1) < 0 && errno == EBADF);
	WANT(syscall(SYS_write, kept, "z", 1) == 1 && syscall(SYS_read, kept, &byte, 1) == 1);
	return wrong;
}

TEST(nothing_but_its_descriptors)
{
	const uint32_t action = SECCOMP_RET_ERRNO;
	int sockets[2], other, status;
	char bytes[2];
	pid_t child;

	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action))
		skip();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	other = fcntl(sockets[1], F_DUPFD_CLOEXEC, 100);
	assert_true(other >= 0);
	child = fork();
	if (!child)
		syscall(SYS_exit_group, confined(sockets[1], other));
	close(sockets[1]);
	close(other);
	assert_int_equal(write(sockets[0], "y", 1), 1);
	if (read(sockets[0], bytes, 1) == 1 && read(sockets[0], bytes + 1, 1) == 1) {
		assert_memory_equal(bytes, "xz", 2);
		expect_status(child);
		assert_int_equal(write(sockets[0], "!", 1), 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), 0); /* else the line */
	assert_int_equal(status, 0);
	close(sockets[0]);
}

/* What a child may do no more. */
static int parse(int kept)
{
	const struct rlimit more = { RLIM_INFINITY, RLIM_INFINITY };
	struct error *err = server_sandbox_parse();

	WANT(!err);
	WANT(is_refused(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY)));
	WANT(is_refused(syscall(SYS_memfd_create, "x", 0)));
	WANT(is_refused(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)));
	WANT(is_refused(syscall(SYS_recvmsg, kept, NULL, 0)));
	WANT(is_refused(syscall(SYS_sendmsg, kept, NULL, 0)));
	WANT(is_refused(syscall(SYS_wait4, -1, NULL, 0, NULL)));
	WANT(is_refused(syscall(SYS_prlimit64, 0, RLIMIT_CPU, &more, NULL)));
	WANT(is_refused(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, NULL, 8)));
	WANT(is_refused(syscall(SYS_setitimer, ITIMER_REAL, NULL, NULL)));
	WANT(is_refused(syscall(SYS_kill, getppid(), SIGKILL)));
	WANT(syscall(SYS_write, kept, "p", 1) == 1);
	return 0;
}

static int fork_confined(int kept)
{
	struct error *err = server_sandbox_enter(SERVER_FORKS, &kept, 1);
	int status;
	long child;

	WANT(!err);
	WANT(is_refused(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY)));
	WANT(is_refused(syscall(SYS_accept4, kept, NULL, NULL, 0)));
	WANT(is_refused(syscall(SYS_kill, getppid(), 0)));
	WANT(is_refused(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)));
	WANT(is_refused(syscall(SYS_prlimit64, getppid(), RLIMIT_CPU, NULL, NULL)));
	child = fork();
	if (!child)
		syscall(SYS_exit_group, parse(kept));
	WANT(child > 0);
	WANT(syscall(SYS_wait4, child, &status, 0, NULL) == child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : __LINE__;
}

TEST(children_that_parse)
{
	const uint32_t action = SECCOMP_RET_ERRNO;
	int sockets[2], status;
	char byte;
	pid_t child;

	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action))
		skip();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	child = fork();
	if (!child)
		syscall(SYS_exit_group, fork_confined(sockets[1]));
	close(sockets[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), 0); /* else the line */
	assert_int_equal(status, 0);
	assert_int_equal(read(sockets[0], &byte, 1), 1);
	assert_int_equal(byte, 'p');
	close(sockets[0]);
}

/* What a child that sends may do: connect to networks and read files, and start nothing. */
static int send_out(int kept)
{
	struct error *err = server_sandbox_send();
	int fd, net;

	WANT(!err);
	WANT(is_refused(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)));
	WANT(syscall(SYS_clone3, NULL, 0) < 0 && errno == ENOSYS);
	WANT(is_refused(syscall(SYS_execve, "/bin/true", NULL, NULL)));
	WANT(is_refused(syscall(SYS_openat, AT_FDCWD, "/tmp/x", O_WRONLY)));
	WANT(is_refused(syscall(SYS_openat, AT_FDCWD, "/tmp/x", O_RDONLY | O_CREAT, 0600)));
	WANT(is_refused(syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", NULL, 0)));
	WANT(is_refused(syscall(SYS_unlinkat, AT_FDCWD, "/tmp/x", 0)));
	WANT(is_refused(syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0)));
	WANT(is_refused(syscall(SYS_socket, AF_PACKET, SOCK_RAW, 0)));
	WANT(is_refused(syscall(SYS_accept4, kept, NULL, NULL, 0)));
	WANT(is_refused(syscall(SYS_listen, kept, 1)));
	WANT(is_refused(syscall(SYS_kill, getppid(), SIGKILL)));
	WANT(is_refused(syscall(SYS_ptrace, PTRACE_ATTACH, getppid(), 0, 0)));
	WANT(is_refused(syscall(SYS_seccomp, 0, 0, NULL)));
	WANT(is_refused(syscall(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0)));
	WANT(is_refused(syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)));
	fd = (int)syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY);
	WANT(fd >= 0);
	net = (int)syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
	WANT(net >= 0);
	WANT(getuid() != 0 && !syscall(SYS_close, fd) && !syscall(SYS_close, net));
	WANT(syscall(SYS_write, kept, "p", 1) == 1);
	return 0;
}

static int start_sender(int kept)
{
	struct error *err = server_sandbox_enter(SERVER_STARTS, &kept, 1);
	int status;
	long child;

	WANT(!err);
	WANT(is_refused(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)));
	WANT(is_refused(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR)));
	child = fork();
	if (!child)
		syscall(SYS_exit_group, send_out(kept));
	WANT(child > 0);
	/* It does not wait for children: the kernel reaps them. This one is only a test. */
	WANT(is_refused(syscall(SYS_wait4, child, &status, 0, NULL)));
	return 0;
}

TEST(children_that_send)
{
	const uint32_t action = SECCOMP_RET_ERRNO;
	int sockets[2], status;
	char byte = 0;
	pid_t child;

	if (geteuid() || syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action))
		skip();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	child = fork();
	if (!child) {
		const int wrong = start_sender(sockets[1]);

		/* Its end would be that of the child. */
		if (!wrong)
			syscall(SYS_read, sockets[1], &byte, 1);
		syscall(SYS_exit_group, wrong);
	}
	close(sockets[1]);
	assert_int_equal(read(sockets[0], &byte, 1), 1);
	assert_int_equal(byte, 'p');
	assert_int_equal(write(sockets[0], "!", 1), 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), 0); /* else the line */
	assert_int_equal(status, 0);
	close(sockets[0]);
}

UNIT_TESTS(cmocka_unit_test(nothing_but_its_descriptors), cmocka_unit_test(children_that_parse),
	   cmocka_unit_test(children_that_send))
