import { expect, test } from "bun:test";
import type { RunRecord } from "manyhands/internal/core/runs/engine";
import { noting, restForTest } from "../testing/rest.ts";
import { type ShareRoutesDeps, shareRoutes } from "./share-routes.ts";

const dayMs = 86_400_000;
const share = { id: "s1", runId: "r1", principal: "ann", createdAt: 1_000, expiresAt: 2_000 };
const shown = { id: "s1", runId: "r1", createdAt: "1970-01-01T00:00:01.000Z", expiresAt: "1970-01-01T00:00:02.000Z" };

function routes() {
  const shares = noting({
    add: { ...share, secret: "mhs_x" },
    list: [share, { ...share, id: "s2", runId: "r2" }],
    revoke: undefined,
  });
  const runs = noting({ own: { id: "r1" } as RunRecord });
  const deps = { runs: runs.functions, shares: shares.functions, publicUrl: "https://team.example/base/" };
  return { ...restForTest(shareRoutes(deps as unknown as ShareRoutesDeps)), asked: shares.asked, owned: runs.asked };
}

test("a link is made for the caller's own run, for a week unless told otherwise, and its secret is kept nowhere", async () => {
  const { ask, asked, owned } = routes();
  const made = await ask("POST", "/runs/r1/shares", { json: {} });
  expect([made.status, made.headers.get("Cache-Control"), await made.json()]).toEqual([
    ...[201, "no-store"],
    { ...shown, secret: "mhs_x", url: "https://team.example/base/#/shared/mhs_x" },
  ]);
  const lives = [60_000, 90 * dayMs];
  for (const lifeMs of lives) expect((await ask("POST", "/runs/r1/shares", { json: { lifeMs } })).status).toBe(201);
  expect(asked).toEqual([7 * dayMs, ...lives].map((lifeMs) => ["add", { runId: "r1", principal: "ann", lifeMs }]));
  expect(owned).toEqual(Array(3).fill(["own", "r1", "ann"]));
  for (const json of [{ lifeMs: 59_999 }, { lifeMs: 90 * dayMs + 1 }, { lifeMs: 60_000.5 }, { runId: "r2" }])
    expect([json, (await ask("POST", "/runs/r1/shares", { json })).status]).toEqual([json, 400]);
  expect(asked).toHaveLength(3);
});

test("a caller's links are listed, those of one run if asked, and revoked in the caller's name", async () => {
  const { ask, asked } = routes();
  const ids = async (query: string) =>
    ((await (await ask("GET", `/shares${query}`)).json()) as { shares: { id: string }[] }).shares.map(({ id }) => id);
  expect([await ids(""), await ids("?runId=r2"), await ids("?runId=r3")]).toEqual([["s1", "s2"], ["s2"], []]);
  expect((await ask("DELETE", "/shares/s1")).status).toBe(204);
  expect(asked).toEqual([...Array(3).fill(["list", "ann"]), ["revoke", "s1", "ann"]]);
});
