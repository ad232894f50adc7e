/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes the terminal, and restores its state.
 *
 *	err = terminal_open(&terminal, &options);
 *	if (err)
 *		return err;
 *	...
 *	terminal_close(&terminal);
 *
 * Signal handlers write to a descriptor. (Blocking signals would not do: other threads have their
 * own masks, and one of them would end the process without restoring the terminal.) A crash first
 * restores the terminal, by async-signal-safe calls, and then ends the process as usual.
 *
 * There is one terminal, so there is one of these at a time.
 */
#ifndef TUI_TERMINAL_H
#define TUI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct terminal {
	bool utf8;
	unsigned colours; /* 0, 8 or 256 */
	int signals;      /* readable when terminal_signal has something to say */
	void *screen;
};

struct terminal_options {
	bool no_colour, no_utf8, no_mouse;
	const char *instead; /* what to do without a usable one: "use --batch" */
};

/* Sets the locale of characters. Without a usable terminal, the error says what to do instead. */
struct error *terminal_open(struct terminal *terminal,
			    const struct terminal_options *options) MUST_CHECK;

/* Takes a closed one. */
void terminal_close(struct terminal *terminal);

struct terminal_events {
	bool has_keys, has_signals, has_news;
};

/* Wait for keys, signals, or until `news` (a descriptor; -1: none) is readable, or until a time of
 * CLOCK_MONOTONIC (0: for ever). That the terminal is gone is an error. */
struct error *terminal_wait(const struct terminal *terminal, int news, uint64_t until_ns,
			    struct terminal_events *ret) MUST_CHECK;

/* The next signal that came, or 0. What has only to do with the terminal (its size, being stopped
 * and continued) is dealt with here: SIGWINCH says that all is to be drawn again. */
int terminal_signal(struct terminal *terminal);

#endif
