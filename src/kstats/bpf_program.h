/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The programs of one metric: made for its places, loaded, and attached.
 *
 *	err = kstats_program_open(&spec, &program);   attached, and nothing is recorded yet
 *	kstats_control_set(program->control, ...);    ... and now it is (bpf_metric.h)
 *	kstats_program_close(program);                it goes, but for what was pinned
 */
#ifndef KSTATS_BPF_PROGRAM_H
#define KSTATS_BPF_PROGRAM_H

#include <bpf/libbpf.h>

#include "kstats/bpf_location.h"
#include "kstats/bpf_record.h"

struct kstats_program {
	struct kstats_bpf *bpf;         /* maps and programs */
	struct kstats_control *control; /* of the maps, in memory that the programs see too */
	struct kstats_locations places;
	uint32_t pid;                          /* of the only process to be measured; 0: all */
	bool has_traps;                        /* both places are breakpoints */
	const struct kstats_location *refused; /* the function that was attached to last */
	struct {
		ARRAY(struct bpf_link *);
	} links;
};

/* Check the whole `spec`; an error has the code of recorder.h. If a function has no trampoline,
 * kprobes are used; the configuration records which. */
struct error *kstats_program_open(const struct kstats_spec *spec,
				  struct kstats_program **ret) MUST_CHECK;
/* The same at places that are known already. They are taken over, and `places` is empty afterwards,
 * also after an error. */
struct error *kstats_program_open_places(const struct kstats_spec *spec,
					 struct kstats_locations *places,
					 struct kstats_program **ret) MUST_CHECK;
/* Is there a histogram of the times between? */
bool kstats_program_has_gaps(const struct kstats_program *program);
/* Takes NULL. */
void kstats_program_close(struct kstats_program *program);
DEFINE_CLEANUP(kstats_program_close, struct kstats_program *)

/* Without places: values are put in by hand, as if they had been measured. For tests of the
 * arithmetic. */
struct error *kstats_program_open_empty(const struct kstats_spec *spec,
					struct kstats_program **ret) MUST_CHECK;
struct error *kstats_program_record(struct kstats_program *program, uint64_t value) MUST_CHECK;

#endif
