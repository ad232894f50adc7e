/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a thread is among those that a view shows.
 */
#ifndef STATE_FILTER_H
#define STATE_FILTER_H

#include "state/view.h"

/* It meets all terms of the view's filter, and is none of the kernel's if these are left out. */
bool state_view_shows(const struct state_view *view, const struct state_delta *delta);

#endif
