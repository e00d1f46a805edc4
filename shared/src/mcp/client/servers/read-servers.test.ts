import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseServers, readServers } from "./read-servers.ts";

const parse = (mcpServers: object, env: Record<string, string> = {}) =>
  parseServers(JSON.stringify({ mcpServers }), "mcp.json", env);
const variable = (name: string) => `\${${name}}`;

test("OpenManus's entries are understood, with or without a type", () => {
  const [one, two] = parse({
    one: { type: "stdio", command: "node", args: ["a.js"] },
    two: { type: "sse", url: "https://x.example/sse" },
  });
  expect(one).toMatchObject({ name: "one", command: "node", args: ["a.js"], timeout: 60_000, trust: "sandboxed" });
  expect(two).toMatchObject({ name: "two", type: "sse", url: "https://x.example/sse" });
});

test("variables are filled in everywhere, an empty one too, and what people are shown names them", () => {
  const entry = {
    command: "node",
    args: [`--key=${variable("KEY")}`, variable("MISSING:-none")],
    env: { A: variable("EMPTY") },
  };
  const [server] = parse({ s: entry }, { KEY: "sk-1", EMPTY: "" });
  expect(server).toMatchObject({
    args: ["--key=sk-1", "none"],
    env: { A: "" },
    shown: `node --key=${variable("KEY")} \${MISSING:-none}`,
  });
});

test.each([
  [
    "an unset variable",
    { s: { command: variable("NOPE") } },
    /mcp\.json: mcpServers\.s\.command names the environment variable NOPE/,
  ],
  ["a key that is not there", { s: { command: "x", comand: "y" } }, /mcpServers\.s.*comand/],
  [
    "a wrong value, without the value",
    { s: { url: "https://x.example", headers: { A: 7 } } },
    /mcpServers\.s\.headers\.A/,
  ],
  ["a misspelt command", { s: { comand: "y" } }, /mcpServers\.s\.comand: is not known; there are .*command/],
  ["neither command nor URL", { s: {} }, /mcpServers\.s needs a command or a url/],
  ["a command and a URL", { s: { command: "x", url: "https://x.example" } }, /not both/],
  ["another protocol", { s: { url: "file:///etc/passwd" } }, /mcpServers\.s\.url/],
  ["a relative path", { s: { command: "x", read: ["a"] } }, /read: "a" is not a path that begins with/],
  ["two names that are one in tool names", { "a b": { command: "x" }, a_b: { command: "x" } }, /Rename one/],
])("%s is refused with file and key", (_, servers, message) => {
  expect(() => parse(servers)).toThrow(message);
});

test("no message contains a secret", () => {
  const entry = { url: "https://x.example", headers: { Authorization: variable("TOKEN") }, timeout: variable("TOKEN") };
  try {
    parse({ s: entry }, { TOKEN: "canary" });
    throw new Error("It was taken.");
  } catch (error) {
    expect((error as Error).message).not.toContain("canary");
  }
});

test("paths that start with a dot are relative to the file's folder, wherever the program is started", () => {
  const entry = { command: "bun", cwd: "./src/mcp", read: ["./node_modules", "../shared", "/usr/share"], write: ["."] };
  const [server] = parseServers(JSON.stringify({ mcpServers: { s: entry } }), "/home/me/team/mcp.json", {});
  expect(server).toMatchObject({
    cwd: "/home/me/team/src/mcp",
    read: ["/home/me/team/node_modules", "/home/me/shared", "/usr/share"],
    write: ["/home/me/team"],
  });
});

test("a file that is not there has no servers, unless the settings name it; a folder is no file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "read-servers-"));
  const file = join(folder, "mcp.json");
  for (const missing of [file, folder]) {
    expect(await readServers(missing, false, {})).toEqual([]);
    await expect(readServers(missing, true, {})).rejects.toThrow(`${missing} does not exist`);
  }
  await Bun.write(file, JSON.stringify({ mcpServers: { s: { command: "x" } } }));
  for (const named of [true, false]) expect(await readServers(file, named, {})).toMatchObject([{ name: "s" }]);
  await Bun.write(file, "{");
  await expect(readServers(file, false, {})).rejects.toMatchObject({ code: "config_invalid" });
  await rm(folder, { recursive: true });
});

test("a name has at most 64 characters, and a letter or a digit", () => {
  expect(parse({ ["s".repeat(64)]: { command: "x" } })).toHaveLength(1);
  for (const name of ["s".repeat(65), "", "_-_", "é"])
    expect(() => parse({ [name]: { command: "x" } })).toThrow("a name has a letter or digit in it");
});

test("what other programs note in an entry has no effect, and a value of the environment is before its fallback", () => {
  const noted = { description: "d", note: "n", icon: "i", autoApprove: ["a"], alwaysAllow: ["b"] };
  const args = [variable("A:-other"), variable("env:A"), variable("B:-"), variable("env:B:-b")];
  const [server] = parse({ s: { ...noted, command: "x", trust: "unconfined", args } }, { A: "a" });
  expect(server).toMatchObject({ args: ["a", "a", "", "b"], trust: "unconfined" });
  for (const key of Object.keys(noted)) expect(server).not.toHaveProperty(key);
});

test.each<[object, readonly unknown[], readonly unknown[]]>([
  [{ command: "x" }, [{ timeout: 100 }, { timeout: 3_600_000 }], [{ timeout: 99 }, { timeout: 3_600_001 }]],
  [
    { url: "https://x.example" },
    [{ maxMessageBytes: 1024 }, { maxMessageBytes: 2 ** 30 }],
    [{ maxMessageBytes: 1023 }, { maxMessageBytes: 2 ** 30 + 1 }],
  ],
  [{ command: "x" }, [{ tools: { allow: ["a"] } }], [{ tools: { alow: ["a"] } }, { tools: { deny: [""] } }]],
  [{}, [{ url: "http://x.example" }], [{ url: "httpsx://x.example" }, { url: "ws://x.example" }]],
  [
    { command: "x" },
    ["*", "x.example", "*.x.example:8443", "localhost", "[::1]:80", "127.0.0.1:1"].map((one) => ({ network: [one] })),
    ["", "*x.example", "https://x.example", "x.example/", "x:123456", "x y"].map((one) => ({ network: [one] })),
  ],
])("of entries like %j these are accepted, the others refused: %j, %j", (entry, fine, wrong) => {
  for (const more of fine) expect(parse({ s: { ...entry, ...(more as object) } })).toHaveLength(1);
  for (const more of wrong) expect(() => parse({ s: { ...entry, ...(more as object) } })).toThrow(/mcpServers\.s/);
});

test("a command is shown as it was written, so that other words are another command", () => {
  const shown = (...args: string[]) => parse({ s: { command: "x", args } })[0]?.shown;
  expect([shown("a b"), shown("a", "b"), shown("")]).toEqual(['x "a b"', "x a b", 'x ""']);
  expect(parse({ s: { url: "https://x.example/a?b=1" } })[0]?.shown).toBe("https://x.example/a?b=1");
});
