import { expect, test } from "bun:test";
import { inflateSync } from "node:zlib";
import { encodePicture, pictureBytes } from "./framebuffer.ts";

const size = { width: 4, height: 2 };

/**
 * A picture file in Xvfb's format: 160 bytes of header and name, one color entry, four bytes a
 * pixel with blue first.
 */
function pictureFile(changes: Readonly<Record<number, number>> = {}): Buffer {
  const header = Buffer.alloc(160);
  const fields = { 0: 160, 1: 7, 2: 2, 3: 24, 4: 4, 5: 2, 7: 0, 8: 32, 11: 32, 12: 16, 19: 1, ...changes };
  for (const [index, value] of Object.entries(fields)) header.writeUInt32BE(value, Number(index) * 4);
  const blue = Buffer.from([255, 0, 0, 0]);
  const red = Buffer.from([0, 0, 255, 0]);
  return Buffer.concat([header, Buffer.alloc(12), ...Array(4).fill(blue), ...Array(4).fill(red)]);
}

/** Red, green and blue of a PNG's first pixel, which no filter of its line changes. */
function firstPixel(png: Uint8Array): number[] {
  const bytes = Buffer.from(png);
  const parts: Buffer[] = [];
  for (let at = 8; at < bytes.length; at += 12 + bytes.readUInt32BE(at))
    if (bytes.toString("latin1", at + 4, at + 8) === "IDAT")
      parts.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)));
  return [...inflateSync(Buffer.concat(parts)).subarray(1, 4)];
}

test("the picture becomes a PNG of its size, the first line on top, with the colors of the screen", async () => {
  const png = await encodePicture(pictureFile(), size);
  expect(await new Bun.Image(png).metadata()).toEqual({ ...size, format: "png" });
  // Bright blue is darker than red: compared by the bytes of a JPEG of one pixel each.
  const top = await new Bun.Image(png).resize(4, 2).jpeg({ quality: 100 }).bytes();
  const turned = await new Bun.Image(png).flip().jpeg({ quality: 100 }).bytes();
  const upsideDown = pictureFile();
  const lines = [upsideDown.subarray(172, 188), upsideDown.subarray(188, 204)].map((line) => Buffer.from(line));
  lines[1]?.copy(upsideDown, 172);
  lines[0]?.copy(upsideDown, 188);
  const expected = await new Bun.Image(await encodePicture(upsideDown, size)).jpeg({ quality: 100 }).bytes();
  expect(turned).toEqual(expected);
  expect(top).not.toEqual(turned);
  expect([firstPixel(png), firstPixel(await encodePicture(upsideDown, size))]).toEqual([
    [0, 0, 255],
    [255, 0, 0],
  ]);
});

test.each([
  ["of another width", { 4: 5 }],
  ["of another height", { 5: 200_000 }],
  ["of another depth", { 11: 8 }],
  ["of another byte order", { 7: 1 }],
  ["with other lines", { 12: 20 }],
  ["with a header longer than itself", { 0: 4_000_000_000 }],
  ["with more colors than bytes", { 19: 4_000_000_000 }],
])("a file %s is refused", async (_, changes) => {
  await expect(encodePicture(pictureFile(changes), size)).rejects.toThrow("something has changed its file");
});

test("a file cut short and an empty one are refused", async () => {
  for (const length of [0, 99, 160, 200])
    await expect(encodePicture(pictureFile().subarray(0, length), size)).rejects.toThrow("cannot be read");
});

test("a picture's file may have its header, its colors and four bytes a pixel", () => {
  expect(pictureBytes({ width: 100, height: 10 })).toBe(65_536 + 4_000);
});
