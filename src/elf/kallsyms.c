/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/kallsyms.h"

#include <errno.h>
#include <fcntl.h>

#include "base/array.h"
#include "base/hex.h"
#include "elf/preference.h"

/* No function of the kernel is longer. */
#define FUNCTION_SIZE_MAX ((uint64_t)1 << 20)

/* Longer lines are invalid: a name has up to 511 bytes (KSYM_NAME_LEN), that of a module 55. */
#define LINE_MAX_BYTES   1024
#define MODULE_MAX_BYTES 255

#define READ_SIZE        ((size_t)256 << 10)

struct kallsyms_code {
	uint64_t address;
	uint32_t name; /* where in `bytes` */
	uint16_t name_length;
	uint8_t module_length;
	char type;
};
_Static_assert(sizeof(struct kallsyms_code) == 16, "a kernel has more than 100,000 of them");

/* The range of a kind of code, between two symbols that are no functions. */
struct section {
	uint64_t start, end;
};
static const struct {
	const char *start, *end;
} section_marks[] = { { "__sched_text_start", "__sched_text_end" },
		      { "__lock_text_start", "__lock_text_end" } };

struct kallsyms {
	struct section sections[array_length(section_marks)];
	uint64_t start;
	struct {
		ARRAY(struct kallsyms_code);
	} code;
	struct {
		ARRAY(char);
	} bytes; /* a name, then its module */
	bool has_addresses;
};

bool kallsym_parse(struct text line, struct kallsym *ret)
{
	struct kallsym symbol = { 0 };
	struct text type, module;

	if (line.length > LINE_MAX_BYTES || !hex_cut(&line, &symbol.address) ||
	    !text_word(&line, &type) || type.length != 1 || !text_word(&line, &symbol.name))
		return false;
	symbol.type = type.bytes[0];
	if (text_word(&line, &module)) {
		if (module.length < 3 || module.length > MODULE_MAX_BYTES ||
		    module.bytes[0] != '[' || !text_ends(module, TEXT("]")))
			return false;
		symbol.module = (struct text){ module.bytes + 1, module.length - 2 };
	}
	*ret = symbol;
	return true;
}

static bool is_code_type(char type)
{
	return type && strchr("tTwW", type);
}

static bool add_bytes(struct kallsyms *symbols, struct text text)
{
	if (!array_reserve(&symbols->bytes, text.length))
		return false;
	if (text.length)
		memcpy(symbols->bytes.items + symbols->bytes.count, text.bytes, text.length);
	symbols->bytes.count += text.length;
	return true;
}

static void look_for_marks(struct kallsyms *symbols, const struct kallsym *symbol)
{
	if (symbol->module.length)
		return;
	if (text_equal(symbol->name, TEXT("_stext")))
		symbols->start = symbol->address;
	for (size_t i = 0; i < array_length(section_marks); i++) {
		if (text_equal(symbol->name, text_of(section_marks[i].start)))
			symbols->sections[i].start = symbol->address;
		if (text_equal(symbol->name, text_of(section_marks[i].end)))
			symbols->sections[i].end = symbol->address;
	}
}

static struct error *add_symbol_line(struct kallsyms *symbols, struct text line)
{
	struct kallsym symbol;
	struct kallsyms_code code;

	if (!kallsym_parse(line, &symbol))
		return NULL;
	symbols->has_addresses |= symbol.address != 0;
	if (!is_code_type(symbol.type))
		return NULL;
	look_for_marks(symbols, &symbol);
	if (symbols->code.count >= KALLSYMS_MAX || symbols->bytes.count >= KALLSYMS_BYTES_MAX)
		return error_create("more than %zu functions", KALLSYMS_MAX);
	code = (struct kallsyms_code){
		.address = symbol.address,
		.name = (uint32_t)symbols->bytes.count,
		.name_length = (uint16_t)symbol.name.length,
		.module_length = (uint8_t)symbol.module.length,
		.type = symbol.type,
	};
	if (!add_bytes(symbols, symbol.name) || !add_bytes(symbols, symbol.module) ||
	    !array_push(&symbols->code, code))
		return &error_no_memory;
	return NULL;
}

static struct text kernel_symbol_name(const struct kallsyms *symbols,
				      const struct kallsyms_code *code)
{
	return (struct text){ symbols->bytes.items + code->name, code->name_length };
}

static int code_by_address(const void *a, const void *b)
{
	const struct kallsyms_code *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

/* Prefer the plainest of several names for one address: a global one, if there is any. */
static bool is_better(const struct kallsyms *symbols, const struct kallsyms_code *a,
		      const struct kallsyms_code *b)
{
	bool global_a = a->type == 'T', global_b = b->type == 'T';

	if (global_a != global_b)
		return global_a;
	return name_is_plainer(kernel_symbol_name(symbols, a), kernel_symbol_name(symbols, b));
}

static void sort(struct kallsyms *symbols)
{
	struct kallsyms_code *code = symbols->code.items;
	size_t kept = 0;

	if (!symbols->code.count)
		return;
	qsort(code, symbols->code.count, sizeof(*code), code_by_address);
	for (size_t i = 1; i < symbols->code.count; i++)
		if (code[i].address != code[kept].address)
			code[++kept] = code[i];
		else if (is_better(symbols, &code[i], &code[kept]))
			code[kept] = code[i];
	symbols->code.count = kept + 1;
	array_fit(&symbols->code);
	array_fit(&symbols->bytes);
}

static struct error *finish(struct kallsyms *symbols)
{
	if (!symbols->has_addresses)
		return error_create("kernel addresses are hidden: needs CAP_SYSLOG, and sysctl "
				    "kernel.kptr_restrict below 2");
	sort(symbols);
	return NULL;
}

/* The whole lines of `bytes`, and what is left of the last one. */
static struct error *add_lines(struct kallsyms *symbols, struct text *bytes)
{
	const char *end;

	while ((end = memchr(bytes->bytes, '\n', bytes->length))) {
		size_t length = (size_t)(end - bytes->bytes);
		struct error *err = add_symbol_line(symbols, (struct text){ bytes->bytes, length });

		if (err)
			return err;
		bytes->bytes += length + 1;
		bytes->length -= length + 1;
	}
	return NULL;
}

static struct error *read_symbols(int fd, struct kallsyms *symbols)
{
	_cleanup_free_ char *room = malloc(LINE_MAX_BYTES + READ_SIZE);
	size_t kept = 0;

	if (!room)
		return &error_no_memory;
	for (;;) {
		ssize_t got = read(fd, room + kept, READ_SIZE);
		struct text bytes = { room, kept };
		struct error *err;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_system(errno, "cannot be read");
		bytes.length += (size_t)got;
		err = add_lines(symbols, &bytes);
		if (err)
			return err;
		if (!got)
			return add_symbol_line(symbols, bytes);
		/* A longer text without a newline is not a line. */
		kept = bytes.length < LINE_MAX_BYTES ? bytes.length : 0;
		memmove(room, bytes.bytes, kept);
	}
}

struct error *kallsyms_read(const char *path, struct kallsyms **ret)
{
	_cleanup_(kallsyms_destroy) struct kallsyms *symbols = calloc(1, sizeof(*symbols));
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct error *err;

	if (!symbols)
		return &error_no_memory;
	if (fd < 0)
		return error_system(errno, "%s", path);
	err = read_symbols(fd, symbols);
	if (!err)
		err = finish(symbols);
	if (err)
		return error_prefix(err, "%s", path);
	*ret = take_ptr(symbols);
	return NULL;
}

struct error *kallsyms_parse(struct text bytes, struct kallsyms **ret)
{
	_cleanup_(kallsyms_destroy) struct kallsyms *symbols = calloc(1, sizeof(*symbols));
	struct error *err;

	if (!symbols)
		return &error_no_memory;
	err = bytes.length ? add_lines(symbols, &bytes) : NULL;
	if (!err)
		err = add_symbol_line(symbols, bytes);
	if (!err)
		err = finish(symbols);
	if (err)
		return err;
	*ret = take_ptr(symbols);
	return NULL;
}

void kallsyms_destroy(struct kallsyms *symbols)
{
	if (!symbols)
		return;
	array_deinit(&symbols->code);
	array_deinit(&symbols->bytes);
	free(symbols);
}

bool kallsyms_find(const struct kallsyms *symbols, uint64_t address, struct kallsym *ret)
{
	size_t low = 0, high = symbols->code.count;
	const struct kallsyms_code *code;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->code.items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	code = &symbols->code.items[low - 1];
	if (!code->address || address - code->address > FUNCTION_SIZE_MAX)
		return false;
	ret->address = code->address;
	ret->type = code->type;
	ret->name = kernel_symbol_name(symbols, code);
	ret->module = (struct text){ ret->name.bytes + code->name_length, code->module_length };
	return true;
}

bool kallsyms_code_of(const struct kallsyms *symbols, struct text name, uint64_t *ret_begin,
		      uint64_t *ret_end)
{
	const struct kallsyms_code *code = symbols->code.items;
	size_t i = 0, next;

	while (i < symbols->code.count &&
	       (code[i].name_length != name.length || !code[i].address ||
		!text_equal(kernel_symbol_name(symbols, &code[i]), name)))
		i++;
	for (next = i + 1; next < symbols->code.count; next++) {
		if (code[next].address == code[i].address)
			continue;
		*ret_begin = code[i].address;
		*ret_end = code[next].address;
		return true;
	}
	return false;
}

uint64_t kallsyms_start(const struct kallsyms *symbols)
{
	return symbols->start;
}

bool kallsyms_is_scheduler(const struct kallsyms *symbols, uint64_t address)
{
	for (size_t i = 0; i < array_length(section_marks); i++)
		if (address >= symbols->sections[i].start && address < symbols->sections[i].end)
			return true;
	return false;
}
