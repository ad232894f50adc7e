/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/wait.h"

#include <stddef.h>
#include <sys/syscall.h>

const unsigned char wait_kinds[WAIT_SYSCALLS] = {
	[SYS_read] = WAIT_FILE,
	[SYS_write] = WAIT_FILE,
	[SYS_readv] = WAIT_FILE,
	[SYS_writev] = WAIT_FILE,
	[SYS_pread64] = WAIT_FILE,
	[SYS_pwrite64] = WAIT_FILE,
	[SYS_preadv] = WAIT_FILE,
	[SYS_pwritev] = WAIT_FILE,
	[SYS_preadv2] = WAIT_FILE,
	[SYS_pwritev2] = WAIT_FILE,
	[SYS_splice] = WAIT_FILE,
	[SYS_tee] = WAIT_FILE,
	[SYS_vmsplice] = WAIT_FILE,
	[SYS_sendfile] = WAIT_FILE,
	[SYS_openat] = WAIT_OPEN,
	[SYS_openat2] = WAIT_OPEN,
	[SYS_open_by_handle_at] = WAIT_OPEN,
	[SYS_recvfrom] = WAIT_NETWORK,
	[SYS_recvmsg] = WAIT_NETWORK,
	[SYS_recvmmsg] = WAIT_NETWORK,
	[SYS_sendto] = WAIT_NETWORK,
	[SYS_sendmsg] = WAIT_NETWORK,
	[SYS_sendmmsg] = WAIT_NETWORK,
	[SYS_connect] = WAIT_NETWORK,
	[SYS_fsync] = WAIT_DISK,
	[SYS_fdatasync] = WAIT_DISK,
	[SYS_sync] = WAIT_DISK,
	[SYS_syncfs] = WAIT_DISK,
	[SYS_msync] = WAIT_DISK,
	[SYS_sync_file_range] = WAIT_DISK,
	[SYS_nanosleep] = WAIT_TIMER,
	[SYS_clock_nanosleep] = WAIT_TIMER,
	[SYS_wait4] = WAIT_CHILD,
	[SYS_waitid] = WAIT_CHILD,
	[SYS_accept] = WAIT_ACCEPT,
	[SYS_accept4] = WAIT_ACCEPT,
	[SYS_epoll_pwait] = WAIT_EPOLL,
	[SYS_epoll_pwait2] = WAIT_EPOLL,
	[SYS_rt_sigtimedwait] = WAIT_SIGNAL,
	[SYS_rt_sigsuspend] = WAIT_SIGNAL,
	[SYS_ppoll] = WAIT_POLL,
	[SYS_pselect6] = WAIT_SELECT,
#ifdef SYS_epoll_wait /* not where calls are few, as on aarch64 */
	[SYS_epoll_wait] = WAIT_EPOLL,
	[SYS_open] = WAIT_OPEN,
	[SYS_creat] = WAIT_OPEN,
	[SYS_pause] = WAIT_SIGNAL,
	[SYS_poll] = WAIT_POLL,
	[SYS_select] = WAIT_SELECT,
#endif
	[SYS_futex] = WAIT_FUTEX,
	[455] = WAIT_FUTEX_WAIT,  /* SYS_futex_wait, of Linux 6.7; on all machines the same */
	[449] = WAIT_FUTEX_WAITV, /* SYS_futex_waitv, of Linux 5.16 */
	[SYS_flock] = WAIT_LOCK,
	[SYS_fcntl] = WAIT_FCNTL,
};

static const char *const names[WAIT_SYSCALLS] = {
#include <syscalls.h> /* made by the Makefile */
};

const char *wait_syscall_name(int number)
{
	return number >= 0 && number < WAIT_SYSCALLS ? names[number] : NULL;
}
