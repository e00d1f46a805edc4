import { join, resolve } from "node:path";
import type { Sections } from "./sections/sections.ts";

/** The libraries of agents' Python. */
export type PythonConfig = {
  /** What set-up puts into the virtual environment. */
  readonly packages: readonly string[];
  /** A file of pip's that names others in their place, each with its hash. */
  readonly requirements?: string | undefined;
  /** The folder of that environment, which may be missing. */
  readonly environment: string;
};

/** What `[python]` says; paths are absolute. */
export function pythonConfig({ python, home }: Sections, cwd: string): PythonConfig {
  const { packages, requirements } = python;
  const environment = join(resolve(cwd, home), "python");
  return { packages, environment, requirements: requirements && resolve(cwd, requirements) };
}
