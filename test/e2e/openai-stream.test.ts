import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import OpenAI from "openai";
import { startGatewayServer } from "../servers/gateway-server.ts";
import { startAgent } from "../servers/manus-server.ts";

const cleanUp: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const each of cleanUp.toReversed()) await each();
});

const answer =
  "Nothing is lost, and nothing is done twice; what was asked is answered in words that come one after the other.";

const longestMs = 30_000;

const chooses = { calls: [{ name: "choose_branch", args: { branch: "manus", confidence: 1, reason: "it can" } }] };

test("text of an agent behind the gateway, alone or as a flow's answer, reaches a chat client while it is written", async () => {
  const home = await mkdtemp(join(tmpdir(), "openai-stream-"));
  let seen = Promise.withResolvers<void>();
  const model = await startScriptedModel(({ tools = [] }) =>
    tools.some((tool) => tool.function.name === "choose_branch")
      ? chooses
      : { text: answer, midway: Promise.race([seen.promise, Bun.sleep(longestMs)]) },
  );
  const env = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "none", MANYHANDS_MODEL: "scripted", SANDBOX: "off" };
  const manus = startAgent("manus", { ...env, MANYHANDS_HOME: home, PORT: `${freePort()}` });
  cleanUp.push(
    () => rm(home, { recursive: true, force: true }),
    () => model.close(),
    () => manus.stop(),
  );
  await manus.ready;
  const gateway = await startGatewayServer(home, { ...env, MANUS_URL: manus.url });
  cleanUp.push(() => gateway.stop());
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "none", maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "What holds?" }];
  for (const name of ["manus", "conditional"]) {
    seen = Promise.withResolvers<void>();
    const begun = performance.now();
    const texts: string[] = [];
    for await (const { choices } of await client.chat.completions.create({ model: name, messages, stream: true })) {
      const text = choices[0]?.delta.content ?? "";
      if (text === "") continue;
      texts.push(text);
      seen.resolve();
    }
    expect(texts.join("")).toBe(answer);
    expect(texts.length).toBeGreaterThan(1);
    // Nobody had to wait for the end of the answer: the model goes on once its beginning was seen.
    expect(performance.now() - begun).toBeLessThan(longestMs);
  }
});
