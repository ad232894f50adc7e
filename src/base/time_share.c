/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/time_share.h"

#include "base/clock.h"

/* Beyond these all debts are forgotten: processes come and go for months. */
#define SUBJECTS_MAX 65536

static uint64_t *subject_time(const struct time_shares *shares, uint64_t subject)
{
	const uint32_t index = word_map_find(&shares->subjects, (struct words){ { subject } });

	return index == WORD_MAP_NEW ? NULL : &shares->free_ns.items[index];
}

static uint64_t *add_time(struct time_shares *shares, uint64_t subject)
{
	uint32_t *index;

	if (shares->free_ns.count >= SUBJECTS_MAX)
		time_shares_deinit(shares);
	if (!array_push(&shares->free_ns, 0))
		return NULL;
	index = word_map_at(&shares->subjects, (struct words){ { subject } });
	if (!index) {
		shares->free_ns.count--;
		return NULL;
	}
	*index = (uint32_t)shares->free_ns.count - 1;
	return &shares->free_ns.items[*index];
}

void time_shares_charge(struct time_shares *shares, uint64_t subject, uint64_t cost_ns,
			unsigned part)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t *free_ns = subject_time(shares, subject);

	if (!free_ns)
		free_ns = add_time(shares, subject);
	if (free_ns)
		*free_ns = (*free_ns > now_ns ? *free_ns : now_ns) + part * cost_ns;
}

bool time_shares_used_up(const struct time_shares *shares, uint64_t subject)
{
	const uint64_t *free_ns = subject_time(shares, subject);

	return free_ns && *free_ns > clock_ns(CLOCK_MONOTONIC) + shares->advance_ns;
}

bool time_shares_owes(const struct time_shares *shares, uint64_t subject)
{
	const uint64_t *free_ns = subject_time(shares, subject);

	return free_ns && *free_ns > clock_ns(CLOCK_MONOTONIC);
}

bool time_shares_any_used_up(const struct time_shares *shares)
{
	const uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + shares->advance_ns;

	for (size_t i = 0; i < shares->free_ns.count; i++)
		if (shares->free_ns.items[i] > until_ns)
			return true;
	return false;
}

void time_shares_deinit(struct time_shares *shares)
{
	word_map_deinit(&shares->subjects);
	array_deinit(&shares->free_ns);
	*shares = (struct time_shares){ .advance_ns = shares->advance_ns };
}
