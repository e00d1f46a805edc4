import { afterEach, expect, mock, spyOn, test } from "bun:test";
import type { Model, ModelMessage } from "../core/model.ts";
import { modelConfigSchema } from "../models/config.ts";
import type { ModelOptions } from "../models/create-model.ts";
import * as creating from "../models/create-model.ts";
import type { EndpointLimits } from "../models/limiter.ts";
import { reply } from "../testing/models/reply.ts";
import { startScriptedModel } from "../testing/models/scripted-model.ts";
import * as showing from "../tools/files/shown-image.ts";
import { openModel } from "./open-model.ts";

afterEach(() => {
  mock.restore();
});

const image = { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" } as const;
const ask = (model: Model, ...parts: Extract<ModelMessage, { role: "user" }>["parts"]) =>
  reply(
    model,
    {
      messages: [{ role: "user", parts: [{ type: "text", text: "Say who you are." }, ...parts] }],
      tools: [],
      toolChoice: "auto",
    },
    { signal: AbortSignal.timeout(20_000) },
  );

test("each part of the work is done by the model that the settings name for it, within the limits that are shared", async () => {
  const servers = await Promise.all(
    ["own", "vision", "summary", "extract"].map(
      async (text) => [text, await startScriptedModel(() => ({ text }))] as const,
    ),
  );
  const limited: EndpointLimits[] = [];
  const shareLimits: ModelOptions["shareLimits"] = (limits, own) => {
    limited.push(limits);
    return own;
  };
  const [own, vision, summary, extract] = servers.map(([name, { url }], at) =>
    modelConfigSchema.parse({
      ...{ name, baseUrl: url, concurrency: at + 1 },
      ...(name === "vision" && { capabilities: { vision: true } }),
    }),
  );
  try {
    const { model, close } = await openModel(own, { shareLimits }, { vision, summary, extract } as never);
    expect(await ask(model)).toMatchObject({ text: "own" });
    expect(await ask(model, image)).toMatchObject({ text: "vision" });
    expect(await ask(model.roles?.summary as Model)).toMatchObject({ text: "summary" });
    expect(await ask(model.roles?.extract as Model)).toMatchObject({ text: "extract" });
    expect(limited.map(({ concurrency }) => concurrency).toSorted()).toEqual([1, 2, 3, 4]);
    await close();
    const only = async (roles: object) => (await openModel(own, {}, roles)).model.roles;
    expect(await only({})).toBeUndefined();
    expect(Object.keys((await only({ summary })) ?? {})).toEqual(["summary"]);
    expect(Object.keys((await only({ extract })) ?? {})).toEqual(["extract"]);
  } finally {
    await Promise.all(servers.map(([, server]) => server.close()));
  }
});

test("without a configured model the rehearsal model is started by the first question, once, and ended with the server", async () => {
  const { model, close } = await openModel(undefined, {});
  expect(model).toMatchObject({ name: "rehearsal", provider: "rehearsal" });
  const sent = spyOn(globalThis, "fetch");
  for (const answer of [await ask(model), await ask(model)]) expect(answer.text).toContain("I am the rehearsal model");
  const [first, second] = sent.mock.calls.map(([address]) => new URL(String(address)));
  expect(first?.hostname).toBe("127.0.0.1");
  expect(second?.href).toBe(first?.href ?? "");
  await close();
  await expect(fetch(first as URL)).rejects.toThrow();
  // One that nobody asked was never there.
  await (await openModel(undefined, {})).close();
});

test("a picture is shown to each model in the size that it looks at, and no longer than it is asked", async () => {
  const made = spyOn(creating, "createModel");
  const shown = spyOn(showing, "showImage").mockResolvedValue("smaller" as never);
  const config = modelConfigSchema.parse({ name: "own", baseUrl: "http://127.0.0.1:9" });
  await openModel(config, {}, { summary: config } as never);
  await openModel(undefined, {});
  const shrinking = made.mock.calls.map(([, options]) => options?.shrinkImage);
  expect(shrinking).toHaveLength(3);
  const [content, size, { signal }] = [new Uint8Array(1), { width: 8, height: 9 }, new AbortController()];
  for (const shrink of shrinking) expect(await shrink?.(content, size, signal)).toBe("smaller" as never);
  expect(shown.mock.calls).toEqual(Array(3).fill([content, signal, size]));
});
