/** Where programs are looked for inside every sandbox; never the server's own PATH. */
export const sandboxPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/**
 * The whole environment of a confined process: built from nothing, so that no key of the server can
 * be in it.
 */
export function sandboxEnvironment(
  workspace: string,
  temporary: string,
  named: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    PATH: sandboxPath,
    HOME: workspace,
    LANG: "C.UTF-8",
    TMPDIR: temporary,
    TERM: "dumb",
    // Compiled files would be handed over with the results.
    PYTHONDONTWRITEBYTECODE: "1",
    // Where /etc/gitconfig is there and may not be read git does nothing at all.
    GIT_CONFIG_NOSYSTEM: "1",
    // bash takes a standard input that is a socket, as ours is, for a remote login and would read
    // startup files at level 1.
    SHLVL: "1",
    ...named,
  };
}

const prefix = "CARRIED_";

/**
 * A command's environment as it passes through our own processes outside the confinement, which
 * must not go by it: HOME is a folder the command writes, and variables of the runtime or the
 * loader name code.
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
