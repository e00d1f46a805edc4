import { expect, test } from "bun:test";
import type { Deliveries } from "manyhands/internal/a2a/push/deliveries";
import { AppError } from "manyhands/internal/core/errors";
import { notifyKind } from "../starts/notify/notify-run.ts";
import { cliForTest } from "../testing/cli.ts";
import { echo, startGateway, type TestGateway } from "../testing/gateway.ts";
import { noting, restForTest } from "../testing/rest.ts";
import { deliveryRoutes } from "./delivery-routes.ts";

/** Has a receiver given up at the third event; returns the delivery's id. */
async function giveUp({ engine }: TestGateway, principal = "local"): Promise<string> {
  const config = { id: "c", url: "https://hook.example/x", token: "never-shown", wire: "1.0" };
  const input = { taskId: "t1", config, after: 0, snapshot: false };
  const { run } = await engine.start({ kind: "echo/push", input, principal, contextId: "t1" });
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await Bun.sleep(10))
    if ((await engine.get(run.id))?.status === "failed") return run.id;
  throw new Error("it was not given up");
}

async function gatewayWithReceivers(): Promise<TestGateway> {
  const gateway = await startGateway();
  gateway.engine.work([
    {
      kind: "echo/push",
      async execute(run) {
        run.emit({ type: "receiver-given-up", after: 3 });
        throw new AppError("rejected", "hook.example was not told of task t1: it answered with HTTP status 410");
      },
    },
  ]);
  return gateway;
}

test("deliveries that were given up are listed, shown and sent again over HTTP, each to its own principal", async () => {
  await using gateway = await gatewayWithReceivers();
  const id = await giveUp(gateway);
  const foreign = await giveUp(gateway, "alice");
  const call = async (path: string, method = "GET") => {
    const response = await fetch(`${gateway.url}/deliveries${path}`, { method });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  const { body } = await call("");
  expect(body.deliveries).toEqual([
    {
      id,
      taskId: "t1",
      url: "https://hook.example/x",
      state: "failed",
      reason: expect.stringContaining("410"),
      after: 3,
      updatedAt: expect.any(String),
    },
  ]);
  expect((await call(`/${id}`)).body).toEqual(body.deliveries[0]);
  const again = await call(`/${id}/retry`, "POST");
  expect([again.status, again.body.after]).toEqual([202, 3]);
  expect(again.body.id).not.toBe(id);
  expect((await call(`/${id}/retry`, "POST")).body.id).toBe(again.body.id);
  const delivered = { kind: "echo/push", principal: "local", contextId: "t2", canceled: true } as const;
  const config = { id: "c", url: "https://hook.example/x", token: "never-shown", wire: "1.0" };
  const input = { taskId: "t2", config, after: 0, snapshot: false };
  const { run } = await gateway.engine.start({ ...delivered, input });
  const idsIn = async (query: string) =>
    (await call(query)).body.deliveries.map(({ id }: { readonly id: string }) => id);
  expect(await idsIn("?state=failed")).not.toContain(run.id);
  expect(await idsIn("?state=all")).toContain(run.id);
  for (const [path, method] of [
    ["", "GET"],
    ["/retry", "POST"],
  ] as const) {
    const [theirs, none] = [await call(`/${foreign}${path}`, method), await call(`/none${path}`, method)];
    expect(theirs.status).toBe(404);
    expect(theirs.body.detail.replace(foreign, "none")).toBe(none.body.detail);
  }
});

test("the command line lists, shows and sends them again", async () => {
  await using gateway = await gatewayWithReceivers();
  await using cli = await cliForTest({ env: { GATEWAY_PORT: new URL(gateway.url).port } });
  expect(await cli.run("deliveries")).toBe(0);
  expect(cli.said()).toContain("No notifications were given up.");
  const id = await giveUp(gateway);
  for (const command of [["list"], ["show", id], ["retry", id], ["list", "--all", "--json"]])
    expect([command, await cli.run("deliveries", ...command)]).toEqual([command, 0]);
  expect(cli.out()).toContain(`${id}  ·  failed  ·  https://hook.example/x  ·  task t1`);
  expect(cli.out()).toContain("HTTP status 410");
  expect(cli.out()).not.toContain("never-shown");
  expect(await cli.run("deliveries", "retry", "none")).toBe(1);
  expect(cli.said()).toContain("There is no delivery");
});

test("fifty deliveries that were given up are listed unless other or more are asked for, two hundred at most", async () => {
  const { asked, functions } = noting({ list: [] });
  const { ask } = restForTest(deliveryRoutes(functions as unknown as Deliveries));
  for (const [query, status] of [
    ["", 200],
    ["?state=all&limit=200", 200],
    ["?limit=201", 400],
    ["?limit=0", 400],
    ["?state=active", 400],
  ] as const)
    expect([query, (await ask("GET", `/deliveries${query}`)).status]).toEqual([query, status]);
  expect(asked).toEqual([
    ["list", "ann", { all: false, limit: 50 }],
    ["list", "ann", { all: true, limit: 200 }],
  ]);
});

test("deliveries are those of flows, of agents wherever their runs were started, and of the settings' targets", async () => {
  const runnable = { ...echo, type: "agent", name: "helper", kind: "agent:helper", ownKind: "helper" } as const;
  const other = { runnable, execute: async () => ({ answer: "" }) };
  await using gateway = await startGateway({ flows: [other] });
  const config = { id: "c", url: "https://hook.example/x" };
  const kinds = ["echo/push", "agent:helper/push", "helper/push", notifyKind, "stranger/push"];
  const ids: string[] = [];
  for (const [at, kind] of kinds.entries()) {
    const input = { taskId: `t${at}`, config, after: 0, snapshot: false };
    const about = { kind, input, principal: "local", contextId: "c", canceled: true };
    ids.push((await gateway.engine.start(about)).run.id);
  }
  const { deliveries } = (await (await fetch(`${gateway.url}/deliveries?state=all`)).json()) as {
    deliveries: readonly { readonly id: string }[];
  };
  expect(deliveries.map(({ id }) => id).toSorted()).toEqual(ids.slice(0, 4).toSorted());
  expect((await fetch(`${gateway.url}/deliveries/${ids[4]}`)).status).toBe(404);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(metrics).toContain('manyhands_receivers{agent="gateway",status="canceled"} 3');
});
