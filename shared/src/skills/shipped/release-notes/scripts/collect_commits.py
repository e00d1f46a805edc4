"""Lists a repository's commits by kind: python3 collect_commits.py REPO [FROM] [TO]"""
import collections
import re
import subprocess
import sys

KINDS = {"feat": "Features", "fix": "Fixes", "perf": "Performance"}
ORDER = ["Breaking", "Features", "Fixes", "Performance", "Other"]


def git(repository, *words):
    done = subprocess.run(["git", "-C", repository, *words], capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        sys.exit(f"git {words[0]}: {done.stderr.strip()}")
    return done.stdout


def ref(name):
    if name.startswith("-"):
        sys.exit(f"{name} is not the name of a commit.")
    return name


def main():
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    repository = sys.argv[1]
    start = ref(sys.argv[2]) if len(sys.argv) > 2 else ""
    end = ref(sys.argv[3]) if len(sys.argv) > 3 else "HEAD"
    span = f"{start}..{end}" if start else end
    log = git(repository, "log", "--no-merges", "-n", "2000", "--format=%x1e%h%x1f%s%x1f%b%x1f", "--name-only", span)
    kinds = collections.defaultdict(list)
    for record in log.split("\x1e")[1:]:
        short, title, body, files = record.split("\x1f", 3)
        match = re.match(r"(\w+)(\([^)]*\))?(!)?:\s*", title)
        breaking = (match and match[3]) or re.search(r"^BREAKING[ -]CHANGE", body, re.M)
        kind = "Breaking" if breaking else KINDS.get(match[1].lower() if match else "", "Other")
        touched = [line for line in files.splitlines() if line]
        shown = ", ".join(touched[:4]) + (f" and {len(touched) - 4} more" if len(touched) > 4 else "")
        kinds[kind].append(f"- {short} {title}  [{shown}]")
    for kind in ORDER:
        if kinds[kind]:
            print(f"{kind} ({len(kinds[kind])})", *kinds[kind], "", sep="\n")
    print(f"{sum(map(len, kinds.values()))} commits in {span}.")


main()
