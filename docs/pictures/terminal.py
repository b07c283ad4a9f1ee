#!/usr/bin/env python3
"""A picture of what a terminal shows: terminal.py COMMAND <TEXT >PICTURE.svg. Knows the colours that readperf uses."""
import html
import re
import sys

LETTER, LINE, EDGE = 7.82, 18, 16
CLASSES = {"1": "bold", "2": "dim", "31": "red", "32": "green", "33": "yellow"}
STYLE = """
svg{background:#1b1e24;border-radius:8px}
text{font:13px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:#d7dae0;white-space:pre}
.bold{font-weight:700}.dim{fill:#8b93a1}.red{fill:#ff7b72}.green{fill:#7ee787}.yellow{fill:#e3b341}.prompt{fill:#79c0ff}
"""


def spans(line):
    classes, out = [], ""
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        escape = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if escape:
            codes = [code for code in escape[1].split(";") if code]
            classes = [] if codes in ([], ["0"]) else classes + [CLASSES[code] for code in codes if code != "0"]
        elif part:
            text = html.escape(part, quote=False)
            out += f'<tspan class="{" ".join(classes)}">{text}</tspan>' if classes else text
    return out


text = sys.stdin.read().rstrip("\n").split("\n")
plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in text]
prompt = "$ " + sys.argv[1]
width = 2 * EDGE + LETTER * max(map(len, plain + [prompt]))
print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{2 * EDGE + LINE * (len(text) + 1)}" role="img">')
print(f"<title>{html.escape(prompt)}</title>\n<style>{STYLE}</style>")
lines = [f'<tspan class="prompt">{html.escape(prompt)}</tspan>'] + [spans(line) for line in text]
for nr, line in enumerate(lines, 1):
    print(f'<text x="{EDGE}" y="{EDGE + LINE * nr - 5}" xml:space="preserve">{line}</text>')
print("</svg>")
