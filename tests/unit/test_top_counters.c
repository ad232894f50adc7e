/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "top/counter_times.h"
#include "unit/unit.h"

#define MS      ((uint64_t)1000000)
#define S       (1000 * MS)
#define OFFSET  (7 * S) /* the scheduler's clock is ahead of CLOCK_MONOTONIC by this */
#define BEGUN   (100 * S)
#define KTHREAD 0x00200000u

/* Letters of states as /proc has them, and what they are in task_struct. */
static uint32_t bits_of(char letter)
{
	static const struct {
		char letter;
		uint32_t bits;
	} rows[] = { { 'R', 0 },     { 'S', 1 },      { 'D', 2 },    { 'T', 4 },    { 't', 8 },
		     { 'I', 0x402 }, { 'F', 0x8000 }, { 'P', 0x40 }, { 'W', 0x200 } };

	for (size_t i = 0; i < array_length(rows); i++)
		if (rows[i].letter == letter)
			return rows[i].bits;
	fail_msg("no state %c", letter);
	return 0;
}

/* What a thread looked like at a moment; times in ms. */
struct look {
	uint64_t at, run, delay, blkio, swapin, utime, stime;
	uint64_t queued, blocked; /* when a wait began; 0: none is in progress */
	uint64_t asleep;          /* when the kernel began to count its sleep as a wait */
	uint64_t voluntary, involuntary;
	char letter;
	bool kernel, delays, iowait, frozen, dead;
};

static struct iterator_record record_of(const struct look *look)
{
	struct iterator_record r = {
		.tid = 10,
		.tgid = 10,
		.state = bits_of(look->letter),
		.exit_state = look->dead ? 0x20 : 0,
		.kernel_flags = look->kernel ? KTHREAD : 0,
		.has_delays = look->delays,
		.in_iowait = look->iowait,
		.is_frozen = look->frozen,
		.cpu = 1,
		.now = BEGUN + look->at * MS,
		.utime = look->utime * MS,
		.stime = look->stime * MS,
		.queued_since = look->queued ? BEGUN + OFFSET + look->queued * MS : 0,
		.queued_asleep = look->asleep ? BEGUN + OFFSET + look->asleep * MS : 0,
		.blkio_since = look->blocked ? BEGUN + OFFSET + look->blocked * MS : 0,
	};

	r.counters[TASK_run_time] = look->run * MS;
	r.counters[TASK_run_delay] = look->delay * MS;
	r.counters[TASK_blkio_delay] = look->blkio * MS;
	r.counters[TASK_swapin_delay] = look->swapin * MS;
	r.counters[TASK_nvcsw] = look->voluntary;
	r.counters[TASK_nivcsw] = look->involuntary;
	return r;
}

static uint64_t sum(const struct state_times *times)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < STATE_COUNT; i++)
		all += times->ns[i];
	return all;
}

static const struct counter_facts compared = {
	.clock_offset = (int64_t)OFFSET,
	.is_dated = true,
	.counts_delays = true,
};

/* --- two looks --- */

#define PARTS 5

struct window {
	const char *what;
	struct look before, now;
	struct {
		enum state state;
		uint64_t ms;
	} parts[PARTS]; /* all there is: the others are 0 */
	enum state state;
	uint64_t since; /* ms; 0: not known */
};

static void expect_window(const struct window *w)
{
	const struct iterator_record before = record_of(&w->before), now = record_of(&w->now);
	struct state_times expected = { 0 };
	struct counter_memory memory = { 0 };
	struct state_thread thread = { 0 };

	counter_times_meet(&thread, &memory, &before, &compared);
	assert_int_equal(sum(&thread.times), 0);
	counter_times_add(&thread, &memory, &now, &compared);
	for (size_t i = 0; i < PARTS; i++)
		expected.ns[w->parts[i].state] += w->parts[i].ms * MS;
	for (unsigned i = 0; i < STATE_COUNT; i++)
		if (thread.times.ns[i] != expected.ns[i])
			fail_msg("%s: state %u has %lu us, not %lu us", w->what, i,
				 (unsigned long)thread.times.ns[i] / 1000,
				 (unsigned long)expected.ns[i] / 1000);
	assert_int_equal(sum(&thread.times), thread.seen_ns - thread.begun_ns);
	if (thread.state != w->state)
		fail_msg("%s: is in state %u", w->what, thread.state);
	if (thread.since_ns != (w->since ? BEGUN + w->since * MS : 0))
		fail_msg("%s: since %lu", w->what, (unsigned long)thread.since_ns);
	assert_int_equal(thread.switches, w->now.voluntary + w->now.involuntary);
}

static const struct window windows[] = {
	{ "starved, in the first window",
	  { .at = 2000, .run = 5, .delay = 30, .queued = 500, .letter = 'R' },
	  { .at = 3000, .run = 5, .delay = 30, .queued = 500, .letter = 'R' },
	  { { STATE_RUNNABLE, 1000 } },
	  STATE_RUNNABLE,
	  500 },
	{ "starved, and then not",
	  { .at = 2000, .run = 5, .delay = 30, .queued = 500, .letter = 'R' },
	  { .at = 3000, .run = 105, .delay = 2430, .utime = 100, .letter = 'R' },
	  { { STATE_RUNNABLE, 900 }, { STATE_EXEC_USER, 100 } },
	  STATE_EXEC,
	  0 },
	{ "spins; the last tick is a while ago",
	  { .at = 2000, .run = 5, .utime = 4, .letter = 'R' },
	  { .at = 3000, .run = 1001, .utime = 1000, .letter = 'R' },
	  { { STATE_EXEC_USER, 1000 } },
	  STATE_EXEC,
	  0 },
	{ "two spin on a CPU",
	  { .at = 2000, .run = 5, .delay = 6, .involuntary = 3, .letter = 'R' },
	  { .at = 2100,
	    .run = 53,
	    .delay = 54,
	    .involuntary = 15,
	    .queued = 2098,
	    .stime = 40,
	    .letter = 'R' },
	  { { STATE_RUNNABLE, 50 }, { STATE_EXEC_SYSTEM, 50 } },
	  STATE_RUNNABLE,
	  2098 },
	{ "user and system by their ticks",
	  { .at = 0, .run = 0, .letter = 'S' },
	  { .at = 100, .run = 40, .utime = 12, .stime = 4, .voluntary = 7, .letter = 'S' },
	  { { STATE_EXEC_USER, 30 }, { STATE_EXEC_SYSTEM, 10 }, { STATE_SLEEP, 60 } },
	  STATE_SLEEP,
	  0 },
	{ "no tick hit it",
	  { .at = 0, .run = 0, .letter = 'S' },
	  { .at = 100, .run = 3, .voluntary = 7, .letter = 'S' },
	  { { STATE_EXEC, 3 }, { STATE_SLEEP, 97 } },
	  STATE_SLEEP,
	  0 },
	{ "the kernel's own run the kernel's code, tick or not",
	  { .at = 0, .run = 0, .letter = 'I', .kernel = true },
	  { .at = 100, .run = 3, .voluntary = 7, .letter = 'I', .kernel = true },
	  { { STATE_EXEC_SYSTEM, 3 }, { STATE_SLEEP, 97 } },
	  STATE_IDLE,
	  0 },
	{ "a worker of the kernel, idle",
	  { .at = 0, .voluntary = 7, .letter = 'I', .kernel = true },
	  { .at = 100, .voluntary = 7, .letter = 'I', .kernel = true },
	  { { STATE_IDLE, 100 } },
	  STATE_IDLE,
	  0 },
	{ "a thread of the kernel that sleeps interruptibly",
	  { .at = 0, .voluntary = 7, .letter = 'S', .kernel = true },
	  { .at = 100, .voluntary = 7, .letter = 'S', .kernel = true },
	  { { STATE_IDLE, 100 } },
	  STATE_IDLE,
	  0 },
	{ "a thread of the kernel that waits for something",
	  { .at = 0, .voluntary = 7, .letter = 'D', .kernel = true },
	  { .at = 100, .voluntary = 7, .letter = 'D', .kernel = true },
	  { { STATE_SLEEP, 100 } },
	  STATE_SLEEP,
	  0 },
	{ "idle until it was woken",
	  { .at = 0, .voluntary = 7, .letter = 'I', .kernel = true },
	  { .at = 100, .voluntary = 7, .letter = 'R', .kernel = true, .queued = 70 },
	  { { STATE_IDLE, 70 }, { STATE_RUNNABLE, 30 } },
	  STATE_RUNNABLE,
	  70 },
	{ "a thread of a program is never known to be idle",
	  { .at = 0, .voluntary = 7, .letter = 'S' },
	  { .at = 100, .voluntary = 7, .letter = 'S' },
	  { { STATE_SLEEP, 100 } },
	  STATE_SLEEP,
	  0 },
	{ "stopped",
	  { .at = 0, .voluntary = 7, .letter = 'T' },
	  { .at = 100, .voluntary = 7, .letter = 'T' },
	  { { STATE_STOPPED, 100 } },
	  STATE_STOPPED,
	  0 },
	{ "traced",
	  { .at = 0, .voluntary = 7, .letter = 'T' },
	  { .at = 100, .voluntary = 7, .letter = 't' },
	  { { STATE_STOPPED, 100 } },
	  STATE_STOPPED,
	  0 },
	{ "frozen, by either freezer",
	  { .at = 0, .voluntary = 7, .letter = 'F' },
	  { .at = 100, .voluntary = 7, .letter = 'S', .frozen = true },
	  { { STATE_STOPPED, 100 } },
	  STATE_STOPPED,
	  0 },
	{ "stopped a while ago, nobody knows when",
	  { .at = 0, .voluntary = 7, .letter = 'S' },
	  { .at = 100, .voluntary = 8, .letter = 'T' },
	  { { STATE_SLEEP, 100 } },
	  STATE_STOPPED,
	  0 },
	{ "frozen in its sleep, nobody knows when",
	  { .at = 0, .voluntary = 7, .letter = 'S' },
	  { .at = 100, .voluntary = 7, .letter = 'F' },
	  { { STATE_SLEEP, 100 } },
	  STATE_STOPPED,
	  0 },
	{ "stopped, and then continued",
	  { .at = 0, .run = 3, .voluntary = 7, .letter = 'T' },
	  { .at = 100, .run = 23, .utime = 20, .delay = 5, .voluntary = 7, .letter = 'R' },
	  { { STATE_STOPPED, 75 }, { STATE_RUNNABLE, 5 }, { STATE_EXEC_USER, 20 } },
	  STATE_EXEC,
	  0 },
	{ "waits for storage since before",
	  { .at = 1000, .blkio = 50, .blocked = 400, .letter = 'D', .iowait = 1, .delays = 1 },
	  { .at = 1100, .blkio = 50, .blocked = 400, .letter = 'D', .iowait = 1, .delays = 1 },
	  { { STATE_SLEEP_DISK, 100 } },
	  STATE_SLEEP_DISK,
	  400 },
	{ "waited for storage, and does again",
	  { .at = 1000, .blkio = 50, .blocked = 990, .letter = 'D', .iowait = 1, .delays = 1 },
	  { .at = 1100,
	    .blkio = 100,
	    .blocked = 1075,
	    .voluntary = 3,
	    .letter = 'D',
	    .iowait = 1,
	    .delays = 1 },
	  { { STATE_SLEEP_DISK, 65 }, { STATE_SLEEP, 35 } },
	  STATE_SLEEP_DISK,
	  1075 },
	{ "waits for storage without a record of it",
	  { .at = 1000, .blkio = 5, .letter = 'D', .iowait = 1 },
	  { .at = 1100, .blkio = 99, .letter = 'D', .iowait = 1 },
	  { { STATE_SLEEP_DISK, 100 } },
	  STATE_SLEEP_DISK,
	  0 },
	{ "did so, and other things: not known without a record",
	  { .at = 1000, .letter = 'D', .iowait = 1 },
	  { .at = 1100, .letter = 'D', .iowait = 1, .voluntary = 1 },
	  { { STATE_SLEEP, 100 } },
	  STATE_SLEEP_DISK,
	  0 },
	{ "swaps in: what the delays have of both is one time",
	  { .at = 1000, .letter = 'S', .delays = 1 },
	  { .at = 1100, .blkio = 50, .swapin = 30, .voluntary = 9, .letter = 'S', .delays = 1 },
	  { { STATE_PAGING, 30 }, { STATE_SLEEP_DISK, 20 }, { STATE_SLEEP, 50 } },
	  STATE_SLEEP,
	  0 },
	{ "swaps in from compressed memory: it runs",
	  { .at = 1000, .letter = 'S', .delays = 1 },
	  { .at = 1100,
	    .run = 30,
	    .stime = 28,
	    .swapin = 30,
	    .voluntary = 9,
	    .letter = 'S',
	    .delays = 1 },
	  { { STATE_EXEC_SYSTEM, 30 }, { STATE_SLEEP, 70 } },
	  STATE_SLEEP,
	  0 },
	{ "more was counted than there was time",
	  { .at = 1000, .letter = 'S' },
	  { .at = 1100, .run = 104, .utime = 90, .delay = 10, .voluntary = 1, .letter = 'R' },
	  { { STATE_EXEC_USER, 100 } },
	  STATE_EXEC,
	  0 },
	{ "a delay of storage runs over what else there was",
	  { .at = 1000, .delays = true, .letter = 'S' },
	  { .at = 1100,
	    .run = 7,
	    .stime = 7,
	    .delay = 3,
	    .blkio = 104,
	    .voluntary = 9,
	    .delays = true,
	    .iowait = true,
	    .letter = 'D' },
	  { { STATE_EXEC_SYSTEM, 7 }, { STATE_RUNNABLE, 3 }, { STATE_SLEEP_DISK, 90 } },
	  STATE_SLEEP_DISK,
	  0 },
	{ "a wait for storage, and the start of one before",
	  { .at = 1000, .blkio = 50, .delays = true, .letter = 'S' },
	  { .at = 1100,
	    .run = 7,
	    .stime = 7,
	    .blkio = 50,
	    .blocked = 300,
	    .voluntary = 9,
	    .delays = true,
	    .iowait = true,
	    .letter = 'D' },
	  { { STATE_EXEC_SYSTEM, 7 }, { STATE_SLEEP_DISK, 93 } },
	  STATE_SLEEP_DISK,
	  0 },
	{ "a wait for storage that goes on",
	  { .at = 1000,
	    .blkio = 50,
	    .blocked = 300,
	    .voluntary = 9,
	    .delays = true,
	    .iowait = true,
	    .letter = 'D' },
	  { .at = 1100,
	    .blkio = 50,
	    .blocked = 300,
	    .voluntary = 9,
	    .delays = true,
	    .iowait = true,
	    .letter = 'D' },
	  { { STATE_SLEEP_DISK, 100 } },
	  STATE_SLEEP_DISK,
	  300 },
	{ "the clock goes back",
	  { .at = 1000, .run = 5, .letter = 'S' },
	  { .at = 900, .run = 8, .voluntary = 1, .letter = 'S' },
	  { { STATE_EXEC, 0 } },
	  STATE_SLEEP,
	  0 },
	{ "counters go back",
	  { .at = 1000, .run = 50, .delay = 60, .blkio = 70, .letter = 'S', .delays = 1 },
	  { .at = 1100,
	    .run = 5,
	    .delay = 6,
	    .blkio = 7,
	    .voluntary = 1,
	    .letter = 'S',
	    .delays = 1 },
	  { { STATE_SLEEP, 100 } },
	  STATE_SLEEP,
	  0 },
	{ "is being woken",
	  { .at = 1000, .letter = 'S' },
	  { .at = 1100, .letter = 'W' },
	  { { STATE_SLEEP, 100 } },
	  STATE_RUNNABLE,
	  0 },
	{ "sleeps, and the kernel thinks that it waits",
	  { .at = 1000, .asleep = 990, .letter = 'S' },
	  { .at = 1100, .run = 2, .utime = 1, .delay = 80, .voluntary = 1, .letter = 'S' },
	  { { STATE_EXEC_USER, 2 }, { STATE_SLEEP, 98 } },
	  STATE_SLEEP,
	  0 },
	{ "was woken from such a sleep, nobody knows when",
	  { .at = 1000, .asleep = 990, .letter = 'S' },
	  { .at = 1100, .queued = 990, .letter = 'R' },
	  { { STATE_SLEEP, 100 } },
	  STATE_RUNNABLE,
	  0 },
	{ "over: what was counted last, and no rest",
	  { .at = 1000, .run = 10, .letter = 'S' },
	  { .at = 1100,
	    .run = 13,
	    .delay = 2,
	    .stime = 1,
	    .voluntary = 1,
	    .letter = 'R',
	    .dead = 1 },
	  { { STATE_EXEC_SYSTEM, 3 }, { STATE_RUNNABLE, 2 } },
	  STATE_EXEC,
	  0 },
};

TEST(windows_have_expected_times)
{
	for (size_t i = 0; i < array_length(windows); i++)
		expect_window(&windows[i]);
}

/* --- one after the other --- */

static struct state_thread thread;
static struct counter_memory memory;

static void add(const struct look *look, const struct counter_facts *with)
{
	const struct iterator_record r = record_of(look);

	counter_times_add(&thread, &memory, &r, with);
	assert_int_equal(sum(&thread.times), thread.seen_ns - thread.begun_ns);
}

static void meet(const struct look *look)
{
	const struct iterator_record r = record_of(look);

	thread = (struct state_thread){ 0 };
	memory = (struct counter_memory){ 0 };
	counter_times_meet(&thread, &memory, &r, &compared);
}

#define expect_ms(state_, ms) assert_int_equal(thread.times.ns[state_], (ms)*MS)

/* What ran behind in one window is told in the next, and not twice. */
TEST(excess_time_is_carried_over)
{
	meet(&(struct look){ .at = 0, .letter = 'S' });
	add(&(struct look){ .at = 100, .run = 46, .utime = 46, .voluntary = 1, .letter = 'R' },
	    &compared);
	expect_ms(STATE_SLEEP, 54);
	add(&(struct look){ .at = 200, .run = 150, .utime = 150, .voluntary = 1, .letter = 'R' },
	    &compared);
	expect_ms(STATE_EXEC_USER, 146);
	add(&(struct look){ .at = 300, .run = 150, .utime = 150, .voluntary = 2, .letter = 'S' },
	    &compared);
	/* The tick was told with the rest. */
	expect_ms(STATE_EXEC_USER, 146);
	expect_ms(STATE_EXEC, 4);
	expect_ms(STATE_SLEEP, 150);
}

TEST(an_early_tick_is_not_reported_again)
{
	meet(&(struct look){ .at = 0, .letter = 'R' });
	add(&(struct look){ .at = 100, .run = 97, .utime = 96, .letter = 'R' }, &compared);
	expect_ms(STATE_EXEC_USER, 100);
	add(&(struct look){ .at = 200, .run = 101, .utime = 100, .voluntary = 1, .letter = 'S' },
	    &compared);
	expect_ms(STATE_EXEC_USER, 101);
	expect_ms(STATE_SLEEP, 99);
}

/* Interrupts and a hypervisor take time that no counter has: that is no debt of the thread. */
TEST(stolen_time_is_not_taken_off_for_ever)
{
	meet(&(struct look){ .at = 0, .letter = 'R' });
	for (uint64_t i = 1; i <= 100; i++)
		add(&(struct look){ .at = i * 100, .run = i * 80, .utime = i * 80, .letter = 'R' },
		    &compared);
	expect_ms(STATE_EXEC_USER, 10000);
	add(
		&(struct look){
			.at = 10100, .run = 8050, .utime = 8050, .voluntary = 1, .letter = 'S' },
		&compared);
	expect_ms(STATE_EXEC_USER, 10000 + 50 - COUNTER_SLACK_NS / MS);
}

/* A walk in which the clocks could not be compared. */
TEST(a_wait_that_cannot_be_dated_is_caught_up_within_its_window)
{
	const struct counter_facts unknown = { 0 };

	meet(&(struct look){ .at = 2000, .queued = 500, .letter = 'R' });
	add(&(struct look){ .at = 2100, .queued = 500, .letter = 'R' }, &compared);
	expect_ms(STATE_RUNNABLE, 100);
	add(&(struct look){ .at = 2200, .queued = 500, .letter = 'R' }, &unknown);
	assert_int_equal(thread.state, STATE_RUNNABLE);
	assert_int_equal(thread.since_ns, 0);
	add(&(struct look){ .at = 2300, .queued = 500, .letter = 'R' }, &compared);
	expect_ms(STATE_RUNNABLE, 300);
}

TEST(all_of_a_new_thread_is_ours)
{
	thread = (struct state_thread){ 0 };
	memory = (struct counter_memory){ 0 };
	counter_times_born(&thread, &memory, BEGUN + 30 * MS);
	add(&(struct look){ .at = 100, .run = 50, .delay = 15, .utime = 40, .letter = 'R' },
	    &compared);
	expect_ms(STATE_EXEC_USER, 55);
	expect_ms(STATE_RUNNABLE, 15);
	assert_int_equal(thread.begun_ns, BEGUN + 30 * MS);
}

/* kernel.task_delayacct is 0, and was not always: the start of a wait is that of an old one. */
TEST(starts_of_old_waits_for_storage_mean_nothing)
{
	struct counter_facts off = compared;

	off.counts_delays = false;
	meet(&(struct look){ .at = 1000, .voluntary = 1, .letter = 'S', .delays = 1 });
	add(&(struct look){ .at = 1100,
			    .blocked = 200,
			    .voluntary = 5,
			    .letter = 'D',
			    .iowait = 1,
			    .delays = 1 },
	    &off);
	expect_ms(STATE_SLEEP, 100);
	assert_int_equal(thread.state, STATE_SLEEP_DISK);
	assert_int_equal(thread.since_ns, 0);
	add(&(struct look){ .at = 1200,
			    .blocked = 200,
			    .voluntary = 5,
			    .letter = 'D',
			    .iowait = 1,
			    .delays = 1 },
	    &off);
	expect_ms(STATE_SLEEP_DISK, 100);
}

/* From then on the wait is a real one, but its start is not known. */
TEST(a_wait_after_a_sleep_that_was_taken_for_one)
{
	meet(&(struct look){ .at = 1000, .asleep = 990, .letter = 'S' });
	add(&(struct look){ .at = 1100, .queued = 990, .letter = 'R' }, &compared);
	add(&(struct look){ .at = 1200, .queued = 990, .letter = 'R' }, &compared);
	expect_ms(STATE_SLEEP, 100);
	expect_ms(STATE_RUNNABLE, 100);
	assert_int_equal(thread.since_ns, 0);
	add(&(struct look){ .at = 1300, .delay = 260, .run = 50, .utime = 40, .letter = 'R' },
	    &compared);
	expect_ms(STATE_RUNNABLE, 150);
	expect_ms(STATE_EXEC_USER, 50);
}

/* --- anything --- */

static uint64_t up_to(uint64_t *seed, uint64_t most)
{
	return next_random(seed) % (most + 1);
}

/* Times of any thread sum up to what was watched, and never shrink. */
TEST(sums_hold_for_anything)
{
	static const uint32_t states[] = {
		0, 1, 2, 4, 8, 0x40, 0x402, 0x200, 0x800, 0x8000, 0x2001
	};
	uint64_t seed = 1;

	for (unsigned n = 0; n < 2000; n++) {
		struct iterator_record r = { .now = BEGUN };
		struct state_thread before;

		thread = (struct state_thread){ 0 };
		memory = (struct counter_memory){ 0 };
		if (n % 2)
			counter_times_meet(&thread, &memory, &r, &compared);
		else
			counter_times_born(&thread, &memory, BEGUN);
		for (unsigned i = 0; i < 50; i++) {
			const struct counter_facts with = {
				.clock_offset = (int64_t)up_to(&seed, 20 * S) - (int64_t)(10 * S),
				.is_dated = up_to(&seed, 9),
				.counts_delays = up_to(&seed, 4),
			};
			const bool is_wild = !up_to(&seed, 9);
			const uint64_t most = is_wild ? UINT64_MAX - 1 : 300 * MS;

			r.state = states[up_to(&seed, array_length(states) - 1)];
			r.exit_state = up_to(&seed, 30) ? 0 : 0x20;
			r.kernel_flags = up_to(&seed, 1) ? KTHREAD : 0;
			r.has_delays = up_to(&seed, 1);
			r.in_iowait = up_to(&seed, 1);
			r.now += up_to(&seed, 200 * MS);
			r.now -= up_to(&seed, 20) ? 0 : up_to(&seed, S);
			r.utime += up_to(&seed, most);
			r.stime += up_to(&seed, most);
			r.queued_since = up_to(&seed, 3) ? 0 : r.now - up_to(&seed, most);
			r.queued_asleep = up_to(&seed, 3) ? 0 : r.now - up_to(&seed, most);
			r.blkio_since = up_to(&seed, 3) ? 0 : r.now - up_to(&seed, most);
			for (unsigned c = 0; c < TASK_COUNTER_COUNT; c++)
				r.counters[c] += up_to(&seed, 2) ? 0 : up_to(&seed, most);
			before = thread;
			counter_times_add(&thread, &memory, &r, &with);
			assert_int_equal(sum(&thread.times), thread.seen_ns - thread.begun_ns);
			assert_true(thread.seen_ns >= before.seen_ns);
			assert_true(thread.seen_ns <= r.now || thread.seen_ns == before.seen_ns);
			for (unsigned s = 0; s < STATE_COUNT; s++)
				assert_true(thread.times.ns[s] >= before.times.ns[s]);
		}
	}
}

UNIT_TESTS(cmocka_unit_test(windows_have_expected_times),
	   cmocka_unit_test(excess_time_is_carried_over),
	   cmocka_unit_test(an_early_tick_is_not_reported_again),
	   cmocka_unit_test(stolen_time_is_not_taken_off_for_ever),
	   cmocka_unit_test(a_wait_that_cannot_be_dated_is_caught_up_within_its_window),
	   cmocka_unit_test(starts_of_old_waits_for_storage_mean_nothing),
	   cmocka_unit_test(a_wait_after_a_sleep_that_was_taken_for_one),
	   cmocka_unit_test(all_of_a_new_thread_is_ours), cmocka_unit_test(sums_hold_for_anything))
