/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/demangle.h"
#include "elf/kallsyms.h"
#include "profile/rewrite.h"
#include "profile/symbolise.h"

struct kernel {
	struct profile *profile;
	const struct kallsyms *symbols;
	const struct name *core; /* the module of what is in none */
	bool lacks_some;         /* an address had no name */
};

static bool is_raw(const struct frame *frame)
{
	return frame->kind == FRAME_KERNEL && !frame->name;
}

/* Names of the kernel are plain, but may be those of Rust. */
static const struct name *shown(struct profile *profile, struct text name)
{
	char symbol[FUNCTION_NAME_MAX], made[FUNCTION_NAME_MAX];
	size_t length = name.length < sizeof(symbol) ? name.length : sizeof(symbol) - 1;

	memcpy(symbol, name.bytes, length);
	symbol[length] = 0;
	return profile_name(profile, made, demangle(symbol, made));
}

/* The address of the kernel changes with each boot, so addresses are stored relative to the start
 * of its code. The start of the code of modules is not known. */
static struct error *name_kernel_frame(void *context, uint32_t number, const struct frame *frame,
				       enum frame_role role, struct rewrite_frames *ret)
{
	struct kernel *kernel = context;
	struct frame named = { .kind = FRAME_KERNEL, .module = kernel->core };
	struct kallsym symbol;

	(void)number;
	if (!is_raw(frame))
		return rewrite_push(kernel->profile, frame, ret);
	if (kallsyms_find(kernel->symbols, rewrite_address(frame, role), &symbol)) {
		named.name = shown(kernel->profile, symbol.name);
		named.offset = frame->address - symbol.address;
		if (!symbol.module.length && kallsyms_start(kernel->symbols) &&
		    symbol.address >= kallsyms_start(kernel->symbols))
			named.address = frame->address - kallsyms_start(kernel->symbols);
		if (symbol.module.length)
			named.module = profile_name(kernel->profile, symbol.module.bytes,
						    symbol.module.length);
	} else {
		kernel->lacks_some = true;
		named.name = profile_name(kernel->profile, "[unknown]", 9);
		named.module = NULL;
	}
	if (!named.name)
		return &error_no_memory;
	return rewrite_push(kernel->profile, &named, ret);
}

static bool has_raw_frames(const struct profile *profile)
{
	for (size_t i = 0; i < profile->frames.count; i++)
		if (is_raw(&profile->frames.items[i]))
			return true;
	return false;
}

static struct error *name_frames(struct kernel *kernel)
{
	kernel->core = profile_name(kernel->profile, "[kernel]", 8);
	if (!kernel->core)
		return &error_no_memory;
	return rewrite_stacks(kernel->profile, name_kernel_frame, kernel);
}

struct error *symbolise_kernel_by(struct profile *profile, const struct kallsyms *symbols)
{
	struct kernel kernel = { .profile = profile, .symbols = symbols };

	return has_raw_frames(profile) ? name_frames(&kernel) : NULL;
}

struct error *symbolise_kernel(struct profile *profile)
{
	_cleanup_(kallsyms_destroy) struct kallsyms *symbols = NULL;
	struct error *err;

	if (!has_raw_frames(profile))
		return NULL;
	err = kallsyms_read("/proc/kallsyms", &symbols);
	return err ? err : symbolise_kernel_by(profile, symbols);
}

struct error *symbolise_kernel_cached(struct profile *profile, struct symbol_cache *cache)
{
	struct kernel kernel = { .profile = profile };
	struct error *err;

	if (!has_raw_frames(profile))
		return NULL;
	err = symbol_cache_kernel(cache, &kernel.symbols);
	if (!err)
		err = name_frames(&kernel);
	if (kernel.lacks_some)
		symbol_cache_lacks_kernel(cache);
	return err;
}
