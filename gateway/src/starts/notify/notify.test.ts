import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import type { Engine } from "manyhands/internal/core/runs/engine";
import { SMTPServer } from "smtp-server";
import { startGateway } from "../../testing/gateway.ts";

const secret = `whsec_${Buffer.from("0123456789abcdef0123").toString("base64")}`;
const json = { "Content-Type": "application/json" };

type Post = { readonly headers: Headers; readonly body: string };

/** A receiver of webhooks that answers with these statuses in turn, and then with 204. */
function receiver(statuses: number[] = []) {
  const posts: Post[] = [];
  const waiting: (() => void)[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      posts.push({ headers: request.headers, body: await request.text() });
      for (const wake of waiting.splice(0)) wake();
      return new Response(null, { status: statuses.shift() ?? 204 });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/in`,
    posts,
    async many(count: number) {
      while (posts.length < count) {
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.push(resolve);
        await promise;
      }
      return posts;
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

async function start(url: string, input: string): Promise<string> {
  const response = await fetch(`${url}/flows/echo`, { method: "POST", headers: json, body: JSON.stringify({ input }) });
  const { runId } = (await response.json()) as { runId: string };
  return runId;
}

function notify(url: string, runId: string, targets: string[]) {
  return fetch(`${url}/runs/${runId}/notify`, { method: "POST", headers: json, body: JSON.stringify({ targets }) });
}

async function notified(engine: Engine, status: "failed" | "completed") {
  for (;;) {
    const { runs } = await engine.list({ kind: "gateway/notify", statuses: [status], limit: 10 });
    if (runs.length > 0) return runs;
    await Bun.sleep(20);
  }
}

test("a webhook is told of the end of a run, signed, once, and again after it was away", async () => {
  await using there = receiver([503]);
  const toml = `[notify.ci]\ntype = "webhook"\nurl = "${there.url}"\nsecret_env = "CI_SECRET"\n`;
  await using gateway = await startGateway({ toml, env: { CI_SECRET: secret } });
  const runId = await start(gateway.url, "hello");
  expect((await notify(gateway.url, runId, ["ci"])).status).toBe(204);
  expect((await notify(gateway.url, runId, ["ci"])).status).toBe(204);
  const [first, second] = await there.many(2);
  expect(JSON.parse(second?.body ?? "")).toEqual({
    type: "run.completed",
    title: "Done: hello",
    text: "hello",
    url: `${gateway.url}/#/runs/${runId}`,
    runId,
  });
  const id = second?.headers.get("webhook-id");
  expect(first?.headers.get("webhook-id")).toBe(id ?? "");
  const key = Buffer.from(secret.slice(6), "base64");
  const mac = createHmac("sha256", key).update(`${id}.${second?.headers.get("webhook-timestamp")}.${second?.body}`);
  expect(second?.headers.get("webhook-signature")).toBe(`v1,${mac.digest("base64")}`);
  await notified(gateway.engine, "completed");
  expect(there.posts).toHaveLength(2);
});

test("Slack's form is told of a question and of the end, and no answer can call everybody", async () => {
  await using there = receiver();
  const toml = `[notify.chat]\ntype = "slack"\nurl_env = "CHAT_URL"\n`;
  await using gateway = await startGateway({ toml, env: { CHAT_URL: there.url } });
  const runId = await start(gateway.url, "ask <!channel> & <https://evil.test|here>");
  await notify(gateway.url, runId, ["chat"]);
  const [asked] = await there.many(1);
  const link = `<${gateway.url}/#/runs/${runId}|Open the run>`;
  const about = "ask &lt;!channel&gt; &amp; &lt;https://evil.test|here&gt;";
  expect(JSON.parse(asked?.body ?? "")).toEqual({ text: `*Waiting for you: ${about}*\nReally?\n${link}` });
  await fetch(`${gateway.url}/runs/${runId}/answer`, {
    method: "POST",
    headers: json,
    body: JSON.stringify({ input: "yes" }),
  });
  const [, ended] = await there.many(2);
  expect(JSON.parse(ended?.body ?? "")).toEqual({ text: `*Done: ${about}*\n${about}\n${link}` });
  const targets = await (await fetch(`${gateway.url}/notify`)).json();
  expect(targets).toEqual({ targets: [{ name: "chat", type: "slack" }] });
});

test("an e-mail is plain text with one line as its subject, and the password is asked for over TLS alone", async () => {
  const mails: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData(stream, _, done) {
      let mail = "";
      stream.on("data", (chunk: Buffer) => (mail += chunk.toString()));
      stream.on("end", () => {
        mails.push(mail);
        done();
      });
    },
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const { port } = server.server.address() as { port: number };
  const place = `host = "127.0.0.1"\nport = ${port}\nfrom = "agents@example.com"\nto = ["me@example.com"]\n`;
  const toml = `[notify.me]\ntype = "email"\nsecurity = "none"\n${place}[notify.safe]\ntype = "email"\n${place}`;
  await using gateway = await startGateway({ toml });
  const runId = await start(gateway.url, "fail\r\nBcc: everybody@example.com");
  await notify(gateway.url, runId, ["me"]);
  await notified(gateway.engine, "completed");
  expect(mails).toHaveLength(1);
  expect(mails[0]).toContain("Subject: Failed: fail Bcc: everybody@example.com\r\n");
  expect(mails[0]).toContain("It was told to fail.");
  expect(mails[0]?.split("\r\n\r\n")[0]).not.toMatch(/^bcc:/im);
  const test = await fetch(`${gateway.url}/notify/safe/test`, { method: "POST" });
  expect(test.status).toBe(503);
  expect(await test.text()).toContain("STARTTLS");
  await new Promise<void>((closed) => server.close(() => closed()));
});

test("what a target refuses for good is listed among the deliveries, without its address, and can be sent again", async () => {
  await using there = receiver([410]);
  const toml = `[notify.ci]\ntype = "webhook"\nurl = "${there.url}?key=hidden"\nprincipals = ["local"]\n[notify.theirs]\ntype = "slack"\nurl = "${there.url}"\nprincipals = ["alice"]\n`;
  await using gateway = await startGateway({ toml });
  const runId = await start(gateway.url, "hello");
  await notify(gateway.url, runId, ["ci"]);
  const [failed] = await notified(gateway.engine, "failed");
  const listed = await (await fetch(`${gateway.url}/deliveries`)).text();
  expect(listed).toContain('"url":"notify:ci"');
  expect(listed).toContain("HTTP status 410");
  expect(listed).not.toContain("hidden");
  await fetch(`${gateway.url}/deliveries/${failed?.id}/retry`, { method: "POST" });
  expect(await there.many(2)).toHaveLength(2);
  expect((await notify(gateway.url, runId, ["nobody"])).status).toBe(404);
  expect((await notify(gateway.url, runId, ["ci", "theirs"])).status).toBe(404);
  expect(await (await fetch(`${gateway.url}/notify`)).json()).toEqual({ targets: [{ name: "ci", type: "webhook" }] });
});
