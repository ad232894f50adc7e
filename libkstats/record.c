/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Count a value, in one of two ways.
 *
 * 1. As a restartable sequence (rseq(2)): if a thread is preempted, migrated or interrupted by a
 *    signal within the sequence, the kernel restarts it. The sequence reads the number of the CPU
 *    and adds to the slot of that CPU; its last instruction writes count and sum at once. So no
 *    other thread writes that slot meanwhile, and there is nothing to undo: the value was counted
 *    or it was not. This also holds between processes that share the memory after a fork.
 *
 * 2. Otherwise (other machines, an old C library, GLIBC_TUNABLES=glibc.pthread.rseq=0) by an atomic
 *    instruction on separate tables. The number of the CPU is then only a hint that reduces
 *    contention; the count is exact whichever thread writes. No state belongs to a thread, so
 *    nothing needs to happen when threads end, fork or are interrupted.
 */
#include <sched.h>
#include <stdbool.h>

#include "metric.h"

#if defined(__x86_64__) && __has_include(<sys/rseq.h>)
#define HAS_RSEQ
#include <sys/rseq.h>
#endif

enum outcome { COMMITTED, ABORTED, ELSEWHERE };

/* Only single-stepping in a debugger restarts the sequence this often. */
#define ABORTS_MAX 100

#ifdef HAS_RSEQ

/* The C library at run time may be older than at build time, and lack these. */
#pragma weak __rseq_size
#pragma weak __rseq_offset

/* Stands in for the rseq area if none is registered: the same code then finds no CPU number. */
static __thread struct rseq unregistered __attribute__((tls_model("initial-exec"))) = {
	.cpu_id = (uint32_t)RSEQ_CPU_ID_REGISTRATION_FAILED,
};

bool kstats_has_rseq(void)
{
	return &__rseq_size && &__rseq_offset && __rseq_size;
}

ptrdiff_t kstats_rseq_offset(void)
{
	return kstats_has_rseq() ? __rseq_offset
				 : (char *)&unregistered - (char *)__builtin_thread_pointer();
}

/* Offsets in struct rseq (linux/rseq.h), and the signature that precedes an abort handler. */
#define RSEQ_CPU_ID     "4"
#define RSEQ_CS         "8"
#define ABORT_SIGNATURE "0x53053053"

_Static_assert(offsetof(struct rseq, cpu_id) == 4 && offsetof(struct rseq, rseq_cs) == 8 &&
		       RSEQ_SIG == 0x53053053,
	       "the offsets in the assembly below");

/* `place`: the offset of the slot in a table, in bytes. */
static inline __attribute__((always_inline)) enum outcome commit(const struct kstats *key,
								 size_t place, uint64_t amount)
{
	__asm__ goto(
		"	.pushsection __rseq_cs, \"aw\"\n"
		"	.balign 32\n"
		"3:	.long 0, 0\n"
		"	.quad 1f, 2f - 1f, 4f\n"
		"	.popsection\n"
		"	movl $1, %%eax\n"
		"	movq %%rax, %%xmm0\n"
		"	movq %[amount], %%xmm1\n"
		"	punpcklqdq %%xmm1, %%xmm0\n"
		"	leaq 3b(%%rip), %%rax\n"
		"	movq %%rax, %%fs:" RSEQ_CS "(%[rseq])\n"
		/* The sequence begins right after the store: the kernel clears the descriptor if it
		 * interrupts a thread outside the sequence. */
		"1:	movl %%fs:" RSEQ_CPU_ID "(%[rseq]), %%eax\n"
		"	cmpl %[cpus], %%eax\n"
		"	jae 5f\n"
		"	cmpl $0, %[is_stopped]\n"
		"	jne 6f\n"
		"	imulq %[table_bytes], %%rax\n"
		"	addq %[tables], %%rax\n"
		"	paddq (%%rax, %[place]), %%xmm0\n"
		"	movdqa %%xmm0, (%%rax, %[place])\n"
		/* The end. Clear the descriptor, so that it does not dangle after dlclose(). */
		"2:	movq $0, %%fs:" RSEQ_CS "(%[rseq])\n"
		"	.pushsection __rseq_failure, \"ax\"\n"
		"	.byte 0x0f, 0xb9, 0x3d\n"
		"	.long " ABORT_SIGNATURE "\n"
		"4:	jmp %l[aborted]\n"
		"5:	movq $0, %%fs:" RSEQ_CS "(%[rseq])\n"
		"	jmp %l[elsewhere]\n"
		"6:	movq $0, %%fs:" RSEQ_CS "(%[rseq])\n"
		"	jmp %l[stopped]\n"
		"	.popsection\n"
		:
		: [amount] "r"(amount), [rseq] "r"(key->rseq_offset), [cpus] "m"(key->cpus),
		  [is_stopped] "m"(key->header->is_stopped), [table_bytes] "m"(key->table_bytes),
		  [tables] "m"(key->tables), [place] "r"(place)
		: "rax", "xmm0", "xmm1", "memory", "cc"
		: aborted, elsewhere, stopped);
	return COMMITTED;
stopped:
	return COMMITTED;
aborted:
	return ABORTED;
elsewhere:
	return ELSEWHERE;
}

#else

bool kstats_has_rseq(void)
{
	return false;
}

ptrdiff_t kstats_rseq_offset(void)
{
	return 0;
}

static inline enum outcome commit(const struct kstats *key, size_t place, uint64_t amount)
{
	(void)key, (void)place, (void)amount;
	return ELSEWHERE;
}

#endif

static void add_atomically(struct kstats_shared_slot *slot, uint64_t amount)
{
#ifdef __x86_64__
	/* A torn read is harmless: cmpxchg16b compares both halves. */
	uint64_t count = __atomic_load_n(&slot->count, __ATOMIC_RELAXED);
	uint64_t sum = __atomic_load_n(&slot->sum, __ATOMIC_RELAXED);
	bool done;

	do {
		__asm__ volatile("lock cmpxchg16b %1"
				 : "=@ccz"(done), "+m"(*slot), "+a"(count), "+d"(sum)
				 : "b"(count + 1), "c"(sum + amount)
				 : "memory");
	} while (!done);
#else
	/* The sum first: a reader that sees the new count sees the new sum too. */
	__atomic_fetch_add(&slot->sum, amount, __ATOMIC_RELAXED);
	__atomic_fetch_add(&slot->count, 1, __ATOMIC_RELEASE);
#endif
}

static __attribute__((noinline)) void record_atomically(const struct kstats *key, size_t place,
							uint64_t amount)
{
	unsigned cpu = (unsigned)sched_getcpu();
	char *tables = key->tables + key->cpus * key->table_bytes;

	_Static_assert(KSTATS_PART_ATOMIC == KSTATS_PART_OWN + 1, "one behind the other");
	if (__atomic_load_n(&key->header->is_stopped, __ATOMIC_RELAXED))
		return;
	if (cpu >= key->cpus)
		cpu %= key->cpus;
	add_atomically((void *)(tables + cpu * key->table_bytes + place), amount);
}

/* Retry a sequence that was aborted. */
static __attribute__((noinline, cold)) void record_again(const struct kstats *key, size_t place,
							 uint64_t amount, enum outcome outcome)
{
	for (unsigned turn = 0; outcome == ABORTED && turn < ABORTS_MAX; turn++)
		outcome = commit(key, place, amount);
	if (outcome != COMMITTED)
		record_atomically(key, place, amount);
}

/* Aligned, to touch as few cache lines as possible. */
__attribute__((aligned(64))) void kstats_record(struct kstats *key, uint64_t value)
{
	enum outcome outcome;
	unsigned rest;
	uint64_t amount;
	size_t place;

	if (__builtin_expect(!key, 0))
		return;
	rest = bucket_rest(value, key->frac_bits);
	amount = value >> bucket_shift_of_rest(rest);
	place = bucket_slot_of_rest(value, key->frac_bits, rest) *
		sizeof(struct kstats_shared_slot);
	outcome = commit(key, place, amount);
	if (__builtin_expect(outcome != COMMITTED, 0))
		record_again(key, place, amount, outcome);
}
