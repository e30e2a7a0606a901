/* live_sliders.js -- sliders and numbers that move the parameters of a model (live_model.js).
   homodyneSliders(o) gives o.into with rows, set(values by name), tellCost, tellLinear; o: parent, an element; model;
   fitted, whether it begins at a fit; draw, called when the model has moved; lin, which gives the linear parameters
   that are seen; several, of what all chi2 is; slow, whether chi2 is at hand; notes, sentences below; row, called with
   each. */
const homodyneSliders = (function () {
  "use strict";

  function make(name, attributes, parent, text) {
    const e = document.createElement(name);
    for (const key in attributes || {}) e.setAttribute(key, attributes[key]);
    if (text !== undefined) e.textContent = text;
    if (parent) parent.appendChild(e);
    return e;
  }

  const raised = { "-": "\u207b", 0: "\u2070", 1: "\u00b9", 2: "\u00b2", 3: "\u00b3", 4: "\u2074", 5: "\u2075",
    6: "\u2076", 7: "\u2077", 8: "\u2078", 9: "\u2079" };

  function power(k) { return String(k).replace(/./g, function (c) { return raised[c]; }); }

  /* A number as it is printed: -9.55e-5 with a sign of minus and a power of ten that is raised. */
  function set(text) {
    const part = text.split("e"), m = part[0].replace("-", "\u2212");
    if (part.length < 2) return m;
    return (m === "1" ? "" : m === "\u22121" ? "\u2212" : m + "\u00d7") + "10" + power(Number(part[1]));
  }

  /* n digits, without zeros at the end; small ones, and those from `large` (100,000) on, with a power of ten. */
  function digits(x, n, large) {
    if (!Number.isFinite(x)) return "\u2013";
    const a = Math.abs(x), v = Number(x.toPrecision(n));
    return set(a > 0 && (a < 1e-3 || a >= (large || 1e5)) ? v.toExponential() : String(v));
  }

  /* n digits, all of them: beside others of their kind. */
  function full(x, n) {
    if (!Number.isFinite(x)) return "\u2013";
    const a = Math.abs(x);
    return a > 0 && (a < 1e-3 || a >= 1e6) ? set(x.toExponential(n - 1)) : x.toPrecision(n).replace("-", "\u2212");
  }

  /* Round values between lo and hi; on a logarithmic axis powers of ten, where there are some. */
  function ticks(lo, hi, log) {
    const out = [];
    if (log) {
      const by = Math.max(1, Math.ceil(Math.log10(hi / lo) / 8));
      for (let e = Math.ceil(Math.log10(lo) - 1e-9); e <= Math.log10(hi) + 1e-9; e++) if (e % by === 0)
        out.push(Math.pow(10, e));
      if (out.length > 1) return out;
      out.length = 0;
    }
    const raw = (hi - lo) / 5, unit = Math.pow(10, Math.floor(Math.log10(raw))),
      step = [1, 2, 5, 10].find(function (m) { return m * unit >= raw; }) * unit;
    for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + 1e-9 * step && out.length < 50; k++) out.push(k * step);
    return out;
  }

  /* Their texts, with the same number of decimals. */
  function tickTexts(values, log) {
    const plain = values.map(function (v) { return digits(v, 6); });
    if (log || plain.some(function (t) { return t.includes("\u00d7"); }))
      return plain.map(function (t, k) { return log ? digits(values[k], 3) : t; });
    const decimals = Math.max.apply(null, plain.map(function (t) { return (t.split(".")[1] || "").length; })
      .concat([0]));
    return values.map(function (v) { return v.toFixed(decimals).replace(/^-(0(?:\.0*)?)$/, "$1")
      .replace("-", "\u2212"); });
  }

  /* "angstrom^2/s" -> as reports have it. */
  function unitOf(p) {
    const sign = { angstrom: "\u00c5", degree: "\u00b0", deg: "\u00b0", ohm: "\u03a9", percent: "%" };
    let below = false;
    return p.unit.split(/([*/])/).reduce(function (all, part) {
      const cut = part.match(/^([A-Za-z%]+)(?:\^(-?[0-9]+))?$/);
      if (part === "/" || part === "*") below = part === "/";
      else if (part !== "1") {
        const e = cut ? Number(cut[2] || 1) * (below ? -1 : 1) : 1;
        all.push((cut ? sign[cut[1]] || cut[1] : part) + (e === 1 ? "" : power(e)));
      }
      return all;
    }, []).join(" ");
  }

  /* Italics, subscripts and superscripts, as rich.h marks them. */
  function rich(text, parent) {
    let italic = false, shift = null;
    text.split(/([\u0001-\u0004])/).forEach(function (part) {
      if (part === "\u0001") italic = !italic;
      else if (part === "\u0002" || part === "\u0003") shift = make(part === "\u0002" ? "sub" : "sup", {}, parent);
      else if (part === "\u0004") shift = null;
      else if (part) make(italic ? "i" : "span", {}, shift || parent, part);
    });
    return parent;
  }

  /* As short as it can stand in a field for numbers. */
  function brief(x) {
    const v = Number(x.toPrecision(6)), a = Math.abs(v);
    return a > 0 && a < 1e-3 ? v.toExponential() : String(v);
  }

  /* Where a slider ends: near the fit, or at the bounds. */
  function ends(p, whole) {
    const half = Math.max(Number.isFinite(p.std) ? 12 * p.std : 0, 0.5 * Math.abs(p.fit));
    if (whole || !(half > 0) || !Number.isFinite(p.lower) || !Number.isFinite(p.upper)) return [p.lower, p.upper];
    return [Math.max(p.lower, p.fit - half), Math.min(p.upper, p.fit + half)];
  }

  function place(row) { /* of the value on the slider, 0 .. 1000 */
    const f = row.log ? Math.log : Number;
    row.slider.value = Math.round(1000 * (f(row.value) - f(row.ends[0])) / (f(row.ends[1]) - f(row.ends[0])));
    row.slider.setAttribute("aria-valuetext", digits(row.value, 5) + " " + unitOf(row.p));
    row.number.value = brief(row.value);
  }

  function build(o) {
    const box = o.into || {}, model = o.model;
    let due = 0, later = 0;

    function drawModel() {
      due = 0;
      const begun = performance.now();
      if (!model.set(box.rows.map(function (row) { return row.value; }))) {
        box.cost.textContent = "The model has no values there.";
        return;
      }
      o.draw();
      box.frameTime = performance.now() - begun;
      clearTimeout(later);
      later = setTimeout(box.tellCost, o.slow && o.slow() ? 0 : 60);
      box.tellLinear();
    }

    function wanted() { if (!due) due = requestAnimationFrame(drawModel); }

    function span(row) {
      row.ends = ends(row.p, box.whole.checked);
      row.log = row.ends[0] > 0 && row.ends[1] / row.ends[0] > 50;
      place(row);
    }

    function slide(row) {
      const x = Number(row.slider.value) / 1000, lo = row.ends[0], hi = row.ends[1];
      row.value = row.log ? lo * Math.pow(hi / lo, x) : lo + x * (hi - lo);
      place(row);
      wanted();
    }

    function type(row) {
      const x = Number(row.number.value);
      if (row.number.value === "" || !Number.isFinite(x)) return;
      row.value = x;
      place(row);
      row.number.value = x;
      wanted();
    }

    function addRow(p) {
      const line = make("div", { class: "row" }, o.parent), id = "live-" + p.name;
      const label = make("label", { for: id, title: p.doc }, line), told = p.symbol && p.symbol !== p.name;
      if (told) {
        rich(p.symbol, make("span", { class: "sym" }, label));
        label.append(" ");
      }
      if (!told || p.symbol.replace(/[\u0001-\u0004]/g, "") !== p.name)
        make("span", { class: told ? "name" : "" }, label, p.name);
      const row = { p: p, value: p.value };
      row.slider = make("input", { type: "range", min: 0, max: 1000, step: 1, id: id }, line);
      row.number = make("input", { type: "number", step: "any", "aria-label": p.name + ", number" }, line);
      make("span", { class: "unit" }, line, unitOf(p));
      row.slider.addEventListener("input", function () { slide(row); });
      row.number.addEventListener("change", function () { type(row); });
      row.line = line;
      row.spread = function () { span(row); };
      if (o.row) o.row(row);
      return row;
    }

    box.tellLinear = function () {
      const lin = o.lin();
      box.linear.textContent = model.linear.map(function (name, q) { return name + " " + full(lin[q], 5); })
        .join("   ");
    };

    box.tellCost = function () {
      const fit = o.fitted ? " (fit " + full(model.fitChi2, 5) + ")" : "";
      box.cost.textContent = (model.law ? "\u22122 log L/N" : "\u03c7\u00b2/N") +
        (o.several ? " of all " + o.several : "") + " " + full(model.chi2(), 5) + fit;
    };

    box.set = function (values) { /* by name */
      box.rows.forEach(function (row) {
        if (values[row.p.name] !== undefined) row.value = values[row.p.name];
        span(row);
      });
      wanted();
    };

    const bar = make("div", { class: "bar" }, o.parent);
    make("b", {}, bar, "Model");
    const back = make("button", { type: "button", title: "all parameters back to where they were" }, bar,
      o.fitted ? "as fitted" : "as begun");
    back.addEventListener("click", function () {
      box.rows.forEach(function (row) { row.value = row.p.fit; span(row); });
      wanted();
    });
    const label = make("label", {}, bar);
    box.whole = make("input", { type: "checkbox" }, label);
    label.appendChild(document.createTextNode(" between the bounds"));
    box.whole.addEventListener("change", function () { box.rows.forEach(span); });
    box.cost = make("span", { class: "cost", "aria-live": "polite" }, bar);
    box.linear = make("span", {}, bar);
    box.rows = model.parameters.map(addRow);
    box.rows.forEach(span);
    if (o.notes.length) make("p", { class: "note" }, o.parent, o.notes.join(" "));
    box.tellCost();
    box.tellLinear();
    return box;
  }

  build.rich = rich;
  build.make = make;
  build.digits = digits;
  build.full = full;
  build.brief = brief;
  build.ticks = ticks;
  build.tickTexts = tickTexts;
  build.unitOf = unitOf;
  return build;
})();
