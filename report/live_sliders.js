/* live_sliders.js -- sliders and numbers that move the parameters of a model (live_model.js).
   homodyneSliders(o) gives o.into with rows, set(values by name), tellCost, tellLinear; o: parent, an element; model;
   fitted, whether it begins at a fit; draw, called when the model has moved; lin, which gives the linear parameters that
   are seen; several, of what all chi2 is; slow, whether chi2 is at hand; notes, sentences below; row, called with each. */
const homodyneSliders = (function () {
  "use strict";

  function make(name, attributes, parent, text) {
    const e = document.createElement(name);
    for (const key in attributes || {}) e.setAttribute(key, attributes[key]);
    if (text !== undefined) e.textContent = text;
    if (parent) parent.appendChild(e);
    return e;
  }

  function digits(x, n) { return Number.isFinite(x) ? Number(x.toPrecision(n)).toString().replace("-", "\u2212") : "\u2013"; }

  function unitOf(p) {
    return p.unit === "1" ? "" : p.unit.replace(/angstrom/g, "\u00c5").replace(/\^2/g, "\u00b2").replace(/\^3/g, "\u00b3");
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
    row.number.value = Number(row.value.toPrecision(6));
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
      if (!told || p.symbol.replace(/[\u0001-\u0004]/g, "") !== p.name) make("span", { class: told ? "name" : "" }, label, p.name);
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
      box.linear.textContent = model.linear.map(function (name, q) { return name + " " + digits(lin[q], 5); }).join("   ");
    };

    box.tellCost = function () {
      const fit = o.fitted ? " (fit " + digits(model.fitChi2, 6) + ")" : "";
      box.cost.textContent = (model.law ? "\u22122 log L/N" : "\u03c7\u00b2/N") + (o.several ? " of all " + o.several : "") + " " + digits(model.chi2(), 6) + fit;
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
    const back = make("button", { type: "button", title: "all parameters back to where they were" }, bar, o.fitted ? "as fitted" : "as begun");
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
  return build;
})();
