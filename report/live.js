/* live.js -- what a page adds to itself where scripts run: maps that can be enlarged and read, correlation functions at
   the age under the pointer, tables as CSV and LaTeX, figures as SVG and PNG.  Without it the page is complete.
   Nothing is loaded and nothing leaves the page. */
(function () {
  "use strict";

  const make = homodyneSliders.make, digits = homodyneSliders.digits, full = homodyneSliders.full,
    ticks = homodyneSliders.ticks;

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

  /* ---- tables and figures to take along ------------------------------------------------------------------- */

  /* Numbers as programs read them: the other way of report/draw/typeset.c. */
  function plainly(text) {
    return text.trim().replace(/\s+/g, " ").replace(/\u2212/g, "-")
      .replace(/(?:([0-9.]+)\u00d7)?\b10([\u207b\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+)/g,
        function (_, m, e) {
          const up = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";
          return (m || "1") + "e" +
            Array.from(e, function (c) { return c === "\u207b" ? "-" : up.indexOf(c); }).join("");
        });
  }

  function rowsOf(table) {
    return Array.from(table.rows).filter(function (row) { return row.className !== "why"; }).map(function (row) {
      return Array.from(row.cells,
        function (cell) { return plainly((cell.querySelector("code.name") || cell).textContent); });
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
      if (/^-?[0-9.]+(e[-+]?[0-9]+)?$/.test(x))
        return "$" + x.replace(/e\+?(-?)0*([0-9]+)/, " \\times 10^{$1$2}") + "$";
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

  document.querySelectorAll("table:not([data-plain])").forEach(function (table) {
    const tools = make("div", { class: "tools" });
    (table.closest(".wide") || table).after(tools);
    const csv = button(tools, "CSV", function () { copy(csv, asCsv(table)); },
      "copy the table as comma-separated values");
    const tex = button(tools, "LaTeX", function () { copy(tex, asLatex(table)); },
      "copy the table for LaTeX (booktabs)");
  });

  document.querySelectorAll("section figure").forEach(function (figure, k) {
    const svg = figure.querySelector("svg"), section = figure.closest("section");
    if (!svg) return;
    const name = section.id + "-" + (Array.from(section.querySelectorAll("figure")).indexOf(figure) + 1);
    const tools = make("div", { class: "tools" }, figure);
    button(tools, "SVG", function () { save(new Blob([svgText(svg)], { type: "image/svg+xml" }), name + ".svg"); },
      "save the figure");
    button(tools, "PNG", function () { savePng(svg, name); }, "save the figure as pixels");
  });

  /* ---- maps ----------------------------------------------------------------------------------------------- */

  /* live: what page_live.c wrote. options: parent, an element for the panels (else they stand in a dialog); row, called
     with each row of the sliders; changed, called when the model has moved; overlays, which gives further curves
     [{name, colour, line}] for a group and an age in s. */
  window.homodyneMaps = function (live, options) {
  const n = live.n;

  function bytes(text) {
    const raw = atob(text), b = new Uint8Array(raw.length);
    for (let k = 0; k < raw.length; k++) b[k] = raw.charCodeAt(k);
    return b;
  }

  /* Values of the upper triangle; what is not measured is NaN. */
  function decode(g) {
    if (g.value) return g;
    g.value = {};
    g.quantum = (g.hi - g.lo) / 65534;
    const value = function (level) { return level === 65535 ? NaN : g.lo + level / 65534 * (g.hi - g.lo); };
    const c2 = bytes(g.c2), x = g.value.c2 = new Float64Array(c2.length / 2);
    for (let k = 0; k < x.length; k++) x[k] = value(c2[2 * k] + 256 * c2[2 * k + 1]);
    if (g.fit) { /* differences along the row, or 0 and the level itself */
      const b = bytes(g.fit), f = g.value.fit = new Float64Array(x.length);
      for (let k = 0, at = 0, one = 0, two = 0; k < f.length; k++) {
        const level = b[at] ? b[at] - 128 + 2 * one - two : b[at + 1] + 256 * b[at + 2];
        at += b[at] ? 1 : 3;
        two = one;
        one = level;
        f[k] = value(level);
      }
    }
    if (g.sigma) { /* residuals of cells of live.bin x live.bin pairs */
      const x = g.value.z = new Float64Array(g.value.c2.length), b = live.bin;
      for (let i = 0, c = 0; i < n; i++)
        for (let j = i; j < n; j++, c++)
          x[c] = (g.value.c2[c] - g.value.fit[c]) / g.sigma * Math.sqrt(i !== j || b === 1 ? b * b : b * (b - 1) / 2);
    } else if (g.z) {
      const b = bytes(g.z), x = g.value.z = new Float64Array(b.length);
      for (let k = 0; k < x.length; k++) x[k] = b[k] === 128 ? NaN : (b[k] < 128 ? b[k] : b[k] - 256) / 10;
    }
    return g;
  }

  function cell(i, j) {
    const a = Math.min(i, j), b = Math.max(i, j);
    return a * n - a * (a - 1) / 2 + (b - a);
  }

  /* Data; fit and residual: those of the fit, or of the model where sliders have moved it. */
  function at(g, name, i, j) {
    const c = cell(i, j);
    if (name !== "c2" && moved()) {
      const y = g.value.c2[c], mean = model.of(live.groups.indexOf(g)).mean[c];
      return Number.isNaN(y) ? NaN : name === "fit" ? mean
        : (y - mean) * Math.sqrt(model.count(Math.min(i, j), Math.max(i, j))) / model.sigma[live.groups.indexOf(g)];
    }
    return g.value[name] ? g.value[name][c] : NaN;
  }

  /* Whether the model stands in the place of the fit: sliders have moved it, or there was no fit. */
  function moved() { return model !== null && (model.version > 0 || !live.groups[0].fit); }

  function palette(text) {
    return text.match(/.{6}/g)
      .map(function (x) { return [parseInt(x.slice(0, 2), 16), parseInt(x.slice(2, 4), 16),
        parseInt(x.slice(4), 16)]; });
  }
  const viridis = palette(live.viridis), diverging = palette(live.diverging);

  const state = { group: 0, mode: "data", log: true, normal: false, all: false, i: -1, j: -1 };
  let box = null, model = null, asked = false;

  function group() { return decode(live.groups[state.group]); }

  function titleOf(k) {
    const figure = document.querySelector("figure[data-group=\"" + live.groups[k].group + "\"]");
    const text = figure && figure.querySelector("text");
    if (text) return text.textContent.split(" \u00b7 ")[0];
    const g = live.groups[k], q = g.q === undefined ? "" : "q = " + digits(g.q, 4) + " \u00c5\u207b\u00b9, ";
    return q + "\u03c6 = " + digits(g.phi, 5) + "\u00b0";
  }

  /* Pixels: t1 to the right, t2 upwards; split: data above the diagonal, fit below. */
  const inks = [viridis, diverging].map(function (p) {
    return new Uint32Array(new Uint8ClampedArray([].concat.apply([],
      p.map(function (c) { return [c[0], c[1], c[2], 255]; }))).buffer);
  });

  /* Upper triangles of what the two sides of the diagonal show, their range, their colours. */
  function sides(g) {
    const k = live.groups.indexOf(g), own = moved() ? model.of(k).mean : g.value.fit;
    if (state.mode === "residual") {
      let z = g.value.z;
      if (moved()) {
        z = new Float64Array(g.value.c2.length);
        for (let i = 0, c = 0; i < n; i++) for (let j = i; j < n; j++, c++) z[c] = at(g, "z", i, j);
      }
      return { above: z, below: z, range: [-g.range[2], g.range[2]], ink: inks[1] };
    }
    return { above: state.mode === "fit" ? own : g.value.c2, below: state.mode === "data" ? g.value.c2 : own,
      range: g.range, ink: inks[0] };
  }

  function drawMap() {
    const s = sides(group()), c = box.map.getContext("2d"), image = c.createImageData(n, n),
      pixel = new Uint32Array(image.data.buffer);
    const lo = s.range[0], steps = s.ink.length - 1, scale = steps / (s.range[1] - lo), seen = group().value.c2;
    for (let i = 0, at = 0; i < n; i++)
      for (let j = i; j < n; j++, at++) {
        let from = at;
        if (i === j && Number.isNaN(seen[at])) from = j + 1 < n ? at + 1 : cell(i - 1, i);
        /* not measured: as beside it */
        if (Number.isNaN(seen[from])) continue;
        pixel[(n - 1 - j) * n + i] = s.ink[Math.round(Math.min(Math.max((s.above[from] - lo) * scale, 0), steps))];
        pixel[(n - 1 - i) * n + j] = s.ink[Math.round(Math.min(Math.max((s.below[from] - lo) * scale, 0), steps))];
      }
    c.putImageData(image, 0, 0);
  }

  /* Times of the cells of a group: files may have their own. */
  function timesOf(g) { return g.t || live.t; }

  function time(k) { return timesOf(live.groups[state.group])[k]; }

  /* Where a time lies on the map, in percent of its side: frames may be left out. */
  function percent(t) {
    let k = 0;
    while (k < n - 2 && time(k + 1) <= t) k++;
    return 100 * (k + 0.5 + (t - time(k)) / (time(k + 1) - time(k))) / n;
  }

  function drawTimes() {
    const values = ticks(time(0), time(n - 1), false), texts = homodyneSliders.tickTexts(values, false);
    [[box.across, "left", "t\u2081 ("], [box.up, "bottom", "t\u2082 ("]].forEach(function (axis) {
      axis[0].replaceChildren();
      texts.forEach(function (text, k) {
        make("span", { style: axis[1] + ":" + percent(values[k]).toFixed(2) + "%" }, axis[0], text); });
      make("b", {}, axis[0], axis[2] + live.unit + ")");
    });
  }

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
      points.push([timesOf(g)[j] - timesOf(g)[i], v, at(g, "fit", i, j)]);
    }
    return points;
  }

  /* What normalises the curves of a group: contrast and offset, of the model as the sliders have it. */
  function scaling(k) {
    const g = live.groups[k], own = moved() ? model.of(k).lin : null;
    const of = function (name) { return own && model.linear.indexOf(name) >= 0 ? own[model.linear.indexOf(name)]
      : g[name]; };
    return state.normal ? { by: of("contrast"), from: of("offset") } : { by: 1, from: 0 };
  }

  /* Data and model at the age of the mark, as they are drawn. */
  function curveOf(k, s) {
    const g = decode(live.groups[k]), by = scaling(k), points = cut(g, s);
    const line = model ? model.cut(k, s) : points.map(function (p) { return [p[0], p[2]]; });
    const scale = function (p) { return [p[0], (p[1] - by.from) / by.by]; };
    return { k: k, fitted: Boolean(g.fit) || model !== null, points: points.map(scale), line: line.map(scale) };
  }

  function rangeOf(curves) {
    let lo = Infinity, hi = -Infinity, first = Infinity, last = 0;
    curves.forEach(function (curve) {
      curve.points.forEach(function (p) {
        lo = Math.min(lo, p[1]);
        hi = Math.max(hi, p[1]);
        first = Math.min(first, p[0]);
        last = Math.max(last, p[0]);
      });
      if (curve.line.length) first = Math.min(first, curve.line[0][0]);
    });
    const pad = 0.08 * (hi - lo);
    return { lo: lo - pad, hi: hi + pad, first: first, last: last };
  }

  /* Axes of a plot of w x h in the context c; gives the places of x and y. */
  function axes(c, w, h, r, ink) {
    const left = 62, right = w - 12, top = 12, bottom = h - 40, fx = state.log ? Math.log : function (x) { return x; };
    const x0 = state.log ? r.first / 1.1 : 0, x1 = state.log ? r.last * 1.1 : r.last;
    const X = function (v) { return left + (fx(v) - fx(x0)) / (fx(x1) - fx(x0)) * (right - left); };
    const Y = function (v) { return bottom - (v - r.lo) / (r.hi - r.lo) * (bottom - top); };
    c.font = "12px system-ui, sans-serif";
    c.fillStyle = ink("--soft");
    c.strokeStyle = ink("--grid");
    c.lineWidth = 1;
    function line(xa, ya, xb, yb) {
      c.beginPath();
      c.moveTo(xa, ya);
      c.lineTo(xb, yb);
      c.stroke();
    }
    c.textAlign = "center";
    const across = ticks(x0, x1, state.log), up = ticks(r.lo, r.hi, false), texts = homodyneSliders.tickTexts;
    texts(across, state.log).forEach(function (text, k) {
      line(X(across[k]), top, X(across[k]), bottom);
      c.fillText(text, X(across[k]), bottom + 16);
    });
    c.textAlign = "right";
    texts(up, false).forEach(function (text, k) {
      line(left, Y(up[k]), right, Y(up[k]));
      c.fillText(text, left - 6, Y(up[k]) + 4);
    });
    c.textAlign = "center";
    c.fillText("lag \u03c4 (" + live.unit + ")", (left + right) / 2, h - 6);
    c.save();
    c.translate(12, (top + bottom) / 2);
    c.rotate(-Math.PI / 2);
    c.fillText(state.normal ? "(c\u2082 \u2212 offset) / contrast" : "c\u2082", 0, 0);
    c.restore();
    c.beginPath();
    c.rect(left, top, right - left, bottom - top);
    return { x: X, y: Y };
  }

  function plot(c, w, h) {
    const style = getComputedStyle(document.documentElement),
      ink = function (name) { return style.getPropertyValue(name).trim(); };
    const which = state.all ? live.groups.map(function (_, k) { return k; }) : [state.group];
    const curves = which.map(function (k) { return curveOf(k, state.i + state.j); }), r = rangeOf(curves);
    box.keys.replaceChildren();
    if (!(r.hi > r.lo) || !(r.last > r.first)) return;
    if (state.all)
      curves.forEach(function (curve) {
        make("span", { style: "color:var(--s" + curve.k % 8 + ")" }, box.keys, titleOf(curve.k)); });
    const place = axes(c, w, h, r, ink);
    c.save();
    c.clip();
    curves.forEach(function (curve) {
      c.fillStyle = ink("--s" + (state.all ? curve.k % 8 : 0));
      curve.points.forEach(function (p) {
        c.beginPath();
        c.arc(place.x(p[0]), place.y(p[1]), state.all ? 1.6 : 2.3, 0, 7);
        c.fill();
      });
      if (!curve.fitted) return;
      c.strokeStyle = state.all ? c.fillStyle : ink("--ink");
      c.lineWidth = 1.6;
      c.beginPath();
      curve.line.forEach(function (p, k) { (k ? c.lineTo : c.moveTo).call(c, place.x(p[0]), place.y(p[1])); });
      c.stroke();
    });
    if (options.overlays && !state.all) overlay(c, place, ink);
    c.restore();
  }

  function overlay(c, place, ink) {
    const by = scaling(state.group);
    options.overlays(group(), (time(state.i) + time(state.j)) / 2).forEach(function (o) {
      c.strokeStyle = ink(o.colour);
      c.lineWidth = 1.6;
      c.setLineDash([6, 3]);
      c.beginPath();
      o.line.forEach(function (p, k) {
        (k ? c.lineTo : c.moveTo).call(c, place.x(p[0]), place.y((p[1] - by.from) / by.by)); });
      c.stroke();
      c.setLineDash([]);
      make("span", { style: "color:var(" + o.colour + ")" }, box.keys, "\u2013 \u2013 " + o.name);
    });
  }

  function drawCut() {
    const ratio = window.devicePixelRatio || 1, w = box.cut.clientWidth, h = box.cut.clientHeight,
      c = box.cut.getContext("2d");
    box.cut.width = w * ratio;
    box.cut.height = h * ratio;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, w, h);
    if (state.i >= 0) plot(c, w, h);
  }

  /* Both panels as a picture: the map with its mark and its ends, the correlation function. */
  function savePanels() {
    const side = 640, wide = state.i < 0 ? 0 : 720, head = 44, foot = 56, scale = 2;
    const canvas = make("canvas", { width: scale * (side + 40 + wide), height: scale * (side + head + foot) }),
      c = canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    c.scale(scale, scale);
    c.fillStyle = style.getPropertyValue("--paper").trim();
    c.fillRect(0, 0, canvas.width, canvas.height);
    c.fillStyle = style.getPropertyValue("--ink").trim();
    c.font = "bold 15px system-ui, sans-serif";
    c.fillText(titleOf(state.group) + ": " + state.mode, 20, 28);
    c.imageSmoothingEnabled = false;
    c.drawImage(box.map, 20, head, side, side);
    c.drawImage(box.mark, 20, head, side, side);
    c.font = "13px system-ui, sans-serif";
    const ends = box.low.textContent + " to " + box.high.textContent;
    c.fillText("t\u2081 to the right, t\u2082 upwards: " + digits(time(0), 4) + " to " + digits(time(n - 1), 4) + " " +
      live.unit + "; colours: " + ends, 20, side + head + 24);
    c.translate(side + 40, head);
    if (wide) plot(c, wide - 20, side);
    canvas.toBlob(function (blob) { save(blob, "map-" + (state.group + 1) + "-" + state.mode + ".png"); });
  }

  function read() {
    const g = group();
    if (state.i < 0) {
      box.read.textContent = "t\u2081 to the right, t\u2082 upwards, " + digits(time(0), 4) + " to " +
        digits(time(n - 1), 4) + " " + live.unit + ". Point at the map, or use the arrow keys.";
      return;
    }
    const parts = ["t\u2081 " + digits(time(state.i), 5), "t\u2082 " + digits(time(state.j), 5) + " " + live.unit,
      "age " + digits((time(state.i) + time(state.j)) / 2, 5) + " " + live.unit,
      "c\u2082 " + full(at(g, "c2", state.i, state.j), 5)];
    const name = g.fit && !moved() ? "fit" : "model"; /* before a fit, or where sliders have moved it */
    if (g.fit || model)
      parts.push(name + " " + full(at(g, "fit", state.i, state.j), 5),
        "(data \u2212 " + name + ")/\u03c3 " + digits(at(g, "z", state.i, state.j), 2));
    box.read.textContent = parts.map(function (x) { return x.replace(/ /g, "\u00a0"); }).join("   ");
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
    if (model && box.tellLinear) box.tellLinear();
    box.title.textContent = titleOf(state.group);
    box.modes.forEach(function (b) {
      b.setAttribute("aria-pressed", String(b.dataset.mode === state.mode));
      b.disabled = b.dataset.mode !== "data" && !g.fit && !model;
    });
    box.normal.disabled = !moved() &&
      !live.groups.every(function (x) { return x.contrast > 0 && Number.isFinite(x.offset); });
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
    box.low.textContent = state.mode === "residual" ? digits(ends[0], 4) : full(ends[0], 4);
    box.high.textContent = (state.mode === "residual" ? digits(ends[1], 4) : full(ends[1], 4)) +
      (state.mode === "residual" ? " \u03c3" : "");
  }

  function check(parent, text, key) {
    const label = make("label", {}, parent), input = make("input", { type: "checkbox" }, label);
    label.appendChild(document.createTextNode(" " + text));
    input.checked = state[key];
    input.addEventListener("change", function () { state[key] = input.checked; drawCut(); });
    return input;
  }

  function build() {
    box = options.parent ? { dialog: make("div", { class: "live inline" }, options.parent) }
      : { dialog: make("dialog", { class: "live", "aria-label": "a map, enlarged" }, document.body) };
    const head = make("div", { class: "bar" }, box.dialog);
    if (live.groups.length > 1) button(head, "\u2039", function () { turn(-1); }, "the map before (Page Up)");
    box.title = make("b", {}, head);
    if (live.groups.length > 1) button(head, "\u203a", function () { turn(1); }, "the next map (Page Down)");
    box.modes = (live.groups[0].fit || live.model ? ["data", "fit", "residual", "split"] : ["data"])
      .map(function (mode) {
      const b = button(head, mode, function () { state.mode = mode; redraw(); },
        mode === "split" ? "data above the diagonal, fit below" : mode);
      b.dataset.mode = mode;
      return b;
    });
    button(head, "PNG", savePanels, "save map and correlation function as a picture").classList.add("end");
    if (!options.parent) button(head, "close", function () { box.dialog.close(); }, "Escape");
    const body = make("div", { class: "two" }, box.dialog), frame = make("div", { class: "frame" }, body);
    const chart = make("div", { class: "chart" }, frame);
    box.up = make("div", { class: "up", "aria-hidden": "true" }, chart);
    const square = make("div",
      { class: "square", tabindex: "0", role: "application", title: "point, drag, or move the mark by arrow keys",
      "aria-label": "map: arrow keys move the mark" }, chart);
    box.across = make("div", { class: "across", "aria-hidden": "true" }, chart);
    box.map = make("canvas", { width: n, height: n }, square);
    box.mark = make("canvas", { width: 640, height: 640 }, square);
    const scale = make("div", { class: "scale" }, frame);
    box.low = make("span", {}, scale);
    box.bar = make("canvas", { width: 254, height: 10 }, scale);
    box.high = make("span", {}, scale);
    const side = make("div", { class: "side" }, body);
    box.cut = make("canvas", {}, side);
    const choices = make("div", { class: "bar" }, side);
    check(choices, "logarithmic", "log");
    box.normal = check(choices, "normalised", "normal");
    if (live.groups.length > 1) check(choices, "all maps at this age", "all");
    box.keys = make("div", { class: "keys" }, side);
    box.read = make("p", { class: "read", "aria-live": "polite" }, box.dialog);
    box.sliders = make("div", { class: "sliders" }, box.dialog);

    let held = false;
    function here(event) {
      const r = square.getBoundingClientRect();
      point(Math.floor((event.clientX - r.left) / r.width * n), Math.floor((r.bottom - event.clientY) / r.height * n));
    }
    square.addEventListener("pointerdown",
      function (e) { held = true; square.setPointerCapture(e.pointerId); here(e); });
    square.addEventListener("pointermove", function (e) { if (held || e.pointerType === "mouse") here(e); });
    square.addEventListener("pointerup", function () { held = false; });
    square.addEventListener("keydown", function (e) {
      const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key],
        far = e.shiftKey ? 10 : 1;
      if (!move) return;
      e.preventDefault();
      point(state.i < 0 ? n >> 2 : state.i + far * move[0], state.i < 0 ? 3 * n >> 2 : state.j + far * move[1]);
    });
    box.dialog.addEventListener("keydown", function (e) {
      if ((e.key === "PageDown" || e.key === "PageUp") && e.target.tagName !== "INPUT") {
        e.preventDefault();
        turn(e.key === "PageDown" ? 1 : -1);
      }
    });
    window.addEventListener("resize", drawCut);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawCut);
    box.square = square;
    drawTimes();
  }

  /* ---- parameters ---------------------------------------------------------------------------------------- */

  function buildSliders() {
    const notes = [], bin = live.model.bin, fitted = Boolean(live.groups[0].fit);
    if (bin > 1 && !fitted) notes.push("The model of a block of pairs is here that of the pair in its middle.");
    if (bin > 1)
      notes.push("\u03c7\u00b2 is that of the map as it is drawn: means over " + bin + " \u00d7 " + bin + " pairs.");
    if (fitted && live.model.loss !== "linear")
      notes.push("Here every value has its full weight; the fit had the loss " + live.model.loss + ".");
    if (["fourier", "hierarchical"].indexOf(live.model.scaling) >= 0)
      notes.push("Contrast and offset of each map are free here.");
    if (model.tied) notes.push("What is tied or shared follows what is moved.");
    homodyneSliders({ into: box, parent: box.sliders, model: model, fitted: fitted, notes: notes, row: options.row,
      several: live.groups.length > 1 ? "maps" : "", slow: function () { return state.all; },
      lin: function () { return model.of(state.group).lin; },
      draw: function () {
        model.last = state.group;
        if (state.mode !== "data") drawMap();
        drawCut();
        read();
        if (options.changed) options.changed();
      } });
  }

  /* The model alone, without panels: for curves beside those of another map. */
  function load() {
    return homodyneModel(live.model, n, live.groups.map(function (g) {
      decode(g);
      return { c2: g.value.c2, fit: g.value.fit || null, quantum: g.quantum };
    })).then(function (made) { model = made; });
  }

  /* The curve of the map with these coordinates at an age in s, or nothing. */
  function curveAt(like, age) {
    const k = live.groups.findIndex(function (g) { return g.phi === like.phi && g.q === like.q; });
    let s = 0; /* of the cells with the nearest age */
    for (let m = 1; m < 2 * n - 2; m++)
      if (Math.abs(time(m >> 1) + time((m + 1) >> 1) - 2 * age) <
        Math.abs(time(s >> 1) + time((s + 1) >> 1) - 2 * age)) s = m;
    if (k < 0 || s < 1 || s > 2 * n - 3) return [];
    if (model) return model.cut(k, s);
    const g = decode(live.groups[k]);
    return g.fit ? cut(g, s).map(function (p) { return [p[0], p[2]]; }) : [];
  }

  function askModel() {
    asked = true;
    load().then(function () {
      box.dialog.homodyne = { model: model, box: box, state: state };
      if (!model) return;
      buildSliders();
      redraw();
      if (options.changed) options.changed();
    });
  }

  /* The times of the group, where files have their own; the mark stays where its file has frames. */
  function showTimes() {
    const g = live.groups[state.group], last = (g.side || n) - 1;
    if (!g.t) return;
    drawTimes();
    if (Math.max(state.i, state.j) <= last) return;
    state.i = last >> 2;
    state.j = 3 * last >> 2;
  }

  function turn(by) {
    state.group = (state.group + by + live.groups.length) % live.groups.length;
    showTimes();
    redraw();
  }

  function open(k, mode) {
    if (!box) build();
    state.group = k;
    state.mode = mode;
    if (!options.parent) {
      box.dialog.showModal();
      box.square.focus();
    }
    if (state.i < 0) {
      state.i = n >> 2;
      state.j = 3 * n >> 2;
    }
    showTimes();
    redraw();
    if (!asked) askModel();
  }

  return { open: open, load: load, curveAt: curveAt, redraw: redraw, drawCut: function () { if (box) drawCut(); },
    state: state, live: live, title: titleOf, parts: function () { return box; }, model: function () { return model; },
    set: function (values) { box.set(values); } };
  };

  const told = document.getElementById("live");
  if (!told) return;
  const values = JSON.parse(told.textContent);
  if (values.table) {
    window.homodyneRows.page(values, button);
    return;
  }
  const maps = window.homodyneMaps(values, {});
  maps.live.groups.forEach(function (g, k) {
    const figure = document.querySelector("figure[data-group=\"" + g.group + "\"]");
    if (!figure) return;
    const modes = ["data", "fit", "residual"], images = figure.querySelectorAll("image");
    images.forEach(function (image, m) {
      if (m >= modes.length) return; /* bars of colours */
      image.style.cursor = "zoom-in";
      image.addEventListener("click", function () { maps.open(k, modes[m]); });
    });
    const tools = figure.querySelector(".tools");
    const b = button(tools, "enlarge", function () { maps.open(k, "data"); },
      "read values, drag for correlation functions");
    tools.insertBefore(b, tools.firstChild);
  });
})();
