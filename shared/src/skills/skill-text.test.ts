import { expect, test } from "bun:test";
import { readSkillText } from "./skill-text.ts";

const written = (head: string, body = "Do it.") => Buffer.from(`---\n${head}\n---\n${body}`);
const named = (more = "", body?: string) => written(`name: kit\ndescription: Does it.${more}`, body);

test("a skill's text is its name, its words in one line each, and its instructions", () => {
  const head = "name: kit\ndescription: '  Does\u202e it.  '\nlicense: MIT\nallowed-tools: [Bash, Read]\nown: 1";
  expect(readSkillText(written(head, "\n\n# Kit\r\nDo\u200b it.\n---\nEnd.\n\n"), "kit")).toEqual({
    name: "kit",
    description: "Does it.",
    license: "MIT",
    allowedTools: "Bash, Read",
    instructions: "# Kit\nDo it.\n---\nEnd.",
  });
  expect(readSkillText(named("\nallowed-tools: Bash(git:*)"), "kit").allowedTools).toBe("Bash(git:*)");
  const lines = readSkillText(
    written("name: kit\ndescription: |\n  Does\n  it.\nallowed-tools: |\n  Bash\n  Read"),
    "kit",
  );
  expect([lines.description, lines.allowedTools]).toEqual(["Does it.", "Bash Read"]);
  const long = readSkillText(named(`\nallowed-tools: [${Array(20).fill("x".repeat(90)).join()}]`), "kit");
  expect(long.allowedTools?.length).toBeLessThanOrEqual(500);
  expect(readSkillText(Buffer.from("---\nname: kit\ndescription: x\n--- \t"), "kit")).toEqual({
    name: "kit",
    description: "x",
    instructions: "",
  });
});

test.each<readonly [string, Uint8Array, string]>([
  ["no front matter", Buffer.from("# Kit"), "does not begin with a front matter"],
  ["text before it", Buffer.from(`\n${named()}`), "does not begin with a front matter"],
  ["one without an end", Buffer.from("---\nname: kit\n"), "does not begin with a front matter"],
  ["one whose end goes on", Buffer.from("---\nname: kit\n---x\n"), "does not begin with a front matter"],
  ["a long one", named(`\nx: ${"y".repeat(8 * 1024)}`), "has more than 8 KB"],
  ["an anchor", named("\nx: &a [1]"), "refers to parts of itself"],
  ["an alias", named("\nx:\n- *a"), "refers to parts of itself"],
  ["an alias in a list", named("\nx: [1, *a]"), "refers to parts of itself"],
  ["an alias in a map", named("\nx: {*a : 1}"), "refers to parts of itself"],
  ["what is not YAML", written("name: [kit"), "cannot be read"],
  ["a list", written("- kit"), "front matter is wrong"],
  ["no name", written("description: x"), "front matter is wrong"],
  ["no description", written("name: kit"), "front matter is wrong"],
  ["an empty description", written("name: kit\ndescription: ' '"), "front matter is wrong"],
  ["a long description", written(`name: kit\ndescription: ${"x".repeat(1_025)}`), "front matter is wrong"],
  ["a license that is no text", named("\nlicense: 1"), "front matter is wrong"],
  ["many tools", named(`\nallowed-tools: [${Array(51).fill("a").join(", ")}]`), "front matter is wrong"],
  ["another name", written("name: kat\ndescription: x"), "It is called kat, but its folder kit."],
  ["bytes of another encoding", Buffer.concat([named(), Buffer.from([0xff])]), "not UTF-8"],
])("a skill's text with %s is refused", (_, content, why) => {
  expect(() => readSkillText(content, "kit")).toThrow(why);
});

test("what is large or unusual but allowed is read", () => {
  const head = `name: kit\ndescription: ${"x".repeat(1_024)}\nwhy: A & B * C\nx: "y${"y".repeat(6_000)}"`;
  expect(readSkillText(written(head), "kit").description).toHaveLength(1_024);
  expect(readSkillText(named(`\nallowed-tools: [${Array(50).fill("a").join(", ")}]`), "kit").allowedTools).toStartWith(
    "a, a",
  );
});

test.each([
  ["kit", true],
  ["a", true],
  ["4", true],
  ["web-form-filler-2", true],
  ["a".repeat(64), true],
  ["a".repeat(65), false],
  ["Kit", false],
  ["a--b", false],
  ["-a", false],
  ["a-", false],
  ["a_b", false],
  ["a.b", false],
  ["ä", false],
])("%s is a name of a skill: %p", (name, isOne) => {
  const read = () => readSkillText(written(`name: "${name}"\ndescription: x`), name).name;
  if (isOne) expect(read()).toBe(name);
  else expect(read).toThrow("lower-case letters, digits and single dashes");
});
