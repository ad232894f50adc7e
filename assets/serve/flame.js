/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree drawn on a canvas: only frames that are wide enough to be seen, and only rows that are
 * scrolled to. A frame is divided by what its time was, from below: it ran, it could have, it was
 * blocked.
 *
 *	const graph = new FlameGraph(box, { details, zoomed, opened });
 *	graph.show(tree, { colours, dark, icicle: true, modules: false, isDiff: false, window: ns, above: 0 });
 *	graph.search(pattern);
 *	graph.zoom(node);
 */
import { CPU_WAIT, RAN, bands } from "./states.js";
import { Placed } from "./tree.js";
import { Tip } from "./tip.js";

const ROW = 18, HEIGHT = 17, LEAST = 0.5, HASHES = 91, KINDS = 4, DARK_INK = "#10161f";
const { FONT, change, changeColour, element, fit, frameColour, hash, percent, time } = flameWords;

/* Relative, as of WCAG 2, of "hsl(h,s%,l%)". */
function luminance(colour) {
	const [h, s, l] = colour.match(/[-\d.]+/g).map(Number), a = s / 100 * Math.min(l, 100 - l) / 100;
	const channel = n => {
		const k = (n + h / 30) % 12, value = l / 100 - a * Math.max(-1, Math.min(k - 3, 9 - k, 1));
		return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
	};
	return 0.2126 * channel(0) + 0.7152 * channel(8) + 0.0722 * channel(4);
}

/* The colours of all frames, each made once. */
export class FrameColours {
	constructor(functions, bases) {
		this.functions = functions;
		this.bases = bases;
		this.cache = [];
		this.inks = [];
		this.hashes = [];
	}

	hash(fn) {
		return this.hashes[fn] ??= hash(this.functions.names[fn]) % HASHES;
	}

	of(band, fn) {
		const kind = this.functions.kinds.items[fn] % KINDS, key = (band * KINDS + kind) * HASHES + this.hash(fn);
		return this.cache[key] ??= frameColour(this.bases[band], kind, this.functions.names[fn]);
	}

	/* By file: programs and libraries have colours of their own, the kernel is grey. */
	ofModule(fn) {
		const module = this.functions.modules[fn], kind = this.functions.kinds.items[fn] % KINDS;
		if (kind >= 2)
			return this.of(RAN, fn);
		return frameColour(kind === 1 ? [215, 14, 72] : [hash(module) % 360, 52, 72], 0, this.functions.names[fn]);
	}

	/* Of text on a frame: what is read best. */
	ink(band, fn) {
		const kind = this.functions.kinds.items[fn] % KINDS;
		return this.inks[band * KINDS + kind] ??= luminance(frameColour(this.bases[band], kind, null)) < 0.19 ? "#f7f9fb" : DARK_INK;
	}
}

export class FlameGraph {
	/*
	 * `box` scrolls. `details` gets the words for the frame that is pointed at. `zoomed(path)` is called
	 * with functions, `opened(fn)` when the callers and callees of one are asked for.
	 */
	constructor(box, { details, zoomed, opened }) {
		Object.assign(this, { box, details, zoomed, opened, tree: null, options: {}, placed: new Placed(), path: [], top: 0,
			here: -1, found: null, pattern: null, rows: 1, shift: 0, drawTime: 0 });
		this.room = element("div", undefined, "room");
		this.canvas = element("canvas", undefined, "graph");
		this.pen = this.canvas.getContext("2d");
		this.tip = new Tip();
		box.append(this.room, this.canvas);
		this.canvas.addEventListener("mousemove", event => this.point(this.frameAt(event), event.clientX, event.clientY));
		this.canvas.addEventListener("mouseleave", () => this.point(-1));
		this.canvas.addEventListener("click", event => this.click(event));
		this.canvas.addEventListener("dblclick", event => event.preventDefault());
		box.addEventListener("scroll", () => this.draw());
		box.addEventListener("keydown", event => this.key(event));
		box.addEventListener("blur", () => this.point(-1));
		new ResizeObserver(() => this.tree && this.arrange()).observe(box);
	}

	show(tree, options) {
		const isOther = tree !== this.tree;
		this.tree = tree;
		this.options = options;
		if (isOther)
			this.here = -1;
		this.top = tree.follow(this.path);
		if (!(tree.weight[this.top] > 0))
			this.top = 0;
		if (this.pattern)
			this.search(this.pattern);
		this.arrange();
	}

	/* How far the frames lie from the outermost, in rows from the top of the picture. */
	rowOf(node) {
		const depth = this.tree.depth[node] - (this.options.above || 0);
		return this.options.icicle ? depth : this.rows - 1 - depth;
	}

	arrange() {
		const { box, tree } = this, wasEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 2, was = this.rows;
		tree.place(this.top, LEAST / Math.max(1, box.clientWidth), this.placed);
		let deepest = 0;
		for (let i = 0; i < this.placed.count; i++)
			deepest = Math.max(deepest, tree.depth[this.placed.node[i]]);
		this.rows = Math.max(deepest + 1 - (this.options.above || 0), Math.floor(box.clientHeight / ROW));
		this.shift = this.options.icicle ? 0 : Math.max(0, box.clientHeight - this.rows * ROW);
		if (this.rows !== was)
			this.room.style.height = this.rows * ROW + "px";
		/* The outermost frames stay where they are. */
		if (!this.options.icicle && (wasEnd || !this.arranged))
			box.scrollTop = box.scrollHeight;
		this.arranged = true;
		this.draw();
	}

	draw() {
		if (!this.tree)
			return;
		const begun = performance.now(), { box, canvas, pen } = this, ratio = window.devicePixelRatio || 1;
		const width = box.clientWidth, height = box.clientHeight;
		if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
			canvas.width = Math.round(width * ratio);
			canvas.height = Math.round(height * ratio);
			canvas.style.height = height + "px";
		}
		pen.setTransform(ratio, 0, 0, ratio, 0, 0);
		pen.clearRect(0, 0, width, height);
		this.paint(pen, width, box.scrollTop, height);
		this.drawTime = performance.now() - begun;
	}

	/* Paint the rows from `scroll` on with anything that has the functions of a canvas. */
	paint(pen, width, scroll, height) {
		const { tree, placed, found, options } = this, { node, left, width: share } = placed;
		const painted = new Float64Array(this.rows).fill(-1), topDepth = tree.depth[this.top], dark = options.dark;
		pen.font = FONT;
		pen.textBaseline = "middle";
		for (let p = 0; p < placed.count; p++) {
			const i = node[p], row = this.rowOf(i), y = row * ROW + this.shift - scroll;
			if (y < -ROW || y > height)
				continue;
			const x = left[p] * width, wide = share[p] * width;
			/* Of the frames within one pixel the first is seen. */
			if (wide < 1 && x + wide <= painted[row])
				continue;
			painted[row] = Math.max(painted[row], Math.floor(x + Math.max(1, wide)));
			const isFound = found && found.functions[tree.fn[i]] > 0;
			const alpha = found && !isFound ? 0.25 : tree.depth[i] < topDepth ? 0.55 : 1;
			pen.globalAlpha = alpha;
			const ink = this.paintFrame(pen, i, x, y, Math.max(0.7, wide - (wide > 3 ? 1 : 0.2)));
			const label = wide > 26 ? fit(tree.functions.names[tree.fn[i]], wide) : "";
			if (label) {
				pen.fillStyle = dark && alpha < 1 ? "#e6ebf1" : ink;
				pen.globalAlpha = 1;
				pen.fillText(label, x + 3, y + HEIGHT / 2 + 0.5);
			}
			pen.globalAlpha = 1;
			if (i === this.here || (isFound && wide > 2)) {
				pen.strokeStyle = i === this.here ? (dark ? "#ffffff" : "#000000") : dark ? "#ff5fae" : "#d6006c";
				pen.lineWidth = 1.5;
				pen.strokeRect(x + 0.75, y + 0.75, Math.max(1, wide - 2), HEIGHT - 1.5);
			}
		}
	}

	/* Returns the colour of text on it. */
	paintFrame(pen, i, x, y, wide) {
		const { tree, options } = this, fn = tree.fn[i], total = tree.total[i];
		if (options.isDiff) {
			pen.fillStyle = changeColour(change(tree.before[i], total));
			pen.fillRect(x, y, wide, HEIGHT);
			return DARK_INK;
		}
		let blocked = -1, most = RAN, largest = 0, blockedMost = 0, blockedSum = 0, ran = 0, ready = 0;
		for (let bits = tree.mask[i]; bits; bits &= bits - 1) {
			const b = 31 - Math.clz32(bits & -bits), value = tree.bands[b][i];
			if (value > largest) {
				most = b;
				largest = value;
			}
			if (b === RAN) {
				ran = value;
			} else if (b === CPU_WAIT) {
				ready = value;
			} else {
				blockedSum += value;
				if (value > blockedMost) {
					blocked = b;
					blockedMost = value;
				}
			}
		}
		if (options.modules || wide < 3 || largest === total) {
			pen.fillStyle = options.modules ? options.colours.ofModule(fn) : options.colours.of(most, fn);
			pen.fillRect(x, y, wide, HEIGHT);
			return options.modules ? DARK_INK : options.colours.ink(most, fn);
		}
		let bottom = 0, sum = 0;
		for (const [band, value] of [[RAN, ran], [CPU_WAIT, ready], [blocked, blockedSum]]) {
			sum += value;
			const reach = Math.round(HEIGHT * sum / total);
			if (value && reach > bottom) {
				pen.fillStyle = options.colours.of(band, fn);
				pen.fillRect(x, y + HEIGHT - reach, wide, reach - bottom);
			}
			bottom = Math.max(bottom, reach);
		}
		return options.colours.ink(most, fn);
	}

	search(pattern) {
		this.pattern = pattern;
		this.found = null;
		if (pattern && this.tree) {
			this.found = {};
			this.tree.search(pattern, this.found);
		}
		return this.found;
	}

	zoom(node) {
		this.path = this.tree.path(node);
		this.top = node;
		this.arranged = false;
		this.arrange();
		if (this.options.icicle)
			this.box.scrollTop = 0;
		if (this.zoomed)
			this.zoomed(this.path);
	}

	/* --- words --- */

	/* All that is known about a node: its name first. */
	describe(i) {
		const { tree, options } = this, { functions } = tree, fn = tree.fn[i], kind = functions.kinds.items[fn];
		const lines = [functions.names[fn] + (kind === 1 ? " [kernel]" : "")], whole = tree.total[0];
		if (functions.modules[fn])
			lines.push("in " + functions.modules[fn]);
		if (options.isDiff) {
			const delta = tree.total[i] - tree.before[i];
			lines.push(time(tree.before[i]) + " before, " + time(tree.total[i]) + " after: " + (delta >= 0 ? "+" : "") + time(delta));
			return lines;
		}
		lines.push(time(tree.total[i]) + ", " + percent(tree.total[i] / whole) + " of what is shown");
		if (options.window)
			lines.push((tree.total[i] / options.window).toPrecision(3) + " threads on average");
		if (tree.own[i] && tree.own[i] !== tree.total[i])
			lines.push("itself " + time(tree.own[i]) + ", " + percent(tree.own[i] / whole));
		lines.push(tree.times[i] + (tree.times[i] === 1 ? " wait or sample" : " waits and samples"));
		const parts = bands.filter(({ number: b }) => tree.bands[b] && tree.bands[b][i] > 0)
			.sort((a, b) => tree.bands[b.number][i] - tree.bands[a.number][i]);
		for (const { number: b, name } of parts)
			lines.push(name + ": " + time(tree.bands[b][i]) + ", " + (100 * tree.bands[b][i] / tree.total[i]).toFixed(1) + "%");
		return lines;
	}

	/* --- pointing --- */

	frameAt(event) {
		const { placed, box, canvas } = this, area = canvas.getBoundingClientRect();
		const x = (event.clientX - area.left) / area.width, row = Math.floor((event.clientY - area.top + box.scrollTop - this.shift) / ROW);
		for (let p = 0; p < placed.count; p++)
			if (x >= placed.left[p] && x < placed.left[p] + placed.width[p] && this.rowOf(placed.node[p]) === row)
				return placed.node[p];
		return -1;
	}

	click(event) {
		const node = this.frameAt(event);
		if (node < 0)
			return;
		if ((event.shiftKey || event.ctrlKey || event.metaKey) && this.opened)
			this.opened(this.tree.fn[node]);
		else
			this.zoom(node);
	}

	point(node, x, y) {
		if (this.here !== node) {
			this.here = node;
			this.draw();
		}
		if (node < 0) {
			this.tip.hide();
			return;
		}
		const lines = this.describe(node);
		this.tip.show(lines, x, y);
		if (this.details)
			this.details.textContent = lines.join(" · ");
	}

	pointByKey(node) {
		if (node < 0)
			return;
		const { box, placed } = this, y = this.rowOf(node) * ROW + this.shift;
		if (y < box.scrollTop || y + ROW > box.scrollTop + box.clientHeight)
			box.scrollTop = y - box.clientHeight / 2;
		const area = this.canvas.getBoundingClientRect();
		let p = 0;
		while (p < placed.count - 1 && placed.node[p] !== node)
			p++;
		this.point(node, area.left + placed.left[p] * area.width, area.top + y - box.scrollTop + 4);
	}

	/* The frame beside, above or below the one that is pointed at. */
	beside(key) {
		const { tree, placed, here } = this;
		if (here < 0)
			return this.top;
		const outwards = this.options.icicle ? "ArrowUp" : "ArrowDown";
		let best = -1;
		if (key === outwards)
			return tree.parent[here];
		if (key === "ArrowUp" || key === "ArrowDown") {
			for (let p = 0; p < placed.count; p++)
				if (tree.parent[placed.node[p]] === here && (best < 0 || tree.weight[placed.node[p]] > tree.weight[best]))
					best = placed.node[p];
			return best;
		}
		const peers = [];
		for (let p = 0; p < placed.count; p++)
			if (tree.depth[placed.node[p]] === tree.depth[here])
				peers.push(placed.node[p]);
		return peers[peers.indexOf(here) + (key === "ArrowLeft" ? -1 : 1)] ?? -1;
	}

	key(event) {
		if (!this.tree || event.ctrlKey || event.metaKey || event.altKey)
			return;
		if (event.key.startsWith("Arrow"))
			this.pointByKey(this.beside(event.key));
		else if (event.key === "Enter" && this.here >= 0)
			this.zoom(this.here);
		else if (event.key === "Backspace" && this.top > 0)
			this.zoom(this.tree.parent[this.top]);
		else if (event.key === "s" && this.here > 0 && this.opened)
			this.opened(this.tree.fn[this.here]);
		else
			return;
		event.preventDefault();
		event.stopPropagation();
	}
}
