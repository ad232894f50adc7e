/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides what the flame graph leaves out: stacks that match presets (presets.md), by the rules of
 * profile/filter.c, and sets of frames, whose time then counts for their callers.
 *
 *	const hiding = hidingOf(recording, ["go", "java"]);	null: no preset is chosen
 *	hiding.has(thread, node)
 *	const isOut = frameHider(functions, ["kernel", "start"]);	null: no frames
 *	isOut(fn)
 *
 * A rule has terms about stacks and about threads. The *state* of a stack is the set of terms that it
 * matches. It depends only on the state of its caller and on the function. There are few states, so each
 * node has the number of its state, and a rule is evaluated only for stacks whose state fits.
 */
import { FLAG_INLINED, KIND_KERNEL, KIND_USER } from "./stream.js";

/* Sets of frames that can be left out of stacks: name, description, bits of `traits` (serve.md). */
export const frameSets = [
	["kernel", "of the kernel", 0], ["entry", "of the kernel's scheduler and its entry", 4],
	["start", "that begin threads and programs", 8], ["library", "of the C library and runtimes", 16],
];

/* The label of each preset, by its name. */
export const presetWords = { "cpp-pools": "C and C++ pools", go: "Go", java: "Java", node: "Node.js", python: "Python", tokio: "Tokio (Rust)" };

/* Libraries in which programs wait, as wait_libraries of profile/filter.c. */
const waitLibraries = ["libc.so*", "libc-2.*", "libpthread*", "ld-*", "libstdc++.so*", "libc++.so*"];

const ofStack = ["function", "module", "only", "waiter"], ofThread = {
	thread: (r, t) => r.name[t], process: (r, t) => r.process[t], cgroup: (r, t) => r.cgroup[t],
	leader: (r, t) => r.tid[t] === r.tgid[t] ? r.name[t] : null,
};

/* Backtrack only to the last *: it can match whatever a longer match of an earlier one would skip. */
export function globMatches(glob, name) {
	let g = 0, at = 0, star = -1, taken = 0;
	while (at < name.length) {
		if (glob[g] === "*") {
			star = ++g;
			taken = at;
		} else if (g < glob.length && (glob[g] === "?" || glob[g] === name[at])) {
			g++;
			at++;
		} else if (star >= 0) {
			g = star;
			at = ++taken;
		} else {
			return false;
		}
	}
	while (glob[g] === "*")
		g++;
	return g === glob.length;
}

const isGlob = text => /[*?]/.test(text);
const matches = (text, name) => isGlob(text) ? globMatches(text, name) : name.includes(text);
const fileOf = module => module.slice(module.lastIndexOf("/") + 1);

/* Parse a term such as "!module:libc.so*" to { not, kind, text }. An unknown kind is part of a function's name. */
function parseTerm(term) {
	const not = term[0] === "!", rest = (not ? term.slice(1) : term).trim();
	const [, kind, text] = /^([a-z]+):(?!:)(.+)$/s.exec(rest) || [];
	const isKnown = ofStack.includes(kind) || Object.hasOwn(ofThread, kind);
	return isKnown ? { not, kind, text } : { not, kind: "function", text: rest };
}

class Hiding {
	/* `rules`: [["TERM & TERM", ...]] of the presets that are chosen. */
	constructor(recording, rules) {
		this.recording = recording;
		this.terms = [];
		this.numbers = new Map();
		this.rules = rules.map(rule => rule.split(" & ").map(term => {
			const { not, ...what } = parseTerm(term.trim());
			return { not, number: this.numberOf(what) };
		}));
		this.byKind = Object.fromEntries(ofStack.map(kind => [kind, this.terms.filter(term => term.kind === kind)]));
		this.faces = [];
		this.faceNumbers = new Map();
		this.faceOf = [];
		this.states = [];
		this.stateNumbers = new Map();
		this.steps = new Map();
		this.ofNode = new Int32Array(4096);
		this.count = 0;
		this.threadMatches = this.terms.map(() => []);
		this.begin = this.stateOf([], null, []);
	}

	numberOf(term) {
		const key = term.kind + ":" + term.text;
		if (!this.numbers.has(key)) {
			this.numbers.set(key, this.terms.length);
			this.terms.push({ ...term, number: this.terms.length });
		}
		return this.numbers.get(key);
	}

	/* The number of a function's *face*: its kind and the terms that it matches. Functions may share a face. */
	face(fn) {
		if (this.faceOf[fn] !== undefined)
			return this.faceOf[fn];
		const { functions } = this.recording, name = functions.names[fn], module = functions.modules[fn], kind = functions.kinds.items[fn];
		const file = fileOf(module), of = (kind, test) => this.byKind[kind].filter(test).map(term => term.number);
		const face = { kind, isOfWaitLibrary: waitLibraries.some(glob => globMatches(glob, file)),
			any: [...of("function", term => matches(term.text, name)),
				...of("module", term => module && (matches(term.text, module) || (isGlob(term.text) && globMatches(term.text, file))))],
			only: kind === KIND_USER ? of("only", term => module && term.text.split(",").some(glob => globMatches(glob, file))) : [],
			waiter: of("waiter", term => matches(term.text, name)) };
		const key = JSON.stringify(face);
		if (!this.faceNumbers.has(key)) {
			this.faceNumbers.set(key, this.faces.length);
			this.faces.push(face);
		}
		return this.faceOf[fn] = this.faceNumbers.get(key);
	}

	/*
	 * The number of a state. `any`: terms that some frame matches; `only`: terms that all frames of programs
	 * match (null: there is no frame yet); `waiter`: terms that the innermost function outside of the C
	 * library matches.
	 */
	stateOf(any, only, waiter) {
		const key = JSON.stringify([any, only, waiter]);
		if (!this.stateNumbers.has(key)) {
			const met = new Set([...any, ...(only || []), ...waiter]);
			this.stateNumbers.set(key, this.states.length);
			this.states.push({ any, only, waiter, rules: this.rules.filter(rule => rule.every(({ not, number }) =>
				!ofStack.includes(this.terms[number].kind) || met.has(number) !== not)).map(rule =>
				rule.filter(({ number }) => !ofStack.includes(this.terms[number].kind))) });
		}
		return this.stateNumbers.get(key);
	}

	step(above, fn, isInlined) {
		const face = this.face(fn), key = (above * 65536 + face) * 2 + (isInlined ? 1 : 0), known = this.steps.get(key);
		if (known !== undefined)
			return known;
		const state = this.states[above], { kind, any, only, waiter, isOfWaitLibrary } = this.faces[face];
		const isWaiter = kind === KIND_USER && !isInlined && !isOfWaitLibrary;
		const made = this.stateOf([...new Set([...state.any, ...any])].sort((a, b) => a - b),
			kind === KIND_KERNEL ? state.only || [] : only.filter(number => !state.only || state.only.includes(number)),
			isWaiter ? waiter : state.waiter);
		this.steps.set(key, made);
		return made;
	}

	/* Compute the states of new nodes. */
	learn() {
		const { parent, fn, flags } = this.recording.nodes, { count } = fn;
		if (count > this.ofNode.length) {
			const larger = new Int32Array(2 * count);
			larger.set(this.ofNode);
			this.ofNode = larger;
		}
		for (; this.count < count; this.count++) {
			const above = parent.items[this.count];
			this.ofNode[this.count] = this.step(above < 0 ? this.begin : this.ofNode[above], fn.items[this.count],
				flags.items[this.count] & FLAG_INLINED);
		}
	}

	threadMatchesTerm(thread, number) {
		const known = this.threadMatches[number];
		if (known[thread] === undefined) {
			const { kind, text } = this.terms[number], name = ofThread[kind](this.recording.threads, thread);
			known[thread] = name !== null && matches(text, name);
		}
		return known[thread];
	}

	has(thread, node) {
		if (node >= this.count)
			this.learn();
		const { rules } = this.states[node < 0 ? this.begin : this.ofNode[node]];
		return rules.length > 0 && rules.some(terms => terms.every(({ not, number }) => this.threadMatchesTerm(thread, number) !== not));
	}
}

/* A recording has one Hiding at a time: two windows that are compared hide the same. */
export function hidingOf(recording, names) {
	const rules = (names || []).flatMap(name => recording.about.presets?.[name] || []), key = (names || []).join();
	if (!rules.length)
		return null;
	if (recording.hiding?.key !== key)
		recording.hiding = { key, hiding: new Hiding(recording, rules) };
	return recording.hiding.hiding;
}

/* Returns a test whether a function is left out of stacks; null: none is. */
export function frameHider(functions, names) {
	if (!names || !names.length)
		return null;
	const isKernel = names.includes("kernel"), bits = frameSets.reduce((sum, [name, , bit]) => sum | (names.includes(name) ? bit : 0), 0);
	return fn => (isKernel && functions.kinds.items[fn] === KIND_KERNEL) || (functions.traits.items[fn] & bits) > 0;
}
