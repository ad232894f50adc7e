/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/vdso.h"

#include <elf.h>
#include <sys/auxv.h>

/* The vDSO is some pages, all of which are mapped; its ELF headers, which the kernel wrote, tell
 * its size. */
struct text vdso_bytes(void)
{
	const char *bytes = (const char *)getauxval(AT_SYSINFO_EHDR);
	Elf64_Ehdr header;
	uint64_t size;

	if (!bytes)
		return (struct text){ 0 };
	memcpy(&header, bytes, sizeof(header));
	size = header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize;
	return (struct text){ bytes, size };
}
