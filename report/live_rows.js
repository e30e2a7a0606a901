/* live_rows.js -- a table in a page or in `homodyne view`: its curves, the fit, residuals, sliders for the model.
   homodyneRows(live, options): live is what page_live_rows.c wrote; options and what it gives are those of homodyneMaps
   (live.js).  homodyneRows.page(live, button) adds to a report. */
(function () {
  "use strict";

  const make = homodyneSliders.make, digits = homodyneSliders.digits, ticks = homodyneSliders.ticks,
    rich = homodyneSliders.rich;

  /* Letters of a symbol without its marks. */
  function plain(text) {
    return text.replace(/\u0002([0-9]+)(?=\u0004|$)/g,
      function (_, d) { return Array.from(d, function (c) { return String.fromCharCode(0x2080 + Number(c)); })
        .join(""); })
      .replace(/[\u0001-\u0004]/g, "");
  }

  window.homodyneRows = function (live, options) {
    const rows = Array.from({ length: live.rows }, function (_, k) { return k; })
      .filter(function (k) { return live.value[k] !== null; });
    const curveOf = function (k) {
      return live.axis ? live.curves.findIndex(function (c) { return c.value === live.columns[live.axis][k]; }) : 0;
    };
    const x = function (k) { return live.x ? live.columns[live.x][k] : k; };
    const list = live.curves.map(function (_, c) {
      return rows.filter(function (k) { return curveOf(k) === c; }).sort(function (a, b) { return x(a) - x(b); });
    });
    const state = { group: 0, mode: "data", log: live.xaxis.log, high: live.yaxis.log, all: false, row: -1 };
    let box = null, model = null, asked = false;

    function fitAt(k) { return model ? model.atRow(k) : live.fit ? live.fit[k] : NaN; }

    /* The model as a line: between the rows where it is known there, else through them. */
    function line(c) {
      const between = model ? model.between.length > 0 : live.fine_x.length > 0, out = [];
      if (between)
        live.fine_x.forEach(function (v, k) {
          if (!live.axis || live.fine_curve[k] === live.curves[c].value)
            out.push([v, model ? model.atPlace(k) : live.fine_fit[k]]);
        });
      else list[c].forEach(function (k) { out.push([x(k), fitAt(k)]); });
      return out.filter(function (p) { return Number.isFinite(p[1]); });
    }

    function shown() { return state.all ? live.curves.map(function (_, c) { return c; }) : [state.group]; }

    function range(values, log) {
      const good = values.filter(function (v) { return Number.isFinite(v) && (!log || v > 0); });
      let lo = Math.min.apply(null, good), hi = Math.max.apply(null, good);
      if (!(hi > lo)) return log ? [lo / 2, lo * 2] : [lo - 1, hi + 1];
      if (log) return [lo / Math.pow(hi / lo, 0.04), hi * Math.pow(hi / lo, 0.04)];
      return [lo - 0.05 * (hi - lo), hi + 0.05 * (hi - lo)];
    }

    function scaleOf(ends, log, from, to) {
      const f = log ? Math.log : Number;
      return function (v) { return from + (f(v) - f(ends[0])) / (f(ends[1]) - f(ends[0])) * (to - from); };
    }

    function frame(c, p, ink, names) {
      c.font = "12px system-ui, sans-serif";
      c.strokeStyle = ink("--grid");
      c.fillStyle = ink("--soft");
      c.lineWidth = 1;
      const stroke = function (a, b, d, e) { c.beginPath(); c.moveTo(a, b); c.lineTo(d, e); c.stroke(); };
      c.textAlign = "center";
      const across = ticks(p.xr[0], p.xr[1], state.log), up = ticks(p.yr[0], p.yr[1], p.high),
        texts = homodyneSliders.tickTexts;
      texts(across, state.log).forEach(function (text, k) {
        stroke(p.X(across[k]), p.top, p.X(across[k]), p.bottom);
        if (names) c.fillText(text, p.X(across[k]), p.bottom + 16);
      });
      c.textAlign = "right";
      texts(up, p.high).forEach(function (text, k) {
        stroke(p.left, p.Y(up[k]), p.right, p.Y(up[k]));
        c.fillText(text, p.left - 6, p.Y(up[k]) + 4);
      });
      c.textAlign = "center";
      if (names) c.fillText(names, (p.left + p.right) / 2, p.bottom + 34);
      c.save();
      c.translate(12, (p.top + p.bottom) / 2);
      c.rotate(-Math.PI / 2);
      c.fillText(p.name, 0, 0);
      c.restore();
    }

    function nameOf(axis) { return plain(axis.symbol) + (axis.unit ? " (" + axis.unit + ")" : ""); }

    function dots(c, p, ks, value, colour) {
      c.fillStyle = colour;
      ks.forEach(function (k) {
        const v = value(k);
        if (!Number.isFinite(v) || (p.high && v <= 0) || (state.log && x(k) <= 0)) return;
        c.beginPath();
        c.arc(p.X(x(k)), p.Y(v), ks.length > 300 ? 1.6 : 2.8, 0, 7);
        c.fill();
      });
    }

    function draw() {
      const ratio = window.devicePixelRatio || 1, w = box.cut.clientWidth, h = box.cut.clientHeight,
        c = box.cut.getContext("2d");
      const style = getComputedStyle(document.documentElement),
        ink = function (name) { return style.getPropertyValue(name).trim(); };
      const seen = shown(), ks = [].concat.apply([], seen.map(function (g) { return list[g]; })),
        fitted = Boolean(live.fit) || model !== null;
      const lines = seen.map(line), z = function (k) { return (live.value[k] - fitAt(k)) / live.sigma[k]; };
      box.cut.width = w * ratio;
      box.cut.height = h * ratio;
      c.setTransform(ratio, 0, 0, ratio, 0, 0);
      c.clearRect(0, 0, w, h);
      const xr = range(ks.map(x), state.log), left = 66, right = w - 12, low = fitted ? h - 150 : h - 44;
      const p = { left: left, right: right, top: 10, bottom: low, xr: xr, high: state.high, name: nameOf(live.yaxis),
        yr: range(ks.map(function (k) { return live.value[k]; })
          .concat(live.fit ? ks.map(function (k) { return live.fit[k]; }) : []), state.high) };
      p.X = scaleOf(xr, state.log, left, right);
      p.Y = scaleOf(p.yr, p.high, p.bottom, p.top);
      frame(c, p, ink, fitted ? "" : nameOf(live.xaxis));
      box.keys.replaceChildren();
      c.save();
      c.beginPath();
      c.rect(left, p.top, right - left, p.bottom - p.top);
      c.clip();
      seen.forEach(function (g, n) {
        const colour = ink("--s" + (state.all ? g % 8 : 0));
        c.strokeStyle = colour;
        c.lineWidth = 1;
        list[g].forEach(function (k) {
          const s = live.sigma[k];
          if (!(s > 0) || (p.high && live.value[k] - s <= 0)) return;
          c.beginPath();
          c.moveTo(p.X(x(k)), p.Y(live.value[k] - s));
          c.lineTo(p.X(x(k)), p.Y(live.value[k] + s));
          c.stroke();
        });
        dots(c, p, list[g], function (k) { return live.value[k]; }, colour);
        if (state.all) rich(live.curves[g].title, make("span", { style: "color:var(--s" + g % 8 + ")" }, box.keys));
        if (!fitted) return;
        if (!live.single) {
          dots(c, p, list[g], fitAt, ink("--s1"));
          return;
        }
        stroke(c, p, lines[n], state.all ? colour : ink("--s1"));
      });
      if (options.overlays && !state.all)
        options.overlays({ curve: live.curves[state.group].value }, NaN).forEach(function (o) {
          c.setLineDash([6, 3]);
          stroke(c, p, o.line, ink(o.colour));
          c.setLineDash([]);
          make("span", { style: "color:var(" + o.colour + ")" }, box.keys, "\u2013 \u2013 " + o.name);
        });
      c.restore();
      if (fitted) residuals(c, p, ks, seen, z, ink, h);
      read();
    }

    function stroke(c, p, points, colour) {
      let down = false;
      c.strokeStyle = colour;
      c.lineWidth = 1.8;
      c.beginPath();
      points.forEach(function (q) {
        const good = (!p.high || q[1] > 0) && (!state.log || q[0] > 0);
        if (good) (down ? c.lineTo : c.moveTo).call(c, p.X(q[0]), p.Y(q[1]));
        down = good;
      });
      c.stroke();
    }

    function residuals(c, p, ks, seen, z, ink, h) {
      const most = Math.max(3.5,
        Math.min(1e3, 1.1 * Math.max.apply(null, ks.map(function (k) { return Math.abs(z(k)) || 0; }))));
      const q = { left: p.left, right: p.right, top: h - 134, bottom: h - 44, xr: p.xr, yr: [-most, most], high: false,
        X: p.X, name: "res. / \u03c3" };
      q.Y = scaleOf(q.yr, false, q.bottom, q.top);
      frame(c, q, ink, nameOf(live.xaxis));
      seen.forEach(function (g) { dots(c, q, list[g], z, ink("--s" + (state.all ? g % 8 : 0))); });
    }

    function read() {
      const k = state.row;
      if (k < 0 || curveOf(k) !== state.group) {
        box.read.textContent = "Point at the curve, or use the arrow keys.";
        return;
      }
      const parts = [plain(live.xaxis.symbol) + " " + digits(x(k), 5) + " " + live.xaxis.unit,
        plain(live.yaxis.symbol) + " " + digits(live.value[k], 5) +
        (live.sigma[k] > 0 ? " \u00b1 " + digits(live.sigma[k], 2) : "") + " " + live.yaxis.unit];
      if (live.fit || model)
        parts.push("fit " + digits(fitAt(k), 5), "(data \u2212 fit)/\u03c3 " +
          digits((live.value[k] - fitAt(k)) / live.sigma[k], 2));
      box.read.textContent = parts.map(function (x) { return x.replace(/ /g, "\u00a0"); }).join("   ");
    }

    function titleOf(g) { return plain(live.curves[g].title) || "data and fit"; }

    function redraw() {
      box.title.replaceChildren();
      rich(live.curves[state.group].title || "data and fit", box.title);
      if (model && box.tellLinear) box.tellLinear();
      draw();
    }

    function turn(by) {
      state.group = (state.group + by + live.curves.length) % live.curves.length;
      state.row = -1;
      redraw();
    }

    function check(parent, text, key) {
      const label = make("label", {}, parent), input = make("input", { type: "checkbox" }, label);
      label.append(" " + text);
      input.checked = state[key];
      input.addEventListener("change", function () { state[key] = input.checked; draw(); });
    }

    function nearest(px) {
      const ks = list[state.group],
        xr = range([].concat.apply([], shown().map(function (g) { return list[g]; })).map(x), state.log);
      const X = scaleOf(xr, state.log, 66, box.cut.clientWidth - 12);
      state.row =
        ks.reduce(function (best, k) { return Math.abs(X(x(k)) - px) < Math.abs(X(x(best)) - px) ? k : best; }, ks[0]);
      read();
    }

    function build() {
      box = options.parent ? { dialog: make("div", { class: "live inline" }, options.parent) }
        : { dialog: make("dialog", { class: "live", "aria-label": "data and model" }, document.body) };
      const button = function (parent, text, does, title) {
        const b = make("button", { type: "button", title: title }, parent, text);
        b.addEventListener("click", does);
        return b;
      };
      const head = make("div", { class: "bar" }, box.dialog);
      if (live.curves.length > 1) button(head, "\u2039", function () { turn(-1); }, "the curve before (Page Up)");
      box.title = make("b", {}, head);
      if (live.curves.length > 1) button(head, "\u203a", function () { turn(1); }, "the next curve (Page Down)");
      check(head, "x logarithmic", "log");
      check(head, "y logarithmic", "high");
      if (live.curves.length > 1) check(head, "all curves", "all");
      if (!options.parent) button(head, "close", function () { box.dialog.close(); }, "Escape").classList.add("end");
      const side = make("div", { class: "side wideplot" }, box.dialog);
      box.cut = make("canvas",
        { tabindex: "0", role: "application", "aria-label": "data and fit: arrow keys move from row to row" }, side);
      box.keys = make("div", { class: "keys" }, side);
      box.read = make("p", { class: "read", "aria-live": "polite" }, box.dialog);
      box.sliders = make("div", { class: "sliders" }, box.dialog);
      box.cut.addEventListener("pointermove", function (e) { nearest(e.offsetX); });
      box.cut.addEventListener("pointerdown", function (e) { nearest(e.offsetX); });
      box.cut.addEventListener("keydown", function (e) {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key], ks = list[state.group];
        if (!by) return;
        e.preventDefault();
        state.row = ks[Math.min(Math.max(ks.indexOf(state.row) + by, 0), ks.length - 1)];
        read();
      });
      box.dialog.addEventListener("keydown", function (e) {
        if ((e.key === "PageDown" || e.key === "PageUp") && e.target.tagName !== "INPUT" && live.curves.length > 1) {
          e.preventDefault();
          turn(e.key === "PageDown" ? 1 : -1);
        }
      });
      window.addEventListener("resize", draw);
      window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    }

    function load() { return homodyneModel.table(live).then(function (made) { model = made; }); }

    function groupSeen() {
      const first = list[state.group][0];
      return model.where[first][0];
    }

    function askModel() {
      asked = true;
      load().then(function () {
        box.dialog.homodyne = { model: model, box: box, state: state };
        if (!model) return;
        homodyneSliders({ into: box, parent: box.sliders, model: model, fitted: Boolean(live.fit), row: options.row,
          notes: model.tied ? ["What is tied or shared follows what is moved."] : [],
          several: model.groups.length > 1 ? "curves" : "", lin: function () { return model.of(groupSeen()).lin; },
          draw: function () {
            model.last = groupSeen();
            draw();
            if (options.changed) options.changed();
          } });
        redraw();
        if (options.changed) options.changed();
      });
    }

    function open(k, mode) {
      if (!box) build();
      state.group = k;
      state.mode = mode;
      if (!options.parent) {
        box.dialog.showModal();
        box.cut.focus();
      }
      redraw();
      if (!asked) askModel();
    }

    /* The line of the curve with the same value, or nothing. */
    function curveAt(like) {
      const c = live.curves.findIndex(function (v) { return v.value === like.curve; });
      return c < 0 ? [] : line(c);
    }

    return { open: open, load: load, curveAt: curveAt, redraw: redraw, drawCut: function () { if (box) draw(); },
      state: state,
      live: Object.assign({ groups: live.curves }, live), title: titleOf, parts: function () { return box; },
      model: function () { return model; }, set: function (values) { box.set(values); } };
  };

  /* Figures of the data get a button. */
  window.homodyneRows.page = function (live, button) {
    const panels = window.homodyneRows(live, {});
    document.querySelectorAll("#data figure").forEach(function (figure, k) {
      const tools = figure.querySelector(".tools");
      if (!tools || k >= live.curves.length) return;
      tools.insertBefore(button(tools, live.model ? "move the model" : "enlarge",
        function () { panels.open(k, "data"); }, "read values, move parameters"), tools.firstChild);
    });
  };
})();
