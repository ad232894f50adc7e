// SPDX-License-Identifier: BSD-2-Clause
//
// The page of a server that runs, in a headless Chromium, against the stream of the same server:
//
//	node tests/assets/serve/real.mjs http://127.0.0.1:7070/ TICKS CTPROF [PICTURE]
//
// Stacks are also those that CTPROF, the program, makes of /api/profile, with idle waits and presets hidden.
// Its dialog has the server compare two files.
// Ends with 77 without Chromium.
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Browser from "../browser.js";
import { foldedText } from "./truth.mjs";
import { chooseFiles, click, folded, settled, showsTruth, tabs, text } from "./shown.mjs";

const [address, count, ctprof, picture] = process.argv.slice(2);
const browser = await Browser.start();
if (!browser)
	process.exit(77);

// { about, ticks } of the stream, with so many ticks.
async function readStream(wanted) {
	const answer = await fetch(new URL("api/live", address)), ticks = [];
	let about = null, rest = "";
	for await (const bytes of answer.body.pipeThrough(new TextDecoderStream())) {
		const blocks = (rest + bytes).split("\n\n");
		rest = blocks.pop();
		for (const block of blocks) {
			const event = /^event: (\w+)$/m.exec(block)?.[1], data = block.split("\n").filter(line => line.startsWith("data: ")).map(line => line.slice(6)).join("");
			if (event === "about")
				about = JSON.parse(data);
			else if (event === "tick")
				ticks.push(JSON.parse(data));
		}
		if (ticks.length >= wanted)
			return { about, ticks };
	}
	throw new Error("the stream ended after " + ticks.length + " ticks");
}

// What the program says of a window, as folded lines.
async function foldedBy(window, query, ...options) {
	const folder = mkdtempSync(join(tmpdir(), "ctprof-real-")), file = join(folder, "profile.json");
	writeFileSync(file, await (await fetch(new URL("api/profile?from=" + window[0] + "&to=" + window[1] + query, address))).text());
	const lines = execFileSync(ctprof, ["flame", "-q", file, "--format", "folded", "--group-by", "none", "-o", "-", ...options], { maxBuffer: 1 << 28 });
	rmSync(folder, { recursive: true });
	return foldedText(sumUp(lines.toString().replace(/_\[[ik]\]/g, "").split("\n").filter(line => line)));
}

function sumUp(lines) {
	const sums = new Map();
	for (const line of lines) {
		const at = line.lastIndexOf(" "), stack = line.slice(0, at);
		sums.set(stack, (sums.get(stack) || 0) + +line.slice(at + 1));
	}
	return sums;
}

// Two snapshots are sent and compared, and the report runs its own scripts.
async function comparesFiles(page) {
	await click(page, "compare-open");
	await chooseFiles(page, "compare-files", ["before", "after"].map(name => fileURLToPath(new URL("../../fixtures/synthetic-compare/" + name + ".json", import.meta.url))));
	await click(page, "compare-go");
	await page.until(() => /^Open the report$|^[^ ]*: /.test(document.getElementById("compare-said").textContent));
	assert.strictEqual(await text(page, "compare-said"), "Open the report");
	await page.press("Enter");
	const report = await page.run(() => document.querySelector("#compare-said a").href);
	for (let i = 0; i < 200 && !(await tabs(browser)).includes(report); i++)
		await new Promise(done => setTimeout(done, 25));
	assert((await tabs(browser)).includes(report), (await tabs(browser)).join(" "));
	/* Once more where errors are seen. */
	const other = await browser.page({ width: 1100, height: 800 });
	await other.open(report);
	assert.match(await other.run(() => document.body.textContent), /What changed most/);
	assert.deepStrictEqual(other.problems, []);
	await other.send("Page.close");
	await page.send("Page.bringToFront");
	await click(page, "compare-close");
}

try {
	const { about, ticks } = await readStream(+count), first = ticks[1], end = ticks[ticks.length - 1];
	const page = await browser.page({ width: 1280, height: 800 });
	await page.open(address + "#window=" + Math.round(first.begin_ms) + "-" + Math.round(end.end_ms));
	await page.until(seq => +document.body.dataset.seq === seq, end.seq);
	await settled(page);
	await showsTruth(page, { about, ticks }, first.seq, end.seq);
	const window = [Math.round(first.begin_ms), Math.round(end.end_ms)];
	for (const [hash, query, ...options] of [["", "&idle=0"], ["&idle=1", ""], ["&idle=1&mode=off", "&mode=off"],
		["&idle=1&preset=node,cpp-pools,python", "", "--preset", "node", "--preset", "cpp-pools", "--preset", "python"]]) {
		const other = await browser.page({ width: 1280, height: 800 });
		await other.open(address + "#by=none&window=" + window.join("-") + hash);
		await other.until(seq => +document.body.dataset.seq === seq, end.seq);
		await settled(other);
		const got = (await folded(other)).split("\n"), wanted = new Set((await foldedBy(window, query, ...options)).split("\n"));
		assert.deepStrictEqual(got.filter(line => !wanted.has(line)).slice(0, 3), [], hash);
		assert.strictEqual(got.length, wanted.size, hash);
		await other.send("Page.close");
	}
	await page.send("Page.bringToFront");
	await page.press(" ");
	await page.until(seq => +document.body.dataset.seq > seq, end.seq);
	assert.strictEqual(await text(page, "status"), "live");
	await comparesFiles(page);
	if (picture)
		await page.picture(picture);
	assert.deepStrictEqual(page.problems, []);
} catch (wrong) {
	console.log(wrong.stack);
	process.exitCode = 1;
}
await browser.end();
process.exit();
