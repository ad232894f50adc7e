/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree of functions with the time of each band, as columns: a node is its number, callers have
 * smaller numbers than what they call. Times are whole nanoseconds, so what is added can be taken
 * out again exactly.
 *
 *	const node = tree.child(tree.child(0, main), read);
 *	tree.add(node, band, ns, count);
 *	tree.sum();
 *	tree.place(top, least, placed);
 */
import { BANDS } from "./states.js";

/* From there on, stacks are cut off: their times are in the last node that there is. */
const NODES_MOST = 3e6;

/* A tree with more nodes grows by a quarter instead of doubling: its nodes are most of the memory. */
const ROOM_DOUBLED = 1 << 19;

/* Pairs of numbers to numbers. */
export class PairMap {
	constructor(room = 4096) {
		this.clear(room);
	}
	clear(room = 4096) {
		this.keys = new Int32Array(2 * room);
		this.values = new Int32Array(room).fill(-1);
		this.count = 0;
	}
	slot(a, b) {
		const mask = this.values.length - 1;
		let h = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b);
		h ^= h >>> 15;
		h = Math.imul(h, 0x2c1b3c6d);
		let at = (h ^ h >>> 13) & mask;
		while (this.values[at] >= 0 && (this.keys[2 * at] !== a || this.keys[2 * at + 1] !== b))
			at = (at + 1) & mask;
		return at;
	}
	get(a, b) {
		return this.values[this.slot(a, b)];
	}
	set(a, b, value) {
		if (2 * ++this.count > this.values.length)
			this.grow();
		const at = this.slot(a, b);
		this.keys[2 * at] = a;
		this.keys[2 * at + 1] = b;
		this.values[at] = value;
	}
	grow() {
		const { keys, values, count } = this;
		this.clear(2 * values.length);
		for (let i = 0; i < values.length; i++) {
			if (values[i] < 0)
				continue;
			const at = this.slot(keys[2 * i], keys[2 * i + 1]);
			this.keys[2 * at] = keys[2 * i];
			this.keys[2 * at + 1] = keys[2 * i + 1];
			this.values[at] = values[i];
		}
		this.count = count;
	}
}

export class Tree {
	constructor(functions) {
		this.functions = functions;
		this.count = 0;
		this.room = 0;
		this.children = new PairMap();
		this.isSummed = false;
		this.placesOf = null; /* the result of placesIn() for the tree of the last comparison */
		this.self = new Array(BANDS).fill(null);
		this.bands = new Array(BANDS).fill(null); /* with what is called; after sum() */
		this.grow(1024);
		this.put(-1, functions.note("all"));
	}

	grow(room) {
		const larger = (old, type, fill) => {
			const made = new type(room);
			if (fill)
				made.fill(fill);
			if (old)
				made.set(old);
			return made;
		};
		this.parent = larger(this.parent, Int32Array);
		this.fn = larger(this.fn, Int32Array);
		this.depth = larger(this.depth, Int32Array);
		this.firstChild = larger(this.firstChild, Int32Array, -1);
		this.nextSibling = larger(this.nextSibling, Int32Array, -1);
		this.unsorted = larger(this.unsorted, Uint8Array);
		this.selfMask = larger(this.selfMask, Uint16Array);
		this.mask = larger(this.mask, Uint16Array);
		this.selfTimes = larger(this.selfTimes, Float64Array);
		this.self = this.self.map(values => values && larger(values, Float64Array));
		for (const name of ["total", "own", "times", "before", "weight"])
			this[name] = larger(this[name], Float64Array);
		this.bands = this.bands.map(values => values && larger(values, Float64Array));
		this.room = room;
	}

	put(parent, fn) {
		const node = this.count++;
		if (node === this.room)
			this.grow(this.room < ROOM_DOUBLED ? 2 * this.room : Math.ceil(1.25 * this.room));
		this.parent[node] = parent;
		this.fn[node] = fn;
		if (parent < 0)
			return node;
		this.depth[node] = this.depth[parent] + 1;
		this.nextSibling[node] = this.firstChild[parent];
		this.firstChild[parent] = node;
		this.unsorted[parent] = 1;
		this.children.set(parent, fn, node);
		return node;
	}

	find(parent, fn) {
		return this.children.get(parent, fn);
	}

	child(parent, fn) {
		const node = this.children.get(parent, fn);
		return node >= 0 ? node : this.count < NODES_MOST ? this.put(parent, fn) : parent;
	}

	/* Once there are sums, add to those of all callers as well. Before that, sum() does it. */
	add(node, band, ns, count) {
		if (!this.self[band]) {
			this.self[band] = new Float64Array(this.room);
			this.bands[band] = new Float64Array(this.room);
		}
		this.self[band][node] += ns;
		this.selfMask[node] |= 1 << band;
		this.selfTimes[node] += count;
		if (!this.isSummed)
			return;
		const { parent, total, times, mask } = this, sums = this.bands[band];
		this.own[node] += ns;
		for (let i = node; i >= 0; i = parent[i]) {
			sums[i] += ns;
			total[i] += ns;
			times[i] += count;
			mask[i] |= 1 << band;
		}
	}

	/* Call it before adding so many samples that summing up all nodes is less work. */
	beginAnew() {
		this.isSummed = false;
	}

	/*
	 * Totals of all nodes: `own` is without, `total` and `bands` are with what a node calls. Most nodes
	 * have time in one or two bands; the bits of `mask` say in which. The widths become the totals.
	 */
	sum() {
		if (!this.isSummed)
			this.sumAll();
		this.isSummed = true;
		this.weight.set(this.total.subarray(0, this.count));
	}

	sumAll() {
		const { count, parent, total, own, times, self, bands: sums, mask } = this;
		times.set(this.selfTimes.subarray(0, count));
		mask.set(this.selfMask.subarray(0, count));
		for (let b = 0; b < BANDS; b++)
			if (self[b])
				sums[b].set(self[b].subarray(0, count));
		for (let i = count; i-- > 0;) {
			const up = parent[i];
			let sum = 0, alone = 0;
			for (let bits = mask[i]; bits; bits &= bits - 1) {
				const b = 31 - Math.clz32(bits & -bits), value = sums[b][i];
				sum += value;
				alone += self[b][i];
				if (i)
					sums[b][up] += value;
			}
			total[i] = sum;
			own[i] = alone;
			if (i) {
				mask[up] |= mask[i];
				times[up] += times[i];
			}
		}
	}

	/* Compare with another tree of the same functions, whose times count `scale` fold. After sum() of both. */
	compare(other, scale) {
		const here = this.placesIn(other);
		this.before.fill(0, 0, this.count);
		for (let i = 0; i < other.count; i++)
			this.before[here[i]] += other.own[i] * scale;
		for (let i = this.count; i-- > 1;)
			this.before[this.parent[i]] += this.before[i];
		/* As wide as before and after together, so that what is gone is seen too. */
		for (let i = 0; i < this.count; i++)
			this.weight[i] = this.total[i] + this.before[i];
	}

	/* For each node of the other tree, the node of this tree with the same path, which is made if there is none. */
	placesIn(other) {
		const known = this.placesOf;
		if (known?.tree === other && known.here.length === other.count)
			return known.here;
		const here = new Int32Array(other.count);
		for (let i = 1; i < other.count; i++)
			here[i] = this.child(here[other.parent[i]], other.fn[i]);
		this.placesOf = { tree: other, here };
		return here;
	}

	/* Children in the order of their names, so that they stay where they are while times change. */
	sortChildren(node) {
		const names = this.functions.names, found = [];
		for (let c = this.firstChild[node]; c >= 0; c = this.nextSibling[c])
			found.push(c);
		found.sort((a, b) => {
			const x = names[this.fn[a]], y = names[this.fn[b]];
			return x < y ? -1 : x > y ? 1 : a - b;
		});
		let next = -1;
		for (let i = found.length; i-- > 0;) {
			this.nextSibling[found[i]] = next;
			next = found[i];
		}
		this.firstChild[node] = next;
		this.unsorted[node] = 0;
	}

	/*
	 * Frames of at least `least` of the width when `top` has all of it, and all its callers: into the
	 * columns of `placed`, `node`, `left` and `width` as shares of the width.
	 */
	place(top, least, placed) {
		const whole = this.weight[top];
		placed.clear();
		for (let i = this.parent[top]; i >= 0; i = this.parent[i])
			placed.put(i, 0, 1);
		if (!(whole > 0))
			return;
		placed.put(top, 0, 1);
		for (let at = placed.count - 1; at < placed.count; at++) {
			const node = placed.node[at];
			let left = placed.left[at];
			if (this.unsorted[node])
				this.sortChildren(node);
			for (let c = this.firstChild[node]; c >= 0; c = this.nextSibling[c]) {
				const width = this.weight[c] / whole;
				if (width >= least)
					placed.put(c, left, width);
				left += width;
			}
		}
	}

	/* Of a name, the time of all nodes whose names match, each part counted once; and which these are. */
	search(pattern, ret) {
		const names = this.functions.names, known = new Int8Array(names.length), covered = new Uint8Array(this.count);
		let share = 0, frames = 0;
		for (let i = 0; i < this.count; i++) {
			const fn = this.fn[i], above = i && covered[this.parent[i]];
			if (!known[fn])
				known[fn] = pattern.test(names[fn]) ? 1 : -1;
			covered[i] = above ? 2 : 0;
			if (known[fn] < 0 || !(this.weight[i] > 0))
				continue;
			frames++;
			if (!above)
				share += this.weight[i];
			covered[i] = 1 | above;
		}
		ret.functions = known;
		ret.frames = frames;
		ret.share = this.weight[0] > 0 ? share / this.weight[0] : 0;
	}

	/* The functions from the outermost to this node. */
	path(node) {
		const path = [];
		for (let i = node; i > 0; i = this.parent[i])
			path.unshift(this.fn[i]);
		return path;
	}

	/* The node of such a path, or of as much of it as there is. */
	follow(path) {
		let node = 0;
		for (const fn of path) {
			const next = this.find(node, fn);
			if (next < 0)
				break;
			node = next;
		}
		return node;
	}
}

/* Where frames are drawn. */
export class Placed {
	constructor() {
		this.count = 0;
		this.node = new Int32Array(4096);
		this.left = new Float64Array(4096);
		this.width = new Float64Array(4096);
	}
	clear() {
		this.count = 0;
	}
	put(node, left, width) {
		if (this.count === this.node.length)
			for (const name of ["node", "left", "width"]) {
				const larger = new this[name].constructor(2 * this.count);
				larger.set(this[name]);
				this[name] = larger;
			}
		this.node[this.count] = node;
		this.left[this.count] = left;
		this.width[this.count++] = width;
	}
}
