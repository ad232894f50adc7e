/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The order of lines.
 */
#ifndef STATE_ORDER_H
#define STATE_ORDER_H

#include "state/view.h"

/* Waits in progress: is the first more important than the second? A longer wait is, but waits for
 * work are less important than all others. */
bool state_wait_is_worse(enum state state, uint64_t ns, enum state than, uint64_t than_ns);

/* Write into `ret` the numbers of the lines of a window in their order. With `ranks`, lines of
 * lower rank stand before all others. `at_ns` is the end of the window. False without memory. */
bool state_order(const struct state_line *lines, size_t count, const uint32_t *ranks,
		 const struct state_view *view, uint64_t at_ns, uint32_t *ret);

#endif
