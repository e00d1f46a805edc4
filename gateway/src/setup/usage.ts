/** The help of `setup`. */
const usage = `Usage: manyhands setup [--quiet]

Installs what is missing: in a checkout the packages of its lock file; sandbox tools, Python, a browser, and
the Python packages of [python] in the settings.

Options:
  --quiet     print nothing if nothing is missing; no browser and no Python packages
  -h, --help  show this`;

/**
 * The text and exit code for `--help` or an unknown argument; undefined when set-up should run.
 */
export function setupUsage(args: readonly string[]): { readonly text: string; readonly exitCode: number } | undefined {
  if (args.includes("--help") || args.includes("-h")) return { text: usage, exitCode: 0 };
  const unknown = args.find((one) => one !== "--quiet");
  return unknown === undefined ? undefined : { text: `error: unknown argument '${unknown}'\n\n${usage}`, exitCode: 2 };
}
