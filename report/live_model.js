/* live_model.js -- the model of a fit in its page: the emitted kernel as WebAssembly (report/kernel/live_kernel.c).
   homodyneModel(told, n, groups) gives a promise of an object, or of null where the page has no kernel, the browser runs
   none, or the kernel does not give the fit that the page shows: then the page stays as it was.

   told: the member "model" of the page's data; n: cells on a side of the maps; groups: for each {c2, fit}, upper
   triangles row by row with NaN where nothing is measured, and {quantum}, the rounding of both. */
const homodyneModel = (function () {
  "use strict";

  /* As in live_kernel.h. */
  const part = { setting: 0, coord: 1, time: 2, frame: 3, theta: 4, lin: 5, bound: 6, i: 7, j: 8, data: 9, weight: 10,
    shift: 11, basis: 12, mean: 13, chi2: 14 };
  const word = { name: 3, unit: 4, doc: 5 };
  const scalings = { individual: 0, averaged: 1, constant: 2 };

  function bytes(text) {
    const raw = atob(text), b = new Uint8Array(raw.length);
    for (let k = 0; k < raw.length; k++) b[k] = raw.charCodeAt(k);
    return b;
  }

  function text(exports, what, at) {
    const from = exports.live_word(what, at), memory = new Uint8Array(exports.memory.buffer);
    let to = from;
    while (from && memory[to]) to++;
    return from ? new TextDecoder().decode(memory.subarray(from, to)) : "";
  }

  function Model(exports, told, n, groups) {
    this.exports = exports;
    this.told = told;
    this.n = n;
    this.groups = groups;
    this.ncell = n * (n + 1) / 2;
    this.nparam = exports.live_number(0, 0);
    this.nlinear = exports.live_number(1, 0);
    this.scaling = told.scaling in scalings ? scalings[told.scaling] : 0;
    this.version = 0;
    this.seen = groups.map(function () { return { version: -1 }; });
  }

  /* Memory may grow, so views are made when they are needed. */
  Model.prototype.array = function (name, count, at) {
    const Kind = name === "frame" || name === "i" || name === "j" ? Uint32Array : Float64Array;
    return new Kind(this.exports.memory.buffer, this.exports.live_at(part[name]) + (at || 0) * Kind.BYTES_PER_ELEMENT, count);
  };

  Model.prototype.put = function (name, values, at) { this.array(name, values.length, at).set(values); };

  /* Frames of cell a on a side: the first, and how many. */
  Model.prototype.block = function (a) {
    const first = a * this.told.bin;
    return [first, Math.min(this.told.bin, this.told.frame.length - first)];
  };

  /* The pair in the middle of every cell; on the diagonal, of mean lag. */
  Model.prototype.putCells = function () {
    const i = this.array("i", this.ncell), j = this.array("j", this.ncell), last = this.told.frame.length - 1;
    for (let a = 0, k = 0; a < this.n; a++) {
      const x = this.block(a), middle = x[0] + ((x[1] - 1) >> 1);
      for (let b = a; b < this.n; b++, k++) {
        const y = this.block(b);
        i[k] = middle;
        j[k] = a === b ? Math.min(last, middle + Math.round((x[1] + 1) / 3)) : y[0] + ((y[1] - 1) >> 1);
      }
    }
  };

  Model.prototype.count = function (a, b) {
    const x = this.block(a)[1], y = this.block(b)[1];
    return a === b ? x * (x - 1) / 2 : x * y;
  };

  Model.prototype.putData = function () {
    const sigma = this.told.sigma, self = this;
    this.sigma = this.groups.map(function (g, k) { return sigma[k] > 0 ? sigma[k] : 1; });
    this.groups.forEach(function (g, k) {
      const y = self.array("data", self.ncell, k * self.ncell), w = self.array("weight", self.ncell, k * self.ncell);
      for (let a = 0, c = 0; a < self.n; a++)
        for (let b = a; b < self.n; b++, c++) {
          const there = Number.isFinite(g.c2[c]);
          y[c] = there ? g.c2[c] : 0;
          w[c] = there ? self.count(a, b) / (self.sigma[k] * self.sigma[k]) : 0;
        }
    });
    this.points = this.groups.reduce(function (sum, g) {
      return sum + g.c2.reduce(function (m, v) { return m + Number.isFinite(v); }, 0);
    }, 0);
  };

  /* Whether this is the model of the page: its fit again, to the rounding of the page. */
  Model.prototype.agrees = function () {
    let good = true;
    for (let k = 0; k < this.groups.length && good; k++) {
      const g = this.groups[k];
      this.exports.live_group(k, scalings.constant);
      const mean = this.array("mean", this.ncell);
      for (let c = 0; c < this.ncell; c++)
        if (Number.isFinite(g.fit[c]) && !(Math.abs(mean[c] - g.fit[c]) <= 3 * g.quantum + 1e-6)) good = false;
    }
    return good;
  };

  /* Before any fit: starts of the configuration, else of the model; contrast and offset are free inside their bounds. */
  Model.prototype.begin = function () {
    const t = this.told, e = this.exports, self = this;
    t.theta = t.parameters.slice(0, this.nparam).map(function (p, k) {
      return p.start === null ? Math.min(Math.max(e.live_number(5, k), p.lower), p.upper) : p.start;
    });
    t.linear = new Array(this.groups.length * this.nlinear).fill(0);
    t.linear_bounds = ["lower", "upper"].reduce(function (all, end) {
      return all.concat(t.parameters.slice(self.nparam, self.nparam + self.nlinear).map(function (p) { return p[end]; }));
    }, []);
  };

  Model.prototype.open = function () {
    const t = this.told, e = this.exports, self = this;
    if (e.live_open(this.groups.length, t.time.length, t.frame.length, this.ncell, t.step[0]) !== 0) return false;
    if (!t.theta) this.begin();
    ["setting", "coord", "time", "frame", "theta"].forEach(function (name) { if (t[name]) self.put(name, t[name]); });
    if (this.nlinear) {
      this.put("lin", t.linear);
      for (let q = 0; q < this.nlinear; q++) this.put("bound", [t.linear_bounds[q], t.linear_bounds[this.nlinear + q]], 2 * q);
    }
    if (t.theta.length !== this.nparam || !t.theta.every(Number.isFinite) || t.parameters.length < this.nparam) return false;
    this.parameters = t.theta.map(function (value, k) {
      const p = t.parameters[k];
      return { name: p.name, unit: text(e, word.unit, k), doc: text(e, word.doc, k), value: value, fit: value,
        lower: p.lower, upper: p.upper, std: p.std, fixed: p.fixed };
    });
    for (let k = 0; k < this.nparam; k++) if (text(e, word.name, k) !== this.parameters[k].name) return false;
    this.linear = Array.from({ length: this.nlinear }, function (_, q) { return text(e, word.name, self.nparam + q); });
    this.putCells();
    this.putData();
    if (e.live_prepare() !== 0) return false;
    if (!this.groups[0].fit) {
      this.set(t.theta);
      this.fitChi2 = NaN;
      return true;
    }
    if (t.bin > 1)
      this.groups.forEach(function (g, k) {
        self.put("mean", g.fit);
        e.live_reference(k);
      });
    if (!this.agrees()) return false;
    this.fitChi2 = this.chi2();
    return true;
  };

  /* Parameters in the order of the model. false: the model has no values there; all stays as it was. */
  Model.prototype.set = function (theta) {
    const before = this.parameters.map(function (p) { return p.value; });
    this.put("theta", theta);
    if (this.exports.live_prepare() !== 0) {
      this.put("theta", before);
      this.exports.live_prepare();
      return false;
    }
    this.parameters.forEach(function (p, k) { p.value = theta[k]; });
    this.exports.live_eliminate(this.scaling);
    this.version++;
    return true;
  };

  /* {mean: upper triangle, chi2, lin} of a group at the parameters as they are. */
  Model.prototype.of = function (k) {
    const s = this.seen[k];
    if (s.version !== this.version) {
      this.exports.live_group(k, this.scaling);
      if (!s.mean) s.mean = new Float64Array(this.ncell);
      s.mean.set(this.array("mean", this.ncell));
      s.chi2 = this.array("chi2", 1, k)[0];
      s.lin = Array.from(this.array("lin", this.nlinear, k * this.nlinear));
      s.version = this.version;
    }
    return s;
  };

  Model.prototype.chi2 = function () {
    let sum = 0;
    for (let k = 0; k < this.groups.length; k++) sum += this.of(k).chi2;
    return sum / this.points;
  };

  /* The mean at pairs [i, j] of frames, with the linear parameters as they are. */
  Model.prototype.at = function (k, pairs) {
    const room = this.ncell, out = [];
    this.of(k);
    const i = this.array("i", room), j = this.array("j", room), old = [i.slice(), j.slice()];
    for (let first = 0; first < pairs.length; first += room) {
      const some = pairs.slice(first, first + room);
      some.forEach(function (p, c) {
        i[c] = p[0];
        j[c] = p[1];
      });
      this.exports.live_points(k, some.length);
      out.push.apply(out, this.array("mean", some.length));
    }
    i.set(old[0]);
    j.set(old[1]);
    return out;
  };

  /* The correlation function at the age of the cells a + b = s: [lag in s, mean], frame by frame. */
  Model.prototype.cut = function (k, s) {
    const bin = this.told.bin, last = this.told.frame.length - 1, time = this.told.time, frame = this.told.frame;
    const sum = Math.min(Math.round((s + 1) * bin) - 1, 2 * last), pairs = [];
    for (let lag = 1; lag <= last; lag++) {
      const i = Math.floor((sum - lag) / 2), j = i + lag;
      if (i < 0 || j > last) break;
      if (lag < 64 || lag % (1 + (lag >> 7)) === 0) pairs.push([i, j]);
    }
    const mean = this.at(k, pairs);
    return pairs.map(function (p, c) { return [time[frame[p[1]]] - time[frame[p[0]]], mean[c]]; });
  };

  return function (told, n, groups) {
    if (!told || typeof WebAssembly !== "object") return Promise.resolve(null);
    return WebAssembly.instantiate(bytes(told.wasm), {}).then(function (made) {
      const m = new Model(made.instance.exports, told, n, groups);
      return m.open() ? m : null;
    }).catch(function () { return null; });
  };
})();
