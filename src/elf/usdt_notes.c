/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/usdt_notes.h"

#define NOTE_TYPE 3 /* NT_STAPSDT */
#define OWNER     "stapsdt"

struct note_body {
	uint64_t address, base, semaphore;
};

/* A string that ends within `rest`, cut off it; NULL: there is none. */
static const char *cut_string(struct text *rest)
{
	const char *string = rest->bytes, *end;

	end = rest->length ? memchr(rest->bytes, 0, rest->length) : NULL;
	if (!end)
		return NULL;
	rest->length -= (size_t)(end - rest->bytes) + 1;
	rest->bytes = end + 1;
	return string;
}

/* The old and the new address of .stapsdt.base tell how far a later tool (prelink) moved the file.
 */
static bool parse_body(struct text bytes, const Elf64_Shdr *base, struct usdt_note *ret)
{
	struct note_body body;
	const char *arguments;
	uint64_t moved;

	if (bytes.length < sizeof(body))
		return false;
	memcpy(&body, bytes.bytes, sizeof(body));
	bytes.bytes += sizeof(body);
	bytes.length -= sizeof(body);
	ret->provider = cut_string(&bytes);
	ret->name = cut_string(&bytes);
	arguments = cut_string(&bytes);
	ret->arguments = arguments ? text_of(arguments) : (struct text){ 0 };
	moved = base && body.base ? base->sh_addr - body.base : 0;
	ret->address = body.address + moved;
	ret->semaphore = body.semaphore ? body.semaphore + moved : 0;
	return ret->name && ret->provider[0] && ret->name[0];
}

static size_t padded(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

void usdt_each(const struct elf *elf, usdt_visit *visit, void *context)
{
	const Elf64_Shdr *base = elf_section_header(elf, ".stapsdt.base");
	struct text rest = elf_section(elf, ".note.stapsdt");
	Elf64_Nhdr note;

	while (rest.length >= sizeof(note)) {
		size_t name, body;
		struct usdt_note found;

		memcpy(&note, rest.bytes, sizeof(note));
		rest.bytes += sizeof(note);
		rest.length -= sizeof(note);
		name = padded(note.n_namesz);
		body = padded(note.n_descsz);
		if (name > rest.length || note.n_descsz > rest.length - name)
			return;
		if (note.n_type == NOTE_TYPE && note.n_namesz == sizeof(OWNER) &&
		    memcmp(rest.bytes, OWNER, sizeof(OWNER)) == 0 &&
		    parse_body((struct text){ rest.bytes + name, note.n_descsz }, base, &found) &&
		    !visit(context, &found))
			return;
		if (body > rest.length - name)
			return;
		rest.bytes += name + body;
		rest.length -= name + body;
	}
}
