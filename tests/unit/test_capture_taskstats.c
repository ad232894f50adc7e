/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/thread_files.h"

#include "unit/scene.h"

static void set_field(struct taskstats_values *stats, unsigned field, uint64_t value)
{
	stats->values[field] = value;
	stats->present |= (uint64_t)1 << field;
}

/* Every field present: counts and totals `delays` for the seven, 5 for cpu. */
static struct taskstats_values all_fields(uint64_t delays)
{
	struct taskstats_values stats = { .version = 16 };

	for (unsigned field = 0; field < TASKSTATS_HIWATER_RSS; field++)
		set_field(&stats, field, field < TASKSTATS_PART_COUNT ? 5 : delays);
	set_field(&stats, TASKSTATS_HIWATER_RSS, 3);
	set_field(&stats, TASKSTATS_HIWATER_VM, UINT64_MAX);
	return stats;
}

static void take_delays(const struct taskstats_values *stats, enum delay_accounting delays,
			bool irq)
{
	scene->thread->record = (struct thread_record){ 0 };
	take_taskstats(&scene->taker, stats, delays, irq, scene->thread);
}

enum { CPU = 4, SIX = 24, IRQ = 4, WATERMARKS = 2 };

TEST(cpu_and_watermarks_are_always_measured)
{
	struct taskstats_values stats = all_fields(0);

	for (enum delay_accounting d = DELAYS_UNKNOWN; d <= DELAYS_BOOT; d++) {
		take_delays(&stats, d, false);
		expect_number(METRIC_cpu_delay_count, 5);
		expect_number(METRIC_cpu_delay_min_ns, 5);
		expect_number(METRIC_hiwater_rss_bytes, 3 * 1024);
		/* too large for bytes: the largest there is */
		expect_number(METRIC_hiwater_vm_bytes, -1);
	}
}

TEST(off_measures_none_of_the_seven)
{
	struct taskstats_values none = all_fields(0), some = all_fields(7);

	take_delays(&none, DELAYS_OFF, true);
	assert_int_equal(measured_count(), CPU + WATERMARKS);
	/* What stood there before it was turned off is not kept up. */
	take_delays(&some, DELAYS_OFF, true);
	assert_int_equal(measured_count(), CPU + WATERMARKS);
}

TEST(from_boot_a_zero_is_a_zero)
{
	struct taskstats_values stats = all_fields(0);

	take_delays(&stats, DELAYS_BOOT, true);
	assert_int_equal(measured_count(), CPU + SIX + IRQ + WATERMARKS);
	expect_number(METRIC_blkio_delay_count, 0);
}

TEST(other_zeros_are_unmeasured)
{
	static const enum delay_accounting kinds[] = { DELAYS_RUNTIME, DELAYS_UNKNOWN };

	for (size_t i = 0; i < array_length(kinds); i++) {
		struct taskstats_values stats = all_fields(0);

		take_delays(&stats, kinds[i], true);
		assert_int_equal(measured_count(), CPU + WATERMARKS);
		/* One delay in one category proves that the thread has a record of all. */
		set_field(&stats, taskstats_field(TASKSTATS_compact, TASKSTATS_COUNT), 1);
		take_delays(&stats, kinds[i], true);
		assert_int_equal(measured_count(), CPU + SIX + IRQ + WATERMARKS);
		expect_number(METRIC_compact_delay_count, 1);
		expect_number(METRIC_blkio_delay_total_ns, 0);
	}
}

TEST(irq_needs_a_kernel_that_accounts_it)
{
	struct taskstats_values stats = all_fields(0);

	take_delays(&stats, DELAYS_BOOT, false);
	assert_int_equal(measured_count(), CPU + SIX + WATERMARKS);
	expect_unmeasured(METRIC_irq_delay_count);
	take_delays(&stats, DELAYS_BOOT, true);
	expect_number(METRIC_irq_delay_count, 0);
}

TEST(fields_beyond_the_payload_are_unmeasured)
{
	struct taskstats_values stats = all_fields(7);

	for (unsigned c = 0; c < TASKSTATS_CATEGORY_COUNT; c++) {
		stats.present &= ~((uint64_t)1 << taskstats_field(c, TASKSTATS_MAX));
		stats.present &= ~((uint64_t)1 << taskstats_field(c, TASKSTATS_MIN));
	}
	take_delays(&stats, DELAYS_BOOT, true);
	assert_int_equal(measured_count(), 8 * 2 + WATERMARKS);
	expect_unmeasured(METRIC_cpu_delay_max_ns);
	expect_number(METRIC_swapin_delay_total_ns, 7);
}

/* Each field into its own row: every one has a number of its own. */
TEST(each_field_has_its_row)
{
	static const enum metric_id first[] = {
		METRIC_cpu_delay_count,       METRIC_blkio_delay_count,
		METRIC_swapin_delay_count,    METRIC_freepages_delay_count,
		METRIC_thrashing_delay_count, METRIC_compact_delay_count,
		METRIC_wpcopy_delay_count,    METRIC_irq_delay_count,
	};
	struct taskstats_values stats = { .version = 16 };

	for (unsigned field = 0; field < TASKSTATS_FIELD_COUNT; field++)
		set_field(&stats, field, 100 + field);
	take_delays(&stats, DELAYS_BOOT, true);
	for (unsigned c = 0; c < array_length(first); c++)
		for (unsigned part = 0; part < TASKSTATS_PART_COUNT; part++)
			expect_number(first[c] + part, 100 + taskstats_field(c, part));
	expect_number(METRIC_hiwater_rss_bytes, (100 + TASKSTATS_HIWATER_RSS) * 1024);
}

TEST(delay_accounting_has_names)
{
	assert_string_equal(delay_accounting_names[DELAYS_UNKNOWN], "unknown");
	assert_string_equal(delay_accounting_names[DELAYS_OFF], "off");
	assert_string_equal(delay_accounting_names[DELAYS_RUNTIME], "runtime");
	assert_string_equal(delay_accounting_names[DELAYS_BOOT], "boot");
}

UNIT_TESTS(CASE(cpu_and_watermarks_are_always_measured), CASE(off_measures_none_of_the_seven),
	   CASE(from_boot_a_zero_is_a_zero), CASE(other_zeros_are_unmeasured),
	   CASE(irq_needs_a_kernel_that_accounts_it),
	   CASE(fields_beyond_the_payload_are_unmeasured), CASE(each_field_has_its_row),
	   CASE(delay_accounting_has_names))
