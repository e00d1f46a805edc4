import type { CliContext } from "./context.ts";

/** The environment as if every variable were set: agents may be started with others than this command line. */
export function everyVariable(env: CliContext["env"]): CliContext["env"] {
  return new Proxy(env, {
    get: (target, name) => (typeof name === "string" ? (target[name] ?? "https://variable.invalid") : undefined),
  });
}
