/** One instruction of a Dockerfile: its name, its flags (`--from=bun`) and the rest of its line. */
export type Instruction = {
  readonly name: string;
  readonly flags: Readonly<Record<string, string>>;
  readonly text: string;
};

/**
 * The instructions of a Dockerfile as plain as ours: no heredocs, no build arguments, exec form as
 * JSON. Throws for what builders would not read.
 */
export function readDockerfile(text: string): Instruction[] {
  const lines = text.split("\n").filter((line) => !/^\s*(?:#|$)/.test(line));
  return lines
    .join("\n")
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n")
    .map((line) => {
      const [, name = "", flags = "", rest = ""] = /^([A-Z]+)((?:\s+--[\w-]+=\S+)*)\s+(.+)$/.exec(line) ?? [];
      if (name === "") throw new Error(`This is no instruction: ${line}`);
      const pairs = [...flags.matchAll(/--([\w-]+)=(\S+)/g)].map(([, flag = "", value = ""]) => [flag, value]);
      return { name, flags: Object.fromEntries(pairs), text: rest };
    });
}

/** The command of an instruction in exec form. */
export function execForm(text: string): string[] {
  return JSON.parse(text.slice(text.indexOf("[")));
}

/**
 * Whether the build leaves a path of the checkout out, by the patterns of an ignore file: the last
 * pattern that matches the path or a folder above it decides.
 */
export function ignoring(patterns: string): (path: string) => boolean {
  const rules = patterns
    .split("\n")
    .filter((line) => !/^\s*(?:#|$)/.test(line))
    .map((line) => ({ glob: new Bun.Glob(line.replace(/^!/, "")), isIgnored: !line.startsWith("!") }));
  return (path) => {
    const parts = path.split("/");
    const prefixes = parts.map((_, index) => parts.slice(0, index + 1).join("/"));
    return rules.findLast(({ glob }) => prefixes.some((prefix) => glob.match(prefix)))?.isIgnored ?? false;
  };
}
