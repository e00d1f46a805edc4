import { expect, test } from "bun:test";
import type { ImagePart, ModelMessage } from "../core/model.ts";
import { reply } from "../testing/models/reply.ts";
import { startScriptedModel } from "../testing/models/scripted-model.ts";
import { modelConfigSchema } from "./config.ts";
import { createModel } from "./create-model.ts";
import { createImageFit, imageRuleOf, imageTokens, type ShrinkImage, seenSize, sizeOf } from "./images.ts";
import { estimateTokens } from "./tokens.ts";

const square = (side: number) => ({ width: side, height: side });

/** Figures from the providers' guides. */
const told: [model: string, width: number, height: number, tokens: number][] = [
  ["gpt-4o", 1024, 1024, 765],
  ["gpt-4o", 2048, 4096, 1105],
  ["gpt-4o-mini", 512, 512, 8500],
  ["gpt-5", 1024, 1024, 630],
  ["o3", 1024, 1024, 675],
  ["gpt-4.1-mini", 1024, 1024, Math.ceil(1024 * 1.62)],
  ["gpt-4.1-nano", 1024, 1024, Math.ceil(1024 * 2.46)],
  ["claude-sonnet-4", 1092, 1092, 1521],
  ["claude-sonnet-4", 200, 200, 64],
  ["gemini-2.5-flash", 384, 384, 258],
  ["gemini-2.5-flash", 1536, 768, 516],
];
test.each(told)("%s counts an image of %d × %d by its provider's rule", (model, width, height, tokens) => {
  expect(imageTokens({ width, height }, imageRuleOf(model))).toBe(tokens);
});

test("an image that the provider scales down counts as the largest it processes", () => {
  const most = {
    "gpt-4.1-mini": 1536 * 1.62,
    "claude-opus-4": 1568,
    "claude-opus-4-7": 4784,
    "gemini-2.5-pro": 16 * 258,
  };
  for (const [model, limit] of Object.entries(most)) {
    for (const size of [square(9_000), { width: 12_000, height: 700 }, { width: 3, height: 5_000 }, square(1_300)]) {
      expect(imageTokens(size, imageRuleOf(model))).toBeLessThanOrEqual(Math.ceil(limit));
    }
  }
  expect(imageTokens({ width: 1800, height: 2400 }, imageRuleOf("gpt-4.1-mini"))).toBeWithin(
    1_400 * 1.62,
    1536 * 1.62 + 1,
  );
});

test("an image within the provider's size stays unchanged, and none is enlarged", () => {
  for (const model of ["gpt-4o", "gpt-5-mini", "claude-sonnet-4", "gemini-2.5-pro", "unheard-of"]) {
    expect(seenSize(square(100), imageRuleOf(model))).toEqual(square(100));
    expect(seenSize({ width: 800, height: 600 }, imageRuleOf(model))).toEqual({ width: 800, height: 600 });
  }
  expect(seenSize(square(2_000), imageRuleOf("gpt-4o"))).toEqual(square(768));
  expect(seenSize({ width: 3_136, height: 100 }, imageRuleOf("claude-3"))).toEqual({ width: 1_568, height: 50 });
});

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

/** A vision model with this name, and the images that were sent to it. */
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

test("the size of an image is read from its header", async () => {
  for (const format of ["png", "jpeg", "webp"] as const)
    expect(sizeOf(await picture(640, 480, format))).toEqual({ width: 640, height: 480 });
  expect(sizeOf({ type: "image", mediaType: "image/png", data: "AAAA" })).toBeUndefined();
  expect(
    sizeOf({ type: "image", mediaType: "image/jpeg", data: (await picture(9, 9, "jpeg")).data.slice(0, 40) }),
  ).toBeUndefined();
  expect(sizeOf({ type: "image", mediaType: "image/tiff", data: dot.toString("base64") })).toBeUndefined();
});

/** The head of a JPEG of 300 × 200 pixels that a camera held in this orientation made. */
function photograph(orientation: number): ImagePart {
  const tiff = Buffer.from(`49492a0008000000010012010300010000000${orientation}00000000000000`, "hex");
  const exif = Buffer.concat([Buffer.from("Exif\0\0", "latin1"), tiff]);
  const lengthOf = (bytes: Buffer) => Buffer.from([0, bytes.length + 2]);
  const frame = Buffer.from("08 00c8 012c 03 011100 021101 031101".replaceAll(" ", ""), "hex");
  const segments = [
    Buffer.from("ffd8ffe1", "hex"),
    lengthOf(exif),
    exif,
    Buffer.from("ffc0", "hex"),
    lengthOf(frame),
    frame,
    Buffer.from("ffd9", "hex"),
  ];
  return { type: "image", mediaType: "image/jpeg", data: Buffer.concat(segments).toString("base64") };
}

test("a photograph that lies on its side has the size at which it is seen", () => {
  for (const orientation of [1, 2, 3, 4]) expect(sizeOf(photograph(orientation))).toEqual({ width: 300, height: 200 });
  for (const orientation of [5, 6, 7, 8]) expect(sizeOf(photograph(orientation))).toEqual({ width: 200, height: 300 });
});

test("an image counts by its size, and one of unknown size as a page", async () => {
  await using seen = await seeing("gpt-4o");
  const tokens = (...images: ImagePart[]) => estimateTokens(asking(...images).messages, [], seen.model.imageRule);
  const none = tokens();
  expect(tokens(await picture(1_024, 1_024, "png")) - none).toBe(765);
  expect(tokens(await picture(512, 512, "jpeg")) - none).toBe(255);
  expect(tokens({ type: "image", mediaType: "image/png", data: "AAAA" }) - none).toBe(1_100);
});

test("an image is sent no larger than the provider processes it, and is scaled down once", async () => {
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

test("an image that cannot be scaled down is sent unchanged", async () => {
  await using seen = await seeing("gpt-4o", () => Promise.reject(new Error("no decoder")));
  const large = await picture(3_000, 2_000, "jpeg");
  await reply(seen.model, asking(large), { signal: never });
  expect(seen.sent()).toEqual([large]);
});

/**
 * The head of a PNG of this size, which is all that is read of it; `mark` makes it another image.
 */
function headOf(width: number, height: number, mark = 0): ImagePart {
  const head = Buffer.alloc(200);
  head.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]);
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  head.writeUInt32BE(mark, 192);
  return { type: "image", mediaType: "image/png", data: head.toString("base64") };
}
const tiny = { mediaType: "image/webp", data: "tiny" };

/** A fit that replaces what is too large by `tiny`, and the sizes it was asked for. */
function fitting() {
  const asked: object[] = [];
  const fit = createImageFit(imageRuleOf("claude-3"), async (_, size) => {
    asked.push(size);
    return tiny;
  });
  const fitted = async (...messages: ModelMessage[]) => (await fit({ ...asking(), messages }, never)).messages;
  return { asked, fitted };
}

test("an image is shrunk where either side is too long, and a header without a size leaves it alone", async () => {
  for (const [width, height, times] of [
    [1_568, 100, 0],
    [1_569, 100, 1],
    [100, 1_568, 0],
    [100, 1_569, 1],
    [0, 5_000, 0],
    [5_000, 0, 0],
  ] as const) {
    const { asked, fitted } = fitting();
    await fitted({ role: "user", parts: [headOf(width, height)] });
    expect([width, height, asked.length]).toEqual([width, height, times]);
  }
});

test("images of people and of tools are shrunk, and everything else stays as it is", async () => {
  const { asked, fitted } = fitting();
  const said: ModelMessage = { role: "user", parts: [{ type: "text", text: "See:" }, headOf(3_000, 100)] };
  const seen: ModelMessage = { role: "tool", callId: "1", name: "see", text: "", isError: false };
  const answer: ModelMessage = { role: "assistant", text: "Well.", toolCalls: [] };
  const large = headOf(3_000, 200);
  expect(await fitted(said, { ...seen, images: [large, headOf(9, 9)] }, seen, answer)).toEqual([
    {
      ...said,
      parts: [
        { type: "text", text: "See:" },
        { type: "image", ...tiny },
      ],
    },
    { ...seen, images: [{ type: "image", ...tiny }, headOf(9, 9)] },
    seen,
    answer,
  ]);
  expect(asked).toHaveLength(2);
});

test("the newest 32 shrunk images are kept, the oldest of more is shrunk again", async () => {
  const { asked, fitted } = fitting();
  const show = (mark: number) => fitted({ role: "user", parts: [headOf(3_000, 100, mark)] });
  for (let mark = 0; mark < 32; mark++) await show(mark);
  await show(0);
  expect(asked).toHaveLength(32);
  await show(32);
  await show(1);
  expect(asked).toHaveLength(33);
  await show(0);
  expect(asked).toHaveLength(34);
});

test("shrinking that is given up rejects with the reason, and nothing is kept for the next time", async () => {
  const reason = new Error("given up");
  const giving = new AbortController();
  let asked = 0;
  const fit = createImageFit(imageRuleOf("claude-3"), async () => {
    if (asked++ > 0) return tiny;
    giving.abort(reason);
    throw new Error("the worker was ended");
  });
  const request = asking(headOf(3_000, 100));
  await expect(fit(request, giving.signal)).rejects.toBe(reason);
  expect((await fit(request, never)).messages).toEqual([{ role: "user", parts: [{ type: "image", ...tiny }] }]);
});

test("a model's family is where its name begins, not any part of it", () => {
  expect(imageRuleOf("not-claude")).toEqual(imageRuleOf("unheard-of"));
  expect(imageRuleOf("gpt-5-mini-2025")).toEqual(imageRuleOf("gpt-5-mini"));
  expect(imageRuleOf("gpt-5-mini")).not.toEqual(imageRuleOf("gpt-5"));
});
