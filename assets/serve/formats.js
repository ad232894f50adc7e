/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exports the stacks of the graph for other tools: as folded lines, pprof and speedscope.
 */
import { BANDS, bands } from "./states.js";
import { KIND_KERNEL } from "./stream.js";

/* Calls visit(node) for nodes with time of their own, `top` and below. */
function eachNode(tree, top, visit) {
	const isInside = new Uint8Array(tree.count);
	for (let i = top; i < tree.count; i++) {
		isInside[i] = i === top || (i > 0 && isInside[tree.parent[i]]) ? 1 : 0;
		if (isInside[i] && i && tree.own[i] > 0)
			visit(i);
	}
}

/* A line "main;read_[k] 1234" for each stack, with its time in nanoseconds. */
export function treeAsFolded(tree, top) {
	const { names, kinds } = tree.functions, lines = [];
	const word = fn => names[fn].replace(/[;\n]/g, ":") + (kinds.items[fn] === KIND_KERNEL ? "_[k]" : "");
	eachNode(tree, top, i => lines.push(tree.path(i).map(word).join(";") + " " + tree.own[i]));
	return lines.sort().join("\n") + "\n";
}

/* --- pprof --- */

/* Writes a message of protobuf: numbers, texts and other messages. */
class Message {
	constructor() {
		this.bytes = new Uint8Array(256);
		this.length = 0;
	}
	room(more) {
		if (this.length + more <= this.bytes.length)
			return;
		const larger = new Uint8Array(2 * (this.length + more));
		larger.set(this.bytes);
		this.bytes = larger;
	}
	varint(value) {
		this.room(10);
		for (; value >= 128; value = Math.floor(value / 128))
			this.bytes[this.length++] = value % 128 + 128;
		this.bytes[this.length++] = value;
	}
	number(field, value) {
		this.varint(field * 8);
		this.varint(value);
	}
	raw(field, bytes) {
		this.varint(field * 8 + 2);
		this.varint(bytes.length);
		this.room(bytes.length);
		this.bytes.set(bytes, this.length);
		this.length += bytes.length;
	}
	packed(field, values) {
		const inner = new Message();
		for (const value of values)
			inner.varint(value);
		this.message(field, inner);
	}
	message(field, inner) {
		this.raw(field, inner.bytes.subarray(0, inner.length));
	}
	/* Add fields that are numbers, except those that are 0. */
	with(members) {
		for (const [field, value] of members)
			if (value)
				this.number(field, value);
		return this;
	}
}

/*
 * A profile as profile.proto of pprof, without gzip. Samples have times, with the state as a label. `type` is "wall", "on-cpu"
 * or "off-cpu", `begin` a Unix time in ms.
 */
export function treeAsPprof(tree, top, { type, begin, ns }) {
	const out = new Message(), texts = new Map([["", 0]]), { names, modules } = tree.functions, used = new Set();
	const text = word => texts.get(word) ?? (texts.set(word, texts.size), texts.size - 1);
	out.message(1, new Message().with([[1, text(type)], [2, text("nanoseconds")]]));
	eachNode(tree, top, i => {
		const path = tree.path(i).reverse();
		for (const fn of path)
			used.add(fn);
		for (let b = 0; b < BANDS; b++) {
			const value = tree.self[b] ? tree.self[b][i] : 0;
			if (!(value > 0))
				continue;
			const sample = new Message();
			sample.packed(1, path.map(fn => fn + 1));
			sample.packed(2, [value]);
			sample.message(3, new Message().with([[1, text("state")], [2, text(bands[b].name)]]));
			out.message(2, sample);
		}
	});
	for (const fn of used) {
		const place = new Message().with([[1, fn + 1]]);
		place.message(4, new Message().with([[1, fn + 1]]));
		out.message(4, place);
		out.message(5, new Message().with([[1, fn + 1], [2, text(names[fn])], [3, text(names[fn])], [4, text(modules[fn])]]));
	}
	for (const word of texts.keys())
		out.raw(6, new TextEncoder().encode(word));
	return out.with([[9, begin * 1e6], [10, ns]]).bytes.slice(0, out.length);
}

export async function gzipped(bytes) {
	return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer());
}

/* --- speedscope --- */

/* The format requires this URL as its name; nothing is loaded from there. */
const SCHEMA = ["https:", "", "www.speedscope.app/file-format-schema.json"].join("/");

export function treeAsSpeedscope(tree, top, name) {
	const { names, modules } = tree.functions, numbers = new Map(), frames = [], samples = [], weights = [];
	const number = fn => {
		if (!numbers.has(fn)) {
			numbers.set(fn, frames.length);
			frames.push({ name: names[fn], ...(modules[fn] ? { file: modules[fn] } : {}) });
		}
		return numbers.get(fn);
	};
	eachNode(tree, top, i => {
		samples.push(tree.path(i).map(number));
		weights.push(tree.own[i]);
	});
	return JSON.stringify({ $schema: SCHEMA, exporter: "ctprof serve", name, activeProfileIndex: 0, shared: { frames },
		profiles: [{ type: "sampled", name, unit: "nanoseconds", startValue: 0, endValue: weights.reduce((a, b) => a + b, 0), samples, weights }] });
}
