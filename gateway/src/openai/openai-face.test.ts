import { expect, test } from "bun:test";
import OpenAI from "openai";
import { echo, startGateway, type TestFlow } from "../server/gateway.fixture.ts";

const clientOf = (url: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });

test("a stock client sees flows as models and gets an answer", async () => {
  await using gateway = await startGateway();
  const client = clientOf(gateway.url);
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual(["echo"]);
  expect((await client.models.retrieve("echo")).owned_by).toBe("manyhands");
  const { choices, usage } = await client.chat.completions.create({
    model: "echo",
    messages: [{ role: "user", content: "hello" }],
  });
  expect(choices[0]).toMatchObject({ message: { role: "assistant", content: "hello" }, finish_reason: "stop" });
  expect(usage).toEqual({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
});

test("a stream tells the answer in chunks that end with stop, the usage and nothing more", async () => {
  await using gateway = await startGateway();
  const stream = await clientOf(gateway.url).chat.completions.create({
    model: "echo",
    messages: [{ role: "user", content: "hello" }],
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks = await Array.fromAsync(stream);
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("hello");
  expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("stop");
  expect(chunks.at(-1)?.usage?.total_tokens).toBe(0);
});

/** A flow that tells a plan and a step of it, as the planning flow does. */
const planned: TestFlow = {
  runnable: { ...echo, name: "planned", kind: "planned" },
  async execute(run) {
    const plan = (mark: string, note: string) =>
      run.emit({
        type: "plan-changed",
        text: `Plan: Trip\n\nSteps:\n0. [${mark}] [maps] Find the way\n`,
        steps: [],
        note,
      });
    plan(" ", "The plan: Trip");
    const note = "Step 1: maps begins: Find the way";
    run.emit({ type: "step-assigned", step: "1", agent: "maps", attempt: 1, note });
    plan("→", note);
    return { answer: "there" };
  },
};

test("what a flow does comes as reasoning, every line once and the plan with its marks", async () => {
  await using gateway = await startGateway({ flows: [planned] });
  const messages = [{ role: "user", content: "hello" }] as const;
  const stream = await clientOf(gateway.url).chat.completions.create({
    model: "planned",
    messages: [...messages],
    stream: true,
  });
  const deltas = (await Array.fromAsync(stream)).flatMap(({ choices }) => choices.map(({ delta }) => delta));
  const reasoning = deltas.map((delta) => (delta as { reasoning_content?: string }).reasoning_content ?? "").join("");
  expect(reasoning).toBe("The plan: Trip\n- [ ] [maps] Find the way\nStep 1: maps begins: Find the way\n");
});

test("a chat that goes on answers the question of its run, which then gives its answer", async () => {
  await using gateway = await startGateway();
  const client = clientOf(gateway.url);
  const first = { role: "user", content: "ask me" } as const;
  const asked = await client.chat.completions.create({ model: "echo", messages: [first] });
  expect(asked.choices[0]?.message.content).toBe("Really?");
  const messages = [first, { role: "assistant", content: "Really?" }, { role: "user", content: "yes" }] as const;
  const answered = await client.chat.completions.create({ model: "echo", messages: [...messages] });
  expect([answered.id, answered.choices[0]?.message.content]).toEqual([asked.id, "ask me"]);
  const { total } = JSON.parse(await (await fetch(`${gateway.url}/runs`)).text());
  expect(total).toBe(1);
});

test("what was said before reaches a run that does not know it, in the same conversation", async () => {
  await using gateway = await startGateway();
  const client = clientOf(gateway.url);
  const first = { role: "user", content: "one" } as const;
  await client.chat.completions.create({ model: "echo", messages: [first] });
  const { choices } = await client.chat.completions.create({
    model: "echo",
    messages: [first, { role: "assistant", content: "one" }, { role: "user", content: "two" }],
  });
  expect(choices[0]?.message.content).toBe("What was said before:\nuser: one\nassistant: one\n\nNow:\ntwo");
  const { runs } = JSON.parse(await (await fetch(`${gateway.url}/runs`)).text());
  expect(runs[0].contextId).toBe(runs[1].contextId);
});

test("images and files of a message reach the run as files", async () => {
  await using gateway = await startGateway();
  const png = `data:image/png;base64,${Buffer.from("png").toString("base64")}`;
  const pdf = `data:application/pdf;base64,${Buffer.from("pdf").toString("base64")}`;
  const content = [
    { type: "text", text: "look" },
    { type: "image_url", image_url: { url: png } },
    { type: "file", file: { filename: "a.pdf", file_data: pdf } },
  ] as const;
  const { choices } = await clientOf(gateway.url).chat.completions.create({
    model: "echo",
    messages: [{ role: "user", content: [...content] }],
  });
  expect(choices[0]?.message.content).toMatch(/^look\n\n- \[image\.png\]\(http.*\n- \[a\.pdf\]\(http/);
});

test("a failure is an error of the API, in a stream too", async () => {
  await using gateway = await startGateway();
  const client = clientOf(gateway.url);
  const messages = [{ role: "user" as const, content: "fail" }];
  // What the client answers is no plain promise.
  const whole = async (model: string) => await client.chat.completions.create({ model, messages });
  await expect(whole("echo")).rejects.toMatchObject({ status: 422, code: "task_failed" });
  await expect(whole("nothing")).rejects.toMatchObject({ status: 404, code: "not_found" });
  const stream = await client.chat.completions.create({ model: "echo", messages, stream: true });
  await expect(Array.fromAsync(stream)).rejects.toThrow("It was told to fail.");
  const nothing = async () => await client.embeddings.create({ model: "echo", input: "hello" });
  await expect(nothing()).rejects.toMatchObject({ status: 404, code: "not_found" });
});

test("who stops reading cancels the run", async () => {
  await using gateway = await startGateway();
  const messages = [{ role: "user", content: "sleep" }] as const;
  const stream = await clientOf(gateway.url).chat.completions.create({
    model: "echo",
    messages: [...messages],
    stream: true,
  });
  stream.controller.abort();
  const status = async () => JSON.parse(await (await fetch(`${gateway.url}/runs`)).text()).runs[0]?.status;
  while ((await status()) !== "canceled") await Bun.sleep(5);
});
