/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/palette.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit/unit.h"

struct rgb {
	double r, g, b;
};

static struct rgb parsed(const char *text)
{
	unsigned long value = strtoul(text + 1, NULL, 16);

	assert_int_equal(strlen(text), 7);
	assert_int_equal(text[0], '#');
	return (struct rgb){ (double)(value >> 16 & 255) / 255, (double)(value >> 8 & 255) / 255,
			     (double)(value & 255) / 255 };
}

/* WCAG 2.1: relative luminance, and the contrast of two. */
static double linear(double channel)
{
	return channel <= 0.03928 ? channel / 12.92 : pow((channel + 0.055) / 1.055, 2.4);
}

static double luminance(struct rgb c)
{
	return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
}

static double contrast(struct rgb a, struct rgb b)
{
	double x = luminance(a), y = luminance(b);

	return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

TEST(dark_text_is_readable_on_every_frame)
{
	const struct rgb ink = parsed("#10161f");
	struct name *name = calloc(1, sizeof(*name) + 16);
	char colour[COLOUR_TEXT_MAX];

	for (unsigned class = 0; class < CLASS_COUNT; class ++)
		for (unsigned kind = 0; kind <= FRAME_NOTE; kind++)
			for (unsigned number = 0; number < 200; number++) {
				/* By its bytes a name has one of 91 colours of a class. */
				name->length = (uint32_t)snprintf(name->bytes, 16, "f%u", number);
				palette_colour(colour, class, kind, name);
				assert_true(contrast(parsed(colour), ink) >= 4.5);
			}
	free(name);
	for (double change = -1; change <= 1; change += 0.125)
		assert_true(contrast(parsed(palette_change(colour, change)), ink) >= 4.5);
}

/* hsl(22 92% 66%), by hand: chroma 0.6256, smallest 0.3472. */
TEST(colours_are_those_of_the_rows)
{
	char colour[COLOUR_TEXT_MAX];
	struct rgb c = parsed(palette_colour(colour, CLASS_ON_CPU, FRAME_USER, NULL));

	assert_true(fabs(c.r - 0.9728) < 0.005);
	assert_true(fabs(c.g - (0.3472 + 0.6256 * 22 / 60)) < 0.005);
	assert_true(fabs(c.b - 0.3472) < 0.005);
}

TEST(classes_have_colours_of_their_own)
{
	char a[COLOUR_TEXT_MAX], b[COLOUR_TEXT_MAX];

	for (unsigned x = 0; x < CLASS_COUNT; x++)
		for (unsigned y = 0; y < x; y++) {
			struct rgb p = parsed(palette_colour(a, x, FRAME_USER, NULL));
			struct rgb q = parsed(palette_colour(b, y, FRAME_USER, NULL));

			assert_true(fabs(p.r - q.r) + fabs(p.g - q.g) + fabs(p.b - q.b) > 0.08);
		}
}

TEST(growth_is_red_and_shrinkage_is_blue)
{
	char colour[COLOUR_TEXT_MAX];
	struct rgb grew = parsed(palette_change(colour, 0.5));
	struct rgb shrank = parsed(palette_change(colour, -0.5));
	struct rgb same = parsed(palette_change(colour, 0));

	assert_true(grew.r > grew.b && shrank.b > shrank.r);
	assert_true(same.r == same.g && same.g == same.b);
	assert_true(parsed(palette_change(colour, 1)).b < grew.b);
}

UNIT_TESTS(cmocka_unit_test(dark_text_is_readable_on_every_frame),
	   cmocka_unit_test(colours_are_those_of_the_rows),
	   cmocka_unit_test(classes_have_colours_of_their_own),
	   cmocka_unit_test(growth_is_red_and_shrinkage_is_blue))
