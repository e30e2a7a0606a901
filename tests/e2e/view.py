"""The part of view.sh that drives the browser: view.py view|data|table|watch FOLDER URL"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from browser import check, drive, picture  # noqa: E402

part, folder, url = sys.argv[1:]
PAGE = "window.homodyneView"
SAID = "document.getElementById('said').textContent"


def begin(b, rows):
    b.size(1280, 900)
    b.open(url)
    b.wait(f"document.querySelectorAll('.live .row').length === {rows} && {SAID} === ''")


def drag_frames(b):
    """The window's left end to frame 11, a mask over 41 to about 50; then the mask is put right by keys."""
    x, y, w, h = b.box("#strip")
    b.drag((x + 1, y + h / 2), (x + w * 0.105, y + h / 2))
    b.drag((x + w * 0.405, y + h / 2), (x + w * 0.495, y + h / 2))
    choice = b.value(PAGE + ".choice")
    check(choice["frames"] == [11, 100], f"the end of the window was dragged to {choice['frames']}")
    check(choice["mask"] == [[41, 50]], f"frames were dragged over: {choice['mask']}")
    b.drag((x + w * 0.45, y + h / 2), (x + w * 0.45, y + h / 2), 1)
    check(b.value(PAGE + ".choice.mask.length") == 0, "a click on a mask takes it away")
    b.value("document.getElementById('mask').focus()")
    b.type("41:45")
    b.key("Tab")
    check(b.value(PAGE + ".choice.mask") == [[41, 45]], "a mask that is typed")


def view(b):
    begin(b, 7)
    picture(b, "view", top=True)
    drag_frames(b)
    x, y, w, h = b.box("#wheel [data-key=phi1]")
    b.drag((x + w / 2, y + h / 2), (x + w / 2, y + h / 2), 1)
    check(b.value(PAGE + ".choice.phi") == [0, 90], "a sector is left out by a click")
    b.click("#load")
    b.wait(f"{SAID} === '' && {PAGE}.maps.live.groups.length === 2")
    b.wait("document.querySelectorAll('.live .row').length === 7")
    check(b.value(PAGE + ".maps.live.model.frame.length") == 85, "frames of the data that are shown")
    # a start, a bound and a held parameter, by slider and by keys; then from there
    x, y, w, h = b.box("#live-D0")
    b.drag((x + w / 2, y + h / 2), (x + w * 0.7, y + h / 2))
    b.value("document.querySelector('[aria-label=\"phi0 held\"]').focus()")
    b.key(" ")
    b.value("document.getElementById('live-phi0').nextElementSibling.focus(); document.activeElement.select()")
    b.type("5")
    b.key("Tab")
    b.wait(PAGE + ".maps.model().parameters[6].value === 5")
    b.value("document.querySelector('.live .ends').open = true")
    x, y, w, h = b.box("[aria-label='D0, upper bound']")
    b.drag((x + w - 8, y + h / 2), (x + 8 + 0.5 * (w - 16), y + h / 2))
    bound = b.value(PAGE + ".maps.model().parameters[0].upper")
    check(40000 < bound < 60000, f"the upper bound of D0 was dragged to {bound}")
    check(not b.overlap(), f"controls lie over one another: {b.overlap()}")
    b.click("#fit")
    b.wait("document.getElementById('progress').textContent.startsWith('fit-1:')")
    b.wait("document.querySelector('#results tr.shown') && document.querySelector('#results "
           "tr.shown').textContent.includes('fit-1')")
    check(b.value("document.getElementById('progress').textContent") == "fit-1: converged", "the fit from here")
    b.wait("document.querySelectorAll('.live .row').length === 7")
    choice = b.value(PAGE + ".choice")
    check(choice == {"q": None, "phi": [0, 90], "frames": [11, 100], "mask": [[41, 45]]},
          f"the data of the fit: {choice}")
    chi2 = b.value(PAGE + ".maps.model().chi2()")
    check(0.9 < chi2 < 1.1, f"chi2 of the fit from here: {chi2}")
    held = b.value(PAGE + ".maps.model().parameters[6]")
    check(held["value"] == 5 and held["fixed"], f"phi0 was held: {held}")
    # beside the result from which it began
    b.click("#results tbody tr:first-child input")
    b.wait(f"{SAID} === '' && document.querySelector('.live .keys').textContent.includes('result')")
    picture(b, "beside", top=True)
    b.value("document.getElementById('name').select()")
    b.value("document.getElementById('name').focus()")
    b.type("mine")
    b.key("Tab")
    b.key("Enter")
    b.wait(SAID + ".startsWith('written: ')")
    report = b.value("fetch(document.querySelector('#results a').href).then(r => r.text()).then(t => t.includes('<h1') "
                     "&& t.length)")
    check(report and report > 100000, "the report of a result")
    phone(b)


def phone(b):
    b.size(390, 844, dark=True, touch=True)
    check(b.overflow() <= 0, f"{b.overflow()} px wider than 390 px")
    check(not b.overlap(), f"on 390 px controls lie over one another: {b.overlap()}")
    picture(b, "phone-view", top=True)
    x, y, w, h = b.box(".live .square")
    b.tap(x + 0.3 * w, y + 0.2 * h)
    b.wait("document.querySelector('.live .read').textContent.includes('age')")


def data(b):
    begin(b, 3)
    check(b.value("document.getElementById('fit').disabled") is False, "data alone can be fitted")
    b.click("#fit")
    b.wait("document.getElementById('progress').textContent === 'fit-1: converged'")
    picture(b, "data", top=True)
    # another model, with its gap; then the fit is its fit
    b.wait("!document.getElementById('choose').hidden")
    check(not b.value("Array.from(document.querySelectorAll('#model option'), o => o.value).includes('kww')"),
          "tables are no choice here")
    b.value("document.getElementById('gap').value = 200")
    choose(b, "laminar")
    b.wait(f"{SAID} === '' && document.querySelectorAll('.live .row').length === 7")
    b.click("#fit")
    b.wait("document.getElementById('progress').textContent === 'fit-2: converged'")
    check(b.value("document.getElementById('model').value") == "laminar", "the model of the fit")


def table(b):
    """Rows, a start by slider, a fit, another model, the result beside it."""
    begin(b, 2)
    b.wait("!document.getElementById('choose').hidden")
    x, y, w, h = b.box("#live-tau")
    b.drag((x + w / 2, y + h / 2), (x + w * 0.6, y + h / 2))
    b.click("#fit")
    b.wait("document.getElementById('progress').textContent === 'fit-1: converged' && document.querySelector('#results "
           "tr.shown') && document.querySelectorAll('.live .row').length === 2")
    chi2 = b.value(PAGE + ".maps.model().chi2()")
    check(0.7 < chi2 < 1.4, f"chi2 of the fit of a table: {chi2}")
    choose(b, "double_exponential")
    b.wait(f"{SAID} === '' && document.querySelectorAll('.live .row').length > 2")
    b.click("#results tbody tr:first-child input")
    b.wait(f"{SAID} === '' && document.querySelector('.live .keys').textContent.includes('fit-1')")
    picture(b, "view-table", top=True)
    b.size(390, 844, dark=True)
    check(b.overflow() <= 0, f"table: {b.overflow()} px wider than 390 px")


def choose(b, model):
    b.value(
        "(function () { const m = document.getElementById('model'); "
        f"m.value = '{model}'; m.dispatchEvent(new Event('change')); }})()")


def watch(b):
    b.size(1280, 900)
    b.open(url)
    b.wait("document.querySelectorAll('#history figure').length === 8 && document.querySelector('.live .square') !== "
           "null")
    check("converged" in b.value("document.querySelector('#history .verdict').textContent"), "the verdict")
    os.utime(os.path.join(folder, "grow.h5"))  # it has grown
    b.wait("document.querySelector('#history .verdict').textContent.startsWith('2 fits')")
    b.wait("document.querySelectorAll('#history figure:first-child .dot').length === 2")
    picture(b, "watch", top=True)
    b.size(390, 844, dark=True)
    check(b.overflow() <= 0, f"watch: {b.overflow()} px wider than 390 px")
    picture(b, "phone-watch", top=True)


drive(folder, {"view": view, "data": data, "table": table, "watch": watch}[part])
