import { expect, test } from "bun:test";
import { Hono } from "hono";
import { takingTurns } from "./turns.ts";

/** Served, with work that holds the event loop for some time; what was answered, in order. */
function working(busyMs: number) {
  const answered: string[] = [];
  const app = new Hono();
  app.get("/healthz", (c) => {
    answered.push("healthz");
    return c.text("ok");
  });
  app.use(takingTurns());
  app.get("/slow/:n", (c) => {
    Bun.sleepSync(busyMs);
    answered.push(c.req.param("n"));
    return c.text("done");
  });
  const ask = async (path: string) => (await app.request(path)).text();
  return { ask, answered };
}

test("what needs no turn is answered between requests that came together, and those keep their order", async () => {
  const { ask, answered } = working(1);
  const all = Array.from({ length: 60 }, (_, n) => ask(`/slow/${n}`));
  await new Promise((resolve) => setImmediate(resolve));
  await ask("/healthz");
  expect(await Promise.all(all)).toEqual(all.map(() => "done"));
  const works = answered.filter((one) => one !== "healthz");
  expect(works).toEqual(Array.from({ length: 60 }, (_, n) => `${n}`));
  expect(answered.indexOf("healthz")).toBeLessThan(40);
  expect(answered.indexOf("healthz")).toBeGreaterThan(0);
});

test("few requests begin at once, whenever they come", async () => {
  const { ask, answered } = working(0);
  for (let quick = 0; quick < 3; ) {
    const begun = performance.now();
    const both = [ask("/slow/a"), ask("/slow/b")];
    // On a machine that is busy elsewhere the second may come late.
    const isQuick = performance.now() - begun < 0.5;
    let turns = 0;
    const turn = setImmediate(() => turns++);
    await Promise.all(both);
    clearImmediate(turn);
    if (!isQuick) continue;
    expect(turns).toBe(0);
    quick++;
  }
  expect(answered.join("")).toMatch(/^(ab){3,}$/);
});
