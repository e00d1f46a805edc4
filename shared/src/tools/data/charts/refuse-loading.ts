import { AppError } from "../../../core/errors.ts";

const loading = new Set(["url", "href"]);

/** Refuses a specification that names anything to be loaded or linked, with the place where it does. Content of data is not looked at. */
export function refuseLoading(spec: unknown, place = "spec"): void {
  if (typeof spec !== "object" || spec === null) return;
  for (const [key, value] of Object.entries(spec)) {
    const here = `${place}.${key}`;
    if (loading.has(key) || (key === "type" && value === "image"))
      throw new AppError("forbidden", `A chart loads nothing: take out ${here}. Its data comes from csvFilePath.`);
    refuseLoading(value, here);
  }
}
