import { expect, test } from "bun:test";
import { availableTiers } from "../../testing/sandbox/tiers.ts";

const tiers = await availableTiers();
const program = new URL("../../testing/sandbox/killed-starts.ts", import.meta.url).pathname;

test.if(tiers.includes("bwrap")).each([
  ["at any moment of its start", "any"],
  ["before its first process is known", "untold"],
  ["before its view is made", "told"],
  ["when its view is complete", "shown"],
])("a sandbox that is killed %s leaves no descriptor, process or file, and the next one works", async (_, moment) => {
  const child = Bun.spawn([process.execPath, program, moment], { stdout: "pipe", stderr: "pipe" });
  const [told, problem] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect([await child.exited, problem]).toEqual([0, ""]);
  const { killed, ...rest } = JSON.parse(told);
  expect(rest).toEqual({ first: 0, outlived: 0, files: [], last: 0 });
  expect(killed).toBeGreaterThan(0);
});
