/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same walk by elfutils (libdwfl): its own reading of files, of call frame information and of
 * registers and memory of a thread that is stopped.
 */
#ifndef TESTS_UNWINDING_PEER_H
#define TESTS_UNWINDING_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct peer;

struct peer_walk {
	uint64_t *frames; /* addresses, innermost first: the caller's, with room for `most` */
	bool *exact;      /* the address was not called from */
	size_t most, count;
	bool was_cut;      /* there are more than `most` */
	const char *error; /* what it says when it fails; NULL: it came to an end */
};

/* NULL: it cannot be read. */
struct peer *peer_open(pid_t pid);

void peer_walk(struct peer *peer, pid_t tid, struct peer_walk *walk);

/* Does any file say how the caller of that code is found? */
bool peer_describes(struct peer *peer, uint64_t address, bool is_exact);

/*
 * Is rbx what the last frame is counted from, and has a frame within that says nothing of rbx? Then
 * elfutils has lost it: of the registers that a function keeps for its caller, its description of
 * the ABI has number 0, rax, where rbx is number 3 (x86_64_abi_cfi() in backends/x86_64_cfi.c,
 * 0.188).
 */
bool peer_loses_rbx(struct peer *peer, const struct peer_walk *walk);

/* The function's name; NULL: it has none. `ret_module` is the file. */
const char *peer_name(struct peer *peer, uint64_t address, bool is_exact, const char **ret_module);

/* Takes NULL. */
void peer_close(struct peer *peer);

#endif
