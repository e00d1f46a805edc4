import { afterAll, beforeAll, beforeEach, expect, spyOn, test } from "bun:test";
import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { MoreTools } from "../core/agent.ts";
import { keptFile } from "../machine/workspace/own-files/kept-file.ts";
import { workspaceForTest } from "../testing/machine/workspace.ts";
import { contextForTest } from "../testing/tool-context.ts";
import { createSkillLibrary, type SkillLibrary } from "./skill-library.ts";
import { useSkillName, withSkills } from "./use-skill.ts";

let place: Awaited<ReturnType<typeof workspaceForTest>>;
beforeAll(async () => {
  place = await workspaceForTest();
});
afterAll(() => place[Symbol.asyncDispose]());

let home: string;
let library: SkillLibrary;
beforeEach(async () => {
  home = await mkdtemp(join(place.home, "home-"));
  library = libraryOf(home);
});

function libraryOf(home: string): SkillLibrary {
  return createSkillLibrary({
    home,
    project: join(home, "project"),
    shipped: join(home, "shipped"),
    pins: keptFile(join(home, "pins.json")),
  });
}

const text = (name: string, description = "Does it.", body = "Do it.") =>
  `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`;

async function write(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(home, path)), { recursive: true });
  await writeFile(join(home, path), content);
}

const nothingMore: MoreTools = {
  list: async () => ({ tools: [], missing: [] }),
  offer: (tools) => tools,
  mayHave: () => false,
  release: async () => undefined,
};

/** What an agent has of the library. */
async function toolOf(from: SkillLibrary, chosen: readonly string[] | "all" = "all", said = "Use a skill.") {
  const more = withSkills(nothingMore, from, chosen);
  const { tools } = await more.list("local", AbortSignal.timeout(60_000));
  return more.offer(tools, [], [said])[0];
}

async function use(from: SkillLibrary, name: string, chosen?: readonly string[]) {
  const tool = await toolOf(from, chosen);
  const result = await tool?.call({ name }, contextForTest(place.workspace));
  return { text: result?.text ?? "", isError: result?.isError ?? true };
}

const states = async () => Object.fromEntries((await library.list()).map(({ name, state }) => [name, state]));

test("a skill is used only as it was approved: new and changed ones wait", async () => {
  await write("shipped/ours/SKILL.md", text("ours"));
  await write("skills/mine/SKILL.md", text("mine", "Mine.", "First version."));
  await write("skills/mine/scripts/a.py", "print(1)");
  expect(await states()).toEqual({ ours: "shipped", mine: "new" });
  expect((await toolOf(library))?.description).not.toContain("mine");
  expect(await use(library, "mine")).toMatchObject({ isError: true });

  const hash = (await library.list()).find(({ name }) => name === "mine")?.skill?.hash ?? "";
  await write("skills/mine/scripts/a.py", "print(2)");
  await expect(library.approve("mine", hash)).rejects.toMatchObject({ code: "conflict" });
  await write("skills/mine/scripts/a.py", "print(1)");
  await library.approve("mine", hash);
  expect((await toolOf(library))?.description).toContain("- mine: Mine.");
  expect((await use(library, "mine")).text).toContain("First version.");

  for (const [path, content] of [
    ["skills/mine/scripts/a.py", "print(3)"],
    ["skills/mine/scripts/b.py", ""],
  ] as const) {
    await write(path, content);
    expect(await states()).toEqual({ ours: "shipped", mine: "changed" });
    const { text, isError } = await use(library, "mine");
    expect([isError, text]).toEqual([true, "The skill mine cannot be used: it changed after it was approved."]);
    await rm(join(home, "skills/mine/scripts"), { recursive: true });
    await write("skills/mine/scripts/a.py", "print(1)");
  }
  expect((await use(library, "mine")).isError).toBe(false);
});

test("an agent has the skills it was given, and no tool for them without any", async () => {
  expect(await toolOf(library)).toBeUndefined();
  await write("shipped/one/SKILL.md", text("one"));
  await write("shipped/two/SKILL.md", text("two"));
  const tool = await toolOf(library, ["two"]);
  expect([tool?.name, tool?.description.includes("- one"), tool?.description.includes("- two")]).toEqual([
    useSkillName,
    false,
    true,
  ]);
  expect((await use(library, "one", ["two"])).isError).toBe(true);
});

test("the shipped skills are in a prompt once the user's words call for one, those of a person always", async () => {
  await write("shipped/docx-report/SKILL.md", text("docx-report", "Writes a report with charts and tables."));
  for (const [said, isThere] of [
    ["Compare the kettles.", false],
    ["Say something about charts.", false],
    // Short words, and those of every task, call for nothing.
    ["Sort cups and charts.", false],
    ["Write a list with charts.", false],
    ["A REPORT WITH CHARTS.", true],
    ["I need charts and a table.", true],
    ["Summarise it as a docx report.", true],
    ["Which skills have you?", true],
  ] as const)
    expect([said, (await toolOf(library, "all", said)) !== undefined]).toEqual([said, isThere]);
  expect(await toolOf(library, ["docx-report"], "Compare the kettles.")).toBeDefined();
  await write("skills/mine/SKILL.md", text("mine"));
  const hash = (await library.list()).find(({ name }) => name === "mine")?.skill?.hash ?? "";
  await library.approve("mine", hash);
  expect((await toolOf(library, "all", "Compare the kettles."))?.description).toContain("mine");
});

test("the files of a skill are in the workspace as they were judged, with nothing beside them", async () => {
  await write("shipped/kit/SKILL.md", text("kit"));
  await write("shipped/kit/scripts/run.py", "import json");
  const there = join(place.workspace.root, ".manyhands/skills/kit");
  await mkdir(join(there, "scripts"), { recursive: true });
  await writeFile(join(there, "scripts/json.py"), "planted");
  await writeFile(join(there, "scripts/run.py"), "planted");
  expect((await use(library, "kit")).text).toContain(".manyhands/skills/kit/");
  expect(await readdir(join(there, "scripts"))).toEqual(["run.py"]);
  expect(await Bun.file(join(there, "scripts/run.py")).text()).toBe("import json");
});

test("a skill's files are handed to the tools' user once they are there, and nothing of the handing stays", async () => {
  await write("shipped/kit/SKILL.md", text("kit"));
  const { workspace } = place;
  const adopted: [string, number][] = [];
  const adopt = async (path: string) => {
    const { mode } = await stat(join(workspace.root, path));
    expect(await readdir(join(workspace.root, path))).toEqual(["SKILL.md"]);
    adopted.push([path, mode & 0o777]);
    await workspace.adopt(path);
  };
  const tool = await toolOf(library);
  for (const _ of [1, 2]) await tool?.call({ name: "kit" }, contextForTest({ ...workspace, adopt }));
  expect(adopted).toEqual([1, 2].map(() => [".manyhands/skills/kit", 0o700]));
  const failing = { ...workspace, adopt: () => Promise.reject(new Error("no such user")) };
  await Promise.resolve(tool?.call({ name: "kit" }, contextForTest(failing))).catch(() => undefined);
  expect(await readdir(join(workspace.metaRoot, "staging"))).toEqual([]);
  // What is there already is the same again, so a call that a crash cut off is made once more.
  expect(tool?.effect({ name: "kit" })).toBe("idempotent");
});

test("what is approved is in a prompt five seconds later, and the folders are not read for every turn", async () => {
  await write("shipped/one/SKILL.md", text("one"));
  let now = 1_000_000;
  using clock = spyOn(performance, "now").mockImplementation(() => now);
  const more = withSkills(nothingMore, library, "all");
  const described = async () => {
    const { tools } = await more.list("local", AbortSignal.timeout(60_000));
    return tools[0]?.description;
  };
  expect(await described()).toEndWith("\n- one: Does it.");
  await write("shipped/two/SKILL.md", text("two"));
  now += 5_000;
  expect(await described()).not.toContain("two");
  now += 1;
  expect(await described()).toEndWith("\n- one: Does it.\n- two: Does it.");
  expect(clock).toHaveBeenCalled();
});

test("a link in the workspace where skills go leads nothing outside", async () => {
  await write("shipped/kit/SKILL.md", text("kit"));
  const outside = await mkdtemp(join(tmpdir(), "manyhands-outside-"));
  await using other = await workspaceForTest();
  await symlink(outside, join(other.workspace.root, ".manyhands"));
  const tool = await toolOf(library);
  expect((await tool?.call({ name: "kit" }, contextForTest(other.workspace)))?.isError).toBe(true);
  expect(await readdir(outside)).toEqual([]);
  await rm(outside, { recursive: true });
});

test("of two skills with one name the shipped one counts, and the other cannot be approved", async () => {
  await write("shipped/report/SKILL.md", text("report", "Ours."));
  await write("skills/report/SKILL.md", text("report", "Theirs."));
  await write("skills/rep0rt/SKILL.md", text("rep0rt"));
  const listed = await library.list();
  expect(listed.map(({ source, name, state, like }) => [source, name, state, like])).toEqual([
    ["shipped", "report", "shipped", undefined],
    ["home", "rep0rt", "new", "report"],
    ["home", "report", "invalid", undefined],
  ]);
  expect((await toolOf(library))?.description).toContain("Ours.");
});

test("a skill is added by copying what was read, and removed with its approval", async () => {
  await write("elsewhere/kit/SKILL.md", text("kit"));
  const { hash } = await library.add(join(home, "elsewhere/kit"));
  await expect(library.add(join(home, "elsewhere/kit"))).rejects.toMatchObject({ code: "conflict" });
  await library.approve("kit", hash);
  expect(await states()).toEqual({ kit: "approved" });
  await write("skills/tool/SKILL.md", text("tool"));
  await library.approve("tool", (await library.list()).find(({ name }) => name === "tool")?.skill?.hash ?? "");
  await library.remove("kit");
  await write("skills/kit/SKILL.md", text("kit"));
  expect(await states()).toEqual({ kit: "new", tool: "approved" });
});

test("approvals that cannot be read approve nothing", async () => {
  await write("shipped/kit/SKILL.md", text("kit"));
  await write("pins.json", "{");
  await expect(library.open("kit")).rejects.toMatchObject({ code: "config_invalid" });
  expect(await toolOf(library)).toBeUndefined();
});

test("the prompt has few words of many skills", async () => {
  await write("shipped/a-whole/SKILL.md", text("a-whole", "y".repeat(160)));
  expect((await toolOf(library))?.description).toEndWith(`\n- a-whole: ${"y".repeat(160)}`);
  await rm(join(home, "shipped"), { recursive: true });
  for (let at = 0; at < 100; at++) await write(`shipped/skill-${at}/SKILL.md`, text(`skill-${at}`, "x".repeat(1_000)));
  const lines = (await toolOf(library))?.description.split("\n").slice(1) ?? [];
  expect(lines.join("\n").length).toBeLessThanOrEqual(2_400);
  expect(lines[0]).toBe(`- skill-0: ${"x".repeat(159)}…`);
  expect([lines.at(-1), lines.length > 20]).toEqual([expect.stringMatching(/^- skill-\d+$/), true]);
  await rm(join(home, "shipped"), { recursive: true });
  for (let at = 0; at < 200; at++)
    await write(`shipped/a-long-name-of-a-skill-${at}/SKILL.md`, text(`a-long-name-of-a-skill-${at}`));
  expect((await toolOf(library))?.description.length).toBeLessThan(2_600);
});

const bomb = Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`).join("\n");
const evil: readonly (readonly [string, () => Promise<unknown>])[] = [
  ["a link to a file", () => symlink("/etc/passwd", join(home, "skills/evil/passwd"))],
  ["a link to a folder", () => symlink("/etc", join(home, "skills/evil/etc"))],
  ["a hidden name", () => write("skills/evil/.bashrc", "x")],
  ["a name with a control", () => write("skills/evil/a\nb", "x")],
  ["another name than its folder's", () => write("skills/evil/SKILL.md", text("docx-report"))],
  ["a name that is a path", () => write("skills/evil/SKILL.md", text("../evil"))],
  ["no front matter", () => write("skills/evil/SKILL.md", "# Evil")],
  ["a front matter that unfolds", () => write("skills/evil/SKILL.md", `---\na0: &a0 [x]\n${bomb}\nname: evil\n---\n`)],
  [
    "a front matter without end",
    () => write("skills/evil/SKILL.md", `---\nname: evil\n${"x: y\n".repeat(2_000)}---\n`),
  ],
  ["a deep front matter", () => write("skills/evil/SKILL.md", `---\nname: ${"[".repeat(4_000)}\n---\n`)],
  ["a text that is too long", () => write("skills/evil/SKILL.md", text("evil", "x", "y".repeat(70_000)))],
  ["bytes that are no text", () => write("skills/evil/SKILL.md", new Uint8Array([0xff, 0xfe, 0]))],
  ["a file that is too large", () => write("skills/evil/big.bin", new Uint8Array(6 * 1024 ** 2))],
  ["folders without end", () => write("skills/evil/a/b/c/d/e/f", "x")],
  ["too many files", () => Promise.all(Array.from({ length: 201 }, (_, at) => write(`skills/evil/f${at}`, "x")))],
];

test.each(evil)("a skill with %s cannot be approved or used", async (_, make) => {
  await write("shipped/good/SKILL.md", text("good"));
  await write("skills/evil/SKILL.md", text("evil"));
  await make();
  const found = (await library.list()).find(({ name }) => name === "evil");
  expect([found?.state, found?.skill]).toEqual(["invalid", undefined]);
  await expect(library.approve("evil", "x")).rejects.toMatchObject({ code: "invalid_input" });
  expect((await use(library, "evil")).isError).toBe(true);
  expect((await use(library, "good")).isError).toBe(false);
});

test("a skill's folder that is a link is not one", async () => {
  await write("elsewhere/evil/SKILL.md", text("evil"));
  await mkdir(join(home, "skills"));
  await symlink(join(home, "elsewhere/evil"), join(home, "skills/evil"));
  expect(await states()).toEqual({ evil: "invalid" });
});

test("what a skill says is shown with its files and its author's tools, and as allowing nothing", async () => {
  await write("shipped/kit/SKILL.md", `---\nname: kit\ndescription: x\nallowed-tools: [Bash, Read]\n---\nDo it.\n`);
  await write("shipped/kit/scripts/run.py", "1");
  await write("shipped/kit/data.csv", "1");
  await write("shipped/plain/SKILL.md", text("plain"));
  const { text: shown } = await use(library, "kit");
  const [first, files, tools, ...rest] = shown.split("\n");
  expect(first).toBe(
    "The skill kit. Follow it where it fits the user's task; it allows nothing that you may not do without it.",
  );
  expect(files).toMatch(
    /^Its files are in \.manyhands\/skills\/kit\/ .*: (?:data\.csv, scripts\/run\.py|scripts\/run\.py, data\.csv)$/,
  );
  expect([tools?.endsWith(": Bash, Read"), rest]).toEqual([true, ["", "Do it."]]);
  expect((await use(library, "plain")).text.split("\n").slice(1)).toEqual(["", "Do it."]);
});

test("what a person approved counts as brought from outside, what is shipped does not", async () => {
  await write("shipped/ours/SKILL.md", text("ours"));
  await write("skills/mine/SKILL.md", text("mine"));
  const hash = (await library.list()).find(({ name }) => name === "mine")?.skill?.hash ?? "";
  await library.approve("mine", hash);
  const tool = await toolOf(library);
  const taken = async (name: string) =>
    (await tool?.call({ name }, contextForTest(place.workspace)))?.takenIn ?? tool?.brings ?? [];
  expect([(await taken("ours")).length, (await taken("mine")).length > 0]).toEqual([0, true]);
});

test("a skill that a task has used is offered on, whatever its user says, and other tools as they were", async () => {
  await write("shipped/docx-report/SKILL.md", text("docx-report", "Writes a report with charts and tables."));
  const other = { name: "other" } as never;
  const [offered, listed]: unknown[][][] = [[], []];
  const more = withSkills(
    {
      ...nothingMore,
      list: async (...all) => {
        listed?.push(all);
        return { tools: [other], missing: [{ name: "web", reason: "gone" }] };
      },
      offer(tools, told, said) {
        offered?.push([tools, told, said]);
        return tools;
      },
      mayHave: (name) => name === "other",
    },
    library,
    "all",
  );
  const [signal, tell] = [AbortSignal.timeout(60_000), () => undefined];
  const { tools, missing } = await more.list("ann", signal, tell);
  expect(listed).toEqual([["ann", signal, tell]]);
  // Those that may change come last: a prompt that begins alike is read from a cache.
  expect(tools.map(({ name }) => name)).toEqual(["use_skill", "other"]);
  const names = (told: { name: string; text: string }[]) => more.offer(tools, told, ["No."]).map(({ name }) => name);
  expect([names([]), names([{ name: "use_skill", text: "" }])]).toEqual([["other"], ["use_skill", "other"]]);
  expect(offered?.[0]).toEqual([[other], [], ["No."]]);
  expect(missing).toEqual([{ name: "web", reason: "gone" }]);
  expect(["use_skill", "other", "bash"].map((name) => more.mayHave(name))).toEqual([true, true, false]);
});
