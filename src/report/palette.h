/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The colours of profiles: the warm one ran, yellow waited for a CPU, blue was blocked.
 *
 * All are light enough for dark text. Kernel frames are darker, notes (groups, "[truncated]") paler
 * than user frames; functions of different names differ a little, so that neighbours can be told
 * apart and the same function looks the same in every picture.
 */
#ifndef REPORT_PALETTE_H
#define REPORT_PALETTE_H

#include "profile/flame.h"

/* COLOUR(class, hue in degrees, saturation and lightness in percent, how it looks) */
#define PALETTE(COLOUR)                              \
	COLOUR(ON_CPU, 22, 92, 66, "orange")         \
	COLOUR(RUNNABLE, 49, 95, 62, "yellow")       \
	COLOUR(INTERRUPTIBLE, 207, 82, 77, "sky")    \
	COLOUR(UNINTERRUPTIBLE, 228, 84, 78, "blue") \
	COLOUR(IO_WAIT, 184, 58, 62, "teal")         \
	COLOUR(STOPPED, 276, 52, 79, "violet")       \
	COLOUR(TRACED, 306, 48, 79, "mauve")         \
	COLOUR(PARKED, 215, 22, 76, "slate")         \
	COLOUR(IDLE, 215, 14, 84, "pale slate")      \
	COLOUR(EVENT, 128, 46, 66, "green")

struct palette_row {
	unsigned hue, saturation, lightness;
	const char *prose;
};
extern const struct palette_row palette[CLASS_COUNT];

/* "#f0a060" */
#define COLOUR_TEXT_MAX 8

/* The colour of a frame of this kind, in time of this class. `name` NULL: the colour of legends. */
char *palette_colour(char buffer[COLOUR_TEXT_MAX], enum profile_class class, enum frame_kind kind,
		     const struct name *name);

/* The colour of a change, from -1 (it is gone, blue) over 0 (white) to 1 (it is new, red). */
char *palette_change(char buffer[COLOUR_TEXT_MAX], double change);

/* The grey of a change that may be chance. */
#define PALETTE_UNKNOWN "#c2c5ca"

#endif
