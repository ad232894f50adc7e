/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/assets.h"

/* The assembler looks for the files from where make runs, and the Makefile says that the object
 * depends on them. */
#define ASSET(id, file)                                 \
	__asm__(".pushsection .rodata\n"                \
		".hidden asset_" #id "\n"               \
		".globl asset_" #id "\n"                \
		"asset_" #id ": .incbin \"" file "\"\n" \
		".hidden asset_end_" #id "\n"           \
		".globl asset_end_" #id "\n"            \
		"asset_end_" #id ": .byte 0\n"          \
		".popsection");                         \
	extern const char asset_##id[], asset_end_##id[];
ASSETS(ASSET)
#undef ASSET

struct text asset_text(enum asset asset)
{
	static const struct {
		const char *begin, *end;
	} bounds[ASSET_COUNT] = {
#define ASSET(id, file) [ASSET_##id] = { asset_##id, asset_end_##id },
		ASSETS(ASSET)
#undef ASSET
	};

	return (struct text){ bounds[asset].begin,
			      (size_t)(bounds[asset].end - bounds[asset].begin) };
}
