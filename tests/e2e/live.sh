#!/bin/sh
# The scripts of a page in a browser: a map is enlarged by a click, read under the pointer and by keys, its correlation
# function drawn; tables become CSV and LaTeX, figures SVG: live.sh BINDIR Needs Chromium; else it is skipped.
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
h=$bin/homodyne browser=
for name in chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || browser=$(command -v $name) || browser=
done
[ -n "$browser" ] || { echo "SKIPPED: no Chromium"; exit 77; }
# Chromium's helpers may outlive it and write into the profile while it is removed; the verdict of the test is above
# both.
trap 'pkill -KILL -f "$dir/profile" || true; chmod -R u+rwx "$dir" || true; rm -rf "$dir" || true' EXIT

# c2 = 1 + 0.3 exp(-q^2 D0 tau): known everywhere
"$h" simulate --model static_isotropic -o data.h5 --frames 60 --dt 0.1 --q 0.005 --phi 0 --contrast 0.3 --offset 1 \
    --noise 1e-5 \
    --seed 1 --set D0=20000 --set alpha=0 --set D_offset=0 --quiet --config-out my.yaml
expect 0 "$h" fit my.yaml --fix alpha=0 --fix D_offset=0 -o result --quiet
expect 0 "$h" report result -o page.html --quiet

sed '/<\/body>/d; /<\/html>/d' page.html >driven.html
cat >>driven.html <<'END'
<script>
//<![CDATA[
const told = [];
window.addEventListener("error", function (e) { told.push("ERROR " + e.message); });
console.error = function (m) { told.push("ERROR " + m); };
function tell(name, x) { told.push(name + "=" + String(x).replace(/\s+/g, " ").replace(/\u2212/g, "-")); }
try {
  document.querySelector("#maps image").dispatchEvent(new MouseEvent("click", { bubbles: true }));
  const square = document.querySelector(".live .square"), r = square.getBoundingClientRect(), n = 60;
  function point(i, j) {
    square.dispatchEvent(new PointerEvent("pointermove", { pointerType: "mouse", bubbles: true,
      clientX: r.left + (i + 0.5) / n * r.width, clientY: r.bottom - (j + 0.5) / n * r.height }));
  }
  tell("open", document.querySelector("dialog.live").open);
  point(10, 14);
  tell("four", document.querySelector(".live .read").textContent);
  point(30, 20);
  tell("mirrored", document.querySelector(".live .read").textContent);
  square.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp", shiftKey: true, bubbles: true }));
  tell("keys", document.querySelector(".live .read").textContent);
  const cut = document.querySelector(".live .side > canvas");
  const ink = new Set(cut.getContext("2d").getImageData(0, 0, cut.width, cut.height).data);
  tell("drawn", ink.size > 8);
  const map = document.querySelector(".live .square canvas"), p = map.getContext("2d").getImageData(0, 0, n, n).data;
  tell("bright", p[4 * ((n - 1 - 21) * n + 20)] + p[4 * ((n - 1 - 21) * n + 20) + 1] > p[4 * 5] + p[4 * 5 + 1]);
  let copied = "";
  document.execCommand = function () { copied = document.activeElement.value || copied; return true; };
  Object.defineProperty(window, "isSecureContext", { value: false });
  document.querySelector("dialog.live").close();
  const buttons = Array.from(document.querySelectorAll("#parameters .tools button, .tools button"));
  buttons.find(function (b) { return b.textContent === "CSV"; }).click();
  tell("csv", copied);
  buttons.find(function (b) { return b.textContent === "LaTeX"; }).click();
  tell("latex", copied);
  const save = URL.createObjectURL;
  URL.createObjectURL = function (blob) { tell("saved", blob.type + " " + (blob.size > 2000)); return save(blob); };
  buttons.find(function (b) { return b.textContent === "SVG"; }).click();
} catch (e) {
  told.push("ERROR " + e.message);
}
const pre = document.createElement("pre");
pre.id = "told";
pre.textContent = "\n" + told.join("\n") + "\n";
document.body.appendChild(pre);
//]]>
</script>
</body>
</html>
END
export HOME="$dir" XDG_CONFIG_HOME="$dir/c" XDG_CACHE_HOME="$dir/c"
tries=0 # now and then Chromium does not come up
until timeout -k 2 12 "$browser" \
    --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --window-size=1280,900 \
    --user-data-dir="$dir/profile$tries" --dump-dom "file://$dir/driven.html" >dom.html 2>browser.log; do
    tries=$((tries + 1))
    [ $tries -lt 4 ] || { echo "SKIPPED: $browser does not run: $(tail -2 browser.log)"; exit 77; }
done
sed -n '/<pre id="told">/,/<\/pre>/p' dom.html >told
[ -s told ] || fail "the script did not end: $(tail -3 browser.log)"
hasnot told ERROR
has told "open=true"
has told "drawn=true"
has told "bright=true"
has told "saved=image/svg+xml true"
value() { # value LINE QUANTITY: the number behind it
    sed -nE "s/^$1=.*$2 (-?[0-9.]+).*/\1/p" told
}
near() { # near WHAT GOT WANTED
    awk -v a="$2" -v b="$3" 'BEGIN { exit !(a != "" && (a - b) ^ 2 < 1e-8) }' || fail "$1: $2, not $3"
}
model() { # model LAG
    awk -v k="$1" 'BEGIN { print 1 + 0.3 * exp(-(0.005 ^ 2) * 20000 * 0.1 * k) }'
}
near "c2 at (10, 14)" "$(value four c₂)" "$(model 4)"
near "fit at (10, 14)" "$(value four fit)" "$(model 4)"
near "c2 at (30, 20)" "$(value mirrored c₂)" "$(model 10)"
near "t1" "$(value mirrored t₁)" 3
near "t2 after ten steps upwards" "$(value keys t₂)" 3
has told "c₂ – fit – (data - fit)/σ –" # nothing is measured on the diagonal
has told "csv=,value,std. error"
has told '\begin{tabular}'
has told '\bottomrule'
finish
