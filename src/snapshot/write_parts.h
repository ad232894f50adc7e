/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of a snapshot as JSON, which different threads can write: what stands before its
 * threads, the threads, and what stands behind them.
 */
#ifndef SNAPSHOT_WRITE_PARTS_H
#define SNAPSHOT_WRITE_PARTS_H

#include "base/json_writer.h"
#include "snapshot/model.h"

void snapshot_write_before(struct json_writer *w, const struct ctprof_snapshot *s);
void snapshot_write_behind(struct json_writer *w, const struct ctprof_snapshot *s);

#endif
