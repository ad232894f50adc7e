/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The message that the collector sends to the web process for each interval: a header and the
 * tables that follow it. Both are one program on one host, so structs are sent as they are.
 *
 *	struct tick_buffer buffer = { 0 };
 *	err = tick_pack(profile, &host, &kstats, &buffer);      in the collector
 *	write(pipe, buffer.bytes, buffer.length);
 *
 *	err = tick_unpack(bytes, length, &tick);                in the web process
 *
 * The unpacked tick points into `bytes`.
 *
 * Each tick stands for itself: the collector remembers nothing of what it has sent, and the web
 * process may begin with any tick. Numbers are those of the tables in the same tick; TICK_NONE is
 * none.
 */
#ifndef SERVE_TICK_H
#define SERVE_TICK_H

#include "kstats/watch.h"
#include "profile/profile.h"
#include "sched/profile_record.h"

#define TICK_NONE UINT32_MAX

/* The longest tick that the web process takes: a million samples with stacks of their own. */
#define TICK_BYTES_MAX ((size_t)512 << 20)

/* PRESSURE(id, name, resource of enum host_resource (os/host_load.h), its label in /metrics as PSI
 * spells it, whether it is the line "full") */
#define TICK_PRESSURES(PRESSURE)                                  \
	PRESSURE(CPU_SOME, "cpu_some", CPU, "cpu", 0)             \
	PRESSURE(MEMORY_SOME, "memory_some", MEMORY, "memory", 0) \
	PRESSURE(MEMORY_FULL, "memory_full", MEMORY, "memory", 1) \
	PRESSURE(IO_SOME, "io_some", IO, "io", 0)                 \
	PRESSURE(IO_FULL, "io_full", IO, "io", 1)                 \
	PRESSURE(IRQ_FULL, "irq_full", IRQ, "irq", 1)

enum tick_pressure {
#define PRESSURE_ENUM(id, ...) TICK_PRESSURE_##id,
	TICK_PRESSURES(PRESSURE_ENUM)
#undef PRESSURE_ENUM
		TICK_PRESSURES_COUNT
};

/* A value that was not measured. */
#define TICK_UNMEASURED UINT64_MAX

/* The host in the interval. */
struct tick_host {
	uint64_t cpu_ns;                            /* all CPUs together were busy */
	uint64_t memory_total, memory_available;    /* bytes, at its end */
	uint64_t pressure_ns[TICK_PRESSURES_COUNT]; /* stalled */
	uint64_t load_hundredths;                   /* of one minute */
};

struct tick_frame {
	uint32_t name, module, source; /* of names; TICK_NONE */
	uint32_t line;
	uint8_t kind, inlined;
	uint8_t unused[2];
};

struct tick_thread {
	uint32_t tid, tgid, uid;
	uint32_t name, process, cgroup; /* of names; cgroup may be TICK_NONE */
	uint32_t is_kernel;
	uint32_t unused;
	uint64_t on_cpu_ns; /* exact */
};

struct tick_waker {
	uint32_t tid, name;
};

/* A histogram of the latencies of a cgroup, whose slots follow those of the one before. */
struct tick_latency {
	uint32_t cgroup; /* of names; TICK_NONE: all others */
	uint32_t kind;   /* enum latency_kind */
	uint32_t slots;  /* that are not 0 */
	uint32_t unused;
	uint64_t sum; /* ns */
};

struct tick_slot {
	uint32_t slot; /* of LATENCY_FRAC_BITS */
	uint32_t unused;
	uint64_t count;
};

/* The strings of a metric of kstats, and their members in a table: WORD(name, member). */
#define TICK_KSTATS_WORDS(WORD)                             \
	WORD(name, name)                                    \
	WORD(unit, unit)                                    \
	WORD(recorder, recorder)                            \
	WORD(host, host)                                    \
	WORD(start, start)                                  \
	WORD(end, end)                                      \
	WORD(key, scope.key)                                \
	WORD(only_pid, scope.only[KSTATS_FILTER_PID])       \
	WORD(only_cgroup, scope.only[KSTATS_FILTER_CGROUP]) \
	WORD(only_comm, scope.only[KSTATS_FILTER_COMM])     \
	WORD(only_cpus, scope.only[KSTATS_FILTER_CPUS])

/* The values that a metric of kstats recorded in the interval. Its rows in the table of values
 * follow those of the previous metric. */
struct tick_kstats {
#define KSTATS_WORD(name, member) uint32_t name; /* of names; all but the first two: TICK_NONE */
	TICK_KSTATS_WORDS(KSTATS_WORD)
#undef KSTATS_WORD
	uint32_t frac_bits, values; /* values: the number of slots that are not empty */
	uint32_t is_active;
	uint32_t losses_known, earlier_known;
	uint64_t losses[KSTATS_LOSS_COUNT], earlier;
};

/* A slot that is not empty. Slots of a metric ascend. */
struct tick_value {
	uint32_t slot;
	uint32_t unused;
	uint64_t count, sum; /* the sum is scaled (histogram/bucket.h) */
};

/* What a profile says of itself in words (struct profile_meta), as numbers of names. */
#define TICK_META_NAMES(NAME) NAME(host) NAME(kernel) NAME(version) NAME(mode) NAME(target)

struct tick_meta {
#define META_NAME(name) uint32_t name;
	TICK_META_NAMES(META_NAME)
#undef META_NAME
	uint32_t cpus;
	uint32_t is_whole_host, unused;
	uint64_t on_cpu_period_ns;
};

/* The tables of a tick, in the order in which they follow the header: TABLE(type, name). Names are
 * their lengths, and then `text` all bytes. */
#define TICK_TABLES(TABLE)                    \
	TABLE(struct sample, samples)         \
	TABLE(struct tick_thread, threads)    \
	TABLE(struct tick_frame, frames)      \
	TABLE(struct node, nodes)             \
	TABLE(struct tick_waker, wakers)      \
	TABLE(struct tick_latency, latencies) \
	TABLE(struct tick_slot, slots)        \
	TABLE(struct tick_kstats, kstats)     \
	TABLE(struct tick_value, values)      \
	TABLE(uint32_t, names)                \
	TABLE(char, text)

struct tick_header {
	uint64_t magic;
	uint64_t length; /* of all, with the header */
	uint64_t begun_unix_ns, ns;
	struct tick_meta meta;
	struct tick_host host;
	struct profile_losses losses;
	uint64_t kstats_omitted; /* metrics beyond KSTATS_WATCH_MOST, which were not read */
#define TICK_COUNT(type, name) uint64_t name##_count;
	TICK_TABLES(TICK_COUNT)
#undef TICK_COUNT
};

/* A tick whose tables are somewhere else. */
struct tick {
	const struct tick_header *header;
#define TICK_TABLE(type, name) const type *name;
	TICK_TABLES(TICK_TABLE)
#undef TICK_TABLE
};

/* Grows, and is used again for the next tick. All zero is empty. */
struct tick_buffer {
	char *bytes;
	size_t length, room;
};

/* Room for so many bytes in all. What is there stays. */
struct error *tick_buffer_reserve(struct tick_buffer *buffer, size_t room) MUST_CHECK;

/* Pack a profile whose frames have names. Addresses of frames are left out, so that frames of one
 * line become one; so are nodes that no sample has, and empty slots of metrics. */
struct error *tick_pack(const struct profile *profile, const struct tick_host *host,
			const struct kstats_changes *kstats, struct tick_buffer *buffer) MUST_CHECK;

/* Checks that all lengths fit and all numbers are in their tables; samples of a class without time
 * are allowed. `bytes` is aligned for uint64_t. */
struct error *tick_unpack(const void *bytes, size_t length, struct tick *ret) MUST_CHECK;

/* The length that a header tells; an error when it is none, or beyond TICK_BYTES_MAX. */
struct error *tick_length(const struct tick_header *header, size_t *ret) MUST_CHECK;

#endif
