/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/thread_rows.h"

#include "store/left_out.h"

enum { SETS = 2 };

/* How rows of a group become a value. */
struct column_expression {
	const char *before, *after; /* the column; NULL: the metric is left out */
};

static struct column_expression expression_of(const struct metric *metric)
{
	switch (metric->kind) {
	case KIND_TOTAL:
		return (struct column_expression){ "sum(", ")" };
	case KIND_PEAK:
	case KIND_GAUGE:
		return (struct column_expression){ "max(", ")" };
	case KIND_ORDINAL:
		return (struct column_expression){ "argMax(", ", t)" };
	case KIND_CATEGORY:
		return metric->type == VALUE_flag
			       ? (struct column_expression){ "argMax(", ", t)" }
			       : (struct column_expression){ "argMax(toString(", "), t)" };
	default:
		return (struct column_expression){ NULL, NULL };
	}
}

static enum store_type type_of(const struct metric *metric)
{
	return metric->kind == KIND_CATEGORY && metric->type != VALUE_flag ? STORE_STRING
	       : metric->type == VALUE_flag                                ? STORE_U8
	       : metric->type == VALUE_ordinal_i32                         ? STORE_I64
									   : STORE_U64;
}

/* Elapsed times of waits in progress: they are no time of the window. */
static bool is_in_progress(enum metric_id id)
{
	for (size_t i = 0; i < METRIC_COUNT; i++)
		if (metrics[i].in_progress == id && id)
			return true;
	return false;
}

static bool has_column(enum metric_id id)
{
	return id != METRIC_thread_count && expression_of(&metrics[id]).before &&
	       !is_in_progress(id);
}

void thread_columns_init(struct thread_columns *columns, bool only_totals)
{
	columns->items[0] = (struct store_column){ "measured0", STORE_U64 };
	columns->items[1] = (struct store_column){ "measured1", STORE_U64 };
	columns->count = SETS;
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (!has_column(i) || (only_totals && metrics[i].kind != KIND_TOTAL))
			continue;
		columns->items[columns->count] =
			(struct store_column){ metrics[i].name, type_of(&metrics[i]) };
		columns->metrics[columns->count++] = (enum metric_id)i;
	}
}

struct metric_set thread_columns_lacking(void)
{
	struct metric_set lacking = { 0 };

	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		if (i != METRIC_thread_count && !has_column(i))
			metric_set_add(&lacking, i);
	return lacking;
}

void thread_columns_add_names(const struct thread_columns *columns, struct sql *sql)
{
	for (size_t i = 0; i < columns->count; i++)
		sql_add(sql, ", %s", columns->items[i].name);
}

void thread_columns_add(const struct thread_columns *columns, struct sql *sql)
{
	sql_add(sql, ", groupBitOr(measured0), groupBitOr(measured1)");
	for (size_t i = SETS; i < columns->count; i++) {
		const struct column_expression expression =
			expression_of(&metrics[columns->metrics[i]]);

		sql_add(sql, ", %s%s%s", expression.before, columns->items[i].name,
			expression.after);
	}
}

struct error *thread_row_name(struct ctprof_snapshot *snapshot, struct text text,
			      const struct name **ret)
{
	*ret = snapshot_name(snapshot, text.length ? text : TEXT(""));
	return *ret ? NULL : &error_no_memory;
}

/* A value that does not fit is unmeasured. */
static struct error *take_value(struct ctprof_snapshot *snapshot, struct ctprof_thread *thread,
				const struct metric *metric, const union store_value *value)
{
	struct thread_values *values = &thread->record.values;
	const struct name *name;
	bool is_there = true;

	if (metric->type == VALUE_label) {
		struct error *err = thread_row_name(snapshot, value->text, &name);

		if (err)
			return err;
		is_there = name->length > 0;
		metric_store_name(values, metric, name);
	} else if (metric->type == VALUE_letter) {
		is_there = value->text.length == 1 &&
			   metric_store_u64(values, metric, (unsigned char)value->text.bytes[0]);
	} else if (metric->type == VALUE_ordinal_i32) {
		is_there = metric_store_i64(values, metric, (int64_t)value->number);
	} else {
		is_there = metric_store_u64(values, metric, value->number);
	}
	if (is_there)
		metric_set_add(&thread->record.measured, metric_id(metric));
	return NULL;
}

struct error *thread_columns_take(const struct thread_columns *columns,
				  const union store_value *values, struct ctprof_snapshot *snapshot,
				  struct ctprof_thread *thread)
{
	for (size_t i = SETS; i < columns->count; i++) {
		const enum metric_id id = columns->metrics[i];
		struct error *err;

		if (!(values[store_metric_bit(id) / 64].number >> (store_metric_bit(id) % 64) & 1))
			continue;
		err = take_value(snapshot, thread, &metrics[id], &values[i]);
		if (err)
			return err;
	}
	store_restore(&thread->record);
	return NULL;
}
