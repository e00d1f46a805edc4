import { expect, test } from "bun:test";
import type { PushCallbacks } from "manyhands/internal/a2a/ask/push-callbacks";
import type { KeySets } from "manyhands/internal/a2a/signing/key-sets";
import { errorCodes, publicError } from "manyhands/internal/core/errors";
import { textInMemory } from "manyhands/internal/testing/durable/text-in-memory";
import { openPushCallbacks, pushCallbackApp } from "./push-callback-app.ts";

function appWith(callbacks: PushCallbacks | undefined) {
  const app = pushCallbackApp(callbacks);
  app.onError((error) => new Response(null, { status: errorCodes[publicError(error).code].status }));
  return app;
}

test("a notification reaches the ask it is for, whole, with its headers", async () => {
  const told: unknown[] = [];
  const notify: PushCallbacks["notify"] = async (ask, { headers, body }) =>
    void told.push([ask, headers.get("X-A2A-Notification-Token"), body]);
  const app = appWith({ notify } as PushCallbacks);
  const post = (path: string, body: string) =>
    app.request(path, { method: "POST", headers: { "X-A2A-Notification-Token": "t" }, body });
  expect((await post("/doorbell/a%2F1", "{}")).status).toBe(204);
  expect(told).toEqual([["a/1", "t", "{}"]]);
  expect((await post("/doorbell/a", "x".repeat(11_000_000))).status).toBe(413);
  expect((await app.request("/doorbell/a")).status).toBe(404);
  expect((await appWith(undefined).request("/doorbell/a", { method: "POST", body: "{}" })).status).toBe(404);
  expect(told).toHaveLength(1);
});

test("agents are told one address and a token that outlives the gateway; without a public address none", async () => {
  const text = textInMemory();
  expect(await openPushCallbacks(text, undefined, {} as KeySets)).toBeUndefined();
  const tell = async () => {
    const callbacks = await openPushCallbacks(text, "https://team.example/base/", {} as KeySets);
    const told: unknown[] = [];
    const client = {
      card: { capabilities: { pushNotifications: true } },
      notify: async (...given: unknown[]) => void told.push(...given.slice(0, 2)),
    };
    const task = { taskId: "t", askId: "r/1", agentUrl: "http://agent.example" };
    await callbacks?.subscribe(client as never, task, new AbortController().signal);
    return told;
  };
  const first = await tell();
  expect(first).toEqual([
    "t",
    { id: "manyhands", url: "https://team.example/base/doorbell/r%2F1", token: expect.stringMatching(/^[\w-]{43}$/) },
  ]);
  expect(await tell()).toEqual(first);
  const other = await openPushCallbacks(textInMemory(), "https://team.example", {} as KeySets);
  await expect(other?.notify("r/1", { headers: new Headers(), body: "{}" })).rejects.toMatchObject({
    code: "unauthorized",
  });
});
