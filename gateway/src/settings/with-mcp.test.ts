import { expect, spyOn, test } from "bun:test";
import * as confinement from "manyhands/internal/machine/confinement/create-sandbox";
import * as opening from "manyhands/internal/server/protocols/open-mcp";
import { everyVariable, type McpPlaces, type WithMcpDeps, withMcp } from "./with-mcp.ts";

const config = {
  ...{ home: "/home/of/it", file: "manyhands.toml", mcp: { file: "mcp.json" }, egress: { allow: [] } },
  sandbox: { tier: "bwrap", allowDomains: ["example.org"] },
} as unknown as McpPlaces;

/**
 * What using the servers opens and closes, in order, when opening them or working with them ends
 * like this.
 */
async function used(work: () => Promise<string>, { opens = true } = {}) {
  const did: unknown[] = [];
  const warned: string[] = [];
  const deps = { env: { A: "b" }, shared: {}, warn: (text: string) => warned.push(text) } as unknown as WithMcpDeps;
  const sandbox = { close: async () => void did.push("sandbox closed") };
  using creating = spyOn(confinement, "createSandbox").mockResolvedValue(sandbox as never);
  using open = spyOn(opening, "openMcp").mockImplementation((async (
    given: unknown,
    with_: { logger: { warn(a: object, b?: string): void } },
  ) => {
    did.push(given === config ? "opened" : "opened of others", with_);
    with_.logger.warn({ secret: "s" }, "It is slow.");
    if (!opens) throw new Error("It is damaged.");
    return { close: async () => void did.push("servers closed") };
  }) as unknown as typeof opening.openMcp);
  const result = await withMcp(config, deps, async () => work()).catch((error: Error) => error.message);
  expect(creating.mock.calls).toEqual([
    [{ mode: "bwrap", folder: "/home/of/it/mcp", network: { allow: ["example.org"] } }],
  ]);
  const { env, shared, ...given } = open.mock.calls[0]?.[1] ?? ({} as never);
  expect([env === deps.env, shared === deps.shared, (given.sandbox as unknown) === sandbox]).toEqual([
    true,
    true,
    true,
  ]);
  return { result, did: did.filter((one) => typeof one === "string"), warned };
}

test("servers are used in the sandbox of the settings with what is shared, and all that was opened is closed again", async () => {
  expect(await used(async () => "done")).toEqual({
    ...{ result: "done", did: ["opened", "servers closed", "sandbox closed"], warned: ["It is slow."] },
  });
  const failing = await used(() => Promise.reject(new Error("It failed.")));
  expect(failing).toMatchObject({ result: "It failed.", did: ["opened", "servers closed", "sandbox closed"] });
  const damaged = await used(async () => "done", { opens: false });
  expect(damaged).toMatchObject({ result: "It is damaged.", did: ["opened", "sandbox closed"] });
});

test("a variable that is not set here counts as set, one that is set is what it is", () => {
  const env = everyVariable({ SET: "here", EMPTY: "" });
  expect([env.SET, env.EMPTY, env.ELSEWHERE]).toEqual(["here", "", "https://variable.invalid"]);
});
