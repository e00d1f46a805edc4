import { afterAll, expect, test } from "bun:test";
import { closeSync, mkdtempSync, statSync, writeSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lastLines, openServerLog } from "./server-log.ts";

const folder = mkdtempSync(join(tmpdir(), "manyhands-server-log-"));
afterAll(() => rm(folder, { recursive: true }));

test("a log is appended to, and shows only what was written since it was opened", async () => {
  const path = join(folder, "below", "server.log");
  const first = openServerLog(path);
  writeSync(first.descriptor, "ready http://old\n");
  closeSync(first.descriptor);
  const second = openServerLog(path);
  expect(await second.text()).toBe("");
  writeSync(second.descriptor, "new\n");
  closeSync(second.descriptor);
  expect(await second.text()).toBe("new\n");
  expect(await Bun.file(path).text()).toBe("ready http://old\nnew\n");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a log larger than 10 MiB is rotated, and of a long output the end is shown", async () => {
  const path = join(folder, "grown.log");
  await writeFile(path, "x".repeat(10 * 1024 * 1024 + 1));
  const log = openServerLog(path);
  expect(statSync(`${path}.1`).size).toBe(10 * 1024 * 1024 + 1);
  writeSync(log.descriptor, `${"y".repeat(100_000)}\n\nlast\n`);
  closeSync(log.descriptor);
  const text = await log.text();
  expect(text.length).toBe(65_536);
  expect(lastLines(text, 1)).toBe("last");
});

test("a log that grows while its server writes it is emptied into .1, and the server goes on in it", async () => {
  const path = join(folder, "growing.log");
  await writeFile(path, "before\n", { mode: 0o600 });
  const log = openServerLog(path);
  writeSync(log.descriptor, "small\n");
  log.rotate();
  expect(await log.text()).toBe("small\n");
  writeSync(log.descriptor, "x".repeat(10 * 1024 * 1024));
  log.rotate();
  expect(statSync(`${path}.1`).size).toBe(10 * 1024 * 1024 + 13);
  writeSync(log.descriptor, "next\n");
  closeSync(log.descriptor);
  expect(await Bun.file(path).text()).toBe("next\n");
  expect(await log.text()).toBe("next\n");
  expect(statSync(`${path}.1`).mode & 0o777).toBe(0o600);
});
