import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import * as z from "zod";
import { startConformanceServer } from "./conformance-server.ts";
import { type Check, checkClient, checkServer, closeSuite, revisions, startClient } from "./suite.ts";

const list = z.array(z.string()).nullish();
const expected = z
  .strictObject({ server: list, client: list })
  .parse(Bun.YAML.parse(await Bun.file(join(import.meta.dir, "expected-failures.yml")).text()));

/** Each scenario is used in a home of its own. */
let client: Awaited<ReturnType<typeof startClient>>;
beforeAll(async () => {
  client = await startClient();
});
afterAll(async () => {
  await client?.stop();
  await closeSuite();
});

const nameOf = ({ scenario, check }: Check) => `${scenario}:${check}`;

for (const side of ["client", "server"] as const) {
  const listed = new Set(expected[side] ?? []);
  const failed = new Set<string>();

  test.each(revisions)(
    `the ${side} passes the official suite's scenarios of %s, except those listed`,
    async (revision) => {
      const checks = await run(side, revision);
      const failures = checks.filter(({ passed }) => !passed);
      for (const one of failures) failed.add(nameOf(one));
      console.log(
        `${side} ${revision}: ${checks.length - failures.length} checks passed, ${failures.length} failed as expected`,
      );
      const unexpected = failures.filter((one) => !listed.has(nameOf(one)));
      expect(unexpected.map((one) => `${nameOf(one)} ${one.message}`)).toEqual([]);
      expect(checks.length).toBeGreaterThan(0);
    },
  );

  test(`nothing is listed for the ${side} that passes`, () => {
    expect([...listed].filter((name) => !failed.has(name))).toEqual([]);
  });
}

async function run(side: "client" | "server", revision: (typeof revisions)[number]): Promise<Check[]> {
  if (side === "client") return checkClient(client.url, revision);
  await using server = await startConformanceServer();
  return await checkServer(server.url, revision);
}
