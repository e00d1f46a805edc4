import type { Page } from "playwright";
import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import type { BrowserCall } from "./browser-tool.ts";

/** A ref as models write it: `e12`, with or without the brackets they see it in. */
export const ref = z
  .string()
  .trim()
  .regex(/^(?:\[?e\d+\]?|\[?ref=e\d+\]?)$/, "A ref looks like e12")
  .transform((value) => value.replace(/[[\]]|ref=/g, ""));

/** A schema for an element's ref, with a description. */
export function refFor(what: string) {
  return ref.describe(`Of ${what}.`);
}

/**
 * An address to open: an address without a scheme gets `https://`, one of the loopback `http://`;
 * only the web's schemes are accepted.
 */
export const pageAddress = z
  .string()
  .trim()
  .min(1)
  .max(8_000)
  .transform((value) => {
    if (/^[a-z][a-z0-9+.-]*:(?!\d)/i.test(value)) return value;
    return `${/^(?:localhost|127\.0\.0\.1)(?:[:/]|$)/i.test(value) ? "http" : "https"}://${value}`;
  })
  .refine((value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol), {
    message: "Only http and https addresses can be opened",
  });

/** A point of the window, or of the newest screenshot. */
export type Point = { readonly x: number; readonly y: number };

/** A point as models write it: `120,80`. */
export const point = z
  .string()
  .trim()
  .regex(/^\d+(?:\.\d+)?\s*,\s*\d+(?:\.\d+)?$/, 'A point looks like "120,80"')
  .transform((value): Point => {
    const [x, y] = value.split(",").map(Number);
    return { x: x ?? 0, y: y ?? 0 };
  });

/** Where something is: a ref, or a point when it has no ref. */
export const place = z.string().pipe(z.union([ref, point]));

/** Converts a point of the newest screenshot to a point of the window. */
export function pointOn({ looks }: BrowserCall, page: Page, { x, y }: Point): Point {
  const factor = looks.scale?.page === page ? looks.scale.factor : 1;
  const size = page.viewportSize();
  const at = { x: x * factor, y: y * factor };
  if (size !== null && (at.x >= size.width || at.y >= size.height)) {
    const message = `The point ${x},${y} is outside the window, which is ${size.width}×${size.height} px. Scroll first.`;
    throw new AppError("invalid_input", message);
  }
  return at;
}
