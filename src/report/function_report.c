/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/sum.h"
#include "base/units.h"
#include "profile/known_frames.h"
#include "profile/schema.h"
#include "report/flame_walk.h"
#include "report/profile_heading.h"
#include "report/profile_wording.h"
#include "report/visible.h"

/* A function, wherever it is in the tree. */
struct function_row {
	const struct flame_face *face; /* NULL: it has no time */
	uint64_t self, total;
	uint32_t on_path; /* how often it is above the node that is looked at */
};

struct function_rows {
	const struct flame *flame;
	struct function_row *items; /* by face */
	size_t count;
	unsigned char *known; /* enum known_frame, by face */
};

static bool is_passed_over(const struct function_rows *rows, const struct flame_node *node)
{
	const enum known_frame what = rows->known[node->face];

	return what == FRAME_SCHEDULER || what == FRAME_ENTRY;
}

/* What the node has itself while it waits is of the function that made it wait: its first caller
 * that neither gives the CPU away nor enters the kernel. */
static const struct flame_node *waiting_function(const struct function_rows *rows,
						 const struct flame_node *node)
{
	const struct flame_node *nodes = rows->flame->nodes.items, *at = node;

	if (rows->known[node->face] != FRAME_SCHEDULER)
		return node;
	while (at->parent != NODE_NONE && is_passed_over(rows, at))
		at = &nodes[at->parent];
	/* A group, or the root: no function waits. */
	return flame_face(rows->flame, at)->kind == FRAME_NOTE ? node : at;
}

static void add_self(struct function_rows *rows, const struct flame_node *node)
{
	const uint64_t on_cpu = flame_of_class(rows->flame, node, CLASS_ON_CPU).self;
	const uint64_t here = on_cpu < node->self ? on_cpu : node->self;
	struct function_row *itself = &rows->items[node->face];
	struct function_row *waits = &rows->items[waiting_function(rows, node)->face];

	if (rows->flame->is_events) {
		sum_add(&itself->self, node->self);
		return;
	}
	sum_add(&itself->self, here);
	sum_add(&waits->self, node->self - here);
}

/* A function that calls itself has its time once. */
static void enter(struct function_rows *rows, const struct flame_node *node)
{
	struct function_row *row = &rows->items[node->face];

	row->face = flame_face(rows->flame, node);
	if (!row->on_path++)
		sum_add(&row->total, node->total);
}

static void leave(struct function_rows *rows, const struct flame_node *node)
{
	rows->items[node->face].on_path--;
}

static void add_functions(struct function_rows *rows)
{
	const struct flame_node *nodes = rows->flame->nodes.items;
	uint32_t i = 0;

	while (i != NODE_NONE) {
		enter(rows, &nodes[i]);
		add_self(rows, &nodes[i]);
		if (nodes[i].first_child != NODE_NONE) {
			i = nodes[i].first_child;
			continue;
		}
		leave(rows, &nodes[i]);
		while (i && nodes[i].next == NODE_NONE) {
			i = nodes[i].parent;
			leave(rows, &nodes[i]);
		}
		i = i ? nodes[i].next : NODE_NONE;
	}
}

/* Groups are no functions, but a sample without a stack is in one. */
static bool is_function(const struct function_row *row)
{
	return row->face && (row->self || row->face->kind != FRAME_NOTE);
}

static int by_self(const void *a, const void *b)
{
	const struct function_row *x = a, *y = b;

	if (is_function(x) != is_function(y))
		return is_function(x) ? -1 : 1;
	if (!x->face || !y->face)
		return 0;
	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return name_compare(x->face->name, y->face->name);
}

enum function_field { SELF, SELF_SHARE, TOTAL, TOTAL_SHARE, FUNCTION, FILE_NAME };

static const struct table_column columns[] = {
	{ "self", .right = true, .field = SELF },
	{ "self %", .type = TABLE_PERCENT, .decimals = 1, .field = SELF_SHARE },
	{ "total", .right = true, .field = TOTAL },
	{ "total %", .type = TABLE_PERCENT, .decimals = 1, .field = TOTAL_SHARE },
	{ "function", .type = TABLE_TEXT, .field = FUNCTION },
	{ "in", .type = TABLE_TEXT, .field = FILE_NAME },
};

static void get_function_cell(const void *context, const void *row_,
			      const struct table_column *column, struct table_cell *ret)
{
	const struct function_rows *rows = context;
	const struct function_row *row = row_;
	const double whole = (double)rows->flame->nodes.items[0].total;
	const struct name *module = row->face->module;
	const char *slash = module ? strrchr(module->bytes, '/') : NULL;

	switch ((enum function_field)column->field) {
	case SELF:
		table_string(ret, flame_value(ret->buffer, rows->flame, row->self));
		return;
	case SELF_SHARE:
		table_real(ret, TABLE_PERCENT, 100 * share_of((double)row->self, whole));
		return;
	case TOTAL:
		table_string(ret, flame_value(ret->buffer, rows->flame, row->total));
		return;
	case TOTAL_SHARE:
		table_real(ret, TABLE_PERCENT, 100 * share_of((double)row->total, whole));
		return;
	case FUNCTION:
		table_text(ret, frame_shown_name(row->face->name));
		return;
	case FILE_NAME:
		if (slash)
			table_string(ret, slash + 1);
		else if (module && module->length)
			table_text(ret, name_text(module));
		else if (row->face->kind == FRAME_KERNEL)
			table_text(ret, TEXT("[kernel]"));
		return;
	}
}

static struct error *print_function_rows(FILE *out, const struct function_rows *rows,
					 const struct profile_style *style)
{
	size_t wanted = 0, shown;
	struct table table;
	uint64_t rest = 0;

	while (wanted < rows->count && is_function(&rows->items[wanted]) &&
	       (style->all || rows->items[wanted].self))
		wanted++;
	shown = rows_shown(style, wanted);
	table_begin(&table, columns, array_length(columns),
		    profile_table(out, style, get_function_cell, rows));
	for (size_t i = 0; i < shown && table_row(&table, &rows->items[i]); i++)
		;
	for (size_t i = shown; i < wanted; i++)
		sum_add(&rest, rows->items[i].self);
	print_more_rows(&table, wanted - shown, "function",
			rows->flame->is_events ? UNIT_COUNT : UNIT_NS, rest);
	return table_end(&table);
}

/* --- both outputs --- */

/* The rows, of which some may be no functions; none, if the flame is empty. */
static struct error *find_functions(struct function_rows *rows, const struct flame *flame)
{
	*rows = (struct function_rows){ .flame = flame,
					.count = flame->faces.count,
					.known = known_faces_of(flame) };
	rows->items = calloc(rows->count + 1, sizeof(*rows->items));
	if (!rows->items || !rows->known)
		return &error_no_memory;
	if (!flame->nodes.items[0].total)
		rows->count = 0;
	if (rows->count) {
		add_functions(rows);
		qsort(rows->items, rows->count, sizeof(*rows->items), by_self);
	}
	return NULL;
}

static void free_functions(struct function_rows *rows)
{
	free(rows->items);
	free(rows->known);
}

struct error *function_report(FILE *out, const struct profile_report *report,
			      const struct profile_style *style)
{
	struct function_rows rows;
	struct error *err = find_functions(&rows, report->flame);

	if (!err && rows.count) {
		print_heading(out, style, "Functions");
		err = print_function_rows(out, &rows, style);
	}
	free_functions(&rows);
	return err;
}

static void write_function(struct json_writer *w, const struct function_row *row, bool is_events)
{
	const struct flame_face *face = row->face;

	json_object_begin(w);
	json_key(w, "name");
	json_text(w, frame_shown_name(face->name));
	if (face->kind != FRAME_USER) {
		json_key(w, "kind");
		json_string(w, profile_kind_words.name(face->kind));
	}
	if (face->module && face->module->length) {
		json_key(w, "module");
		json_text(w, name_text(face->module));
	}
	json_key(w, is_events ? "self_count" : "self_ns");
	json_u64(w, row->self);
	json_key(w, is_events ? "total_count" : "total_ns");
	json_u64(w, row->total);
	json_object_end(w);
}

struct error *functions_json(struct json_writer *w, const void *report_)
{
	const struct profile_report *report = report_;
	struct function_rows rows;
	struct error *err;

	if (report->flame->is_diff)
		return NULL;
	err = find_functions(&rows, report->flame);
	if (!err && rows.count) {
		json_key(w, "functions");
		json_array_begin(w);
		for (size_t i = 0; i < rows.count && is_function(&rows.items[i]); i++)
			write_function(w, &rows.items[i], report->flame->is_events);
		json_array_end(w);
	}
	free_functions(&rows);
	return err;
}
