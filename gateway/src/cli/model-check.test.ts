import { expect, test } from "bun:test";
import { modelConfigSchema } from "manyhands/internal/models/config";
import { checkModel } from "./model-check.ts";

test("the doctor tells a good endpoint from a refused key, a missing model and a dead address", async () => {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      if (new URL(request.url).pathname !== "/v1/models") return new Response("", { status: 404 });
      if (request.headers.get("Authorization") !== "Bearer right") return new Response("", { status: 401 });
      return Response.json({ data: [{ id: "good" }] });
    },
  });
  const check = (name: string, apiKey: string, baseUrl = `${server.url.origin}/v1/`) =>
    checkModel(modelConfigSchema.parse({ name, apiKey, baseUrl }));
  const good = await check("good", "right");
  const other = await check("other", "right");
  const refused = await check("good", "wrong-key");
  await server.stop(true);
  const dead = await check("good", "right");
  const none = await checkModel(undefined);
  expect([good, other, refused, dead, none].map(({ state }) => state)).toEqual(["ok", "warn", "fail", "fail", "warn"]);
  expect(other.text).toContain("does not list other");
  expect(refused.text).toContain("refuses the key");
  expect(refused.text).not.toContain("wrong-key");
  expect(dead.text).toContain("cannot be reached");
  expect(none.text).toContain("rehearsal");
});
