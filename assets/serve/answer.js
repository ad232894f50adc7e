/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shows what a thread waits for now (/api/thread): the sentence, links to the threads that it waits for,
 * and what limits its use of CPUs. While the thread is shown, the request is repeated.
 */
import { serverAddress } from "./url.js";

const { element } = flameWords;
const PAUSE_MS = 2000, TEXT_MOST = 500;
/* Statuses that another request would get again. */
const FINAL = new Set([401, 403, 404]);

export class ThreadAnswer {
	/* `chosen(tid)` is called for a link to a thread. */
	constructor(box, { chosen }) {
		Object.assign(this, { box, chosen, tid: null, shown: "", timer: 0, request: null });
	}

	/* `tid` null: show no thread. `isKnown(tid)`: the readings have that thread, so it gets a link. */
	show(tid, isKnown) {
		this.isKnown = isKnown;
		if (tid === this.tid)
			return;
		clearTimeout(this.timer);
		this.request?.abort();
		this.tid = tid;
		this.box.hidden = tid === null;
		this.say(element("p", "Finding out what it waits for …", "faint"));
		if (tid !== null)
			this.ask();
	}

	async ask() {
		const request = this.request = new AbortController();
		let isFinal = false;
		try {
			const response = await fetch(serverAddress("api/thread", { tid: this.tid }), { signal: request.signal });
			const told = response.ok ? await response.json() : await response.text();
			if (request !== this.request)
				return;
			isFinal = FINAL.has(response.status);
			this.say(...response.ok ? this.parts(told) : [element("p", sentence(told))]);
		} catch {
			if (request.signal.aborted)
				return;
			this.say(element("p", "The server does not say what it waits for: no answer", "faint"));
		}
		if (!isFinal)
			this.timer = setTimeout(() => this.askWhenSeen(), PAUSE_MS);
	}

	askWhenSeen() {
		if (document.hidden)
			this.timer = setTimeout(() => this.askWhenSeen(), PAUSE_MS);
		else
			this.ask();
	}

	/* Replace the text only if it changed: otherwise focus and selection would be lost. */
	say(...parts) {
		const shown = parts.map(part => part.textContent + part.querySelectorAll("button").length).join("\n");
		if (shown !== this.shown)
			this.box.replaceChildren(...parts);
		this.shown = shown;
	}

	parts({ answer, chain, also, limits }) {
		const limited = limitWords(limits);
		return [element("p", answer, "answer"), ...this.links("waits for ", chain), ...this.links("also waits for ", also?.chain || []),
			...limited.length ? [element("p", "limited to " + limited.join("; "), "faint")] : []];
	}

	/* Each thread of a chain waits for the next. */
	links(words, [, ...others]) {
		if (!others.length)
			return [];
		const line = element("p");
		others.forEach(({ tid, comm }, i) => {
			line.append(element("span", i ? ", which waits for " : words, "faint"), this.link(tid, comm + " (" + tid + ")"));
		});
		return [line];
	}

	link(tid, name) {
		if (!this.isKnown(tid))
			return element("span", name);
		const button = element("button", name);
		button.type = "button";
		button.title = "Show this thread";
		button.addEventListener("click", () => this.chosen(tid));
		return button;
	}
}

function sentence(text) {
	const words = text.trim().slice(0, TEXT_MOST);
	return words.charAt(0).toUpperCase() + words.slice(1);
}

/* The limits of a thread, in words: only those that differ from the defaults. */
function limitWords(limits) {
	const { policy, priority, nice, cpus, quota } = limits || {}, words = [];
	if (cpus && cpus.count < cpus.online)
		words.push(cpus.count + " of " + cpus.online + " CPUs (" + cpus.allowed + ")");
	if (quota)
		words.push("a quota of " + +quota.cpus.toFixed(2) + (quota.cpus === 1 ? " CPU" : " CPUs") + " of cgroup " + quota.cgroup);
	if (policy && policy !== "SCHED_OTHER")
		words.push(policy + (priority ? " " + priority : ""));
	if (nice)
		words.push("nice " + nice);
	return words;
}
