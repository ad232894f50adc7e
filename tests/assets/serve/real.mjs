// SPDX-License-Identifier: BSD-2-Clause
//
// The page of a server that runs, in a headless Chromium, against the stream of the same server:
//
//	node tests/assets/serve/real.mjs http://127.0.0.1:7070/ TICKS [PICTURE]
//
// Ends with 77 without Chromium.
import assert from "node:assert";
import Browser from "../browser.js";
import { settled, showsTruth, text } from "./shown.mjs";

const [address, count, picture] = process.argv.slice(2);
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

try {
	const { about, ticks } = await readStream(+count), first = ticks[1], end = ticks[ticks.length - 1];
	const page = await browser.page({ width: 1280, height: 800 });
	await page.open(address + "#window=" + Math.round(first.begin_ms) + "-" + Math.round(end.end_ms));
	await page.until(seq => +document.body.dataset.seq === seq, end.seq);
	await settled(page);
	await showsTruth(page, { about, ticks }, first.seq, end.seq);
	await page.press(" ");
	await page.until(seq => +document.body.dataset.seq > seq, end.seq);
	assert.strictEqual(await text(page, "status"), "live");
	if (picture)
		await page.picture(picture);
	assert.deepStrictEqual(page.problems, []);
} catch (wrong) {
	console.log(wrong.stack);
	process.exitCode = 1;
}
await browser.end();
process.exit();
