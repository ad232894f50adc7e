/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Confines threads that parse files and memory of other processes: ELF files, unwind tables, /proc
 * of strangers, jemalloc's counters; and those that parse answers of servers.
 *
 * Those of files keep the capabilities to open and read these, and no other
 * (PRIVILEGE_READ_PROCESSES). A seccomp filter allows the system calls for reading, and for writing
 * a file of the unwind table cache. It forbids to run programs, create processes, write registers
 * of others, make sockets, call bpf(2), load modules, mount, or change identities. It cannot check
 * the flags of openat2(2), so it does not prevent writing to /proc/PID/mem, for example. Landlock
 * could, but it also forbids reading processes outside of its domain, which these threads are for.
 *
 * A thread that watches processes for a profile also keeps CAP_BPF, and bpf(2) to create, read and
 * write maps: it can neither load nor attach a program.
 *
 * A thread that asks servers has no capabilities, and the system calls of SERVER_SENDS
 * (security/server_sandbox.h): it may connect, and open files for reading alone.
 *
 * Threads share memory, so this does not confine code that an attacker already runs in one of them.
 * It removes what such code would use first.
 */
#ifndef SECURITY_PARSER_SANDBOX_H
#define SECURITY_PARSER_SANDBOX_H

/* Confine each thread of thread_start_confined() from now on. Call it before there is one, and
 * after privileges_keep(), for a filter requires PR_SET_NO_NEW_PRIVS. Kernels without seccomp
 * filters go without: the capabilities are dropped all the same. */
void parser_sandbox_begin(void);

#endif
