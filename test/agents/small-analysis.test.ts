import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { startRehearsalModel } from "manyhands/internal/models/rehearsal/start-rehearsal-model";
import { keepWindow } from "manyhands/internal/testing/models/small-window";
import { artifactBytes, sendBySdk } from "../e2e/sdk-client.ts";
import { startAgent } from "../servers/manus-server.ts";

const window = 8_192;
const orders = resolve(import.meta.dir, "../../gateway/demo/orders.csv");

test("the demo's analysis is done in a window of 8,192 tokens, with its chart", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-analysis-"));
  const model = await startRehearsalModel({ pace: 0 });
  await using small = keepWindow(model.url, window);
  const agent = startAgent("data-analysis", {
    MANYHANDS_HOME: home,
    PORT: `${freePort()}`,
    OPENAI_BASE_URL: small.url,
    OPENAI_API_KEY: "none",
    MANYHANDS_MODEL: "rehearsal",
    MANYHANDS_LLM_CAPABILITIES_CONTEXT_WINDOW: `${window}`,
  });
  try {
    await agent.ready;
    const step = "Analyse orders.csv, check the figures a second way and chart the revenue per month";
    const task = await sendBySdk(agent.url, `Your step: ${step}`, { "orders.csv": await Bun.file(orders).text() });
    const answer = (await artifactBytes(task, "answer")).toString();
    expect(answer).toContain("both agree exactly");
    const figures = JSON.parse((await artifactBytes(task, "figures.json")).toString()) as object;
    expect(Object.keys(figures)).toContain("months");
    expect(task.artifacts.map(({ name }) => name)).toContainEqual(expect.stringMatching(/\.png$/));
    expect(Math.max(...small.sizes)).toBeLessThanOrEqual(window);
  } finally {
    await agent.stop();
    await model.close();
    await rm(home, { recursive: true, force: true });
  }
}, 60_000);
