/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reading of a metric: the number of values in each slot, and their sum, separately for each CPU
 * (or process, cgroup, returned value).
 *
 *	err = kstats_table_create(name, 3, "ns", &table);
 *	err = kstats_table_row(table, cpu, NULL, &row);
 *	row->slots[slot].count += 1;
 *
 * Slots are those of histogram/bucket.h; a sum is scaled by bucket_shift() of its slot.
 */
#ifndef KSTATS_TABLE_H
#define KSTATS_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "histogram/bucket.h"
#include "kstats/enums.h"
#include "kstats/recorded_time.h"
#include "kstats/scope.h"

struct kstats_slot {
	uint64_t count, sum;
};

struct kstats_by_info {
	const char *name, *heading, *prose;
};
extern const struct kstats_by_info kstats_bys[KSTATS_BY_COUNT];

struct kstats_loss_info {
	const char *name, *prose;
};
extern const struct kstats_loss_info kstats_losses[KSTATS_LOSS_COUNT];

#define KSTATS_EARLIER "in progress when recording began, so its duration is unknown"

struct kstats_row {
	uint64_t id;   /* of the CPU, process, cgroup; the value */
	uint64_t born; /* CLOCK_BOOTTIME: when the process or thread was started; 0: unknown */
	char *label;   /* a process's or cgroup's name; NULL: the number says it */
	struct kstats_slot *slots; /* BUCKET_SLOTS(frac_bits) */
};

struct kstats_table {
	char *name, *host; /* host: where it was recorded; NULL: unknown */
	char *boot;        /* of the host, an ID of each; NULL: unknown */
	char *instance;    /* the number of the process that has it; NULL: none, or several */
	char *unit;        /* of values: "ns", "", or what a program says */
	char *labels;   /* "name=value,name=value" of a program's metric; NULL: none, or several */
	char *recorder; /* "bpf", "module", "user" */
	char *start, *end; /* what is measured, as it was asked for; NULL: a program's own calls */
	char *how;         /* by which probes ("fentry, fexit"); NULL: there is nothing to say */
	struct kstats_scope scope;
	enum kstats_by by;
	unsigned frac_bits;   /* at most BUCKET_FRAC_BITS_MAX */
	unsigned cpus;        /* as many numbers of CPUs as the host may have; 0: unknown */
	bool is_active;       /* values are recorded now */
	uint64_t taken_ns;    /* since the epoch: when it was read */
	uint64_t window_ns;   /* what was recorded in so long before that; 0: since it was made */
	uint64_t overhead_ns; /* what an empty pair measures; 0: unknown */
	/* Since the epoch: when it was made or last emptied; 0: unknown. Two readings with the same
	 * one are of the same values, and later ones. */
	uint64_t began_ns;
	uint64_t recorded_ns; /* how long it has recorded since then; 0: unknown */
	uint64_t losses[KSTATS_LOSS_COUNT];
	uint32_t losses_known; /* a bit for each that this recorder counts */
	uint64_t earlier;      /* in progress when recording began: not measured, and not lost */
	bool earlier_known;    /* false: some may be among the unmatched */
	struct {
		ARRAY(struct kstats_row);
	} rows; /* by id, born and label, each once; only such that counted something */
};

/* An empty one, with copies of the words. `frac_bits` that are too large are the caller's mistake.
 */
struct error *kstats_table_create(const char *name, unsigned frac_bits, const char *unit,
				  struct kstats_table **ret) MUST_CHECK;
/* Takes NULL. */
void kstats_table_destroy(struct kstats_table *table);
DEFINE_CLEANUP(kstats_table_destroy, struct kstats_table *)

/* The name by which commands select it: "NAME", or "PID:NAME" for a program. NULL: no memory. */
char *kstats_table_title(const struct kstats_table *table);

/* The row of this id and label, made when there is none; `label` (may be NULL) is copied then. It
 * is the table's, and may move when another is made. */
struct error *kstats_table_row(struct kstats_table *table, uint64_t id, const char *label,
			       struct kstats_row **ret) MUST_CHECK;
/* The same of a process or thread, whose number may have been that of another one before. */
struct error *kstats_table_row_born(struct kstats_table *table, uint64_t id, uint64_t born,
				    const char *label, struct kstats_row **ret) MUST_CHECK;

/* Take `began_ns` and `recorded_ns` from what a recorder keeps, as of now. */
void kstats_table_recorded(struct kstats_table *table, const struct kstats_recorded_time *time);

/* How long it has recorded by now; 0: unknown. */
uint64_t kstats_recorded_until_now(const struct kstats_recorded_time *time);

/* Values per second while it recorded; NAN if it is unknown how long that was. */
double kstats_table_rate(const struct kstats_table *table);

/* The number of values in all rows and slots, saturating. */
uint64_t kstats_table_count(const struct kstats_table *table);

/* The rows, and whose they are, for kstats_table_subtract() later. */
struct error *kstats_table_copy_rows(const struct kstats_table *table,
				     struct kstats_table **ret) MUST_CHECK;

/* Do both measure the same? Values of different things form no histogram. An unknown key (of a file
 * of an earlier version, or of a recorder without a choice) equals any. */
bool kstats_table_is_same(const struct kstats_table *a, const struct kstats_table *b);

/*
 * Add `from` to `into`: rows of the same id, start and label become one, losses and overheads that
 * only one side knows are unknown after it; of two overheads it is the larger one. The finer of
 * both becomes as coarse as the other one, which is exact: a slot falls whole into one of the
 * coarser. Refused: other places, keys and units, rows of another kind, more values together than a
 * number holds.
 */
struct error *kstats_table_merge(struct kstats_table *into,
				 const struct kstats_table *from) MUST_CHECK;
/* Subtract `before`, an earlier reading of the same metric, from `now`. An error if `now` is less
 * anywhere: it was reset meanwhile, and `now` is unchanged. */
struct error *kstats_table_subtract(struct kstats_table *now,
				    const struct kstats_table *before) MUST_CHECK;
/* With fewer slots; exact for counts, for sums up to the bits that the coarser one's scale drops.
 */
struct error *kstats_table_coarsen(struct kstats_table *table, unsigned frac_bits) MUST_CHECK;

#endif
