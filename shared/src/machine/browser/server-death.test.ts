import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { browsersForTest, processesOf } from "../../testing/browser/browsers.ts";

test("the next server removes what a killed one left behind", async () => {
  await using lab = await browsersForTest([]);
  const server = Bun.spawn(
    [process.execPath, join(import.meta.dir, "../../testing/browser/browsing-process.ts"), lab.home],
    {
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  const reader = server.stdout.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe("open\n");
  const [left] = await readdir(join(lab.home, "browser"));
  expect(left).toStartWith(`${server.pid}-`);
  server.kill("SIGKILL");
  await server.exited;
  expect(await readdir(join(lab.home, "browser"))).toEqual([left ?? ""]);
  await lab.open("next");
  const [now, ...others] = await readdir(join(lab.home, "browser"));
  expect(now).toStartWith(`${process.pid}-`);
  expect(others).toEqual([]);
  expect(processesOf(join(lab.home, "browser", left ?? ""))).toEqual([]);
});
