import { expect, spyOn, test } from "bun:test";
import * as recognising from "./pdf/recognise-text.ts";
import { readPicture } from "./read-picture.ts";

/** A field of an EXIF directory: its tag, its type and its value's bytes. */
type Field = readonly [tag: number, type: 2 | 3 | 5, value: Buffer];
const ascii = (text: string) => Buffer.from(`${text}\0`);
const rational = (...values: readonly number[]) => {
  const buffer = Buffer.alloc(values.length * 8);
  for (const [at, value] of values.entries()) {
    buffer.writeUInt32LE(value, at * 8);
    buffer.writeUInt32LE(1, at * 8 + 4);
  }
  return buffer;
};
const sizes = { 2: 1, 3: 2, 5: 8 } as const;

/** A picture's head (JPEG, 40 × 30) with these fields of EXIF and GPS. */
function photo(fields: readonly Field[], gps: readonly Field[] = []): Buffer {
  const gpsAt = 2_000;
  const tiff = Buffer.alloc(4_000);
  tiff.write("II");
  tiff.writeUInt16LE(42, 2);
  tiff.writeUInt32LE(8, 4);
  const place = Buffer.alloc(4);
  place.writeUInt32LE(gpsAt);
  directory(tiff, 8, 1_000, gps.length === 0 ? fields : [...fields, [0x8825, 4 as 2, place]]);
  if (gps.length > 0) directory(tiff, gpsAt, 3_000, gps);
  const exif = Buffer.concat([Buffer.from("Exif\0\0"), tiff]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(exif.length + 2);
  const frame = Buffer.from("ffc0000b0800 1e0028 01011100".replaceAll(" ", ""), "hex");
  return Buffer.concat([Buffer.from("ffd8ffe1", "hex"), length, exif, frame, Buffer.from("ffd9", "hex")]);
}

function directory(tiff: Buffer, at: number, valuesAt: number, fields: readonly Field[]): void {
  tiff.writeUInt16LE(fields.length, at);
  let next = valuesAt;
  for (const [index, [tag, type, value]] of fields.entries()) {
    const entry = at + 2 + index * 12;
    tiff.writeUInt16LE(tag, entry);
    tiff.writeUInt16LE(type, entry + 2);
    tiff.writeUInt32LE((type as number) === 4 ? 1 : value.length / sizes[type], entry + 4);
    if (value.length <= 4) value.copy(tiff, entry + 8);
    else {
      tiff.writeUInt32LE(next, entry + 8);
      value.copy(tiff, next);
      next += value.length;
    }
  }
}

const told = (bytes: Uint8Array, scans: "show" | "recognise" | "name" = "name") => {
  const { about, pieces } = readPicture(bytes, scans);
  const [piece] = [...(pieces as Iterable<{ readonly text: string }>)];
  return { about, text: piece?.text };
};

test("of a picture its format and size are told, and what the camera noted, in the same order always", () => {
  const bytes = photo([
    [0x010f, 2, ascii("Maker")],
    [0x0110, 2, ascii("Model 1")],
    [0x0131, 2, ascii("x".repeat(400))],
    [0x0132, 2, ascii("2024:02:29 10:00:00")],
    [0x8298, 2, ascii("Ann")],
  ]);
  expect(told(bytes)).toEqual({
    about: "Image (jpg), 40 × 30 pixels",
    text: `${bytes.length} bytes\nEXIF:\n- DateTime: 2024:02:29 10:00:00\n- Make: Maker\n- Model: Model 1\n- Software: ${"x".repeat(300)}\n- Copyright: Ann`,
  });
  expect(told(photo([])).text).toEndWith(" bytes\nNo EXIF data.");
  // Also where it is a part of what was read.
  const within = Buffer.concat([Buffer.from("before"), bytes, Buffer.from("after")]).subarray(6, 6 + bytes.length);
  expect(told(within)).toEqual(told(bytes));
});

test("where a picture was taken is told, south and west below zero, only if both are known", () => {
  const latitude: readonly Field[] = [
    [1, 2, ascii("S")],
    [2, 5, rational(33, 30, 0)],
  ];
  const longitude: readonly Field[] = [
    [3, 2, ascii("W")],
    [4, 5, rational(70, 15, 0)],
  ];
  expect(told(photo([], [...latitude, ...longitude])).text).toEndWith("EXIF:\n- GPS: -33.5, -70.25");
  for (const half of [latitude, longitude]) expect(told(photo([], half)).text).not.toContain("GPS");
});

test("the text in a picture is recognised only where it is asked for, and told as such", () => {
  using spy = spyOn(recognising, "recogniseText").mockReturnValue({ text: "Invoice" });
  const bytes = photo([]);
  expect([told(bytes, "show").text, told(bytes, "name").text]).toEqual([told(bytes).text, told(bytes).text]);
  expect(spy).not.toHaveBeenCalled();
  expect(told(bytes, "recognise").text).toEndWith("No EXIF data.\nText in it, recognised and perhaps wrong:\nInvoice");
  spy.mockReturnValue({ problem: "(None.)" });
  expect(told(bytes, "recognise").text).toEndWith("No EXIF data.\n(None.)");
});

test("what is no picture is an error", () => {
  expect(() => readPicture(Buffer.from("nothing"), "name")).toThrow();
});
