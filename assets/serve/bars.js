/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small pictures of the times of bands: a bar whose parts are shares of a whole, and bars over time.
 */
import { BANDS, bands } from "./states.js";

/* Size a canvas for the screen, in CSS pixels, and clear it. */
export function preparePen(canvas, width, height) {
	const ratio = window.devicePixelRatio || 1, pen = canvas.getContext("2d");
	if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		canvas.style.width = width + "px";
		canvas.style.height = height + "px";
	}
	pen.setTransform(ratio, 0, 0, ratio, 0, 0);
	pen.clearRect(0, 0, width, height);
	return pen;
}

export const css = ([h, s, l]) => "hsl(" + h + "," + s + "%," + l + "%)";

/* `times`: BANDS numbers from `at` on; what lacks of `whole` stays empty. */
export function drawBar(canvas, width, height, times, at, whole, colours, empty) {
	const pen = preparePen(canvas, width, height);
	let x = 0;
	pen.fillStyle = empty;
	pen.fillRect(0, 0, width, height);
	for (let b = 0; b < BANDS && whole > 0; b++) {
		const wide = width * times[at + b] / whole;
		if (!(wide > 0))
			continue;
		pen.fillStyle = css(colours[b]);
		pen.fillRect(x, 0, wide, height);
		x += wide;
	}
}

/* `history`: columns of BANDS numbers from `at` on, each of whole `most`. */
export function drawHistory(canvas, width, height, history, at, columns, most, colours) {
	const pen = preparePen(canvas, width, height), wide = width / columns;
	for (let c = 0; c < columns; c++) {
		let y = height;
		for (let b = 0; b < BANDS; b++) {
			const value = history[at + c * BANDS + b];
			if (!(value > 0) || !(most > 0))
				continue;
			const high = height * value / most;
			pen.fillStyle = css(colours[b]);
			pen.fillRect(c * wide, y - high, Math.max(0.6, wide - (wide > 3 ? 0.6 : 0)), high);
			y -= high;
		}
	}
}

/* "lock 40.0 %, storage 3.1 %": parts of `whole`, the largest first. */
export function describeBands(times, at, whole) {
	return bands.filter(({ number: b }) => times[at + b] > 0)
		.sort((a, b) => times[at + b.number] - times[at + a.number])
		.map(({ number: b, name }) => name + " " + (100 * times[at + b] / whole).toFixed(1) + " %").join(", ");
}
