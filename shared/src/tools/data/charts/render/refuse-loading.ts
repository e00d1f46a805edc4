import { AppError } from "../../../../core/errors.ts";

const loading = new Set(["url", "href"]);

/**
 * Rejects a specification that names anything to load or link, with the place in the specification.
 * The content of data is not checked.
 */
export function refuseLoading(spec: unknown, place = "spec"): void {
  if (typeof spec !== "object" || spec === null) return;
  for (const [key, value] of Object.entries(spec)) {
    const here = `${place}.${key}`;
    if (loading.has(key) || (key === "type" && value === "image"))
      throw new AppError("forbidden", `A chart loads nothing: take out ${here}. Its data comes from csvFilePath.`);
    refuseLoading(value, here);
  }
}
