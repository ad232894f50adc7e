/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tooltip: its first line is a name. There is one on the page.
 */
const { element } = flameWords;

export class Tip {
	show(lines, x, y) {
		const tip = document.getElementById("tip");
		tip.hidden = false;
		tip.replaceChildren(element("b", lines[0]), ...lines.slice(1).map(line => element("span", line)));
		const area = tip.getBoundingClientRect();
		tip.style.left = Math.max(4, x + 14 + area.width > innerWidth ? x - area.width - 10 : x + 14) + "px";
		tip.style.top = Math.max(4, y + 16 + area.height > innerHeight ? y - area.height - 10 : y + 16) + "px";
	}
	hide() {
		document.getElementById("tip").hidden = true;
	}
}
