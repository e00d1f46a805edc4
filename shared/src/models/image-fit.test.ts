import { expect, test } from "bun:test";
import type { ImagePart } from "../core/model.ts";
import { startScriptedModel } from "../testing/scripted-model.ts";
import { modelConfigSchema } from "./config.ts";
import { createModel } from "./create-model.ts";
import { type ShrinkImage, sizeOf } from "./image-fit.ts";
import { reply } from "./reply.ts";
import { estimateTokens } from "./tokens.ts";

const dot = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
async function picture(width: number, height: number, format: "png" | "jpeg" | "webp"): Promise<ImagePart> {
  const data = await new Bun.Image(dot).resize(width, height)[format]().toBase64();
  return { type: "image", mediaType: `image/${format}`, data };
}
const never = new AbortController().signal;
const asking = (...images: ImagePart[]) => ({
  messages: [{ role: "user" as const, parts: images }],
  tools: [],
  toolChoice: "auto" as const,
});
const shrink: ShrinkImage = async (content, { width, height }) => ({
  mediaType: "image/png",
  data: await new Bun.Image(content).resize(width, height, { fit: "inside" }).png().toBase64(),
});

/** A model of this name that sees, and what was sent to it as images. */
async function seeing(name: string, shrinkImage?: ShrinkImage) {
  const server = await startScriptedModel(() => ({ text: "I see." }));
  const config = modelConfigSchema.parse({ name, baseUrl: server.url, capabilities: { vision: true } });
  const model = createModel(config, shrinkImage ? { shrinkImage } : {});
  const sent = () =>
    server.requests.flatMap(({ body }) =>
      body.messages
        .flatMap(({ content }) => (Array.isArray(content) ? content : []))
        .map((part) => {
          const { url } = part.image_url as { url: string };
          const [, mediaType = "", data = ""] = /^data:([^;]+);base64,(.*)$/.exec(url) ?? [];
          return { type: "image" as const, mediaType, data };
        }),
    );
  return { model, sent, [Symbol.asyncDispose]: () => server.close() };
}

test("the size of an image is read from its head", async () => {
  for (const format of ["png", "jpeg", "webp"] as const)
    expect(sizeOf(await picture(640, 480, format))).toEqual({ width: 640, height: 480 });
  expect(sizeOf({ type: "image", mediaType: "image/png", data: "AAAA" })).toBeUndefined();
  expect(
    sizeOf({ type: "image", mediaType: "image/jpeg", data: (await picture(9, 9, "jpeg")).data.slice(0, 40) }),
  ).toBeUndefined();
  expect(sizeOf({ type: "image", mediaType: "image/tiff", data: dot.toString("base64") })).toBeUndefined();
});

test("an image counts by its size, and one whose size nobody knows as a page", async () => {
  await using seen = await seeing("gpt-4o");
  const tokens = (...images: ImagePart[]) => estimateTokens(asking(...images).messages, [], seen.model.imageRule);
  const none = tokens();
  expect(tokens(await picture(1_024, 1_024, "png")) - none).toBe(765);
  expect(tokens(await picture(512, 512, "jpeg")) - none).toBe(255);
  expect(tokens({ type: "image", mediaType: "image/png", data: "AAAA" }) - none).toBe(1_100);
});

test("an image goes out no larger than the provider looks at it, and is made smaller once", async () => {
  let shrunk = 0;
  const counted: ShrinkImage = (...args) => {
    shrunk++;
    return shrink(...args);
  };
  await using seen = await seeing("gpt-4o", counted);
  const request = asking(await picture(3_000, 2_000, "jpeg"), await picture(300, 200, "png"));
  await reply(seen.model, request, { signal: never });
  await reply(seen.model, request, { signal: never });
  const sizes = seen.sent().map(sizeOf);
  expect(sizes.slice(0, 2)).toEqual([
    { width: 1_152, height: 768 },
    { width: 300, height: 200 },
  ]);
  expect(seen.sent()[2]).toEqual(seen.sent()[0] as ImagePart);
  expect(seen.sent()[1]?.data).toBe((await picture(300, 200, "png")).data);
  expect(shrunk).toBe(1);
});

test("an image that cannot be made smaller goes as it is", async () => {
  await using seen = await seeing("gpt-4o", () => Promise.reject(new Error("no decoder")));
  const large = await picture(3_000, 2_000, "jpeg");
  await reply(seen.model, asking(large), { signal: never });
  expect(seen.sent()).toEqual([large]);
});
