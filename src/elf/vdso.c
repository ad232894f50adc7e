/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/vdso.h"

#include <elf.h>
#include <sys/auxv.h>

/* It is some pages, all of which are there; its headers, which are the kernel's, say how many bytes
 * it has. */
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
