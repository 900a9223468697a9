#!/usr/bin/env python3
"""Opens a page in headless Chromium and prints measurements of the result: browse.py CHROMIUM PAGE WIDTH

The page itself has no script; a copy of the page has a script that measures it.
"""

import html
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

MEASURE = """<script>
let refused = 0;
addEventListener('securitypolicyviolation', () => { refused += 1; });
addEventListener('load', () => {
const outside = [];
for (const svg of document.querySelectorAll('svg')) {
  const box = svg.getBoundingClientRect();
  for (const drawn of svg.querySelectorAll('text, path, rect, line, circle')) {
    const its = drawn.getBoundingClientRect();
    if (its.width + its.height > 0 && (its.left < box.left - 2 || its.right > box.right + 2
        || its.top < box.top - 2 || its.bottom > box.bottom + 2)) outside.push(drawn.outerHTML.slice(0, 120));
  }
}
document.title = 'measured ' + JSON.stringify({
  scripts: document.scripts.length - 1,
  refused: refused,
  loaded: performance.getEntriesByType('resource').length,
  drawings: document.querySelectorAll('svg').length,
  empty: [...document.querySelectorAll('svg')].filter(svg => svg.getBoundingClientRect().height < 10).length,
  wider: document.documentElement.scrollWidth > document.documentElement.clientWidth,
  headings: [...document.querySelectorAll('h1, h2, summary')].map(heading => heading.textContent.trim()),
  outside: outside,
});
});
</script>"""


def main():
    chromium, page, width = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "page.html"
        # The script is inserted before the page's own security policy, which would block it.
        text = Path(page).read_text(encoding="utf8").replace("<head>", "<head>" + MEASURE, 1)
        copy.write_text(text, encoding="utf8")
        command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        command += [f"--user-data-dir={folder}/profile", f"--window-size={width},900"]
        command += ["--virtual-time-budget=2000", "--dump-dom", f"file://{copy}"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r"<title>measured (\{.*?\})</title>", run.stdout, flags=re.S)
    if not found:
        sys.exit(f"no measurement in {run.stdout[:400]}\n{run.stderr[-400:]}")
    print(json.dumps(json.loads(html.unescape(found[1])), indent=1))


if __name__ == "__main__":
    main()
