/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/task_call.h"
#include "fuzz.h"
#include "state/lock_owner.h"
#include "state/wait.h"

/* The bytes are the line, and the memory that it points to. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	const struct task_call call = task_call_parse(bytes);
	struct lock_wait wait;

	must((call.number >= 0) == (call.kind == TASK_CALL_IN));
	if (lock_wait_of(call.number, call.arguments, &wait))
		must(lock_wait_owner(&wait, bytes.bytes, bytes.length) <= WAIT_OWNER_MAX);
	for (enum lock_kind kind = LOCK_MUTEX; kind <= LOCK_JOIN; kind++) {
		wait = (struct lock_wait){ .kind = kind, .address = size };
		must(lock_wait_owner(&wait, bytes.bytes, bytes.length) <= WAIT_OWNER_MAX);
	}
	fuzz_release(bytes);
	return 0;
}
