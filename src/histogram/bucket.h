/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The folder histogram/: maps values to buckets, for BPF programs, the kernel module, libkstats and
 * all readers (so bucket.h depends on nothing), and computes sums over buckets. A bucket has a
 * count and a sum, which only grow: recordings of several CPUs or hosts can be summed, an interval
 * is the difference of two readings, and recording need not stop for reading.
 */

/*
 * Log-linear buckets: which slot of a histogram a value belongs to.
 *
 * Each power of two is cut into 2^frac_bits slots of equal width, and small values have a slot
 * each: with 3 fractional bits a slot is at most 12.5 % as wide as the values in it, over all
 * 64-bit numbers, in 497 slots. Bounds of powers of two are bounds of slots whatever frac_bits is,
 * so slots of a finer histogram fall whole into those of a coarser one.
 *
 * Beside its count a slot may keep a sum, of which the mean of its values comes. Large values go
 * into it without their last bits, so that no sum of a slot overflows before 2^(44 - frac_bits)
 * values.
 *
 * Slots, scale and the text that kstats prints of them are those of Luigi Rizzo's kstats
 * ("[PATCH v3 0/2] kstats: kernel metric collector", LKML, 26 February 2020).
 *
 * Freestanding: for BPF programs, kernel modules and user space alike.
 */
#ifndef HISTOGRAM_BUCKET_H
#define HISTOGRAM_BUCKET_H

#define BUCKET_FRAC_BITS_MAX 5

/* Slots that 64-bit values need, and one more, which no value reaches: for recorders of fewer bits,
 * what does not fit. */
#define BUCKET_SLOTS(frac_bits) (((64 - (frac_bits) + 1) << (frac_bits)) + 1)

/* The number of significant bits: 0 of 0, 64 of the largest number. BPF has no instruction for it.
 */
static inline __attribute__((always_inline)) unsigned bucket_bits(unsigned long long value)
{
#ifdef __bpf__
	unsigned bits = 0;

	if (value >> 32) {
		value >>= 32;
		bits += 32;
	}
	if (value >> 16) {
		value >>= 16;
		bits += 16;
	}
	if (value >> 8) {
		value >>= 8;
		bits += 8;
	}
	if (value >> 4) {
		value >>= 4;
		bits += 4;
	}
	if (value >> 2) {
		value >>= 2;
		bits += 2;
	}
	if (value >> 1) {
		value >>= 1;
		bits += 1;
	}
	return bits + (unsigned)value;
#elif defined(__KERNEL__)
	return fls64(value);
#else
	return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
#endif
}

/* The number of low bits of `value` that its slot does not distinguish: those after the first
 * frac_bits + 1. */
static inline __attribute__((always_inline)) unsigned bucket_rest(unsigned long long value,
								  unsigned frac_bits)
{
#ifdef __KERNEL__
	return __fls(value >> frac_bits | 1);
#else
	return bucket_bits(value >> frac_bits | 1) - 1;
#endif
}

/* The slot of a value with so many bits to rest, in the width of an address: octaves have
 * 2^frac_bits slots, and begin there. */
static inline __attribute__((always_inline)) unsigned long bucket_slot_of_rest(
	unsigned long long value, unsigned frac_bits, unsigned rest)
{
	return ((unsigned long)rest << frac_bits) + (unsigned long)(value >> rest);
}

/* The slot of `value`. */
static inline __attribute__((always_inline)) unsigned bucket_slot(unsigned long long value,
								  unsigned frac_bits)
{
	return (unsigned)bucket_slot_of_rest(value, frac_bits, bucket_rest(value, frac_bits));
}

/* The smallest value of a slot; of the one that no value reaches, the largest number there is. */
static inline __attribute__((always_inline)) unsigned long long bucket_low(unsigned slot,
									   unsigned frac_bits)
{
	unsigned octave = slot >> frac_bits;
	unsigned long long fraction = slot & ((1u << frac_bits) - 1);

	if (octave > 64 - frac_bits)
		return ~0ull;
	return octave ? (1ull << frac_bits | fraction) << (octave - 1) : fraction;
}

/* The largest value of a slot. */
static inline __attribute__((always_inline)) unsigned long long bucket_high(unsigned slot,
									    unsigned frac_bits)
{
	unsigned octave = slot >> frac_bits;

	if (octave > 64 - frac_bits)
		return ~0ull;
	return bucket_low(slot, frac_bits) + (octave ? (1ull << (octave - 1)) - 1 : 0);
}

/* Octaves below this one keep their values whole in the sum. */
#define BUCKET_WHOLE_OCTAVES 20

/* The number of bits by which a value is shifted right before it is added to the sum of this slot.
 */
static inline __attribute__((always_inline)) unsigned bucket_shift(unsigned slot,
								   unsigned frac_bits)
{
	unsigned octave = slot >> frac_bits;

	return octave > BUCKET_WHOLE_OCTAVES ? octave - BUCKET_WHOLE_OCTAVES : 0;
}

/* The same, from the bucket_rest() of a value, which the caller has computed already. */
static inline __attribute__((always_inline)) unsigned bucket_shift_of_rest(unsigned rest)
{
	return rest >= BUCKET_WHOLE_OCTAVES ? rest - (BUCKET_WHOLE_OCTAVES - 1) : 0;
}

#endif
