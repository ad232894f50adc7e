/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pinned metric, opened to read or change it.
 *
 * Reading and changing hold its lock, so that no reading sees it half empty. This does not block
 * recording; so a reading may see a value in the count of a slot and not yet in its sum.
 */
#ifndef KSTATS_BPF_METRIC_H
#define KSTATS_BPF_METRIC_H

#include "kstats/bpf_record.h"
#include "kstats/recorder.h"

struct kstats_metric {
	char *name; /* as it was asked for */
	enum kstats_which which;
	struct kstats_config config;
	struct kstats_control *control;
	int directory; /* its lock, and where its pins are */
	int cells, groups, group_numbers;
};

/* Open "NAME", or "GAP-NAME"; ENOENT: there is none; EPROTO: another version created it. */
struct error *kstats_metric_open(const char *name, struct kstats_metric **ret) MUST_CHECK;
/* The same, but EAGAIN while a command holds its lock. */
struct error *kstats_metric_open_now(const char *name, struct kstats_metric **ret) MUST_CHECK;
/* Takes NULL. */
void kstats_metric_close(struct kstats_metric *metric);
DEFINE_CLEANUP(kstats_metric_close, struct kstats_metric *)

struct error *kstats_metric_read(struct kstats_metric *metric,
				 struct kstats_table **ret) MUST_CHECK;
struct error *kstats_metric_command(struct kstats_metric *metric,
				    enum kstats_command command) MUST_CHECK;

/* It is made now, and records or does not. */
void kstats_control_begin(struct kstats_control *control, enum kstats_which which, bool is_active);

/* From now on it records, or no longer does. */
void kstats_control_set(struct kstats_control *control, enum kstats_which which, bool is_active);

#endif
