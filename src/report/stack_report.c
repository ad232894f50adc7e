/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "report/flame_walk.h"
#include "report/profile_heading.h"
#include "report/profile_wording.h"

/* Frames of a chain that is longer are cut out of its middle. */
#define CHAIN_MAX  30
#define CHAIN_HEAD 8
#define CHAIN_TAIL 16

/* What a tree is drawn with. */
struct strokes {
	const char *branch, *last, *pass, *space, *arrow, *dots;
};
static const struct strokes unicode_strokes = { "├─ ", "└─ ", "│  ", "   ", "←", "…" };
static const struct strokes ascii_strokes = { "|- ", "`- ", "|  ", "   ", "<-", "..." };

struct tree {
	FILE *out;
	const struct flame *flame;
	const struct profile_style *style;
	const struct strokes *strokes;
	uint32_t *stacks; /* nodes with time of their own that are shown, heaviest first */
	size_t count;     /* of them */
	size_t left_out;
	double left_out_value;
	bool *is_stack, *is_shown; /* of each node; callers of what is shown are shown */
	struct {
		ARRAY(char);
	} prefix; /* of the line that is printed, before its branch */
};

static const struct flame_node *node_at(const struct tree *t, uint32_t number)
{
	return &t->flame->nodes.items[number];
}

/* --- which are shown --- */

static double size_of(const struct flame *flame, const struct flame_node *node, bool self)
{
	double before = (double)(self ? node->self_baseline : node->baseline);
	double after = (double)(self ? node->self : node->total);

	return flame->is_diff ? fabs(after - before) : after;
}

static int by_self(const void *a, const void *b, void *context)
{
	const struct flame *flame = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	double x = size_of(flame, &flame->nodes.items[i], true);
	double y = size_of(flame, &flame->nodes.items[k], true);

	return x != y ? (x < y) - (x > y) : (i > k) - (i < k);
}

static int by_total(const void *a, const void *b, void *context)
{
	const struct flame *flame = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	double x = size_of(flame, &flame->nodes.items[i], false);
	double y = size_of(flame, &flame->nodes.items[k], false);

	return x != y ? (x < y) - (x > y) : (i > k) - (i < k);
}

static double whole_of(const struct flame *flame)
{
	const struct flame_node *root = &flame->nodes.items[0];

	return (double)(root->total > root->baseline ? root->total : root->baseline);
}

/* At least the heaviest. */
static void choose(struct tree *t)
{
	double least = t->style->least_share > 0 ? t->style->least_share : PROFILE_LEAST_SHARE;
	size_t all = 0, limit = rows_wanted(t->style);

	for (uint32_t i = 0; i < t->flame->nodes.count; i++)
		if (size_of(t->flame, node_at(t, i), true) > 0)
			t->stacks[all++] = i;
	qsort_r(t->stacks, all, sizeof(*t->stacks), by_self, (void *)(uintptr_t)t->flame);
	for (size_t i = 0; i < all; i++) {
		uint32_t node = t->stacks[i];
		double size = size_of(t->flame, node_at(t, node), true);

		if (i >= limit || (i && size < least * whole_of(t->flame))) {
			t->left_out = all - i;
			for (; i < all; i++)
				t->left_out_value +=
					size_of(t->flame, node_at(t, t->stacks[i]), true);
			break;
		}
		t->count++;
		t->is_stack[node] = true;
		for (; node != NODE_NONE && !t->is_shown[node]; node = node_at(t, node)->parent)
			t->is_shown[node] = true;
	}
}

struct children {
	ARRAY(uint32_t);
};

/* Heaviest first. */
static struct error *shown_children(const struct tree *t, uint32_t node, struct children *ret)
{
	for (uint32_t c = node_at(t, node)->first_child; c != NODE_NONE; c = node_at(t, c)->next)
		if (t->is_shown[c] && !array_push(ret, c))
			return &error_no_memory;
	if (ret->count)
		qsort_r(ret->items, ret->count, sizeof(*ret->items), by_total,
			(void *)(uintptr_t)t->flame);
	return NULL;
}

/* --- lines --- */

/* At the right of `width` columns: "µ" takes one of them and two bytes. */
static void print_right(FILE *out, int width, const char *text)
{
	fprintf(out, "%*s", width + (int)(strlen(text) - text_width(text)), text);
}

#define NUMBERS_WIDTH      21
#define DIFF_NUMBERS_WIDTH 37

/* `node` NULL: none. */
static void print_numbers(const struct tree *t, const struct flame_node *node)
{
	const uint64_t values[2] = { node ? node->baseline : 0, node ? node->total : 0 };
	char value[UNITS_TEXT_MAX];

	if (!node) {
		fprintf(t->out, "%*s", t->flame->is_diff ? DIFF_NUMBERS_WIDTH : NUMBERS_WIDTH, "");
	} else if (t->flame->is_diff) {
		print_right(t->out, 11, flame_value(value, t->flame, node->baseline));
		print_right(t->out, 11, flame_value(value, t->flame, node->total));
		print_right(t->out, 13, flame_delta(value, t->flame, values));
		fputs("  ", t->out);
	} else {
		fprintf(t->out, "%7.2f%% ",
			100 * share_of((double)node->total, whole_of(t->flame)));
		print_right(t->out, 10, flame_value(value, t->flame, node->total));
		fputs("  ", t->out);
	}
}

/* What a stack is: its classes, and how often. */
static void print_stack_note(FILE *note, const struct tree *t, const struct flame_node *node)
{
	unsigned classes = flame_classes(t->flame), largest = 0;
	char value[UNITS_TEXT_MAX];
	bool is_whole = node->self == node->total;
	bool has_count = is_whole && node->count && !t->flame->is_events;

	for (unsigned class = 0; class < CLASS_COUNT; class ++)
		if ((classes >> class & 1) &&
		    node->self_by_class[class] > node->self_by_class[largest])
			largest = class;
	fprintf(note, "  %s ", t->strokes->arrow);
	if (!is_whole)
		fprintf(note, "itself %s, ", flame_value(value, t->flame, node->self));
	fputs(profile_classes[largest].name, note);
	if (node->self_by_class[largest] < node->self)
		fprintf(note, " %.0f%%",
			100 * share_of((double)node->self_by_class[largest], (double)node->self));
	if (has_count)
		fprintf(note, ", %" PRIu64 " %s%s", node->count,
			profile_classes[largest].is_off_cpu ? "time" : "sample",
			plural(node->count));
	if (has_count && node->count > 1 && profile_classes[largest].is_off_cpu)
		fprintf(note, ", %s each", units_format(value, UNIT_NS, node->self / node->count));
}

/* Cut to the terminal, where there is one. */
static void print_cut(const struct tree *t, const char *text)
{
	size_t used = t->flame->is_diff ? DIFF_NUMBERS_WIDTH : NUMBERS_WIDTH, length = strlen(text),
	       fits = length;

	for (size_t i = 0; i < t->prefix.count; i++)
		used += (t->prefix.items[i] & 0xc0) != 0x80;
	if (t->style->width && text_width(text) + used > t->style->width)
		fits = used + 4 < t->style->width
			       ? text_fitting(text, length,
					      t->style->width - used - text_width(t->strokes->dots))
			       : 0;
	fprintf(t->out, "%.*s%s\n", (int)fits, text, fits < length ? t->strokes->dots : "");
}

static void print_prefix(const struct tree *t)
{
	if (t->prefix.count)
		fwrite(t->prefix.items, 1, t->prefix.count, t->out);
}

static struct error *print_node(const struct tree *t, uint32_t number, const char *branch,
				bool numbers)
{
	const struct flame_node *node = node_at(t, number);
	_cleanup_free_ char *text = NULL, *visible = NULL;
	size_t length;
	FILE *line = open_memstream(&text, &length);

	if (!line)
		return &error_no_memory;
	visible = text_visible(name_text(node->name));
	fprintf(line, "%s%s%s", branch, visible ? visible : "",
		node->kind == FRAME_KERNEL ? " [k]"
		: node->inlined            ? " [i]"
					   : "");
	if (t->is_stack[number] && !t->flame->is_diff)
		print_stack_note(line, t, node);
	if (fclose(line) != 0 || !visible)
		return &error_no_memory;
	print_numbers(t, numbers ? node : NULL);
	print_prefix(t);
	print_cut(t, text);
	return NULL;
}

static void print_gap(const struct tree *t, const char *branch, size_t frames)
{
	print_numbers(t, NULL);
	print_prefix(t);
	fprintf(t->out, "%s%s %zu frames %s\n", branch, t->strokes->dots, frames, t->strokes->dots);
}

static bool push_prefix(struct tree *t, const char *text)
{
	size_t length = strlen(text);

	if (!array_reserve(&t->prefix, length))
		return false;
	if (length)
		memcpy(t->prefix.items + t->prefix.count, text, length);
	t->prefix.count += length;
	return true;
}

/* --- the tree --- */

/* Down from `node` for as long as there is one way to go. */
static struct error *find_chain(const struct tree *t, uint32_t node, struct children *chain,
				struct children *ret_children)
{
	for (;;) {
		struct error *err;

		if (!array_push(chain, node))
			return &error_no_memory;
		ret_children->count = 0;
		err = shown_children(t, node, ret_children);
		if (err || ret_children->count != 1 || t->is_stack[node])
			return err;
		node = ret_children->items[0];
	}
}

/* Numbers stand where they are others than on the line above: what is not shown parts there. */
static bool has_same_numbers(const struct flame_node *a, const struct flame_node *b)
{
	return a->total == b->total && a->baseline == b->baseline;
}

static struct error *print_chain(const struct tree *t, const struct children *chain,
				 const char *branch, const char *below)
{
	bool is_long = chain->count > CHAIN_MAX;
	struct error *err = NULL;

	for (size_t i = 0; i < chain->count && !err; i++) {
		if (is_long && i == CHAIN_HEAD) {
			print_gap(t, below, chain->count - CHAIN_HEAD - CHAIN_TAIL);
			i = chain->count - CHAIN_TAIL;
		}
		err = print_node(t, chain->items[i], i ? below : branch,
				 !i || !has_same_numbers(node_at(t, chain->items[i]),
							 node_at(t, chain->items[i - 1])));
	}
	return err;
}

/* Ways part at most as often as there are stacks, so that is how deep this goes. */
static struct error *print_branch(struct tree *t, uint32_t node, const char *branch,
				  const char *below)
{
	struct children chain = { 0 }, children = { 0 };
	struct error *err = find_chain(t, node, &chain, &children);
	size_t before = t->prefix.count;

	if (!err)
		err = print_chain(t, &chain, branch, below);
	if (!err && !push_prefix(t, below))
		err = &error_no_memory;
	for (size_t i = 0; i < children.count && !err; i++) {
		bool last = i + 1 == children.count;

		err = print_branch(t, children.items[i],
				   last ? t->strokes->last : t->strokes->branch,
				   last ? t->strokes->space : t->strokes->pass);
	}
	t->prefix.count = before;
	array_deinit(&chain);
	array_deinit(&children);
	return err;
}

static void print_left_out(const struct tree *t)
{
	char value[UNITS_TEXT_MAX];

	if (t->left_out)
		fprintf(t->out, "\n%s %zu more stack%s with %s (%.2f%%)\n", t->strokes->dots,
			t->left_out, plural(t->left_out),
			flame_value(value, t->flame, (uint64_t)t->left_out_value),
			100 * share_of(t->left_out_value, whole_of(t->flame)));
}

/* What stands at the root is a tree each: groups, or the first functions. */
static struct error *print_trees(struct tree *t)
{
	struct children tops = { 0 };
	struct error *err = shown_children(t, 0, &tops);

	fputs(t->flame->is_diff ? "     before      after       change  stack\n"
				: "   share       time  stack\n",
	      t->out);
	for (size_t i = 0; i < tops.count && !err; i++) {
		if (i)
			fputc('\n', t->out);
		err = print_branch(t, tops.items[i], "", "");
	}
	if (!err)
		print_left_out(t);
	array_deinit(&tops);
	return err;
}

struct error *stack_report(FILE *out, const struct profile_report *report,
			   const struct profile_style *style)
{
	size_t nodes = report->flame->nodes.count;
	struct tree t = { .out = out,
			  .flame = report->flame,
			  .style = style,
			  .strokes = style->utf8 ? &unicode_strokes : &ascii_strokes,
			  .stacks = calloc(nodes, sizeof(*t.stacks)),
			  .is_stack = calloc(nodes, sizeof(*t.is_stack)),
			  .is_shown = calloc(nodes, sizeof(*t.is_shown)) };
	struct error *err = t.stacks && t.is_stack && t.is_shown ? NULL : &error_no_memory;

	if (!err)
		choose(&t);
	if (t.count) {
		print_heading(out, style, "Stacks");
		err = print_trees(&t);
	}
	free(t.stacks);
	free(t.is_stack);
	free(t.is_shown);
	array_deinit(&t.prefix);
	return err;
}
