import { expect, test } from "bun:test";
import { editedFile, listedFolder, viewedFile, writtenFile } from "./shown-file.ts";

const place = { relative: "src/a.md" } as Parameters<typeof writtenFile>[0];
const bytes = (text: string) => new TextEncoder().encode(text);
const long = "word ".repeat(100);

test("one file is the same thing to every command, whatever path it was called by", () => {
  const shown = [
    viewedFile("/home/src/a.md", place, { text: long, whole: bytes(long) }),
    viewedFile("src/a.md", place, { text: long, range: [1, 2] }),
    writtenFile(place, long),
    editedFile("./src/a.md", place),
  ];
  expect(shown.map(({ of }) => of)).toEqual(Array(4).fill("file src/a.md"));
  expect(listedFolder("src", { ...place, relative: "src" }, "a.md").of).toBe("folder src");
});

test("what was viewed whole and what was written are the same while they read the same", () => {
  const { whole } = viewedFile("a", place, { text: long, whole: bytes("ä\n") });
  expect(whole).toMatch(/^[0-9a-f]{64}$/);
  expect(writtenFile(place, "ä\n").whole).toBe(whole as string);
  expect(writtenFile(place, "ä").whole).not.toBe(whole as string);
  const part = viewedFile("a", place, { text: long, range: [2, 5] });
  expect([part.whole, part.again, editedFile("a", place).whole]).toEqual([undefined, undefined, undefined]);
});

test("what stands in for a view that is out of date names the file and its lines as they were asked for", () => {
  const later = "a later view or create has all of it";
  expect(viewedFile("./a.md", place, { text: "" }).brief).toBe(`[./a.md as it was then; ${later}.]`);
  const part = viewedFile("./a.md", place, { text: "", range: [2, 5] });
  expect(part.brief).toBe(`[./a.md (lines 2 to 5) as it was then; ${later}.]`);
  expect(editedFile("./a.md", place).brief).toBe(
    `The file ./a.md has been edited. [The lines are left out; ${later}.]`,
  );
  expect(listedFolder("./src", place, "").brief).toBe("[What was in ./src then; a later view lists it.]");
});

test.each([
  ["", 0, 0],
  ["one", 1, 3],
  ["one\n", 1, 4],
  ["one\ntwo", 2, 7],
  ["ä\n\n", 2, 4],
])("a view of %j refers to the earlier one with its lines and bytes", (content, lines, size) => {
  const { again } = viewedFile("a.md", place, { text: long, whole: bytes(content) });
  expect(again).toBe(
    `a.md reads word for word as when it was written or shown whole above: ${lines} ${lines === 1 ? "line" : "lines"}, ${size} bytes. view_range [1, -1] shows it again.`,
  );
});

test("a text that is shorter than twice the reference to it is shown again", () => {
  const { again = "" } = viewedFile("a.md", place, { text: long, whole: bytes("one") });
  for (const [length, refers] of [
    [again.length * 2, true],
    [again.length * 2 - 1, false],
  ] as const)
    expect(viewedFile("a.md", place, { text: "x".repeat(length), whole: bytes("one") }).again !== undefined).toBe(
      refers,
    );
});
