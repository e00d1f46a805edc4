const few = 2;

/** A sentence about each file, and one for all of which the same holds if they are many. */
export function notesOfFiles(told: Iterable<readonly [name: string, say: (called: string) => string]>): string[] {
  const groups = new Map<string, { readonly names: string[]; readonly say: (called: string) => string }>();
  for (const [name, say] of told) {
    const key = say("").replaceAll(name, "");
    const group = groups.get(key) ?? { names: [], say };
    if (!group.names.includes(name)) group.names.push(name);
    groups.set(key, group);
  }
  return [...groups.values()].flatMap(({ names, say }) => {
    const [first = ""] = names;
    return names.length > few ? [say(`${first} (and ${names.length - 1} others)`)] : names.map((name) => say(name));
  });
}
