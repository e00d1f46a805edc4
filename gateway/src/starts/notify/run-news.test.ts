import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import type { NotifyTarget } from "manyhands/internal/config/triggers/trigger-config";
import type { RunView } from "manyhands/internal/runs/run-view";
import { newsOf, type RunNews } from "./run-news.ts";
import { sendNews } from "./send-news.ts";

const run = (status: string, more: object = {}) =>
  ({ id: "r1", input: "Sum\nup\u001b[31m the year", status, ...more }) as unknown as RunView;

test("each end of a run and each question has its own word, and work in progress is no news", () => {
  const told = (view: RunView) => newsOf(view, "https://team.example/hands//");
  const about = { url: "https://team.example/hands/#/runs/r1", runId: "r1" };
  for (const [view, type, word, text] of [
    [run("completed", { answer: "All is well." }), "run.completed", "Done", "All is well."],
    [run("completed"), "run.completed", "Done", ""],
    [run("failed", { error: { code: "x", message: "It broke." } }), "run.failed", "Failed", "It broke."],
    [run("canceled", { answer: "half" }), "run.canceled", "Canceled", ""],
    [run("input-required", { question: "Which?" }), "run.waiting", "Waiting for you", "Which?"],
    [run("auth-required", { question: "Log in." }), "run.waiting", "Waiting for you", "Log in."],
  ] as const) {
    const news = told(view);
    expect(news).toMatchObject({ type, text, ...about });
    expect(news?.title).toStartWith(`${word}: Sum`);
    // One line, whatever a task has in it.
    for (const unseen of ["\n", "\r", "\u001b"]) expect(news?.title).not.toContain(unseen);
  }
  // An answer shows what would move a terminal, or hide what is in it.
  expect(told(run("completed", { answer: "\u001b[2JAll\u202e well.\nYes." }))?.text).toBe(
    "\\u001b[2JAll\\u202e well.\nYes.",
  );
  for (const status of ["working", "queued", "paused"]) expect(told(run(status))).toBeUndefined();
});

test("a long answer is cut, and what is cut is said", () => {
  const textOf = (length: number) => newsOf(run("completed", { answer: "x".repeat(length) }), "https://a")?.text;
  expect(textOf(4_000)).toBe("x".repeat(4_000));
  expect(textOf(4_001)).toBe(`${"x".repeat(4_000)}\n[cut off; the run has all of it]`);
});

const news: RunNews = { type: "test", title: "A & <b>", text: "<!channel>", url: "https://a/#/runs/r1" };
/** What a target of this kind is sent. */
async function sent(target: object, about: RunNews = news) {
  const posts: { url: string; headers: Readonly<Record<string, string>>; body: string }[] = [];
  const post = async (url: string, { headers, body }: { headers: Readonly<Record<string, string>>; body: string }) => {
    posts.push({ url, headers, body });
    return { reason: "busy", final: false };
  };
  const signal = new AbortController().signal;
  const refusal = await sendNews(
    { name: "n", principals: [], url: "https://there/in", ...target } as unknown as NotifyTarget,
    about,
    "id-1",
    { webhooks: { post }, now: () => 1_999 },
    signal,
  );
  expect(refusal).toEqual({ reason: "busy", final: false });
  return posts[0];
}

test("a webhook is named and timed, and signed where there is a secret; Slack gets neither and no more than it takes", async () => {
  const key = Buffer.from("0123456789abcdef0123");
  const signed = await sent({ type: "webhook", secret: `whsec_${key.toString("base64")}` });
  const mac = createHmac("sha256", key)
    .update(`id-1.1.${JSON.stringify(news)}`)
    .digest("base64");
  const json = { "Content-Type": "application/json" };
  const named = { "webhook-id": "id-1", "webhook-timestamp": "1" };
  expect(signed).toEqual({
    url: "https://there/in",
    headers: { ...json, ...named, "webhook-signature": `v1,${mac}` },
    body: JSON.stringify(news),
  });
  expect((await sent({ type: "webhook", secret: undefined }))?.headers).toEqual({ ...json, ...named });
  const slack = await sent({ type: "slack" }, { ...news, text: `<${"x".repeat(3_000)}` });
  expect(slack?.headers).toEqual(json);
  expect(JSON.parse(slack?.body ?? "")).toEqual({
    text: `*A &amp; &lt;b&gt;*\n&lt;${"x".repeat(2_999)}\n<https://a/#/runs/r1|Open the run>`,
  });
  expect(JSON.parse((await sent({ type: "slack" }, { ...news, text: "" }))?.body ?? "").text).toBe(
    "*A &amp; &lt;b&gt;*\n<https://a/#/runs/r1|Open the run>",
  );
});
