/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why the counters of jemalloc could not be read: the tags that `dominant_failure` has in a file,
 * and what to say about them.
 *
 * FAILURE(id, tag, does it count as a failure?, prose). What happens all the time on a healthy host
 * does not count. The tags that ktstr has keep their names.
 */
#ifndef SNAPSHOT_PROBE_H
#define SNAPSHOT_PROBE_H

#include "base/text.h"

#define PROBE_FAILURES(FAILURE)                                                                    \
	FAILURE(NOT_FOUND, "jemalloc-not-found", false, "no process uses jemalloc")                \
	FAILURE(READLINK, "readlink-failure", false, "denied: needs CAP_SYS_PTRACE")               \
	FAILURE(IN_DSO, "jemalloc-in-dso", true,                                                   \
		"jemalloc is in a shared library that keeps its data in storage that is not "      \
		"static")                                                                          \
	FAILURE(ARCH_MISMATCH, "arch-mismatch", true,                                              \
		"jemalloc is in a program for another kind of processor")                          \
	FAILURE(NO_OFFSETS, "no-field-offsets", true,                                              \
		"neither debug information nor the code of jemalloc tells where its counters are") \
	FAILURE(NO_BLOCK, "no-tls-offset", true,                                                   \
		"neither symbols nor the code of jemalloc tell where a thread has its data")       \
	FAILURE(AMBIGUOUS, "ambiguous", true, "there are two answers to where its counters are")   \
	FAILURE(TLS_ARITHMETIC, "tls-arithmetic", true,                                            \
		"the place of the counters came out beyond what belongs to the thread")            \
	FAILURE(PID_MISSING, "pid-missing", true, "the process ended while it was read")           \
	FAILURE(MAPS_READ, "maps-read-failure", true, "/proc/<pid>/maps could not be read")        \
	FAILURE(FILE_READ, "file-read-failure", true, "the file with jemalloc could not be read")  \
	FAILURE(NO_THREAD_POINTER, "no-thread-pointer", true,                                      \
		"where threads have their data is known through BPF, which needs root, or with "   \
		"--allow-ptrace")                                                                  \
	FAILURE(PTRACE_SEIZE, "ptrace-seize", true,                                                \
		"ptrace was denied: needs CAP_SYS_PTRACE, and that no debugger has the thread")    \
	FAILURE(PTRACE_INTERRUPT, "ptrace-interrupt", true, "ptrace could not stop the thread")    \
	FAILURE(WAITPID, "waitpid", true, "the thread did not stop within 250 ms")                 \
	FAILURE(GET_REGSET, "get-regset", true, "ptrace could not read the registers")             \
	FAILURE(PROCESS_VM_READV, "process-vm-readv", true,                                        \
		"the memory of the process could not be read: needs CAP_SYS_PTRACE")               \
	FAILURE(CROSS_CHECK, "cross-check", true,                                                  \
		"what was read cannot be the counters: more was freed than allocated")             \
	FAILURE(DEBUG_REFUSED, "debug-refused", true,                                              \
		"debug information that is too large or too intricate to be read, and code that "  \
		"does not tell")                                                                   \
	FAILURE(TIMED_OUT, "timed-out", true,                                                      \
		"there was no time for it, or a process or a file of it hangs")

enum probe_failure {
	PROBE_DONE,
#define FAILURE(id, tag, counts, prose) PROBE_##id,
	PROBE_FAILURES(FAILURE)
#undef FAILURE
		PROBE_FAILURE_COUNT
};

struct probe_failure_info {
	const char *tag, *prose;
	bool counts;
};

/* By enum probe_failure; the first, of no failure, is empty. */
extern const struct probe_failure_info probe_failures[PROBE_FAILURE_COUNT];

/* The prose of a tag, which a file may have from elsewhere; NULL: we do not know it. */
const char *probe_failure_prose(struct text tag);

#endif
