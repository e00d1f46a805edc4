"""Checks a report in Markdown before it becomes a document: python3 check_report.py report.md"""
import os
import re
import sys

PARTS = {"summary": r"summary|overview|zusammenfassung|resumen|résumé|摘要",
         "limits": r"limit|caveat|grenzen|einschränk|límit|局限",
         "sources": r"source|reference|quelle|fuente|来源"}


def faults_in(text, folder):
    without_code = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.S | re.M)
    headings = [(len(m[1]), m[2].strip()) for m in re.finditer(r"^(#{1,6})\s+(.+)$", without_code, re.M)]
    if not headings or headings[0][0] != 1:
        yield "It does not begin with a title (# ...)."
    for (before, _), (level, name) in zip(headings, headings[1:]):
        if level > before + 1:
            yield f"The heading {name!r} skips a level."
    names = " / ".join(name for _, name in headings).lower()
    for part, words in PARTS.items():
        if not re.search(words, names):
            yield f"No heading for the {part}."
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r"\b(TODO|TBD|XXX|lorem ipsum)\b|\[(insert|your|add)\b|\?\?\?", line, re.I):
            yield f"Line {number} has a placeholder: {line.strip()[:80]}"
    for path in re.findall(r"!\[[^\]]*\]\(([^)\s]+)", without_code):
        if not os.path.isfile(os.path.join(folder, path)):
            yield f"The picture {path} is not there."
    for block in re.findall(r"^```vega-lite\n(.*?)^```", text, re.S | re.M):
        if '"values"' not in block:
            yield "A chart has no data.values."


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        faults = list(faults_in(file.read(), os.path.dirname(sys.argv[1])))
    for fault in faults:
        print("-", fault)
    print(f"{len(faults)} to fix." if faults else "Nothing to fix.")
    sys.exit(1 if faults else 0)


main()
