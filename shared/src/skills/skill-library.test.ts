import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keptFile } from "../machine/workspace/own-files/kept-file.ts";
import { createSkillLibrary, type SkillLibrary } from "./skill-library.ts";

let home: string;
let library: SkillLibrary;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "manyhands-library-"));
  const places = { home, project: join(home, "project"), shipped: join(home, "shipped") };
  library = createSkillLibrary({ ...places, pins: keptFile(join(home, "pins.json")) });
});
afterEach(() => rm(home, { recursive: true }));

async function skill(place: "shipped" | "skills" | "project", name: string): Promise<void> {
  await mkdir(join(home, place, name), { recursive: true });
  await writeFile(join(home, place, name, "SKILL.md"), `---\nname: ${name}\ndescription: x\n---\nDo it in ${place}.`);
}
const listed = async (name: string) => (await library.list()).find((one) => one.name === name);
const approve = async (name: string) => library.approve(name, (await listed(name))?.skill?.hash ?? "");

test("skills are listed by place and name, and only folders with names of skills can be used", async () => {
  await skill("project", "b");
  await skill("project", "a");
  await skill("skills", "c");
  await skill("shipped", "z");
  await mkdir(join(home, "skills", "Not a skill"));
  await mkdir(join(home, "skills", ".hidden"));
  await writeFile(join(home, "skills", "file"), "x");
  const shown = (await library.list()).map(({ name, source, state, path }) => [name, source, state, path]);
  expect(shown).toEqual([
    ["z", "shipped", "shipped", join(home, "shipped/z")],
    ["Not a skill", "home", "invalid", join(home, "skills/Not a skill")],
    ["c", "home", "new", join(home, "skills/c")],
    ["a", "project", "new", join(home, "project/a")],
    ["b", "project", "new", join(home, "project/b")],
  ]);
  expect((await listed("Not a skill"))?.problem).toBe("Its folder's name is not that of a skill.");
});

test("a skill that waits is told which usable one it could be taken for, an approved one is not", async () => {
  await skill("shipped", "release-notes");
  await skill("project", "release-note");
  await skill("skills", "form-filler");
  await skill("skills", "forrn-filler");
  const like = async (name: string) => (await listed(name))?.like;
  expect([await like("release-note"), await like("forrn-filler"), await like("release-notes")]).toEqual([
    "release-notes",
    undefined,
    undefined,
  ]);
  await approve("form-filler");
  expect([await like("forrn-filler"), await like("form-filler")]).toEqual(["form-filler", undefined]);
  await approve("release-note");
  expect(await like("release-note")).toBeUndefined();
  await writeFile(join(home, "project/release-note/more.txt"), "x");
  expect(await like("release-note")).toBe("release-notes");
});

test("an approval is for one skill, and a name that every object has is no approval", async () => {
  for (const name of ["constructor", "one", "two"]) await skill("skills", name);
  await approve("one");
  expect((await library.list()).map(({ name, state }) => [name, state])).toEqual([
    ["constructor", "new"],
    ["one", "approved"],
    ["two", "new"],
  ]);
  await library.remove("one");
  expect((await library.list()).map(({ name }) => name)).toEqual(["constructor", "two"]);
  await skill("skills", "one");
  expect((await listed("one"))?.state).toBe("new");
});

test("what cannot be opened, approved or removed is refused with the reason", async () => {
  await skill("shipped", "ours");
  await skill("project", "theirs");
  await mkdir(join(home, "project", "empty"));
  const refused = (done: Promise<unknown>) =>
    done.then(
      () => "done",
      (error) => [error.code, error.message],
    );
  expect(await refused(library.open("none"))).toEqual(["not_found", 'There is no skill "none".']);
  expect(await refused(library.open("theirs"))).toEqual([
    "forbidden",
    "The skill theirs cannot be used: nobody has approved it.",
  ]);
  expect((await refused(library.open("empty")))[1]).toContain("It has no SKILL.md.");
  expect((await refused(library.approve("empty", "x")))[0]).toBe("invalid_input");
  expect((await refused(library.approve("theirs", "x")))[0]).toBe("conflict");
  expect(await refused(library.approve("ours", "x"))).toBe("done");
  expect(await refused(library.remove("ours"))).toEqual([
    "forbidden",
    "The skill ours comes with Manyhands. [agents.NAME] skills names those that an agent may use.",
  ]);
  expect(await refused(library.remove("theirs"))).toEqual([
    "forbidden",
    "The skill theirs is not one of the home: remove its folder.",
  ]);
  expect((await library.open("ours")).name).toBe("ours");
});

test("a skill is added under its own name only, and waits", async () => {
  await skill("project", "kit");
  await skill("shipped", "ours");
  await expect(library.add(join(home, "project/kit"))).rejects.toMatchObject({ code: "conflict" });
  const other = join(home, "other");
  await mkdir(join(other, "new"), { recursive: true });
  await writeFile(join(other, "new", "SKILL.md"), "---\nname: new\ndescription: x\n---\nDo it.");
  await library.add(join(other, "new"));
  expect(await listed("new")).toMatchObject({ source: "home", state: "new" });
  await expect(library.add(join(other, "new"))).rejects.toThrow("There is a skill new already.");
  expect((await stat(join(home, "skills/new"))).mode & 0o777).toBe(0o700);
  // A file in its way, which is no skill.
  await mkdir(join(other, "late"));
  await writeFile(join(other, "late", "SKILL.md"), "---\nname: late\ndescription: x\n---\nDo it.");
  await writeFile(join(home, "skills/late"), "");
  await expect(library.add(join(other, "late"))).rejects.toThrow();
  expect((await readdir(join(home, "skills"))).toSorted()).toEqual(["late", "new"]);
});

test("what has changed is approved anew, and of very many folders the first two hundred are read", async () => {
  await skill("skills", "one");
  await approve("one");
  await writeFile(join(home, "skills/one/more.txt"), "x");
  expect((await listed("one"))?.state).toBe("changed");
  await approve("one");
  expect((await listed("one"))?.state).toBe("approved");
  for (let n = 0; n <= 200; n++) await mkdir(join(home, "project", `s${n}`), { recursive: true });
  const names = (await library.list()).flatMap(({ source, name }) => (source === "project" ? [name] : []));
  expect([names.length, names.includes("s99"), names.includes("s100")]).toEqual([200, false, true]);
});

test("a second approval leaves the first", async () => {
  for (const name of ["one", "two"]) {
    await skill("skills", name);
    await approve(name);
  }
  expect((await library.list()).map(({ state }) => state)).toEqual(["approved", "approved"]);
});
