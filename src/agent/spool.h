/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spool: requests on disk that wait until they are sent.
 *
 *	SPOOL/                        locked (flock(2)) by the agent that has it open
 *	SPOOL/losses                  what was dropped (losses.h)
 *	SPOOL/FOLDER/00000000000000000042.request
 *	SPOOL/FOLDER/new              a request that is being written
 *	SPOOL/FOLDER/marked           a copy of a request of an earlier version, being written
 *
 * A request (request_file.h) is written under another name and then renamed, so it is there as a
 * whole or not at all, whenever the agent is killed. Numbers grow over all sinks. Files with other
 * names, links and files of other users are left alone.
 *
 * The spool has a limit of bytes, which count by blocks of the disk, and one of files. If a request
 * does not fit, or the disk is full, the oldest ones of all sinks are dropped and counted. The
 * first requests of a sink may be held: one is being sent, or may have arrived, and is not dropped.
 *
 * Adding does not wait for the disk (fsync(2)): a host that crashes may lose the last requests.
 * Only a request of an earlier version is written anew with fsync(2), since it replaces a good
 * file.
 */
#ifndef AGENT_SPOOL_H
#define AGENT_SPOOL_H

#include "agent/losses.h"
#include "agent/request_file.h"

#define SPOOL_FILES_MOST 65536

/* For spool_drop(): all that is in the request is lost. */
#define SPOOL_ALL UINT64_MAX

struct spool_sink {
	const char *folder; /* its requests are in the folder of this name */
	const char *name;   /* in losses */
};

/* All texts of sinks must stay. */
struct spool_options {
	/* Made if it is missing, and its parent, if theirs belongs to this user. */
	const char *path;
	uint64_t most; /* bytes */
	const struct spool_sink *sinks;
	size_t sink_count;
};

struct spool;

/* Fails if another process has the spool open, or other users may write to it. */
struct error *spool_open(const struct spool_options *options, struct spool **ret) MUST_CHECK;

/* Add a request for the sink with this index. What does not fit is dropped and counted; an error is
 * a lack of memory, or of a disk that takes nothing (the request is counted as lost then, too). */
struct error *spool_add(struct spool *spool, size_t sink,
			const struct sink_request *request) MUST_CHECK;

/* How many requests of this sink wait. */
size_t spool_count(const struct spool *spool, size_t sink);
/* Bytes of all sinks. */
uint64_t spool_bytes(const struct spool *spool);

/*
 * Requests of a sink have an index: 0 is the first (oldest).
 *
 * Open one for reading. Damaged ones are dropped and counted. False: there is none with this index,
 * or it cannot be opened now. `*ret_is_marked`: by spool_mark().
 */
bool spool_open_request(struct spool *spool, size_t sink, size_t index, int *ret_fd,
			bool *ret_is_marked);
/* The number of a request, which no other one ever has; 0: there is none with this index. */
uint64_t spool_id(const struct spool *spool, size_t sink, size_t index);
/* Mark one as interrupted: it may have arrived, which a later agent knows, too. A file of an
 * earlier version, without a place for that, is replaced by another one. False: the disk refuses
 * that. */
bool spool_mark(struct spool *spool, size_t sink, size_t index);
/* Hold the first `count`. Requests that are removed are no longer held. */
void spool_hold(struct spool *spool, size_t sink, size_t count);
/* Remove one: it has arrived. */
void spool_remove(struct spool *spool, size_t sink, size_t index);
/* Remove one that has arrived in part: `lost` of it is not stored, for this reason, and `unsummed`
 * is, perhaps without the sums that the server makes of it. Counts at most what is in the request,
 * and both numbers in the step that removes it. Returns whether sums were counted: not every
 * request has them. */
bool spool_remove_part(struct spool *spool, size_t sink, size_t index, const char *why,
		       uint64_t lost, uint64_t unsummed);
/* Have the first one be the last: it gets a new number. Nothing changes if the disk refuses that.
 */
void spool_move_last(struct spool *spool, size_t sink);
/* Remove one of which at most `count`, or SPOOL_ALL, is lost, and count that, by this reason. */
void spool_drop(struct spool *spool, size_t sink, size_t index, const char *why, uint64_t count);

/*
 * A file that cannot be removed is neither sent nor counted again, also by a later agent if the
 * file of losses could be written. Its bytes count until it has been removed, which is tried again
 * at later removals and additions. Returns how many such files there are. `*ret_errnum` is why the
 * last attempt failed, 0 if none failed since the previous call.
 */
size_t spool_left(struct spool *spool, int *ret_errnum);

/* What was dropped, here and before a restart, and not subtracted. */
const struct losses *spool_losses(const struct spool *spool);
/* Subtract these numbers of the first `count` losses, which have been handed out. */
void spool_subtract_losses(struct spool *spool, const uint64_t *numbers, size_t count);

/* Folders in the spool that are those of no sink: how many have requests. They are neither sent nor
 * counted. */
size_t spool_strange_folders(const struct spool *spool);

/* Takes NULL. */
void spool_close(struct spool *spool);
DEFINE_CLEANUP(spool_close, struct spool *)

#endif
