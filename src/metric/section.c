/* SPDX-License-Identifier: BSD-2-Clause */
#include "metric/section.h"

const struct section_info section_infos[SECTION_COUNT] = {
#define SECTION(id, name, heading, subject, only_changes, prose) \
	[SECTION_##id] = { name, heading, SUBJECT_##subject, only_changes, prose },
	SECTIONS(SECTION)
#undef SECTION
};
