import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGatewayServer } from "../servers/gateway-server.ts";

const schemathesis = Bun.which("schemathesis");
const seed = process.env.SCHEMATHESIS_SEED ?? String(Date.now() % 100_000);

/**
 * If schemathesis is installed, it tries every operation except the endless one. Conditions that no
 * schema can express are left out: that a cursor came from the list, that an agent exists at the
 * address.
 */
test.skipIf(schemathesis === null)(
  "schemathesis finds no undocumented response and no server error",
  async () => {
    const home = await mkdtemp(join(tmpdir(), "schemathesis-"));
    const gateway = await startGatewayServer(home);
    const choice = [
      "--exclude-path-regex",
      "events$",
      "--checks",
      "all",
      "--exclude-checks",
      "positive_data_acceptance",
    ];
    const bounds = ["--max-examples", "20", "--request-timeout", "10", "--seed", seed];
    const child = Bun.spawn([schemathesis ?? "", "run", `${gateway.url}/openapi.json`, ...choice, ...bounds], {
      cwd: home,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    const told = await child.stdout.text();
    if ((await child.exited) !== 0) throw new Error(told);
    expect(told).toMatch(/\d{2,} generated/);
    await gateway.stop("SIGTERM");
    await rm(home, { recursive: true });
  },
  240_000,
);
