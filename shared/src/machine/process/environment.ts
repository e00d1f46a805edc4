/** Where programs are looked up inside every sandbox; never the server's own PATH. */
export const sandboxPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/**
 * The whole environment of a confined process, built from scratch so that it can contain no key of
 * the server. `python` is the folder of a virtual environment, whose Python comes first.
 */
export function sandboxEnvironment(
  workspace: string,
  temporary: string,
  named: Readonly<Record<string, string>> = {},
  python?: string,
): Record<string, string> {
  return {
    PATH: sandboxPath,
    ...(python !== undefined && { PATH: `${python}/bin:${sandboxPath}`, VIRTUAL_ENV: python }),
    HOME: workspace,
    LANG: "C.UTF-8",
    TMPDIR: temporary,
    TERM: "dumb",
    // Otherwise compiled files would be handed over with the results.
    PYTHONDONTWRITEBYTECODE: "1",
    // A confined program can be traced by none, which leak detection would do: without this, each
    // program that is built with a sanitizer fails at its end. The legend is 18 lines, always
    // alike.
    ASAN_OPTIONS: "detect_leaks=0:print_legend=0",
    LSAN_OPTIONS: "detect_leaks=0",
    // git does nothing at all if /etc/gitconfig exists but cannot be read.
    GIT_CONFIG_NOSYSTEM: "1",
    // bash treats a socket on standard input, as we give it, as a remote login, and would read
    // startup files at level 1.
    SHLVL: "1",
    ...named,
  };
}

const prefix = "CARRIED_";

/**
 * Packs a command's environment for its way through our own processes outside the confinement,
 * which must not act on it: HOME is a folder the command writes, and variables of the runtime or
 * the loader name code.
 */
export function carried(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [prefix + name, value]));
}

/** Unpacks what was carried, for the command itself. */
export function unpacked(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      name.startsWith(prefix) && value !== undefined ? [[name.slice(prefix.length), value]] : [],
    ),
  );
}
