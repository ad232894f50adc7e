/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "capture/thread_files.h"

/* A line that is not "Name: N kB" is in no map, and nothing of it stays. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct taker taker = { .snapshot = fuzz_snapshot() };
	struct ctprof_thread *thread = snapshot_add_thread(taker.snapshot);
	const struct counts *smaps;

	must(thread);
	thread->tid = thread->tgid = 7;
	thread->pcomm = thread->comm = snapshot_name(taker.snapshot, TEXT("name"));
	take_smaps_rollup(&taker, bytes, thread);
	smaps = thread->smaps_rollup_kib;
	must(!smaps || smaps->count);
	for (size_t i = 0; smaps && i < smaps->count; i++)
		must(!strpbrk(smaps->items[i].key->bytes, " -"));
	fuzz_check_round_trip(taker.snapshot);
	snapshot_destroy(taker.snapshot);
	fuzz_release(bytes);
	return 0;
}
