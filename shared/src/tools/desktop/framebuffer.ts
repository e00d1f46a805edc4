import { AppError } from "../../core/errors.ts";
import type { ScreenSize } from "./display-session.ts";

/** The fixed part of the header; every field is a big-endian 32-bit number. */
const headerBytes = 100;
const fields = { headerSize: 0, width: 4, height: 5, byteOrder: 7, bitsPerPixel: 11, bytesPerLine: 12, colors: 19 };
const colorBytes = 12;
const leastSignificantFirst = 0;
const bitmapHeaderBytes = 54;

/** The maximum size of a display's picture file, in bytes. */
export function pictureBytes({ width, height }: ScreenSize): number {
  return 2 ** 16 + width * height * 4;
}

/** The PNG of a display's picture file; rejects as `pictureOf` does. */
export async function encodePicture(dump: Buffer, size: ScreenSize): Promise<Uint8Array> {
  return await pictureOf(dump, size).png().bytes();
}

const quality = 60;

/** The same as a JPEG, which a person watches; rejects as `pictureOf` does. */
export async function encodeFrame(dump: Buffer, size: ScreenSize): Promise<Uint8Array> {
  return await pictureOf(dump, size).jpeg({ quality }).bytes();
}

/**
 * A display's picture file, which is in the X window dump format. Programs on the display could
 * write that file: one that does not have the display's size and four bytes a pixel is refused with
 * `unavailable`.
 */
function pictureOf(dump: Buffer, { width, height }: ScreenSize): Bun.Image {
  const pixelBytes = width * height * 4;
  const field = (index: number) => (dump.length < headerBytes ? Number.NaN : dump.readUInt32BE(index * 4));
  const start = field(fields.headerSize) + field(fields.colors) * colorBytes;
  const right =
    field(fields.width) === width &&
    field(fields.height) === height &&
    field(fields.byteOrder) === leastSignificantFirst &&
    field(fields.bitsPerPixel) === 32 &&
    field(fields.bytesPerLine) === width * 4 &&
    dump.length >= start + pixelBytes;
  if (!right)
    throw new AppError("unavailable", "The display's picture cannot be read: something has changed its file.");
  const bitmap = Buffer.concat([bitmapHeader(width, height), dump.subarray(start, start + pixelBytes)]);
  return new Bun.Image(bitmap);
}

/**
 * A 32-bit BMP has the same pixel layout as the display's memory; a negative height puts the first
 * line on top.
 */
function bitmapHeader(width: number, height: number): Buffer {
  const header = Buffer.alloc(bitmapHeaderBytes);
  header.write("BM");
  header.writeUInt32LE(bitmapHeaderBytes + width * height * 4, 2);
  header.writeUInt32LE(bitmapHeaderBytes, 10);
  header.writeUInt32LE(40, 14);
  header.writeInt32LE(width, 18);
  header.writeInt32LE(-height, 22);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(32, 28);
  return header;
}
