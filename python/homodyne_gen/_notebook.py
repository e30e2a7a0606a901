"""What notebooks and terminals show: tables in HTML, a line of progress."""
import html
import sys
import time


def table(title, head, rows, good=True):
    """An HTML table whose colours are those of the page around it."""
    def cells(kind, values):
        return "".join(f'<{kind} style="text-align:{"left" if k in (0, len(head) - 1) else "right"}">'
                       f"{html.escape(str(v))}</{kind}>" for k, v in enumerate(values))

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    mark = "" if good else " ⚠"
    return (f"<table><caption style='text-align:left'>{html.escape(title)}{mark}</caption>"
            f"<thead><tr>{cells('th', head)}</tr></thead><tbody>{body}</tbody></table>")


class Line:
    """One line, rewritten twice a second, that is gone at the end: in a terminal and below a cell of a notebook."""

    def __init__(self, stream):
        self.stream, self.last, self.shown = stream, time.monotonic(), 0

    def __call__(self, p):
        if p is None:
            if self.shown:
                print("\r" + " " * self.shown + "\r", end="", file=self.stream, flush=True)
            return 0
        now = time.monotonic()
        if now - self.last < 0.5:
            return 0
        self.last, text = now, self.text(p)
        print("\r" + text.ljust(self.shown), end="", file=self.stream, flush=True)
        self.shown = max(self.shown, len(text))
        return 0

    @staticmethod
    def text(p):
        phase = p.phase.decode()
        if not p.total:
            return f"{phase}: step {p.done:.0f}, chi2 {p.value:.6g}, {p.seconds:.0f} s" if p.done else f"{phase} ..."
        left = p.seconds * (p.total - p.done) / p.done if p.done else float("nan")
        return f"{phase}: {100 * p.done / p.total:.0f} %, {p.value:.0f} divergences, {left:.0f} s left"


def progress_line(progress):
    """A callback for `progress=`: None: a line where somebody sees it; False: nothing; True: a line; or a function of
    (phase, done, total, value, seconds), which ends the work by returning something true or by an exception."""
    if callable(progress):
        def call(p):
            return 0 if p is None else int(bool(progress(p.phase.decode(), p.done, p.total, p.value, p.seconds)))
        return call
    seen = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
    return Line(sys.stderr) if progress or (progress is None and seen) else None
