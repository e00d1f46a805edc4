import { afterEach, expect, mock, spyOn, test } from "bun:test";
import { RestateEndpoint } from "./restate-endpoint.ts";
import { createRestateEngine } from "./restate-engine.ts";

afterEach(() => mock.restore());

test("Restate's calls are answered until the engine has come to rest, and no longer", async () => {
  const order: string[] = [];
  const close = RestateEndpoint.prototype.close;
  spyOn(RestateEndpoint.prototype, "remove").mockImplementation(() => void order.push("worker left"));
  spyOn(RestateEndpoint.prototype, "close").mockImplementation(function (this: RestateEndpoint) {
    order.push("endpoint closed");
    return close.call(this);
  });
  const engine = createRestateEngine({
    url: "postgres://postgres@127.0.0.1:1/gone",
    restate: { admin: "http://127.0.0.1:1", ingress: ["http://127.0.0.1:1"], prefix: "p" },
  });
  const closing = engine.close({ graceMs: 0 });
  expect(order).toEqual([]);
  await closing;
  expect(order).toEqual(["worker left", "endpoint closed"]);
  await expect(engine.get("r")).rejects.toMatchObject({ code: "unavailable" });
});
