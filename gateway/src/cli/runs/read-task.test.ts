import { afterAll, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
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
  const tooMuch = { code: "invalid_input", message: "The files exceed 7 MB in total." };
  await expect(readFiles(["half", "half"], cwd, 1)).rejects.toMatchObject(tooMuch);
  await writeFile(join(cwd, "one"), "1");
  await expect(readFiles(["half", "half", "one"], cwd)).rejects.toMatchObject(tooMuch);
  await expect(taskFrom("do it", ["half", "half"], "1")).rejects.toMatchObject(tooMuch);
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
