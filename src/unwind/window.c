/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/window.h"

#include <string.h>

#include "base/user_space.h"

static bool has_word(const struct unwind_window *window, uint64_t address)
{
	return window->bytes >= sizeof(uint64_t) && address >= window->start &&
	       address - window->start <= window->bytes - sizeof(uint64_t);
}

static void move_to(struct unwind_window *window, uint64_t address)
{
	const uint64_t room = USER_SPACE_LIMIT - address;
	const size_t size = room < sizeof(window->memory) ? (size_t)room : sizeof(window->memory);

	window->start = address;
	window->bytes = window->read(window->context, address, window->memory, size);
}

bool unwind_window_word(void *context, uint64_t address, uint64_t *ret)
{
	struct unwind_window *window = context;

	if (address > USER_SPACE_LIMIT - sizeof(*ret))
		return false;
	if (!has_word(window, address))
		move_to(window, address);
	if (!has_word(window, address))
		return false;
	memcpy(ret, window->memory + (address - window->start), sizeof(*ret));
	return true;
}
