/** What the scripts of all JavaScript peers share; they are called as those in Python are. */

// biome-ignore lint/suspicious/noExplicitAny: packages of a peer are no dependencies of ours, so their types are not here
export type PeerPackage = any;

/** A package of the peer, from the folder it is installed in. */
export function load(name: string): Promise<PeerPackage> {
  return import(Bun.resolveSync(name, process.env.MANYHANDS_PEER ?? "."));
}

/**
 * Does what the arguments say: tells the peer's client each text, or starts its server, which
 * returns its address.
 */
export async function run(
  client: (url: string) => Promise<(text: string) => Promise<string>>,
  server: () => Promise<string>,
): Promise<void> {
  const [mode, url = "", ...texts] = process.argv.slice(2);
  if (mode === "server") {
    process.stdout.write(`ready ${await server()}\n`);
    return;
  }
  const say = await client(url);
  for (const text of texts) process.stdout.write(`${JSON.stringify(await say(text))}\n`);
  process.exit(0);
}
