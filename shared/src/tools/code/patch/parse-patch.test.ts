import { expect, test } from "bun:test";
import { parsePatch } from "./parse-patch.ts";

/** Each file of a patch as `kind path`, followed by its hunks' lines. */
function read(...lines: readonly string[]) {
  try {
    return parsePatch(lines.join("\n")).map(({ kind, path, hunks }) =>
      [`${kind} ${path}`, ...hunks.map((hunk) => hunk.lines.map(({ op, text }) => op + text).join("|"))].join(" "),
    );
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
}
const hunk = ["@@ -1,2 +1,2 @@", " a", "-b", "+c"];

test.each<[string, readonly string[], readonly string[]]>([
  ["an update", ["--- a/x.ts", "+++ b/x.ts", ...hunk], ["update x.ts  a|-b|+c"]],
  [
    "names without a and b, with time stamps",
    ["--- x y.ts\t2026", "+++ x y.ts\t2026", ...hunk],
    ["update x y.ts  a|-b|+c"],
  ],
  ["names in quotes and blanks", ['--- "a/x y.ts" ', '+++ "b/x y.ts" ', ...hunk], ["update x y.ts  a|-b|+c"]],
  ["a folder called a", ["--- a/a/x.ts", "+++ b/a/x.ts", ...hunk], ["update a/x.ts  a|-b|+c"]],
  [
    "lines that begin like names",
    ["--- a/x.sql", "+++ b/x.sql", "@@ -1,3 +1,3 @@", " a", "--- old", "+++ new", " z"],
    ["update x.sql  a|--- old|+++ new| z"],
  ],
  ["a new file", ["--- /dev/null", "+++ b/x.ts", "@@ -0,0 +1 @@", "+n"], ["create x.ts +n"]],
  ["a removed file", ["--- a/x.ts", "+++ /dev/null", "@@ -1 +0,0 @@", "-n"], ["delete x.ts -n"]],
  ["an empty new file", ["diff --git a/x b/x", "new file mode 100644", "index 0..e"], ["create x"]],
  ["an empty removed file", ["diff --git a/x b/x", "deleted file mode 100644", "index e..0"], ["delete x"]],
  [
    "git's header before names",
    ["diff --git a/x b/x", "index 1..2 100644", "--- a/x", "+++ b/x", ...hunk],
    ["update x  a|-b|+c"],
  ],
  [
    "two files and words between them",
    [
      "Some words",
      "--- a/x",
      "+++ b/x",
      ...hunk,
      "diff --git a/y b/y",
      "new file mode 100644",
      "--- /dev/null",
      "+++ b/y",
      "@@ -0,0 +1 @@",
      "+n",
    ],
    ["update x  a|-b|+c", "create y +n"],
  ],
  [
    "a removed line that looks like a name",
    ["--- a/x", "+++ b/x", "@@ -1,2 +1 @@", "--- old", " a"],
    ["update x --- old| a"],
  ],
  [
    "an empty line as one that is kept",
    ["--- a/x", "+++ b/x", "@@ -1,2 +1,2 @@", " a", "", "+c"],
    ["update x  a| |+c"],
  ],
  ["blank lines after the last hunk", ["--- a/x", "+++ b/x", ...hunk, "", ""], ["update x  a|-b|+c"]],
  [
    "words before it that speak of what is refused",
    [
      "We rename from a to b.",
      "See: Binary files a and b differ, as a GIT binary patch.",
      "--- a/x",
      "+++ b/x",
      ...hunk,
    ],
    ["update x  a|-b|+c"],
  ],
  [
    "lines that only contain the marks of a patch",
    [
      ...["--- a/x", "+++ b/x", "@@ -1,3 +1,4 @@", " diff --git a/y b/y", "-a \\n", "+```", "+ @@ -1 +1 @@"],
      ...["+-- ", " <<<<<<< SEARCH"],
    ],
    ["update x  diff --git a/y b/y|-a \\n|+```|+ @@ -1 +1 @@|+-- | <<<<<<< SEARCH"],
  ],
  ["a folder called a within another", ["--- src/a/x", "+++ src/a/x", ...hunk], ["update src/a/x  a|-b|+c"]],
  ["a name with quotes in it", ['--- a/x "y"', '+++ b/x "y"', ...hunk], ['update x "y"  a|-b|+c']],
  [
    "a blank line at the end that is counted, and one that is not",
    ["--- a/x", "+++ b/x", "@@ -1,3 +1,3 @@", " a", "-b", "+c", "", ""],
    ["update x  a|-b|+c| "],
  ],
  ["a count that is left out", ["--- a/x", "+++ b/x", "@@ -1 +1 @@", "-b", "+c", ""], ["update x -b|+c"]],
  ["a mail's signature", ["--- a/x", "+++ b/x", ...hunk, "-- ", "2.40"], ["update x  a|-b|+c"]],
])("%s is read", (_, lines, files) => {
  expect(read(...lines)).toEqual(files as string[]);
});

test.each([
  ["a rename", ["rename from a"], "not renamed or copied"],
  ["a copy", ["copy to a"], "not renamed or copied"],
  ["git's binary patch", ["GIT binary patch"], "Binary files cannot be patched"],
  ["a binary difference", ["Binary files a/x and b/x differ"], "Binary files cannot be patched"],
  ["other permissions", ["diff --git a/x b/x", "old mode 100644", "new mode 100755"], "Permissions (of x)"],
  ["names without a hunk", ["--- a/x", "+++ b/x", "text"], "Line 3: a hunk (@@ … @@) must follow the names."],
  ["a broken hunk", ["--- a/x", "+++ b/x", "@@ one @@"], 'Line 3: "@@ one @@" is not a hunk header.'],
  ["another beginning of a line", ["--- a/x", "+++ b/x", "@@ -1 +1 @@", "*a"], "Line 4: a line of a hunk begins"],
  ["a lone name", ["--- a/x", "text"], "There is no patch in this"],
  ["the other lone name", ["text", "+++ b/x"], "There is no patch in this"],
  ["an open search block", ["x", "<<<<<<< SEARCH", "a"], 'The search block at line 2 has no line "======="'],
  ["a search block without a replacement", ["x", "<<<<<<< SEARCH", "a", "=======", "b"], ">>>>>>> REPLACE"],
  ["a search block without a name", ["<<<<<<< SEARCH", "a", "=======", "b", ">>>>>>> REPLACE"], "must name the file"],
] as const)("%s is refused with the reason", (_, lines, reason) => {
  expect(read(...lines)).toContain(reason);
});

test("a search block has its name before it, or that of the block before", () => {
  const block = ["<<<<<<< SEARCH", "a", "=======", "b", ">>>>>>> REPLACE"];
  expect(read("**`x.ts`**:", "```ts", ...block, "```", ...block)).toEqual(["update x.ts -a|+b", "update x.ts -a|+b"]);
  expect(read("# x.ts", "", ...block, "y.ts", ...block)).toEqual(["update x.ts -a|+b", "update y.ts -a|+b"]);
  expect(read("n.ts", "<<<<<<< SEARCH", "  ", "=======", "new", ">>>>>>> REPLACE")).toEqual(["create n.ts +new"]);
});

test.each([
  [["-b", "\\ No newline at end of file", "+c"], { bareBefore: true, bareAfter: false }],
  [["-b", "+c", "\\ No newline at end of file"], { bareBefore: false, bareAfter: true }],
  [["-b", "+c", " d", "\\ No newline at end of file"], { bareBefore: true, bareAfter: true }],
  [["-b", "+c"], undefined],
])("what a patch says about the file's last line is kept: %#", (body, lastLine) => {
  const [file] = parsePatch(["--- a/x", "+++ b/x", "@@ -7,2 +7,2 @@ function f() {", ...body].join("\n"));
  expect(file?.hunks[0]?.lastLine).toEqual(lastLine as { bareBefore: boolean; bareAfter: boolean });
  expect(file?.hunks[0]?.line).toBe(7);
});
