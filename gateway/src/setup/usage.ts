/** What `setup` takes. */
const usage = `Usage: manyhands setup [--quiet]

Installs what is missing: in a checkout the packages of its lock file; sandbox tools, Python, and a browser.

Options:
  --quiet     say nothing where all is there, and download no browser
  -h, --help  show this`;

/**
 * What to say in place of setting up, and the exit code: for who asks how, or asks for what there
 * is not.
 */
export function setupUsage(args: readonly string[]): { readonly text: string; readonly exitCode: number } | undefined {
  if (args.includes("--help") || args.includes("-h")) return { text: usage, exitCode: 0 };
  const unknown = args.find((one) => one !== "--quiet");
  return unknown === undefined ? undefined : { text: `error: unknown argument '${unknown}'\n\n${usage}`, exitCode: 2 };
}
