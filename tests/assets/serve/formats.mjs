// SPDX-License-Identifier: BSD-2-Clause
//
// Profiles that a server sends as pages, in a headless Chromium: their scripts run, and nothing is refused.
//
//	node tests/assets/serve/formats.mjs http://127.0.0.1:7070/ [TOKEN]
//
// Ends with 77 without Chromium.
import assert from "node:assert";
import Browser from "../browser.js";

const [address, token] = process.argv.slice(2);
const browser = await Browser.start();
if (!browser)
	process.exit(77);

const shows = {
	html: () => document.querySelector("#title").textContent.length && document.querySelectorAll("#functions tr").length,
	svg: () => document.querySelector("#hud").style.display === "",
};

try {
	for (const format of Object.keys(shows)) {
		const page = await browser.page({});
		const query = new URLSearchParams({ format, from: 0, ...(token && { token }) });
		await page.open(new URL("api/profile?" + query, address).href);
		await page.until(shows[format]);
		await new Promise(done => setTimeout(done, 200));
		assert.deepStrictEqual(page.problems, [], format);
	}
} finally {
	await browser.end();
}
