/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder profile/: profiles, which tell how long each thread spent in which class of time, with
 * which stack. profile.h is the model, class.h has a row for each class, walk_end.h for each end of
 * a walk. Files: schema.h with write, parse, link and load for our format; pprof_*, folded and gzip
 * for others. tree_index.h finds nodes of stacks. symbolise.h names addresses: places.h sorts them
 * by file, origin.h finds the file of a mapping, kept.h keeps files of ended processes,
 * symbol_cache.h names from one profile to the next. filter.h and preset.h drop samples by names;
 * flame.h is the tree of functions that all pictures and tables draw.
 *
 * Counts are by thread, so a saved profile can be grouped in any way: groups are made for output.
 * The messages of pprof are those of protobuf-c, from a .proto of our own with the published
 * numbers.
 */

/*
 * A profile: which thread spent how long in what, with which stack.
 *
 *	profile_create(&profile);
 *	profile_frame(profile, &(struct frame){ .name = name, ... }, &frame);
 *	profile_node(profile, NODE_NONE, frame, &node);
 *	profile_add(profile, &(struct sample){ .thread = t, .node = node, ... });
 *	profile_destroy(profile);
 *
 * Stacks are one tree: a node is a frame and the node of its caller, so a stack is the node of its
 * innermost frame. A user stack comes first, then the kernel's on top of it, as a flame graph has
 * them. Equal frames are one frame, equal nodes one node, equal samples add up.
 *
 * A profile is *raw* while frames have addresses and no names, and is what the file of a profile
 * holds in either form. Times are nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "base/names.h"
#include "base/word_map.h"
#include "histogram/histogram.h"
#include "profile/class.h"
#include "profile/tree_index.h"
#include "profile/walk_end.h"

/* The names, letters and prose of the classes. */
struct profile_class_row {
	const char *name;
	char letter;
	enum state state; /* that top shows, unless more is known; STATE_COUNT: none */
	bool is_off_cpu;
	const char *prose;
};
extern const struct profile_class_row profile_classes[CLASS_COUNT];

/* --- stacks --- */

enum frame_kind {
	FRAME_USER,
	FRAME_KERNEL,
	FRAME_NOTE, /* none of the program: "[truncated]", "--", a group's name */
	FRAME_IDLE, /* in flames only: all waits that are idle */
};

/* Equal when all members are. */
struct frame {
	enum frame_kind kind;
	bool inlined;              /* into its caller */
	const struct name *name;   /* of the function; NULL: not symbolised */
	const struct name *module; /* path of the file, name of the kernel module; may be NULL */
	const struct name *source; /* file of the source; may be NULL */
	uint32_t line;             /* in `source`; 0: unknown */
	/* For raw frames, the address in the process or in the kernel; for others, the one in the
	 * file if known, otherwise 0. A return address is the instruction after the call. */
	uint64_t address;
	uint64_t offset; /* from where the function starts */
	uint32_t image;  /* of raw user frames: the address space, counted from 1; else 0 */
};

/* --- processes and threads --- */

#define BUILD_ID_MAX 20

/* A piece of a file that a process may execute. */
struct profile_mapping {
	uint64_t start, end, file_offset;
	const struct name *path; /* as in /proc/PID/maps, "[vdso]", or "" */
	uint32_t major, minor;
	uint64_t inode;
	uint8_t build_id_length; /* 0: unknown */
	uint8_t build_id[BUILD_ID_MAX];
};

/* A program in a process, from its exec until the next or the end. */
struct profile_image {
	uint32_t pid;
	const struct name *exe;                /* the path; may be NULL */
	uint32_t first_mapping, mapping_count; /* in `mappings`, by start */
	/* A process that had the number before, or has another program by now: nothing that /proc
	 * says about the number is about this one. */
	bool is_over;
	uint64_t ended_ns; /* by CLOCK_MONOTONIC of this host, if it is over; 0: unknown */
};

#define UID_UNKNOWN UINT32_MAX

struct profile_thread {
	uint32_t tid, tgid;
	uint32_t uid;                      /* the effective one; UID_UNKNOWN */
	const struct name *name, *process; /* comm of the thread and of its leader; never NULL */
	const struct name *cgroup;         /* path; NULL: unknown */
	uint32_t image;                    /* counted from 1; 0: none (kernel threads, imports) */
	bool is_kernel;
	bool is_accounted;               /* times and switches below are measured */
	uint64_t begun_ns, ended_ns;     /* when it was first and last watched: wall is between */
	uint64_t ns[CLASS_COUNT];        /* exact; they add up to wall */
	uint64_t counts[CLASS_COUNT];    /* stretches of it; of CLASS_ON_CPU, switches away */
	uint64_t voluntary, involuntary; /* switches as the kernel counts them */
};

/* --- what --- */

#define CPU_ANY UINT16_MAX

struct sample {
	uint32_t thread;     /* in `threads` */
	uint32_t node;       /* in `nodes`, or NODE_NONE */
	uint16_t class;      /* enum profile_class */
	uint8_t state;       /* enum state: what it waited for; as the class says, if not known */
	uint16_t event;      /* in `events`, of CLASS_EVENT; else 0 */
	uint16_t cpu;        /* CPU_ANY where CPUs were not told apart */
	bool is_in_progress; /* it had not ended when the profile did; adds up with those that had
			      */
	uint64_t ns;         /* 0 of CLASS_EVENT */
	uint64_t count;      /* stretches of time, samples taken, or hits */
	uint64_t longest_ns; /* of these, off a CPU, rounded up by at most 0.1 %; 0: unknown */
	uint32_t waker;      /* that ended the longest: in `wakers`, counted from 1; 0: unknown */
};

/* A thread that woke another. */
struct waker {
	/* Its comm, never NULL; "": it had ended; "[interrupt]"; "[not ended]": the wait had not */
	const struct name *name;
	uint32_t tid; /* 0: it is no thread */
};

/* One of the longest single waits. */
struct block {
	uint32_t thread, node;
	uint16_t class;
	uint16_t state; /* as of samples */
	bool is_in_progress;
	uint64_t begun_ns, ns;    /* blocked, until it was woken */
	uint64_t runnable_ns;     /* then waiting for a CPU */
	const struct name *waker; /* its comm; NULL: unknown, or still blocked */
	uint32_t waker_tid;
};

/* A thread that ran while another was runnable. */
struct preemptor {
	uint32_t thread;           /* the thread that waited */
	const struct name *name;   /* comm of the thread that ran instead; "" if unknown */
	const struct name *cgroup; /* its cgroup; may be NULL */
	uint32_t tid;
	uint64_t ns;
};

/* A cgroup that ran out of its quota of CPU time during the profile. */
struct profile_quota {
	const struct name *cgroup;   /* path */
	double cpus;                 /* the quota in CPUs */
	uint64_t periods, throttled; /* all, and those in which the quota ran out */
	uint64_t throttled_ns;       /* time for which it was throttled, summed over CPUs */
	uint64_t waits_ns; /* waits of the profile's threads in it for a CPU, whatever the cause */
};

/* A histogram of the latencies of all threads of a cgroup. */
struct profile_latency {
	const struct name *cgroup; /* path; NULL: all cgroups without a histogram of their own */
	uint32_t kind;             /* enum latency_kind (sched/profile_record.h) */
	struct histogram *histogram;
};

/* Histograms of the blocked or runnable intervals of a thread. */
struct thread_histogram {
	uint32_t thread;
	uint16_t class; /* CLASS_RUNNABLE, or those of blocks */
	struct histogram *histogram;
};

/* --- where and how --- */

/* Counts of events that the programs in the kernel saw, by outcome. */
struct profile_losses {
	uint64_t switches; /* seen, of all threads */
	uint64_t events;   /* stretches, samples and hits of wanted threads */
	uint64_t kept;     /* of these, in `samples` */
	/* Waits that had not ended: beside `events`, and in `samples` with what had passed of them.
	 */
	uint64_t in_progress;
	uint64_t filtered; /* too short, too long, of another state, not drawn */
	uint64_t filtered_ns;
	uint64_t lost, lost_ns;                    /* no room, for a stack, a sample or a thread */
	uint64_t user_truncated, kernel_truncated; /* stacks with more frames than were taken */
	uint64_t walks[WALK_ENDS]; /* over stacks of user space, by how they ended */
	/* Known again by what stands in their slots; of these, walked as well; of these, others. */
	uint64_t stacks_recognised, stacks_checked, stacks_wrong; /* the kernel's */
	uint64_t user_stacks_recognised, user_stacks_checked, user_stacks_wrong;
	uint64_t missed; /* switches that were not reported; the kernel's count of run time stands
			    in */
	/* Threads that there was no room for when they were seen; as far as they ran, in `lost`. */
	uint64_t threads_lost;
	/* threads that were being written at each reading: they may count an interval twice */
	uint64_t threads_torn;
	uint64_t maps_lost; /* records of mappings that the kernel had no room for */
	/* Missing unwind tables: unreadable files, tables and processes without room, mappings
	 * beyond the limit of a process. */
	uint64_t tables_failed, tables_lost, mappings_lost;
	uint64_t memory_refused; /* requests for memory beyond `memory_limit` */
	uint64_t rows_lost;      /* rows of samples that did not reach the store */
	uint64_t runs, run_ns;   /* of the programs, by the kernel's own count */
	uint64_t own_cpu_ns;     /* CPU time of ctprof itself */
};

/* Adds each count; a sum that does not fit stays at its most. */
void profile_losses_add(struct profile_losses *into, const struct profile_losses *more);

struct profile_meta {
	const struct name *host, *kernel, *command, *version; /* may be NULL */
	const struct name *target; /* "stockd (5058) and 5 children"; NULL: no process was named */
	const struct name *mode;   /* "on", "off", "both", or NULL when it was imported */
	uint64_t captured_at_unix_ns;
	uint64_t end_unix_ns; /* of a query: when the last interval of its hosts ended; 0: of a file
			       */
	uint64_t duration_ns; /* of a query: the longest time of one host */
	uint64_t observed_ns; /* of a query: the times of its hosts together; 0: of a file */
	uint64_t on_cpu_period_ns;  /* of on-CPU samples; 0: none were taken */
	uint64_t off_cpu_period_ns; /* of time-weighted sampling; 0: exact */
	uint32_t cpus;
	bool is_whole_host;               /* threads and states were not selected */
	bool lacks_states;                /* the file that it is from does not tell them */
	bool lacks_threads;               /* a query's: each of `threads` is a program's sum */
	uint64_t memory_limit;            /* bytes; 0: there was none */
	const struct name *without_table; /* files without room for their tables, "a, b, ..."; may
					   * be NULL */
	struct profile_losses losses;
};

struct profile {
	struct arena arena; /* of names */
	struct names names;
	struct profile_meta meta;
	struct {
		ARRAY(struct frame);
	} frames;
	struct tree_nodes nodes;
	struct {
		ARRAY(struct profile_mapping);
	} mappings;
	struct {
		ARRAY(struct profile_image);
	} images;
	struct {
		ARRAY(struct profile_thread);
	} threads;
	struct {
		ARRAY(const struct name *);
	} events; /* probes, as they were named */
	struct {
		ARRAY(struct sample);
	} samples;
	struct {
		ARRAY(struct waker);
	} wakers;
	struct {
		ARRAY(struct block);
	} longest; /* by length, longest first */
	struct {
		ARRAY(struct preemptor);
	} preemptors;
	struct {
		ARRAY(struct profile_quota);
	} quotas; /* by `throttled_ns`, longest first; not saved in files */
	struct {
		ARRAY(struct thread_histogram);
	} histograms;
	struct {
		ARRAY(struct profile_latency);
	} latencies; /* not saved in files */
	struct tree_index node_index;
	/* By what makes them equal. Samples that came at once are in the map when one is added. */
	struct word_map frame_numbers, sample_numbers;
	struct kept *kept; /* of its processes, until they have names (profile/kept.h); or NULL */
};

struct error *profile_create(struct profile **ret) MUST_CHECK;
/* Takes NULL. */
void profile_destroy(struct profile *profile);
DEFINE_CLEANUP(profile_destroy, struct profile *)

/* The one name with these bytes, which lives as long as the profile; NULL: no memory. */
const struct name *profile_name(struct profile *profile, const void *bytes, size_t length);

/* Is it one stretch, as long as its thread was watched, but for a twentieth? */
bool sample_lasts(const struct profile *profile, const struct sample *sample);

/* The number of the frame that equals `frame`, whose names are the profile's. */
struct error *profile_frame(struct profile *profile, const struct frame *frame,
			    uint32_t *ret) MUST_CHECK;
/* The number of the node that is `frame` called from `parent`. */
struct error *profile_node(struct profile *profile, uint32_t parent, uint32_t frame,
			   uint32_t *ret) MUST_CHECK;
/* Adds to the sample with the same thread, node, class, state, event and CPU. */
struct error *profile_add(struct profile *profile, const struct sample *sample) MUST_CHECK;
/* The same with all samples of a profile that has none yet, whose nodes are there: those that have
 * a stack of their own are not looked up. The profile takes over the memory, from malloc(3). */
struct error *profile_take_samples(struct profile *profile, struct sample *samples,
				   size_t count) MUST_CHECK;

/* Remove the samples for which `keep` returns false. `number` is the sample's index before the
 * call. `keep` may change the samples that it keeps; those that become equal are added up. */
struct error *profile_keep(struct profile *profile,
			   bool (*keep)(void *context, size_t number, struct sample *sample),
			   void *context) MUST_CHECK;

/* The state that a sample of this class gets that was made with `state`: the usual one of the
 * class, where `state` is none that threads of this class have. So 0 is that nothing is known. */
uint8_t profile_settle_state(unsigned class, unsigned state);

/* The time of all samples that are of these classes (a bit each). */
uint64_t profile_total_ns(const struct profile *profile, unsigned classes);

#endif
