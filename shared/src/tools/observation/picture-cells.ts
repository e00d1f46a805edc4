import { inflateSync } from "node:zlib";
import { bandOf, type DrawnGrid } from "./in-page/drawn-grid.ts";

/** The parts of a picture that show something drawn: a hash of each, by its cell in the window. */
export type PictureCells = ReadonlyMap<number, string>;

/**
 * What a PNG of the window shows where something is drawn that nothing lies over; of a page where
 * nothing is, all of it. Undefined for a PNG that a browser does not write.
 */
export function picturedCells(png: Uint8Array, { columns, rows, cells }: DrawnGrid): PictureCells | undefined {
  const pixels = decode(png);
  if (pixels === undefined) return undefined;
  if (cells.length === 0) return new Map([[-1, Bun.hash(pixels.data).toString(36)]]);
  const { data, width, height, bytes } = pixels;
  return new Map(
    cells.map((cell) => {
      const [left, right] = bandOf(cell % columns, columns, width);
      const [top, bottom] = bandOf(Math.floor(cell / columns), rows, height);
      let hash = 0n;
      for (let y = top; y < bottom; y++) {
        const from = y * width * bytes;
        hash = BigInt(Bun.hash(data.subarray(from + left * bytes, from + right * bytes), hash));
      }
      return [cell, hash.toString(36)];
    }),
  );
}

/**
 * Whether nothing is in a picture that an earlier one did not show; parts may be covered by now.
 */
export function showsSame(before: PictureCells, now: PictureCells): boolean {
  return now.size > 0 && [...now].every(([cell, hash]) => before.get(cell) === hash);
}

type Pixels = { readonly data: Uint8Array; readonly width: number; readonly height: number; readonly bytes: number };

/**
 * The pixels of a PNG with 8 bits for each of three or four colours, which is what browsers write.
 */
function decode(png: Uint8Array): Pixels | undefined {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  const bytes = png[25] === 6 ? 4 : 3;
  if (png[24] !== 8 || (png[25] !== 2 && png[25] !== 6) || png[28] !== 0) return undefined;
  const parts: Uint8Array[] = [];
  for (let at = 8; at + 8 < png.length; ) {
    const length = view.getUint32(at);
    if (String.fromCharCode(...png.subarray(at + 4, at + 8)) === "IDAT")
      parts.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const packed = inflateSync(Buffer.concat(parts));
  const line = width * bytes;
  const data = new Uint8Array(height * line);
  for (let y = 0; y < height; y++) {
    const from = y * (line + 1);
    data.set(packed.subarray(from + 1, from + 1 + line), y * line);
    unfilter(data, { from: y * line, line, bytes, filter: packed[from] ?? 0 });
  }
  return { data, width, height, bytes };
}

type Line = { readonly from: number; readonly line: number; readonly bytes: number; readonly filter: number };

/** Makes the bytes of a line of what a PNG stores: their differences from those left and above. */
function unfilter(data: Uint8Array, { from, line, bytes, filter }: Line): void {
  if (filter === 0) return;
  for (let x = 0; x < line; x++) {
    const at = from + x;
    const left = x >= bytes ? (data[at - bytes] ?? 0) : 0;
    const above = from > 0 ? (data[at - line] ?? 0) : 0;
    const corner = x >= bytes && from > 0 ? (data[at - line - bytes] ?? 0) : 0;
    data[at] = (data[at] ?? 0) + addedBy(filter, left, above, corner);
  }
}

function addedBy(filter: number, left: number, above: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return above;
  if (filter === 3) return (left + above) >> 1;
  const [toLeft, toAbove, toCorner] = [above - corner, left - corner, left + above - 2 * corner].map(Math.abs) as [
    number,
    number,
    number,
  ];
  return toLeft <= toAbove && toLeft <= toCorner ? left : toAbove <= toCorner ? above : corner;
}
