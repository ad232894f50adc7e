/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/build.h"

#include <elf.h>
#include <string.h>

#include "base/word_map.h"
#include "unwind/descriptions.h"
#include "unwind/inferred.h"
#include "unwind/rows.h"

/* All files of a host share UNWIND_RULES_MAX; the largest that were seen have some thousand. */
#define FILE_RULES_MAX 16384

#define CODE_SPAN      ((uint64_t)UNWIND_BLOCKS_MAX << UNWIND_BLOCK_BITS)
#define BLOCK_MASK     (((uint64_t)1 << UNWIND_BLOCK_BITS) - 1)

/* Rules found last, by a hash. One that is all zero is none of a frame. */
#define RECENT_BITS 9

struct recent_rule {
	struct unwind_rule rule;
	uint32_t number;
};

struct builder {
	const struct elf *elf;
	struct unwind_table table;
	const struct cfi_machine *machine;
	struct code code, instructions;
	struct descriptions loaded, debug;
	struct inferred inferred; /* of code without a description */
	struct word_map numbers;  /* of rules */
	struct recent_rule recent[1 << RECENT_BITS];
	struct unwind_rows rows;
	bool is_go;
	bool says_little; /* more code has no function than has one */
	uint32_t gap;     /* the number of the rule for code without a description */
	uint64_t covered; /* up to here functions have rows */
	uint64_t from;    /* of the function that is being read, what is before has its rows */
	size_t range;     /* of code, that begins next */
	uint64_t entry;   /* where the file begins to run; 0: nowhere */
	size_t piece;     /* of code, that gaps were looked for in so far */
	/* What rows are wanted of; of a whole file, all addresses. */
	uint64_t first, end;
};

/* --- numbers of rules --- */

/* Apart from the usual case, which needs few registers. */
__attribute__((noinline)) static bool number_of_frame(struct builder *b,
						      const struct unwind_rule *rule, uint32_t *ret)
{
	struct words key = { { 0 } };
	uint32_t *number;

	_Static_assert(sizeof(*rule) == 16, "is no key");
	memcpy(key.w, rule, sizeof(*rule));
	if (b->table.rules.count >= FILE_RULES_MAX) {
		*ret = word_map_find(&b->numbers, key);
		if (*ret == WORD_MAP_NEW)
			*ret = UNWIND_NUMBER_OTHER;
		return true;
	}
	number = word_map_at(&b->numbers, key);
	if (!number)
		return false;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(&b->table.rules, *rule))
			return false;
		*number = UNWIND_NUMBERS_FIXED + (uint32_t)b->table.rules.count - 1;
	}
	*ret = *number;
	return true;
}

/* Functions have the same few rules again and again. */
static bool recent_number(struct builder *b, const struct unwind_rule *rule, uint32_t *ret)
{
	uint64_t words[2];
	struct recent_rule *recent;

	memcpy(words, rule, sizeof(words));
	recent = &b->recent[(words[0] ^ (words[1] << 23 | words[1] >> 41)) * 0xd6e8feb86659fd93u >>
			    (64 - RECENT_BITS)];
	if (memcmp(&recent->rule, rule, sizeof(*rule))) {
		if (!number_of_frame(b, rule, &recent->number))
			return false;
		recent->rule = *rule;
	}
	*ret = recent->number;
	return true;
}

static bool rule_number(struct builder *b, const struct unwind_rule *rule, uint32_t *ret)
{
	static const uint32_t fixed[] = { [UNWIND_RULE_NONE] = UNWIND_NUMBER_NONE,
					  [UNWIND_RULE_OTHER] = UNWIND_NUMBER_OTHER,
					  [UNWIND_RULE_STOP] = UNWIND_NUMBER_STOP,
					  [UNWIND_RULE_POINTER] = UNWIND_NUMBER_POINTER };

	if (rule->kind != UNWIND_RULE_FRAME) {
		*ret = fixed[rule->kind];
		return true;
	}
	return recent_number(b, rule, ret);
}

static bool put_rule(void *context, uint64_t address, const struct unwind_rule *rule)
{
	struct builder *b = context;
	uint32_t number;

	return rule_number(b, rule, &number) &&
	       unwind_rows_put(&b->rows, address > b->from ? address : b->from, number);
}

/* --- functions --- */

/* Begin a range of code with the rule for code without a description; there is nothing outside of
 * ranges. */
static bool enter_code(struct builder *b, uint64_t address)
{
	for (; b->range < b->code.count && b->code.ranges[b->range].start <= address; b->range++) {
		const struct code_range *range = &b->code.ranges[b->range];

		if (b->gap == UNWIND_NUMBER_NONE)
			continue;
		if (b->range && !unwind_rows_put(&b->rows, range[-1].end, UNWIND_NUMBER_NONE))
			return false;
		if (!unwind_rows_put(&b->rows, range->start, b->gap))
			return false;
	}
	return true;
}

static bool leave_code(struct builder *b)
{
	if (!b->code.count || b->gap == UNWIND_NUMBER_NONE)
		return true;
	return enter_code(b, UINT64_MAX) &&
	       unwind_rows_put(&b->rows, b->code.ranges[b->code.count - 1].end, UNWIND_NUMBER_NONE);
}

/* Rows of the description from `from` to `end`. */
static bool add_rows(struct builder *b, const struct descriptions *all, const struct description *d,
		     uint64_t from, uint64_t end)
{
	const uint64_t shown = end < b->end ? end : b->end;
	const struct cfi_function function = {
		.start = d->start,
		.end = shown,
		.instructions = { all->section.bytes.bytes + d->instructions, d->length },
		.instructions_at = all->section.address + d->instructions,
	};
	enum cfi_answer answer;

	b->covered = end;
	from = from > b->first ? from : b->first;
	if (from >= shown)
		return true;
	if (!enter_code(b, from))
		return false;
	b->from = from;
	answer = cfi_run(&all->commons.items[d->common].program, &function, put_rule, b);
	if (answer == CFI_NO_MEMORY)
		return false;
	b->table.functions++;
	b->table.refused += answer == CFI_REFUSED;
	return unwind_rows_put(&b->rows, shown, b->gap);
}

/* Add a description of .eh_frame, without the part that another one covers. */
static bool add_loaded(struct builder *b, const struct description *d)
{
	uint64_t from = d->start;

	if (from < b->covered) {
		b->table.overlapping++;
		from = b->covered;
	}
	return from >= d->end || add_rows(b, &b->loaded, d, from, d->end);
}

/* Add a description of .debug_frame, if it begins in a gap of the others, up to the next of them.
 */
static bool add_debug(struct builder *b, const struct description *d, uint64_t next)
{
	return d->start < b->covered ||
	       add_rows(b, &b->debug, d, d->start, d->end < next ? d->end : next);
}

/* A gap of this size is code of another compiler, which may keep frame pointers. V8's compiler does
 * in the functions in its file (1.6 MB of node, with a frame every 860 bytes), and so does nearly
 * all of chromium; hand-written code does not (4 MB of libx265 have none). */
#define FOREIGN_BYTES  (256 << 10)
#define BYTES_OF_FRAME 4096

static bool keeps_pointers(const struct builder *b, uint64_t address)
{
	/* push %rbp; mov %rsp,%rbp */
	static const char begins[] = { 0x55, 0x48, (char)0x89, (char)0xe5 };
	const char *code = elf_at(b->elf, address, FOREIGN_BYTES), *end;
	size_t count = 0;

	if (!code || b->elf->machine != EM_X86_64)
		return false;
	for (end = code + FOREIGN_BYTES;
	     (code = memmem(code, (size_t)(end - code), begins, sizeof(begins)));
	     code += sizeof(begins))
		count++;
	return count >= FOREIGN_BYTES / BYTES_OF_FRAME;
}

/* Is it made to be begun? Libraries have an entry too, which means nothing; what needs no other
 * file is the dynamic linker, or static. */
static bool is_begun(const struct elf *elf)
{
	const Elf64_Phdr *dynamic = elf_segment(elf, PT_DYNAMIC);
	const char *bytes;

	if (elf->type == ET_EXEC || elf_segment(elf, PT_INTERP))
		return true;
	bytes = dynamic ? elf_at(elf, dynamic->p_vaddr, dynamic->p_filesz) : NULL;
	for (size_t at = 0; bytes && at + sizeof(Elf64_Dyn) <= dynamic->p_filesz;
	     at += sizeof(Elf64_Dyn)) {
		Elf64_Dyn entry;

		memcpy(&entry, bytes + at, sizeof(entry));
		if (entry.d_tag == DT_NEEDED)
			return false;
		if (entry.d_tag == DT_NULL)
			break;
	}
	return true;
}

/* The size of _start, which is written by hand. */
#define ENTRY_BYTES 256

static bool put_inferred(void *context, uint64_t address, const struct unwind_rule *rule)
{
	struct builder *b = context;

	return rule->kind == UNWIND_RULE_NONE ? unwind_rows_put(&b->rows, address, b->gap)
					      : put_rule(context, address, rule);
}

/* Around a part of a file, code is looked at for so far: for the starts of functions that it calls,
 * and for ways into the part. */
#define LOOK_AROUND ((uint64_t)16 << 10)

static bool look_at_code(struct builder *b, uint64_t start, uint64_t end)
{
	if (b->first > LOOK_AROUND && start < b->first - LOOK_AROUND)
		start = b->first - LOOK_AROUND;
	if (b->end < UINT64_MAX - LOOK_AROUND && end > b->end + LOOK_AROUND)
		end = b->end + LOOK_AROUND;
	return inferred_look(&b->inferred, start, end);
}

/* Code without a description: infer its rules from the instructions. The entry code of a file has
 * no caller: if its instructions determine no rule, its first ENTRY_BYTES get that one. */
static bool add_piece(struct builder *b, const struct code_range *range, uint64_t start,
		      uint64_t end)
{
	const bool is_foreign = end - start >= FOREIGN_BYTES && keeps_pointers(b, start);
	const uint64_t entry = b->entry;
	uint64_t stop;

	/* The states at jumps into the code give the state at its start. */
	if (!is_foreign && !(b->says_little ? look_at_code(b, range->start, range->end)
					    : look_at_code(b, start, end)))
		return false;
	start = start > b->first ? start : b->first;
	end = end < b->end ? end : b->end;
	stop = end - entry > ENTRY_BYTES ? entry + ENTRY_BYTES : end;
	if (is_foreign)
		return unwind_rows_put(&b->rows, start, UNWIND_NUMBER_POINTER) &&
		       unwind_rows_put(&b->rows, end, b->gap);
	b->from = start;
	if (entry >= start && entry < end && !inferred_says(&b->inferred, entry))
		return unwind_rows_put(&b->rows, entry, UNWIND_NUMBER_STOP) &&
		       unwind_rows_put(&b->rows, stop, b->gap);
	return inferred_show(&b->inferred, start, end, put_inferred, b) &&
	       unwind_rows_put(&b->rows, end, b->gap);
}

/* Between two functions. Go keeps frame pointers in all of them. */
static bool add_gap(struct builder *b, uint64_t to)
{
	if (b->is_go)
		return true;
	for (; b->piece < b->instructions.count && b->instructions.ranges[b->piece].start < to;
	     b->piece++) {
		const struct code_range *range = &b->instructions.ranges[b->piece];
		uint64_t start = range->start > b->covered ? range->start : b->covered;
		uint64_t end = range->end < to ? range->end : to;
		const bool is_wanted = start < end && start < b->end && end > b->first;

		if (is_wanted && (!enter_code(b, start) || !add_piece(b, range, start, end)))
			return false;
		/* The rest of it comes behind the next function. */
		if (range->end > to)
			break;
	}
	return true;
}

/* Building reads one byte of code between functions; prefetch it, since no cache has it. */
#define FUNCTIONS_AHEAD 8
#define SEGMENTS_USUAL  16

static void fetch_code_before(const struct builder *b, const struct description *d)
{
	uint64_t offset;

	/* A search of all segments for each function is only worth it in usual files. */
	if (b->elf->segment_count > SEGMENTS_USUAL)
		return;
	if (elf_code_offset(b->elf, d->start - 1, &offset) && offset < b->elf->image->size)
		__builtin_prefetch(b->elf->image->bytes + offset);
}

/* `behind`: where another function begins behind them. */
static bool add_functions(struct builder *b, uint64_t behind)
{
	const struct description *l = b->loaded.functions.items, *d = b->debug.functions.items;
	size_t left = b->loaded.functions.count, debug_left = b->debug.functions.count;

	while (left || debug_left) {
		uint64_t next = left ? l->start : UINT64_MAX;

		if (!add_gap(b, debug_left && d->start < next ? d->start : next))
			return false;
		if (debug_left && d->start < next) {
			if (!add_debug(b, d, next))
				return false;
			d++;
			debug_left--;
		} else {
			if (left > FUNCTIONS_AHEAD)
				fetch_code_before(b, l + FUNCTIONS_AHEAD);
			if (!add_loaded(b, l))
				return false;
			l++;
			left--;
		}
	}
	return add_gap(b, behind);
}

/* --- the table --- */

static bool is_go(const struct elf *elf)
{
	return elf_has_section(elf, ".gopclntab") || elf_has_section(elf, ".data.rel.ro.gopclntab");
}

static uint64_t wanted_bytes(const struct builder *b, uint64_t start, uint64_t end)
{
	start = start > b->first ? start : b->first;
	end = end < b->end ? end : b->end;
	return start < end ? end - start : 0;
}

static bool says_little(const struct builder *b)
{
	const struct descriptions *all[] = { &b->loaded, &b->debug };
	uint64_t described = 0, bytes = 0;

	for (size_t i = 0; i < array_length(all); i++)
		for (size_t j = 0; j < all[i]->functions.count; j++)
			described += wanted_bytes(b, all[i]->functions.items[j].start,
						  all[i]->functions.items[j].end);
	for (size_t i = 0; i < b->instructions.count; i++)
		bytes += wanted_bytes(b, b->instructions.ranges[i].start,
				      b->instructions.ranges[i].end);
	return described < bytes / 2;
}

static bool build_table(struct builder *b)
{
	const struct elf *elf = b->elf;
	bool has_said;

	unwind_rows_init(&b->rows, &b->table);
	if (!code_init(&b->code, elf, CODE_SPAN) ||
	    !code_init_instructions(&b->instructions, &b->code, elf) ||
	    !descriptions_read(&b->loaded, frame_section_loaded(elf), b->machine, &b->code) ||
	    !descriptions_read(&b->debug, frame_section_debug(elf), b->machine, &b->code))
		return false;
	b->table.refused = b->loaded.refused + b->debug.refused;
	b->entry = is_begun(elf) ? elf->entry : 0;
	b->is_go = is_go(elf);
	b->says_little = says_little(b);
	has_said = b->loaded.functions.count + b->debug.functions.count != 0;
	/* Code without descriptions may keep frame pointers. */
	b->gap = b->is_go || !has_said ? UNWIND_NUMBER_POINTER : UNWIND_NUMBER_NONE;
	inferred_init(&b->inferred, elf, b->entry);
	if (!add_functions(b, UINT64_MAX) || !leave_code(b) || !unwind_rows_finish(&b->rows))
		return false;
	/* Then it is nothing to walk by. */
	if (!has_said && !b->is_go && !b->inferred.functions) {
		unwind_table_deinit(&b->table);
		b->table.refused = b->loaded.refused + b->debug.refused;
	}
	return true;
}

static void builder_deinit(struct builder *b)
{
	unwind_table_deinit(&b->table);
	code_deinit(&b->code);
	code_deinit(&b->instructions);
	descriptions_deinit(&b->loaded);
	descriptions_deinit(&b->debug);
	inferred_deinit(&b->inferred);
	word_map_deinit(&b->numbers);
}

static struct error *run_builder(struct builder *b, bool (*build)(struct builder *),
				 struct unwind_table *ret)
{
	bool done;

	b->machine = cfi_machine_of(b->elf->machine);
	if (!b->machine)
		return error_create("unsupported ELF machine %u", b->elf->machine);
	done = build(b);
	if (done) {
		*ret = b->table;
		b->table = (struct unwind_table){ 0 };
	}
	builder_deinit(b);
	return done ? NULL : &error_no_memory;
}

struct error *unwind_build(const struct elf *elf, struct unwind_table *ret)
{
	struct builder b = { .elf = elf, .end = UINT64_MAX };

	return run_builder(&b, build_table, ret);
}

/* --- parts of a table --- */

/* A file with less is made at once: it takes some milliseconds. */
#define PARTS_FROM_BYTES ((uint64_t)256 << 10)

/* Do all functions of .eh_frame have a row in the table of starts, and is nothing else said? */
static bool has_index_only(const struct elf *elf)
{
	struct frame_section section = frame_section_unread(elf);
	struct function_index index;

	return section.bytes.length >= PARTS_FROM_BYTES && function_index_open(elf, &index) &&
	       index.count && !elf_has_section(elf, ".debug_frame") &&
	       !elf_has_section(elf, ".zdebug_frame") && !is_go(elf);
}

struct error *unwind_build_outline(const struct elf *elf, struct unwind_table *ret)
{
	struct unwind_table table = { 0 };
	struct code code = { 0 };
	uint64_t blocks = 0;
	struct error *err = NULL;

	if (cfi_machine_of(elf->machine) && has_index_only(elf)) {
		if (!code_init(&code, elf, CODE_SPAN))
			return &error_no_memory;
		if (code.count) {
			table.base = code.ranges[0].start & ~BLOCK_MASK;
			blocks = (code.ranges[code.count - 1].end - table.base + BLOCK_MASK) >>
				 UNWIND_BLOCK_BITS;
		}
		code_deinit(&code);
	}
	for (uint64_t i = 0; i < blocks && !err; i++)
		if (!array_push(&table.blocks, UNWIND_UNMADE_BLOCK))
			err = &error_no_memory;
	if (err)
		unwind_table_deinit(&table);
	else
		*ret = table;
	return err;
}

/* The functions of the part: the one that begins before it may reach into it, and the one behind it
 * ends the last gap. */
static bool read_part(struct builder *b, uint64_t *ret_behind)
{
	struct function_index index;
	uint32_t first, end;
	uint64_t at;

	if (!function_index_open(b->elf, &index) ||
	    !function_index_find(&index, b->first, &first) ||
	    !function_index_find(&index, b->end - 1, &end)) {
		/* The file has changed: nothing is known. */
		b->table.refused++;
		return true;
	}
	first -= first != 0;
	if (!function_index_at(&index, end, ret_behind, &at))
		*ret_behind = UINT64_MAX;
	if (!descriptions_read_some(&b->loaded, &index, first, end > first ? end - first : 0,
				    b->machine, &b->code))
		return false;
	/* Gaps are looked for from there on. */
	if (first && b->loaded.functions.count)
		b->covered = b->loaded.functions.items[0].start;
	return true;
}

/* Rows begin where there is something to say; blocks of the part, where it begins. */
static bool pad_part(struct builder *b)
{
	struct unwind_table *table = &b->table;
	const size_t wanted = (size_t)((b->end - b->first) >> UNWIND_BLOCK_BITS);
	const size_t before =
		table->blocks.count ? (size_t)((table->base - b->first) >> UNWIND_BLOCK_BITS) : 0;

	while (table->blocks.count < wanted)
		if (!array_push(&table->blocks, UNWIND_NO_BLOCK))
			return false;
	table->blocks.count = wanted;
	memmove(table->blocks.items + before, table->blocks.items,
		(wanted - before) * sizeof(*table->blocks.items));
	for (size_t i = 0; i < before; i++)
		table->blocks.items[i] = UNWIND_NO_BLOCK;
	table->base = b->first;
	return true;
}

static bool build_part(struct builder *b)
{
	uint64_t behind = UINT64_MAX;

	unwind_rows_init(&b->rows, &b->table);
	if (!code_init(&b->code, b->elf, CODE_SPAN) ||
	    !code_init_instructions(&b->instructions, &b->code, b->elf) || !read_part(b, &behind))
		return false;
	b->table.refused += b->loaded.refused;
	b->entry = is_begun(b->elf) ? b->elf->entry : 0;
	b->says_little = says_little(b);
	b->gap = UNWIND_NUMBER_NONE;
	inferred_init(&b->inferred, b->elf, b->entry);
	return add_functions(b, behind) && unwind_rows_finish(&b->rows) && pad_part(b);
}

struct error *unwind_build_part(const struct elf *elf, uint64_t start, uint32_t blocks,
				struct unwind_table *ret)
{
	struct builder b = { .elf = elf,
			     .first = start,
			     .end = start + ((uint64_t)blocks << UNWIND_BLOCK_BITS) };

	return run_builder(&b, build_part, ret);
}
