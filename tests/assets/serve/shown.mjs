// SPDX-License-Identifier: BSD-2-Clause
//
// What the page of ctprof serve shows, as a test sees it, against what its readings say (truth.mjs).
import assert from "node:assert";
import { foldedText, truth } from "./truth.mjs";

export const text = (page, id) => page.run(id => document.getElementById(id).textContent, id);
export const click = (page, id) => page.run(id => document.getElementById(id).click(), id);
export const pressButton = (page, box, value) => page.run((box, value) =>
	document.querySelector("#" + box + " [data-value=" + value + "]").click(), box, value);
/* Only the page in front draws. */
export const settled = page => page.run(() => new Promise((done, fail) => {
	setTimeout(() => fail(new Error("nothing is drawn")), 20000);
	requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)));
}));
export const folded = page => page.run(() => {
	const { tree } = ctprofPage.view, names = tree.functions.names, sums = new Map();
	for (let i = 1; i < tree.count; i++) {
		const stack = tree.path(i).map(fn => names[fn]).join(";");
		if (tree.own[i])
			sums.set(stack, (sums.get(stack) || 0) + tree.own[i]);
	}
	return [...sums].map(([stack, ns]) => stack + " " + ns).sort().join("\n") + "\n";
});
/* Choose files as in the dialog of an <input type=file>. */
export async function chooseFiles(page, id, files) {
	const { result: { objectId } } = await page.send("Runtime.evaluate", { expression: "document.getElementById(" + JSON.stringify(id) + ")" });
	await page.send("DOM.setFileInputFiles", { files, objectId });
}
/* The addresses of all tabs. */
export const tabs = async browser => (await browser.send("Target.getTargets")).targetInfos.map(target => target.url);
export const percent = (part, whole) => (100 * part / whole).toFixed(1) + " %";
export const last = server => server.ticks[server.ticks.length - 1].seq;

// The numbers on the page, against those of the readings `first` to `end` of { about, ticks }.
export async function showsTruth(page, { about, ticks }, first, end) {
	const wanted = truth(about, ticks, first, end), sum = [...wanted.words.values()].reduce((a, b) => a + b, 0);
	assert.strictEqual(await folded(page), foldedText(wanted.folded));
	assert.match(await text(page, "answer"), new RegExp("^" + about.cpus + " CPUs?, "
		+ Math.round(Math.min(100, 100 * wanted.cpu / (about.cpus * wanted.ns))) + " % busy; "));
	const buttons = await page.run(() => [...document.querySelectorAll("#bands button:not([hidden])")].slice(0, -1)
		.map(b => [b.childNodes[1].textContent, b.querySelector("small").textContent]));
	assert.deepStrictEqual(Object.fromEntries(buttons), Object.fromEntries([...wanted.words].filter(([, ns]) => ns).map(([word, ns]) => [word, percent(ns, sum)])));
	assert.strictEqual(/(\d+) switches missed/.exec(await text(page, "losses"))?.[1] || "0", wanted.missed + "");
	const rows = await page.run(() => [...document.querySelectorAll("#table tbody tr")].map(row => [row.cells[1].textContent, row.cells[2].textContent, row.cells[3].textContent]));
	const threads = [...wanted.times].filter(([, of]) => [...of.values()].some(ns => ns)).map(([thread, of]) =>
		[thread.tid + "", percent(of.get("ran") || 0, wanted.ns), percent(of.get("CPU wait") || 0, wanted.ns)]);
	const known = new Set(threads.map(String)), more = /\d+/.exec(await text(page, "more"));
	assert.deepStrictEqual(rows.filter(row => !known.has(String(row))), []);
	assert.strictEqual(more ? +more[0] : rows.length, threads.length);
}

