/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What threads may do that parse files and memory of other processes: ELF files, unwind tables,
 * /proc of strangers, jemalloc's counters.
 *
 * They keep the capabilities to open and read these, and no other (PRIVILEGE_READ_PROCESSES). A
 * seccomp filter allows the system calls that reading takes, and those that write a file of the
 * unwind table cache. It refuses to run programs, create processes, write registers of others, make
 * sockets, call bpf(2), load modules, mount, or change identities. It does not see what a file is
 * opened for by openat2(2), /proc/PID/mem among them. Landlock would, but it also refuses to read
 * processes outside of its domain, which is all that these threads are for.
 *
 * A thread that watches processes for a profile keeps CAP_BPF too, and bpf(2) to create maps and to
 * read and write them: it can neither load nor attach a program.
 *
 * Threads share memory, so this does not confine code that an attacker already runs in one of them.
 * It takes away what such code would use first.
 */
#ifndef SECURITY_PARSER_SANDBOX_H
#define SECURITY_PARSER_SANDBOX_H

/* Confine each thread of thread_start_confined() from now on. Call it before there is one, and
 * after privileges_keep(), for a filter requires PR_SET_NO_NEW_PRIVS. Kernels without seccomp
 * filters go without: the capabilities are dropped all the same. */
void parser_sandbox_begin(void);

#endif
