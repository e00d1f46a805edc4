import * as z from "zod";

/** A ref as models give it: `e12`, with the brackets they see it in or without. */
export const ref = z
  .string()
  .trim()
  .regex(/^(?:\[?e\d+\]?|\[?ref=e\d+\]?)$/, "A ref looks like e12")
  .transform((value) => value.replace(/[[\]]|ref=/g, ""));

/** The ref of an element, described. */
export function refFor(what: string) {
  return ref.describe(`The ref of ${what}.`);
}
