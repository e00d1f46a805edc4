import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import type { AgentInput } from "manyhands/internal/core/runs/task";
import { startsForTest } from "../../testing/starts.ts";
import { fillTemplate } from "./fill-template.ts";
import { triggerApp } from "./trigger-app.ts";

const at = "2026-11-02T12:00:00Z";
const seconds = `${Date.parse(at) / 1000}`;
const secret = "a-secret-of-the-sender";
const standardSecret = `whsec_${Buffer.from("0123456789abcdef0123").toString("base64")}`;

const toml = `
[triggers.hub]
type = "github"
secret_env = "HOOK_SECRET"
start = "echo"
task = "Look at {{issue.title}} of {{repository.full_name}}"
events = ["issues.opened", "push"]
[triggers.lab]
type = "gitlab"
secret_env = "HOOK_SECRET"
start = "echo"
task = "Look at {{object_attributes.title}}"
[triggers.lab-signed]
type = "gitlab"
secret_env = "STANDARD_SECRET"
start = "echo"
task = "Look at {{object_attributes.title}}"
[triggers.chat]
type = "slack"
secret_env = "HOOK_SECRET"
start = "echo"
task = "Answer {{event.text}}{{text}}"
[triggers.any]
type = "standard"
secret_env = "STANDARD_SECRET"
start = "echo"
task = "{{event}}: {{payload}}"
principal = "alice"
[triggers.own]
type = "hmac"
secret_env = "HOOK_SECRET"
start = "echo"
task = "{{what}}"
signature_header = "X-Own-Signature"
timestamp_header = "X-Own-Time"
`;

const env = { HOOK_SECRET: secret, STANDARD_SECRET: standardSecret };
const open = () => startsForTest(env, { at, toml });
const bytes = (text: string) => new TextEncoder().encode(text);
const hex = (text: string, key: string = secret) => createHmac("sha256", key).update(text).digest("hex");
const issue = JSON.stringify({ action: "opened", issue: { title: "It breaks" }, repository: { full_name: "a/b" } });

function hub(body: string, more: Record<string, string> = {}) {
  const headers = {
    "x-github-event": "issues",
    "x-github-delivery": "d1",
    "x-hub-signature-256": `sha256=${hex(body)}`,
  };
  return { headers: new Headers({ ...headers, ...more }), body: bytes(body) };
}

function standard(body: string, { id = "msg_1", time = seconds, key = standardSecret } = {}) {
  const mac = createHmac("sha256", Buffer.from(key.slice("whsec_".length), "base64")).update(`${id}.${time}.${body}`);
  const signature = `v1,bm90IHRoaXM= v1,${mac.digest("base64")}`;
  const headers = new Headers({ "webhook-id": id, "webhook-timestamp": time, "webhook-signature": signature });
  return { headers, body: bytes(body) };
}

function slack(body: string, { time = seconds, key = secret, type = "application/json" } = {}) {
  const headers = {
    "content-type": type,
    "x-slack-request-timestamp": time,
    "x-slack-signature": `v0=${hex(`v0:${time}:${body}`, key)}`,
  };
  return { headers: new Headers(headers), body: bytes(body) };
}

test("a signed delivery starts one run of the trigger's principal, however often it comes", async () => {
  await using one = await open();
  const first = await one.triggers.receive("hub", hub(issue));
  const again = await one.triggers.receive("hub", hub(issue));
  expect(again).toEqual(first);
  // GitHub's signature covers the body alone: under another id the same body is a replay.
  expect(await one.triggers.receive("hub", hub(issue, { "x-github-delivery": "d2" }))).toEqual(first);
  const [told, ...others] = await one.told();
  expect(others).toEqual([]);
  expect(told).toStartWith("Look at It breaks of a/b\n\nThe values above came with a webhook.");
  expect((await one.triggers.get("hub", "local")).firings).toMatchObject([
    { outcome: "started", delivery: "d1", event: "issues.opened" },
  ]);
});

test("what a template takes from a webhook is a stranger's, from the first turn", async () => {
  await using one = await open();
  await one.triggers.receive("hub", hub(issue));
  const { runs } = await one.engine.list({ kind: "echo", limit: 10 });
  const input = runs[0]?.input as AgentInput | undefined;
  expect(input).toMatchObject({ hops: 1, takenIn: ["webhook"], said: ["Look at  …  of  … "] });
});

test("a wrong, missing or stale signature starts nothing, whichever way the sender signs", async () => {
  await using one = await open();
  const other = `whsec_${Buffer.from("ffffffffffffffffffff").toString("base64")}`;
  const stale = `${Date.parse(at) / 1000 - 301}`;
  const nameless = standard(issue);
  nameless.headers.delete("webhook-id");
  const ownHeaders = (time: string, of: string) => new Headers({ "X-Own-Time": time, "X-Own-Signature": hex(of) });
  const refused = [
    ["hub", hub(issue, { "x-hub-signature-256": `sha256=${hex(issue, "another secret")}` })],
    ["hub", hub(issue, { "x-hub-signature-256": "" })],
    ["hub", { headers: new Headers({ "x-github-event": "issues" }), body: bytes(issue) }],
    // The bytes are signed, not what they mean.
    ["hub", { ...hub(issue), body: bytes(` ${issue}`) }],
    ["lab", { headers: new Headers({ "x-gitlab-token": "another token" }), body: bytes(issue) }],
    ["lab", { headers: new Headers(), body: bytes(issue) }],
    ["lab-signed", { headers: new Headers({ "x-gitlab-token": standardSecret }), body: bytes(issue) }],
    ["lab-signed", standard(issue, { key: other })],
    ["chat", slack(issue, { key: "another secret" })],
    ["chat", slack(issue, { time: stale })],
    ["chat", slack(issue, { time: "1e9" })],
    ["any", standard(issue, { key: other })],
    ["any", nameless],
    ["any", standard(issue, { time: stale })],
    ["any", standard(issue, { time: `${Date.parse(at) / 1000 + 301}` })],
    ["own", { headers: ownHeaders(seconds, issue), body: bytes(issue) }],
    ["own", { headers: ownHeaders(stale, `${stale}.${issue}`), body: bytes(issue) }],
  ] as const;
  for (const [name, webhook] of refused)
    await expect(one.triggers.receive(name, webhook)).rejects.toMatchObject({ code: "unauthorized" });
  expect(await one.told()).toEqual([]);
  expect(one.warned).toEqual(refused.map(() => "A webhook was refused."));
  await expect(one.triggers.receive("nobody", hub(issue))).rejects.toMatchObject({ code: "not_found" });
});

test("a signed webhook that cannot be read starts nothing", async () => {
  await using one = await open();
  for (const body of ["It breaks.", '{"action":']) {
    const code = "invalid_input";
    await expect(one.triggers.receive("hub", hub(body))).rejects.toMatchObject({ code });
  }
  expect(await one.told()).toEqual([]);
});

test("a webhook whose sender names neither it nor its event is listed by its time and its run alone", async () => {
  await using one = await open();
  const signed = `${seconds}.{"what":"x"}`;
  const headers = new Headers({ "X-Own-Time": seconds, "X-Own-Signature": hex(signed) });
  const received = await one.triggers.receive("own", { headers, body: bytes('{"what":"x"}') });
  const runId = received.state === "started" ? received.runId : "";
  const time = Date.parse(at);
  expect((await one.triggers.get("own", "local")).firings).toEqual([
    { due: time, at: time, outcome: "started", runId },
  ]);
});

test("GitLab's token, its signature, Slack's, the standard's and one of your own count", async () => {
  await using one = await open();
  const lab = JSON.stringify({ object_kind: "merge_request", object_attributes: { title: "Draft", action: "open" } });
  const token = new Headers({ "x-gitlab-token": secret, "idempotency-key": "g1" });
  await one.triggers.receive("lab", { headers: token, body: bytes(lab) });
  await one.triggers.receive("lab", { headers: token, body: bytes(lab) });
  await one.triggers.receive("lab-signed", standard(lab));
  await one.triggers.receive(
    "chat",
    slack(JSON.stringify({ type: "event_callback", event_id: "E1", event: { type: "app_mention", text: "hello" } })),
  );
  await one.triggers.receive(
    "chat",
    slack("command=%2Fask&text=a+question&trigger_id=T1", { type: "application/x-www-form-urlencoded" }),
  );
  await one.triggers.receive("any", standard('{"type":"order.paid","n":1}'));
  await one.triggers.receive(
    "any",
    standard('{"type":"order.paid","n":1}', { id: "msg_1", time: `${Number(seconds) + 60}` }),
  );
  const own = '{"what":"Own"}';
  await one.triggers.receive("own", {
    headers: new Headers({ "X-Own-Time": seconds, "X-Own-Signature": hex(`${seconds}.${own}`) }),
    body: bytes(own),
  });
  const told = (await one.told()).map((text) => text.split("\n")[0]).toSorted();
  expect(told).toEqual([
    "Answer a question",
    "Answer hello",
    "Look at Draft",
    "Look at Draft",
    "Own",
    'order.paid: {"type":"order.paid","n":1}',
  ]);
  expect((await one.triggers.get("lab", "local")).firings).toMatchObject([
    { event: "merge_request.open", delivery: "g1" },
  ]);
});

test("Slack is answered with 200 and a text, which it shows to whoever gave a command, others with 202", async () => {
  await using one = await open();
  const app = triggerApp(one.triggers);
  const post = async (name: string, { headers, body }: ReturnType<typeof slack>) => {
    const answer = await app.request(`/hooks/${name}`, { method: "POST", headers, body });
    return [answer.status, (await answer.json()) as Record<string, unknown>] as const;
  };
  const form = slack("command=%2Fask&text=a+question&trigger_id=T2", { type: "application/x-www-form-urlencoded" });
  const [status, said] = await post("chat", form);
  expect([status, said]).toEqual([
    200,
    { state: "started", runId: expect.any(String), text: `Started run ${said.runId}.` },
  ]);
  await one.triggers.pause("chat", "local");
  expect(await post("chat", form)).toEqual([
    200,
    expect.objectContaining({ state: "ignored", text: "Nothing is started: this trigger is paused." }),
  ]);
  expect((await post("any", standard('{"type":"order.paid","n":2}')))[0]).toBe(202);
});

test("Slack's challenge is answered only if it is signed, and starts nothing", async () => {
  await using one = await open();
  const body = '{"type":"url_verification","challenge":"abc"}';
  expect(await one.triggers.receive("chat", slack(body))).toEqual({ state: "challenge", challenge: "abc" });
  await expect(one.triggers.receive("chat", slack(body, { key: "another secret" }))).rejects.toMatchObject({
    code: "unauthorized",
  });
  expect(await one.told()).toEqual([]);
});

test("events that the trigger is not for, and those of a paused one, start nothing", async () => {
  await using one = await open();
  const closed = issue.replace("opened", "closed");
  expect(await one.triggers.receive("hub", hub(closed))).toEqual({
    state: "ignored",
    reason: "this trigger is not for issues.closed",
  });
  await one.triggers.pause("hub", "local");
  expect(await one.triggers.receive("hub", hub(issue))).toMatchObject({ state: "ignored" });
  await one.triggers.resume("hub", "local");
  expect(await one.triggers.receive("hub", hub(issue))).toMatchObject({ state: "started" });
  expect(await one.told()).toHaveLength(1);
});

test("a trigger belongs to its principal, whose quota counts, and never shows its secret", async () => {
  await using one = await startsForTest(env, { at, toml, quotas: { named: { alice: { runsAtOnce: 0 } } } });
  await expect(one.triggers.receive("any", standard('{"type":"a"}'))).rejects.toMatchObject({ code: "quota_exceeded" });
  expect((await one.triggers.get("any", "alice")).firings).toMatchObject([
    { outcome: "refused", reason: expect.stringContaining("limit") },
  ]);
  // Another delivery in the same moment is another one.
  const another = standard('{"type":"b"}', { id: "msg_2" });
  await expect(one.triggers.receive("any", another)).rejects.toMatchObject({ code: "quota_exceeded" });
  const events = (await one.triggers.get("any", "alice")).firings.map(({ event }) => event);
  expect(events).toEqual(["b", "a"]);
  await expect(one.triggers.get("any", "local")).rejects.toMatchObject({ code: "not_found" });
  expect(JSON.stringify(await one.triggers.list("alice"))).not.toContain(standardSecret.slice(6));
  expect(await one.told()).toEqual([]);
});

test("a template takes fields by their path, bounds them, and never fills in what a value says", () => {
  const payload = {
    title: "{{secret}} \u001b[31mred\u202e",
    list: [{ n: 1 }],
    long: "x".repeat(3_000),
    secret: "hidden",
  };
  const fill = (template: string) =>
    fillTemplate(template, { payload, event: "e", delivery: "d" }).text.split("\n\n")[0];
  expect(fill("{{title}}|{{ list.0 }}|{{list.0.n}}|{{missing.field}}|{{title.length}}|{{constructor}}")).toBe(
    '{{secret}} red|{"n":1}|1|||',
  );
  expect(fill("{{long}}")).toBe(`${"x".repeat(2_000)} [cut off]`);
  expect(fill("{{event}} {{delivery}}")).toBe("e d");
  expect(fillTemplate("No fields", { payload, event: "", delivery: "" })).toEqual({
    text: "No fields",
    said: "No fields",
  });
});

test("a secret of the standard that is next to no key is refused, and so is a trigger without one", async () => {
  const short = { ...env, STANDARD_SECRET: "whsec_!!!!!!!!" };
  await expect(startsForTest(short, { at, toml })).rejects.toMatchObject({ code: "config_invalid" });
  const without = '[triggers.hub]\ntype = "github"\nstart = "echo"\ntask = "x"\n';
  await expect(startsForTest({}, { at, toml: without })).rejects.toThrow("[triggers.hub] needs secret_env or secret.");
});
