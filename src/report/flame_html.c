/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A flame as one page of HTML: what is in it as JSON, and the scripts of assets/ that draw it.
 */
#include <stdlib.h>

#include "base/file.h"
#include "profile/flame_change.h"
#include "report/assets.h"
#include "report/flame_part.h"
#include "report/flame_walk.h"
#include "report/markup.h"
#include "report/page.h"
#include "report/palette.h"
#include "report/profile_wording.h"
#include "report/stream.h"

/* Escape the characters that HTML interprets; in JSON they occur in strings only. So no name ends
 * the element that holds it. */
static struct error *write_escaped(void *context, const void *bytes, size_t length)
{
	struct text rest = { bytes, length };

	while (rest.length) {
		size_t plain = 0;

		while (plain < rest.length && !memchr("<>&", rest.bytes[plain], 3))
			plain++;
		fwrite(rest.bytes, 1, plain, context);
		if (plain < rest.length)
			fprintf(context, "\\u%04x", (unsigned)rest.bytes[plain++]);
		rest.bytes += plain;
		rest.length -= plain;
	}
	return NULL;
}

/* --- strings, each once --- */

/* The number of a name in `strings`, which it is written to when it is new. */
static struct error *write_string(struct json_writer *w, struct word_map *strings,
				  const struct name *name)
{
	uint32_t *number = word_map_at(strings, (struct words){ { (uintptr_t)name } });

	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		*number = (uint32_t)strings->count - 1;
		json_text(w, name_text(name));
	}
	return NULL;
}

static struct error *write_strings(struct json_writer *w, const struct flame *flame,
				   struct word_map *strings)
{
	struct error *err = NULL;

	json_key(w, "strings");
	json_array_begin(w);
	for (size_t i = 0; i < flame->nodes.count && !err; i++) {
		const struct flame_face *face = flame_face(flame, &flame->nodes.items[i]);

		err = write_string(w, strings, face->name);
		if (!err && face->module)
			err = write_string(w, strings, face->module);
	}
	json_array_end(w);
	return err;
}

/* --- nodes --- */

static uint32_t string_number(const struct word_map *strings, const struct name *name)
{
	return word_map_find(strings, (struct words){ { (uintptr_t)name } });
}

/* [depth, name, module or -1, kind, inlined, count, self before, then class and its self...] */
static void write_node(struct json_writer *w, const struct flame *flame,
		       const struct word_map *strings, const struct flame_node *node)
{
	const struct flame_face *face = flame_face(flame, node);
	unsigned classes = flame_classes(flame);

	json_array_begin(w);
	json_u64(w, node->depth);
	json_u64(w, string_number(strings, face->name));
	json_i64(w, face->module ? (int64_t)string_number(strings, face->module) : -1);
	json_u64(w, face->kind);
	json_u64(w, face->inlined);
	json_u64(w, node->count);
	json_u64(w, flame_baseline(flame, node).self);
	for (unsigned class = 0; class < CLASS_COUNT; class ++) {
		const uint64_t self = flame_of_class(flame, node, class).self;

		if (!(classes >> class & 1) || !self)
			continue;
		json_u64(w, class);
		json_u64(w, self);
	}
	json_array_end(w);
}

static void write_nodes(struct json_writer *w, const struct flame *flame,
			const struct word_map *strings)
{
	json_key(w, "nodes");
	json_array_begin(w);
	for (uint32_t i = 0; i != NODE_NONE; i = flame_next(flame, 0, i))
		write_node(w, flame, strings, &flame->nodes.items[i]);
	json_array_end(w);
}

/* --- which differences are real --- */

/* [number, q, low, high, coloured]: the interval as quotients, null where nothing bounds it. */
static void write_bounds(struct json_writer *w, const struct flame_change *change)
{
	json_real(w, change->q);
	json_real(w, change->low);
	json_real(w, change->high);
}

static void write_node_changes(struct json_writer *w, const struct flame *flame)
{
	uint32_t number = 0;

	json_key(w, "nodes");
	json_array_begin(w);
	for (uint32_t i = 0; i != NODE_NONE; i = flame_next(flame, 0, i), number++) {
		if (!flame->changes->nodes[i].is_tested)
			continue;
		json_array_begin(w);
		json_u64(w, number);
		write_bounds(w, &flame->changes->nodes[i]);
		json_bool(w, flame->changes->nodes[i].is_coloured);
		json_array_end(w);
	}
	json_array_end(w);
}

/* [name, q, low, high] */
static void write_function_changes(struct json_writer *w, const struct flame *flame,
				   const struct word_map *strings)
{
	const struct flame_changes *changes = flame->changes;

	json_key(w, "functions");
	json_array_begin(w);
	for (size_t i = 0; i < changes->subjects.count; i++) {
		const struct flame_subject *subject = &changes->subjects.items[i];

		if (subject->is_group || !subject->changes[FLAME_TIME_ALL].is_tested)
			continue;
		json_array_begin(w);
		json_u64(w, string_number(strings, subject->face->name));
		write_bounds(w, &subject->changes[FLAME_TIME_ALL]);
		json_array_end(w);
	}
	json_array_end(w);
}

static void write_changes(struct json_writer *w, const struct flame *flame,
			  const struct word_map *strings)
{
	json_key(w, "changes");
	json_object_begin(w);
	json_key(w, "rate");
	json_real(w, FLAME_RATE);
	json_key(w, "unknown");
	json_string(w, PALETTE_UNKNOWN);
	json_key(w, "isApproximate");
	json_bool(w, flame->changes->is_approximate);
	write_node_changes(w, flame);
	write_function_changes(w, flame, strings);
	json_object_end(w);
}

/* --- the rest --- */

static void write_class(struct json_writer *w, const struct flame *flame, unsigned class)
{
	const struct palette_row *colour = &palette[class];

	json_object_begin(w);
	json_key(w, "name");
	json_text(w, text_of(profile_classes[class].name));
	json_key(w, "prose");
	json_text(w, text_of(profile_classes[class].prose));
	json_key(w, "isOffCpu");
	json_bool(w, profile_classes[class].is_off_cpu);
	json_key(w, "occurs");
	json_bool(w, flame_classes(flame) >> class & 1);
	json_key(w, "colour");
	json_array_begin(w);
	json_u64(w, colour->hue);
	json_u64(w, colour->saturation);
	json_u64(w, colour->lightness);
	json_array_end(w);
	json_object_end(w);
}

/* The output of `print`, as a string. */
static struct error *write_line(struct json_writer *w, const char *key,
				const struct profile_report *report,
				void (*print)(FILE *out, const struct profile_report *report))
{
	_cleanup_free_ char *text = NULL;
	size_t length;
	FILE *memory = open_memstream(&text, &length);

	if (!memory)
		return &error_no_memory;
	print(memory, report);
	if (!file_close_memory(memory, &text))
		return &error_no_memory;
	json_key(w, key);
	json_text(w, (struct text){ text, length });
	return NULL;
}

static struct error *write_flame_data(struct json_writer *w, const struct profile_report *report,
				      struct word_map *strings)
{
	const struct flame *flame = report->flame;
	struct error *err;

	json_object_begin(w);
	json_key(w, "title");
	json_text(w, text_of(profile_title(report)));
	err = write_line(w, "origin", report, profile_origin);
	if (!err)
		err = write_line(w, "losses", report, profile_losses);
	json_key(w, "isDiff");
	json_bool(w, flame->is_diff);
	json_key(w, "isEvents");
	json_bool(w, flame->is_events);
	json_key(w, "groupBy");
	json_text(w, text_of(flame_group_names[report->view->group_by]));
	json_key(w, "classes");
	json_array_begin(w);
	for (unsigned class = 0; class < CLASS_COUNT; class ++)
		write_class(w, flame, class);
	json_array_end(w);
	if (!err)
		err = write_strings(w, flame, strings);
	if (!err)
		write_nodes(w, flame, strings);
	if (!err && flame->changes)
		write_changes(w, flame, strings);
	json_object_end(w);
	return err;
}

/* --- the page --- */

static struct error *print_title(FILE *out, const void *context)
{
	return markup_text(out, text_of(profile_title(context)));
}

static struct error *print_data(FILE *out, const void *context)
{
	struct word_map strings = { 0 };
	struct json_writer w;
	struct error *err = json_writer_init(&w, write_escaped, out);

	if (err)
		return err;
	err = write_flame_data(&w, context, &strings);
	err = error_first(err, json_writer_finish(&w));
	json_writer_deinit(&w);
	word_map_deinit(&strings);
	return err;
}

static const enum asset styles[] = { ASSET_SHARED_STYLE, ASSET_PAGE_STYLE };
static const enum asset scripts[] = { ASSET_PAGE_WORDS, ASSET_PAGE_MODEL, ASSET_PAGE_SCRIPT };

const struct page_policy profile_html_policy = {
	.styles = styles,
	.scripts = scripts,
	.style_count = array_length(styles),
	.script_count = array_length(scripts),
};

static struct error *print_policy(FILE *out, const void *context)
{
	(void)context;
	page_print_policy(out, &profile_html_policy);
	return NULL;
}

static struct error *print_styles(FILE *out, const void *context)
{
	(void)context;
	for (size_t i = 0; i < array_length(styles); i++)
		page_print_style(out, styles[i]);
	return NULL;
}

static struct error *print_scripts(FILE *out, const void *context)
{
	(void)context;
	for (size_t i = 0; i < array_length(scripts); i++)
		page_print_script(out, scripts[i]);
	return NULL;
}

static const struct slot body_slots[] = { { { "@DATA@", 6 }, print_data } };

static struct error *print_body(FILE *out, const void *context)
{
	return markup_fill(out, asset_text(ASSET_PAGE_BODY), body_slots, array_length(body_slots),
			   context);
}

static const struct slot slots[] = {
	{ { "@POLICY@", 8 }, print_policy },   { { "@TITLE@", 7 }, print_title },
	{ { "@STYLES@", 8 }, print_styles },   { { "@BODY@", 6 }, print_body },
	{ { "@SCRIPTS@", 9 }, print_scripts },
};

struct error *profile_print_html(const struct profile_report *report, json_sink sink, void *context)
{
	struct stream stream;
	struct error *err = stream_open(&stream, sink, context);

	if (err)
		return err;
	err = markup_fill(stream.out, asset_text(ASSET_PAGE), slots, array_length(slots), report);
	return error_first(err, stream_close(&stream));
}

/* Each graph is in a shadow tree, so that several on one page can use the same element IDs. */
struct error *flame_part_print(FILE *out, const struct profile_report *report)
{
	struct error *err;

	fputs("<div class=\"flame\"><template shadowrootmode=\"open\">\n", out);
	print_styles(out, NULL);
	err = print_body(out, report);
	fputs("</template></div>\n"
	      "<noscript><p class=\"faint\">The flame graph is drawn by a script, which does not "
	      "run here.</p></noscript>\n",
	      out);
	return err;
}
