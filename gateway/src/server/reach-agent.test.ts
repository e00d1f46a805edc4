import { expect, test } from "bun:test";
import type { Peers } from "manyhands/internal/a2a/ask/peers";
import { reachAgent } from "./reach-agent.ts";

const agents: Record<string, string> = { manus: "http://manus.here//", guest: "http://guest.example" };

/** Agents of which those here are of this system, and one moved since it was asked. */
function reachForTest() {
  const fetched: unknown[] = [];
  const peers = {
    at: ({ name, url }: { name: string; url: string }) => ({
      name,
      url: url.replace("before", "now").replace(".here.now", ""),
    }),
    actingFor: (principal: string) => ({
      fetch: (address: object) => {
        fetched.push([principal, address]);
        return fetch;
      },
    }),
  } as unknown as Pick<Peers, "actingFor" | "at">;
  const registry = {
    get: (name: string) => (agents[name] === undefined ? undefined : ({ url: agents[name] } as never)),
    isOwn: (url: string) => url.includes(".here"),
  };
  return { reach: reachAgent(peers, registry), fetched };
}

test("an agent of this system is reached where it is now, in the principal's name, and no other agent is", () => {
  const { reach, fetched } = reachForTest();
  expect(reach({ name: "manus", url: undefined }, "ann")?.url).toBe("http://manus.here");
  expect(reach({ name: "swe", url: "http://before.here/swe" }, "bob")?.url).toBe("http://now.here/swe");
  expect(fetched).toEqual([
    ["ann", { name: "manus", url: "http://manus.here//" }],
    ["bob", { name: "swe", url: "http://now.here/swe" }],
  ]);
  for (const agent of [
    { name: "guest", url: undefined },
    { name: "manus", url: "http://evil.example" },
    { name: "nobody", url: undefined },
    // Where it was is no matter of where it is now.
    { name: "swe", url: "http://was.here.before.example/swe" },
  ])
    expect([agent, reach(agent, "ann")]).toEqual([agent, undefined]);
  expect(fetched).toHaveLength(2);
});
