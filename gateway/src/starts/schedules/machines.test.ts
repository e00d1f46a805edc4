import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import { silentLog } from "manyhands/internal/core/runs/engine";
import { openEngine } from "manyhands/internal/server/storage/open-engine";
import { openShared } from "manyhands/internal/server/storage/open-shared";
import { noPostgres, postgresPrograms, startPostgres } from "manyhands/internal/testing/durable/postgres-process";
import { startsForTest } from "../../testing/starts.ts";

if (postgresPrograms === undefined) test.skip(noPostgres, () => undefined);
else {
  const [server, base] = await Promise.all([startPostgres(), mkdtemp(join(tmpdir(), "schedules-"))]);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await rm(base, { recursive: true });
  });

  test("machines that share a database start what is due once, and all of them know what became of it", async () => {
    const url = await server.createDatabase();
    const machine = async (name: string) => {
      const env = { MANYHANDS_HOME: join(base, name), MANYHANDS_ENGINE_KIND: "postgres", MANYHANDS_ENGINE_URL: url };
      const config = await loadConfig({ cwd: base, env });
      const [engine, shared] = [await openEngine(config, { log: silentLog, port: 0 }), await openShared(config)];
      const over = { engine, kept: shared.schedules };
      const starts = await startsForTest({}, { at: "2026-11-02T12:00:00Z", over });
      const close = async () => {
        await starts[Symbol.asyncDispose]();
        await shared.close();
      };
      return { starts, close };
    };
    const machines = [await machine("one"), await machine("other"), await machine("third")];
    const all = machines.map(({ starts }) => starts);
    const [first] = all;
    try {
      await first?.schedules.add(
        {
          ...{ name: "report", cron: "0 * * * *", timeZone: "UTC", missed: "once", overlap: "allow" },
          ...{ start: "echo", task: "Report", settings: {}, notify: [] },
        },
        "local",
      );
      for (const hour of [13, 14, 15]) {
        for (const one of all) one.clock.now = Date.parse(`2026-11-02T${hour}:00:01Z`);
        await Promise.all(all.map((one) => one.schedules.tick()));
      }
      expect(await first?.told()).toEqual(["Report", "Report", "Report"]);
      for (const one of all) {
        const { firings } = await one.schedules.get("report", "local");
        expect(firings.map(({ outcome }) => outcome)).toEqual(["started", "started", "started"]);
      }
    } finally {
      for (const { close } of machines) await close();
    }
  });
}
