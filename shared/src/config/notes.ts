/** OpenManus's keys that have no effect here, and why. */
const unused: Readonly<Record<string, string>> = {
  "sandbox.use_sandbox": "tools are always confined; [sandbox] tier chooses how",
  "sandbox.image": "the sandbox uses no container image",
  "sandbox.work_dir": "each conversation has a workspace of its own",
  "sandbox.cpu_limit": "commands have a limit of CPU seconds of their own",
  "search.retry_delay": "search engines are asked one after the other, without waiting",
  "search.max_retries": "search engines are asked one after the other, each once",
  "sandbox.network_enabled": "[sandbox] allow_domains says what commands may reach",
  "mcp.server_reference": "MCP servers are listed in mcp.json",
};

/** One sentence for each setting that somebody made and nothing here uses. */
export function notesOn(origins: ReadonlyMap<string, string>): readonly string[] {
  const notes: string[] = [];
  for (const [key, origin] of origins) {
    const reason = unused[key];
    if (reason !== undefined) notes.push(`${origin}: ${key} is not used: ${reason}.`);
  }
  const daytona = [...origins].find(([key]) => key.startsWith("daytona."));
  if (daytona !== undefined)
    notes.push(`${daytona[1]}: [daytona] is not used: tools run in a sandbox of this machine.`);
  return notes;
}
