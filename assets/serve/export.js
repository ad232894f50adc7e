/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exports the graph as svg. formats.js exports its stacks.
 */
const { FONT, element } = flameWords;

/* XML has no control characters. */
const escape = text => text.replace(/[\x00-\x1f\x7f]/g, "?").replace(/[&<>"]/g, c => "&#" + c.charCodeAt(0) + ";");
const round = value => Math.round(value * 100) / 100;

/* A pen that a FlameGraph paints with, and that makes elements of svg. */
class SvgPen {
	constructor() {
		this.parts = [];
		this.globalAlpha = 1;
	}
	box(x, y, width, height, style) {
		const alpha = this.globalAlpha < 1 ? '" opacity="' + this.globalAlpha : "";
		this.parts.push('<rect x="' + round(x) + '" y="' + round(y) + '" width="' + round(width) + '" height="' + round(height)
			+ '" ' + style + alpha + '"/>');
	}
	fillRect(x, y, width, height) {
		this.box(x, y, width, height, 'fill="' + this.fillStyle);
	}
	strokeRect(x, y, width, height) {
		this.box(x, y, width, height, 'fill="none" stroke="' + this.strokeStyle);
	}
	fillText(text, x, y) {
		this.parts.push('<text x="' + round(x) + '" y="' + round(y + 3.5) + '" fill="' + this.fillStyle + '">' + escape(text) + "</text>");
	}
}

/* All rows of the graph as it is zoomed now. */
export function graphAsSvg(graph, title, paper) {
	const pen = new SvgPen(), width = graph.box.clientWidth, height = graph.rows * 18, head = 26;
	const here = graph.here;
	graph.here = -1;
	graph.paint(pen, width, 0, height);
	graph.here = here;
	return '<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="' + width + '" height="'
		+ (height + head) + '" viewBox="0 -' + head + " " + width + " " + (height + head) + '" font-size="11" font-family="' + escape(FONT.replace("11px ", "")) + '">\n'
		+ '<rect y="-' + head + '" width="100%" height="100%" fill="' + paper + '"/>\n<text x="4" y="-9" fill="'
		+ (graph.options.dark ? "#dfe5ec" : "#1d2430") + '">' + escape(title) + "</text>\n" + pen.parts.join("\n") + "\n</svg>\n";
}

/* Have the browser store a file. */
export function download(name, type, content) {
	const link = element("a");
	link.href = URL.createObjectURL(new Blob([content], { type }));
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
