import { expect, test } from "bun:test";
import { recordRequest } from "manyhands/internal/core/runs/asked-request";
import type { Engine, RunRecord } from "manyhands/internal/core/runs/engine";
import type { Runs } from "manyhands/internal/runs/runs";
import { noting, restForTest } from "../../testing/rest.ts";
import { requestRoute } from "./request-route.ts";

const said = (text: string) => ({ role: "user", parts: [{ type: "text", text }] }) as const;
const recorded = ["one", "two"].map((id) =>
  recordRequest({ messages: [said(id)], tools: [], toolChoice: "auto", temperature: 0, maxOutputTokens: 9 }, id),
);

test("what the model was asked is shown of the caller's own run, at the event that reports it", async () => {
  const { asked, functions } = noting({ own: { id: "r1" } as RunRecord });
  const read: unknown[] = [];
  const engine = {
    events: async (id: string, after: number, upTo: number) => {
      read.push([id, after, upTo]);
      return [{ event: { type: "model-replied", request: after === 3 ? "two" : "one" } }];
    },
    recorded: async (id: string, name: string) => {
      read.push([id, name]);
      return recorded;
    },
  } as unknown as Engine;
  const { ask } = restForTest([requestRoute({ runs: functions as unknown as Runs, engine })]);
  const shown = await ask("GET", "/runs/r1/events/4/request");
  expect([shown.status, await shown.json()]).toEqual([
    200,
    { messages: [said("two")], tools: [], toolChoice: "auto", temperature: 0, maxOutputTokens: 9 },
  ] as never);
  expect(asked).toEqual([["own", "r1", "ann"]]);
  expect(read).toEqual([
    ["r1", 3, 4],
    ["r1", "asked"],
  ]);
  for (const seq of ["0", "x"]) expect((await ask("GET", `/runs/r1/events/${seq}/request`)).status).toBe(400);
});
