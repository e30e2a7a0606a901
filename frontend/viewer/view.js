/* view.js -- the page of `homodyne view`: which data, from where a fit begins, its progress, results side by side; and
   of `homodyne watch --view`: the measurement as it grows.  Panels, sliders and the model are those of reports
   (live.js). */
(function () {
  "use strict";

  const at = function (id) { return document.getElementById(id); };
  let told = null, file = null, maps = null, shown = "", queue = Promise.resolve();
  const digits = homodyneSliders.digits, full = homodyneSliders.full, unitOf = homodyneSliders.unitOf;
  const choice = { q: null, phi: null, frames: null, mask: [] }, beside = new Map();
  const colours = ["--s2", "--s3", "--s4", "--s5", "--s6", "--s7"];

  function make(name, attributes, parent, text) {
    const svg = parent && parent.namespaceURI === "http://www.w3.org/2000/svg";
    const e = svg ? document.createElementNS(parent.namespaceURI, name) : document.createElement(name);
    for (const key in attributes) e.setAttribute(key, attributes[key]);
    if (text !== undefined) e.textContent = text;
    if (parent) parent.appendChild(e);
    return e;
  }

  function say(text, bad) {
    at("said").textContent = text;
    at("said").className = bad ? "bad" : "";
  }

  async function ask(path, body) {
    const r = await fetch(path, body === undefined ? {}
      : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    const answer = await r.json();
    if (!r.ok) throw new Error(answer.error || "status " + r.status);
    return answer;
  }

  /* One thing after another; what goes wrong is said. */
  function during(words, work) {
    queue = queue.then(async function () {
      say(words);
      try {
        await work();
        if (at("said").textContent === words) say("");
      } catch (e) {
        say(e.message, true);
      }
    });
    return queue;
  }

  /* ---- which data -------------------------------------------------------------------------------------------- */

  function matrices() { return file && file.matrices ? file.matrices : []; }

  function different(values) { return Array.from(new Set(values)).sort(function (a, b) { return a - b; }); }

  function sectors() {
    const q = choice.q === null ? file.nearest_q : choice.q;
    return different(matrices()
      .filter(function (m) { return q === null || q === undefined || m.q === null ||
        Math.abs(m.q - q) <= 1e-9 * Math.abs(q); })
      .map(function (m) { return m.phi; }).filter(Number.isFinite));
  }

  function press(e, does) {
    e.setAttribute("tabindex", "0");
    e.setAttribute("role", "button");
    e.addEventListener("click", does);
    e.addEventListener("keydown", function (k) {
      if (k.key !== "Enter" && k.key !== " ") return;
      k.preventDefault();
      does();
      const twin = at("wheel").querySelector("[data-key=\"" + e.dataset.key + "\"]");
      if (twin) twin.focus();
    });
  }

  function drawWheel() {
    const svg = at("wheel"), qs = different(matrices().map(function (m) { return m.q; }).filter(Number.isFinite));
    const near = choice.q === null ? file.nearest_q : choice.q;
    svg.replaceChildren();
    qs.forEach(function (q, k) {
      const on = near === q || qs.length === 1, r = 18 + 62 * (k + 1) / qs.length;
      const ring = make("circle",
        { r: r, class: on ? "ring on" : "ring", "data-key": "q" + k, "aria-pressed": String(on),
        "aria-label": "q = " + digits(q, 4) + " per angstrom" }, svg);
      make("title", {}, ring, "q = " + digits(q, 4) + " \u00c5\u207b\u00b9");
      press(ring, function () {
        choice.q = q;
        choice.phi = null;
        drawWheel();
      });
    });
    sectors().forEach(function (phi, k) {
      const on = choice.phi === null || choice.phi.includes(phi), a = phi * Math.PI / 180;
      const dot = make("circle",
        { cx: 95 * Math.cos(a), cy: -95 * Math.sin(a), r: 6, class: on ? "sector on" : "sector",
        "data-key": "phi" + k, "aria-pressed": String(on), "aria-label": "azimuth " + digits(phi, 4) + " degrees" },
          svg);
      make("title", {}, dot, "\u03c6 = " + digits(phi, 4) + "\u00b0");
      press(dot, function () {
        const all = sectors(), now = choice.phi === null ? all.slice() : choice.phi.slice(), place = now.indexOf(phi);
        if (place < 0) now.push(phi);
        else if (now.length > 1) now.splice(place, 1);
        choice.phi = now.length === all.length ? null : now;
        drawWheel();
      });
    });
    const n = choice.phi === null ? sectors().length : choice.phi.length;
    at("chosen").textContent = (Number.isFinite(near) ? "q = " + digits(near, 4) + " \u00c5\u207b\u00b9, " : "") +
      (sectors().length ? n + " of " + sectors().length + " azimuths" : "azimuths not in the file");
  }

  function frames() { return file && file.frames ? file.frames : 0; }

  function sayFrames() {
    const w = choice.frames || [1, frames()];
    at("first").value = w[0];
    at("last").value = w[1];
    at("mask").value = choice.mask.map(function (m) { return m[0] + ":" + m[1]; }).join(", ");
    drawStrip();
  }

  function drawStrip() {
    const svg = at("strip"), w = choice.frames || [1, frames()],
      x = function (f) { return 400 * (f - 1) / Math.max(frames(), 1); };
    svg.replaceChildren();
    make("rect", { class: "all", x: 0, y: 8, width: 400, height: 28 }, svg);
    make("rect", { class: "window", x: x(w[0]), y: 8, width: x(w[1] + 1) - x(w[0]), height: 28 }, svg);
    choice.mask.forEach(function (m, k) {
      make("rect", { class: "mask", "data-mask": k, x: x(m[0]), y: 8, width: Math.max(2, x(m[1] + 1) - x(m[0])),
        height: 28 }, svg);
    });
    make("rect", { class: "grip", "data-grip": 0, x: x(w[0]) - 4, y: 0, width: 8, height: 44 }, svg);
    make("rect", { class: "grip", "data-grip": 1, x: x(w[1] + 1) - 4, y: 0, width: 8, height: 44 }, svg);
  }

  function frameAt(event) {
    const r = at("strip").getBoundingClientRect();
    return Math.min(Math.max(1 + Math.floor((event.clientX - r.left) / r.width * frames()), 1), frames());
  }

  /* A drag at an end of the window moves it, elsewhere it masks frames; a click on a mask takes it away. */
  function dragFrames(event) {
    const target = event.target, begun = frameAt(event), svg = at("strip"), grip = target.dataset.grip,
      old = choice.mask.slice();
    event.preventDefault();
    svg.setPointerCapture(event.pointerId);
    const move = function (e) {
      const f = frameAt(e), w = choice.frames || [1, frames()];
      if (grip === "0") choice.frames = [Math.min(f, w[1]), w[1]];
      else if (grip === "1") choice.frames = [w[0], Math.max(f, w[0])];
      else if (target.dataset.mask === undefined || f !== begun) choice.mask =
        old.concat([[Math.min(begun, f), Math.max(begun, f)]]);
      sayFrames();
    };
    const end = function (e) {
      svg.removeEventListener("pointermove", move);
      svg.removeEventListener("pointerup", end);
      const still = frameAt(e) === begun;
      if (grip === undefined && still) choice.mask = target.dataset.mask === undefined ? old
        : old.filter(function (_, k) { return String(k) !== target.dataset.mask; });
      sayFrames();
    };
    svg.addEventListener("pointermove", move);
    svg.addEventListener("pointerup", end);
  }

  function typeFrames() {
    const a = Math.round(Number(at("first").value)), b = Math.round(Number(at("last").value));
    if (a >= 1 && b >= a && b <= frames()) choice.frames = a === 1 && b === frames() ? null : [a, b];
    choice.mask = (at("mask").value.match(/\d+\s*(:\s*\d+)?/g) || []).map(function (x) {
      const p = x.split(":").map(Number);
      return [p[0], p.length > 1 ? p[1] : p[0]];
    }).filter(function (p) { return p[0] >= 1 && p[1] >= p[0]; });
    sayFrames();
  }

  /* ---- maps and model ---------------------------------------------------------------------------------------- */

  function boundsText(p) { return "bounds " + digits(p.lower, 4, 1e4) + " \u2026 " + digits(p.upper, 4, 1e4); }

  /* Beside each slider: whether the parameter is held, and its bounds. */
  function addBounds(row) {
    const outer = [row.p.lower, row.p.upper], line = make("span", { class: "held" }, row.line),
      label = make("label", {}, line);
    row.held = make("input", { type: "checkbox", "aria-label": row.p.name + " held" }, label);
    row.held.checked = row.p.fixed;
    label.append(" held");
    row.told = outer.slice();
    const details = make("details", {}, row.line, undefined);
    details.className = "ends";
    make("summary", {}, details, boundsText(row.p));
    ["lower", "upper"].forEach(function (end, k) {
      const part = make("div", {}, details);
      make("span", {}, part, end);
      const slider = make("input",
        { type: "range", min: 0, max: 1000, step: 1, value: 1000 * k,
          "aria-label": row.p.name + ", " + end + " bound" }, part);
      const number = make("input",
        { type: "number", step: "any", value: homodyneSliders.brief(outer[k]),
          "aria-label": row.p.name + ", " + end + " bound, number" }, part);
      const set = function (x) {
        if (!Number.isFinite(x)) return;
        row.p[end] = x;
        number.value = homodyneSliders.brief(x);
        slider.value = Math.round(1000 * (x - outer[0]) / (outer[1] - outer[0]));
        details.firstChild.textContent = boundsText(row.p);
        row.spread();
      };
      slider.addEventListener("input",
        function () { set(outer[0] + Number(slider.value) / 1000 * (outer[1] - outer[0])); });
      number.addEventListener("change", function () { if (number.value !== "") set(Number(number.value)); });
    });
  }

  function overlays(group, age) {
    return Array.from(beside.values()).filter(function (b) { return b.maps && b.on; }).map(function (b, k) {
      return { name: b.name, colour: colours[k % colours.length], line: b.maps.curveAt(group, age) };
    });
  }

  function panels(live, options) { return (live.table ? window.homodyneRows : window.homodyneMaps)(live, options); }

  function show(live) {
    const state = maps ? maps.state : null;
    at("panels").replaceChildren();
    const alike = state && state.table === live.table, count = (live.groups || live.curves).length;
    let named = false;
    const changed = function () { /* with the model its symbols are there */
      if (told.watching && !named) drawHistory(told.history);
      named = true;
    };
    maps = panels(live, { parent: at("panels"), row: told.fits ? addBounds : undefined, overlays: overlays,
      changed: changed });
    if (alike) ["log", "normal", "all"].forEach(function (key) { maps.state[key] = state[key]; });
    maps.state.table = live.table;
    maps.open(state && state.group < count ? state.group : 0, alike ? state.mode : "data");
    window.homodyneView = { maps: maps, choice: choice, beside: beside, state: function () { return told; } };
  }

  /* The choice of data becomes that of what is shown. */
  function adopt(live) {
    if (!told.fits || !matrices().length) return;
    const f = live.model ? live.model.frame : [], near = function (list, x) {
      return list.find(function (v) { return Math.abs(v - x) <= 1e-6 * Math.max(Math.abs(v), 1e-3); });
    };
    if (live.first >= 1) choice.frames = live.first === 1 && live.last === frames() ? null : [live.first, live.last];
    choice.mask = [];
    for (let k = 0; k + 1 < f.length; k++)
      if (f[k + 1] > f[k] + 1) choice.mask.push([live.first + f[k] + 1, live.first + f[k + 1] - 1]);
    choice.q = choice.phi = null;
    if (live.q !== undefined) {
      const q = near(different(matrices().map(function (m) { return m.q; }).filter(Number.isFinite)), live.q);
      choice.q = q === undefined || q === file.nearest_q ? null : q;
      const phi = live.groups.map(function (g) { return near(sectors(), g.phi); }).filter(Number.isFinite);
      if (phi.length && phi.length < sectors().length) choice.phi = phi;
    }
    drawWheel();
    sayFrames();
  }

  async function showData(first) {
    const live = await ask("api/data", choice);
    if (first) adopt(live);
    show(live);
    shown = "";
    drawResults();
  }

  async function showResult(name) {
    const live = await ask("api/live/" + encodeURIComponent(name));
    adopt(live);
    show(live);
    shown = name;
    drawResults();
  }

  /* ---- results ----------------------------------------------------------------------------------------------- */

  async function setBeside(name, on) {
    if (!beside.has(name)) beside.set(name, { name: name, maps: null, on: on });
    const b = beside.get(name);
    b.on = on;
    if (on && !b.maps) {
      b.maps = panels(await ask("api/live/" + encodeURIComponent(name)), {});
      await b.maps.load();
    }
    if (maps) maps.drawCut();
  }

  function drawResults() {
    const body = at("results").tBodies[0];
    at("results").hidden = told.results.length === 0;
    body.replaceChildren();
    told.results.forEach(function (r) {
      const row = make("tr", { class: r.name === shown ? "shown" : "" }, body), first = make("td", {}, row);
      make("button", { type: "button", title: r.path }, first, r.name).addEventListener("click", function () {
        during("reading " + r.name + " ...", function () { return showResult(r.name); });
      });
      const box = make("input", { type: "checkbox", "aria-label": r.name + " beside the others" }, make("td", {}, row));
      box.checked = beside.has(r.name) && beside.get(r.name).on;
      box.addEventListener("change",
        function () { during("reading " + r.name + " ...", function () { return setBeside(r.name, box.checked); }); });
      make("td", { class: "n" }, row, full(Number(r.reduced_chi2), 4));
      row.title = (r.quality || "") + (r.quality_text ? ": " + r.quality_text : "");
      make("a", { href: "report/" + encodeURIComponent(r.name), target: "_blank", rel: "noopener" },
        make("td", {}, row), "report");
    });
  }

  /* ---- fits -------------------------------------------------------------------------------------------------- */

  function body() {
    const parts = maps && maps.parts(), rows = parts && parts.rows ? parts.rows : [];
    return Object.assign({}, choice,
      { parameters: rows.filter(function (row) { return !row.p.name.includes("["); }).map(function (row) {
      const p = { name: row.p.name, start: row.value, fixed: row.held.checked };
      if (row.p.lower !== row.told[0] || row.p.upper !== row.told[1])
        Object.assign(p, { lower: row.p.lower, upper: row.p.upper });
      return p;
    }) });
  }

  function sayProgress() {
    const f = told.fit, p = told.progress;
    at("fit").disabled = f.running;
    at("stop").disabled = !f.running;
    at("busy").hidden = !f.running;
    if (f.running) at("progress").textContent = f.name +
      (p ? ": step " + p.iteration + ", \u03c7\u00b2 " + digits(p.chi2, 6) + ", " + digits(p.seconds, 2) + " s"
        : " ...");
    else if (f.message) at("progress").textContent = f.name + ": " + f.message;
  }

  async function watchFit() {
    const name = told.fit.name;
    while (told.fit.running) {
      await new Promise(function (f) { setTimeout(f, 150); });
      told = await ask("api/state");
      sayProgress();
    }
    drawResults();
    if (told.results.some(function (r) { return r.name === name; })) await showResult(name);
    else say(told.fit.message, true);
  }

  function fit() {
    at("fit").disabled = true;
    during("", async function () {
      at("fit").disabled = false;
      told = await ask("api/fit", body());
      sayProgress();
      await watchFit();
    });
  }

  function write() {
    during("", async function () {
      const answer = await ask("api/write", Object.assign(body(), { name: at("name").value }));
      say("written: " + answer.written);
    });
  }

  /* ---- a measurement that grows ------------------------------------------------------------------------------ */

  /* "23:59:58" in seconds; the days of a night's measurement follow one another. */
  function seconds(lines) {
    let day = 0, before = -1;
    return lines.map(function (l) {
      const p = l.time.split(":").map(Number), s = 3600 * p[0] + 60 * p[1] + p[2];
      if (s < before) day += 86400;
      before = s;
      return day + s;
    });
  }

  /* Symbol and unit of a parameter, where the page knows the model; else its name. */
  function captionOf(name, parent) {
    const model = maps && maps.model(), p = model && model.parameters.find(function (x) { return x.name === name; });
    const caption = make("figcaption", {}, parent);
    if (!p || !p.symbol) caption.textContent = name;
    else {
      homodyneSliders.rich(p.symbol, make("span", { class: "sym", title: name }, caption));
      if (unitOf(p)) caption.append(" (" + unitOf(p) + ")");
    }
  }

  /* A quantity against time: points [second, value, error]; `from`, `to`: the times of the first and the last. */
  function plot(parent, name, points, from, to) {
    const figure = make("figure", {}, parent), w = 380, h = 150, left = 62, bottom = 126;
    captionOf(name, figure);
    const holder = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    holder.setAttribute("viewBox", "0 0 " + w + " " + h);
    figure.appendChild(holder);
    const known = points.filter(function (p) { return Number.isFinite(p[1]); });
    if (!known.length) return;
    const spread = function (p) { return Number.isFinite(p[2]) ? p[2] : 0; };
    let lo = Math.min.apply(null, known.map(function (p) { return p[1] - spread(p); })),
      hi = Math.max.apply(null, known.map(function (p) { return p[1] + spread(p); }));
    const more = Math.max(0.06 * (hi - lo), 5e-4 * Math.max(Math.abs(lo), Math.abs(hi))) || 1;
    lo -= more;
    hi += more;
    const first = points[0][0], last = points[points.length - 1][0];
    const x = function (t) { return left + 8 + (w - left - 20) * (last > first ? (t - first) / (last - first) : 0.5); };
    const y = function (v) { return bottom - (v - lo) / (hi - lo) * (bottom - 10); };
    const values = homodyneSliders.ticks(lo, hi, false);
    homodyneSliders.tickTexts(values, false).forEach(function (text, k) {
      make("line", { class: "axis", x1: left, x2: w, y1: y(values[k]), y2: y(values[k]) }, holder);
      make("text", { x: left - 6, y: y(values[k]) + 3, "text-anchor": "end" }, holder, text);
    });
    make("text", { x: left, y: h - 6 }, holder, from);
    if (last > first) make("text", { x: w - 4, y: h - 6, "text-anchor": "end" }, holder, to);
    points.forEach(function (p) {
      if (!Number.isFinite(p[1])) return;
      if (p[2] > 0)
        make("line", { class: "error", x1: x(p[0]), x2: x(p[0]), y1: y(p[1] - p[2]), y2: y(p[1] + p[2]) }, holder);
      make("circle", { class: "dot", cx: x(p[0]), cy: y(p[1]), r: 3 }, holder);
    });
  }

  function drawHistory(lines) {
    const section = at("history"), last = lines[lines.length - 1];
    section.hidden = false;
    section.replaceChildren();
    if (!last) {
      make("p", {}, section, "No fit yet; the page goes on by itself.");
      return;
    }
    const r = told.results[0];
    make("p", { class: "verdict " + (last.converged ? "good" : "bad") }, section,
      lines.length + (lines.length > 1 ? " fits, the last at " : " fit, at ") + last.time +
      ": " + (last.converged ? "converged" : "NOT CONVERGED") +
      (r && r.quality_text ? "; " + r.quality + ": " + r.quality_text : ""));
    const plots = make("div", { class: "plots" }, section), when = seconds(lines);
    const draw = function (name, value, error) {
      plot(plots, name, lines.map(function (l, k) { return [when[k], value(l), error(l)]; }), lines[0].time, last.time);
    };
    const number = function (x) { return x === null || x === undefined ? NaN : x; };
    Object.keys(last.parameters).filter(function (name) { return !name.includes("["); }).forEach(function (name) {
      draw(name, function (l) { return number((l.parameters[name] || {}).value); },
        function (l) { return number((l.parameters[name] || {}).std); });
    });
    draw("\u03c7\u00b2/dof", function (l) { return number(l.reduced_chi2); }, function () { return NaN; });
  }

  async function follow() {
    let seen = -1;
    for (;;) {
      const lines = told.history || [];
      if (lines.length !== seen) {
        drawHistory(lines);
        drawResults();
        if (lines.length && told.results.length) await showResult(told.results[0].name)
          .catch(function (e) { say(e.message, true); });
        seen = lines.length;
      }
      await new Promise(function (f) { setTimeout(f, 1000); });
      try {
        told = await ask("api/state");
        say("");
      } catch (e) {
        say("homodyne watch has ended.", true);
        return;
      }
    }
  }

  /* Models for data of this kind; the choice is that of all fits from now on. */
  async function chooseModel() {
    const models = await ask("api/models"), table = Boolean(maps && maps.live.table);
    const list = models.filter(function (m) { return (m.data === "table") === table; });
    list.forEach(function (m) { make("option", { value: m.name, title: m.title }, at("model"), m.name); });
    at("model").value = told.model;
    if (told.gap > 0) at("gap").value = homodyneSliders.brief(told.gap);
    at("choose").hidden = list.length < 2;
    [at("gap"), at("gap").previousElementSibling].forEach(function (e) { e.hidden = table; });
    const changed = function () {
      during("reading the data ...", async function () {
        const gap = at("gap").value === "" ? null : Number(at("gap").value);
        try {
          told = await ask("api/model", { name: at("model").value, gap: gap });
        } finally {
          at("model").value = told.model;
        }
        await showData(true);
      });
    };
    at("model").addEventListener("change", changed);
    at("gap").addEventListener("change", changed);
  }

  async function begin() {
    told = await ask("api/state");
    at("title").textContent = told.title;
    document.title = told.title + " \u00b7 homodyne";
    at("folder").textContent = told.folder;
    if (told.watching) return follow();
    file = await ask("api/file");
    at("fits").hidden = !told.fits;
    at("pick").hidden = !told.fits || !matrices().length;
    if (!at("pick").hidden) {
      drawWheel();
      sayFrames();
      at("strip").addEventListener("pointerdown", dragFrames);
      ["first", "last", "mask"].forEach(function (id) { at(id).addEventListener("change", typeFrames); });
    }
    at("load")
      .addEventListener("click",
        function () { during("reading the data ...", function () { return showData(false); }); });
    at("fit").addEventListener("click", fit);
    at("write").addEventListener("click", write);
    at("stop")
      .addEventListener("click", function () { ask("api/stop", {}).catch(function (e) { say(e.message, true); }); });
    drawResults();
    sayProgress();
    await during("reading the data ...", function () {
      return told.results.length ? showResult(told.results[0].name) : showData(true);
    });
    if (told.fits) await chooseModel();
  }

  begin().catch(function (e) { say(e.message, true); });
})();
