/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A flame graph as one SVG file, with zoom, search and tooltips if scripts run, otherwise a static
 * picture.
 *
 * Frames are in an <svg> of their own, with positions in percent of its width, so that they scale
 * with the window while text does not. A frame is a <g> with its depth; frames are in the order of
 * flame_next, from which the script derives callers. Stripes divide the height of a frame into the
 * shares that ran, were runnable, and were blocked.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/utf8.h"
#include "profile/flame_change.h"
#include "report/assets.h"
#include "report/flame_walk.h"
#include "report/markup.h"
#include "report/page.h"
#include "report/palette.h"
#include "report/profile_wording.h"
#include "report/stream.h"
#include "report/visible.h"

/* In pixels, of the picture as it is without a script. */
#define WIDTH        1200
#define MARGIN       10
#define INNER        (WIDTH - 2 * MARGIN)
#define ROW_HEIGHT   17
#define FRAME_HEIGHT 16 /* a pixel of each row is a gap */
#define HEAD_HEIGHT  92
#define FOOT_HEIGHT  46
#define LETTER       6.7   /* an advance of the font of frames, and a little */
#define NARROWEST    0.1   /* frames narrower than this are left out */
#define FRAMES_MOST  30000 /* else those that are wider, twice each time: browsers get slow */
#define STRIPED      2.0   /* frames narrower than this have one colour */

struct picture {
	FILE *out;
	const struct profile_report *report;
	const struct flame *flame;
	double *left;      /* of each node, as a share of the whole */
	uint32_t deepest;  /* of what is drawn */
	double narrowest;  /* in pixels, of frames that are drawn */
	uint64_t left_out; /* frames that are too narrow */
};

static const struct flame_node *node_at(const struct picture *p, uint32_t number)
{
	return &p->flame->nodes.items[number];
}

static double width_of(const struct picture *p, const struct flame_node *node)
{
	return share_of(flame_weight(p->flame, node),
			flame_weight(p->flame, &p->flame->nodes.items[0]));
}

static bool is_drawn(const struct picture *p, const struct flame_node *node)
{
	return node->parent == NODE_NONE || width_of(p, node) * INNER >= p->narrowest;
}

static void choose_narrowest(struct picture *p)
{
	size_t drawn;

	p->narrowest = NARROWEST / 2;
	do {
		p->narrowest *= 2;
		drawn = 0;
		for (size_t i = 0; i < p->flame->nodes.count; i++)
			drawn += is_drawn(p, &p->flame->nodes.items[i]);
	} while (drawn > FRAMES_MOST && p->narrowest < INNER);
}

/* Callees stand from the left edge of their caller; what is left at the right is its own. */
static struct error *lay_out(struct picture *p)
{
	p->left = calloc(p->flame->nodes.count, sizeof(*p->left));
	if (!p->left)
		return &error_no_memory;
	choose_narrowest(p);
	for (uint32_t i = 0; i != NODE_NONE; i = flame_next(p->flame, 0, i)) {
		double at = p->left[i];

		if (!is_drawn(p, node_at(p, i)))
			p->left_out++;
		else if (node_at(p, i)->depth > p->deepest)
			p->deepest = node_at(p, i)->depth;
		for (uint32_t c = node_at(p, i)->first_child; c != NODE_NONE;
		     c = node_at(p, c)->next) {
			p->left[c] = at;
			at += width_of(p, node_at(p, c));
		}
	}
	return NULL;
}

/* --- frames --- */

static void print_rect(const struct picture *p, uint32_t number, uint32_t y, uint32_t height,
		       const char *colour)
{
	fprintf(p->out,
		"<rect x=\"%.4f%%\" y=\"%" PRIu32 "\" width=\"%.4f%%\" height=\"%" PRIu32
		"\" fill=\"%s\"/>",
		100 * p->left[number], y, 100 * width_of(p, node_at(p, number)), height, colour);
}

/* The class of these in which the frame has most time; false if it has none. */
static bool largest_class(const struct picture *p, const struct flame_node *node, unsigned classes,
			  unsigned *ret)
{
	uint64_t most = 0;

	for (unsigned class = 0; class < CLASS_COUNT; class ++) {
		const uint64_t value = flame_of_class(p->flame, node, class).total;

		if ((classes >> class & 1) && value > most) {
			*ret = class;
			most = value;
		}
	}
	return most;
}

static double sum_of(const struct picture *p, const struct flame_node *node, unsigned classes)
{
	double sum = 0;

	for (unsigned class = 0; class < CLASS_COUNT; class ++)
		if (classes >> class & 1)
			sum += (double)flame_of_class(p->flame, node, class).total;
	return sum;
}

/* Stripes of a frame, from below: running, runnable, blocked. The eye does not distinguish more. */
static const unsigned stripes[] = {
	FLAME_ON_CPU | FLAME_EVENTS,
	1u << CLASS_RUNNABLE,
	FLAME_OFF_CPU & ~(1u << CLASS_RUNNABLE),
};

/* The frame in the colour of its largest class, and over it the stripes of the others, each in the
 * colour of its own largest. */
static void print_stripes(const struct picture *p, uint32_t number, uint32_t y)
{
	const struct flame_node *node = node_at(p, number);
	const struct flame_face *face = flame_face(p->flame, node);
	unsigned classes = flame_classes(p->flame), largest = 0, class = 0;
	double whole = sum_of(p, node, classes), sum = 0;
	char colour[COLOUR_TEXT_MAX];
	uint32_t bottom = 0;

	largest_class(p, node, classes, &largest);
	print_rect(p, number, y, FRAME_HEIGHT,
		   palette_colour(colour, largest, face->kind, face->name));
	if (width_of(p, node) * INNER < STRIPED)
		return;
	for (size_t i = 0; i < array_length(stripes); i++) {
		uint32_t top;

		sum += sum_of(p, node, classes & stripes[i]);
		top = (uint32_t)(FRAME_HEIGHT * share_of(sum, whole) + 0.5);
		if (top > bottom && !(stripes[i] >> largest & 1) &&
		    largest_class(p, node, classes & stripes[i], &class))
			print_rect(p, number, y + FRAME_HEIGHT - top, top - bottom,
				   palette_colour(colour, class, face->kind, face->name));
		bottom = top;
	}
}

/* Print as much of the name as fits; nothing if that would be meaningless. */
static struct error *print_label(const struct picture *p, uint32_t number, uint32_t y)
{
	const struct flame_node *node = node_at(p, number);
	double room = (width_of(p, node) * INNER - 6) / LETTER;
	_cleanup_free_ char *visible = NULL;
	struct error *err;
	size_t kept = 0, length;

	if (room < 3)
		return NULL;
	visible = text_visible(name_text(flame_name(p->flame, node)));
	if (!visible)
		return &error_no_memory;
	length = strlen(visible);
	if ((double)text_width(visible) <= room)
		kept = length;
	for (size_t columns = 0; kept < length && columns + 1 < (size_t)room; columns++)
		kept += utf8_sequence(visible + kept, length - kept);
	fprintf(p->out, "<text x=\"%.4f%%\" dx=\"3\" y=\"%" PRIu32 "\">", 100 * p->left[number],
		y + 12);
	err = markup_text(p->out, (struct text){ visible, kept });
	fputs(kept < length ? "…</text>" : "</text>", p->out);
	return err;
}

static struct error *print_details(const struct picture *p, uint32_t number)
{
	_cleanup_free_ char *text = NULL;
	struct error *err;
	size_t length;
	FILE *memory = open_memstream(&text, &length);

	if (!memory)
		return &error_no_memory;
	flame_details(memory, p->flame, number);
	if (!file_close_memory(memory, &text))
		return &error_no_memory;
	fputs("<title>", p->out);
	err = markup_text(p->out, (struct text){ text, length });
	fputs("</title>", p->out);
	return err;
}

/* What is not known to be real is grey. */
static const char *colour_of_change(const struct picture *p, uint32_t number,
				    char buffer[COLOUR_TEXT_MAX])
{
	const struct flame_changes *changes = p->flame->changes;

	return changes && !changes->nodes[number].is_coloured
		       ? PALETTE_UNKNOWN
		       : palette_change(buffer, flame_change(p->flame, node_at(p, number)));
}

static struct error *print_svg_frame(const struct picture *p, uint32_t number)
{
	const struct flame_node *node = node_at(p, number);
	uint32_t y = (p->deepest - node->depth) * ROW_HEIGHT;
	char colour[COLOUR_TEXT_MAX];
	struct error *err;

	fprintf(p->out, "<g data-d=\"%" PRIu32 "\">", node->depth);
	err = print_details(p, number);
	if (p->flame->is_diff)
		print_rect(p, number, y, FRAME_HEIGHT, colour_of_change(p, number, colour));
	else
		print_stripes(p, number, y);
	if (!err)
		err = print_label(p, number, y);
	fputs("</g>\n", p->out);
	return err;
}

static struct error *print_frames(const struct picture *p)
{
	struct error *err = NULL;

	fprintf(p->out,
		"<svg id=\"frames\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%" PRIu32
		"\" data-row=\"%d\">\n",
		MARGIN, HEAD_HEIGHT, INNER, (p->deepest + 1) * ROW_HEIGHT, ROW_HEIGHT);
	for (uint32_t i = 0; i != NODE_NONE && !err; i = flame_next(p->flame, 0, i))
		if (is_drawn(p, node_at(p, i)))
			err = print_svg_frame(p, i);
	fputs("</svg>\n", p->out);
	return err;
}

/* --- what stands around them --- */

/* The output of `print`, as a line at `y`. */
static struct error *print_svg_line(const struct picture *p, const char *class, uint32_t y,
				    void (*print)(FILE *out, const struct profile_report *report))
{
	_cleanup_free_ char *text = NULL;
	struct error *err;
	size_t length;
	FILE *memory = open_memstream(&text, &length);

	if (!memory)
		return &error_no_memory;
	print(memory, p->report);
	if (!file_close_memory(memory, &text))
		return &error_no_memory;
	fprintf(p->out, "<text class=\"%s\" x=\"%d\" y=\"%" PRIu32 "\">", class, MARGIN, y);
	err = markup_text(p->out, (struct text){ text, length });
	fputs("</text>\n", p->out);
	return err;
}

static void title_line(FILE *out, const struct profile_report *report)
{
	fputs(profile_title(report), out);
}

static void losses_line(FILE *out, const struct profile_report *report)
{
	const struct name *mode = report->profile->meta.mode;

	if (mode)
		fprintf(out, "mode %s, ", mode->bytes);
	profile_losses(out, report);
	if (report->flame->is_diff)
		fputs("; as wide as before and after together", out);
}

/* A square and its text; returns where the next may stand. */
static double print_key(const struct picture *p, double x, const char *colour, const char *text)
{
	fprintf(p->out,
		"<rect x=\"%.0f\" y=\"68\" width=\"11\" height=\"11\" rx=\"2\" fill=\"%s\"/>"
		"<text x=\"%.0f\" y=\"78\">%s</text>\n",
		x, colour, x + 16, text);
	return x + 16 + (double)text_width(text) * LETTER + 18;
}

static void print_class_keys(const struct picture *p)
{
	const struct flame_node *root = node_at(p, 0);
	unsigned classes = flame_classes(p->flame);
	double x = MARGIN;

	for (unsigned class = 0; class < CLASS_COUNT; class ++) {
		char colour[COLOUR_TEXT_MAX], value[UNITS_TEXT_MAX], text[160];

		if (!(classes >> class & 1))
			continue;
		snprintf(text, sizeof(text), "%s %s (%.1f%%)", profile_classes[class].name,
			 flame_value(value, p->flame, flame_of_class(p->flame, root, class).total),
			 100 * share_of((double)flame_of_class(p->flame, root, class).total,
					(double)root->total));
		x = print_key(p, x, palette_colour(colour, class, FRAME_USER, NULL), text);
	}
	print_key(p, x, "#9a9a9a", "darker: kernel");
}

static void print_legend(const struct picture *p)
{
	static const struct {
		double change;
		const char *text;
	} changes[] = {
		{ -1, "gone" }, { -0.3, "less" }, { 0, "the same" }, { 0.3, "more" }, { 1, "new" },
	};
	char colour[COLOUR_TEXT_MAX];
	double x = MARGIN;

	fputs("<g id=\"legend\">", p->out);
	if (!p->flame->is_diff)
		print_class_keys(p);
	else
		for (size_t i = 0; i < array_length(changes); i++)
			if (!p->flame->changes || changes[i].change != 0)
				x = print_key(p, x, palette_change(colour, changes[i].change),
					      changes[i].text);
	if (p->flame->changes)
		print_key(p, x, PALETTE_UNKNOWN,
			  p->flame->changes->is_approximate
				  ? "not known to differ (an approximation from one profile each)"
				  : "not known to differ");
	fputs("</g>\n", p->out);
}

static void print_foot(const struct picture *p, uint32_t height)
{
	fprintf(p->out, "<text id=\"details\" x=\"%d\" y=\"%" PRIu32 "\"></text>\n", MARGIN,
		height - FOOT_HEIGHT + 18);
	if (p->left_out)
		fprintf(p->out,
			"<text class=\"small\" x=\"%d\" y=\"%" PRIu32 "\">%" PRIu64
			" frame%s narrower than %.1f pixels left out</text>\n",
			MARGIN, height - 10, p->left_out, plural(p->left_out), p->narrowest);
}

/* Shown by the script, which makes them work. */
static void print_buttons(const struct picture *p)
{
	fputs("<g id=\"hud\" style=\"display:none\">"
	      "<g id=\"search\" class=\"button\" role=\"button\" tabindex=\"0\">"
	      "<title>Search by a regular expression (Ctrl-F, or /)</title>"
	      "<text x=\"100%\" dx=\"-14\" y=\"26\" text-anchor=\"end\">Search</text></g>"
	      "<g id=\"reset\" class=\"button\" role=\"button\" tabindex=\"0\">"
	      "<title>Show all again (Escape)</title>"
	      "<text x=\"100%\" dx=\"-84\" y=\"26\" text-anchor=\"end\">Reset</text></g>"
	      "<text id=\"matched\" x=\"100%\" dx=\"-14\" y=\"46\" text-anchor=\"end\"></text>"
	      "</g>\n",
	      p->out);
}

/* Elements have style attributes, of the picture as it is without scripts. */
const struct page_policy profile_svg_policy = {
	.scripts = (const enum asset[]){ ASSET_SVG_SCRIPT },
	.script_count = 1,
	.has_style_attributes = true,
};

/* The text of the element must be exactly the asset, as in pages (report/page.c). */
static void print_asset(const struct picture *p, const char *tag, enum asset asset)
{
	struct text text = asset_text(asset);

	fprintf(p->out, "<%s><![CDATA[", tag);
	fwrite(text.bytes, 1, text.length, p->out);
	fprintf(p->out, "]]></%s>\n", tag);
}

/* On paper of its own: the script keeps it at the top of the window, over frames that are behind
 * it. */
static struct error *print_head(const struct picture *p)
{
	struct error *err;

	fprintf(p->out, "<g id=\"head\"><rect class=\"paper\" width=\"100%%\" height=\"%d\"/>\n",
		HEAD_HEIGHT - 4);
	err = print_svg_line(p, "heading", 28, title_line);
	if (!err)
		err = print_svg_line(p, "small", 45, profile_origin);
	if (!err)
		err = print_svg_line(p, "small", 59, losses_line);
	print_legend(p);
	print_buttons(p);
	fputs("</g>\n", p->out);
	return err;
}

static struct error *print_all(struct picture *p)
{
	uint32_t height = HEAD_HEIGHT + (p->deepest + 1) * ROW_HEIGHT + FOOT_HEIGHT;
	struct error *err;

	fprintf(p->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
		"<svg version=\"1.1\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%" PRIu32 "\" viewBox=\"0 0 %d %" PRIu32 "\">\n",
		WIDTH, height, WIDTH, height);
	print_asset(p, "style", ASSET_SVG_STYLE);
	fputs("<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n", p->out);
	err = print_frames(p);
	if (!err)
		err = print_head(p);
	print_foot(p, height);
	print_asset(p, "script", ASSET_SVG_SCRIPT);
	fputs("</svg>\n", p->out);
	return err;
}

struct error *profile_print_svg(const struct profile_report *report, json_sink sink, void *context)
{
	struct picture p = { .report = report, .flame = report->flame };
	struct error *err = lay_out(&p);
	struct stream stream;

	if (!err)
		err = stream_open(&stream, sink, context);
	if (!err) {
		p.out = stream.out;
		err = print_all(&p);
		err = error_first(err, stream_close(&stream));
	}
	free(p.left);
	return err;
}
