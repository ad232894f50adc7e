/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Records that BPF programs of a metric share with the commands that create and read it.
 *
 * Each metric has its own programs and maps. Its configuration is read-only data, so that the
 * verifier removes unused code, and later commands can read it.
 *
 * Histograms are one value for each CPU (`cells`), or one for each group (`groups`). Where starts
 * are kept:
 *
 *	key cpu           a place for each CPU (`here`)
 *	key task, arg     `inflight`: sets of four, found by a tag
 *
 * The tag of a call is where it is on the stack, which nothing else has while it lasts: so each end
 * finds its own start, after a sleep, on another CPU, and however deeply calls nest. That of a pair
 * is the thread, or the argument. Stacks of Go move: there it is the goroutine, and how far the
 * call is below the upper end of its stack, which stays the same.
 *
 * The programs run at any probe, even where locks of the scheduler or of the allocator are held. So
 * they allocate nothing: all maps are preallocated. They take no lock either, except that of the
 * map `group_numbers`, for the first value of a group.
 */
#ifndef KSTATS_BPF_RECORD_H
#define KSTATS_BPF_RECORD_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "histogram/bucket.h"
#include "kstats/enums.h"
#include "kstats/recorded_time.h"

#define KSTATS_MAGIC      0x3773746174736b63ull /* "ckstats7": the form of all that is here */
#define KSTATS_TEXT_MAX   1024
#define KSTATS_TICK_NS    10000000 /* of /proc (USER_HZ) */
#define KSTATS_CPUS_MAX   4096
#define KSTATS_GROUPS_MAX 1024

/* The cookie of a probe at a jump back to the start of a function: see bpf_starts.bpf.h. */
#define KSTATS_COOKIE_RESTART 0xffffffff

/* A metric of how long something takes has a second histogram, of the time between. */
enum kstats_which { KSTATS_VALUES, KSTATS_GAPS, KSTATS_WHICH_COUNT };

/* The numbers of lost events, by enum kstats_loss; the kernel counts missed and recursive ones. The
 * element after the last is not a loss: ends of intervals that were in progress when recording
 * began. */
#define KSTATS_LOST_EARLIER KSTATS_LOSS_COUNT
#define KSTATS_LOST_COUNT   8 /* room for one more */

/* The configuration of an event for its program. */
struct kstats_site {
	__s32 syscall;     /* only this system call; -1: all, or the location is its function */
	__u32 is_exit;     /* of it */
	__u32 has_syscall; /* arguments are those of a system call, in registers behind the first */
	__u32 argument;    /* from 1; 0: none is wanted */
	__u32 is_task;     /* ... and it is a struct task_struct * */
	__u32 is_usdt;     /* ... and its place is that of the location: struct kstats_argument */
	__u32 forget;      /* an argument: drop the start of this object; 0: none */
	__u32 return_bits; /* of what is returned: 32 with its sign, or 64 */
};

struct kstats_config {
	__u64 magic, made_ns; /* since the epoch */
	__u32 frac_bits, slots;
	__u32 key, by;
	__u32 has_frame; /* from a call to its return, told by where it is on the stack */
	__u32 has_gaps;
	__u32 has_ends;     /* ends are kept, to recognise calls in progress at the start */
	__u32 is_user;      /* the stack is that of user space */
	__u32 is_goroutine; /* starts are those of goroutines of Go, on their stacks */
	__u32 is_preempted; /* other threads may run the same program on this CPU meanwhile */
	__s32 frame_shift;  /* how far the stack is above where it was, at the return */
	__u32 set_bits;     /* there are 2^set_bits sets of starts, and as many of ends */
	__u32 group_room;   /* for values, and again as many for gaps */
	struct kstats_site start, end;
	/* Record only these; 0: all. */
	__u32 has_filter, has_cpus, has_comm, tgid;
	__u64 tgid_born;   /* in ticks, as /proc shows it; 0: whenever it was */
	__u64 boot_offset; /* what /proc adds to start times, in ns */
	__u64 cgroup;
	char comm[16];
	__u64 cpus[KSTATS_CPUS_MAX / 64];
	/* For readers. */
	char name[64];
	char start_text[KSTATS_TEXT_MAX], end_text[KSTATS_TEXT_MAX], how[64];
};

/* Where one location of a USDT probe has the argument (struct usdt_argument). The cookie of the
 * probe is its number. */
struct kstats_argument {
	__s64 offset;
	__u16 base, index; /* offsets into struct pt_regs, or KSTATS_NO_REGISTER */
	__u8 shift;
	__u8 bytes; /* 1, 2, 4 or 8 */
	__u8 is_signed;
	__u8 is_memory;
};

#define KSTATS_NO_REGISTER 0xffff

/* The running state. */
struct kstats_switch {
	__u32 is_active;
	__u32 is_held; /* being emptied: values that come now are dropped, too */
	__u64 groups;  /* in use */
	/* The kernel's counts of missed and recursive calls when it was last emptied. */
	__u64 missed, recursive;
	struct kstats_recorded_time recorded; /* of the commands; programs do not look at it */
};

struct kstats_control {
	__u32 is_running; /* one of the switches is active */
	__u32 pid_level;  /* the level of the PID namespace of process numbers */
	__u64 since;      /* CLOCK_MONOTONIC: when that began; a start that is older has no end */
	__u64 overhead_ns;
	__u32 has_missed; /* the kernel tells how often it did not call a kprobe of a link */
	struct kstats_switch which[KSTATS_WHICH_COUNT];
};

struct kstats_pair {
	__u64 count, sum;
};

/* `slots` of it. */
struct kstats_cell {
	__u64 lost[KSTATS_LOST_COUNT];
	struct kstats_pair slots[];
};

/* The owner, before the same fields. */
struct kstats_group {
	__u64 id, born; /* as in the key */
	char label[16];
	struct kstats_pair slots[];
};

struct kstats_group_key {
	__u64 id;
	/* CLOCK_BOOTTIME: when the process or thread was started, since its number may be given
	 * again; 0: of other groups. */
	__u64 born;
	__u64 which;
};

/* With CPUs as keys. */
struct kstats_here {
	__u64 start, ended, gap;
};

#define KSTATS_WAYS 4

struct kstats_start {
	__u64 tag; /* 0: free */
	__u64 ns;
};

/* A set, in one cache line. */
struct kstats_starts {
	struct kstats_start ways[KSTATS_WAYS];
};

/* When a thread, or a goroutine, was last through. */
struct kstats_ended {
	__u64 owner, born; /* struct owner */
	__u64 ns;
	__u64 gap; /* to the call that goes on */
	__u64 top; /* of stacks: where the outermost call was that has ended since recording began
		    */
};

struct kstats_last_ends {
	struct kstats_ended ways[KSTATS_WAYS];
};

#endif
