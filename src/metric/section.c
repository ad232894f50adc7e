/* SPDX-License-Identifier: BSD-2-Clause */
#include "metric/section.h"

const struct section_info section_infos[SECTION_COUNT] = {
#define SECTION(id, name, heading, subject, prose) \
	[SECTION_##id] = { name, heading, SUBJECT_##subject, prose },
	SECTIONS(SECTION)
#undef SECTION
};
