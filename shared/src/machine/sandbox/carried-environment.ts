const prefix = "CARRIED_";

/**
 * A command's environment as it passes through our own processes outside the confinement, which must not go by it: HOME is a folder the command
 * writes, and variables of the runtime or the loader name code.
 */
export function carried(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [prefix + name, value]));
}

/** What was carried, for the command itself. */
export function unpacked(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      name.startsWith(prefix) && value !== undefined ? [[name.slice(prefix.length), value]] : [],
    ),
  );
}
