import { PDFiumLibrary } from "@hyzyla/pdfium";
import type { Picture } from "../../document-protocol.ts";

/** Pixels of the longer side: enough to read small print in. */
const side = 2000;

/** Draws pages of a PDF. */
export type Rendering = {
  /** A page, by its number from 1, as a picture; undefined when it is of one colour. */
  picture(number: number): Promise<Picture | undefined>;
  /** How many pictures a page has, without those within its drawings. */
  pictures(number: number): number;
};

/** Opens a PDF for drawing with PDFium, compiled to WebAssembly. */
export async function openRendering(bytes: Uint8Array): Promise<Rendering> {
  const library = await PDFiumLibrary.init();
  const document = await library.loadDocument(bytes);
  return {
    pictures: (number) => [...document.getPage(number - 1).objects()].filter(({ type }) => type === "image").length,
    async picture(number) {
      const page = document.getPage(number - 1);
      const { originalWidth, originalHeight } = page.getOriginalSize();
      const scale = side / Math.max(originalWidth, originalHeight, 1);
      let isEmpty = false;
      const { data } = await page.render({
        scale,
        render: async (bitmap) => {
          isEmpty = isOneColour(bitmap.data);
          return isEmpty ? new Uint8Array() : await jpegOf(bitmap);
        },
      });
      return isEmpty ? undefined : { mediaType: "image/jpeg", data: Buffer.from(data).toString("base64") };
    },
  };
}

function isOneColour(pixels: Uint8Array): boolean {
  const colours = new Uint32Array(pixels.buffer, pixels.byteOffset, pixels.byteLength >> 2);
  return colours.every((colour) => colour === colours[0]);
}

/** Encodes RGBA pixels, by way of a bitmap file, which holds them with blue first. */
async function jpegOf(bitmap: {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
}): Promise<Uint8Array> {
  const { data, width, height } = bitmap;
  const header = Buffer.alloc(54);
  header.write("BM");
  header.writeUInt32LE(header.length + data.length, 2);
  header.writeUInt32LE(header.length, 10);
  header.writeUInt32LE(40, 14);
  header.writeInt32LE(width, 18);
  // Negative: the first line is the uppermost.
  header.writeInt32LE(-height, 22);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(32, 28);
  return new Bun.Image(Buffer.concat([header, withBlueFirst(data)])).jpeg({ quality: 80 }).bytes();
}

function withBlueFirst(pixels: Uint8Array): Uint8Array {
  const turned = pixels.slice();
  for (let red = 0; red < turned.length; red += 4) {
    turned[red] = pixels[red + 2] ?? 0;
    turned[red + 2] = pixels[red] ?? 0;
  }
  return turned;
}
