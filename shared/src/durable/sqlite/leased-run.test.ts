import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { silentLog } from "../../core/engine.ts";
import { scratch } from "../../testing/durable/scratch.ts";
import { leasedRun } from "./leased-run.ts";
import { machineClock } from "./machine-clock.ts";
import { RunClock } from "./run-clock.ts";
import { Writer } from "./writer.ts";

test("a returned signal goes to the next one who asks; whoever returned it counts as unanswered, now and in replay", async () => {
  using store = scratch();
  const writer = new Writer({ path: store.path, log: silentLog, onRecovered: () => undefined });
  using db = new Database(store.path);
  db.run(`INSERT INTO runs (id, kind, status, principal, context_id, input, owner, epoch, created_at, updated_at)
    VALUES ('r', 'k', 'running', 'p', 'c', 'null', 'own', 1, 0, 0)`);
  db.run("INSERT INTO signals (run, name, id, payload) VALUES (1, 'go', 'm1', '7')");
  const clock = new RunClock(machineClock(), silentLog);
  const run = leasedRun({ lease: { n: 1, owner: "own", epoch: 1 }, writer, clock, onEvents: () => undefined });
  const takenAt = (path: string) => run.wait({ begin: [], wanted: () => [{ path, name: "go" }] });
  expect(await takenAt("0/1/0")).toMatchObject({ taken: { path: "0/1/0", payload: "7" } });
  expect(await run.hasSignal("go")).toBe(false);
  await run.giveBack("0/1/0");
  expect(await run.hasSignal("go")).toBe(true);
  expect(await run.load()).toEqual([{ path: "0/1/0", kind: "signal", name: "go", state: "started" }]);
  expect(await takenAt("1")).toMatchObject({ taken: { path: "1", payload: "7" } });
  await writer.close(1000);
});
