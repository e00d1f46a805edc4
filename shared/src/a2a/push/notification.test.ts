import { expect, test } from "bun:test";
import { decodeJwt } from "jose";
import type { RunEvent } from "../../core/runs/run.ts";
import { applyEvent, emptyProjection, type TaskProjection } from "../../runs/projection.ts";
import { eventNotification, signedNotification, taskNotification } from "./notification.ts";
import { type PushConfig, pushConfig, pushConfigView } from "./push-config.ts";

const identity = { id: "t", contextId: "c" } as Parameters<typeof taskNotification>[1];
const config = (over: Partial<PushConfig> = {}): PushConfig => ({
  id: "r",
  url: "https://r.example",
  token: "",
  wire: "1.0",
  ...over,
});
const headersOf = (over: Partial<PushConfig>) =>
  taskNotification(config(over), identity, emptyProjection, "http://a.example").headers;

test("a notification says its type and version, and has the token and credentials that its receiver wants", () => {
  expect(headersOf({})).toEqual({ "content-type": "application/a2a+json", "A2A-Version": "1.0" });
  expect(headersOf({ token: "abc" })).toMatchObject({ "X-A2A-Notification-Token": "abc" });
  const authentication = (credentials: string) => ({ authentication: { scheme: "Basic", credentials } });
  expect(headersOf(authentication("dXM6"))).toMatchObject({ authorization: "Basic dXM6" });
  expect(headersOf(authentication(""))).toMatchObject({ authorization: "Basic" });
  expect(headersOf({ token: "abc", wire: "0.3" })).toMatchObject({ "X-A2A-Notification-Token": "abc" });
  expect(headersOf({ wire: "0.3" })).toMatchObject({ "content-type": "application/json", "A2A-Version": "0.3" });
});

/** What a receiver is told of an event that comes after others. */
function told(wire: PushConfig["wire"], before: TaskProjection, event: RunEvent) {
  const stored = { runId: "t", seq: before.seq + 1, at: 0, event };
  const projection = applyEvent(before, stored);
  const sent = eventNotification(config({ wire }), identity, { projection, before, stored }, "http://a.example");
  return { projection, body: sent && JSON.parse(sent.body) };
}
const step: RunEvent = { type: "step-started", step: 1, maxSteps: 9 };
const artifact: RunEvent = {
  type: "artifact-added",
  artifactId: "a",
  name: "a.txt",
  parts: [{ type: "text", text: "x" }],
};

test("receivers of 0.3 get the whole task when its state or its artifacts change, those of 1.0 every event", () => {
  const first = told("0.3", emptyProjection, step);
  const same = told("0.3", first.projection, { ...step, step: 2 });
  expect(same.body).toBeUndefined();
  const added = told("0.3", same.projection, artifact);
  expect(added.body).toMatchObject({ kind: "task", id: "t", artifacts: [{ name: "a.txt" }] });
  const again = told("0.3", added.projection, { ...artifact, parts: [{ type: "text", text: "y" }] });
  expect(again.body).toMatchObject({ artifacts: [{ parts: [{ text: "y" }] }] });
  const ended = told("0.3", added.projection, { type: "run-ended", status: "completed" });
  expect(ended.body).toMatchObject({ kind: "task", status: { state: "completed" } });
  expect(told("1.0", first.projection, { ...step, step: 2 }).body).toHaveProperty("statusUpdate");
  expect(told("1.0", first.projection, artifact).body).toHaveProperty("artifactUpdate");
});

test("a signature is a bearer token only where the receiver wants no credentials of its own", async () => {
  const { privateKey } = (await import("node:crypto")).generateKeyPairSync("ed25519");
  const ring = [{ alg: "EdDSA", key: privateKey, publicKey: { kid: "k", kty: "OKP" } }] as never;
  const plain = taskNotification(config(), identity, emptyProjection, "http://a.example");
  const signed = await signedNotification(config(), plain, ring, "http://a.example");
  const jwt = signed.headers["X-A2A-Notification-Signature"] ?? "";
  expect(signed).toEqual({
    headers: { ...plain.headers, "X-A2A-Notification-Signature": jwt, authorization: `Bearer ${jwt}` },
    body: plain.body,
  });
  expect(decodeJwt(jwt)).toMatchObject({ iss: "http://a.example", aud: "https://r.example" });
  const own = config({ authentication: { scheme: "Basic", credentials: "dXM6" } });
  const notification = taskNotification(own, identity, emptyProjection, "http://a.example");
  const both = await signedNotification(own, notification, ring, "http://a.example");
  expect(both.headers.authorization).toBe("Basic dXM6");
  expect(both.headers["X-A2A-Notification-Signature"]?.split(".")).toHaveLength(3);
});

test("a receiver without an id gets the same one each time, and another one for anything else", () => {
  const asked = { tenant: "", taskId: "t", id: "", url: "https://r.example", token: "", authentication: undefined };
  const { id } = pushConfig(asked, "1.0");
  expect(id).toMatch(/^[0-9a-f]{32}$/);
  expect(pushConfig({ ...asked, taskId: "other" }, "1.0").id).toBe(id);
  const authentication = { scheme: "Basic", credentials: "dXM6" };
  const others = [{ url: "https://s.example" }, { token: "x" }, { authentication }].map(
    (over) => pushConfig({ ...asked, ...over }, "1.0").id,
  );
  expect(new Set([id, ...others, pushConfig(asked, "0.3").id]).size).toBe(5);
  expect(pushConfigView("t", pushConfig({ ...asked, id: "mine", authentication }, "1.0"))).toEqual({
    ...asked,
    id: "mine",
    authentication,
  });
});
