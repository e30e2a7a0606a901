"""The part of live_model.sh that drives the browser: live_model.py FOLDER LIVE_POINTS"""

import math
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from browser import check, drive, picture  # noqa: E402

folder, points = sys.argv[1:]
MODEL = "document.querySelector('dialog.live').homodyne"
COST = "document.querySelector('.live .cost').textContent"


def begin(b, page, width=1280, height=900, **more):
    b.size(width, height, **more)
    b.open(f"file://{folder}/{page}")
    b.click("#maps image")
    b.wait("document.querySelector('dialog.live').open")


def slider(b, name, part):
    """Drags the knob of a slider to a part of its length."""
    x, y, w, h = b.box(f"[id='live-{name}']")
    at = b.value(f"Number(document.getElementById('live-{name}').value) / 1000")
    knob = 8
    b.drag((x + knob + at * (w - 2 * knob), y + h / 2), (x + knob + part * (w - 2 * knob), y + h / 2))
    b.value("new Promise(function (f) { requestAnimationFrame(function () { requestAnimationFrame(f); }); })")


def frames(b, name):
    """Milliseconds of nine frames: the map, the curve, the model, as a slider moves by keys; sorted."""
    b.value(f"document.getElementById('live-{name}').focus()")
    spent = []
    for _ in range(9):
        b.key("ArrowRight")
        b.value("new Promise(function (f) { requestAnimationFrame(function () { requestAnimationFrame(f); }); })")
        spent.append(b.value(MODEL + ".box.frameTime"))
    return sorted(spent)


def compare(b, dt, frames, groups, theta=MODEL + ".model.parameters.map(p => p.value)"):
    """Values of the page beside those of the kernel of this machine."""
    state = b.value(f"""(function () {{
        const m = {MODEL}.model, pairs = [], out = [];
        for (let k = 0; k < 300; k++) pairs.push([(k * 37) % {frames}, (k * 101 + 3) % {frames}]);
        for (let g = 0; g < {groups}; g++) out.push(m.at(g, pairs).map(String));
        return {{ theta: {theta}.map(String), pairs: pairs, values: out,
                  lin: m.groups.map(function (_, g) {{ return m.of(g).lin.map(String); }}),
                  phi: m.told.coord.map(String), setting: m.told.setting.map(String) }};
    }})()""")
    words = [str(dt)] + state["setting"] + [str(frames), str(groups)] + state["phi"] + state["theta"]
    words += [x for lin in state["lin"] for x in lin] + [str(groups * len(state["pairs"]))]
    words += [f"{g} {i} {j}" for g in range(groups) for i, j in state["pairs"]]
    told = subprocess.run([points, "laminar"], input="\n".join(words), capture_output=True, text=True,
                          check=True).stdout.split()
    mine = [float(x) for values in state["values"] for x in values]
    worst = max(abs(a - float(t)) / abs(float(t)) for a, t in zip(mine, told))
    check(len(mine) == len(told) and worst <= 1e-12, f"values of the page differ by {worst:.1e} from the native ones")
    return worst


def desktop(b):
    begin(b, "page.html")
    b.wait("document.querySelectorAll('.live .row').length === 7")
    check(b.value(COST) and b.value(COST).count("1.0") or "0.99" in b.value(COST), "chi2 of the fit: " + b.value(COST))
    at_fit = compare(b, 0.1, 256, 3)
    before = b.value(MODEL + ".model.chi2()")
    slider(b, "D0", 0.8)
    moved = b.value(MODEL + ".model.parameters[0].value / " + MODEL + ".model.parameters[0].fit")
    check(moved > 1.1, f"a slider that was dragged moved D0 by a factor {moved}")
    after = compare(b, 0.1, 256, 3)
    check(b.value(MODEL + ".model.chi2()") > before * 1.05, "chi2 does not grow away from the fit")
    b.wait(f"!{COST}.startsWith('χ²/N of all maps 1.000')")
    spent = b.value(f"""(function () {{ const m = {MODEL}, times = [];
        for (let k = 0; k < 9; k++) {{ const t = performance.now();
          m.model.set(m.model.parameters.map(function (p) {{ return p.value; }})); m.model.of(0);
          times.push(performance.now() - t); }}
        return times.sort(function (a, b) {{ return a - b; }})[4]; }})()""")
    print(f"values within {max(at_fit, after):.1e}; 256 x 256: model {spent:.1f} ms")
    b.click(".live button[data-mode=split]")
    picture(b, "split")
    # a drag across the map: the age follows, and with it the correlation function
    x, y, w, h = b.box(".live .square")
    b.drag((x + 0.25 * w, y + 0.75 * h), (x + 0.6 * w, y + 0.3 * h))
    check(abs(b.value(MODEL + ".state.i") - 153) <= 2 and abs(b.value(MODEL + ".state.j") - 179) <= 2,
          "the mark is where the drag ended")
    read = b.value("document.querySelector('.live .read').textContent").replace("\u00a0", " ")
    check("age 16.6" in read or "age 16.5" in read, "the age under the pointer: " + read)
    slider(b, "D0", 0.6)
    spent = frames(b, "D0")
    print(f"a frame of 256 x 256, map and curve: {spent[0]:.1f} to {spent[-1]:.1f} ms, median {spent[4]:.1f}")
    # by keys alone: a number, a slider, the next map, the end
    b.value("document.getElementById('live-alpha').focus()")
    alpha = b.value(MODEL + ".model.parameters[1].value")
    b.key("ArrowRight", 5)
    b.wait(f"{MODEL}.model.parameters[1].value > {alpha}")
    b.key("Tab")
    b.value("document.activeElement.select()")
    b.type("-0.25")
    b.key("Enter")
    b.key("Tab")
    b.wait(f"{MODEL}.model.parameters[1].value === -0.25")
    b.click(".live .sliders button")
    b.wait(f"Math.abs({MODEL}.model.chi2() - {before}) < 1e-12")
    for option in ("normalised", "all maps at this age"):
        b.value(f"Array.from(document.querySelectorAll('.live label')).find(l => "
                f"l.textContent.includes('{option}')).querySelector('input').click()")
    picture(b, "all")
    b.value("window.saved = []; URL.createObjectURL = function (x) { saved.push(x.type + ' ' + x.size); return "
            "'data:,'; }; 0")
    b.value("Array.from(document.querySelectorAll('.live button')).find(x => x.textContent === 'PNG').click()")
    b.wait("saved.length === 1 && saved[0].startsWith('image/png') && Number(saved[0].split(' ')[1]) > 10000")
    b.key("Escape")
    b.wait("!document.querySelector('dialog.live').open")


def phone(b):
    begin(b, "page.html", 390, 844, dark=True, touch=True)
    b.wait("document.querySelectorAll('.live .row').length === 7")
    check(b.overflow() <= 0, f"the page is {b.overflow()} px wider than 390 px")
    check(b.value("(function () { const d = document.querySelector('dialog.live'); return d.scrollWidth <= "
                  "d.clientWidth; })()"),
          "the dialog is wider than its window")
    x, y, w, h = b.box(".live .square")
    b.tap(x + 0.5 * w, y + 0.25 * h)
    b.wait(MODEL + ".state.j > 180")
    x, y, w, h = b.box("#live-D0")
    b.tap(x + 0.9 * w, y + h / 2)
    b.wait(MODEL + ".model.version > 0")
    picture(b, "phone")


def other_pages(b):
    begin(b, "static.html")
    time.sleep(0.3)
    check(b.value("document.querySelectorAll('.live .row').length") == 0, "sliders without a kernel")
    begin(b, "big.html")
    b.wait("document.querySelectorAll('.live .row').length === 7")
    # means over blocks: chi2 of the cells, too, is about 1
    cost = b.value(MODEL + ".model.chi2()")
    check(0.8 < cost < 1.2, f"chi2 of blocks of pairs at the fit is {cost}")
    compare(b, 0.1, 1000, 23)
    b.click(".live button[data-mode=residual]")
    x, y, w, h = b.box(".live .square")
    b.drag((x + 0.4 * w, y + 0.6 * h), (x + 0.45 * w, y + 0.5 * h))
    slider(b, "D0", 0.7)
    spent = frames(b, "D0")
    print(f"23 x 1000: {spent[0]:.1f} to {spent[-1]:.1f} ms, median {spent[4]:.1f}")
    picture(b, "big")


def open_table(b, page):
    b.size(1280, 900)
    b.open(f"file://{folder}/{page}")
    b.click("#data .tools button")
    b.wait("document.querySelectorAll('.live .row').length >= 2")


def tables(b):
    """Rows and the curve between them follow the sliders; the values are those of the formula."""
    open_table(b, "kww.html")
    slider(b, "tau", 0.8)
    t = b.value(f"""(function () {{ const m = {MODEL}.model;
        const live = JSON.parse(document.getElementById('live').textContent);
        return {{ p: m.parameters.map(p => p.value), was: m.parameters.map(p => p.fit),
                  lin: m.of(0).lin, chi2: m.chi2(), fit: m.fitChi2,
                  x: live.columns.delay, rows: live.value.map((_, k) => m.atRow(k)),
                  fx: live.fine_x, between: live.fine_x.map((_, k) => m.atPlace(k)) }}; }})()""")
    tau, beta = t["p"]
    contrast, baseline = t["lin"]
    check(tau > 1.2 * t["was"][0] and t["chi2"] > t["fit"], f"the slider moved tau from {t['was'][0]} to {tau}")
    worst = max(abs(v / (baseline + contrast * math.exp(-2 * (x / tau) ** beta)) - 1)
                for x, v in list(zip(t["x"], t["rows"])) + list(zip(t["fx"], t["between"])))
    check(worst < 1e-12, f"values of the table's page differ by {worst:.1e} from the formula")
    b.value("document.querySelector('.live canvas').focus()")
    b.key("ArrowRight")
    check("fit" in b.value("document.querySelector('.live .read').textContent"), "the arrow keys do not read the rows")
    picture(b, "table")
    b.key("Escape")
    b.wait("!document.querySelector('dialog.live').open")
    open_table(b, "rings.html")
    b.key("PageDown")
    b.wait(MODEL + ".state.group === 1")
    cost = b.value(MODEL + ".model.chi2()")
    slider(b, "D", 0.7)
    check(b.value(MODEL + ".model.chi2()") > 1.01 * cost, "chi2 of five curves does not grow away from the fit")
    picture(b, "rings")


def ties(b):
    """D_offset = 0.01 D0: it has no slider, and follows."""
    begin(b, "tied.html")
    b.wait("document.querySelectorAll('.live .row').length === 6")
    slider(b, "D0", 0.8)
    theta = b.value(MODEL + ".model.thetaOf(0)")
    check(abs(theta[2] - 0.01 * theta[0]) < 1e-12 * theta[0], f"D_offset {theta[2]} does not follow D0 {theta[0]}")
    compare(b, 0.1, 256, 3, MODEL + ".model.thetaOf(0)")
    begin(b, "before.html")  # a configuration, before any fit
    b.wait("document.querySelectorAll('.live .row').length === 6")
    chi2 = b.value(MODEL + ".model.chi2()")
    slider(b, "D0", 0.3)
    theta = b.value(MODEL + ".model.thetaOf(0)")
    check(abs(theta[2] - 0.01 * theta[0]) < 1e-12 * theta[0],
          f"before a fit D_offset {theta[2]} does not follow D0 {theta[0]}")
    check(b.value(MODEL + ".model.chi2()") != chi2, "before a fit the sliders move nothing")
    compare(b, 0.1, 256, 3, MODEL + ".model.thetaOf(0)")
    begin(b, "two.html")
    b.wait("document.querySelectorAll('.live .row').length === 8")
    first = b.value(f"Array.from({MODEL}.model.of(3).mean.slice(0, 50))")
    slider(b, "D0[1]", 0.7)
    check(b.value(f"Array.from({MODEL}.model.of(3).mean.slice(0, 50))") == first, "a parameter of file 1 moves file 2")


drive(folder, desktop, phone, other_pages, tables, ties)
