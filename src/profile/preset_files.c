/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/preset.h"

/* PRESET(name in C, name of the file in assets/presets), by name. */
#define PRESETS(PRESET)                \
	PRESET(cpp_pools, "cpp-pools") \
	PRESET(go, "go")               \
	PRESET(java, "java")           \
	PRESET(node, "node")           \
	PRESET(python, "python")       \
	PRESET(tokio, "tokio")

/* Embed the file. Its path is relative to the directory in which make runs. */
#define INCLUDE(id, name)                                             \
	extern const char preset_##id##_begin[], preset_##id##_end[]; \
	__asm__(".pushsection .rodata\n"                              \
		"preset_" #id "_begin:\n"                             \
		".incbin \"assets/presets/" name ".preset\"\n"        \
		"preset_" #id "_end:\n"                               \
		".popsection\n");

PRESETS(INCLUDE)

#define ROW(id, name) { name, preset_##id##_begin, preset_##id##_end },

const struct preset presets[] = { PRESETS(ROW) };
const size_t preset_count = array_length(presets);
