"""Runs the cells of a notebook one after the other, as a notebook would, without Jupyter: run_notebook.py NOTEBOOK.

What a cell ends with is shown as a notebook shows it (_repr_html_, else repr); a cell that fails ends the test with its
number.  Cells that need a module which is missing here are left out, with the reason.
"""
import ast
import json
import sys
import traceback

MAY_BE_MISSING = {"pandas": "to_dataframe", "matplotlib": ".plot()"}


def missing():
    out = {}
    for name, word in MAY_BE_MISSING.items():
        try:
            __import__(name)
        except ImportError:
            out[word] = name
    return out


def show(value):
    if value is None:
        return
    html = getattr(value, "_repr_html_", None)
    text = html() if html else repr(value)
    assert isinstance(text, str) and text, f"nothing to show of {type(value)}"


def run(source, number, names):
    tree = ast.parse(source, f"cell {number}")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, f"cell {number}", "exec"), names)
    if last is not None:
        show(eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names))


def main(path):
    try:
        import matplotlib
        matplotlib.use("Agg")
    except ImportError:
        pass
    with open(path, encoding="utf-8") as f:
        cells = [c for c in json.load(f)["cells"] if c["cell_type"] == "code"]
    names, absent, done = {"__name__": "__main__"}, missing(), 0
    for number, cell in enumerate(cells, 1):
        source = "".join(cell["source"])
        reason = next((module for word, module in absent.items() if word in source), None)
        if reason:
            print(f"cell {number}: left out, no {reason}")
            continue
        try:
            run(source, number, names)
        except Exception:
            traceback.print_exc()
            sys.exit(f"FAILED: cell {number} of {path}")
        done += 1
    print(f"{path}: {done} of {len(cells)} cells")
    if not done:
        sys.exit("FAILED: no cell was run")


main(sys.argv[1])
