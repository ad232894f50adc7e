/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The folder unwind/: finds the caller of a frame.
 *
 * walk.h is the only walker, compiled for BPF and for user space. It reads tables of numbers
 * (pool.h): a row has four bytes, an offset in its page of 256 bytes and the number of a rule
 * (rule.h). A file has few distinct rules (libc has 354 in 28,000 rows), so a rule may be large.
 * build.h makes tables from .eh_frame: libdw splits it into entries, which are executed here,
 * because dwarf_cfi_addrframe() runs the program of a function from its start for each row.
 * inferred.h makes tables for code without descriptions: it follows instructions forwards from the
 * starts of functions. (Backwards from a return, a call that does not return would lead into the
 * frame of the next function.) If a return finds anything but the return address on top of the
 * stack, the whole function is rejected. store.h and cache.h keep tables in memory and on disk,
 * with a checksum but no cryptographic hash: only this user can write to the directory, and each
 * number is checked on reading. user_unwind walks in user space.
 *
 * Walks have no tail calls and are verified in parts (global functions, maps instead of the stack),
 * so that Linux 6.1 to 7.2 accept them. Searches have no branches, since the verifier follows each
 * path. A CPU caches the 512 rules that it found last.
 */

/*
 * A rule to find the caller of a frame, for a range of code. Made from call frame information
 * (DWARF 5, 6.4; .eh_frame of the LSB), and used by BPF programs and user space.
 *
 * The canonical frame address (CFA) is the value of the stack pointer before the call. A rule also
 * locates the return address, and the two registers from which CFAs of callers may be computed: the
 * frame pointer, and one more, which functions use that align their stack (rbx in the dynamic
 * linker's resolvers). Other registers are known only in the innermost frame, from the machine.
 */
#ifndef UNWIND_RULE_H
#define UNWIND_RULE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* Registers that a rule may name, by their DWARF numbers: those that the kernel saves. */
#define UNWIND_NUMBERS 32

/* The kind of a rule. */
enum unwind_kind {
	UNWIND_RULE_NONE,    /* nothing: between functions, or code that nothing is said about */
	UNWIND_RULE_OTHER,   /* something that is not understood, or more than fits here */
	UNWIND_RULE_STOP,    /* it has no caller: the return address is undefined */
	UNWIND_RULE_POINTER, /* frame pointers are to be followed: nothing else is said */
	UNWIND_RULE_FRAME,   /* what follows here */
};

/* The register that the CFA is computed from. */
enum unwind_base {
	UNWIND_BASE_SP,
	UNWIND_BASE_BP,
	UNWIND_BASE_BX,
	UNWIND_BASE_OTHER, /* the register `number`, in the innermost frame */
};

/* A location. */
enum unwind_location {
	UNWIND_SAME,    /* in its register, as in the callee */
	UNWIND_AT_CFA,  /* in memory, so far from the CFA */
	UNWIND_AT_SP,   /* in memory, so far from the callee's stack pointer */
	UNWIND_AT_BP,   /* and frame pointer */
	UNWIND_IN_REG,  /* of the return address: the register `number`, in the innermost frame */
	UNWIND_UNKNOWN, /* lost, or not to be had */
};

enum unwind_flag {
	UNWIND_SIGNAL = 1, /* the caller was interrupted, and did not call */
	UNWIND_DEREF = 2,  /* CFA = word at (base + cfa_offset) + addend */
	/* CFA = base + cfa_offset, and 8 more from byte `number` of 16 on: a stub. */
	UNWIND_PLT = 4,
};

/* 16 bytes, of which equal ones are equal rules. Offsets are in bytes. */
struct unwind_rule {
	__u8 kind, flags, base, number;
	__u8 ra, bp, bx; /* enum unwind_location */
	__u8 unused;
	__s32 cfa_offset;
	__s8 ra_offset, bp_offset, bx_offset; /* in words of 8 bytes */
	__s8 addend;                          /* in bytes */
};

#endif
