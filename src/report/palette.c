/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/palette.h"

#include <math.h>
#include <stdio.h>

const struct palette_row palette[CLASS_COUNT] = {
#define COLOUR(class, hue, saturation, lightness, prose) \
	[CLASS_##class] = { hue, saturation, lightness, prose },
	PALETTE(COLOUR)
#undef COLOUR
};

/* Added to saturation and lightness for each kind of frame. */
static const struct {
	int saturation, lightness;
} kinds[] = {
	[FRAME_USER] = { 0, 0 },
	[FRAME_KERNEL] = { -10, -9 },
	[FRAME_NOTE] = { -34, 8 },
	[FRAME_IDLE] = { -100, 8 }, /* grey, whatever the class */
};

static double within(double value, double low, double high)
{
	return value < low ? low : value > high ? high : value;
}

/* CSS Color 4, "HSL to RGB": channel 0 is red, 8 green, 4 blue. */
static unsigned channel(double n, double hue, double saturation, double lightness)
{
	double k = fmod(n + hue / 30, 12), a = saturation * fmin(lightness, 1 - lightness);
	double value = lightness - a * fmax(-1, fmin(fmin(k - 3, 9 - k), 1));

	return (unsigned)lrint(value * 255);
}

static char *print_colour(char buffer[COLOUR_TEXT_MAX], double hue, double saturation,
			  double lightness)
{
	double s = within(saturation, 0, 100) / 100, l = within(lightness, 0, 100) / 100;

	snprintf(buffer, COLOUR_TEXT_MAX, "#%02x%02x%02x", channel(0, hue, s, l) & 0xff,
		 channel(8, hue, s, l) & 0xff, channel(4, hue, s, l) & 0xff);
	return buffer;
}

/* FNV-1a: a function has the same colour in every picture. */
static uint32_t hash_name(const struct name *name)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < name->length; i++)
		hash = (hash ^ (unsigned char)name->bytes[i]) * 16777619u;
	return hash ^ hash >> 15;
}

char *palette_colour(char buffer[COLOUR_TEXT_MAX], enum profile_class class, enum frame_kind kind,
		     const struct name *name)
{
	const struct palette_row *row = &palette[class];
	uint32_t hash = name ? hash_name(name) : 0;
	int turn = name ? (int)(hash % 13) - 6 : 0, light = name ? (int)(hash / 13 % 7) - 3 : 0;

	return print_colour(buffer, fmod(row->hue + turn + 360, 360),
			    (int)row->saturation + kinds[kind].saturation,
			    (int)row->lightness + kinds[kind].lightness + light);
}

char *palette_change(char buffer[COLOUR_TEXT_MAX], double change)
{
	double size = sqrt(within(fabs(change), 0, 1));

	return print_colour(buffer, change < 0 ? 212 : 4, size ? 88 : 0, 93 - 28 * size);
}
