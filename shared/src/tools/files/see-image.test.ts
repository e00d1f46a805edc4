import { expect, test } from "bun:test";
import { join } from "node:path";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { seeImage } from "./see-image.ts";
import { showImage } from "./shown-image.ts";

/** A picture of one color or of noise, as a BMP, from which all other formats are made. */
function picture(width: number, height: number, isNoise = false): Bun.Image {
  const header = Buffer.alloc(54);
  header.write("BM");
  for (const [at, value] of [
    [10, 54],
    [14, 40],
    [18, width],
    [22, height],
  ] as const)
    header.writeUInt32LE(value, at);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(24, 28);
  const line = Math.ceil((width * 3) / 4) * 4;
  const pixels = Buffer.alloc(line * height, 200);
  if (isNoise)
    for (let at = 0; at < pixels.length; at += 65_536) crypto.getRandomValues(pixels.subarray(at, at + 65_536));
  return new Bun.Image(Buffer.concat([header, pixels]));
}

async function setUp() {
  const place = await workspaceForTest();
  return {
    ...place,
    put: (name: string, content: Uint8Array) => Bun.write(join(place.workspace.root, name), content),
    see: (path: string) => seeImage.call({ path }, contextForTest(place.workspace)),
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

const shownSize = async (data: string | undefined) => await new Bun.Image(Buffer.from(data ?? "", "base64")).metadata();

test("an image is shown, recognized by its content and not by its name", async () => {
  await using place = await setUp();
  await place.put("chart.txt", await picture(30, 20).png().bytes());
  const { text, images, isError } = await place.see("chart.txt");
  expect([text, isError, images?.[0]?.mediaType]).toEqual(["chart.txt: png, 30 × 20 pixels.", false, "image/png"]);
  expect(await shownSize(images?.[0]?.data)).toEqual({ width: 30, height: 20, format: "png" });
});

test("a large photograph is scaled down and stays a JPEG", async () => {
  await using place = await setUp();
  await place.put("photo.jpg", await picture(4000, 3000).jpeg().bytes());
  const { text, images } = await place.see("photo.jpg");
  expect(text).toBe("photo.jpg: jpeg, 4000 × 3000 pixels, shown at 1440 × 1080.");
  expect(await shownSize(images?.[0]?.data)).toEqual({ width: 1440, height: 1080, format: "jpeg" });
});

test("what is too large to be sent as a PNG is sent as a JPEG", async () => {
  await using place = await setUp();
  await place.put("noise.png", await picture(1600, 1080, true).png().bytes());
  const { text, images } = await place.see("noise.png");
  expect([text, images?.[0]?.mediaType]).toEqual(["noise.png: png, 1600 × 1080 pixels.", "image/jpeg"]);
  expect(Buffer.from(images?.[0]?.data ?? "", "base64").length).toBeLessThan(5 * 1024 ** 2);
});

test("WebP is shown in a format every model accepts", async () => {
  await using place = await setUp();
  await place.put("a.webp", await picture(8, 8).webp().bytes());
  expect((await place.see("a.webp")).images?.[0]?.mediaType).toBe("image/png");
});

test("a file that is not an image is refused by its content", async () => {
  await using place = await setUp();
  await place.put("fake.png", Buffer.from("just text"));
  await place.put("empty.png", Buffer.alloc(0));
  const png = await picture(300, 200).png().bytes();
  await place.put("cut.png", png.subarray(0, 60));
  expect((await place.see("fake.png")).text).toBe(
    "fake.png is not a PNG, JPEG, GIF or WebP image, whatever its name says.",
  );
  expect((await place.see("empty.png")).isError).toBe(true);
  expect((await place.see("cut.png")).text).toStartWith("It cannot be decoded as an image:");
  expect((await place.see("missing.png")).text).toBe("The path missing.png does not exist.");
  expect((await place.see("/etc/passwd")).text).toContain("outside the workspace");
});

test("a file above 10 MB, and a small one that claims a billion pixels, are refused cheaply", async () => {
  await using place = await setUp();
  const png = Buffer.from(await picture(10, 10).png().bytes());
  await place.put("long.png", Buffer.concat([png, Buffer.alloc(10 * 1024 ** 2)]));
  expect((await place.see("long.png")).text).toEndWith("bytes; an image may have up to 10 MB.");
  png.writeUInt32BE(30_000, 16);
  png.writeUInt32BE(30_000, 20);
  png.writeUInt32BE(Bun.hash.crc32(png.subarray(12, 29)), 29);
  await place.put("bomb.png", png);
  const started = performance.now();
  const before = process.memoryUsage().rss;
  expect((await place.see("bomb.png")).text).toBe("The image has more than 50 million pixels.");
  expect(performance.now() - started).toBeLessThan(30_000);
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * 2 ** 20);
});

test("a cancellation ends the decoding with the signal's own reason", async () => {
  await using place = await setUp();
  await place.put("photo.jpg", await picture(4000, 3000).jpeg().bytes());
  const controller = new AbortController();
  const reason = new Error("canceled by the person");
  const context = contextForTest(place.workspace, { signal: controller.signal });
  const seeing = seeImage.call({ path: "photo.jpg" }, context).catch((error) => error);
  setTimeout(() => controller.abort(reason), 20);
  expect(await seeing).toBe(reason);
});

test("an image is scaled to what the model's provider processes, in the separate process", async () => {
  const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const large = await new Bun.Image(Buffer.from(pixel, "base64")).resize(1_200, 800).jpeg().bytes();
  const shown = await showImage(new Uint8Array(large), AbortSignal.timeout(60_000), { width: 300, height: 200 });
  expect(shown).toMatchObject({ width: 1_200, shownWidth: 300, shownHeight: 200, mediaType: "image/jpeg" });
});

test("a model that sees no pictures is told what else says what is in one", async () => {
  await using place = await setUp();
  await place.put("chart.png", await picture(30, 20).png().bytes());
  const context = { ...contextForTest(place.workspace), vision: false };
  const { text, isError, images } = await seeImage.call({ path: "chart.png" }, context);
  expect([isError, images]).toEqual([true, undefined]);
  expect(text).toContain("read_document");
});
