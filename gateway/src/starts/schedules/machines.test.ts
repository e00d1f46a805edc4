import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import { silentLog } from "manyhands/internal/core/runs/engine";
import { freePort } from "manyhands/internal/http/free-port";
import { openEngine } from "manyhands/internal/server/storage/open-engine";
import { openShared } from "manyhands/internal/server/storage/open-shared";
import { noPostgres, postgresPrograms, startPostgres } from "manyhands/internal/testing/durable/postgres-process";
import { noRestate, restateProgram } from "manyhands/internal/testing/durable/restate-node";
import { startRestate } from "manyhands/internal/testing/durable/restate-process";
import { skipped } from "manyhands/internal/testing/durable/skipped";
import { startsForTest } from "../../testing/starts.ts";
import type { NewSchedule } from "./schedules.ts";

if (postgresPrograms === undefined) skipped(noPostgres);
else {
  const [server, base] = await Promise.all([startPostgres(), mkdtemp(join(tmpdir(), "schedules-"))]);
  const restate = restateProgram === undefined ? undefined : await startRestate();
  afterAll(async () => {
    await restate?.[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    await rm(base, { recursive: true });
  });

  /** A machine's part of the system whose settings say this, with a clock of its own. */
  const machine = async (name: string, engineEnv: Readonly<Record<string, string>>) => {
    const port = freePort();
    const address = { MANYHANDS_ENGINE_RESTATE_PORT: String(port) };
    const env = {
      ...{ MANYHANDS_HOME: join(base, crypto.randomUUID(), name), ...engineEnv },
      ...(engineEnv.MANYHANDS_ENGINE_KIND === "restate" && address),
    };
    const config = await loadConfig({ cwd: base, env });
    const [engine, shared] = [await openEngine(config, { log: silentLog, port }), await openShared(config)];
    const over = { engine, kept: shared.schedules };
    const starts = await startsForTest({}, { at: "2026-11-02T12:00:00Z", over });
    const close = async () => {
      await starts[Symbol.asyncDispose]();
      await shared.close();
    };
    return { starts, close };
  };

  const hourly: NewSchedule = {
    ...{ name: "report", cron: "0 * * * *", timeZone: "UTC", missed: "skip", overlap: "allow" },
    ...{ start: "echo", task: "Report", settings: {}, notify: [] },
  };

  /** Three machines start what is due; one of them dies between a start and its record. */
  const startOnce = async (engineEnv: Readonly<Record<string, string>>) => {
    const env = { ...engineEnv, MANYHANDS_ENGINE_URL: await server.createDatabase() };
    const machines = [await machine("one", env), await machine("other", env), await machine("third", env)];
    const all = machines.map(({ starts }) => starts);
    const [first] = all;
    if (first === undefined) throw new Error("There are three.");
    try {
      await first.schedules.add(hourly, "local");
      for (const hour of [13, 14, 15]) {
        for (const one of all) one.clock.now = Date.parse(`2026-11-02T${hour}:00:01Z`);
        await Promise.all(all.map((one) => one.schedules.tick()));
      }
      first.clock.now = Date.parse("2026-11-02T16:00:01Z");
      // What a kill leaves: the run is stored, and nobody has written it down.
      const start = async (...request: Parameters<typeof first.runs.start>) => {
        await first.runs.start(...request);
        throw new Error("killed");
      };
      await (await first.another({ runs: { ...first.runs, start } })).schedules.tick();
      for (const one of all) one.clock.now = Date.parse("2026-11-02T16:30:00Z");
      await Promise.all(all.map((one) => one.schedules.tick()));
      expect(await first.told()).toEqual(["Report", "Report", "Report", "Report"]);
      for (const one of all) {
        const { firings } = await one.schedules.get("report", "local");
        expect(firings.map(({ outcome }) => outcome)).toEqual(["started", "started", "started", "started"]);
        expect(new Set(firings.map(({ runId }) => runId)).size).toBe(4);
      }
      // Whoever executes them: all of them end.
      for (const deadline = performance.now() + 20_000; performance.now() < deadline; await Bun.sleep(20))
        if ((await first.engine.list({ kind: "echo", statuses: ["completed"], limit: 9 })).total === 4) return;
      throw new Error("Not every run has ended.");
    } finally {
      for (const { close } of machines) await close();
    }
  };

  test(
    "machines that share a database start what is due once, also when one dies between a start and its record, and all of them know what became of it",
    () => startOnce({ MANYHANDS_ENGINE_KIND: "postgres" }),
    60_000,
  );

  if (restate === undefined) skipped(noRestate);
  else
    test(
      "so do machines whose runs Restate hands out",
      () =>
        startOnce({
          MANYHANDS_ENGINE_KIND: "restate",
          MANYHANDS_ENGINE_RESTATE_INGRESS: restate.ingress,
          MANYHANDS_ENGINE_RESTATE_ADMIN: restate.admin,
        }),
      60_000,
    );
}
