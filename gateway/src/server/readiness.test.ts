import { expect, test } from "bun:test";
import { serveCard } from "../testing/card-server.ts";
import { startGateway } from "../testing/gateway.ts";

test("a gateway is ready while one of its agents is up, and otherwise says what is wrong with each", async () => {
  await using gateway = await startGateway();
  const get = async (path: string) => {
    const response = await fetch(gateway.url + path);
    return [response.status, await response.json()];
  };
  expect(await get("/readyz")).toEqual([200, { ready: true }]);
  const [first, second] = [serveCard("First"), serveCard("Second")];
  for (const { url } of [first, second]) await gateway.registry.add({ url });
  await first[Symbol.asyncDispose]();
  await gateway.registry.refresh();
  expect(await get("/readyz")).toEqual([200, { ready: true }]);
  await second[Symbol.asyncDispose]();
  await gateway.registry.refresh();
  const reasons = [expect.stringMatching(/^first is down: ./), expect.stringMatching(/^second is down: ./)];
  expect(await get("/readyz")).toEqual([503, { ready: false, reasons }]);
  expect((await get("/healthz"))[0]).toBe(200);
});
