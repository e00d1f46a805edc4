import { expect, test } from "bun:test";
import type { A2aClient, NotificationAddress } from "../client/client.ts";
import { createPushCallbacks } from "./push-callbacks.ts";

const { signal } = new AbortController();

/** A client of an agent that accepts push subscriptions. */
function ringing() {
  const told: NotificationAddress[] = [];
  const client = {
    card: { capabilities: { pushNotifications: true } },
    notify: async (_: string, receiver: NotificationAddress) => void told.push(receiver),
  } as unknown as A2aClient;
  return { told, client };
}

test("each notification wakes the current listener once; listening again waits for the next", async () => {
  const { told, client } = ringing();
  const pushCallbacks = createPushCallbacks({ url: "http://127.0.0.1:9/doorbell", secret: "s" });
  expect(await pushCallbacks.subscribe(client, "t", "run/1", signal)).toBe(true);
  const token = told[0]?.token ?? "";
  const first = pushCallbacks.next("run/1");
  pushCallbacks.notify("run/1", token);
  const second = pushCallbacks.next("run/1");
  expect([first.aborted, second.aborted]).toEqual([true, false]);
  pushCallbacks.notify("run/1", token);
  expect([second.aborted, pushCallbacks.next("run/1").aborted]).toEqual([true, false]);
});

test("a token is valid for its own ask only, and wakes no other", async () => {
  const { told, client } = ringing();
  const pushCallbacks = createPushCallbacks({ url: "http://127.0.0.1:9/doorbell", secret: "s" });
  await pushCallbacks.subscribe(client, "t", "run/1", signal);
  await pushCallbacks.subscribe(client, "t", "run/2", signal);
  const [one, two] = [pushCallbacks.next("run/1"), pushCallbacks.next("run/2")];
  for (const wrong of [told[1]?.token ?? "", "", "é".repeat(43)])
    expect(() => pushCallbacks.notify("run/1", wrong)).toThrow(expect.objectContaining({ code: "unauthorized" }));
  pushCallbacks.notify("run/2", told[1]?.token ?? "");
  expect([one.aborted, two.aborted]).toEqual([false, true]);
});
