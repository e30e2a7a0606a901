/* live_model.js -- the model of a fit in its page: the emitted kernel as WebAssembly (report/kernel/live_kernel.c).
   homodyneModel(told, n, groups) gives a promise of an object, or of null where the page has no kernel, the browser
   runs none, or the kernel does not give the fit that the page shows: then the page stays as it was.

   told: the member "model" of the page's data; n: cells on a side of the maps; groups: for each {c2, fit}, upper
   triangles row by row with NaN where nothing is measured, and {quantum}, the rounding of both.

   homodyneModel.table(live) gives the same of a table (page_live_rows.c): its cells are the rows and places between
   them.

   Where parameters are tied or shared in parts, what is moved are the unknowns x of the fit, and theta of group g is
   T_g x + s_g; each group is then prepared before it is looked at. */
const homodyneModel = (function () {
  "use strict";

  /* As in live_kernel.h. */
  const part = { setting: 0, coord: 1, time: 2, frame: 3, theta: 4, lin: 5, bound: 6, i: 7, j: 8, data: 9, weight: 10,
    shift: 11, basis: 12, mean: 13, chi2: 14, column: 15, count: 16 };
  const word = { name: 3, unit: 4, doc: 5, setting: 6, axis: 7, column: 8 };
  const number = { over: 6, columns: 7, states: 8, table: 9, law: 10 };
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

  /* groups: as told of maps; ncell: cells of each. */
  function Model(exports, told, groups, ncell) {
    this.exports = exports;
    this.told = told;
    this.groups = groups;
    this.ncell = ncell;
    this.nparam = exports.live_number(0, 0);
    this.nlinear = exports.live_number(1, 0);
    this.scaling = told.scaling in scalings ? scalings[told.scaling] : 0;
    this.fitted = Boolean(told.theta);
    this.version = 0;
    this.ready = "";
    this.seen = groups.map(function () { return { version: -1 }; });
  }

  /* Memory may grow, so views are made when they are needed. */
  Model.prototype.array = function (name, count, at) {
    const Kind = ["frame", "i", "j", "count"].includes(name) ? Uint32Array : Float64Array;
    return new Kind(this.exports.memory.buffer, this.exports.live_at(part[name]) + (at || 0) * Kind.BYTES_PER_ELEMENT,
      count);
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

  /* Which groups have the same theta and settings. */
  Model.prototype.classify = function () {
    const t = this.told, p = this.nparam;
    let own = 0; /* settings of each group, of several files */
    while (text(this.exports, word.setting, own)) own++;
    if (!t.setting || t.setting.length === own) own = 0;
    this.tied = Boolean(t.unknown);
    const width = this.tied ? t.unknown.length : 0, key = function (g) {
      return JSON.stringify([t.tie_factor.slice(g * p * width, (g + 1) * p * width),
        t.tie_constant.slice(g * p, (g + 1) * p),
        own ? t.setting.slice(g * own, (g + 1) * own) : 0, t.file ? t.file[g] : 0]);
    };
    this.own = own;
    this.kind = this.groups.map(function (_, g) { return g; });
    if (!this.tied) return;
    const keys = this.groups.map(function (_, g) { return key(g); });
    this.kind = keys.map(function (k) { return keys.indexOf(k); });
  };

  Model.prototype.thetaOf = function (g) {
    const t = this.told, p = this.nparam, x = this.x, n = x.length;
    return Array.from({ length: p }, function (_, k) {
      let sum = t.tie_constant[g * p + k];
      for (let e = 0; e < n; e++) sum += t.tie_factor[(g * p + k) * n + e] * x[e];
      return sum;
    });
  };

  /* Times of the frames of group g: files may have their own, one after the other. */
  Model.prototype.timesOf = function (g) {
    const t = this.told, n = t.file ? t.time.length / t.step.length : 0;
    return t.file ? t.time.slice(t.file[g] * n, (t.file[g] + 1) * n) : t.time;
  };

  /* The kernel's tables are those of group g. false: the model has no values there. */
  Model.prototype.place = function (g) {
    if (!this.tied) return true;
    const key = this.version + ":" + this.kind[g];
    if (this.ready === key) return true;
    this.ready = "";
    if (this.own) this.put("setting", this.told.setting.slice(g * this.own, (g + 1) * this.own));
    if (this.told.file) {
      this.put("time", this.timesOf(g));
      this.exports.live_step(this.told.step[this.told.file[g]]);
    }
    this.put("theta", this.thetaOf(g));
    if (this.exports.live_prepare() !== 0) return false;
    this.ready = key;
    return true;
  };

  /* Whether this is the model of the page: its fit again, to the rounding of the page. */
  Model.prototype.agrees = function () {
    let good = true;
    for (let k = 0; k < this.groups.length && good; k++) {
      const g = this.groups[k];
      if (!this.place(k)) return false;
      this.exports.live_group(k, scalings.constant);
      const mean = this.array("mean", this.ncell);
      for (let c = 0; c < this.ncell; c++)
        if (Number.isFinite(g.fit[c]) && !(Math.abs(mean[c] - g.fit[c]) <= 3 * g.quantum + 1e-6)) good = false;
    }
    return good;
  };

  /* Before any fit: starts of the configuration, else of the model; contrast and offset are free inside their
     bounds. */
  Model.prototype.begin = function () {
    const t = this.told, e = this.exports, self = this, n = t.unknown ? t.unknown.length : this.nparam;
    const starts = t.parameters.slice(0, n).map(function (p) {
      let k = 0;
      while (k < self.nparam && text(e, word.name, k) !== p.name) k++;
      return p.start === null ? Math.min(Math.max(e.live_number(5, k), p.lower), p.upper) : p.start;
    });
    if (t.unknown) {
      t.unknown = this.x = starts;
      t.theta = [].concat.apply([], this.groups.map(function (_, g) { return self.thetaOf(g); }));
    } else t.theta = starts;
    t.linear = new Array(this.groups.length * this.nlinear).fill(0);
    t.linear_bounds = ["lower", "upper"].reduce(function (all, end) {
      return all.concat(t.parameters.slice(n, n + self.nlinear).map(function (p) { return p[end]; }));
    }, []);
  };

  /* A parameter that is moved; of one group among others ("D0[45]") it is that of the model without the group. */
  Model.prototype.parameter = function (value, k) {
    const e = this.exports, p = this.told.parameters[k], plain = p.name.split("[")[0];
    let at = 0;
    while (at < this.nparam && text(e, word.name, at) !== plain) at++;
    return { name: p.name, symbol: p.symbol, unit: text(e, word.unit, at), doc: text(e, word.doc, at), value: value,
      fit: value, lower: p.lower, upper: p.upper, std: p.std, fixed: p.fixed, known: at < this.nparam };
  };

  /* Inside their bounds; what is held stays. */
  Model.prototype.putBounds = function () {
    const t = this.told, p = this.tied ? t.unknown.length : this.nparam;
    this.put("lin", t.linear);
    for (let q = 0; q < this.nlinear; q++) {
      const told = t.parameters[p + q], held = told && told.fixed && this.fitted;
      this.put("bound", held ? [t.linear[q], t.linear[q]] : [t.linear_bounds[q], t.linear_bounds[this.nlinear + q]],
        2 * q);
    }
  };

  Model.prototype.open = function () {
    const t = this.told, e = this.exports, self = this;
    if (e.live_open(this.groups.length, t.time ? this.timesOf(0).length : 0, t.frame ? t.frame.length : 0, this.ncell,
      t.step ? t.step[0] : 0) !== 0)
      return false;
    if (!t.theta) this.begin();
    this.classify();
    ["coord", "frame"].forEach(function (name) { if (t[name]) self.put(name, t[name]); });
    if (t.time) this.put("time", this.timesOf(0));
    if (t.setting && !this.own) this.put("setting", t.setting);
    if (this.nlinear) this.putBounds();
    const moved = this.tied ? t.unknown : t.theta;
    if (!t.theta.every(Number.isFinite) || t.theta.length !== (this.tied ? this.groups.length : 1) * this.nparam ||
        t.parameters.length < moved.length) return false;
    this.x = moved.slice();
    this.parameters = moved.map(this.parameter, this);
    if (!this.parameters.every(function (p, k) { return p.known && (self.tied || text(e, word.name, k) === p.name); }))
      return false;
    this.linear = Array.from({ length: this.nlinear }, function (_, q) { return text(e, word.name, self.nparam + q); });
    this.putCells();
    this.putData();
    if (!this.tied) this.put("theta", t.theta);
    if (!this.tied && e.live_prepare() !== 0) return false;
    if (!this.fitted) {
      this.fitChi2 = NaN;
      return this.set(this.x);
    }
    if (t.bin > 1)
      this.groups.forEach(function (g, k) {
        self.place(k);
        self.put("mean", g.fit);
        e.live_reference(k);
      });
    if (!this.agrees()) return false;
    this.fitChi2 = this.chi2();
    return true;
  };

  /* Parameters in the order of the model. false: the model has no values there; all stays as it was. */
  Model.prototype.set = function (theta) {
    const before = this.x;
    this.x = theta.slice();
    this.version++;
    if (!this.prepare(this.last || 0)) {
      this.x = before;
      this.version--;
      this.prepare(this.last || 0);
      return false;
    }
    this.parameters.forEach(function (p, k) { p.value = theta[k]; });
    if (this.scaling === scalings.averaged && this.nlinear) this.eliminate();
    return true;
  };

  Model.prototype.prepare = function (g) {
    if (this.tied) return this.place(g);
    this.put("theta", this.x);
    return this.exports.live_prepare() === 0;
  };

  /* Linear parameters that are those of all groups. */
  Model.prototype.eliminate = function () {
    const e = this.exports;
    e.live_sums_begin();
    for (let g = 0; g < this.groups.length; g++) if (this.place(g)) e.live_sums(g);
    e.live_sums_end();
  };

  /* {mean: upper triangle, chi2, lin} of a group at the parameters as they are. */
  Model.prototype.of = function (k) {
    const s = this.seen[k];
    if (s.version !== this.version) {
      const there = this.place(k);
      if (there) this.exports.live_group(k, this.scaling);
      if (!s.mean) s.mean = new Float64Array(this.ncell);
      if (there) s.mean.set(this.array("mean", this.ncell));
      else s.mean.fill(NaN);
      s.chi2 = there ? this.array("chi2", 1, k)[0] : NaN;
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
    this.place(k);
    this.last = k;
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
    const bin = this.told.bin, last = this.told.frame.length - 1, time = this.timesOf(k), frame = this.told.frame;
    const sum = Math.min(Math.round((s + 1) * bin) - 1, 2 * last), pairs = [];
    for (let lag = 1; lag <= last; lag++) {
      const i = Math.floor((sum - lag) / 2), j = i + lag;
      if (i < 0 || j > last) break;
      if (lag < 64 || lag % (1 + (lag >> 7)) === 0) pairs.push([i, j]);
    }
    const mean = this.at(k, pairs);
    return pairs.map(function (p, c) { return [time[frame[p[1]]] - time[frame[p[0]]], mean[c]]; });
  };

  /* ---- tables --------------------------------------------------------------------------------------------- */

  /* live: the page's data. Rows are told apart by the coordinates of the kernel's groups. */
  function Table(exports, live) {
    const told = live.model, axes = [];
    while (text(exports, word.axis, axes.length)) axes.push(text(exports, word.axis, axes.length));
    const n = axes.length ? told.coord.length / axes.length : 1, states = exports.live_number(number.states, 0) > 0;
    const cells = Array.from({ length: n }, function () { return []; }), group = function (of) {
      let g = 0;
      while (g < n && !axes.every(function (name, a) { return told.coord[a * n + g] === of(name); })) g++;
      return g;
    };
    let lost = false;
    this.where = [];
    for (let row = 0; row < live.rows; row++) {
      const g = group(function (name) { return live.columns[name] ? live.columns[name][row] : NaN; });
      if (g === n) lost = true;
      else this.where.push([g, cells[g].push({ row: row }) - 1]);
    }
    this.between = [];
    if (!states && !lost)
      live.fine_x.forEach(function (x, k) {
        const g = group(function () { return live.fine_curve[k]; });
        if (g === n) lost = true;
        else this.between.push([g, cells[g].push({ x: x, curve: live.fine_curve[k] }) - 1]);
      }, this);
    this.counts = cells.map(function (list) { return states ? list.length : 0; });
    Model.call(this, exports, told, cells,
      8 * Math.ceil(Math.max.apply(null, cells.map(function (c) { return c.length; })) / 8));
    this.live = live;
    this.lost = lost || cells.some(function (c) { return c.length === 0; });
    this.scale();
  }
  Table.prototype = Object.create(Model.prototype);

  /* Linear parameters: of every group, or of all. Some of each are not for pages. */
  Table.prototype.scale = function () {
    const own = Array.from({ length: this.nlinear },
      function (_, q) { return this.exports.live_number(number.over, this.nparam + q) >= 0; }, this);
    const all = this.groups.length === 1 || own.every(Boolean);
    this.scaling = all ? scalings.individual : scalings.averaged;
    if (!all && own.some(Boolean)) this.lost = true;
  };

  Table.prototype.putCells = function () {
    const e = this.exports, live = this.live, room = this.ncell, n = this.groups.length;
    for (let c = 0; c < e.live_number(number.columns, 0); c++) {
      const name = text(e, word.column, c), given = live.columns[name];
      this.groups.forEach(function (cells, g) {
        const to = this.array("column", room, (c * n + g) * room);
        for (let k = 0; k < room; k++) {
          const cell = cells[Math.min(k, cells.length - 1)];
          to[k] = cell.row !== undefined ? (given ? given[cell.row] : 0) : name === live.x ? cell.x : name === live.axis
            ? cell.curve : 0;
        }
      }, this);
    }
    this.put("count", this.counts);
  };

  Table.prototype.putData = function () {
    const live = this.live, law = this.exports.live_number(number.law, 0) > 0;
    this.points = 0;
    this.groups.forEach(function (cells, g) {
      const y = this.array("data", this.ncell, g * this.ncell), w = this.array("weight", this.ncell, g * this.ncell);
      cells.forEach(function (cell, k) {
        const v = live.value[cell.row], sigma = live.sigma[cell.row], there = cell.row !== undefined && v !== null &&
          (law || sigma > 0);
        y[k] = there ? v : 0;
        w[k] = there ? (law ? 1 : 1 / (sigma * sigma)) : 0;
        this.points += there;
      }, this);
    }, this);
    this.law = law;
  };

  /* The fit of the page is written with 24 bits. */
  Table.prototype.agrees = function () {
    const fit = this.live.fit, size = Math.max.apply(null, fit.map(function (v) { return Math.abs(v) || 0; }));
    let good = true;
    for (let g = 0; g < this.groups.length; g++) {
      if (!this.place(g)) return false;
      this.exports.live_group(g, scalings.constant);
      const mean = this.array("mean", this.ncell);
      this.groups[g].forEach(function (cell, k) {
        if (cell.row !== undefined && fit[cell.row] !== null && !(Math.abs(mean[k] - fit[cell.row]) <= 1e-6 * size))
          good = false;
      });
    }
    return good;
  };

  Table.prototype.cellAt = function (place) { return this.of(place[0]).mean[place[1]]; };
  Table.prototype.atRow = function (row) { return this.cellAt(this.where[row]); };
  Table.prototype.atPlace = function (k) { return this.cellAt(this.between[k]); };

  function load(told, make) {
    if (!told || typeof WebAssembly !== "object") return Promise.resolve(null);
    return WebAssembly.instantiate(bytes(told.wasm), {}).then(function (made) {
      const m = make(made.instance.exports);
      return m && !m.lost && m.open() ? m : null;
    }).catch(function () { return null; });
  }

  const maps = function (told, n, groups) {
    return load(told, function (exports) {
      const m = new Model(exports, told, groups, n * (n + 1) / 2);
      m.n = n;
      return m;
    });
  };
  maps.table = function (live) {
    return load(live.model,
      function (exports) { return exports.live_number(number.table, 0) ? new Table(exports, live) : null; });
  };
  return maps;
})();
