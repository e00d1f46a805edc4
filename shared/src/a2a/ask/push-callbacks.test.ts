import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SignJWT } from "jose";
import { AppError } from "../../core/errors.ts";
import type { A2aClient, NotificationAddress } from "../client/client.ts";
import { keyFiles, openHomeKeys, rotateHomeKey } from "../signing/home-keys.ts";
import { createKeySets } from "../signing/key-sets.ts";
import { signatureHeader, signNotification } from "../signing/notification-signature.ts";
import { createPushCallbacks } from "./push-callbacks.ts";

const { signal } = new AbortController();

const task = (askId: string, agentUrl = "http://127.0.0.1:1") => ({ taskId: "t", askId, agentUrl });
const given = (token: string, headers = {}, body = "{}") => ({
  headers: new Headers({ "X-A2A-Notification-Token": token, ...headers }),
  body,
});

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
  expect(await pushCallbacks.subscribe(client, task("run/1"), signal)).toBe(true);
  const token = told[0]?.token ?? "";
  const first = pushCallbacks.next("run/1");
  await pushCallbacks.notify("run/1", given(token));
  const second = pushCallbacks.next("run/1");
  expect([first.aborted, second.aborted]).toEqual([true, false]);
  await pushCallbacks.notify("run/1", given(token));
  expect([second.aborted, pushCallbacks.next("run/1").aborted]).toEqual([true, false]);
});

test("only an agent whose card says that it notifies is asked to, and ten thousand asks are remembered", async () => {
  const { told, client } = ringing();
  const callbacks = createPushCallbacks({ url: "http://127.0.0.1:9/doorbell", secret: "s" });
  for (const capabilities of [undefined, {}, { pushNotifications: false }]) {
    const silent = { ...client, card: { capabilities } } as unknown as A2aClient;
    expect(await callbacks.subscribe(silent, task("run/1"), signal)).toBe(false);
  }
  expect(told).toEqual([]);
  for (let n = 0; n <= 10_000; n++) await callbacks.subscribe(client, task(`run/${n}`), signal);
  expect([0, 1, 10_000].map((n) => callbacks.knows(`run/${n}`))).toEqual([false, true, true]);
});

test("a token is valid for its own ask only, and wakes no other", async () => {
  const { told, client } = ringing();
  const pushCallbacks = createPushCallbacks({ url: "http://127.0.0.1:9/doorbell", secret: "s" });
  await pushCallbacks.subscribe(client, task("run/1"), signal);
  await pushCallbacks.subscribe(client, task("run/2"), signal);
  const [one, two] = [pushCallbacks.next("run/1"), pushCallbacks.next("run/2")];
  for (const wrong of [told[1]?.token ?? "", "", "é".repeat(43)])
    await expect(pushCallbacks.notify("run/1", given(wrong))).rejects.toMatchObject({ code: "unauthorized" });
  await pushCallbacks.notify("run/2", given(told[1]?.token ?? ""));
  expect([one.aborted, two.aborted]).toEqual([false, true]);
});

test("a signed notification has to be signed by its agent, for its body and lately; an agent without keys needs only the token", async () => {
  const home = await mkdtemp(join(tmpdir(), "push-keys-"));
  const keys = await openHomeKeys(keyFiles(home));
  const jwks = async () => ({ keys: (await keys.ring()).map(({ publicKey }) => publicKey) });
  let publishes = true;
  await using agent = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async () => (publishes ? Response.json(await jwks()) : new Response(null, { status: 404 })),
  });
  const { told, client } = ringing();
  const open = async () => {
    const keySets = createKeySets({ egress: { allow: [], deny: [], only: [] }, againMs: 0 });
    const callbacks = createPushCallbacks({ url: "http://127.0.0.1:9/doorbell", secret: "s", keySets });
    await callbacks.subscribe(client, task("run/1", agent.url.origin), signal);
    return callbacks;
  };
  const issued = { issuer: agent.url.origin, audience: "http://127.0.0.1:9/doorbell/run%2F1" };
  const jwt = await signNotification("{}", await keys.ring(), issued);
  const callbacks = await open();
  const token = told[0]?.token ?? "";
  const refused = (headers: object, body?: string) =>
    expect(callbacks.notify("run/1", given(token, headers, body))).rejects.toMatchObject({ code: "unauthorized" });
  try {
    await callbacks.notify("run/1", given(token));
    await callbacks.notify("run/1", given(token, { [signatureHeader]: jwt }));
    await callbacks.notify("run/1", given(token, { Authorization: `Bearer ${jwt}` }));
    await refused({ [signatureHeader]: jwt }, '{"other":1}');
    await refused({ [signatureHeader]: `${jwt.slice(0, -8)}AAAAAAAA` });
    const ours = await mkdtemp(join(home, "other-"));
    const forged = await signNotification("{}", await rotateHomeKey(keyFiles(ours)), issued);
    await refused({ [signatureHeader]: forged });
    const [{ key, alg, publicKey }] = await keys.ring();
    const signedAt = (seconds: number) =>
      new SignJWT({ jti: "once" })
        .setProtectedHeader({ alg, kid: publicKey.kid, jku: `${issued.issuer}/.well-known/jwks.json` })
        .setIssuedAt(Math.floor(Date.now() / 1000) - seconds)
        .sign(key);
    await callbacks.notify("run/1", given(token, { [signatureHeader]: await signedAt(60) }));
    await refused({ [signatureHeader]: await signedAt(400) });
    const elsewhere = await signNotification("{}", await keys.ring(), { ...issued, issuer: "https://example.com" });
    await refused({ [signatureHeader]: elsewhere });
    publishes = false;
    await (await open()).notify("run/1", given(token, { Authorization: `Bearer ${jwt}` }));
  } finally {
    await rm(home, { recursive: true });
  }
});

const told = task("r/1");

/**
 * A client of an agent that sends notifications, or says it does not; each subscription is answered
 * in turn.
 */
function clientThat(pushNotifications: boolean, ...answers: readonly (Error | undefined)[]) {
  const asked: NotificationAddress[] = [];
  const left = [...answers];
  const client = {
    card: { capabilities: { pushNotifications } },
    async notify(_: string, address: NotificationAddress) {
      asked.push(address);
      const error = left.shift();
      if (error !== undefined) throw error;
    },
  } as unknown as A2aClient;
  return { client, asked };
}

test("an agent is told once for each ask where to notify, whatever it answered, and one that cannot is not asked", async () => {
  const callbacks = createPushCallbacks({ url: "https://our.example/doorbell//", secret: "s" });
  const { client, asked } = clientThat(true, undefined, new AppError("unsupported", "No."));
  expect(callbacks.knows("r/1")).toBe(false);
  for (const _ of [1, 2]) expect(await callbacks.subscribe(client, told, signal)).toBe(true);
  for (const _ of [1, 2]) expect(await callbacks.subscribe(client, { ...told, askId: "r/2" }, signal)).toBe(false);
  expect([callbacks.knows("r/1"), callbacks.knows("r/2")]).toEqual([true, false]);
  expect(asked.map(({ url }) => url)).toEqual([
    "https://our.example/doorbell/r%2F1",
    "https://our.example/doorbell/r%2F2",
  ]);
  const mute = clientThat(false);
  expect(await callbacks.subscribe(mute.client, { ...told, askId: "r/3" }, signal)).toBe(false);
  expect([mute.asked, callbacks.knows("r/3")]).toEqual([[], false]);
});

test("a bug while subscribing is no refusal, and who has given up learns nothing from one", async () => {
  const callbacks = createPushCallbacks({ url: "https://our.example", secret: "s" });
  const failing = (error: Error, until = signal) => callbacks.subscribe(clientThat(true, error).client, told, until);
  await expect(failing(new TypeError("bug"))).rejects.toThrow("bug");
  const gone = AbortSignal.abort(new Error("the step is over"));
  await expect(failing(new AppError("unavailable", "x"), gone)).rejects.toThrow("the step is over");
});

test("two that listen for one ask are woken by one notification, and who has left by none", async () => {
  const callbacks = createPushCallbacks({ url: "https://our.example", secret: "s" });
  const { client, asked } = clientThat(true);
  await callbacks.subscribe(client, told, signal);
  const headers = new Headers({ "X-A2A-Notification-Token": asked[0]?.token ?? "" });
  const [one, two] = [callbacks.next("r/1"), callbacks.next("r/1")];
  callbacks.leave("r/2");
  await callbacks.notify("r/1", { headers, body: "" });
  expect([one.aborted, two.aborted]).toEqual([true, true]);
  const left = callbacks.next("r/1");
  callbacks.leave("r/1");
  await callbacks.notify("r/1", { headers, body: "" });
  expect(left.aborted).toBe(false);
});
