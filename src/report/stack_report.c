/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/file.h"
#include "profile/flame_change.h"
#include "profile/known_frames.h"
#include "profile/reason.h"
#include "report/flame_walk.h"
#include "report/profile_heading.h"
#include "report/profile_wording.h"

/* Lines of a chain that is longer are cut out of its middle. */
#define CHAIN_MAX  12
#define CHAIN_HEAD 4
#define CHAIN_TAIL 6

/* A node while the tree is chosen. */
struct choice {
	double weight;   /* of it with all that it called */
	double rest;     /* of that, what its children that are shown do not have */
	uint32_t stacks; /* with time of their own, from it on */
	bool is_shown, has_shown_child;
	bool is_said; /* its line says what it is: for itself, or at a tip for all from it on */
};

/* The drawing of a tree. */
struct strokes {
	const char *branch, *last, *pass, *space, *arrow, *dots, *times;
};
static const struct strokes unicode_strokes = { "├─ ", "└─ ", "│  ", "   ", "←", "…", "×" };
static const struct strokes ascii_strokes = { "|- ", "`- ", "|  ", "   ", "<-", "...", "x" };

struct tree {
	FILE *out;
	const struct flame *flame;
	const struct profile_style *style;
	const struct strokes *strokes;
	struct choice *choices; /* of each node */
	unsigned char *known;   /* enum known_frame, of each face */
	size_t tips;            /* where the tree ends */
	size_t left_out;        /* stacks that no line stands for */
	double left_out_value;
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
	const struct flame_value baseline = flame_baseline(flame, node);
	const struct flame_changes *changes = flame->changes;
	double before = (double)(self ? baseline.self : baseline.total);
	double after = (double)(self ? node->self : node->total);

	/* What may be chance weighs nothing. */
	if (changes && !changes->nodes[node - flame->nodes.items].is_coloured)
		return 0;
	return flame->is_diff ? fabs(after - before) : after;
}

static int by_total(const void *a, const void *b, void *context)
{
	const struct flame *flame = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	double x = size_of(flame, &flame->nodes.items[i], false);
	double y = size_of(flame, &flame->nodes.items[k], false);

	return x != y ? (x < y) - (x > y) : (i > k) - (i < k);
}

static int by_weight(const void *a, const void *b, void *context)
{
	const struct choice *choices = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	double x = choices[i].weight, y = choices[k].weight;

	return x != y ? (x < y) - (x > y) : (i > k) - (i < k);
}

static double whole_of(const struct flame *flame)
{
	const struct flame_node *root = &flame->nodes.items[0];
	const uint64_t baseline = flame_baseline(flame, root).total;

	return (double)(root->total > baseline ? root->total : baseline);
}

/* A difference may be in two places and cancel out in their caller: the larger one counts. */
static void weigh_tree(struct tree *t)
{
	struct choice *choices = t->choices;

	for (uint32_t i = (uint32_t)t->flame->nodes.count; i-- > 0;) {
		const double own = size_of(t->flame, node_at(t, i), false);
		struct choice *parent = i ? &choices[node_at(t, i)->parent] : NULL;

		if (choices[i].weight < own)
			choices[i].weight = own;
		choices[i].rest = choices[i].weight;
		choices[i].stacks += size_of(t->flame, node_at(t, i), true) > 0;
		if (!parent)
			break;
		parent->stacks += choices[i].stacks;
		if (parent->weight < choices[i].weight)
			parent->weight = choices[i].weight;
	}
}

/* While the tree has few leaves, also show a small node that has this share of the rest of its
 * parent. */
#define REST_SHARE 0.2
/* Below a node, follow one that has this share of it. */
#define MOST_SHARE 0.5
#define FEW_TIPS   5

/* Callers weigh at least as much as what they call, so they come first. */
static bool is_chosen(const struct tree *t, uint32_t node, double least)
{
	const struct choice *c = &t->choices[node], *parent;
	const size_t limit = rows_wanted(t->style);
	bool is_tip;

	if (!node || !(c->weight > 0))
		return false;
	parent = &t->choices[node_at(t, node)->parent];
	is_tip = parent->has_shown_child || !node_at(t, node)->parent;
	if (!parent->is_shown || (is_tip && t->tips >= limit))
		return false;
	if (!t->tips || c->weight >= least)
		return true;
	/* Beside what takes nearly all, as one long sleep does, the rest is to be seen too. */
	if (is_tip)
		return t->tips < FEW_TIPS && c->weight >= REST_SHARE * parent->rest;
	return c->weight >= MOST_SHARE * parent->weight;
}

/* Sum up the chosen lines, and the time that no line shows. */
static void find_left_out(struct tree *t, double least)
{
	for (uint32_t i = 0; i < t->flame->nodes.count; i++) {
		const double own = size_of(t->flame, node_at(t, i), true);
		struct choice *c = &t->choices[i];
		const struct choice *parent = i ? &t->choices[node_at(t, i)->parent] : NULL;

		if (c->is_shown)
			c->is_said = i && (!c->has_shown_child || (own > 0 && own >= least));
		else
			c->is_said = parent->is_said && !parent->has_shown_child;
		if (own > 0 && !c->is_said) {
			t->left_out++;
			t->left_out_value += own;
		}
	}
}

static double least_share(const struct profile_style *style)
{
	if (style->all)
		return 0;
	return style->least_share > 0 ? style->least_share : PROFILE_LEAST_SHARE;
}

/* Choose nodes by inclusive time, so that functions whose time is in many callees are shown. */
static struct error *choose(struct tree *t)
{
	const double least = least_share(t->style) * whole_of(t->flame);
	const uint32_t count = (uint32_t)t->flame->nodes.count;
	_cleanup_free_ uint32_t *order = calloc(count, sizeof(*order));

	t->choices = calloc(count, sizeof(*t->choices));
	if (!order || !t->choices)
		return &error_no_memory;
	weigh_tree(t);
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), by_weight, t->choices);
	t->choices[0].is_shown = true;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t node = order[i];
		struct choice *parent;

		if (!is_chosen(t, node, least))
			continue;
		parent = &t->choices[node_at(t, node)->parent];
		t->tips += parent->has_shown_child || !node_at(t, node)->parent;
		parent->has_shown_child = true;
		parent->rest -= t->choices[node].weight;
		t->choices[node].is_shown = true;
	}
	find_left_out(t, least);
	return NULL;
}

struct children {
	ARRAY(uint32_t);
};

/* Heaviest first. */
static struct error *shown_children(const struct tree *t, uint32_t node, struct children *ret)
{
	for (uint32_t c = node_at(t, node)->first_child; c != NODE_NONE; c = node_at(t, c)->next)
		if (t->choices[c].is_shown && !array_push(ret, c))
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
	const uint64_t values[2] = { node ? flame_baseline(t->flame, node).total : 0,
				     node ? node->total : 0 };
	char value[UNITS_TEXT_MAX];

	if (!node) {
		fprintf(t->out, "%*s", t->flame->is_diff ? DIFF_NUMBERS_WIDTH : NUMBERS_WIDTH, "");
	} else if (t->flame->is_diff) {
		print_right(t->out, 11, flame_value(value, t->flame, values[0]));
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

static uint64_t value_of_class(const struct tree *t, const struct flame_node *node, unsigned class,
			       bool with_called)
{
	const struct flame_value value = flame_of_class(t->flame, node, class);

	return with_called ? value.total : value.self;
}

/* Why it has most of its time, which is in this class: the class itself where that is unknown. */
static const char *reason_name(const struct flame_node *node, unsigned class)
{
	const enum reason reason = reason_of_state(node->state);

	if (class == CLASS_RUNNABLE)
		return reason_rows[REASON_CPU_WAIT].name;
	/* The largest sample may be of another class. */
	if (!profile_classes[class].is_off_cpu || reason == REASON_UNKNOWN ||
	    reason == REASON_ON_CPU || reason == REASON_CPU_WAIT)
		return profile_classes[class].name;
	return reason_rows[reason].name;
}

/* A stack, or all below the end of the tree: its reason, and how often. */
static void print_stack_note(FILE *note, const struct tree *t, uint32_t number)
{
	const struct flame_node *node = node_at(t, number);
	const struct choice *choice = &t->choices[number];
	const bool is_tip = !choice->has_shown_child;
	const uint64_t value = is_tip ? node->total : node->self;
	const bool has_count = is_tip && node->count && !t->flame->is_events;
	unsigned classes = flame_classes(t->flame), largest = 0;
	uint64_t most = value_of_class(t, node, largest, is_tip);
	char text[UNITS_TEXT_MAX];

	for (unsigned class = 0; class < CLASS_COUNT; class ++) {
		const uint64_t of_class = value_of_class(t, node, class, is_tip);

		if ((classes >> class & 1) && of_class > most) {
			largest = class;
			most = of_class;
		}
	}
	fprintf(note, "  %s ", t->strokes->arrow);
	if (!is_tip)
		fprintf(note, "itself %s, ", flame_value(text, t->flame, value));
	fputs(reason_name(node, largest), note);
	if (share_of((double)most, (double)value) < 0.995)
		fprintf(note, " %.0f%%", 100 * share_of((double)most, (double)value));
	if (is_tip && choice->stacks > 1)
		fprintf(note, ", %" PRIu32 " stacks", choice->stacks);
	if (has_count)
		fprintf(note, ", %" PRIu64 " %s%s", node->count,
			profile_classes[largest].is_off_cpu ? "time" : "sample",
			plural(node->count));
	if (has_count && node->count > 1 && profile_classes[largest].is_off_cpu)
		fprintf(note, ", %s each", units_format(text, UNIT_NS, most / node->count));
}

/* A number would look like another: cut before it. */
static size_t before_number(const char *text, size_t cut)
{
	size_t word = cut;

	while (word && text[word - 1] != ' ')
		word--;
	return word && isdigit((unsigned char)text[word]) ? word - 1 : cut;
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
	if (fits < length)
		fits = before_number(text, fits);
	fprintf(t->out, "%.*s%s\n", (int)fits, text, fits < length ? t->strokes->dots : "");
}

static void print_prefix(const struct tree *t)
{
	if (t->prefix.count)
		fwrite(t->prefix.items, 1, t->prefix.count, t->out);
}

/* A line of a chain: nodes that look alike are one, and frames that are passed over are in none. */
struct chain_line {
	uint32_t node;
	uint32_t tip; /* the node whose note is at its end: `node`, or one that is passed over */
	uint32_t times;
};

struct chain_lines {
	ARRAY(struct chain_line);
};

static struct error *print_node(const struct tree *t, const struct chain_line *shown,
				const char *branch, bool numbers)
{
	const struct flame_node *node = node_at(t, shown->node);
	const struct flame_face *face = flame_face(t->flame, node);
	_cleanup_free_ char *text = NULL, *visible = NULL;
	size_t length;
	FILE *line = open_memstream(&text, &length);

	if (!line)
		return &error_no_memory;
	visible = text_visible(frame_shown_name(face->name));
	fprintf(line, "%s%s%s", branch, visible ? visible : "",
		face->kind == FRAME_KERNEL ? " [k]"
		: face->inlined            ? " [i]"
					   : "");
	if (shown->times > 1)
		fprintf(line, " %s%" PRIu32, t->strokes->times, shown->times);
	if (t->choices[shown->tip].is_said && !t->flame->is_diff)
		print_stack_note(line, t, shown->tip);
	if (!file_close_memory(line, &text) || !visible)
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
		if (err || ret_children->count != 1 || t->choices[node].is_said)
			return err;
		node = ret_children->items[0];
	}
}

/* Numbers are printed where they differ from the line above, since hidden frames branch off there.
 */
static bool has_same_numbers(const struct tree *t, uint32_t a, uint32_t b)
{
	const struct flame_node *x = node_at(t, a), *y = node_at(t, b);

	return x->total == y->total &&
	       flame_baseline(t->flame, x).total == flame_baseline(t->flame, y).total;
}

static enum known_frame known_at(const struct tree *t, const struct children *chain, size_t i)
{
	return t->known[node_at(t, chain->items[i])->face];
}

/* Frames that begin a thread or enter the kernel only take room, unless ways part there, and so do
 * those of the scheduler at the end of a chain. */
static bool is_passed_over(const struct tree *t, const struct children *chain, size_t i)
{
	const enum known_frame what = known_at(t, chain, i);

	if (t->style->all)
		return false;
	if (what == FRAME_START || what == FRAME_ENTRY)
		return i + 1 < chain->count;
	if (what != FRAME_SCHEDULER || !i)
		return false;
	for (; i < chain->count; i++)
		if (known_at(t, chain, i) != FRAME_SCHEDULER ||
		    !has_same_numbers(t, chain->items[i], chain->items[i - 1]))
			return false;
	return true;
}

/* Does the node look like the one of the line above it? Side ways of nameless frames are not
 * missed. */
static bool is_repeated(const struct tree *t, const struct chain_line *line, uint32_t node)
{
	const struct flame_face *a = flame_face(t->flame, node_at(t, line->node));
	const struct flame_face *b = flame_face(t->flame, node_at(t, node));

	return line->node == line->tip && !t->choices[line->tip].is_said && a->name == b->name &&
	       a->kind == b->kind && a->inlined == b->inlined &&
	       (has_same_numbers(t, line->node, node) ||
		(!t->style->all && text_equal(name_text(a->name), TEXT("[unknown]"))));
}

static struct error *find_lines(const struct tree *t, const struct children *chain,
				struct chain_lines *ret)
{
	for (size_t i = 0; i < chain->count; i++) {
		const uint32_t node = chain->items[i];
		struct chain_line *last = ret->count ? &ret->items[ret->count - 1] : NULL;

		if (is_passed_over(t, chain, i)) {
			if (last && i + 1 == chain->count)
				last->tip = node;
		} else if (last && is_repeated(t, last, node)) {
			last->times++;
			last->tip = i + 1 == chain->count ? node : last->node;
		} else if (!array_push(ret, (struct chain_line){ node, node, 1 })) {
			return &error_no_memory;
		}
	}
	/* A preempted thread: the interrupt, and the scheduler. */
	if (!ret->count &&
	    !array_push(ret,
			(struct chain_line){ chain->items[0], chain->items[chain->count - 1], 1 }))
		return &error_no_memory;
	return NULL;
}

static size_t frames_of(const struct chain_lines *lines, size_t first, size_t end)
{
	size_t frames = 0;

	for (size_t i = first; i < end; i++)
		frames += lines->items[i].times;
	return frames;
}

static struct error *print_chain(const struct tree *t, const struct children *chain,
				 const char *branch, const char *below)
{
	struct chain_lines lines = { 0 };
	struct error *err = find_lines(t, chain, &lines);
	const bool is_long = lines.count > CHAIN_MAX && !t->style->all;
	const size_t tail = lines.count - (is_long ? CHAIN_TAIL : 0);

	for (size_t i = 0; i < lines.count && !err; i++) {
		if (is_long && i == CHAIN_HEAD) {
			print_gap(t, below, frames_of(&lines, i, tail));
			i = tail;
		}
		err = print_node(
			t, &lines.items[i], i ? below : branch,
			!i || !has_same_numbers(t, lines.items[i].node, lines.items[i - 1].node));
	}
	array_deinit(&lines);
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
		fprintf(t->out, "\n%s %zu more stack%s with %s (%.2f%%): --all\n", t->strokes->dots,
			t->left_out, plural(t->left_out),
			flame_value(value, t->flame, (uint64_t)t->left_out_value),
			100 * share_of(t->left_out_value, whole_of(t->flame)));
}

/* Print one tree for each node below the root: a group, or an outermost function. */
static struct error *print_trees(struct tree *t)
{
	struct children tops = { 0 };
	struct error *err = shown_children(t, 0, &tops);

	fputs(t->flame->is_diff     ? "     before      after       change  stack\n"
	      : t->flame->is_events ? "   share      count  stack\n"
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
	struct tree t = { .out = out,
			  .flame = report->flame,
			  .style = style,
			  .strokes = style->utf8 ? &unicode_strokes : &ascii_strokes,
			  .known = known_faces_of(report->flame) };
	struct error *err = t.known ? choose(&t) : &error_no_memory;

	if (!err && t.tips) {
		print_heading(out, style, "Stacks");
		err = print_trees(&t);
	}
	free(t.choices);
	free(t.known);
	array_deinit(&t.prefix);
	return err;
}
