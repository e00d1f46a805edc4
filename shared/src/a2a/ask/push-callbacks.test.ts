import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SignJWT } from "jose";
import type { A2aClient, NotificationAddress } from "../client/client.ts";
import { openHomeKeys, rotateHomeKey } from "../signing/home-keys.ts";
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
  const keys = await openHomeKeys(home);
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
    const forged = await signNotification("{}", await rotateHomeKey(ours), issued);
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
