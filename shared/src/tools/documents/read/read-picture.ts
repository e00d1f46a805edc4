import ExifReader from "exifreader";
import { imageSize } from "image-size";
import { oneText } from "./fit-pieces.ts";
import { recogniseText } from "./pdf/recognise-text.ts";
import type { Reading, Scans } from "./reading.ts";

/** What is told of a picture's EXIF data, in this order. */
const told = [
  ...["DateTimeOriginal", "DateTime", "Make", "Model", "LensModel", "Software", "Artist", "Copyright"],
  ...["ImageDescription", "UserComment", "Orientation", "ExposureTime", "FNumber", "ISOSpeedRatings", "FocalLength"],
];

/** A picture's format, size and EXIF data; its text too, if it is to be recognised. */
export function readPicture(bytes: Uint8Array, scans: Scans): Reading {
  const { width, height, type = "unknown" } = imageSize(bytes);
  const lines = exifLines(bytes);
  const text = scans === "recognise" ? ocrText(bytes) : "";
  const parts = [`${bytes.length} bytes`, lines.length === 0 ? "No EXIF data." : `EXIF:\n${lines.join("\n")}`, text];
  return oneText(`Image (${type}), ${width} × ${height} pixels`, parts.filter((part) => part !== "").join("\n"));
}

function ocrText(bytes: Uint8Array): string {
  const found = recogniseText(bytes);
  return "text" in found ? `Text in it, recognised and perhaps wrong:\n${found.text}` : found.problem;
}

function exifLines(bytes: Uint8Array): string[] {
  try {
    const { buffer, byteOffset, byteLength } = bytes;
    const { exif = {}, gps = {} } = ExifReader.load(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer, {
      expanded: true,
    });
    const tags = exif as Readonly<Record<string, { readonly description?: unknown } | undefined>>;
    const lines = told.flatMap((name) => {
      const value = tags[name]?.description;
      return value === undefined || value === "" ? [] : [`- ${name}: ${String(value).slice(0, 300)}`];
    });
    const { Latitude: latitude, Longitude: longitude } = gps;
    return latitude === undefined || longitude === undefined ? lines : [...lines, `- GPS: ${latitude}, ${longitude}`];
  } catch {
    return [];
  }
}
