/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/cfi.h"

#include <elf.h>
#include <endian.h>

#include "base/array.h"

/* Compilers nest two. */
#define REMEMBERED_MAX 16

/* System V ABI, x86_64, figure 3.36, and ABI for the Arm 64-bit architecture: DWARF, 4.1. */
static const struct cfi_machine machines[] = {
	{ .elf = EM_X86_64,
	  .sp = 7,
	  .bp = 6,
	  .bx = 3,
	  .pc = 16,
	  .unsaid = { [CFI_RA] = { UNWIND_UNKNOWN, 0, 0 },
		      [CFI_BP] = { UNWIND_SAME, 0, 0 },
		      [CFI_BX] = { UNWIND_SAME, 0, 0 },
		      [CFI_SP] = { CFI_IS_CFA, 0, 0 } } },
	{ .elf = EM_AARCH64,
	  .sp = 31,
	  .bp = 29,
	  .bx = CFI_NOBODY,
	  .pc = CFI_NOBODY,
	  .signs_addresses = true,
	  .unsaid = { [CFI_RA] = { UNWIND_IN_REG, 30, 0 },
		      [CFI_BP] = { UNWIND_SAME, 0, 0 },
		      [CFI_BX] = { UNWIND_UNKNOWN, 0, 0 },
		      [CFI_SP] = { CFI_IS_CFA, 0, 0 } } },
};

const struct cfi_machine *cfi_machine_of(uint16_t elf)
{
	for (size_t i = 0; i < array_length(machines); i++)
		if (machines[i].elf == elf)
			return &machines[i];
	return NULL;
}

/* --- what the instructions do --- */

struct cfi_run {
	const struct cfi_program *program;
	const struct cfi_machine *machine;
	struct cfi_state state;
	struct cfi_state initial; /* what DW_CFA_restore goes back to */
	struct cfi_state remembered[REMEMBERED_MAX];
	unsigned depth;
	struct cfi_frame frame; /* of state.locations, unless it is stale */
	bool is_stale;
	struct cursor rest;
	uint64_t address, end;
	uint64_t instructions_at;
	const uint8_t *instructions;
	cfi_visit *visit; /* NULL: these are the initial instructions */
	void *context;
	bool is_over, no_memory;
};

/* Operands, by what is read of them. */
enum operand {
	NOTHING,
	UNSIGNED,
	SIGNED_DATA, /* times the data factor, as the next two */
	UNSIGNED_DATA,
	NEGATIVE_DATA, /* and negated */
	CODE_1,        /* of so many bytes, times the code factor, as the next two */
	CODE_2,
	CODE_4,
	POINTER,
	BLOCK,
};

struct operands {
	uint64_t reg;
	uint64_t value;
	struct text block;
};

/* False: this is not understood. */
typedef bool action(struct cfi_run *run, const struct operands *operands);

static struct cfi_location *location_of(struct cfi_run *run, uint64_t reg)
{
	const struct cfi_program *program = run->program;
	const uint8_t which = reg < UNWIND_NUMBERS ? program->tracked[reg]
			      : reg == program->ra ? (uint8_t)CFI_RA
						   : (uint8_t)CFI_TRACKED;

	if (which == CFI_TRACKED)
		return NULL;
	run->is_stale = true;
	return &run->state.locations[which];
}

static struct cfi_location location_at(enum unwind_location kind, int64_t offset)
{
	if (offset % 8 || offset / 8 < INT8_MIN || offset / 8 > INT8_MAX)
		kind = UNWIND_UNKNOWN;
	return (struct cfi_location){ .kind = (uint8_t)kind,
				      .words = kind == UNWIND_UNKNOWN ? 0 : (int16_t)(offset / 8) };
}

static bool set_location(struct cfi_run *run, const struct operands *operands,
			 struct cfi_location location)
{
	struct cfi_location *there = location_of(run, operands->reg);

	if (there)
		*there = location;
	return true;
}

static bool do_nothing(struct cfi_run *run, const struct operands *operands)
{
	(void)run;
	(void)operands;
	return true;
}

static bool do_offset(struct cfi_run *run, const struct operands *operands)
{
	return set_location(run, operands, location_at(UNWIND_AT_CFA, (int64_t)operands->value));
}

/* The stack pointer is, by rule, what the CFA is, and some say so. */
static bool do_val_offset(struct cfi_run *run, const struct operands *operands)
{
	bool is_cfa = operands->reg == run->machine->sp && !operands->value;

	return set_location(
		run, operands,
		(struct cfi_location){ .kind = is_cfa ? (uint8_t)CFI_IS_CFA : UNWIND_UNKNOWN });
}

static bool do_undefined(struct cfi_run *run, const struct operands *operands)
{
	return set_location(run, operands, (struct cfi_location){ .kind = CFI_UNDEFINED });
}

static bool do_same_value(struct cfi_run *run, const struct operands *operands)
{
	struct cfi_location *there = location_of(run, operands->reg);
	size_t which = there ? (size_t)(there - run->state.locations) : 0;

	if (there)
		*there = which == CFI_SP ? (struct cfi_location){ .kind = UNWIND_UNKNOWN }
					 : run->machine->unsaid[which];
	return true;
}

static bool do_register(struct cfi_run *run, const struct operands *operands)
{
	struct cfi_location location = { .kind = UNWIND_UNKNOWN };

	if (operands->reg == run->program->ra && operands->value < UNWIND_NUMBERS)
		location = (struct cfi_location){ .kind = UNWIND_IN_REG,
						  .reg = (uint8_t)operands->value };
	return set_location(run, operands, location);
}

static bool do_expression(struct cfi_run *run, const struct operands *operands)
{
	struct expression e = expression_read(operands->block, run->machine->pc);
	struct cfi_location location = { .kind = UNWIND_UNKNOWN };

	if (e.kind == EXPRESSION_REGISTER && e.reg == run->machine->sp)
		location = location_at(UNWIND_AT_SP, e.offset);
	else if (e.kind == EXPRESSION_REGISTER && e.reg == run->machine->bp)
		location = location_at(UNWIND_AT_BP, e.offset);
	return set_location(run, operands, location);
}

static bool do_val_expression(struct cfi_run *run, const struct operands *operands)
{
	return set_location(run, operands, (struct cfi_location){ .kind = UNWIND_UNKNOWN });
}

static bool do_restore(struct cfi_run *run, const struct operands *operands)
{
	struct cfi_location *there = location_of(run, operands->reg);

	if (there)
		*there = run->initial.locations[there - run->state.locations];
	return true;
}

static bool do_remember(struct cfi_run *run, const struct operands *operands)
{
	(void)operands;
	if (run->depth == REMEMBERED_MAX)
		return false;
	run->remembered[run->depth++] = run->state;
	return true;
}

static bool do_restore_state(struct cfi_run *run, const struct operands *operands)
{
	(void)operands;
	if (!run->depth)
		return false;
	run->state = run->remembered[--run->depth];
	run->is_stale = true;
	return true;
}

static bool do_def_cfa(struct cfi_run *run, const struct operands *operands)
{
	if (operands->reg > UINT16_MAX)
		return false;
	run->state.cfa = (struct expression){ .kind = EXPRESSION_REGISTER,
					      .reg = (uint16_t)operands->reg,
					      .offset = (int64_t)operands->value };
	return true;
}

/* These two are wrong where there is no register to change. */
static bool do_def_cfa_register(struct cfi_run *run, const struct operands *operands)
{
	if (run->state.cfa.kind != EXPRESSION_REGISTER || operands->reg > UINT16_MAX)
		return false;
	run->state.cfa.reg = (uint16_t)operands->reg;
	return true;
}

static bool do_def_cfa_offset(struct cfi_run *run, const struct operands *operands)
{
	if (run->state.cfa.kind != EXPRESSION_REGISTER)
		return false;
	run->state.cfa.offset = (int64_t)operands->value;
	return true;
}

static bool do_def_cfa_expression(struct cfi_run *run, const struct operands *operands)
{
	run->state.cfa = expression_read(operands->block, run->machine->pc);
	return true;
}

static bool do_negate_ra_state(struct cfi_run *run, const struct operands *operands)
{
	(void)operands;
	return run->machine->signs_addresses;
}

/* --- rules --- */

static bool is_at_cfa(const struct cfi_state *state, const struct cfi_machine *machine)
{
	const struct cfi_location *sp = &state->locations[CFI_SP];

	/* Frames of signals say where the stack pointer was kept, and have the CFA there. */
	return sp->kind == CFI_IS_CFA ||
	       (sp->kind == UNWIND_AT_SP && state->cfa.kind == EXPRESSION_DEREF &&
		state->cfa.reg == machine->sp && state->cfa.offset == sp->words * 8 &&
		!state->cfa.addend);
}

static bool put_base(const struct cfi_machine *machine, const struct expression *cfa,
		     struct unwind_rule *rule)
{
	if (cfa->reg == machine->sp)
		rule->base = UNWIND_BASE_SP;
	else if (cfa->reg == machine->bp)
		rule->base = UNWIND_BASE_BP;
	else if (cfa->reg == machine->bx)
		rule->base = UNWIND_BASE_BX;
	else
		rule->base = UNWIND_BASE_OTHER;
	if (rule->base == UNWIND_BASE_OTHER)
		rule->number = (uint8_t)cfa->reg;
	return cfa->reg < UNWIND_NUMBERS;
}

static bool put_cfa(const struct cfi_machine *machine, const struct expression *cfa,
		    struct unwind_rule *rule)
{
	if (cfa->kind == EXPRESSION_OTHER || !put_base(machine, cfa, rule) ||
	    cfa->offset < INT32_MIN || cfa->offset > INT32_MAX)
		return false;
	rule->cfa_offset = (int32_t)cfa->offset;
	if (cfa->kind == EXPRESSION_DEREF) {
		rule->flags |= UNWIND_DEREF;
		rule->addend = (int8_t)cfa->addend;
		return cfa->addend >= INT8_MIN && cfa->addend <= INT8_MAX;
	}
	if (cfa->kind == EXPRESSION_STEP) {
		/* The addend cannot be encoded for this base. */
		if (rule->base == UNWIND_BASE_OTHER || cfa->addend != 8)
			return false;
		rule->flags |= UNWIND_PLT;
		rule->number = cfa->addend_from;
	}
	return true;
}

static bool put_return(const struct cfi_location *ra, struct unwind_rule *rule)
{
	if (ra->kind == UNWIND_IN_REG) {
		if (rule->base == UNWIND_BASE_OTHER || rule->flags & UNWIND_PLT)
			return false;
		rule->number = ra->reg;
	} else if (ra->kind != UNWIND_AT_CFA && ra->kind != UNWIND_AT_SP &&
		   ra->kind != UNWIND_AT_BP) {
		return false;
	}
	rule->ra = ra->kind;
	rule->ra_offset = (int8_t)ra->words;
	return true;
}

static void put_saved(const struct cfi_location *location, uint8_t *kind, int8_t *words)
{
	*kind = location->kind <= UNWIND_UNKNOWN ? location->kind : (uint8_t)UNWIND_UNKNOWN;
	*words = (int8_t)location->words;
}

/* As the next, apart from the usual case, which needs few registers. */
__attribute__((noinline)) static struct unwind_rule rule_of(const struct cfi_program *program,
							    const struct cfi_state *state)
{
	const struct cfi_machine *machine = program->machine;
	struct unwind_rule rule = { .kind = UNWIND_RULE_FRAME };

	if (state->locations[CFI_RA].kind == CFI_UNDEFINED)
		return (struct unwind_rule){ .kind = UNWIND_RULE_STOP };
	rule.flags = program->is_signal ? UNWIND_SIGNAL : 0;
	if (!put_cfa(machine, &state->cfa, &rule) || !is_at_cfa(state, machine) ||
	    !put_return(&state->locations[CFI_RA], &rule))
		return (struct unwind_rule){ .kind = UNWIND_RULE_OTHER };
	put_saved(&state->locations[CFI_BP], &rule.bp, &rule.bp_offset);
	put_saved(&state->locations[CFI_BX], &rule.bx, &rule.bx_offset);
	return rule;
}

/*
 * Nearly all rows have the CFA at a distance from a register, and locations change less often than
 * that. So the rule without CFA is kept, and in two words: visitors load words, and a load of what
 * was just stored member by member waits until that is in the cache.
 */
__attribute__((noinline)) static struct cfi_frame frame_of(const struct cfi_program *program,
							   const struct cfi_state *state)
{
	struct cfi_state plain = *state;
	struct unwind_rule rule;
	struct cfi_frame frame = { .is_plain = false };

	plain.cfa = (struct expression){ .kind = EXPRESSION_REGISTER, .reg = program->machine->sp };
	rule = rule_of(program, &plain);
	frame.is_plain = rule.kind == UNWIND_RULE_FRAME;
	memcpy(frame.words, &rule, sizeof(rule));
	return frame;
}

_Static_assert(sizeof(struct unwind_rule) == 2 * sizeof(uint64_t) &&
		       offsetof(struct unwind_rule, base) == 2 &&
		       offsetof(struct unwind_rule, cfa_offset) == sizeof(uint64_t) &&
		       UNWIND_BASE_SP == 0 && __BYTE_ORDER == __LITTLE_ENDIAN,
	       "the base is the third byte of the first word, the distance half of the second");

static bool plain_rule(struct cfi_run *run, struct unwind_rule *ret)
{
	const struct cfi_machine *machine = run->machine;
	const struct expression *cfa = &run->state.cfa;
	uint64_t words[2], base;

	if (run->is_stale) {
		run->frame = frame_of(run->program, &run->state);
		run->is_stale = false;
	}
	if (cfa->kind != EXPRESSION_REGISTER || !run->frame.is_plain ||
	    cfa->offset != (int32_t)cfa->offset)
		return false;
	if (cfa->reg == machine->sp)
		base = UNWIND_BASE_SP;
	else if (cfa->reg == machine->bp)
		base = UNWIND_BASE_BP;
	else
		return false;
	words[0] = run->frame.words[0] | base << 16;
	words[1] = run->frame.words[1] | (uint32_t)cfa->offset;
	memcpy(ret, words, sizeof(*ret));
	return true;
}

static bool visit_rule(struct cfi_run *run)
{
	struct unwind_rule rule;

	if (!plain_rule(run, &rule))
		rule = rule_of(run->program, &run->state);
	run->no_memory = !run->visit(run->context, run->address, &rule);
	return !run->no_memory;
}

/* --- instructions --- */

/* Emit the rules so far for the addresses up to `to`. */
static bool go_to(struct cfi_run *run, uint64_t to)
{
	if (!run->visit || to < run->address)
		return false;
	if (to == run->address)
		return true;
	if (!visit_rule(run))
		return false;
	run->address = to;
	run->is_over = to >= run->end;
	return true;
}

static bool do_advance(struct cfi_run *run, const struct operands *operands)
{
	uint64_t to;

	if (__builtin_add_overflow(run->address, operands->value, &to))
		return false;
	return go_to(run, to);
}

static bool do_set_loc(struct cfi_run *run, const struct operands *operands)
{
	return go_to(run, operands->value);
}

/* The second operand is the value, and so is the only one that is no register. */
static const struct {
	action *act;
	uint8_t has_register, value;
} instructions[0x40] = {
	[DW_CFA_nop] = { do_nothing, false, NOTHING },
	[DW_CFA_set_loc] = { do_set_loc, false, POINTER },
	[DW_CFA_advance_loc1] = { do_advance, false, CODE_1 },
	[DW_CFA_advance_loc2] = { do_advance, false, CODE_2 },
	[DW_CFA_advance_loc4] = { do_advance, false, CODE_4 },
	[DW_CFA_offset_extended] = { do_offset, true, UNSIGNED_DATA },
	[DW_CFA_restore_extended] = { do_restore, true, NOTHING },
	[DW_CFA_undefined] = { do_undefined, true, NOTHING },
	[DW_CFA_same_value] = { do_same_value, true, NOTHING },
	[DW_CFA_register] = { do_register, true, UNSIGNED },
	[DW_CFA_remember_state] = { do_remember, false, NOTHING },
	[DW_CFA_restore_state] = { do_restore_state, false, NOTHING },
	[DW_CFA_def_cfa] = { do_def_cfa, true, UNSIGNED },
	[DW_CFA_def_cfa_register] = { do_def_cfa_register, true, NOTHING },
	[DW_CFA_def_cfa_offset] = { do_def_cfa_offset, false, UNSIGNED },
	[DW_CFA_def_cfa_expression] = { do_def_cfa_expression, false, BLOCK },
	[DW_CFA_expression] = { do_expression, true, BLOCK },
	[DW_CFA_offset_extended_sf] = { do_offset, true, SIGNED_DATA },
	[DW_CFA_def_cfa_sf] = { do_def_cfa, true, SIGNED_DATA },
	[DW_CFA_def_cfa_offset_sf] = { do_def_cfa_offset, false, SIGNED_DATA },
	[DW_CFA_val_offset] = { do_val_offset, true, UNSIGNED_DATA },
	[DW_CFA_val_offset_sf] = { do_val_offset, true, SIGNED_DATA },
	[DW_CFA_val_expression] = { do_val_expression, true, BLOCK },
	[DW_CFA_AARCH64_negate_ra_state] = { do_negate_ra_state, false, NOTHING },
	[DW_CFA_GNU_args_size] = { do_nothing, false, UNSIGNED },
	[DW_CFA_GNU_negative_offset_extended] = { do_offset, true, NEGATIVE_DATA },
};

static bool scale(int64_t value, int64_t factor, uint64_t *ret)
{
	return !__builtin_mul_overflow(value, factor, (int64_t *)ret);
}

static bool scale_code(const struct cfi_run *run, uint64_t delta, uint64_t *ret)
{
	return !__builtin_mul_overflow(delta, run->program->code_factor, ret);
}

static bool read_value(struct cfi_run *run, enum operand kind, struct operands *ret)
{
	int64_t factor = run->program->data_factor, number;
	uint64_t value;

	switch (kind) {
	case NOTHING:
		return true;
	case UNSIGNED:
		return cursor_uleb(&run->rest, &ret->value);
	case SIGNED_DATA:
		return cursor_sleb(&run->rest, &number) && scale(number, factor, &ret->value);
	case UNSIGNED_DATA:
		return cursor_uleb(&run->rest, &value) && value <= INT64_MAX &&
		       scale((int64_t)value, factor, &ret->value);
	case NEGATIVE_DATA:
		return cursor_uleb(&run->rest, &value) && value <= INT64_MAX &&
		       scale(-(int64_t)value, factor, &ret->value);
	case CODE_1:
	case CODE_2:
	case CODE_4:
		return cursor_fixed(&run->rest, (size_t)1 << (kind - CODE_1), &value) &&
		       scale_code(run, value, &ret->value);
	case POINTER:
		return cursor_pointer(&run->rest, run->program->encoding,
				      run->instructions_at +
					      (uint64_t)(run->rest.at - run->instructions),
				      &ret->value);
	case BLOCK:
		if (!cursor_uleb(&run->rest, &value))
			return false;
		ret->block = (struct text){ (const char *)run->rest.at, (size_t)value };
		return cursor_skip(&run->rest, value);
	}
	return false;
}

/* Instructions with a register in the lower 6 bits. */
static bool do_primary(struct cfi_run *run, uint8_t code)
{
	struct operands operands = { .reg = code & 0x3f };

	return (code & 0xc0) == DW_CFA_offset
		       ? read_value(run, UNSIGNED_DATA, &operands) && do_offset(run, &operands)
		       : do_restore(run, &operands);
}

/* Apart from the usual ones, as are rules above. */
__attribute__((noinline)) static bool do_one(struct cfi_run *run)
{
	struct operands operands = { 0 };
	uint8_t code = *run->rest.at++;

	if (code & 0xc0)
		return do_primary(run, code);
	return instructions[code].act &&
	       (!instructions[code].has_register || cursor_uleb(&run->rest, &operands.reg)) &&
	       read_value(run, (enum operand)instructions[code].value, &operands) &&
	       instructions[code].act(run, &operands);
}

/* The instructions that pushes and pops come with, where their operand has one byte. False: it is
 * another one, and nothing is done. */
static inline bool do_usual(struct cfi_run *run, uint8_t code)
{
	const uint8_t *at = run->rest.at;

	if (run->rest.end - at < 2 || at[1] & 0x80)
		return false;
	if ((code & 0xe0) == DW_CFA_offset) {
		/* Most registers are not followed. */
		if (run->program->tracked[code & 0x1f] != CFI_TRACKED)
			return false;
	} else if (code == DW_CFA_def_cfa_offset && run->state.cfa.kind == EXPRESSION_REGISTER) {
		run->state.cfa.offset = at[1];
	} else {
		return false;
	}
	run->rest.at += 2;
	return true;
}

static inline bool advance_by(struct cfi_run *run, uint64_t steps)
{
	struct operands operands = { 0 };

	run->rest.at++;
	return scale_code(run, steps, &operands.value) && do_advance(run, &operands);
}

static bool do_all(struct cfi_run *run)
{
	while (run->rest.at < run->rest.end && !run->is_over) {
		const uint8_t code = *run->rest.at;

		if ((code & 0xc0) == DW_CFA_advance_loc) {
			if (!advance_by(run, code & 0x3f))
				return false;
		} else if (code == DW_CFA_nop) {
			run->rest.at++;
		} else if (!do_usual(run, code) && !do_one(run)) {
			return false;
		}
	}
	return true;
}

static void track(struct cfi_program *program)
{
	const struct cfi_machine *machine = program->machine;
	/* If two roles share a register, the first one in this list is tracked. */
	const uint64_t registers[CFI_TRACKED] = {
		[CFI_RA] = program->ra,
		[CFI_BP] = machine->bp,
		[CFI_BX] = machine->bx,
		[CFI_SP] = machine->sp,
	};

	memset(program->tracked, CFI_TRACKED, sizeof(program->tracked));
	for (unsigned which = CFI_TRACKED; which--;)
		if (registers[which] < UNWIND_NUMBERS)
			program->tracked[registers[which]] = (uint8_t)which;
}

enum cfi_answer cfi_begin(struct cfi_program *program, struct text bytes)
{
	struct cfi_run run = { .program = program, .machine = program->machine };

	track(program);
	memcpy(run.state.locations, program->machine->unsaid, sizeof(run.state.locations));
	run.initial = run.state;
	run.rest = cursor_of(bytes);
	if (!do_all(&run))
		return CFI_REFUSED;
	program->initial = run.state;
	program->frame = frame_of(program, &run.state);
	return CFI_DONE;
}

enum cfi_answer cfi_run(const struct cfi_program *program, const struct cfi_function *function,
			cfi_visit *visit, void *context)
{
	static const struct unwind_rule other = { .kind = UNWIND_RULE_OTHER };
	struct cfi_run run;

	/* Set members one by one: clearing the large stack of remembered rows would be slow. */
	run.program = program;
	run.machine = program->machine;
	run.state = run.initial = program->initial;
	run.depth = 0;
	run.rest = cursor_of(function->instructions);
	run.address = function->start;
	run.end = function->end;
	run.instructions = run.rest.at;
	run.instructions_at = function->instructions_at;
	run.visit = visit;
	run.context = context;
	run.frame = program->frame;
	run.is_over = run.no_memory = run.is_stale = false;
	if (do_all(&run))
		return run.is_over || visit_rule(&run) ? CFI_DONE : CFI_NO_MEMORY;
	if (run.no_memory || !visit(context, run.address, &other))
		return CFI_NO_MEMORY;
	return CFI_REFUSED;
}
