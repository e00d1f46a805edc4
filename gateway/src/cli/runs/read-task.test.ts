import { afterAll, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { chmod, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CliContext } from "../../session/context.ts";
import { readFiles, readSchema, readTask } from "./read-task.ts";

const cwd = mkdtempSync(join(tmpdir(), "manyhands-read-task-"));
afterAll(() => rm(cwd, { recursive: true }));
const most = 7_000_000;

/** Reads a task from words and files, beside what is piped in; and how standard input was read. */
async function taskFrom(words: string, paths: readonly string[], piped?: Uint8Array | string) {
  const reads: unknown[] = [];
  const input = typeof piped === "string" ? new TextEncoder().encode(piped) : piped;
  const terminal = {
    read: async (...given: unknown[]) => {
      reads.push(given);
      return input;
    },
  } as unknown as CliContext["terminal"];
  const { text, files } = await readTask(words, paths, { cwd, terminal });
  return { text, files: files.map(({ name, mediaType, bytes }) => [name, mediaType, bytes.length]), reads };
}

test("words are the task and what is piped in is a file beside the others, if it comes within two seconds", async () => {
  await writeFile(join(cwd, "a.csv"), "1,2");
  expect(await taskFrom("do it", ["a.csv"])).toEqual({
    text: "do it",
    files: [["a.csv", "text/csv", 3]],
    reads: [[most, 2_000]],
  });
  const piped = await taskFrom("do it", ["a.csv"], "über");
  expect(piped.files).toEqual([
    ["a.csv", "text/csv", 3],
    ["stdin.txt", "text/plain", 5],
  ]);
  expect((await taskFrom("do it", [], new Uint8Array([0xff]))).files).toEqual([
    ["stdin.bin", "application/octet-stream", 1],
  ]);
  expect((await taskFrom("do it", [], "")).files).toEqual([]);
});

test("without words, or with a dash, standard input is the task, however long it takes", async () => {
  for (const words of ["", " ", "-"])
    expect(await taskFrom(words, [], "do it")).toEqual({ text: "do it", files: [], reads: [[most, undefined]] });
  const named = await taskFrom("look", ["-"], "text");
  expect(named).toEqual({ text: "look", files: [["stdin.txt", "text/plain", 4]], reads: [[most, undefined]] });
});

test.each([
  ["-", ["-"], "x", "Standard input can be the task or a file, not both."],
  ["", [], undefined, "The task is empty"],
  ["", [], " \n", "The task is empty"],
  ["do it", ["-"], undefined, "--file - reads standard input, but nothing is piped in."],
  ["do it", ["none.csv"], undefined, "There is no file none.csv."],
] as const)("the task %j with the files %j and %j piped in is refused", async (words, paths, piped, why) => {
  await expect(taskFrom(words, [...paths], piped)).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining(why),
  });
});

test("all files together have seven megabytes at most, what is piped in included", async () => {
  await writeFile(join(cwd, "half"), new Uint8Array(most / 2));
  expect(await readFiles(["half", "half"], cwd)).toHaveLength(2);
  const tooMuch = {
    code: "invalid_input",
    message: expect.stringMatching(/^The files exceed 7 MB in total\. Pack them/),
  };
  await expect(readFiles(["half", "half"], cwd, 1)).rejects.toMatchObject(tooMuch);
  await writeFile(join(cwd, "one"), "1");
  await expect(readFiles(["half", "half", "one"], cwd)).rejects.toMatchObject(tooMuch);
  await expect(taskFrom("do it", ["half", "half"], "1")).rejects.toMatchObject(tooMuch);
});

/** What is in the archive that a folder was packed into, with the executable ones marked. */
async function packed(folder: string) {
  const [archive, ...others] = await readFiles([folder], cwd);
  if (archive === undefined || others.length > 0) throw new Error("The folder is not one file.");
  const listed = Bun.spawnSync(["tar", "-tzv"], { stdin: archive.bytes }).stdout.toString();
  const lines = listed.trimEnd().split("\n");
  const found = lines.map((line) => `${line.split(" ").at(-1)}${line.startsWith("-rwx") ? " *" : ""}`);
  return { name: archive.name, mediaType: archive.mediaType, found };
}

test("a folder is sent as one archive, without what is installed, leads elsewhere or holds keys", async () => {
  await Bun.write(join(cwd, "tool/src/main.py"), "print(1)");
  await Bun.write(join(cwd, "tool/.gitignore"), "*.log\n");
  await Bun.write(join(cwd, "tool/run.sh"), "#!/bin/sh");
  await chmod(join(cwd, "tool/run.sh"), 0o755);
  await Bun.write(join(cwd, "tool/build.log"), "long");
  for (const name of [".env", "src/.env.local"]) await Bun.write(join(cwd, "tool", name), "KEY=secret");
  await Bun.write(join(cwd, "tool/node_modules/a/index.js"), "1");
  await Bun.write(join(cwd, "tool/src/__pycache__/main.pyc"), "1");
  await symlink("/etc/passwd", join(cwd, "tool/link"));
  const files = ["tool/.gitignore", "tool/build.log", "tool/run.sh *", "tool/src/main.py"];
  const archive = { name: "tool.tar.gz", mediaType: "application/gzip" };
  expect(await packed("tool")).toEqual({ ...archive, found: files });
  expect((await packed(join(cwd, "tool/"))).found).toEqual(files);
  // In a checkout, git says what is left out; what nobody added yet comes too.
  expect(Bun.spawnSync(["git", "init", "-q", join(cwd, "tool")]).exitCode).toBe(0);
  expect(await packed("tool")).toEqual({ ...archive, found: files.filter((name) => name !== "tool/build.log") });
  expect((await packed("tool/src")).found).toEqual(["src/main.py"]);
  expect(Bun.spawnSync(["git", "-C", join(cwd, "tool"), "add", ".env"]).exitCode).toBe(0);
  expect((await packed("tool")).found).toContain("tool/.env");
});

test("a checkout is sent with its history, without its settings and hooks, unless that is long or elsewhere", async () => {
  const folder = join(cwd, "past");
  const git = (...args: string[]) => {
    const given = ["git", "-c", "user.name=a", "-c", "user.email=a@a.example", "-C", folder, ...args];
    expect(Bun.spawnSync(given)).toMatchObject({ exitCode: 0 });
  };
  await Bun.write(join(folder, "src/a.txt"), "1");
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "First");
  git("config", "remote.origin.url", "https://user:token@git.example/past");
  await Bun.write(join(folder, ".git/hooks/pre-commit"), "#!/bin/sh");
  await Bun.write(join(folder, ".git/lfs/objects/x"), "1");
  const { found } = await packed("past");
  expect(found).toContain("past/.git/HEAD");
  expect(found.filter((name) => /config|hooks|lfs|logs/.test(name))).toEqual([]);
  const [archive] = await readFiles(["past"], cwd);
  await Bun.write(join(cwd, "arrived.tar.gz"), archive?.bytes ?? new Uint8Array());
  expect(Bun.spawnSync(["tar", "-xzf", "arrived.tar.gz", "--one-top-level=arrived"], { cwd }).exitCode).toBe(0);
  const log = Bun.spawnSync(["git", "-C", join(cwd, "arrived/past"), "log", "--format=%s", "--", "src"]);
  expect(log.stdout.toString()).toBe("First\n");
  expect(Bun.spawnSync(["git", "-C", join(cwd, "arrived/past"), "status", "--short"]).stdout.toString()).toBe("");
  expect((await packed("past/src")).found).toEqual(["src/a.txt"]);
  await Bun.write(join(folder, "large"), crypto.getRandomValues(new Uint8Array(6_000_000)));
  expect((await packed("past")).found).toEqual(["past/large", "past/src/a.txt"]);
  await rm(join(folder, "large"));
  // Objects of another repository, or a format that only its settings tell of.
  await Bun.write(join(folder, ".git/objects/info/alternates"), "/elsewhere\n");
  expect((await packed("past")).found).toEqual(["past/src/a.txt"]);
  await rm(join(folder, ".git/objects/info/alternates"));
  git("config", "extensions.worktreeConfig", "true");
  expect((await packed("past")).found).toEqual(["past/src/a.txt"]);
  git("config", "--unset", "extensions.worktreeConfig");
  await Bun.write(join(folder, ".git/objects/ff/large"), crypto.getRandomValues(new Uint8Array(65_536)));
  for (let at = 0; at < 50; at++) await Bun.write(join(folder, `.git/objects/ff/${at}`), new Uint8Array(65_536));
  expect((await packed("past")).found).toEqual(["past/src/a.txt"]);
});

test.if(process.getuid?.() === 0)(
  "what a checkout leaves out stays out in one that belongs to somebody else",
  async () => {
    await Bun.write(join(cwd, "lent/.gitignore"), ".env\n");
    await Bun.write(join(cwd, "lent/.env"), "SECRET=1");
    expect(Bun.spawnSync(["git", "init", "-q", join(cwd, "lent")]).exitCode).toBe(0);
    expect(Bun.spawnSync(["chown", "-R", "65534", join(cwd, "lent")]).exitCode).toBe(0);
    expect((await packed("lent")).found).toEqual(["lent/.gitignore"]);
  },
);

test("a folder that has nothing to send, or too much, is refused", async () => {
  await Bun.write(join(cwd, "installed/node_modules/a"), "1");
  await expect(readFiles(["installed"], cwd)).rejects.toMatchObject({
    code: "invalid_input",
    message: "The folder installed has no files to send.",
  });
  await Bun.write(join(cwd, "noise/a"), crypto.getRandomValues(new Uint8Array(65_536)));
  await expect(readFiles(["noise"], cwd, most - 65_000)).rejects.toThrow("The files exceed 7 MB in total.");
  expect(await readFiles(["noise"], cwd, most - 70_000)).toHaveLength(1);
});

test("a file's type is known by its name, that of code too", async () => {
  await writeFile(join(cwd, "a.py"), "");
  expect((await readFiles(["a.py"], cwd))[0]?.mediaType).toBe("text/x-python");
});

test("a schema is a JSON object in a file", async () => {
  await writeFile(join(cwd, "schema.json"), '{"type":"object"}');
  expect(await readSchema("schema.json", cwd)).toEqual({ type: "object" });
  expect(await readSchema(undefined, cwd)).toBeUndefined();
  await expect(readSchema("none.json", cwd)).rejects.toThrow("There is no file none.json.");
  for (const text of ["[]", "{", '"object"']) {
    await writeFile(join(cwd, "odd.json"), text);
    await expect(readSchema("odd.json", cwd)).rejects.toThrow("odd.json is not a JSON Schema");
  }
});
