"""The part of pages.sh that drives the browser: pages.py FOLDER"""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from browser import check, drive, picture  # noqa: E402

folder = sys.argv[1]
NUMBER = re.compile(r"-?[0-9.]+(e-?[0-9]+)?")


def look(b, page):
    """Wide and narrow, light and dark."""
    for width in (1280, 390):
        for dark in (False, True):
            how = f"{page}, {width} px, {'dark' if dark else 'light'}"
            b.errors.clear()
            b.size(width, 900, dark=dark, touch=width < 500)
            b.open(f"file://{folder}/{page}")
            check(not b.errors, f"{how}: {b.errors}")
            check(b.overflow() <= 0, f"{how}: {b.overflow()} px wider than the window")
            check(not b.overlap(), f"{how}: {b.overlap()}")
            check(not b.clashes(), f"{how}: {b.clashes()}")
            picture(b, f"{page}-{width}-{dark}", top=True)


def tools(b, page, tables):
    """Each table and figure has its buttons; what they copy are numbers that programs read."""
    b.size(1280, 900)
    b.open(f"file://{folder}/{page}")
    count = b.value("[document.querySelectorAll('section figure').length, "
                    "Array.from(document.querySelectorAll('figure .tools button')).filter(b => b.textContent === "
                    "'SVG').length]")
    check(count[0] == count[1] > 0, f"{page}: {count[0]} figures, {count[1]} with tools")
    texts = b.value("""(function () {
        const out = [];
        Object.defineProperty(window, 'isSecureContext', { value: false });
        document.execCommand = function () { out.push(document.activeElement.value); return true; };
        document.querySelectorAll('.tools button').forEach(function (x) { if (x.textContent === 'CSV') x.click(); });
        return out;
    })()""")
    check(len(texts) >= tables, f"{page}: {len(texts)} tables can be copied, not {tables}")
    for text in texts:
        words = [w for line in text.split("\n")[1:] for w in re.split(r"[, ]", line)]
        bad = [w for w in words if re.search("[0-9]", w)
               and re.search("[\u2212\u00d7\u2070\u00b9\u00b2\u00b3\u2074-\u2079]", w)
               and not re.search("[A-Za-z\u00c5]", w)]
        check(not bad, f"{page}: no numbers for programs: {bad[:3]}")
        check(any(NUMBER.fullmatch(w) for w in words), f"{page}: a table without numbers: {text[:80]}")


def focus(b, condition, most=80):
    """Tab until what has the focus is wanted."""
    for _ in range(most):
        b.key("Tab")
        if b.value(f"(function (e) {{ return {condition}; }})(document.activeElement)"):
            return True
    return False


def keys(b):
    """By the keyboard alone: a map is enlarged, read, its model moved, and left again."""
    b.size(1280, 900)
    b.open(f"file://{folder}/fit.html")
    check(focus(b, "e.textContent === 'enlarge'"), "no way to a map by Tab")
    check(b.value("getComputedStyle(document.activeElement.parentNode).opacity") != "0",
          "the button with the focus is not seen")
    b.key("Enter")
    b.wait("document.querySelector('dialog.live').open")
    before = b.value("document.querySelector('.live .read').textContent")
    b.key("ArrowRight")
    check(b.value("document.querySelector('.live .read').textContent") != before, "arrow keys do not move the mark")
    if b.value("document.getElementById('live').textContent.includes('\"wasm\"')"):
        b.wait("document.querySelectorAll('.live .row').length === 3")
        check(focus(b, "e.id === 'live-D0'"), "no way to a slider by Tab")
        b.key("ArrowRight", 3)
        b.wait("document.querySelector('dialog.live').homodyne.model.version > 0")
    b.key("Escape")
    b.wait("!document.querySelector('dialog.live').open")
    check(b.value("document.activeElement.textContent") == "enlarge", "the focus does not come back")


def pages(b):
    for page in ("data.html", "fit.html", "table.html", "series.html", "compare.html"):
        look(b, page)
    tools(b, "fit.html", 2)
    tools(b, "table.html", 1)
    tools(b, "series.html", 1)
    tools(b, "compare.html", 1)
    # the contents stay at the side while the page moves
    b.size(1280, 900)
    b.open(f"file://{folder}/compare.html")
    b.value("window.scrollTo(0, 600)")
    check(b.value("document.querySelector('nav').getBoundingClientRect().top") >= 0, "the contents go with the page")
    check(b.value("Array.from(document.querySelectorAll('nav a')).every(a => "
                  "document.querySelector(a.getAttribute('href')))"),
          "a line of the contents leads nowhere")


drive(folder, pages, keys)
