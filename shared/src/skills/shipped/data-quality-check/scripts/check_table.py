"""Checks a CSV table: python3 check_table.py FILE.csv [--key A,B] [--delimiter ';'] [--all]"""
import argparse
import collections
import csv
import datetime
import math
import re
import statistics
import sys

GAPS = {"", "-", "?", "n/a", "na", "nan", "null", "none"}
DATES = ["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"]
# How many lines of a finding are named; --all names them all.
SHOWN = 8
NUMBER = re.compile(r"^[+-]?(\d+([.,]\d+)?|\d{1,3}([.,' ]\d{3})+([.,]\d+)?)(\s?%)?$")


def kind_of(value):
    if value.strip().lower() in GAPS:
        return "gap"
    if NUMBER.match(value.strip()):
        return "number"
    for form in DATES:
        try:
            datetime.datetime.strptime(value.strip(), form)
            return "date"
        except ValueError:
            pass
    return "text"


def number_of(value):
    plain = value.strip().rstrip("% ").replace("'", "").replace(" ", "")
    if re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", plain):
        plain = plain.replace(",", "")
    elif re.fullmatch(r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?", plain) and ("," in plain or plain.count(".") > 1):
        plain = plain.replace(".", "").replace(",", ".")
    else:
        plain = plain.replace(",", ".")
    try:
        return float(plain)
    except ValueError:
        return math.nan


def lines(rows):
    shown = ", ".join(str(row) for row in rows[:SHOWN])
    return shown + (f" and {len(rows) - SHOWN} more (--all names them)" if len(rows) > SHOWN else "")


def check_column(name, values):
    """Prints a line about the column and yields what is odd in it."""
    kinds = collections.Counter(kind_of(value) for _, value in values)
    gaps = [line for line, value in values if kind_of(value) == "gap"]
    filled = [(line, value) for line, value in values if kind_of(value) != "gap"]
    main = max((kind for kind in kinds if kind != "gap"), key=lambda kind: kinds[kind], default="empty")
    about = f"{name}: {main}, {len(gaps)} gaps, {len({value for _, value in filled})} distinct"
    numbers = [(line, number_of(value)) for line, value in filled if kind_of(value) == "number"]
    numbers = [(line, number) for line, number in numbers if not math.isnan(number)]
    if main == "number" and numbers:
        about += f", {min(n for _, n in numbers):g} to {max(n for _, n in numbers):g}"
    print(about)
    if main == "empty":
        yield f"{name} is empty."
        return
    if gaps:
        yield f"{name} has {len(gaps)} gaps ({len(gaps) / len(values):.1%}): lines {lines(gaps)}"
    strange = [line for line, value in filled if kind_of(value) != main]
    if strange and main != "text":
        yield f"{name} is mostly {main}, but not in {len(strange)} rows: lines {lines(strange)}"
    padded = [line for line, value in filled if value != value.strip()]
    if padded:
        yield f"{name} has blanks around values: lines {lines(padded)}"
    if main == "text":
        spelled = collections.defaultdict(lambda: collections.defaultdict(list))
        for line, value in filled:
            spelled[value.strip().casefold()][value.strip()].append(line)
        several = [forms for forms in spelled.values() if len(forms) > 1]
        for forms in several[: SHOWN + 2]:
            told = "; ".join(f"{form} (lines {lines(found)})" for form, found in sorted(forms.items()))
            yield f"{name} spells one value in several ways: {told}"
        if len(several) > SHOWN + 2:
            yield f"{name} has {len(several) - SHOWN - 2} more such values (--all names them)"
    if main == "date":
        forms = collections.defaultdict(list)
        for line, value in filled:
            if kind_of(value) == "date":
                forms[re.sub(r"\d", "9", value.strip())].append(line)
        if len(forms) > 1:
            told = "; ".join(f"{form} (lines {lines(found)})" for form, found in forms.items())
            yield f"{name} mixes forms of dates: {told}"
    if main == "number" and len(numbers) >= 8:
        low, _, high = statistics.quantiles([number for _, number in numbers], n=4)
        reach = 3 * (high - low)
        far = [line for line, number in numbers if reach > 0 and not low - reach <= number <= high + reach]
        if far:
            yield f"{name} has {len(far)} values far from the others (3 interquartile ranges): lines {lines(far)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--key", default="")
    parser.add_argument("--delimiter")
    parser.add_argument("--all", action="store_true", help="name every line")
    asked = parser.parse_args()
    if asked.all:
        global SHOWN
        SHOWN = sys.maxsize
    with open(asked.file, encoding="utf-8-sig", errors="replace", newline="") as file:
        sample = file.read(65536)
        file.seek(0)
        try:
            delimiter = asked.delimiter or csv.Sniffer().sniff(sample, ",;\t|").delimiter
        except csv.Error:
            delimiter = ","
        reader = csv.reader(file, delimiter=delimiter)
        header = next(reader, [])
        rows = [(reader.line_num, row) for row in reader]
    odd = []
    print(f"{len(rows)} rows, {len(header)} columns, separated by {delimiter!r}")
    if len(set(header)) < len(header) or "" in header:
        odd.append("Names of columns are missing or twice.")
    uneven = [line for line, row in rows if len(row) != len(header)]
    if uneven:
        odd.append(f"{len(uneven)} rows have another number of columns: lines {lines(uneven)}")
    for at, name in enumerate(header):
        odd += check_column(name or f"column {at + 1}", [(line, row[at]) for line, row in rows if at < len(row)])
    keys = [name for name in asked.key.split(",") if name]
    for name in keys:
        if name not in header:
            odd.append(f"There is no column {name} for the key.")
    places = [header.index(name) for name in keys if name in header] or range(len(header))
    seen = collections.defaultdict(list)
    for line, row in rows:
        seen[tuple(row[at] if at < len(row) else "" for at in places)].append(line)
    twice = [line for found in seen.values() for line in found[1:]]
    if twice:
        odd.append(f"{len(twice)} rows are there before{' by their key' if keys else ''}: lines {lines(twice)}")
    print()
    for one in odd:
        print("-", one)
    print(f"{len(odd)} findings." if odd else "Nothing odd.")


main()
