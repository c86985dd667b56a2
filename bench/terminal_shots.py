"""Screenshots of terminals for the documentation.

`.venv/bin/python bench/terminal_shots.py FOLDER [OUT]` draws each `NAME.ansi` of FOLDER, as `tmux capture-pane -e -p`
gives it, as OUT/NAME.png (docs/screenshots). Needs Chromium.
"""

import io
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
THEME = TerminalTheme(
    (24, 27, 33), (216, 220, 228),
    [(62, 68, 81), (224, 108, 117), (124, 190, 110), (229, 192, 123), (97, 160, 232), (198, 120, 221), (86, 182, 194),
     (216, 220, 228)],
    [(92, 99, 112), (235, 120, 128), (140, 205, 125), (240, 205, 140), (120, 175, 240), (210, 140, 230),
     (110, 200, 210), (250, 250, 252)],
)  # fmt: skip
PAGE = """<!doctype html><meta charset="utf-8"><style>{stylesheet}
body {{ margin: 0; background: #181b21; }}
pre {{ display: inline-block; margin: 0; padding: 20px 24px; color: #d8dce4; background: #181b21;
  font: 14px/1.45 "DejaVu Sans Mono", monospace; }}</style><pre>{code}</pre>"""


def html(captured: str) -> str:
    """A page with the terminal's text in its colours."""
    lines = captured.rstrip().splitlines()
    console = Console(record=True, file=io.StringIO(), width=200, color_system="truecolor", force_terminal=True)
    console.print(Text.from_ansi("\n".join(lines)), no_wrap=True, overflow="ignore", crop=False)
    return console.export_html(theme=THEME, code_format=PAGE, inline_styles=False)


def main() -> None:
    """Draw them all."""
    folder, out = Path(sys.argv[1]), Path(sys.argv[2] if sys.argv[2:] else "docs/screenshots")
    out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        for captured in sorted(folder.glob("*.ansi")):
            tab = browser.new_page(viewport={"width": 1400, "height": 900}, device_scale_factor=1.5)
            tab.set_content(html(captured.read_text()))
            tab.locator("pre").screenshot(path=out / f"{captured.stem}.png")
            tab.close()
            print(out / f"{captured.stem}.png")
        browser.close()


if __name__ == "__main__":
    main()
