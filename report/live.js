/* live.js -- what a page adds to itself where scripts run: maps that can be enlarged and read, correlation functions at
   the age under the pointer, tables as CSV and LaTeX, figures as SVG and PNG.  Without it the page is complete.
   Nothing is loaded and nothing leaves the page. */
(function () {
  "use strict";

  function make(name, attributes, parent, text) {
    const e = document.createElement(name);
    for (const key in attributes || {}) e.setAttribute(key, attributes[key]);
    if (text !== undefined) e.textContent = text;
    if (parent) parent.appendChild(e);
    return e;
  }

  function button(parent, text, does, title) {
    const b = make("button", { type: "button", title: title || "" }, parent, text);
    b.addEventListener("click", does);
    return b;
  }

  function say(b, text) {
    const was = b.textContent;
    b.textContent = text;
    setTimeout(function () { b.textContent = was; }, 1500);
  }

  function digits(x, n) {
    return Number.isFinite(x) ? Number(x.toPrecision(n)).toString().replace("-", "\u2212") : "\u2013";
  }

  /* ---- tables and figures to take along ------------------------------------------------------------------- */

  function rowsOf(table) {
    return Array.from(table.rows).filter(function (row) { return row.className !== "why"; }).map(function (row) {
      return Array.from(row.cells, function (cell) { return (cell.querySelector("code.name") || cell).textContent.trim().replace(/\s+/g, " ").replace(/\u2212/g, "-"); });
    });
  }

  function asCsv(table) {
    return rowsOf(table).map(function (row) {
      return row.map(function (x) { return /[",\n]/.test(x) ? "\"" + x.replace(/"/g, "\"\"") + "\"" : x; }).join(",");
    }).join("\n") + "\n";
  }

  const greek = { "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "λ": "lambda", "μ": "mu", "ξ": "xi", "π": "pi",
    "σ": "sigma", "τ": "tau", "φ": "phi", "χ": "chi", "ω": "omega", "Δ": "Delta", "Γ": "Gamma" };

  function asLatex(table) {
    const rows = rowsOf(table), width = Math.max.apply(null, rows.map(function (r) { return r.length; }));
    function word(x) {
      if (/^-?[0-9.]+(e[-+]?[0-9]+)?$/.test(x)) return "$" + x.replace(/e\+?(-?)0*([0-9]+)/, " \\times 10^{$1$2}") + "$";
      return x.replace(/[\\{}]/g, "").replace(/([&%$#_])/g, "\\$1").replace(/±/g, "$\\pm$").replace(/°/g, "$^\\circ$")
        .replace(/Å/g, "\\AA{}").replace(/²/g, "$^2$").replace(/³/g, "$^3$").replace(/⁻¹/g, "$^{-1}$")
        .replace(/[αβγδλμξπστφχωΔΓ]/g, function (c) { return "$\\" + greek[c] + "$"; });
    }
    const lines = rows.map(function (row) {
      while (row.length < width) row.push("");
      return "  " + row.map(word).join(" & ") + " \\\\";
    });
    const head = table.tHead ? table.tHead.rows.length : 0;
    lines.splice(head, 0, "  \\midrule");
    return "\\begin{tabular}{l" + "r".repeat(width - 1) + "}\n  \\toprule\n" + lines.join("\n") +
      "\n  \\bottomrule\n\\end{tabular}\n";
  }

  function copy(b, text) {
    function oldWay() {
      const area = make("textarea", { style: "position:fixed;opacity:0" }, document.body);
      area.value = text;
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      say(b, done ? "copied" : "not permitted");
    }
    if (navigator.clipboard && window.isSecureContext)
      navigator.clipboard.writeText(text).then(function () { say(b, "copied"); }, oldWay);
    else oldWay();
  }

  /* The figure as a file: colours by name become those that are seen. */
  function svgText(svg) {
    const style = getComputedStyle(document.documentElement), twin = svg.cloneNode(true);
    const box = svg.viewBox.baseVal;
    twin.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    twin.setAttribute("width", box.width);
    twin.setAttribute("height", box.height);
    twin.setAttribute("font-family", "Helvetica, Arial, sans-serif");
    const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    paper.setAttribute("width", box.width);
    paper.setAttribute("height", box.height);
    paper.setAttribute("fill", "var(--paper)");
    twin.insertBefore(paper, twin.firstChild);
    return new XMLSerializer().serializeToString(twin).replace(/var\((--[a-z0-9]+)\)/g, function (all, name) {
      return style.getPropertyValue(name).trim() || "#000";
    });
  }

  function save(blob, name) {
    const a = make("a", { href: URL.createObjectURL(blob), download: name }, document.body);
    a.click();
    setTimeout(function () { URL.revokeObjectURL(a.href); a.remove(); }, 1000);
  }

  function savePng(svg, name) {
    const image = new Image(), scale = 3, box = svg.viewBox.baseVal;
    image.onload = function () {
      const c = make("canvas", { width: box.width * scale, height: box.height * scale });
      c.getContext("2d").drawImage(image, 0, 0, c.width, c.height);
      c.toBlob(function (blob) { save(blob, name + ".png"); });
    };
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svgText(svg));
  }

  document.querySelectorAll("table").forEach(function (table) {
    const tools = make("div", { class: "tools" });
    (table.closest(".wide") || table).after(tools);
    const csv = button(tools, "CSV", function () { copy(csv, asCsv(table)); }, "copy the table as comma-separated values");
    const tex = button(tools, "LaTeX", function () { copy(tex, asLatex(table)); }, "copy the table for LaTeX (booktabs)");
  });

  document.querySelectorAll("section figure").forEach(function (figure, k) {
    const svg = figure.querySelector("svg"), section = figure.closest("section");
    if (!svg) return;
    const name = section.id + "-" + (Array.from(section.querySelectorAll("figure")).indexOf(figure) + 1);
    const tools = make("div", { class: "tools" }, figure);
    button(tools, "SVG", function () { save(new Blob([svgText(svg)], { type: "image/svg+xml" }), name + ".svg"); }, "save the figure");
    button(tools, "PNG", function () { savePng(svg, name); }, "save the figure as pixels");
  });

  /* ---- maps ----------------------------------------------------------------------------------------------- */

  const told = document.getElementById("live");
  if (!told) return;
  const live = JSON.parse(told.textContent), n = live.n;

  function bytes(text) {
    const raw = atob(text), b = new Uint8Array(raw.length);
    for (let k = 0; k < raw.length; k++) b[k] = raw.charCodeAt(k);
    return b;
  }

  /* Values of the upper triangle; what is not measured is NaN. */
  function decode(g) {
    if (g.value) return g;
    g.value = {};
    ["c2", "fit"].forEach(function (name) {
      if (!g[name]) return;
      const b = bytes(g[name]), x = g.value[name] = new Float64Array(b.length / 2);
      for (let k = 0; k < x.length; k++) {
        const level = b[2 * k] + 256 * b[2 * k + 1];
        x[k] = level === 65535 ? NaN : g.lo + level / 65534 * (g.hi - g.lo);
      }
    });
    if (g.z) {
      const b = bytes(g.z), x = g.value.z = new Float64Array(b.length);
      for (let k = 0; k < x.length; k++) x[k] = b[k] === 128 ? NaN : (b[k] < 128 ? b[k] : b[k] - 256) / 10;
    }
    return g;
  }

  function at(g, name, i, j) {
    const a = Math.min(i, j), b = Math.max(i, j);
    return g.value[name] ? g.value[name][a * n - a * (a - 1) / 2 + (b - a)] : NaN;
  }

  function palette(text) {
    return text.match(/.{6}/g).map(function (x) { return [parseInt(x.slice(0, 2), 16), parseInt(x.slice(2, 4), 16), parseInt(x.slice(4), 16)]; });
  }
  const viridis = palette(live.viridis), diverging = palette(live.diverging);

  const state = { group: 0, mode: "data", log: true, normal: false, all: false, i: -1, j: -1 };
  let box = null;

  function group() { return decode(live.groups[state.group]); }

  function titleOf(k) {
    const figure = document.querySelector("figure[data-group=\"" + live.groups[k].group + "\"]");
    const text = figure && figure.querySelector("text");
    return text ? text.textContent.split(" \u00b7 ")[0] : "group " + live.groups[k].group;
  }

  /* What the pixel (i, j) of the map shows, t1 to the right and t2 upwards, and in which colours. */
  function shown(g, i, j) {
    const name = state.mode === "data" ? "c2" : state.mode === "fit" ? "fit" : state.mode === "residual" ? "z"
      : j > i ? "c2" : "fit"; /* split along the diagonal */
    let v = at(g, name, i, j);
    if (i === j && Number.isNaN(v)) v = at(g, name, i, i + 1 < n ? i + 1 : i - 1);
    return name === "z" ? [v, -g.range[2], g.range[2], diverging] : [v, g.range[0], g.range[1], viridis];
  }

  function drawMap() {
    const g = group(), c = box.map.getContext("2d"), image = c.createImageData(n, n);
    for (let j = 0; j < n; j++)
      for (let i = 0; i < n; i++) {
        const s = shown(g, i, j), p = 4 * ((n - 1 - j) * n + i);
        if (Number.isNaN(s[0])) continue;
        const x = Math.min(Math.max((s[0] - s[1]) / (s[2] - s[1]), 0), 1), rgb = s[3][Math.round(x * (s[3].length - 1))];
        image.data[p] = rgb[0];
        image.data[p + 1] = rgb[1];
        image.data[p + 2] = rgb[2];
        image.data[p + 3] = 255;
      }
    c.putImageData(image, 0, 0);
  }

  function time(k) { return live.t0 + k * live.step; }

  function drawMark() {
    const c = box.mark.getContext("2d"), w = box.mark.width, one = w / n;
    c.clearRect(0, 0, w, w);
    if (state.i < 0) return;
    const x = (state.i + 0.5) * one, y = w - (state.j + 0.5) * one, s = x + (w - y);
    c.lineWidth = 1.5;
    [["#000a", 3], ["#fff", 1.2]].forEach(function (look) { /* the age: t1 + t2 is the same along this line */
      c.strokeStyle = look[0];
      c.lineWidth = look[1];
      c.beginPath();
      c.moveTo(Math.max(0, s - w), w - Math.min(s, w));
      c.lineTo(Math.min(s, w), w - Math.max(0, s - w));
      c.moveTo(x - 6, y);
      c.lineTo(x + 6, y);
      c.moveTo(x, y - 6);
      c.lineTo(x, y + 6);
      c.stroke();
    });
  }

  /* The correlation function at the age of the mark: pairs with i + j = s or s + 1, by their lag. */
  function cut(g, s) {
    const points = [];
    for (let lag = 1; lag < n; lag++) {
      const twice = s - lag, i = Math.floor(twice / 2), j = i + lag;
      if (twice < 0 || j >= n) break;
      const v = at(g, "c2", i, j);
      if (Number.isNaN(v)) continue;
      points.push([lag * live.step, v, at(g, "fit", i, j)]);
    }
    return points;
  }

  function scaled(g, v) { return state.normal ? (v - g.offset) / g.contrast : v; }

  function ticks(lo, hi, log) {
    const out = [];
    if (log) {
      for (let e = Math.ceil(Math.log10(lo) - 1e-9); e <= Math.log10(hi) + 1e-9; e++) out.push(Math.pow(10, e));
      return out;
    }
    const raw = (hi - lo) / 5, unit = Math.pow(10, Math.floor(Math.log10(raw))), step = [1, 2, 5, 10].find(function (m) { return m * unit >= raw; }) * unit;
    for (let k = Math.ceil(lo / step); k * step <= hi * (1 + 1e-12); k++) out.push(k * step);
    return out;
  }

  function drawCut() {
    const style = getComputedStyle(document.documentElement), ink = function (name) { return style.getPropertyValue(name).trim(); };
    const ratio = window.devicePixelRatio || 1, w = box.cut.clientWidth, h = box.cut.clientHeight, c = box.cut.getContext("2d");
    box.cut.width = w * ratio;
    box.cut.height = h * ratio;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, w, h);
    if (state.i < 0) return;
    const s = state.i + state.j, which = state.all ? live.groups.map(function (_, k) { return k; }) : [state.group];
    const curves = which.map(function (k) { const g = decode(live.groups[k]); return { k: k, g: g, points: cut(g, s) }; });
    let lo = Infinity, hi = -Infinity, first = Infinity, last = 0;
    curves.forEach(function (curve) {
      curve.points.forEach(function (p) {
        [p[1], p[2]].forEach(function (v) {
          if (!Number.isFinite(v)) return;
          lo = Math.min(lo, scaled(curve.g, v));
          hi = Math.max(hi, scaled(curve.g, v));
        });
        first = Math.min(first, p[0]);
        last = Math.max(last, p[0]);
      });
    });
    if (!(hi > lo) || !(last > first)) return;
    box.keys.replaceChildren();
    if (state.all) curves.forEach(function (curve) { make("span", { style: "color:var(--s" + curve.k % 8 + ")" }, box.keys, titleOf(curve.k)); });
    const pad = 0.06 * (hi - lo), left = 58, right = w - 12, top = 12, bottom = h - 40;
    lo -= pad;
    hi += pad;
    const fx = state.log ? Math.log : function (x) { return x; };
    const x0 = state.log ? first / 1.1 : 0, x1 = state.log ? last * 1.1 : last;
    const X = function (v) { return left + (fx(v) - fx(x0)) / (fx(x1) - fx(x0)) * (right - left); };
    const Y = function (v) { return bottom - (v - lo) / (hi - lo) * (bottom - top); };
    c.font = "12px system-ui, sans-serif";
    c.fillStyle = ink("--soft");
    c.strokeStyle = ink("--grid");
    c.lineWidth = 1;
    c.textAlign = "center";
    ticks(x0, x1, state.log).forEach(function (v) {
      c.beginPath();
      c.moveTo(X(v), top);
      c.lineTo(X(v), bottom);
      c.stroke();
      c.fillText(digits(v, 3), X(v), bottom + 16);
    });
    c.textAlign = "right";
    ticks(lo, hi, false).forEach(function (v) {
      c.beginPath();
      c.moveTo(left, Y(v));
      c.lineTo(right, Y(v));
      c.stroke();
      c.fillText(digits(v, 4), left - 6, Y(v) + 4);
    });
    c.textAlign = "center";
    c.fillText("lag \u03c4 (" + live.unit + ")", (left + right) / 2, h - 6);
    c.save();
    c.translate(12, (top + bottom) / 2);
    c.rotate(-Math.PI / 2);
    c.fillText(state.normal ? "(c\u2082 \u2212 offset) / contrast" : "c\u2082", 0, 0);
    c.restore();
    curves.forEach(function (curve) {
      c.fillStyle = c.strokeStyle = ink("--s" + (state.all ? curve.k % 8 : 0));
      curve.points.forEach(function (p) {
        c.beginPath();
        c.arc(X(p[0]), Y(scaled(curve.g, p[1])), state.all ? 1.6 : 2.3, 0, 7);
        c.fill();
      });
      if (!curve.g.fit) return;
      c.strokeStyle = state.all ? c.fillStyle : ink("--ink");
      c.lineWidth = 1.6;
      c.beginPath();
      curve.points.forEach(function (p, k) { (k ? c.lineTo : c.moveTo).call(c, X(p[0]), Y(scaled(curve.g, p[2]))); });
      c.stroke();
    });
  }

  function read() {
    const g = group();
    if (state.i < 0) {
      box.read.textContent = "t\u2081 to the right, t\u2082 upwards, " + digits(time(0), 4) + " to " + digits(time(n - 1), 4) + " " + live.unit +
        ". Point at the map, or use the arrow keys.";
      return;
    }
    const parts = ["t\u2081 " + digits(time(state.i), 5), "t\u2082 " + digits(time(state.j), 5) + " " + live.unit,
      "age " + digits((time(state.i) + time(state.j)) / 2, 5) + " " + live.unit, "c\u2082 " + digits(at(g, "c2", state.i, state.j), 5)];
    if (g.fit)
      parts.push("fit " + digits(at(g, "fit", state.i, state.j), 5), "(data \u2212 fit)/\u03c3 " + digits(at(g, "z", state.i, state.j), 2));
    box.read.textContent = parts.join("   ");
  }

  function point(i, j) {
    state.i = Math.min(Math.max(i, 0), n - 1);
    state.j = Math.min(Math.max(j, 0), n - 1);
    drawMark();
    drawCut();
    read();
  }

  function redraw() {
    const g = group();
    box.title.textContent = titleOf(state.group);
    box.modes.forEach(function (b) { b.setAttribute("aria-pressed", String(b.dataset.mode === state.mode)); });
    box.normal.disabled = !live.groups.every(function (x) { return x.contrast > 0 && Number.isFinite(x.offset); });
    drawMap();
    drawMark();
    drawCut();
    read();
    const edge = box.bar.getContext("2d"), p = state.mode === "residual" ? diverging : viridis;
    p.forEach(function (rgb, k) {
      edge.fillStyle = "rgb(" + rgb.join(",") + ")";
      edge.fillRect(k * box.bar.width / p.length, 0, box.bar.width / p.length + 1, box.bar.height);
    });
    const ends = state.mode === "residual" ? [-g.range[2], g.range[2]] : g.range;
    box.low.textContent = digits(ends[0], 4);
    box.high.textContent = digits(ends[1], 4) + (state.mode === "residual" ? " \u03c3" : "");
  }

  function check(parent, text, key) {
    const label = make("label", {}, parent), input = make("input", { type: "checkbox" }, label);
    label.appendChild(document.createTextNode(" " + text));
    input.checked = state[key];
    input.addEventListener("change", function () { state[key] = input.checked; drawCut(); });
    return input;
  }

  function build() {
    box = { dialog: make("dialog", { class: "live", "aria-label": "a map, enlarged" }, document.body) };
    const head = make("div", { class: "bar" }, box.dialog);
    if (live.groups.length > 1) button(head, "\u2039", function () { turn(-1); }, "the map before (Page Up)");
    box.title = make("b", {}, head);
    if (live.groups.length > 1) button(head, "\u203a", function () { turn(1); }, "the next map (Page Down)");
    box.modes = (live.groups[0].fit ? ["data", "fit", "residual", "split"] : ["data"]).map(function (mode) {
      const b = button(head, mode, function () { state.mode = mode; redraw(); }, mode === "split" ? "data above the diagonal, fit below" : mode);
      b.dataset.mode = mode;
      return b;
    });
    button(head, "close", function () { box.dialog.close(); }, "Escape").classList.add("end");
    const body = make("div", { class: "two" }, box.dialog), frame = make("div", { class: "frame" }, body);
    const square = make("div", { class: "square", tabindex: "0", role: "application", "aria-label": "map: arrow keys move the mark" }, frame);
    box.map = make("canvas", { width: n, height: n }, square);
    box.mark = make("canvas", { width: 640, height: 640 }, square);
    const scale = make("div", { class: "scale" }, frame);
    box.low = make("span", {}, scale);
    box.bar = make("canvas", { width: 254, height: 10 }, scale);
    box.high = make("span", {}, scale);
    const side = make("div", { class: "side" }, body);
    box.cut = make("canvas", {}, side);
    const options = make("div", { class: "bar" }, side);
    check(options, "logarithmic", "log");
    box.normal = check(options, "normalised", "normal");
    if (live.groups.length > 1) check(options, "all maps at this age", "all");
    box.keys = make("div", { class: "keys" }, side);
    box.read = make("p", { class: "read", "aria-live": "polite" }, box.dialog);

    let held = false;
    function here(event) {
      const r = square.getBoundingClientRect();
      point(Math.floor((event.clientX - r.left) / r.width * n), Math.floor((r.bottom - event.clientY) / r.height * n));
    }
    square.addEventListener("pointerdown", function (e) { held = true; square.setPointerCapture(e.pointerId); here(e); });
    square.addEventListener("pointermove", function (e) { if (held || e.pointerType === "mouse") here(e); });
    square.addEventListener("pointerup", function () { held = false; });
    square.addEventListener("keydown", function (e) {
      const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key], far = e.shiftKey ? 10 : 1;
      if (!move) return;
      e.preventDefault();
      point(state.i < 0 ? n >> 2 : state.i + far * move[0], state.i < 0 ? 3 * n >> 2 : state.j + far * move[1]);
    });
    box.dialog.addEventListener("keydown", function (e) {
      if (e.key === "PageDown" || e.key === "PageUp") {
        e.preventDefault();
        turn(e.key === "PageDown" ? 1 : -1);
      }
    });
    window.addEventListener("resize", drawCut);
    box.square = square;
  }

  function turn(by) {
    state.group = (state.group + by + live.groups.length) % live.groups.length;
    redraw();
  }

  function open(k, mode) {
    if (!box) build();
    state.group = k;
    state.mode = mode;
    box.dialog.showModal();
    box.square.focus();
    redraw();
  }

  live.groups.forEach(function (g, k) {
    const figure = document.querySelector("figure[data-group=\"" + g.group + "\"]");
    if (!figure) return;
    const modes = ["data", "fit", "residual"], images = figure.querySelectorAll("image");
    images.forEach(function (image, m) {
      if (m >= modes.length) return; /* bars of colours */
      image.style.cursor = "zoom-in";
      image.addEventListener("click", function () { open(k, modes[m]); });
    });
    const tools = figure.querySelector(".tools");
    const b = button(tools, "enlarge", function () { open(k, "data"); }, "read values, drag for correlation functions");
    tools.insertBefore(b, tools.firstChild);
  });
})();
