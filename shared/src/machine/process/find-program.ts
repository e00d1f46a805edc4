import { AppError } from "../../core/errors.ts";

/**
 * The path of a program on the server's PATH. Throws an AppError `sandbox_unavailable` that says
 * what is missing.
 */
export function findProgram(name: string): string {
  const path = Bun.which(name, { PATH: process.env.PATH ?? "" });
  if (path === null) throw new AppError("sandbox_unavailable", `${name} is not installed`);
  return path;
}
