/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which program a process had mapped where, even if it is gone by now.
 *
 *	struct image_watch *watch;
 *	err = image_watch_open(&(struct image_watch_options){ 0 }, &watch);
 *	...                                     attach what takes samples
 *	err = image_watch_start(watch);         processes that are there already
 *	while (...)
 *		image_watch_poll(watch);
 *	image_watch_poll(watch);
 *	thread.image = image_watch_find(watch, tgid, since_ns);
 *	err = image_watch_finish(watch, profile);
 *	image_watch_close(watch);
 *
 * A perf event on each CPU, of the software's dummy that counts nothing, tells of executable
 * mappings, of execs, forks and exits, with the build-ids of files (Linux 5.12; before, with their
 * devices and inodes). It sees from image_watch_open on what happens; processes that were there
 * before are read from /proc. CPUs that come online later are not watched.
 *
 * Process numbers are those of our own PID namespace; those of others are not seen. Paths are as
 * the process sees them. Memory that is unmapped is not told of: what was there stays, until
 * something else is.
 *
 * Needs CAP_PERFMON (CAP_SYS_ADMIN before Linux 5.8) to watch and CAP_SYS_PTRACE to read processes
 * of others.
 */
#ifndef PROCESS_IMAGE_WATCH_H
#define PROCESS_IMAGE_WATCH_H

#include "base/guard.h"
#include "process/address_space.h"
#include "process/image_table.h"

struct image_watch;

struct image_watch_options {
	const uint32_t *pids; /* these processes and the children they will have; copied */
	size_t pid_count;     /* 0: all processes */
	size_t max_memory;    /* in bytes; 0: 256 MiB. What needs more is lost */
	size_t ring_bytes;    /* for each CPU; 0: 256 KiB */
	struct guard *guard;  /* for reading processes; not owned. NULL: one that hangs, hangs us */
	struct kept *kept;    /* for processes that make code (profile/kept.h); NULL: none */
	size_t wake_bytes;    /* so many in a ring make image_watch_fd readable; 0: half a ring */
};

/* Begin to watch. */
struct error *image_watch_open(const struct image_watch_options *options,
			       struct image_watch **ret) MUST_CHECK;

/* Read the processes that are there. One that cannot be read has no image, which is no error. */
struct error *image_watch_start(struct image_watch *watch) MUST_CHECK;

/*
 * Take what the kernel has told since the last time. Never waits. Some times a second are enough:
 * a ring holds about 2000 mappings.
 */
void image_watch_poll(struct image_watch *watch);

/* Becomes readable when records wait in a ring: poll then, for it says so once. Not the caller's.
 */
int image_watch_fd(const struct image_watch *watch);

/* Did the last poll leave records for the next one? */
bool image_watch_has_waiting(const struct image_watch *watch);

/*
 * What is there as of the last poll (process/image_table.h). All that the kernel told before the
 * poll began is in it.
 */
bool image_watch_changed(struct image_watch *watch, uint32_t *ret_pid);
bool image_watch_now(const struct image_watch *watch, uint32_t pid, struct image_now *ret);
void image_watch_mark(struct image_watch *watch, uint32_t pid);

/* Read what a process has mapped from /proc again; what is gone goes, and is told of by nobody
 * else. False: it cannot be read, and what is known stays. Polls. */
bool image_watch_read_again(struct image_watch *watch, uint32_t pid);

/* How many records of the kernel were lost so far, for its rings were full or memory was short.
 * Names and stacks of processes of that time may be wrong. */
uint64_t image_watch_lost(const struct image_watch *watch);
/* The part of image_watch_lost() that may concern any process: records lost in the rings or the
 * queue. The rest was lost because the table had no memory, and concerns one process each. */
uint64_t image_watch_missed(const struct image_watch *watch);

/*
 * The image that the process had at that time (ns of CLOCK_MONOTONIC), as of the last poll: its
 * place, counted from 1, among the images that image_watch_finish gives the profile. 0: none is
 * known, as of kernel threads.
 */
uint32_t image_watch_find(struct image_watch *watch, uint32_t tgid, uint64_t since_monotonic_ns);

/*
 * Put the images that were found into the profile, which must have none. Watching goes on: what is
 * found from then on is for the next profile. On failure the profile may have some of them.
 */
struct error *image_watch_finish(struct image_watch *watch, struct profile *profile) MUST_CHECK;

/* Nobody will ask for what was over before that time, after the last image_watch_finish. */
void image_watch_forget(struct image_watch *watch, uint64_t before_monotonic_ns);

/* Takes NULL. */
void image_watch_close(struct image_watch *watch);
DEFINE_CLEANUP(image_watch_close, struct image_watch *)

#endif
