/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder security/: limits of ctprof itself. privileges.h drops capabilities, by libcap.
 * parser_sandbox.h confines threads that parse untrusted files, and server_sandbox.h the process
 * that answers network requests, both by libseccomp. memory_limit.h bounds memory. doc/security.md
 * is the threat model.
 */

/*
 * Capabilities (capabilities(7)): which ones a command keeps, which are missing, and when
 * privileges that came from the executable file are in effect.
 *
 * ctprof reads what strangers wrote: file names, ELF files, registers, stacks. Each command
 * therefore drops, before it reads any of that, every capability that it does not need later:
 *
 *	privileges_begin()      in main, before any path of the user is opened
 *	run_start(argv, &run)   a command of the user keeps all privileges
 *	privileges_keep(...)    what all of this command needs
 *	                        load and attach BPF programs, open perf events
 *	privileges_keep(...)    what is still needed to read, name and write
 *	                        start threads, read processes
 *
 * Capabilities belong to threads, so both calls come before the first thread is started. One
 * exception: a thread of capture only loads programs and then ends, with what it had at its start.
 * Threads that parse files of strangers keep less still: see security/parser_sandbox.h.
 *
 * Privileges from exec
 * --------------------
 * With file capabilities or the set-user-ID bit, the user has fewer rights than the process. Such a
 * process has no capability in effect except between privileges_raise() and privileges_lower(),
 * which stand around reads of the kernel and of other processes. Everything else, and every path
 * that the user gave, is opened with the rights of the real user. For root, and for users who have
 * their capabilities by themselves (ambient ones), raising and lowering change nothing.
 */
#ifndef SECURITY_PRIVILEGES_H
#define SECURITY_PRIVILEGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"

enum privilege_use {
	/* Load and attach BPF programs, open perf events for all CPUs, beyond the limits of locked
	 * memory: CAP_BPF, CAP_PERFMON, CAP_IPC_LOCK, CAP_SYS_RESOURCE; where the kernel opens
	 * perf events for nobody else (Debian's), CAP_SYS_ADMIN. */
	PRIVILEGE_LOAD_PROGRAMS = 1 << 0,
	/* Read maps, attach and run loaded programs: CAP_BPF, where the kernel requires it for each
	 * bpf(2) (kernel.unprivileged_bpf_disabled, or before Linux 5.19). */
	PRIVILEGE_READ_MAPS = 1 << 1,
	/* Create maps: CAP_BPF. */
	PRIVILEGE_GROW_MAPS = 1 << 2,
	/* Read /proc and memory of other users' processes, and files through /proc/PID/root:
	 * CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH; files that are gone through /proc/PID/map_files:
	 * CAP_CHECKPOINT_RESTORE. */
	PRIVILEGE_READ_PROCESSES = 1 << 3,
	/* Ask for taskstats: CAP_NET_ADMIN. */
	PRIVILEGE_TASKSTATS = 1 << 4,
	/* See addresses in /proc/kallsyms: CAP_SYSLOG. */
	PRIVILEGE_NAME_KERNEL = 1 << 5,
	/* Write into directories of other users, where root has no right but by CAP_DAC_OVERRIDE,
	 * and replace their files in sticky ones (CAP_FOWNER); with sudo give its user what was
	 * made (CAP_CHOWN). Never kept of privileges from exec. */
	PRIVILEGE_WRITE_FILES = 1 << 6,
	/* Mount the BPF file system, or tracefs for itself: CAP_SYS_ADMIN. */
	PRIVILEGE_MOUNT = 1 << 7,
	/* Read files of other users, as root may: CAP_DAC_READ_SEARCH. */
	PRIVILEGE_READ_FILES = 1 << 8,
	/* Have the kernel count what BPF programs cost (BPF_ENABLE_STATS): CAP_SYS_ADMIN. */
	PRIVILEGE_COUNT_COST = 1 << 9,
	/* Attach probes to files of programs (uprobes): CAP_SYS_ADMIN. perf_event_open(2) of Linux
	 * 6.18 refuses them with CAP_PERFMON alone. */
	PRIVILEGE_PROBE_FILES = 1 << 10,
};

/* The privileges for reading processes, once everything is loaded and attached. */
#define PRIVILEGES_READ (PRIVILEGE_READ_MAPS | PRIVILEGE_READ_PROCESSES | PRIVILEGE_NAME_KERNEL)

/* To open a capturer, and to capture with it from then on. */
#define CAPTURE_OPEN_PRIVILEGES (CAPTURE_READ_PRIVILEGES | PRIVILEGE_LOAD_PROGRAMS)
#define CAPTURE_READ_PRIVILEGES (PRIVILEGES_READ | PRIVILEGE_TASKSTATS | PRIVILEGE_WRITE_FILES)
/* The same for a profile session. */
#define PROFILE_OPEN_PRIVILEGES (PROFILE_READ_PRIVILEGES | PRIVILEGE_LOAD_PROGRAMS)
#define PROFILE_READ_PRIVILEGES (PRIVILEGES_READ | PRIVILEGE_GROW_MAPS | PRIVILEGE_WRITE_FILES)

/* Call this first in main(). For root, it determines the user of sudo (base/handover.h). It
 * restores the real user and group IDs of a set-user-ID program, and puts privileges from exec out
 * of effect; then it reduces the environment to what ctprof needs, since libraries open files that
 * variables name, as ncurses does by TERMINFO. */
struct error *privileges_begin(void) MUST_CHECK;

/* The environment of a command that the user runs: as ctprof was started. */
char **privileges_environment(void);

/* Did the privileges come from the executable file rather than from the user? */
bool privileges_are_from_exec(void);

/*
 * Keep what these uses (bits of enum privilege_use) need of what the calling thread has, and drop
 * the rest for good: from the effective, permitted, inheritable, ambient and bounding sets. No
 * program that is run from then on gets any privilege (PR_SET_NO_NEW_PRIVS): without that, a
 * program that root runs has all of them again. A command that was started before (cli/run.h) keeps
 * its own.
 */
struct error *privileges_keep(unsigned uses) MUST_CHECK;

/* The capabilities of the calling thread alone, after privileges_keep() for all; returns an errno.
 */
int privileges_keep_in_thread(unsigned uses);

/* For commands that only read and write files that the user names: root keeps its rights over
 * files, and privileges from exec are dropped entirely. */
struct error *privileges_keep_for_files(void) MUST_CHECK;

/* Put privileges from exec into effect in the calling thread, and in those that it starts
 * meanwhile. Returns whether this call did so. May be nested. */
bool privileges_raise(void);
/* Undo it: `was_raised` is what privileges_raise() returned. */
void privileges_lower(bool was_raised);
DEFINE_CLEANUP(privileges_lower, bool)

/* Until the end of the block. */
#define PRIVILEGES_RAISED                                                             \
	__attribute__((unused)) _cleanup_(privileges_lower) bool privileges_raised_ = \
		privileges_raise()

/* Has the calling thread all capabilities of the use, so that a denial has another reason? */
bool privileges_are_held(enum privilege_use use);

/* A sentence, without a full stop, that says what is missing to take a profile of everything, and
 * how to get it; the caller frees it. NULL: nothing is missing, or out of memory. */
char *privileges_missing(void);

/* The same for any set of capabilities, a bit each, in a kernel with or without CAP_BPF and
 * CAP_PERFMON (Linux 5.8). */
char *privileges_missing_of(uint64_t capabilities, bool has_bpf);

#endif
